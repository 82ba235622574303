use super::{ReturnRate, Server, State};
use crate::Algorithm;
use crate::engine::ecn::{Counts, Ecn};
use crate::engine::link::{Fate, Link, Port};
use crate::engine::media::Control;
use crate::engine::packet::{AckFrame, Content, Limits, Packet, size};
use crate::engine::{FlowCounters, SampleKind};
use crate::scenario::{Direction, EcnUse, Endpoint, LinkState, QueueLimit, Transfer};
use cc_core::CongestionController;

/// A server with CUBIC and what it needs to run.
struct Bench {
    server: Server,
    down: Link,
    counters: FlowCounters,
}

/// No pacing, no skipped packet numbers: what is sent depends on the window only.
fn plain() -> Endpoint {
    Endpoint { pacing: false, skip_packet_numbers: false, ..Endpoint::default() }
}

impl Bench {
    /// The client hello arrives at time 0, and the flight goes out: packet 0 with 222 bytes and, numbered 1, a path
    /// MTU probe.
    fn new(config: &Endpoint) -> Self {
        let link = LinkState::constant(8_000_000, 10_000, QueueLimit::Unlimited);
        let transfer = Transfer::of(10_000_000);
        let mut bench = Self {
            server: Server::new(config, &|| Algorithm::Cubic.controller(config, 1), &transfer, None, 1),
            down: Link::new(&link, Direction::Forward, 0),
            counters: FlowCounters::default(),
        };
        bench.arrive(0, size::CLIENT_HELLO, Content::ClientHello { sent_at: 0 });
        bench.wake(0);
        bench
    }

    /// The request arrives after 20 ms: the first RTT sample.
    fn ready(config: &Endpoint) -> Self {
        let mut bench = Self::new(config);
        bench.arrive(20_000, size::CLIENT_FINISHED, Content::ClientFinished { packets: [1, 2] });
        bench
    }

    fn arrive(&mut self, now: u64, bytes: u64, content: Content) {
        self.server.on_arrival(
            now,
            &Packet { bytes, flow: 0, ecn: Ecn::NotEct, content },
            None,
            &mut self.counters,
        );
    }

    fn ack(&mut self, now: u64, ranges: &[(u64, u64)]) {
        self.ack_frame(now, &AckFrame { ranges: ranges.to_vec(), ..AckFrame::default() });
    }

    fn ack_frame(&mut self, now: u64, frame: &AckFrame) {
        let limits = Limits { max_data: 10_000_000, max_stream_data: 10_000_000 };
        let content = Content::Ack { slot: 0, limits, control: Control::default(), sent_at: None };
        let packet = Packet { bytes: 55, flow: 0, ecn: Ecn::NotEct, content };
        self.server.on_arrival(now, &packet, Some(frame), &mut self.counters);
    }

    fn wake(&mut self, now: u64) {
        self.server.wake(now, &mut Port::new(&mut self.down, 0), &mut self.counters);
    }

    /// Sizes of the 1-RTT packets from `number` on.
    fn sizes_from(&self, number: u64) -> Vec<u64> {
        (number..self.server.next_number).filter_map(|n| self.server.packet(n)).map(|p| p.bytes).collect()
    }

    fn congestion_events(&self) -> u64 {
        self.server.path().controller().snapshot().congestion_events
    }
}

