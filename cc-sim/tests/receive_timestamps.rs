//! Receive timestamps from the receiver's clock to the controller (draft-ietf-quic-receive-ts).

use cc_core::{
    AckEvent, CongestionController, EcnEvent, Instant, LossEvent, PathState, PeerInstant, Rate, SentPacket,
    Snapshot,
};
use cc_sim::scenario::{Scenario, parse};
use cc_sim::{Algorithm, simulate_with};
use std::sync::{Arc, Mutex};

/// What a controller was told of a packet: when it was sent, its size, and when the receiver got it.
type Told = (Instant, u64, Option<PeerInstant>);

/// A window that never changes, and no pacing.
#[derive(Clone, Debug)]
struct Fixed {
    window: u64,
    /// One list for each ACK.
    told: Arc<Mutex<Vec<Vec<Told>>>>,
}

impl CongestionController for Fixed {
    fn on_packet_sent(&mut self, _path: &PathState, _packet: &SentPacket) {}
    fn on_ack(&mut self, _path: &PathState, ack: &AckEvent<'_>) {
        let packets = ack.packets.iter().map(|packet| (packet.sent_at, packet.bytes, packet.received_at));
        self.told.lock().unwrap().push(packets.collect());
    }
    fn on_loss(&mut self, _path: &PathState, _loss: &LossEvent<'_>) {}
    fn on_ecn(&mut self, _path: &PathState, _ecn: &EcnEvent) {}
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn cwnd(&self) -> u64 {
        self.window
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot { cwnd: self.window, ..Snapshot::default() }
    }
}

/// 8 Mbit/s, a microsecond a byte, and 10 ms one way.
fn scenario(endpoint: &str) -> Scenario {
    let text = format!(
        "name = \"timestamps\"\nsummary = \"\"\n\
         [[link]]\nrate_mbps = 8\nlatency_ms = 10\nqueue_unlimited = true\n\
         [transfer]\nsize_bytes = 100_000\n[endpoint]\nskip_packet_numbers = false\nmay_overshoot = false\n{endpoint}\n"
    );
    parse(&text, "test").unwrap()
}

/// What the controller is told with a window of `window` bytes, ACK by ACK; the handshake left out.
fn told(scenario: &Scenario, window: u64) -> Vec<Vec<Told>> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let make =
        |_: Algorithm, _: &_, _| -> cc_sim::AnyController { Box::new(Fixed { window, told: told.clone() }) };
    simulate_with(scenario, Algorithm::C4, &make, 1, &mut ()).unwrap();
    let request_at = Instant::from_micros(33_730);
    let mut frames = told.lock().unwrap().clone();
    for frame in &mut frames {
        frame.retain(|&(sent_at, ..)| sent_at >= request_at);
    }
    frames.retain(|frame| !frame.is_empty());
    frames
}

/// When a packet arrives that finds the link idle, on the sender's clock in microseconds.
fn arrival_us(sent_at: Instant, bytes: u64) -> u64 {
    sent_at.as_micros() + bytes + 10_000
}

#[test]
fn the_controller_is_told_when_the_receiver_s_clock_saw_each_packet() {
    // One packet at a time. 200 ppm fast, five seconds ahead.
    let clock = "receive_timestamps = true\nreceiver_clock_offset_ms = 5_000\nreceiver_clock_drift_ppm = 200";
    let told = told(&scenario(clock), 1_440).concat();
    // 100 000 bytes in packets of 1406 bytes of data.
    assert!(told.len() >= 71, "{}", told.len());
    for (sent_at, bytes, received_at) in told {
        let arrival = arrival_us(sent_at, bytes);
        let shown = 5_000_000 + arrival + arrival * 200 / 1_000_000;
        assert_eq!(received_at, Some(PeerInstant::from_nanos(shown * 1_000)), "sent at {sent_at:?}");
    }
}

#[test]
fn without_the_extension_it_is_told_nothing() {
    let clock = "receive_timestamps = false\nreceiver_clock_offset_ms = 5_000";
    let told = told(&scenario(clock), 1_440).concat();
    assert!(told.len() >= 71 && told.iter().all(|&(.., received_at)| received_at.is_none()));
}

