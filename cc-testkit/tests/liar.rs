//! Receivers that lie: bounded by the honest flow of the same controller, and no panic.
//!
//! What a receiver can say falls into three parts.
//!
//! - What a stack can check: acks of packets never sent (RFC 9000 section 13.1), or acked before. The flow is the honest one, bit
//!   for bit. The stack must do the checking; for one that does not there is a bound that follows from the bytes named.
//! - What nobody can check, and what is not to pay: marks, ack delays, receive times. At most the honest flow, with factor 1. Where
//!   a queue could be hidden, it is the honest flow on a path without a queue: more than nothing cannot be hidden.
//! - An ack of a packet that is on the way still, or was lost. That is the honest flow on a shorter path without losses, as
//!   far as a sender without secrets in its packets can tell. It is no faster in round trips: the bound is on the window
//!   after so many of them.

mod subjects;

use cc_quicdc::QuicDc;
use cc_testkit::{Candidate, Checks, Options, Script, Step, Subject, Verdict};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Round trips of a flow, unless it says otherwise.
const ROUNDS: usize = 8;

/// How a flow begins, before the first lie: in slow start, or with losses in two round trips that end it.
const BEGINNINGS: [&str; 2] = [
    "fill(0)\n",
    "loop 3 {\nfill(+0)\nack(+100, all)\n}\nloop 2 {\nfill(+0)\nack(+100, all) + lost first 1\n}\nfill(+0)\n",
];

/// A flow on a path without a bottleneck: each round a flight that fills the window, and what `answer` makes of the round.
fn flow(beginning: &str, rounds: usize, answer: impl Fn(usize) -> String) -> Script {
    let rounds: String = (0..rounds).map(|round| format!("{}\nfill(+0)\n", answer(round))).collect();
    Script::parse(&format!("{beginning}{rounds}")).expect("the script is right")
}

/// All acked after 100 ms, each ACK frame ending in one of the lies, in turn.
fn lying(beginning: &str, lies: &[&str]) -> Script {
    flow(beginning, ROUNDS, |round| format!("ack(+100, {}", lies[round % lies.len()]))
}

/// The same on a path whose queue grows by 10 ms in each round trip.
fn lying_about_a_queue(beginning: &str, lies: &[&str]) -> Script {
    flow(beginning, ROUNDS, |round| format!("ack(+{}, {}", 100 + 10 * round, lies[round % lies.len()]))
}

/// The steps of a script; all invariants that are about what an honest stack tells are checked.
fn steps(subject: &dyn Candidate, script: &Script) -> Vec<Step> {
    let checks = Checks { growth: false, once: false, ..Checks::ALL };
    let report = subject.run(script, &Options { checks, ..Options::default() });
    if let Verdict::Fail(failure) = &report.verdict {
        panic!("{}: {failure}\n{script}", subject.name());
    }
    report.trace.steps
}

fn largest_window(subject: &dyn Candidate, script: &Script) -> u64 {
    steps(subject, script).iter().map(|step| step.outputs.cwnd).max().expect("there are steps")
}

fn honest(beginning: &str) -> Script {
    lying(beginning, &["all)"])
}

/// All subjects with each beginning.
fn everywhere() -> impl Iterator<Item = (Box<dyn Candidate>, &'static str)> {
    BEGINNINGS
        .into_iter()
        .flat_map(|beginning| subjects::all().into_iter().map(move |subject| (subject, beginning)))
}

/// What is never sent, or was acked before, is nothing new to a stack: the flow is the honest one.
#[test]
fn acks_of_what_was_never_sent_or_acked_before_change_nothing() {
    for subject in subjects::all() {
        let outputs = |script: &Script| -> Vec<_> {
            steps(subject.as_ref(), script).iter().map(|step| step.outputs).collect()
        };
        let honest = outputs(&honest(BEGINNINGS[0]));
        for lie in [
            "1..1000000, all)",
            "all, 5000..900000)",
            "1..40, all, 7, 7)",
            "all, next 1000)",
            // The same with counts and times, which would say something about packets newly acked.
            "all, next 20) + received next 20 at 5 h",
        ] {
            let script = lying(BEGINNINGS[0], &[lie]);
            assert_eq!(honest, outputs(&script), "{} with `{lie}`", subject.name());
            subject
                .on_path(&script)
                .unwrap_or_else(|error| panic!("{} with `{lie}`: {error}", subject.name()));
        }
        // Of packets that are sent later, in a frame of its own, and before anything was sent.
        let early =
            flow(BEGINNINGS[0], ROUNDS, |_| "ack(+0, next 30)\nack(+50, next 2)\nack(+50, all)".into());
        let plain = flow(BEGINNINGS[0], ROUNDS, |_| "ack(+0, none)\nack(+50, none)\nack(+50, all)".into());
        assert_eq!(outputs(&plain), outputs(&early), "{} with early acks", subject.name());
        subject.on_path(&early).unwrap_or_else(|error| panic!("{} with early acks: {error}", subject.name()));
    }
}

