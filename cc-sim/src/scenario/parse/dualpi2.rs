//! The `[dualpi2]` table.

use super::check::{COUNT, Checker, MINUTE_US, MS};
use super::raw::RawDualPi2;
use crate::scenario::{DualPi2, ScenarioError, Scheduler};
use std::ops::RangeInclusive;

// In microseconds.
pub(crate) const TARGET_US: RangeInclusive<u64> = 100..=MINUTE_US;
pub(crate) const RTT_MAX_US: RangeInclusive<u64> = 1_000..=MINUTE_US;
pub(crate) const UPDATE_US: RangeInclusive<u64> = 100..=10_000_000;
pub(crate) const RAMP_US: RangeInclusive<u64> = 0..=MINUTE_US;
// Numbers.
pub(crate) const COUPLING: RangeInclusive<u64> = 1..=16;
pub(crate) const MIN_PACKETS: RangeInclusive<u64> = 0..=1_000_000;
pub(crate) const L4S_WEIGHT: RangeInclusive<u64> = 1..=1_000;

impl Checker<'_> {
    pub(super) fn dualpi2(&self, raw: &RawDualPi2) -> Result<DualPi2, ScenarioError> {
        let default = DualPi2::default();
        let or = |name: &str, value, unit, range, default| {
            self.or(&format!("dualpi2.{name}"), value, unit, range, default)
        };
        let target_us = or("target_ms", raw.target_ms, MS, TARGET_US, default.target_us)?;
        let rtt_max_us = or("rtt_max_ms", raw.rtt_max_ms, MS, RTT_MAX_US, default.rtt_max_us)?;
        let update_us = DualPi2::update_us(target_us, rtt_max_us);
        Ok(DualPi2 {
            target_us,
            rtt_max_us,
            update_us: or("update_ms", raw.update_ms, MS, UPDATE_US, update_us)?,
            coupling: or("coupling", raw.coupling, COUNT, COUPLING, default.coupling)?,
            l4s_min_us: or("l4s_min_ms", raw.l4s_min_ms, MS, RAMP_US, default.l4s_min_us)?,
            l4s_range_us: or("l4s_range_ms", raw.l4s_range_ms, MS, RAMP_US, default.l4s_range_us)?,
            l4s_min_packets: or(
                "l4s_min_packets",
                raw.l4s_min_packets,
                COUNT,
                MIN_PACKETS,
                default.l4s_min_packets,
            )?,
            scheduler: self.scheduler(raw)?,
        })
    }

    fn scheduler(&self, raw: &RawDualPi2) -> Result<Scheduler, ScenarioError> {
        let field = |name: &str| format!("dualpi2.{name}");
        match raw.scheduler.as_deref() {
            None | Some(ROUND_ROBIN) if raw.shift_ms.is_some() => {
                let problem =
                    format!("given for {ROUND_ROBIN} (allowed: none, or scheduler = {SHIFTED_FIFO})");
                Err(self.error(&field("shift_ms"), &problem))
            }
            Some(SHIFTED_FIFO) if raw.l4s_weight.is_some() => {
                let problem =
                    format!("given for {SHIFTED_FIFO} (allowed: none, or scheduler = {ROUND_ROBIN})");
                Err(self.error(&field("l4s_weight"), &problem))
            }
            None | Some(ROUND_ROBIN) => {
                let default = DualPi2::L4S_WEIGHT;
                let weight = self.or(&field("l4s_weight"), raw.l4s_weight, COUNT, L4S_WEIGHT, default)?;
                Ok(Scheduler::RoundRobin { l4s_weight: weight })
            }
            Some(SHIFTED_FIFO) => {
                let shift_us = self.or(&field("shift_ms"), raw.shift_ms, MS, RAMP_US, DualPi2::SHIFT_US)?;
                Ok(Scheduler::ShiftedFifo { shift_us })
            }
            Some(name) => {
                let problem = format!("`{name}` (allowed: {ROUND_ROBIN}, {SHIFTED_FIFO})");
                Err(self.error(&field("scheduler"), &problem))
            }
        }
    }
}

pub(in crate::scenario) const ROUND_ROBIN: &str = "wrr";
pub(in crate::scenario) const SHIFTED_FIFO: &str = "ts_fifo";
