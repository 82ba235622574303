//! The delivery-rate estimate that persists between samples, and the peak rate.

use crate::arithmetic::{micros, millions_per};
use crate::constants::MIN_ACK_INTERVAL;
use cc_core::{Duration, Instant, RateSample};

/// Reference point of the peak rate: the newest packet of a frame, and what had been delivered with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PeakReference {
    delivered: u64,
    acked_at: Instant,
    sent_at: Instant,
}

/// Rates measured from ACKs, bytes per second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Delivery {
    /// The last accepted sample, whether application-limited or not; 0 before the first.
    pub(crate) estimate: u64,
    /// Largest rate between two reference points, ever.
    pub(crate) peak: u64,
    reference: Option<PeakReference>,
}

impl Delivery {
    /// Takes the sample of one frame, of any packet number space, in which all newly acked bytes are counted.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        self.update_estimate(sample);
        self.update_peak(now, sample);
    }

    /// picoquic_estimate_path_bandwidth: accepted samples replace the estimate. A packet that was sent before there
    /// was a reference point has none stored and gives no sample, nor does the frame that sets the first.
    fn update_estimate(&mut self, sample: &RateSample) {
        let accepted = sample.moved_reference
            && sample.snapshot.delivered_at.is_some()
            && is_long_enough(sample.ack_interval);
        if accepted {
            self.estimate = rate_of(sample.delivered_since_sent(), sample.interval());
        }
    }

    /// picoquic_estimate_max_path_bandwidth: from a reference point of its own, not from that of the packet.
    fn update_peak(&mut self, now: Instant, sample: &RateSample) {
        let here = PeakReference { delivered: sample.delivered, acked_at: now, sent_at: sample.sent_at };
        let Some(reference) = self.reference else {
            self.reference = Some(here);
            return;
        };
        let ack_interval = now.since(reference.acked_at);
        if sample.sent_at < reference.sent_at || !is_long_enough(ack_interval) {
            return;
        }
        let interval = ack_interval.max(sample.sent_at.since(reference.sent_at));
        let delivered = sample.delivered.saturating_sub(reference.delivered);
        self.peak = self.peak.max(rate_of(delivered, interval));
        self.reference = Some(here);
    }
}

fn rate_of(bytes: u64, span: Duration) -> u64 {
    millions_per(bytes, u64::from(micros(span)))
}

/// Whole microseconds are compared, like all spans of time here: the span is longer if it reaches the next one.
fn is_long_enough(ack_interval: Duration) -> bool {
    const NEXT: Duration = MIN_ACK_INTERVAL.plus(Duration::from_micros(1));
    ack_interval >= NEXT
}

#[cfg(test)]
mod tests {
    use super::Delivery;
    use cc_core::{Duration, Instant, PacketSnapshot, RateSample};

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    fn sample(bytes: u64, ack_us: u64, send_us: u64) -> RateSample {
        RateSample {
            snapshot: PacketSnapshot {
                delivered: 500,
                delivered_at: Some(at(0)),
                ..PacketSnapshot::default()
            },
            delivered: 500 + bytes,
            ack_interval: Duration::from_micros(ack_us),
            send_interval: Duration::from_micros(send_us),
            moved_reference: true,
            ..RateSample::default()
        }
    }

    fn estimate(samples: &[RateSample]) -> u64 {
        let mut delivery = Delivery::default();
        for sample in samples {
            delivery.on_sample(at(0), sample);
        }
        delivery.estimate
    }

    #[test]
    fn estimate_is_bytes_over_the_longer_interval() {
        // 30 000 B in 40 ms (20 ms of sending): 750 000 B/s; in 60 ms of sending: 500 000 B/s
        assert_eq!(estimate(&[sample(30_000, 40_000, 20_000)]), 750_000);
        assert_eq!(estimate(&[sample(30_000, 40_000, 60_000)]), 500_000);
    }

    #[test]
    fn each_accepted_sample_replaces_the_estimate_and_others_leave_it() {
        let good = sample(30_000, 40_000, 0);
        assert_eq!(estimate(&[good, sample(3_000, 40_000, 0)]), 75_000);
        assert_eq!(estimate(&[good, RateSample { app_limited: true, ..sample(3_000, 40_000, 0) }]), 75_000);
        assert_eq!(
            estimate(&[good, RateSample { moved_reference: false, ..sample(3_000, 40_000, 0) }]),
            750_000
        );
    }

    #[test]
    fn ack_interval_must_exceed_a_millisecond() {
        assert_eq!(estimate(&[sample(1_000, 1_000, 50_000)]), 0);
        // 1 001 B in 1 001 us
        assert_eq!(estimate(&[sample(1_001, 1_001, 0)]), 1_000_000);
    }

    #[test]
    fn intervals_end_at_71_minutes() {
        // 2^32 - 1 us and two hours: 8 589 934 590 B / 4 294.967295 s = 2 000 000 B/s
        assert_eq!(estimate(&[sample(8_589_934_590, 4_294_967_295, 0)]), 2_000_000);
        assert_eq!(estimate(&[sample(8_589_934_590, 7_200_000_000, 0)]), 2_000_000);
    }

    #[test]
    fn intervals_are_whole_microseconds() {
        // 2 000 B in 1999.9 us count as 1999 us: 1 000 500.25 B/s
        let odd = RateSample { ack_interval: Duration::from_nanos(1_999_900), ..sample(2_000, 0, 0) };
        assert_eq!(estimate(&[odd]), 1_000_500);
        // 1 000.999 us are not more than 1 000 us, for the estimate and for the peak.
        let short = Duration::from_nanos(1_000_999);
        assert_eq!(estimate(&[RateSample { ack_interval: short, ..sample(2_000, 0, 0) }]), 0);
        let mut delivery = Delivery::default();
        delivery.on_sample(Instant::ZERO, &sample(0, 0, 0));
        delivery.on_sample(Instant::ZERO.after(short), &sample(2_000, 0, 0));
        assert_eq!(delivery.peak, 0);
        // 2 000 B in 1 001 us: 1 998 001.9 B/s
        delivery.on_sample(at(1_001), &sample(2_000, 0, 0));
        assert_eq!(delivery.peak, 1_998_001);
    }

    #[test]
    fn packet_without_a_stored_reference_gives_no_sample() {
        let first = RateSample { snapshot: PacketSnapshot::default(), ..sample(30_000, 40_000, 0) };
        assert_eq!(estimate(&[first]), 0);
    }

    #[test]
    fn peak_is_the_largest_rate_between_its_own_reference_points() {
        let mut delivery = Delivery::default();
        let mut frame = |now, sent, delivered| {
            // moved_reference is false: the peak has its own rule.
            let sample = RateSample { sent_at: at(sent), delivered, ..RateSample::default() };
            delivery.on_sample(at(now), &sample);
            delivery.peak
        };
        assert_eq!(frame(100_000, 50_000, 10_000), 0); // only sets the reference
        assert_eq!(frame(101_000, 51_000, 20_000), 0); // 1 000 us is not more than 1 000 us
        // since the first frame: 15 000 B in 2 000 us
        assert_eq!(frame(102_000, 51_000, 25_000), 7_500_000);
        assert_eq!(frame(110_000, 50_999, 90_000), 7_500_000); // sent before the reference's packet
        // from the frame at 102 000: 80 000 B, ack interval 10 000, send interval 5 000: 8 000 000 B/s
        assert_eq!(frame(112_000, 56_000, 105_000), 8_000_000);
        // 30 000 B, ack interval 2 000, send interval 10 000: 3 000 000, below the peak
        assert_eq!(frame(114_000, 66_000, 135_000), 8_000_000);
    }
}
