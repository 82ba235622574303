//! One ACK frame: what a controller is told, in which order, with which counters.

mod common;

use cc_core::{
    Duration, EcnCounts, EcnEvent, FrameEnd, FrameReport, LossCause, OutgoingPacket, PacketSpace, Path,
    PathChange, PathConfig, PathRtt, PeerInstant, RttEvent, SamplingRule, SpuriousLoss,
};
use common::{Call, Recorder, TestPath, ack, calls, in_space, ms, names, path, send, send_packet, span};
use proptest::prelude::*;

fn acks(calls: &[Call]) -> Vec<&common::Ack> {
    calls.iter().filter_map(|call| if let Call::Ack(_, ack) = call { Some(ack) } else { None }).collect()
}

fn losses(calls: &[Call]) -> Vec<&common::Loss> {
    calls.iter().filter_map(|call| if let Call::Loss(_, loss) = call { Some(loss) } else { None }).collect()
}

fn ecn_events(calls: &[Call]) -> Vec<&EcnEvent> {
    calls.iter().filter_map(|call| if let Call::Ecn(_, event) = call { Some(event) } else { None }).collect()
}

#[test]
fn a_frame_comes_as_ecn_rtt_losses_spurious_losses_and_acks() {
    let mut path = path();
    send(&mut path, ms(0), 6);
    path.lost(0);
    path.finish(ms(90), FrameEnd { cause: LossCause::Timer, ..FrameEnd::default() });
    calls(&mut path);
    // Given in the opposite order: acks, losses, ECN.
    path.acked(5, None);
    path.acked(0, None);
    path.lost(1);
    path.ecn(EcnCounts { ce: 1, ect0: 0, ect1: 1 });
    let report = path.finish(ms(100), FrameEnd { ack_delay: Some(span(30)), ..FrameEnd::default() });
    let calls = calls(&mut path);
    assert_eq!(names(&calls), ["ecn", "rtt", "loss", "spurious", "ack"]);

    // All state is that after the frame: 6 sent, 5 acked, 0 and 1 lost: 3 in flight of 5 before.
    // Delivered: packet 5 and, late, packet 0. Lost before this frame: packet 0; for the ack, packet 1 too.
    for call in &calls {
        let state = call.state();
        assert_eq!((state.bytes_in_flight, state.prior_bytes_in_flight), (3 * 1_200, 5 * 1_200));
        assert_eq!((state.delivered, state.next_number, state.oldest_outstanding), (2_400, 6, Some(2)));
        assert_eq!(
            state.rtt,
            Some(PathRtt { latest: span(100), smoothed: span(100), min: span(100), var: span(50) })
        );
        let lost = if matches!(call, Call::Ack(..) | Call::Spurious(..)) { 2_400 } else { 1_200 };
        assert_eq!(state.lost, lost, "{}", call.name());
    }
    assert!(matches!(
        calls[0],
        Call::Ecn(
            _,
            EcnEvent {
                ce: Some(1),
                ect0: Some(0),
                ect1: Some(1),
                newly_acked: Some(2),
                largest_acked: Some(5),
                ..
            }
        )
    ));
    // Ack delay clamped to max_ack_delay, 25 ms.
    assert!(matches!(
        calls[1],
        Call::Rtt(_, RttEvent { ack_delay: Some(delay), is_sample: true, is_first: true, latest, .. })
            if delay == span(25) && latest == span(100)
    ));
    assert!(matches!(
        calls[3],
        Call::Spurious(_, SpuriousLoss::Packet { number: Some(0), bytes: 1_200, .. })
    ));
    let ack = acks(&calls)[0];
    let late: Vec<_> = ack.packets.iter().map(|packet| (packet.number, packet.was_lost)).collect();
    assert_eq!(late, [(Some(0), true), (Some(5), false)]);
    assert_eq!(report.rate_sample, ack.rate_sample);
    assert_eq!((report.newly_acked, report.newly_lost, report.late_acked), (1_200, 1_200, 1_200));
    assert_eq!((report.lost_span, report.rtt_sample), (Some((1, 1)), Some(span(100))));
}

