//! ECN from end to end: an AQM that marks as theory says, marks that reach the sender, validation, and the draft's ECN tests as
//! their runs had them and as they are written.

mod snapshot;

use cc_sim::measure::{RunFigures, measure, measure_from};
use cc_sim::scenario::{Group, Scenario, builtin, parse};
use cc_sim::{Algorithm, FlowOutcome, Observer, Sample, simulate};
use snapshot::assert_unchanged;
use std::fmt::Write as _;

fn scenario(text: &str) -> Scenario {
    parse(&format!("name = \"test\"\nsummary = \"\"\n{text}"), "test").unwrap()
}

#[test]
fn reno_flows_get_the_window_that_the_square_of_the_base_probability_leaves_them() {
    // 20 Mbit/s and 40 ms of propagation; the classic queue is held at 15 ms: an RTT of 55 ms and an ACK's time. Packets of 1440
    // bytes: 1736 a second. N flows have W = 1736 * 0.055 / N each. NewReno halves once a round trip with a mark and grows by one
    // packet a round trip: a saw-tooth from 2/3 to 4/3 of W, W^2 * 3/2 * 4/9 = 2/3 W^2 packets long, so p = 1.5 / W^2.
    for (flows, ecn) in [(2_u32, "wanted"), (4, "wanted"), (4, "off")] {
        let others = "[[flow]]\nsize_bytes = 1_000_000_000\n".repeat(flows as usize - 1);
        let text = format!(
            "duration_ms = 120_000\n\
             [[link]]\nrate_mbps = 20\nlatency_ms = 20\nqueue_ms = 400\n[dualpi2]\n\
             [transfer]\nsize_bytes = 1_000_000_000\n{others}\
             [endpoint]\necn = \"{ecn}\"\n"
        );
        let figures = measure_from(&scenario(&text), Algorithm::Reno, 1, 20_000_000).unwrap();
        let classic = figures.aqm.unwrap().classic;
        // The steady state: of the marks of the first 20 s, slow start among them, none are counted.
        let queue_ms = classic.sojourn.mean.unwrap() / 1e3;
        assert!((queue_ms - 15.0).abs() < 2.5, "{flows} flows: {queue_ms} ms");
        assert!(figures.utilisation > 0.95, "{flows} flows: {}", figures.utilisation);
        let window = 1_736.0 * (0.040 + queue_ms / 1e3) / f64::from(flows);
        let expected = 1.5 / (window * window);
        let signals = if ecn == "off" {
            let dropped: u64 = figures.outcome.flows.iter().map(|flow| flow.counters.dropped_early).sum();
            let sent: u64 = figures.outcome.flows.iter().map(|flow| flow.counters.packets_sent).sum();
            assert_eq!(classic.marked, 0);
            dropped as f64 / sent as f64
        } else {
            classic.marked as f64 / classic.packets as f64
        };
        // Two signals within a round trip count once, and the receiver acknowledges late: up to a third more.
        assert!((0.75..1.5).contains(&(signals / expected)), "{flows} {ecn}: {signals} for {expected}");
    }
}

fn of(name: &str, algorithm: Algorithm) -> RunFigures {
    measure(&builtin(name).unwrap(), algorithm, 1).unwrap()
}

#[test]
fn as_simulated_nothing_is_marked_and_nothing_dropped_early() {
    for name in Group::EcnSimulated.scenarios() {
        for &algorithm in Algorithm::MAIN_JOB {
            let figures = of(name, algorithm);
            assert!(figures.aqm.is_none());
            for FlowOutcome { counters, .. } in &figures.outcome.flows {
                assert_eq!((counters.marked, counters.ce_reported, counters.dropped_early), (0, 0, 0));
                assert!(!counters.ecn_failed, "{name} {}", algorithm.name());
            }
            // 143 753 bytes are 57.5 ms of the link, and a packet.
            assert!(figures.queue.max.unwrap() <= 58_100, "{name}: {:?}", figures.queue);
        }
    }
}

