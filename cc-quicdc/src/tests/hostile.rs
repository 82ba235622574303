//! Receive times come from the peer. Whatever they say, the flow is never faster than Westwood+ with the same events.

use super::link::{Flow, World};
use crate::{BandwidthFilter, Config, DelayMode, QuicDc, Westwood};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, EcnEvent, IncreaseRule, Instant, LossEvent,
    LostPacket, MtuChange, PathChange, PathRtt, PathState, PeerInstant, RttEvent, SendLimit, SentPacket,
    SpuriousLoss,
};
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

/// One packet in an event.
#[derive(Clone, Copy, Debug)]
struct Packet {
    number: Option<u64>,
    sent_at: u64,
    bytes: u64,
    stamp: Option<u64>,
}

#[derive(Clone, Debug)]
enum Call {
    Sent { number: u64, bytes: u64 },
    Ack { packets: Vec<Packet>, last: bool, limited_by: SendLimit, peak: u64, app_limited: bool },
    Loss { packets: Vec<Packet>, persistent: bool },
    Ecn { packet: Packet },
    Rtt { latest: u64, ack_delay: Option<u64> },
    AppLimited,
    Idle(u64),
    Spurious,
    Mtu(MtuChange),
    Path(PathChange),
}

#[derive(Clone, Copy, Debug)]
struct State {
    now: u64,
    flight: u64,
    prior: u64,
    next: u64,
    rtt: Option<u64>,
    datagram: u64,
}

fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..20_000_u64, 2 => 0..10_000_000_u64, 1 => any::<u64>()]
}

/// Mostly within two seconds, sometimes absurd.
fn nanos() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..2_000_000_000_u64, 2 => 0..1_000_000_000_000_u64, 1 => any::<u64>()]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..100_u64, 1 => any::<u64>()]
}

fn packet() -> impl Strategy<Value = Packet> {
    (prop::option::of(number()), nanos(), bytes(), prop::option::weighted(0.8, nanos()))
        .prop_map(|(number, sent_at, bytes, stamp)| Packet { number, sent_at, bytes, stamp })
}

fn limit() -> impl Strategy<Value = SendLimit> {
    prop::sample::select(vec![
        SendLimit::Cwnd,
        SendLimit::Pacer,
        SendLimit::FlowControl,
        SendLimit::NoData,
        SendLimit::Unknown,
    ])
}

fn call() -> impl Strategy<Value = Call> {
    let packets = || prop::collection::vec(packet(), 0..6);
    prop_oneof![
        2 => (number(), bytes()).prop_map(|(number, bytes)| Call::Sent { number, bytes }),
        12 => (packets(), any::<bool>(), limit(), bytes(), prop::bool::weighted(0.2)).prop_map(
            |(packets, last, limited_by, peak, app_limited)| Call::Ack { packets, last, limited_by, peak, app_limited }
        ),
        2 => (packets(), prop::bool::weighted(0.2)).prop_map(|(packets, persistent)| Call::Loss { packets, persistent }),
        1 => packet().prop_map(|packet| Call::Ecn { packet }),
        4 => (nanos(), prop::option::of(nanos())).prop_map(|(latest, ack_delay)| Call::Rtt { latest, ack_delay }),
        1 => Just(Call::AppLimited),
        1 => nanos().prop_map(Call::Idle),
        1 => Just(Call::Spurious),
        1 => prop::sample::select(vec![MtuChange::Handshake, MtuChange::Discovered, MtuChange::BlackHole])
            .prop_map(Call::Mtu),
        1 => prop::sample::select(vec![PathChange::Rebinding, PathChange::New]).prop_map(Call::Path),
    ]
}

fn state() -> impl Strategy<Value = State> {
    let datagram = prop_oneof![20 => Just(1_200_u64), 1 => 1..9_000_u64, 1 => any::<u64>()];
    (nanos(), bytes(), bytes(), number(), prop::option::weighted(0.9, nanos()), datagram).prop_map(
        |(now, flight, prior, next, rtt, datagram)| State { now, flight, prior, next, rtt, datagram },
    )
}

/// Events at random, and such as take the controllers through rounds: times that advance by tens of milliseconds.
fn events() -> impl Strategy<Value = Vec<(Call, State)>> {
    (prop::collection::vec((call(), state(), 0..80_000_000_u64), 1..150), any::<bool>()).prop_map(
        |(events, in_rounds)| {
            let mut now = 0;
            events
                .into_iter()
                .map(|(mut call, mut state, step)| {
                    now += step;
                    if in_rounds {
                        state.now = now;
                        let packets = match &mut call {
                            Call::Ack { packets, .. } | Call::Loss { packets, .. } => packets,
                            _ => return (call, state),
                        };
                        for packet in packets {
                            packet.number = None;
                            packet.sent_at = now.saturating_sub(packet.sent_at % 100_000_000);
                        }
                    }
                    (call, state)
                })
                .collect()
        },
    )
}

