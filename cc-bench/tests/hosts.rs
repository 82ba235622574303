//! Clients, router and server in three network namespaces. Where the kernel or this user may not make them, the tests say so
//! and pass.

#![cfg(target_os = "linux")]

use cc_bench::hosts::{Hosts, HostsError, namespaces, remove_leftovers};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Held by each test: whatever starts removes the namespaces of processes that are no more, which one of them makes on purpose.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there can be namespaces here.
fn allowed(owner: &str) -> bool {
    match Hosts::up(owner) {
        Ok(_) => true,
        Err(HostsError::NotAllowed(why)) => {
            // Not through `eprintln!`, which the harness keeps to itself when a test passes.
            let _ = writeln!(std::io::stderr(), "skipped: {why}");
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

/// Whether it runs; another program may have its number by now, and one that has ended may wait for somebody to ask.
fn is_there(pid: &str) -> bool {
    // Number, name in parentheses, state (proc_pid_stat(5)).
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.split_once(") ").is_some_and(|(name, rest)| name.ends_with("(cc-bench") && !rest.starts_with('Z'))
}

#[test]
fn eight_of_eight_clients_connect_and_echo_at_one_percent_loss() {
    let _guard = one_at_a_time();
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
        "1",
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
    // No more than the rate, whatever the machine has to do besides.
    let kbps = field("throughput_kbps").parse::<f64>().unwrap();
    assert!(kbps > 0.0 && kbps < 55_000.0, "{runs}");
    assert!(std::fs::read_to_string(folder.join("raw_path.json")).unwrap().contains("throughput_kbps"));
    // Nothing to do the second time.
    let again = |messages: &str| {
        bench(&[
            "sweep",
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
            messages,
            "--bulk-s",
            "1",
            "--runs",
            "1",
            "--handshake-limit-s",
            "20",
            "--resume",
            folder.to_str().unwrap(),
        ])
    };
    let other = again("11");
    assert_eq!(other.status.code(), Some(2), "{other:?}");
    assert!(String::from_utf8_lossy(&other.stderr).contains("--resume: other settings: "), "{other:?}");
    let again = again("10");
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    assert_eq!(std::fs::read_to_string(folder.join("runs.csv")).unwrap(), runs);
}

#[test]
fn what_an_interrupted_run_has_left_is_removed_at_the_next_start() {
    let _guard = one_at_a_time();
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
    let _guard = one_at_a_time();
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
fn a_killed_sweep_leaves_no_process_and_its_namespaces_are_removed_at_the_next_start() {
    let _guard = one_at_a_time();
    if !allowed("probe5") {
        return;
    }
    let folder = folder("killed");
    let mut child = program(&["sweep", "--cc", "cubic", "--bulk-s", "60", "--out", folder.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let owner = child.id().to_string();
    // The server and, while the raw path is measured, router and client.
    let mut programs = Vec::new();
    for _ in 0..3_000 {
        programs = children(&owner);
        if programs.len() >= 3 && programs.iter().all(|pid| is_there(pid)) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(programs.len() >= 3, "{programs:?}");
    // No time for anything.
    child.kill().unwrap();
    child.wait().unwrap();
    for pid in &programs {
        let gone = (0..1_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            !is_there(pid)
        });
        assert!(gone, "{pid}");
    }
    // Unless somebody else on this machine has started a sweep, which has removed them.
    let left = of(&owner).len();
    assert!(left == 3 || left == 0, "{left}");
    // What a start begins with.
    remove_leftovers().unwrap();
    assert_eq!(of(&owner).len(), 0);
}

#[test]
fn without_the_right_to_make_namespaces_a_sweep_ends_with_1_and_says_what_there_is_instead() {
    let _guard = one_at_a_time();
    let folder = folder("rights");
    let sweep = |arguments: &[&str], path: Option<&str>| {
        let mut command = Command::new(arguments[0]);
        command.args(&arguments[1..]).args(["sweep", "--debug-build", "--out", folder.to_str().unwrap()]);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let _ = std::fs::remove_dir_all(&folder);
        command.output().unwrap()
    };
    let bench = env!("CARGO_BIN_EXE_cc-bench");
    // No capabilities, whoever it is; who may not even take them away has none.
    let mut without = sweep(&["setpriv", "--bounding-set=-all", "--inh-caps=-all", bench], None);
    if String::from_utf8_lossy(&without.stderr).starts_with("setpriv: ") {
        without = sweep(&[bench], None);
    }
    let outputs = [
        without,
        // No iproute2.
        sweep(&[bench], Some("/nowhere")),
    ];
    for output in outputs {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("error: network namespaces are not allowed here ("), "{errors}");
        let instead = "`cc-bench sweep --loopback` runs the relay on the loopback interface instead";
        assert!(errors.contains(instead), "{errors}");
    }
}
