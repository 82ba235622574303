//! The ECN field of a datagram, the counts of it in ACK frames, and the sender's validation of them.

use cc_core::{EcnCodepoint, EcnCounts};

/// ECN field of a datagram (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not ECN-capable transport.
    #[default]
    NotEct,
    /// ECN-capable transport, with the classic meaning of marks.
    Ect0,
    /// ECN-capable transport, with the meaning of L4S (RFC 9331).
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl From<EcnCodepoint> for Ecn {
    fn from(codepoint: EcnCodepoint) -> Self {
        match codepoint {
            EcnCodepoint::NotEct => Self::NotEct,
            EcnCodepoint::Ect0 => Self::Ect0,
            EcnCodepoint::Ect1 => Self::Ect1,
        }
    }
}

/// Packets of the 1-RTT space that arrived with each codepoint (RFC 9000 section 19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) ect0: u64,
    pub(super) ect1: u64,
    pub(super) ce: u64,
}

impl From<Counts> for EcnCounts {
    fn from(Counts { ect0, ect1, ce }: Counts) -> Self {
        Self { ce, ect0, ect1 }
    }
}

impl Counts {
    pub(super) fn add(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ect0 += 1,
            Ecn::Ect1 => self.ect1 += 1,
            Ecn::Ce => self.ce += 1,
        }
    }

    /// Whether there is anything to report.
    pub(super) fn any(self) -> bool {
        self != Self::default()
    }
}

/// The sender's side of ECN in the 1-RTT space: which codepoint it sends, and whether the path and the peer keep their part
/// (RFC 9000 section 13.4.2).
#[derive(Debug)]
pub(super) struct Validation {
    /// The codepoint in use; not-ECT after failed validation.
    codepoint: EcnCodepoint,
    /// Packets sent with it.
    sent: u64,
    /// Of these, how many were declared lost before the first of them was acknowledged.
    lost: u64,
    /// Whether one of them was acknowledged.
    any_acked: bool,
    /// Packets sent with it that the frame at hand newly acknowledges.
    newly_acked: u64,
    /// Largest packet number acknowledged.
    largest: Option<u64>,
    /// The newest counts.
    counts: Counts,
}

/// What the counts of an ACK frame say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing: ECN is not used, or the frame does not raise the largest acknowledged.
    None,
    /// They have risen by this.
    Valid(EcnCounts),
    /// ECN does not work on the path: no more of it.
    Failed,
}

impl Validation {
    /// RFC 9000 section 13.4.2: as many packets are sent with ECT at first; if all of them get lost, the codepoint may be why.
    const PROBES: u64 = 10;

    pub(super) fn new(codepoint: EcnCodepoint) -> Self {
        Self {
            codepoint,
            sent: 0,
            lost: 0,
            any_acked: false,
            newly_acked: 0,
            largest: None,
            counts: Counts::default(),
        }
    }

    /// Codepoint of the next datagram.
    pub(super) fn codepoint(&self) -> EcnCodepoint {
        self.codepoint
    }

    /// A 1-RTT packet is sent; whether it carries the codepoint.
    pub(super) fn on_sent(&mut self) -> bool {
        let marked = self.codepoint != EcnCodepoint::NotEct;
        self.sent += u64::from(marked);
        marked
    }

    /// The frame at hand newly acknowledges a packet that was sent with the codepoint.
    pub(super) fn on_acked(&mut self) {
        self.newly_acked += 1;
        self.any_acked = true;
    }

    /// A packet that was sent with the codepoint is declared lost; whether ECN is given up for it.
    pub(super) fn on_lost(&mut self) -> bool {
        self.lost += u64::from(!self.any_acked);
        self.lost >= Self::PROBES && self.fail()
    }

    /// The frame, which acknowledges `largest` and something new, is read.
    pub(super) fn on_frame(&mut self, largest: u64, counts: Option<Counts>) -> Verdict {
        let newly_acked = std::mem::take(&mut self.newly_acked);
        if self.codepoint == EcnCodepoint::NotEct {
            return Verdict::None;
        }
        // RFC 9000 section 13.4.2.1: frames that came out of order are not looked at, their packets count with the next.
        if self.largest.is_some_and(|before| largest <= before) {
            self.newly_acked = newly_acked;
            return Verdict::None;
        }
        self.largest = Some(largest);
        let Some(counts) = counts else {
            // Without counts nothing may be newly acknowledged that was sent with ECT.
            return if newly_acked > 0 && self.fail() { Verdict::Failed } else { Verdict::None };
        };
        let before = self.counts;
        let (Some(ect0), Some(ect1), Some(ce)) = (
            counts.ect0.checked_sub(before.ect0),
            counts.ect1.checked_sub(before.ect1),
            counts.ce.checked_sub(before.ce),
        ) else {
            // Counts never fall (RFC 9000 section 13.4.1).
            self.fail();
            return Verdict::Failed;
        };
        let (risen, sent0, sent1) = match self.codepoint {
            EcnCodepoint::Ect0 => (ect0, self.sent, 0),
            EcnCodepoint::Ect1 => (ect1, 0, self.sent),
            EcnCodepoint::NotEct => (0, 0, 0),
        };
        // What was sent with the codepoint has come with it or as CE, and nothing has come with one that was not sent.
        if risen.saturating_add(ce) < newly_acked || counts.ect0 > sent0 || counts.ect1 > sent1 {
            self.fail();
            return Verdict::Failed;
        }
        self.counts = counts;
        Verdict::Valid(EcnCounts { ce, ect0, ect1 })
    }

