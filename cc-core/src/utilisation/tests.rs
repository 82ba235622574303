extern crate alloc;

use super::{IncreaseRule, Utilisation, WindowGrowth};
use crate::{AckEvent, AckedPacket, Instant, PathState, SendLimit};
use alloc::vec::Vec;

const MSS: u64 = 1_000;

/// A sender with one packet number per datagram of [`MSS`] bytes, and the judgement about it.
struct Sender {
    utilisation: Utilisation,
    next: u64,
    acked: u64,
    peak: u64,
    app_limited_at: Option<Instant>,
}

impl Sender {
    fn new(rule: IncreaseRule) -> Self {
        Self {
            utilisation: Utilisation::new(rule, 10 * MSS),
            next: 0,
            acked: 0,
            peak: 0,
            app_limited_at: None,
        }
    }

    fn flight(&self) -> u64 {
        (self.next - self.acked) * MSS
    }

    fn path(&self, ms: u64) -> PathState {
        PathState {
            now: Instant::from_millis(ms),
            bytes_in_flight: self.flight(),
            prior_bytes_in_flight: self.flight(),
            next_number: self.next,
            oldest_outstanding: (self.next > self.acked).then_some(self.acked),
            max_datagram_size: MSS,
            ..PathState::default()
        }
    }

    fn send(&mut self, packets: u64) {
        self.next += packets;
        self.peak = self.peak.max(self.flight());
    }

    /// Acks the oldest packet, sent at `sent_ms`; the verdict.
    fn ack(&mut self, ms: u64, sent_ms: u64, cwnd: u64, limited_by: SendLimit) -> bool {
        self.ack_first(1, ms, sent_ms, cwnd, limited_by)
    }

    /// Acks the oldest packets, sent at 10 ms; the verdict.
    fn ack_of(&mut self, ms: u64, count: u64, cwnd: u64, limited_by: SendLimit) -> bool {
        self.ack_first(count, ms, 10, cwnd, limited_by)
    }

    fn ack_first(&mut self, count: u64, ms: u64, sent_ms: u64, cwnd: u64, limited_by: SendLimit) -> bool {
        let prior = self.flight();
        let sent_at = Instant::from_millis(sent_ms);
        let packets: Vec<AckedPacket> = (self.acked..self.acked + count)
            .map(|number| AckedPacket { number: Some(number), sent_at, bytes: MSS, ..AckedPacket::default() })
            .collect();
        self.acked += count;
        let path = PathState { prior_bytes_in_flight: prior, ..self.path(ms) };
        let ack = AckEvent {
            packets: &packets,
            last: true,
            rate_sample: None,
            limited_by,
            max_bytes_in_flight: self.peak,
            app_limited_at: self.app_limited_at,
            newest_data_sent_at: Some(sent_at),
        };
        self.peak = self.flight();
        self.utilisation.on_ack(&path, &ack, cwnd, true)
    }
}

/// The bytes-based example in the appendix of draft-ietf-ccwg-ratelimited-increase: four rounds of 4, 8, 4 and 20
/// packets of 1000 bytes in slow start; for each ACK the document's `cwnd`.
fn golden_example(report_sends: bool) {
    let mut sender = Sender::new(IncreaseRule::RateLimited);
    let mut cwnd = 10_000;
    let rounds: [(u64, u64, &[u64]); 4] = [
        (4, 10_000, &[11_000, 12_000, 13_000, 14_000]),
        (8, 10_000, &[15_000, 16_000, 17_000, 18_000, 19_000, 20_000, 20_000, 20_000]),
        (4, 10_000, &[20_000, 20_000, 20_000, 20_000]),
        (
            20,
            20_000,
            &[
                21_000, 22_000, 23_000, 24_000, 25_000, 26_000, 27_000, 28_000, 29_000, 30_000, 31_000,
                32_000, 33_000, 34_000, 35_000, 36_000, 37_000, 38_000, 39_000, 40_000,
            ],
        ),
    ];
    for (round, (packets, max_flight, windows)) in rounds.into_iter().enumerate() {
        let start = round as u64 * 100;
        for sent in 1..=packets {
            sender.send(1);
            if report_sends {
                sender.utilisation.on_packet_sent(&sender.path(start));
                // maxFS = max(FlightSize, maxFS), line by line: the flight is 1000 bytes per packet sent.
                let document = (sent * MSS).max(10_000);
                assert_eq!(sender.utilisation.max_flight(), document);
            }
        }
        for window in windows {
            assert!(sender.ack(start + 100, start, cwnd, SendLimit::NoData));
            assert_eq!(sender.utilisation.max_flight(), max_flight);
            let limit = sender.utilisation.limit(WindowGrowth::Doubling, MSS);
            cwnd = cwnd.max((cwnd + MSS).min(limit));
            assert_eq!(cwnd, *window);
        }
    }
}

