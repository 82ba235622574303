//! The priority of the relay's thread. In a file of its own, so that no other test's relay is in this process.

#![cfg(target_os = "linux")]

use cc_relay::{Relay, RelayConfig};
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

/// The nice value of a process or thread: the nineteenth field, the second of which ends with the last parenthesis (proc(5)).
fn nice(folder: &Path) -> Option<i32> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(16)?.parse().ok()
}

/// That of the relay's thread, once it relays.
fn of_relay(raise_priority: bool) -> i32 {
    let (client, server) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let mut config = RelayConfig::new(server.local_addr().unwrap());
    config.raise_priority = raise_priority;
    let relay = Relay::start(&config).unwrap();
    client.send_to(b"text", relay.local_addr()).unwrap();
    server.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut buffer = [0; 8];
    assert_eq!(server.recv(&mut buffer).unwrap(), 4);
    let threads = std::fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
    let is_relay = |thread: &std::path::PathBuf| {
        std::fs::read_to_string(thread.join("comm")).is_ok_and(|name| name.trim() == "cc-relay")
    };
    let relays: Vec<i32> = threads.filter(is_relay).filter_map(|thread| nice(&thread)).collect();
    assert_eq!(relays.len(), 1, "the thread of the relay before has ended");
    relays[0]
}

#[test]
fn it_is_raised_where_that_is_wanted_and_allowed() {
    let own = nice(Path::new("/proc/self")).unwrap();
    assert_eq!(of_relay(false), own);
    let raised = of_relay(true);
    assert!(raised == -20 || raised == own, "{raised}");
    if raised == own {
        eprintln!("not allowed here");
    }
}
