//! One path of a connection, as quinn tells it.

use cc_adapter::{Ledger, Recipe, SendTimes};
use cc_core::{AckedPacket, CongestionController, LossCause, LostPacket, PacketSpace, Rate, SendLimit};
use std::time::Instant;

/// quinn sends while `in_flight + bytes < window`: a byte more says "up to and including".
const STRICT: u64 = 1;

/// The calls of quinn 0.11 without its own types, which only quinn can make.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Flow<C> {
    /// Acks that came and are not in the ledger yet.
    acked: Option<Together>,
    /// The window that was asked for last, while nothing has happened that it depends on.
    window: Option<u64>,
    path: cc_adapter::Flow<C>,
    /// Empty where the controller has no use for it.
    times: SendTimes,
}

/// Acked packets that left together, as those of one call to the kernel do. quinn tells of each alone; they cost one look-up.
#[derive(Clone, Copy, Debug)]
struct Together {
    now: Instant,
    sent: Instant,
    bytes: u64,
    packets: u32,
    app_limited: bool,
}

impl<C: CongestionController + Clone> Flow<C> {
    pub(crate) fn new(recipe: &Recipe<C>, now: Instant, mtu: u16) -> Self {
        Self {
            acked: None,
            window: None,
            path: cc_adapter::Flow::new(recipe, now, mtu),
            times: SendTimes::new(),
        }
    }

    /// The controller, as of the last commit.
    pub(crate) const fn controller(&self) -> &C {
        self.path.ledger().controller()
    }

    pub(crate) const fn initial_window(&self) -> u64 {
        self.path.initial_window()
    }

    /// Delivers what was collected of a frame.
    pub(crate) fn commit(&mut self) {
        self.hand_on();
        self.path.ledger_mut().commit();
    }

    /// `in_flight + bytes < window` is quinn's test. What was collected of a frame is delivered first.
    pub(crate) fn window(&mut self) -> u64 {
        self.commit();
        let ledger = self.path.ledger();
        let window = *self.window.get_or_insert_with(|| ledger.window_for_rate());
        window.saturating_add(STRICT)
    }

    #[cfg(test)]
    pub(crate) const fn forget_window(&mut self) {
        self.window = None;
    }

    /// The same, if it is what it was when it was asked for last.
    pub(crate) fn same_window(&self) -> Option<u64> {
        self.window.map(|window| window.saturating_add(STRICT))
    }

    /// The copy for a path on which only the port is new.
    pub(crate) fn for_new_port(&self) -> Self {
        Self { path: self.path.for_new_port(), window: None, ..self.clone() }
    }

    /// Datagrams of `bytes` bytes together left, ACK-only ones included.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) {
        self.commit();
        let outputs = self.outputs();
        let at = self.path.begin(now);
        let ledger = self.path.ledger_mut();
        let sent = ledger.on_sent(at, at, bytes, PacketSpace::Application);
        if let Some(snapshot) = &sent.snapshot {
            self.times.on_sent(at, bytes, snapshot, ledger.path_rtt());
        }
        // The permission for one packet beyond the window depends on the flight.
        if self.outputs() != outputs || self.controller().may_send_beyond_cwnd() {
            self.window = None;
        }
    }

    /// What of the window depends on the controller.
    fn outputs(&self) -> (u64, Option<Rate>, u64, bool) {
        let controller = self.controller();
        let beyond = controller.may_send_beyond_cwnd();
        (controller.cwnd(), controller.pacing_rate(), controller.send_quantum(), beyond)
    }

    /// One ack-eliciting packet was newly acked.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool) {
        if !self.goes_with_the_last(now, sent, bytes) {
            self.hand_on();
            self.acked = Some(Together { now, sent, bytes, packets: 1, app_limited });
        }
    }

    /// The same for one that left together with the one acked before, and was acked with it; `false` for any other, which is not
    /// taken.
    #[inline]
    pub(crate) fn goes_with_the_last(&mut self, now: Instant, sent: Instant, bytes: u64) -> bool {
        match &mut self.acked {
            Some(acked) if acked.now == now && acked.sent == sent => {
                acked.bytes = acked.bytes.saturating_add(bytes);
                acked.packets = acked.packets.saturating_add(1);
                true
            }
            _ => false,
        }
    }

    /// The acks of a frame are complete; losses and marks of the same frame may follow.
    pub(crate) fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool) {
        let window = self.hand_on_and_forget();
        self.path.end_acks(now, in_flight, |ledger| limit(ledger, app_limited, window));
    }

    /// Packets were declared lost; the newest was sent at `sent`.
    pub(crate) fn on_loss(&mut self, now: Instant, sent: Instant, bytes: u64, persistent: bool) {
        let at = self.begin(now);
        let Some(sent_at) = self.path.sent_at(sent) else { return };
        let packet =
            LostPacket { sent_at, bytes, snapshot: self.times.on_lost(sent_at), ..LostPacket::default() };
        // An ACK frame tells its acks first.
        self.path.ledger_mut().on_lost(at, &packet, Some(LossCause::Timer));
        if persistent {
            self.path.ledger_mut().on_persistent_congestion(at);
        }
    }

    /// The CE count rose; the largest acked was sent at `sent`.
    pub(crate) fn on_mark(&mut self, now: Instant, sent: Instant) {
        self.hand_on_and_forget();
        self.path.on_mark(now, sent);
    }

    pub(crate) fn on_mtu_update(&mut self, mtu: u16) {
        self.hand_on_and_forget();
        self.path.ledger_mut().on_mtu_update(u64::from(mtu));
    }

    /// Hands the acks to the ledger that came since.
    fn hand_on(&mut self) {
        let Some(Together { now, sent, bytes, packets, app_limited }) = self.acked.take() else { return };
        // If it is known, no frame is open, and it is the one of the last attempt to send.
        let window = self.window.take();
        let at = self.path.begin_acks(now, |ledger| limit(ledger, app_limited, window));
        let Some(sent_at) = self.path.sent_at(sent) else { return };
        let packet = AckedPacket {
            sent_at,
            bytes,
            packets: Some(packets),
            snapshot: self.times.on_acked(sent_at, bytes),
            ..AckedPacket::default()
        };
        self.path.ledger_mut().on_acked(at, &packet);
    }

    /// The same before something that changes the window; the window until then, if it is known.
    fn hand_on_and_forget(&mut self) -> Option<u64> {
        self.hand_on();
        self.window.take()
    }

    fn begin(&mut self, now: Instant) -> cc_core::Instant {
        self.hand_on_and_forget();
        self.path.begin(now)
    }
}

/// A datagram of full size is tested for. `window` is that of the last attempt to send, if it is known.
fn limit<C: CongestionController>(ledger: &Ledger<C>, app_limited: bool, window: Option<u64>) -> SendLimit {
    if app_limited {
        return SendLimit::NoData;
    }
    ledger.limit(app_limited, window.unwrap_or_else(|| ledger.window_for_rate()))
}

#[cfg(test)]
mod tests;