#[test]
fn the_example_of_the_rate_limited_increase_draft_comes_out_line_by_line() {
    golden_example(true);
}

#[test]
fn the_example_comes_out_where_sends_are_never_reported() {
    golden_example(false);
}

#[test]
fn the_limits_are_those_of_one_window_of_acks() {
    // Section "Rate-Limited Increase": 2 * maxFS, maxFS + SMSS; RFC 9438 section 4.2: 1.5 * maxFS.
    let utilisation = Utilisation::new(IncreaseRule::RateLimited, 10_000);
    assert_eq!(utilisation.limit(WindowGrowth::Doubling, MSS), 20_000);
    assert_eq!(utilisation.limit(WindowGrowth::Additive, MSS), 11_000);
    assert_eq!(utilisation.limit(WindowGrowth::Cubic, MSS), 15_000);
    let utilisation = Utilisation::new(IncreaseRule::Rfc9002, 10_000);
    assert_eq!(utilisation.limit(WindowGrowth::Doubling, MSS), u64::MAX);
}

#[test]
fn a_reduction_forgets_the_largest_flight_before_it() {
    let mut sender = Sender::new(IncreaseRule::RateLimited);
    sender.send(20);
    sender.ack(100, 0, 20_000, SendLimit::Cwnd);
    assert_eq!(sender.utilisation.max_flight(), 20_000);
    sender.utilisation.on_reduction();
    assert_eq!(sender.utilisation.max_flight(), 0);
    // The peak since the last ACK is still 20 packets, less one acked: only the flight after the frame counts.
    sender.peak = 20_000;
    sender.ack(110, 0, 14_000, SendLimit::Cwnd);
    assert_eq!(sender.utilisation.max_flight(), 18_000);
    // From the next frame on the peak is one after the reduction.
    sender.send(1);
    sender.peak = 19_000;
    sender.ack(120, 0, 14_000, SendLimit::Cwnd);
    assert_eq!(sender.utilisation.max_flight(), 19_000);
}

#[test]
fn a_sender_of_one_packet_per_round_does_not_grow() {
    // bugs.md B1, RFC 9002 section 7.8.
    let mut sender = Sender::new(IncreaseRule::Rfc9002);
    for round in 0..1_000 {
        sender.send(1);
        let limited_by = if round % 2 == 0 { SendLimit::NoData } else { SendLimit::Unknown };
        assert!(!sender.ack(round * 100 + 100, round * 100, 10_000, limited_by));
    }
}

#[test]
fn a_full_window_allows_growth_for_the_acks_of_its_round_only() {
    // bugs.md B4: the window is full for one instant, then the sender has one packet per round.
    let mut sender = Sender::new(IncreaseRule::Rfc9002);
    sender.send(10);
    assert!(sender.ack(100, 0, 10_000, SendLimit::Cwnd));
    for _ in 1..10 {
        assert!(sender.ack(100, 0, 20_000, SendLimit::NoData), "acks of the round that was full");
    }
    for round in 1..21 {
        sender.send(1);
        assert!(!sender.ack(round * 100 + 100, round * 100, 20_000, SendLimit::NoData), "round {round}");
    }
}

#[test]
fn a_greedy_paced_sender_grows_although_its_flight_never_fills_the_window() {
    // bugs.md B2 A: the flight peaks three datagrams below the window; the pacer is what stops the sender.
    for limited_by in [SendLimit::Pacer, SendLimit::Unknown] {
        let mut sender = Sender::new(IncreaseRule::Rfc9002);
        sender.send(17);
        for step in 0..50 {
            assert!(sender.ack(100 + step, step, 20_000, limited_by), "{limited_by:?} {step}");
            sender.send(1);
        }
    }
}

