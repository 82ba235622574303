//! A stack that calls the trait itself and announces nothing.

use crate::{Config, Reno};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, Duration, EcnEvent, IncreaseRule, Instant,
    LossEvent, LostPacket, PathRtt, PathState, RttEvent, SendLimit, SentPacket, SlowStart, SlowStartStep,
    SpuriousLoss,
};

/// A slow start with a name of its own.
#[derive(Clone, Copy, Debug)]
struct Named;

impl SlowStart for Named {
    fn on_ack(&mut self, _path: &PathState, _ack: &AckEvent<'_>, bytes: u64) -> SlowStartStep {
        SlowStartStep::Grow(bytes)
    }

    fn phase(&self) -> &'static str {
        "named"
    }

    fn reset(&mut self) {}
}

type Event = fn(&mut Reno, &PathState);

fn acked(bytes: u64) -> AckedPacket {
    AckedPacket { number: Some(0), bytes, ..AckedPacket::default() }
}

fn lost(bytes: u64) -> LostPacket {
    LostPacket { number: Some(0), bytes, ..LostPacket::default() }
}

fn ack<'a>(packets: &'a [AckedPacket], flight: u64, limited_by: SendLimit) -> AckEvent<'a> {
    AckEvent {
        packets,
        last: true,
        rate_sample: None,
        limited_by,
        max_bytes_in_flight: flight,
        app_limited_at: None,
        newest_data_sent_at: Some(Instant::ZERO),
    }
}

#[test]
fn every_event_takes_a_new_datagram_size_from_the_path() {
    // Section 7.2: the floor is two datagrams, 2 * 9000 = 18000, above the 12000 there were.
    let events: [(&str, Event); 9] = [
        ("sent", |reno, path| reno.on_packet_sent(path, &SentPacket::default())),
        ("ack", |reno, path| reno.on_ack(path, &ack(&[], 0, SendLimit::Unknown))),
        ("loss", |reno, path| {
            reno.on_loss(
                path,
                &LossEvent { packets: &[], last: true, persistent_congestion: false, cause: None },
            );
        }),
        ("ecn", |reno, path| reno.on_ecn(path, &EcnEvent::default())),
        ("rtt", |reno, path| reno.on_rtt(path, &RttEvent::default())),
        ("app limited", |reno, path| reno.on_app_limited(path)),
        ("idle", |reno, path| reno.on_idle_restart(path, Duration::from_secs(1))),
        ("spurious", |reno, path| reno.on_spurious_loss(path, &SpuriousLoss::All)),
        ("discarded", |reno, path| reno.on_discarded(path, 1_200, DiscardReason::KeysDiscarded)),
    ];
    for (name, event) in events {
        let mut reno = Reno::new(&Config::default());
        event(&mut reno, &PathState { max_datagram_size: 9_000, ..PathState::default() });
        assert_eq!(reno.cwnd(), 18_000, "{name}");
    }
}

#[test]
fn only_in_the_handshake_does_a_size_seen_on_the_path_change_the_initial_window() {
    // Section 7.2: 10 * 1450 = 14500, and down to 10 * 1000 = 10000; once the handshake is over neither.
    for (handshake_ready, sizes) in [(false, [14_500, 10_000]), (true, [12_000, 12_000])] {
        let mut reno = Reno::new(&Config::default());
        for (max_datagram_size, cwnd) in [1_450, 1_000].into_iter().zip(sizes) {
            reno.on_app_limited(&PathState { max_datagram_size, handshake_ready, ..PathState::default() });
            assert_eq!(reno.cwnd(), cwnd, "{max_datagram_size}");
        }
    }
}

#[test]
fn a_larger_datagram_in_the_handshake_leaves_a_window_that_moved() {
    // Section 7.2 is about the initial window: one that grew to 24000 stays, and so does one that a loss took to 6000;
    // a smaller datagram takes down what is above its own initial window of 10000, but raises nothing.
    let path = |max_datagram_size| PathState {
        max_datagram_size,
        handshake_ready: false,
        prior_bytes_in_flight: 12_000,
        ..PathState::default()
    };
    let mut grown = Reno::new(&Config::default());
    grown.on_ack(&path(1_200), &ack(&[acked(12_000)], 12_000, SendLimit::Cwnd));
    let mut reduced = Reno::new(&Config::default());
    let loss = LossEvent { packets: &[lost(1_200)], last: true, persistent_congestion: false, cause: None };
    reduced.on_loss(&path(1_200), &loss);
    for (max_datagram_size, cwnds) in
        [(1_200, [24_000, 6_000]), (1_450, [24_000, 6_000]), (1_000, [10_000, 6_000])]
    {
        for (reno, cwnd) in [&mut grown, &mut reduced].into_iter().zip(cwnds) {
            reno.on_app_limited(&path(max_datagram_size));
            assert_eq!(reno.cwnd(), cwnd, "{max_datagram_size}");
        }
    }
}

