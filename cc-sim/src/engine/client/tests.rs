use super::Client;
use crate::engine::ecn::{Counts, Ecn};
use crate::engine::link::{Fate, Link, Port};
use crate::engine::packet::{AckFrequency, AckStore, Content, Data, Packet, size};
use crate::scenario::{Direction, Endpoint, LinkState, QueueLimit, Transfer};

/// A client and what it needs to run.
struct Bench {
    client: Client,
    up: Link,
    acks: AckStore,
}

impl Bench {
    fn new(config: &Endpoint) -> Self {
        let link = LinkState::constant(1_000_000_000, 0, QueueLimit::Unlimited);
        let transfer = Transfer::of(10_000_000);
        Self {
            client: Client::new(config, &transfer, 1),
            up: Link::new(&link, Direction::Reverse, 0),
            acks: AckStore::new(config),
        }
    }

    /// The whole server flight arrives after one RTT.
    fn after_handshake(config: &Endpoint, rtt_us: u64) -> Self {
        let mut bench = Self::new(config);
        bench.wake(0);
        bench.arrive(rtt_us, Content::ServerHello { hello_sent_at: 0, packet: 1 });
        bench.arrive(rtt_us, Content::ServerFinished { packet: 2, number: Some(0) });
        bench.wake(rtt_us);
        bench.sent();
        bench
    }

    fn wake(&mut self, now: u64) {
        self.client.wake(now, &mut Port::new(&mut self.up, 0), &mut self.acks);
    }

    fn arrive(&mut self, now: u64, content: Content) {
        // The client looks at the content only.
        self.client.on_arrival(now, &Packet { bytes: 0, flow: 0, ecn: Ecn::NotEct, content });
    }

    fn data(&mut self, now: u64, number: u64, offset: u64, length: u64) {
        let data = Data { number, offset, length, ack_frequency: None, echo: None };
        self.arrive(now, Content::Data(data));
    }

    /// What was sent since the last call.
    fn sent(&mut self) -> Vec<Packet> {
        std::iter::from_fn(|| match self.up.pop()? {
            Fate::Arrived(packet) => Some(packet),
            Fate::Lost(packet) => panic!("{packet:?} on a link without loss"),
        })
        .collect()
    }

    /// The limits of the only packet sent since the last call.
    fn limits(&mut self) -> (u64, u64) {
        let sent = self.sent();
        let [Packet { content: Content::Ack { limits, .. }, .. }] = sent[..] else { panic!("{sent:?}") };
        (limits.max_data, limits.max_stream_data)
    }
}

fn is_hello(packet: &Packet) -> bool {
    packet.bytes == size::CLIENT_HELLO && matches!(packet.content, Content::ClientHello { .. })
}

#[test]
fn the_hello_is_repeated_after_250_ms_and_then_after_twice_as_long_each_time() {
    let mut bench = Bench::new(&Endpoint::default());
    assert_eq!(bench.client.next_wake(), Some(0));
    bench.wake(0);
    assert!(matches!(bench.sent()[..], [ref packet] if is_hello(packet)));
    // 250 + 500 + 1000 + 2000 ms.
    for at in [250_000, 750_000, 1_750_000, 3_750_000] {
        assert_eq!(bench.client.next_wake(), Some(at));
        bench.wake(at);
        assert!(matches!(bench.sent()[..], [ref packet] if is_hello(packet)));
    }
}

#[test]
fn the_request_is_repeated_until_data_arrives() {
    let mut bench = Bench::after_handshake(&Endpoint::default(), 400_000);
    // The ACK of packet 0 waits for 1 ms. After that, twice the RTT is more than 250 ms.
    bench.wake(401_000);
    bench.sent();
    assert_eq!(bench.client.next_wake(), Some(400_000 + 800_000));
    bench.wake(1_200_000);
    assert!(matches!(
        bench.sent()[..],
        [Packet { bytes: 715, content: Content::ClientFinished { packets: [1, 2] }, .. }]
    ));
    bench.data(1_300_000, 1, 0, 1_218);
    bench.wake(1_301_000);
    assert_eq!(bench.client.next_wake(), None);
}

