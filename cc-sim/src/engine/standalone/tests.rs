use super::{Datagram, DropCause, Event, LinkConfig, LinkModel};
use crate::engine::ecn::Ecn;
use crate::engine::rng::SplitMix64;
use crate::scenario::{DualPi2, Jitter, QueueLimit};

/// 8 Mbit/s: a microsecond for a byte.
fn config() -> LinkConfig {
    LinkConfig { rate_bps: 8_000_000, latency_us: 10_000, ..LinkConfig::default() }
}

fn datagram(token: u32) -> Datagram {
    Datagram { token, bytes: 1_000, ecn: Ecn::Ect0 }
}

/// Submits datagrams 0, 1, ... at these times and waits for all of them.
fn run(link: &mut LinkModel, times: impl IntoIterator<Item = u64>) -> Vec<Event> {
    let mut events = Vec::new();
    for (token, at) in (0..).zip(times) {
        link.submit(at, datagram(token), |event| events.push(event));
    }
    link.advance(u64::MAX / 8, |event| events.push(event));
    events
}

fn delivered(events: &[Event]) -> Vec<(u32, u64)> {
    let of = |event: &Event| match *event {
        Event::Delivered { at_us, datagram } => Some((datagram.token, at_us)),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[test]
fn events_have_the_times_of_the_model_however_late_they_are_asked_for() {
    let mut link = LinkModel::new(&config(), 1).unwrap();
    // Asked at 100 000 for the first time: serialised one after the other from 0 on all the same.
    assert_eq!(delivered(&run(&mut link, [0, 0, 500])), [(0, 11_000), (1, 12_000), (2, 13_000)]);
}

#[test]
fn an_aqm_works_through_its_queue_while_nobody_looks() {
    let aqm = LinkConfig { dualpi2: Some(DualPi2::default()), ..config() };
    let mut link = LinkModel::new(&aqm, 1).unwrap();
    let expected = [(0, 11_000), (1, 12_000), (2, 31_000)];
    assert_eq!(delivered(&run(&mut link, [0, 0, 20_000])), expected);
}

#[test]
fn time_does_not_go_back() {
    let mut link = LinkModel::new(&config(), 1).unwrap();
    // The second counts as submitted at 5000.
    assert_eq!(delivered(&run(&mut link, [5_000, 10])), [(0, 16_000), (1, 17_000)]);
}

#[test]
fn a_full_queue_says_which_it_dropped() {
    let short = LinkConfig { queue: QueueLimit::DelayUs(1_500), ..config() };
    let events = run(&mut LinkModel::new(&short, 1).unwrap(), [0, 0, 0]);
    // Waits of 0, 1000 and 2000 us.
    assert_eq!(events[0], Event::Dropped(datagram(2), DropCause::Full));
    assert_eq!(delivered(&events), [(0, 11_000), (1, 12_000)]);
}

#[test]
fn the_seed_says_which_are_lost() {
    let lossy = LinkConfig { loss_ppm: 200_000, ..config() };
    let events = run(&mut LinkModel::new(&lossy, 42).unwrap(), (0..500).map(|i| i * 1_000));
    // One draw for each datagram, below 200 000 of a million.
    let mut rng = SplitMix64::new(42);
    let expected: Vec<u32> = (0..500).filter(|_| rng.below(1_000_000) < 200_000).collect();
    let lost = |event: &Event| if let Event::Lost(datagram) = event { Some(datagram.token) } else { None };
    assert_eq!(events.iter().filter_map(lost).collect::<Vec<_>>(), expected);
    assert_eq!(delivered(&events).len(), 500 - expected.len());
}

#[test]
fn reordering_delays_some_and_lets_others_pass() {
    let reorder = LinkConfig { reorder_ppm: 300_000, reorder_us: 2_500, ..config() };
    let events = run(&mut LinkModel::new(&reorder, 7).unwrap(), (0..1_000).map(|i| i * 1_000));
    let delivered = delivered(&events);
    assert_eq!(delivered.len(), 1_000);
    assert!(delivered.is_sorted_by_key(|&(_, at)| at));
    let late =
        delivered.iter().filter(|&&(token, at)| at == u64::from(token) * 1_000 + 11_000 + 2_500).count();
    let on_time = delivered.iter().filter(|&&(token, at)| at == u64::from(token) * 1_000 + 11_000).count();
    assert_eq!(late + on_time, 1_000);
    // Binomial: mean 300, standard deviation sqrt(1000 * 0.3 * 0.7) = 14.5.
    assert!((227..=373).contains(&late), "{late}");
    assert!(!delivered.is_sorted_by_key(|&(token, _)| token));
}

#[test]
fn reordering_and_aqm_do_not_change_which_are_lost() {
    let lossy = LinkConfig { loss_ppm: 100_000, ..config() };
    let reorder = LinkConfig { reorder_ppm: 500_000, reorder_us: 700, ..lossy.clone() };
    let aqm = LinkConfig { dualpi2: Some(DualPi2::default()), ..lossy.clone() };
    let lost = [lossy, reorder, aqm].map(|config| {
        let events = run(&mut LinkModel::new(&config, 3).unwrap(), (0..300).map(|i| i * 1_100));
        let mut lost: Vec<u32> = events
            .iter()
            .filter_map(|event| if let Event::Lost(datagram) = event { Some(datagram.token) } else { None })
            .collect();
        lost.sort_unstable();
        lost
    });
    assert!(!lost[0].is_empty());
    assert!(lost[0] == lost[1] && lost[0] == lost[2]);
}

#[test]
fn an_aqm_marks_what_is_ecn_capable_and_drops_the_rest() {
    let aqm = LinkConfig { dualpi2: Some(DualPi2::default()), ..config() };
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::NotEct] {
        let mut link = LinkModel::new(&aqm, 1).unwrap();
        let (mut marked, mut dropped, mut out) = (0, 0, 0);
        let mut note = |event: Event| match event {
            Event::Delivered { datagram, .. } => {
                out += 1;
                marked += u32::from(datagram.ecn == Ecn::Ce);
            }
            Event::Dropped(_, DropCause::Aqm) => dropped += 1,
            other => panic!("{other:?}"),
        };
        // 1.25 times the rate.
        for token in 0..2_000 {
            link.submit(u64::from(token) * 800, Datagram { token, bytes: 1_000, ecn }, &mut note);
        }
        link.advance(u64::MAX / 8, &mut note);
        assert_eq!(out + dropped, 2_000);
        // Marks do not slow these down, so that the AQM gives ECN up in the end.
        assert_eq!(marked > 0, ecn != Ecn::NotEct, "{ecn:?}");
        assert!(dropped > 0, "{ecn:?}");
    }
}

#[test]
fn a_change_takes_the_queue_of_an_aqm_along() {
    let aqm = LinkConfig { dualpi2: Some(DualPi2::default()), ..config() };
    let mut link = LinkModel::new(&aqm, 1).unwrap();
    let mut events = Vec::new();
    for token in 0..4 {
        link.submit(
            0,
            Datagram { ecn: if token == 2 { Ecn::Ect1 } else { Ecn::Ect0 }, ..datagram(token) },
            |event| {
                events.push(event);
            },
        );
    }
    link.advance(100, |event| events.push(event));
    // One is being serialised and starts anew at 100; the other three wait for it in the order in which they came, those of the
    // L queue first: 1100, 2100, 3100, the last finds the queue full.
    let tail_drop = LinkConfig { queue: QueueLimit::DelayUs(2_500), ..config() };
    link.change(100, &tail_drop, |event| events.push(event)).unwrap();
    assert!(matches!(events[0], Event::Dropped(_, DropCause::Full)));
    link.advance(100_000, |event| events.push(event));
    let times: Vec<u64> = delivered(&events).iter().map(|&(_, at)| at).collect();
    assert_eq!(times, [11_100, 12_100, 13_100]);
    // And back.
    link.change(100_000, &aqm, |event| panic!("{event:?}")).unwrap();
    link.submit(100_000, datagram(9), |event| panic!("{event:?}"));
    assert_eq!(link.next_event(), Some(100_000), "an AQM has it, and is asked at once");
}

#[test]
fn a_suspended_link_has_nothing_to_do_until_it_is_back() {
    let mut link = LinkModel::new(&LinkConfig { rate_bps: 0, ..config() }, 1).unwrap();
    link.submit(5, datagram(0), |event| panic!("{event:?}"));
    assert_eq!(link.next_event(), None);
    link.change(1_000, &config(), |event| panic!("{event:?}")).unwrap();
    assert_eq!(link.next_event(), Some(12_000));
}

#[test]
fn fields_out_of_range_are_named_with_their_range() {
    let aqm = |aqm: DualPi2| LinkConfig { dualpi2: Some(aqm), ..config() };
    for (wrong, message) in [
        (
            LinkConfig { rate_bps: 999, ..config() },
            "rate_bps: 999 is out of range (allowed: 1000..=1000000000000, or 0)",
        ),
        (
            LinkConfig { latency_us: 60_000_001, ..config() },
            "latency_us: 60000001 is out of range (allowed: 0..=60000000)",
        ),
        (
            LinkConfig { queue: QueueLimit::Bytes(1_000), ..config() },
            "queue.bytes: 1000 is out of range (allowed: 1252..=1000000000000)",
        ),
        (
            LinkConfig { queue: QueueLimit::DelayUs(0), ..config() },
            "queue.delay_us: 0 is out of range (allowed: 1..=60000000)",
        ),
        (
            LinkConfig { jitter: Jitter::Gauss { mean_us: 10_000_001 }, ..config() },
            "jitter.mean_us: 10000001 is out of range (allowed: 0..=10000000)",
        ),
        (
            LinkConfig { loss_ppm: 1_000_001, ..config() },
            "loss_ppm: 1000001 is out of range (allowed: 0..=1000000)",
        ),
        (
            aqm(DualPi2 { coupling: 0, ..DualPi2::default() }),
            "dualpi2.coupling: 0 is out of range (allowed: 1..=16)",
        ),
        (
            aqm(DualPi2 { update_us: 0, ..DualPi2::default() }),
            "dualpi2.update_us: 0 is out of range (allowed: 100..=10000000)",
        ),
    ] {
        assert_eq!(LinkModel::new(&wrong, 1).unwrap_err().to_string(), message);
    }
}
