//! Events of any kind, in any order, with any numbers, handed straight to a controller.

use crate::check_outputs;
use arbitrary::Arbitrary;
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, Instant,
    LossCause, LossEvent, LostPacket, MtuChange, PacketSnapshot, PacketSpace, PathChange, PathRtt, PathState,
    RateSample, ResumeHint, RttEvent, SendLimit, SentPacket, SpuriousLoss,
};

/// A number that is often small, sometimes huge.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Number {
    Small(u16),
    Large(u32),
    Any(u64),
}

impl Number {
    fn get(self) -> u64 {
        match self {
            Self::Small(n) => n.into(),
            Self::Large(n) => n.into(),
            Self::Any(n) => n,
        }
    }

    fn nanos(self) -> u64 {
        // Small numbers are microseconds, so that RTTs are often plausible.
        match self {
            Self::Small(n) => u64::from(n) * 1_000,
            other => other.get(),
        }
    }
}

/// The state that an event carries.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct State {
    now: Number,
    in_flight: Number,
    prior_in_flight: Number,
    delivered: Number,
    lost: Number,
    next_number: Number,
    oldest: Option<Number>,
    rtt: Option<[Number; 4]>,
    ready: bool,
    limited: bool,
}

/// One call.
#[derive(Arbitrary, Clone, Debug)]
pub enum Call {
    Sent {
        number: Number,
        bytes: Number,
        at: Number,
        in_flight: bool,
        data: bool,
    },
    Ack {
        packets: Vec<Packet>,
        last: bool,
        sample: Option<Sample>,
        limit: u8,
        max_in_flight: Number,
        limited_at: Option<Number>,
        data_at: Option<Number>,
    },
    Loss {
        packets: Vec<Packet>,
        last: bool,
        persistent: bool,
    },
    Ecn {
        ce: Option<Number>,
        ect1: Option<Number>,
        newly: Option<Number>,
        largest: Option<Number>,
        at: Number,
    },
    Rtt {
        latest: Number,
        delay: Option<Number>,
        sample: bool,
        first: bool,
        app: bool,
    },
    AppLimited,
    Idle(Number),
    Spurious(Option<(Number, Number, Number)>),
    Discarded(Number, u8),
    Mtu {
        bytes: u16,
        change: u8,
    },
    Path(bool),
    Resume {
        cwnd: Number,
        rtt: Number,
    },
    EcnState(u8),
}

/// A packet acked or lost.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Packet {
    number: Option<Number>,
    sent_at: Number,
    bytes: Number,
    was_lost: bool,
    app: bool,
}

/// A raw rate sample.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Sample {
    number: Option<Number>,
    sent_at: Number,
    delivered: Number,
    prior: Number,
    at: Option<Number>,
    send_interval: Number,
    ack_interval: Number,
    newly: Number,
    limited: bool,
    moved: bool,
}

fn instant(number: Number) -> Instant {
    Instant::from_nanos(number.nanos())
}

fn span(number: Number) -> Duration {
    Duration::from_nanos(number.nanos())
}

fn space(app: bool) -> PacketSpace {
    if app { PacketSpace::Application } else { PacketSpace::Handshake }
}

/// Runs `calls` on `controller` and on a clone of it taken half way; both must agree.
pub fn run<C: CongestionController + Clone>(mut controller: C, mut mtu: u64, calls: &[(State, Call)]) {
    let mut twin = None;
    for (index, (state, call)) in calls.iter().enumerate() {
        if index == calls.len() / 2 {
            twin = Some(controller.clone());
        }
        apply(&mut controller, &mut mtu, state, call);
        check_outputs(&controller, mtu);
        if let Some(twin) = twin.as_mut() {
            let mut same = mtu;
            apply(twin, &mut same, state, call);
        }
    }
    if let Some(twin) = twin {
        assert_eq!(format!("{twin:?}"), format!("{controller:?}"), "a clone went another way");
    }
}

