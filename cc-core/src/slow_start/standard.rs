//! Standard slow start (RFC 9002 section 7.3.1).

use super::{SlowStart, SlowStartStep};
use crate::{AckEvent, PathState};

/// The window grows by the bytes acked until a loss or a CE mark ends it (RFC 9002 section 7.3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StandardSlowStart;

impl SlowStart for StandardSlowStart {
    fn on_ack(&mut self, _path: &PathState, _ack: &AckEvent<'_>, bytes: u64) -> SlowStartStep {
        SlowStartStep::Grow(bytes)
    }

    fn reset(&mut self) {}
}
