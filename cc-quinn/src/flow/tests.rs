//! Sequences of calls as quinn makes them.

use super::Flow;
use crate::Config;
use cc_core::{
    AckEvent, AckedPacket, CongestionController, EcnEvent, LossEvent, PathState, Rate, SentPacket, Snapshot,
};
use cc_cubic::Cubic;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "any moment of the clock will do")]
fn start() -> Instant {
    Instant::now()
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn cubic(start: Instant) -> Flow<Cubic> {
    Flow::new(&crate::cubic().recipe, start, 1_200)
}

impl<C: CongestionController + Clone> Flow<C> {
    pub(crate) const fn bytes_in_flight(&self) -> u64 {
        self.path.ledger().bytes_in_flight()
    }
}

#[test]
fn a_window_that_is_used_doubles_in_slow_start_and_one_that_is_not_stays() {
    // 12 000 sent and acked: 24 000 (RFC 9002 section 7.3.1).
    let start = start();
    let mut flow = cubic(start);
    flow.on_sent(start, 12_000);
    for packet in 0..10 {
        flow.on_ack(start + ms(100), start, 1_200, false);
        assert_eq!(flow.controller().cwnd(), 12_000, "packet {packet}: the frame is not over");
    }
    flow.on_end_acks(start + ms(100), 0, false);
    flow.commit();
    assert_eq!(flow.window(), 24_001);

    // The same with a fifth of the window used, and no data left.
    let mut flow = cubic(start);
    flow.on_sent(start, 2_400);
    flow.on_ack(start + ms(100), start, 2_400, true);
    flow.on_end_acks(start + ms(100), 0, true);
    flow.commit();
    assert_eq!(flow.window(), 12_001);
}

#[test]
fn the_flight_follows_what_quinn_says() {
    let start = start();
    let mut flow = cubic(start);
    flow.on_sent(start, 12_000);
    flow.on_sent(start + ms(1), 40);
    assert_eq!(flow.bytes_in_flight(), 12_040);
    flow.on_ack(start + ms(100), start, 1_200, false);
    flow.on_end_acks(start + ms(100), 10_800, false);
    // Lost in the same frame.
    flow.on_loss(start + ms(100), start, 2_400, false);
    flow.commit();
    assert_eq!(flow.bytes_in_flight(), 8_400);
    // A frame that acks nothing ack-eliciting says it too.
    flow.on_end_acks(start + ms(120), 8_000, false);
    flow.commit();
    assert_eq!(flow.bytes_in_flight(), 8_000);
}

/// A controller of a fixed rate.
#[derive(Clone, Debug)]
struct Paced;

impl CongestionController for Paced {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {}
    fn on_ack(&mut self, _: &PathState, _: &AckEvent<'_>) {}
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {}
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {}
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bytes_per_sec(500_000))
    }
    fn cwnd(&self) -> u64 {
        1_000_000
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

#[test]
fn a_rate_shows_as_the_flight_that_it_makes() {
    let start = start();
    let mut flow = Flow::new(&Config::new(|_| Paced).recipe, start, 1_200);
    assert_eq!(flow.window(), 1_000_001);
    flow.on_sent(start, 1_200);
    flow.on_ack(start + ms(100), start, 1_200, false);
    flow.on_end_acks(start + ms(100), 0, false);
    flow.commit();
    // 500 000 B/s * 0.1 s are 41.7 datagrams: 42 * 1200, and one for the strict test.
    assert_eq!(flow.window(), 50_401);
    // Smoothed RTT (7 * 100 + 180) / 8 = 110 ms: 45.8 datagrams, 46 * 1200.
    flow.on_sent(start + ms(200), 1_200);
    flow.on_ack(start + ms(380), start + ms(200), 1_200, false);
    flow.commit();
    assert_eq!(flow.window(), 55_201);
}

/// Keeps what it is told of acks: bytes, packets, and the flight at the send, of each entry.
#[derive(Clone, Debug, Default)]
struct Told(Vec<Vec<(u64, Option<u32>, u64)>>);

impl CongestionController for Told {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {}
    fn on_ack(&mut self, _: &PathState, ack: &AckEvent<'_>) {
        let entry = |packet: &AckedPacket| {
            (packet.bytes, packet.packets, packet.snapshot.map_or(0, |snapshot| snapshot.bytes_in_flight))
        };
        self.0.push(ack.packets.iter().map(entry).collect());
    }
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {}
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {}
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn cwnd(&self) -> u64 {
        1_000_000
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

#[test]
fn packets_that_left_together_are_one_entry_and_frames_stay_apart() {
    let start = start();
    let mut flow = Flow::new(&Config::new(|_| Told::default()).recipe, start, 1_200);
    flow.on_sent(start, 3_600);
    flow.on_sent(start + ms(1), 2_400);
    // The first frame has two packets of the first send, and one of the second.
    for sent in [start, start, start + ms(1)] {
        flow.on_ack(start + ms(100), sent, 1_200, false);
    }
    flow.on_end_acks(start + ms(100), 2_400, false);
    // The next one has a packet of each. Nobody says that it ends.
    flow.on_ack(start + ms(101), start, 1_200, false);
    flow.on_ack(start + ms(101), start + ms(1), 1_200, false);
    flow.commit();
    // In flight at the first send 3600, at the second 6000. Of packets that left together the first acked counts as the first sent.
    let of = |bytes, packets, flight| (bytes, Some(packets), flight);
    assert_eq!(
        flow.controller().0,
        [vec![of(2_400, 2, 2_400), of(1_200, 1, 4_800)], vec![of(1_200, 1, 3_600), of(1_200, 1, 6_000)]]
    );
    // Nor does one wait for the next call about packets.
    flow.on_sent(start + ms(110), 1_200);
    flow.on_ack(start + ms(200), start + ms(110), 1_200, false);
    flow.on_mtu_update(1_400);
    flow.commit();
    assert_eq!(flow.controller().0.last(), Some(&vec![of(1_200, 1, 1_200)]));
}
