//! The `[[cross]]` tables.

use super::check::{BYTES, Checker, DAY_US, MBPS, MS};
use super::raw::RawCross;
use crate::scenario::{CrossTraffic, Pattern, ScenarioError};
use std::ops::RangeInclusive;

// In units of the program: us, bit/s, bytes.
const PACKET_BYTES: RangeInclusive<u64> = 20..=65_527;
const DEFAULT_PACKET_BYTES: u64 = 1_200;
const PERIOD_US: RangeInclusive<u64> = 1..=DAY_US;
const MIN_RATE_BPS: u64 = 1_000;
const MAX_SOURCES: usize = 64;

impl Checker<'_> {
    pub(super) fn cross(&self, raw: &[RawCross]) -> Result<Vec<CrossTraffic>, ScenarioError> {
        if raw.len() > MAX_SOURCES {
            return Err(self.error("cross", &format!("{} sources (allowed: 0..={MAX_SOURCES})", raw.len())));
        }
        raw.iter().enumerate().map(|(i, source)| self.source(i, source)).collect()
    }

    fn source(&self, i: usize, raw: &RawCross) -> Result<CrossTraffic, ScenarioError> {
        let field = |name: &str| format!("cross[{i}].{name}");
        let packet_bytes =
            self.or(&field("packet_bytes"), raw.packet_bytes, BYTES, PACKET_BYTES, DEFAULT_PACKET_BYTES)?;
        // A datagram a microsecond at most.
        let rate_bps = MIN_RATE_BPS..=packet_bytes * 8_000_000;
        let start_us = self.or(&field("start_ms"), raw.start_ms, MS, 0..=DAY_US, 0)?;
        let stop_us = raw.stop_ms.map(|value| self.number(&field("stop_ms"), value, MS, start_us..=DAY_US));
        Ok(CrossTraffic {
            direction: self.direction(&field("direction"), raw.direction.as_deref())?,
            rate_bps: self.number(&field("rate_mbps"), raw.rate_mbps, MBPS, rate_bps)?,
            packet_bytes,
            start_us,
            stop_us: stop_us.transpose()?,
            pattern: self.pattern(i, raw)?,
        })
    }

    fn pattern(&self, i: usize, raw: &RawCross) -> Result<Pattern, ScenarioError> {
        let field = |name: &str| format!("cross[{i}].{name}");
        match (raw.on_ms, raw.off_ms, raw.random) {
            (None, None, None) => Ok(Pattern::Constant),
            (Some(on), Some(off), random) => Ok(Pattern::OnOff {
                on_us: self.number(&field("on_ms"), on, MS, PERIOD_US)?,
                off_us: self.number(&field("off_ms"), off, MS, PERIOD_US)?,
                random: random.unwrap_or(false),
            }),
            _ => {
                let problem = "not both on_ms and off_ms (allowed: both, or neither and no random)";
                Err(self.error(&field("on_ms"), problem))
            }
        }
    }
}
