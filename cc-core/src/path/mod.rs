//! Bookkeeping of one network path in a fixed amount of memory.
//!
//! [`Path`] owns a controller and everything that it must be told: RTT estimator, delivery-rate sampler,
//! bytes in flight, pacer, persistent congestion, and a ring of up to `N` packets in flight. A stack reports
//! sends, and the parts of each ACK frame in any order; [`Path::finish`] hands the frame to the controller in
//! the order of the contract. Loss detection after RFC 9002 section 6.1 is an option over the same ring.

mod commit;
mod config;
mod entry;
mod frame;
mod loss;
mod marks;
mod persistent;
mod received;
mod ring;
mod send;
mod shift;

pub use config::{EcnCounts, FrameEnd, FrameReport, LossDetection, OutgoingPacket, PathConfig};
pub use send::{Outstanding, RingFull, SendDecision};

use crate::{
    AckPolicy, CongestionController, DeliveryRate, DiscardReason, EcnCodepoint, Instant, MtuChange, Pacer,
    PacketSpace, PathChange, PathState, PersistentCongestion, ResumeHint, RttEstimator, SendLimit,
};
use frame::Frame;
use loss::LossDetector;
use persistent::Persistence;
use ring::Ring;

/// One network path: a controller, and what it must be told about the packets sent on the path.
///
/// # Numbers
///
/// Every packet in flight gets the next number of one sequence over all packet number spaces; the stack keeps
/// it beside its own packet number. ACK-only packets are not in flight, take no entry of the ring and use up
/// no number. Numbers that were never given, or are gone, are ignored wherever they are passed in.
///
/// # The ring
///
/// `N` entries of 32 bytes; `N` = 0 does not compile. A packet in flight is never dropped: when the oldest of `N` consecutive packets
/// is still in flight, [`Path::on_packet_sent`] refuses, and [`Path::window`] and [`Path::poll_send`] say so
/// beforehand. Entries of lost packets stay, to recognise late acks, until they are the oldest and were sent
/// more than three probe timeouts ago, or until their room is needed. A packet's size is clamped to 65 535
/// bytes. Delivery state is kept as differences of less than 4 GiB, so that `N` times the largest size of a packet should not be more:
/// `N` = 65 536 holds with packets of any size, 2 800 000 with 1500 bytes.
///
/// `Path` is as large as its ring (1 MiB at `N` = 32 768) and is built by value. `Box::new(Path::new(..))` needs
/// twice its size on the stack; `Box::write(Box::new_uninit(), Path::new(..))` needs it once if the build is
/// optimised at least at level 1, and nothing in a release build.
///
/// # Work
///
/// Sending, polling and each part of a frame take a time that does not depend on `N`. [`Path::finish`] looks at the
/// packets that the frame marked, a few times each; where they lie in more than 16 runs of consecutive numbers, also at
/// packets between runs, the smallest gaps first. Besides:
///
/// - loss detection looks at what lies between the oldest packet in flight of the spaces acked and their largest acked.
///   With the packet threshold of RFC 9002 a packet is looked at a few times in its life; with a very large one it may be
///   the flight on each ACK;
/// - a frame with losses looks at what lies between the lowest and the highest number lost, and at up to 64 packets around
///   them, for persistent congestion;
/// - [`Path::outstanding`] and [`Path::discard_space`] walk the ring.
///
/// # Clock
///
/// Times come from the caller and may go backwards: then no time has elapsed, and no RTT sample is taken.
// In this order, so that what is small can be reached with the short offsets that 32-bit processors have in an instruction.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Path<C, const N: usize> {
    bytes_in_flight: u64,
    max_bytes_in_flight: u64,
    /// Behind the number of the newest acked packet that carried data; zero if none was.
    newest_data_end: u64,
    /// Its send time.
    newest_data_sent_at: Instant,
    app_limited_at: Option<Instant>,
    /// When the last packet in flight left the network, if something had been acked before.
    idle_since: Option<Instant>,
    /// Time of the first accepted RTT sample (persistent congestion needs one before its first packet).
    first_sample_at: Option<Instant>,
    pacer: Pacer,
    rtt: RttEstimator,
    limited_by: SendLimit,
    /// Whether the controller was told something, or lent, since the pacer got its outputs.
    pacer_is_stale: bool,
    /// Whether `on_rtt` was called yet on this path.
    rtt_seen: bool,
    handshake_ready: bool,
    config: PathConfig,
    rate: DeliveryRate,
    loss: LossDetector,
    persistence: Persistence,
    frame: Frame,
    controller: C,
    ring: Ring<N>,
}

