//! Invariants that hold after every event, whatever the events.

use super::stack::{Frame, MSS, Numbers, Stack};
use crate::{Config, Cubic, MAX_WINDOW};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, Duration, EcnEvent, IncreaseRule, Instant,
    LossEvent, LostPacket, MAX_DATAGRAM_SIZE, MtuChange, PathChange, PathRtt, PathState, ResumeHint,
    RttEvent, SendLimit, SentPacket, SpuriousLoss,
};
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

/// A call with any values.
#[derive(Clone, Debug)]
enum Call {
    Sent { number: u64, bytes: u64, in_flight: bool },
    Ack { packets: Vec<Packet>, last: bool, limited_by: SendLimit, peak: u64, limited_at: Option<u64> },
    Loss { packets: Vec<Packet>, persistent: bool },
    Ecn { ce: u64, newly: Option<u64>, packet: Packet },
    Rtt { latest: u64 },
    AppLimited,
    Idle,
    Spurious(Option<Packet>),
    Mtu(MtuChange),
    Path(PathChange),
    Resume { cwnd: u64, rtt: u64 },
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    number: Option<u64>,
    sent_at: u64,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct State {
    now: u64,
    flight: u64,
    prior: u64,
    next: u64,
    oldest: Option<u64>,
    rtt: Option<u64>,
    datagram: u64,
}

/// Mostly plausible, sometimes absurd.
fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..20_000_u64, 2 => 0..10_000_000_u64, 1 => any::<u64>()]
}

fn nanos() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..2_000_000_000_u64, 2 => 0..1_000_000_000_000_u64, 1 => any::<u64>()]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..100_u64, 1 => any::<u64>()]
}

fn packet() -> impl Strategy<Value = Packet> {
    (prop::option::of(number()), nanos(), bytes()).prop_map(|(number, sent_at, bytes)| Packet {
        number,
        sent_at,
        bytes,
    })
}

fn limit() -> impl Strategy<Value = SendLimit> {
    prop::sample::select(vec![
        SendLimit::Cwnd,
        SendLimit::Pacer,
        SendLimit::Amplification,
        SendLimit::FlowControl,
        SendLimit::NoData,
        SendLimit::Unknown,
    ])
}

fn call() -> impl Strategy<Value = Call> {
    let packets = || prop::collection::vec(packet(), 0..4);
    prop_oneof![
        4 => (number(), bytes(), any::<bool>())
            .prop_map(|(number, bytes, in_flight)| Call::Sent { number, bytes, in_flight }),
        8 => (packets(), any::<bool>(), limit(), bytes(), prop::option::of(nanos())).prop_map(
            |(packets, last, limited_by, peak, limited_at)| Call::Ack {
                packets, last, limited_by, peak, limited_at
            }
        ),
        3 => (packets(), prop::bool::weighted(0.2))
            .prop_map(|(packets, persistent)| Call::Loss { packets, persistent }),
        2 => (0..3_u64, prop::option::of(0..3_u64), packet())
            .prop_map(|(ce, newly, packet)| Call::Ecn { ce, newly, packet }),
        4 => nanos().prop_map(|latest| Call::Rtt { latest }),
        1 => Just(Call::AppLimited),
        1 => Just(Call::Idle),
        2 => prop::option::of(packet()).prop_map(Call::Spurious),
        1 => prop::sample::select(vec![
            MtuChange::Handshake, MtuChange::Discovered, MtuChange::BlackHole
        ]).prop_map(Call::Mtu),
        1 => prop::sample::select(vec![PathChange::Rebinding, PathChange::New]).prop_map(Call::Path),
        1 => (bytes(), nanos()).prop_map(|(cwnd, rtt)| Call::Resume { cwnd, rtt }),
    ]
}

fn state() -> impl Strategy<Value = State> {
    let datagram = prop_oneof![20 => Just(1_200_u64), 1 => 1..9_000_u64, 1 => any::<u64>()];
    (nanos(), bytes(), bytes(), number(), prop::option::of(number()), prop::option::of(nanos()), datagram)
        .prop_map(|(now, flight, prior, next, oldest, rtt, datagram)| State {
            now,
            flight,
            prior,
            next,
            oldest,
            rtt,
            datagram,
        })
}

