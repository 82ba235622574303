//! Programs that are started by hand, as on separate machines, and a sweep that finds them.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// The subcommand of this build, which may be a debug one.
fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cc-bench"));
    command.args(arguments).arg("--debug-build");
    command
}

fn bench(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// A program that runs until its standard input is closed, and what it has said first.
struct Running {
    process: Child,
    address: String,
    fingerprint: String,
    /// Stays open, for its last line.
    _stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut process = program(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut line, mut stdout) = (String::new(), BufReader::new(process.stdout.take().unwrap()));
        stdout.read_line(&mut line).unwrap();
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        Self { process, address: text("address"), fingerprint: text("fingerprint"), _stdout: stdout }
    }

    fn stop(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

/// The columns of `runs.csv`, each run as a map.
fn runs(folder: &std::path::Path) -> Vec<std::collections::HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join("runs.csv")).unwrap();
    reader.deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_sweep_finds_a_server_elsewhere_and_takes_its_path_as_it_is() {
    let folder = folder("elsewhere");
    let server = Running::start(&["server", "--listen", "127.0.0.1:0"]);
    let output = bench(&[
        "sweep",
        "--connect",
        &server.address,
        "--fingerprint",
        &server.fingerprint,
        "--cc",
        "cubic,c4",
        "--clients",
        "1,2",
        "--messages",
        "3",
        "--bulk-s",
        "0.3",
        "--media-s",
        "0.5",
        "--runs",
        "1",
        "--out",
        folder.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let runs = runs(&folder);
    assert_eq!(runs.len(), 4, "{runs:?}");
    for run in &runs {
        assert_eq!(
            (run["error"].as_str(), run["connected"].as_str()),
            ("", run["clients"].as_str()),
            "{run:?}"
        );
        // No relay, so that nobody says what the path is.
        assert!(
            ["loss_ppm", "delay_us", "rate_kbps", "cpu_relay"].iter().all(|&name| run[name].is_empty()),
            "{run:?}"
        );
        assert!(run["cpu_server"].parse::<f64>().unwrap() > 0.0, "{run:?}");
        assert!(run["throughput_kbps"].parse::<f64>().unwrap() > 0.0, "{run:?}");
        // 30 in a second, for half of one, of each client.
        let frames: u32 = run["media_frames"].parse().unwrap();
        assert_eq!(frames, 15 * run["clients"].parse::<u32>().unwrap(), "{run:?}");
        // A machine that stands still for a while is later than what is waited for.
        assert!(run["media_complete"].parse::<u32>().unwrap() > 0, "{run:?}");
    }
    let samples = std::fs::read_to_string(folder.join("samples.jsonl")).unwrap();
    let samples: Vec<serde_json::Value> =
        samples.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(samples.len(), 4);
    let echo = samples[3]["samples"]["echo_us"].as_array().unwrap();
    assert_eq!(echo.iter().map(|of| of.as_array().unwrap().len()).collect::<Vec<_>>(), [3, 3]);
    server.stop();
    // A server that is gone.
    let gone = bench(&["sweep", "--connect", "127.0.0.1:9", "--fingerprint", &"0".repeat(64), "--out", {
        let _ = std::fs::remove_dir_all(&folder);
        folder.to_str().unwrap()
    }]);
    assert_eq!(gone.status.code(), Some(1), "{gone:?}");
    let errors = String::from_utf8_lossy(&gone.stderr);
    assert!(
        errors.contains("raw path: client: ") && errors.contains("no answer from 127.0.0.1:9"),
        "{errors}"
    );
}

#[test]
fn clients_of_noq_have_the_same_figures() {
    let folder = folder("noq");
    let output = bench(&[
        "sweep",
        "--loopback",
        "--stack",
        "noq",
        "--cc",
        "c4,cubic,noq-cubic",
        "--clients",
        "2",
        "--delay-ms",
        "5",
        "--loss-percent",
        "0",
        "--messages",
        "3",
        "--media-s",
        "0.2",
        "--bulk-s",
        "0.3",
        "--runs",
        "1",
        "--out",
        folder.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Clients: noq."), "{output:?}");
    let runs = runs(&folder);
    assert_eq!(runs.len(), 3);
    for run in &runs {
        let figure = |name: &str| run[name].parse::<f64>().unwrap();
        assert_eq!(
            (run["error"].as_str(), run["connected"].as_str(), run["echoed"].as_str()),
            ("", "2", "2"),
            "{run:?}"
        );
        assert!(figure("throughput_kbps") > 0.0 && figure("sent_packets") > 0.0, "{run:?}");
        assert!(figure("rtt_mean_us") >= 10_000.0 && figure("echo_p50_us") >= 10_000.0, "{run:?}");
        // 30 in a second for a fifth of one, of two clients.
        assert!(figure("media_complete") > 0.0 && figure("media_frames") == 12.0, "{run:?}");
    }
}

#[test]
fn a_router_elsewhere_takes_the_path_from_the_sweep() {
    let folder = folder("router");
    let server = Running::start(&["server", "--listen", "127.0.0.1:0"]);
    let router = Running::start(&[
        "router",
        "--listen",
        "127.0.0.1:0",
        "--server",
        &server.address,
        "--control",
        "127.0.0.1:0",
    ]);
    let sweep = |arguments: &[&str]| {
        let place = ["sweep", "--router", &router.address, "--fingerprint", &server.fingerprint];
        bench(
            &[&place[..], &["--messages", "3", "--bulk-s", "0.3", "--runs", "1", "--cc", "cubic"], arguments]
                .concat(),
        )
    };
    let output = sweep(&[
        "--delay-ms",
        "1,30",
        "--loss-percent",
        "0,0.5",
        "--rate-mbps",
        "5",
        "--out",
        folder.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let runs = runs(&folder);
    assert_eq!(runs.len(), 4, "{runs:?}");
    for run in &runs {
        assert_eq!(run["error"], "", "{run:?}");
        let (delay_us, echo_us) =
            (run["delay_us"].parse::<u64>().unwrap(), run["echo_p50_us"].parse::<u64>().unwrap());
        assert!(echo_us >= 2 * delay_us, "{run:?}");
        assert!(!run["cpu_relay"].is_empty() && run["relay_received"] != "0", "{run:?}");
    }
    // One that is not there: the server takes no orders.
    let wrong =
        bench(&["sweep", "--router", "127.0.0.1:9", "--fingerprint", &server.fingerprint, "--out", {
            let _ = std::fs::remove_dir_all(&folder);
            folder.to_str().unwrap()
        }]);
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("router at 127.0.0.1:9: "), "{wrong:?}");
    router.stop();
    server.stop();
}

#[test]
fn without_namespaces_there_is_the_loopback_interface() {
    let folder = folder("loopback");
    let out = folder.to_str().unwrap();
    let page = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("loopback.md");
    std::fs::write(&page, "<!-- mine begin -->\n<!-- mine end -->\n").unwrap();
    let output = bench(&[
        "sweep",
        "--loopback",
        "--cc",
        "cubic,quinn-cubic",
        "--mix",
        "--clients",
        "2",
        "--delay-ms",
        "5",
        "--loss-percent",
        "0",
        "--messages",
        "3",
        "--bulk-s",
        "0.3",
        "--runs",
        "1",
        "--out",
        out,
        "--into",
        page.to_str().unwrap(),
        "--section",
        "mine",
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let run = &runs(&folder)[0];
    assert_eq!((run["cc"].as_str(), run["connected"].as_str()), ("cubic+quinn-cubic", "2"), "{run:?}");
    assert!(run["shares"].starts_with("cubic 0.") && run["shares"].contains(" quinn-cubic 0."), "{run:?}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("| cubic+quinn-cubic |"));
    let report = Command::new(env!("CARGO_BIN_EXE_cc-bench")).args(["report", out]).output().unwrap();
    assert_eq!(report.status.code(), Some(0), "{report:?}");
    assert!(String::from_utf8_lossy(&report.stdout).contains("loopback, Throughput (Mbit/s)"), "{report:?}");
}

#[test]
fn a_server_that_cannot_be_reached_is_an_error_with_1() {
    let folder = folder("unreachable");
    std::fs::create_dir_all(&folder).unwrap();
    let certificate = folder.join("certificate.der");
    let missing =
        bench(&["client", "--connect", "127.0.0.1:9", "--certificate", certificate.to_str().unwrap()]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot read"), "{missing:?}");
    cc_bench::quic::Identity::generate().unwrap().save(&certificate).unwrap();
    let output = bench(&[
        "client",
        "--connect",
        "127.0.0.1:9",
        "--certificate",
        certificate.to_str().unwrap(),
        "--handshake-limit-s",
        "0.3",
        "--clients",
        "2",
    ]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("connect: no handshake within 300ms"), "{errors}");
}

#[test]
fn a_client_accepts_the_server_with_the_fingerprint_and_no_other() {
    let server = Running::start(&["server", "--listen", "127.0.0.1:0"]);
    let (address, fingerprint) = (server.address.as_str(), server.fingerprint.as_str());
    let client = |fingerprint: &str| {
        bench(&[
            "client",
            "--connect",
            address,
            "--fingerprint",
            fingerprint,
            "--bulk-s",
            "0",
            "--messages",
            "3",
        ])
    };
    let good = client(fingerprint);
    assert_eq!(good.status.code(), Some(0), "{good:?}");
    assert!(String::from_utf8_lossy(&good.stdout).contains("\"echoed\":1"), "{good:?}");
    let other = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let wrong = client(other);
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    let errors = String::from_utf8_lossy(&wrong.stderr);
    assert!(errors.contains(&format!("fingerprint of the server is {fingerprint}, not {other}")), "{errors}");
    let malformed = client("ba78");
    assert_eq!(malformed.status.code(), Some(2), "{malformed:?}");
    assert!(String::from_utf8_lossy(&malformed.stderr).contains("64 hexadecimal digits"), "{malformed:?}");
    let none = bench(&["client", "--connect", address]);
    assert_eq!(none.status.code(), Some(2), "{none:?}");
    server.stop();
}

#[test]
fn a_port_in_use_is_an_error_with_1() {
    let folder = folder("taken");
    std::fs::create_dir_all(&folder).unwrap();
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let certificate = folder.join("certificate.der");
    let server = bench(&["server", "--listen", &address, "--certificate", certificate.to_str().unwrap()]);
    assert_eq!(server.status.code(), Some(1), "{server:?}");
    assert!(String::from_utf8_lossy(&server.stderr).contains(&format!("cannot listen on {address}")));
    let router = bench(&["router", "--listen", &address, "--server", "127.0.0.1:9"]);
    assert_eq!(router.status.code(), Some(1), "{router:?}");
    let impossible =
        bench(&["router", "--listen", &address, "--server", "127.0.0.1:9", "--loss-percent", "200"]);
    assert_eq!(impossible.status.code(), Some(2), "{impossible:?}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let control = listener.local_addr().unwrap().to_string();
    let controlled =
        bench(&["router", "--listen", "127.0.0.1:0", "--server", "127.0.0.1:9", "--control", &control]);
    assert_eq!(controlled.status.code(), Some(1), "{controlled:?}");
    assert!(
        String::from_utf8_lossy(&controlled.stderr).contains("cannot listen on 127.0.0.1:"),
        "{controlled:?}"
    );
}

#[test]
fn impossible_sweeps_end_with_2_before_anything_is_made() {
    let there = ["--connect", "127.0.0.1:9"];
    let fingerprint = "0".repeat(64);
    for (arguments, message) in [
        (&["--clients", "0"][..], "0 is not in 1..=1024"),
        (&["--clients", "8,8"], "--clients: 8 is there twice (allowed: each value once)"),
        (&["--cc", "c4,c4"], "--cc: c4 is there twice"),
        (&["--stack", "noq", "--cc", "quinn-cubic"], "--cc: quinn-cubic is not there for noq"),
        (&["--cc", "c4,noq-bbr"], "--cc: noq-bbr is not there for quinn"),
        (&["--loss-percent", "51"], "out of range (allowed: 0..=50 %)"),
        (&["--delay-ms", "-1"], "unexpected argument"),
        (&["--rate-mbps", "0"], "out of range (allowed: 0.1..=10000 Mbit/s)"),
        (
            &["--bulk-s", "0", "--messages", "0"],
            "nothing to measure (allowed: --messages, --media-s or --bulk-s above 0)",
        ),
        (&["--media-s", "1", "--frames-per-s", "0"], "0 is not in 1..=1000"),
        (&["--deadline-ms", "x"], "out of range (allowed: 0..=10000 ms)"),
        (&["--cpus", "0,1"], "--cpus: not three CPUs (allowed: CLIENT,ROUTER,SERVER)"),
        (&["--cpus", "0,0,4095"], "--cpus: 4095 is no CPU of this process (allowed: 0"),
        (&there, "--certificate <FILE>|--fingerprint <HEX>"),
        (&[there[0], there[1], "--fingerprint", &fingerprint, "--loss-percent", "1"], "cannot be used with"),
        (&[there[0], there[1], "--fingerprint", &fingerprint, "--loopback"], "cannot be used with"),
        (&["--fingerprint", &fingerprint], "--certificate and --fingerprint: whose?"),
        (&["--connect", "no port", "--fingerprint", &fingerprint], "invalid socket address"),
    ] {
        let output = bench(&[&["sweep"], arguments].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(message), "{arguments:?}: {errors}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    }
    let page = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no_section.md");
    std::fs::write(&page, "nothing here\n").unwrap();
    let output = bench(&["sweep", "--into", page.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no lines <!-- sweep begin and end"),
        "{output:?}"
    );
}

#[test]
fn a_debug_build_is_refused_unless_it_is_asked_for() {
    let fingerprint = "0".repeat(64);
    for arguments in [
        &["sweep", "--out", "/nowhere/to/be/written"][..],
        &["server", "--listen", "nonsense"],
        &["client", "--connect", "127.0.0.1:9", "--fingerprint", &fingerprint, "--handshake-limit-s", "0.1"],
        &["router", "--listen", "192.0.2.1:1", "--server", "127.0.0.1:9"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_cc-bench")).args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let refused = errors.contains("this is a debug build");
        // Arguments that are none are told first.
        let expected = cfg!(debug_assertions) && arguments[0] != "server";
        assert_eq!(refused, expected, "{arguments:?}: {errors}");
        if refused {
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        } else {
            assert_ne!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        }
    }
}
