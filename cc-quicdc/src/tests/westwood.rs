//! Westwood+, rule by rule (quicdc: "The controller"; RFC 9002 section 7 for what is NewReno's).

use super::stack::{Bare, MSS, Stack, ms};
use crate::config::MAX_WINDOW;
use crate::{BandwidthFilter, Config, QuicDc, Westwood};
use cc_core::{
    CongestionController, EcnCodepoint, EcnEvent, LossEvent, LostPacket, MtuChange, PathChange, PathState,
    Rate, SendDecision, SendLimit, Setup,
};

fn westwood(config: Config) -> Stack<Westwood> {
    Stack::new(Westwood::new(&config))
}

/// A sender that had 100 datagrams acked every 100 ms three times: the first ACK begins the intervals, and the two samples after it
/// are of 120000 bytes in 100 ms, which make BWE 1.2 MB/s. With the minimum RTT of 100 ms that is 120000 bytes. At 300 ms.
fn measured() -> Stack<Westwood> {
    let mut stack = westwood(Config { initial_window: Some(120_000), ..Config::default() });
    for round in 0..3 {
        stack.send(100 * round, 100);
        stack.ack_all(100 * round + 100);
    }
    assert_eq!(stack.cc().bandwidth(), Some(Rate::from_bytes_per_sec(1_200_000)));
    assert_eq!(stack.cc().min_rtt(), Some(cc_core::Duration::from_millis(100)));
    stack
}

#[test]
fn a_loss_reduces_the_window_to_bandwidth_times_minimum_rtt() {
    // 1.2 MB/s * 0.1 s = 120000, from 120000 + 3 * 120000 in slow start.
    let mut stack = measured();
    assert_eq!((stack.cwnd(), stack.phase()), (480_000, "slow_start"));
    let sent = stack.send(300, 10);
    stack.lose(401, [sent.start]);
    assert_eq!((stack.cwnd(), stack.phase()), (120_000, "recovery"));
    assert_eq!(stack.cc().ssthresh(), Some(120_000));
}

#[test]
fn a_mark_reduces_it_like_a_loss() {
    let mut stack = measured();
    let sent = stack.send(300, 10);
    stack.frame(401, [sent.start], [], 1);
    assert_eq!((stack.cwnd(), stack.events()), (120_000, 1));
    assert_eq!(stack.cc().wanted_ecn(), EcnCodepoint::Ect0);
}

#[test]
fn with_fewer_than_two_samples_half_of_the_window_is_left() {
    let mut stack = westwood(Config::default());
    stack.fill(0);
    stack.lose(100, [0]);
    assert_eq!(stack.cwnd(), 6_000);
    // After the first ACK there is no sample yet, after the second one.
    let mut stack = westwood(Config::default());
    for round in 0..2 {
        stack.send(100 * round, 10);
        stack.ack_all(100 * round + 100);
    }
    assert_eq!(stack.cc().bandwidth(), None);
    let window = stack.cwnd();
    let sent = stack.send(200, 10);
    stack.lose(301, [sent.start]);
    assert_eq!(stack.cwnd(), window / 2);
}

#[test]
fn a_reduction_never_raises_the_window() {
    // BWE * min RTT = 120000, but persistent congestion has left less: 2400; the next loss leaves that.
    let mut stack = measured();
    let first = stack.send(300, 1).start;
    // (smoothed 100 + 4 * var + 25) * 3 is below 1 s.
    let last = stack.send(1_400, 1).start;
    stack.send(1_450, 1);
    stack.frame(1_550, [last + 1], [first, last], 0);
    assert_eq!((stack.cwnd(), stack.phase()), (2 * MSS, "slow_start"));
    assert_eq!(stack.cc().ssthresh(), Some(120_000), "slow start goes on to what the path holds");
    let sent = stack.send(1_560, 2);
    stack.lose(1_700, [sent.start]);
    assert_eq!(stack.cwnd(), 2 * MSS);
}

