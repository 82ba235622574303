//! The delay signal, rule by rule (quicdc: "Delay signal", "Reaction", "Foreign queue").

use super::stack::{Bare, MSS, RTT_MS, ms};
use crate::{Config, DelayMode, DelayState, QuicDc};
use cc_core::{CongestionController, DelaySource, Duration, LossEvent, LostPacket, PathChange, SendLimit};

/// min(100 ms / 4, 25 ms); eight datagrams take 8 ms at 1.2 MB/s.
const THRESHOLD_MS: u64 = 25;
/// BWE * min RTT after [`measured`]: 1.2 MB/s * 100 ms, 100 datagrams.
const BDP: u64 = 120_000;

/// A sender that had 100 datagrams acked every 100 ms three times, with receive times and without a queue: the first ACK
/// begins the intervals, and two samples of 120000 bytes in 100 ms make BWE 1.2 MB/s. At 300 ms, with a window of
/// 120000 + 3 * 120000 bytes in slow start, and nothing in flight.
fn measured_with(config: Config) -> Bare<QuicDc> {
    let mut stack = Bare::new(QuicDc::new(&Config { initial_window: Some(BDP), ..config }));
    for round in 0..3 {
        flight(&mut stack, RTT_MS * round, 100, 0);
    }
    assert_eq!((stack.cc.cwnd(), stack.cc.snapshot().phase), (480_000, "slow_start"));
    assert_eq!(stack.cc.westwood().target(480_000), BDP);
    stack
}

fn measured() -> Bare<QuicDc> {
    measured_with(Config::default())
}

/// The same at 561 ms, after a reaction that ended slow start and a flight of 100 datagrams without a queue. The flight of 110 is a
/// sample of 132000 bytes in 160 ms, 825000 B/s: f = 0.2 * 1.2 MB/s + 0.8 * 0.825 MB/s = 900000 B/s, BWE = 0.24 MB/s + 0.8 * f = 960000
/// B/s. The next are 120000 bytes in 101 ms, 1188118 B/s: f = 1130494 B/s, BWE = 1096395 B/s.
fn avoiding() -> Bare<QuicDc> {
    let mut stack = measured();
    flight(&mut stack, 300, 110, 60);
    flight(&mut stack, 461, 100, 0);
    assert_eq!((stack.cc.cwnd(), stack.cc.snapshot().phase), (2 * BDP, "congestion_avoidance"));
    stack
}

/// What a reaction leaves then: 1096395 B/s * 100 ms.
const AVOIDING_TARGET: u64 = 109_639;

/// A flight of `count` datagrams, acked in one frame, that queued for `queue_ms`.
fn flight(stack: &mut Bare<QuicDc>, at_ms: u64, count: u64, queue_ms: u64) {
    let sent = stack.send(at_ms, count);
    stack.ack(at_ms + RTT_MS + queue_ms, sent, |_| queue_ms);
}

/// A flight that fills the window.
fn full_flight(stack: &mut Bare<QuicDc>, at_ms: u64, queue_ms: u64) {
    flight(stack, at_ms, stack.cc.cwnd() / MSS, queue_ms);
}

fn watching(millis: u64) -> DelayState {
    DelayState::Watching(Duration::from_millis(millis))
}

/// Whether three times a queue that never drained has made it foreign.
fn is_foreign(stack: &Bare<QuicDc>) -> bool {
    matches!(stack.cc.delay_state(), DelayState::ForeignQueue(_))
}

#[test]
fn a_queue_above_the_threshold_reduces_the_window_as_a_loss_does() {
    let mut stack = avoiding();
    assert_eq!(stack.cc.delay_state(), watching(THRESHOLD_MS));
    flight(&mut stack, 562, 60, THRESHOLD_MS + 1);
    let snapshot = stack.cc.snapshot();
    assert_eq!((snapshot.cwnd, snapshot.phase), (AVOIDING_TARGET, "congestion_avoidance"));
    assert_eq!((snapshot.congestion_events, stack.cc.delay_reactions()), (2, 2));
}

