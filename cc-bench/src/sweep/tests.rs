use super::print::mean_shares;
use super::run::shares;
use super::{RawPath, Run, Sweep, markdown};
use crate::controllers::Controller;
use crate::workload::BulkFlow;
use std::time::Duration;

fn sweep() -> Sweep {
    Sweep {
        mixes: vec![vec![Controller::C4], vec![Controller::QuinnCubic]],
        cpus: None,
        losses_ppm: vec![0, 10_000],
        delays_us: vec![10_000],
        rates_kbps: vec![20_000],
        clients: vec![1, 8],
        queue_us: 50_000,
        dualpi2: false,
        messages: 10,
        bulk: Duration::from_secs(1),
        handshake_limit: Duration::from_secs(5),
        runs: 2,
        seed: 1,
    }
}

#[test]
fn every_combination_is_a_cell() {
    assert_eq!(sweep().cells().len(), 2 * 2 * 2);
}

#[test]
fn a_mix_is_one_cell_and_has_shares() {
    let mut mixed = sweep();
    mixed.mixes = vec![vec![Controller::C4, Controller::Cubic]];
    assert_eq!(mixed.cells().len(), 2 * 2);
    assert_eq!(mixed.cells()[0].name(), "c4+cubic");
    let flow = |cc: &str, throughput_kbps| BulkFlow {
        cc: cc.to_owned(),
        bytes: 1,
        duration_us: 1,
        throughput_kbps,
        sent_packets: 1,
        lost_packets: 0,
    };
    assert_eq!(shares(&[flow("c4", 3.0), flow("cubic", 5.0), flow("c4", 2.0)]), "c4 0.50 cubic 0.50");
    assert_eq!(shares(&[flow("c4", 3.0), flow("c4", 2.0)]), "");
    let run = |shares: &str| Run { shares: shares.to_owned(), ..Run::default() };
    let (first, second) = (run("c4 0.50 cubic 0.50"), run("c4 0.70 cubic 0.30"));
    assert_eq!(mean_shares(&[&first, &second]), "(c4 0.60, cubic 0.40)");
    assert_eq!(mean_shares(&[&run("")]), "");
}

#[test]
fn a_row_has_the_means_of_its_runs() {
    let cell = sweep().cells()[0].clone();
    let run = |number, kbps: f64| Run {
        connected: 1,
        throughput_kbps: Some(kbps),
        lost_packets: Some(3),
        sent_packets: Some(200),
        bound_by: "relay".to_owned(),
        ..Run::of(&cell, number)
    };
    let raw = RawPath {
        throughput_kbps: 100_000.0,
        echo_p50_us: 90,
        lost_packets: 0,
        sent_packets: 9,
        blast_kbps: 1e6,
        blast_lost: 0.25,
    };
    let text = markdown(&sweep(), &raw, &[run(1, 10_000.0), run(2, 14_000.0)]);
    let row: Vec<&str> = text.lines().nth(2).unwrap().trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!(row[..6], ["c4", "20", "10", "0", "1", "2/2"]);
    // 12 with a deviation of 4 / sqrt(2); 12 % of the raw path; 3 of 200.
    assert_eq!(row[10..12], ["12.00 ± 2.83", "12.0 ± 2.8"]);
    assert_eq!((row[14], row[18]), ("1.50 ± 0.00", "relay"));
    assert_eq!(text.lines().filter(|line| line.starts_with('|')).count(), 3);
}