#[test]
fn losses_of_one_flight_reduce_once_and_their_acks_do_not_grow_the_window() {
    // C1.
    let mut stack = measured();
    let sent = stack.send(300, 20);
    for (at, lost) in [(400, 0), (401, 1), (402, 2)] {
        stack.lose(at, [sent.start + lost]);
    }
    assert_eq!((stack.cwnd(), stack.events()), (120_000, 1));
    stack.ack(403, sent.start + 4..sent.end);
    assert_eq!((stack.cwnd(), stack.phase()), (120_000, "recovery"));
    let next = stack.send(404, 1);
    stack.ack(504, next);
    assert_eq!(stack.phase(), "congestion_avoidance");
    stack.lose(505, [sent.start + 3]);
    assert_eq!(stack.events(), 1);
}

#[test]
fn a_loss_reacts_with_what_was_measured_before_its_frame() {
    // The frame at 400 ms brings 10 datagrams in 100 ms, 120000 B/s: a sample. Its loss does not see it.
    let mut stack = measured();
    let sent = stack.send(300, 11);
    stack.frame(400, sent.start + 1..sent.end, [sent.start], 0);
    assert_eq!(stack.cwnd(), 120_000);
    // 0.2 * (0.2 * 1.2 + 0.8 * 0.12) + ... : f = 0.336, BWE = 0.2 * 1.2 + 0.8 * 0.336 = 0.5088 MB/s.
    assert_eq!(stack.cc().bandwidth(), Some(Rate::from_bytes_per_sec(508_800)));
}

#[test]
fn slow_start_doubles_and_congestion_avoidance_adds_a_datagram() {
    let mut stack = westwood(Config::default());
    stack.fill(0);
    stack.ack_all(100);
    assert_eq!(stack.cwnd(), 24_000);
    let mut stack = measured();
    let sent = stack.send(300, 1);
    stack.lose(400, sent);
    let next = stack.send(401, 1);
    stack.ack(501, next);
    let window = stack.cwnd();
    stack.fill(501);
    stack.ack_all(601);
    // One window and the 1200 bytes that ended the recovery.
    assert_eq!(stack.cwnd(), window + MSS);
}

#[test]
fn an_unused_window_does_not_grow() {
    // B1.
    let mut stack = westwood(Config::default());
    for round in 0..100 {
        stack.send(100 * round, 1);
        stack.path.on_app_limited(ms(100 * round));
        stack.ack_all(100 * round + 100);
    }
    assert_eq!(stack.cwnd(), 12_000);
}

#[test]
fn a_sender_short_of_data_does_not_lower_the_estimate() {
    // E2: a datagram in 100 ms is 12000 B/s.
    let mut stack = measured();
    for round in 3..50 {
        stack.send(100 * round, 1);
        stack.path.on_app_limited(ms(100 * round));
        stack.ack_all(100 * round + 100);
    }
    assert_eq!(stack.cc().bandwidth(), Some(Rate::from_bytes_per_sec(1_200_000)));
}

#[test]
fn idle_time_belongs_to_no_interval() {
    // Nothing for 10 s; then 100 datagrams in flight at once are acked one RTT later: 1.2 MB/s, and not 12 kB/s.
    let mut stack = measured();
    stack.send(10_300, 100);
    stack.ack_all(10_400);
    assert_eq!(stack.cc().bandwidth(), Some(Rate::from_bytes_per_sec(1_200_000)));
}

#[test]
fn pacing_is_at_two_windows_in_slow_start_and_at_one_and_a_quarter_otherwise() {
    // 24000 * 2 / 0.1 s = 480000 B/s; after a loss 120000 * 1.25 / 0.1 = 1.5 MB/s.
    let mut stack = westwood(Config::default());
    assert_eq!(stack.cc().pacing_rate(), None);
    stack.fill(0);
    stack.ack_all(100);
    assert_eq!(stack.cc().pacing_rate(), Some(Rate::from_bytes_per_sec(480_000)));
    let mut stack = measured();
    let sent = stack.send(300, 1);
    stack.lose(400, sent);
    assert_eq!(stack.cc().pacing_rate(), Some(Rate::from_bytes_per_sec(1_500_000)));
}

#[test]
fn a_burst_is_a_millisecond_of_the_pacing_rate() {
    // 1.5 MB/s * 1 ms = 1500 bytes, and at least two datagrams.
    let mut stack = measured();
    let sent = stack.send(300, 1);
    stack.lose(400, sent);
    assert_eq!(stack.cc().send_quantum(), 2 * MSS);
    // In slow start, before a loss: 480000 * 2 / 0.1 s = 9.6 MB/s * 1 ms.
    assert_eq!(measured().cc().send_quantum(), 9_600);
    // Before there is an RTT a quarter of the window; with one of 1 ms what a millisecond carries is more than that.
    let mut stack = westwood(Config { initial_window: Some(120_000), ..Config::default() });
    assert_eq!(stack.cc().send_quantum(), 30_000);
    stack.fill(0);
    stack.ack_all(1);
    assert_eq!((stack.cwnd(), stack.cc().send_quantum()), (240_000, 60_000));
}

