//! What a controller's outputs allow a stack to send.

use crate::run::Outputs;
use cc_core::{Instant, Rate};

const NANOS_PER_SEC: i128 = 1_000_000_000;
/// What is sent beyond this much debt is forgotten, in bytes: a row of probes must not block a sender for long.
const MAX_DEBT: i128 = 65_535;

/// By how much a packet exceeded what was allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Excess {
    pub(crate) of_window: bool,
    pub(crate) of_pace: bool,
}

/// A bucket that fills at the pacing rate up to the send quantum, written independently of [`cc_core::Pacer`].
///
/// A stack need not look at the rate when it changes, only when it sends. So what has accrued between two packets is counted
/// at the highest rate that was in force.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowance {
    /// Bytes times 10^9, just after the last packet; `None` before the first one.
    credit: Option<i128>,
    last: Instant,
    /// The highest rate since; `None` if there was a time without pacing.
    rate: Option<Rate>,
    /// The largest quantum since, bytes.
    quantum: u64,
}

impl Allowance {
    /// These outputs were in force up to now.
    pub(crate) fn note(&mut self, outputs: &Outputs) {
        self.rate = self.rate.zip(outputs.pacing).map(|(highest, rate)| highest.max(rate));
        self.quantum = self.quantum.max(outputs.quantum);
    }

    /// A packet is sent. One datagram beyond is within the bounds: many stacks look at the flight before a packet only, and
    /// clocks have a resolution.
    pub(crate) fn on_sent(
        &mut self,
        now: Instant,
        outputs: &Outputs,
        size: u64,
        datagram: u64,
        beyond: bool,
    ) -> Excess {
        self.note(outputs);
        let full = bytes(self.quantum.max(datagram));
        let credit = match (self.credit, self.rate) {
            (Some(credit), Some(rate)) => {
                let elapsed = i128::from(now.since(self.last).as_nanos());
                credit.saturating_add(i128::from(rate.as_bytes_per_sec()).saturating_mul(elapsed)).min(full)
            }
            _ => full,
        };
        let needed = bytes(size.min(self.quantum).saturating_sub(datagram));
        let deepest = full.max(MAX_DEBT.saturating_mul(NANOS_PER_SEC)).saturating_neg();
        *self = Self {
            credit: Some(credit.saturating_sub(bytes(size)).max(deepest)),
            last: now.max(self.last),
            rate: outputs.pacing,
            quantum: outputs.quantum,
        };
        Excess {
            of_window: outputs.in_flight > outputs.cwnd && !beyond,
            of_pace: outputs.pacing.is_some() && credit < needed,
        }
    }
}

fn bytes(count: u64) -> i128 {
    i128::from(count).saturating_mul(NANOS_PER_SEC)
}

#[cfg(test)]
mod tests {
    use super::{Allowance, Excess};
    use crate::run::Outputs;
    use cc_core::{Instant, Rate};

    fn outputs(in_flight: u64) -> Outputs {
        Outputs {
            cwnd: 12_000,
            pacing: Some(Rate::from_bytes_per_sec(1_200_000)),
            quantum: 2_400,
            phase: "",
            startup: true,
            events: 0,
            beyond: false,
            in_flight,
        }
    }

    #[test]
    fn a_window_is_exceeded_by_more_than_a_packet_and_not_with_leave() {
        for (in_flight, beyond, of_window) in
            [(12_000, false, false), (12_001, false, true), (12_001, true, false)]
        {
            let excess =
                Allowance::default().on_sent(Instant::ZERO, &outputs(in_flight), 1_200, 1_200, beyond);
            assert_eq!(excess, Excess { of_window, of_pace: false });
        }
    }

    fn ahead(allowance: &mut Allowance, millis: u64) -> bool {
        allowance.on_sent(Instant::from_millis(millis), &outputs(0), 1_200, 1_200, false).of_pace
    }

    #[test]
    fn a_burst_is_the_quantum_and_a_datagram_and_then_one_datagram_a_millisecond() {
        let mut allowance = Allowance::default();
        // Two of the quantum and one for the tolerance; the fourth would want 1200 bytes more. It counts as sent, so that
        // two milliseconds, 2400 bytes, pay for one.
        let burst: Vec<bool> = (0..4).map(|_| ahead(&mut allowance, 0)).collect();
        assert_eq!(burst, [false, false, false, true]);
        assert!(ahead(&mut allowance, 1) && !ahead(&mut allowance, 3));
    }

    #[test]
    fn a_rate_that_was_higher_or_not_there_since_the_last_packet_counts() {
        let rate = |bytes_per_sec| Rate::from_bytes_per_sec(bytes_per_sec);
        for (pacing, is_ahead) in [(Some(rate(2_400_000)), false), (Some(rate(600_000)), true), (None, false)]
        {
            let mut allowance = Allowance::default();
            (0..3).for_each(|_| assert!(!ahead(&mut allowance, 0)));
            // 1200 bytes owed: half a millisecond at twice the rate, but a whole one at the rate itself.
            allowance.note(&Outputs { pacing, ..outputs(0) });
            let half = Instant::from_micros(500);
            assert_eq!(allowance.on_sent(half, &outputs(0), 1_200, 1_200, false).of_pace, is_ahead);
        }
    }
}