#[test]
fn a_paced_sender_of_three_packets_per_round_does_not_grow() {
    // bugs.md B2 B: the ACK of the first packet may even find the pacer waiting for the third.
    for limited_by in [SendLimit::NoData, SendLimit::Unknown, SendLimit::Pacer] {
        let mut sender = Sender::new(IncreaseRule::Rfc9002);
        for round in 0..20 {
            let start = round * 200;
            sender.send(3);
            // No data was left after the third packet, sent 10 ms after the first.
            sender.app_limited_at = Some(Instant::from_millis(start + 10));
            for packet in 0..3 {
                let sent = start + packet * 5;
                assert!(!sender.ack(sent + 100, sent, 12_000, limited_by), "{limited_by:?} {round}");
            }
        }
    }
}

#[test]
fn flow_control_counts_as_a_limit_also_in_the_pacing_gaps_after_it() {
    // bugs.md B10: the peer's window is smaller than the congestion window.
    let mut sender = Sender::new(IncreaseRule::Rfc9002);
    sender.send(8);
    assert!(!sender.ack(100, 0, 20_000, SendLimit::FlowControl));
    assert!(!sender.ack(101, 1, 20_000, SendLimit::Pacer), "sent before the limit was seen");
    sender.send(2);
    assert!(!sender.ack(110, 2, 20_000, SendLimit::FlowControl));
    assert!(sender.ack(300, 120, 20_000, SendLimit::Pacer), "a whole round trip without it");
    assert!(!sender.ack(301, 120, 20_000, SendLimit::Amplification), "RFC 9002 section 7.2");
}

#[test]
fn without_a_reason_the_flight_decides() {
    // Slow start: half of the window. Congestion avoidance: all but three datagrams.
    let verdict = |flight: u64, slow_start: bool| {
        let mut utilisation = Utilisation::new(IncreaseRule::Rfc9002, 10_000);
        let packets = [AckedPacket { number: Some(0), bytes: MSS, ..AckedPacket::default() }];
        let path =
            PathState { bytes_in_flight: flight - MSS, max_datagram_size: MSS, ..PathState::default() };
        let ack = AckEvent {
            packets: &packets,
            last: true,
            rate_sample: None,
            limited_by: SendLimit::Unknown,
            max_bytes_in_flight: flight,
            app_limited_at: None,
            newest_data_sent_at: None,
        };
        utilisation.on_ack(&path, &ack, 20_000, slow_start)
    };
    assert!(verdict(10_000, true));
    assert!(!verdict(9_000, true));
    assert!(verdict(17_000, false));
    assert!(!verdict(16_000, false));
}

#[test]
fn the_parts_of_one_frame_are_judged_alike() {
    // The frame says once that the window was full; its later parts must not carry that into the next round.
    let mut utilisation = Utilisation::new(IncreaseRule::Rfc9002, 10_000);
    let packets = [AckedPacket { number: Some(0), bytes: MSS, ..AckedPacket::default() }];
    let path = PathState {
        next_number: 10,
        oldest_outstanding: Some(2),
        bytes_in_flight: 8 * MSS,
        max_datagram_size: MSS,
        ..PathState::default()
    };
    let part = AckEvent {
        packets: &packets,
        last: false,
        rate_sample: None,
        limited_by: SendLimit::Cwnd,
        max_bytes_in_flight: 10_000,
        app_limited_at: None,
        newest_data_sent_at: None,
    };
    assert!(utilisation.on_ack(&path, &part, 10_000, true));
    assert!(utilisation.on_ack(&path, &AckEvent { last: true, ..part }, 10_000, true));
    let drained = PathState { oldest_outstanding: None, bytes_in_flight: 0, ..path };
    let last = AckEvent { last: true, limited_by: SendLimit::NoData, max_bytes_in_flight: 8 * MSS, ..part };
    assert!(utilisation.on_ack(&drained, &last, 12_000, true), "acks of the full round");
    let small = PathState { next_number: 11, now: Instant::from_millis(200), ..drained };
    let one = AckEvent { max_bytes_in_flight: MSS, ..last };
    assert!(!utilisation.on_ack(&small, &one, 12_000, true));
}

