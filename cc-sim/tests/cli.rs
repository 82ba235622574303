//! The command line as its users see it: exit codes, stdout and stderr of the real program.

use cc_sim::Algorithm;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const BUILTIN: [&str; 7] =
    ["alone", "alone_200", "low_and_up", "drop_and_back", "blackhole", "short_long", "satellite"];

/// Names of the algorithms, in the order of tables.
fn algorithms() -> Vec<&'static str> {
    Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect()
}

/// What runs where no algorithm is named.
fn main_job() -> Vec<&'static str> {
    Algorithm::MAIN_JOB.iter().map(|algorithm| algorithm.name()).collect()
}

fn cc_sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cc-sim")).args(args).output().unwrap()
}

/// stdout of a command that works.
#[track_caller]
fn stdout_of(args: &[&str]) -> String {
    let output = cc_sim(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The line on stderr of a command that fails with `code` and leaves stdout empty.
#[track_caller]
fn failure_of(args: &[&str], code: i32) -> String {
    let output = cc_sim(args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    assert!(stderr.starts_with("cc-sim: "), "{stderr}");
    stderr
}

/// Rows of a CSV output, header included.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// A scenario file of the given name in the directory of this test binary.
fn scenario_file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Half a megabyte over 8 Mbit/s.
const SMALL: &str = "name = \"small\"\nsummary = \"a small one\"\n[[link]]\nrate_mbps = 8\nlatency_ms = 10\n\
                     queue_ms = 50\n[transfer]\nsize_bytes = 500_000\n";

#[test]
fn list_has_every_scenario_in_every_format() {
    let names: Vec<&str> = cc_sim::scenario::builtin_names().collect();
    assert!(BUILTIN.iter().all(|name| names.contains(name)));
    let table = stdout_of(&["list"]);
    assert!(names.iter().all(|name| table.contains(&format!("| {name} "))), "{table}");
    assert!(table.contains(&algorithms().join(", ")), "{table}");
    let rows = csv_rows(&stdout_of(&["list", "--format", "csv"]));
    assert_eq!(rows[0], ["group", "scenario", "summary", "limit_us"]);
    assert!(rows[1..].iter().map(|row| row[1].as_str()).eq(names.iter().copied()));
    assert!(rows[1..8].iter().all(|row| row[0] == "network_events"));
    let list = json(&stdout_of(&["list", "--format", "json"]));
    assert_eq!(list["algorithms"], serde_json::json!(algorithms()));
    assert_eq!(list["scenarios"].as_array().unwrap().len(), names.len());
}

#[test]
fn without_a_command_every_network_event_runs_with_the_algorithms_of_the_main_job() {
    let rows = csv_rows(&stdout_of(&["--runs", "1", "--format", "csv"]));
    let cells: Vec<(&str, &str)> = rows[1..].iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    let expected: Vec<(&str, &str)> =
        BUILTIN.iter().flat_map(|&name| main_job().into_iter().map(move |cc| (name, cc))).collect();
    assert_eq!(cells, expected);
}

#[test]
fn csv_and_json_hold_the_same_figures() {
    let args = ["run", "alone", "short_long", "--runs", "3", "--format"];
    let csv = csv_rows(&stdout_of(&[&args[..], &["csv"]].concat()));
    let json = json(&stdout_of(&[&args[..], &["json"]].concat()));
    assert_eq!((json["runs"].as_u64(), json["seed"].as_u64()), (Some(3), Some(1)));
    let rows = json["rows"].as_array().unwrap();
    let cells = 2 * main_job().len();
    assert_eq!((rows.len(), csv.len()), (cells, cells + 1));
    for (row, record) in rows.iter().zip(&csv[1..]) {
        assert_eq!(row.as_object().unwrap().len(), csv[0].len());
        assert_eq!((row["runs"].as_u64(), row["seed"].as_u64()), (Some(3), Some(1)));
        for (name, value) in csv[0].iter().zip(record) {
            match &row[name] {
                serde_json::Value::String(text) => assert_eq!(text, value),
                number => assert_eq!(number.as_f64(), value.parse().ok(), "{name}"),
            }
        }
    }
}

#[test]
fn figures_of_a_cell_are_consistent() {
    let output = json(&stdout_of(&["run", "blackhole", "--cc", "cubic", "--runs", "5", "--format", "json"]));
    let row = &output["rows"][0];
    let figure = |name: &str| row[name].as_f64().unwrap();
    assert_eq!(figure("runs"), 5.0);
    assert!(figure("min_us") <= figure("median_us") && figure("median_us") <= figure("p90_us"));
    assert!(figure("p90_us") <= figure("max_us") && figure("min_us") <= figure("mean_us"));
    // The draft's figure for this cell, and a sender that knows more is never slower.
    assert_eq!(figure("draft_mean_us"), 5_695_731.0);
    assert!((figure("ratio_draft_mean") - figure("mean_us") / 5_695_731.0).abs() < 1e-4);
    assert!(figure("ratio_limit") >= 1.0 && figure("limit_us") <= figure("min_us"));
}

#[test]
fn the_result_depends_on_the_seed_and_not_on_the_number_of_threads() {
    let run = |seed, jobs| {
        stdout_of(&["run", "alone", "--runs", "6", "--seed", seed, "--jobs", jobs, "--format", "json"])
    };
    let one = run("7", "1");
    assert_eq!(one, run("7", "2"));
    assert_eq!(one, run("7", "1"));
    assert_ne!(one, run("8", "1"));
}

#[test]
fn a_cell_does_not_depend_on_what_else_is_run() {
    let together = csv_rows(&stdout_of(&["run", "alone", "blackhole", "--runs", "2", "--format", "csv"]));
    let by_itself =
        csv_rows(&stdout_of(&["run", "blackhole", "--cc", "cubic", "--runs", "2", "--format", "csv"]));
    let cubic = together.iter().find(|row| row[..2] == ["blackhole", "cubic"]).unwrap();
    assert_eq!(*cubic, by_itself[1]);
}

#[test]
fn the_table_shows_each_cell_once() {
    let table = stdout_of(&["run", "alone", "--runs", "2", "--seed", "5"]);
    let cells = table.lines().filter(|line| line.starts_with("| alone ")).count();
    assert_eq!(cells, main_job().len(), "{table}");
    assert!(table.contains("2 runs a line, seed 5"), "{table}");
    // The draft's mean and the reference's for c4.
    assert!(
        table.contains("| 4.642 ") && table.contains("| 4.534 ") && table.contains("| 4.839 "),
        "{table}"
    );
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
}

#[test]
fn compare_has_ratios_to_the_first_algorithm() {
    let args = ["compare", "alone", "--cc", "cubic,c4", "--runs", "2", "--format"];
    let rows = csv_rows(&stdout_of(&[&args[..], &["csv"]].concat()));
    let figure = |name: &str| {
        let column = rows[0].iter().position(|column| column == name).unwrap();
        rows[1][column].parse::<f64>().unwrap()
    };
    assert_eq!((figure("runs"), figure("seed")), (2.0, 1.0));
    assert_eq!((figure("cubic_ratio_mean"), figure("cubic_ratio_p90")), (1.0, 1.0));
    assert!((figure("c4_ratio_mean") - figure("c4_mean_us") / figure("cubic_mean_us")).abs() < 1e-4);
    let json = json(&stdout_of(&[&args[..], &["json"]].concat()));
    assert_eq!(json["scenarios"][0]["algorithms"][1]["algorithm"], "c4");
    let table = stdout_of(&args[..6]);
    assert!(table.contains("over those of cubic"), "{table}");
}

#[test]
fn compare_holds_the_draft_s_scenarios_against_its_figures_and_the_reference_s() {
    let args = ["compare", "vs_c4", "alone", "--cc", "c4,cubic", "--runs", "2", "--format"];
    let json = json(&stdout_of(&[&args[..], &["json"]].concat()));
    let c4 = &json["scenarios"][0]["algorithms"][0];
    let figure = |name: &str| c4[name].as_f64().unwrap();
    // 4.490594 s in the draft, 4.3638413 s in the reference.
    assert!((figure("ratio_draft_mean") - figure("mean_us") / 4_490_594.0).abs() < 1e-4);
    assert!((figure("ratio_reference_mean") - figure("mean_us") / 4_363_841.3).abs() < 1e-4);
    let scenarios = json["scenarios"].as_array().unwrap();
    let columns = || scenarios.iter().flat_map(|scenario| scenario["algorithms"].as_array().unwrap());
    let within = |name: &str, part: f64| {
        columns().filter(|column| (column[name].as_f64().unwrap() - 1.0).abs() <= part).count() as u64
    };
    // Two runs: 12.7062 (one degree of freedom) times half of what lies between them, and the median is the mean.
    assert!(columns().all(|column| column["median_us"] == column["mean_us"]));
    assert!(figure("mean_ci95_us") > 6.353 * (figure("p90_us") - figure("median_us")));
    let counts = &json["counts"];
    assert_eq!((counts["cells"].as_u64(), counts["c4_cells"].as_u64()), (Some(4), Some(2)));
    for whose in ["draft", "reference"] {
        let counted = |percent: &str| counts[format!("{whose}_within_{percent}_percent")].as_u64();
        let ratio = format!("ratio_{whose}_mean");
        assert_eq!(counted("5"), Some(within(&ratio, 0.05)));
        assert_eq!(counted("10"), Some(within(&ratio, 0.10)));
    }
    let rows = csv_rows(&stdout_of(&[&args[..], &["csv"]].concat()));
    let column = rows[0].iter().position(|name| name == "c4_ratio_draft_mean").unwrap();
    assert_eq!(rows[1][column].parse::<f64>().ok(), c4["ratio_draft_mean"].as_f64());
    let table = stdout_of(&args[..7]);
    assert!(table.contains("of 4 cells") && table.contains("of 2 scenarios"), "{table}");
    // Nothing to compare with: no ratios, no counts.
    let path = scenario_file("compared.toml", SMALL);
    let table = stdout_of(&["compare", &path, "--cc", "c4,cubic", "--runs", "1"]);
    assert!(!table.contains("/draft |") && !table.contains("cells"), "{table}");
}

#[test]
fn wifi_runs_in_two_versions_of_which_one_has_figures() {
    let list = csv_rows(&stdout_of(&["list", "--format", "csv"]));
    let of = |group: &str| list.iter().filter(|row| row[0] == group).count();
    assert_eq!((of("wifi"), of("wifi_written")), (6, 5));
    let counts = |group: &str| {
        let args = ["compare", group, "--cc", "c4,cubic", "--runs", "1", "--format", "json"];
        let json = json(&stdout_of(&args));
        assert!(json["scenarios"].as_array().unwrap().iter().all(|line| line["limit_us"].is_u64()));
        json["counts"]["cells"].as_u64()
    };
    assert_eq!((counts("wifi"), counts("wifi_written")), (Some(12), Some(0)));
}

#[test]
fn media_tests_are_compared_by_their_delays() {
    let args = ["compare", "media", "--cc", "c4,cubic", "--runs", "1", "--format", "json"];
    let json = json(&stdout_of(&args));
    assert_eq!(json["counts"]["cells"].as_u64(), Some(16));
    for line in json["scenarios"].as_array().unwrap() {
        assert!(line["limit_us"].is_null(), "{line}");
        // Delays of frames, not the seconds that a run takes.
        assert!(line["algorithms"][0]["mean_us"].as_f64() < Some(150_000.0), "{line}");
        assert!(
            line["algorithms"][0]["p90_us"].as_f64() > line["algorithms"][0]["mean_us"].as_f64(),
            "{line}"
        );
    }
    let table = stdout_of(&["run", "media100", "--cc", "c4", "--runs", "1"]);
    assert!(table.contains("| 0.03") && table.contains("average frame delay"), "{table}");
}

#[test]
fn a_scenario_file_runs_without_the_draft_s_figures() {
    let path = scenario_file("small.toml", SMALL);
    let rows = json(&stdout_of(&["run", &path, "--runs", "2", "--format", "json"]));
    assert_eq!(rows["rows"][0]["scenario"], "small");
    assert!(rows["rows"][0]["draft_mean_us"].is_null());
    // 500 000 bytes at 8 Mbit/s take half a second at least, and three round trips 60 ms.
    assert!(rows["rows"][0]["min_us"].as_u64() > Some(560_000));
    // A late start moves completion and limit, not the ratio.
    let late = scenario_file("late.toml", &SMALL.replace("500_000", "500_000\nstart_ms = 10_000"));
    let late = json(&stdout_of(&["run", &late, "--runs", "2", "--format", "json"]));
    let figure = |rows: &serde_json::Value, name: &str| rows["rows"][0][name].as_f64().unwrap();
    assert_eq!(figure(&late, "limit_us"), figure(&rows, "limit_us") + 1e7);
    let ratio = (figure(&late, "mean_us") - 1e7) / (figure(&late, "limit_us") - 1e7);
    assert!((figure(&late, "ratio_limit") - ratio).abs() < 1e-4 && ratio > 1.0, "{ratio}");
    // A file that calls itself like a built-in scenario is not compared with figures of another path.
    let path = scenario_file("false_alone.toml", &SMALL.replace("small", "alone"));
    let rows = json(&stdout_of(&["run", &path, "--runs", "1", "--format", "json"]));
    assert!(rows["rows"][0]["draft_mean_us"].is_null());
}

#[test]
fn a_group_stands_for_its_scenarios() {
    let args = ["--cc", "cubic", "--runs", "1", "--format", "csv"];
    let by_group = stdout_of(&[&["run", "network_events"][..], &args].concat());
    assert_eq!(by_group, stdout_of(&args));
    // The groups of the draft, and no others.
    let rows = csv_rows(&stdout_of(&["run", "all", "--cc", "cubic", "--runs", "1", "--format", "csv"]));
    let names: Vec<&str> = rows[1..].iter().map(|row| row[0].as_str()).collect();
    assert!(names.starts_with(&BUILTIN) && names.contains(&"vs_cubic_lg2") && !names.contains(&"share_1bdp"));
    let line = failure_of(&["run", "network_events", "alone"], 2);
    assert!(line.contains("alone given twice"), "{line}");
}

/// Two flows of 4 MB over 8 Mbit/s; the second one's algorithm is open.
const TWO_FLOWS: &str = "name = \"two\"\nsummary = \"\"\nends = \"all\"\n[[link]]\nrate_mbps = 8\nlatency_ms = 10\n\
                         queue_ms = 50\n[transfer]\nsize_bytes = 4_000_000\n[[flow]]\nsize_bytes = 4_000_000\n";

#[test]
fn the_ecn_table_has_marks_shares_and_both_queues() {
    let text = TWO_FLOWS.replace("[transfer]", "[dualpi2]\n[transfer]") + "algorithm = \"cubic\"\n";
    let path = scenario_file("two_dualpi2.toml", &(text + "[endpoint]\necn = \"wanted\"\n"));
    let args = ["ecn", &path, "--cc", "c4", "--runs", "2", "--format"];
    let rows = csv_rows(&stdout_of(&[&args[..], &["csv"]].concat()));
    let column = |name: &str| rows[0].iter().position(|column| column == name).unwrap();
    let figure = |row: usize, name: &str| rows[row][column(name)].parse::<f64>().unwrap();
    assert_eq!(rows.len(), 1 + 2);
    for (row, algorithm) in [(1, "c4"), (2, "cubic")] {
        assert_eq!(rows[row][column("algorithm")], algorithm);
        assert!(figure(row, "marked") > 0.0 && figure(row, "completion_us") > 4e6, "{:?}", rows[row]);
        assert!(figure(row, "marked") >= figure(row, "ce_reported"));
        for queue in ["l4s", "classic"] {
            let (mean, p99) =
                (figure(row, &format!("{queue}_mean_ms")), figure(row, &format!("{queue}_p99_ms")));
            assert!(0.0 < mean && mean < p99 && p99 <= 52.0, "{queue}: {mean} {p99}");
        }
    }
    assert!((figure(1, "share") + figure(2, "share") - 1.0).abs() < 1e-3);
    let list = json(&stdout_of(&[&args[..], &["json"]].concat()));
    assert_eq!(list["rows"][1]["algorithm"], "cubic");
    let table = stdout_of(&[&args[..], &["table"]].concat());
    assert!(table.contains("| two ") && table.contains("| cubic "), "{table}");
    // What comes later is not what the start was.
    let later = json(&stdout_of(&[&args[..], &["json", "--after-ms", "4000"]].concat()));
    assert_ne!(later["rows"][0]["l4s_mean_ms"], list["rows"][0]["l4s_mean_ms"]);
    assert_eq!(later["rows"][0]["completion_us"], list["rows"][0]["completion_us"]);
}

#[test]
fn shares_have_a_row_for_each_flow_of_each_pair() {
    let path = scenario_file("two.toml", TWO_FLOWS);
    let args = ["share", &path, "--cc", "c4,cubic", "--runs", "2", "--format"];
    let csv = csv_rows(&stdout_of(&[&args[..], &["csv"]].concat()));
    let column = |name: &str| csv[0].iter().position(|column| column == name).unwrap();
    let pairs: Vec<(&str, &str)> = csv[1..]
        .iter()
        .map(|row| (row[column("main")].as_str(), row[column("algorithm")].as_str()))
        .collect();
    let expected =
        [("c4", "c4"), ("c4", "c4"), ("c4", "c4"), ("c4", "cubic"), ("cubic", "cubic"), ("cubic", "cubic")];
    assert_eq!(pairs, expected);
    let json = json(&stdout_of(&[&args[..], &["json"]].concat()));
    for pair in json["rows"].as_array().unwrap().chunks(2) {
        let figure = |flow: usize, name: &str| pair[flow][name].as_f64().unwrap();
        assert!((figure(0, "share") + figure(1, "share") - 1.0).abs() < 1e-3);
        // The two of them have no more than the link, of which the headers take 2.4 %.
        assert!(figure(0, "goodput_mbps") + figure(1, "goodput_mbps") < 2.0 * 8.0);
        assert!((0.5..=1.0).contains(&figure(0, "jain")) && figure(0, "utilisation") > 0.8);
        // 20 ms, and a queue of up to 50 ms.
        assert!(figure(0, "rtt_mean_ms") > 20.0 && figure(0, "rtt_p95_ms") < 80.0);
        assert!(figure(1, "queue_mean_ms") <= figure(1, "queue_p95_ms") && figure(1, "queue_p95_ms") <= 51.5);
    }
    let table = stdout_of(&args[..6]);
    assert_eq!(table.lines().filter(|line| line.starts_with("| two ")).count(), 3, "{table}");
    assert!(table.contains("Means of 2 runs, seed 1"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
}

#[test]
fn shares_may_be_told_whom_to_run_against_and_shown_over_time() {
    let path = scenario_file("two_over_time.toml", TWO_FLOWS);
    let args = ["share", &path, "--cc", "cubic", "--against", "c4,cubic", "--every-ms", "1000", "--format"];
    let rows = csv_rows(&stdout_of(&[&args[..], &["csv"]].concat()));
    assert_eq!(rows[0], ["scenario", "flows", "until_s", "goodput_mbps", "shares", "jain"]);
    let flows: Vec<&str> = rows[1..].iter().map(|row| row[1].as_str()).collect();
    assert!(flows.contains(&"cubic+c4") && flows.contains(&"cubic+cubic"));
    // 8 MB over 8 Mbit/s take more than eight seconds.
    let first: Vec<&Vec<String>> = rows[1..].iter().filter(|row| row[1] == "cubic+c4").collect();
    assert!(first.len() >= 8);
    for (second, row) in first.iter().enumerate() {
        assert_eq!(row[2].parse::<f64>().unwrap(), (second + 1) as f64);
        let rates: Vec<f64> = row[3].split(' ').map(|rate| rate.parse().unwrap()).collect();
        assert!(rates.len() == 2 && rates.iter().sum::<f64>() <= 8.0, "{row:?}");
    }
    let jobs = |jobs| stdout_of(&[&args[..], &["json", "--jobs", jobs]].concat());
    assert_eq!(jobs("1"), jobs("2"));
}

#[test]
fn delays_have_a_row_for_each_cell_and_the_same_in_each_format() {
    let path = scenario_file("small_delay.toml", SMALL);
    let args = ["delay", &path, "--cc", "cubic,c4", "--runs", "2", "--format"];
    let csv = csv_rows(&stdout_of(&[&args[..], &["csv"]].concat()));
    let json = json(&stdout_of(&[&args[..], &["json"]].concat()));
    let rows = json["rows"].as_array().unwrap();
    assert_eq!((rows.len(), csv.len()), (2, 3));
    for (row, record) in rows.iter().zip(&csv[1..]) {
        for (name, value) in csv[0].iter().zip(record) {
            match &row[name] {
                serde_json::Value::String(text) => assert_eq!(text, value),
                serde_json::Value::Null => assert_eq!(value, "", "{name}"),
                number => assert_eq!(number.as_f64(), value.parse().ok(), "{name}"),
            }
        }
        // 500 000 bytes over 8 Mbit/s with an RTT of 20 ms and a queue of up to 50 ms.
        let figure = |name: &str| row[name].as_f64().unwrap();
        assert!(figure("goodput_mbps") < 8.0 && figure("utilisation") > 0.5);
        assert!(figure("rtt_mean_ms") > 20.0 && figure("rtt_p95_ms") < 80.0);
    }
    assert_eq!(rows[0]["rtt_over_cubic"].as_f64(), Some(1.0));
    let table = stdout_of(&args[..6]);
    assert_eq!(table.lines().filter(|line| line.starts_with("| small ")).count(), 2, "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 130), "{table}");
}

#[test]
fn a_trace_is_a_run_of_the_table() {
    let table = json(&stdout_of(&["run", "alone", "--cc", "c4", "--runs", "3", "--format", "json"]));
    let row = &table["rows"][0];
    let mut completions: Vec<u64> = (0..3)
        .map(|run| {
            let trace = stdout_of(&["trace", "alone", "--cc", "c4", "--run", &run.to_string()]);
            let end = trace.lines().find_map(|line| line.strip_prefix("# completed at ")).unwrap();
            end.split_once(" ms").unwrap().0.replace('.', "").parse().unwrap()
        })
        .collect();
    completions.sort_unstable();
    assert_eq!(row["min_us"].as_u64(), Some(completions[0]));
    assert_eq!(row["median_us"].as_f64(), Some(completions[1] as f64));
    assert_eq!(row["max_us"].as_u64(), Some(completions[2]));
}

#[test]
fn a_trace_has_a_line_for_each_interval_and_the_same_content_in_each_format() {
    let args = ["trace", "alone", "--cc", "cubic", "--interval-ms", "100", "--format"];
    let table = stdout_of(&args[..6]);
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).skip(1).collect();
    let csv = csv_rows(&stdout_of(&[&args[..], &["csv"]].concat()));
    let json_lines = stdout_of(&[&args[..], &["json"]].concat());
    let objects: Vec<_> = json_lines.lines().map(json).collect();
    assert_eq!((csv.len() - 1, objects.len()), (lines.len(), lines.len()));
    assert_eq!(csv[0][..3], ["at_us", "event", "phase"]);
    // A run of more than four seconds, with an event in nearly every interval of 100 ms.
    assert!(lines.len() > 40, "{table}");
    let mut last = 0;
    for ((line, record), object) in lines.iter().zip(&csv[1..]).zip(&objects) {
        let columns: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(columns[0].replace('.', "").parse::<u64>().ok(), object["at_us"].as_u64());
        assert_eq!(columns[2], record[2]);
        assert_eq!(Some(columns[3]), object["cwnd"].as_u64().map(|cwnd| cwnd.to_string()).as_deref());
        let at_us = object["at_us"].as_u64().unwrap();
        assert!(at_us >= last);
        last = at_us;
    }
    assert_eq!(objects[0]["event"], "phase");
    assert_eq!(objects[objects.len() - 1]["event"], "end");
}

#[test]
fn arguments_out_of_range_name_the_option_and_the_range() {
    let names = algorithms().join(", ");
    for (args, option, allowed) in [
        (&["--runs", "0"][..], "--runs", "1..=100000"),
        (&["--runs", "100001"], "--runs", "1..=100000"),
        (&["--runs", "-1"], "--runs", "1..=100000"),
        (&["--runs", "many"], "--runs", "1..=100000"),
        (&["--runs", "1.5"], "--runs", "1..=100000"),
        (&["--jobs", "0"], "--jobs", "1..=1024"),
        (&["--jobs", "1025"], "--jobs", "1..=1024"),
        (&["--seed", "-1"], "--seed", "0..=18446744073709551615"),
        (&["--seed", "18446744073709551616"], "--seed", "0..=18446744073709551615"),
        (&["--format", "xml"], "--format", "table, csv, json"),
        (&["list", "--format", "xml"], "--format", "table, csv, json"),
        (&["--cc", "tahoe"], "--cc", &names),
        (&["--cc", ""], "--cc", &names),
        (&["--cc", "c4,C4"], "--cc", &names),
        (&["--cc", "c4,c4"], "--cc", "each name once"),
        (&["run", "alone", "--runs", "0"], "--runs", "1..=100000"),
        (&["compare", "alone", "--cc", "c4"], "--cc", "two or more"),
        (&["compare", "--jobs", "0"], "--jobs", "1..=1024"),
        (&["delay", "--runs", "0"], "--runs", "1..=100000"),
        (&["delay", "--cc", "c4,c4"], "--cc", "each name once"),
        (&["share", "--runs", "0"], "--runs", "1..=100000"),
        (&["share", "--cc", "c4,c4"], "--cc", "each name once"),
        (&["share", "--against", "c4,c4"], "--against", "each name once"),
        (&["share", "--against", "main"], "--against", &names),
        (&["ecn", "--runs", "0"], "--runs", "1..=100000"),
        (&["ecn", "--after-ms", "3600001"], "--after-ms", "0..=3600000"),
        (&["ecn", "--cc", "c4,c4"], "--cc", "each name once"),
        (&["share", "--every-ms", "99"], "--every-ms", "100..=3600000"),
        (&["trace", "alone", "--cc", "tahoe"], "--cc", &names),
        (&["trace", "alone", "--cc", "c4", "--interval-ms", "0"], "--interval-ms", "1..=60000"),
        (&["trace", "alone", "--cc", "c4", "--interval-ms", "60001"], "--interval-ms", "1..=60000"),
        (&["trace", "alone", "--cc", "c4", "--run", "100000"], "--run", "0..=99999"),
        (&["trace", "alone", "--cc", "c4", "--seed", "x"], "--seed", "0..=18446744073709551615"),
    ] {
        let line = failure_of(args, 2);
        assert!(line.contains(option) && line.contains(allowed), "{args:?}: {line}");
    }
}

#[test]
fn arguments_that_are_missing_or_unknown_are_named() {
    for (args, named) in [
        (&["run"][..], "<SCENARIO>"),
        (&["trace", "alone"], "--cc"),
        (&["trace", "--cc", "c4"], "<SCENARIO>"),
        (&["trace", "alone", "blackhole", "--cc", "c4"], "blackhole"),
        (&["--runs"], "--runs"),
        (&["simulate"], "simulate"),
        (&["--speed", "1"], "--speed"),
        (&["run", "alone", "--runs", "1", "--runs", "2"], "--runs"),
        (&["line\nbreak"], "line break"),
    ] {
        let line = failure_of(args, 2);
        assert!(line.contains(named), "{args:?}: {line}");
    }
}

#[test]
fn unknown_scenarios_are_answered_with_those_that_there_are() {
    for args in [
        &["run", "nowhere"][..],
        &["compare", "alone", "nowhere"],
        &["share", "nowhere"],
        &["trace", "nowhere", "--cc", "c4"],
    ] {
        let line = failure_of(args, 2);
        assert!(line.contains("nowhere") && line.contains("scenario"), "{line}");
        assert!(BUILTIN.iter().all(|name| line.contains(name)), "{line}");
    }
    let line = failure_of(&["run", "alone", "blackhole", "alone"], 2);
    assert!(line.contains("alone given twice"), "{line}");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let directory = env!("CARGO_TARGET_TMPDIR");
    let missing = format!("{directory}/missing.toml");
    let too_long = scenario_file("too_long.toml", &"#".repeat((1 << 20) + 1));
    let binary = scenario_file("binary.toml", "");
    std::fs::write(&binary, [0xff, 0xfe]).unwrap();
    for (path, why) in [
        (missing.as_str(), "cannot read"),
        (directory, "cannot read"),
        (&too_long, "0..=1048576 bytes"),
        (&binary, "cannot read"),
    ] {
        let line = failure_of(&["run", path], 2);
        assert!(line.contains(path) && line.contains(why), "{line}");
    }
}

#[test]
fn fields_of_files_that_are_refused_are_named_with_their_range() {
    for (i, (line, other, field, allowed)) in [
        ("rate_mbps = 8", "rate_mbps = -8", "link[0].rate_mbps", "0.001..=1000000 Mbit/s"),
        ("rate_mbps = 8", "rate_mbps = 1_000_001", "link[0].rate_mbps", "0.001..=1000000 Mbit/s"),
        ("rate_mbps = 8", "rate_mbps = nan", "link[0].rate_mbps", "0.001..=1000000 Mbit/s"),
        ("rate_mbps = 8", "rate_mbps = 99999999999999999999", "link[0].rate_mbps", "0.001..=1000000 Mbit/s"),
        ("rate_mbps = 8", "rate_mbps = 0", "link[0].rate_mbps", "0 for ever"),
        ("rate_mbps = 8", "rate_mbps = \"8\"", "link[0].rate_mbps", "expected a number"),
        ("rate_mbps = 8", "rate = 8", "link[0].rate", "`rate_mbps`"),
        ("latency_ms = 10", "", "link[0]", "missing field `latency_ms`"),
        ("size_bytes = 500_000", "size_bytes = 0", "transfer.size_bytes", "1..=100000000000 bytes"),
        ("[transfer]", "[transfer", "line 7", "not TOML"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = scenario_file(&format!("refused_{i}.toml"), &SMALL.replace(line, other));
        let message = failure_of(&["run", &path], 2);
        assert!(message.contains(&format!("{path}: {field}: ")) && message.contains(allowed), "{message}");
    }
}

#[test]
fn a_run_that_cannot_end_stops_at_the_limit_of_virtual_time() {
    // 500 000 bytes at 1 kbit/s would take more than an hour.
    let slow = SMALL
        .replace("rate_mbps = 8", "rate_mbps = 0.001")
        .replace("[[link]]", "time_limit_ms = 60_000\n[[link]]");
    let path = scenario_file("slow.toml", &slow);
    for args in [
        &["run", &path, "--runs", "3"][..],
        &["compare", &path, "--runs", "1"],
        &["trace", &path, "--cc", "c4"],
        &["trace", &path, "--cc", "cubic", "--format", "json"],
    ] {
        let message = failure_of(args, 2);
        let expected = "scenario small: time_limit_ms: not finished after 60000.000 ms of virtual time, ";
        assert!(message.contains(expected) && message.contains(" of 500000 bytes arrived"), "{message}");
        assert!(message.contains("(allowed: 1..=86400000 ms)"), "{message}");
    }
}

#[test]
fn a_path_that_holds_too_many_packets_is_refused() {
    // 10 Gbit/s, 2 s one way: 5 GB in flight, 131 072 datagrams are 189 MB.
    let text = SMALL
        .replace("rate_mbps = 8", "rate_mbps = 10_000")
        .replace("latency_ms = 10", "latency_ms = 2_000")
        .replace("size_bytes = 500_000", "size_bytes = 500_000_000")
        + "[resume]\ncwnd_bytes = 1_000_000_000\nrtt_ms = 4_000\n[endpoint]\n\
           initial_max_data_bytes = 1_000_000_000\ninitial_max_stream_data_bytes = 1_000_000_000\n";
    let path = scenario_file("large.toml", &text);
    for args in [&["run", &path, "--runs", "1", "--cc", "c4"][..], &["trace", &path, "--cc", "c4"]] {
        let message = failure_of(args, 2);
        assert!(message.contains("scenario small: link: ") && message.contains("rate_mbps"), "{message}");
        assert!(message.contains("(allowed: 0..=131072 packets and 4 GiB in flight)"), "{message}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cc-sim"))
        .args(["trace", "alone", "--cc", "c4", "--interval-ms", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    // The pipe is closed after a line; the trace is far longer than what a pipe holds.
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("# alone with c4"), "{line}");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cc-sim")).arg("list").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("cc-sim: cannot write to stdout"), "{stderr}");
}

#[test]
fn help_and_version_are_results() {
    for args in [&["--help"][..], &["help"], &["run", "--help"], &["trace", "-h"]] {
        let help = stdout_of(args);
        assert!(help.contains("Usage: cc-sim"), "{help}");
    }
    assert_eq!(stdout_of(&["--version"]), format!("cc-sim {}\n", env!("CARGO_PKG_VERSION")));
    let help = stdout_of(&["--help"]);
    assert!(
        [
            "--runs", "--seed", "--jobs", "--format", "--cc", "list", "run", "compare", "share", "delay",
            "ecn", "trace"
        ]
        .iter()
        .all(|name| help.contains(name))
    );
}