#[test]
fn filters_can_be_chosen() {
    // 1.2 and then 2.4 MB/s: one stage 0.2 * 1.2 + 0.8 * 2.4 = 2.16; Linux (7 * 1.2 + 1.35) / 8 = 1.21875.
    for (filter, estimate) in [
        (BandwidthFilter::TwoStages, 1_968_000),
        (BandwidthFilter::OneStage, 2_160_000),
        (BandwidthFilter::Linux, 1_218_750),
    ] {
        let mut stack = westwood(Config { initial_window: Some(240_000), filter, ..Config::default() });
        for (round, count) in [(0, 100), (1, 100), (2, 200)] {
            stack.send(100 * round, count);
            stack.ack_all(100 * round + 100);
        }
        assert_eq!(stack.cc().bandwidth(), Some(Rate::from_bytes_per_sec(estimate)), "{filter:?}");
    }
}

#[test]
fn one_packet_may_be_sent_beyond_the_window_after_a_loss() {
    // RFC 9002 section 7.3.2.
    let mut stack = westwood(Config::default());
    stack.fill(0);
    stack.lose(100, [0]);
    assert_eq!(stack.path.poll_send(ms(100), MSS), SendDecision::Now);
    let rescue = stack.send(100, 1);
    assert_eq!(stack.path.poll_send(ms(100), MSS), SendDecision::Blocked(SendLimit::Cwnd));
    stack.lose(200, rescue);
    assert_eq!((stack.cwnd(), stack.events()), (6_000, 1));
}

#[test]
fn datagram_size_and_path_change_as_rfc_9002_and_rfc_9000_have_it() {
    let mut stack = westwood(Config::default());
    for (size, change, window) in [
        (1_450, MtuChange::Handshake, 14_500),
        (9_000, MtuChange::Handshake, 18_000),
        (1_450, MtuChange::Handshake, 14_500),
        (1_200, MtuChange::BlackHole, 14_500),
        (9_000, MtuChange::Discovered, 18_000),
    ] {
        stack.path.set_max_datagram_size(ms(10), size, change);
        assert_eq!(stack.cwnd(), window, "{size}");
    }
    let mut stack = measured();
    stack.path.path_changed(ms(350), PathChange::New);
    assert_eq!((stack.cwnd(), stack.phase()), (120_000, "slow_start"));
    assert_eq!((stack.cc().bandwidth(), stack.cc().min_rtt(), stack.cc().pacing_rate()), (None, None, None));
}

#[test]
fn windows_saturate() {
    let stack = westwood(Config { initial_window: Some(u64::MAX), ..Config::default() });
    assert_eq!(stack.cwnd(), MAX_WINDOW);
    // Of windows beyond 4 GiB the highest 32 bits count: 2^33 + 7 has 34, so that it loses 2.
    for (bytes, used) in [
        (u64::from(u32::MAX), u64::from(u32::MAX)),
        (1 << 32, 1 << 32),
        ((1 << 33) + 7, (1 << 33) + 4),
        (125_000_000_000, 125_000_000_000),
    ] {
        let stack = westwood(Config { initial_window: Some(bytes), ..Config::default() });
        assert_eq!(stack.cwnd(), used, "{bytes}");
    }
    let setup = Setup { initial_window: Some(1), ecn: EcnCodepoint::NotEct, ..Setup::default() };
    let stack = westwood(setup.into());
    assert_eq!((stack.cwnd(), stack.cc().wanted_ecn()), (2 * MSS, EcnCodepoint::NotEct));
}