impl<C: CongestionController, const N: usize> Path<C, N> {
    /// A path on which nothing was sent yet. The handshake counts as finished, as in
    /// [`PathState::default`], until [`Path::set_handshake_ready`] says otherwise.
    ///
    /// The controller is told the path's datagram size ([`MtuChange::Handshake`]), so that both agree on it whatever it
    /// was made with.
    // Built directly in the caller's place: a ring may be larger than half a stack.
    #[must_use]
    #[inline(always)]
    pub fn new(mut controller: C, config: PathConfig) -> Self {
        let config = config.clamped();
        let state = PathState {
            now: config.now,
            max_datagram_size: config.max_datagram_size,
            ..PathState::default()
        };
        controller.on_mtu_update(&state, MtuChange::Handshake);
        Self {
            rtt: RttEstimator::new(config.initial_rtt, config.max_ack_delay),
            first_sample_at: None,
            rtt_seen: false,
            rate: DeliveryRate::new(controller.sampling_rule()),
            pacer: Pacer::new(config.now, controller.send_quantum().max(config.max_datagram_size)),
            pacer_is_stale: true,
            ring: const { Ring::new() },
            frame: Frame::new(),
            loss: LossDetector::new(config.loss_detection),
            persistence: Persistence::new(),
            config,
            handshake_ready: true,
            bytes_in_flight: 0,
            max_bytes_in_flight: 0,
            idle_since: None,
            limited_by: SendLimit::Unknown,
            app_limited_at: None,
            newest_data_end: 0,
            newest_data_sent_at: Instant::ZERO,
            controller,
        }
    }

    /// Makes it what [`Path::new`] gives, in place: for a stack that uses the memory of a connection that is gone for the next
    /// one.
    pub fn restart(&mut self, controller: C, config: PathConfig) {
        // Destructured, so that a field that is new cannot be forgotten here.
        let Path {
            controller,
            rtt,
            first_sample_at,
            rtt_seen,
            rate,
            pacer,
            pacer_is_stale,
            ring: _,
            frame,
            loss,
            persistence,
            config,
            handshake_ready,
            bytes_in_flight,
            max_bytes_in_flight,
            idle_since,
            limited_by,
            app_limited_at,
            newest_data_end,
            newest_data_sent_at,
        } = Path::<C, 1>::new(controller, config);
        self.ring.reset();
        self.controller = controller;
        self.rtt = rtt;
        self.first_sample_at = first_sample_at;
        self.rtt_seen = rtt_seen;
        self.rate = rate;
        self.pacer = pacer;
        self.pacer_is_stale = pacer_is_stale;
        self.frame = frame;
        self.loss = loss;
        self.persistence = persistence;
        self.config = config;
        self.handshake_ready = handshake_ready;
        self.bytes_in_flight = bytes_in_flight;
        self.max_bytes_in_flight = max_bytes_in_flight;
        self.idle_since = idle_since;
        self.limited_by = limited_by;
        self.app_limited_at = app_limited_at;
        self.newest_data_end = newest_data_end;
        self.newest_data_sent_at = newest_data_sent_at;
    }

    /// For fuzz targets, before anything is sent: numbers and totals as after a long life. `number` is at most `u64::MAX` less
    /// what is going to be sent.
    #[cfg(fuzzing)]
    pub fn set_counters(&mut self, number: u64, delivered: u64, lost: u64) {
        self.ring.start_at(number);
        self.rate.set_totals(delivered, lost);
    }

    /// The controller.
    #[must_use]
    pub const fn controller(&self) -> &C {
        &self.controller
    }

    /// The controller, to be changed. Its [`sampling_rule`](CongestionController::sampling_rule) was read when the path was
    /// built: a controller of another rule needs a new path.
    pub fn controller_mut(&mut self) -> &mut C {
        self.told()
    }

    /// The controller, for an event, which may change its outputs.
    fn told(&mut self) -> &mut C {
        self.pacer_is_stale = true;
        &mut self.controller
    }

    /// The state of the path as an event at `now` would carry it.
    #[must_use]
    pub fn state(&self, now: Instant) -> PathState {
        self.state_after(now, self.bytes_in_flight)
    }

    /// The same after a change of bytes in flight. Not a copy of the other: this is built for every packet.
    fn state_after(&self, now: Instant, prior_bytes_in_flight: u64) -> PathState {
        PathState {
            now,
            bytes_in_flight: self.bytes_in_flight,
            prior_bytes_in_flight,
            delivered: self.rate.delivered(),
            lost: self.rate.lost(),
            next_number: self.ring.next_number(),
            oldest_outstanding: self.oldest_outstanding(),
            rtt: self.rtt.as_path_rtt(),
            max_datagram_size: self.config.max_datagram_size,
            app_limited: self.rate.is_app_limited(),
            handshake_ready: self.handshake_ready,
        }
    }

    /// The RTT estimator.
    #[must_use]
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Bytes sent and neither acked, declared lost nor discarded (RFC 9002 appendix B.2).
    #[must_use]
    pub const fn bytes_in_flight(&self) -> u64 {
        self.bytes_in_flight
    }

