//! Every field arrives where it belongs: each has a value of its own.

use super::*;
use cc_core::{
    AckedPacket, EcnCodepoint, EcnEvent, LossCause, LostPacket, PacketSnapshot, PacketSpace, PathRtt,
    PathState, PeerInstant, RateSample, ResumeHint, RttEvent, SendLimit, SentPacket, Setup, SpuriousLoss,
};

fn ffi_snapshot() -> FfiPacketSnapshot {
    FfiPacketSnapshot {
        delivered: 101,
        delivered_at: 102,
        first_sent_at: 103,
        lost: 104,
        bytes_in_flight: 105,
        has: CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT,
        app_limited: 1,
    }
}

fn snapshot() -> PacketSnapshot {
    PacketSnapshot {
        delivered: 101,
        delivered_at: Some(at(102)),
        first_sent_at: at(103),
        lost: 104,
        bytes_in_flight: 105,
        app_limited: true,
    }
}

fn ffi_sample() -> FfiRateSample {
    FfiRateSample {
        number: 1,
        sent_at: 2,
        snapshot: ffi_snapshot(),
        delivered: 3,
        send_interval: 4,
        ack_interval: 5,
        lost_since_sent: 6,
        newly_acked: 7,
        newly_lost: 8,
        late_acked: 9,
        has: CCFFI_RATE_SAMPLE_HAS_NUMBER,
        app_limited: 1,
        moved_reference: 0,
    }
}

fn sample() -> RateSample {
    RateSample {
        number: Some(1),
        sent_at: at(2),
        snapshot: snapshot(),
        delivered: 3,
        send_interval: span(4),
        ack_interval: span(5),
        lost_since_sent: 6,
        newly_acked: 7,
        newly_lost: 8,
        late_acked: 9,
        app_limited: true,
        moved_reference: false,
    }
}

#[test]
fn a_setup_arrives() {
    let ffi = FfiSetup {
        now: 1,
        max_datagram_size: 2,
        initial_window: 3,
        initial_rtt: 4,
        seed: 5,
        resume_cwnd: 6,
        resume_rtt: 7,
        ecn: FfiEcn::Ect0 as u32,
        has: 7,
        unpaced: 9,
    };
    let setup = Setup {
        now: at(1),
        max_datagram_size: 2,
        initial_window: Some(3),
        initial_rtt: Some(span(4)),
        seed: 5,
        resume: Some(ResumeHint { cwnd: 6, rtt: span(7) }),
        paces: false,
        ecn: EcnCodepoint::Ect0,
    };
    assert_eq!(ffi.to_core(), Ok(setup));
    let without = Setup { initial_window: None, initial_rtt: None, resume: None, paces: true, ..setup };
    assert_eq!(FfiSetup { has: 0, unpaced: 0, ..ffi }.to_core(), Ok(without));
}

#[test]
fn the_state_of_the_path_arrives_and_comes_back() {
    let ffi = FfiPathState {
        now: 1,
        bytes_in_flight: 2,
        prior_bytes_in_flight: 3,
        delivered: 4,
        lost: 5,
        next_number: 6,
        oldest_outstanding: 7,
        latest_rtt: 8,
        smoothed_rtt: 9,
        min_rtt: 10,
        rtt_var: 11,
        max_datagram_size: 12,
        has: 3,
        app_limited: 0,
        in_handshake: 1,
    };
    let rtt = PathRtt { latest: span(8), smoothed: span(9), min: span(10), var: span(11) };
    let state = PathState {
        now: at(1),
        bytes_in_flight: 2,
        prior_bytes_in_flight: 3,
        delivered: 4,
        lost: 5,
        next_number: 6,
        oldest_outstanding: Some(7),
        rtt: Some(rtt),
        max_datagram_size: 12,
        app_limited: false,
        handshake_ready: false,
    };
    assert_eq!(ffi.to_core(), Ok(state));
    assert_eq!(FfiPathState::from_core(&state).to_core(), Ok(state));
    let other =
        PathState { oldest_outstanding: None, rtt: None, app_limited: true, handshake_ready: true, ..state };
    assert_eq!(FfiPathState { has: 0, app_limited: 7, in_handshake: 0, ..ffi }.to_core(), Ok(other));
    assert_eq!(FfiPathState::from_core(&other).to_core(), Ok(other));
}