#[test]
fn what_a_frame_says_is_taken_anew_after_a_frame_whose_last_part_was_not_seen() {
    // Flights of four of a window of ten, the pacer stopped the sender, so the window may grow. A part of a frame that
    // does not end here; then a frame that says that there was no data.
    let mut sender = Sender::new(IncreaseRule::Rfc9002);
    sender.send(4);
    let sent_at = Instant::from_millis(10);
    let packet = AckedPacket { number: Some(0), sent_at, bytes: MSS, ..AckedPacket::default() };
    let part = AckEvent {
        packets: &[packet],
        last: false,
        rate_sample: None,
        limited_by: SendLimit::Pacer,
        max_bytes_in_flight: 4 * MSS,
        app_limited_at: None,
        newest_data_sent_at: Some(sent_at),
    };
    assert!(sender.utilisation.on_ack(&sender.path(100), &part, 10 * MSS, true));
    sender.acked = 1;
    assert!(!sender.ack(110, 10, 10 * MSS, SendLimit::NoData));
    // The lack of data at 110 ms was noticed: the pacer is no excuse for packets sent before.
    assert!(!sender.ack(120, 10, 10 * MSS, SendLimit::Pacer));
}

#[test]
fn more_acks_of_one_moment_are_judged_by_the_flight_before_the_first() {
    // Six of a window of ten, in slow start: 2 * 6 >= 10. Three of them acked: by itself 2 * 3 < 13.
    let mut sender = Sender::new(IncreaseRule::Rfc9002);
    sender.send(6);
    assert!(sender.ack_of(100, 3, 10 * MSS, SendLimit::Unknown));
    assert!(sender.ack_of(100, 1, 13 * MSS, SendLimit::Unknown));
    // Two left at another time: 2 * 2 < 14.
    assert!(!sender.ack_of(101, 1, 14 * MSS, SendLimit::Unknown));
}

#[test]
fn a_packet_sent_tells_two_acks_of_one_moment_apart() {
    // As above, but a packet was sent between: 2 * (3 + 1) < 13.
    let mut sender = Sender::new(IncreaseRule::Rfc9002);
    sender.send(6);
    assert!(sender.ack_of(100, 3, 10 * MSS, SendLimit::Unknown));
    sender.send(1);
    sender.utilisation.on_packet_sent(&sender.path(100));
    assert!(!sender.ack_of(100, 1, 13 * MSS, SendLimit::Unknown));
}

#[test]
fn a_round_that_ends_in_the_first_of_two_acks_of_one_moment_does_not_end_for_the_first_alone() {
    // Ten fill a window of ten, and after five acks four more are sent. One ACK, whole or cut in two, then reaches into
    // what was sent after the first ACK, which ends the round of the full flight: its bytes still count for that.
    for parts in [&[9_u64][..], &[6, 3]] {
        let mut sender = Sender::new(IncreaseRule::Rfc9002);
        sender.send(10);
        assert!(sender.ack_of(100, 5, 10 * MSS, SendLimit::NoData));
        sender.send(4);
        for part in parts {
            assert!(sender.ack_of(110, *part, 15 * MSS, SendLimit::NoData), "{parts:?}");
        }
        sender.send(4);
        assert!(!sender.ack_of(120, 1, 24 * MSS, SendLimit::NoData), "{parts:?}");
    }
}

#[test]
fn a_reduction_in_a_frame_whose_last_part_was_not_seen_is_over_with_the_frame() {
    // maxFS starts again with the flight after the reduction, and then follows the largest flight between ACKs.
    let mut sender = Sender::new(IncreaseRule::RateLimited);
    sender.send(8);
    sender.utilisation.on_reduction();
    let packet = AckedPacket { number: Some(0), bytes: MSS, ..AckedPacket::default() };
    let part = AckEvent {
        packets: &[packet],
        last: false,
        rate_sample: None,
        limited_by: SendLimit::Cwnd,
        max_bytes_in_flight: 8 * MSS,
        app_limited_at: None,
        newest_data_sent_at: None,
    };
    sender.acked = 2;
    sender.utilisation.on_ack(&sender.path(100), &part, 10 * MSS, false);
    assert_eq!(sender.utilisation.max_flight(), 6 * MSS);
    sender.utilisation.on_frame_end();
    // A frame that acked nothing after a reduction is no reason to believe the flight before it.
    sender.peak = 7 * MSS;
    sender.ack(110, 0, 10 * MSS, SendLimit::Cwnd);
    assert_eq!(sender.utilisation.max_flight(), 7 * MSS);
    sender.utilisation.on_reduction();
    sender.utilisation.on_frame_end();
    sender.peak = 7 * MSS;
    sender.ack(120, 0, 10 * MSS, SendLimit::Cwnd);
    assert_eq!(sender.utilisation.max_flight(), 4 * MSS);
}

#[test]
fn the_judgement_is_small() {
    // Controllers of at most 256 bytes hold one.
    assert!(size_of::<Utilisation>() <= 48, "{}", size_of::<Utilisation>());
}
