//! A controller with one rule broken.

use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent,
    Instant, LossCause, LossEvent, MtuChange, PathChange, PathRtt, PathState, PeerInstant, Rate, ResumeHint,
    RttEvent, SendLimit, SentPacket, Setup, Snapshot, SpuriousLoss,
};
use cc_testkit::Subject;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A rule broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// None: the checks must be silent about the wrapper itself.
    Nothing,

    // Outputs.
    PacesAtZero,
    StopsPacingAfterALoss,
    PacesAtAConstantRate,
    PacesAtATenth,
    SendsBurstsOfOneByte,
    SendsBurstsOfAMegabyte,
    LosesItsFloor,
    HasNoCeiling,
    NeverGrows,
    HoldsTwiceTheWindow,
    StaysDownAfterLosses,
    SearchesForEver,
    EndsItsSearchAtOnce,
    HasNoEstimate,
    LowersItsEstimateForLosses,
    LowersItsEstimateWhenLimited,

    // Growth.
    GrowsOnLosses,
    GrowsOnMarks,
    GrowsOnSends,
    GrowsForNoData,
    GrowsForEmptyAcks,
    GrowsForRepeatedAcks,
    GrowsUnused,
    DoesNotGrowWhenPaced,
    GrowsByAConstant,
    GrowsByFrames,
    GrowsByTime,

    // Reductions.
    ReducesForEveryLoss,
    ReducesForEveryMark,
    ReducesForDiscards,
    ReducesForASmallerDatagram,
    ReducesForLateAcks,
    ReducesAfterIdle,
    ReducesWithoutData,
    ReducesByHalf,
    ReducesTwiceForMarkAndLoss,
    ReducesByTheOrderOfCalls,
    IgnoresLosses,
    IgnoresMarks,
    IgnoresRtts,
    IgnoresPersistentCongestion,
    CollapsesForAnyLosses,
    CountsMarksTwice,
    IgnoresReceiveTimes,
    TakesArrivalsForReceiveTimes,
    TakesOneLateStampForAQueue,

    // Undo, resume, paths, datagrams.
    UndoesWithoutEvidence,
    NeverUndoes,
    JumpsAtAnyHint,
    KeepsTheOldPath,
    IgnoresDatagramSizes,
    ForgetsTheHandshakeSize,

    // Time, state, arithmetic.
    DependsOnTheEpoch,
    SharesStateWithItsCopies,
    KeepsTheFirstRtt,
    DividesByMilliseconds,
    DoublesTimes,
    SubtractsWhatWasNotSent,
    PanicsOnLateAcks,
}

/// A controller with a fault, and what the fault needs to remember.
#[derive(Clone, Debug)]
pub(crate) struct Broken<C> {
    inner: C,
    fault: Fault,
    /// Bytes that the fault adds to the window.
    extra: u64,
    /// Part of the window that the fault leaves, in percent.
    percent: u64,
    now: Instant,
    losses: u64,
    in_flight: u64,
    initial_window: u64,
    datagram: u64,
    jump: Option<u64>,
    rtt: Option<PathRtt>,
    last_mark: Option<u64>,
    acked_at: Option<Instant>,
    estimate_percent: u64,
    shared: Arc<AtomicU64>,
}

/// The subject with a fault.
pub(crate) fn broken<C: CongestionController + Clone>(
    subject: &Subject<C>,
    fault: Fault,
) -> Subject<Broken<C>> {
    subject.wrapped(move |inner, setup| Broken::new(inner, fault, setup))
}

