//! The cubic function `W_cubic(t) = C * (t - K)^3 + W_max` (RFC 9438 section 4.2).

use crate::bytes::FineBytes;
use cc_core::{Duration, division};

/// Time differences beyond this (2^14 s) give the same result: `C * t^3` is then above the largest window even
/// with datagrams of one byte.
const MAX_OFFSET: Duration = Duration::from_secs(1 << 14);

/// `K`: time that the curve takes from `start` bytes to its plateau at `w_max` bytes; zero if it starts on the
/// plateau or above it. At most 2^14 s. The only floating-point computation, once per congestion avoidance stage.
pub(crate) fn time_to_plateau(w_max: u64, start: u64, datagram: u64) -> Duration {
    match w_max.saturating_sub(start) {
        0 => Duration::ZERO,
        rise => cube_root_time(rise, datagram),
    }
}

/// `W_cubic(t)` with a plateau at `w_max` bytes that is reached at `k`; saturates at zero and at the largest window.
pub(crate) fn w_cubic(w_max: u64, k: Duration, datagram: u64, t: Duration) -> FineBytes {
    let offset = t.minus(k).plus(k.minus(t));
    let rise = rise(offset, datagram);
    let plateau = FineBytes::new(w_max);
    if t >= k { plateau.plus(rise) } else { plateau.minus(rise) }
}

/// `C * offset^3` in bytes.
fn rise(offset: Duration, datagram: u64) -> FineBytes {
    let ticks = u128::from(binary_micros(offset.min(MAX_OFFSET)));
    // ticks <= 2^34, so the cube is at most 2^102: 2^-60 s^3 each. Cut to 2^-30 s^3, at most 2^72.
    let cube = ticks.saturating_mul(ticks).saturating_mul(ticks) >> 30;
    // gain < 2^36: at most 2^108, in 2^-50 bytes each; cut to 2^-16 bytes.
    let raw = cube.saturating_mul(u128::from(gain(datagram))) >> 34;
    FineBytes::from_raw(u64::try_from(raw).unwrap_or(u64::MAX))
}

/// `C` = 0.4 segments per second cubed (RFC 9438 section 5.1), times the datagram size, in 2^-20 bytes.
fn gain(datagram: u64) -> u64 {
    // 0.4 = 2 / 5.
    division::by::<5>(datagram.saturating_mul(1 << 21))
}

/// Units of 2^-20 s. `span` is at most [`MAX_OFFSET`], so the product stays below 2^64.
fn binary_micros(span: Duration) -> u64 {
    division::by_billion(span.as_nanos().saturating_mul(1 << 20))
}

