//! Scenarios that the fuzz target `network` has found, replayed.
//!
//! A file in `found/` says in its first lines what went wrong and what was done about it; it is run with all algorithms.

mod liveness;
mod watch;

use cc_core::{
    AckEvent, CongestionController, EcnEvent, LossEvent, PathState, Rate, RttEvent, SentPacket, Snapshot,
};
use cc_sim::{Algorithm, AnyController, Scenario, scenario};
use std::path::{Path, PathBuf};

/// The target's seeds.
const SEEDS: u64 = 8;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn read(file: &Path) -> Scenario {
    scenario::parse(&std::fs::read_to_string(file).unwrap(), &file.display().to_string()).unwrap()
}

#[test]
fn what_was_found_once_holds_for_every_algorithm() {
    let mut failures = Vec::new();
    for file in files() {
        let scenario = read(&file);
        for &algorithm in Algorithm::ALL {
            for seed in 0..SEEDS {
                if let Err(message) = liveness::check(&scenario, algorithm, seed) {
                    let name = file.file_name().unwrap_or_default().display();
                    failures.push(format!("{name} with {}, seed {seed}: {message}", algorithm.name()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A controller that does not come back from its first loss.
#[derive(Debug)]
struct Stuck {
    inner: AnyController,
    is_stuck: bool,
    datagram: u64,
}

impl CongestionController for Stuck {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.datagram = path.max_datagram_size;
        self.inner.on_packet_sent(path, packet);
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.inner.on_ack(path, ack);
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.is_stuck = true;
        self.inner.on_loss(path, loss);
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.inner.on_ecn(path, ecn);
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.inner.on_rtt(path, rtt);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }
    fn cwnd(&self) -> u64 {
        if self.is_stuck { 2 * self.datagram } else { self.inner.cwnd() }
    }
    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }
}

#[test]
fn a_controller_that_does_not_come_back_is_noticed() {
    let make = |algorithm: Algorithm, endpoint: &_, seed| -> AnyController {
        let inner = algorithm.controller(endpoint, seed);
        Box::new(Stuck { inner, is_stuck: false, datagram: 1_252 })
    };
    // 16 packets without a queue: with two in flight it carries an eighth.
    let text = "
        name = \"stuck\"
        summary = \"\"
        [[link]]
        duration_ms = 400
        rate_mbps = 4.608
        latency_ms = 20
        queue_ms = 40
        [[link]]
        duration_ms = 200
        rate_mbps = 1
        latency_ms = 20
        queue_ms = 40
        [[link]]
        rate_mbps = 4.608
        latency_ms = 20
        queue_ms = 40
        [transfer]
        size_bytes = 100_000_000_000
    ";
    let scenario = scenario::parse(text, "test").unwrap();
    assert!(liveness::check(&scenario, Algorithm::Cubic, 0).is_ok());
    let message = liveness::check_with(&scenario, Algorithm::Cubic, &make, 0).unwrap_err();
    assert!(message.starts_with("not back at work: "), "{message}");
}
