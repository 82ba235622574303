//! `trace --qlog` with the real program, read with the reader of the `qlog` crate.

use cc_sim::{Algorithm, Outcome, experiment, scenario, simulate, simulate_flows};
use qlog::events::EventData;
use qlog::events::quic::QuicFrame;
use qlog::reader::{Event, QlogSeqReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder for the files of one test, which does not exist yet.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn trace(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cc-sim"))
        .arg("trace")
        .args(args)
        .arg("--qlog")
        .arg(folder)
        .output()
        .unwrap()
}

/// stdout of a trace of `scenario` that works, and the events of its file for `flow`, times in microseconds.
fn traced(folder: &Path, scenario: &str, flow: usize, args: &[&str]) -> (String, Vec<(u64, EventData)>) {
    let output = trace(folder, &[&[scenario, "--cc", "c4"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = folder.join(format!("{scenario}-c4-run0-flow{flow}.sqlog"));
    (String::from_utf8(output.stdout).unwrap(), events(&path))
}

fn events(path: &Path) -> Vec<(u64, EventData)> {
    let reader = QlogSeqReader::with_file(path).unwrap();
    assert_eq!(reader.qlog.file_schema, qlog::QLOGFILESEQ_URI);
    reader
        .map(|event| match event {
            Event::Qlog(event) => ((event.time * 1_000.0).round() as u64, event.data),
            Event::Json(event) => panic!("the crate does not know {}", event.name),
        })
        .collect()
}

/// Times at which the congestion window changed, and its values.
fn windows(events: &[(u64, EventData)]) -> Vec<(u64, u64)> {
    let changes = events.iter().filter_map(|(at, data)| match data {
        EventData::QuicMetricsUpdated(metrics) => Some((*at, metrics.congestion_window?)),
        _ => None,
    });
    changes.collect()
}

/// The run behind the files, without an observer.
fn outcome(name: &str) -> Outcome {
    let scenario = scenario::builtin(name).unwrap();
    let seed = experiment::run_seed(1, name, Algorithm::C4, 0);
    simulate(&scenario, Algorithm::C4, seed, &mut ()).unwrap()
}

#[test]
fn windows_and_phases_are_those_of_the_trace_and_times_do_not_go_back() {
    let folder = folder("qlog_trace");
    let (stdout, events) = traced(&folder, "blackhole", 0, &["--interval-ms", "10", "--format", "json"]);
    assert!(events.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    let windows = windows(&events);
    let mut phases = events.iter().filter_map(|(at, data)| match data {
        EventData::QuicCongestionStateUpdated(update) => Some((*at, update.new.clone())),
        _ => None,
    });
    let mut lines = 0;
    for line in stdout.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (at, cwnd) = (line["at_us"].as_u64().unwrap(), line["cwnd"].as_u64().unwrap());
        // At one moment there may be several states: what stood when it began, and what came in it.
        let before = windows.iter().rev().find(|change| change.0 < at);
        let then = windows.iter().filter(|change| change.0 == at);
        assert!(before.into_iter().chain(then).any(|change| change.1 == cwnd), "{line}");
        if line["event"] == "phase" {
            assert_eq!(phases.next(), Some((at, line["phase"].as_str().unwrap().to_owned())));
        }
        lines += 1;
    }
    // Five seconds, a third of them without an event.
    assert!(lines > 200 && windows.len() > 50, "{lines} {}", windows.len());
    assert_eq!(phases.next(), None);
    // Without --qlog-packets nothing else.
    assert!(events.iter().all(|(_, data)| matches!(
        data,
        EventData::QuicMetricsUpdated(_) | EventData::QuicCongestionStateUpdated(_)
    )));
}

#[test]
fn packets_are_those_that_were_sent_and_lost() {
    let folder = folder("qlog_packets");
    let (_, events) = traced(&folder, "blackhole", 0, &["--qlog-packets"]);
    let outcome = outcome("blackhole");
    let (mut sent, mut lost, mut acks) = (Vec::new(), Vec::new(), 0);
    let mut bytes = 0;
    for (_, data) in &events {
        match data {
            EventData::QuicPacketSent(packet) => {
                sent.push(packet.header.packet_number.unwrap());
                bytes += packet.raw.as_ref().unwrap().length.unwrap();
            }
            EventData::QuicPacketLost(packet) => {
                lost.push(packet.header.as_ref().unwrap().packet_number.unwrap());
            }
            EventData::QuicPacketReceived(packet) => {
                let frames = packet.frames.as_ref().unwrap();
                let [QuicFrame::Ack { acked_ranges: Some(ranges), .. }] = &frames[..] else {
                    panic!("{frames:?}")
                };
                assert!(!ranges.is_empty());
                acks += 1;
            }
            _ => {}
        }
    }
    assert!(sent.is_sorted_by(|a, b| a < b) && lost.iter().all(|number| sent.contains(number)));
    assert_eq!((lost.len() as u64, acks), (outcome.packets_lost, outcome.acks_received));
    // All but the handshake and the end: a flight of two datagrams, and the answer to CONNECTION_CLOSE.
    assert_eq!(sent.len() as u64, outcome.packets_sent - 3);
    assert!(bytes < outcome.bytes_sent && bytes > outcome.bytes_sent - 4_000);
    // Whoever looks does not change the run.
    let (_, without) = traced(&folder, "blackhole", 0, &[]);
    assert_eq!(windows(&events), windows(&without));
}

/// Name and data of each record of a file but the first, which is its header.
fn records(path: &Path) -> Vec<(String, serde_json::Value)> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut values = text.split('\x1e').skip(2).map(|record| serde_json::from_str(record).unwrap());
    values
        .by_ref()
        .map(|v: serde_json::Value| (v["name"].as_str().unwrap().to_owned(), v["data"].clone()))
        .collect()
}

#[test]
fn acks_have_the_ecn_counts_and_packets_their_codepoint() {
    let folder = folder("qlog_ecn");
    let output = trace(&folder, &["l4s", "--cc", "c4", "--qlog-packets"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let records = records(&folder.join("l4s-c4-run0-flow0.sqlog"));
    // All of them with ECT(1): one event, before the first packet.
    let datagrams: Vec<usize> =
        (0..records.len()).filter(|&at| records[at].0 == "quic:udp_datagrams_sent").collect();
    assert_eq!(datagrams.len(), 1);
    assert_eq!(records[datagrams[0]].1["ecn"], serde_json::json!(["ECT(1)"]));
    assert_eq!(records[datagrams[0] + 1].0, "quic:packet_sent");
    assert!(records[..datagrams[0]].iter().all(|(name, _)| name != "quic:packet_sent"));
    // Counts only rise, and end with the marks that the sender was told of.
    let scenario = scenario::builtin("l4s").unwrap();
    let seed = experiment::run_seed(1, "l4s", Algorithm::C4, 0);
    let counters = simulate_flows(&scenario, Algorithm::C4, seed, &mut ()).unwrap().flows[0].counters;
    let counts: Vec<(u64, u64, u64)> = records
        .iter()
        .filter(|(name, _)| name == "quic:packet_received")
        .map(|(_, data)| {
            let count = |field: &str| data["frames"][0][field].as_u64().unwrap_or(u64::MAX);
            (count("ce"), count("ect1"), count("ect0"))
        })
        .collect();
    assert!(counts.is_sorted_by_key(|counts| counts.0) && counts.is_sorted_by_key(|counts| counts.1));
    assert!(counts.iter().all(|counts| counts.2 == 0));
    assert!(counters.ce_reported > 0 && counts.last().unwrap().0 == counters.ce_reported, "{counters:?}");
}

#[test]
fn a_codepoint_that_is_given_up_is_not_used_any_more() {
    let folder = folder("qlog_ecn_failed");
    let mut scenario = scenario::builtin("l4s").unwrap();
    scenario.endpoint.report_ecn = false;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("qlog_no_counts.toml");
    std::fs::write(&path, scenario.to_toml()).unwrap();
    let output = trace(&folder, &[path.to_str().unwrap(), "--cc", "c4", "--qlog-packets"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let records = records(&folder.join("l4s-c4-run0-flow0.sqlog"));
    let of = |wanted: &str| {
        let data = records.iter().filter(|(name, _)| name == wanted).map(|(_, data)| data.clone());
        data.collect::<Vec<_>>()
    };
    assert_eq!(of("quic:ecn_state_updated"), [serde_json::json!({ "new": "failed" })]);
    let codepoints: Vec<_> =
        of("quic:udp_datagrams_sent").into_iter().map(|data| data["ecn"].clone()).collect();
    assert_eq!(codepoints, [serde_json::json!(["ECT(1)"]), serde_json::json!(["Not-ECT"])]);
    assert!(of("quic:packet_received").iter().all(|data| data["frames"][0].get("ce").is_none()));
}

#[test]
fn the_runs_of_a_table_are_written_as_a_trace_writes_them() {
    let folders = [folder("qlog_runs"), folder("qlog_of_trace")];
    let table = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_cc-sim"))
            .args(["run", "vs_cubic", "blackhole", "--cc", "c4,cubic", "--runs", "2", "--format", "csv"])
            .args(more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let folder = folders[0].to_str().unwrap();
    assert_eq!(table(&["--qlog", folder, "--qlog-packets"]), table(&[]));
    // Two flows and one, two algorithms, two runs.
    assert_eq!(std::fs::read_dir(&folders[0]).unwrap().count(), (2 + 1) * 2 * 2);
    let output = trace(&folders[1], &["vs_cubic", "--cc", "cubic", "--run", "1", "--qlog-packets"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for flow in [0, 1] {
        let [ours, trace] = folders.each_ref().map(|folder| {
            std::fs::read(folder.join(format!("vs_cubic-cubic-run1-flow{flow}.sqlog"))).unwrap()
        });
        assert!(ours == trace && ours.len() > 100_000, "flow {flow}");
    }
    // A folder that cannot be made: the table is there, and the failure is named.
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("qlog_no_folder");
    std::fs::write(&path, "").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cc-sim"))
        .args(["run", "blackhole", "--cc", "c4", "--runs", "1", "--qlog"])
        .arg(path.join("folder"))
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(!output.stdout.is_empty() && stderr.contains("--qlog: cannot write"), "{stderr}");
}

#[test]
fn each_flow_has_a_file() {
    let folder = folder("qlog_flows");
    let (_, main) = traced(&folder, "vs_cubic", 0, &["--qlog-packets"]);
    let other = events(&folder.join("vs_cubic-c4-run0-flow1.sqlog"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    let phases = |events: &[(u64, EventData)]| -> Vec<String> {
        let new = events.iter().filter_map(|(_, data)| match data {
            EventData::QuicCongestionStateUpdated(update) => Some(update.new.clone()),
            _ => None,
        });
        new.collect()
    };
    // C4's phases and CUBIC's.
    assert_eq!(phases(&main)[0], "initial");
    assert!(phases(&other).contains(&"congestion_avoidance".to_owned()), "{:?}", phases(&other));
}

#[test]
fn a_file_that_was_cut_off_is_good_up_to_there() {
    let folder = folder("qlog_cut_off");
    let (_, whole) = traced(&folder, "blackhole", 0, &[]);
    let path = folder.join("blackhole-c4-run0-flow0.sqlog");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let part = events(&path);
    assert!(part.len() > whole.len() / 3 && part.len() < whole.len());
    assert_eq!(part, whole[..part.len()]);
}

#[test]
fn a_run_that_fails_leaves_no_files() {
    let folder = folder("qlog_failed");
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("qlog_slow.toml");
    let text = "name = \"slow\"\nsummary = \"\"\ntime_limit_ms = 60_000\n[[link]]\nrate_mbps = 0.001\nlatency_ms = 10\n\
                queue_ms = 50\n[transfer]\nsize_bytes = 500_000\n";
    std::fs::write(&path, text).unwrap();
    let output = trace(&folder, &[path.to_str().unwrap(), "--cc", "c4"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.exists());
    // A folder that cannot be made: its parent is a file.
    let output = trace(&path.join("folder"), &["alone", "--cc", "c4"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(output.stdout.is_empty() && stderr.contains("--qlog: cannot write"), "{stderr}");
    let output = Command::new(env!("CARGO_BIN_EXE_cc-sim"))
        .args(["trace", "alone", "--cc", "c4", "--qlog-packets"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--qlog <FOLDER>"));
}
