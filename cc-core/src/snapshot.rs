//! What a controller shows to logs.

use crate::{DelaySource, Duration, Rate};

/// A controller's state as a log line or a qlog event wants it: plain data, taken at any time.
///
/// Values that an algorithm does not have are `None`. Nothing here is an input of the algorithm's own decisions.
/// Implementations fill it with `..Snapshot::default()`, so that a later field does not break them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// Name of the current phase, as the algorithm's document has it (`"slow_start"`, `"cruising"`, ...).
    pub phase: &'static str,
    /// Whether the algorithm is still in its first search for the capacity of the path.
    pub startup: bool,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Pacing rate; `None` if unpaced.
    pub pacing_rate: Option<Rate>,
    /// Slow-start threshold in bytes.
    pub ssthresh: Option<u64>,
    /// The algorithm's estimate of what the path delivers (`nominal_rate`, `max_bw`).
    pub bandwidth: Option<Rate>,
    /// The RTT that the window is computed from (`nominal_max_rtt`, `min_rtt`).
    pub model_rtt: Option<Duration>,
    /// Queueing delay as the algorithm last estimated it.
    pub queueing_delay: Option<Duration>,
    /// Where that estimate comes from.
    pub delay_source: Option<DelaySource>,
    /// Congestion events so far (reductions, however caused); wraps never, saturates.
    pub congestion_events: u64,
}