#[test]
fn as_written_each_flow_is_in_its_queue_and_hears_of_its_marks() {
    for name in Group::EcnWritten.scenarios() {
        for &algorithm in Algorithm::MAIN_JOB {
            let figures = of(name, algorithm);
            let at = format!("{name} {}", algorithm.name());
            let aqm = figures.aqm.unwrap();
            let mut marked = 0;
            for FlowOutcome { algorithm, counters, .. } in &figures.outcome.flows {
                assert!(!counters.ecn_failed, "{at}");
                marked += counters.marked;
                // All marks but those that are on their way at the end.
                assert!(counters.ce_reported <= counters.marked, "{at}: {counters:?}");
                let uses_ecn = match algorithm {
                    Algorithm::C4 => true,
                    Algorithm::Cubic => name == "l4s_cubic_ect0",
                    _ => false,
                };
                if uses_ecn {
                    assert!(counters.marked > 0 || name == "l4s_cubic_ect0", "{at}: {counters:?}");
                    assert!(counters.marked - counters.ce_reported < 400, "{at}: {counters:?}");
                } else {
                    assert_eq!(counters.marked, 0, "{at}");
                }
            }
            assert_eq!(aqm.l4s.marked + aqm.classic.marked, marked, "{at}");
            let has_c4 = figures.outcome.flows.iter().any(|flow| flow.algorithm == Algorithm::C4);
            assert_eq!(aqm.l4s.packets > 0, has_c4, "{at}");
        }
    }
}

#[test]
fn a_receiver_that_reports_no_counts_ends_the_use_of_ecn() {
    let mut scenario = builtin("l4s").unwrap();
    scenario.endpoint.report_ecn = false;
    let figures = measure(&scenario, Algorithm::C4, 1).unwrap();
    let counters = figures.outcome.flows[0].counters;
    assert!(counters.ecn_failed && counters.ce_reported == 0, "{counters:?}");
    // Only what was sent before the first ACK of data came was in the L queue: the flight and an initial window.
    let aqm = figures.aqm.unwrap();
    assert!(aqm.l4s.packets < 40 && aqm.classic.packets > 7_000, "{aqm:?}");
}

/// How often the window fell, in one step, after CE marks had come with the same sample.
#[derive(Default)]
struct Answers {
    last: Option<(u64, u64)>,
    falls: u64,
}

impl Observer for Answers {
    fn on_sample(&mut self, sample: &Sample) {
        let now = (sample.cc.cwnd, sample.ce_marks.unwrap());
        if let Some((cwnd, marks)) = self.last.replace(now) {
            self.falls += u64::from(now.0 < cwnd && now.1 > marks);
        }
    }
}

#[test]
fn c4_answers_marks() {
    let mut answers = Answers::default();
    simulate(&builtin("l4s").unwrap(), Algorithm::C4, 1, &mut answers).unwrap();
    assert!(answers.falls >= 5, "{}", answers.falls);
}

#[test]
fn the_l_queue_is_short_once_c4_has_started() {
    let scenario = builtin("l4s").unwrap();
    // A second after the start; C4 fills any queue in its Initial phase, which a few marks do not end.
    let aqm = measure_from(&scenario, Algorithm::C4, 1, 1_000_000).unwrap().aqm.unwrap();
    assert!(aqm.l4s.sojourn.mean.unwrap() < 2_000.0, "{aqm:?}");
}

/// How the ECN tests end with `main`: for each flow when its last byte came, what it sent, and what the AQM did to it; for each
/// queue its packets and their time in it. A change of the AQM or of any of the algorithms shows here; the commit says why.
fn check(main: Algorithm) {
    let mut table =
        "scenario       algorithm, last byte us, sent, CE, early, full | L packets, mean us, p99 us | the same of C\n"
            .to_owned();
    for name in Group::EcnSimulated.scenarios().chain(Group::EcnWritten.scenarios()) {
        let figures = of(name, main);
        for (number, flow) in figures.outcome.flows.iter().enumerate() {
            let counters = &flow.counters;
            let end = flow.last_byte_us.map_or_else(|| "-".to_owned(), |us| us.to_string());
            write!(
                table,
                "{:<14} {:<5} {end:>8} {:>6} {:>5} {:>4} {:>4}",
                if number == 0 { name } else { "" },
                flow.algorithm.name(),
                counters.packets_sent,
                counters.marked,
                counters.dropped_early,
                counters.dropped - counters.dropped_early
            )
            .unwrap();
            if let (Some(aqm), 0) = (figures.aqm, number) {
                for queue in [aqm.l4s, aqm.classic] {
                    let us =
                        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |us| format!("{us:.0}"));
                    let (mean, p99) = (us(queue.sojourn.mean), us(queue.sojourn.p99));
                    write!(table, " | {:>6} {mean:>6} {p99:>6}", queue.packets).unwrap();
                }
            }
            table.push('\n');
        }
    }
    assert_unchanged(&format!("ecn_tests_{}", main.name()), &table);
}

#[test]
fn c4_goes_through_the_ecn_tests_as_it_did() {
    check(Algorithm::C4);
}

#[test]
fn bbr_goes_through_the_ecn_tests_as_it_did() {
    check(Algorithm::Bbr);
}

#[test]
fn cubic_goes_through_the_ecn_tests_as_it_did() {
    check(Algorithm::Cubic);
}
