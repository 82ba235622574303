//! The invariants U1 to U10: what must hold for every controller after every event, and what two runs must have in
//! common.
//!
//! | | holds for | how it is checked |
//! |---|---|---|
//! | U1 | all | after every event: the window is at least two datagrams and at most the subject's largest |
//! | U2 | all | after every event: pacing is `None` or positive, the quantum is one datagram to 64 KiB |
//! | U3 | all | a panic ends the run as a failure (build with overflow checks) |
//! | U4 | all; the second half loss-based | no growth on an event that acked nothing; no decrease without a signal |
//! | U5 | loss-based | packets sent before a decrease never take the window below that decrease |
//! | U6 | all | calls of `on_loss`, and of `on_ecn` with marks, raise neither window nor rate |
//! | U7 | all | two runs, one of them later in time, one on a clone: same outputs ([`time_shift`], [`replay`]) |
//! | U8 | loss-based | a frame cut in two gives the same window to one datagram |
//! | U9 | loss-based; others on request | all sizes times k: windows times k ([`byte_scale`]) |
//! | U10 | all | cases with `run(...)`: utilisation, bound while limited, recovery after a blackout |
//!
//! Besides, for every frame of a loss-based controller: all 24 orders of its calls give the same number of reductions
//! and windows that differ by no more than the frame's growth.
//!
//! # What the checks leave out
//!
//! - U8 is checked where the stack paces (RFC 9406 section 4.3 limits the growth per ACK elsewhere), for ACKs of at most two
//!   windows (controllers may count no more of one), and where nothing but window and pacer stopped the sender since the
//!   oldest packet acked was sent (the halves would be about a time with a pause and one without).
//! - The order of calls is not checked for a frame with late acks: what restores a window is not about growth.
//! - Both are checked in runs of at most 600 packets, since they work on copies.
//! - U9 compares sums, not steps, for scripts with a `run(...)`: its queue is chaotic.

mod closely;
mod monitor;
mod once;
mod runs;

pub use runs::{byte_scale, on_path, replay, time_shift};

use monitor::MAX_QUANTUM;
pub(crate) use monitor::{Cause, Monitor, Observed};

/// Which invariants are checked after every event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// U1.
    pub bounds: bool,
    /// U2.
    pub outputs: bool,
    /// U4.
    pub growth: bool,
    /// U5.
    pub once: bool,
    /// U6.
    pub signals: bool,
    /// The order of the calls of a frame, in short runs.
    pub orders: bool,
    /// U8, in short runs. Not where the stack does not pace: RFC 9406 section 4.3 then limits the growth per ACK.
    pub cut: bool,
}
