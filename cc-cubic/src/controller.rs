//! The controller: events to state, and all outputs from state in one place.

use crate::avoidance::{Growth, Segment};
use crate::bytes::FineBytes;
use crate::config::{Config, Settings};
use crate::cut::{Cause, Cut, Membership};
use crate::resume::Resume;
use crate::state::{INFINITE, Phase, Signal, State};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent,
    HyStartPlusPlus, Instant, LossEvent, MtuChange, PathChange, PathState, Rate, ResumeHint, RttEvent,
    SendMark, SentPacket, SlowStart, SlowStartStep, Snapshot, SpuriousLoss, Utilisation, WindowGrowth,
    division,
};
use core::num::NonZero;

/// Largest [`send_quantum`](CongestionController::send_quantum) in bytes: what one UDP segmentation offload call
/// takes.
const MAX_QUANTUM: u32 = 65_536;

/// The quantum is this part of the window: four bursts per round trip (picoquic's choice).
const QUANTUM_DIVISOR: u64 = 4;

/// Smoothed RTTs below this are taken as this: clocks of some stacks are that coarse.
const MIN_RTT: Duration = Duration::from_micros(1);

/// CUBIC with a slow start of choice. See the [crate documentation](crate).
#[derive(Clone, Copy, Debug)]
pub struct Cubic<S: SlowStart = HyStartPlusPlus> {
    pub(crate) settings: Settings,
    pub(crate) state: State,
    segment: Segment,
    pub(crate) slow_start: S,
    pub(crate) utilisation: Utilisation,
    cut: Option<Cut>,
    pub(crate) resume: Resume,
    /// Smoothed RTT of the newest ACK; zero before the first sample.
    smoothed_rtt: Duration,
    /// Time up to which it is settled what counts for the stage: the last ACK, or the end of an idle period.
    pub(crate) settled_at: Instant,
    /// Since when nothing is in flight.
    idle_since: Option<Instant>,
    congestion_events: u32,
    outputs: Outputs,
}

/// What the stack reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Outputs {
    cwnd: u64,
    /// Bytes per second.
    pacing_rate: Option<NonZero<u64>>,
    send_quantum: u32,
    beyond_cwnd: bool,
}

impl Outputs {
    /// After a loss or ECN counts: the rate is not above that before them, until the next other event computes it anew. A collapse
    /// opens a slow start, which may be configured to pace faster. A window that rose has a rate of its own: the floor of larger
    /// datagrams came with the event.
    fn keep_rate_below(&mut self, before: &Self) {
        if self.cwnd > before.cwnd {
            return;
        }
        self.pacing_rate = match (self.pacing_rate, before.pacing_rate) {
            (Some(rate), Some(before)) => Some(rate.min(before)),
            (rate, _) => rate,
        };
    }
}

impl Cubic<HyStartPlusPlus> {
    /// CUBIC with HyStart++, as RFC 9438 section 4.10 recommends.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::with_slow_start(config, HyStartPlusPlus::new(config.paces))
    }
}

impl<S: SlowStart> Cubic<S> {
    /// CUBIC with another initial slow start.
    #[must_use]
    pub fn with_slow_start(config: &Config, slow_start: S) -> Self {
        let settings = Settings::new(config);
        let mut cubic = Self {
            settings,
            state: State::initial(&settings),
            segment: Segment::default(),
            slow_start,
            utilisation: Utilisation::new(settings.increase_rule, settings.initial_window()),
            cut: None,
            resume: config.resume.map_or(Resume::OFF, Resume::Waiting),
            smoothed_rtt: Duration::ZERO,
            settled_at: Instant::ZERO,
            idle_since: None,
            congestion_events: 0,
            outputs: Outputs::default(),
        };
        cubic.update_outputs();
        cubic
    }

