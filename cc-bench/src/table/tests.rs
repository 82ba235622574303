use super::{Cell, Matrix, Run, markdown, mean, quantile, ratio};
use crate::controllers::Controller;
use crate::path::{Path, Proxy};
use crate::transfer::Measured;
use cc_relay::{DirectionStats, EcnCounts, RelayStats, Timing, Traffic};
use std::time::Duration;

fn matrix() -> Matrix {
    Matrix {
        controllers: vec![Controller::Cubic, Controller::C4],
        proxies: vec![Proxy::None, Proxy::Basic, Proxy::Ecn],
        sizes: vec![1 << 20, 100 << 20],
        rates_kbps: vec![20_000, 200_000],
        delays_us: vec![1_000],
        losses_ppm: vec![0, 10_000],
        queue_us: 100_000,
        runs: 2,
        seed: 1,
        time_limit: Duration::from_secs(60),
        patience: Duration::from_secs(10),
        lossy_bytes: 10 << 20,
    }
}

#[test]
fn no_proxy_has_one_path_and_what_takes_too_long_is_left_out() {
    let cells = matrix().cells();
    let of = |proxy, bytes| cells.iter().filter(|cell| cell.proxy == proxy && cell.bytes == bytes).count();
    assert_eq!((of(Proxy::None, 1 << 20), of(Proxy::None, 100 << 20)), (2, 2));
    // Two controllers, two rates, two losses.
    assert_eq!((of(Proxy::Basic, 1 << 20), of(Proxy::Ecn, 1 << 20)), (8, 8));
    // 100 MiB take 42 s at 20 Mbit/s and 4.2 s at 200, and only without loss.
    assert_eq!((of(Proxy::Basic, 100 << 20), of(Proxy::Ecn, 100 << 20)), (2, 2));
    // 2 controllers x 2 sizes x (1 + 2 proxies x 2 rates x 2 losses).
    assert_eq!((cells.len(), matrix().all()), (24, 36));
}

fn measured(duration_ms: u64) -> Measured {
    let to_server = DirectionStats {
        received: Traffic { packets: 900, bytes: 1_100_000 },
        forwarded: Traffic { packets: 890, bytes: 1_090_000 },
        marked_ce: 7,
        ..DirectionStats::default()
    };
    let timing = Timing { departures: 1_000, late_sum_us: 30_000, late_max_us: 1_500, later_than_1ms: 20 };
    Measured {
        handshake: Duration::from_millis(5),
        duration: Duration::from_millis(duration_ms),
        rtt_us: vec![1_000, 2_000, 6_000],
        rtt_end: Duration::from_micros(2_500),
        sent_packets: 1_000,
        lost_packets: 25,
        congestion_events: 3,
        receiver: EcnCounts { not_ect: 0, ect0: 883, ect1: 0, ce: 7 },
        relay: Some(RelayStats { to_server, timing, ..RelayStats::default() }),
    }
}

#[test]
fn a_row_has_means_and_deviations() {
    let path = Path { rate_kbps: 20_000, delay_us: 1_500, loss_ppm: 5_000, queue_us: 100_000 };
    let cell = Cell { controller: Controller::C4, proxy: Proxy::Ecn, path, bytes: 1_000_000 };
    let runs = vec![
        Run::new(&cell, 1, 9, &Ok(measured(400))),
        Run::new(&cell, 2, 10, &Ok(measured(500))),
        Run::new(&cell, 3, 11, &Err("late".to_owned())),
    ];
    // 8 Mbit in 400 and 500 ms: 20 and 16 Mbit/s, deviation 4 / sqrt(2) = 2.83; durations 100 / sqrt(2) = 70.7.
    let text = markdown(&matrix(), &[(cell, runs)]);
    let row = text.lines().nth(2).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(
        cells,
        [
            "c4",
            "ECN",
            "Yes",
            "20",
            "1.5",
            "0.5",
            "1000000",
            "0.0250 ± 0.0000",
            "3.00 ± 0.00",
            "6.00 ± 0.00",
            "2.50 ± 0.00",
            "18.00 ± 2.83",
            "7.0 ± 0.0",
            "7.0 ± 0.0",
            "450.0 ± 70.7",
            "2 (1 failed)",
        ]
    );
    // 20 of 1000 departures late are 2 %.
    assert!(text.contains("Of 3 runs, 0 in which relay and receiver counted different marks"), "{text}");
    assert!(text.contains("2 in which more than 1 %"), "{text}");
}

#[test]
fn marks_that_differ_and_datagrams_that_vanish_are_told() {
    let cell = Cell {
        controller: Controller::C4,
        proxy: Proxy::Ecn,
        path: Path { rate_kbps: 1, delay_us: 0, loss_ppm: 0, queue_us: 1 },
        bytes: 1,
    };
    let mut other = measured(1);
    other.receiver.ce = 5;
    let text = markdown(&matrix(), &[(cell, vec![Run::new(&cell, 1, 1, &Ok(other))])]);
    assert!(
        text.contains(
            "Of 1 runs, 1 in which relay and receiver counted different marks, 1 in which the kernel"
        ),
        "{text}"
    );
}

#[test]
fn quantiles_are_values_that_were_there() {
    let values: Vec<u32> = (1..=100).collect();
    assert_eq!((quantile(&values, 95), quantile(&[7], 95), quantile(&[], 95)), (Some(95), Some(7), None));
    assert_eq!((mean(&[1, 2, 6]), mean(&[])), (Some(3), None));
    assert_eq!((ratio(5, 2), ratio(1, 0)), (3, 0));
}
