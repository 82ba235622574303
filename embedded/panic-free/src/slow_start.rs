//! The entry points that every slow start has.

use crate::{Entry, entries};
use cc_core::SlowStart;
use core::marker::PhantomData;

/// The methods of `SlowStart` for `S`, those with default bodies too.
#[derive(Debug)]
pub struct Growth<S>(PhantomData<S>);

impl<S: SlowStart> Growth<S> {
    /// Their addresses.
    pub const TABLE: &'static [Entry] =
        entries![S::on_packet_sent, S::on_rtt, S::on_ack, S::on_frame_end, S::phase, S::reset];
}
