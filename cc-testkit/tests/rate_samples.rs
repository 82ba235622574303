//! `uses_rate_samples`: what a controller that says no decides without them.

mod subjects;

use cc_core::{AckEvent, AckedPacket, CongestionController, LossEvent, LostPacket, PathState, Setup};
use cc_testkit::{Options, Report, Script, Subject, run, strategies};
use proptest::prelude::*;
use subjects::Visitor;

/// Passes on everything but rate samples and snapshots.
#[derive(Clone, Debug)]
struct Without<C> {
    inner: C,
}

impl<C: CongestionController> CongestionController for Without<C> {
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let packets: Vec<AckedPacket> =
            ack.packets.iter().map(|packet| AckedPacket { snapshot: None, ..*packet }).collect();
        self.inner.on_ack(path, &AckEvent { packets: &packets, rate_sample: None, ..*ack });
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        let packets: Vec<LostPacket> =
            loss.packets.iter().map(|packet| LostPacket { snapshot: None, ..*packet }).collect();
        self.inner.on_loss(path, &LossEvent { packets: &packets, ..*loss });
    }
    cc_testkit::delegate_controller! { inner except on_ack, on_loss }
}

/// Runs a script with and without on every subject that answers `uses_rate_samples` so.
struct Both<'a> {
    script: &'a Script,
    answer: bool,
    runs: Vec<(&'static str, Report, Report)>,
}

impl Visitor for Both<'_> {
    fn visit<C: CongestionController + Clone>(&mut self, subject: Subject<C>) {
        if subject.make(&Setup::default()).uses_rate_samples() != self.answer {
            return;
        }
        let options = Options { expectations: false, any_subject: true, ..Options::default() };
        let stripped = subject.wrapped(|inner, _| Without { inner });
        let [with, without] = [run(self.script, &subject, &options), run(self.script, &stripped, &options)];
        self.runs.push((subject.name, with, without));
    }
}

fn runs(script: &Script, answer: bool) -> Vec<(&'static str, Report, Report)> {
    let mut both = Both { script, answer, runs: Vec::new() };
    subjects::each(&mut both);
    both.runs
}

#[test]
fn cubic_and_reno_say_no_and_others_need_them() {
    let script = Script::parse("loop 20 {\n    fill(+0, in one)\n    ack(+50, all)\n}\n").unwrap();
    let names: Vec<_> = runs(&script, false).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["cubic", "reno"]);
    // The check can fail: C4 and BBR find no rate without samples.
    let differ = |(name, with, without): (_, Report, Report)| (with.trace != without.trace).then_some(name);
    let differing: Vec<_> = runs(&script, true).into_iter().filter_map(differ).collect();
    assert!(differing.contains(&"c4") && differing.contains(&"bbr"), "{differing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_them_every_decision_is_the_same(
        script in prop_oneof![strategies::plausible(60), strategies::absurd(40)],
    ) {
        for (name, with, without) in runs(&script, false) {
            prop_assert_eq!(with.trace, without.trace, "{}\n{}", name, script);
            let verdicts = [with.verdict, without.verdict].map(|verdict| format!("{verdict:?}"));
            prop_assert_eq!(&verdicts[0], &verdicts[1], "{}\n{}", name, script);
        }
    }
}
