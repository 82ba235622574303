//! U5: one multiplicative decrease for all packets sent before it.

use super::monitor::{Cause, Observed};
use crate::run::Outputs;
use cc_core::{MtuChange, PathChange};

/// A multiplicative decrease.
#[derive(Clone, Copy, Debug)]
struct Decrease {
    /// Lower numbers were sent before it, or as if before it.
    mark: u64,
    /// Window before.
    window: u64,
    /// Whether the datagram size changed in the handshake since, and with it what an undo would restore.
    resized: bool,
}

/// The decreases of a run, as far as its outputs show them.
#[derive(Clone, Debug)]
pub(super) struct Decreases {
    /// The smaller of the two factors, in percent.
    beta: u64,
    last: Option<Decrease>,
    /// The one before the last.
    earlier: Option<Decrease>,
    count: u64,
}

impl Decreases {
    pub(super) const fn new(beta: u64) -> Self {
        Self { beta, last: None, earlier: None, count: 0 }
    }

    /// Events with losses or marks that lowered the window.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// An event. The error says which packets had been answered before.
    pub(super) fn observe(
        &mut self,
        before: &Outputs,
        after: &Outputs,
        observed: &Observed<'_>,
    ) -> Result<(), String> {
        self.follow_changes(before, after, observed);
        let outcome = observed.outcome;
        let has_signal = outcome.lost > 0 || outcome.marks > 0 || outcome.persistent;
        // The newest packet that the signal is about.
        let newest = outcome.newest_lost.max(outcome.newest_acked.filter(|_| outcome.marks > 0));
        let repeated = self.last.filter(|last| newest.is_some_and(|newest| newest < last.mark));
        let floor = observed.mss.saturating_mul(2);
        if !has_signal || after.cwnd >= before.cwnd {
            if has_signal && before.cwnd <= floor && repeated.is_none() {
                // The floor hides this one.
                self.decrease(before, observed);
            }
            return Ok(());
        }
        self.count = self.count.saturating_add(1);
        if outcome.persistent || outcome.newest_lost.is_some_and(|newest| newest >= observed.next_number) {
            // Persistent congestion takes the window to its floor, whether or not the losses had been answered. And a
            // packet that was never sent belongs to no round.
            (self.last, self.earlier) = (None, None);
            return Ok(());
        }
        let Some(last) = repeated else {
            self.decrease(before, observed);
            return Ok(());
        };
        // A loss may deepen the decrease that a mark began.
        let window = last.window.min(self.deepened(self.earlier, observed));
        self.last = Some(Decrease { window, ..last });
        let least = self.share(window);
        let retreats = after.phase.contains("retreat");
        if after.cwnd < least.saturating_sub(1) && after.cwnd > floor && !retreats {
            return Err(format!(
                "U5: a second decrease for packets sent before number {}: {} to {}, window before the first {window}",
                last.mark, before.cwnd, after.cwnd
            ));
        }
        Ok(())
    }

    /// What becomes of the last decrease without a signal.
    fn follow_changes(&mut self, before: &Outputs, after: &Outputs, observed: &Observed<'_>) {
        let restores = observed.cause == Cause::Undo || observed.outcome.late > 0;
        if observed.cause == Cause::Path(PathChange::New) {
            self.last = None;
        } else if restores && after.cwnd > before.cwnd {
            // Marks of the period may keep a part of the decrease.
            self.last = match self.last {
                Some(last) if last.resized => Some(Decrease { window: after.cwnd, ..last }),
                last => last.filter(|last| after.cwnd < last.window),
            };
        }
        let Some(last) = &mut self.last else { return };
        // RFC 9002 section 7.3.2: one packet may go beyond the window on entering recovery, as if sent before that.
        if before.beyond
            && !after.beyond
            && after.in_flight > before.cwnd
            && observed.next_number == last.mark.saturating_add(1)
        {
            last.mark = observed.next_number;
        }
        if observed.cause == Cause::Mtu(MtuChange::Handshake) {
            // A smaller datagram takes down the window, and what an undo would restore: the decrease counts from there.
            last.window = last.window.min(after.cwnd);
            last.resized = true;
        }
    }

    fn decrease(&mut self, before: &Outputs, observed: &Observed<'_>) {
        let window = before.cwnd.min(self.deepened(self.last, observed));
        self.earlier = self.last;
        self.last = Some(Decrease { mark: observed.next_number, window, resized: false });
    }

    /// A frame that tells of a new period may also tell losses of the one before, which deepen its decrease if marks made
    /// it: the window from which the new one starts is at least this.
    fn deepened(&self, decrease: Option<Decrease>, observed: &Observed<'_>) -> u64 {
        decrease
            .filter(|decrease| observed.outcome.oldest_lost.is_some_and(|oldest| oldest < decrease.mark))
            .map_or(u64::MAX, |decrease| self.share(decrease.window))
    }

    const fn share(&self, window: u64) -> u64 {
        window.saturating_mul(self.beta) / 100
    }
}