    /// All outputs, from the state.
    #[inline(never)]
    fn update_outputs(&mut self) {
        let cwnd = self.settings.limited(self.state.cwnd.whole());
        self.outputs.cwnd = cwnd;
        // RFC 9002 section 7.7: rate = N * cwnd / smoothed_rtt.
        let percent = if self.state.phase == Phase::SlowStart {
            self.settings.slow_start_pacing_percent
        } else {
            self.settings.pacing_percent
        };
        let per_rtt = division::by_hundred(cwnd.saturating_mul(u64::from(percent)));
        self.outputs.pacing_rate = Rate::from_delivery(per_rtt, self.smoothed_rtt)
            .map(|rate| NonZero::new(rate.as_bytes_per_sec()).unwrap_or(NonZero::<u64>::MIN));
        // At least two datagrams, and no burst above the initial window (RFC 9002 section 7.7).
        let quantum =
            (cwnd / QUANTUM_DIVISOR).min(self.settings.initial_window()).max(self.settings.min_window());
        self.outputs.send_quantum = u32::try_from(quantum).unwrap_or(MAX_QUANTUM).min(MAX_QUANTUM);
        // RFC 9002 section 7.3.2: one packet may be sent to speed up recovery.
        self.outputs.beyond_cwnd = self.cut.is_some_and(|cut| cut.allows_rescue());
    }

    /// Takes the datagram size from the path state where a stack does not announce a change.
    #[inline]
    fn follow_mtu(&mut self, path: &PathState) {
        // Every event asks, and the answer is no.
        if !self.settings.is_datagram(path.max_datagram_size) {
            self.take_mtu(path, !path.handshake_ready);
        }
    }

    /// Takes the datagram size from the path state; `in_handshake` if a change belongs to the handshake.
    fn take_mtu(&mut self, path: &PathState, in_handshake: bool) {
        let old = self.settings;
        if !self.settings.set_datagram(path.max_datagram_size) {
            return;
        }
        let mut initial_changed = false;
        if in_handshake {
            initial_changed = self.state.change_initial_window(&old, &self.settings);
        }
        self.state.change_unit(path.now, &self.settings);
        if let Some(cut) = &mut self.cut {
            cut.change_unit(path.now, in_handshake.then_some(&old), &self.settings);
        }
        if initial_changed {
            self.utilisation = Utilisation::new(self.settings.increase_rule, self.settings.initial_window());
        }
        self.start_segments();
        self.update_outputs();
    }

    /// Time from the last settled moment to `to` does not count for the stage (RFC 9438 sections 4.2 and 5.8).
    fn skip_time_until(&mut self, from: Instant, to: Instant) {
        let span = to.since(from.max(self.settled_at));
        self.state.skip_time(span, to);
        if let Some(cut) = &mut self.cut {
            cut.skip_time(span, to);
        }
        self.settled_at = self.settled_at.max(to);
    }

    /// Remembers since when nothing is in flight, whatever emptied the flight: acks, losses or discarded packets.
    fn note_idle(&mut self, path: &PathState) {
        if path.bytes_in_flight == 0 {
            self.idle_since = self.idle_since.or(Some(path.now));
        }
    }

    /// Idle time, if there was any, ended at `at`.
    fn end_idle(&mut self, at: Instant) {
        if let Some(idle_since) = self.idle_since.take() {
            self.skip_time_until(idle_since, at);
        }
    }

    /// Whether the packet shows that sending had begun again when it was sent: not if it is a late one from before.
    fn ends_idle(&self, packet: &AckedPacket) -> bool {
        !packet.was_lost && self.idle_since.is_none_or(|since| packet.sent_at >= since)
    }

    fn take_rtt(&mut self, path: &PathState) {
        if let Some(rtt) = path.rtt {
            self.smoothed_rtt = rtt.smoothed.max(MIN_RTT);
        }
    }

