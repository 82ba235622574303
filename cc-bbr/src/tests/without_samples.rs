//! A stack that gives neither rate samples nor per-packet state, on a bottleneck with a finite buffer.

use super::{ms, path};
use crate::{Bbr, Config, State};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, Instant, LossEvent, LostPacket, PathRtt,
    PathState, Rate, SendLimit, SentPacket,
};
use std::collections::VecDeque;

const DATAGRAM: u64 = 1_200;
const RTT: Duration = ms(40);
/// 10 Mbit/s: 50 000 B in 40 ms.
const RATE: Rate = Rate::from_bytes_per_sec(1_250_000);

struct InFlight {
    number: u64,
    sent_at: Instant,
    /// When the sender learns what became of it.
    known_at: Instant,
    is_lost: bool,
}

struct Stack {
    bbr: Bbr,
    path: PathState,
    numbers: bool,
    /// Of so many packets one is lost; 0 for none.
    drop_one_of: u64,
    queue: VecDeque<InFlight>,
    next_send: Instant,
    link_free: Instant,
}

impl Stack {
    fn new(numbers: bool) -> Self {
        Self {
            bbr: Bbr::new(&Config::default()),
            path: PathState::default(),
            numbers,
            drop_one_of: 0,
            queue: VecDeque::new(),
            next_send: Instant::ZERO,
            link_free: Instant::ZERO,
        }
    }

    fn step(&mut self) {
        let may_send = self.path.bytes_in_flight + DATAGRAM <= self.bbr.cwnd();
        let known_at = self.queue.front().map(|packet| packet.known_at);
        let send_at = self.next_send.max(self.path.now);
        match known_at {
            Some(at) if !may_send || at < send_at => self.learn(at),
            _ => self.send(send_at),
        }
    }

    fn send(&mut self, now: Instant) {
        self.path.now = now;
        let number = self.path.next_number;
        self.path.next_number += 1;
        self.path.prior_bytes_in_flight = self.path.bytes_in_flight;
        self.path.bytes_in_flight += DATAGRAM;
        let waiting = self.link_free.since(now);
        let is_dropped = self.drop_one_of > 0 && number.is_multiple_of(self.drop_one_of);
        // Two BDP fit in the buffer.
        let is_lost = is_dropped || waiting > RTT.times(2);
        if !is_lost {
            self.link_free = self.link_free.max(now).after(RATE.time_to_send(DATAGRAM));
        }
        let known_at = self.link_free.max(now).after(RTT);
        self.queue.push_back(InFlight { number, sent_at: now, known_at, is_lost });
        let packet =
            SentPacket { number, bytes: DATAGRAM, in_flight: true, sent_at: now, ..SentPacket::default() };
        self.bbr.on_packet_sent(&self.shown(), &packet);
        let pacing = self.bbr.pacing_rate().expect("it always paces");
        self.next_send = now.after(pacing.time_to_send(DATAGRAM));
    }

    fn learn(&mut self, now: Instant) {
        let InFlight { number, sent_at, is_lost, .. } = self.queue.pop_front().expect("there is one");
        self.path.now = now;
        self.path.prior_bytes_in_flight = self.path.bytes_in_flight;
        self.path.bytes_in_flight -= DATAGRAM;
        let number = self.numbers.then_some(number);
        if is_lost {
            let packets = [LostPacket { number, sent_at, bytes: DATAGRAM, ..LostPacket::default() }];
            let loss = LossEvent { packets: &packets, last: true, persistent_congestion: false, cause: None };
            self.bbr.on_loss(&self.shown(), &loss);
            self.path.lost += DATAGRAM;
            return;
        }
        let rtt = now.since(sent_at);
        self.path.rtt = Some(PathRtt { latest: rtt, smoothed: rtt, min: RTT, var: Duration::ZERO });
        self.path.delivered += DATAGRAM;
        let packets = [AckedPacket { number, sent_at, bytes: DATAGRAM, ..AckedPacket::default() }];
        let shown = self.shown();
        ack(&mut self.bbr, &shown, &packets);
    }

    /// A stack without numbers tells none of the next packet either.
    fn shown(&self) -> PathState {
        PathState { next_number: if self.numbers { self.path.next_number } else { 0 }, ..self.path }
    }

    fn run(&mut self, span: Duration) {
        let end = self.path.now.after(span);
        while self.path.now < end {
            self.step();
        }
    }
}

fn ack(bbr: &mut Bbr, path: &PathState, packets: &[AckedPacket]) {
    let event = AckEvent {
        packets,
        last: true,
        rate_sample: None,
        limited_by: SendLimit::Unknown,
        max_bytes_in_flight: 0,
        app_limited_at: None,
        newest_data_sent_at: None,
    };
    bbr.on_ack(path, &event);
}

#[test]
fn round_trips_give_a_bandwidth_and_probe_rtt_ends() {
    for numbers in [true, false] {
        let mut stack = Stack::new(numbers);
        stack.run(ms(2_000));
        assert!(stack.bbr.full_bw_reached(), "{:?}", stack.bbr);
        let (delivered, rounds) = (stack.path.delivered, stack.bbr.round_count());
        let (mut entries, mut last, mut since) = (0, "", Instant::ZERO);
        while stack.path.now < Instant::from_secs(12) {
            stack.step();
            let name = stack.bbr.state().name();
            if name != last {
                (last, since) = (name, stack.path.now);
                entries += u32::from(name == "probe_rtt");
            }
            // 200 ms, the round trips around them, and the queue.
            assert!(name != "probe_rtt" || stack.path.now <= since.after(ms(400)), "{:?}", stack.bbr);
        }
        assert!((1..=2).contains(&entries), "{entries}");
        // Within 5 % of the bottleneck, 90 % of which are used.
        let found = stack.bbr.max_bw().as_bytes_per_sec();
        assert!(found.abs_diff(1_250_000) <= 62_500, "{found}");
        assert!(stack.path.delivered - delivered >= 11_250_000, "{}", stack.path.delivered - delivered);
        // 10 s are 250 round trips without a queue, of up to two BDP.
        let rounds = stack.bbr.round_count() - rounds;
        assert!((100..=260).contains(&rounds), "{rounds}");
    }
}