#[test]
fn in_slow_start_it_leaves_half_of_the_window_and_ends_slow_start() {
    // BWE * min RTT are 120000 bytes, a quarter of the window.
    let mut stack = measured();
    assert_eq!(stack.cc.delay_state(), watching(THRESHOLD_MS));
    flight(&mut stack, 300, 110, THRESHOLD_MS + 1);
    let snapshot = stack.cc.snapshot();
    assert_eq!((snapshot.cwnd, snapshot.phase, snapshot.startup), (2 * BDP, "congestion_avoidance", false));
    assert_eq!((snapshot.congestion_events, stack.cc.delay_reactions()), (1, 1));
    assert!(stack.cc.is_limited_by_delay());
    assert_eq!(snapshot.queueing_delay, Some(Duration::from_millis(THRESHOLD_MS + 1)));
    assert_eq!(snapshot.delay_source, Some(DelaySource::ReceiveTimes));
    // One more window acked adds a datagram, not a window.
    full_flight(&mut stack, 500, 0);
    assert_eq!(stack.cc.cwnd(), 2 * BDP + MSS);
}

#[test]
fn in_slow_start_a_burst_is_what_the_window_makes_of_it() {
    // 120 kB in 600 ms are 0.2 MB/s, at which 8 datagrams take 48 ms, though the window of 480000 bytes is sent in 600 ms: 0.8 MB/s, 12 ms.
    let mut stack = Bare::new(QuicDc::new(&Config { initial_window: Some(BDP), ..Config::default() }));
    for round in 0..3 {
        flight(&mut stack, 600 * round, 100, 500);
    }
    assert_eq!(stack.cc.westwood().target(u64::MAX), BDP);
    assert_eq!((stack.cc.cwnd(), stack.cc.delay_state()), (480_000, watching(THRESHOLD_MS)));
    // After slow start it is BWE again.
    let lost = stack.send(1_800, 1);
    stack.lose(2_400, lost, false);
    assert_eq!(stack.cc.delay_state(), watching(48));
}

#[test]
fn a_queue_at_the_threshold_is_none() {
    let mut stack = measured();
    flight(&mut stack, 300, 200, THRESHOLD_MS);
    assert_eq!((stack.cc.delay_reactions(), stack.cc.is_limited_by_delay()), (0, false));
}

/// The reactions to rows of packets that queued, each followed by `below` packets that did not.
fn reactions_to_rows(mut stack: Bare<QuicDc>, at_ms: u64, above: u64, below: u64) -> u32 {
    let before = stack.cc.delay_reactions();
    let sent = stack.send(at_ms, 2 * (above + below));
    let first = sent.start;
    let queue = |number: u64| if (number - first) % (above + below) < above { 60 } else { 10 };
    stack.ack(at_ms + RTT_MS + 60, sent, queue);
    stack.cc.delay_reactions() - before
}

#[test]
fn the_signal_is_the_minimum_of_a_quarter_round() {
    // A quarter of 240000 bytes are 50 datagrams. Rows of fewer are spikes, however many there are.
    for (above, below, signal) in [(49, 1, 0), (50, 1, 1), (25, 25, 0)] {
        assert_eq!(reactions_to_rows(avoiding(), 562, above, below), signal, "{above} above, {below} below");
    }
}

#[test]
fn in_slow_start_it_is_the_minimum_of_a_burst() {
    // A quarter of 480000 bytes would be 100 datagrams.
    for (above, below, signal) in [(7, 1, 0), (8, 1, 1), (4, 4, 0)] {
        assert_eq!(reactions_to_rows(measured(), 300, above, below), signal, "{above} above, {below} below");
    }
}

#[test]
fn one_or_two_samples_are_no_signal_however_small_the_window() {
    let mut stack = measured();
    let lost = stack.send(300, 1);
    stack.lose(400, lost, true);
    assert_eq!(stack.cc.cwnd(), 2 * MSS);
    // Two samples are a whole round, and too few.
    flight(&mut stack, 500, 2, 60);
    assert_eq!(stack.cc.delay_reactions(), 0);
    flight(&mut stack, 700, 1, 60);
    assert_eq!(stack.cc.delay_reactions(), 1);
}

#[test]
fn it_reacts_at_most_once_for_what_was_sent_before() {
    // 300 datagrams, many times the row of a signal: one reaction. So do those that come in frames after it.
    let mut stack = measured();
    let sent = stack.send(300, 400);
    stack.ack(460, sent.start..sent.start + 300, |_| 60);
    stack.ack(461, sent.start + 300..sent.end, |_| 60);
    assert_eq!((stack.cc.cwnd(), stack.cc.delay_reactions()), (2 * BDP, 1));
    // What is sent after it may give the next one.
    flight(&mut stack, 470, 100, 60);
    assert_eq!(stack.cc.delay_reactions(), 2);
}

