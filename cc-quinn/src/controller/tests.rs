//! The trait's methods that need no type of quinn's own, by hand-made sequences.

use super::QuinnController;
use crate::flow::Flow;
use crate::{Config, c4, cubic};
use cc_core::{
    AckEvent, CongestionController, EcnCodepoint, EcnEvent, LossEvent, PathChange, PathState, Rate,
    SentPacket, Snapshot,
};
use cc_cubic::Cubic;
use cc_testkit::{Subject, Watched};
use proptest::prelude::*;
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "any moment of the clock will do")]
fn start() -> Instant {
    Instant::now()
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Largest datagram 1200, so that the initial window is 12 000 (RFC 9002 section 7.2: ten datagrams).
fn build(start: Instant) -> Box<dyn Controller> {
    Arc::new(cubic()).build(start, 1_200)
}

fn inspect(controller: &dyn Controller) -> Box<QuinnController<Cubic>> {
    controller.clone_box().into_any().downcast().unwrap()
}

#[test]
fn the_window_is_one_byte_more_for_the_strict_test() {
    let controller = build(start());
    assert_eq!(controller.initial_window(), 12_000);
    assert_eq!(controller.window(), 12_001);
    let metrics = controller.metrics();
    assert_eq!((metrics.congestion_window, metrics.ssthresh, metrics.pacing_rate), (12_000, None, None));
    assert_eq!(Arc::new(cubic().initial_window(20_000)).build(start(), 1_452).window(), 20_001);
}

#[test]
fn no_lost_bytes_are_a_mark_and_lost_bytes_a_loss() {
    let start = start();
    // ABE (RFC 8511) in congestion avoidance only; the first mark ends slow start with 0.7 as a loss does (RFC 9438
    // section 4.6): 12 000 * 0.7 = 8400.
    let mut marked = build(start);
    marked.on_sent(start, 6_000, 4);
    marked.on_end_acks(start + ms(100), 6_000, false, None);
    marked.on_congestion_event(start + ms(100), start, false, 0);
    let mut lost = build(start);
    lost.on_sent(start, 6_000, 4);
    lost.on_congestion_event(start + ms(100), start, false, 1_200);
    for (controller, name) in [(&marked, "mark"), (&lost, "loss")] {
        assert_eq!(inspect(controller.as_ref()).snapshot().congestion_events, 1, "{name}");
        assert_eq!(inspect(controller.as_ref()).snapshot().cwnd, 8_400, "{name}");
    }
    // Packets sent before the reduction give no second one, and a later one does: 8400 * 0.7 = 5880.
    lost.on_congestion_event(start + ms(110), start + ms(100), false, 1_200);
    assert_eq!(inspect(lost.as_ref()).snapshot().cwnd, 8_400);
    lost.on_sent(start + ms(120), 1_200, 5);
    lost.on_congestion_event(start + ms(230), start + ms(120), false, 1_200);
    assert_eq!(inspect(lost.as_ref()).snapshot().cwnd, 5_880);
    // Persistent congestion (RFC 9002 section 7.6.2): two datagrams. Of 8400 sent 4800 are lost, and the 3600 left fill
    // that window: there is room for one datagram beyond them (section 7.3.2).
    lost.on_sent(start + ms(240), 1_200, 6);
    lost.on_congestion_event(start + ms(900), start + ms(240), true, 1_200);
    assert_eq!(inspect(lost.as_ref()).snapshot().cwnd, 2_400);
    assert_eq!(lost.window(), 4_801);
    lost.on_sent(start + ms(910), 1_200, 7);
    assert_eq!(lost.window(), 2_401);
}

#[test]
fn a_copy_to_look_at_is_not_a_new_port_and_one_to_use_is() {
    let start = start();
    let mut controller = build(start);
    controller.on_sent(start, 6_000, 4);
    let flight = |controller: &dyn Controller| {
        let copy = inspect(controller);
        copy.flow.lock().bytes_in_flight()
    };
    assert_eq!(flight(controller.as_ref()), 6_000);
    let mut copy = controller.clone_box();
    assert_eq!((copy.window(), flight(copy.as_ref())), (12_001, 6_000));
    // Used: what is in flight on the old port is not on the new one.
    copy.on_sent(start + ms(10), 1_200, 5);
    assert_eq!(flight(copy.as_ref()), 1_200);
    assert_eq!(flight(controller.as_ref()), 6_000);
}

#[test]
fn what_was_sent_before_a_path_is_not_its_business() {
    let start = start() + ms(1_000);
    let mut controller = build(start);
    controller.on_congestion_event(start + ms(10), start - ms(1), true, 1_200);
    controller.on_congestion_event(start + ms(10), start - ms(1), false, 0);
    let snapshot = inspect(controller.as_ref()).snapshot();
    assert_eq!((snapshot.cwnd, snapshot.congestion_events), (12_000, 0));
}

#[test]
fn a_controller_that_panicked_stays_usable() {
    let controller = QuinnController::new(crate::flow::Flow::new(&c4().recipe, start(), 1_200));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _guard = controller.flow.lock();
        std::panic::resume_unwind(Box::new("the controller panicked"));
    }));
    assert!(panicked.is_err());
    let window = controller.window();
    assert!(window > 2_400, "{window}");
    let mut controller: Box<dyn Controller> = Box::new(controller);
    controller.on_sent(start(), 1_200, 0);
    assert_eq!(controller.clone_box().window(), window);
}