#[test]
fn long_frames_are_cut_into_parts_of_eight_with_the_last_marked() {
    let mut path = path();
    send(&mut path, ms(0), 40);
    calls(&mut path);
    for number in 0..17 {
        path.lost(number);
    }
    for number in 17..33 {
        path.acked(number, None);
    }
    path.finish(ms(100), FrameEnd::default());
    let calls = calls(&mut path);
    assert_eq!(names(&calls), ["rtt", "loss", "loss", "loss", "ack", "ack"]);
    let sizes: Vec<_> = losses(&calls).iter().map(|loss| (loss.packets.len(), loss.last)).collect();
    assert_eq!(sizes, [(8, false), (8, false), (1, true)]);
    let sizes: Vec<_> = acks(&calls).iter().map(|ack| (ack.packets.len(), ack.last)).collect();
    assert_eq!(sizes, [(8, false), (8, true)]);
    // Each part's counter is that before the part.
    let lost: Vec<_> = calls[1..4].iter().map(|call| call.state().lost).collect();
    assert_eq!(lost, [0, 9_600, 19_200]);
    let numbers: Vec<_> = losses(&calls)
        .iter()
        .flat_map(|loss| loss.packets.iter().map(|packet| (packet.number.unwrap(), packet.starts_run)))
        .collect();
    let expected: Vec<_> = (0..17).map(|n| (n, if n == 0 { None } else { Some(false) })).collect();
    assert_eq!(numbers, expected);
    assert_eq!(acks(&calls)[0].rate_sample, acks(&calls)[1].rate_sample);
}

#[test]
fn a_frame_that_acks_nothing_new_is_silent() {
    // bugs.md C15: unknown, duplicate, and never sent.
    let mut path = path();
    send(&mut path, ms(0), 3);
    ack(&mut path, ms(50), [0]);
    let before = path.state(ms(60));
    calls(&mut path);
    path.ecn(EcnCounts { ce: 7, ect0: 0, ect1: 0 });
    assert_eq!(ack(&mut path, ms(60), [0, 3, u64::MAX]), FrameReport::default());
    assert_eq!(calls(&mut path), []);
    assert_eq!(path.state(ms(60)), before);
    // What it named does not leak into the next frame; its ECN counts do, and are believed of the one packet acked.
    ack(&mut path, ms(61), [1]);
    let recorded = calls(&mut path);
    assert_eq!(names(&recorded), ["ecn", "rtt", "ack"]);
    let event = ecn_events(&recorded)[0];
    assert_eq!((event.ce, event.newly_acked, event.marks()), (Some(7), Some(1), 1));
}

#[test]
fn losses_of_a_timer_come_alone_and_leave_the_delivered_total() {
    // bugs.md A11.
    let mut path = path();
    send(&mut path, ms(0), 10);
    ack(&mut path, ms(100), [9]);
    calls(&mut path);
    for number in 0..3 {
        path.lost(number);
    }
    let report = path.finish(ms(300), FrameEnd { cause: LossCause::Timer, ..FrameEnd::default() });
    assert_eq!(report.rate_sample, None);
    let calls = calls(&mut path);
    assert_eq!(names(&calls), ["loss"]);
    assert_eq!(losses(&calls)[0].cause, Some(LossCause::Timer));
    assert_eq!((path.delivered(), path.lost_bytes()), (1_200, 3_600));
}

#[test]
fn an_ack_wins_over_a_loss_in_the_same_frame() {
    for ack_first in [false, true] {
        let mut path = path();
        send(&mut path, ms(0), 2);
        calls(&mut path);
        if ack_first {
            path.acked(0, None);
            path.lost(0);
        } else {
            path.lost(0);
            path.acked(0, None);
        }
        path.finish(ms(100), FrameEnd::default());
        assert_eq!(names(&calls(&mut path)), ["rtt", "ack"]);
        assert_eq!(path.lost_bytes(), 0);
    }
}

