use super::HyStartPlusPlus;
use crate::slow_start::{SlowStart, SlowStartStep};
use crate::{AckEvent, AckedPacket, Duration, Instant, PathState, RttEvent, SendLimit};

const PACKET: u64 = 1_200;

/// Rounds of `FLIGHT` packets, each acked alone; the next flight is in the network when a round starts.
const FLIGHT: u64 = 10;

struct Flow {
    slow_start: HyStartPlusPlus,
    acked: u64,
}

impl Flow {
    fn new(paced: bool) -> Self {
        Self { slow_start: HyStartPlusPlus::new(paced), acked: 0 }
    }

    /// Acks the next packet with the given RTT.
    fn ack(&mut self, rtt_ms: u64, bytes: u64) -> SlowStartStep {
        self.ack_growing(rtt_ms, bytes, bytes)
    }

    /// The same where only `growing` of the bytes may make the window grow.
    fn ack_growing(&mut self, rtt_ms: u64, bytes: u64, growing: u64) -> SlowStartStep {
        let number = self.acked;
        self.acked += 1;
        let path = PathState {
            now: Instant::from_millis(1_000 + number),
            // When the last packet of a round is acked, the packets of the next round are in flight.
            next_number: ((number + 1) / FLIGHT + 1) * FLIGHT,
            oldest_outstanding: Some(self.acked),
            bytes_in_flight: PACKET,
            ..PathState::default()
        };
        let latest = Duration::from_millis(rtt_ms);
        self.slow_start.on_rtt(&path, &RttEvent { latest, is_sample: true, ..RttEvent::default() });
        let packet = AckedPacket { number: Some(number), bytes, ..AckedPacket::default() };
        let step = self.slow_start.on_ack(&path, &event(&[packet]), growing);
        self.slow_start.on_frame_end();
        step
    }

    /// One round in which every sample is `rtt_ms`; the step of its last ACK.
    fn round(&mut self, rtt_ms: u64) -> SlowStartStep {
        self.partial(FLIGHT, rtt_ms)
    }

    fn partial(&mut self, packets: u64, rtt_ms: u64) -> SlowStartStep {
        (0..packets).map(|_| self.ack(rtt_ms, PACKET)).last().unwrap()
    }
}

fn event(packets: &[AckedPacket]) -> AckEvent<'_> {
    AckEvent {
        packets,
        last: true,
        rate_sample: None,
        limited_by: SendLimit::Cwnd,
        max_bytes_in_flight: 0,
        app_limited_at: None,
        newest_data_sent_at: None,
    }
}

#[test]
fn the_window_grows_by_the_bytes_acked() {
    // RFC 9406 section 4.2: cwnd += min(N, L * SMSS), L infinite for a paced sender.
    let mut flow = Flow::new(true);
    assert_eq!(flow.ack(100, 1_200), SlowStartStep::Grow(1_200));
    assert_eq!(flow.ack(100, 40_000), SlowStartStep::Grow(40_000));
}

#[test]
fn an_unpaced_sender_grows_by_eight_datagrams_per_ack() {
    // RFC 9406 section 4.3: L = 8; 8 * 1200 = 9600.
    let mut flow = Flow::new(false);
    assert_eq!(flow.ack(100, 9_600), SlowStartStep::Grow(9_600));
    assert_eq!(flow.ack(100, 9_601), SlowStartStep::Grow(9_600));
}

#[test]
fn the_limit_of_an_unpaced_sender_holds_for_a_frame_cut_into_parts() {
    let mut slow_start = HyStartPlusPlus::new(false);
    let path = PathState { oldest_outstanding: Some(0), bytes_in_flight: 1, ..PathState::default() };
    let packets = [AckedPacket { number: Some(0), bytes: 6_000, ..AckedPacket::default() }];
    // Also where the last part acks nothing new, and so is not seen here.
    for last_part in [true, false] {
        let part = AckEvent { last: false, ..event(&packets) };
        assert_eq!(slow_start.on_ack(&path, &part, 6_000), SlowStartStep::Grow(6_000));
        let second = if last_part { event(&packets) } else { part };
        assert_eq!(slow_start.on_ack(&path, &second, 6_000), SlowStartStep::Grow(3_600));
        slow_start.on_frame_end();
        assert_eq!(
            slow_start.on_ack(&path, &event(&packets), 6_000),
            SlowStartStep::Grow(6_000),
            "next frame"
        );
        slow_start.on_frame_end();
    }
}

#[test]
fn a_rise_by_an_eighth_of_the_rtt_starts_conservative_slow_start() {
    // RttThresh = clamp(4 ms, 80 / 8 = 10 ms, 16 ms): 89 ms is no rise, 90 ms is.
    for (risen, expected) in [(89, false), (90, true)] {
        let mut flow = Flow::new(true);
        flow.round(80);
        flow.round(risen);
        assert_eq!(flow.slow_start.is_conservative(), expected, "{risen} ms");
    }
}

