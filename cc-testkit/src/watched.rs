//! A controller that is watched while any stack uses it.

use crate::allowance::{Allowance, Excess};
use crate::invariants::{Cause, Checks, Monitor, Observed};
use crate::run::Outputs;
use crate::stack::{Call, Outcome, Part};
use crate::subject::Subject;
use cc_core::{
    AckEvent, AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, Instant,
    LossEvent, MAX_DATAGRAM_SIZE, MtuChange, PacketSpace, PathChange, PathState, ResumeHint, RttEvent,
    SentPacket, SpuriousLoss,
};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A controller whose outputs are checked after every call: put it where the controller would be, in any stack, simulator
/// or fuzz target.
///
/// It checks what can be judged from the calls alone: U1, U2, U4, U5 and U6 of the [invariants](crate::invariants), for each
/// call instead of for each frame. U3 is the business of the build (overflow checks on); U7 to U10 compare runs.
/// [`Checks::orders`] and [`Checks::cut`] need copies of a stack and are ignored.
///
/// The numbers and the datagram size of [`PathState`] are believed. Where a test hands the controller numbers that no stack
/// can give, [`Watched::with_checks`] leaves out U5, which rests on them.
///
/// It also sees whether the stack sends as it may; [`Record`] has the counts.
///
/// At the first violation it panics, so that a fuzzer or a test stops there; [`Watched::recording_in`] makes it write the
/// violation down instead.
///
/// ```
/// use cc_core::{OutgoingPacket, Path, PathConfig};
/// use cc_cubic::{Config, Cubic};
/// use cc_testkit::{Record, Subject, Watched};
///
/// let subject = Subject::loss_based("cubic", |setup| Cubic::new(&Config::from(*setup))).with_betas(70, 85);
/// let record = Record::default();
/// let watched = Watched::new(subject.make(&Default::default()), &subject).recording_in(&record);
/// let mut path: Path<_, 16> = Path::new(watched, PathConfig::default());
/// path.on_packet_sent(Default::default(), &OutgoingPacket::default())?;
/// assert!(record.violation().is_none());
/// assert_eq!(path.controller().calls(), 2); // of the datagram size, and of the packet
/// # Ok::<(), cc_core::RingFull>(())
/// ```
#[derive(Clone, Debug)]
pub struct Watched<C> {
    inner: C,
    monitor: Monitor,
    calls: u64,
    /// Bytes acked by the parts of a frame so far, and late ones: a controller may wait for the last part.
    acked: (u64, u64),
    allowance: Allowance,
    record: Option<Record>,
}

/// Where a [`Watched`] controller writes its first violation, and how its stack sends; copies share it.
#[derive(Clone, Debug, Default)]
pub struct Record(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    violation: OnceLock<Violation>,
    beyond_window: AtomicU64,
    ahead_of_pace: AtomicU64,
}

impl Record {
    /// The first violation, if there was one.
    #[must_use]
    pub fn violation(&self) -> Option<&Violation> {
        self.0.violation.get()
    }

    /// Packets of the application space that were sent although the flight exceeded the window before them, without the
    /// leave of RFC 9002 section 7.3.2. Probes, which no window holds back, are among them: a stack that obeys has no more
    /// than it had probes.
    #[must_use]
    pub fn sent_beyond_window(&self) -> u64 {
        self.0.beyond_window.load(Ordering::Relaxed)
    }

    /// Packets of the application space that were sent more than a datagram ahead of what the pacing rate and the send
    /// quantum allow, probes included. Between two packets the highest rate counts.
    #[must_use]
    pub fn sent_ahead_of_pace(&self) -> u64 {
        self.0.ahead_of_pace.load(Ordering::Relaxed)
    }

    fn count(&self, excess: Excess) {
        self.0.beyond_window.fetch_add(u64::from(excess.of_window), Ordering::Relaxed);
        self.0.ahead_of_pace.fetch_add(u64::from(excess.of_pace), Ordering::Relaxed);
    }
}

