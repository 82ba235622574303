//! What a window that stands for a rate does to queue and throughput, compared with the plain product of rate and smoothed RTT, in a
//! model of quinn on a bottleneck: its calls, its pacer, its send times that several packets share, its timer of a millisecond. And with a
//! stack that is the same but for a pacer that takes the controller's rate. With `--nocapture` each test prints what it measured.

use cc_adapter::{Ledger, SendTimes};
use cc_core::{
    AckedPacket, CongestionController, Duration, Instant, LossCause, LostPacket, Pacer, PacketSpace, Rate,
};
use std::collections::VecDeque;
use std::fmt;

const DATAGRAM: u64 = 1_200;
const START: Instant = Instant::from_secs(1);
const TIMER: Duration = Duration::from_millis(1);
/// A tail-drop queue.
const QUEUE: Duration = Duration::from_millis(100);
/// Packets of one send call, and declared lost when this much later ones are acked (RFC 9002 section 6.1.1).
const BATCH: u64 = 10;
const REORDERING: u64 = 3;
/// The first half is not measured.
const TIME: Duration = Duration::from_secs(8);
const SEEDS: u64 = 5;

#[derive(Clone, Copy, Debug)]
struct Path {
    megabits: u64,
    rtt: Duration,
    loss_percent: u64,
    /// Acks wait for the receiver to wake up: up to twice this long.
    jitter: Duration,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// The ledger's.
    Ours,
    /// `min(cwnd, rate * smoothed_rtt)`.
    Plain,
    /// Another stack, whose pacer takes the rate.
    Paced,
}

/// Use of the link in percent and mean RTT in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    used: f64,
    rtt: f64,
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:5.1} % {:5.1} ms", self.used, self.rtt)
    }
}

struct Packet {
    index: u64,
    sent_at: Instant,
    /// `None` if it is lost.
    acked_at: Option<Instant>,
}

struct Model<C> {
    path: Path,
    rule: Rule,
    ledger: Ledger<C>,
    times: SendTimes,
    pacer: Pacer,
    random: u64,
    now: Instant,
    link_free: Instant,
    receiver_wakes: Instant,
    last_ack: Instant,
    sent: u64,
    under_way: VecDeque<Packet>,
}

impl<C: CongestionController> Model<C> {
    fn new(controller: C, path: Path, rule: Rule, seed: u64) -> Self {
        Self {
            path,
            rule,
            ledger: Ledger::new(controller, START, DATAGRAM),
            times: SendTimes::new(),
            pacer: Pacer::new(START, BATCH * DATAGRAM),
            random: seed,
            now: START,
            link_free: START,
            receiver_wakes: START,
            last_ack: START,
            sent: 0,
            under_way: VecDeque::new(),
        }
    }

    fn run(mut self) -> Measured {
        let (half, end) = (START.after(TIME.divided_by(2)), START.after(TIME));
        let (mut acked, mut frames, mut rtts) = (0_u64, 0_u64, 0_u64);
        while self.now < end {
            let window = self.window();
            self.set_pace(window);
            let fits = self.ledger.bytes_in_flight() + DATAGRAM <= window;
            let departure = self.departure();
            let next_ack = self.under_way.iter().find_map(|packet| packet.acked_at);
            match next_ack {
                _ if fits && next_ack.is_none_or(|ack| departure <= ack) => {
                    self.now = departure;
                    self.send(window);
                }
                Some(ack) => {
                    let (packets, rtt) = self.take_acks(ack, window);
                    if ack > half {
                        (acked, frames, rtts) = (acked + packets, frames + 1, rtts + rtt.as_micros());
                    }
                }
                None => self.expire(),
            }
        }
        let capacity = self.path.megabits * 1_000_000 / 8 * TIME.as_millis() / 2 / 1_000;
        Measured {
            used: 100.0 * (acked * DATAGRAM) as f64 / capacity as f64,
            rtt: rtts as f64 / frames.max(1) as f64 / 1_000.0,
        }
    }

    fn window(&self) -> u64 {
        let controller = self.ledger.controller();
        match (self.rule, controller.pacing_rate()) {
            (Rule::Plain, Some(rate)) => {
                let least = controller.send_quantum().max(2 * DATAGRAM);
                let paced = rate.bytes_in(self.ledger.smoothed_rtt()).max(least);
                controller.cwnd().min(paced.div_ceil(DATAGRAM) * DATAGRAM)
            }
            (Rule::Paced, _) => self.ledger.window(),
            _ => self.ledger.window_for_rate(),
        }
    }

