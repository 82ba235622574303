//! Any sequence of calls, against a model that keeps every packet.

mod common;

use cc_core::{
    DiscardReason, Duration, EcnCounts, FrameEnd, Instant, LossDetection, MtuChange, OutgoingPacket,
    PacketSpace, Path, PathChange, PathConfig, PeerInstant, Rate, SamplingRule, SendDecision, SendLimit,
};
use common::{Call, Recorder, calls};
use proptest::prelude::*;
use std::collections::BTreeMap;

const N: usize = 16;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Send { bytes: u64, space: u8, in_flight: bool, eliciting: bool },
    Acked(u64),
    Lost(u64),
    Ecn(u64),
    Finish,
    LossTimeout,
    Discard(u64),
    DiscardSpace(u8),
    PathChanged(bool),
    AppLimited,
    Poll(u64),
    Mtu(u64),
    Output { cwnd: u64, rate: Option<u64>, marks: bool },
}

fn space(index: u8) -> PacketSpace {
    match index % 3 {
        0 => PacketSpace::Initial,
        1 => PacketSpace::Handshake,
        _ => PacketSpace::Application,
    }
}

/// Mostly numbers around those in use, and absurd ones.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0..40_u64, 1 => any::<u64>()]
}

fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![10 => 1..1_500_u64, 1 => any::<u64>(), 1 => Just(0)]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => (bytes(), any::<u8>(), any::<u8>(), any::<bool>()).prop_map(|(bytes, space, flight, eliciting)| {
            Operation::Send { bytes, space, in_flight: flight % 8 != 0, eliciting }
        }),
        8 => number().prop_map(Operation::Acked),
        5 => number().prop_map(Operation::Lost),
        2 => any::<u64>().prop_map(Operation::Ecn),
        8 => Just(Operation::Finish),
        2 => Just(Operation::LossTimeout),
        2 => number().prop_map(Operation::Discard),
        1 => any::<u8>().prop_map(Operation::DiscardSpace),
        1 => any::<bool>().prop_map(Operation::PathChanged),
        2 => Just(Operation::AppLimited),
        3 => bytes().prop_map(Operation::Poll),
        1 => any::<u64>().prop_map(Operation::Mtu),
        1 => (any::<u64>(), proptest::option::of(any::<u64>()), any::<bool>())
            .prop_map(|(cwnd, rate, marks)| Operation::Output { cwnd, rate, marks }),
    ]
}

/// Steps of the clock: mostly forward, sometimes back, sometimes absurd.
fn step() -> impl Strategy<Value = i64> {
    prop_oneof![10 => 0..50_000_000_i64, 2 => -50_000_000..0_i64, 1 => any::<i64>()]
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    InFlight,
    Lost,
    Gone,
}

/// What must hold of packets in flight, from the calls that the controller saw.
#[derive(Default)]
struct Model {
    packets: BTreeMap<u64, (u64, PacketSpace, Fate)>,
}

impl Model {
    fn in_flight(&self) -> Vec<(u64, u64)> {
        self.packets
            .iter()
            .filter(|(_, (_, _, fate))| *fate == Fate::InFlight)
            .map(|(number, (bytes, ..))| (*number, *bytes))
            .collect()
    }