#[test]
fn a_sent_packet_arrives() {
    let ffi = FfiSentPacket {
        number: 1,
        bytes: 2,
        sent_at: 3,
        space: FfiSpace::Initial as u32,
        in_flight: 1,
        carries_data: 0,
    };
    let packet = SentPacket {
        number: 1,
        space: PacketSpace::Initial,
        bytes: 2,
        in_flight: true,
        sent_at: at(3),
        carries_data: false,
    };
    assert_eq!(ffi.to_core(), Ok(packet));
    let other = SentPacket { in_flight: false, carries_data: true, ..packet };
    assert_eq!(FfiSentPacket { in_flight: 0, carries_data: 2, ..ffi }.to_core(), Ok(other));
}

#[test]
fn an_acked_packet_arrives() {
    let ffi = FfiAckedPacket {
        number: 1,
        sent_at: 2,
        bytes: 3,
        received_at: 4,
        snapshot: ffi_snapshot(),
        packets: 5,
        space: FfiSpace::Handshake as u32,
        has: 15,
        was_lost: 1,
    };
    let packet = AckedPacket {
        number: Some(1),
        space: PacketSpace::Handshake,
        sent_at: at(2),
        bytes: 3,
        packets: Some(5),
        received_at: Some(PeerInstant::from_nanos(4)),
        snapshot: Some(snapshot()),
        was_lost: true,
    };
    assert_eq!(ffi.to_core(), Ok(packet));
    let none = AckedPacket { number: None, packets: None, received_at: None, snapshot: None, ..packet };
    assert_eq!(FfiAckedPacket { has: 0, ..ffi }.to_core(), Ok(none));
    for (has, one) in [
        (CCFFI_ACKED_HAS_NUMBER, AckedPacket { number: packet.number, ..none }),
        (CCFFI_ACKED_HAS_PACKETS, AckedPacket { packets: packet.packets, ..none }),
        (CCFFI_ACKED_HAS_RECEIVED_AT, AckedPacket { received_at: packet.received_at, ..none }),
        (CCFFI_ACKED_HAS_SNAPSHOT, AckedPacket { snapshot: packet.snapshot, ..none }),
    ] {
        assert_eq!(FfiAckedPacket { has, ..ffi }.to_core(), Ok(one));
    }
}

#[test]
fn a_lost_packet_arrives() {
    let ffi = FfiLostPacket {
        number: 1,
        sent_at: 2,
        bytes: 3,
        snapshot: ffi_snapshot(),
        space: FfiSpace::Application as u32,
        has: 7,
        starts_run: 1,
    };
    let packet = LostPacket {
        number: Some(1),
        space: PacketSpace::Application,
        sent_at: at(2),
        bytes: 3,
        snapshot: Some(snapshot()),
        starts_run: Some(true),
    };
    assert_eq!(ffi.to_core(), Ok(packet));
    let none = LostPacket { number: None, snapshot: None, starts_run: None, ..packet };
    assert_eq!(FfiLostPacket { has: 0, ..ffi }.to_core(), Ok(none));
    let runs_on = LostPacket { starts_run: Some(false), ..none };
    let ffi = FfiLostPacket { has: CCFFI_LOST_HAS_STARTS_RUN, starts_run: 0, ..ffi };
    assert_eq!(ffi.to_core(), Ok(runs_on));
}

#[test]
fn a_rate_sample_arrives_and_comes_back() {
    assert_eq!(ffi_sample().to_core(), Ok(sample()));
    assert_eq!(FfiRateSample::from_core(&sample()).to_core(), Ok(sample()));
    let other = RateSample { number: None, app_limited: false, moved_reference: true, ..sample() };
    assert_eq!(FfiRateSample::from_core(&other).to_core(), Ok(other));
}

