//! The program on real connections, as small as it can be, and what it refuses.

#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of its own for each test, without what an earlier run has left.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn table(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cc-bench")).arg("table").args(arguments).output().unwrap()
}

#[test]
fn three_proxies_give_a_table_and_a_record() {
    let folder = folder("three");
    let out = folder.to_str().unwrap();
    let output = table(&[
        "--debug-build",
        "--cc",
        "cubic,quinn-cubic",
        "--size",
        "300kB",
        "--rate-mbps",
        "20",
        "--delay-ms",
        "5",
        "--loss-percent",
        "0",
        "--runs",
        "2",
        "--out",
        out,
    ]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| cubic") || line.starts_with("| quinn-cubic"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 6, "{text}");
    for row in &rows {
        assert_eq!((row[6], row[15]), ("300000", "2"), "{text}");
        let number = |column: usize| row[column].split(' ').next().unwrap().parse::<f64>().unwrap();
        // A tenth of a second at 20 Mbit/s is 250 kB: no faster than that, and twice 5 ms at least.
        if row[1] != "None" {
            assert!(number(14) > 120.0 && number(11) < 20.0, "{text}");
            assert!(number(8) > 10.0, "{text}");
            assert_eq!(row[12], row[13], "marks are counted alike: {text}");
        }
        assert!(number(14) < 30_000.0, "{text}");
    }
    let record = std::fs::read_to_string(folder.join("runs.csv")).unwrap();
    assert_eq!(record.lines().count(), 1 + 12);
    assert_eq!(std::fs::read_to_string(folder.join("summary.md")).unwrap() + "\n", text);
    assert!(std::fs::read_to_string(folder.join("meta.json")).unwrap().contains("\"commit\""));
    let again = table(&["--debug-build", "--cc", "cubic", "--size", "1", "--out", out]);
    assert_eq!(again.status.code(), Some(1), "a record is not written over");
}

#[test]
fn the_page_gets_the_table() {
    let folder = folder("page");
    std::fs::create_dir_all(&folder).unwrap();
    let page = folder.join("page.md");
    std::fs::write(&page, "before\n<!-- table begin -->\nold\n<!-- table end -->\nafter\n").unwrap();
    let out = folder.join("record");
    let output = table(&[
        "--debug-build",
        "--cc",
        "reno",
        "--proxy",
        "none",
        "--size",
        "10kB",
        "--runs",
        "1",
        "--out",
        out.to_str().unwrap(),
        "--into",
        page.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(
        text.starts_with("before\n<!-- table begin -->\n") && text.ends_with("<!-- table end -->\nafter\n")
    );
    assert!(text.contains("| reno") && !text.contains("old"), "{text}");
}

#[test]
fn a_transfer_that_takes_too_long_is_a_failed_run() {
    let folder = folder("late");
    let output = table(&[
        "--debug-build",
        "--cc",
        "cubic",
        "--proxy",
        "basic",
        "--size",
        "1MB",
        "--rate-mbps",
        "1",
        "--delay-ms",
        "0",
        "--loss-percent",
        "0",
        "--runs",
        "1",
        "--time-limit-s",
        "1",
        "--out",
        folder.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("0 (1 failed)"), "{text}");
    assert!(std::fs::read_to_string(folder.join("runs.csv")).unwrap().contains("not finished after 1s"));
}

#[test]
fn impossible_settings_end_with_2_and_say_what_is_allowed() {
    for (arguments, message) in [
        (&["--rate-mbps", "0"][..], "--rate-mbps <MBPS>': out of range (allowed: 0.1..=10000 Mbit/s)"),
        (&["--delay-ms", "1001"], "--delay-ms <MS>': out of range (allowed: 0..=1000 ms)"),
        (&["--loss-percent", "51"], "--loss-percent <PERCENT>': out of range (allowed: 0..=50 %)"),
        (&["--queue-ms", "0"], "--queue-ms <MS>': out of range (allowed: 1..=10000 ms)"),
        (&["--size", "0"], "--size <SIZE>': out of range (allowed: 1 B..=16 GiB"),
        (&["--runs", "0"], "0 is not in 1..=1000"),
        (&["--time-limit-s", "0"], "0 is not in 1..=3600"),
        (&["--cc", "vegas"], "[possible values: cubic, quicdc, c4"),
        (&["--debug-build", "--cc", "noq-bbr"], "--cc: noq-bbr is not there for quinn"),
        (&["--debug-build", "--proxy", "basic", "--size", "1GiB"], "--size: nothing is left"),
    ] {
        let output = table(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(message), "{arguments:?}: {errors}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    }
}

#[test]
fn pairs_of_runs_have_a_ratio() {
    let folder = folder("pairs");
    let output = Command::new(env!("CARGO_BIN_EXE_cc-bench"))
        .args([
            "pairs",
            "--debug-build",
            "--size",
            "100kB",
            "--pairs",
            "2",
            "--out",
            folder.to_str().unwrap(),
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("quinn-")).collect();
    assert_eq!(rows.len(), 4, "{text}");
    assert!(rows.iter().all(|row| row.ends_with("|     2 |")), "{text}");
    assert_eq!(std::fs::read_to_string(folder.join("runs.csv")).unwrap().lines().count(), 1 + 8);
}