    /// Stops using ECN; whether it was in use.
    fn fail(&mut self) -> bool {
        std::mem::take(&mut self.codepoint) != EcnCodepoint::NotEct
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Ecn, Validation, Verdict};
    use cc_core::{EcnCodepoint, EcnCounts};

    /// A sender that has sent `sent` packets with `codepoint`.
    fn sender(codepoint: EcnCodepoint, sent: u64) -> Validation {
        let mut validation = Validation::new(codepoint);
        assert_eq!((0..sent).filter(|_| validation.on_sent()).count() as u64, sent);
        validation
    }

    fn frame(validation: &mut Validation, largest: u64, acked: u64, counts: Option<Counts>) -> Verdict {
        (0..acked).for_each(|_| validation.on_acked());
        validation.on_frame(largest, counts)
    }

    fn counts(ect0: u64, ect1: u64, ce: u64) -> Option<Counts> {
        Some(Counts { ect0, ect1, ce })
    }

    #[test]
    fn each_codepoint_is_counted_for_itself() {
        let mut all = Counts::default();
        assert!(!all.any());
        for ecn in [Ecn::Ce, Ecn::Ect0, Ecn::NotEct, Ecn::Ce, Ecn::Ect1, Ecn::Ce] {
            all.add(ecn);
        }
        assert_eq!(all, Counts { ect0: 1, ect1: 1, ce: 3 });
    }

    #[test]
    fn increases_of_the_counts_are_handed_on() {
        let mut validation = sender(EcnCodepoint::Ect1, 10);
        let verdict = frame(&mut validation, 3, 4, counts(0, 3, 1));
        assert_eq!(verdict, Verdict::Valid(EcnCounts { ce: 1, ect0: 0, ect1: 3 }));
        // Six more, two of them marked; an ACK got lost in between, so that more were counted than this one acknowledges.
        let verdict = frame(&mut validation, 9, 5, counts(0, 7, 3));
        assert_eq!(verdict, Verdict::Valid(EcnCounts { ce: 2, ect0: 0, ect1: 4 }));
        assert_eq!(validation.codepoint(), EcnCodepoint::Ect1);
    }

    #[test]
    fn a_frame_that_does_not_raise_the_largest_acknowledged_is_not_looked_at() {
        let mut validation = sender(EcnCodepoint::Ect0, 10);
        assert!(matches!(frame(&mut validation, 5, 3, counts(3, 0, 0)), Verdict::Valid(_)));
        assert_eq!(frame(&mut validation, 5, 2, counts(0, 0, 0)), Verdict::None);
        // The two count with the next: 3 of 2 + 2 have been counted, so one was bleached.
        assert_eq!(frame(&mut validation, 7, 2, counts(6, 0, 0)), Verdict::Failed);
    }

    #[test]
    fn validation_fails_as_rfc_9000_section_13_4_2_1_says() {
        for (codepoint, acked, reported) in [
            // No counts.
            (EcnCodepoint::Ect1, 1, None),
            // Fewer than acknowledged: bleached.
            (EcnCodepoint::Ect1, 4, counts(0, 2, 1)),
            (EcnCodepoint::Ect0, 4, counts(3, 0, 0)),
            // The other codepoint: remarked.
            (EcnCodepoint::Ect1, 4, counts(4, 0, 0)),
            (EcnCodepoint::Ect0, 4, counts(4, 1, 0)),
            // More than were sent.
            (EcnCodepoint::Ect1, 4, counts(0, 11, 0)),
        ] {
            let mut validation = sender(codepoint, 10);
            assert_eq!(frame(&mut validation, 3, acked, reported), Verdict::Failed, "{reported:?}");
            assert_eq!(validation.codepoint(), EcnCodepoint::NotEct);
            assert!(!validation.on_sent(), "no more of it");
            assert_eq!(frame(&mut validation, 9, 6, counts(0, 6, 0)), Verdict::None, "and no more marks");
        }
        // A count that falls.
        let mut validation = sender(EcnCodepoint::Ect1, 10);
        assert!(matches!(frame(&mut validation, 3, 4, counts(0, 3, 1)), Verdict::Valid(_)));
        assert_eq!(frame(&mut validation, 6, 3, counts(0, 7, 0)), Verdict::Failed);
    }

    #[test]
    fn a_path_that_loses_the_first_ten_packets_gets_no_more_of_them() {
        let mut validation = sender(EcnCodepoint::Ect1, 12);
        assert!((0..9).all(|_| !validation.on_lost()));
        assert!(validation.on_lost());
        assert_eq!(validation.codepoint(), EcnCodepoint::NotEct);
        assert!(!validation.on_lost(), "once");
        let mut validation = sender(EcnCodepoint::Ect1, 30);
        frame(&mut validation, 0, 1, counts(0, 1, 0));
        assert!((0..20).all(|_| !validation.on_lost()), "one has arrived");
    }
}