#[test]
fn what_concerns_an_ack_frame_arrives() {
    let ffi = FfiAck {
        rate_sample: ffi_sample(),
        max_bytes_in_flight: 1,
        app_limited_at: 2,
        newest_data_sent_at: 3,
        limited_by: FfiSendLimit::FlowControl as u32,
        has: 7,
        more: 0,
    };
    let ack = ffi.to_core().expect("a good event");
    assert!(ack.packets.is_empty() && ack.last);
    assert_eq!(
        (
            ack.rate_sample,
            ack.max_bytes_in_flight,
            ack.app_limited_at,
            ack.newest_data_sent_at,
            ack.limited_by
        ),
        (Some(sample()), 1, Some(at(2)), Some(at(3)), SendLimit::FlowControl)
    );
    let ack = FfiAck { has: 0, more: 1, ..ffi }.to_core().expect("a good event");
    assert!(!ack.last);
    assert_eq!((ack.rate_sample, ack.app_limited_at, ack.newest_data_sent_at), (None, None, None));
}

#[test]
fn what_concerns_losses_as_a_whole_arrives() {
    for (cause, expected) in [
        (FfiLossCause::Unknown, None),
        (FfiLossCause::Ack, Some(LossCause::Ack)),
        (FfiLossCause::Timer, Some(LossCause::Timer)),
    ] {
        for flag in [false, true] {
            let ffi =
                FfiLoss { cause: cause as u32, persistent_congestion: flag.into(), more: (!flag).into() };
            let loss = ffi.to_core().expect("a good event");
            assert_eq!((loss.cause, loss.persistent_congestion, loss.last), (expected, flag, flag));
        }
    }
}

#[test]
fn ecn_counts_arrive() {
    let ffi = FfiEcnEvent {
        ce: 1,
        ect0: 2,
        ect1: 3,
        newly_acked: 4,
        largest_acked: 5,
        largest_acked_sent_at: 6,
        space: FfiSpace::Handshake as u32,
        has: 31,
    };
    let event = EcnEvent {
        space: PacketSpace::Handshake,
        ce: Some(1),
        ect0: Some(2),
        ect1: Some(3),
        newly_acked: Some(4),
        largest_acked: Some(5),
        largest_acked_sent_at: at(6),
    };
    assert_eq!(ffi.to_core(), Ok(event));
    let none = EcnEvent { ce: None, ect0: None, ect1: None, newly_acked: None, largest_acked: None, ..event };
    for (has, one) in [
        (0, none),
        (CCFFI_ECN_HAS_CE, EcnEvent { ce: Some(1), ..none }),
        (CCFFI_ECN_HAS_ECT0, EcnEvent { ect0: Some(2), ..none }),
        (CCFFI_ECN_HAS_ECT1, EcnEvent { ect1: Some(3), ..none }),
        (CCFFI_ECN_HAS_NEWLY_ACKED, EcnEvent { newly_acked: Some(4), ..none }),
        (CCFFI_ECN_HAS_LARGEST_ACKED, EcnEvent { largest_acked: Some(5), ..none }),
    ] {
        assert_eq!(FfiEcnEvent { has, ..ffi }.to_core(), Ok(one));
    }
}

#[test]
fn an_rtt_and_a_spurious_loss_arrive() {
    let ffi = FfiRtt { latest: 1, ack_delay: 2, space: 0, has: 1, is_sample: 1, is_first: 0 };
    let rtt = RttEvent {
        space: PacketSpace::Application,
        latest: span(1),
        ack_delay: Some(span(2)),
        is_sample: true,
        is_first: false,
    };
    assert_eq!(ffi.to_core(), Ok(rtt));
    let other = RttEvent { ack_delay: None, is_sample: false, is_first: true, ..rtt };
    assert_eq!(FfiRtt { has: 0, is_sample: 0, is_first: 1, ..ffi }.to_core(), Ok(other));

    let ffi = FfiSpuriousLoss { number: 1, sent_at: 2, bytes: 3, has: CCFFI_SPURIOUS_LOSS_HAS_NUMBER };
    assert_eq!(ffi.to_core(), Ok(SpuriousLoss::Packet { number: Some(1), sent_at: at(2), bytes: 3 }));
    let ffi = FfiSpuriousLoss { has: 0, ..ffi };
    assert_eq!(ffi.to_core(), Ok(SpuriousLoss::Packet { number: None, sent_at: at(2), bytes: 3 }));
}
