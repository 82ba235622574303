use super::{Dequeued, DualPi2, ONE, Probability, QueueKind};
use crate::engine::ecn::Ecn;
use crate::engine::packet::{Content, Packet};
use crate::scenario;
use crate::scenario::Scheduler;

fn packet(bytes: u64, ecn: Ecn) -> Packet {
    Packet { bytes, flow: 0, ecn, content: Content::Cross }
}

/// With counters that start at 0.
fn aqm(config: &scenario::DualPi2) -> DualPi2 {
    let mut aqm = DualPi2::new(config, 0);
    (aqm.l4s.count, aqm.classic.count) = (0, 0);
    aqm
}

/// With this base probability for ever.
fn held_at(base: Probability) -> DualPi2 {
    let mut aqm = aqm(&scenario::DualPi2::default());
    (aqm.base, aqm.next_update) = (base, u64::MAX);
    aqm
}

/// Sends `count` packets through, one at a time and without delay: how many come out unmarked, marked, and not at all.
fn through(aqm: &mut DualPi2, ecn: Ecn, count: u64) -> (u64, u64, u64) {
    let (mut unmarked, mut marked, mut dropped) = (0, 0, 0);
    for _ in 0..count {
        assert!(aqm.enqueue(0, packet(1_000, ecn), None));
        match aqm.dequeue(0, |_| dropped += 1) {
            Some(Dequeued { marked: true, packet, .. }) => {
                assert_eq!(packet.ecn, Ecn::Ce);
                marked += 1;
            }
            Some(Dequeued { packet, .. }) => {
                assert_eq!(packet.ecn, ecn);
                unmarked += 1;
            }
            None => {}
        }
    }
    assert_eq!(unmarked + marked + dropped, count);
    (unmarked, marked, dropped)
}

#[test]
fn the_base_probability_integrates_the_excess_and_follows_changes() {
    // Tupdate 15 ms, RTT_max 100 ms: alpha 0.15 Hz, beta 3 Hz; target 15 ms. In parts of 2^32 = 4 294 967 296:
    let mut aqm = aqm(&scenario::DualPi2::default());
    // 0.15 * 0.005 + 3 * 0.020 = 0.00075 + 0.06 = 0.06075: 260 919 263.2.
    aqm.update(20_000);
    assert_eq!(aqm.base, 260_919_263);
    // No change: 0.00075 more, 3 221 225.5.
    aqm.update(20_000);
    assert_eq!(aqm.base, 264_140_488);
    // 5 ms less: 0.15 * 0 - 3 * 0.005 = -0.015: 64 424 509.4 less.
    aqm.update(15_000);
    assert_eq!(aqm.base, 199_715_979);
    // Empty: -0.15 * 0.015 - 3 * 0.015 = -0.04725, and there is only 0.0465: 0, not below.
    aqm.update(0);
    assert_eq!(aqm.base, 0);
    // 2 s: 0.15 * 1.985 + 3 * 2 = 6.3: 1, not above.
    aqm.update(2_000_000);
    assert_eq!(aqm.base, ONE);
}

#[test]
fn updates_take_place_at_their_own_time_whenever_the_queue_is_used() {
    let mut aqm = aqm(&scenario::DualPi2::default());
    assert!(aqm.enqueue(0, packet(1_000, Ecn::NotEct), None));
    // At 15 ms the packet has waited 15 ms: 3 * 0.015 = 0.045 (193 273 528.3). At 30 ms 30: 0.15 * 0.015 + 3 * 0.015 = 0.04725
    // (202 937 204.7).
    assert!(aqm.enqueue(44_999, packet(1_000, Ecn::Ect1), None));
    assert_eq!((aqm.base, aqm.next_update), (396_210_732, 45_000));
    // The longer of the two queues counts, that of the classic queue at 45 ms: 0.15 * 0.030 + 3 * 0.015 = 0.0495 (212 600 881.2).
    assert!(aqm.enqueue(45_000, packet(1_000, Ecn::Ect1), None));
    assert_eq!(aqm.base, 608_811_613);
}

