//! Persistent congestion (RFC 9002 section 7.6).

use crate::{Duration, Instant, RttEstimator};

/// `kPersistentCongestionThreshold`, RFC 9002 section 7.6.1.
const THRESHOLD: u64 = 3;

/// Finds out whether the losses of a period establish persistent congestion.
///
/// It is fed with the packets of **all** packet number spaces in the order in which they were sent: every
/// lost one with [`lost`](Self::lost), and [`acked`](Self::acked) for every acked one between them. It looks
/// at send times only; probe timeouts are neither needed nor enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PersistentCongestion {
    duration: Duration,
    first_sample_at: Option<Instant>,
    period_start: Option<Instant>,
    established: bool,
}

impl PersistentCongestion {
    /// Starts with no packet seen. `first_sample_at` is when the path got its first RTT sample.
    #[must_use]
    pub fn new(rtt: &RttEstimator, first_sample_at: Option<Instant>) -> Self {
        Self { duration: Self::duration(rtt), first_sample_at, period_start: None, established: false }
    }

    /// Goes on with a period that an earlier loss event left open; see [`period_start`](Self::period_start).
    #[must_use]
    pub const fn resumed_from(mut self, period_start: Option<Instant>) -> Self {
        self.period_start = period_start;
        self
    }

    /// `(smoothed_rtt + max(4 * rttvar, kGranularity) + max_ack_delay) * 3` (RFC 9002 section 7.6.1).
    #[must_use]
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub fn duration(rtt: &RttEstimator) -> Duration {
        rtt.pto_base().times(THRESHOLD)
    }

    /// Whether a lost packet may be an end of a period.
    pub(crate) fn is_end(&self, sent_at: Instant, ack_eliciting: bool) -> bool {
        // RFC 9002 section 7.6.2: both ends must be ack-eliciting, and an RTT sample must have existed when
        // they were sent (appendix B.8: sent later than the first sample).
        ack_eliciting && self.first_sample_at.is_some_and(|sample| sent_at > sample)
    }

    /// A packet was declared lost.
    pub fn lost(&mut self, sent_at: Instant, ack_eliciting: bool) {
        self.took_lost(sent_at, ack_eliciting);
    }

    /// The same; says whether the packet [may be an end](Self::is_end).
    #[inline(never)]
    pub(crate) fn took_lost(&mut self, sent_at: Instant, ack_eliciting: bool) -> bool {
        let is_end = self.took_lost_earlier(sent_at, ack_eliciting);
        if is_end && let Some(start) = self.period_start {
            // Strictly longer: section 7.6.2, "exceeds".
            self.established |= sent_at.since(start) > self.duration;
        }
        is_end
    }

    /// The same for a packet that an earlier loss event declared lost: it may open a period, and ends none.
    pub(crate) fn took_lost_earlier(&mut self, sent_at: Instant, ack_eliciting: bool) -> bool {
        let is_end = self.is_end(sent_at, ack_eliciting);
        if is_end {
            self.period_start = self.period_start.or(Some(sent_at));
        }
        is_end
    }

    /// A packet sent here was acked, in this frame or an earlier one: the period ends.
    pub fn acked(&mut self) {
        self.period_start = None;
    }

    /// Send time of the first packet of the period that is still open; `None` if no loss opened one.
    #[must_use]
    pub const fn period_start(&self) -> Option<Instant> {
        self.period_start
    }

    /// Whether persistent congestion is established.
    #[must_use]
    pub const fn established(&self) -> bool {
        self.established
    }
}

#[cfg(test)]
mod tests {
    use super::PersistentCongestion;
    use crate::{Duration, Instant, RttEstimator};

    /// smoothed 100 ms, rttvar 50 ms, max_ack_delay 25 ms: (100 + 200 + 25) * 3 = 975 ms.
    const DURATION: Duration = Duration::from_millis(975);

    fn rtt() -> RttEstimator {
        let mut rtt = RttEstimator::new(Duration::from_millis(333), Duration::from_millis(25));
        rtt.update(Duration::from_millis(100), Duration::ZERO, true);
        rtt
    }