#[test]
fn a_late_ack_is_a_spurious_loss_once() {
    // bugs.md C13: 1..=10 sent, 3 lost at 100, acked at 120.
    let mut path = path();
    send(&mut path, ms(0), 10);
    path.lost(3);
    path.finish(ms(100), FrameEnd::default());
    assert_eq!((path.bytes_in_flight(), path.lost_bytes()), (9 * 1_200, 1_200));
    calls(&mut path);
    let report = ack(&mut path, ms(120), [3]);
    assert_eq!((report.newly_acked, report.late_acked), (0, 1_200));
    // No RTT: the packet had been given up.
    assert_eq!(names(&calls(&mut path)), ["spurious", "ack"]);
    assert_eq!((path.bytes_in_flight(), path.delivered(), path.lost_bytes()), (9 * 1_200, 1_200, 1_200));
    // Acked again, and lost again: nothing.
    assert_eq!(ack(&mut path, ms(121), [3]), FrameReport::default());
    path.lost(3);
    assert_eq!(path.finish(ms(122), FrameEnd::default()), FrameReport::default());
    assert_eq!(calls(&mut path), []);
}

#[test]
fn late_acks_do_not_count_as_delivered_under_the_rule_of_c4() {
    let rule = SamplingRule::LastAcceptedSample { min_ack_interval: span(1) };
    let mut path: TestPath = Path::new(Recorder { rule, ..Recorder::default() }, PathConfig::default());
    send(&mut path, ms(0), 2);
    path.lost(0);
    path.finish(ms(100), FrameEnd::default());
    ack(&mut path, ms(120), [0, 1]);
    assert_eq!(path.delivered(), 1_200);
}

#[test]
fn lost_entries_are_remembered_for_three_probe_timeouts() {
    let mut path = path();
    send(&mut path, ms(0), 2);
    ack(&mut path, ms(100), [1]);
    path.lost(0);
    path.finish(ms(101), FrameEnd::default());
    // A second RTT of 100 ms leaves smoothed at 100 and makes rttvar 37.5 ms: three probe timeouts are
    // 3 * (100 + 150 + 25) = 825 ms. A frame at 825 ms keeps packet 0, sent at 0; one at 826 ms does not.
    for (now, late_acked) in [(825, 1_200), (826, 0)] {
        let mut path = path.clone();
        send(&mut path, ms(now - 100), 1);
        ack(&mut path, ms(now), [2]);
        assert_eq!(ack(&mut path, ms(now), [0]).late_acked, late_acked, "{now}");
    }
}

#[test]
fn starts_run_tells_whether_the_packet_before_was_lost() {
    let mut path = path();
    send(&mut path, ms(0), 8);
    ack(&mut path, ms(100), [0]);
    path.lost(1);
    path.lost(2);
    path.finish(ms(101), FrameEnd::default());
    calls(&mut path);
    // 3 follows lost 2; 5 follows 4, which is acked; 7 follows 6, which is in flight.
    path.lost(3);
    path.lost(5);
    path.lost(7);
    path.acked(4, None);
    path.finish(ms(102), FrameEnd::default());
    let calls = calls(&mut path);
    let runs: Vec<_> = losses(&calls)[0].packets.iter().map(|p| (p.number, p.starts_run)).collect();
    assert_eq!(runs, [(Some(3), Some(false)), (Some(5), Some(true)), (Some(7), Some(true))]);
}

#[test]
fn only_the_newly_acked_largest_of_a_frame_gives_an_rtt_sample() {
    let mut path = path();
    send(&mut path, ms(0), 4);
    assert_eq!(ack(&mut path, ms(100), [2]).rtt_sample, Some(span(100)));
    calls(&mut path);
    // The frame names 2 again as its largest: 0 is newly acked, but no sample (RFC 9002 section 5.1).
    assert_eq!(ack(&mut path, ms(150), [0, 2]).rtt_sample, None);
    assert!(matches!(
        calls(&mut path)[0],
        Call::Rtt(_, RttEvent { latest, is_sample: false, is_first: false, .. }) if latest == span(150)
    ));
    // Nor if the stack names newly acked packets only.
    assert_eq!(ack(&mut path, ms(160), [1]).rtt_sample, None);
    assert_eq!(path.rtt().latest(), span(100));
    assert_eq!(ack(&mut path, ms(170), [3]).rtt_sample, Some(span(170)));
}

