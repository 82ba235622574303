//! What the fuzz targets share: absurd events for a controller, and plausible or absurd calls of a `Path`.
//!
//! Both check after every step what must hold for every controller: the window is at least two datagrams, a
//! pacing rate is never zero, the send quantum lies between one datagram and 64 KiB, nothing panics and nothing
//! overflows (the profile has overflow checks). The same events on a clone give the same state.

pub mod events;
pub mod path;

use cc_core::CongestionController;

/// Checks the outputs of a controller against the largest datagram size in use.
pub fn check_outputs<C: CongestionController>(controller: &C, max_datagram_size: u64) {
    let cwnd = controller.cwnd();
    assert!(cwnd >= 2 * max_datagram_size, "cwnd {cwnd} is below two datagrams of {max_datagram_size}");
    if let Some(rate) = controller.pacing_rate() {
        assert!(!rate.is_zero(), "a pacing rate of zero");
    }
    let quantum = controller.send_quantum();
    assert!(
        quantum >= max_datagram_size && quantum <= (2 * max_datagram_size).max(65_536),
        "quantum {quantum}"
    );
    let _ = controller.snapshot();
}