    /// Newly acked packets, or nothing new in the last part of a frame.
    fn take_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let (mut acked, mut held, mut fresh) = (0_u64, 0_u64, 0_u64);
        let mut oldest_sent_at = path.now;
        for packet in ack.packets {
            acked = acked.saturating_add(packet.bytes);
            // RFC 9959, "Unvalidated Phase": no growth before a packet of the jump is acked.
            if self.resume.precedes_jump(packet) {
                held = held.saturating_add(packet.bytes);
            }
            // RFC 9002 appendix B.5: packets sent before the reduction do not grow the window.
            if !self.cut.is_some_and(|cut| cut.covers(packet.number, packet.sent_at)) {
                fresh = fresh.saturating_add(packet.bytes);
            }
            if self.ends_idle(packet) {
                oldest_sent_at = oldest_sent_at.min(packet.sent_at);
            }
        }
        if acked == 0 {
            return;
        }
        self.take_rtt(path);
        self.end_idle(oldest_sent_at);
        if let Some(cut) = &mut self.cut {
            cut.on_ack(path.now);
        }
        let slow_start = self.state.phase == Phase::SlowStart;
        let utilised = self.utilisation.on_ack(path, ack, self.outputs.cwnd, slow_start);
        self.resume.on_ack(path, ack, acked);
        if fresh > 0 {
            if self.in_recovery() {
                self.leave_recovery(path.now);
            }
            let growing = fresh.saturating_sub(held);
            self.grow(path, ack, growing, utilised && growing > 0);
        }
        self.settled_at = path.now;
        self.note_idle(path);
        self.update_outputs();
    }

    /// Grows the window for `bytes` acked of packets sent after the last reduction.
    fn grow(&mut self, path: &PathState, ack: &AckEvent<'_>, bytes: u64, utilised: bool) {
        let mut bytes = if utilised { bytes } else { 0 };
        if self.state.phase == Phase::SlowStart {
            bytes = self.grow_in_slow_start(path, ack, bytes);
        }
        let Phase::Avoidance(mut stage) = self.state.phase else { return };
        let growth = Growth {
            now: path.now,
            rtt: self.smoothed_rtt,
            bytes,
            limit: self.limit(WindowGrowth::Cubic),
            datagram: self.settings.datagram(),
        };
        let limited = growth.apply(&mut self.state, &mut stage, &mut self.segment);
        self.state.phase = Phase::Avoidance(stage);
        if limited || !utilised {
            self.skip_time_until(self.settled_at, path.now);
        }
    }

    /// Returns the bytes that are left for congestion avoidance.
    fn grow_in_slow_start(&mut self, path: &PathState, ack: &AckEvent<'_>, bytes: u64) -> u64 {
        let step = if self.state.in_initial_slow_start() {
            self.slow_start.on_ack(path, ack, bytes)
        } else {
            // RFC 9406 section 4.3: HyStart++ serves the initial slow start only.
            SlowStartStep::Grow(bytes)
        };
        let (SlowStartStep::Grow(growth) | SlowStartStep::Exit(growth)) = step;
        let limit = self.limit(WindowGrowth::Doubling).min(self.state.ssthresh);
        let growth = growth.min(limit.saturating_sub(self.state.cwnd.whole()));
        self.state.cwnd = self.state.cwnd.plus(FineBytes::new(growth));
        if matches!(step, SlowStartStep::Exit(_)) {
            self.state.exit_slow_start(path.now, &self.settings);
            self.start_segments();
            return 0;
        }
        if self.state.cwnd.whole() < self.state.ssthresh {
            return 0;
        }
        self.state.start_flat_stage(path.now, &self.settings);
        self.start_segments();
        bytes.saturating_sub(growth)
    }

    fn limit(&self, growth: WindowGrowth) -> u64 {
        self.utilisation.limit(growth, self.settings.datagram()).min(self.settings.max_window())
    }

    /// A new stage begins: its ACKs are cut into segments anew.
    pub(crate) fn start_segments(&mut self) {
        self.segment = Segment::default();
    }

    /// A packet sent after the reduction was acked (RFC 9002 section 7.3.2).
    fn leave_recovery(&mut self, now: Instant) {
        self.end_retreat();
        if self.in_recovery() {
            self.state.start_stage(now, &self.settings);
        }
        self.start_segments();
        self.settled_at = now;
    }

    /// A congestion event that no earlier reduction covers.
    fn reduce(&mut self, path: &PathState, signal: Signal, lost_bytes: u64) {
        self.take_back_jump(path);
        // A packet sent after a safe retreat brings the signal: the retreat is over, as it is if its ack is told first.
        self.end_retreat();
        let before = self.state;
        let cause = if let Some(pipe) = self.resume.unvalidated_pipe(path) {
            self.retreat(pipe);
            Cause::Final
        } else {
            self.resume = match self.resume {
                // Congestion before the path was confirmed: the saved window is not used.
                Resume::Waiting(_) => Resume::OFF,
                other => other,
            };
            self.state.reduce(signal, path.now, &self.settings);
            Cause::Open { before, lost_bytes, marked: signal == Signal::Ce }
        };
        self.cut = Some(Cut::new(SendMark::new(path), self.cut, cause));
        self.congestion_events = self.congestion_events.saturating_add(1);
        self.after_reduction();
    }

    /// Losses of packets that the last reduction covers.
    fn lose_in_period(&mut self, path: &PathState, bytes: u64) {
        let Some(Cut { cause: Cause::Open { before, lost_bytes, .. }, .. }) = &mut self.cut else { return };
        let (before, is_first) = (*before, *lost_bytes == 0);
        *lost_bytes = lost_bytes.saturating_add(bytes);
        if is_first {
            // So far the reduction is that of a mark: it becomes that of a loss, of the window that was reduced. A datagram size
            // that changed in the handshake may have replaced that one in `before`, and may have lowered the present window
            // further: no loss raises it.
            let reduced = State { cwnd: FineBytes::new(self.state.cwnd_prior), ..before };
            let present = self.state.cwnd;
            self.state = self.reduced_in_period(path.now, reduced, Signal::Loss, present);
            self.after_reduction();
        }
    }

    /// Losses of packets of the period before, told in the frame that ended it: as if told before that. If marks alone
    /// caused that reduction it becomes that of a loss, and the last one starts from there.
    fn lose_in_earlier_period(&mut self, now: Instant) {
        let Some(cut) = &mut self.cut else { return };
        let Some(between) = cut.lose_in_earlier() else { return };
        let Cause::Open { before, lost_bytes, .. } = &mut cut.cause else { return };
        let mut deepened =
            State { cwnd: FineBytes::new(between.cwnd_prior), w_max: between.cwnd_prior, ..between };
        deepened.reduce(Signal::Loss, now, &self.settings);
        deepened.limit_reduced(between.cwnd);
        if between.phase != Phase::Recovery {
            deepened.start_stage(now, &self.settings);
        }
        *before = deepened;
        let signal = if *lost_bytes > 0 { Signal::Loss } else { Signal::Ce };
        self.state = self.reduced_in_period(now, deepened, signal, self.state.cwnd);
        self.after_reduction();
    }

    /// What `before` becomes by a signal of the period that the last reduction opened, which may be over. The window is
    /// at most `most`.
    fn reduced_in_period(&self, now: Instant, before: State, signal: Signal, most: FineBytes) -> State {
        let mut state = before;
        state.reduce(signal, self.cut.map_or(now, |cut| cut.at()), &self.settings);
        state.limit_reduced(most);
        if !self.in_recovery() {
            state.start_stage(now, &self.settings);
        }
        state
    }

    fn after_reduction(&mut self) {
        self.start_segments();
        self.utilisation.on_reduction();
    }

    /// All losses of the period were spurious (RFC 9438 section 4.9.2).
    fn undo(&mut self, now: Instant, before: State, marked: bool) {
        let Some(cut) = &mut self.cut else { return };
        if self.state.cwnd >= FineBytes::new(self.state.cwnd_prior) {
            // Section 4.9.2: only a window that is still lower is restored.
            cut.cause = Cause::Final;
            return;
        }
        let restored = if marked {
            self.reduced_in_period(now, before, Signal::Ce, before.cwnd)
        } else {
            // Losses of packets sent before the undone reduction are new signals.
            self.cut = cut.before();
            before
        };
        if restored.cwnd > self.state.cwnd {
            self.state = restored;
        }
        if let Some(cut) = &mut self.cut {
            cut.end_rescue();
        }
        self.start_segments();
    }

    /// Persistent congestion (RFC 9002 section 7.6.2).
    fn collapse(&mut self) {
        self.state.collapse(&self.settings);
        self.resume = Resume::OFF;
        self.after_reduction();
        if let Some(cut) = &mut self.cut {
            cut.cause = Cause::Persistent;
        }
    }
}

