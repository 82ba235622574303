//! The program: what it refuses, and that it ends.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::{Command, Stdio};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cc-relay"))
}

#[test]
fn impossible_arguments_end_with_2_and_say_what_is_allowed() {
    for (arguments, message) in [
        (
            ["--rate-mbps", "0.0001"],
            "to_server.link.rate_bps: 100 is out of range (allowed: 1000..=1000000000000, or 0)",
        ),
        (["--delay-ms", "-1"], "unexpected argument '-1'"),
        (
            ["--loss-percent", "101"],
            "to_server.link.loss_ppm: 1010000 is out of range (allowed: 0..=1000000)",
        ),
        (["--max-clients", "0"], "max_clients: 0 is out of range (allowed: 1..=4096)"),
        (["--idle-timeout-s", "0"], "--idle-timeout-s: 0 is out of range (allowed: 0.01..=86400)"),
        (["--server", "nowhere"], "invalid value 'nowhere'"),
    ] {
        let server = if arguments[0] == "--server" { &[][..] } else { &["--server", "127.0.0.1:9"] };
        let output = program().args(arguments).args(server).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(message), "{arguments:?}: {error}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_port_in_use_ends_with_1() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = program().args(["--server", "127.0.0.1:9", "--listen", &address]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("error: listen: {address} is in use\n"));
}

#[test]
fn it_relays_until_it_is_interrupted_and_prints_its_counters() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let mut child =
        program().args(["--server", &address, "--delay-ms", "1"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    let relay = line.strip_prefix("relay: ").and_then(|line| line.split(' ').next()).unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.send_to(b"text", relay).unwrap();
    let mut buffer = [0; 16];
    let (bytes, _) = server.recv_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..bytes], b"text");
    // SIGTERM, by a program that is everywhere.
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let mut rest = String::new();
    errors.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(rest.contains("to server: 1 datagrams in"), "{rest}");
    assert!(rest.contains("clients: 1 now, 1 in all"), "{rest}");
}