#[test]
fn an_idle_queue_catches_up_at_once_and_keeps_its_rhythm() {
    let mut aqm = aqm(&scenario::DualPi2::default());
    let year_us = 365 * 86_400_000_000;
    assert!(aqm.enqueue(year_us + 1, packet(1_000, Ecn::Ect1), None));
    // A multiple of 15 ms: a year is one.
    assert_eq!((aqm.base, aqm.next_update), (0, year_us + 15_000));
}

#[test]
fn classic_packets_get_the_square_and_l4s_packets_twice_the_base_probability() {
    // base, classic, coupled.
    for (base, classic, coupled) in [
        (0, 0, 0),
        (ONE / 16, ONE / 256, ONE / 8),
        (ONE / 4, ONE / 16, ONE / 2),
        (3 * ONE / 8, 9 * ONE / 64, 3 * ONE / 4),
        (ONE / 2, ONE / 4, ONE),
        (ONE, ONE, ONE),
    ] {
        let aqm = held_at(base);
        assert_eq!((aqm.classic_likelihood(), aqm.coupled()), (classic, coupled));
    }
    // p_Cmax = 1 / k^2: where the coupled probability reaches 1.
    assert_eq!(held_at(0).classic_max(), ONE / 4);
}

#[test]
fn as_many_packets_are_marked_as_the_probabilities_say() {
    // base 3/8. L queue: 3/4 of 1000, less the one that the counter still lacks; it fires above 1, not at 1.
    assert_eq!(through(&mut held_at(3 * ONE / 8), Ecn::Ect1, 1_000), (251, 749, 0));
    // Classic: 9/64 of 6400.
    assert_eq!(through(&mut held_at(3 * ONE / 8), Ecn::Ect0, 6_400), (5_501, 899, 0));
    assert_eq!(through(&mut held_at(3 * ONE / 8), Ecn::NotEct, 6_400), (5_501, 0, 899));
    assert_eq!(through(&mut held_at(0), Ecn::Ect1, 1_000), (1_000, 0, 0));
}

#[test]
fn overload_drops_in_both_queues_and_marks_what_is_left_of_the_l_queue() {
    // base 5/8: coupled 1, classic 25/64, which is above 1/4. The L counter adds 25/64 and, if nothing is dropped, 1: it fires
    // for the mark each time that something is left in it.
    let (unmarked, marked, dropped) = through(&mut held_at(5 * ONE / 8), Ecn::Ect1, 6_400);
    assert!(unmarked <= 1, "{unmarked}");
    assert!((2_499..=2_501).contains(&dropped), "{dropped}");
    assert_eq!(unmarked + marked, 6_400 - dropped);
    // Classic packets are dropped, ECT(0) or not.
    assert_eq!(through(&mut held_at(5 * ONE / 8), Ecn::Ect0, 6_400), (3_901, 0, 2_499));
    assert_eq!(through(&mut held_at(5 * ONE / 8), Ecn::NotEct, 6_400), (3_901, 0, 2_499));
    // base 1: nothing gets through the classic queue but what the counter starts with.
    assert_eq!(through(&mut held_at(ONE), Ecn::NotEct, 100), (1, 0, 99));
}

#[test]
fn the_l_queue_marks_from_0_8_to_1_2_ms_by_itself_but_not_the_packet_that_is_alone() {
    let mut aqm = held_at(0);
    assert!(aqm.enqueue(0, packet(1_000, Ecn::Ect1), None));
    for (sojourn_us, native) in [
        (0, 0),
        (800, 0),
        (900, ONE / 4),
        (1_000, ONE / 2),
        (1_199, 399 * ONE / 400),
        (1_200, ONE),
        (9_000, ONE),
    ] {
        assert_eq!(aqm.native(sojourn_us), native, "{sojourn_us}");
    }
    aqm.l4s.pop();
    assert_eq!(aqm.native(9_000), 0);
    let step = scenario::DualPi2 { l4s_range_us: 0, l4s_min_packets: 0, ..scenario::DualPi2::default() };
    let aqm = self::aqm(&step);
    assert_eq!((aqm.native(800), aqm.native(801)), (0, ONE));
}

