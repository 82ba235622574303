//! What an adapter tells a controller, and the window that stands for its rate, are enough to find the rate of a path, also where
//! that changes or where there was little to send at first.

use cc_adapter::{Ledger, SendTimes};
use cc_bbr::Bbr;
use cc_c4::C4;
use cc_core::{AckedPacket, CongestionController, Duration, Instant, PacketSpace, SendLimit};
use std::collections::VecDeque;

const DATAGRAM: u64 = 1_200;
/// Without a queue.
const RTT: Duration = Duration::from_millis(20);
/// 10 and 40 Mbit/s: 960 and 240 us a datagram.
const SLOW: Duration = Duration::from_micros(960);
const FAST: Duration = Duration::from_micros(240);

/// A sender over a path that loses nothing, told in quinn's manner.
struct Rig<C> {
    ledger: Ledger<C>,
    times: SendTimes,
    now: Instant,
    link_free: Instant,
    /// When each packet was sent, how large it is, and when its ack comes.
    under_way: VecDeque<(Instant, u64, Instant)>,
}

impl<C: CongestionController> Rig<C> {
    fn new(controller: C) -> Self {
        Self {
            ledger: Ledger::new(controller, Instant::ZERO, DATAGRAM),
            times: SendTimes::new(),
            now: Instant::ZERO,
            link_free: Instant::ZERO,
            under_way: VecDeque::new(),
        }
    }

    fn send(&mut self, bytes: u64, service: Duration) {
        let sent = self.ledger.on_sent(self.now, self.now, bytes, PacketSpace::Application);
        self.times.on_sent(self.now, bytes, &sent.snapshot.unwrap_or_default(), self.ledger.path_rtt());
        self.link_free = self.link_free.max(self.now).after(service);
        self.under_way.push_back((self.now, bytes, self.link_free.after(RTT)));
    }

    fn next_ack(&mut self, app_limited: bool) {
        let Some((sent_at, bytes, acked_at)) = self.under_way.pop_front() else {
            panic!("nothing can be sent")
        };
        self.now = acked_at;
        self.ledger.on_acks_begin(acked_at, |ledger| -> SendLimit {
            ledger.limit(app_limited, ledger.window_for_rate())
        });
        let snapshot = self.times.on_acked(sent_at, bytes);
        let packet = AckedPacket { sent_at, bytes, packets: Some(1), snapshot, ..AckedPacket::default() };
        self.ledger.on_acked(acked_at, &packet);
        self.ledger.on_acks_complete(acked_at, self.ledger.bytes_in_flight() - bytes);
        self.ledger.commit();
    }

    /// A message and its answer, again and again.
    fn exchange(&mut self, messages: u32) {
        for _ in 0..messages {
            self.send(100, FAST);
            self.next_ack(true);
        }
    }

    /// There is always data; what of the link is used in the last second, in percent.
    fn transfer(&mut self, seconds: u64, service: Duration) -> u64 {
        let end = self.now.after(Duration::from_secs(seconds));
        let last_second = end.before(Duration::from_secs(1));
        let mut acked = 0;
        while self.now < end {
            while self.ledger.bytes_in_flight() + DATAGRAM <= self.ledger.window_for_rate() {
                self.send(DATAGRAM, service);
            }
            self.next_ack(false);
            acked += u64::from(self.now >= last_second);
        }
        100 * acked * service.as_micros() / 1_000_000
    }
}

fn a_path_that_becomes_faster(controller: impl CongestionController) {
    let mut rig = Rig::new(controller);
    rig.transfer(3, SLOW);
    let used = rig.transfer(15, FAST);
    assert!(used >= 85, "{used} %");
}

/// The rate of a few small messages is two datagrams in a round trip or less: a gain of a quarter must let a third one go.
fn data_after_small_messages(controller: impl CongestionController) {
    let mut rig = Rig::new(controller);
    rig.exchange(20);
    let used = rig.transfer(5, FAST);
    assert!(used >= 85, "{used} %");
}

#[test]
fn c4_finds_a_path_that_becomes_faster() {
    a_path_that_becomes_faster(C4::new(&cc_c4::Config::default()));
}

#[test]
fn bbr_finds_a_path_that_becomes_faster() {
    a_path_that_becomes_faster(Bbr::new(&cc_bbr::Config::default()));
}

#[test]
fn c4_finds_the_rate_after_small_messages() {
    data_after_small_messages(C4::new(&cc_c4::Config::default()));
}

#[test]
fn bbr_finds_the_rate_after_small_messages() {
    data_after_small_messages(Bbr::new(&cc_bbr::Config::default()));
}

/// A search overshoots and leaves a queue. Where the rate is then that of the bottleneck, as exactly as it is measured here, only
/// the window can drain it.
fn a_queue_is_drained(controller: impl CongestionController) {
    let mut rig = Rig::new(controller);
    rig.transfer(10, FAST);
    let used = rig.transfer(5, FAST);
    let rtt = rig.ledger.smoothed_rtt();
    assert!(used >= 95 && rtt <= RTT.times(5).divided_by(4), "{used} %, {rtt:?}");
}

#[test]
fn c4_drains_its_queue() {
    a_queue_is_drained(C4::new(&cc_c4::Config::default()));
}

#[test]
fn bbr_drains_its_queue() {
    a_queue_is_drained(Bbr::new(&cc_bbr::Config::default()));
}