#[test]
fn a_loss_of_packets_sent_before_the_reaction_is_ignored() {
    let mut stack = avoiding();
    let sent = stack.send(562, 200);
    stack.ack(722, sent.start..sent.start + 150, |_| 60);
    assert_eq!((stack.cc.cwnd(), stack.cc.delay_reactions()), (AVOIDING_TARGET, 2));
    // BWE is another by now: 180000 bytes in 161 ms are 1118012 B/s, f = 226098 + 894409 = 1120507 (each rounded down once), BWE =
    // 219279 + 896405 = 1115684 B/s; 111568 bytes.
    assert_eq!(stack.cc.westwood().target(480_000), 111_568);
    stack.lose(723, sent.start + 150..sent.start + 151, false);
    assert_eq!(stack.cc.cwnd(), AVOIDING_TARGET);
    // Only the inner controller answers it, for the window that it would give.
    assert_eq!(stack.cc.westwood().cwnd(), 111_568);
}

#[test]
fn the_loss_of_a_packet_without_bytes_says_nothing_about_when_the_others_were_sent() {
    let mut stack = avoiding();
    let sent = stack.send(562, 200);
    stack.ack(722, sent.start..sent.start + 150, |_| 60);
    // 12000 bytes in 109 ms are 110091 B/s; f = (1120507 + 440364) / 5 = 312174, BWE = (1115684 + 1248696) / 5 = 472876 B/s. A loss
    // that counts would leave 47287 bytes.
    flight(&mut stack, 731, 10, 0);
    assert_eq!((stack.cc.cwnd(), stack.cc.westwood().target(480_000)), (AVOIDING_TARGET, 47_287));
    // A packet that does not count in flight, sent after the reaction, is found lost with one that was sent before.
    let lost = [(sent.start + 150, 562, MSS), (1_000, 730, 0)].map(|(number, at_ms, bytes)| LostPacket {
        number: Some(number),
        sent_at: ms(at_ms),
        bytes,
        ..LostPacket::default()
    });
    let loss = LossEvent { packets: &lost, last: true, persistent_congestion: false, cause: None };
    let mut one = stack.cc;
    one.on_loss(&stack.state(832, 0), &loss);
    let mut other = stack.cc;
    other.on_loss(&stack.state(832, 0), &LossEvent { packets: &lost[..1], ..loss });
    assert_eq!(std::format!("{one:?}"), std::format!("{other:?}"));
}

#[test]
fn idle_time_counts_for_the_time_until_a_foreign_queue_is_tried_again() {
    let mut stack = measured();
    let mut now = 300;
    while !is_foreign(&stack) {
        full_flight(&mut stack, now, 60);
        now += 161;
    }
    let reactions = stack.cc.delay_reactions();
    full_flight(&mut stack, now, 60);
    assert_eq!(stack.cc.delay_reactions(), reactions);
    // 5 s later the queue stands still. The base does too: it is younger than 10 s.
    now += 5_161;
    stack.cc.on_idle_restart(&stack.state(now, 0), Duration::from_millis(5_000));
    full_flight(&mut stack, now, 60);
    assert_eq!(stack.cc.delay_reactions(), reactions + 1);
}

#[test]
fn a_loss_of_packets_sent_after_the_reaction_reduces_the_window_again() {
    let mut stack = measured();
    flight(&mut stack, 300, 110, 60);
    assert_eq!(stack.cc.cwnd(), 2 * BDP);
    // 24000 bytes in 200 ms: BWE falls, and the next loss leaves less.
    let next = stack.send(500, 21);
    stack.ack(660, next.start..next.end - 1, |_| 0);
    let target = stack.cc.westwood().target(2 * BDP);
    assert!(target < BDP);
    stack.lose(661, next.end - 1..next.end, false);
    assert_eq!(stack.cc.cwnd(), target);
}

#[test]
fn a_mark_of_a_packet_sent_after_the_reaction_does_too() {
    let mut stack = measured();
    flight(&mut stack, 300, 110, 60);
    let next = stack.send(500, 20);
    stack.ack(660, next.clone(), |_| 0);
    let target = stack.cc.westwood().target(BDP);
    stack.mark(661, next.start);
    assert_eq!(stack.cc.cwnd(), target);
    assert_eq!(stack.cc.snapshot().congestion_events, 2);
}

