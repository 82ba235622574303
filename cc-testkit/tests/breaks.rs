//! Rules broken on purpose: the kit must notice each.

mod subjects;

use cc_core::{
    AckEvent, CongestionController, Duration, EcnEvent, Instant, LossEvent, MtuChange, PathChange, PathState,
    Rate, ResumeHint, RttEvent, SendLimit, SentPacket, Setup, Snapshot, SpuriousLoss,
};
use cc_cubic::Cubic;
use cc_testkit::{Candidate, Options, Subject, Verdict, cases};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    PacesAtZero,
    LosesItsFloor,
    CutsForEveryLoss,
    GrowsUnused,
    CutsForEveryMark,
    PanicsOnLateAcks,
    GrowsOnLoss,
    IgnoresPersistentCongestion,
    DependsOnTheEpoch,
    KeepsTheOldPath,
    UndoesWithoutEvidence,
    ForgetsTheHandshakeSize,
    HasNoCeiling,
}

/// CUBIC with one fault.
#[derive(Clone, Debug)]
struct Broken {
    inner: Cubic,
    fault: Fault,
    now: Instant,
    losses: u32,
}

impl Broken {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }
}

impl CongestionController for Broken {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.inner.on_packet_sent(path, packet);
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.now = path.now;
        let limited_by = if self.is(Fault::GrowsUnused) { SendLimit::Cwnd } else { ack.limited_by };
        self.inner.on_ack(path, &AckEvent { limited_by, ..*ack });
        if self.is(Fault::UndoesWithoutEvidence) {
            self.inner.on_spurious_loss(path, &SpuriousLoss::All);
        }
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.losses += 1;
        let persistent_congestion =
            loss.persistent_congestion && !self.is(Fault::IgnoresPersistentCongestion);
        self.inner.on_loss(path, &LossEvent { persistent_congestion, ..*loss });
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        let number = if self.is(Fault::CutsForEveryMark) { Some(u64::MAX) } else { ecn.largest_acked };
        self.inner.on_ecn(path, &EcnEvent { largest_acked: number, ..*ecn });
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.inner.on_rtt(path, rtt);
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.inner.on_app_limited(path);
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.inner.on_idle_restart(path, idle);
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        assert!(!self.is(Fault::PanicsOnLateAcks), "a late ack");
        self.inner.on_spurious_loss(path, spurious);
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        let change = if self.is(Fault::ForgetsTheHandshakeSize) { MtuChange::Discovered } else { change };
        self.inner.on_mtu_update(path, change);
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        if !self.is(Fault::KeepsTheOldPath) {
            self.inner.on_path_change(path, change);
        }
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.inner.on_resume_hint(path, hint);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        if self.is(Fault::PacesAtZero) { Some(Rate::ZERO) } else { self.inner.pacing_rate() }
    }
    fn cwnd(&self) -> u64 {
        let cwnd = self.inner.cwnd();
        match self.fault {
            Fault::LosesItsFloor if self.losses > 8 => cwnd / 2,
            Fault::CutsForEveryLoss => (0..self.losses.min(9)).fold(cwnd, |cwnd, _| cwnd * 9 / 10).max(2_400),
            Fault::GrowsOnLoss => cwnd + 5_000 * u64::from(self.losses),
            Fault::DependsOnTheEpoch if self.now > Instant::from_secs(1_000) => cwnd + 1_200,
            Fault::HasNoCeiling if cwnd == cc_cubic::MAX_WINDOW => cwnd + 1,
            _ => cwnd,
        }
    }
    fn send_quantum(&self) -> u64 {
        self.inner.send_quantum()
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.inner.may_send_beyond_cwnd()
    }
    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }
}

fn broken(fault: Fault) -> Subject<Broken> {
    let make = move |setup: &Setup| Broken {
        inner: subjects::cubic().make(setup),
        fault,
        now: Instant::ZERO,
        losses: 0,
    };
    let cubic = subjects::cubic();
    Subject::loss_based("cubic", make)
        .with_betas(cubic.beta_loss, cubic.beta_ce)
        .with_max_window(cubic.max_window)
        .tagged(cubic.tags)
}

/// The first case that fails.
fn caught_by(fault: Fault) -> Option<String> {
    let subject = broken(fault);
    for case in cases::all() {
        for script in case.scripts().expect("the scripts are right") {
            if let Verdict::Fail(failure) = subject.run(&script, &Options::default()).verdict {
                return Some(format!("{}: {}", case.name, failure.message));
            }
        }
    }
    let script = &cases::SCRIPTS[0].scripts().expect("the scripts are right")[0];
    subject.time_shift(script, Duration::from_secs(1_000_000)).err()
}

#[test]
fn every_broken_rule_is_noticed() {
    for fault in [
        Fault::PacesAtZero,
        Fault::LosesItsFloor,
        Fault::CutsForEveryLoss,
        Fault::GrowsUnused,
        Fault::CutsForEveryMark,
        Fault::PanicsOnLateAcks,
        Fault::GrowsOnLoss,
        Fault::IgnoresPersistentCongestion,
        Fault::DependsOnTheEpoch,
        Fault::KeepsTheOldPath,
        Fault::UndoesWithoutEvidence,
        Fault::ForgetsTheHandshakeSize,
        Fault::HasNoCeiling,
    ] {
        let caught = caught_by(fault);
        println!("{fault:?}: {caught:?}");
        assert!(caught.is_some(), "{fault:?} went unnoticed");
    }
}