fn path(state: &State, shift: u64) -> PathState {
    PathState {
        now: Instant::from_nanos(state.now + shift),
        bytes_in_flight: state.flight,
        prior_bytes_in_flight: state.prior,
        next_number: state.next,
        oldest_outstanding: state.oldest,
        rtt: state.rtt.map(|rtt| {
            let rtt = Duration::from_nanos(rtt);
            PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: rtt }
        }),
        max_datagram_size: state.datagram,
        ..PathState::default()
    }
}

/// Makes the call; `shift` is added to all times.
fn apply(cubic: &mut Cubic, call: &Call, state: &State, shift: u64) {
    let path = path(state, shift);
    let at = |nanos: u64| Instant::from_nanos(nanos + shift);
    let acked = |packet: &Packet| AckedPacket {
        number: packet.number,
        sent_at: at(packet.sent_at),
        bytes: packet.bytes,
        ..AckedPacket::default()
    };
    match call {
        Call::Sent { number, bytes, in_flight } => {
            let packet = SentPacket {
                number: *number,
                bytes: *bytes,
                in_flight: *in_flight,
                sent_at: path.now,
                ..SentPacket::default()
            };
            cubic.on_packet_sent(&path, &packet);
        }
        Call::Ack { packets, last, limited_by, peak, limited_at } => {
            let packets: Vec<_> = packets.iter().map(acked).collect();
            let ack = AckEvent {
                packets: &packets,
                last: *last,
                rate_sample: None,
                limited_by: *limited_by,
                max_bytes_in_flight: *peak,
                app_limited_at: limited_at.map(at),
                newest_data_sent_at: packets.last().map(|packet| packet.sent_at),
            };
            cubic.on_ack(&path, &ack);
        }
        Call::Loss { packets, persistent } => {
            let packets: Vec<_> = packets
                .iter()
                .map(|packet| LostPacket {
                    number: packet.number,
                    sent_at: at(packet.sent_at),
                    bytes: packet.bytes,
                    ..LostPacket::default()
                })
                .collect();
            let loss =
                LossEvent { packets: &packets, last: true, persistent_congestion: *persistent, cause: None };
            cubic.on_loss(&path, &loss);
        }
        Call::Ecn { ce, newly, packet } => {
            let ecn = EcnEvent {
                ce: Some(*ce),
                newly_acked: *newly,
                largest_acked: packet.number,
                largest_acked_sent_at: at(packet.sent_at),
                ..EcnEvent::default()
            };
            cubic.on_ecn(&path, &ecn);
        }
        Call::Rtt { latest } => {
            let latest = Duration::from_nanos(*latest);
            cubic.on_rtt(&path, &RttEvent { latest, is_sample: true, ..RttEvent::default() });
        }
        Call::AppLimited => cubic.on_app_limited(&path),
        Call::Idle => cubic.on_idle_restart(&path, Duration::from_secs(1)),
        Call::Spurious(None) => cubic.on_spurious_loss(&path, &SpuriousLoss::All),
        Call::Spurious(Some(packet)) => {
            let spurious = SpuriousLoss::Packet {
                number: packet.number,
                sent_at: at(packet.sent_at),
                bytes: packet.bytes,
            };
            cubic.on_spurious_loss(&path, &spurious);
        }
        Call::Mtu(change) => cubic.on_mtu_update(&path, *change),
        Call::Path(change) => cubic.on_path_change(&path, *change),
        Call::Resume { cwnd, rtt } => {
            let hint = ResumeHint { cwnd: *cwnd, rtt: Duration::from_nanos(*rtt) };
            cubic.on_resume_hint(&path, &hint);
        }
    }
    cubic.on_discarded(&path, 1, DiscardReason::KeysDiscarded);
}

fn rules() -> impl Strategy<Value = IncreaseRule> {
    prop::sample::select(vec![IncreaseRule::Rfc9002, IncreaseRule::RateLimited])
}