/// A loss halves 13200 bytes to 6600; then persistent congestion leaves 2400. The pacing rates after each, and after the first
/// ACK of the slow start that follows. RTT 100 ms.
fn rates_in_a_collapse(controller: impl CongestionController) -> [u64; 3] {
    let mut stack = Bare::new(controller);
    let rate = |stack: &Bare<_>| CongestionController::pacing_rate(&stack.cc).unwrap().as_bytes_per_sec();
    stack.send(0, 10);
    stack.ack(100, 0..1, |_| 0);
    stack.lose(150, 1..2, false);
    let reduced = rate(&stack);
    stack.lose(160, 2..10, true);
    let collapsed = rate(&stack);
    let sent = stack.send(200, 2);
    stack.ack(300, sent, |_| 0);
    [reduced, collapsed, rate(&stack)]
}

#[test]
fn a_collapse_paces_no_faster_and_the_slow_start_after_it_does() {
    // 1.25 * 6600 / 0.1 s; 1.25 * 2400 / 0.1 s, with 2 for 1.25 were 48000; 2 * 4800 / 0.1 s.
    let rates = [82_500, 30_000, 96_000];
    assert_eq!(rates_in_a_collapse(Westwood::new(&Config::default())), rates);
    assert_eq!(rates_in_a_collapse(QuicDc::new(&Config::default())), rates);
    // From 4800 bytes: 1.25 * 3000 / 0.1 s in recovery, where 48000 would be more.
    let config = Config { initial_window: Some(4_800), ..Config::default() };
    let mut stack = Bare::new(Westwood::new(&config));
    stack.send(0, 4);
    stack.ack(100, 0..1, |_| 0);
    stack.lose(150, 1..2, false);
    assert_eq!(stack.cc.pacing_rate(), Some(Rate::from_bytes_per_sec(37_500)));
    stack.lose(160, 2..3, true);
    assert_eq!((stack.cc.cwnd(), stack.cc.snapshot().phase), (2_400, "slow_start"));
    assert_eq!(stack.cc.pacing_rate(), Some(Rate::from_bytes_per_sec(30_000)));
}

fn loss(packets: &[LostPacket], persistent_congestion: bool) -> LossEvent<'_> {
    LossEvent { packets, last: true, persistent_congestion, cause: None }
}

#[test]
fn nothing_lost_and_nothing_marked_reduces_nothing() {
    // Zero bytes are no packet, and counts that did not rise are no mark; a mark of the same packet is one.
    let mut westwood = Westwood::new(&Config::default());
    let path = PathState { next_number: 1, ..PathState::default() };
    let nothing = LostPacket { number: Some(0), ..LostPacket::default() };
    westwood.on_loss(&path, &loss(&[nothing], true));
    let counts = EcnEvent { ce: Some(0), largest_acked: Some(0), ..EcnEvent::default() };
    westwood.on_ecn(&path, &counts);
    assert_eq!((westwood.cwnd(), westwood.in_recovery()), (12_000, false));
    westwood.on_ecn(&path, &EcnEvent { ce: Some(1), ..counts });
    assert_eq!((westwood.cwnd(), westwood.in_recovery()), (6_000, true));
    // The period covers the packet: no second reduction.
    westwood.on_ecn(&path, &EcnEvent { ce: Some(1), ..counts });
    assert_eq!(westwood.cwnd(), 6_000);
}

#[test]
fn the_handshake_moves_an_initial_window_only() {
    // RFC 9002 section 7.2: up while it is the initial one, 10 * 1450; down to 10 * 1000 whatever it is above that.
    let size = |westwood: &mut Westwood, max_datagram_size| {
        let path = PathState { max_datagram_size, handshake_ready: false, ..PathState::default() };
        westwood.on_app_limited(&path);
        westwood.cwnd()
    };
    let mut fresh = Westwood::new(&Config::default());
    assert_eq!([1_450, 1_450, 1_000].map(|bytes| size(&mut fresh, bytes)), [14_500, 14_500, 10_000]);
    // After a loss 6000: neither up nor down; and 12000 after a loss is the initial window by chance.
    for (grows, sizes) in [(false, [6_000, 6_000]), (true, [12_000, 10_000])] {
        let mut stack = westwood(Config::default());
        if grows {
            stack.fill(0);
            stack.ack_all(100);
        }
        let sent = stack.fill(100);
        stack.lose(200, [sent.start]);
        let mut reduced = *stack.cc();
        assert_eq!([1_450, 1_000].map(|bytes| size(&mut reduced, bytes)), sizes);
        // Congestion avoidance stays: the threshold goes along.
        assert_eq!(reduced.ssthresh(), Some(sizes[1]));
    }
}
