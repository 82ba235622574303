//! Rules broken on purpose: the kit must notice each.

mod subjects;

use cc_core::{
    AckEvent, CongestionController, Duration, EcnEvent, Instant, LossEvent, MtuChange, PathChange, PathState,
    Rate, ResumeHint, RttEvent, SendLimit, SentPacket, Setup, Snapshot, SpuriousLoss,
};
use cc_cubic::Cubic;
use cc_testkit::{Candidate, Checks, Options, Record, Subject, Verdict, Watched, cases, run_on_path};

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

/// What the calls alone show of some invariants, in a stack that checks nothing.
fn seen_by_watching(fault: Fault, checks: Checks) -> Option<String> {
    let (subject, record) = (broken(fault), Record::default());
    let kept = record.clone();
    let watched = Subject::loss_based("cubic", move |setup| {
        Watched::new(subject.make(setup), &subject).with_checks(checks).recording_in(&kept)
    });
    let options =
        Options { expectations: false, checks: Checks::NONE, any_subject: true, ..Options::default() };
    for case in cases::all() {
        for script in case.scripts().expect("the scripts are right") {
            let _verdict = run_on_path(&script, &watched, &options, false);
            if let Some(violation) = record.violation() {
                return Some(violation.message.clone());
            }
        }
    }
    None
}

#[test]
fn a_watched_controller_is_caught_at_the_rule_that_it_breaks() {
    let none = Checks::NONE;
    let bounds = Checks { bounds: true, ..none };
    let once = Checks { once: true, ..none };
    for (fault, checks, rule) in [
        (Fault::PacesAtZero, Checks { outputs: true, ..none }, "U2: the pacing rate is zero"),
        (Fault::LosesItsFloor, bounds, "U1: cwnd"),
        (Fault::HasNoCeiling, bounds, "U1: cwnd"),
        // Its window grows with the number of losses, in the call that tells of them.
        (Fault::GrowsOnLoss, Checks { growth: true, ..none }, "U4: cwnd grew"),
        (Fault::GrowsOnLoss, Checks { signals: true, ..none }, "U6: Loss raised"),
        (Fault::CutsForEveryLoss, once, "U5: a second decrease"),
        (Fault::CutsForEveryMark, once, "U5: a second decrease"),
    ] {
        let seen = seen_by_watching(fault, checks);
        assert!(seen.as_ref().is_some_and(|message| message.starts_with(rule)), "{fault:?}: {seen:?}");
        assert_eq!(seen_by_watching(fault, none), None);
    }
}

#[test]
#[should_panic(expected = "U2: the pacing rate is zero\n  in call 1, on_mtu_update at 0 ns")]
fn a_watched_controller_panics_at_the_first_violation() {
    let subject = broken(Fault::PacesAtZero);
    let watched = Watched::new(subject.make(&Setup::default()), &subject);
    let _path: cc_core::Path<_, 16> = cc_core::Path::new(watched, cc_core::PathConfig::default());
}