proptest! {
    #[test]
    fn floor_pacing_and_monotony_hold_after_any_event(
        calls in prop::collection::vec((call(), state()), 1..120), increase_rule in rules(), paces in any::<bool>(),
    ) {
        let mut cubic = Cubic::new(&Config { increase_rule, paces, ..Config::default() });
        for (call, state) in &calls {
            let before = cubic;
            apply(&mut cubic, call, state, 0);
            let datagram = state.datagram.clamp(1, MAX_DATAGRAM_SIZE);
            // U1.
            prop_assert!(cubic.cwnd() >= 2 * datagram);
            prop_assert!(cubic.send_quantum() >= datagram);
            prop_assert!(cubic.cwnd() <= MAX_WINDOW);
            // U2.
            prop_assert!(cubic.send_quantum() <= 65_536);
            prop_assert!(cubic.pacing_rate().is_none_or(|rate| !rate.is_zero()));
            let floor = 2 * datagram;
            match call {
                // U4: growth without acks is an undo, a resumption or the floor of a larger datagram.
                Call::Sent { .. } | Call::AppLimited | Call::Idle => {
                    prop_assert!(cubic.cwnd() <= before.cwnd().max(floor));
                    prop_assert!(cubic.cwnd() >= before.cwnd());
                }
                // U4: no decrease without a signal; growth is at most the bytes acked.
                Call::Ack { packets, .. } => {
                    let acked = packets.iter().fold(0_u64, |sum, packet| sum.saturating_add(packet.bytes));
                    prop_assert!(cubic.cwnd() >= before.cwnd());
                    prop_assert!(cubic.cwnd() <= before.cwnd().max(floor).saturating_add(acked));
                }
                // U6.
                Call::Loss { .. } | Call::Ecn { .. } => {
                    prop_assert!(cubic.cwnd() <= before.cwnd().max(floor));
                    if cubic.cwnd() <= before.cwnd() {
                        prop_assert!(cubic.pacing_rate() <= before.pacing_rate());
                    }
                }
                Call::Rtt { .. } | Call::Spurious(_) | Call::Mtu(_) | Call::Path(_) | Call::Resume { .. } => {}
            }
        }
    }

    #[test]
    fn a_shift_of_all_times_changes_nothing(
        calls in prop::collection::vec((call(), state()), 1..80), shift in 1..1_u64 << 60,
    ) {
        // U7; times that would pass the end of the range are left out, and so is what saturates at its start.
        let small = |nanos: u64| nanos < 1 << 60;
        let fits = |packet: &Packet| small(packet.sent_at);
        let calls = calls.iter().filter(|(call, state)| {
            small(state.now) && match call {
                Call::Ack { packets, limited_at, .. } => packets.iter().all(fits) && limited_at.is_none_or(small),
                Call::Loss { packets, .. } => packets.iter().all(fits),
                Call::Ecn { packet, .. } | Call::Spurious(Some(packet)) => fits(packet),
                _ => true,
            }
        });
        let mut plain = Cubic::new(&Config::default());
        let mut shifted = Cubic::new(&Config::default());
        for (call, state) in calls {
            apply(&mut plain, call, state, 0);
            apply(&mut shifted, call, state, shift);
            prop_assert_eq!(plain.snapshot(), shifted.snapshot());
            prop_assert_eq!(plain.w_est(), shifted.w_est());
        }
    }

    #[test]
    fn a_clone_that_sees_the_same_events_stays_the_same(
        calls in prop::collection::vec((call(), state()), 1..80), from in 0..80_usize,
    ) {
        let mut cubic = Cubic::new(&Config::default());
        let mut copy = None;
        for (index, (call, state)) in calls.iter().enumerate() {
            if index == from {
                copy = Some(cubic);
            }
            apply(&mut cubic, call, state, 0);
            if let Some(copy) = &mut copy {
                apply(copy, call, state, 0);
                prop_assert_eq!(std::format!("{:?}", copy), std::format!("{:?}", cubic));
            }
        }
    }
}

/// What a sender with a window does, in rounds of 100 ms.
#[derive(Clone, Copy, Debug)]
enum Round {
    /// Every packet arrives.
    Clean,
    /// The packet at this place (of 256 equal parts) of the flight is lost.
    Lossy(u8),
    /// A CE mark comes with the ACK.
    Marked,
    /// Only so many packets are sent, and there is no more data.
    Limited(u8),
    /// Nothing happens for so many milliseconds.
    Idle(u16),
}

fn round() -> impl Strategy<Value = Round> {
    prop_oneof![
        6 => Just(Round::Clean),
        2 => any::<u8>().prop_map(Round::Lossy),
        1 => Just(Round::Marked),
        2 => (1..20_u8).prop_map(Round::Limited),
        1 => any::<u16>().prop_map(Round::Idle),
    ]
}