fn apply(cc: &mut impl CongestionController, call: &Call, state: &State, stamped: bool) {
    let rtt = state.rtt.map(Duration::from_nanos);
    let path = PathState {
        now: Instant::from_nanos(state.now),
        bytes_in_flight: state.flight,
        prior_bytes_in_flight: state.prior,
        next_number: state.next,
        rtt: rtt.map(|rtt| PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: rtt }),
        max_datagram_size: state.datagram,
        app_limited: matches!(call, Call::Ack { app_limited: true, .. }),
        ..PathState::default()
    };
    match call {
        Call::Sent { number, bytes } => {
            let (sent_at, in_flight) = (path.now, true);
            let packet =
                SentPacket { number: *number, bytes: *bytes, sent_at, in_flight, ..SentPacket::default() };
            cc.on_packet_sent(&path, &packet);
        }
        Call::Ack { packets, last, limited_by, peak, .. } => {
            let packets: Vec<AckedPacket> = packets
                .iter()
                .map(|packet| AckedPacket {
                    number: packet.number,
                    sent_at: Instant::from_nanos(packet.sent_at),
                    bytes: packet.bytes,
                    received_at: packet.stamp.filter(|_| stamped).map(PeerInstant::from_nanos),
                    ..AckedPacket::default()
                })
                .collect();
            let ack = AckEvent {
                packets: &packets,
                last: *last,
                rate_sample: None,
                limited_by: *limited_by,
                max_bytes_in_flight: *peak,
                app_limited_at: None,
                newest_data_sent_at: packets.last().map(|packet| packet.sent_at),
            };
            cc.on_ack(&path, &ack);
        }
        Call::Loss { packets, persistent } => {
            let packets: Vec<LostPacket> = packets
                .iter()
                .map(|packet| LostPacket {
                    number: packet.number,
                    sent_at: Instant::from_nanos(packet.sent_at),
                    bytes: packet.bytes,
                    ..LostPacket::default()
                })
                .collect();
            let persistent_congestion = *persistent;
            cc.on_loss(
                &path,
                &LossEvent { packets: &packets, last: true, persistent_congestion, cause: None },
            );
        }
        Call::Ecn { packet } => {
            let ecn = EcnEvent {
                ce: Some(1),
                largest_acked: packet.number,
                largest_acked_sent_at: Instant::from_nanos(packet.sent_at),
                ..EcnEvent::default()
            };
            cc.on_ecn(&path, &ecn);
        }
        Call::Rtt { latest, ack_delay } => {
            let rtt = RttEvent {
                latest: Duration::from_nanos(*latest),
                ack_delay: ack_delay.map(Duration::from_nanos),
                is_sample: true,
                ..RttEvent::default()
            };
            cc.on_rtt(&path, &rtt);
        }
        Call::AppLimited => cc.on_app_limited(&path),
        Call::Idle(nanos) => cc.on_idle_restart(&path, Duration::from_nanos(*nanos)),
        Call::Spurious => cc.on_spurious_loss(&path, &SpuriousLoss::All),
        Call::Mtu(change) => cc.on_mtu_update(&path, *change),
        Call::Path(change) => cc.on_path_change(&path, *change),
    }
}

/// Whether no output of `slower` is above that of `faster`.
fn is_bounded(slower: &impl CongestionController, faster: &impl CongestionController) -> bool {
    let rate = |rate: Option<cc_core::Rate>| rate.map_or(u64::MAX, cc_core::Rate::as_bytes_per_sec);
    slower.cwnd() <= faster.cwnd()
        && rate(slower.pacing_rate()) <= rate(faster.pacing_rate())
        && slower.send_quantum() <= faster.send_quantum()
        && (faster.may_send_beyond_cwnd() || !slower.may_send_beyond_cwnd())
}

/// Whether the pacing rate is no higher than before, unless the window is larger.
fn raises_no_rate(after: &impl CongestionController, before: &impl CongestionController) -> bool {
    let rate = |rate: Option<cc_core::Rate>| rate.map_or(u64::MAX, cc_core::Rate::as_bytes_per_sec);
    after.cwnd() > before.cwnd() || rate(after.pacing_rate()) <= rate(before.pacing_rate())
}

fn modes() -> impl Strategy<Value = DelayMode> {
    prop::sample::select(vec![
        DelayMode::Threshold,
        DelayMode::PaperFraction { percent: 80 },
        DelayMode::PaperFraction { percent: 10 },
        DelayMode::PaperProbe { percent: 80 },
    ])
}

