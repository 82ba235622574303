//! Long flows and extreme paths on `cc_core::Path`.

mod common;

use cc_core::{CongestionController, Duration};
use common::{App, Counts, DATAGRAM, Net, TEN_MBIT, is_close, ms};

/// 1 Gbit/s and 10 Gbit/s in bytes per second.
const GIGABIT: u64 = 125_000_000;
const TEN_GIGABIT: u64 = 1_250_000_000;

#[test]
fn half_an_hour_at_one_rate_with_one_probe_rtt_per_interval_and_no_downward_spiral() {
    let rate = TEN_MBIT / 2;
    let mut net = Net::new(rate, ms(40), 2);
    net.run(ms(10_000));
    net.counts = Counts::default();
    let from = net.now;
    let (mut entries, mut was_probing) = (vec![], false);
    while net.now < from.after(Duration::from_secs(1_800)) {
        net.step();
        let probes = net.bbr().state().is_probe_rtt();
        if probes && !was_probing {
            entries.push(net.now);
        }
        was_probing = probes;
        assert!(is_close(net.bbr().max_bw(), rate, 2), "{:?} at {:?}", net.bbr().max_bw(), net.now);
    }
    // An interval of 5 s, the ACK after it, 200 ms and a round.
    let gaps: Vec<u64> = entries.windows(2).map(|pair| pair[1].since(pair[0]).as_millis()).collect();
    assert!(gaps.iter().all(|gap| (5_200..5_400).contains(gap)), "{gaps:?}");
    assert!(gaps.len() >= 330, "{}", gaps.len());
    // Section 5.3.4.2: ProbeRTT costs 2 %, half of the rate for 200 ms of 5 s; emptying and filling the pipe around it half a
    // BDP more (0.4 %); the pacing margin at most 1 % of the rest.
    let share = net.counts.acked * 1_000 / (1_800 * rate);
    assert!((965..=1_000).contains(&share), "{share} per mille");
    assert_eq!(net.counts.lost, 0);
}

#[test]
fn startup_finds_one_megabit_and_ten_gigabit_alike() {
    // The initial window fills 1 Mbit/s at once; 10 Gbit/s of 10 ms hold 12.5 MB, 10 doublings more.
    for (rate, rtt, rounds) in [(TEN_MBIT / 10, ms(40), 12), (TEN_GIGABIT, ms(10), 20)] {
        let mut net = Net::new(rate, rtt, 1);
        net.link.ack_every = if rate == TEN_GIGABIT { 8 } else { 2 };
        net.reach(ms(5_000), "drain");
        assert!(net.bbr().round_count() <= rounds, "{} rounds", net.bbr().round_count());
        // ACKs that stand for several packets may show up to one such ACK more in a round.
        let found = net.bbr().max_bw().as_bytes_per_sec();
        assert!((rate * 98 / 100..=rate * 106 / 100).contains(&found), "{found} of {rate}");
        net.expect(ms(2_000), "ProbeBW", |net| net.bbr().state().is_probe_bw());
        net.counts = Counts::default();
        net.run(ms(200));
        assert!(net.counts.acked >= rate / 5 * 93 / 100, "{} of {}", net.counts.acked, rate / 5);
    }
}

#[test]
fn a_round_trip_of_30_us_at_one_gigabit() {
    let mut net = Net::new(GIGABIT, Duration::from_micros(30), 20);
    net.link.ack_every = 10;
    net.run(ms(50));
    assert!(net.bbr().state().is_probe_bw(), "{:?}", net.bbr());
    net.counts = Counts::default();
    net.run(ms(100));
    assert!(net.counts.acked >= GIGABIT / 10 * 90 / 100, "{}", net.counts.acked);
}

#[test]
fn ten_gigabit_over_600_ms_and_beyond_four_gigabytes() {
    // The largest datagrams: 750 MB are 11 446 of them.
    let mut net = Net::with_datagram(TEN_GIGABIT, ms(600), 1, 65_527);
    net.link.ack_every = 4;
    net.expect(ms(30_000), "ProbeBW", |net| net.bbr().state().is_probe_bw());
    assert!(is_close(net.bbr().max_bw(), TEN_GIGABIT, 6), "{:?}", net.bbr().max_bw());
    net.run(ms(3_000));
    assert!(net.path.delivered() > 1 << 32, "{}", net.path.delivered());
    let rounds = net.bbr().round_count();
    net.counts = Counts::default();
    net.run(ms(4_000));
    // Rounds go on, of 600 ms or, with a queue of one BDP, 1.2 s.
    assert!(net.bbr().round_count() >= rounds + 3);
    assert!(net.counts.acked >= 4 * TEN_GIGABIT * 85 / 100, "{}", net.counts.acked);
}