#[test]
fn the_larger_of_coupled_and_native_probability_counts() {
    // Two packets wait 1.1 ms: 3/4 for the first, which is not alone. The coupled probability is 1/2.
    let mut aqm = held_at(ONE / 4);
    for _ in 0..2 {
        assert!(aqm.enqueue(0, packet(1_000, Ecn::Ect1), None));
    }
    let dequeue =
        |aqm: &mut DualPi2| aqm.dequeue(1_100, |_| panic!("dropped")).map(|packet| packet.sojourn_us);
    assert_eq!(dequeue(&mut aqm), Some(1_100));
    assert_eq!(aqm.l4s.count, 3 * ONE / 4);
    // The second is alone: 1/2 more.
    assert_eq!(dequeue(&mut aqm), Some(1_100));
    assert_eq!(aqm.l4s.count, ONE / 4);
}

/// The queues of the packets in the order in which they leave at `now`.
fn order(aqm: &mut DualPi2, now: u64, count: usize) -> String {
    (0..count)
        .map(|_| match aqm.dequeue(now, |_| panic!("dropped")).map(|dequeued| dequeued.queue) {
            Some(QueueKind::L4s) => 'l',
            Some(QueueKind::Classic) => 'c',
            None => '-',
        })
        .collect()
}

#[test]
fn the_classic_queue_has_a_sixteenth_of_the_link_while_both_have_packets() {
    let mut aqm = held_at(0);
    for _ in 0..40 {
        assert!(aqm.enqueue(0, packet(1_000, Ecn::Ect1), None));
        assert!(aqm.enqueue(0, packet(1_000, Ecn::NotEct), None));
    }
    // The L queue first; it owes the classic queue then: one, and after 15 of its own the next.
    assert_eq!(order(&mut aqm, 0, 36), format!("lc{0}c{0}c{1}", "l".repeat(15), "l".repeat(2)));
    // Half as large: two of them for one.
    let mut aqm = held_at(0);
    for _ in 0..40 {
        assert!(aqm.enqueue(0, packet(1_000, Ecn::Ect1), None));
        assert!(aqm.enqueue(0, packet(500, Ecn::NotEct), None));
    }
    // 1000 - 7500 = -6500, and 7 L packets make 500; 500 - 7500 = -7000, and 8 make 1000 again.
    assert_eq!(order(&mut aqm, 0, 18), "lclllllllcllllllll".to_owned());
    assert_eq!(order(&mut aqm, 0, 9), "clllllllc".to_owned());
}

#[test]
fn a_queue_that_is_alone_has_the_link() {
    let mut aqm = held_at(0);
    for _ in 0..3 {
        assert!(aqm.enqueue(0, packet(1_000, Ecn::Ect0), None));
    }
    assert_eq!(order(&mut aqm, 0, 4), "ccc-");
    assert!(aqm.is_empty());
}

#[test]
fn the_shifted_fifo_prefers_the_l_queue_by_the_shift() {
    let scheduler = Scheduler::ShiftedFifo { shift_us: 50_000 };
    let mut aqm = aqm(&scenario::DualPi2 { scheduler, l4s_min_us: 60_000_000, ..Default::default() });
    aqm.next_update = u64::MAX;
    assert!(aqm.enqueue(0, packet(1_000, Ecn::NotEct), None));
    assert!(aqm.enqueue(50_000, packet(1_000, Ecn::Ect1), None));
    assert!(aqm.enqueue(50_001, packet(1_000, Ecn::Ect1), None));
    // 50 ms later is not later; a microsecond more is.
    assert_eq!(order(&mut aqm, 60_000, 4), "lcl-");
}