#[test]
fn a_lost_mtu_probe_is_no_congestion_and_is_sent_again_before_data() {
    let mut bench = Bench::ready(&plain());
    bench.wake(20_000);
    // The initial window of 15 360 bytes: 222 + 1440 in flight, then 1252 each until that is exceeded:
    // 1662 + 10 * 1252 = 14 182, so an eleventh, numbered 12.
    assert_eq!(bench.sizes_from(0), [&[222, 1_440][..], &[1_252; 11]].concat());
    let window = bench.server.path().controller().cwnd();
    // Packet 4 is acknowledged, so packet 1, the probe, is lost: three later.
    bench.ack(40_000, &[(0, 0), (2, 4)]);
    assert_eq!((bench.counters.packets_lost, bench.counters.bytes_lost), (1, 1_440));
    assert_eq!((bench.congestion_events(), bench.server.path().lost_bytes()), (0, 0));
    assert!(bench.server.path().controller().cwnd() > window, "the ACK has let the window grow");
    assert_eq!(bench.server.path().bytes_in_flight(), 8 * 1_252, "packets 5 to 12");
    bench.wake(40_000);
    let sizes = bench.sizes_from(13);
    assert_eq!(sizes.first(), Some(&1_440), "the new probe, numbered 13");
    assert!(
        sizes.len() > 1 && sizes[1..].iter().all(|&bytes| bytes == 1_252),
        "{sizes:?}: one probe at a time"
    );
    // It arrives: full datagrams from now on, and no more probes.
    bench.ack(60_000, &[(0, 0), (2, 13)]);
    let next = bench.server.next_number;
    bench.wake(60_000);
    let sizes = bench.sizes_from(next);
    assert!(!sizes.is_empty() && sizes.iter().all(|&bytes| bytes == 1_440), "{sizes:?}");
    assert_eq!(bench.server.mtu.probe, None);
}

#[test]
fn a_probe_that_was_only_late_counts_as_spurious_and_still_raises_the_mtu() {
    let mut bench = Bench::ready(&plain());
    bench.wake(20_000);
    bench.ack(40_000, &[(0, 0), (2, 4)]);
    bench.ack(41_000, &[(0, 4)]);
    assert_eq!((bench.server.mtu.current, bench.counters.spurious_losses), (1_440, 1));
}

#[test]
fn more_than_ten_full_datagrams_lost_at_once_shrink_them_until_a_large_one_is_acknowledged() {
    // Room for 42 datagrams of 1440: 41 are 59 040 bytes, not more than the window.
    let config = Endpoint { initial_window: 60_000, ..plain() };
    let flight = || {
        let mut bench = Bench::ready(&config);
        bench.ack(20_000, &[(0, 1)]);
        bench.wake(20_000);
        assert_eq!(bench.sizes_from(2), [1_440; 42]);
        bench
    };
    // Packet 14 acknowledged, 2 to 11 lost: ten are no sign of a smaller path MTU.
    let mut bench = flight();
    bench.ack(40_000, &[(0, 1), (14, 14)]);
    assert_eq!((bench.counters.packets_lost, bench.server.mtu.current), (10, 1_440));
    // Ten more with the next ACK are not either: one that arrived lies between.
    bench.ack(40_100, &[(0, 1), (14, 14), (25, 25)]);
    assert_eq!((bench.counters.packets_lost, bench.server.mtu.current), (20, 1_440));
    // Packet 15 acknowledged, 2 to 12 lost: eleven are.
    let mut bench = flight();
    bench.ack(40_000, &[(0, 1), (15, 15)]);
    assert_eq!((bench.counters.packets_lost, bench.server.mtu.current), (11, 1_252));
    assert!(bench.server.wants_mtu_probe());
    // What was lost is repeated in datagrams of the size that is left, and any large one will do as a probe.
    assert_eq!(bench.server.next_chunk(), Some((0, 1_252 - 34, true)));
    bench.ack(40_100, &[(0, 1), (15, 16)]);
    assert_eq!(bench.server.mtu.current, 1_440);
    assert!(!bench.server.wants_mtu_probe());
}

#[test]
fn a_probe_timeout_shrinks_datagrams_and_asks_for_a_probe() {
    let mut bench = Bench::ready(&plain());
    bench.ack(20_000, &[(0, 1)]);
    bench.wake(20_000);
    assert_eq!(bench.server.mtu.current, 1_440);
    let at = bench.server.next_wake().unwrap();
    let next = bench.server.next_number;
    bench.wake(at);
    // The window is full: only the packet of the timeout, with the oldest data in what fits into the smaller size.
    assert_eq!((bench.sizes_from(next), bench.server.mtu.current), (vec![1_252], 1_252));
    assert!(bench.server.wants_mtu_probe());
    // The ACK of small packets alone opens the window: the probe leaves first.
    bench.ack(at + 20_000, &[(0, 1), (next, next)]);
    bench.wake(at + 20_000);
    assert_eq!(bench.sizes_from(next + 1).first(), Some(&1_440));
}

