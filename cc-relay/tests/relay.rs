//! Real sockets on the loopback address. Times are judged so that a machine under load does not fail them: what must not be
//! too short is tested sharply, what must not be too long with much room, and on the best of several tries.

#![cfg(target_os = "linux")]

use cc_relay::{
    Direction, DualPi2, EcnPolicy, LinkConfig, PathConfig, QueueLimit, Relay, RelayConfig, RelayStats,
};
use cc_sim::link::{Datagram, Ecn, Event, LinkModel};
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use std::collections::BTreeSet;
use std::io::{ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Long enough for whatever is expected.
const PATIENCE: Duration = Duration::from_secs(20);

const CODEPOINTS: [Option<EcnCodepoint>; 4] =
    [None, Some(EcnCodepoint::Ect0), Some(EcnCodepoint::Ect1), Some(EcnCodepoint::Ce)];

#[expect(clippy::disallowed_methods, reason = "tests of real time")]
fn now() -> Instant {
    Instant::now()
}

/// A socket with ECN, and what has arrived at it.
struct Peer {
    io: UdpSocket,
    state: UdpSocketState,
    inbox: Vec<Arrival>,
}

#[derive(Clone, Debug)]
struct Arrival {
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    payload: Vec<u8>,
    at: Instant,
}

impl Peer {
    fn new() -> Self {
        Self::at("127.0.0.1:0")
    }

    fn at(address: impl std::net::ToSocketAddrs) -> Self {
        let io = UdpSocket::bind(address).unwrap();
        let state = UdpSocketState::new(UdpSockRef::from(&io)).unwrap();
        state.set_recv_buffer_size(UdpSockRef::from(&io), 4 << 20).unwrap();
        Self { io, state, inbox: Vec::new() }
    }

    fn address(&self) -> SocketAddr {
        self.io.local_addr().unwrap()
    }

    fn send(&self, to: SocketAddr, ecn: Option<EcnCodepoint>, contents: &[u8]) {
        let transmit = Transmit { destination: to, ecn, contents, segment_size: None, src_ip: None };
        self.state.send(UdpSockRef::from(&self.io), &transmit).unwrap();
    }

    /// Reads what is there.
    fn poll(&mut self) {
        let mut space = vec![0; BATCH_SIZE << 16];
        loop {
            let mut slices: Vec<_> = space.chunks_exact_mut(1 << 16).map(IoSliceMut::new).collect();
            let mut meta = [RecvMeta::default(); BATCH_SIZE];
            match self.state.recv(UdpSockRef::from(&self.io), &mut slices, &mut meta) {
                Ok(count) => {
                    for (slice, meta) in slices.iter().zip(meta).take(count) {
                        for part in slice[..meta.len].chunks(meta.stride) {
                            let payload = part.to_vec();
                            self.inbox.push(Arrival { from: meta.addr, ecn: meta.ecn, payload, at: now() });
                        }
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Waits until `count` datagrams have arrived.
    #[track_caller]
    fn wait_for(&mut self, count: usize) -> &[Arrival] {
        let end = now() + PATIENCE;
        while self.inbox.len() < count {
            assert!(now() < end, "{} of {count} have arrived", self.inbox.len());
            std::thread::sleep(Duration::from_micros(200));
            self.poll();
        }
        &self.inbox
    }
}

/// Numbers in the payloads of what has arrived.
fn numbers(arrivals: &[Arrival]) -> Vec<u32> {
    arrivals.iter().map(|arrival| u32::from_be_bytes(arrival.payload[..4].try_into().unwrap())).collect()
}

fn payload(number: u32, bytes: usize) -> Vec<u8> {
    let mut payload = vec![0x5a; bytes];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    payload
}

fn to_server(server: &Peer, link: LinkConfig) -> RelayConfig {
    let mut config = RelayConfig::new(server.address());
    config.to_server = PathConfig::new(link);
    config
}

/// Waits until the relay says so.
#[track_caller]
fn wait_until(relay: &Relay, what: &str, holds: impl Fn(&RelayStats) -> bool) -> RelayStats {
    let end = now() + PATIENCE;
    loop {
        let stats = relay.stats();
        if holds(&stats) {
            return stats;
        }
        assert!(now() < end, "not {what}: {stats:#?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn all_four_codepoints_and_every_byte_pass_both_ways() {
    for loopback in ["127.0.0.1:0", "[::1]:0"] {
        let (mut client, mut server) = (Peer::at(loopback), Peer::at(loopback));
        let relay = Relay::start(&RelayConfig::new(server.address())).unwrap();
        for (number, ecn) in (0..).zip(CODEPOINTS) {
            client.send(relay.local_addr(), ecn, &payload(number, 4 + 400 * number as usize));
        }
        let arrived = server.wait_for(4).to_vec();
        for (number, (arrival, ecn)) in (0..).zip(arrived.iter().zip(CODEPOINTS)) {
            assert_eq!(arrival.ecn, ecn);
            assert_eq!(arrival.payload, payload(number, 4 + 400 * number as usize));
            server.send(arrival.from, arrival.ecn, &arrival.payload);
        }
        for (number, arrival) in (0..).zip(client.wait_for(4)) {
            assert_eq!((arrival.from, arrival.ecn), (relay.local_addr(), CODEPOINTS[number as usize]));
            assert_eq!(arrival.payload, payload(number, 4 + 400 * number as usize));
        }
        let stats = relay.stop();
        for stats in
            [stats.to_server, stats.to_client, stats.clients[0].to_server, stats.clients[0].to_client]
        {
            let ecn = stats.ecn_received;
            assert_eq!((ecn.not_ect, ecn.ect0, ecn.ect1, ecn.ce), (1, 1, 1, 1));
            assert_eq!(stats.ecn_forwarded, ecn);
            // 4 + 404 + 804 + 1204.
            assert_eq!((stats.forwarded.packets, stats.forwarded.bytes), (4, 2_416));
            assert_eq!((stats.received, stats.dropped.total(), stats.marked_ce), (stats.forwarded, 0, 0));
        }
    }
}

#[test]
fn a_proxy_without_ecn_clears_the_field() {
    let (client, mut server) = (Peer::new(), Peer::new());
    let mut config = RelayConfig::new(server.address());
    config.to_server.ecn = EcnPolicy::Clear;
    let relay = Relay::start(&config).unwrap();
    CODEPOINTS.into_iter().for_each(|ecn| client.send(relay.local_addr(), ecn, b"text"));
    assert!(server.wait_for(4).iter().all(|arrival| arrival.ecn.is_none()));
    let stats = relay.stop().to_server;
    assert_eq!((stats.ecn_received.ce, stats.ecn_forwarded.not_ect), (1, 4));
}

#[test]
fn datagrams_take_the_delay_of_each_way() {
    let (mut client, mut server) = (Peer::new(), Peer::new());
    let mut config = to_server(&server, LinkConfig { latency_us: 20_000, ..LinkConfig::default() });
    config.to_client = PathConfig::new(LinkConfig { latency_us: 15_000, ..LinkConfig::default() });
    let relay = Relay::start(&config).unwrap();
    let round_trip = |number: usize| {
        let began = now();
        client.send(relay.local_addr(), None, b"ping");
        let arrival = server.wait_for(number + 1)[number].clone();
        server.send(arrival.from, None, b"pong");
        client.wait_for(number + 1)[number].at - began
    };
    let rtts: Vec<Duration> = (0..10).map(round_trip).collect();
    let (shortest, longest) = (Duration::from_micros(35_000), Duration::from_millis(45));
    assert!(rtts.iter().all(|&rtt| rtt >= shortest), "{rtts:?}");
    assert!(rtts.iter().any(|&rtt| rtt < longest), "{rtts:?}");
}

#[test]
fn a_burst_comes_out_at_the_rate_of_the_link() {
    let (client, mut server) = (Peer::new(), Peer::new());
    // A millisecond for each datagram.
    let relay =
        Relay::start(&to_server(&server, LinkConfig { rate_bps: 8_000_000, ..LinkConfig::default() }))
            .unwrap();
    for number in 0..300 {
        client.send(relay.local_addr(), None, &payload(number, 1_000));
    }
    let arrived = server.wait_for(300);
    assert_eq!(numbers(arrived), (0..300).collect::<Vec<u32>>());
    let took = arrived[299].at - arrived[0].at;
    // 299 ms; the first may be read late, the last too.
    assert!((Duration::from_millis(270)..Duration::from_millis(400)).contains(&took), "{took:?}");
    let timing = relay.stop().timing;
    assert_eq!(timing.departures, 300);
    assert!(timing.late_mean_us() >= 0.0 && timing.late_max_us < 1_000_000, "{timing:?}");
}

#[test]
fn exactly_those_are_lost_that_the_seed_says() {
    let (client, mut server) = (Peer::new(), Peer::new());
    let link = LinkConfig { loss_ppm: 100_000, ..LinkConfig::default() };
    let mut config = to_server(&server, link.clone());
    config.seed = 99;
    let relay = Relay::start(&config).unwrap();
    // The same model on virtual time.
    let mut expected = BTreeSet::new();
    let mut model = LinkModel::new(&link, 99).unwrap();
    for token in 0..2_000 {
        let mut note = |event| {
            if let Event::Delivered { datagram, .. } = event {
                expected.insert(datagram.token);
            }
        };
        model.submit(u64::from(token) * 50, Datagram { token, bytes: 100, ecn: Ecn::NotEct }, &mut note);
        model.advance(u64::from(token) * 50 + 49, &mut note);
    }
    for number in 0..2_000 {
        client.send(relay.local_addr(), None, &payload(number, 100));
        if number % 50 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let arrived: BTreeSet<u32> = numbers(server.wait_for(expected.len())).into_iter().collect();
    assert_eq!(arrived, expected);
    let stats = wait_until(&relay, "all settled", |stats| stats.to_server.held() == 0).to_server;
    assert_eq!(stats.received.packets, 2_000);
    assert_eq!(stats.dropped.random_loss, 2_000 - expected.len() as u64);
    // Binomial: mean 200, standard deviation sqrt(2000 * 0.1 * 0.9) = 13.4.
    assert!((133..=267).contains(&stats.dropped.random_loss), "{stats:?}");
}

#[test]
fn a_full_queue_drops_the_newest() {
    let (client, mut server) = (Peer::new(), Peer::new());
    // 200 ms each: the third would find 400 ms waiting, the fourth 600 and so on.
    let link = LinkConfig { rate_bps: 40_000, queue: QueueLimit::DelayUs(300_000), ..LinkConfig::default() };
    let relay = Relay::start(&to_server(&server, link)).unwrap();
    (0..20).for_each(|number| client.send(relay.local_addr(), None, &payload(number, 1_000)));
    assert_eq!(numbers(server.wait_for(2)), [0, 1]);
    let stats = wait_until(&relay, "all settled", |stats| stats.to_server.held() == 0).to_server;
    assert_eq!((stats.received.packets, stats.forwarded.packets, stats.dropped.queue_full), (20, 2, 18));
}

#[test]
fn relay_and_receiver_count_the_same_marks() {
    for ecn in [EcnCodepoint::Ect0, EcnCodepoint::Ect1] {
        let (client, mut server) = (Peer::new(), Peer::new());
        let link = LinkConfig {
            rate_bps: 8_000_000,
            loss_ppm: 20_000,
            dualpi2: Some(DualPi2::default()),
            ..LinkConfig::default()
        };
        let relay = Relay::start(&to_server(&server, link)).unwrap();
        // Twice the rate for 200 ms: a queue of 200 ms.
        let began = now();
        for number in 0..400_u32 {
            while now() < began + Duration::from_micros(500) * number {
                std::thread::yield_now();
            }
            client.send(relay.local_addr(), Some(ecn), &payload(number, 1_000));
        }
        // One that came marked does not count.
        client.send(relay.local_addr(), Some(EcnCodepoint::Ce), &payload(400, 1_000));
        let stats = wait_until(&relay, "all settled", |stats| {
            stats.to_server.received.packets == 401 && stats.to_server.held() == 0
        });
        let stats = stats.to_server;
        let arrived = server.wait_for(stats.forwarded.packets as usize);
        let marked = arrived.iter().filter(|arrival| arrival.ecn == Some(EcnCodepoint::Ce)).count() as u64;
        let came_marked = u64::from(numbers(arrived).contains(&400));
        assert_eq!(marked, stats.marked_ce + came_marked, "{ecn:?}");
        assert_eq!(marked, stats.ecn_forwarded.ce);
        assert!(stats.marked_ce > 0, "{stats:?}");
        assert!(stats.dropped.random_loss > 0);
    }
}

#[test]
fn late_ones_are_overtaken() {
    let (client, mut server) = (Peer::new(), Peer::new());
    let link =
        LinkConfig { rate_bps: 8_000_000, reorder_ppm: 100_000, reorder_us: 10_000, ..LinkConfig::default() };
    let relay = Relay::start(&to_server(&server, link)).unwrap();
    (0..200).for_each(|number| client.send(relay.local_addr(), None, &payload(number, 1_000)));
    let mut arrived = numbers(server.wait_for(200));
    // A late one comes 10 places later.
    let late = arrived.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!((5..=40).contains(&late), "{late}");
    arrived.sort_unstable();
    assert_eq!(arrived, (0..200).collect::<Vec<u32>>());
}

#[test]
fn what_the_system_puts_together_is_taken_apart() {
    let (client, mut server) = (Peer::new(), Peer::new());
    // Long enough for all to be there before the first leaves, so that the order of sizes is seen.
    let relay =
        Relay::start(&to_server(&server, LinkConfig { latency_us: 5_000, ..LinkConfig::default() })).unwrap();
    let contents: Vec<u8> =
        (0..10).flat_map(|number| payload(number, if number == 9 { 500 } else { 1_200 })).collect();
    let transmit = Transmit {
        destination: relay.local_addr(),
        ecn: Some(EcnCodepoint::Ect0),
        contents: &contents,
        segment_size: Some(1_200),
        src_ip: None,
    };
    if client.state.max_gso_segments() < 10 {
        eprintln!("skipped: no GSO here");
        return;
    }
    client.state.send(UdpSockRef::from(&client.io), &transmit).unwrap();
    let arrived = server.wait_for(10);
    assert_eq!(numbers(arrived), (0..10).collect::<Vec<u32>>());
    assert!(arrived[..9].iter().all(|arrival| arrival.payload.len() == 1_200));
    assert_eq!(arrived[9].payload.len(), 500);
    assert_eq!(relay.stop().to_server.received.packets, 10);
}

#[test]
fn each_client_has_an_address_of_its_own_and_gets_its_answers() {
    let mut server = Peer::new();
    let mut clients = [Peer::new(), Peer::new(), Peer::new()];
    let relay = Relay::start(&RelayConfig::new(server.address())).unwrap();
    for (number, client) in (0..).zip(&clients) {
        client.send(relay.local_addr(), None, &payload(number, 50));
    }
    let arrived = server.wait_for(3).to_vec();
    assert_eq!(arrived.iter().map(|arrival| arrival.from).collect::<BTreeSet<_>>().len(), 3);
    arrived.iter().for_each(|arrival| server.send(arrival.from, None, &arrival.payload));
    for (number, client) in (0..).zip(&mut clients) {
        assert_eq!(numbers(client.wait_for(1)), [number]);
    }
    let stats = relay.stop();
    assert_eq!((stats.clients.len(), stats.clients_total), (3, 3));
    for client in &clients {
        let of = stats.clients.iter().find(|of| of.address == client.address()).unwrap();
        assert!(arrived.iter().any(|arrival| arrival.from.port() == of.server_side.port()));
        assert_eq!((of.to_server.forwarded.packets, of.to_client.forwarded.packets), (1, 1));
    }
}

#[test]
fn a_client_that_vanishes_is_forgotten_and_others_go_on() {
    let (mut client, mut server) = (Peer::new(), Peer::new());
    let mut config = RelayConfig::new(server.address());
    config.idle_timeout = Duration::from_millis(200);
    // What is under way for it when it is forgotten.
    config.to_client = PathConfig::new(LinkConfig { latency_us: 600_000, ..LinkConfig::default() });
    let relay = Relay::start(&config).unwrap();
    let vanishing = Peer::new();
    vanishing.send(relay.local_addr(), None, b"bye");
    let gone = server.wait_for(1)[0].from;
    drop(vanishing);
    for _ in 0..3 {
        server.send(gone, None, b"are you there?");
    }
    let stats = wait_until(&relay, "forgotten", |stats| stats.clients_expired == 1);
    assert!(stats.clients.is_empty());
    let stats = wait_until(&relay, "settled", |stats| stats.to_client.dropped.client_gone == 3);
    assert_eq!(stats.to_client.held(), 0);
    client.send(relay.local_addr(), None, b"hello");
    let from = server.wait_for(2)[1].from;
    // Keeps it known while the answer is under way.
    let end = now() + PATIENCE;
    server.send(from, None, b"hello yourself");
    while client.inbox.is_empty() && now() < end {
        client.send(relay.local_addr(), None, b"alive");
        std::thread::sleep(Duration::from_millis(20));
        client.poll();
    }
    assert_eq!(client.wait_for(1)[0].payload, b"hello yourself");
}

#[test]
fn a_client_that_vanishes_costs_no_error_while_it_is_known() {
    let (client, mut server) = (Peer::new(), Peer::new());
    let relay = Relay::start(&RelayConfig::new(server.address())).unwrap();
    let vanishing = Peer::new();
    vanishing.send(relay.local_addr(), None, b"bye");
    let gone = server.wait_for(1)[0].from;
    drop(vanishing);
    // The system answers with "port unreachable".
    (0..5).for_each(|_| server.send(gone, None, b"are you there?"));
    client.send(relay.local_addr(), None, b"hello");
    assert_eq!(server.wait_for(2)[1].payload, b"hello");
    let stats = wait_until(&relay, "settled", |stats| {
        stats.to_client.received.packets == 5 && stats.to_client.held() == 0
    });
    assert_eq!((stats.to_client.forwarded.packets, stats.receive_errors), (5, 0));
    assert_eq!(relay.failure(), None);
}

#[test]
fn a_server_that_is_not_there_yet_is_reached_when_it_is() {
    let address = Peer::new().address();
    let client = Peer::new();
    let relay = Relay::start(&RelayConfig::new(address)).unwrap();
    let end = now() + PATIENCE;
    while relay.stats().icmp_errors == 0 {
        assert!(now() < end, "{:?}", relay.stats());
        client.send(relay.local_addr(), None, b"anybody?");
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut server = Peer::at(address);
    client.send(relay.local_addr(), None, b"found");
    let arrived = server.wait_for(1);
    assert_eq!(arrived.last().unwrap().payload, b"found");
    assert_eq!((relay.failure(), relay.stats().receive_errors), (None, 0));
}

#[test]
fn datagrams_above_the_mtu_are_dropped_and_counted() {
    let (client, mut server) = (Peer::new(), Peer::new());
    let mut config = RelayConfig::new(server.address());
    config.to_server.mtu_bytes = 1_200;
    let relay = Relay::start(&config).unwrap();
    for (number, bytes) in [(0, 1_200), (1, 1_201), (2, 60_000), (3, 1_199)] {
        client.send(relay.local_addr(), None, &payload(number, bytes));
    }
    assert_eq!(numbers(server.wait_for(2)), [0, 3]);
    let stats = relay.stop().to_server;
    assert_eq!((stats.dropped.too_large, stats.dropped.total()), (2, 2));
}

#[test]
fn the_table_of_clients_has_a_bound() {
    let mut server = Peer::new();
    let mut config = RelayConfig::new(server.address());
    config.max_clients = 2;
    let relay = Relay::start(&config).unwrap();
    let clients = [Peer::new(), Peer::new(), Peer::new()];
    for (number, client) in (0..).zip(&clients) {
        client.send(relay.local_addr(), None, &payload(number, 10));
        wait_until(&relay, "read", |stats| stats.to_server.received.packets == u64::from(number) + 1);
    }
    assert_eq!(numbers(server.wait_for(2)), [0, 1]);
    let stats = relay.stop();
    assert_eq!((stats.to_server.dropped.no_client, stats.clients_total), (1, 2));
}

#[test]
fn memory_has_a_bound() {
    let (client, server) = (Peer::new(), Peer::new());
    let mut config = to_server(&server, LinkConfig { rate_bps: 0, ..LinkConfig::default() });
    config.max_held_bytes = 1 << 16;
    let relay = Relay::start(&config).unwrap();
    (0..100).for_each(|number| client.send(relay.local_addr(), None, &payload(number, 1_000)));
    let stats = wait_until(&relay, "read", |stats| stats.to_server.received.packets == 100).to_server;
    // 65 536 / (1000 + 96) = 59.8.
    assert_eq!((stats.held(), stats.dropped.no_memory), (59, 41));
}

#[test]
fn a_path_changes_while_it_runs() {
    let (client, mut server) = (Peer::new(), Peer::new());
    let down = LinkConfig { rate_bps: 0, ..LinkConfig::default() };
    let relay = Relay::start(&to_server(&server, down)).unwrap();
    client.send(relay.local_addr(), None, b"first");
    wait_until(&relay, "held", |stats| stats.to_server.held() == 1);
    relay.set_path(Direction::ToServer, &PathConfig::default()).unwrap();
    assert_eq!(server.wait_for(1)[0].payload, b"first");
    let impossible = PathConfig::new(LinkConfig { loss_ppm: 1_000_001, ..LinkConfig::default() });
    let error = relay.set_path(Direction::ToServer, &impossible).unwrap_err();
    assert_eq!(error.to_string(), "to_server.link.loss_ppm: 1000001 is out of range (allowed: 0..=1000000)");
    let lossy = PathConfig::new(LinkConfig { loss_ppm: 1_000_000, ..LinkConfig::default() });
    relay.set_path(Direction::ToServer, &lossy).unwrap();
    client.send(relay.local_addr(), None, b"second");
    wait_until(&relay, "lost", |stats| stats.to_server.dropped.random_loss == 1);
}

#[test]
fn a_client_gets_a_new_address_towards_the_server() {
    let (mut client, mut server) = (Peer::new(), Peer::new());
    let relay = Relay::start(&RelayConfig::new(server.address())).unwrap();
    client.send(relay.local_addr(), None, b"one");
    let before = server.wait_for(1)[0].from;
    assert_eq!(relay.rebind_clients().unwrap(), 1);
    client.send(relay.local_addr(), None, b"two");
    let after = server.wait_for(2)[1].from;
    assert_ne!(before, after);
    server.send(before, None, b"lost");
    server.send(after, None, b"answer");
    assert_eq!(client.wait_for(1)[0].payload, b"answer");
    assert_eq!(relay.stop().clients_total, 1);
}

#[test]
fn a_port_in_use_is_reported_and_free_again_after_the_relay() {
    let server = Peer::new();
    let taken = Peer::new();
    let mut config = RelayConfig::new(server.address());
    config.listen = taken.address();
    let error = Relay::start(&config).unwrap_err();
    assert_eq!(error.to_string(), format!("listen: {} is in use", taken.address()));
    config.listen = Peer::new().address();
    let relay = Relay::start(&config).unwrap();
    assert!(Relay::start(&config).is_err());
    drop(relay);
    // Its thread has ended, and its sockets are closed.
    assert_eq!(Relay::start(&config).unwrap().local_addr(), config.listen);
}

#[test]
fn impossible_settings_are_named_with_what_is_allowed() {
    let good = RelayConfig::new("127.0.0.1:4433".parse().unwrap());
    type Spoil = fn(&mut RelayConfig);
    let cases: [(Spoil, &str); 10] = [
        (|config| config.server.set_port(0), "server.port: 0 is out of range (allowed: 1..=65535)"),
        (|config| config.server = "0.0.0.0:5".parse().unwrap(), "server.ip: 0.0.0.0 is no destination"),
        (|config| config.listen = config.server, "server: 127.0.0.1:4433 is the relay itself"),
        (
            |config| config.listen = "0.0.0.0:4433".parse().unwrap(),
            "server: 127.0.0.1:4433 is the relay itself",
        ),
        (|config| config.max_clients = 0, "max_clients: 0 is out of range (allowed: 1..=4096)"),
        (
            |config| config.idle_timeout = Duration::ZERO,
            "idle_timeout: 0ns is out of range (allowed: 10ms..=86400s)",
        ),
        (
            |config| config.socket_buffer_bytes = 1,
            "socket_buffer_bytes: 1 is out of range (allowed: 4096..=1073741824)",
        ),
        (
            |config| config.max_held_bytes = 9,
            "max_held_bytes: 9 is out of range (allowed: 65536..=17179869184)",
        ),
        (
            |config| config.to_client.mtu_bytes = 100,
            "to_client.mtu_bytes: 100 is out of range (allowed: 1200..=65527)",
        ),
        (
            |config| config.to_client.link.rate_bps = 5,
            "to_client.link.rate_bps: 5 is out of range (allowed: 1000..=1000000000000, or 0)",
        ),
    ];
    for (spoil, message) in cases {
        let mut config = good.clone();
        spoil(&mut config);
        assert_eq!(Relay::start(&config).unwrap_err().to_string(), message);
    }
}
