//! Events of any kind, in any order, with any numbers, handed straight to a controller.

use crate::count;
use crate::number::{Number, Stamp};
use arbitrary::Arbitrary;
use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DiscardReason, EcnCodepoint, EcnEvent, LossCause,
    LossEvent, LostPacket, MtuChange, PacketSnapshot, PacketSpace, PathChange, PathRtt, PathState,
    RateSample, ResumeHint, RttEvent, SendLimit, SentPacket, Setup, SpuriousLoss,
};

/// What the controller is made from.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Setting {
    now: Number,
    mtu: u16,
    window: Option<Number>,
    rtt: Option<Number>,
    seed: u8,
    resume: Option<(Number, Number)>,
    paces: bool,
    ecn: u8,
}

impl Setting {
    /// The same for a controller.
    pub fn setup(&self) -> Setup {
        Setup {
            now: self.now.instant(),
            max_datagram_size: self.mtu(),
            initial_window: self.window.map(Number::get),
            initial_rtt: self.rtt.map(Number::span),
            seed: self.seed.into(),
            resume: self.resume.map(|(cwnd, rtt)| ResumeHint { cwnd: cwnd.get(), rtt: rtt.span() }),
            paces: self.paces,
            ecn: codepoint(self.ecn),
        }
    }

    fn mtu(&self) -> u64 {
        u64::from(self.mtu).clamp(1, cc_core::MAX_DATAGRAM_SIZE)
    }
}

pub(crate) fn codepoint(index: u8) -> EcnCodepoint {
    match index % 3 {
        0 => EcnCodepoint::NotEct,
        1 => EcnCodepoint::Ect0,
        _ => EcnCodepoint::Ect1,
    }
}

/// A call with the state of the path.
pub type Event = (State, Call);

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
    Policy(Number, Number),
}

/// A packet acked or lost.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Packet {
    number: Option<Number>,
    sent_at: Number,
    bytes: Number,
    was_lost: bool,
    app: bool,
    received_at: Option<Stamp>,
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

fn space(app: bool) -> PacketSpace {
    if app { PacketSpace::Application } else { PacketSpace::Handshake }
}

/// Runs `calls` on `controller` and on a clone of it taken half way; both must agree.
pub fn run<C: CongestionController + Clone>(mut controller: C, setting: &Setting, calls: &[Event]) {
    count::input(calls.len() as u64);
    let mut mtu = setting.mtu();
    let mut twin = None;
    for (index, (state, call)) in calls.iter().enumerate() {
        if index == calls.len() / 2 {
            twin = Some(controller.clone());
        }
        apply(&mut controller, &mut mtu, state, call);
        let _ = controller.snapshot();
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
        now: state.now.instant(),
        bytes_in_flight: state.in_flight.get(),
        prior_bytes_in_flight: state.prior_in_flight.get(),
        delivered: state.delivered.get(),
        lost: state.lost.get(),
        next_number: state.next_number.get(),
        oldest_outstanding: state.oldest.map(Number::get),
        rtt: state.rtt.map(|[latest, smoothed, min, var]| PathRtt {
            latest: latest.span(),
            smoothed: smoothed.span(),
            min: min.span(),
            var: var.span(),
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
                sent_at: at.instant(),
                carries_data: *data,
            },
        ),
        Call::Ack { packets, last, sample, limit, max_in_flight, limited_at, data_at } => {
            let packets: Vec<AckedPacket> = packets
                .iter()
                .map(|packet| AckedPacket {
                    number: packet.number.map(Number::get),
                    space: space(packet.app),
                    sent_at: packet.sent_at.instant(),
                    bytes: packet.bytes.get(),
                    was_lost: packet.was_lost,
                    received_at: packet.received_at.map(|stamp| stamp.of(packet.sent_at.instant())),
                    ..AckedPacket::default()
                })
                .collect();
            let rate_sample = sample.map(|sample| RateSample {
                number: sample.number.map(Number::get),
                sent_at: sample.sent_at.instant(),
                snapshot: PacketSnapshot {
                    delivered: sample.prior.get(),
                    delivered_at: sample.at.map(Number::instant),
                    ..PacketSnapshot::default()
                },
                delivered: sample.delivered.get(),
                send_interval: sample.send_interval.span(),
                ack_interval: sample.ack_interval.span(),
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
                    app_limited_at: limited_at.map(Number::instant),
                    newest_data_sent_at: data_at.map(Number::instant),
                },
            );
        }
        Call::Loss { packets, last, persistent } => {
            let packets: Vec<LostPacket> = packets
                .iter()
                .map(|packet| LostPacket {
                    number: packet.number.map(Number::get),
                    space: space(packet.app),
                    sent_at: packet.sent_at.instant(),
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
                largest_acked_sent_at: at.instant(),
            },
        ),
        Call::Rtt { latest, delay, sample, first, app } => controller.on_rtt(
            &path,
            &RttEvent {
                space: space(*app),
                latest: latest.span(),
                ack_delay: delay.map(Number::span),
                is_sample: *sample,
                is_first: *first,
            },
        ),
        Call::AppLimited => controller.on_app_limited(&path),
        Call::Idle(idle) => controller.on_idle_restart(&path, idle.span()),
        Call::Spurious(None) => controller.on_spurious_loss(&path, &SpuriousLoss::All),
        Call::Spurious(Some((number, sent_at, bytes))) => controller.on_spurious_loss(
            &path,
            &SpuriousLoss::Packet {
                number: Some(number.get()),
                sent_at: sent_at.instant(),
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
            controller.on_resume_hint(&path, &ResumeHint { cwnd: cwnd.get(), rtt: rtt.span() });
        }
        Call::Policy(packets, delay) => {
            let policy = AckPolicy { packets: packets.get(), max_ack_delay: delay.span() };
            controller.on_ack_policy(&path, &policy);
        }
        Call::EcnState(codepoint) => {
            controller.on_ecn_state(&path, self::codepoint(*codepoint));
        }
    }
}