#[test]
fn a_path_whose_datagrams_start_at_full_size_is_not_probed() {
    let bench = Bench::new(&Endpoint { initial_mtu: 1_440, ..plain() });
    assert_eq!(bench.sizes_from(0), [222]);
}

#[test]
fn the_handshake_is_repeated_until_it_is_acknowledged_and_only_what_is_not() {
    let mut bench = Bench::new(&plain());
    // Hello, finished, probe; the handshake timer of 250 ms.
    assert_eq!((bench.counters.packets_sent, bench.counters.bytes_sent), (3, 1_252 + 511 + 1_440));
    assert_eq!(bench.server.next_wake(), Some(250_000));
    // Again the first part, with numbers of its own on the path: 0 is the Initial packet, 1 and 2 are the Handshake packets, 3 is packet 0, 4 the
    // probe; 5 and 6 are the copies.
    bench.wake(250_000);
    assert_eq!((bench.counters.packets_sent, bench.counters.bytes_sent), (4, 2 * 1_252 + 511 + 1_440));
    // 250 ms, doubled once, twice.
    assert_eq!(bench.server.next_wake(), Some(250_000 + 500_000));
    // The copy is acknowledged, so the second part is not there either, and goes out at once, without packet 0: 289 bytes.
    bench.arrive(300_000, size::HANDSHAKE_ACK, Content::HandshakeAck { packet: 6 });
    assert_eq!(bench.server.take_change(), Some((SampleKind::Ack, None)));
    assert_eq!(
        bench.server.path().rtt().smoothed().as_micros(),
        50_000,
        "of the copy, not of the first packet"
    );
    assert_eq!(bench.server.next_wake(), Some(0));
    bench.wake(300_000);
    assert_eq!(bench.counters.bytes_sent, 2 * 1_252 + 511 + 1_440 + 289);
    assert_eq!(bench.server.next_wake(), Some(300_000 + 1_000_000));
    // With the keys all of it leaves the flight; packet 0 is lost, and packet 2 repeats it before the data. In flight: the probe, packet 2, and data
    // until 15 360 are exceeded: 1440 + 222 + 11 * 1252 = 15 434.
    bench.arrive(350_000, size::CLIENT_FINISHED, Content::ClientFinished { packets: [6, 7] });
    assert_eq!(bench.server.path().bytes_in_flight(), 1_440);
    bench.wake(350_000);
    assert_eq!(bench.sizes_from(1)[..3], [1_440, 222, 1_252]);
    assert_eq!(bench.server.path().bytes_in_flight(), 15_434);
}

#[test]
fn the_first_part_of_the_handshake_alone_is_not_repeated_once_it_is_acknowledged() {
    let mut bench = Bench::new(&plain());
    bench.arrive(20_000, size::HANDSHAKE_ACK, Content::HandshakeAck { packet: 1 });
    // The second part is on its way: only the timer repeats it.
    assert_eq!(bench.server.next_wake(), Some(250_000));
    bench.wake(250_000);
    assert_eq!(bench.counters.bytes_sent, 1_252 + 511 + 1_440 + 289);
}

#[test]
fn a_closed_server_answers_and_then_stays_silent() {
    let mut bench = Bench::ready(&plain());
    bench.wake(20_000);
    let sent = bench.counters.packets_sent;
    assert!(bench.server.next_wake().is_some(), "data is in flight");
    bench.arrive(40_000, size::CLOSE, Content::Close);
    assert_eq!(bench.server.next_wake(), Some(0), "at once");
    bench.wake(40_000);
    assert_eq!((bench.counters.packets_sent, bench.server.next_wake()), (sent + 1, None));
    // Its answer may have got lost: it answers again.
    bench.arrive(90_000, size::CLOSE, Content::Close);
    bench.wake(90_000);
    assert_eq!((bench.counters.packets_sent, bench.server.next_wake()), (sent + 2, None));
}

