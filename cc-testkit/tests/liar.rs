//! Receivers that lie: bounded by the honest flow of the same controller, and no panic.

mod subjects;

use cc_testkit::{Candidate, Checks, Options, Script, Step, Verdict};

/// Eight round trips on a path without a bottleneck, each ACK frame ending in `lie`.
fn flow(lie: &str) -> Script {
    let text = format!("fill(0)\nloop 8 {{\nack(+100, {lie}\nfill(+0)\n}}\n");
    Script::parse(&text).expect("the script is right")
}

/// The steps of the flow; all invariants that are about what an honest stack tells are checked.
fn steps(subject: &dyn Candidate, lie: &str) -> Vec<Step> {
    let checks = Checks { growth: false, once: false, ..Checks::ALL };
    let report = subject.run(&flow(lie), &Options { checks, ..Options::default() });
    if let Verdict::Fail(failure) = &report.verdict {
        panic!("{} with `{lie}`: {failure}", subject.name());
    }
    report.trace.steps
}

fn largest_window(subject: &dyn Candidate, lie: &str) -> u64 {
    steps(subject, lie).iter().map(|step| step.outputs.cwnd).max().expect("there are steps")
}

/// What is never sent, or was acked before, is nothing new to a stack: the flow is the honest one.
fn repeats_change_nothing(subject: &dyn Candidate) {
    let honest: Vec<_> = steps(subject, "all)").iter().map(|step| step.outputs).collect();
    for lie in ["1..1000000, all)", "all, 5000..900000)", "1..40, all, 7, 7)"] {
        let lying: Vec<_> = steps(subject, lie).iter().map(|step| step.outputs).collect();
        assert_eq!(honest, lying, "{} with `{lie}`", subject.name());
    }
}

/// Counts and delays that cannot be never help a receiver: at most the honest window, times `factor`.
fn lies_gain_nothing(subject: &dyn Candidate, factor: u64) {
    let honest = largest_window(subject, "all)");
    for lie in [
        "all) + ce 18446744073709551615 + ect0 18446744073709551615",
        "all) + ce 1 + ect1 18446744073709551615",
        "all) + ce 0 + ect1 18446744073709551615",
        "all) + delay 5 h",
        "all) + delay 18446744073709 ms",
        "all) + ce 3 + delay 1 d",
    ] {
        let lying = largest_window(subject, lie);
        assert!(lying <= honest * factor, "{} with `{lie}`: {lying}, honest {honest}", subject.name());
    }
}

/// A stack that believes in packets never sent: each such ACK names 20 datagrams more, so the window may at most grow by them too.
fn optimistic_acks_are_bounded(subject: &dyn Candidate) {
    let honest = largest_window(subject, "all)");
    let lying = largest_window(subject, "all, 500000..500019) + forced");
    // 8 frames of 24000 bytes; in slow start each doubling carries them on: at most 24000 * (2^8 - 1).
    assert!(lying <= honest + 24_000 * 255, "{}: {lying}, honest {honest}", subject.name());
}

#[test]
fn acks_of_what_was_never_sent_or_acked_before_change_nothing() {
    subjects::all().iter().for_each(|subject| repeats_change_nothing(subject.as_ref()));
}

#[test]
fn impossible_counts_and_delays_gain_nothing() {
    subjects::all().iter().for_each(|subject| lies_gain_nothing(subject.as_ref(), 1));
}

#[test]
fn optimistic_acks_that_reach_the_controller_gain_what_they_name() {
    subjects::all().iter().for_each(|subject| optimistic_acks_are_bounded(subject.as_ref()));
}
