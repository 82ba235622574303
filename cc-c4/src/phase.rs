//! The phases, each with the data that exists only in it.

/// Phase of a [`C4`](crate::C4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Phase {
    /// Search for the capacity: window and rate double each round trip.
    Initial {
        /// Window in bytes, grown by the acked bytes; half of it becomes the first nominal max RTT.
        window: u64,
        /// ACK steps, and losses above the threshold, since it began.
        packets_seen: u32,
        /// Ended eras in a row in which the rate did not grow although the application was not the limit.
        eras_without_increase: u8,
    },
    /// One round trip below the nominal rate, after a test or a congestion signal; at its end the test is judged.
    Recovery {
        /// Whether CE marks above the threshold brought it about or came inside it.
        excess_ce: bool,
    },
    /// Steady sending at the nominal rate.
    Cruising,
    /// One round trip slightly above the nominal rate.
    Probing,
    /// Rapid growth: a larger gain for as long as the rate follows.
    Pushing,
    /// Careful resume (RFC 9959): sends at a saved rate to find out whether the path still has it.
    Resuming {
        /// The saved window in bytes.
        window: u64,
        /// The saved window over the smoothed RTT, bytes per second.
        rate: u64,
    },
}

impl Phase {
    /// Name for logs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Initial { .. } => "initial",
            Self::Recovery { .. } => "recovery",
            Self::Cruising => "cruising",
            Self::Probing => "probing",
            Self::Pushing => "pushing",
            Self::Resuming { .. } => "resuming",
        }
    }
}
