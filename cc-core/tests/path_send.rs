//! Sending: window, pacer, ring, what limits, and packets that leave without being acked or lost.

mod common;

use cc_core::{
    AckEvent, AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, FrameEnd,
    Instant, LossCause, LossEvent, MtuChange, OutgoingPacket, PacketSpace, Path, PathChange, PathConfig,
    PathState, Rate, ResumeHint, RingFull, SendDecision, SendLimit, SentPacket, Snapshot,
};
use common::{Call, Recorder, TestPath, ack, calls, in_space, ms, names, path, send, send_packet, span};

fn last_ack(calls: &[Call]) -> &common::Ack {
    calls
        .iter()
        .rev()
        .find_map(|call| if let Call::Ack(_, ack) = call { Some(ack) } else { None })
        .expect("an ack was recorded")
}

#[test]
fn the_window_may_be_filled_to_the_last_byte_and_not_beyond() {
    let mut path = path();
    path.controller_mut().cwnd = 3_600;
    assert_eq!(path.window(), 3_600);
    for _ in 0..3 {
        assert_eq!(path.poll_send(ms(0), 1_200), SendDecision::Now);
        send(&mut path, ms(0), 1);
    }
    assert_eq!(path.poll_send(ms(0), 1), SendDecision::Blocked(SendLimit::Cwnd));
    // RFC 9002 section 7.3.2: one packet on entering recovery.
    path.controller_mut().may_send_beyond_cwnd = true;
    assert_eq!(path.poll_send(ms(0), 1_200), SendDecision::Now);
}

#[test]
fn a_full_ring_refuses_and_drops_nothing() {
    let mut path: Path<Recorder, 4> = Path::new(Recorder::default(), PathConfig::default());
    assert_eq!(path.window(), 4_800);
    send(&mut path, ms(0), 3);
    // 3 in flight, room for one datagram more.
    assert_eq!(path.window(), 4_800);
    send(&mut path, ms(0), 1);
    assert!(path.is_full());
    calls(&mut path);
    assert_eq!(path.on_packet_sent(ms(1), &OutgoingPacket::default()), Err(RingFull));
    assert_eq!(path.poll_send(ms(1), 1_200), SendDecision::Blocked(SendLimit::Unknown));
    assert_eq!((path.bytes_in_flight(), path.next_number()), (4_800, 4));
    assert_eq!(calls(&mut path), []);
    // Acks behind the oldest make no room: it is still in flight.
    ack(&mut path, ms(100), [1, 2, 3]);
    assert!(path.is_full());
    assert_eq!(path.window(), 1_200);
    ack(&mut path, ms(101), [0]);
    assert!(!path.is_full());
    assert_eq!(send(&mut path, ms(102), 4), 4);
    assert!(path.is_full());
}

#[test]
fn a_quantum_below_one_datagram_counts_as_one() {
    let mut path = path();
    path.controller_mut().send_quantum = 1;
    path.controller_mut().pacing_rate = Some(Rate::from_bytes_per_sec(1_200_000));
    assert_eq!(path.departure(ms(10), 1_200), ms(10));
    send(&mut path, ms(10), 1);
    assert_eq!(path.departure(ms(10), 1_200), ms(11));
}

#[test]
fn lost_entries_make_room_when_it_is_needed() {
    let mut path: Path<Recorder, 4> = Path::new(Recorder::default(), PathConfig::default());
    send(&mut path, ms(0), 4);
    for number in 0..4 {
        path.lost(number);
    }
    path.finish(ms(100), FrameEnd::default());
    // Remembered for late acks ...
    assert_eq!(ack(&mut path, ms(101), [0]).late_acked, 1_200);
    // ... until four new packets want their places.
    assert_eq!(send(&mut path, ms(102), 4), 4);
    assert_eq!(ack(&mut path, ms(103), [1, 2, 3]).late_acked, 0);
    assert_eq!(path.bytes_in_flight(), 4_800);
}