/// Marks and delays that cannot be. Counts are increases: a count that jumps is a large one, and one that goes back is one that a
/// stack cuts to zero (RFC 9000 section 13.4.2.1).
const LIES: &[&[&str]] = &[
    &["all) + ce 18446744073709551615 + ect0 18446744073709551615"],
    &["all) + ce 1 + ect1 18446744073709551615"],
    &["all) + ce 0 + ect1 18446744073709551615"],
    &["all) + ce 18446744073709551615", "all) + ce 0", "all) + ce 7 + ect0 0"],
    &["all)", "all) + ce 0 + ect0 0 + ect1 0", "all) + ce 9000000000"],
    &["all) + delay 5 h"],
    &["all) + delay 18446744073709 ms"],
    &["all) + delay 5 h", "all) + delay 0", "all) + delay 90"],
    &["all) + ce 3 + delay 1 d"],
];

#[test]
fn impossible_counts_and_delays_gain_nothing() {
    for (subject, beginning) in everywhere() {
        let honest = largest_window(subject.as_ref(), &honest(beginning));
        for lies in LIES {
            for script in [lying(beginning, lies), lying_about_a_queue(beginning, lies)] {
                let lying = largest_window(subject.as_ref(), &script);
                assert!(lying <= honest, "{} with {lies:?}: {lying}, honest {honest}", subject.name());
            }
        }
    }
}

/// A stack that believes in packets never sent. Each of 8 frames names 20 datagrams more, 24000 bytes, and in slow start each
/// doubling carries them on: the window may at most grow by 24000 * (2^8 - 1).
#[test]
fn optimistic_acks_that_reach_the_controller_gain_what_they_name() {
    for (subject, beginning) in everywhere() {
        let honest = largest_window(subject.as_ref(), &honest(beginning));
        for lie in [
            "all, 500000..500019) + forced",
            "all, next 20) + forced",
            "all, next 20) + forced + received next 20 before 1 h",
        ] {
            let lying = largest_window(subject.as_ref(), &lying(beginning, &[lie]));
            assert!(
                lying <= honest + 24_000 * 255,
                "{} with `{lie}`: {lying}, honest {honest}",
                subject.name()
            );
        }
    }
}

/// Receivers that ack packets before they can have arrived: all of a flight, or a part. Growth counts bytes, and a flight is no larger
/// than its window; a rate that is measured over the time of an early ack goes with the RTT of that ack. So the window after so
/// many round trips is at most that of the honest flow, factor 1. For BBR the factor is 2, one doubling: acks in no time give it no
/// rate sample, and in slow start it grows by bytes without one.
///
/// C4 takes the largest RTT of late, and for a while after honest acks a flight that was sent in no time and is acked in no time
/// gives it the rate of the burst: the factor is the honest RTT over the shortest early one, 100. Its pacing sends no such flights;
/// the next test is on paced ones.
#[test]
fn acks_ahead_of_the_arrival_gain_no_more_than_a_shorter_path() {
    for (subject, beginning) in everywhere() {
        let honest = largest_window(subject.as_ref(), &honest(beginning));
        for early in [
            "ack(+1, all)",
            "ack(+0, all)",
            "ack(+1, first 1)\nack(+99, all)",
            "ack(+2, first 9)\nack(+98, all)",
            "ack(+50, last 1)\nack(+50, all)",
            "ack(+1, all) + received after 5 h",
        ] {
            let lying = largest_window(subject.as_ref(), &flow(beginning, ROUNDS, |_| early.into()));
            let factor = match subject.name() {
                "bbr" => 2,
                "c4" if beginning != BEGINNINGS[0] => 100,
                _ => 1,
            };
            assert!(lying <= honest * factor, "{} with `{early}`: {lying}, honest {honest}", subject.name());
        }
    }
}

/// A receiver that acks each packet 99 or 50 ms before it can have arrived, while a bottleneck decides when it could have left: the
/// honest flow has more on the way, so that its window is the larger one. Factor 1, and nothing more than that is delivered
/// than the link carries.
#[test]
fn acks_ahead_of_the_arrival_of_a_paced_flow_gain_nothing() {
    for subject in subjects::all() {
        let largest = |rtt: u64| {
            let link = "rate 1.25 MB, queue 125 kB";
            let text = format!("run(3 s, {link}, rtt 100)\nrun(3 s, {link}, rtt {rtt})\n");
            largest_window(subject.as_ref(), &Script::parse(&text).expect("the script is right"))
        };
        let honest = largest(100);
        for rtt in [1, 50] {
            let lying = largest(rtt);
            assert!(lying <= honest, "{} acked after {rtt} ms: {lying}, honest {honest}", subject.name());
        }
    }
}

