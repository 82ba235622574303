//! Whole event sequences: absurd ones must leave the outputs sane, and time must only matter as differences.

use crate::{Bbr, Config};
use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, Duration, EcnCodepoint, EcnEvent, Instant,
    LossEvent, LostPacket, MtuChange, PacketSnapshot, PathChange, PathRtt, PathState, RateSample, ResumeHint,
    SendLimit, SentPacket, SpuriousLoss,
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

#[derive(Clone, Debug)]
enum Event {
    Sent(u64, bool),
    Ack { packets: Vec<AckedPacket>, last: bool, sample: Option<RateSample>, limit: SendLimit, flight: u64 },
    Loss { packets: Vec<LostPacket>, last: bool, persistent: bool },
    Spurious(SpuriousLoss),
    Ecn(EcnEvent),
    Idle(Duration),
    Mtu(MtuChange),
    NewPath,
    Hint(ResumeHint),
    EcnState(EcnCodepoint),
    Policy(AckPolicy),
}

#[derive(Clone, Debug)]
struct Step {
    path: PathState,
    event: Event,
}

fn path() -> impl Strategy<Value = PathState> {
    let rtt = proptest::option::weighted(
        0.9,
        (odd(), odd()).prop_map(|(smoothed, min)| PathRtt {
            latest: Duration::from_nanos(smoothed),
            smoothed: Duration::from_nanos(smoothed),
            min: Duration::from_nanos(min),
            var: Duration::ZERO,
        }),
    );
    let mtu = prop_oneof![6 => Just(1_200), 1 => odd()];
    let sums = (odd(), odd(), odd(), odd());
    (odd(), sums, odd(), proptest::option::of(odd()), rtt, mtu, any::<bool>()).prop_map(
        |(now, (flight, prior, delivered, lost), next_number, oldest_outstanding, rtt, mtu, app_limited)| {
            PathState {
                now: Instant::from_nanos(now),
                bytes_in_flight: flight,
                prior_bytes_in_flight: prior,
                delivered,
                lost,
                next_number,
                oldest_outstanding,
                rtt,
                max_datagram_size: mtu,
                app_limited,
                ..PathState::default()
            }
        },
    )
}

fn snapshot() -> impl Strategy<Value = PacketSnapshot> {
    (odd(), proptest::option::of(odd()), odd(), odd(), any::<bool>()).prop_map(
        |(delivered, delivered_at, lost, bytes_in_flight, app_limited)| PacketSnapshot {
            delivered,
            delivered_at: delivered_at.map(Instant::from_nanos),
            first_sent_at: Instant::ZERO,
            lost,
            bytes_in_flight,
            app_limited,
        },
    )
}

