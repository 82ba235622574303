//! Cases about things that no controller contains: the pacer, persistent congestion, the path.

use crate::cases::{Case, CaseKind};

macro_rules! components {
    ($($name:literal $component:literal $test:path;)*) => {
        &[$(Case { name: $name, kind: CaseKind::Component { component: $component, test: $test } }),*]
    };
}

pub(crate) const CASES: &[Case] = components![
    "A8" "cc_core::Pacer" pacer::budget_after_ten_days;
    "A14" "cc_core::Rate and Pacer" rates::units;
    "E1" "cc_core::DeliveryRate" sampler::the_limited_phase_ends_with_what_it_held;
    "E12" "cc_core::DeliveryRate" sampler::losses_are_counted_once;
    "E16" "cc_core::DeliveryRate" sampler::held_acks_do_not_raise_the_rate;
    "F7" "cc_core::Pacer" pacer::waits_below_the_granularity;
    "F8" "cc_core::Pacer" pacer::now_and_never_are_not_the_same;
    "F9" "cc_core::Pacer" pacer::small_packets_at_their_size;
];

/// The error of a comparison.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}

mod pacer {
    //! RFC 9002 section 7.7.

    use super::same;
    use cc_core::{Duration, Instant, Pacer, Rate};

    fn paced(bytes_per_sec: u64, burst: u64) -> Pacer {
        let mut pacer = Pacer::new(Instant::ZERO, burst);
        pacer.set_rate(Instant::ZERO, Some(Rate::from_bytes_per_sec(bytes_per_sec)), burst);
        pacer
    }

    /// 10 Gbit/s; no send for 10 days: exactly the burst cap.
    pub(super) fn budget_after_ten_days() -> Result<(), String> {
        let mut pacer = paced(1_250_000_000, 12_000);
        pacer.on_sent(Instant::ZERO, Instant::ZERO, 12_000);
        same("at once", pacer.allowance(Instant::ZERO), 0)?;
        same("after ten days", pacer.allowance(Instant::from_secs(864_000)), 12_000)?;
        same("at the end of time", pacer.allowance(Instant::MAX), 12_000)
    }

    /// 50 MB/s, 10 000 packets of 1000 B: within 2 % of 0.2 s, never slower.
    pub(super) fn waits_below_the_granularity() -> Result<(), String> {
        let mut pacer = paced(50_000_000, 10_000);
        let mut now = Instant::ZERO;
        for _ in 0..10_000 {
            now = now.max(pacer.departure(now, 1_000));
            pacer.on_sent(now, now, 1_000);
        }
        let took = now.since(Instant::ZERO);
        if took > Duration::from_millis(200) || took < Duration::from_millis(196) {
            return Err(format!("expected 196 to 200 ms, found {took:?}"));
        }
        Ok(())
    }

    /// "Send now" is a time that has come; without a rate there is no time to wait for.
    pub(super) fn now_and_never_are_not_the_same() -> Result<(), String> {
        let now = Instant::from_millis(5);
        let mut unpaced = Pacer::new(Instant::ZERO, 12_000);
        same("unpaced", unpaced.departure(now, 1_200), now)?;
        same("unpaced allowance", unpaced.allowance(now), u64::MAX)?;
        let mut zero = Pacer::new(Instant::ZERO, 12_000);
        zero.set_rate(now, Some(Rate::ZERO), 12_000);
        same("a rate of zero", zero.departure(now, 1_200), now)?;
        // At time zero "now" is time zero and no sentinel.
        let mut paced = paced(1_200_000, 1_200);
        same("at zero", paced.departure(Instant::ZERO, 1_200), Instant::ZERO)?;
        paced.on_sent(Instant::ZERO, Instant::ZERO, 1_200);
        same("the next", paced.departure(Instant::ZERO, 1_200), Instant::from_millis(1))
    }

    /// 100-byte packets cost 100 bytes: 1 MB/s lets 10 of them go per millisecond.
    pub(super) fn small_packets_at_their_size() -> Result<(), String> {
        let mut pacer = paced(1_000_000, 1_200);
        let mut sent = 0;
        while pacer.departure(Instant::ZERO, 100) <= Instant::ZERO {
            pacer.on_sent(Instant::ZERO, Instant::ZERO, 100);
            sent += 1;
        }
        same("in the burst of 1200 B", sent, 12)?;
        for n in 1..=10_u64 {
            let due = Instant::from_micros(100 * n);
            same("departure", pacer.departure(Instant::ZERO, 100), due)?;
            pacer.on_sent(due, due, 100);
        }
        Ok(())
    }
}

mod rates {
    use super::same;
    use cc_core::{Duration, Instant, Pacer, Rate};

