//! Stacks: what stands between a script and a controller.
//!
//! [`Honest`] is the kit's own bookkeeping, written independently of [`cc_core::Path`], which is the other one. A
//! script that runs on both must show the same outputs.

mod frame;
mod honest;
mod path;

pub(crate) use frame::{Call, Delivery, Part};
pub(crate) use honest::{Honest, sum};
pub(crate) use path::PathStack;

use crate::invariants::Checks;
use crate::subject::Family;
use cc_core::{
    AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnCounts, Instant, LossCause,
    MtuChange, PacketSpace, PathChange, PathRtt, PeerInstant, ResumeHint, SendLimit,
};

/// A packet for a stack to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) bytes: u64,
    pub(crate) space: PacketSpace,
    pub(crate) in_flight: bool,
    pub(crate) ack_eliciting: bool,
    pub(crate) carries_data: bool,
}

/// An ACK frame for a stack. Packets are named by their place in the order of sending, ACK-only ones included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) now: Instant,
    pub(crate) acked: &'a [usize],
    /// When packets of those were received, ascending by packet.
    pub(crate) received: &'a [(usize, PeerInstant)],
    pub(crate) lost: &'a [usize],
    pub(crate) ecn: Option<EcnCounts>,
    pub(crate) delay: Option<Duration>,
    pub(crate) cause: LossCause,
    pub(crate) persistent: bool,
    pub(crate) forced: bool,
}

impl Incoming<'_> {
    /// When the packet was received, if the frame says so.
    pub(crate) fn received_at(&self, id: usize) -> Option<PeerInstant> {
        let place = self.received.binary_search_by_key(&id, |(packet, _)| *packet).ok()?;
        self.received.get(place).map(|(_, at)| *at)
    }
}

/// What a frame came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Bytes newly acked.
    pub(crate) acked: u64,
    /// Bytes newly lost.
    pub(crate) lost: u64,
    /// Bytes acked after having been declared lost.
    pub(crate) late: u64,
    pub(crate) persistent: bool,
    /// Lowest number newly lost.
    pub(crate) oldest_lost: Option<u64>,
    /// Highest number newly lost.
    pub(crate) newest_lost: Option<u64>,
    /// Highest number newly acked, in a frame with ECN counts.
    pub(crate) newest_acked: Option<u64>,
    /// Marks that the controller could believe.
    pub(crate) marks: u64,
    /// The calls made, where the stack sees them.
    pub(crate) calls: Vec<Call>,
}

/// What a script cannot do on a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unsupported(pub(crate) &'static str);

/// Bookkeeping around a controller.
pub(crate) trait Stack: Clone {
    /// The controller.
    type Controller: CongestionController + Clone;

    /// The controller.
    fn controller(&self) -> &Self::Controller;
    /// Bytes in flight.
    fn in_flight(&self) -> u64;
    /// Bytes delivered.
    fn delivered(&self) -> u64;
    /// Bytes declared lost.
    fn lost(&self) -> u64;
    /// Number of the next packet in flight.
    fn next_number(&self) -> u64;
    /// RTT statistics.
    fn rtt(&self) -> Option<PathRtt>;

    /// A packet is sent.
    ///
    /// # Errors
    ///
    /// The stack has no room, or cannot express the packet.
    fn send(&mut self, now: Instant, packet: &Outgoing) -> Result<(), Unsupported>;
    /// An ACK frame arrives, or losses are found by timer.
    ///
    /// # Errors
    ///
    /// The stack cannot express the frame.
    fn receive(&mut self, frame: &Incoming<'_>) -> Result<Outcome, Unsupported>;
    /// Packets leave the network otherwise.
    fn discard(&mut self, now: Instant, packets: &[usize], reason: DiscardReason);
    /// All losses of the last period were spurious.
    ///
    /// # Errors
    ///
    /// The stack cannot say so.
    fn all_spurious(&mut self, now: Instant) -> Result<(), Unsupported>;
    /// See [`CongestionController::on_mtu_update`].
    fn set_mtu(&mut self, now: Instant, bytes: u64, change: MtuChange);
    /// See [`CongestionController::on_path_change`].
    fn change_path(&mut self, now: Instant, change: PathChange);
    /// See [`CongestionController::on_resume_hint`].
    fn resume(&mut self, now: Instant, hint: &ResumeHint);
    /// See [`CongestionController::on_app_limited`].
    fn app_limited(&mut self, now: Instant);
    /// See [`CongestionController::on_ack_policy`].
    fn set_policy(&mut self, now: Instant, policy: &AckPolicy);
    /// See [`CongestionController::on_ecn_state`].
    fn set_ecn(&mut self, now: Instant, codepoint: EcnCodepoint);
    /// Whether the handshake has finished.
    fn set_handshake(&mut self, done: bool);
    /// What stopped the last attempt to send.
    fn set_limit(&mut self, limit: SendLimit);

    /// Looks at a frame that is about to arrive, on copies.
    ///
    /// # Errors
    ///
    /// An invariant that does not hold.
    fn examine(&self, _frame: &Incoming<'_>, _family: Family, _checks: Checks) -> Result<(), String> {
        Ok(())
    }
}