#[test]
fn padded_packets_alone_give_no_rtt_sample() {
    let mut path = path();
    let padded = OutgoingPacket { ack_eliciting: false, carries_data: false, ..OutgoingPacket::default() };
    send_packet(&mut path, OutgoingPacket::default());
    send_packet(&mut path, padded);
    send_packet(&mut path, padded);
    assert_eq!(ack(&mut path, ms(100), [1]).rtt_sample, None);
    // With an ack-eliciting one in the frame there is one, from the largest.
    assert_eq!(ack(&mut path, ms(110), [0, 2]).rtt_sample, Some(span(110)));
}

#[test]
fn the_rtt_of_an_ack_only_packet_counts_where_it_is_the_largest_acked() {
    // Data at 0, ACK-only at 20; the path takes 50 ms: the peer acks both at 45, when the ACK-only packet arrives.
    let end = FrameEnd { largest_untracked: Some(ms(20)), untracked_acked: 1, ..FrameEnd::default() };
    let mut both = path();
    send(&mut both, ms(0), 1);
    calls(&mut both);
    both.acked(0, None);
    assert_eq!(both.finish(ms(70), end).rtt_sample, Some(span(50)));
    assert_eq!(both.rtt().latest(), span(50));
    assert!(matches!(
        calls(&mut both)[0],
        Call::Rtt(_, RttEvent { latest, is_sample: true, .. }) if latest == span(50)
    ));
    // Also where the data acked is older than what was acked before: the largest is newly acked all the same.
    let mut reordered = path();
    send(&mut reordered, ms(0), 2);
    ack(&mut reordered, ms(50), [1]);
    reordered.acked(0, None);
    assert_eq!(reordered.finish(ms(70), end).rtt_sample, Some(span(50)));
    // No sample if nothing ack-eliciting is newly acked: a padded packet, or nothing in flight at all.
    let mut padded = path();
    send_packet(&mut padded, OutgoingPacket { ack_eliciting: false, ..OutgoingPacket::default() });
    padded.acked(0, None);
    assert_eq!(padded.finish(ms(70), end).rtt_sample, None);
    assert_eq!(padded.finish(ms(71), end), FrameReport::default());
    assert!(!padded.rtt().has_sample());
    // A time before that of the newest packet acked can not be the largest one's; one ahead of the clock is none.
    let mut later = path();
    send(&mut later, ms(30), 1);
    later.acked(0, None);
    assert_eq!(later.finish(ms(70), end).rtt_sample, Some(span(40)));
    let mut ahead = path();
    send(&mut ahead, ms(0), 1);
    ahead.acked(0, None);
    let end = FrameEnd { largest_untracked: Some(ms(71)), ..end };
    assert_eq!(ahead.finish(ms(70), end).rtt_sample, None);
}

#[test]
fn an_ack_before_the_send_time_is_no_sample() {
    // bugs.md F3.
    let mut path = path();
    send(&mut path, ms(500), 1);
    calls(&mut path);
    let report = ack(&mut path, ms(400), [0]);
    assert_eq!((report.rtt_sample, report.newly_acked), (None, 1_200));
    assert!(!path.rtt().has_sample());
    assert!(matches!(
        calls(&mut path)[0],
        Call::Rtt(_, RttEvent { latest: Duration::ZERO, is_sample: false, .. })
    ));
}

#[test]
fn ecn_and_rtt_events_are_of_the_space_of_the_newest_packet_acked() {
    for space in [PacketSpace::Initial, PacketSpace::Handshake, PacketSpace::Application] {
        let mut path = path();
        send_packet(&mut path, in_space(PacketSpace::Initial));
        send_packet(&mut path, in_space(space));
        calls(&mut path);
        path.ecn(EcnCounts { ce: 1, ect0: 0, ect1: 0 });
        ack(&mut path, ms(100), [0, 1]);
        let recorded = calls(&mut path);
        assert!(matches!(recorded[0], Call::Ecn(_, event) if event.space == space));
        assert!(matches!(recorded[1], Call::Rtt(_, event) if event.space == space));
    }
}