#[test]
fn ack_only_packets_take_no_entry_no_number_and_no_credit() {
    let mut path: Path<Recorder, 2> = Path::new(Recorder::default(), PathConfig::default());
    path.controller_mut().pacing_rate = Some(Rate::from_bytes_per_sec(1_000_000));
    let ack_only = OutgoingPacket {
        bytes: 40,
        in_flight: false,
        ack_eliciting: false,
        carries_data: false,
        ..OutgoingPacket::default()
    };
    send(&mut path, ms(0), 2);
    calls(&mut path);
    let allowance = path.pacing_allowance(ms(0));
    for _ in 0..100 {
        assert_eq!(path.on_packet_sent(ms(0), &ack_only), Ok(2));
    }
    assert_eq!((path.bytes_in_flight(), path.next_number()), (2_400, 2));
    assert_eq!(path.pacing_allowance(ms(0)), allowance);
    let calls = calls(&mut path);
    assert_eq!(calls.len(), 100);
    assert!(matches!(calls[0], Call::Sent(state, packet)
        if !packet.in_flight && packet.bytes == 40 && packet.number == 2 && state.bytes_in_flight == 2_400));
}

#[test]
fn sizes_are_clamped_to_65535_bytes() {
    let mut path = path();
    send_packet(&mut path, OutgoingPacket { bytes: u64::MAX, ..OutgoingPacket::default() });
    assert_eq!(path.bytes_in_flight(), 65_535);
    assert_eq!(path.outstanding().map(|packet| packet.bytes).sum::<u64>(), 65_535);
    ack(&mut path, ms(100), [0]);
    assert_eq!((path.bytes_in_flight(), path.delivered()), (0, 65_535));
}

#[test]
fn the_pacer_spaces_packets_at_the_controllers_rate() {
    // 1.2 MB/s: 1 ms per packet after a burst of 2.
    let mut path = path();
    path.controller_mut().pacing_rate = Some(Rate::from_bytes_per_sec(1_200_000));
    path.controller_mut().send_quantum = 2_400;
    for _ in 0..2 {
        assert_eq!(path.poll_send(ms(0), 1_200), SendDecision::Now);
        send(&mut path, ms(0), 1);
    }
    assert_eq!(path.poll_send(ms(0), 1_200), SendDecision::At(ms(1)));
    assert_eq!(path.poll_send(ms(1), 1_200), SendDecision::Now);
    // A new rate counts from the next poll: half a packet has accrued, the other takes 0.25 ms.
    send(&mut path, ms(1), 1);
    let half = ms(1).after(Duration::from_micros(500));
    path.poll_send(half, 1_200);
    path.controller_mut().pacing_rate = Some(Rate::from_bytes_per_sec(2_400_000));
    assert_eq!(path.poll_send(half, 1_200), SendDecision::At(half.after(Duration::from_micros(250))));
    // Unpaced.
    path.controller_mut().pacing_rate = None;
    assert_eq!(path.poll_send(half, 1_200), SendDecision::Now);
}

#[test]
fn a_greedy_paced_sender_keeps_up_with_the_rate() {
    // bugs.md E17: 125 kB/s for 10 s: 1.25 MB and a burst of 12 kB, within 2 %.
    let mut path = path();
    path.controller_mut().pacing_rate = Some(Rate::from_bytes_per_sec(125_000));
    let (mut now, mut sent) = (ms(0), 0_u64);
    while now < Instant::from_secs(10) {
        match path.poll_send(now, 1_200) {
            SendDecision::Now => {
                let number = send(&mut path, now, 1);
                sent += 1_200;
                ack(&mut path, now, [number]);
            }
            SendDecision::At(at) => now = at,
            SendDecision::Blocked(limit) => panic!("{limit:?}"),
        }
    }
    assert!((1_237_000..=1_287_000).contains(&sent), "{sent}");
}

