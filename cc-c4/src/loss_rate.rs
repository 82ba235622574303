//! The average loss rate by packet number (`c4_update_loss_rate`).

use cc_core::Instant;

/// A fraction of one with 40 fractional bits; results of every step are rounded down.
///
/// The reference uses `double`. Over 1024 the average would drift low; with 40 bits 32 decays lose less than
/// 32 * 2^-40, about 3 * 10^-11.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct LossFraction(u64);

impl LossFraction {
    const BITS: u32 = 40;
    const ONE: u64 = 1 << Self::BITS;

    /// `numerator / denominator`, at most one. For denominators that are known when it is compiled.
    #[inline(always)]
    pub(crate) const fn ratio(numerator: u64, denominator: u64) -> Self {
        match numerator.saturating_mul(Self::ONE).checked_div(denominator) {
            Some(bits) if bits < Self::ONE => Self(bits),
            _ => Self(Self::ONE),
        }
    }

    /// The sum, at most one.
    pub(crate) const fn plus(self, other: Self) -> Self {
        let sum = self.0.saturating_add(other.0);
        if sum < Self::ONE { Self(sum) } else { Self(Self::ONE) }
    }

    /// `15/16` of it.
    const fn decayed(self) -> Self {
        // At most 15 * 2^40.
        Self(self.0.wrapping_mul(15) >> 4)
    }

    /// `(1 - it) / 16` more.
    const fn raised(self) -> Self {
        Self(self.0.saturating_add(Self::ONE.saturating_sub(self.0) >> 4))
    }

    #[cfg(test)]
    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    pub(crate) fn to_f64(self) -> f64 {
        self.0 as f64 / Self::ONE as f64
    }
}

/// How many packet numbers back a loss is averaged (picoquic `PICOQUIC_SMOOTHED_LOSS_SCOPE`).
const SCOPE: u64 = 32;

/// The average and where it stands.
///
/// A loss both decays and raises it, so that with all packets lost it tends to 16/31, about 51.6 %. At rates without
/// sensitivity, where the threshold is 52 %, losses are therefore never congestion. So it is in the reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LossRate {
    average: LossFraction,
    /// Number of the last packet counted as lost; starts at 0.
    last_number: u64,
    /// Its send time, for stacks without numbers; zero before the first.
    last_sent_at: Instant,
    /// Packets acked since, for stacks without numbers: they took the numbers in between.
    acked_since: u32,
}

impl LossRate {
    pub(crate) const fn average(&self) -> LossFraction {
        self.average
    }

    /// Forgets the average; the last lost number stays (end of Recovery).
    pub(crate) const fn clear_average(&mut self) {
        self.average = LossFraction(0);
    }

    /// An average of so many 2^-40 after the loss of a number.
    #[cfg(test)]
    pub(crate) fn of_bits(bits: u64, last_number: u64) -> Self {
        Self { average: LossFraction(bits), last_number, ..Self::default() }
    }

    pub(crate) const fn on_acked(&mut self, packets: u32) {
        self.acked_since = self.acked_since.saturating_add(packets);
    }

    /// Takes the loss of one packet. Decays once for every number since the last one, at most 32 times.
    pub(crate) fn on_lost(&mut self, number: Option<u64>, sent_at: Instant) {
        let number = match number {
            Some(number) => number,
            None if sent_at < self.last_sent_at => return,
            None => self.last_number.saturating_add(u64::from(self.acked_since.saturating_add(1))),
        };
        let Some(distance) = number.checked_sub(self.last_number).filter(|&distance| distance > 0) else {
            return; // not greater than the last: the average stays as it is
        };
        for _ in 0..distance.min(SCOPE) {
            self.average = self.average.decayed();
        }
        self.average = self.average.raised();
        self.last_number = number;
        self.last_sent_at = sent_at;
        self.acked_since = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{LossFraction, LossRate};
    use approx::assert_relative_eq;
    use cc_core::Instant;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    fn after(numbers: &[u64]) -> f64 {
        let mut loss = LossRate::default();
        for &number in numbers {
            loss.on_lost(Some(number), at(number));
        }
        loss.average().to_f64()
    }

    #[test]
    fn first_loss_makes_it_a_sixteenth() {
        assert_relative_eq!(after(&[1]), 0.0625);
        assert_relative_eq!(after(&[1_000_000]), 0.0625);
    }

    #[test]
    fn decays_once_for_every_number_since_the_last_loss() {
        // next number: 0.0625 * 15/16 = 0.05859375; + (1 - 0.05859375)/16 = 0.1174316
        assert_relative_eq!(after(&[7, 8]), 0.117_431_640_625, epsilon = 1e-10);
        // three numbers on: 0.0625 * (15/16)^3 = 0.0514984; + (1 - that)/16 = 0.1107797
        assert_relative_eq!(after(&[7, 10]), 0.110_779_762_27, epsilon = 1e-10);
    }

    #[test]
    fn decays_at_most_32_times() {
        // (15/16)^32 = 0.126789; 0.0625 * that = 0.00792431; + (1 - that)/16 = 0.0699290
        assert_relative_eq!(after(&[7, 39]), 0.069_929_0, epsilon = 1e-7);
        assert_relative_eq!(after(&[7, 40]), after(&[7, 39]));
        assert_relative_eq!(after(&[7, u64::MAX]), after(&[7, 39]));
        assert!(after(&[7, 38]) > after(&[7, 39]));
    }

    #[test]
    fn a_number_that_is_not_greater_leaves_it_alone() {
        assert_relative_eq!(after(&[7, 7]), 0.0625);
        assert_relative_eq!(after(&[7, 3]), 0.0625);
        // The last number starts at 0: the loss of packet 0 is not greater.
        assert_relative_eq!(after(&[0]), 0.0);
    }

    #[test]
    fn clearing_keeps_the_last_number() {
        let mut loss = LossRate::default();
        loss.on_lost(Some(7), at(7));
        loss.clear_average();
        loss.on_lost(Some(6), at(6));
        assert_relative_eq!(loss.average().to_f64(), 0.0);
        loss.on_lost(Some(8), at(8));
        assert_relative_eq!(loss.average().to_f64(), 0.0625);
    }

    #[test]
    fn with_all_packets_lost_it_tends_to_16_of_31() {
        // x = d + (1 - d)/16 with d = 15/16 x: x * (1 - 225/256) = 1/16, x = 16/31 = 0.516129
        let all: std::vec::Vec<u64> = (1..1_000).collect();
        assert_relative_eq!(after(&all), 16.0 / 31.0, epsilon = 1e-9);
    }

    #[test]
    fn without_numbers_the_packets_acked_since_take_their_place() {
        let mut loss = LossRate::default();
        loss.on_lost(None, at(10));
        loss.on_acked(2);
        loss.on_lost(None, at(20));
        assert_relative_eq!(loss.average().to_f64(), after(&[1, 4]));
        // Sent before the last counted loss: out of order.
        loss.on_lost(None, at(19));
        assert_relative_eq!(loss.average().to_f64(), after(&[1, 4]));
        // Sent at the same time (one burst): the next packet.
        loss.on_lost(None, at(20));
        assert_relative_eq!(loss.average().to_f64(), after(&[1, 4, 5]));
    }

    #[test]
    fn fractions_saturate_at_one() {
        assert_relative_eq!(LossFraction::ratio(3, 2).to_f64(), 1.0);
        assert_relative_eq!(LossFraction::ratio(u64::MAX, 0).to_f64(), 1.0);
        assert_relative_eq!(LossFraction::ratio(3, 4).plus(LossFraction::ratio(3, 4)).to_f64(), 1.0);
    }
}