    /// First RTT sample at 10 ms.
    fn check() -> PersistentCongestion {
        PersistentCongestion::new(&rtt(), Some(Instant::from_millis(10)))
    }

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn the_example_of_the_rfc_is_persistent_congestion() {
        // RFC 9002 section 7.6.3: duration 2 * 3 = 6 s; packets 2 to 8 lost, sent at 1 to 8 s: 7 s.
        // smoothed 0.5 s and rttvar 0.25 s from the first sample; max_ack_delay 0.5 s: 0.5 + 1 + 0.5 = 2.
        let mut rtt = RttEstimator::new(Duration::from_millis(333), Duration::from_millis(500));
        rtt.update(Duration::from_millis(500), Duration::ZERO, true);
        let mut check = PersistentCongestion::new(&rtt, Some(at(500)));
        assert_eq!(PersistentCongestion::duration(&rtt), Duration::from_secs(6));
        for sent in [1, 2, 3, 4, 5, 6, 8] {
            assert!(!check.established());
            check.lost(Instant::from_secs(sent), true);
        }
        assert!(check.established());
    }

    #[test]
    fn the_span_must_exceed_the_duration() {
        // bugs.md C8 d).
        assert_eq!(PersistentCongestion::duration(&rtt()), DURATION);
        let start = at(20);
        let mut equal = check();
        equal.lost(start, true);
        equal.lost(start.after(DURATION), true);
        assert!(!equal.established());
        let mut longer = check();
        longer.lost(start, true);
        longer.lost(start.after(DURATION).after(Duration::from_nanos(1)), true);
        assert!(longer.established());
    }

    #[test]
    fn without_a_prior_rtt_sample_there_is_none() {
        // bugs.md C8 a): the first sample comes with the ack at 1001 ms, after packets 1 and 2 were sent.
        let mut late = PersistentCongestion::new(&rtt(), Some(at(1_001)));
        late.lost(at(0), true);
        late.lost(at(1_000), true);
        assert!(!late.established());
        let mut never = PersistentCongestion::new(&rtt(), None);
        never.lost(at(0), true);
        never.lost(at(5_000), true);
        assert!(!never.established());
        // Sent at the very time of the sample is not after it.
        let mut same = check();
        same.lost(at(10), true);
        same.lost(at(10).after(DURATION).after(Duration::from_nanos(1)), true);
        assert!(!same.established());
    }

    #[test]
    fn both_ends_must_be_ack_eliciting() {
        // bugs.md C8 b).
        for (first, last) in [(false, true), (true, false), (false, false)] {
            let mut check = check();
            check.lost(at(20), first);
            check.lost(at(500), true);
            check.lost(at(1_200), last);
            assert!(!check.established(), "{first} {last}");
        }
        // In between it does not matter.
        let mut between = check();
        between.lost(at(20), true);
        between.lost(at(500), false);
        between.lost(at(1_200), true);
        assert!(between.established());
    }

    #[test]
    fn an_ack_in_between_ends_the_period() {
        // bugs.md C8 c): 1, 2, 3 sent at 20, 500, 2000 ms; 2 was acked.
        let mut check = check();
        check.lost(at(20), true);
        check.acked();
        check.lost(at(2_000), true);
        assert!(!check.established());
        assert_eq!(check.period_start(), Some(at(2_000)));
    }

    #[test]
    fn the_duration_alone_decides_whatever_probe_timeouts_there_were() {
        // bugs.md C8 e): a steady trickle, every 100 ms, none of which let a probe timeout expire.
        let mut check = check();
        for n in 0..=10 {
            check.lost(at(20 + 100 * n), true);
        }
        assert!(check.established());
    }

    #[test]
    fn a_period_goes_on_over_several_loss_events() {
        let mut first = check();
        first.lost(at(20), true);
        let mut second = check().resumed_from(first.period_start());
        second.lost(at(1_200), true);
        assert!(second.established());
    }

    #[test]
    fn send_times_that_go_backwards_establish_nothing() {
        let mut check = check();
        check.lost(at(5_000), true);
        check.lost(at(20), true);
        assert!(!check.established());
    }
}