/// A call after which an invariant did not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Which invariant, and what was found: it begins with `U1`, `U2`, ...
    pub message: String,
    /// Name of the method.
    pub method: &'static str,
    /// Which call it was, from 1.
    pub call: u64,
    /// Time of the call.
    pub at: Instant,
    /// Outputs before it.
    pub before: Outputs,
    /// Outputs after it.
    pub after: Outputs,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, method, call, at, before, after } = self;
        let at = at.as_nanos();
        write!(
            formatter,
            "{message}\n  in call {call}, {method} at {at} ns\n  before {before:?}\n  after  {after:?}"
        )
    }
}

impl<C> Watched<C> {
    /// Watches `controller`, which promises what `subject` says; panics at the first violation.
    ///
    /// The controller need not have the subject's type: a boxed one can be watched too.
    pub fn new<S>(controller: C, subject: &Subject<S>) -> Self {
        Self {
            inner: controller,
            monitor: Monitor::new(subject, Checks::ALL),
            calls: 0,
            acked: (0, 0),
            allowance: Allowance::default(),
            record: None,
        }
    }

    /// The same with other checks.
    #[must_use]
    pub fn with_checks(mut self, checks: Checks) -> Self {
        self.monitor = self.monitor.with_checks(checks);
        self
    }

    /// The same, but a violation is written down. Only the first one is kept, and nothing is checked after it.
    #[must_use]
    pub fn recording_in(mut self, record: &Record) -> Self {
        self.record = Some(record.clone());
        self
    }

    /// The controller.
    pub const fn controller(&self) -> &C {
        &self.inner
    }

    /// Events so far.
    pub const fn calls(&self) -> u64 {
        self.calls
    }
}

/// A call as the monitor wants it: what kind of event, and what it said.
struct Said {
    method: &'static str,
    cause: Cause,
    outcome: Outcome,
    /// Whether it can be a signal of congestion.
    part: Option<Part>,
}

impl Said {
    fn quiet(method: &'static str) -> Self {
        Self::of(method, Cause::Quiet)
    }

    fn of(method: &'static str, cause: Cause) -> Self {
        Self { method, cause, outcome: Outcome::default(), part: None }
    }
}

impl<C: CongestionController> Watched<C> {
    /// Makes the call and checks what came of it.
    fn watch(&mut self, path: &PathState, said: Said, call: impl FnOnce(&mut C)) {
        self.calls = self.calls.saturating_add(1);
        let before = Outputs::of(&self.inner, path.prior_bytes_in_flight);
        self.allowance.note(&before);
        call(&mut self.inner);
        let after = Outputs::of(&self.inner, path.bytes_in_flight);
        if self.record.as_ref().is_some_and(|record| record.violation().is_some()) {
            return;
        }
        let Said { method, cause, mut outcome, part } = said;
        outcome.calls.extend(part.map(|part| Call {
            part,
            before: (before.cwnd, before.pacing),
            after: (after.cwnd, after.pacing),
        }));
        let observed = Observed {
            cause,
            outcome: &outcome,
            next_number: path.next_number,
            mss: path.max_datagram_size.clamp(1, MAX_DATAGRAM_SIZE),
        };
        if let Err(message) = self.monitor.check(&before, &after, &observed) {
            let (call, at) = (self.calls, path.now);
            self.report(Violation { message, method, call, at, before, after });
        }
    }