    /// Applies the calls; every packet must have been in the state that the call implies.
    fn apply(&mut self, calls: &[Call]) {
        for call in calls {
            match call {
                Call::Ack(_, ack) => {
                    for packet in &ack.packets {
                        let entry = self.packets.get_mut(&packet.number.unwrap()).unwrap();
                        assert_eq!(entry.2, if packet.was_lost { Fate::Lost } else { Fate::InFlight });
                        assert_eq!((entry.0, entry.1), (packet.bytes, packet.space));
                        entry.2 = Fate::Gone;
                    }
                }
                Call::Loss(_, loss) => {
                    for packet in &loss.packets {
                        let entry = self.packets.get_mut(&packet.number.unwrap()).unwrap();
                        assert_eq!(entry.2, Fate::InFlight);
                        entry.2 = Fate::Lost;
                    }
                }
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn bytes_in_flight_are_the_sum_over_the_packets_in_flight(
        operations in proptest::collection::vec((operation(), step()), 1..150),
        start in prop_oneof![Just(0), any::<u64>()],
        detect in any::<bool>(),
        c4 in any::<bool>(),
    ) {
        let rule = if c4 {
            SamplingRule::LastAcceptedSample { min_ack_interval: Duration::from_millis(1) }
        } else {
            SamplingRule::LastAck
        };
        let mut now = Instant::from_nanos(start);
        let config = PathConfig {
            now,
            loss_detection: detect.then(LossDetection::default),
            ..PathConfig::default()
        };
        let mut path: Path<Recorder, N> = Path::new(Recorder { rule, ..Recorder::default() }, config);
        let mut model = Model::default();
        for (operation, step) in operations {
            now = Instant::from_nanos(now.as_nanos().saturating_add_signed(step));
            let (delivered, lost) = (path.delivered(), path.lost_bytes());
            match operation {
                Operation::Send { bytes, space: index, in_flight, eliciting } => {
                    let packet = OutgoingPacket {
                        space: space(index), bytes, in_flight, ack_eliciting: eliciting,
                        carries_data: eliciting, sent_at: now,
                    };
                    let full = path.is_full();
                    let number = path.next_number();
                    let sent = path.on_packet_sent(now, &packet);
                    prop_assert_eq!(sent.is_err(), in_flight && full);
                    if in_flight && !full {
                        prop_assert_eq!(sent, Ok(number));
                        prop_assert_eq!(path.next_number(), number + 1);
                        model.packets.insert(number, (bytes.min(65_535), space(index), Fate::InFlight));
                    } else {
                        prop_assert_eq!(path.next_number(), number);
                    }
                }
                Operation::Acked(number) => path.acked(number, Some(PeerInstant::from_nanos(number))),
                Operation::Lost(number) => path.lost(number),
                Operation::Ecn(ce) => path.ecn(EcnCounts { ce, ect0: ce, ect1: ce }),
                Operation::Finish => {
                    let end = FrameEnd {
                        ack_delay: Some(Duration::from_nanos(now.as_nanos())),
                        ..FrameEnd::default()
                    };
                    path.finish(now, end);
                }
                Operation::LossTimeout => { path.on_loss_timeout(now); }
                Operation::Discard(number) => {
                    let before = path.bytes_in_flight();
                    path.discard(now, number, DiscardReason::MtuProbeLost);
                    if calls(&mut path).iter().any(|call| call.name() == "discarded") {
                        let entry = model.packets.get_mut(&number).unwrap();
                        prop_assert_eq!((entry.2, path.bytes_in_flight()), (Fate::InFlight, before - entry.0));
                        entry.2 = Fate::Gone;
                    }
                }
                Operation::DiscardSpace(index) => {
                    path.discard_space(now, space(index));
                    // Packets that an open frame acks are acked with it.
                    for (number, entry) in &mut model.packets {
                        if entry.1 == space(index) && !path.is_outstanding(*number) && entry.2 == Fate::InFlight {
                            let mut finished = path.clone();
                            finished.finish(now, FrameEnd::default());
                            let acked = calls(&mut finished).iter().any(|call| {
                                matches!(call, Call::Ack(_, ack)
                                    if ack.packets.iter().any(|packet| packet.number == Some(*number)))
                            });
                            if !acked {
                                entry.2 = Fate::Gone;
                            }
                        }
                    }
                }
                Operation::PathChanged(new) => {
                    path.path_changed(now, if new { PathChange::New } else { PathChange::Rebinding });
                    if new {
                        model.packets.clear();
                    }
                }
                Operation::AppLimited => path.on_app_limited(now),
                Operation::Poll(bytes) => {
                    let decision = path.poll_send(now, bytes);
                    let over = path.bytes_in_flight().saturating_add(bytes) > path.controller().cwnd;
                    match decision {
                        SendDecision::Blocked(SendLimit::Cwnd) => prop_assert!(over && !path.is_full()),
                        SendDecision::Blocked(_) => prop_assert!(path.is_full()),
                        SendDecision::At(at) => prop_assert!(at > now && !over),
                        SendDecision::Now => prop_assert!(!over && !path.is_full()),
                    }
                }
                Operation::Mtu(bytes) => path.set_max_datagram_size(now, bytes, MtuChange::Discovered),
                Operation::Output { cwnd, rate, marks } => {
                    let controller = path.controller_mut();
                    controller.cwnd = cwnd;
                    controller.pacing_rate = rate.map(Rate::from_bytes_per_sec);
                    controller.marks_app_limited = marks;
                }
            }
            let calls = calls(&mut path);
            model.apply(&calls);
            let in_flight = model.in_flight();
            let sum: u64 = in_flight.iter().map(|(_, bytes)| bytes).sum();
            prop_assert_eq!(path.bytes_in_flight(), sum);
            prop_assert!(path.window() <= path.controller().cwnd);
            prop_assert!(path.delivered() >= delivered && path.lost_bytes() >= lost);

            // The same without what an open frame has marked.
            let mut settled = path.clone();
            settled.finish(now, FrameEnd::default());
            let sum: u64 = settled.outstanding().map(|packet| packet.bytes).sum();
            prop_assert_eq!(settled.bytes_in_flight(), sum);
            prop_assert_eq!(settled.oldest_outstanding(), settled.outstanding().map(|p| p.number).min());
            prop_assert!(settled.outstanding().map(|packet| packet.number).is_sorted());
        }
    }
}
