//! The entry points of [`Path`] around a controller.

use crate::{Entry, entries};
use cc_core::{CongestionController, Outstanding, Path};
use core::marker::PhantomData;

/// Every public method of `Path<C, N>`.
#[derive(Debug)]
pub struct Bookkeeping<C, const N: usize>(PhantomData<C>);

impl<C: CongestionController + Clone, const N: usize> Bookkeeping<C, N> {
    /// Their addresses.
    pub const TABLE: &'static [Entry] = entries![
        Path::<C, N>::new,
        Path::<C, N>::restart,
        Path::<C, N>::controller,
        Path::<C, N>::controller_mut,
        Path::<C, N>::state,
        Path::<C, N>::rtt,
        Path::<C, N>::bytes_in_flight,
        Path::<C, N>::delivered,
        Path::<C, N>::lost_bytes,
        Path::<C, N>::set_handshake_ready,
        Path::<C, N>::set_max_datagram_size,
        Path::<C, N>::resume,
        Path::<C, N>::path_changed,
        Path::<C, N>::set_ack_policy,
        Path::<C, N>::set_ecn_state,
        Path::<C, N>::discard,
        Path::<C, N>::discard_space,
        Path::<C, N>::window,
        Path::<C, N>::is_full,
        Path::<C, N>::poll_send,
        Path::<C, N>::departure,
        Path::<C, N>::pacing_allowance,
        Path::<C, N>::note_limit,
        Path::<C, N>::on_app_limited,
        Path::<C, N>::on_packet_sent,
        Self::for_each_outstanding,
        Path::<C, N>::is_outstanding,
        Path::<C, N>::oldest_outstanding,
        Path::<C, N>::next_number,
        Path::<C, N>::acked,
        Path::<C, N>::lost,
        Path::<C, N>::ecn,
        Path::<C, N>::finish,
        Path::<C, N>::loss_deadline,
        Path::<C, N>::on_loss_timeout,
        <Path<C, N> as Clone>::clone,
    ];

    fn for_each_outstanding(path: &Path<C, N>, each: fn(Outstanding)) {
        Path::<C, N>::outstanding(path).for_each(each);
    }
}
