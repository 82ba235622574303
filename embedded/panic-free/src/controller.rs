//! The entry points that every controller has.

use crate::{Entry, entries};
use cc_core::CongestionController;
use core::marker::PhantomData;

/// The methods of the contract for `C`, those with default bodies too, and its `Clone`.
#[derive(Debug)]
pub struct Controller<C>(PhantomData<C>);

impl<C: CongestionController + Clone> Controller<C> {
    /// Their addresses.
    pub const TABLE: &'static [Entry] = entries![
        C::on_packet_sent,
        C::on_ack,
        C::on_loss,
        C::on_ecn,
        C::pacing_rate,
        C::cwnd,
        C::on_rtt,
        C::on_app_limited,
        C::on_idle_restart,
        C::on_spurious_loss,
        C::on_discarded,
        C::on_mtu_update,
        C::on_path_change,
        C::on_resume_hint,
        C::on_ack_policy,
        C::on_ecn_state,
        C::send_quantum,
        C::may_send_beyond_cwnd,
        C::wanted_ecn,
        C::wanted_ack_policy,
        C::sampling_rule,
        C::uses_rate_samples,
        C::marks_app_limited,
        C::snapshot,
        <C as Clone>::clone,
    ];
}
