//! The least RTT of the last seconds.

use cc_core::{Duration, Instant};

/// How long one of two halves lasts. A minimum is forgotten after 5 to 10 s, at the latest when BBR forgets its own
/// (draft-ietf-ccwg-bbr, MinRTTFilterLen).
const HALF: Duration = Duration::from_secs(5);

/// The minimum of the last 5 to 10 seconds in which there were samples.
///
/// Unlike `min_rtt` of RFC 9002 it follows a path that has become longer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecentMin {
    /// Minima of the half before and of this one.
    halves: Option<(Duration, Duration)>,
    /// Since when this one lasts.
    since: Instant,
}

impl RecentMin {
    pub(crate) fn add(&mut self, now: Instant, sample: Duration) {
        self.halves = Some(match self.halves {
            Some((before, current)) if now.since(self.since) <= HALF => (before, current.min(sample)),
            Some((_, current)) => {
                self.since = now;
                (current, sample)
            }
            None => {
                self.since = now;
                (sample, sample)
            }
        });
    }

    /// The path is taken for another (RFC 9002 section 5.2, persistent congestion): what was measured before counts no more.
    pub(crate) const fn forget(&mut self) {
        self.halves = None;
    }

    /// `None` before the first sample.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.halves.map(|(before, current)| before.min(current))
    }
}

#[cfg(test)]
mod tests {
    use super::RecentMin;
    use cc_core::{Duration, Instant};

    #[test]
    fn a_minimum_is_known_for_five_seconds_and_forgotten_after_ten() {
        let ms = Duration::from_millis;
        let mut min = RecentMin::default();
        assert_eq!(min.get(), None);
        let mut add = |millis, rtt| {
            min.add(Instant::from_millis(millis), ms(rtt));
            min.get()
        };
        assert_eq!(add(1_000, 30), Some(ms(30)));
        assert_eq!(add(2_000, 20), Some(ms(20)));
        // The half from 1 s on ends after 6 s: 20 ms is of the half before from then on, until after 11.001 s.
        assert_eq!(add(6_001, 50), Some(ms(20)));
        assert_eq!(add(11_001, 60), Some(ms(20)));
        assert_eq!(add(11_002, 60), Some(ms(50)));
        // A clock that goes back is no half that ends.
        assert_eq!(add(500, 55), Some(ms(50)));
        min.forget();
        assert_eq!(min.get(), None);
        min.add(Instant::from_millis(12_000), ms(80));
        assert_eq!(min.get(), Some(ms(80)));
    }
}
