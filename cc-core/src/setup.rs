//! What a controller is made from, the same for every algorithm.

use crate::{Duration, EcnCodepoint, Instant, PathState, ResumeHint};

/// Construction parameters that every algorithm understands; each algorithm's own `Config` is made from it by `From`.
///
/// An adapter or a factory keeps one and changes `now`, `seed` and what it learnt of the path per connection. What an
/// algorithm has no use for (CUBIC draws no random numbers, C4 does not pace differently for a stack that does not) is
/// ignored by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Time of construction.
    pub now: Instant,
    /// Maximum datagram size in bytes, UDP payload: 1 to [`MAX_DATAGRAM_SIZE`](crate::MAX_DATAGRAM_SIZE). Default 1200.
    pub max_datagram_size: u64,
    /// Initial window in bytes; `None` for the algorithm's own default.
    pub initial_window: Option<u64>,
    /// RTT to assume before the first sample; `None` for the algorithm's own default.
    pub initial_rtt: Option<Duration>,
    /// Seed of all randomness. A factory derives a fresh one for each connection.
    pub seed: u64,
    /// State saved from an earlier connection on the path.
    pub resume: Option<ResumeHint>,
    /// Whether the stack honours the pacing rate (RFC 9406 section 4.3: `L` is infinite then). Default true.
    pub paces: bool,
    /// The codepoint that outgoing packets can carry; `NotEct` if ECN is not usable. Default ECT(1): any.
    pub ecn: EcnCodepoint,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            now: Instant::ZERO,
            max_datagram_size: PathState::default().max_datagram_size,
            initial_window: None,
            initial_rtt: None,
            seed: 0,
            resume: None,
            paces: true,
            ecn: EcnCodepoint::Ect1,
        }
    }
}
