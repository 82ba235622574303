//! `UpdateWindowedMaxFilter()`: the largest of recent values, in a fixed amount of memory.
//!
//! Kathleen Nichols' algorithm, which section 5.5.5 names: besides the largest value of the window it keeps the largest of what came
//! after it and the largest of what came after that, so that there is a successor when the largest becomes too old.

/// A value and when it was seen. Times are counts that never go back (rounds).
#[derive(Clone, Copy)]
struct Sample {
    time: u16,
    value: u32,
}

impl Sample {
    /// Whether it is outside of the window of `len` counts that ends with, and contains, `time`.
    const fn is_out(&self, time: u16, len: u16) -> bool {
        time.wrapping_sub(self.time) >= len
    }
}

/// A windowed maximum: the largest value, the largest since, and the largest since that. Values above 2^32 - 1 count as that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct WindowedMax {
    values: [u32; 3],
    times: [u16; 3],
}

impl WindowedMax {
    pub(crate) const fn get(&self) -> u64 {
        let [best, ..] = self.values;
        best as u64
    }

    /// Takes a value in; the answer is the largest of the last `len` counts (at least 1). Counts are kept modulo 2^16: there must
    /// be a value for each.
    pub(crate) fn update(&mut self, value: u64, time: u64, len: u64) -> u64 {
        let time = u16::try_from(time & u64::from(u16::MAX)).unwrap_or(0);
        let len = u16::try_from(len).unwrap_or(u16::MAX).max(1);
        let new = Sample { time, value: u32::try_from(value).unwrap_or(u32::MAX) };
        let value = new.value;
        let [mut first, mut second, mut third] = self.samples();
        if value >= first.value || third.is_out(time, len) {
            // Nothing of what was seen before can be the largest of any later window.
            self.set([new; 3]);
            return self.get();
        }
        if value >= second.value {
            (second, third) = (new, new);
        } else if value >= third.value {
            third = new;
        }
        // Give up what left the window.
        if first.is_out(time, len) {
            (first, second, third) = (second, third, new);
            if first.is_out(time, len) {
                (first, second) = (second, third);
            }
        } else if second.time == first.time && first.is_out(time, len.div_ceil(4)) {
            // A quarter of the window without a second: take one, so that a successor is not older than needed.
            (second, third) = (new, new);
        } else if third.time == second.time && second.is_out(time, len.div_ceil(2)) {
            third = new;
        }
        self.set([first, second, third]);
        self.get()
    }

    fn samples(&self) -> [Sample; 3] {
        let ([a, b, c], [at_a, at_b, at_c]) = (self.values, self.times);
        [Sample { time: at_a, value: a }, Sample { time: at_b, value: b }, Sample { time: at_c, value: c }]
    }

    fn set(&mut self, samples: [Sample; 3]) {
        self.values = samples.map(|sample| sample.value);
        self.times = samples.map(|sample| sample.time);
    }
}

#[cfg(test)]
mod tests {
    use super::WindowedMax;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_window_of_one_holds_the_current_count_only() {
        let mut filter = WindowedMax::default();
        assert_eq!(filter.update(9, 1, 1), 9);
        assert_eq!(filter.update(5, 1, 1), 9);
        assert_eq!(filter.update(4, 2, 1), 4);
    }

    #[test]
    fn the_largest_stays_for_the_whole_window_and_no_longer() {
        let mut filter = WindowedMax::default();
        filter.update(100, 0, 10);
        for time in 1..10 {
            assert_eq!(filter.update(7, time, 10), 100, "at {time}");
        }
        assert_eq!(filter.update(7, 10, 10), 7);
        assert_eq!(filter.get(), 7);
    }

    #[test]
    fn the_successor_is_the_largest_since() {
        let mut filter = WindowedMax::default();
        for (time, value) in [(0, 100), (4, 50), (9, 20), (10, 1)] {
            filter.update(value, time, 10);
        }
        // 100 of count 0 is out at 10. 50 came more than a quarter of the window after it and is in until 13; 20 came half
        // a window after that.
        assert_eq!(filter.get(), 50);
        assert_eq!(filter.update(1, 13, 10), 50);
        assert_eq!(filter.update(1, 14, 10), 20);
    }

    #[test]
    fn counts_may_wrap_at_16_bits_and_values_saturate_at_32() {
        let mut filter = WindowedMax::default();
        let wrap = 1_u64 << 16;
        filter.update(100, wrap - 1, 10);
        assert_eq!(filter.update(7, wrap + 8, 10), 100);
        assert_eq!(filter.update(7, wrap + 9, 10), 7);
        assert_eq!(filter.update(u64::MAX, wrap + 9, 10), 4_294_967_295);
    }

    proptest! {
        #[test]
        fn it_lies_between_the_newest_value_and_the_true_maximum(
            steps in proptest::collection::vec((0..4_u64, 0..1_000_u64), 1..200), len in 1..12_u64,
        ) {
            let mut filter = WindowedMax::default();
            let (mut time, mut seen) = (1, Vec::new());
            for (step, value) in steps {
                time += step;
                seen.push((time, value));
                let got = filter.update(value, time, len);
                let true_max = seen.iter().filter(|(at, _)| time - at < len).map(|(_, value)| *value).max();
                prop_assert!(got >= value && Some(got) <= true_max, "{got} of {true_max:?}");
            }
        }
    }
}