    /// Total bytes delivered. Late acks count if the controller's sampling rule says so.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.rate.delivered()
    }

    /// Total bytes declared lost. Late acks do not lower it.
    #[must_use]
    pub const fn lost_bytes(&self) -> u64 {
        self.rate.lost()
    }

    /// Whether the handshake has finished at this endpoint. From then on the peer's ack delays are limited to
    /// its `max_ack_delay` (RFC 9002 section 5.3 does so once the handshake is *confirmed*; a client that
    /// keeps both apart passes the later one).
    pub fn set_handshake_ready(&mut self, ready: bool) {
        self.handshake_ready = ready;
    }

    /// The maximum datagram size changed; clamped to 1 ..= 65 527 bytes.
    pub fn set_max_datagram_size(&mut self, now: Instant, bytes: u64, change: MtuChange) {
        self.config.max_datagram_size = bytes;
        self.config = self.config.clamped();
        let state = self.state(now);
        self.told().on_mtu_update(&state, change);
    }

    /// State of an earlier connection on this path became known (RFC 9959).
    pub fn resume(&mut self, now: Instant, hint: &ResumeHint) {
        let state = self.state(now);
        self.told().on_resume_hint(&state, hint);
    }

    /// The network path changed. On a new path packets sent so far are no longer looked at: they are not in
    /// flight, and their acks and losses are ignored (RFC 9000 section 9.4, RFC 9002 section 5.3); the RTT
    /// starts again from the initial RTT. Delivered and lost totals go on.
    pub fn path_changed(&mut self, now: Instant, change: PathChange) {
        let prior_bytes_in_flight = self.bytes_in_flight;
        if change == PathChange::New {
            self.start_again(now);
        }
        let state = self.state_after(now, prior_bytes_in_flight);
        self.told().on_path_change(&state, change);
    }

    /// The peer's ACK policy changed; its `max_ack_delay` counts from now on.
    pub fn set_ack_policy(&mut self, now: Instant, policy: &AckPolicy) {
        self.config.max_ack_delay = policy.max_ack_delay;
        self.rtt.set_max_ack_delay(policy.max_ack_delay);
        let state = self.state(now);
        self.told().on_ack_policy(&state, policy);
    }

    /// The ECN codepoint in use changed; `NotEct` after failed validation.
    pub fn set_ecn_state(&mut self, now: Instant, codepoint: EcnCodepoint) {
        let state = self.state(now);
        self.told().on_ecn_state(&state, codepoint);
    }

    /// The packet left the network without being acked or lost. Ignored unless it is in flight.
    ///
    /// A lost path MTU probe is reported here instead of as lost (RFC 9000 section 14.4).
    pub fn discard(&mut self, now: Instant, number: u64, reason: DiscardReason) {
        let prior_bytes_in_flight = self.bytes_in_flight;
        if let Some(bytes) = self.ring.discard(number) {
            self.removed_from_flight(now, prior_bytes_in_flight, bytes, reason);
        }
    }

    /// The keys of a packet number space were dropped: its packets leave the flight (RFC 9002 section 6.4).
    pub fn discard_space(&mut self, now: Instant, space: PacketSpace) {
        let prior_bytes_in_flight = self.bytes_in_flight;
        self.loss.forget(space);
        let bytes = self.ring.discard_space(space);
        if bytes > 0 {
            self.removed_from_flight(now, prior_bytes_in_flight, bytes, DiscardReason::KeysDiscarded);
        }
    }

    fn removed_from_flight(&mut self, now: Instant, prior: u64, bytes: u64, reason: DiscardReason) {
        self.bytes_in_flight = prior.saturating_sub(bytes);
        self.rate.on_discarded(bytes);
        self.note_idle(now);
        self.persistence.on_discarded(&self.ring);
        self.trim(now);
        let state = self.state_after(now, prior);
        self.told().on_discarded(&state, bytes, reason);
    }

    fn start_again(&mut self, now: Instant) {
        self.ring.clear();
        self.frame = Frame::new();
        self.rtt = RttEstimator::new(self.config.initial_rtt, self.config.max_ack_delay);
        self.first_sample_at = None;
        self.rtt_seen = false;
        self.rate.reset_reference();
        self.pacer = Pacer::new(now, self.burst());
        self.pacer_is_stale = true;
        self.loss = LossDetector::new(self.config.loss_detection);
        self.persistence = Persistence::new();
        self.bytes_in_flight = 0;
        self.max_bytes_in_flight = 0;
        self.idle_since = None;
        self.limited_by = SendLimit::Unknown;
        self.app_limited_at = None;
        self.newest_data_end = 0;
    }

    /// Remembers when the flight became empty.
    fn note_idle(&mut self, now: Instant) {
        if self.bytes_in_flight == 0 && self.rate.delivered() > 0 {
            self.idle_since = self.idle_since.or(Some(now));
        }
    }

    /// Frees entries that are of no more use.
    fn trim(&mut self, now: Instant) {
        // Late acks are recognised for three probe timeouts, as long as persistent congestion takes: a packet delayed by
        // more is as good as lost.
        self.ring.trim(|| now.before(PersistentCongestion::duration(&self.rtt)));
    }

    /// Largest burst of the pacer in bytes: the controller's quantum, at least one datagram.
    fn burst(&self) -> u64 {
        self.controller.send_quantum().max(self.config.max_datagram_size)
    }
}
