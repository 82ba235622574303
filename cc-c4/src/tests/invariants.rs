//! Whole event sequences: absurd ones must leave the outputs sane, and time must only matter as differences.

use crate::{C4, Config};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, EcnCodepoint, EcnEvent, Instant, LossEvent,
    LostPacket, MtuChange, PacketSnapshot, PacketSpace, PathChange, PathRtt, PathState, RateSample,
    ResumeHint, RttEvent, SendLimit, SentPacket,
};
use proptest::prelude::*;
use std::{vec, vec::Vec};

/// Values where sums, products and comparisons are likely to go wrong, and ordinary ones. One map in place of a union
/// of strategies: there are thousands of them in a case.
fn odd() -> impl Strategy<Value = u64> {
    (any::<u8>(), any::<u64>()).prop_map(|(kind, raw)| match kind % 8 {
        0..4 => raw % 200_000,
        4..6 => raw % 20_000_000_000,
        6 => match raw % 6 {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => u64::MAX - 1,
            4 => 1 << 32,
            _ => 1 << 63,
        },
        _ => raw,
    })
}

fn space() -> impl Strategy<Value = PacketSpace> {
    prop_oneof![6 => Just(PacketSpace::Application), 1 => Just(PacketSpace::Initial), 1 => Just(PacketSpace::Handshake)]
}

#[derive(Clone, Debug)]
enum Event {
    Sent(u64),
    Ack {
        packets: Vec<AckedPacket>,
        last: bool,
        sample: Option<RateSample>,
        limited: Option<u64>,
        data: Option<u64>,
    },
    Loss(Vec<LostPacket>),
    Ecn(EcnEvent),
    Rtt(RttEvent),
    Mtu,
    NewPath,
    Hint(ResumeHint),
    EcnState(EcnCodepoint),
}

#[derive(Clone, Debug)]
struct Step {
    path: PathState,
    event: Event,
}

fn path() -> impl Strategy<Value = PathState> {
    let rtt = proptest::option::weighted(
        0.9,
        (odd(), odd(), odd()).prop_map(|(latest, smoothed, min)| PathRtt {
            latest: Duration::from_nanos(latest),
            smoothed: Duration::from_nanos(smoothed),
            min: Duration::from_nanos(min),
            var: Duration::ZERO,
        }),
    );
    let mtu = prop_oneof![6 => Just(1_200), 1 => odd()];
    (odd(), odd(), odd(), odd(), proptest::option::of(odd()), rtt, mtu, proptest::bool::weighted(0.9))
        .prop_map(|(now, bytes_in_flight, delivered, next_number, oldest_outstanding, rtt, mtu, ready)| {
            PathState {
                now: Instant::from_nanos(now),
                bytes_in_flight,
                delivered,
                next_number,
                oldest_outstanding,
                rtt,
                max_datagram_size: mtu,
                handshake_ready: ready,
                ..PathState::default()
            }
        })
}