#[test]
fn a_queue_that_stands_through_three_reactions_is_foreign() {
    let mut stack = measured();
    let mut now = 300;
    for reactions in 1..=3 {
        full_flight(&mut stack, now, 60);
        now += 161;
        assert_eq!((stack.cc.delay_reactions(), is_foreign(&stack)), (reactions, false));
    }
    let left = stack.cc.cwnd();
    full_flight(&mut stack, now, 60);
    now += 161;
    assert_eq!((stack.cc.delay_reactions(), is_foreign(&stack)), (3, true));
    assert_eq!(stack.cc.snapshot().phase, "foreign_queue");
    // Congestion avoidance goes on, though the queue is no shorter.
    full_flight(&mut stack, now, 60);
    now += 161;
    assert!(stack.cc.cwnd() > left && stack.cc.delay_reactions() == 3);
    // At half of the threshold, 12.5 ms, it still stands, whatever is left of the bandwidth; below it is gone.
    flight(&mut stack, now, 10, 13);
    assert!(is_foreign(&stack));
    now += 161;
    flight(&mut stack, now, 10, 12);
    assert!(!is_foreign(&stack));
}

#[test]
fn a_queue_that_drains_between_reactions_is_ours() {
    let mut stack = measured();
    let mut now = 300;
    for reactions in 1..10 {
        full_flight(&mut stack, now, 60);
        now += 161;
        assert_eq!(stack.cc.delay_reactions(), reactions);
        full_flight(&mut stack, now, 2);
        now += 103;
        assert!(!is_foreign(&stack));
    }
}

#[test]
fn a_foreign_queue_is_tried_again_after_five_seconds_and_then_after_twice_as_long() {
    // A queue that grows by 6 ms a second: even above a base that is 5 s old by more than the threshold.
    let mut stack = measured();
    let (mut now, mut reacted_at) = (300, std::vec::Vec::new());
    // Until the minimum RTT is measured again.
    while now < 20_000 {
        let queue = 60 + now * 6 / 1_000;
        let before = stack.cc.delay_reactions();
        full_flight(&mut stack, now, queue);
        now += RTT_MS + queue + 1;
        if stack.cc.delay_reactions() > before {
            reacted_at.push(now);
        }
    }
    let gaps: std::vec::Vec<u64> = reacted_at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Three reactions in three rounds, then one after 5 s and one after 10 s, or in the two rounds that are going on by then.
    assert!(gaps.len() == 4 && gaps[1] < 1_000, "{gaps:?}");
    assert!((5_000..6_000).contains(&gaps[2]) && (10_000..11_000).contains(&gaps[3]), "{gaps:?}");
}

#[test]
fn what_follows_a_reaction_that_did_not_drain_the_queue_takes_at_most_half() {
    // The queue takes the RTT to 1 s, and the measured bandwidth falls with it. The first reaction leaves 109639 bytes, as above. Its
    // flight of 200 datagrams measures 240000 / 1.001 s = 239760 B/s: f = 226098 + 191808 = 417906, BWE = 219279 + 334324 = 553603
    // B/s; 55360 bytes, more than half of 109639. The flight of 91 measures 109200 / 1.001 s = 109090 B/s: f = 170853, BWE = 247403 B/s;
    // 24740 bytes, less than half of 55360.
    let mut stack = avoiding();
    full_flight(&mut stack, 562, 900);
    assert_eq!((stack.cc.delay_reactions(), stack.cc.cwnd()), (2, AVOIDING_TARGET));
    full_flight(&mut stack, 1_563, 900);
    assert_eq!((stack.cc.delay_reactions(), stack.cc.cwnd()), (3, 55_360));
    assert_eq!(stack.cc.westwood().target(55_360), 24_740);
    full_flight(&mut stack, 2_564, 900);
    assert_eq!((stack.cc.delay_reactions(), stack.cc.cwnd()), (4, 55_360 / 2));
}

#[test]
fn an_unused_window_does_not_grow_under_the_limit_either() {
    let mut stack = measured();
    flight(&mut stack, 300, 110, 60);
    let window = stack.cc.cwnd();
    stack.limited_by = SendLimit::NoData;
    for round in 5..50 {
        flight(&mut stack, RTT_MS * round, 50, 0);
    }
    assert_eq!(stack.cc.cwnd(), window);
}