#[test]
fn the_rtt_may_stand_in_for_receive_times() {
    // The receiver's clock has no say. One packet at a time: every RTT is the time of its packet (1440), 10 ms, the time of
    // its ACK (55, and 136 for 32 timestamps of 4 bytes and 8 around them) and 10 ms, as the ACK delay does not count. So is the smoothed RTT, but
    // for what the handshake, whose RTT is 24 258 us, has left after 60 times 7/8 of it.
    let rtt = "receive_timestamps = true\nreceiver_clock_offset_ms = 5_000\nreceive_times_from_rtt = true";
    let told = told(&scenario(rtt), 1_440).concat();
    assert!(told.len() > 70);
    for (sent_at, _, received_at) in told.into_iter().skip(60) {
        let rtt_us = received_at.unwrap().as_nanos() / 1_000 - sent_at.as_micros();
        assert!((21_495..=21_495 + 136 + 1).contains(&rtt_us), "{rtt_us}");
    }
}

#[test]
fn an_exponent_leaves_the_newest_timestamp_less_than_a_unit_early() {
    let told = told(&scenario("receive_timestamps = true\nreceive_timestamps_exponent = 10"), 1_440).concat();
    for (sent_at, bytes, received_at) in told {
        let units = arrival_us(sent_at, bytes) / 1_024;
        assert_eq!(received_at, Some(PeerInstant::from_nanos(units * 1_024_000)));
    }
}

#[test]
fn a_frame_that_may_hold_one_timestamp_reports_the_newest_packet() {
    let frames = told(&scenario("receive_timestamps = true\nmax_receive_timestamps_per_ack = 1"), 20 * 1_440);
    assert!(frames.iter().any(|frame| frame.len() > 1));
    for frame in frames {
        let (newest, others) = frame.split_last().unwrap();
        assert!(newest.2.is_some(), "{frame:?}");
        assert!(others.iter().all(|&(.., received_at)| received_at.is_none()), "{frame:?}");
    }
}

#[test]
fn packets_whose_arrival_was_not_measured_are_acknowledged_without() {
    let text = "receive_timestamps = true\nreceive_timestamps_missing_percent = ";
    let half = told(&scenario(&format!("{text}50")), 20 * 1_440).concat();
    let measured = half.iter().filter(|(.., received_at)| received_at.is_some()).count();
    // Of 72 or so, half: standard deviation 4.2.
    assert!((half.len() / 4..=half.len() * 3 / 4).contains(&measured), "{measured} of {}", half.len());
    let none = told(&scenario(&format!("{text}100")), 20 * 1_440).concat();
    assert!(none.len() >= 71 && none.iter().all(|&(.., received_at)| received_at.is_none()));
}

#[test]
fn lost_acks_lose_no_timestamp_that_a_later_one_repeats() {
    // A third of the ACKs is lost, and a frame repeats the last 64 packets, more than the window has.
    let mut lossy = scenario("receive_timestamps = true\nmax_receive_timestamps_per_ack = 64");
    lossy.transfer.bytes = 1_000_000;
    lossy.link.states[0].up_loss_ppm = 333_333;
    let told = told(&lossy, 20 * 1_440).concat();
    assert!(told.iter().all(|&(.., received_at)| received_at.is_some()));
    // With the newest packets of one ACK only, some are missing.
    lossy.endpoint.receive_timestamps.as_mut().unwrap().max_per_ack = 2;
    let told = self::told(&lossy, 20 * 1_440).concat();
    assert!(told.iter().any(|&(.., received_at)| received_at.is_none()));
}

#[test]
fn timestamps_make_the_acks_longer_and_change_nothing_else() {
    let with = scenario("receive_timestamps = true");
    let without = scenario("");
    // Algorithms that do not look at them.
    for algorithm in [Algorithm::C4, Algorithm::Cubic] {
        let run = |scenario| cc_sim::simulate_flows(scenario, algorithm, 1, &mut ()).unwrap();
        let (with, without) = (run(&with), run(&without));
        assert_eq!(with.flows[0].received, without.flows[0].received);
        // A longer ACK arrives a little later: by less than a millisecond here, a byte a microsecond.
        assert!(with.main.completion_us.abs_diff(without.main.completion_us) < 5_000, "{with:?} {without:?}");
    }
}