#[test]
fn probe_timeouts_come_after_one_two_four_five_and_six_times_the_timer() {
    let mut bench = Bench::ready(&plain());
    bench.wake(20_000);
    // One RTT sample of 20 ms: 20 + 3 * 10 + 10 (largest ACK delay) = 60 ms after the newest packet.
    let mut last = 20_000;
    for timers in [1, 2, 4, 5, 6] {
        let at = bench.server.next_wake().unwrap();
        assert_eq!(at - last, timers * 60_000);
        bench.server.take_change();
        bench.wake(at);
        assert_eq!(bench.server.take_change(), Some((SampleKind::Timeout, None)));
        last = at;
    }
    // An ACK starts again from one timer, here of a smoothed RTT that the new sample (packet 12) has raised.
    bench.ack(last + 1_000, &[(0, 12)]);
    let timer = bench.server.timers.retransmit_us;
    bench.wake(last + 1_000);
    assert_eq!(bench.server.pto_deadline(), Some(last + 1_000 + timer));
}

#[test]
fn packet_numbers_are_skipped_after_ever_longer_stretches() {
    let mut largest = 0;
    for seed in 0..50 {
        let config = Endpoint { pacing: false, ..Endpoint::default() };
        let transfer = Transfer::of(10_000_000);
        let mut server =
            Server::new(&config, &|| Algorithm::Cubic.controller(&config, 1), &transfer, None, seed);
        server.handshake.ready = true;
        for _ in 0..5_000 {
            server.record(0, 1_252, 0, 0);
        }
        let holes: Vec<u64> = (0..server.next_number)
            .filter(|&number| server.packet(number).is_some_and(|packet| packet.state == State::Hole))
            .collect();
        // sim_model section 7: 3 + U(0 .. 256 * 2^h - 1) after hole number h.
        let mut last = 0;
        for (h, &hole) in holes.iter().enumerate() {
            assert!((3..3 + (256 << h)).contains(&(hole - last)), "seed {seed}: {holes:?}");
            last = hole;
        }
        // 4 * 3 + 255 + 511 + 1023 + 2047 = 3848 at the most for four of them.
        assert!(holes.len() >= 4, "seed {seed}: {holes:?}");
        largest = largest.max(holes[0]);
        assert_eq!(server.path().next_number(), 5_000, "a hole is no packet of the path");
    }
    assert!((200..259).contains(&largest), "50 draws of 3 + U(0..255) and none above {largest}");
}

#[test]
fn the_return_rate_is_the_largest_over_more_than_a_round_trip() {
    let mut rate = ReturnRate::default();
    // The first packet opens the stretch and does not count.
    rate.on_packet(20_000, 623, 20_000);
    rate.on_packet(30_000, 1_440, 20_000);
    rate.on_packet(40_000, 55, 20_000);
    assert_eq!(rate.max, 0, "20 ms are not more than an RTT of 20 ms");
    // 1440 + 55 + 55 bytes in 25 ms.
    rate.on_packet(45_000, 55, 20_000);
    assert_eq!(rate.max, 62_000);
    // 55 bytes in 25 ms are less.
    rate.on_packet(70_000, 55, 20_000);
    assert_eq!(rate.max, 62_000);
    // However short the RTT: a millisecond at least.
    rate.on_packet(71_000, 1_000, 10);
    assert_eq!(rate.max, 62_000);
    rate.on_packet(71_001, 1_000, 10);
    // 2000 bytes in 1.001 ms.
    assert_eq!(rate.max, 1_998_001);
}

#[test]
fn what_is_known_of_acknowledged_packets_is_forgotten_with_them() {
    let mut bench = Bench::ready(&plain());
    bench.wake(20_000);
    bench.ack(40_000, &[(0, 7)]);
    assert_eq!((bench.server.first_number, bench.server.acked.as_slice()), (8, &[][..]));
    // Naming them again changes nothing.
    let delivered = bench.server.path().delivered();
    bench.ack(40_100, &[(0, 8)]);
    assert_eq!(bench.server.path().delivered(), delivered + 1_252);
}

/// A server that sends ECT(0) and whose client has answered.
fn with_ecn() -> Bench {
    let mut bench = Bench::ready(&Endpoint { ecn: EcnUse::Ect0, ..plain() });
    bench.wake(20_000);
    assert!(bench.server.uses_ecn());
    bench
}

fn ack_ecn(bench: &mut Bench, now: u64, ranges: &[(u64, u64)], ecn: Option<Counts>) {
    let frame = AckFrame { ranges: ranges.to_vec(), ecn, ..AckFrame::default() };
    bench.ack_frame(now, &frame);
}