#[test]
fn losses_are_answered() {
    for numbers in [true, false] {
        let mut stack = Stack::new(numbers);
        stack.drop_one_of = 2;
        stack.run(ms(5_000));
        assert_ne!(stack.bbr.state, State::Startup);
        // Each round trip leaves 0.7 of the short-term bounds: down to four datagrams.
        assert!(stack.bbr.cwnd() <= 12_000, "{:?}", stack.bbr);
        let sent = stack.path.next_number;
        stack.run(ms(5_000));
        // Half of the link at the most, where half is lost; a probe for a round now and then.
        assert!((stack.path.next_number - sent) * DATAGRAM <= 3_125_000, "{:?}", stack.bbr);
    }
}

#[test]
fn totals_that_stand_still_end_probe_rtt_too_and_losses_lower_the_window() {
    // The totals of the path are those of construction: no bandwidth at all.
    let mut bbr = Bbr::new(&Config::default());
    let mut probes = 0;
    for round in 0..250 {
        let now = Instant::from_millis(100 + round * 40);
        let state = PathState {
            now,
            next_number: 10 * round + 20,
            prior_bytes_in_flight: 12_000,
            bytes_in_flight: 4_800,
            delivered: 0,
            ..path()
        };
        for number in 10 * round..10 * round + 10 {
            let sent_at = now.before(RTT);
            let packet =
                AckedPacket { number: Some(number), sent_at, bytes: DATAGRAM, ..AckedPacket::default() };
            ack(&mut bbr, &state, &[packet]);
        }
        probes += u64::from(bbr.state.is_probe_rtt());
    }
    // 200 ms and a round trip of 40 ms, after each 5 s of 10.
    assert!((5..=16).contains(&probes), "{probes}");
    assert!(!bbr.state.is_probe_rtt() && bbr.max_bw().is_zero());
    let cwnd = bbr.cwnd();
    bbr.enter_drain();
    bbr.lower_bounds(Rate::ZERO, 0);
    assert_eq!((bbr.bw_shortterm(), bbr.inflight_shortterm()), (None, Some(cwnd * 7 / 10)));
}

#[test]
fn an_idle_restart_is_over_with_the_next_ack() {
    let mut bbr = Bbr::new(&Config::default());
    let limited = PathState { app_limited: true, next_number: 101, bytes_in_flight: DATAGRAM, ..path() };
    let packet = SentPacket {
        number: 100,
        bytes: DATAGRAM,
        in_flight: true,
        sent_at: path().now,
        ..SentPacket::default()
    };
    bbr.on_packet_sent(&limited, &packet);
    assert!(bbr.idle_restart());
    // And a round: the packet belongs to what was sent after the idle time.
    let acked =
        AckedPacket { number: Some(100), sent_at: path().now, bytes: DATAGRAM, ..AckedPacket::default() };
    let next = PathState {
        now: path().now.after(RTT),
        prior_bytes_in_flight: DATAGRAM,
        bytes_in_flight: 0,
        delivered: path().delivered + DATAGRAM,
        ..limited
    };
    ack(&mut bbr, &next, &[acked]);
    assert!(!bbr.idle_restart());
    assert_eq!(bbr.round_count(), 1);
}

/// In CRUISE with 1 MB/s that no filter holds any more, so that the next sample that counts takes its place.
fn forgetful() -> Bbr {
    let mut bbr = super::cruising(1_000_000, 40);
    bbr.max_bw.advance();
    bbr.max_bw.advance();
    bbr
}

/// An ACK of one packet so many ms after 1 s, with so much delivered since then.
fn ack_at(bbr: &mut Bbr, at: u64, number: u64, delivered: u64, app_limited: bool) {
    let state = PathState {
        now: path().now.after(ms(at)),
        next_number: 200,
        prior_bytes_in_flight: 12_000,
        bytes_in_flight: 10_800,
        delivered: path().delivered + delivered,
        app_limited,
        ..path()
    };
    let sent_at = state.now.before(RTT);
    let packet = AckedPacket { number: Some(number), sent_at, bytes: DATAGRAM, ..AckedPacket::default() };
    ack(bbr, &state, &[packet]);
}

#[test]
fn a_round_that_was_limited_at_any_ack_lowers_no_estimate() {
    for (limited, found) in [(true, 1_000_000), (false, 500_000)] {
        let mut bbr = forgetful();
        ack_at(&mut bbr, 20, 99, 10_000, limited);
        // 20 000 B in 40 ms
        ack_at(&mut bbr, 40, 100, 20_000, false);
        assert_eq!(bbr.max_bw().as_bytes_per_sec(), found);
    }
}

#[test]
fn idle_time_is_no_time_of_delivery() {
    let mut bbr = forgetful();
    let idle = PathState { now: path().now.after(ms(1_000)), app_limited: true, ..path() };
    bbr.on_idle_restart(&idle, ms(1_000));
    assert!(bbr.idle_restart());
    // An ACK inside of the round clears it too.
    ack_at(&mut bbr, 1_020, 99, 10_000, false);
    assert!(!bbr.idle_restart());
    // 48 000 B in 40 ms: more than what is known, which limited samples may show. In 1040 ms it would be 46 kB/s.
    ack_at(&mut bbr, 1_040, 100, 48_000, true);
    assert_eq!(bbr.max_bw().as_bytes_per_sec(), 1_200_000);
}