#[test]
fn the_threshold_is_at_least_four_milliseconds() {
    // 16 / 8 = 2 ms is below MIN_RTT_THRESH = 4 ms.
    for (risen, expected) in [(19, false), (20, true)] {
        let mut flow = Flow::new(true);
        flow.round(16);
        flow.round(risen);
        assert_eq!(flow.slow_start.is_conservative(), expected, "{risen} ms");
    }
}

#[test]
fn the_threshold_is_at_most_sixteen_milliseconds() {
    // 400 / 8 = 50 ms is above MAX_RTT_THRESH = 16 ms.
    for (risen, expected) in [(415, false), (416, true)] {
        let mut flow = Flow::new(true);
        flow.round(400);
        flow.round(risen);
        assert_eq!(flow.slow_start.is_conservative(), expected, "{risen} ms");
    }
}

#[test]
fn fewer_than_eight_samples_of_a_round_say_nothing() {
    let mut flow = Flow::new(true);
    flow.round(80);
    flow.partial(7, 120);
    assert!(!flow.slow_start.is_conservative());
    flow.partial(1, 120);
    assert!(flow.slow_start.is_conservative());
}

#[test]
fn one_spike_in_a_round_is_no_rise() {
    // bugs.md F5 A: the minimum of the round counts.
    let mut flow = Flow::new(true);
    flow.round(80);
    flow.partial(4, 80);
    flow.partial(1, 160);
    flow.partial(5, 80);
    assert!(!flow.slow_start.is_conservative());
    flow.round(160);
    assert!(flow.slow_start.is_conservative(), "a whole round of them is one");
}

#[test]
fn samples_that_the_rtt_estimator_refuses_do_not_count() {
    let mut flow = Flow::new(true);
    flow.round(80);
    let latest = Duration::from_millis(1);
    let refused = RttEvent { latest, is_sample: false, ..RttEvent::default() };
    flow.slow_start.on_rtt(&PathState::default(), &refused);
    flow.round(90);
    assert!(flow.slow_start.is_conservative(), "1 ms was not taken as the minimum");
}

#[test]
fn conservative_slow_start_grows_by_a_quarter_and_keeps_the_remainder() {
    // CSS_GROWTH_DIVISOR = 4: 1201 + 1201 + 1201 + 1201 bytes give 300 + 300 + 300 + 301.
    let mut flow = Flow::new(true);
    flow.round(80);
    flow.partial(8, 100);
    assert!(flow.slow_start.is_conservative());
    let grown: u64 = (0..4)
        .map(|_| match flow.ack(100, 1_201) {
            SlowStartStep::Grow(bytes) => bytes,
            SlowStartStep::Exit(_) => 0,
        })
        .sum();
    assert_eq!(grown, 1_201);
}

#[test]
fn slow_start_ends_after_five_conservative_rounds_the_first_partial_one_included() {
    // CSS_ROUNDS = 5: CSS starts at the eighth sample of the round of 100 ms, which counts as the first.
    let mut flow = Flow::new(true);
    flow.round(80);
    flow.round(100);
    assert!(flow.slow_start.is_conservative());
    for _ in 0..3 {
        assert_eq!(flow.round(100), SlowStartStep::Grow(300));
    }
    assert_eq!(flow.partial(9, 100), SlowStartStep::Grow(300));
    // The last ACK still grows the window, by a quarter of 1200 bytes.
    assert_eq!(flow.partial(1, 100), SlowStartStep::Exit(300));
}

#[test]
fn an_rtt_below_the_baseline_resumes_slow_start() {
    // cssBaselineMinRtt = 100 ms: 99 ms in a later round of at least 8 samples.
    let mut flow = Flow::new(true);
    flow.round(80);
    flow.round(100);
    flow.partial(7, 99);
    assert!(flow.slow_start.is_conservative(), "seven samples of the round");
    flow.partial(1, 99);
    assert!(!flow.slow_start.is_conservative());
    assert_eq!(flow.ack(99, 1_200), SlowStartStep::Grow(1_200));
    // HyStart++ goes on: 99 + 12 ms is a rise again, and five rounds are counted anew.
    flow.partial(1, 99);
    flow.round(112);
    assert!(flow.slow_start.is_conservative());
    for _ in 0..3 {
        assert_eq!(flow.round(112), SlowStartStep::Grow(300));
    }
    assert_eq!(flow.round(112), SlowStartStep::Exit(300));
}

#[test]
fn an_underutilised_window_does_not_grow_but_its_rounds_count() {
    // CSS from the eighth ack of the second round on: that round and four more end slow start, without a byte of growth.
    let mut flow = Flow::new(true);
    flow.round(80);
    for packet in 1..5 * FLIGHT {
        assert_eq!(flow.ack_growing(100, PACKET, 0), SlowStartStep::Grow(0), "{packet}");
        assert_eq!(flow.slow_start.is_conservative(), packet >= 8, "{packet}");
    }
    assert_eq!(flow.ack_growing(100, PACKET, 0), SlowStartStep::Exit(0));
}

#[test]
fn reset_forgets_everything() {
    let mut flow = Flow::new(false);
    flow.round(80);
    flow.round(100);
    flow.slow_start.reset();
    assert_eq!(flow.slow_start, HyStartPlusPlus::new(false));
    assert_eq!(flow.slow_start.phase(), "slow_start");
}
