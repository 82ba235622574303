//! The trait's methods that need no type of noq's own, by hand-made sequences.

use super::NoqController;
use crate::cubic;
use cc_cubic::Cubic;
use noq_proto::congestion::{Controller, ControllerFactory};
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

fn inspect(controller: &dyn Controller) -> Box<NoqController<Cubic>> {
    controller.clone_box().into_any().downcast().unwrap()
}

#[test]
fn the_window_is_the_window_and_metrics_have_rate_and_quantum() {
    let controller = build(start());
    assert_eq!((controller.initial_window(), controller.window()), (12_000, 12_000));
    let metrics = controller.metrics();
    // No rate before an RTT is known. The quantum of CUBIC with datagrams of 1200 is at least two of them.
    assert_eq!((metrics.congestion_window, metrics.pacing_rate), (12_000, None));
    assert!(metrics.send_quantum.is_some_and(|quantum| quantum >= 2_400), "{:?}", metrics.send_quantum);
}

#[test]
fn marks_losses_and_spurious_losses_are_told_apart() {
    let start = start();
    // 12 000 * 0.7 = 8400 (RFC 9438 section 4.6), a mark in slow start too: ABE is for congestion avoidance (RFC 8511).
    let mut marked = build(start);
    marked.on_packet_sent(start, 1_200, 0);
    marked.on_congestion_event(start + ms(100), start, false, true, 0, 0);
    assert_eq!(inspect(marked.as_ref()).snapshot().cwnd, 8_400);

    let mut lost = build(start);
    for number in 0..5 {
        lost.on_packet_sent(start, 1_200, number);
    }
    lost.on_packet_lost(1_200, 1, start + ms(100));
    lost.on_congestion_event(start + ms(100), start, false, false, 1_200, 1);
    assert_eq!(inspect(lost.as_ref()).snapshot().cwnd, 8_400);
    // RFC 9438 section 4.9.2: undone.
    lost.on_spurious_congestion_event();
    assert_eq!(lost.window(), 12_000);
}

#[test]
fn a_copy_to_look_at_is_not_a_new_port_and_one_to_use_is() {
    let start = start();
    let mut controller = build(start);
    for number in 0..5 {
        controller.on_packet_sent(start, 1_200, number);
    }
    let flight = |controller: &dyn Controller| inspect(controller).0.lock().bytes_in_flight();
    let mut copy = controller.clone_box();
    assert_eq!((copy.window(), flight(copy.as_ref())), (12_000, 6_000));
    copy.on_packet_sent(start + ms(10), 1_200, 5);
    assert_eq!((flight(copy.as_ref()), flight(controller.as_ref())), (1_200, 6_000));
}

#[test]
fn what_was_sent_before_a_path_is_not_its_business() {
    let start = start() + ms(1_000);
    let mut controller = build(start);
    controller.on_packet_lost(1_200, 77, start + ms(10));
    controller.on_congestion_event(start + ms(10), start - ms(1), true, false, 1_200, 77);
    controller.on_congestion_event(start + ms(10), start - ms(1), false, true, 0, 77);
    let snapshot = inspect(controller.as_ref()).snapshot();
    assert_eq!((snapshot.cwnd, snapshot.congestion_events), (12_000, 0));
}

#[test]
fn a_controller_that_panicked_stays_usable() {
    let flow = crate::flow::Flow::new(&cubic().recipe, start(), 1_200);
    let controller = NoqController(cc_adapter::Locked::new(flow));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _guard = controller.0.lock();
        std::panic::resume_unwind(Box::new("the controller panicked"));
    }));
    assert!(panicked.is_err());
    let mut controller: Box<dyn Controller> = Box::new(controller);
    controller.on_packet_sent(start(), 1_200, 0);
    assert_eq!(controller.clone_box().window(), 12_000);
}
