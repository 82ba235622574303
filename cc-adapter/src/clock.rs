//! The stack's clock.

use cc_core::Instant;

/// What the moment of construction is called: not zero, which means "never" in some places.
const START: Instant = Instant::from_secs(1);

/// Turns a stack's `std::time::Instant`s into ours. The epoch is one second before its construction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    start: std::time::Instant,
}

impl Clock {
    /// A clock that starts now, as the stack says.
    #[must_use]
    pub const fn starting(now: std::time::Instant) -> Self {
        Self { start: now }
    }

    /// The time of construction.
    #[must_use]
    pub const fn start(&self) -> Instant {
        START
    }

    /// The moment `at`; the time of construction if it is earlier.
    #[must_use]
    pub fn at(&self, at: std::time::Instant) -> Instant {
        START.after(at.saturating_duration_since(self.start).into())
    }

    /// The moment at which a packet was sent; `None` if that was before the construction: it belongs to another path (RFC 9000
    /// section 9.4).
    #[must_use]
    pub fn sent_at(&self, at: std::time::Instant) -> Option<Instant> {
        at.checked_duration_since(self.start).map(|since| START.after(since.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use cc_core::Instant;
    use std::time::Duration;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any moment of the clock will do")]
    fn times_count_from_the_construction_and_earlier_packets_are_not_ours() {
        let start = std::time::Instant::now() + Duration::from_secs(5);
        let clock = Clock::starting(start);
        assert_eq!(clock.at(start), Instant::from_secs(1));
        assert_eq!(clock.at(start + Duration::from_millis(20)), Instant::from_millis(1_020));
        assert_eq!(clock.sent_at(start), Some(Instant::from_secs(1)));
        assert_eq!(clock.at(start - Duration::from_nanos(1)), Instant::from_secs(1));
        assert_eq!(clock.sent_at(start - Duration::from_nanos(1)), None);
    }
}
