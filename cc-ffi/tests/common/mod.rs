//! What a caller in C does: fills the structs and calls the functions.
#![allow(dead_code, reason = "every test file uses a part of this module")]

use cc_core::{
    AckEvent, AckedPacket, DiscardReason, Duration, EcnCodepoint, EcnEvent, Instant, LossCause, LossEvent,
    LostPacket, MtuChange, PacketSnapshot, PacketSpace, PathChange, PathState, RateSample, RttEvent,
    SendLimit, SentPacket, Setup,
};
use cc_ffi::*;

/// `has` and value of an optional field.
fn optional<T: Copy + Default>(value: Option<T>, bit: u32) -> (u32, T) {
    value.map_or((0, T::default()), |value| (bit, value))
}

fn nanos(at: Option<Instant>) -> Option<u64> {
    at.map(Instant::as_nanos)
}

pub(crate) fn span_nanos(span: Option<Duration>) -> Option<u64> {
    span.map(Duration::as_nanos)
}

pub(crate) fn space(space: PacketSpace) -> u32 {
    (match space {
        PacketSpace::Initial => FfiSpace::Initial,
        PacketSpace::Handshake => FfiSpace::Handshake,
        PacketSpace::Application => FfiSpace::Application,
    }) as u32
}

pub(crate) fn limit(limit: SendLimit) -> u32 {
    (match limit {
        SendLimit::Unknown => FfiSendLimit::Unknown,
        SendLimit::Cwnd => FfiSendLimit::Cwnd,
        SendLimit::Pacer => FfiSendLimit::Pacer,
        SendLimit::Amplification => FfiSendLimit::Amplification,
        SendLimit::FlowControl => FfiSendLimit::FlowControl,
        SendLimit::NoData => FfiSendLimit::NoData,
    }) as u32
}

pub(crate) fn ecn(codepoint: EcnCodepoint) -> u32 {
    (match codepoint {
        EcnCodepoint::NotEct => FfiEcn::NotEct,
        EcnCodepoint::Ect0 => FfiEcn::Ect0,
        EcnCodepoint::Ect1 => FfiEcn::Ect1,
    }) as u32
}

pub(crate) fn cause(cause: Option<LossCause>) -> u32 {
    (match cause {
        None => FfiLossCause::Unknown,
        Some(LossCause::Ack) => FfiLossCause::Ack,
        Some(LossCause::Timer) => FfiLossCause::Timer,
    }) as u32
}

pub(crate) fn reason(reason: DiscardReason) -> u32 {
    (match reason {
        DiscardReason::KeysDiscarded => FfiDiscardReason::KeysDiscarded,
        DiscardReason::MtuProbeLost => FfiDiscardReason::MtuProbeLost,
        DiscardReason::ZeroRttRejected => FfiDiscardReason::ZeroRttRejected,
    }) as u32
}

pub(crate) fn mtu_change(change: MtuChange) -> u32 {
    (match change {
        MtuChange::Handshake => FfiMtuChange::Handshake,
        MtuChange::Discovered => FfiMtuChange::Discovered,
        MtuChange::BlackHole => FfiMtuChange::BlackHole,
    }) as u32
}

pub(crate) fn path_change(change: PathChange) -> u32 {
    (match change {
        PathChange::Rebinding => FfiPathChange::Rebinding,
        PathChange::New => FfiPathChange::New,
    }) as u32
}

/// A datagram size of 0 counts as 1 in Rust and is refused in C.
pub(crate) fn setup(setup: &Setup) -> FfiSetup {
    let (window, initial_window) = optional(setup.initial_window, CCFFI_SETUP_HAS_INITIAL_WINDOW);
    let (rtt, initial_rtt) = optional(span_nanos(setup.initial_rtt), CCFFI_SETUP_HAS_INITIAL_RTT);
    let (hint, (resume_cwnd, resume_rtt)) =
        optional(setup.resume.map(|hint| (hint.cwnd, hint.rtt.as_nanos())), CCFFI_SETUP_HAS_RESUME);
    FfiSetup {
        now: setup.now.as_nanos(),
        max_datagram_size: setup.max_datagram_size.max(1),
        initial_window,
        initial_rtt,
        seed: setup.seed,
        resume_cwnd,
        resume_rtt,
        ecn: ecn(setup.ecn),
        has: window | rtt | hint,
        unpaced: (!setup.paces).into(),
    }
}

pub(crate) fn path_state(path: &PathState) -> FfiPathState {
    let (oldest, oldest_outstanding) = optional(path.oldest_outstanding, CCFFI_PATH_HAS_OLDEST_OUTSTANDING);
    let rtt = path.rtt.map(|rtt| [rtt.latest, rtt.smoothed, rtt.min, rtt.var].map(Duration::as_nanos));
    let (has_rtt, [latest_rtt, smoothed_rtt, min_rtt, rtt_var]) = optional(rtt, CCFFI_PATH_HAS_RTT);
    FfiPathState {
        now: path.now.as_nanos(),
        bytes_in_flight: path.bytes_in_flight,
        prior_bytes_in_flight: path.prior_bytes_in_flight,
        delivered: path.delivered,
        lost: path.lost,
        next_number: path.next_number,
        oldest_outstanding,
        latest_rtt,
        smoothed_rtt,
        min_rtt,
        rtt_var,
        max_datagram_size: path.max_datagram_size.max(1),
        has: oldest | has_rtt,
        app_limited: path.app_limited.into(),
        in_handshake: (!path.handshake_ready).into(),
    }
}

