//! Loss detection and timers of the sender (sim_model section 5.7).

use crate::scenario::Endpoint;

/// Largest part of the smoothed RTT that the time threshold waits, in microseconds.
const MAX_RACK_DELAY_US: u64 = 5_000;

/// State that ACKs leave behind for loss detection.
#[derive(Debug)]
pub(super) struct LossTimer {
    packet_threshold: u64,
    max_ack_delay_us: u64,
    max_pto_us: u64,
    /// Largest number acknowledged, when it was sent and when its ACK came.
    largest: Option<Acked>,
}

#[derive(Clone, Copy, Debug)]
struct Acked {
    number: u64,
    sent_at: u64,
    acked_at: u64,
}

impl LossTimer {
    pub(super) fn new(config: &Endpoint) -> Self {
        Self {
            packet_threshold: config.packet_threshold,
            max_ack_delay_us: config.max_ack_delay_us,
            max_pto_us: config.max_pto_us,
            largest: None,
        }
    }

    pub(super) fn on_ack(&mut self, now: u64, number: u64, sent_at: u64) {
        if self.largest.is_none_or(|largest| number > largest.number) {
            self.largest = Some(Acked { number, sent_at, acked_at: now });
        }
    }

    /// When the last ACK that raised the largest number came; 0 if none did.
    pub(super) fn last_ack_at(&self) -> u64 {
        self.largest.map_or(0, |largest| largest.acked_at)
    }

    /// Whether a packet sent later was acknowledged.
    pub(super) fn is_later_acked(&self, number: u64) -> bool {
        self.largest.is_some_and(|largest| number < largest.number)
    }

    /// Whether an outstanding packet is lost by packet or time threshold.
    pub(super) fn is_lost(
        &self,
        now: u64,
        number: u64,
        sent_at: u64,
        timer_us: u64,
        smoothed_us: u64,
    ) -> bool {
        let Some(largest) = self.largest else { return false };
        largest.number.saturating_sub(number) >= self.packet_threshold
            || self.deadline(number, sent_at, timer_us, smoothed_us).is_some_and(|at| at <= now)
    }

    /// When an outstanding packet sent before the largest acknowledged is lost by time.
    pub(super) fn deadline(&self, number: u64, sent_at: u64, timer_us: u64, smoothed_us: u64) -> Option<u64> {
        let largest = self.largest.filter(|largest| number < largest.number)?;
        let rack_delay = (smoothed_us / 4).min(MAX_RACK_DELAY_US);
        let sent_before = largest.sent_at.saturating_sub(sent_at);
        let by_order = (largest.acked_at + rack_delay + self.max_ack_delay_us).saturating_sub(sent_before);
        Some(by_order.min(sent_at + timer_us))
    }

    /// The probe timeout after `probes` probes: doubled twice, then a quarter more each time, with a cap.
    pub(super) fn backed_off(&self, timer_us: u64, probes: u32) -> u64 {
        if probes == 0 {
            return timer_us;
        }
        let backed_off = if probes < 3 {
            timer_us << probes
        } else {
            let steps = (probes - 2).min(18);
            let base = timer_us << (2 + steps / 4);
            base + u64::from(steps % 4) * base / 4
        };
        // A path longer than the cap keeps one and a half of its own timer.
        backed_off.min(self.max_pto_us.max(timer_us * 3 / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::LossTimer;
    use crate::scenario::Endpoint;

    #[test]
    fn three_packets_later_is_lost_at_once() {
        let mut timer = LossTimer::new(&Endpoint::default());
        timer.on_ack(100_000, 10, 20_000);
        assert!(timer.is_lost(100_000, 7, 19_000, 200_000, 80_000));
        assert!(!timer.is_lost(100_000, 8, 19_500, 200_000, 80_000));
    }

    #[test]
    fn a_packet_just_before_is_lost_by_time() {
        let mut timer = LossTimer::new(&Endpoint::default());
        timer.on_ack(100_000, 10, 20_000);
        // 100000 + min(80000/4, 5000) + 10000 - (20000 - 19000).
        assert_eq!(timer.deadline(9, 19_000, 200_000, 80_000), Some(114_000));
        // The retransmit timer may come first: 19000 + 90000.
        assert_eq!(timer.deadline(9, 19_000, 90_000, 80_000), Some(109_000));
        assert_eq!(timer.deadline(10, 20_000, 90_000, 80_000), None, "nothing later was acked");
        assert!(timer.is_lost(114_000, 9, 19_000, 200_000, 80_000));
    }

    #[test]
    fn probe_timeouts_back_off_by_two_four_then_quarters() {
        let timer = LossTimer::new(&Endpoint { max_pto_us: u64::MAX / 4, ..Endpoint::default() });
        let backed_off: Vec<u64> = (0..8).map(|probes| timer.backed_off(100, probes)).collect();
        assert_eq!(backed_off, [100, 200, 400, 500, 600, 700, 800, 1_000]);
        let capped = LossTimer::new(&Endpoint::default());
        assert_eq!(capped.backed_off(700_000, 2), 2_000_000);
        assert_eq!(capped.backed_off(1_600_000, 9), 2_400_000);
    }
}