#[test]
fn a_window_that_is_the_initial_one_again_after_a_loss_is_not_taken_for_it() {
    // From 24000 to 12000, which is the initial window by chance; with 1450-byte datagrams that would be 14500.
    let path = PathState { handshake_ready: false, prior_bytes_in_flight: 12_000, ..PathState::default() };
    let mut reno = Reno::new(&Config::default());
    reno.on_ack(&path, &ack(&[acked(12_000)], 12_000, SendLimit::Cwnd));
    let loss = LossEvent { packets: &[lost(1_200)], last: true, persistent_congestion: false, cause: None };
    reno.on_loss(&path, &loss);
    assert_eq!(reno.cwnd(), 12_000);
    reno.on_app_limited(&PathState { max_datagram_size: 1_450, ..path });
    assert_eq!(reno.cwnd(), 12_000);
}

#[test]
fn a_new_initial_window_is_the_first_flight_of_the_rate_limited_rule() {
    // maxFS becomes 14500, so that slow start may reach 2 * 14500 (draft-ietf-ccwg-ratelimited-increase); with the
    // old one it would stop at 24000.
    let mut reno = Reno::new(&Config { increase_rule: IncreaseRule::RateLimited, ..Config::default() });
    let path = PathState { max_datagram_size: 1_450, handshake_ready: false, ..PathState::default() };
    reno.on_app_limited(&path);
    for number in 0..20 {
        let packet = AckedPacket { number: Some(number), ..acked(1_450) };
        reno.on_ack(&path, &ack(&[packet], 1_450, SendLimit::NoData));
    }
    assert_eq!(reno.cwnd(), 29_000);
}

#[test]
fn half_a_window_is_used_in_slow_start_only() {
    // Section 7.8, where the stack does not say what stopped it: in slow start the flight of 8000 trails a window of
    // 12000; in congestion avoidance it leaves 4000 of it unused, more than three datagrams.
    let path = PathState { prior_bytes_in_flight: 8_000, next_number: 1, ..PathState::default() };
    let mut slow = Reno::new(&Config::default());
    slow.on_ack(&path, &ack(&[acked(1_200)], 8_000, SendLimit::Unknown));
    assert_eq!(slow.cwnd(), 13_200);

    let mut avoiding = Reno::new(&Config { initial_window: Some(24_000), ..Config::default() });
    let loss = LossEvent { packets: &[lost(1_200)], last: true, persistent_congestion: false, cause: None };
    avoiding.on_loss(&path, &loss);
    for number in 1..20 {
        let packet =
            AckedPacket { number: Some(number), sent_at: Instant::from_millis(number), ..acked(1_200) };
        let path = PathState { now: Instant::from_millis(100 + number), next_number: 21, ..path };
        avoiding.on_ack(&path, &ack(&[packet], 8_000, SendLimit::Unknown));
    }
    assert_eq!((avoiding.cwnd(), avoiding.in_recovery()), (12_000, false));
}

#[test]
fn nothing_lost_and_nothing_marked_reduces_nothing() {
    // Zero bytes are no packet, and ECN counts that did not rise are no mark.
    let mut reno = Reno::new(&Config::default());
    let path = PathState { next_number: 1, ..PathState::default() };
    let loss = LossEvent { packets: &[lost(0)], last: true, persistent_congestion: true, cause: None };
    reno.on_loss(&path, &loss);
    reno.on_ecn(&path, &EcnEvent { ce: Some(0), largest_acked: Some(0), ..EcnEvent::default() });
    assert_eq!((reno.cwnd(), reno.in_recovery()), (12_000, false));
}

#[test]
fn a_loss_begins_a_recovery_period() {
    let mut reno = Reno::new(&Config::default());
    let loss = LossEvent { packets: &[lost(1_200)], last: true, persistent_congestion: false, cause: None };
    reno.on_loss(&PathState { next_number: 1, ..PathState::default() }, &loss);
    assert!(reno.in_recovery());
}

#[test]
fn a_snapshot_tells_the_first_slow_start_from_a_later_one_and_has_the_rtt() {
    let rtt = Duration::from_millis(40);
    let path = PathState {
        next_number: 1,
        rtt: Some(PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: Duration::ZERO }),
        ..PathState::default()
    };
    let mut reno = Reno::with_slow_start(&Config::default(), Named);
    let before = reno.snapshot();
    assert_eq!((before.phase, before.startup, before.model_rtt), ("named", true, None));
    reno.on_rtt(&path, &RttEvent { latest: rtt, is_sample: true, ..RttEvent::default() });
    assert_eq!(reno.snapshot().model_rtt, Some(rtt));
    // Section 7.6.2: slow start again, up to the threshold.
    let loss = LossEvent { packets: &[lost(1_200)], last: true, persistent_congestion: true, cause: None };
    reno.on_loss(&path, &loss);
    let packet = AckedPacket { number: Some(1), sent_at: Instant::from_millis(1), ..acked(1_200) };
    let path = PathState { now: Instant::from_millis(50), next_number: 2, ..path };
    reno.on_ack(&path, &ack(&[packet], 1_200, SendLimit::NoData));
    let again = reno.snapshot();
    assert_eq!((again.phase, again.startup), ("slow_start", false));
}