/// Plays the rounds with datagrams of `datagram` bytes, `per_ack` packets to an ACK; the window after each.
fn play(rounds: &[Round], datagram: u64, per_ack: usize) -> (Vec<u64>, Stack) {
    let config =
        Config { max_datagram_size: datagram, initial_window: Some(10 * datagram), ..Config::default() };
    let mut stack = Stack::with(&config);
    stack.fix_rtt(100);
    let mut now = 1_000;
    let mut windows = Vec::new();
    for round in rounds {
        let sent = match round {
            Round::Idle(millis) => {
                now += u64::from(*millis);
                continue;
            }
            Round::Limited(packets) => {
                let room = stack.cc.cwnd() / datagram;
                let sent = stack.send(now, room.min(u64::from(*packets)).max(1));
                stack.limited_by = SendLimit::NoData;
                sent
            }
            _ => stack.fill(now),
        };
        let count = sent.end() - sent.start() + 1;
        let lost = match round {
            Round::Lossy(place) => Some(sent.start() + count * u64::from(*place) / 256),
            _ => None,
        };
        let numbers: Vec<u64> = sent.filter(|n| Some(*n) != lost).collect();
        for (index, chunk) in numbers.chunks(per_ack).enumerate() {
            let ce = u64::from(matches!(round, Round::Marked) && index == 0);
            stack.frame(now + 100, Frame { acks: chunk.to_vec(), ce, ..Frame::default() });
            // Nothing more is sent in this round.
            stack.limited_by = SendLimit::NoData;
        }
        if let Some(lost) = lost {
            stack.frame(now + 100, Frame { losses: vec![lost], ..Frame::default() });
        }
        windows.push(stack.cc.cwnd());
        now += 101;
        // Windows that one test can fill.
        if stack.cc.cwnd() > 2_000 * datagram {
            break;
        }
    }
    (windows, stack)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_window_does_not_depend_on_how_acks_are_cut(
        rounds in prop::collection::vec(round(), 1..60), per_ack in 2..40_usize,
    ) {
        // U8: all ACKs of a round come at one time. HyStart++ counts samples, so ACKs that carry fewer samples may leave
        // slow start at another time; RTTs are constant here, so that it does not.
        let (alone, _) = play(&rounds, MSS, 1);
        let (merged, _) = play(&rounds, MSS, per_ack);
        for (a, b) in alone.iter().zip(&merged) {
            prop_assert!(a.abs_diff(*b) <= MSS, "{alone:?} {merged:?}");
        }
    }

    #[test]
    fn windows_scale_with_the_datagram(rounds in prop::collection::vec(round(), 1..60), k in 2..8_u64) {
        // U9: k times the bytes give k times the window, to rounding.
        let (small, _) = play(&rounds, MSS, 1);
        let (large, _) = play(&rounds, k * MSS, 1);
        prop_assert_eq!(small.len(), large.len());
        for (a, b) in small.iter().zip(&large) {
            prop_assert!((a * k).abs_diff(*b) <= k * MSS, "{small:?} {large:?}");
        }
    }

    #[test]
    fn one_flight_causes_one_reduction(
        rounds in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 1..40),
        numbers in prop::sample::select(vec![Numbers::Known, Numbers::WithoutNext, Numbers::Unknown]),
    ) {
        // U5: any number of losses and marks of packets sent before a reduction cause no other.
        let mut stack = Stack::with(&Config { initial_window: Some(120_000), ..Config::default() });
        stack.numbers = numbers;
        let mut now = 1_000;
        for places in &rounds {
            let sent = stack.fill(now);
            let count = sent.end() - sent.start() + 1;
            let events = stack.cc.snapshot().congestion_events;
            let window = stack.cc.cwnd();
            let mut gone = std::collections::BTreeSet::new();
            for (index, place) in places.iter().enumerate() {
                let packet = sent.start() + count * u64::from(*place) / 256;
                if !gone.insert(packet) {
                    continue;
                }
                let at = now + 100 + index as u64;
                if place % 3 == 0 {
                    stack.frame(at, Frame { acks: vec![packet], ce: 1, ..Frame::default() });
                } else {
                    stack.frame(at, Frame { losses: vec![packet], ..Frame::default() });
                }
            }
            let reductions = stack.cc.snapshot().congestion_events - events;
            prop_assert_eq!(reductions, u64::from(!places.is_empty()));
            if reductions > 0 {
                // Not below that of one loss.
                prop_assert!(stack.cc.cwnd() >= (window * 7 / 10).max(2 * MSS));
            }
            let rest: Vec<u64> = sent.filter(|n| !gone.contains(n)).collect();
            stack.frame(now + 110, Frame { acks: rest, ..Frame::default() });
            now += 120;
        }
    }
}