#[test]
fn the_setup_suits_quinn_and_the_mtu_is_passed_on() {
    #[derive(Clone, Debug)]
    struct Kept(Cubic);
    let config = Config::new(|setup| {
        assert_eq!((setup.ecn, setup.paces, setup.max_datagram_size), (EcnCodepoint::Ect0, true, 1_452));
        Cubic::new(&cc_cubic::Config::from(*setup))
    });
    let mut controller = Arc::new(config).build(start(), 1_452);
    // RFC 9002 section 7.2: max(2 * 1452, 14 720) with ten datagrams of 1452 being 14 520.
    assert_eq!(controller.initial_window(), 14_520);
    controller.on_mtu_update(9_000);
    // RFC 9002 section 7.2: at least two datagrams.
    let kept = Kept(inspect(controller.as_ref()).controller());
    assert!(kept.0.cwnd() >= 18_000, "{kept:?}");
}

/// A controller whose outputs depend on what happens last: each change must be seen.
#[derive(Clone, Debug)]
struct Fickle {
    cwnd: u64,
    rate: Option<Rate>,
    beyond: bool,
}

impl CongestionController for Fickle {
    fn on_packet_sent(&mut self, _: &PathState, packet: &SentPacket) {
        // Most sends change nothing.
        match packet.bytes % 7 {
            0 => self.cwnd += 1_000,
            1 => self.rate = Some(Rate::from_bytes_per_sec(packet.bytes * 50)),
            2 => self.beyond = !self.beyond,
            _ => {}
        }
    }
    fn on_ack(&mut self, _: &PathState, _: &AckEvent<'_>) {
        self.cwnd += 100;
        self.beyond = false;
    }
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {
        (self.cwnd, self.beyond) = (6_000, true);
    }
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {
        self.cwnd = 7_000;
    }
    fn on_path_change(&mut self, _: &PathState, _: PathChange) {
        self.cwnd = 5_000;
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
    fn cwnd(&self) -> u64 {
        self.cwnd
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.beyond
    }
    fn uses_rate_samples(&self) -> bool {
        false
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

fn fickle() -> Config<Fickle> {
    Config::new(|_| Fickle { cwnd: 12_000, rate: None, beyond: false })
}

#[test]
fn a_new_port_that_changes_the_window_shows_with_the_first_packet_sent_from_it() {
    let start = start();
    let controller = Arc::new(fickle()).build(start, 1_200);
    let mut copy = controller.clone_box();
    assert_eq!(copy.window(), 12_001);
    copy.on_sent(start, 1_200, 0);
    assert_eq!(copy.window(), 5_001);
}

/// One call: what, how much later in microseconds, how many bytes, how long before now it was sent, and whether the window is
/// asked for after it.
type Call = (u8, u64, u64, u64, bool);

fn call<C: CongestionController + Clone>(controller: &mut QuinnController<C>, now: Instant, call: Call) {
    let (what, _, bytes, before, _) = call;
    let sent = now.checked_sub(Duration::from_micros(before)).unwrap_or(now);
    match what {
        0..=3 => controller.on_sent(now, bytes, 0),
        4..=7 => controller.acked(now, sent, bytes, before % 3 == 0),
        8 | 9 => controller.on_end_acks(now, bytes, before % 3 == 0, None),
        10 => controller.on_congestion_event(now, sent, before % 5 == 0, bytes),
        11 => controller.on_congestion_event(now, sent, false, 0),
        12 => controller.on_mtu_update(u16::try_from(bytes % 65_536).unwrap()),
        _ => {
            let copy = controller.read().for_new_port();
            *controller = QuinnController::new(copy);
        }
    }
}

fn calls(bytes: impl Strategy<Value = u64>) -> impl Strategy<Value = Vec<Call>> {
    let later = prop_oneof![Just(0), 0..30_000_u64];
    proptest::collection::vec((0..14_u8, later, bytes, 0..200_000_u64, any::<bool>()), 1..120)
}

fn drive<C: CongestionController + Clone>(config: &Config<C>, mtu: u16, calls: &[Call]) {
    let mut now = start();
    let mut controller = QuinnController::new(Flow::new(&config.recipe, now, mtu));
    for &this in calls {
        now += Duration::from_micros(this.1);
        call(&mut controller, now, this);
        if this.4 {
            let (window, cwnd) = (controller.window(), controller.controller().cwnd());
            assert!(window > 0 && cwnd > 0);
            // What is remembered is what it would be.
            let mut fresh = controller.read().clone();
            fresh.forget_window();
            assert_eq!(window, fresh.window());
        }
    }
}

/// With and without a memory of the last window.
fn is_the_same_without_memory<C: CongestionController + Clone>(config: &Config<C>, calls: &[Call]) {
    let mut now = start();
    let flow = Flow::new(&config.recipe, now, 1_200);
    let (mut with, mut without) = (QuinnController::new(flow.clone()), QuinnController::new(flow));
    let forget = |controller: &mut QuinnController<C>| controller.write().forget_window();
    for &this in calls {
        now += Duration::from_micros(this.1);
        call(&mut with, now, this);
        forget(&mut without);
        call(&mut without, now, this);
        if this.4 {
            forget(&mut without);
            assert_eq!(with.window(), without.window());
        }
    }
    assert_eq!(with.window(), without.window());
    let state = |controller: &QuinnController<C>| format!("{:?}", controller.controller());
    assert_eq!(state(&with), state(&without));
}

proptest! {
    #[test]
    fn nothing_panics_whatever_is_called(
        calls in calls(prop_oneof![0..3_000_u64, any::<u64>(), Just(u64::MAX)]),
    ) {
        drive(&c4(), 1_200, &calls);
        drive(&crate::bbr(), 1_200, &calls);
        drive(&cubic(), 1_200, &calls);
        drive(&crate::reno(), 1_200, &calls);
        drive(&crate::quicdc(), 1_200, &calls);
        drive(&crate::westwood(), 0, &calls);
    }

    #[test]
    fn the_invariants_of_the_kit_hold_behind_the_adapter(calls in calls(0..20_000_u64)) {
        let make = |setup: &cc_core::Setup| Cubic::new(&cc_cubic::Config::from(*setup));
        let subject = Subject::loss_based("cubic", make).with_betas(70, 85);
        drive(&Config::new(move |setup| Watched::new(make(setup), &subject)), 1_200, &calls);
        let make = |setup: &cc_core::Setup| cc_c4::C4::new(&cc_c4::Config::from(*setup));
        let subject = Subject::rate_based("c4", make);
        drive(&Config::new(move |setup| Watched::new(make(setup), &subject)), 1_200, &calls);
    }

    #[test]
    fn a_window_that_is_kept_is_the_one_that_would_be_found(calls in calls(0..20_000_u64)) {
        is_the_same_without_memory(&fickle(), &calls);
        is_the_same_without_memory(&cubic(), &calls);
        is_the_same_without_memory(&crate::reno(), &calls);
        is_the_same_without_memory(&c4(), &calls);
        is_the_same_without_memory(&crate::bbr(), &calls);
        is_the_same_without_memory(&crate::quicdc(), &calls);
    }
}
