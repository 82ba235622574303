//! The average fraction of CE marks (`c4_update_ecn_alpha`), similar to that of TCP Prague.

use crate::constants::{ECN_JUMP, ONE};
use cc_core::{EcnCodepoint, EcnEvent, division};

/// The average, and the marks since it was last updated.
///
/// The reference keeps the totals last seen and takes differences; events give increases, so that the sums of
/// increases since the last update are the same thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EcnAverage {
    codepoint: EcnCodepoint,
    /// `ecn_alpha`, of 1024.
    alpha: u32,
    ect1: u32,
    ce: u32,
}

impl EcnAverage {
    pub(crate) const fn new(codepoint: EcnCodepoint) -> Self {
        Self { codepoint, alpha: 0, ect1: 0, ce: 0 }
    }

    /// Average CE fraction of 1024.
    pub(crate) const fn alpha(&self) -> u32 {
        self.alpha
    }

    /// Forgets the average, not the marks (entering Initial, end of Recovery).
    pub(crate) const fn clear_average(&mut self) {
        self.alpha = 0;
    }

    pub(crate) const fn set_codepoint(&mut self, codepoint: EcnCodepoint) {
        self.codepoint = codepoint;
        if matches!(codepoint, EcnCodepoint::NotEct) {
            (self.ect1, self.ce) = (0, 0);
        }
    }

    /// Adds the marks of one frame; whether the CE count rose.
    pub(crate) fn add(&mut self, event: &EcnEvent) -> bool {
        if self.codepoint == EcnCodepoint::NotEct {
            return false;
        }
        // RFC 9000 section 13.4.2: no more marks than packets.
        let ce = count(event.marks());
        let ect1 = match (event.ect1, event.newly_acked) {
            (Some(ect1), _) => count(ect1),
            (None, Some(newly_acked)) if self.codepoint == EcnCodepoint::Ect1 => {
                count(newly_acked).saturating_sub(ce)
            }
            _ => 0,
        };
        self.ect1 = self.ect1.saturating_add(ect1);
        self.ce = self.ce.saturating_add(ce);
        ce > 0
    }

    /// Takes the marks since the last update into the average: a jump to half or more at once, else 1/16.
    pub(crate) fn update(&mut self) {
        let (ce, ect1) = (u64::from(self.ce), u64::from(self.ect1));
        (self.ect1, self.ce) = (0, 0);
        // ce < 2^32: the product is exact. Both zero: no division, and no change.
        let marks = ce.saturating_add(ect1);
        let Some(fraction) = division::checked(ce.saturating_mul(u64::from(ONE)), marks) else {
            return;
        };
        let fraction = u32::try_from(fraction).unwrap_or(ONE);
        self.alpha = if fraction > self.alpha && fraction >= ECN_JUMP {
            fraction
        } else {
            self.alpha.saturating_mul(15).saturating_add(fraction) >> 4
        };
    }
}

/// Packets are counted with 32 bits.
fn count(packets: u64) -> u32 {
    u32::try_from(packets).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::EcnAverage;
    use cc_core::{EcnCodepoint, EcnEvent};

    fn marks(ce: u64, ect1: u64) -> EcnEvent {
        EcnEvent { ce: Some(ce), ect1: Some(ect1), ..EcnEvent::default() }
    }

    fn with_alpha(alpha: u32) -> EcnAverage {
        EcnAverage { alpha, ..EcnAverage::new(EcnCodepoint::Ect1) }
    }

    fn updated(mut ecn: EcnAverage, event: &EcnEvent) -> u32 {
        ecn.add(event);
        ecn.update();
        ecn.alpha()
    }

    #[test]
    fn without_marks_it_is_unchanged() {
        assert_eq!(updated(with_alpha(300), &marks(0, 0)), 300);
    }

    #[test]
    fn a_fraction_below_half_counts_a_sixteenth_rounded_down() {
        // 1024 * 1/4 = 256; (15 * 0 + 256)/16 = 16
        assert_eq!(updated(with_alpha(0), &marks(1, 3)), 16);
        // 1024 * 1/3 = 341; (15 * 100 + 341)/16 = 115.06
        assert_eq!(updated(with_alpha(100), &marks(1, 2)), 115);
        // No CE: (15 * 100 + 0)/16 = 93.75
        assert_eq!(updated(with_alpha(100), &marks(0, 9)), 93);
    }

    #[test]
    fn a_fraction_of_half_or_more_above_the_average_replaces_it() {
        assert_eq!(updated(with_alpha(100), &marks(1, 1)), 512);
        // Just below half: 1024 * 499/999 = 511.49; (15 * 100 + 511)/16 = 125.69
        assert_eq!(updated(with_alpha(100), &marks(499, 500)), 125);
        // Not above the average: (15 * 600 + 512)/16 = 594.5
        assert_eq!(updated(with_alpha(600), &marks(1, 1)), 594);
        assert_eq!(updated(with_alpha(512), &marks(1, 1)), 512);
    }

    #[test]
    fn marks_are_summed_until_the_next_update_and_used_once() {
        let mut ecn = with_alpha(0);
        ecn.add(&marks(0, 2));
        ecn.add(&marks(1, 1)); // together 1 of 4
        ecn.update();
        assert_eq!(ecn.alpha(), 16);
        ecn.update();
        assert_eq!(ecn.alpha(), 16);
    }

    #[test]
    fn ce_is_clamped_to_newly_acked() {
        // 50 marks for 3 packets count as 3: 3 of 12, 256/16 = 16
        let event = EcnEvent { ce: Some(50), ect1: Some(9), newly_acked: Some(3), ..EcnEvent::default() };
        assert_eq!(updated(with_alpha(0), &event), 16);
        let none = EcnEvent { ce: Some(50), newly_acked: Some(0), ..EcnEvent::default() };
        assert!(!with_alpha(0).add(&none));
    }

    #[test]
    fn on_ect0_any_mark_is_a_fraction_of_one() {
        let mut ecn = EcnAverage::new(EcnCodepoint::Ect0);
        ecn.add(&EcnEvent { ce: Some(1), ect0: Some(9), newly_acked: Some(10), ..EcnEvent::default() });
        ecn.update();
        assert_eq!(ecn.alpha(), 1_024);
    }

    #[test]
    fn unknown_ect1_is_what_was_acked_without_a_mark() {
        // 1 of 4 newly acked
        let event = EcnEvent { ce: Some(1), newly_acked: Some(4), ..EcnEvent::default() };
        assert_eq!(updated(with_alpha(0), &event), 16);
    }

    #[test]
    fn after_failed_validation_nothing_counts() {
        let mut ecn = with_alpha(0);
        ecn.add(&marks(5, 0));
        ecn.set_codepoint(EcnCodepoint::NotEct);
        assert!(!ecn.add(&marks(5, 0)));
        ecn.update();
        assert_eq!(ecn.alpha(), 0);
        // Nor do the marks from before, if ECN is used again: 1 of 4 is 256/16.
        ecn.set_codepoint(EcnCodepoint::Ect1);
        assert_eq!(updated(ecn, &marks(1, 3)), 16);
    }

    #[test]
    fn absurd_counts_stay_a_fraction() {
        assert_eq!(updated(with_alpha(0), &marks(u64::MAX, 0)), 1_024);
        assert_eq!(updated(with_alpha(0), &marks(u64::MAX, u64::MAX)), 512);
    }
}
