//! Sequences of calls as s2n-quic makes them.

use super::{PacketInfo, S2nController, s2n};
use crate::Config;
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, EcnEvent, LossEvent, LostPacket, PathRtt,
    PathState, Rate, RttEvent, SentPacket, Snapshot,
};
use cc_testkit::{Subject, Watched};
use proptest::prelude::*;
use s2n::CongestionController as _;
use s2n::{Endpoint as _, Timestamp};
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::recovery::RttEstimator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::time::{Clock as _, NoopClock};
use std::time::Duration;

/// Hears nothing of it.
struct Nobody;

impl s2n::Publisher for Nobody {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}
    fn on_delivery_rate_sampled(&mut self, _: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: num_rational::Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

#[derive(Clone, PartialEq, Debug)]
enum Told {
    Sent(u64),
    Ecn(EcnEvent),
    Rtt(RttEvent),
    Lost(Vec<LostPacket>, bool),
    Acked(Vec<AckedPacket>),
    AppLimited,
    Discarded(u64, DiscardReason),
}

#[derive(Clone, Debug, Default)]
struct Spy {
    told: Vec<(PathState, Told)>,
    rate: Option<Rate>,
}

impl CongestionController for Spy {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.told.push((*path, Told::Sent(packet.number)));
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.told.push((*path, Told::Acked(ack.packets.to_vec())));
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.told.push((*path, Told::Lost(loss.packets.to_vec(), loss.persistent_congestion)));
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.told.push((*path, Told::Ecn(*ecn)));
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.told.push((*path, Told::Rtt(*rtt)));
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.told.push((*path, Told::AppLimited));
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.told.push((*path, Told::Discarded(bytes, reason)));
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
    fn cwnd(&self) -> u64 {
        12_000
    }
    fn send_quantum(&self) -> u64 {
        2_400
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// `millis` after the first moment.
fn at(millis: u64) -> Timestamp {
    NoopClock.get_time() + ms(millis)
}

/// The same for the controller: it starts at one second.
fn ours(millis: u64) -> cc_core::Instant {
    cc_core::Instant::from_millis(1_000 + millis)
}

fn make<C: CongestionController + Clone>(config: &mut Config<C>) -> S2nController<C> {
    let address = s2n_quic_core::inet::SocketAddress::default();
    let path = s2n::PathInfo::new(&s2n_quic_core::path::mtu::Config::default(), &address);
    let mut controller = config.new_congestion_controller(path);
    controller.on_mtu_update(1_200, &mut Nobody);
    controller
}

fn spy(rate: Option<Rate>) -> S2nController<Spy> {
    make(&mut Config::new(move |_| Spy { rate, ..Spy::default() }))
}

fn estimator() -> RttEstimator {
    RttEstimator::new(ms(100))
}

fn send<C: CongestionController + Clone>(
    controller: &mut S2nController<C>,
    millis: u64,
    bytes: usize,
    app_limited: Option<bool>,
) -> PacketInfo {
    controller.on_packet_sent(at(millis), bytes, app_limited, &estimator(), &mut Nobody)
}

fn random() -> impl s2n::RandomGenerator {
    struct Zeros;
    impl s2n_quic_core::random::Generator for Zeros {
        fn public_random_fill(&mut self, dest: &mut [u8]) {
            dest.fill(0);
        }
        fn private_random_fill(&mut self, dest: &mut [u8]) {
            dest.fill(0);
        }
    }
    Zeros
}

fn told(controller: &S2nController<Spy>) -> &[(PathState, Told)] {
    &controller.controller().told
}

#[test]
fn a_frame_is_delivered_in_the_order_of_the_contract_with_its_ack() {
    let mut controller = spy(None);
    let first = send(&mut controller, 0, 1_200, Some(false));
    let second = send(&mut controller, 1, 1_200, Some(false));
    let third = send(&mut controller, 2, 1_200, Some(false));
    assert_eq!((first.number, second.number, third.number), (0, 1, 2));
    let mut rtt = estimator();
    rtt.update_rtt(
        Duration::ZERO,
        ms(100),
        at(102),
        true,
        s2n_quic_core::packet::number::PacketNumberSpace::ApplicationData,
    );
    // RTT, losses, ECN, ack: s2n-quic's order.
    controller.on_rtt_update(at(2), at(102), &rtt, &mut Nobody);
    controller.on_packet_lost(1_200, first, false, true, &mut random(), at(102), &mut Nobody);
    controller.on_explicit_congestion(2, at(102), &mut Nobody);
    assert_eq!(told(&controller).len(), 3, "delivered before the frame was over");
    controller.on_ack(at(2), 2_400, third, &rtt, &mut random(), at(102), &mut Nobody);

    let told = &told(&controller)[3..];
    let ecn = EcnEvent {
        ce: Some(2),
        largest_acked: Some(2),
        largest_acked_sent_at: ours(2),
        ..EcnEvent::default()
    };
    let measured = RttEvent {
        latest: cc_core::Duration::from_millis(100),
        is_sample: true,
        is_first: true,
        ..RttEvent::default()
    };
    let lost = LostPacket {
        number: Some(0),
        sent_at: ours(0),
        bytes: 1_200,
        snapshot: first.snapshot,
        starts_run: Some(true),
        ..LostPacket::default()
    };
    let acked = AckedPacket {
        number: Some(2),
        sent_at: ours(2),
        bytes: 2_400,
        snapshot: third.snapshot,
        ..AckedPacket::default()
    };
    let events: Vec<&Told> = told.iter().map(|(_, event)| event).collect();
    assert_eq!(
        events,
        [&Told::Ecn(ecn), &Told::Rtt(measured), &Told::Lost(vec![lost], false), &Told::Acked(vec![acked])]
    );
    let expected = PathRtt {
        latest: rtt.latest_rtt().into(),
        smoothed: rtt.smoothed_rtt().into(),
        min: rtt.min_rtt().into(),
        var: rtt.rttvar().into(),
    };
    for (state, _) in told {
        assert_eq!((state.rtt, state.now), (Some(expected), ours(102)));
        assert_eq!((state.prior_bytes_in_flight, state.bytes_in_flight), (3_600, 0));
    }
    assert_eq!(controller.bytes_in_flight(), 0);
}

#[test]
fn a_loss_by_timer_is_an_event_by_itself() {
    let mut controller = spy(None);
    let first = send(&mut controller, 0, 1_200, Some(false));
    let second = send(&mut controller, 1, 1_200, Some(false));
    controller.on_packet_lost(1_200, first, true, true, &mut random(), at(300), &mut Nobody);
    controller.on_packet_lost(1_200, second, false, false, &mut random(), at(300), &mut Nobody);
    let events: Vec<_> = told(&controller)[2..].iter().map(|(state, event)| (state.lost, event)).collect();
    let [(0, Told::Lost(one, true)), (1_200, Told::Lost(two, false))] = events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((one[0].number, two[0].number, two[0].starts_run), (Some(0), Some(1), Some(false)));
}

#[test]
fn ack_only_packets_count_nowhere_and_handshake_packets_as_limited() {
    let mut controller = spy(None);
    send(&mut controller, 0, 0, Some(true));
    assert!(told(&controller).is_empty() && controller.bytes_in_flight() == 0);
    // Nobody says what limits a handshake: its packets are marked, and the controller hears nothing of it.
    assert!(send(&mut controller, 1, 1_200, None).snapshot.unwrap().app_limited);
    assert!(!told(&controller)[0].0.handshake_ready);
    assert_eq!(told(&controller).len(), 1);
    controller.on_packet_discarded(1_200, &mut Nobody);
    assert_eq!(told(&controller)[1].1, Told::Discarded(1_200, DiscardReason::KeysDiscarded));
    // Application data that ends here.
    let mut controller = spy(None);
    assert!(!send(&mut controller, 2, 1_200, Some(true)).snapshot.unwrap().app_limited);
    assert_eq!(told(&controller)[1].1, Told::AppLimited);
    assert!(send(&mut controller, 3, 1_200, Some(false)).snapshot.unwrap().app_limited);
    controller.on_packet_discarded(1_200, &mut Nobody);
    assert_eq!(told(&controller)[3].1, Told::Discarded(1_200, DiscardReason::MtuProbeLost));
}

#[test]
fn an_ack_only_packet_that_is_the_newest_of_a_frame_stands_for_the_last_one_that_counts() {
    let mut controller = spy(None);
    send(&mut controller, 0, 1_200, Some(false));
    let second = send(&mut controller, 1, 1_200, Some(false));
    let ack_only = send(&mut controller, 2, 0, Some(false));
    // s2n-quic names the newest packet of the frame, whether it counts or not.
    controller.on_ack(at(2), 2_400, ack_only, &estimator(), &mut random(), at(102), &mut Nobody);
    let (_, Told::Acked(acked)) = &told(&controller)[3] else { panic!("{:?}", told(&controller)) };
    let (number, snapshot) = (acked[0].number, acked[0].snapshot);
    assert_eq!((number, acked[0].sent_at, snapshot), (Some(1), ours(1), second.snapshot));
}

#[test]
fn departures_follow_rate_and_quantum() {
    // 120 000 B/s: a datagram of 1200 takes 10 ms. A quantum of 2400 leaves at once.
    let mut controller = spy(Some(Rate::from_bytes_per_sec(120_000)));
    send(&mut controller, 0, 1_200, Some(false));
    assert_eq!(controller.earliest_departure_time(), None);
    send(&mut controller, 0, 1_200, Some(false));
    assert_eq!(controller.earliest_departure_time(), Some(at(10)));
    send(&mut controller, 10, 1_200, Some(false));
    assert_eq!(controller.earliest_departure_time(), Some(at(20)));
    assert_eq!(s2n::CongestionController::send_quantum(&controller), Some(2_400));
    // Not paced.
    let mut controller = spy(None);
    for _ in 0..9 {
        send(&mut controller, 0, 1_200, Some(false));
    }
    assert_eq!(controller.earliest_departure_time(), None);
    assert!(!controller.is_congestion_limited());
    // 12 000 less 11 999: no room for a datagram.
    send(&mut controller, 0, 1_199, Some(false));
    assert!(controller.is_congestion_limited());
    assert_eq!((controller.congestion_window(), controller.bytes_in_flight()), (12_000, 11_999));
}

/// One call: what, how much later in microseconds, how many bytes, and which packet.
type Call = (u8, u64, u64, usize);

fn drive<C: CongestionController + Clone>(mut controller: S2nController<C>, calls: &[Call]) {
    let (mut now, mut rtt) = (at(0), estimator());
    let mut packets = Vec::new();
    for &(what, later, bytes, index) in calls {
        now += Duration::from_micros(later);
        let size = usize::try_from(bytes).unwrap();
        let packet = packets.get(index % (packets.len() + 1)).copied();
        match (what, packet) {
            (0..=3, _) => {
                let limited = [None, Some(true), Some(false)][index % 3];
                packets.push(controller.on_packet_sent(now, size, limited, &rtt, &mut Nobody));
            }
            (4..=6, Some(packet)) => {
                controller.on_ack(now, size, packet, &rtt, &mut random(), now, &mut Nobody);
            }
            (7, Some(packet)) => {
                let lost = u32::try_from(bytes).unwrap_or(u32::MAX);
                let (persistent, burst) = (index % 5 == 0, index % 2 == 0);
                controller.on_packet_lost(lost, packet, persistent, burst, &mut random(), now, &mut Nobody);
            }
            (8, _) => controller.on_explicit_congestion(bytes, now, &mut Nobody),
            (9, _) => {
                let sample = Duration::from_micros(later.max(1));
                let space = s2n_quic_core::packet::number::PacketNumberSpace::ApplicationData;
                rtt.update_rtt(Duration::ZERO, sample, now, true, space);
                controller.on_rtt_update(now, now, &rtt, &mut Nobody);
            }
            (10, _) => controller.on_packet_discarded(size, &mut Nobody),
            (11, _) => {
                controller.on_mtu_update(u16::try_from(bytes % 65_536).unwrap(), &mut Nobody);
            }
            _ => controller = controller.clone(),
        }
        assert!(controller.congestion_window() > 0);
        let _ = (controller.earliest_departure_time(), controller.is_congestion_limited());
    }
}

fn calls(bytes: impl Strategy<Value = u64>) -> impl Strategy<Value = Vec<Call>> {
    proptest::collection::vec((0..13_u8, 0..30_000_u64, bytes, 0..1_000_usize), 1..120)
}

proptest! {
    #[test]
    fn nothing_panics_whatever_is_called(
        calls in calls(prop_oneof![0..3_000_u64, any::<u64>(), Just(u64::MAX)]),
    ) {
        drive(make(&mut crate::c4()), &calls);
        drive(make(&mut crate::bbr()), &calls);
        drive(make(&mut crate::cubic()), &calls);
        drive(make(&mut crate::reno()), &calls);
        drive(make(&mut crate::quicdc()), &calls);
        drive(make(&mut crate::westwood()), &calls);
    }

    #[test]
    fn the_invariants_of_the_kit_hold_behind_the_adapter(calls in calls(0..20_000_u64)) {
        let build = |setup: &cc_core::Setup| cc_c4::C4::new(&cc_c4::Config::from(*setup));
        let mut config =
            Config::new(move |setup| Watched::new(build(setup), &Subject::rate_based("c4", build)));
        drive(make(&mut config), &calls);
    }
}