#[test]
fn a_stack_that_never_says_what_limits_it_grows_under_the_limit() {
    let mut stack = measured();
    flight(&mut stack, 300, 110, 60);
    let window = stack.cc.cwnd();
    stack.limited_by = SendLimit::Unknown;
    for round in 5..9 {
        full_flight(&mut stack, RTT_MS * round, 0);
    }
    assert_eq!(stack.cc.cwnd(), window + 4 * MSS);
}

#[test]
fn a_queue_on_the_way_back_is_a_signal_only_without_receive_times() {
    for (has_stamps, source, reactions) in
        [(true, DelaySource::ReceiveTimes, 0), (false, DelaySource::AckArrival, 1)]
    {
        let mut stack = Bare::new(QuicDc::new(&Config { initial_window: Some(BDP), ..Config::default() }));
        stack.has_stamps = has_stamps;
        for round in 0..10 {
            let sent = stack.send(200 * round, 100);
            // From 1000 ms on ACKs come 80 ms later. 20 frames a flight.
            let at = 200 * round + RTT_MS + if round < 5 { 0 } else { 80 };
            for first in sent.step_by(5) {
                stack.ack(at, first..first + 5, |_| 0);
            }
        }
        assert_eq!(stack.cc.snapshot().delay_source, Some(source));
        assert_eq!(stack.cc.delay_reactions().min(1), reactions, "{source:?}");
    }
}

#[test]
fn without_receive_times_there_is_no_signal_if_ack_arrivals_are_not_wanted() {
    let config = Config { ack_arrival: false, initial_window: Some(BDP), ..Config::default() };
    let mut stack = Bare::new(QuicDc::new(&config));
    stack.has_stamps = false;
    for round in 0..12 {
        flight(&mut stack, 400 * round, 100, 20 * round);
    }
    assert_eq!((stack.cc.one_way_delay().source(), stack.cc.delay_reactions()), (None, 0));
}

#[test]
fn before_two_bandwidth_samples_there_is_no_signal() {
    let mut stack = Bare::new(QuicDc::new(&Config { initial_window: Some(BDP), ..Config::default() }));
    flight(&mut stack, 0, 10, 0);
    assert_eq!(stack.cc.delay_state(), DelayState::Blind);
    flight(&mut stack, 100, 200, 90);
    assert_eq!(stack.cc.delay_reactions(), 0);
}

#[test]
fn two_losses_at_a_shorter_queue_lower_the_threshold() {
    // A buffer of 15 ms at 1.2 MB/s: the rounds before two losses have a peak of 15 ms: 0.8 * 15 = 12 ms, above the 8 ms of a burst.
    let mut stack = measured();
    let mut now = 300;
    for expected in [THRESHOLD_MS, 12] {
        // 139 datagrams in 116 ms are 1.44 MB/s, which keeps BWE up.
        let sent = stack.send(now, 140);
        stack.ack(now + 115, sent.start..sent.end - 1, |_| 15);
        stack.lose(now + 116, sent.end - 1..sent.end, false);
        now += 117;
        assert_eq!(stack.cc.delay_state(), watching(expected));
    }
    assert_eq!(stack.cc.delay_reactions(), 0);
}

#[test]
fn a_new_path_begins_without_a_base_a_limit_and_a_threshold() {
    for (change, window, limited) in [(PathChange::New, BDP, false), (PathChange::Rebinding, 2 * BDP, true)] {
        let mut stack = measured();
        flight(&mut stack, 300, 110, 60);
        stack.cc.on_path_change(&stack.state(700, 0), change);
        assert_eq!((stack.cc.cwnd(), stack.cc.is_limited_by_delay()), (window, limited));
        assert_eq!(stack.cc.delay_state() == DelayState::Blind, !limited);
        assert_eq!(stack.cc.one_way_delay().source().is_none(), !limited);
        assert_eq!(stack.cc.snapshot().congestion_events, 1, "what happened stays counted");
    }
}

#[test]
fn packets_of_another_path_say_nothing_about_the_new_one() {
    let mut stack = measured();
    let old = stack.send(300, 200);
    stack.cc.on_path_change(&stack.state(350, 0), PathChange::New);
    for round in 4..7 {
        flight(&mut stack, RTT_MS * round, 100, 0);
    }
    let window = stack.cc.cwnd();
    stack.lose(701, old.start..old.start + 50, true);
    assert_eq!((stack.cc.cwnd(), stack.cc.delay_reactions()), (window, 0));
}

