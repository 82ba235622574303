//! The trait's methods that need no type of quinn's own, by hand-made sequences.

use super::QuinnController;
use crate::{Config, c4, cubic};
use cc_core::{CongestionController, EcnCodepoint};
use cc_cubic::Cubic;
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
