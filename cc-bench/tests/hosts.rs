//! Clients, router and server in three network namespaces. Where the kernel or this user may not make them, the tests say so
//! and pass.

#![cfg(target_os = "linux")]

use cc_bench::hosts::{Hosts, HostsError, namespaces};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The subcommand of this build, which may be a debug one.
fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cc-bench"));
    command.args(arguments);
    if !arguments.contains(&"--debug-build") {
        command.arg("--debug-build");
    }
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

/// Whether there can be namespaces here.
fn allowed(owner: &str) -> bool {
    match Hosts::up(owner) {
        Ok(_) => true,
        Err(HostsError::NotAllowed(why)) => {
            eprintln!("skipped: {why}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

fn of(owner: &str) -> Vec<String> {
    let part = format!("-{owner}-");
    namespaces().unwrap().into_iter().filter(|name| name.contains(&part)).collect()
}

/// Programs that a process has started: at least the server of its sweep.
fn children(pid: &str) -> Vec<String> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    std::fs::read_to_string(path).unwrap().split_whitespace().map(str::to_owned).collect()
}

/// Whether it runs; another program may have its number by now.
fn is_there(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "cc-bench")
}

#[test]
fn eight_of_eight_clients_connect_and_echo_at_one_percent_loss() {
    if !allowed("probe1") {
        return;
    }
    let folder = folder("eight");
    let output = bench(&[
        "sweep",
        "--debug-build",
        "--cc",
        "c4",
        "--clients",
        "8",
        "--loss-percent",
        "1",
        "--delay-ms",
        "10",
        "--rate-mbps",
        "50",
        "--messages",
        "10",
        "--bulk-s",
        "0.5",
        "--runs",
        "1",
        "--handshake-limit-s",
        "20",
        "--out",
        folder.to_str().unwrap(),
    ]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let runs = std::fs::read_to_string(folder.join("runs.csv")).unwrap();
    let mut lines = runs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, run) = (lines.next().unwrap(), lines.next().unwrap());
    let field = |name: &str| run[names.iter().position(|&other| other == name).unwrap()];
    assert_eq!((field("connected"), field("echoed"), field("error")), ("8", "8", ""), "{runs}");
    // There and back takes 20 ms at least, a handshake as long at least.
    assert!(field("echo_p50_us").parse::<u64>().unwrap() >= 20_000, "{runs}");
    assert!(field("connect_p50_us").parse::<u64>().unwrap() >= 20_000, "{runs}");
    // Eight flows of half a second, each counted over its own time, so that their sum may be a little above the rate.
    let kbps = field("throughput_kbps").parse::<f64>().unwrap();
    assert!((100.0..75_000.0).contains(&kbps), "{runs}");
    assert!(std::fs::read_to_string(folder.join("raw_path.json")).unwrap().contains("throughput_kbps"));
    // Nothing to do the second time.
    let again = bench(&[
        "sweep",
        "--debug-build",
        "--cc",
        "c4",
        "--clients",
        "8",
        "--loss-percent",
        "1",
        "--delay-ms",
        "10",
        "--rate-mbps",
        "50",
        "--runs",
        "1",
        "--resume",
        folder.to_str().unwrap(),
    ]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    assert_eq!(std::fs::read_to_string(folder.join("runs.csv")).unwrap(), runs);
}

#[test]
fn what_an_interrupted_run_has_left_is_removed_at_the_next_start() {
    if !allowed("probe2") {
        return;
    }
    // The owner is a process that has ended.
    let mut ended = Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let owner = ended.id().to_string();
    Hosts::up(&owner).unwrap().keep();
    assert_eq!(of(&owner).len(), 3);
    let ours = Hosts::for_this_process().unwrap();
    assert_eq!(of(&owner).len(), 0);
    let mine = std::process::id().to_string();
    assert_eq!(of(&mine).len(), 3);
    let error = Hosts::up(&mine).unwrap_err();
    assert!(error.to_string().contains("is there already"), "{error}");
    drop(ours);
    assert_eq!(of(&mine).len(), 0);
}

#[test]
fn an_interruption_leaves_no_namespace_and_no_process_and_keeps_what_is_done() {
    if !allowed("probe3") {
        return;
    }
    let folder = folder("interrupted");
    let mut child = Command::new(env!("CARGO_BIN_EXE_cc-bench"))
        .args([
            "sweep",
            "--debug-build",
            "--cc",
            "cubic",
            "--loss-percent",
            "0",
            "--delay-ms",
            "1",
            "--bulk-s",
            "0.2",
            "--runs",
            "1000",
            "--out",
            folder.to_str().unwrap(),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let owner = child.id().to_string();
    let runs = || std::fs::read_to_string(folder.join("runs.csv")).unwrap_or_default().lines().count();
    for _ in 0..3_000 {
        if runs() >= 3 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(runs() >= 3);
    assert_eq!(of(&owner).len(), 3);
    let children = children(&owner);
    assert!(!children.is_empty());
    assert!(Command::new("kill").args(["-INT", &owner]).status().unwrap().success());
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(lines.iter().any(|line| line.starts_with("| cubic")), "{lines:?}");
    assert_eq!(of(&owner).len(), 0);
    for pid in children {
        assert!(!is_there(&pid), "{pid}");
    }
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
    let mut server = program(&["server", "--listen", "127.0.0.1:0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut line, mut stdout) = (String::new(), BufReader::new(server.stdout.take().unwrap()));
    stdout.read_line(&mut line).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
    let (address, fingerprint) = (ready["address"].as_str().unwrap(), ready["fingerprint"].as_str().unwrap());
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
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
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
    let sweep = bench(&["sweep", "--clients", "0"]);
    assert_eq!(sweep.status.code(), Some(2), "{sweep:?}");
}