#[test]
fn both_queues_share_the_room_and_a_packet_gets_in_if_one_of_the_mtu_would() {
    let mut aqm = held_at(0);
    // 1472 bytes of 2500 are free until 1028 are taken, and then not for the smallest packet.
    assert!(aqm.enqueue(0, packet(528, Ecn::NotEct), Some(2_500)));
    assert!(aqm.enqueue(0, packet(500, Ecn::Ect1), Some(2_500)));
    assert!(aqm.enqueue(0, packet(1_472, Ecn::Ce), Some(2_500)));
    assert_eq!((aqm.bytes(), aqm.l4s.bytes, aqm.l4s.packets.len()), (2_500, 1_972, 2));
    let mut aqm = held_at(0);
    assert!(aqm.enqueue(0, packet(1_029, Ecn::NotEct), Some(2_500)));
    assert!(!aqm.enqueue(0, packet(40, Ecn::Ect1), Some(2_500)));
    // A larger one needs the room that it takes.
    assert!(!aqm.enqueue(0, packet(2_000, Ecn::Ect1), Some(3_028)));
    assert!(aqm.enqueue(0, packet(2_000, Ecn::Ect1), Some(3_029)));
    assert_eq!(aqm.bytes(), 3_029);
}

#[test]
fn counters_start_at_random_and_with_the_same_seed_alike() {
    let start = |seed| {
        let aqm = DualPi2::new(&scenario::DualPi2::default(), seed);
        (aqm.l4s.count, aqm.classic.count)
    };
    assert_eq!(start(1), start(1));
    assert_ne!(start(1), start(2));
    assert!((0..100).map(start).all(|(l4s, classic)| l4s < ONE && classic < ONE));
}

#[test]
fn ce_is_an_l4s_packet_and_is_not_marked_twice() {
    // Certain marks: base 1/2 - 1, the largest below overload, and a counter that is nearly full.
    let mut aqm = held_at(ONE / 2 - 1);
    aqm.l4s.count = ONE;
    assert!(aqm.enqueue(0, packet(1_000, Ecn::Ce), None));
    let dequeued = aqm.dequeue(0, |_| panic!("dropped")).unwrap();
    assert_eq!((dequeued.queue, dequeued.marked, dequeued.packet.ecn), (QueueKind::L4s, false, Ecn::Ce));
}

#[test]
fn dropped_packets_do_not_end_a_turn_of_the_link() {
    // base 1: every packet of both queues is dropped, but for the first of each, whose counter is 1 and not above it.
    let mut aqm = held_at(ONE);
    for _ in 0..3 {
        assert!(aqm.enqueue(0, packet(1_000, Ecn::NotEct), None));
    }
    let mut dropped = 0;
    assert!(aqm.dequeue(0, |_| dropped += 1).is_some());
    assert_eq!(dropped, 0);
    assert!(aqm.dequeue(0, |_| dropped += 1).is_none());
    assert_eq!((dropped, aqm.bytes()), (2, 0));
}

#[test]
fn the_l_queue_alone_drives_the_controller_into_overload() {
    // Unresponsive traffic at twice the link's rate, all of it ECT(1): without the longer of the two delays (figure 8, line 2a)
    // nothing but the room would limit the queue. Balance: half of the packets must be dropped, p_C = 1/2.
    let mut aqm = aqm(&scenario::DualPi2::default());
    let (mut sent, mut dropped) = (0_u64, 0_u64);
    let mut last_sojourn_us = 0;
    // A packet leaves every millisecond, two come.
    for ms in 0..60_000_u64 {
        for _ in 0..2 {
            assert!(aqm.enqueue(ms * 1_000, packet(1_000, Ecn::Ect1), None));
        }
        let dequeued = aqm.dequeue(ms * 1_000, |_| dropped += u64::from(ms >= 30_000)).unwrap();
        sent += u64::from(ms >= 30_000);
        last_sojourn_us = dequeued.sojourn_us;
    }
    assert_eq!(sent, 30_000);
    assert!((29_900..30_100).contains(&dropped), "{dropped}");
    // The queue is at the target of 15 ms.
    assert!((14_000..=16_000).contains(&last_sojourn_us), "{last_sojourn_us}");
}