#[test]
fn persistent_congestion_overrules_delay() {
    let mut stack = measured();
    flight(&mut stack, 300, 110, 60);
    let lost = stack.send(600, 2);
    stack.lose(2_000, lost, true);
    assert_eq!((stack.cc.cwnd(), stack.cc.snapshot().phase), (2 * MSS, "slow_start"));
    assert!(!stack.cc.is_limited_by_delay());
    // It starts again by doubling, up to what the path was measured to hold.
    flight(&mut stack, 2_100, 2, 0);
    assert_eq!(stack.cc.cwnd(), 4 * MSS);
}

#[test]
fn under_the_limit_of_delay_pacing_is_that_of_congestion_avoidance() {
    // The inner controller is in slow start still. 240000 * 1.25 / 0.16 s = 1875000 B/s.
    let mut stack = measured();
    flight(&mut stack, 300, 110, 60);
    let rate = stack.cc.pacing_rate().map(cc_core::Rate::as_bytes_per_sec);
    assert_eq!(rate, Some(1_875_000));
}

#[test]
fn the_papers_fraction_waits_for_a_loss_to_know_the_buffer() {
    let config = Config { delay: DelayMode::PaperFraction { percent: 80 }, ..Config::default() };
    let mut stack = measured_with(config);
    flight(&mut stack, 300, 300, 100);
    assert_eq!(stack.cc.delay_state(), DelayState::Blind);
    let lost = stack.send(600, 1);
    stack.lose(800, lost, false);
    // The largest RTT was 200 ms: 0.8 * (200 - 100) = 80 ms.
    assert_eq!(stack.cc.delay_state(), watching(80));
    flight(&mut stack, 900, 10, 80);
    assert_eq!(stack.cc.delay_reactions(), 0);
    // One sample is enough.
    flight(&mut stack, 1_200, 1, 81);
    assert_eq!(stack.cc.delay_reactions(), 1);
}

#[test]
fn the_papers_probe_and_cruise_takes_turns() {
    let config = Config { delay: DelayMode::PaperProbe { percent: 50 }, ..Config::default() };
    let mut stack = measured_with(config);
    let (mut now, mut began) = (300, std::vec::Vec::new());
    let mut was_cruising = false;
    while now < 32_000 {
        // The first packet of each flight does not queue, so that the queue does not become the base.
        let (sent, queue) = (stack.send(now, 20), if now < 1_000 { 100 } else { 40 });
        let first = sent.start;
        stack.ack(now + RTT_MS + queue, sent, |number| if number == first { 0 } else { queue });
        now += RTT_MS + queue + 1;
        let is_cruising = stack.cc.delay_state() != DelayState::Blind;
        if is_cruising != was_cruising {
            began.push(now);
            was_cruising = is_cruising;
            if began.len() == 1 {
                assert_eq!(stack.cc.delay_state(), watching(50));
            }
        }
    }
    // The intervals began at 100 ms; phases of 3, 10, 3, 10 s and each time up to an interval.
    for (began, expected) in began.iter().zip([3_100, 13_100, 16_100, 26_100, 29_100]) {
        assert!((expected..expected + 800).contains(began), "{began} {expected}");
    }
    assert_eq!(began.len(), 5, "{began:?}");
}

#[test]
fn the_window_in_force_counts_as_full_with_one_datagram_missing_or_three_where_nothing_is_said() {
    for (limited_by, missing, grows) in [
        (SendLimit::NoData, 0, true),
        (SendLimit::NoData, 1, false),
        (SendLimit::Unknown, 2, true),
        (SendLimit::Unknown, 3, false),
    ] {
        let mut stack = measured();
        flight(&mut stack, 300, 110, 60);
        let window = stack.cc.cwnd();
        stack.limited_by = limited_by;
        for round in 5..7 {
            flight(&mut stack, RTT_MS * round, window / MSS - missing, 0);
        }
        assert_eq!(stack.cc.cwnd() > window, grows, "{limited_by:?}, {missing} missing");
    }
}

#[test]
fn a_mark_and_a_queue_of_the_same_round_are_one_signal() {
    for (marked, reactions) in [(false, 1), (true, 0)] {
        let mut stack = measured();
        let sent = stack.send(300, 110);
        if marked {
            stack.mark(430, sent.start);
        }
        stack.ack(460, sent, |_| 60);
        assert_eq!(stack.cc.delay_reactions(), reactions);
    }
}