fn sample() -> impl Strategy<Value = RateSample> {
    ((odd(), proptest::option::of(odd()), odd()), (odd(), odd(), odd(), any::<bool>())).prop_map(
        |((before, delivered_at, sent_at), (delivered, send, ack, moved_reference))| RateSample {
            sent_at: Instant::from_nanos(sent_at),
            snapshot: PacketSnapshot {
                delivered: before,
                delivered_at: delivered_at.map(Instant::from_nanos),
                ..PacketSnapshot::default()
            },
            delivered,
            send_interval: Duration::from_nanos(send),
            ack_interval: Duration::from_nanos(ack),
            moved_reference,
            ..RateSample::default()
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let acked = (proptest::option::of(odd()), space(), odd(), odd(), any::<bool>()).prop_map(
        |(number, space, sent_at, bytes, was_lost)| AckedPacket {
            number,
            space,
            sent_at: Instant::from_nanos(sent_at),
            bytes,
            was_lost,
            ..AckedPacket::default()
        },
    );
    let lost =
        (proptest::option::of(odd()), space(), odd(), odd()).prop_map(|(number, space, sent_at, bytes)| {
            LostPacket {
                number,
                space,
                sent_at: Instant::from_nanos(sent_at),
                bytes,
                ..LostPacket::default()
            }
        });
    let ecn = (space(), odd(), proptest::option::of(odd()), proptest::option::of(odd()), odd()).prop_map(
        |(space, ce, ect1, newly_acked, sent_at)| EcnEvent {
            space,
            ce: Some(ce),
            ect1,
            newly_acked,
            largest_acked_sent_at: Instant::from_nanos(sent_at),
            ..EcnEvent::default()
        },
    );
    let rtt = (space(), odd(), proptest::option::of(odd()), any::<bool>()).prop_map(
        |(space, latest, ack_delay, is_first)| RttEvent {
            space,
            latest: Duration::from_nanos(latest),
            ack_delay: ack_delay.map(Duration::from_nanos),
            is_sample: true,
            is_first,
        },
    );
    let ack = (
        proptest::collection::vec(acked, 0..4),
        proptest::bool::weighted(0.9),
        proptest::option::of(sample()),
        proptest::option::of(odd()),
        proptest::option::of(odd()),
    )
        .prop_map(|(packets, last, sample, limited, data)| Event::Ack {
            packets,
            last,
            sample,
            limited,
            data,
        });
    let codepoint =
        prop_oneof![Just(EcnCodepoint::NotEct), Just(EcnCodepoint::Ect0), Just(EcnCodepoint::Ect1)];
    prop_oneof![
        1 => odd().prop_map(Event::Sent),
        12 => ack,
        4 => proptest::collection::vec(lost, 0..4).prop_map(Event::Loss),
        3 => ecn.prop_map(Event::Ecn),
        6 => rtt.prop_map(Event::Rtt),
        1 => Just(Event::Mtu),
        1 => Just(Event::NewPath),
        1 => (odd(), odd()).prop_map(|(cwnd, rtt)| Event::Hint(ResumeHint { cwnd, rtt: Duration::from_nanos(rtt) })),
        1 => codepoint.prop_map(Event::EcnState),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((path(), event()).prop_map(|(path, event)| Step { path, event }), 1..80)
}

fn apply(c4: &mut C4, Step { path, event }: &Step) {
    match event {
        Event::Sent(bytes) => c4.on_packet_sent(path, &SentPacket { bytes: *bytes, ..SentPacket::default() }),
        Event::Ack { packets, last, sample, limited, data } => {
            let ack = AckEvent {
                packets,
                last: *last,
                rate_sample: *sample,
                limited_by: SendLimit::Unknown,
                max_bytes_in_flight: 0,
                app_limited_at: limited.map(Instant::from_nanos),
                newest_data_sent_at: data.map(Instant::from_nanos),
            };
            c4.on_ack(path, &ack);
        }
        Event::Loss(packets) => {
            let loss = LossEvent { packets, last: true, persistent_congestion: false, cause: None };
            c4.on_loss(path, &loss);
        }
        Event::Ecn(ecn) => c4.on_ecn(path, ecn),
        Event::Rtt(rtt) => c4.on_rtt(path, rtt),
        Event::Mtu => c4.on_mtu_update(path, MtuChange::Discovered),
        Event::NewPath => c4.on_path_change(path, PathChange::New),
        Event::Hint(hint) => c4.on_resume_hint(path, hint),
        Event::EcnState(codepoint) => c4.on_ecn_state(path, *codepoint),
    }
}

proptest! {
    #[test]
    fn absurd_events_leave_the_outputs_in_range(steps in steps(), initial_window in odd()) {
        let mut c4 = C4::new(&Config { initial_window, ..Config::default() });
        for step in &steps {
            let before = c4.clone();
            apply(&mut c4, step);
            let datagram = step.path.max_datagram_size.clamp(1, 65_527);
            prop_assert!(c4.cwnd() >= 2 * datagram, "cwnd {} at {step:?}", c4.cwnd());
            prop_assert!(c4.pacing_rate().is_none_or(|rate| !rate.is_zero()));
            prop_assert!((datagram.min(65_536)..=65_536).contains(&c4.send_quantum()));
            prop_assert!(c4.delay_threshold() <= Duration::from_millis(25));
            prop_assert!(c4.probe_level() <= 3 && c4.sensitivity() <= 1_024 && c4.ecn_alpha() <= 1_024);
            // A loss or a mark never raises a rate or the window (but to the least of larger datagrams), nor does it turn
            // pacing off, and the rate is only forgotten on a new path.
            if matches!(step.event, Event::Loss(_) | Event::Ecn(_)) {
                prop_assert!(c4.nominal_rate() <= before.nominal_rate());
                prop_assert!(c4.cwnd() <= before.cwnd().max(2 * datagram));
                if let Some(rate) = before.pacing_rate().filter(|_| datagram == u64::from(before.datagram)) {
                    prop_assert!(c4.pacing_rate().is_some_and(|after| after <= rate));
                }
            }
            if !matches!(step.event, Event::NewPath) {
                prop_assert!(before.nominal_rate().is_zero() || !c4.nominal_rate().is_zero());
            }
        }
    }

    #[test]
    fn adding_a_constant_to_all_times_changes_nothing(seeds in proptest::collection::vec(any::<(u8, u16, u16)>(), 1..300)) {
        let run = |epoch: u64| {
            let mut log = Vec::new();
            let mut now = epoch;
            let mut c4 = C4::new(&Config { now: Instant::from_nanos(epoch), ..Config::default() });
            let mut delivered = 0;
            for (index, &(kind, a, b)) in seeds.iter().enumerate() {
                let (index, a, b) = (index as u64, u64::from(a), u64::from(b));
                now += 300_017 * (a % 97);
                let back = |nanos: u64| Instant::from_nanos(now.saturating_sub(nanos).max(epoch));
                let rtt = Duration::from_nanos(20_000_000 + a * 3_001);
                let path = PathState {
                    now: Instant::from_nanos(now),
                    next_number: 40 + index * 10,
                    oldest_outstanding: (b % 5 != 0).then_some(index * 10),
                    rtt: Some(PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: Duration::ZERO }),
                    bytes_in_flight: b,
                    ..PathState::default()
                };
                let event = match kind % 6 {
                    0 => Event::Rtt(RttEvent { latest: rtt, is_sample: true, ..RttEvent::default() }),
                    1 => Event::Loss(vec![LostPacket {
                        number: (b % 3 != 0).then_some(index * 10),
                        sent_at: back(b * 1_009),
                        bytes: 1_200,
                        ..LostPacket::default()
                    }]),
                    2 => Event::Ecn(EcnEvent { ce: Some(b % 2), ect1: Some(a % 20), largest_acked_sent_at: back(0), ..EcnEvent::default() }),
                    _ => {
                        let before = delivered;
                        delivered += a;
                        Event::Ack {
                            packets: vec![AckedPacket {
                                number: (b % 7 != 0).then_some(index * 10),
                                sent_at: back(b * 401),
                                bytes: a,
                                ..AckedPacket::default()
                            }],
                            last: true,
                            sample: Some(RateSample {
                                sent_at: back(b * 401),
                                snapshot: PacketSnapshot {
                                    delivered: before,
                                    delivered_at: Some(back(b * 701)),
                                    ..PacketSnapshot::default()
                                },
                                delivered,
                                ack_interval: Duration::from_nanos(b * 701),
                                moved_reference: true,
                                ..RateSample::default()
                            }),
                            limited: (b % 4 == 0).then(|| back(b * 13).as_nanos()),
                            data: Some(back(a * 13).as_nanos()),
                        }
                    }
                };
                apply(&mut c4, &Step { path, event });
                log.push((c4.cwnd(), c4.pacing_rate(), c4.send_quantum(), *c4.phase()));
            }
            log
        };
        let at_zero = run(0);
        prop_assert_eq!(&at_zero, &run(1));
        prop_assert_eq!(&at_zero, &run(999_999_999_999_999_937));
    }

    #[test]
    fn a_clone_goes_on_the_same_way(steps in steps(), cut in 0..80_usize) {
        let mut one = C4::new(&Config::default());
        let mut two = one.clone();
        for (index, step) in steps.iter().enumerate() {
            apply(&mut one, step);
            if index < cut {
                two = one.clone();
            } else {
                apply(&mut two, step);
            }
        }
        prop_assert_eq!(one, two);
    }
}