#[test]
fn ecn_increases_of_frames_that_ack_nothing_in_flight_come_with_the_next_that_does() {
    let mut path = path();
    send(&mut path, ms(0), 4);
    path.lost(0);
    path.finish(ms(90), FrameEnd::default());
    calls(&mut path);
    // Nothing but a late packet; nothing but two ACK-only packets; nothing at all, by a timer.
    path.ecn(EcnCounts { ce: 1, ect0: 0, ect1: 0 });
    ack(&mut path, ms(100), [0]);
    path.ecn(EcnCounts { ce: 1, ect0: 2, ect1: 0 });
    path.finish(ms(101), FrameEnd { untracked_acked: 2, ..FrameEnd::default() });
    path.lost(1);
    path.finish(ms(102), FrameEnd { cause: LossCause::Timer, ..FrameEnd::default() });
    assert_eq!(names(&calls(&mut path)), ["spurious", "ack", "loss"]);
    // Then a frame without counts that acks packet 2: with 1 late and 2 ACK-only ones 4 packets; CE 2, ECT(0) 2.
    ack(&mut path, ms(103), [2]);
    let recorded = calls(&mut path);
    let event = ecn_events(&recorded)[0];
    assert_eq!((event.ce, event.ect0, event.ect1), (Some(2), Some(2), Some(0)));
    assert_eq!((event.newly_acked, event.largest_acked, event.marks()), (Some(4), Some(2), 2));
    // Delivered once.
    ack(&mut path, ms(104), [3]);
    assert_eq!(names(&calls(&mut path)), ["rtt", "ack"]);
}

#[test]
fn marks_are_believed_up_to_all_packets_newly_acked() {
    let mut path = path();
    send(&mut path, ms(0), 5);
    path.lost(0);
    path.finish(ms(90), FrameEnd::default());
    calls(&mut path);
    // 1 late, 2 in flight, 3 ACK-only: 6 of the 9 marks.
    path.ecn(EcnCounts { ce: 9, ect0: 0, ect1: 0 });
    for number in 0..3 {
        path.acked(number, None);
    }
    path.finish(ms(100), FrameEnd { untracked_acked: 3, ..FrameEnd::default() });
    let event = *ecn_events(&calls(&mut path))[0];
    assert_eq!((event.newly_acked, event.marks()), (Some(6), 6));
    // Only frames with counts add to it.
    ack(&mut path, ms(101), [3]);
    path.ecn(EcnCounts { ce: 9, ect0: 0, ect1: 0 });
    ack(&mut path, ms(102), [4]);
    assert_eq!(ecn_events(&calls(&mut path))[0].newly_acked, Some(1));
}

#[test]
fn marks_of_the_old_path_do_not_reach_the_new_one() {
    let mut path = path();
    path.ecn(EcnCounts { ce: 1, ect0: 0, ect1: 0 });
    path.finish(ms(10), FrameEnd { untracked_acked: 1, ..FrameEnd::default() });
    path.path_changed(ms(20), PathChange::New);
    let number = send(&mut path, ms(20), 1);
    calls(&mut path);
    ack(&mut path, ms(100), [number]);
    assert_eq!(names(&calls(&mut path)), ["rtt", "ack"]);
}

#[test]
fn receive_times_come_back_with_their_packets() {
    let mut path = path();
    send(&mut path, ms(0), 3);
    calls(&mut path);
    path.acked(2, Some(PeerInstant::from_nanos(20)));
    path.acked(0, Some(PeerInstant::from_nanos(10)));
    path.acked(1, None);
    path.finish(ms(100), FrameEnd::default());
    let recorded = calls(&mut path);
    let times: Vec<_> = acks(&recorded)[0].packets.iter().map(|packet| packet.received_at).collect();
    assert_eq!(times, [Some(PeerInstant::from_nanos(10)), None, Some(PeerInstant::from_nanos(20))]);
}

