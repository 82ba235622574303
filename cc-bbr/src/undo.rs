//! Undoing what a spurious loss recovery changed (section 5.5.11).

use crate::shortterm::Bounds;
use crate::{Bbr, State};
use cc_core::{Instant, LostPacket, PathState, Rate, SpuriousLoss};

/// `BBR.undo_state`: the state that losses ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UndoState {
    None,
    Startup,
    ProbeBwUp,
}

/// What was saved when recovery began, and what must turn out spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Undo {
    pub(crate) state: UndoState,
    /// `BBR.undo_bw_shortterm`, `BBR.undo_inflight_shortterm`, `BBR.undo_inflight_longterm`.
    pub(crate) bounds: Bounds,
    /// The window, as `SaveCwnd()` kept it.
    cwnd: u64,
    /// Bytes that the episode declared lost and that were not acked since; `u32::MAX` for so many that they are not told
    /// apart.
    lost_bytes: u32,
    /// Send time of the first packet that it declared lost.
    first_sent_at: Instant,
}

impl Bbr {
    /// `SaveStateUponLoss()`, once per recovery period.
    pub(crate) const fn save_state_upon_loss(&mut self) {
        self.undo = Some(Undo {
            state: UndoState::None,
            bounds: self.bounds,
            cwnd: self.prior_cwnd,
            lost_bytes: 0,
            first_sent_at: Instant::MAX,
        });
    }

    /// A state ended because of losses.
    pub(crate) const fn set_undo_state(&mut self, state: UndoState) {
        if let Some(undo) = &mut self.undo {
            undo.state = state;
        }
    }

    /// A packet was declared lost: the episode is spurious only if it too is acked.
    pub(crate) fn note_lost_for_undo(&mut self, packet: &LostPacket) {
        if let Some(undo) = &mut self.undo {
            undo.lost_bytes = undo.lost_bytes.saturating_add(u32::try_from(packet.bytes).unwrap_or(u32::MAX));
            undo.first_sent_at = undo.first_sent_at.min(packet.sent_at);
        }
    }

    /// Congestion that no later ack takes back: an undo must not raise the bounds above what it left.
    pub(crate) fn keep_bounds_upon_undo(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.bounds = undo.bounds.min(self.bounds);
            undo.state = UndoState::None;
        }
    }

    /// Whether all losses of the episode were spurious now.
    pub(crate) fn is_spurious(&mut self, spurious: &SpuriousLoss) -> bool {
        let Some(undo) = &mut self.undo else { return false };
        match *spurious {
            SpuriousLoss::All => undo.lost_bytes > 0,
            SpuriousLoss::Packet { sent_at, bytes, .. } => {
                let is_counted = undo.lost_bytes > 0 && undo.lost_bytes < u32::MAX;
                if sent_at < undo.first_sent_at || !is_counted {
                    return false;
                }
                undo.lost_bytes = undo.lost_bytes.saturating_sub(u32::try_from(bytes).unwrap_or(u32::MAX));
                undo.lost_bytes == 0
            }
        }
    }

    /// `HandleSpuriousLossDetection()`.
    pub(crate) fn handle_spurious_loss_detection(&mut self, path: &PathState) {
        let Some(undo) = self.undo.take() else { return };
        self.end_recovery();
        // ProbeRTT, if it lasts, restores it at its end.
        self.prior_cwnd = self.prior_cwnd.max(undo.cwnd);
        self.restore_cwnd();
        self.signals.is_loss_in_round = false;
        self.full_bw.reset(Rate::ZERO);
        self.bounds = self.bounds.max(undo.bounds);
        let is_probe_rtt = self.state.is_probe_rtt();
        match undo.state {
            UndoState::Startup if self.state != State::Startup => {
                self.full_bw.reached = false;
                if !is_probe_rtt {
                    self.enter_startup();
                }
            }
            UndoState::ProbeBwUp if !matches!(self.state, State::ProbeBwUp { .. }) && !is_probe_rtt => {
                self.start_probe_bw_refill(path);
            }
            UndoState::None | UndoState::Startup | UndoState::ProbeBwUp => {}
        }
    }
}
