use super::bench::Seen;
use super::print::mean_shares;
use super::run::shares;
use super::{Place, RawPath, Run, Sweep, markdown};
use crate::controllers::Controller;
use crate::media::{Deadline, Media, MediaReport};
use crate::probe::Probed;
use crate::stack::Stack;
use crate::workload::{Bulk, BulkFlow, Phase, PhaseCpu, Quantiles, Report};
use std::time::Duration;

fn sweep() -> Sweep {
    Sweep {
        stack: Stack::Quinn,
        mixes: vec![vec![Controller::C4], vec![Controller::QuinnCubic]],
        place: Place::Namespaces,
        cpus: None,
        losses_ppm: vec![0, 10_000],
        delays_us: vec![10_000],
        rates_kbps: vec![20_000],
        clients: vec![1, 8],
        queue_us: 50_000,
        jitter_us: 0,
        reorder_ppm: 0,
        dualpi2: false,
        messages: 10,
        media: None,
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
        first_us: 0,
        last_us: 1,
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
    let raw = raw();
    let text = markdown(&sweep(), &raw, &[run(1, 10_000.0), run(2, 14_000.0)]);
    let row: Vec<&str> = text.lines().nth(2).unwrap().trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!(row[..6], ["c4", "20", "10", "0", "1", "2/2"]);
    // 12 with a deviation of 4 / sqrt(2); 12 % of the raw path; 3 of 200.
    assert_eq!(row[12..14], ["12.00 ± 2.83", "12.0 ± 2.8"]);
    assert_eq!((row[16], row[22], row[23], row[24]), ("1.50 ± 0.00", "relay", "2", "0"));
    assert_eq!(text.lines().filter(|line| line.starts_with('|')).count(), 3);
}

fn quantiles() -> Quantiles {
    Quantiles { count: 1, mean_us: 90.0, p50_us: 90, p99_us: 90, p999_us: 90, max_us: 90 }
}

fn raw() -> RawPath {
    let probed = Probed { ping: quantiles(), ping_lost: 0.0, blast_kbps: 1e6, blast_lost: 0.25 };
    RawPath { probed, throughput_kbps: 100_000.0, echo_p50_us: 90, lost_packets: 0, sent_packets: 9 }
}

#[test]
fn a_run_says_what_it_was_bound_by() {
    let cell = sweep().cells()[0].clone();
    let seen = |phases: &[(f64, f64, f64)], cpu_relay, throughput_kbps| Seen {
        report: Report {
            bulk: Some(Bulk { flows: Vec::new(), throughput_kbps, jain: 1.0, rtt: None }),
            cpu: phases
                .iter()
                .map(|&(client, server, machine)| PhaseCpu {
                    phase: Phase::Bulk,
                    client,
                    server: Some(server),
                    machine: Some(machine),
                })
                .collect(),
            ..Report::default()
        },
        router: None,
        cpu_relay,
    };
    let bound = |seen: &Seen| {
        let mut run = Run::of(&cell, 1);
        run.fill(seen, &raw());
        run.bound_by
    };
    assert_eq!(bound(&seen(&[(0.5, 0.5, 0.5)], Some(0.5), 20_000.0)), "");
    // The busiest phase counts.
    assert_eq!(bound(&seen(&[(0.1, 0.1, 0.1), (0.95, 0.2, 0.6)], Some(0.5), 20_000.0)), "client");
    assert_eq!(bound(&seen(&[(0.1, 0.95, 0.99)], Some(0.95), 95_000.0)), "server relay machine raw");
}

#[test]
fn frames_have_a_table_of_their_own_with_a_row_for_each_deadline() {
    let mut sweep = sweep();
    sweep.media = Some(Media {
        frames_per_s: 30,
        frame_bytes: 5_000,
        duration: Duration::from_secs(2),
        deadlines: vec![Duration::from_millis(50), Duration::from_millis(100)],
    });
    let cell = sweep.cells()[0].clone();
    let deadline = |deadline_us, in_time, lateness_p99_us| Deadline {
        deadline_us,
        in_time,
        lateness_p50_us: 0,
        lateness_p99_us,
    };
    let media = MediaReport {
        frames: 60,
        complete: 57,
        datagrams: 300,
        arrived: 297,
        delay_p50_us: Some(40_000),
        delay_p99_us: Some(90_000),
        sender_late_max_us: 1_000,
        deadlines: vec![deadline(50_000, 45, 40_000), deadline(100_000, 57, 0)],
    };
    let report = Report { media: Some(media), ..Report::default() };
    let mut run = Run::of(&cell, 1);
    run.fill(&Seen { report, router: None, cpu_relay: None }, &raw());
    assert_eq!(run.deadlines(), [deadline(50_000, 45, 40_000), deadline(100_000, 57, 0)]);
    let text = markdown(&sweep, &raw(), &[run]);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| c4"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 3, "{text}");
    // 57 of 60, 45 of 60; 3 of 300.
    assert_eq!(rows[1][5..], ["50", "95.0", "75.0", "0.0", "40.0", "40.0", "90.0", "1.00", "1.0"]);
    assert_eq!(rows[2][5..8], ["100", "95.0", "95.0"]);
}

#[test]
fn a_sweep_that_measures_nothing_or_something_twice_is_impossible() {
    assert_eq!(sweep().check(), Ok(()));
    let nothing = Sweep { messages: 0, bulk: Duration::ZERO, ..sweep() };
    assert!(nothing.check().unwrap_err().starts_with("nothing to measure"));
    let foreign = Sweep { stack: Stack::Noq, ..sweep() };
    assert!(foreign.check().unwrap_err().starts_with("--cc: quinn-cubic is not there for noq"));
    let twice = Sweep { losses_ppm: vec![0, 5_000, 5_000], ..sweep() };
    assert!(twice.check().unwrap_err().starts_with("--loss-percent: 0.5 is there twice"));
    let twice = Sweep { mixes: vec![vec![Controller::C4], vec![Controller::C4]], ..sweep() };
    assert!(twice.check().unwrap_err().starts_with("--cc: c4 is there twice"));
    let alone = Sweep { mixes: vec![vec![Controller::C4, Controller::Bbr]], clients: vec![2, 1], ..sweep() };
    assert!(alone.check().unwrap_err().starts_with("--clients: 1 is fewer than the 2 controllers of --mix"));
}

#[test]
fn where_no_relay_is_the_path_has_no_figures() {
    let mut there = sweep();
    (there.losses_ppm, there.delays_us, there.rates_kbps) = (Vec::new(), Vec::new(), Vec::new());
    let cells = there.cells();
    assert_eq!(cells.len(), 2 * 2);
    assert_eq!((cells[0].loss_ppm, cells[0].delay_us, cells[0].rate_kbps), (None, None, None));
    let text = markdown(&there, &raw(), &[Run::of(&cells[0], 1)]);
    assert!(
        text.lines().nth(2).unwrap().starts_with("| c4 |             - |          - |        - |"),
        "{text}"
    );
}