fn configs() -> impl Strategy<Value = Config> {
    let rules = prop::sample::select(vec![IncreaseRule::Rfc9002, IncreaseRule::RateLimited]);
    let filters = prop::sample::select(vec![
        BandwidthFilter::TwoStages,
        BandwidthFilter::OneStage,
        BandwidthFilter::Linux,
    ]);
    (modes(), any::<bool>(), rules, filters).prop_map(|(delay, ack_arrival, increase_rule, filter)| Config {
        delay,
        ack_arrival,
        increase_rule,
        filter,
        ..Config::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn whatever_receive_times_say_no_output_is_above_that_of_westwood(events in events(), config in configs()) {
        // The same events: after each of them, all outputs. Westwood+ looks at no receive time, so that its run is also that
        // of any other stamps, or none.
        let mut stamped = QuicDc::new(&config);
        let mut plain = Westwood::new(&config);
        for (call, state) in &events {
            apply(&mut stamped, call, state, true);
            apply(&mut plain, call, state, false);
            prop_assert!(is_bounded(&stamped, &plain), "{call:?} {state:?}\n{stamped:?}\n{plain:?}");
            prop_assert_eq!(std::format!("{:?}", stamped.westwood()), std::format!("{plain:?}"));
        }
    }

    #[test]
    fn without_receive_times_and_ack_arrivals_it_is_westwood(events in events(), config in configs()) {
        let config = Config { ack_arrival: false, ..config };
        let mut silent = QuicDc::new(&config);
        let mut plain = Westwood::new(&config);
        for (call, state) in &events {
            apply(&mut silent, call, state, false);
            apply(&mut plain, call, state, false);
            prop_assert_eq!(silent.snapshot(), plain.snapshot());
        }
    }

    #[test]
    fn floor_and_ceiling_hold_whatever_comes(events in events(), config in configs()) {
        let mut cc = QuicDc::new(&config);
        for (call, state) in &events {
            let before = cc;
            apply(&mut cc, call, state, true);
            let datagram = state.datagram.clamp(1, cc_core::MAX_DATAGRAM_SIZE);
            prop_assert!(cc.cwnd() >= 2 * datagram && cc.cwnd() <= crate::MAX_WINDOW);
            prop_assert!(cc.send_quantum() >= datagram && cc.send_quantum() <= 65_536);
            prop_assert!(cc.pacing_rate().is_none_or(|rate| !rate.is_zero()));
            // U6: a signal raises nothing, but that a larger datagram lifts the floor; and an RTT, by itself, no window.
            if matches!(call, Call::Loss { .. } | Call::Ecn { .. } | Call::Rtt { .. }) {
                prop_assert!(cc.cwnd() <= before.cwnd().max(2 * datagram), "{call:?}");
            }
            if matches!(call, Call::Loss { .. } | Call::Ecn { .. }) {
                prop_assert!(raises_no_rate(&cc, &before), "{call:?}");
                prop_assert!(raises_no_rate(cc.westwood(), before.westwood()), "{call:?}");
            }
        }
    }

    #[test]
    fn a_shift_of_all_times_changes_nothing(
        events in events(), config in configs(), shift in 1..1_u64 << 60, peer in any::<u64>(),
    ) {
        // U7, and the offset of the peer's clock.
        let small = |nanos: u64| nanos < 1 << 60;
        let packets = |call: &Call| match call {
            Call::Ack { packets, .. } | Call::Loss { packets, .. } => packets.clone(),
            Call::Ecn { packet } => vec![*packet],
            _ => Vec::new(),
        };
        let mut plain = QuicDc::new(&config);
        let mut shifted = QuicDc::new(&config);
        for (call, state) in &events {
            let fits = small(state.now) && packets(call).iter().all(|packet| small(packet.sent_at));
            // An RTT longer than the clock has run would be cut off at its start.
            if !fits || matches!(call, Call::Rtt { latest, .. } if *latest > state.now) {
                continue;
            }
            let mut later = call.clone();
            match &mut later {
                Call::Ack { packets, .. } | Call::Loss { packets, .. } => {
                    for packet in packets {
                        packet.sent_at += shift;
                        packet.stamp = packet.stamp.map(|stamp| stamp.wrapping_add(peer));
                    }
                }
                Call::Ecn { packet } => packet.sent_at += shift,
                _ => {}
            }
            apply(&mut plain, call, state, true);
            apply(&mut shifted, &later, &State { now: state.now + shift, ..*state }, true);
            prop_assert_eq!(plain.snapshot(), shifted.snapshot());
        }
    }
}

/// Lies that a receiver might think of, by packet number and true receive time.
const LIES: [fn(u64, u64) -> Option<u64>; 9] = [
    |_, _| Some(0),
    |_, _| Some(u64::MAX),
    |number, _| Some(number),
    |number, _| Some(u64::MAX - number),
    // Queues that shrink, and grow.
    |_, at| Some(at / 2),
    |_, at| Some(at * 2),
    // Now and then, and each time another clock.
    |number, at| (number % 100 == 0).then_some(at),
    |number, at| Some(at ^ (number % 7) << 60),
    // No queue, ever.
    |number, _| Some(number * 960_000),
];

#[test]
fn lies_on_a_link_cost_the_liar_and_stop_nothing() {
    for stamp in LIES {
        for delay in [
            DelayMode::Threshold,
            DelayMode::PaperFraction { percent: 80 },
            DelayMode::PaperProbe { percent: 80 },
        ] {
            let config = Config { delay, ..Config::default() };
            let mut flow = Flow::new(QuicDc::new(&config), World { stamp, ..World::default() });
            flow.run(10, |_, controller| assert!(controller.cwnd() <= controller.westwood().cwnd()));
            // 12.5 MB is what the link carries. The worst lie makes up a queue at every seventh packet, of which one is a signal in
            // the paper's modes.
            assert!(flow.delivered() >= 12_500_000 * 25 / 100, "{delay:?}: {}", flow.delivered());
        }
    }
}
