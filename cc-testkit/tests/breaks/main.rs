//! Rules broken on purpose, at least twenty for every controller: the kit must notice each, at the check that is about it.

#[path = "../subjects/mod.rs"]
mod subjects;

mod broken;

use broken::{Fault, broken};
use cc_core::{CongestionController, Setup};
use cc_testkit::{
    Candidate, Checks, Options, Record, Script, Subject, Tags, Verdict, Watched, cases, run_on_path, table,
};
use std::collections::BTreeSet;

/// The check that finds a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// What a case expects, with no invariant checked.
    Case(&'static str),
    /// One of U1 to U9 over the scripts of a case, with nothing expected.
    Rule(usize, &'static str),
}
use By::{Case, Rule};

/// Faults, the tags of the subjects that can have them, and what finds them.
const FAULTS: &[(Fault, &str, By)] = &[
    // Outputs.
    (Fault::PacesAtZero, "all", Rule(2, "A9")),
    (Fault::StopsPacingAfterALoss, "all", Rule(6, "E17")),
    (Fault::PacesAtAConstantRate, "all", Case("E17")),
    (Fault::PacesAtATenth, "all", Case("E17")),
    (Fault::SendsBurstsOfOneByte, "all", Rule(2, "A9")),
    (Fault::SendsBurstsOfAMegabyte, "all", Rule(2, "A9")),
    (Fault::LosesItsFloor, "all", Rule(1, "C17")),
    (Fault::HasNoCeiling, "cubic", Rule(1, "A7-terabit")),
    (Fault::NeverGrows, "all", Case("U10-greedy")),
    (Fault::HoldsTwiceTheWindow, "loss-based", Case("C1")),
    (Fault::StaysDownAfterLosses, "all", Case("U10-blackout")),
    (Fault::SearchesForEver, "all", Case("E4-plateau")),
    (Fault::EndsItsSearchAtOnce, "all", Case("E4-limited")),
    (Fault::HasNoEstimate, "rate-based", Case("E11")),
    (Fault::LowersItsEstimateForLosses, "rate-based", Case("A11")),
    (Fault::LowersItsEstimateWhenLimited, "rate-based", Case("E2")),
    // Growth.
    (Fault::GrowsOnLosses, "all", Rule(4, "A12")),
    (Fault::GrowsOnLosses, "all", Rule(6, "C17")),
    (Fault::GrowsOnMarks, "all", Rule(6, "D4")),
    (Fault::GrowsOnSends, "all", Rule(4, "A9")),
    (Fault::GrowsForNoData, "all", Rule(4, "E8")),
    (Fault::GrowsForEmptyAcks, "all", Rule(4, "C15")),
    (Fault::GrowsForEmptyAcks, "all", Case("C15")),
    (Fault::GrowsForRepeatedAcks, "loss-based", Rule(9, "C13")),
    (Fault::GrowsUnused, "loss-based", Case("B1")),
    (Fault::DoesNotGrowWhenPaced, "loss-based", Case("B2-greedy")),
    (Fault::GrowsByAConstant, "loss-based", Rule(9, "C11")),
    (Fault::GrowsByFrames, "loss-based", Rule(8, "B2-greedy")),
    (Fault::GrowsByTime, "loss-based", Case("F2")),
    // Reductions.
    (Fault::ReducesForEveryLoss, "loss-based", Rule(5, "C1")),
    (Fault::ReducesForEveryLoss, "loss-based", Case("C1")),
    (Fault::ReducesForEveryMark, "cubic", Rule(5, "D1")),
    (Fault::ReducesForEveryMark, "classic-ecn", Case("D1")),
    (Fault::ReducesForDiscards, "all", Case("C9-keys")),
    (Fault::ReducesForASmallerDatagram, "all", Case("B12-black-hole")),
    (Fault::ReducesForLateAcks, "loss-based", Rule(4, "C13")),
    (Fault::ReducesAfterIdle, "all", Case("E8")),
    (Fault::ReducesAfterIdle, "loss-based", Rule(4, "E8")),
    (Fault::ReducesWithoutData, "loss-based", Rule(4, "E8")),
    (Fault::ReducesByHalf, "cubic", Case("C1")),
    (Fault::ReducesTwiceForMarkAndLoss, "classic-ecn", Case("D2")),
    (Fault::ReducesByTheOrderOfCalls, "loss-based", Rule(8, "C5")),
    (Fault::IgnoresLosses, "loss-based", Case("C1")),
    (Fault::IgnoresLosses, "c4", Case("R1")),
    (Fault::IgnoresMarks, "classic-ecn", Case("D1")),
    (Fault::IgnoresMarks, "c4", Case("R2")),
    (Fault::IgnoresRtts, "c4", Case("R3")),
    (Fault::IgnoresPersistentCongestion, "persistent", Case("C7")),
    (Fault::CollapsesForAnyLosses, "persistent", Case("C8-equal")),
    (Fault::CountsMarksTwice, "c4", Case("R2-threshold")),
    (Fault::IgnoresReceiveTimes, "delay", Case("R7")),
    (Fault::TakesArrivalsForReceiveTimes, "delay", Case("R7-reverse")),
    (Fault::TakesOneLateStampForAQueue, "delay", Case("R9")),
    // Undo, resume, paths, datagrams.
    (Fault::UndoesWithoutEvidence, "undo", Case("C11")),
    (Fault::NeverUndoes, "undo", Case("C13")),
    (Fault::JumpsAtAnyHint, "all", Case("F10-other-path")),
    (Fault::KeepsTheOldPath, "all", Case("R5")),
    (Fault::IgnoresDatagramSizes, "all", Case("R6")),
    (Fault::IgnoresDatagramSizes, "all", Rule(1, "R6")),
    (Fault::ForgetsTheHandshakeSize, "loss-based", Case("B12-handshake")),
    // Time, state, arithmetic.
    (Fault::DependsOnTheEpoch, "all", Rule(7, "C13")),
    (Fault::SharesStateWithItsCopies, "all", Rule(7, "F6")),
    (Fault::KeepsTheFirstRtt, "loss-based", Case("R4")),
    (Fault::DividesByMilliseconds, "all", Rule(3, "A9-microsecond")),
    (Fault::DoublesTimes, "all", Rule(3, "F3-end-of-time")),
    (Fault::SubtractsWhatWasNotSent, "all", Rule(3, "F11")),
    (Fault::PanicsOnLateAcks, "all", Rule(3, "C13")),
];

/// Fewest faults that are tried on a subject.
const LEAST: usize = 20;

/// What the check finds in the candidate; `None` if it is not for it.
fn found(candidate: &dyn Candidate, by: By) -> Option<Result<(), String>> {
    let options = Options { checks: Checks::NONE, ..Options::default() };
    for script in by.scripts() {
        let result = match by {
            Case(_) => match candidate.run(&script, &options).verdict {
                Verdict::Pass => Ok(()),
                Verdict::NotApplicable(_) => return None,
                Verdict::Fail(failure) => Err(failure.message),
            },
            Rule(number, _) => table::invariant(candidate, number, &script),
        };
        if result.is_err() {
            return Some(result);
        }
    }
    Some(Ok(()))
}

impl By {
    fn scripts(self) -> Vec<Script> {
        let (Case(name) | Rule(_, name)) = self;
        let case = cases::all().into_iter().find(|case| case.name == name);
        let case = case.unwrap_or_else(|| panic!("no case {name}"));
        case.scripts().expect("the scripts are right")
    }

    /// Whether it is the check that speaks, and not another one.
    fn is_speaking(self, message: &str) -> bool {
        match self {
            Case(_) => true,
            // U7 compares Path too, U8 includes the order of calls, which is part of U5.
            Rule(7, _) => message.starts_with("U7") || message.starts_with("Path"),
            Rule(8, _) => message.contains("U8: ") || message.contains("U5: order"),
            Rule(number, _) => message.contains(&format!("U{number}: ")),
        }
    }
}

/// The faults tried so far, by place in the list, and what went wrong.
#[derive(Default)]
struct Trial {
    tried: BTreeSet<usize>,
    problems: Vec<String>,
}

impl subjects::Visitor for Trial {
    fn visit<C: CongestionController + Clone>(&mut self, subject: Subject<C>) {
        let tags = subject.all_tags();
        let (sound, mut faults) = (broken(&subject, Fault::Nothing), BTreeSet::new());
        for (place, (fault, tag, by)) in FAULTS.iter().enumerate() {
            let title = format!("{fault:?} in {}: {by:?}", subject.name);
            if !Tags::parse(tag).expect("the tags are right").hold(&tags) {
                continue;
            }
            let Some(silence) = found(&sound, *by) else { continue };
            if let Err(message) = silence {
                self.problems.push(format!("{title} is not silent without the fault: {message}"));
            }
            match found(&broken(&subject, *fault), *by) {
                Some(Err(message)) if by.is_speaking(&message) => {
                    self.tried.insert(place);
                    faults.insert(format!("{fault:?}"));
                }
                Some(Err(message)) => {
                    self.problems.push(format!("{title} finds something else: {message}"));
                }
                Some(Ok(())) | None => self.problems.push(format!("{title} finds nothing")),
            }
        }
        println!("{}: {} faults", subject.name, faults.len());
        if faults.len() < LEAST {
            self.problems.push(format!("{} has {} faults only: {faults:?}", subject.name, faults.len()));
        }
    }
}

#[test]
fn every_fault_of_every_controller_is_found_by_the_check_that_is_about_it() {
    let mut trial = Trial::default();
    subjects::each(&mut trial);
    let never = (0..FAULTS.len()).filter(|place| !trial.tried.contains(place));
    trial.problems.extend(never.map(|place| format!("never tried: {:?}", FAULTS[place])));
    assert!(trial.problems.is_empty(), "{}", trial.problems.join("\n"));
}

/// What the calls alone show of some invariants, in a stack that checks nothing.
fn seen_by_watching(fault: Fault, checks: Checks) -> Option<String> {
    let (subject, record) = (broken(&subjects::cubic(), fault), Record::default());
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
        (Fault::GrowsOnLosses, Checks { growth: true, ..none }, "U4: cwnd grew"),
        (Fault::GrowsOnLosses, Checks { signals: true, ..none }, "U6: Loss raised"),
        (Fault::ReducesForEveryLoss, once, "U5: a second decrease"),
        (Fault::ReducesForEveryMark, once, "U5: a second decrease"),
    ] {
        let seen = seen_by_watching(fault, checks);
        assert!(seen.as_ref().is_some_and(|message| message.starts_with(rule)), "{fault:?}: {seen:?}");
        assert_eq!(seen_by_watching(fault, none), None);
    }
}

#[test]
#[should_panic(expected = "U2: the pacing rate is zero\n  in call 1, on_mtu_update at 0 ns")]
fn a_watched_controller_panics_at_the_first_violation() {
    let subject = broken(&subjects::cubic(), Fault::PacesAtZero);
    let watched = Watched::new(subject.make(&Setup::default()), &subject);
    let _path: cc_core::Path<_, 16> = cc_core::Path::new(watched, cc_core::PathConfig::default());
}