impl<C: CongestionController> Broken<C> {
    fn new(inner: C, fault: Fault, setup: &Setup) -> Self {
        Self {
            fault,
            extra: 0,
            percent: 100,
            now: setup.now,
            losses: 0,
            in_flight: 0,
            initial_window: inner.cwnd(),
            datagram: setup.max_datagram_size,
            jump: setup.resume.map(|hint| hint.cwnd),
            rtt: None,
            last_mark: None,
            acked_at: None,
            estimate_percent: 100,
            shared: Arc::new(AtomicU64::new(0)),
            inner,
        }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn grow_if(&mut self, fault: Fault, bytes: u64) {
        if self.is(fault) {
            self.extra = self.extra.saturating_add(bytes);
        }
    }

    fn keep_if(&mut self, fault: Fault, percent: u64) {
        if self.is(fault) {
            self.percent = self.percent * percent / 100;
        }
    }

    /// The state of the path as the faulty controller sees it.
    fn seen(&mut self, path: &PathState) -> PathState {
        let mut seen = *path;
        self.now = path.now;
        if self.is(Fault::IgnoresDatagramSizes) {
            seen.max_datagram_size = self.datagram;
        }
        if self.is(Fault::KeepsTheFirstRtt) {
            self.rtt = self.rtt.or(path.rtt);
            seen.rtt = self.rtt;
        }
        seen
    }

    /// The packets with the receive times that the faulty controller takes for theirs.
    fn restamped(&self, now: Instant, packets: &[AckedPacket]) -> Vec<AckedPacket> {
        let newest = packets.iter().filter_map(|packet| packet.received_at).max();
        let stamp = |packet: &AckedPacket| match self.fault {
            Fault::IgnoresReceiveTimes => None,
            Fault::TakesArrivalsForReceiveTimes => {
                packet.received_at.map(|_| PeerInstant::from_nanos(now.as_nanos()))
            }
            Fault::TakesOneLateStampForAQueue => packet.received_at.and(newest),
            _ => packet.received_at,
        };
        packets.iter().map(|packet| AckedPacket { received_at: stamp(packet), ..*packet }).collect()
    }

    fn count_in_flight(&mut self, more: u64, less: u64) {
        if self.is(Fault::SubtractsWhatWasNotSent) {
            self.in_flight = self.in_flight.saturating_add(more);
            self.in_flight = self.in_flight.checked_sub(less).expect("more was acked or lost than sent");
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<C: CongestionController + Clone> CongestionController for Broken<C> {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        let path = self.seen(path);
        self.grow_if(Fault::GrowsOnSends, 1);
        if packet.in_flight {
            self.count_in_flight(packet.bytes, 0);
        }
        self.inner.on_packet_sent(&path, packet);
    }

    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let path = self.seen(path);
        let bytes = ack.packets.iter().fold(0_u64, |sum, packet| sum.saturating_add(packet.bytes));
        self.count_in_flight(0, bytes);
        if ack.packets.is_empty() {
            self.grow_if(Fault::GrowsForEmptyAcks, 1_200);
        } else {
            self.grow_if(Fault::GrowsByAConstant, 1_200);
            self.grow_if(Fault::GrowsByFrames, 3 * path.max_datagram_size);
        }
        let pause = self.acked_at.map_or(Duration::ZERO, |last| path.now.since(last));
        if pause > Duration::from_secs(60) {
            self.grow_if(Fault::GrowsByTime, self.inner.cwnd());
        }
        self.acked_at = Some(path.now);
        if self.is(Fault::DividesByMilliseconds)
            && let Some(rtt) = path.rtt
        {
            let rounds = 1_000_000_u64.checked_div(rtt.smoothed.as_nanos() / 1_000_000);
            assert!(rounds.expect("an RTT of no millisecond") > 0);
        }
        if self.is(Fault::DoublesTimes) {
            assert!(path.now.as_nanos().checked_mul(2).is_some(), "a time of more than half of the range");
        }
        if self.is(Fault::SharesStateWithItsCopies) {
            self.shared.fetch_add(1_200, Ordering::Relaxed);
        }
        let mut seen = *ack;
        let restamped = self.restamped(path.now, ack.packets);
        seen.packets = &restamped;
        if self.is(Fault::GrowsUnused) {
            seen.limited_by = SendLimit::Cwnd;
        }
        if self.is(Fault::DoesNotGrowWhenPaced)
            && matches!(ack.limited_by, SendLimit::Pacer | SendLimit::Unknown)
        {
            seen.limited_by = SendLimit::NoData;
        }
        if self.is(Fault::GrowsForRepeatedAcks) {
            let late: Vec<AckedPacket> =
                ack.packets.iter().filter(|packet| packet.was_lost).copied().collect();
            if !late.is_empty() {
                self.extra += 100_000;
            }
        }
        self.inner.on_ack(&path, &seen);
        if self.is(Fault::UndoesWithoutEvidence) {
            self.inner.on_spurious_loss(&path, &SpuriousLoss::All);
        }
    }

    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        let path = self.seen(path);
        self.losses += 1;
        let bytes = loss.packets.iter().fold(0_u64, |sum, packet| sum.saturating_add(packet.bytes));
        self.count_in_flight(0, bytes);
        self.grow_if(Fault::GrowsOnLosses, 20_000);
        if self.losses < 10 {
            self.keep_if(Fault::ReducesForEveryLoss, 90);
        }
        if self.is(Fault::ReducesByTheOrderOfCalls) && self.acked_at == Some(path.now) {
            self.percent = 50;
        }
        if self.losses == 1 {
            // From 0.7 of the window to 0.5.
            self.keep_if(Fault::ReducesByHalf, 71);
        }
        let newest = loss.packets.last().and_then(|packet| packet.number);
        if self.last_mark >= newest && self.last_mark.is_some() {
            self.keep_if(Fault::ReducesTwiceForMarkAndLoss, 70);
            self.last_mark = None;
        }
        if self.is(Fault::LowersItsEstimateForLosses) && loss.cause == Some(LossCause::Timer) {
            self.estimate_percent = self.estimate_percent * 70 / 100;
        }
        if self.is(Fault::IgnoresLosses) {
            return;
        }
        let persistent_congestion = match self.fault {
            Fault::IgnoresPersistentCongestion => false,
            Fault::CollapsesForAnyLosses => loss.packets.len() > 1 || loss.persistent_congestion,
            _ => loss.persistent_congestion,
        };
        self.inner.on_loss(&path, &LossEvent { persistent_congestion, ..*loss });
    }

    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        let path = self.seen(path);
        if self.is(Fault::IgnoresMarks) {
            return;
        }
        let mut seen = *ecn;
        if ecn.marks() > 0 {
            self.grow_if(Fault::GrowsOnMarks, 5_000);
            self.last_mark = ecn.largest_acked;
        }
        if self.is(Fault::ReducesForEveryMark) {
            seen.largest_acked = Some(u64::MAX);
        }
        if self.is(Fault::CountsMarksTwice) {
            seen.ce = ecn.ce.map(|ce| ce.saturating_mul(2));
        }
        self.inner.on_ecn(&path, &seen);
    }

    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        let path = self.seen(path);
        if !self.is(Fault::IgnoresRtts) {
            self.inner.on_rtt(&path, rtt);
        }
    }

    fn on_app_limited(&mut self, path: &PathState) {
        let path = self.seen(path);
        self.grow_if(Fault::GrowsForNoData, 1_200);
        self.keep_if(Fault::ReducesWithoutData, 50);
        if self.is(Fault::LowersItsEstimateWhenLimited) {
            self.estimate_percent = self.estimate_percent * 99 / 100;
        }
        self.inner.on_app_limited(&path);
    }

    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        let path = self.seen(path);
        self.keep_if(Fault::ReducesAfterIdle, 50);
        self.inner.on_idle_restart(&path, idle);
    }

    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        let path = self.seen(path);
        assert!(!self.is(Fault::PanicsOnLateAcks), "a late ack");
        self.keep_if(Fault::ReducesForLateAcks, 50);
        if !self.is(Fault::NeverUndoes) {
            self.inner.on_spurious_loss(&path, spurious);
        }
    }

    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        let path = self.seen(path);
        self.count_in_flight(0, bytes);
        self.keep_if(Fault::ReducesForDiscards, 70);
        self.inner.on_discarded(&path, bytes, reason);
    }

    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        let path = self.seen(path);
        if change == MtuChange::BlackHole {
            self.keep_if(Fault::ReducesForASmallerDatagram, 50);
        }
        let change = if self.is(Fault::ForgetsTheHandshakeSize) { MtuChange::Discovered } else { change };
        self.inner.on_mtu_update(&path, change);
    }

    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        let path = self.seen(path);
        if !self.is(Fault::KeepsTheOldPath) {
            self.inner.on_path_change(&path, change);
        }
    }

    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        let path = self.seen(path);
        self.jump = Some(hint.cwnd);
        self.inner.on_resume_hint(&path, hint);
    }

    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        let path = self.seen(path);
        self.inner.on_ack_policy(&path, policy);
    }

    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        let path = self.seen(path);
        self.inner.on_ecn_state(&path, codepoint);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rate = self.inner.pacing_rate();
        match self.fault {
            Fault::PacesAtZero => Some(Rate::ZERO),
            Fault::StopsPacingAfterALoss if self.losses > 0 => None,
            Fault::PacesAtAConstantRate => Some(Rate::from_bytes_per_sec(10_000_000)),
            Fault::PacesAtATenth => {
                rate.map(|rate| Rate::from_bytes_per_sec((rate.as_bytes_per_sec() / 10).max(1)))
            }
            _ => rate,
        }
    }

    fn cwnd(&self) -> u64 {
        let inner = self.inner.cwnd();
        let floor = 2 * self.datagram;
        match self.fault {
            Fault::LosesItsFloor if self.losses > 8 => self.datagram,
            Fault::HasNoCeiling if inner == cc_cubic::MAX_WINDOW => inner + 1,
            Fault::NeverGrows => inner.min(self.initial_window),
            Fault::HoldsTwiceTheWindow => inner.saturating_mul(2),
            Fault::StaysDownAfterLosses if self.losses > 4 => floor,
            Fault::JumpsAtAnyHint if self.acked_at.is_some() => inner.max(self.jump.unwrap_or(0)),
            Fault::DependsOnTheEpoch if self.now > Instant::from_secs(1_000) => inner + 1_200,
            Fault::SharesStateWithItsCopies => inner + self.shared.load(Ordering::Relaxed),
            // No wrapper's arithmetic takes the window below its floor.
            _ if self.percent < 100 => (inner.saturating_mul(self.percent) / 100).max(floor),
            _ => inner.saturating_add(self.extra),
        }
    }

    fn send_quantum(&self) -> u64 {
        match self.fault {
            Fault::SendsBurstsOfOneByte => 1,
            Fault::SendsBurstsOfAMegabyte => 1_000_000,
            _ => self.inner.send_quantum(),
        }
    }

    fn snapshot(&self) -> Snapshot {
        let snapshot = self.inner.snapshot();
        match self.fault {
            Fault::SearchesForEver => Snapshot { startup: true, ..snapshot },
            Fault::EndsItsSearchAtOnce => Snapshot { startup: false, ..snapshot },
            Fault::HasNoEstimate => Snapshot { bandwidth: None, ..snapshot },
            _ => {
                let scaled = |rate: Rate| {
                    Rate::from_bytes_per_sec(rate.as_bytes_per_sec() / 100 * self.estimate_percent)
                };
                let bandwidth = if self.estimate_percent < 100 {
                    snapshot.bandwidth.map(scaled)
                } else {
                    snapshot.bandwidth
                };
                Snapshot { bandwidth, ..snapshot }
            }
        }
    }

    cc_testkit::delegate_controller! {
        inner except
        on_packet_sent, on_ack, on_loss, on_ecn, on_rtt, on_app_limited, on_idle_restart, on_spurious_loss, on_discarded,
        on_mtu_update, on_path_change, on_resume_hint, on_ack_policy, on_ecn_state, pacing_rate, cwnd, send_quantum, snapshot
    }
}