#[test]
fn the_flow_control_limits_triple_on_a_path_of_up_to_100_ms() {
    let config =
        Endpoint { initial_max_data: 100_000, initial_max_stream_data: 200_000, ..Endpoint::default() };
    let mut bench = Bench::after_handshake(&config, 100_000);
    // Half of the connection's limit is not more than half.
    bench.data(100_000, 1, 0, 50_000);
    bench.wake(101_000);
    assert_eq!(bench.limits(), (100_000, 200_000));
    bench.data(110_000, 2, 50_000, 1);
    bench.wake(110_000);
    assert_eq!(bench.limits(), (300_000, 200_000), "at once, not after the ACK delay");
    // Now more than half of the stream's 200 000.
    bench.data(120_000, 3, 50_001, 50_000);
    bench.wake(120_000);
    assert_eq!(bench.limits(), (300_000, 600_000));
}

#[test]
fn on_longer_paths_the_limits_grow_by_themselves_once_per_100_ms_of_rtt() {
    // 150 ms: 1 + 1.5; 600 ms: 1 + 6; 2 s: as at the largest RTT, 610 ms, 1 + 6.1.
    for (rtt_us, limit) in [(150_000, 250_000), (600_000, 700_000), (2_000_000, 710_000)] {
        let config = Endpoint { initial_max_data: 100_000, ..Endpoint::default() };
        let mut bench = Bench::after_handshake(&config, rtt_us);
        bench.data(rtt_us, 1, 0, 50_001);
        bench.wake(rtt_us);
        assert_eq!(bench.limits().0, limit, "{rtt_us} us");
    }
    let config = Endpoint { initial_max_data: 100_000, max_growth_rtt_us: 900_000, ..Endpoint::default() };
    let mut bench = Bench::after_handshake(&config, 2_000_000);
    bench.data(2_000_000, 1, 0, 50_001);
    bench.wake(2_000_000);
    assert_eq!(bench.limits().0, 1_000_000, "1 + 9");
}

/// Numbers of the packets whose arrival makes the client send an ACK, of packets 1 to `last` that arrive at once.
fn acked_at_once(bench: &mut Bench, last: u64) -> Vec<u64> {
    let mut acked = Vec::new();
    for number in 1..=last {
        bench.data(1_000_000, number, (number - 1) * 100, 100);
        bench.wake(1_000_000);
        if !bench.sent().is_empty() {
            acked.push(number);
        }
    }
    acked
}

#[test]
fn the_first_128_packets_are_acknowledged_two_by_two_whatever_was_asked_for() {
    let mut bench = Bench::after_handshake(&Endpoint::default(), 1_000_000);
    bench.client.acks.gap = 10;
    // Four packets of the handshake (Initial, two Handshake packets, packet 0), so number n is packet n + 4 of all: the
    // quick phase ends before number 124. Numbers 2, 4, ... 122; then ten after that.
    let expected: Vec<u64> = (2..=122).step_by(2).chain([132, 142]).collect();
    assert_eq!(acked_at_once(&mut bench, 145), expected);
}

#[test]
fn an_ack_frequency_frame_sets_gap_and_delay() {
    let config = Endpoint { quick_ack_packets: 0, ..Endpoint::default() };
    let mut bench = Bench::after_handshake(&config, 100_000);
    let ack_frequency = Some(AckFrequency { gap: 5, delay_us: 7_000 });
    bench
        .arrive(100_500, Content::Data(Data { number: 1, offset: 0, length: 10, ack_frequency, echo: None }));
    // Packet 0 has waited since 100 ms.
    assert_eq!(bench.client.next_wake(), Some(107_000));
    assert_eq!(acked_at_once(&mut bench, 11), [1, 6, 11], "number 1 because the delay is over");
}

#[test]
fn the_close_is_sent_after_the_last_byte_and_given_up_after_three_probe_timeouts() {
    let mut bench = Bench::after_handshake(&Endpoint::default(), 50_000);
    bench.data(100_000, 1, 0, 10_000_000);
    assert!(bench.client.is_complete());
    bench.wake(100_000);
    let sent = bench.sent();
    assert!(
        matches!(sent[..], [Packet { bytes: 55, .. }, Packet { bytes: 41, content: Content::Close, .. }]),
        "{sent:?}"
    );
    // 3 * (2 * 50 ms + 10 ms) = 330 ms.
    assert_eq!(bench.client.next_wake(), Some(430_000));
    assert!(!bench.client.is_closed());
    bench.wake(430_000);
    assert!(bench.client.is_closed());
}