    #[expect(clippy::panic, reason = "what it is for: a test stops at the first violation")]
    fn report(&self, violation: Violation) {
        match &self.record {
            // Where copies share a record, the first of them has the word.
            Some(record) => drop(record.0.violation.set(violation)),
            None => panic!("{violation}"),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<C: CongestionController> CongestionController for Watched<C> {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        if packet.in_flight && packet.space == PacketSpace::Application {
            let outputs = Outputs::of(&self.inner, path.prior_bytes_in_flight);
            let beyond = self.inner.may_send_beyond_cwnd();
            let (size, datagram) = (packet.bytes, path.max_datagram_size);
            let excess = self.allowance.on_sent(path.now, &outputs, size, datagram, beyond);
            self.record.iter().for_each(|record| record.count(excess));
        }
        self.watch(path, Said::quiet("on_packet_sent"), |inner| inner.on_packet_sent(path, packet));
    }

    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let bytes = |late| {
            let packets = ack.packets.iter().filter(|packet| packet.was_lost == late);
            // An ack of a packet without a byte acks something, too.
            packets.fold(0, |sum: u64, packet| sum.saturating_add(packet.bytes.max(1)))
        };
        let acked = self.acked.0.saturating_add(bytes(false));
        let late = self.acked.1.saturating_add(bytes(true));
        self.acked = if ack.last { (0, 0) } else { (acked, late) };
        let outcome = Outcome { acked, late, ..Outcome::default() };
        let said = Said { outcome, part: Some(Part::Ack), ..Said::of("on_ack", Cause::Frame) };
        self.watch(path, said, |inner| inner.on_ack(path, ack));
    }

    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        let outcome = Outcome {
            lost: loss.packets.iter().fold(0, |sum, packet| sum.saturating_add(packet.bytes)),
            persistent: loss.persistent_congestion,
            newest_lost: loss.packets.iter().filter_map(|packet| packet.number).max(),
            oldest_lost: loss.packets.iter().filter_map(|packet| packet.number).min(),
            ..Outcome::default()
        };
        let said = Said { outcome, part: Some(Part::Loss), ..Said::of("on_loss", Cause::Frame) };
        self.watch(path, said, |inner| inner.on_loss(path, loss));
    }

    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        let outcome = Outcome { marks: ecn.marks(), newest_acked: ecn.largest_acked, ..Outcome::default() };
        let said = Said { outcome, part: Some(Part::Ecn), ..Said::of("on_ecn", Cause::Frame) };
        self.watch(path, said, |inner| inner.on_ecn(path, ecn));
    }

    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        // The frame acked something, which `on_ack` will say: a saved window may be confirmed now.
        self.watch(path, Said::of("on_rtt", Cause::Measured), |inner| inner.on_rtt(path, rtt));
    }

    fn on_app_limited(&mut self, path: &PathState) {
        self.watch(path, Said::quiet("on_app_limited"), |inner| inner.on_app_limited(path));
    }

    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.watch(path, Said::quiet("on_idle_restart"), |inner| inner.on_idle_restart(path, idle));
    }

    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        let said = Said::of("on_spurious_loss", Cause::Undo);
        self.watch(path, said, |inner| inner.on_spurious_loss(path, spurious));
    }

    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.watch(path, Said::quiet("on_discarded"), |inner| inner.on_discarded(path, bytes, reason));
    }

    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        // A change before the handshake has finished belongs to it.
        let kind = if path.handshake_ready { change } else { MtuChange::Handshake };
        let said = Said::of("on_mtu_update", Cause::Mtu(kind));
        self.watch(path, said, |inner| inner.on_mtu_update(path, change));
    }

    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        let said = Said::of("on_path_change", Cause::Path(change));
        self.watch(path, said, |inner| inner.on_path_change(path, change));
    }

    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        let said = Said::of("on_resume_hint", Cause::Resume);
        self.watch(path, said, |inner| inner.on_resume_hint(path, hint));
    }

    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.watch(path, Said::quiet("on_ack_policy"), |inner| inner.on_ack_policy(path, policy));
    }

    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.watch(path, Said::quiet("on_ecn_state"), |inner| inner.on_ecn_state(path, codepoint));
    }

    crate::delegate_controller! {
        inner except
        on_packet_sent, on_ack, on_loss, on_ecn, on_rtt, on_app_limited, on_idle_restart, on_spurious_loss, on_discarded,
        on_mtu_update, on_path_change, on_resume_hint, on_ack_policy, on_ecn_state
    }
}
