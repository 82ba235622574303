//! A link against theory: queueing theory for a queue that is served in order, and the fixed point of the controller for an
//! AQM whose load does not give way.

use super::Link;
use crate::engine::dualpi2::{DualPi2, QueueKind};
use crate::engine::ecn::Ecn;
use crate::engine::packet::{Content, Packet};
use crate::engine::rng::SplitMix64;
use crate::scenario;
use crate::scenario::{Direction, LinkState, QueueLimit};

/// 8 Mbit/s, a microsecond a byte.
fn link() -> Link {
    Link::new(&LinkState::constant(8_000_000, 0, QueueLimit::Unlimited), Direction::Forward, 0)
}

fn packet(bytes: u64, ecn: Ecn) -> Packet {
    Packet { bytes, flow: 0, ecn, content: Content::Cross }
}

/// Times of a Poisson process with this mean distance, in microseconds.
fn poisson(seed: u64, mean_us: f64) -> impl Iterator<Item = u64> {
    let (mut rng, mut now) = (SplitMix64::new(seed), 0.0);
    std::iter::from_fn(move || {
        let uniform = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        now -= mean_us * libm::log1p(-uniform);
        Some(now as u64)
    })
}

#[test]
fn waiting_times_of_random_arrivals_have_the_distribution_of_m_d_1() {
    // Packets of D = 1000 us, one every 1250 us on average: rho = 0.8. Of the waiting time W (Erlang 1909): P(W = 0) = 1 - rho, and
    // P(W <= x) = (1 - rho) exp(rho x / D) up to x = D; up to 2 D, with y = x / D, (1 - rho) (exp(rho y) - rho (y - 1) exp(rho (y - 1))).
    let below_d = |y: f64| 0.2 * (0.8 * y).exp();
    let below_2d = |y: f64| 0.2 * ((0.8 * y).exp() - 0.8 * (y - 1.0) * (0.8 * (y - 1.0)).exp());
    let expected =
        [(0, 0.2), (500, below_d(0.5)), (999, below_d(1.0)), (1_500, below_2d(1.5)), (2_000, below_2d(2.0))];
    let (mut link, arrivals) = (link(), 400_000);
    let mut waits = Vec::new();
    for now in poisson(3, 1_250.0).take(arrivals) {
        waits.push(link.waiting_us(now));
        assert!(link.submit(now, packet(1_000, Ecn::NotEct)));
        while link.next_arrival().is_some_and(|at| at <= now) {
            link.pop();
        }
    }
    for (us, probability) in expected {
        let seen = waits.iter().filter(|&&wait| wait <= us).count() as f64 / arrivals as f64;
        // Waiting times in a row depend on each other, over some rho / (1 - rho)^2 = 20 packets: as precise as 20 000 of
        // them, standard deviation 0.0035 at most.
        assert!((seen - probability).abs() < 0.012, "P(W <= {us}): {seen}, not {probability}");
    }
}

/// What became of the packets of each kind in an AQM.
#[derive(Default)]
struct Tally {
    l4s: u64,
    l4s_marked: u64,
    classic: u64,
    classic_us: u64,
    dropped: u64,
}

/// Lets the AQM hand on what is due from `from` to `until`.
fn serve(link: &mut Link, from: u64, until: u64, tally: &mut Tally) {
    while let Some(at) = link.next_dequeue().map(|at| at.max(from)).filter(|&at| at <= until) {
        let mut dropped = 0;
        if let Some(dequeued) = link.dequeue(at, |_| dropped += 1) {
            match dequeued.queue {
                QueueKind::L4s => {
                    tally.l4s += 1;
                    tally.l4s_marked += u64::from(dequeued.marked);
                }
                QueueKind::Classic => {
                    tally.classic += 1;
                    tally.classic_us += dequeued.sojourn_us;
                }
            }
        }
        tally.dropped += dropped;
        while link.next_arrival().is_some_and(|arrival| arrival <= at) {
            link.pop();
        }
    }
}

/// Offers `per_second` packets of 1000 bytes a second that know no ECN, evenly spaced as a fluid would come, and a packet of 100 bytes with ECT(1)
/// every 10 ms, for 200 s after 50 s in which the controller settles. The L queue has one packet at a time, which its own ramp does not mark.
fn under_load(per_second: u64) -> Tally {
    const SETTLED_US: u64 = 50_000_000;
    const END_US: u64 = 250_000_000;
    let mut link = link().with_aqm(Some(DualPi2::new(&scenario::DualPi2::default(), 7)));
    let mut classic = (0..).map(|n| n * 1_000_000 / per_second).peekable();
    let mut l4s = (0..).step_by(10_000).peekable();
    let (mut tally, mut now) = (Tally::default(), 0);
    while now < END_US {
        let (next_classic, next_l4s) = (*classic.peek().unwrap(), *l4s.peek().unwrap());
        let next = next_classic.min(next_l4s);
        let mut settling = Tally::default();
        serve(&mut link, now, next, if now < SETTLED_US { &mut settling } else { &mut tally });
        now = next;
        let arriving = if next_classic <= next_l4s {
            classic.next();
            packet(1_000, Ecn::NotEct)
        } else {
            l4s.next();
            packet(100, Ecn::Ect1)
        };
        assert!(link.submit(now, arriving));
    }
    tally
}

#[test]
fn a_load_that_does_not_give_way_is_cut_to_the_capacity_and_marks_follow_its_square_root() {
    // The link carries 8 Mbit/s less the 80 kbit/s with ECT(1): 990 packets a second. Of 1050, 1100 and 1200 it is 0.0571, a tenth and 0.175 that
    // have to go: the classic probability p_C. RFC 9332 section 4.1: p' is its root, and p_CL = 2 p' what packets with ECT(1) are
    // marked with: 0.478, 0.632 and 0.837, which leaves p' room to move about (p_CL ends at 1, p_C at 1/4). The classic queue stands at the
    // target of 15 ms.
    for per_second in [1_050, 1_100, 1_200] {
        let tally = under_load(per_second);
        let drop = 1.0 - 990.0 / per_second as f64;
        let offered = (tally.classic + tally.dropped) as f64;
        let dropped = tally.dropped as f64 / offered;
        assert!((dropped - drop).abs() < 0.002, "{per_second}: dropped {dropped}, not {drop}");
        let marked = tally.l4s_marked as f64 / tally.l4s as f64;
        let coupled = 2.0 * drop.sqrt();
        assert!((marked - coupled).abs() < 0.003, "{per_second}: marked {marked}, not {coupled}");
        let mean_us = tally.classic_us as f64 / tally.classic as f64;
        // The controller sees the head of the queue before it leaves, half a packet of 1 ms earlier on average.
        assert!((mean_us - 15_000.0).abs() < 600.0, "{per_second}: {mean_us}");
    }
}

#[test]
fn a_load_below_the_capacity_is_neither_dropped_nor_marked() {
    // 500 packets a second, half of it.
    let tally = under_load(500);
    assert_eq!((tally.dropped, tally.l4s_marked), (0, 0));
    assert!(tally.classic > 95_000 && tally.l4s > 19_000);
}