fn sample() -> impl Strategy<Value = RateSample> {
    (snapshot(), odd(), odd(), odd(), odd(), odd()).prop_map(
        |(snapshot, sent_at, delivered, send, ack, lost_since_sent)| RateSample {
            sent_at: Instant::from_nanos(sent_at),
            snapshot,
            delivered,
            send_interval: Duration::from_nanos(send),
            ack_interval: Duration::from_nanos(ack),
            lost_since_sent,
            app_limited: snapshot.app_limited,
            ..RateSample::default()
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let acked = (proptest::option::of(odd()), odd(), odd(), any::<bool>()).prop_map(
        |(number, sent_at, bytes, was_lost)| AckedPacket {
            number,
            sent_at: Instant::from_nanos(sent_at),
            bytes,
            was_lost,
            ..AckedPacket::default()
        },
    );
    let lost = (
        proptest::option::of(odd()),
        odd(),
        odd(),
        proptest::option::of(snapshot()),
        proptest::option::of(any::<bool>()),
    )
        .prop_map(|(number, sent_at, bytes, snapshot, starts_run)| LostPacket {
            number,
            sent_at: Instant::from_nanos(sent_at),
            bytes,
            snapshot,
            starts_run,
            ..LostPacket::default()
        });
    let ecn = (proptest::option::of(odd()), proptest::option::of(odd()), proptest::option::of(odd()), odd())
        .prop_map(|(ce, newly_acked, largest_acked, sent_at)| EcnEvent {
            ce,
            newly_acked,
            largest_acked,
            largest_acked_sent_at: Instant::from_nanos(sent_at),
            ..EcnEvent::default()
        });
    let ack = (
        proptest::collection::vec(acked, 0..4),
        proptest::bool::weighted(0.9),
        proptest::option::of(sample()),
        any::<bool>(),
        odd(),
    )
        .prop_map(|(packets, last, sample, is_full, flight)| Event::Ack {
            packets,
            last,
            sample,
            limit: if is_full { SendLimit::Cwnd } else { SendLimit::Unknown },
            flight,
        });
    let loss =
        (proptest::collection::vec(lost, 0..8), proptest::bool::weighted(0.9), proptest::bool::weighted(0.1))
            .prop_map(|(packets, last, persistent)| Event::Loss { packets, last, persistent });
    let spurious = proptest::option::of((odd(), odd(), odd())).prop_map(|packet| {
        Event::Spurious(match packet {
            None => SpuriousLoss::All,
            Some((number, sent_at, bytes)) => {
                SpuriousLoss::Packet { number: Some(number), sent_at: Instant::from_nanos(sent_at), bytes }
            }
        })
    });
    let codepoint =
        prop_oneof![Just(EcnCodepoint::NotEct), Just(EcnCodepoint::Ect0), Just(EcnCodepoint::Ect1)];
    let mtu =
        prop_oneof![Just(MtuChange::Handshake), Just(MtuChange::Discovered), Just(MtuChange::BlackHole)];
    let nanos = Duration::from_nanos;
    prop_oneof![
        4 => (odd(), any::<bool>()).prop_map(|(bytes, in_flight)| Event::Sent(bytes, in_flight)),
        16 => ack,
        5 => loss,
        2 => spurious,
        2 => ecn.prop_map(Event::Ecn),
        2 => odd().prop_map(move |idle| Event::Idle(nanos(idle))),
        1 => mtu.prop_map(Event::Mtu),
        1 => Just(Event::NewPath),
        1 => (odd(), odd()).prop_map(move |(cwnd, rtt)| Event::Hint(ResumeHint { cwnd, rtt: nanos(rtt) })),
        1 => codepoint.prop_map(Event::EcnState),
        1 => (odd(), odd()).prop_map(move |(packets, delay)| {
            Event::Policy(AckPolicy { packets, max_ack_delay: nanos(delay) })
        }),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((path(), event()).prop_map(|(path, event)| Step { path, event }), 1..80)
}

fn apply(bbr: &mut Bbr, Step { path, event }: &Step) {
    match event {
        Event::Sent(bytes, in_flight) => {
            let packet = SentPacket { bytes: *bytes, in_flight: *in_flight, ..SentPacket::default() };
            bbr.on_packet_sent(path, &packet);
        }
        Event::Ack { packets, last, sample, limit, flight } => {
            let ack = AckEvent {
                packets,
                last: *last,
                rate_sample: *sample,
                limited_by: *limit,
                max_bytes_in_flight: *flight,
                app_limited_at: None,
                newest_data_sent_at: None,
            };
            bbr.on_ack(path, &ack);
        }
        Event::Loss { packets, last, persistent } => {
            let loss = LossEvent { packets, last: *last, persistent_congestion: *persistent, cause: None };
            bbr.on_loss(path, &loss);
        }
        Event::Spurious(spurious) => bbr.on_spurious_loss(path, spurious),
        Event::Ecn(ecn) => bbr.on_ecn(path, ecn),
        Event::Idle(idle) => bbr.on_idle_restart(path, *idle),
        Event::Mtu(change) => bbr.on_mtu_update(path, *change),
        Event::NewPath => bbr.on_path_change(path, PathChange::New),
        Event::Hint(hint) => bbr.on_resume_hint(path, hint),
        Event::EcnState(codepoint) => bbr.on_ecn_state(path, *codepoint),
        Event::Policy(policy) => bbr.on_ack_policy(path, policy),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn absurd_events_leave_the_outputs_in_range(steps in steps(), initial_window in proptest::option::of(odd()), seed in any::<u64>()) {
        let mut bbr = Bbr::new(&Config { initial_window, seed, ..Config::default() });
        for step in &steps {
            let before = (bbr.cwnd(), bbr.pacing_rate(), bbr.max_bw());
            apply(&mut bbr, step);
            let datagram = step.path.max_datagram_size.clamp(1, 65_527);
            let pacing = bbr.pacing_rate().expect("it always paces");
            prop_assert!(bbr.cwnd() >= 2 * datagram, "cwnd {} at {step:?}", bbr.cwnd());
            prop_assert!(!pacing.is_zero());
            prop_assert!((datagram.min(65_536)..=65_536).contains(&bbr.send_quantum()));
            prop_assert!(bbr.wanted_ack_policy().is_none_or(|policy| policy.packets >= 1));
            prop_assert!(bbr.bw() <= bbr.max_bw());
            prop_assert!(bbr.min_rtt().is_none_or(|rtt| rtt >= Duration::from_micros(1)));
            // Signals of congestion raise nothing; a datagram that grew raises the window to two.
            if matches!(step.event, Event::Loss { .. } | Event::Ecn(_)) {
                prop_assert!(bbr.cwnd() <= before.0.max(2 * datagram));
                prop_assert!(Some(pacing) <= before.1);
                prop_assert_eq!(bbr.max_bw(), before.2);
            }
            // An estimate is only forgotten on a new path.
            if !matches!(step.event, Event::NewPath) {
                prop_assert!(before.2.is_zero() || !bbr.max_bw().is_zero());
            }
        }
    }

    #[test]
    fn adding_a_constant_to_all_times_changes_nothing(seeds in proptest::collection::vec(any::<(u8, u16, u16)>(), 1..300)) {
        let run = |epoch: u64| {
            let mut log = Vec::new();
            let mut now = epoch;
            let mut bbr = Bbr::new(&Config { now: Instant::from_nanos(epoch), ..Config::default() });
            let (mut delivered, mut total_lost) = (0, 0);
            for (index, &(kind, a, b)) in seeds.iter().enumerate() {
                let (index, a, b) = (index as u64, u64::from(a), u64::from(b));
                // From well below a round trip to longer than the interval of ProbeRTT.
                now += 300_017 * (a % 97) * if b % 31 == 0 { 1_000 } else { 1 };
                let back = |nanos: u64| Instant::from_nanos(now.saturating_sub(nanos).max(epoch));
                let rtt = Duration::from_nanos(20_000_000 + a * 3_001);
                let path = PathState {
                    now: Instant::from_nanos(now),
                    next_number: 40 + index * 10,
                    rtt: Some(PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: Duration::ZERO }),
                    bytes_in_flight: b,
                    prior_bytes_in_flight: b + a,
                    delivered: delivered + a,
                    lost: total_lost,
                    app_limited: b % 11 == 0,
                    ..PathState::default()
                };
                let number = (b % 3 != 0).then_some(index * 10);
                let snapshot = PacketSnapshot {
                    delivered: delivered.saturating_sub(b),
                    delivered_at: Some(back(b * 701)),
                    bytes_in_flight: b,
                    lost: total_lost.saturating_sub(a % 5_000),
                    ..PacketSnapshot::default()
                };
                let event = match kind % 8 {
                    0 => {
                        total_lost += 1_200;
                        Event::Loss {
                            packets: vec![LostPacket {
                                number,
                                sent_at: back(b * 1_009),
                                bytes: 1_200,
                                snapshot: (a % 3 != 0).then_some(snapshot),
                                starts_run: Some(a % 2 == 0),
                                ..LostPacket::default()
                            }],
                            last: true,
                            persistent: b % 29 == 0,
                        }
                    }
                    1 => Event::Ecn(EcnEvent { ce: Some(u64::from(b % 17 == 0)), largest_acked: number, largest_acked_sent_at: back(0), ..EcnEvent::default() }),
                    2 if b % 5 == 0 => Event::Idle(Duration::from_nanos(a * 100_003)),
                    2 => Event::Sent(1_200, true),
                    3 if b % 7 == 0 => Event::Spurious(SpuriousLoss::All),
                    _ => {
                        delivered += a;
                        Event::Ack {
                            packets: vec![AckedPacket { number, sent_at: back(b * 401), bytes: a, ..AckedPacket::default() }],
                            last: true,
                            sample: Some(RateSample {
                                sent_at: back(b * 401),
                                snapshot,
                                delivered,
                                ack_interval: Duration::from_nanos(b * 701),
                                app_limited: a % 13 == 0,
                                ..RateSample::default()
                            }),
                            limit: if a % 2 == 0 { SendLimit::Cwnd } else { SendLimit::Pacer },
                            flight: b + a,
                        }
                    }
                };
                apply(&mut bbr, &Step { path, event });
                log.push((bbr.cwnd(), bbr.pacing_rate(), bbr.send_quantum(), bbr.state().name(), bbr.round_count()));
            }
            log
        };
        let at_zero = run(0);
        prop_assert_eq!(&at_zero, &run(1));
        prop_assert_eq!(&at_zero, &run(999_999_999_999_999_937));
    }

    #[test]
    fn a_clone_goes_on_the_same_way(steps in steps(), cut in 0..80_usize) {
        let mut one = Bbr::new(&Config::default());
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