#[test]
fn the_largest_flight_since_the_last_ack_and_the_newest_data_are_reported() {
    let mut path = path();
    send(&mut path, ms(0), 4);
    let no_data = OutgoingPacket { carries_data: false, sent_at: ms(5), ..OutgoingPacket::default() };
    send_packet(&mut path, no_data);
    calls(&mut path);
    // 5 packets were in flight at most; 4 is newer than 3 but carried no data.
    ack(&mut path, ms(100), [3, 4]);
    let first = calls(&mut path);
    assert_eq!(acks(&first)[0].max_bytes_in_flight, 6_000);
    assert_eq!(acks(&first)[0].newest_data_sent_at, Some(ms(0)));
    // 3 were left, 2 sent: 5 again, then an older packet: the newest data stays that of packet 6.
    send(&mut path, ms(110), 2);
    ack(&mut path, ms(200), [6]);
    ack(&mut path, ms(210), [0]);
    let later = calls(&mut path);
    let acks = acks(&later);
    assert_eq!((acks[0].max_bytes_in_flight, acks[1].max_bytes_in_flight), (6_000, 4_800));
    assert_eq!(acks[1].newest_data_sent_at, Some(ms(110)));
}

#[test]
fn totals_and_snapshots_pass_four_gigabytes() {
    // bugs.md A3: 70 000 packets of 65 535 bytes = 4.59 GB through a ring of 64.
    let mut path = path();
    let large = OutgoingPacket { bytes: 1 << 40, ..OutgoingPacket::default() };
    for n in 0..70_000_u64 {
        assert_eq!(send_packet(&mut path, OutgoingPacket { sent_at: ms(n), ..large }), n);
        if n >= 3 {
            calls(&mut path);
            ack(&mut path, ms(n), [n - 3]);
            let calls = calls(&mut path);
            let snapshot = acks(&calls)[0].packets[0].snapshot.unwrap();
            // When it was sent, all packets up to three before the last had been acked.
            assert_eq!(snapshot.delivered, (n - 3).saturating_sub(3) * 65_535);
            assert_eq!(snapshot.bytes_in_flight, ((n - 3).min(3) + 1) * 65_535);
        }
    }
    assert_eq!(path.delivered(), 69_997 * 65_535);
}

#[test]
fn a_path_that_was_restarted_is_a_new_one() {
    let live = |path: &mut TestPath| {
        send(path, ms(0), 9);
        path.lost(0);
        path.lost(1);
        path.acked(4, None);
        path.acked(8, None);
        path.ecn(EcnCounts { ce: 1, ect0: 0, ect1: 1 });
        path.finish(ms(100), FrameEnd { ack_delay: Some(span(30)), ..FrameEnd::default() });
        path.acked(1, None);
        ack(path, ms(150), [2, 3, 5, 6, 7]);
        send(path, ms(900), 3);
    };
    let mut old = path();
    live(&mut old);
    // In the middle of a frame.
    old.lost(9);
    let config = PathConfig { max_datagram_size: 1_400, ..PathConfig::default() };
    old.restart(Recorder::default(), config);
    let mut new = TestPath::new(Recorder::default(), config);
    assert_eq!(format!("{old:?}"), format!("{new:?}"));
    live(&mut old);
    live(&mut new);
    assert_eq!(format!("{old:?}"), format!("{new:?}"));
    assert_eq!(names(&calls(&mut old)), names(&calls(&mut new)));
}

/// A part of a frame.
#[derive(Clone, Copy, Debug)]
enum Part {
    Acked(u64, Option<u64>),
    Lost(u64),
    Ecn(u64, u64),
}