pub(crate) fn sent_packet(packet: &SentPacket) -> FfiSentPacket {
    FfiSentPacket {
        number: packet.number,
        bytes: packet.bytes,
        sent_at: packet.sent_at.as_nanos(),
        space: space(packet.space),
        in_flight: packet.in_flight.into(),
        carries_data: packet.carries_data.into(),
    }
}

pub(crate) fn snapshot(snapshot: &PacketSnapshot) -> FfiPacketSnapshot {
    let (has, delivered_at) = optional(nanos(snapshot.delivered_at), CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT);
    FfiPacketSnapshot {
        delivered: snapshot.delivered,
        delivered_at,
        first_sent_at: snapshot.first_sent_at.as_nanos(),
        lost: snapshot.lost,
        bytes_in_flight: snapshot.bytes_in_flight,
        has,
        app_limited: snapshot.app_limited.into(),
    }
}

pub(crate) fn acked_packet(packet: &AckedPacket) -> FfiAckedPacket {
    let (number_bit, number) = optional(packet.number, CCFFI_ACKED_HAS_NUMBER);
    let (packets_bit, packets) = optional(packet.packets, CCFFI_ACKED_HAS_PACKETS);
    let received = packet.received_at.map(cc_core::PeerInstant::as_nanos);
    let (received_bit, received_at) = optional(received, CCFFI_ACKED_HAS_RECEIVED_AT);
    let (snapshot_bit, snapshot) = optional(packet.snapshot.as_ref().map(snapshot), CCFFI_ACKED_HAS_SNAPSHOT);
    FfiAckedPacket {
        number,
        sent_at: packet.sent_at.as_nanos(),
        bytes: packet.bytes,
        received_at,
        snapshot,
        packets,
        space: space(packet.space),
        has: number_bit | packets_bit | received_bit | snapshot_bit,
        was_lost: packet.was_lost.into(),
    }
}

pub(crate) fn lost_packet(packet: &LostPacket) -> FfiLostPacket {
    let (number_bit, number) = optional(packet.number, CCFFI_LOST_HAS_NUMBER);
    let (snapshot_bit, snapshot) = optional(packet.snapshot.as_ref().map(snapshot), CCFFI_LOST_HAS_SNAPSHOT);
    let (run_bit, starts_run) = optional(packet.starts_run, CCFFI_LOST_HAS_STARTS_RUN);
    FfiLostPacket {
        number,
        sent_at: packet.sent_at.as_nanos(),
        bytes: packet.bytes,
        snapshot,
        space: space(packet.space),
        has: number_bit | snapshot_bit | run_bit,
        starts_run: starts_run.into(),
    }
}

pub(crate) fn rate_sample(sample: &RateSample) -> FfiRateSample {
    let (has, number) = optional(sample.number, CCFFI_RATE_SAMPLE_HAS_NUMBER);
    FfiRateSample {
        number,
        sent_at: sample.sent_at.as_nanos(),
        snapshot: snapshot(&sample.snapshot),
        delivered: sample.delivered,
        send_interval: sample.send_interval.as_nanos(),
        ack_interval: sample.ack_interval.as_nanos(),
        lost_since_sent: sample.lost_since_sent,
        newly_acked: sample.newly_acked,
        newly_lost: sample.newly_lost,
        late_acked: sample.late_acked,
        has,
        app_limited: sample.app_limited.into(),
        moved_reference: sample.moved_reference.into(),
    }
}

pub(crate) fn ack(ack: &AckEvent<'_>) -> FfiAck {
    let (sample_bit, rate_sample) =
        optional(ack.rate_sample.as_ref().map(rate_sample), CCFFI_ACK_HAS_RATE_SAMPLE);
    let (limited_bit, app_limited_at) = optional(nanos(ack.app_limited_at), CCFFI_ACK_HAS_APP_LIMITED_AT);
    let (data_bit, newest_data_sent_at) =
        optional(nanos(ack.newest_data_sent_at), CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT);
    FfiAck {
        rate_sample,
        max_bytes_in_flight: ack.max_bytes_in_flight,
        app_limited_at,
        newest_data_sent_at,
        limited_by: limit(ack.limited_by),
        has: sample_bit | limited_bit | data_bit,
        more: (!ack.last).into(),
    }
}

pub(crate) fn loss(loss: &LossEvent<'_>) -> FfiLoss {
    FfiLoss {
        cause: cause(loss.cause),
        persistent_congestion: loss.persistent_congestion.into(),
        more: (!loss.last).into(),
    }
}