/// ECN counts of the only ACK sent since the last call.
fn counts(bench: &mut Bench) -> Option<Counts> {
    let sent = bench.sent();
    let [Packet { content: Content::Ack { slot, .. }, .. }] = sent[..] else { panic!("{sent:?}") };
    bench.acks.get(slot).ecn
}

fn marked_data(bench: &mut Bench, now: u64, number: u64, ecn: Ecn) {
    let data = Data { number, offset: number * 100, length: 100, ack_frequency: None, echo: None };
    bench.client.on_arrival(now, &Packet { bytes: 134, flow: 0, ecn, content: Content::Data(data) });
}

#[test]
fn ecn_counts_are_those_of_the_packets_each_counted_once() {
    let mut bench = Bench::after_handshake(&Endpoint::default(), 20_000);
    marked_data(&mut bench, 30_000, 1, Ecn::Ect1);
    marked_data(&mut bench, 30_000, 2, Ecn::Ect1);
    marked_data(&mut bench, 30_000, 2, Ecn::Ect1);
    bench.wake(30_000);
    assert_eq!(counts(&mut bench), Some(Counts { ect0: 0, ect1: 2, ce: 0 }));
    // A mark is acknowledged at once, and the next one in a row is not by itself.
    marked_data(&mut bench, 31_000, 3, Ecn::Ce);
    assert_eq!(bench.client.next_wake(), Some(0));
    bench.wake(31_000);
    assert_eq!(counts(&mut bench), Some(Counts { ect0: 0, ect1: 2, ce: 1 }));
    marked_data(&mut bench, 32_000, 4, Ecn::Ce);
    assert_eq!(bench.client.next_wake(), Some(33_000), "a millisecond after it, as without a mark");
    marked_data(&mut bench, 32_000, 5, Ecn::NotEct);
    bench.wake(32_000);
    assert_eq!(counts(&mut bench), Some(Counts { ect0: 0, ect1: 2, ce: 2 }));
}

#[test]
fn nothing_is_reported_of_packets_without_ecn_or_if_it_is_not_wanted() {
    let mut bench = Bench::after_handshake(&Endpoint::default(), 20_000);
    (1..3).for_each(|number| marked_data(&mut bench, 30_000, number, Ecn::NotEct));
    bench.wake(30_000);
    assert_eq!(counts(&mut bench), None);
    let silent = Endpoint { report_ecn: false, ..Endpoint::default() };
    let mut bench = Bench::after_handshake(&silent, 20_000);
    (1..3).for_each(|number| marked_data(&mut bench, 30_000, number, Ecn::Ect0));
    bench.wake(30_000);
    assert_eq!(counts(&mut bench), None);
}

#[test]
fn the_first_part_of_the_handshake_is_acknowledged_again_until_the_second_is_here() {
    let mut bench = Bench::new(&Endpoint::default());
    bench.wake(0);
    bench.sent();
    let acks = |bench: &mut Bench, now| {
        bench.wake(now);
        let packets = bench.sent().into_iter().filter_map(|packet| match packet.content {
            Content::HandshakeAck { packet } => Some(packet),
            _ => None,
        });
        packets.collect::<Vec<_>>()
    };
    // Without the first part the second cannot be read.
    bench.arrive(80_000, Content::ServerFinished { packet: 2, number: Some(0) });
    assert_eq!(acks(&mut bench, 80_000), Vec::<u64>::new());
    // The answer to the hello of 250 ms: an RTT of 87 ms.
    bench.arrive(337_000, Content::ServerHello { hello_sent_at: 250_000, packet: 6 });
    assert_eq!((acks(&mut bench, 337_000), bench.client.min_rtt_us), (vec![6], Some(87_000)));
    bench.arrive(600_000, Content::ServerHello { hello_sent_at: 250_000, packet: 8 });
    assert_eq!(acks(&mut bench, 600_000), [8]);
    bench.arrive(700_000, Content::ServerFinished { packet: 9, number: None });
    bench.arrive(700_000, Content::ServerHello { hello_sent_at: 250_000, packet: 10 });
    bench.wake(700_000);
    let finished = bench.sent().into_iter().find_map(|packet| match packet.content {
        Content::ClientFinished { packets } => Some(packets),
        _ => None,
    });
    assert_eq!(finished, Some([8, 9]));
}