fn apply<C: CongestionController>(controller: &mut C, mtu: &mut u64, state: &State, call: &Call) {
    if let Call::Mtu { bytes, .. } = call {
        *mtu = u64::from(*bytes).clamp(1, cc_core::MAX_DATAGRAM_SIZE);
    }
    let path = PathState {
        now: instant(state.now),
        bytes_in_flight: state.in_flight.get(),
        prior_bytes_in_flight: state.prior_in_flight.get(),
        delivered: state.delivered.get(),
        lost: state.lost.get(),
        next_number: state.next_number.get(),
        oldest_outstanding: state.oldest.map(Number::get),
        rtt: state.rtt.map(|[latest, smoothed, min, var]| PathRtt {
            latest: span(latest),
            smoothed: span(smoothed),
            min: span(min),
            var: span(var),
        }),
        max_datagram_size: *mtu,
        app_limited: state.limited,
        handshake_ready: state.ready,
    };
    match call {
        Call::Sent { number, bytes, at, in_flight, data } => controller.on_packet_sent(
            &path,
            &SentPacket {
                number: number.get(),
                space: PacketSpace::Application,
                bytes: bytes.get(),
                in_flight: *in_flight,
                sent_at: instant(*at),
                carries_data: *data,
            },
        ),
        Call::Ack { packets, last, sample, limit, max_in_flight, limited_at, data_at } => {
            let packets: Vec<AckedPacket> = packets
                .iter()
                .map(|packet| AckedPacket {
                    number: packet.number.map(Number::get),
                    space: space(packet.app),
                    sent_at: instant(packet.sent_at),
                    bytes: packet.bytes.get(),
                    was_lost: packet.was_lost,
                    ..AckedPacket::default()
                })
                .collect();
            let rate_sample = sample.map(|sample| RateSample {
                number: sample.number.map(Number::get),
                sent_at: instant(sample.sent_at),
                snapshot: PacketSnapshot {
                    delivered: sample.prior.get(),
                    delivered_at: sample.at.map(instant),
                    ..PacketSnapshot::default()
                },
                delivered: sample.delivered.get(),
                send_interval: span(sample.send_interval),
                ack_interval: span(sample.ack_interval),
                newly_acked: sample.newly.get(),
                app_limited: sample.limited,
                moved_reference: sample.moved,
                ..RateSample::default()
            });
            let limited_by = match limit % 6 {
                0 => SendLimit::Cwnd,
                1 => SendLimit::Pacer,
                2 => SendLimit::Amplification,
                3 => SendLimit::FlowControl,
                4 => SendLimit::NoData,
                _ => SendLimit::Unknown,
            };
            controller.on_ack(
                &path,
                &AckEvent {
                    packets: &packets,
                    last: *last,
                    rate_sample,
                    limited_by,
                    max_bytes_in_flight: max_in_flight.get(),
                    app_limited_at: limited_at.map(instant),
                    newest_data_sent_at: data_at.map(instant),
                },
            );
        }
        Call::Loss { packets, last, persistent } => {
            let packets: Vec<LostPacket> = packets
                .iter()
                .map(|packet| LostPacket {
                    number: packet.number.map(Number::get),
                    space: space(packet.app),
                    sent_at: instant(packet.sent_at),
                    bytes: packet.bytes.get(),
                    ..LostPacket::default()
                })
                .collect();
            let cause = Some(LossCause::Ack);
            controller.on_loss(
                &path,
                &LossEvent { packets: &packets, last: *last, persistent_congestion: *persistent, cause },
            );
        }
        Call::Ecn { ce, ect1, newly, largest, at } => controller.on_ecn(
            &path,
            &EcnEvent {
                space: PacketSpace::Application,
                ce: ce.map(Number::get),
                ect0: None,
                ect1: ect1.map(Number::get),
                newly_acked: newly.map(Number::get),
                largest_acked: largest.map(Number::get),
                largest_acked_sent_at: instant(*at),
            },
        ),
        Call::Rtt { latest, delay, sample, first, app } => controller.on_rtt(
            &path,
            &RttEvent {
                space: space(*app),
                latest: span(*latest),
                ack_delay: delay.map(span),
                is_sample: *sample,
                is_first: *first,
            },
        ),
        Call::AppLimited => controller.on_app_limited(&path),
        Call::Idle(idle) => controller.on_idle_restart(&path, span(*idle)),
        Call::Spurious(None) => controller.on_spurious_loss(&path, &SpuriousLoss::All),
        Call::Spurious(Some((number, sent_at, bytes))) => controller.on_spurious_loss(
            &path,
            &SpuriousLoss::Packet {
                number: Some(number.get()),
                sent_at: instant(*sent_at),
                bytes: bytes.get(),
            },
        ),
        Call::Discarded(bytes, reason) => {
            let reason = match reason % 3 {
                0 => DiscardReason::KeysDiscarded,
                1 => DiscardReason::MtuProbeLost,
                _ => DiscardReason::ZeroRttRejected,
            };
            controller.on_discarded(&path, bytes.get(), reason);
        }
        Call::Mtu { change, .. } => {
            let change = match change % 3 {
                0 => MtuChange::Handshake,
                1 => MtuChange::Discovered,
                _ => MtuChange::BlackHole,
            };
            controller.on_mtu_update(&path, change);
        }
        Call::Path(new) => {
            controller.on_path_change(&path, if *new { PathChange::New } else { PathChange::Rebinding });
        }
        Call::Resume { cwnd, rtt } => {
            controller.on_resume_hint(&path, &ResumeHint { cwnd: cwnd.get(), rtt: span(*rtt) });
        }
        Call::EcnState(codepoint) => {
            let codepoint = match codepoint % 3 {
                0 => EcnCodepoint::NotEct,
                1 => EcnCodepoint::Ect0,
                _ => EcnCodepoint::Ect1,
            };
            controller.on_ecn_state(&path, codepoint);
        }
    }
}