#[test]
fn a_packet_scheduled_ahead_is_charged_at_its_departure() {
    let mut path = path();
    path.controller_mut().pacing_rate = Some(Rate::from_bytes_per_sec(1_200_000));
    path.controller_mut().send_quantum = 1_200;
    for n in 0..20 {
        let sent_at = match path.poll_send(ms(0), 1_200) {
            SendDecision::Now => ms(0),
            SendDecision::At(at) => at,
            SendDecision::Blocked(limit) => panic!("{limit:?}"),
        };
        assert_eq!(sent_at, ms(n));
        path.on_packet_sent(ms(0), &OutgoingPacket { sent_at, ..OutgoingPacket::default() }).unwrap();
    }
    // A departure time in a year does not block the sender for a year.
    let year = Instant::from_secs(31_536_000);
    path.on_packet_sent(ms(20), &OutgoingPacket { sent_at: year, ..OutgoingPacket::default() }).unwrap();
    match path.poll_send(ms(20), 1_200) {
        SendDecision::At(at) => assert!(at <= ms(20).after(span(1_001))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_stopped_the_last_attempt_comes_with_the_ack() {
    let mut path = path();
    path.controller_mut().cwnd = 2_400;
    send(&mut path, ms(0), 2);
    ack(&mut path, ms(50), [0]);
    assert_eq!(last_ack(&calls(&mut path)).limited_by, SendLimit::Unknown);

    send(&mut path, ms(51), 1);
    path.poll_send(ms(52), 1_200);
    ack(&mut path, ms(100), [1]);
    assert_eq!(last_ack(&calls(&mut path)).limited_by, SendLimit::Cwnd);

    path.note_limit(SendLimit::FlowControl);
    send(&mut path, ms(101), 1);
    ack(&mut path, ms(150), [2]);
    assert_eq!(last_ack(&calls(&mut path)).limited_by, SendLimit::FlowControl);

    path.on_app_limited(ms(151));
    ack(&mut path, ms(200), [3]);
    let recorded = calls(&mut path);
    assert_eq!(last_ack(&recorded).limited_by, SendLimit::NoData);
    assert_eq!(last_ack(&recorded).app_limited_at, Some(ms(151)));

    path.controller_mut().pacing_rate = Some(Rate::from_bytes_per_sec(1));
    path.controller_mut().send_quantum = 1_200;
    send(&mut path, ms(201), 1);
    assert!(matches!(path.poll_send(ms(201), 1_200), SendDecision::At(_)));
    ack(&mut path, ms(250), [4]);
    assert_eq!(last_ack(&calls(&mut path)).limited_by, SendLimit::Pacer);
}

#[test]
fn what_stopped_an_attempt_is_forgotten_when_one_succeeds() {
    // RFC 9002 section 7.8: a flow that filled its window once, and then sends a packet per round without ever saying that
    // it has no more data.
    let mut path = path();
    path.controller_mut().cwnd = 2_400;
    send(&mut path, ms(0), 2);
    assert_eq!(path.poll_send(ms(0), 1_200), SendDecision::Blocked(SendLimit::Cwnd));
    ack(&mut path, ms(50), [0, 1]);
    assert_eq!(last_ack(&calls(&mut path)).limited_by, SendLimit::Cwnd);
    for (limit, round) in [SendLimit::Cwnd, SendLimit::Pacer, SendLimit::NoData].into_iter().zip(1..) {
        path.note_limit(limit);
        assert_eq!(path.poll_send(ms(100 * round), 1_200), SendDecision::Now);
        let number = send(&mut path, ms(100 * round), 1);
        ack(&mut path, ms(100 * round + 50), [number]);
        assert_eq!(last_ack(&calls(&mut path)).limited_by, SendLimit::Unknown, "{limit:?}");
    }
}

#[test]
fn running_out_of_data_with_a_full_window_is_no_application_limit() {
    let mut path = path();
    path.controller_mut().cwnd = 2_400;
    send(&mut path, ms(0), 2);
    calls(&mut path);
    path.on_app_limited(ms(1));
    assert_eq!(calls(&mut path), []);
    ack(&mut path, ms(100), [0]);
    assert_eq!(last_ack(&calls(&mut path)).app_limited_at, None);
    path.on_app_limited(ms(101));
    assert_eq!(names(&calls(&mut path)), ["app_limited"]);
}

#[test]
fn packets_sent_behind_a_gap_are_marked_application_limited() {
    let mut path = path();
    send(&mut path, ms(0), 1);
    path.on_app_limited(ms(1));
    send(&mut path, ms(50), 1);
    ack(&mut path, ms(100), [0]);
    assert!(!last_ack(&calls(&mut path)).rate_sample.unwrap().app_limited);
    ack(&mut path, ms(150), [1]);
    assert!(last_ack(&calls(&mut path)).rate_sample.unwrap().app_limited);
    send(&mut path, ms(151), 1);
    ack(&mut path, ms(250), [2]);
    assert!(!last_ack(&calls(&mut path)).rate_sample.unwrap().app_limited);
}

#[test]
fn handshake_packets_count_as_limited_while_the_stack_does_not_say() {
    // bugs.md E1 (a).
    for (space, limit, limited) in [
        (PacketSpace::Initial, SendLimit::Unknown, true),
        (PacketSpace::Handshake, SendLimit::Unknown, true),
        (PacketSpace::Application, SendLimit::Unknown, false),
        (PacketSpace::Initial, SendLimit::Cwnd, false),
    ] {
        let mut path = path();
        path.note_limit(limit);
        send_packet(&mut path, in_space(space));
        path.acked(0, None);
        path.finish(ms(100), FrameEnd::default());
        let sample = last_ack(&calls(&mut path)).rate_sample.unwrap();
        assert_eq!(sample.app_limited, limited, "{space:?} {limit:?}");
    }
}

#[test]
fn a_controller_that_holds_back_marks_its_own_packets() {
    let mut path = path();
    send(&mut path, ms(0), 2);
    path.controller_mut().marks_app_limited = true;
    send(&mut path, ms(1), 1);
    ack(&mut path, ms(100), [0, 1]);
    assert!(!last_ack(&calls(&mut path)).rate_sample.unwrap().app_limited);
    ack(&mut path, ms(101), [2]);
    assert!(last_ack(&calls(&mut path)).rate_sample.unwrap().app_limited);
}

#[test]
fn every_send_with_nothing_in_flight_is_a_restart_with_the_time_since_the_flight_became_empty() {
    let mut path = path();
    let t = Instant::from_secs(5);
    // Not the first packet of all.
    send(&mut path, t, 2);
    assert_eq!(names(&calls(&mut path)), ["sent", "sent"]);
    // The flight becomes empty with the second ack, at 120 ms, and is so for 0, 1 ns, 306 ms.
    ack(&mut path, t.after(span(100)), [0]);
    ack(&mut path, t.after(span(120)), [1]);
    calls(&mut path);
    for idle in [Duration::ZERO, Duration::from_nanos(1), span(306)] {
        let mut path = path.clone();
        send(&mut path, t.after(span(120)).after(idle), 2);
        let recorded = calls(&mut path);
        assert_eq!(names(&recorded), ["idle_restart", "sent", "sent"]);
        // Called before the packet is counted.
        assert!(matches!(recorded[0], Call::IdleRestart(state, since)
            if since == idle && state.bytes_in_flight == 0 && state.next_number == 2));
    }
    // An ACK-only packet is none; a clock that went backwards makes it no time.
    let ack_only = OutgoingPacket { in_flight: false, ..OutgoingPacket::default() };
    path.on_packet_sent(t.after(span(200)), &ack_only).unwrap();
    assert_eq!(names(&calls(&mut path)), ["sent"]);
    send(&mut path, t, 1);
    assert!(matches!(calls(&mut path)[0], Call::IdleRestart(_, Duration::ZERO)));
}

#[test]
fn the_flight_also_becomes_empty_by_a_loss_or_a_discard() {
    for lost in [false, true] {
        let mut path = path();
        send(&mut path, ms(0), 2);
        ack(&mut path, ms(100), [0]);
        if lost {
            path.lost(1);
            path.finish(ms(150), FrameEnd { cause: LossCause::Timer, ..FrameEnd::default() });
        } else {
            path.discard(ms(150), 1, DiscardReason::MtuProbeLost);
        }
        calls(&mut path);
        send(&mut path, ms(170), 1);
        assert!(matches!(calls(&mut path)[0], Call::IdleRestart(_, idle) if idle == span(20)), "{lost}");
    }
}

#[test]
fn every_event_says_whether_the_connection_is_application_limited() {
    let mut path = path();
    send(&mut path, ms(0), 1);
    path.on_app_limited(ms(1));
    send(&mut path, ms(50), 1);
    ack(&mut path, ms(100), [0]);
    ack(&mut path, ms(150), [1]);
    send(&mut path, ms(151), 1);
    // Marked at 1200 B: from on_app_limited to the ack of the packet behind it, which passes the mark.
    let limited: Vec<_> =
        calls(&mut path).iter().map(|call| (call.name(), call.state().app_limited)).collect();
    let expected = [
        ("sent", false),
        ("app_limited", true),
        ("sent", true),
        ("rtt", true),
        ("ack", true),
        ("rtt", false),
        ("ack", false),
        ("idle_restart", false),
        ("sent", false),
    ];
    assert_eq!(limited, expected);
}

#[test]
fn an_outage_with_packets_in_flight_is_no_idle_restart() {
    let mut path = path();
    send(&mut path, ms(0), 2);
    ack(&mut path, ms(100), [0]);
    calls(&mut path);
    send(&mut path, Instant::from_secs(60), 1);
    assert_eq!(names(&calls(&mut path)), ["sent"]);
}

#[test]
fn a_discarded_packet_leaves_the_flight_and_is_neither_acked_nor_lost() {
    // bugs.md C9: an MTU probe of 1450 B.
    let mut path = path();
    let probe = send_packet(&mut path, OutgoingPacket { bytes: 1_450, ..OutgoingPacket::default() });
    send(&mut path, ms(0), 1);
    calls(&mut path);
    path.discard(ms(50), probe, DiscardReason::MtuProbeLost);
    assert_eq!(path.bytes_in_flight(), 1_200);
    let recorded = calls(&mut path);
    assert!(matches!(recorded[..], [Call::Discarded(state, 1_450, DiscardReason::MtuProbeLost)]
        if state.prior_bytes_in_flight == 2_650 && state.bytes_in_flight == 1_200));
    // Twice, acked or lost later, unknown: nothing.
    path.discard(ms(51), probe, DiscardReason::MtuProbeLost);
    path.discard(ms(51), 99, DiscardReason::MtuProbeLost);
    path.lost(probe);
    ack(&mut path, ms(52), [probe]);
    assert_eq!(calls(&mut path), []);
    assert_eq!((path.bytes_in_flight(), path.delivered(), path.lost_bytes()), (1_200, 0, 0));
}

#[test]
fn dropping_the_keys_of_a_space_takes_its_packets_out_of_the_flight() {
    let mut path = path();
    for space in
        [PacketSpace::Initial, PacketSpace::Handshake, PacketSpace::Initial, PacketSpace::Application]
    {
        send_packet(&mut path, in_space(space));
    }
    calls(&mut path);
    path.discard_space(ms(10), PacketSpace::Initial);
    let recorded = calls(&mut path);
    assert!(matches!(recorded[..], [Call::Discarded(_, 2_400, DiscardReason::KeysDiscarded)]));
    let left: Vec<_> = path.outstanding().map(|packet| (packet.number, packet.space)).collect();
    assert_eq!(left, [(1, PacketSpace::Handshake), (3, PacketSpace::Application)]);
    assert_eq!(path.oldest_outstanding(), Some(1));
    path.discard_space(ms(11), PacketSpace::Initial);
    assert_eq!(calls(&mut path), []);
}

#[test]
fn a_packet_marked_by_an_open_frame_stays_in_flight_whatever_is_discarded_behind_it() {
    // Before, dropping a space let a marked packet go from the ring with its bytes still counted.
    let mut path = path();
    send_packet(&mut path, in_space(PacketSpace::Application));
    send_packet(&mut path, in_space(PacketSpace::Initial));
    path.lost(0);
    path.discard_space(ms(10), PacketSpace::Initial);
    assert_eq!(path.bytes_in_flight(), 1_200);
    assert_eq!(path.finish(ms(11), FrameEnd::default()).newly_lost, 1_200);
    assert_eq!(path.bytes_in_flight(), 0);
}

#[test]
fn packets_marked_by_an_open_frame_are_not_listed_as_outstanding() {
    let mut path = path();
    send(&mut path, ms(0), 4);
    path.acked(0, None);
    path.lost(2);
    let left: Vec<_> = path.outstanding().map(|packet| packet.number).collect();
    assert_eq!(left, [1, 3]);
    assert_eq!(path.oldest_outstanding(), Some(1));
    assert!(!path.is_outstanding(0) && path.is_outstanding(1) && !path.is_outstanding(4));
    // They are in flight until the frame is finished.
    assert_eq!(path.bytes_in_flight(), 4_800);
}

#[test]
fn a_new_path_starts_with_nothing_in_flight_and_ignores_the_old_packets() {
    // bugs.md C10.
    let mut path = path();
    send(&mut path, ms(0), 10);
    ack(&mut path, ms(5), [0]);
    calls(&mut path);
    path.path_changed(ms(10), PathChange::New);
    let recorded = calls(&mut path);
    assert!(matches!(recorded[..], [Call::PathChange(state, PathChange::New)]
        if state.prior_bytes_in_flight == 9 * 1_200 && state.bytes_in_flight == 0 && state.rtt.is_none()));
    for number in 5..10 {
        path.lost(number);
    }
    assert_eq!(ack(&mut path, ms(110), 1..5), Default::default());
    assert_eq!(calls(&mut path), []);
    assert_eq!((path.bytes_in_flight(), path.delivered(), path.lost_bytes()), (0, 1_200, 0));
    assert!(!path.rtt().has_sample());
    // Numbers go on.
    assert_eq!(send(&mut path, ms(120), 1), 10);
    assert_eq!(ack(&mut path, ms(150), [10]).rtt_sample, Some(span(30)));
}

#[test]
fn a_rebinding_keeps_everything() {
    let mut path = path();
    send(&mut path, ms(0), 2);
    ack(&mut path, ms(100), [0]);
    path.path_changed(ms(110), PathChange::Rebinding);
    assert_eq!(path.bytes_in_flight(), 1_200);
    assert!(path.rtt().has_sample());
    assert_eq!(ack(&mut path, ms(120), [1]).newly_acked, 1_200);
}

#[test]
fn a_new_path_tells_its_controller_the_datagram_size() {
    for (bytes, believed) in [(1_200, 1_200), (9_000, 9_000), (0, 1), (u64::MAX, 65_527)] {
        let config = PathConfig { max_datagram_size: bytes, now: ms(7), ..PathConfig::default() };
        let mut path: TestPath = Path::new(Recorder::default(), config);
        let recorded = calls(&mut path);
        assert!(matches!(recorded[..], [Call::Mtu(state, MtuChange::Handshake)]
            if state == path.state(ms(7)) && state.max_datagram_size == believed));
    }
}

#[test]
fn what_concerns_the_path_reaches_the_controller() {
    let mut path = path();
    path.set_handshake_ready(false);
    path.set_max_datagram_size(ms(1), 1_452, MtuChange::Discovered);
    let hint = ResumeHint { cwnd: 600_000, rtt: span(50) };
    path.resume(ms(2), &hint);
    let policy = AckPolicy { packets: 10, max_ack_delay: span(5) };
    path.set_ack_policy(ms(3), &policy);
    path.set_ecn_state(ms(4), EcnCodepoint::Ect1);
    let recorded = calls(&mut path);
    assert_eq!(names(&recorded), ["mtu", "resume", "ack_policy", "ecn_state"]);
    assert!(recorded.iter().all(|call| {
        let state = call.state();
        state.max_datagram_size == 1_452 && !state.handshake_ready
    }));
    assert_eq!(path.rtt().max_ack_delay(), span(5));
    path.set_max_datagram_size(ms(5), 0, MtuChange::BlackHole);
    assert_eq!(path.state(ms(5)).max_datagram_size, 1);
}

#[test]
fn before_the_handshake_ack_delays_are_not_limited() {
    let mut path: TestPath = Path::new(Recorder::default(), PathConfig::default());
    path.set_handshake_ready(false);
    let end = FrameEnd { ack_delay: Some(span(60)), ..FrameEnd::default() };
    send(&mut path, ms(0), 2);
    path.acked(0, None);
    path.finish(ms(100), end);
    path.acked(1, None);
    path.finish(ms(200), end);
    // (7 * 100 + 200 - 60) / 8 = 105.
    assert_eq!(path.rtt().smoothed(), span(105));
}

/// A controller whose pacing rate, in bytes per second, doubles with every event.
#[derive(Debug)]
struct Doubling(u64);

impl CongestionController for Doubling {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {
        self.0 *= 2;
    }
    fn on_ack(&mut self, _: &PathState, _: &AckEvent<'_>) {
        self.0 *= 2;
    }
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {
        self.0 *= 2;
    }
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {
        self.0 *= 2;
    }
    fn on_app_limited(&mut self, _: &PathState) {
        self.0 *= 2;
    }
    fn on_discarded(&mut self, _: &PathState, _: u64, _: DiscardReason) {
        self.0 *= 2;
    }
    fn on_mtu_update(&mut self, _: &PathState, _: MtuChange) {
        self.0 *= 2;
    }
    fn on_path_change(&mut self, _: &PathState, _: PathChange) {
        self.0 *= 2;
    }
    fn on_resume_hint(&mut self, _: &PathState, _: &ResumeHint) {
        self.0 *= 2;
    }
    fn on_ack_policy(&mut self, _: &PathState, _: &AckPolicy) {
        self.0 *= 2;
    }
    fn on_ecn_state(&mut self, _: &PathState, _: EcnCodepoint) {
        self.0 *= 2;
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bytes_per_sec(self.0))
    }
    fn cwnd(&self) -> u64 {
        1_000_000
    }
    fn send_quantum(&self) -> u64 {
        1
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

#[test]
fn whatever_event_changes_the_rate_the_pacer_goes_by_the_new_one() {
    type Event = fn(&mut Path<Doubling, 16>);
    let events: [(&str, Event); 10] = [
        ("ack", |path| {
            path.acked(0, None);
            path.finish(ms(0), FrameEnd::default());
        }),
        ("loss", |path| {
            path.lost(1);
            path.finish(ms(0), FrameEnd::default());
        }),
        ("late ack, without on_rtt and on_ecn", |path| {
            path.acked(1, None);
            path.finish(ms(0), FrameEnd::default());
        }),
        ("discard", |path| path.discard(ms(0), 2, DiscardReason::MtuProbeLost)),
        ("application limit", |path| path.on_app_limited(ms(0))),
        ("rebinding", |path| path.path_changed(ms(0), PathChange::Rebinding)),
        ("saved state", |path| path.resume(ms(0), &ResumeHint { cwnd: 1, rtt: Duration::from_millis(1) })),
        ("ACK policy", |path| {
            path.set_ack_policy(ms(0), &AckPolicy { packets: 2, max_ack_delay: Duration::ZERO })
        }),
        ("ECN", |path| path.set_ecn_state(ms(0), EcnCodepoint::Ect1)),
        ("datagram size", |path| path.set_max_datagram_size(ms(0), 1_200, MtuChange::Discovered)),
    ];
    let mut path = Path::new(Doubling(1_000), PathConfig::default());
    for _ in 0..3 {
        path.on_packet_sent(ms(0), &OutgoingPacket::default()).unwrap();
    }
    // A burst of 1200 bytes and three packets: 2400 bytes of debt, and 1200 for the next.
    for (name, event) in events {
        let before = path.controller().0;
        event(&mut path);
        let rate = path.controller().0;
        assert!(rate > before, "{name}");
        let wait = Duration::from_nanos((3_600 * 1_000_000_000_u64).div_ceil(rate));
        assert_eq!(path.departure(ms(0), 1_200), ms(0).after(wait), "{name}");
    }
}
