//! The whole course of flows, as snapshots: a line each half second.

use super::link::{Flow, World};
use crate::{Config, DelayMode, QuicDc, Westwood};
use cc_core::CongestionController;
use std::fmt::Write;
use std::string::String;

const MS: u64 = 1_000_000;

/// A flow on 10 Mbit/s and 50 ms with a buffer of 200 ms; from 10 to 16 s there is 60 ms of somebody else's queue.
fn trace<C: CongestionController>(controller: C) -> String {
    let forward = |at| if (10_000 * MS..16_000 * MS).contains(&at) { 60 * MS } else { 0 };
    let mut flow = Flow::new(controller, World { forward, ..World::default() });
    let mut trace = String::new();
    let mut due = 0;
    let mut first = 0;
    for second in 1..=22 {
        flow.run(second, |now, controller| {
            if now < due {
                return;
            }
            due = now / (500 * MS) * 500 * MS + 500 * MS;
            let snapshot = controller.snapshot();
            let micros = |span: Option<cc_core::Duration>| span.map_or(0, cc_core::Duration::as_micros);
            writeln!(
                trace,
                "{:>6} ms  {:<20} cwnd {:>6}  ssthresh {:>6}  {:>7} B/s  BWE {:>7}  min RTT {:>6} us  OWQD {:>6} us  events {}",
                now / MS,
                snapshot.phase,
                snapshot.cwnd,
                snapshot.ssthresh.map_or(String::from("-"), |bytes| std::format!("{bytes}")),
                snapshot.pacing_rate.map_or(0, cc_core::Rate::as_bytes_per_sec),
                snapshot.bandwidth.map_or(0, cc_core::Rate::as_bytes_per_sec),
                micros(snapshot.model_rtt),
                micros(snapshot.queueing_delay),
                snapshot.congestion_events,
            )
            .unwrap();
        });
        if second == 2 {
            first = flow.queues.len();
        }
    }
    writeln!(trace, "own queue from 2 s on: {} ms in the mean", flow.mean_queue_ms(first)).unwrap();
    writeln!(trace, "delivered: {} bytes, lost: {}", flow.delivered(), flow.path.lost_bytes()).unwrap();
    trace
}

fn quicdc(delay: DelayMode) -> QuicDc {
    QuicDc::new(&Config { delay, ..Config::default() })
}

#[test]
fn the_threshold_in_time() {
    insta::assert_snapshot!("threshold", trace(quicdc(DelayMode::Threshold)));
}

#[test]
fn the_papers_fraction() {
    insta::assert_snapshot!("paper_fraction", trace(quicdc(DelayMode::PaperFraction { percent: 80 })));
}

#[test]
fn the_papers_probe_and_cruise() {
    insta::assert_snapshot!("paper_probe", trace(quicdc(DelayMode::PaperProbe { percent: 80 })));
}

#[test]
fn westwood_plus() {
    insta::assert_snapshot!("westwood", trace(Westwood::new(&Config::default())));
}