/// A round of a flow whose receiver makes up receive times.
#[derive(Clone, Debug)]
struct Round {
    /// Milliseconds that the queue has grown, where the path has one.
    queue: u64,
    lost: bool,
    times: String,
}

/// Parts of a frame: for some packets some time, on a clock that is set anew at will.
fn times() -> impl Strategy<Value = String> {
    let packets = prop_oneof![
        4 => Just("all".to_owned()),
        1 => (1_u64..9).prop_map(|count| format!("first {count}")),
        2 => (1_u64..30).prop_map(|count| format!("last {count}")),
        1 => (1_u64..400, 0_u64..40).prop_map(|(from, more)| format!("{from}..{}", from + more)),
    ];
    let word = prop::sample::select(vec!["at", "after", "after", "before"]);
    let nanos = prop_oneof![
        4 => (0_u64..200).prop_map(|millis| millis * 1_000_000),
        // The true time on the way.
        4 => Just(50_000_000),
        1 => Just(0),
        1 => Just(u64::MAX),
        1 => any::<u64>(),
        1 => (0_u64..10).prop_map(|hours| hours * 3_600_000_000_000),
    ];
    let part = (packets, word, nanos)
        .prop_map(|(packets, word, nanos)| format!(" + received {packets} {word} {nanos} ns"));
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let round = (0_u64..60, prop::bool::weighted(0.1), times());
    prop::collection::vec(round.prop_map(|(queue, lost, times)| Round { queue, lost, times }), 1..=10)
}

fn script_of(rounds: &[Round], has_queue: bool, has_times: bool) -> Script {
    flow(BEGINNINGS[0], rounds.len(), |round| {
        let Round { queue, lost, times } = &rounds[round];
        let queue = if has_queue { *queue } else { 0 };
        let lost = if *lost { " + lost first 1" } else { "" };
        let times = if has_times { times } else { "" };
        format!("ack(+{}, all){lost}{times}", 100 + queue)
    })
}

/// No step of the flow with receive times may have a larger window or a higher rate than that without.
fn is_never_faster(subject: &dyn Candidate, rounds: &[Round], has_queue: bool) -> Result<(), TestCaseError> {
    let script = script_of(rounds, has_queue, true);
    let lying = steps(subject, &script);
    let silent = steps(subject, &script_of(rounds, has_queue, false));
    let rate = |step: &Step| step.outputs.pacing.map_or(u64::MAX, cc_core::Rate::as_bytes_per_sec);
    for (lying, silent) in lying.iter().zip(&silent) {
        prop_assert!(
            lying.outputs.cwnd <= silent.outputs.cwnd && rate(lying) <= rate(silent),
            "{}:\n{lying}\nwithout receive times:\n{silent}\n{script}",
            subject.name()
        );
        if !subject.tags().contains(&"delay") {
            prop_assert_eq!(lying, silent, "{} looks at receive times\n{}", subject.name(), script);
        }
    }
    Ok(())
}

/// The same 48 cases each time, unless the environment says otherwise: `PROPTEST_CASES`, `PROPTEST_RNG_SEED`.
fn config() -> ProptestConfig {
    let set = |name: &str| std::env::var_os(name).is_some();
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if !set("PROPTEST_CASES") {
        config.cases = 48;
    }
    if !set("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(5);
    }
    config
}

proptest! {
    #![proptest_config(config())]

    /// On a path without a queue, where there is nothing to hide.
    #[test]
    fn receive_times_make_no_flow_faster(rounds in rounds()) {
        for subject in subjects::all() {
            is_never_faster(subject.as_ref(), &rounds, false)?;
        }
    }

    /// With a queue QUIC-DC would, without receive times, judge it by the arrival of ACKs, and a liar can hide it from that; the
    /// crate says so. Without that fallback there is nothing to hide it from.
    #[test]
    fn receive_times_make_no_flow_faster_than_one_that_does_not_look_at_delay(rounds in rounds()) {
        let subject = Subject::rate_based("quicdc", |setup| {
            QuicDc::new(&cc_quicdc::Config { ack_arrival: false, ..cc_quicdc::Config::from(*setup) })
        });
        is_never_faster(&subject.tagged(subjects::quicdc().tags), &rounds, true)?;
    }

    /// And never faster than Westwood+, whatever the fallback.
    #[test]
    fn receive_times_make_quicdc_no_faster_than_westwood(rounds in rounds()) {
        let script = script_of(&rounds, true, true);
        let (quicdc, westwood) = (subjects::quicdc(), subjects::westwood());
        for (lying, plain) in steps(&quicdc, &script).iter().zip(&steps(&westwood, &script)) {
            prop_assert!(lying.outputs.cwnd <= plain.outputs.cwnd, "{lying}\nWestwood+:\n{plain}\n{script}");
        }
    }
}
