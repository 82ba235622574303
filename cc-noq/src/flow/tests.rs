//! Sequences of calls as noq makes them.

use super::Flow;
use crate::Config;
use cc_core::{
    AckEvent, AckPolicy, CongestionController, EcnEvent, LossEvent, PathState, SendLimit, Snapshot,
};
use cc_core::{Rate, SentPacket};
use cc_testkit::{Subject, Watched};
use proptest::prelude::*;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "any moment of the clock will do")]
fn start() -> Instant {
    Instant::now()
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl<C: CongestionController + Clone> Flow<C> {
    pub(crate) const fn bytes_in_flight(&self) -> u64 {
        self.path.ledger().bytes_in_flight()
    }
}

/// Writes down numbers, limits and policies.
#[derive(Clone, Debug, Default)]
struct Spy {
    acked: Vec<Option<u64>>,
    lost: Vec<(Option<u64>, u64)>,
    persistent: bool,
    limits: Vec<SendLimit>,
    policy: Option<AckPolicy>,
    in_flight: u64,
}

impl CongestionController for Spy {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {}
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.acked.extend(ack.packets.iter().map(|packet| packet.number));
        self.limits.push(ack.limited_by);
        self.in_flight = path.bytes_in_flight;
    }
    fn on_loss(&mut self, _: &PathState, loss: &LossEvent<'_>) {
        self.lost.extend(loss.packets.iter().map(|packet| (packet.number, packet.bytes)));
        self.persistent |= loss.persistent_congestion;
    }
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {}
    fn on_ack_policy(&mut self, _: &PathState, policy: &AckPolicy) {
        self.policy = Some(*policy);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn cwnd(&self) -> u64 {
        12_000
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

fn spy(start: Instant) -> Flow<Spy> {
    Flow::new(&Config::new(|_| Spy::default()).recipe, start, 1_200)
}

#[test]
fn packets_get_one_sequence_of_numbers_over_all_spaces() {
    let start = start();
    let mut flow = spy(start);
    // Initial 0, Handshake 0, Application 0, 1, 2: numbers 0 to 4.
    flow.on_packet_sent(start, 1_200, 0);
    flow.on_packet_sent(start + ms(10), 800, 0);
    for number in 0..3 {
        flow.on_packet_sent(start + ms(20), 1_200, number);
    }
    flow.on_ack(start + ms(110), start + ms(10), 800, 0, false);
    flow.on_ack(start + ms(110), start + ms(20), 1_200, 0, false);
    flow.on_ack(start + ms(110), start + ms(20), 1_200, 2, false);
    // 5600 were sent, 3200 acked.
    flow.on_end_acks(start + ms(110), 2_400, false);
    flow.on_packet_lost(start + ms(110), 1_200, 1);
    flow.on_losses(start + ms(110), start + ms(20), 1_200, false);
    flow.commit();
    let spy = flow.controller();
    assert_eq!(spy.acked, [Some(1), Some(2), Some(4)]);
    assert_eq!(spy.lost, [(Some(3), 1_200)]);
    assert_eq!((spy.in_flight, spy.persistent), (1_200, false));
}

#[test]
fn a_sum_of_losses_counts_only_if_they_were_not_told_one_by_one() {
    let start = start();
    let mut flow = spy(start);
    flow.on_packet_sent(start, 1_200, 0);
    flow.on_losses(start + ms(100), start, 3_600, true);
    flow.commit();
    assert_eq!(
        (flow.controller().lost.as_slice(), flow.controller().persistent),
        (&[(None, 3_600)][..], true)
    );
}

#[test]
fn losses_and_persistent_congestion_of_a_long_outage_are_told() {
    let start = start();
    let mut flow = spy(start);
    for number in 0..3 {
        flow.on_packet_sent(start + ms(10), 1_200, number);
    }
    // Probes 2 and 5 s later; only the second arrives.
    flow.on_packet_sent(start + ms(2_010), 1_200, 3);
    flow.on_packet_sent(start + ms(5_010), 1_200, 4);
    let now = start + ms(5_040);
    flow.on_ack(now, start + ms(5_010), 1_200, 4, false);
    flow.on_end_acks(now, 4_800, false);
    for number in 0..4 {
        flow.on_packet_lost(now, 1_200, number);
    }
    flow.on_losses(now, start + ms(2_010), 4_800, true);
    flow.commit();
    let spy = flow.controller();
    assert_eq!(spy.lost, [0, 1, 2, 3].map(|number| (Some(number), 1_200)));
    assert_eq!((spy.persistent, spy.in_flight), (true, 0));
}

#[test]
fn what_stopped_the_sender_is_window_data_or_unknown() {
    let start = start();
    let mut flow = spy(start);
    let mut frame = |now, cwnd_limited, app_limited| {
        flow.on_packet_sent(start + ms(now), 1_200, now);
        if cwnd_limited {
            flow.on_cwnd_limited();
        }
        flow.on_ack(start + ms(now + 1), start + ms(now), 1_200, now, app_limited);
        flow.on_end_acks(start + ms(now + 1), 0, app_limited);
        flow.commit();
    };
    frame(10, false, false);
    frame(20, true, false);
    frame(30, true, true);
    // Sending ends it.
    frame(40, false, false);
    use SendLimit::{Cwnd, NoData, Unknown};
    assert_eq!(flow.controller().limits, [Unknown, Cwnd, NoData, Unknown]);
}

#[test]
fn a_threshold_of_packets_without_an_ack_is_one_less_than_packets_per_ack() {
    let mut flow = spy(start());
    flow.on_ack_frequency(9, ms(25));
    let policy = AckPolicy { packets: 10, max_ack_delay: cc_core::Duration::from_millis(25) };
    assert_eq!(flow.controller().policy, Some(policy));
}

/// One call: what, how much later in microseconds, how many bytes, and how long before now it was sent.
type Call = (u8, u64, u64, u64);

fn drive<C: CongestionController + Clone>(mut flow: Flow<C>, start: Instant, calls: &[Call]) {
    let (mut now, mut number) = (start, 0);
    let mut sends = Vec::new();
    for &(what, later, bytes, before) in calls {
        now += Duration::from_micros(later);
        let any = now.checked_sub(Duration::from_micros(before)).unwrap_or(now);
        // Mostly packets that were sent.
        let index = usize::try_from(before).unwrap() % (sends.len() + 1);
        let (sent, packet, size) = sends.get(index).copied().unwrap_or((any, before, bytes));
        match what {
            0..=3 => {
                flow.on_packet_sent(now, bytes, number);
                sends.push((now, number, bytes));
                number += 1;
            }
            4..=7 => flow.on_ack(now, sent, size, packet, before % 3 == 0),
            8 | 9 => flow.on_end_acks(now, bytes, before % 3 == 0),
            10 => flow.on_packet_lost(now, size, packet),
            11 => flow.on_losses(now, sent, bytes, before % 5 == 0),
            12 => flow.on_mark(now, sent),
            13 => flow.on_mtu_update(u16::try_from(bytes % 65_536).unwrap()),
            14 => flow.on_cwnd_limited(),
            15 => flow.on_spurious_losses(),
            16 => flow.on_ack_frequency(bytes, Duration::from_micros(before)),
            _ => flow = flow.for_new_port(),
        }
        if later % 2 == 0 {
            flow.commit();
        }
        assert!(flow.window() > 0 && flow.controller().cwnd() > 0);
    }
}

fn calls(bytes: impl Strategy<Value = u64>) -> impl Strategy<Value = Vec<Call>> {
    proptest::collection::vec((0..18_u8, 0..30_000_u64, bytes, 0..200_000_u64), 1..120)
}

/// As noq does: losses are told one by one before their sum, which then adds nothing. A sum alone has no number, and at one instant
/// (these clocks may stand still) no controller can tell whether it is older than numbered packets.
fn as_noq(calls: &[Call]) -> Vec<Call> {
    let mut told = false;
    let keeps = |call: &&Call| match call.0 {
        10 => {
            told = true;
            true
        }
        11 => std::mem::take(&mut told),
        _ => true,
    };
    calls.iter().filter(keeps).copied().collect()
}

proptest! {
    #[test]
    fn nothing_panics_whatever_is_called(
        calls in calls(prop_oneof![0..3_000_u64, any::<u64>(), Just(u64::MAX)]),
    ) {
        let start = start();
        drive(Flow::new(&crate::c4().recipe, start, 1_200), start, &calls);
        drive(Flow::new(&crate::bbr().recipe, start, 1_200), start, &calls);
        drive(Flow::new(&crate::cubic().recipe, start, 1_200), start, &calls);
        drive(Flow::new(&crate::reno().recipe, start, 1_200), start, &calls);
        drive(Flow::new(&crate::quicdc().recipe, start, 1_200), start, &calls);
        drive(Flow::new(&crate::westwood().recipe, start, 0), start, &calls);
    }

    #[test]
    fn the_invariants_of_the_kit_hold_behind_the_adapter(calls in calls(0..20_000_u64)) {
        let (start, calls) = (start(), as_noq(&calls));
        let make = |setup: &cc_core::Setup| cc_cubic::Cubic::new(&cc_cubic::Config::from(*setup));
        let config = Config::new(move |setup| {
            Watched::new(make(setup), &Subject::loss_based("cubic", make).with_betas(70, 85))
        });
        drive(Flow::new(&config.recipe, start, 1_200), start, &calls);
        let make = |setup: &cc_core::Setup| cc_c4::C4::new(&cc_c4::Config::from(*setup));
        let config = Config::new(move |setup| Watched::new(make(setup), &Subject::rate_based("c4", make)));
        drive(Flow::new(&config.recipe, start, 1_200), start, &calls);
    }
}