    /// 1.25 windows in a smoothed RTT, and the windows of two milliseconds at a time but 10 to 256 datagrams.
    fn set_pace(&mut self, window: u64) {
        if matches!(self.rule, Rule::Paced) {
            let controller = self.ledger.controller();
            self.pacer.set_rate(self.now, controller.pacing_rate(), controller.send_quantum());
            return;
        }
        let micros = self.ledger.smoothed_rtt().as_micros().max(1);
        let rate = Rate::from_bytes_per_sec(window * 1_250_000 / micros);
        let burst = (window * 2_000 / micros).clamp(10 * DATAGRAM, 256 * DATAGRAM);
        self.pacer.set_rate(self.now, Some(rate), burst);
    }

    fn departure(&mut self) -> Instant {
        let at = self.pacer.departure(self.now, DATAGRAM);
        if at <= self.now || matches!(self.rule, Rule::Paced) {
            return at.max(self.now);
        }
        let ticks = at.as_nanos().div_ceil(TIMER.as_nanos());
        Instant::from_nanos(ticks * TIMER.as_nanos())
    }

    fn send(&mut self, window: u64) {
        let room = (window - self.ledger.bytes_in_flight()) / DATAGRAM;
        let service = Duration::from_nanos(DATAGRAM * 8_000 / self.path.megabits);
        for _ in 0..room.min(BATCH) {
            if self.pacer.departure(self.now, DATAGRAM) > self.now {
                break;
            }
            self.pacer.on_sent(self.now, self.now, DATAGRAM);
            let sent = self.ledger.on_sent(self.now, self.now, DATAGRAM, PacketSpace::Application);
            self.times.on_sent(
                self.now,
                DATAGRAM,
                &sent.snapshot.unwrap_or_default(),
                self.ledger.path_rtt(),
            );
            self.sent += 1;
            let lost = self.below(100) < self.path.loss_percent || self.link_free.since(self.now) > QUEUE;
            let acked_at = (!lost).then(|| {
                self.link_free = self.link_free.max(self.now).after(service);
                // Every second packet is acked, with the one before it.
                let waits = if self.sent % 2 == 1 { service } else { Duration::ZERO };
                let at = self.link_free.after(self.path.rtt).after(waits);
                if at > self.receiver_wakes {
                    let micros = self.below(2 * self.path.jitter.as_micros() + 1);
                    self.receiver_wakes = at.after(Duration::from_micros(micros));
                }
                self.last_ack = self.last_ack.max(at).max(self.receiver_wakes);
                self.last_ack
            });
            self.under_way.push_back(Packet { index: self.sent, sent_at: self.now, acked_at });
        }
    }

    /// One frame, and the losses that it shows. How many packets it acks, and the RTT of the newest.
    fn take_acks(&mut self, at: Instant, window: u64) -> (u64, Duration) {
        self.now = at;
        self.ledger.on_acks_begin(at, |ledger| ledger.limit(false, window));
        let (mut packets, mut newest) = (0, (0, at));
        let mut missing = VecDeque::new();
        while let Some(packet) = self.under_way.pop_front() {
            match packet.acked_at {
                Some(acked_at) if acked_at <= at => {
                    let sent_at = packet.sent_at;
                    let snapshot = self.times.on_acked(sent_at, DATAGRAM);
                    let acked = AckedPacket {
                        sent_at,
                        bytes: DATAGRAM,
                        packets: Some(1),
                        snapshot,
                        ..AckedPacket::default()
                    };
                    self.ledger.on_acked(at, &acked);
                    packets += 1;
                    newest = (packet.index, sent_at);
                }
                Some(_) => {
                    self.under_way.push_front(packet);
                    break;
                }
                None => missing.push_back(packet),
            }
        }
        self.ledger.on_acks_complete(at, self.ledger.bytes_in_flight() - packets * DATAGRAM);
        while let Some(packet) = missing.pop_back() {
            if packet.index + REORDERING <= newest.0 {
                self.lose(packet.sent_at, None);
            } else {
                self.under_way.push_front(packet);
            }
        }
        self.ledger.commit();
        (packets, at.since(newest.1))
    }