#[test]
fn a_blackout_is_survived() {
    for seconds in [1, 4, 20] {
        let mut net = Net::new(TEN_MBIT, ms(40), 2);
        net.run(ms(4_000));
        // All that is sent is lost.
        net.link.drop_one_of = 1;
        net.run(Duration::from_secs(seconds));
        net.link.drop_one_of = 0;
        // The next probe comes within twice the time that the blackout lasted.
        net.run(Duration::from_secs(2 * seconds + 6));
        net.counts = Counts::default();
        net.run(ms(5_000));
        assert!(net.counts.acked >= 5 * TEN_MBIT * 90 / 100, "{} after {seconds} s", net.counts.acked);
    }
}

#[test]
fn a_flow_that_was_idle_starts_again_at_the_bandwidth() {
    let mut net = Net::new(TEN_MBIT, ms(40), 2);
    net.run(ms(4_000));
    net.reach(ms(4_000), "probe_bw_cruise");
    let (bw, cwnd) = (net.bbr().max_bw(), net.cwnd());
    net.set_app(App::Silent);
    net.run(Duration::from_secs(60));
    net.set_app(App::Greedy);
    // Section 5.4.1: paced at the bandwidth, less the margin.
    assert_eq!(net.bbr().pacing_rate(), Some(bw.scaled(99, 100)));
    assert_eq!(net.cwnd(), cwnd);
    net.counts = Counts::default();
    net.run(ms(1_040));
    assert!(net.counts.acked >= TEN_MBIT * 95 / 100, "{}", net.counts.acked);
    assert_eq!(net.counts.lost, 0);
}

#[test]
fn a_limited_flow_keeps_its_estimate() {
    let mut net = Net::new(TEN_MBIT, ms(40), 2);
    net.run(ms(4_000));
    let bw = net.bbr().max_bw();
    // Less than the path carries, for twenty probing cycles.
    net.set_app(App::Paced(TEN_MBIT / 5));
    for _ in 0..60 {
        net.run(ms(1_000));
        assert_eq!(net.bbr().max_bw(), bw);
    }
    assert!(net.counts.max_flight > 0 && net.cwnd() >= 4 * DATAGRAM);
}

#[test]
fn a_resumed_window_jumps_by_half_and_retreats_from_a_loss() {
    use cc_core::ResumeHint;
    let hint = ResumeHint { cwnd: 1_000_000, rtt: ms(400) };
    // 100 Mbit/s and 400 ms hold 5 MB.
    let mut net = Net::new(10 * TEN_MBIT, ms(400), 1);
    net.path.resume(net.now, &hint);
    net.run(ms(450));
    assert_eq!(net.cwnd(), 500_000);
    // The jump is sent within a round trip: 500 kB in 400 ms.
    assert!(net.bbr().pacing_rate().expect("it paces").as_bytes_per_sec().abs_diff(1_250_000) < 10_000);
    net.run(ms(400));
    assert!(net.counts.sent >= 450_000, "{}", net.counts.sent);
    net.reach(ms(15_000), "drain");
    assert!(is_close(net.bbr().max_bw(), 10 * TEN_MBIT, 3));

    // 10 Mbit/s and 40 ms hold 50 kB and a queue of as much: half of 1 MB is far too much.
    let mut net = Net::new(TEN_MBIT, ms(40), 1);
    net.path.resume(net.now, &ResumeHint { cwnd: 1_000_000, rtt: ms(40) });
    net.run(ms(60));
    assert_eq!(net.cwnd(), 500_000);
    net.expect(ms(500), "losses", |net| net.counts.lost > 0);
    assert!(net.cwnd() <= (net.counts.acked + 120_000) / 2, "{} of {}", net.cwnd(), net.counts.acked);
    assert_ne!(net.phase(), "startup");
    net.run(ms(6_000));
    net.counts = Counts::default();
    net.run(ms(4_000));
    assert!(net.counts.acked >= 4 * TEN_MBIT * 93 / 100, "{}", net.counts.acked);

    // Another path.
    let mut net = Net::new(TEN_MBIT, ms(40), 1);
    net.path.resume(net.now, &ResumeHint { cwnd: 1_000_000, rtt: ms(80) });
    net.run(ms(60));
    assert!(net.cwnd() <= 24_000);
}
