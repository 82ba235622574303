//! What must hold after every event.

use super::Checks;
use super::once::Decreases;
use crate::run::Outputs;
use crate::stack::{Outcome, Part};
use crate::subject::{Family, Subject};
use cc_core::{MtuChange, PathChange, Rate};

/// Largest send quantum, bytes (U2).
pub(super) const MAX_QUANTUM: u64 = 65_536;

/// What kind of event it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// Nothing that may change the window.
    Quiet,
    /// Acks, losses, marks.
    Frame,
    /// The RTT sample of a frame that acked something.
    Measured,
    Mtu(MtuChange),
    Path(PathChange),
    Resume,
    Undo,
}

pub(crate) struct Observed<'a> {
    pub(crate) cause: Cause,
    pub(crate) outcome: &'a Outcome,
    pub(crate) next_number: u64,
    pub(crate) mss: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    family: Family,
    checks: Checks,
    max_window: u64,
    decreases: Decreases,
}

impl Monitor {
    pub(crate) fn new<C>(subject: &Subject<C>, checks: Checks) -> Self {
        Self {
            family: subject.family,
            checks,
            max_window: subject.max_window,
            decreases: Decreases::new(subject.beta_loss.min(subject.beta_ce)),
        }
    }

    pub(crate) const fn with_checks(mut self, checks: Checks) -> Self {
        self.checks = checks;
        self
    }

    pub(crate) const fn family(&self) -> Family {
        self.family
    }

    /// Frames and timers with losses or marks that lowered the window.
    pub(crate) const fn reductions(&self) -> u64 {
        self.decreases.count()
    }

    pub(crate) fn check(
        &mut self,
        before: &Outputs,
        after: &Outputs,
        observed: &Observed<'_>,
    ) -> Result<(), String> {
        self.outputs(after, observed.mss)?;
        self.growth(before, after, observed)?;
        self.signals(observed)?;
        // Counted in any case.
        let once = self.decreases.observe(before, after, observed);
        if self.family == Family::LossBased && self.checks.once { once } else { Ok(()) }
    }

    /// U1 and U2.
    pub(crate) fn outputs(&self, outputs: &Outputs, mss: u64) -> Result<(), String> {
        if self.checks.bounds {
            let least = mss.saturating_mul(2);
            if outputs.cwnd < least {
                return Err(format!("U1: cwnd {} is below two datagrams, {least}", outputs.cwnd));
            }
            if outputs.cwnd > self.max_window.max(least) {
                return Err(format!("U1: cwnd {} is above the maximum, {}", outputs.cwnd, self.max_window));
            }
        }
        if self.checks.outputs {
            if outputs.pacing.is_some_and(Rate::is_zero) {
                return Err("U2: the pacing rate is zero".into());
            }
            if outputs.quantum < mss.min(MAX_QUANTUM) || outputs.quantum > MAX_QUANTUM {
                return Err(format!("U2: the send quantum is {}", outputs.quantum));
            }
        }
        Ok(())
    }

    /// U4.
    fn growth(&self, before: &Outputs, after: &Outputs, observed: &Observed<'_>) -> Result<(), String> {
        if !self.checks.growth {
            return Ok(());
        }
        let outcome = observed.outcome;
        let acked_nothing = outcome.acked == 0 && outcome.late == 0;
        let may_grow = match observed.cause {
            // The floor follows the datagram; a handshake computes the initial window anew.
            Cause::Mtu(change) => {
                change == MtuChange::Handshake || after.cwnd <= observed.mss.saturating_mul(2)
            }
            Cause::Path(_) | Cause::Resume | Cause::Undo | Cause::Measured => true,
            // BBR may find on a send after idle that ProbeRTT is over.
            Cause::Quiet => before.phase == "probe_rtt",
            Cause::Frame => !acked_nothing,
        };
        if after.cwnd > before.cwnd && !may_grow {
            return Err(format!("U4: cwnd grew from {} to {} without an ack", before.cwnd, after.cwnd));
        }
        let has_signal = outcome.lost > 0 || outcome.marks > 0 || outcome.persistent;
        let may_shrink =
            has_signal || !matches!(observed.cause, Cause::Quiet | Cause::Frame | Cause::Measured);
        if self.family == Family::LossBased && after.cwnd < before.cwnd && !may_shrink {
            return Err(format!("U4: cwnd fell from {} to {} without a signal", before.cwnd, after.cwnd));
        }
        Ok(())
    }

    /// U6.
    fn signals(&self, observed: &Observed<'_>) -> Result<(), String> {
        if !self.checks.signals {
            return Ok(());
        }
        for call in &observed.outcome.calls {
            let is_signal = match call.part {
                Part::Loss => true,
                Part::Ecn => observed.outcome.marks > 0,
                Part::Rtt | Part::Ack => false,
            };
            let ((cwnd, rate), (cwnd_after, rate_after)) = (call.before, call.after);
            let rate_rose = match (rate, rate_after) {
                (Some(rate), Some(after)) => after > rate,
                // No pacing is the highest rate.
                (Some(_), None) => true,
                (None, _) => false,
            };
            if is_signal && (cwnd_after > cwnd || rate_rose) {
                return Err(format!(
                    "U6: {:?} raised window or rate: {cwnd} {rate:?} to {cwnd_after} {rate_after:?}",
                    call.part
                ));
            }
        }
        Ok(())
    }
}