    /// Nothing is under way but what is lost: the timer.
    fn expire(&mut self) {
        self.now = self.now.after(self.ledger.smoothed_rtt().times(2).max(TIMER));
        while let Some(packet) = self.under_way.pop_front() {
            self.lose(packet.sent_at, Some(LossCause::Timer));
        }
        self.ledger.commit();
    }

    fn lose(&mut self, sent_at: Instant, cause: Option<LossCause>) {
        let snapshot = self.times.on_lost(sent_at);
        let lost = LostPacket { sent_at, bytes: DATAGRAM, snapshot, ..LostPacket::default() };
        self.ledger.on_lost(self.now, &lost, cause);
    }

    /// A random number below `bound` (SplitMix64).
    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// The mean of some runs.
fn measure<C: CongestionController>(make: &impl Fn() -> C, path: Path, rule: Rule) -> Measured {
    let mut sum = Measured::default();
    for seed in 0..SEEDS {
        let measured = Model::new(make(), path, rule, 977 * seed + 5).run();
        sum.used += measured.used / SEEDS as f64;
        sum.rtt += measured.rtt / SEEDS as f64;
    }
    sum
}

/// What is measured on one path with each rule.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    path: Path,
    ours: Measured,
    plain: Measured,
    paced: Measured,
}

impl Comparison {
    /// The throughput is that of the plain rule, but for two points; the RTT is not longer, but for half of a millisecond.
    fn check(&self) {
        assert!(self.ours.used > self.plain.used - 2.0 && self.ours.rtt < self.plain.rtt + 0.5, "{self:?}");
    }
}

/// Paths of 20 and 200 Mbit/s, of 2 and 40 ms, with and without jitter.
fn compare<C: CongestionController>(make: impl Fn() -> C, loss_percent: u64) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for megabits in [20, 200] {
        for rtt in [2, 40].map(Duration::from_millis) {
            for jitter in [0, 500].map(Duration::from_micros) {
                let path = Path { megabits, rtt, loss_percent, jitter };
                let [ours, plain, paced] =
                    [Rule::Ours, Rule::Plain, Rule::Paced].map(|rule| measure(&make, path, rule));
                println!(
                    "{megabits:3} Mbit/s {:2} ms, jitter {:3} us, loss {loss_percent} %: {ours}; plain {plain}; paced {paced}",
                    rtt.as_millis(),
                    jitter.as_micros(),
                );
                comparisons.push(Comparison { path, ours, plain, paced });
            }
        }
    }
    comparisons
}

/// The mean over paths.
fn mean(comparisons: &[Comparison], value: impl Fn(&Comparison) -> f64) -> f64 {
    comparisons.iter().map(value).sum::<f64>() / comparisons.len() as f64
}

fn c4() -> cc_c4::C4 {
    cc_c4::C4::new(&cc_c4::Config::default())
}

fn bbr() -> cc_bbr::Bbr {
    cc_bbr::Bbr::new(&cc_bbr::Config::default())
}

#[test]
fn c4_fills_the_link_without_a_standing_queue() {
    let comparisons = compare(c4, 0);
    comparisons.iter().for_each(Comparison::check);
    let base = mean(&comparisons, |on| on.path.rtt.as_micros() as f64 / 1_000.0);
    let ours = mean(&comparisons, |on| on.ours.rtt) - base;
    let plain = mean(&comparisons, |on| on.plain.rtt) - base;
    let paced = mean(&comparisons, |on| on.paced.rtt) - base;
    assert!(ours < plain.min(paced) / 3.0, "queues of {ours} ms; plain {plain} ms, paced {paced} ms");
}

#[test]
fn bbr_is_as_it_was() {
    compare(bbr, 0).iter().for_each(Comparison::check);
}

/// Losses make a run a matter of chance: only the mean of all paths is compared.
fn loses_no_throughput<C: CongestionController>(make: impl Fn() -> C) {
    let comparisons = compare(make, 1);
    let (ours, plain) = (mean(&comparisons, |on| on.ours.used), mean(&comparisons, |on| on.plain.used));
    assert!(ours > plain - 2.0, "{ours} %, plain {plain} %");
}

#[test]
fn c4_loses_no_throughput_under_loss() {
    loses_no_throughput(c4);
}

#[test]
fn bbr_loses_no_throughput_under_loss() {
    loses_no_throughput(bbr);
}