/// Cube root of `rise / (C * datagram)` (RFC 9438 section 4.2, equation 2); `rise` in bytes.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_possible_truncation,
    reason = "a real cube root once per congestion avoidance stage; libm computes it in software, so it is the same \
              on every CPU, and the result is clamped before the cast"
)]
fn cube_root_time(rise: u64, datagram: u64) -> Duration {
    // rise <= 2^40 and datagram >= 1: all operands are exact in f64 and the root is at most 14 010 s.
    let segments_over_c = (rise as f64) * 2.5 / (datagram.max(1) as f64);
    let nanos = libm::cbrt(segments_over_c) * 1e9;
    Duration::from_nanos(nanos.clamp(0.0, MAX_OFFSET.as_nanos() as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::{time_to_plateau, w_cubic};
    use crate::config::MAX_WINDOW;
    use approx::assert_relative_eq;
    use cc_core::Duration;
    use proptest::prelude::*;

    /// RFC 9438 equation 1 in floating point, windows in bytes.
    fn formula(w_max: f64, k: f64, datagram: f64, t: f64) -> f64 {
        0.4 * datagram * (t - k).powi(3) + w_max
    }

    #[test]
    fn k_is_the_cube_root_of_the_lost_segments_over_c() {
        // W_max 8160, start 6720: 1440 B = 1.2 segments; 1.2 / 0.4 = 3; cube root of 3 = 1.44224957 s.
        let k = time_to_plateau(8_160, 6_720, 1_200);
        assert_relative_eq!(k.as_nanos() as f64, 1.442_249_57e9, max_relative = 1e-8);
        // W_max 400000 B, start 280000 B: 100 segments; 100 / 0.4 = 250; cube root 6.29960525 s.
        let k = time_to_plateau(400_000, 280_000, 1_200);
        assert_relative_eq!(k.as_nanos() as f64, 6.299_605_25e9, max_relative = 1e-8);
    }

    #[test]
    fn no_rise_gives_k_zero() {
        // bugs.md A4: W_max equal to the window at the start, or below it.
        assert_eq!(time_to_plateau(2_400, 2_400, 1_200), Duration::ZERO);
        assert_eq!(time_to_plateau(2_040, 2_400, 1_200), Duration::ZERO);
        assert_eq!(w_cubic(2_400, Duration::ZERO, 1_200, Duration::ZERO).whole(), 2_400);
    }

    #[test]
    fn the_curve_starts_at_the_window_and_reaches_the_plateau_at_k() {
        let k = time_to_plateau(8_160, 6_720, 1_200);
        assert_relative_eq!(w_cubic(8_160, k, 1_200, Duration::ZERO).whole() as f64, 6_720.0, epsilon = 1.0);
        assert_eq!(w_cubic(8_160, k, 1_200, k).whole(), 8_160);
    }

    #[test]
    fn one_second_past_the_plateau_adds_c_segments() {
        // 0.4 * 1200 = 480 B after 1 s, 480 * 8 = 3840 B after 2 s.
        let at = |secs| w_cubic(100_000, Duration::ZERO, 1_200, Duration::from_secs(secs)).whole() as f64;
        assert_relative_eq!(at(1), 100_480.0, epsilon = 1.0);
        assert_relative_eq!(at(2), 103_840.0, epsilon = 1.0);
    }

    #[test]
    fn the_curve_is_symmetric_around_k() {
        // bugs.md A18: W_cubic(K - d) + W_cubic(K + d) = 2 * W_max, to the last bit.
        let k = time_to_plateau(400_000, 280_000, 1_200);
        let at = |t| w_cubic(400_000, k, 1_200, t);
        for millis in [1, 10, 333, 1_000, 5_000, 6_299] {
            let d = Duration::from_millis(millis);
            assert!(at(k.minus(d)) <= at(k), "concave below K");
            assert_eq!(at(k.minus(d)).raw() + at(k.plus(d)).raw(), 2 * (400_000 << 16));
        }
    }

    #[test]
    fn years_saturate() {
        // bugs.md A1.
        let k = time_to_plateau(14_400, 10_080, 1_200);
        for secs in [864_000, 315_576_000, u64::MAX] {
            assert_eq!(w_cubic(14_400, k, 1_200, Duration::from_secs(secs)).whole(), MAX_WINDOW);
        }
        assert_eq!(w_cubic(1, Duration::ZERO, 1, Duration::MAX).whole(), MAX_WINDOW);
    }

    proptest! {
        #[test]
        fn integers_agree_with_the_formula(
            w_max in 2_400_u64..100_000_000_000, share in 0.3_f64..1.0, datagram in 500_u64..9_000,
            seconds in 0.0_f64..1_000.0,
        ) {
            let start = (w_max as f64 * share) as u64;
            let time = time_to_plateau(w_max, start, datagram);
            let k = ((w_max - start) as f64 / (0.4 * datagram as f64)).cbrt();
            prop_assert!((time.as_nanos() as f64 * 1e-9 - k).abs() < 1e-8);
            let expected = formula(w_max as f64, k, datagram as f64, seconds).clamp(0.0, MAX_WINDOW as f64);
            let t = Duration::from_nanos((seconds * 1e9) as u64);
            let got = w_cubic(w_max, time, datagram, t).raw() as f64 / 65_536.0;
            // Time is cut to 2^-20 s: the error is the slope of the curve times that, and rounding.
            let slope = 3.0 * 0.4 * datagram as f64 * (seconds - k).powi(2);
            prop_assert!((got - expected).abs() <= slope * 2e-6 + expected * 1e-9 + 1.0, "{got} {expected}");
        }
    }
}
