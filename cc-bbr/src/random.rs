//! Random numbers of the probing schedule (section 5.3.3.8), from a seed: the same seed gives the same decisions.

use cc_core::Duration;

/// SplitMix64 (Steele, Lea and Flood 2014): 64 bits of state, every seed is as good as any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// 0 or 1.
    pub(crate) const fn bit(&mut self) -> u64 {
        self.next() >> 63
    }

    /// From zero up to and without `span`, which is taken as at most 4.29 s.
    pub(crate) const fn below(&mut self, span: Duration) -> Duration {
        // The product of two 32-bit numbers, scaled down: exact to 1/2^32.
        let nanos = if span.as_nanos() < 1 << 32 { span.as_nanos() } else { (1 << 32) - 1 };
        Duration::from_nanos((self.next() >> 32).saturating_mul(nanos) >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;
    use cc_core::Duration;

    #[test]
    fn it_is_splitmix64() {
        // The first number for seed 1234567 of the published generator.
        assert_eq!(Random::new(1_234_567).next(), 6_457_827_717_110_365_317);
    }

    #[test]
    fn numbers_spread_over_their_range() {
        let mut random = Random::new(7);
        let second = Duration::from_secs(1);
        let (mut ones, mut sum) = (0, 0);
        for _ in 0..1_000 {
            ones += random.bit();
            let span = random.below(second);
            assert!(span < second);
            sum += span.as_millis();
        }
        assert!((400..600).contains(&ones), "{ones}");
        assert!((450_000..550_000).contains(&sum), "{sum}");
    }

    #[test]
    fn a_long_span_is_taken_as_4_29_seconds() {
        let mut random = Random::new(7);
        let largest = (0..1_000).map(|_| random.below(Duration::from_secs(10))).max();
        assert!(largest.is_some_and(|span| (4_250..4_295).contains(&span.as_millis())), "{largest:?}");
    }

    #[test]
    fn an_empty_span_gives_zero() {
        assert_eq!(Random::new(1).below(Duration::ZERO), Duration::ZERO);
    }
}