fn give(path: &mut TestPath, part: Part) {
    match part {
        Part::Acked(number, at) => path.acked(number, at.map(PeerInstant::from_nanos)),
        Part::Lost(number) => path.lost(number),
        Part::Ecn(ce, ect1) => path.ecn(EcnCounts { ce, ect0: 0, ect1 }),
    }
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => (0..60_u64, proptest::option::of(0..9_u64)).prop_map(|(n, at)| Part::Acked(n, at)),
        3 => (0..60_u64).prop_map(Part::Lost),
        1 => (0..4_u64, 0..4_u64).prop_map(|(ce, ect1)| Part::Ecn(ce, ect1)),
    ]
}

fn frames() -> impl Strategy<Value = Vec<(Vec<Part>, Vec<Part>)>> {
    let frame = proptest::collection::vec(part(), 0..40)
        .prop_flat_map(|parts| (Just(parts.clone()), Just(parts).prop_shuffle()));
    proptest::collection::vec(frame, 1..6)
}

proptest! {
    #[test]
    fn the_order_of_the_parts_of_a_frame_changes_nothing(
        frames in frames(), c4 in any::<bool>(), detect in any::<bool>(),
    ) {
        let rule = if c4 {
            SamplingRule::LastAcceptedSample { min_ack_interval: span(1) }
        } else {
            SamplingRule::LastAck
        };
        let config = PathConfig { loss_detection: detect.then(Default::default), ..PathConfig::default() };
        let mut straight: TestPath = Path::new(Recorder { rule, ..Recorder::default() }, config);
        for n in 0..40 {
            let space = if n % 5 == 0 { PacketSpace::Handshake } else { PacketSpace::Application };
            send_packet(&mut straight, OutgoingPacket { space, sent_at: ms(n), ..OutgoingPacket::default() });
        }
        let mut shuffled = straight.clone();
        for (index, (parts, permuted)) in frames.into_iter().enumerate() {
            let now = ms(100 + 20 * index as u64);
            parts.into_iter().for_each(|part| give(&mut straight, part));
            permuted.into_iter().for_each(|part| give(&mut shuffled, part));
            let end = FrameEnd { ack_delay: Some(span(3)), ..FrameEnd::default() };
            prop_assert_eq!(straight.finish(now, end), shuffled.finish(now, end));
            prop_assert_eq!(calls(&mut straight), calls(&mut shuffled));
            send(&mut straight, now, 4);
            send(&mut shuffled, now, 4);
        }
    }

    #[test]
    fn every_frame_that_acks_something_ends_with_one_last_ack(
        frames in frames(),
    ) {
        let mut path = path();
        send(&mut path, ms(0), 50);
        calls(&mut path);
        for (index, (parts, _)) in frames.into_iter().enumerate() {
            parts.into_iter().for_each(|part| give(&mut path, part));
            let report = path.finish(ms(100 + index as u64), FrameEnd::default());
            let calls = calls(&mut path);
            let (acks, losses) = (acks(&calls), losses(&calls));
            let acked = report.newly_acked + report.late_acked > 0;
            prop_assert_eq!(acks.iter().filter(|ack| ack.last).count(), usize::from(acked));
            prop_assert_eq!(acks.last().is_some_and(|ack| ack.last), acked);
            prop_assert_eq!(losses.iter().filter(|loss| loss.last).count(), usize::from(report.newly_lost > 0));
            prop_assert!(acks.iter().all(|ack| (1..=8).contains(&ack.packets.len())));
            // Bytes of the parts add up, numbers ascend, and the order of the kinds is that of the contract.
            let bytes: u64 = acks.iter().flat_map(|ack| &ack.packets).map(|packet| packet.bytes).sum();
            prop_assert_eq!(bytes, report.newly_acked + report.late_acked);
            let bytes: u64 = losses.iter().flat_map(|loss| &loss.packets).map(|packet| packet.bytes).sum();
            prop_assert_eq!(bytes, report.newly_lost);
            let numbers: Vec<_> = acks.iter().flat_map(|ack| &ack.packets).map(|p| p.number).collect();
            prop_assert!(numbers.is_sorted());
            let rank = |call: &Call| {
                ["ecn", "rtt", "loss", "spurious", "ack"].iter().position(|name| *name == call.name())
            };
            prop_assert!(calls.iter().map(rank).is_sorted());
        }
    }
}