#[test]
fn datagrams_carry_the_codepoint_and_marks_are_a_congestion_event() {
    let mut bench = with_ecn();
    let first = bench.down.pop();
    assert!(matches!(first, Some(Fate::Arrived(Packet { ecn: Ecn::Ect0, .. }))), "{first:?}");
    ack_ecn(&mut bench, 40_000, &[(0, 3)], Some(Counts { ect0: 4, ect1: 0, ce: 0 }));
    assert_eq!((bench.congestion_events(), bench.counters.ce_reported), (0, 0));
    ack_ecn(&mut bench, 41_000, &[(0, 5)], Some(Counts { ect0: 5, ect1: 0, ce: 1 }));
    assert_eq!((bench.congestion_events(), bench.counters.ce_reported), (1, 1));
    assert!(!bench.counters.ecn_failed);
}

#[test]
fn after_failed_validation_there_is_no_ecn_and_no_congestion_event() {
    for counts in [None, Some(Counts { ect0: 2, ect1: 0, ce: 1 }), Some(Counts { ect0: 3, ect1: 1, ce: 1 })] {
        let mut bench = with_ecn();
        ack_ecn(&mut bench, 40_000, &[(0, 3)], counts);
        assert!(bench.counters.ecn_failed && !bench.server.uses_ecn(), "{counts:?}");
        while bench.down.pop().is_some() {}
        bench.wake(40_000);
        let next = bench.down.pop();
        assert!(matches!(next, Some(Fate::Arrived(Packet { ecn: Ecn::NotEct, .. }))), "{next:?}");
        // Marks of packets that were sent before are not believed any more.
        ack_ecn(&mut bench, 41_000, &[(0, 9)], Some(Counts { ect0: 4, ect1: 0, ce: 6 }));
        assert_eq!((bench.congestion_events(), bench.counters.ce_reported), (0, 0));
    }
}

#[test]
fn a_path_that_loses_whatever_is_ect_gets_not_ect() {
    let mut bench = with_ecn();
    assert_eq!(bench.server.next_number, 13, "the flight, its probe, eleven of data");
    // A later packet is acknowledged as if it had been sent without ECN: the first ten are lost.
    if let Some(packet) = bench.server.sent.back_mut() {
        packet.ect = false;
    }
    bench.ack(40_000, &[(12, 12)]);
    assert_eq!(bench.counters.packets_lost, 10);
    assert!(bench.counters.ecn_failed && !bench.server.uses_ecn());
}

#[test]
fn repeated_data_that_does_not_fill_a_packet_has_more_behind_it() {
    let mut bench = Bench::ready(&plain());
    let stream = &mut bench.server.stream;
    // Two packets of 1440 bytes, 1406 of data each, were lost, one in between that has arrived since, and the size is 1252: 1218 of data.
    stream.next_offset = 10_000;
    stream.retransmit = [(0, 1_406), (1_406, 1_406), (5_000, 1_406)].into();
    stream.acked.insert(1_406, 2_811);
    let sent = |bench: &Bench, number| {
        let packet = *bench.server.packet(number).unwrap();
        ((packet.bytes, packet.offset, packet.length), bench.server.second_piece(number))
    };
    bench.wake(20_000);
    assert_eq!(sent(&bench, 2), ((1_252, 0, 1_218), None));
    // The rest of the first, 188, and 1218 - 188 - 8 = 1022 of the other.
    assert_eq!(sent(&bench, 3), ((1_252, 1_218, 188), Some((5_000, 1_022))));
    // The rest of that, 384, and 1218 - 384 - 8 = 826 of new data.
    assert_eq!(sent(&bench, 4), ((1_252, 6_022, 384), Some((10_000, 826))));
    assert_eq!(sent(&bench, 5), ((1_252, 10_826, 1_218), None));
    // Packet 3 is lost with both pieces (three numbers later), packet 4 arrives with both.
    bench.ack(40_000, &[(0, 2), (4, 6)]);
    assert_eq!(bench.server.stream.retransmit, [(1_218, 188), (5_000, 1_022)]);
    assert_eq!(bench.server.stream.acked.first_gap(6_022, 6_405), None);
    assert_eq!(bench.server.stream.acked.first_gap(10_000, 10_825), None);
}