    /// 1 MB/s for 10 ms are 10 000 bytes, and nothing else; sizes and times scale.
    pub(super) fn units() -> Result<(), String> {
        let rate = Rate::from_bytes_per_sec(1_000_000);
        same("bytes in 10 ms", rate.bytes_in(Duration::from_millis(10)), 10_000)?;
        same("time of 10 000 B", rate.time_to_send(10_000), Duration::from_millis(10))?;
        same("8 Mbit/s", Rate::from_bits_per_sec(8_000_000), rate)?;
        same("from delivery", Rate::from_delivery(10_000, Duration::from_millis(10)), Some(rate))?;
        let mut pacer = Pacer::new(Instant::ZERO, 12_000);
        pacer.set_rate(Instant::ZERO, Some(rate), 12_000);
        pacer.on_sent(Instant::ZERO, Instant::ZERO, 12_000);
        same("allowance", pacer.allowance(Instant::from_millis(10)), 10_000)?;
        for k in [2, 7, 1_000] {
            let scaled = Rate::from_delivery(10_000 * k, Duration::from_millis(10));
            same("sizes times k", scaled, Some(Rate::from_bytes_per_sec(1_000_000 * k)))?;
            let slower = Rate::from_delivery(10_000, Duration::from_millis(10 * k));
            same("times times k", slower, Some(Rate::from_bytes_per_sec(1_000_000 / k)))?;
        }
        Ok(())
    }
}

mod sampler {
    //! draft-ietf-ccwg-bbr, "Delivery Rate Samples".

    use super::same;
    use cc_core::{DeliveryRate, Duration, Instant, PacketSnapshot, RateSample, SamplingRule};

    /// Packets of 1000 bytes on a sampler.
    struct Bench {
        rate: DeliveryRate,
        packets: Vec<(Instant, PacketSnapshot)>,
        in_flight: u64,
    }

    impl Bench {
        fn new() -> Self {
            Self { rate: DeliveryRate::new(SamplingRule::LastAck), packets: Vec::new(), in_flight: 0 }
        }

        fn send(&mut self, at: u64, count: usize) {
            for _ in 0..count {
                let now = Instant::from_millis(at);
                let snapshot = self.rate.on_sent(now, self.in_flight, self.in_flight + 1_000);
                self.in_flight += 1_000;
                self.packets.push((now, snapshot));
            }
        }

        fn lose(&mut self, count: u64) {
            for _ in 0..count {
                self.rate.on_lost(1_000);
                self.in_flight -= 1_000;
            }
        }

        fn ack(&mut self, at: u64, places: std::ops::Range<usize>) -> Result<RateSample, String> {
            let now = Instant::from_millis(at);
            for (place, (sent_at, snapshot)) in
                self.packets.iter().enumerate().skip(places.start).take(places.len())
            {
                let number = u64::try_from(place).ok();
                self.rate.on_acked(now, number, *sent_at, 1_000, snapshot, false);
                self.in_flight -= 1_000;
            }
            self.rate.finish_frame(now).ok_or_else(|| "expected a sample".into())
        }
    }

    /// Sent limited, one lost: the sample of the other is limited; that of the ten after the next packet is not.
    pub(super) fn the_limited_phase_ends_with_what_it_held() -> Result<(), String> {
        let mut bench = Bench::new();
        // Nothing but two packets to send: each belongs to the phase.
        bench.rate.on_app_limited(0);
        bench.send(0, 2);
        bench.rate.on_app_limited(2_000);
        // The loss shortens the phase: without that it would last until 3000 bytes are delivered.
        bench.lose(1);
        let first = bench.ack(100, 1..2)?;
        same("the packet of the limited phase", first.app_limited, true)?;
        // The phase lasts until more than 1000 bytes are delivered: with one packet more.
        bench.send(101, 1);
        bench.ack(201, 2..3)?;
        bench.send(202, 10);
        let second = bench.ack(302, 3..13)?;
        same("the ten after it", second.app_limited, false)
    }

    /// Of 100 packets 30 are lost at once and then one more: 31 since each was sent.
    pub(super) fn losses_are_counted_once() -> Result<(), String> {
        let mut bench = Bench::new();
        bench.send(0, 100);
        bench.lose(30);
        let sample = bench.ack(100, 40..41)?;
        same("after 30 losses", sample.lost_since_sent, 30_000)?;
        bench.lose(1);
        let sample = bench.ack(101, 41..42)?;
        same("after one more", sample.lost_since_sent, 31_000)?;
        // Sent after them: none.
        bench.send(102, 1);
        let sample = bench.ack(202, 100..101)?;
        same("of a packet sent later", (sample.lost_since_sent, sample.newly_lost), (0, 0))
    }

    /// 100 packets sent evenly over 100 ms, all acked at 200 ms: the send rate is the lower one and counts.
    pub(super) fn held_acks_do_not_raise_the_rate() -> Result<(), String> {
        let mut bench = Bench::new();
        bench.send(0, 1);
        bench.ack(50, 0..1)?;
        for ms in 1..=100 {
            bench.send(100 + ms, 1);
        }
        let sample = bench.ack(300, 1..101)?;
        // The newest, sent at 200 ms, remembers the ack at 50 ms or the restart at 101 ms.
        same("packet", sample.number, Some(100))?;
        same("send interval", sample.send_interval, Duration::from_millis(99))?;
        same("ack interval", sample.ack_interval, Duration::from_millis(199))?;
        same("interval", sample.interval(), Duration::from_millis(199))?;
        same("delivered", sample.delivered_since_sent(), 100_000)
    }
}