impl<S: SlowStart> CongestionController for Cubic<S> {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.follow_mtu(path);
        if packet.in_flight {
            self.end_idle(path.now);
            if let Some(cut) = &mut self.cut {
                cut.on_packet_sent(packet, path.bytes_in_flight > self.outputs.cwnd);
                self.update_outputs();
            }
        }
        self.utilisation.on_packet_sent(path);
        self.slow_start.on_packet_sent(path, packet);
    }

    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.follow_mtu(path);
        self.take_ack(path, ack);
        if ack.last {
            self.utilisation.on_frame_end();
            self.slow_start.on_frame_end();
        }
    }

    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        let outputs = self.outputs;
        self.follow_mtu(path);
        let (mut new, mut in_period, mut old) = (0_u64, 0_u64, 0_u64);
        let mut in_earlier = false;
        for packet in loss.packets {
            let membership = match &self.cut {
                Some(cut) => cut.membership(packet.number, packet.sent_at),
                None => Membership::New,
            };
            match membership {
                Membership::New => new = new.saturating_add(packet.bytes),
                Membership::InPeriod => in_period = in_period.saturating_add(packet.bytes),
                Membership::Old => {
                    old = old.saturating_add(packet.bytes);
                    let late = |cut: &Cut| cut.is_told_late(path, packet.number, packet.sent_at);
                    in_earlier |= packet.bytes > 0 && self.cut.as_ref().is_some_and(late);
                }
                Membership::Elsewhere => {}
            }
        }
        // Oldest first: as if every packet were told by itself.
        if in_earlier {
            self.lose_in_earlier_period(path.now);
        }
        if in_period > 0 {
            self.lose_in_period(path, in_period);
        }
        if new > 0 {
            self.reduce(path, Signal::Loss, new);
        }
        let all_are_old = new == 0 && in_period == 0;
        let collapsed = self.cut.is_some_and(|cut| cut.has_collapsed(path, all_are_old));
        // RFC 9002 section 7.6.2, also for losses that an earlier reduction answered.
        if loss.persistent_congestion && !collapsed && (new > 0 || in_period > 0 || old > 0) {
            self.collapse();
        }
        self.note_idle(path);
        self.update_outputs();
        self.outputs.keep_rate_below(&outputs);
    }

    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        let outputs = self.outputs;
        self.follow_mtu(path);
        if ecn.marks() == 0 {
            self.outputs.keep_rate_below(&outputs);
            return;
        }
        // RFC 9002 section 7.1 and appendix B.7: the largest acked packet stands for the mark.
        let membership = match &self.cut {
            Some(cut) => cut.membership(ecn.largest_acked, ecn.largest_acked_sent_at),
            None => Membership::New,
        };
        match membership {
            Membership::New => self.reduce(path, Signal::Ce, 0),
            Membership::InPeriod => {
                if let Some(Cut { cause: Cause::Open { marked, .. }, .. }) = &mut self.cut {
                    *marked = true;
                }
            }
            Membership::Old | Membership::Elsewhere => {}
        }
        self.update_outputs();
        self.outputs.keep_rate_below(&outputs);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.outputs.pacing_rate.map(|rate| Rate::from_bytes_per_sec(rate.get()))
    }

    fn cwnd(&self) -> u64 {
        self.outputs.cwnd
    }

    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.follow_mtu(path);
        self.take_rtt(path);
        if rtt.is_sample {
            self.take_first_rtt(path, rtt.latest.max(MIN_RTT));
        }
        if self.state.in_initial_slow_start() {
            self.slow_start.on_rtt(path, rtt);
        }
        self.update_outputs();
    }

    fn on_app_limited(&mut self, path: &PathState) {
        self.follow_mtu(path);
        self.utilisation.on_app_limited(path.now);
    }

    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.follow_mtu(path);
        // The stack's word counts beside what events told: it may not report what it discards.
        let since = path.now.before(idle);
        self.idle_since = Some(self.idle_since.map_or(since, |known| known.min(since)));
        self.end_idle(path.now);
    }

    fn on_discarded(&mut self, path: &PathState, _bytes: u64, _reason: DiscardReason) {
        self.follow_mtu(path);
        self.note_idle(path);
    }

    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.follow_mtu(path);
        let Some(cut) = &mut self.cut else { return };
        let belongs = match *spurious {
            SpuriousLoss::All => true,
            SpuriousLoss::Packet { number, sent_at, .. } => {
                cut.membership(number, sent_at) == Membership::InPeriod
            }
        };
        let Cause::Open { before, lost_bytes, marked } = &mut cut.cause else { return };
        if !belongs || !self.settings.undo_spurious || *lost_bytes == 0 {
            return;
        }
        *lost_bytes = match *spurious {
            SpuriousLoss::All => 0,
            SpuriousLoss::Packet { bytes, .. } => lost_bytes.saturating_sub(bytes),
        };
        if *lost_bytes == 0 {
            let (before, marked) = (*before, *marked);
            self.undo(path.now, before, marked);
        }
        self.update_outputs();
    }

    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.take_mtu(path, change == MtuChange::Handshake || !path.handshake_ready);
    }

    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        if change == PathChange::Rebinding {
            self.follow_mtu(path);
            return;
        }
        // RFC 9000 section 9.4: start again; packets sent on the old path say nothing about the new one.
        self.settings.set_datagram(path.max_datagram_size);
        self.state = State::initial(&self.settings);
        self.slow_start.reset();
        self.utilisation = Utilisation::new(self.settings.increase_rule, self.settings.initial_window());
        self.cut = Some(Cut::path_change(SendMark::new(path)));
        self.resume = Resume::OFF;
        self.smoothed_rtt = Duration::ZERO;
        self.idle_since = None;
        self.start_segments();
        self.update_outputs();
    }

    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.follow_mtu(path);
        if self.state.in_initial_slow_start() && self.cut.is_none() {
            self.take_hint(path, hint);
            self.update_outputs();
        }
    }

    fn send_quantum(&self) -> u64 {
        u64::from(self.outputs.send_quantum)
    }

    fn may_send_beyond_cwnd(&self) -> bool {
        self.outputs.beyond_cwnd
    }

    fn wanted_ecn(&self) -> EcnCodepoint {
        if self.settings.ecn { EcnCodepoint::Ect0 } else { EcnCodepoint::NotEct }
    }

    fn uses_rate_samples(&self) -> bool {
        false
    }

    fn snapshot(&self) -> Snapshot {
        let phase = match self.state.phase {
            Phase::SlowStart if self.state.ssthresh == INFINITE => self.slow_start.phase(),
            Phase::SlowStart => "slow_start",
            Phase::Recovery => "recovery",
            Phase::Avoidance(_) => "congestion_avoidance",
        };
        Snapshot {
            phase: self.resume.phase().unwrap_or(phase),
            startup: self.state.ssthresh == INFINITE,
            cwnd: self.outputs.cwnd,
            pacing_rate: self.pacing_rate(),
            ssthresh: self.ssthresh(),
            model_rtt: (!self.smoothed_rtt.is_zero()).then_some(self.smoothed_rtt),
            congestion_events: u64::from(self.congestion_events),
            ..Snapshot::default()
        }
    }
}