pub(crate) fn ecn_event(ecn: &EcnEvent) -> FfiEcnEvent {
    let (ce_bit, ce) = optional(ecn.ce, CCFFI_ECN_HAS_CE);
    let (ect0_bit, ect0) = optional(ecn.ect0, CCFFI_ECN_HAS_ECT0);
    let (ect1_bit, ect1) = optional(ecn.ect1, CCFFI_ECN_HAS_ECT1);
    let (newly_bit, newly_acked) = optional(ecn.newly_acked, CCFFI_ECN_HAS_NEWLY_ACKED);
    let (largest_bit, largest_acked) = optional(ecn.largest_acked, CCFFI_ECN_HAS_LARGEST_ACKED);
    FfiEcnEvent {
        ce,
        ect0,
        ect1,
        newly_acked,
        largest_acked,
        largest_acked_sent_at: ecn.largest_acked_sent_at.as_nanos(),
        space: space(ecn.space),
        has: ce_bit | ect0_bit | ect1_bit | newly_bit | largest_bit,
    }
}

pub(crate) fn rtt(rtt: &RttEvent) -> FfiRtt {
    let (has, ack_delay) = optional(span_nanos(rtt.ack_delay), CCFFI_RTT_HAS_ACK_DELAY);
    FfiRtt {
        latest: rtt.latest.as_nanos(),
        ack_delay,
        space: space(rtt.space),
        has,
        is_sample: rtt.is_sample.into(),
        is_first: rtt.is_first.into(),
    }
}

pub(crate) fn spurious_loss(number: Option<u64>, sent_at: Instant, bytes: u64) -> FfiSpuriousLoss {
    let (has, number) = optional(number, CCFFI_SPURIOUS_LOSS_HAS_NUMBER);
    FfiSpuriousLoss { number, sent_at: sent_at.as_nanos(), bytes, has }
}

/// Rust's answer in the words of C.
pub(crate) fn outputs(controller: &impl cc_core::CongestionController) -> FfiOutputs {
    let (rate_bit, _) = optional(controller.pacing_rate(), CCFFI_OUTPUTS_HAS_PACING_RATE);
    let policy =
        controller.wanted_ack_policy().map(|policy| (policy.packets, policy.max_ack_delay.as_nanos()));
    let (policy_bit, (wanted_ack_packets, wanted_max_ack_delay)) =
        optional(policy, CCFFI_OUTPUTS_HAS_WANTED_ACK_POLICY);
    let (sampling_rule, min_ack_interval) = match controller.sampling_rule() {
        cc_core::SamplingRule::LastAck => (FfiSamplingRule::LastAck as u32, 0),
        cc_core::SamplingRule::LastAcceptedSample { min_ack_interval } => {
            (FfiSamplingRule::LastAcceptedSample as u32, min_ack_interval.as_nanos())
        }
    };
    FfiOutputs {
        cwnd: controller.cwnd(),
        pacing_rate: controller.pacing_rate().map_or(u64::MAX, cc_core::Rate::as_bytes_per_sec),
        send_quantum: controller.send_quantum(),
        wanted_ack_packets,
        wanted_max_ack_delay,
        min_ack_interval,
        sampling_rule,
        wanted_ecn: ecn(controller.wanted_ecn()),
        has: rate_bit | policy_bit,
        may_send_beyond_cwnd: controller.may_send_beyond_cwnd().into(),
        marks_app_limited: controller.marks_app_limited().into(),
        uses_rate_samples: controller.uses_rate_samples().into(),
    }
}

/// Rust's snapshot in the words of C.
pub(crate) fn controller_snapshot(controller: &impl cc_core::CongestionController) -> FfiSnapshot {
    let state = controller.snapshot();
    let (rate_bit, _) = optional(state.pacing_rate, CCFFI_SNAPSHOT_HAS_PACING_RATE);
    let (ssthresh_bit, ssthresh) = optional(state.ssthresh, CCFFI_SNAPSHOT_HAS_SSTHRESH);
    let (bandwidth_bit, bandwidth) = optional(state.bandwidth, CCFFI_SNAPSHOT_HAS_BANDWIDTH);
    let (rtt_bit, model_rtt) = optional(state.model_rtt, CCFFI_SNAPSHOT_HAS_MODEL_RTT);
    let mut phase = [0; CCFFI_PHASE_SIZE];
    assert!(state.phase.len() < CCFFI_PHASE_SIZE, "{}", state.phase);
    for (to, from) in phase.iter_mut().zip(state.phase.bytes()) {
        *to = from as std::ffi::c_char;
    }
    FfiSnapshot {
        cwnd: state.cwnd,
        pacing_rate: state.pacing_rate.map_or(u64::MAX, cc_core::Rate::as_bytes_per_sec),
        ssthresh,
        bandwidth: bandwidth.as_bytes_per_sec(),
        model_rtt: model_rtt.as_nanos(),
        congestion_events: state.congestion_events,
        has: rate_bit | ssthresh_bit | bandwidth_bit | rtt_bit,
        startup: state.startup.into(),
        phase,
    }
}
