//! Points in time and spans of time, in whole nanoseconds.
//!
//! Time is always an argument: nothing in this workspace reads a clock. All arithmetic saturates, so that
//! times that go backwards count as *no time elapsed* and times near the end of the range cannot wrap.

use crate::division;
use std::num::NonZeroU64;

/// A point in time: nanoseconds since any epoch that the caller keeps for the life of a connection.
///
/// Range: the whole of `u64` (584 years). Only differences mean anything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Instant(u64);

impl Instant {
    /// The epoch itself.
    pub const ZERO: Self = Self(0);
    /// The last representable point; used as "never".
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds after the epoch; saturates.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// `millis` milliseconds after the epoch; saturates.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// `secs` seconds after the epoch; saturates.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds since the epoch, truncated.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        division::by_thousand(self.0)
    }

    /// This point moved `span` later; saturates at [`Instant::MAX`].
    #[must_use]
    pub const fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// This point moved `span` earlier; saturates at [`Instant::ZERO`].
    #[must_use]
    pub const fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// Time elapsed since `earlier`; zero if `earlier` is later than `self` (a clock that went backwards).
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

/// A span of time in nanoseconds. Range: the whole of `u64`; arithmetic saturates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span; used as "for ever".
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds; saturates.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds; saturates.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span of `secs` seconds; saturates.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// The span in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in whole microseconds, truncated.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        division::by_thousand(self.0)
    }

    /// The span in whole milliseconds, truncated.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        division::by_million(self.0)
    }

    /// Whether the span is empty.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Sum of both spans; saturates.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Difference of both spans; zero if `other` is longer.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `factor` times the span; saturates.
    #[must_use]
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// The span divided by `divisor`, truncated; a divisor of zero counts as one.
    #[must_use]
    #[inline(always)]
    pub const fn divided_by(self, divisor: u64) -> Self {
        match NonZeroU64::new(divisor) {
            // For the constants that most divisors are, so that nothing but the shift is left of it.
            Some(divisor) if divisor.is_power_of_two() => Self(self.0.wrapping_shr(divisor.trailing_zeros())),
            Some(divisor) => Self(division::divide(self.0, divisor)),
            None => self,
        }
    }
}

/// A reading of the *peer's* clock, in nanoseconds since an epoch of the peer's own.
///
/// It is a type of its own because only differences between two readings mean anything: it can not be
/// compared with an [`Instant`]. Source: draft-ietf-quic-receive-ts ("Timestamp Basis").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct PeerInstant(u64);

impl PeerInstant {
    /// A reading of `nanos` nanoseconds after the peer's epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds after the peer's epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time elapsed on the peer's clock since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl From<std::time::Duration> for Duration {
    /// Saturates at [`Duration::MAX`].
    fn from(span: std::time::Duration) -> Self {
        // Not `as_nanos`, which has 128 bits.
        Self::from_secs(span.as_secs()).plus(Self(u64::from(span.subsec_nanos())))
    }
}

impl From<Duration> for std::time::Duration {
    fn from(span: Duration) -> Self {
        Self::from_nanos(span.0)
    }
}

#[cfg(feature = "std")]
impl Instant {
    /// The point `at` on a clock whose epoch is `epoch` (a `std::time::Instant` that the caller took once);
    /// [`Instant::ZERO`] if `at` is earlier. Needs the feature `std`.
    #[must_use]
    pub fn from_std(epoch: std::time::Instant, at: std::time::Instant) -> Self {
        Self(Duration::from(at.saturating_duration_since(epoch)).0)
    }

    /// The inverse of [`Instant::from_std`]; `None` where the platform's clock can not express it.
    #[must_use]
    pub fn to_std(self, epoch: std::time::Instant) -> Option<std::time::Instant> {
        epoch.checked_add(std::time::Duration::from_nanos(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, PeerInstant};

    #[test]
    fn time_that_goes_backwards_is_no_time_elapsed() {
        assert_eq!(Instant::from_millis(1).since(Instant::from_millis(2)), Duration::ZERO);
        assert_eq!(PeerInstant::from_nanos(1).since(PeerInstant::from_nanos(2)), Duration::ZERO);
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Instant::MAX.after(Duration::from_nanos(1)), Instant::MAX);
        assert_eq!(Instant::ZERO.before(Duration::from_secs(1)), Instant::ZERO);
        assert_eq!(Duration::MAX.plus(Duration::from_nanos(1)), Duration::MAX);
        assert_eq!(Duration::MAX.times(2), Duration::MAX);
        assert_eq!(Duration::from_secs(u64::MAX), Duration::MAX);
        assert_eq!(Duration::from_nanos(7).divided_by(0), Duration::from_nanos(7));
    }

    #[test]
    fn units_convert() {
        assert_eq!(Instant::from_secs(2).as_micros(), 2_000_000);
        assert_eq!(Duration::from_millis(3).as_micros(), 3_000);
        assert_eq!(Duration::from_micros(1_999).as_millis(), 1);
        assert_eq!(Duration::from(core::time::Duration::MAX), Duration::MAX);
        assert_eq!(core::time::Duration::from(Duration::from_secs(1)).as_secs(), 1);
    }

    #[test]
    fn spans_of_std_convert_exactly_up_to_the_last_nanosecond_of_the_range() {
        // u64::MAX ns are 18 446 744 073 s and 709 551 615 ns.
        for (secs, nanos, expected) in [
            (0, 999_999_999, 999_999_999),
            (1, 1, 1_000_000_001),
            (18_446_744_073, 709_551_614, u64::MAX - 1),
            (18_446_744_073, 709_551_615, u64::MAX),
            (18_446_744_073, 709_551_616, u64::MAX),
            (18_446_744_074, 0, u64::MAX),
            (u64::MAX, 999_999_999, u64::MAX),
        ] {
            assert_eq!(Duration::from(core::time::Duration::new(secs, nanos)).as_nanos(), expected);
        }
    }
}
