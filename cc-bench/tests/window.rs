//! A measurement held against arithmetic. In a file of its own, so that no other test takes CPU time from it.

#![cfg(target_os = "linux")]

use cc_bench::hosts::{Hosts, HostsError};
use std::path::PathBuf;
use std::process::Command;

/// Throughput of a window that does not change, and mean RTT in microseconds, over 50 ms each way for 4 seconds.
fn measure() -> (f64, f64) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("window");
    let _ = std::fs::remove_dir_all(&folder);
    let settings =
        ["--cc", "fixed", "--loss-percent", "0", "--delay-ms", "50", "--rate-mbps", "1000", "--runs", "1"];
    let output = Command::new(env!("CARGO_BIN_EXE_cc-bench"))
        .args([
            "sweep",
            "--debug-build",
            "--messages",
            "0",
            "--bulk-s",
            "4",
            "--out",
            folder.to_str().unwrap(),
        ])
        .args(settings)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let runs = std::fs::read_to_string(folder.join("runs.csv")).unwrap();
    let mut lines = runs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, run) = (lines.next().unwrap(), lines.next().unwrap());
    let field = |name| run[names.iter().position(|&other| other == name).unwrap()].parse().unwrap();
    (field("throughput_kbps"), field("rtt_mean_us"))
}

#[test]
fn a_window_that_does_not_change_carries_itself_once_a_round_trip() {
    match Hosts::up("probe4") {
        Ok(hosts) => drop(hosts),
        Err(HostsError::NotAllowed(why)) => return eprintln!("skipped: {why}"),
        Err(error) => panic!("{error}"),
    }
    // 120 000 bytes in 100 ms are 9600 kbit/s. Of a packet of 1200 to 1452 bytes 2 to 3 % are headers and tag (RFC 9000 section 17.3,
    // RFC 9001 section 5.3: 1 + 8 + at most 4 + 16 bytes, and a frame header of at most 19). A sender that has to wait for a CPU sends
    // less, never more: the best of some runs counts, and what a quiet machine has within 5 % is given a quarter here.
    let mut shares = Vec::new();
    for _ in 0..6 {
        let (kbps, rtt_us) = measure();
        assert!(rtt_us >= 100_000.0, "{rtt_us}");
        shares.push(kbps / (120_000.0 * 8e-3 / (rtt_us * 1e-6)));
        if shares.last().is_some_and(|&share| share >= 0.95) {
            break;
        }
    }
    assert!(shares.iter().all(|&share| share <= 1.0), "{shares:?}");
    assert!(shares.iter().any(|&share| share >= 0.75), "{shares:?}");
}
