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
    /// The next sample replaces all before it.
    restart: bool,
}

impl RecentMin {
    pub(crate) fn add(&mut self, now: Instant, sample: Duration) {
        if std::mem::take(&mut self.restart) {
            self.halves = None;
        }
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

    /// Persistent congestion (RFC 9002 section 5.2): the minimum starts again with the newest sample, which is the next one if there
    /// is none.
    pub(crate) fn restart(&mut self, now: Instant, newest: Option<Duration>) {
        self.restart = true;
        if let Some(sample) = newest {
            self.add(now, sample);
        }
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
    }

    #[test]
    fn a_restart_takes_the_newest_sample_or_waits_for_the_next() {
        let (at, ms) = (Instant::from_millis, Duration::from_millis);
        let mut min = RecentMin::default();
        min.add(at(1_000), ms(20));
        min.restart(at(2_000), Some(ms(90)));
        assert_eq!(min.get(), Some(ms(90)));
        min.add(at(3_000), ms(95));
        assert_eq!(min.get(), Some(ms(90)));
        min.restart(at(4_000), None);
        assert_eq!(min.get(), Some(ms(90)));
        min.add(at(5_000), ms(98));
        assert_eq!(min.get(), Some(ms(98)));
    }
}
