//! The controllers of the workspace are watched in every case of the kit.

mod subjects;

use cc_core::CongestionController;
use cc_testkit::{Checks, Options, Record, Subject, Watched, cases, run, run_on_path};

/// Runs every script of the kit on the subject's controllers, each of them watched.
fn nothing_is_found<C: CongestionController + Clone>(subject: Subject<C>) {
    let record = Record::default();
    let kept = record.clone();
    let name = subject.name;
    let watched = Subject::rate_based(name, move |setup| {
        Watched::new(subject.make(setup), &subject).recording_in(&kept)
    });
    // The kit's own checks have their tests; these are those of the calls.
    let options =
        Options { expectations: false, checks: Checks::NONE, any_subject: true, ..Options::default() };
    for case in cases::all() {
        for script in case.scripts().expect("the scripts are right") {
            assert!(!run(&script, &watched, &options).verdict.is_failure(), "{} on {name}", case.name);
            assert!(record.violation().is_none(), "{} on {name}: {}", case.name, record.violation().unwrap());
            assert!(!run_on_path(&script, &watched, &options, false).verdict.is_failure());
            assert!(record.violation().is_none(), "{} on {name}: {}", case.name, record.violation().unwrap());
        }
    }
}

#[test]
fn every_call_of_every_case_holds_the_invariants() {
    nothing_is_found(subjects::cubic());
    nothing_is_found(subjects::c4());
}
