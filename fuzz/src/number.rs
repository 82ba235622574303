//! Numbers, times, spans and receive times that are often plausible and sometimes absurd.

use arbitrary::Arbitrary;
use cc_core::{Duration, Instant, PeerInstant};

/// A number that is often small, sometimes huge.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Number {
    Small(u16),
    Large(u32),
    Any(u64),
    /// Just below the largest one.
    Last(u8),
}

impl Number {
    pub fn get(self) -> u64 {
        match self {
            Self::Small(n) => n.into(),
            Self::Large(n) => n.into(),
            Self::Any(n) => n,
            Self::Last(n) => u64::MAX - u64::from(n),
        }
    }

    /// Small numbers are microseconds, so that RTTs are often plausible.
    fn nanos(self) -> u64 {
        match self {
            Self::Small(n) => u64::from(n) * 1_000,
            other => other.get(),
        }
    }

    pub fn instant(self) -> Instant {
        Instant::from_nanos(self.nanos())
    }

    pub fn span(self) -> Duration {
        Duration::from_nanos(self.nanos())
    }
}

/// When a peer says that a packet was received.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Stamp {
    /// So many microseconds after it was sent, by a clock that agrees with ours.
    After(u16),
    /// Whatever a hostile peer may say.
    Any(Number),
}

impl Stamp {
    pub fn of(self, sent_at: Instant) -> PeerInstant {
        PeerInstant::from_nanos(match self {
            Self::After(micros) => sent_at.as_nanos().wrapping_add(u64::from(micros) * 1_000),
            Self::Any(number) => number.get(),
        })
    }
}
