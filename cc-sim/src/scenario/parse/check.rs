//! Numbers of a file: units, ranges, and the error that names both.

use super::raw::Number;
use crate::scenario::ScenarioError;
use crate::text::decimal;
use std::ops::RangeInclusive;

/// Turns the raw file into a scenario, field by field.
pub(super) struct Checker<'a> {
    pub(super) origin: &'a str,
}

impl Checker<'_> {
    /// An optional number in `range`.
    pub(super) fn or(
        &self,
        field: &str,
        value: Option<Number>,
        unit: Unit,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Result<u64, ScenarioError> {
        value.map_or(Ok(default), |value| self.number(field, value, unit, range))
    }

    /// A number in `range`, both in units of the program.
    pub(super) fn number(
        &self,
        field: &str,
        value: Number,
        unit: Unit,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ScenarioError> {
        scaled(value, unit).filter(|scaled| range.contains(scaled)).ok_or_else(|| {
            self.error(field, &format!("{value} is out of range (allowed: {})", range_text(&range, unit)))
        })
    }

    pub(super) fn error(&self, field: &str, problem: &str) -> ScenarioError {
        ScenarioError::new(self.origin, field, problem)
    }
}

/// A unit of the file, in terms of the unit of the program.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    per_file_unit: u32,
    name: &'static str,
}

pub(super) const MS: Unit = Unit { per_file_unit: 1_000, name: " ms" };
pub(super) const MBPS: Unit = Unit { per_file_unit: 1_000_000, name: " Mbit/s" };
/// In millionths.
pub(super) const PERCENT: Unit = Unit { per_file_unit: 10_000, name: " %" };
pub(super) const BYTES: Unit = Unit { per_file_unit: 1, name: " bytes" };
pub(super) const COUNT: Unit = Unit { per_file_unit: 1, name: "" };

// Times that several ranges end with, in us.
pub(super) const DAY_US: u64 = 86_400_000_000;
pub(super) const MINUTE_US: u64 = 60_000_000;

pub(super) fn range_text(range: &RangeInclusive<u64>, unit: Unit) -> String {
    let scale = u64::from(unit.per_file_unit);
    format!("{}..={}{}", decimal(*range.start(), scale), decimal(*range.end(), scale), unit.name)
}

/// `value` in units of the program; `None` if it is negative, not finite, above 10^15 or not as whole as a unit
/// without decimals must be.
pub(super) fn scaled(value: Number, unit: Unit) -> Option<u64> {
    /// Above every range; below 2^53, so that a float up to here is a whole number exactly.
    const LIMIT: f64 = 1e15;
    match value {
        Number::Whole(value) => u64::try_from(value).ok()?.checked_mul(unit.per_file_unit.into()),
        Number::Real(value) => {
            let scaled = (value * f64::from(unit.per_file_unit)).round();
            let whole_enough = unit.per_file_unit > 1 || scaled == value;
            // A positive value that rounds to 0 is not the 0 that it was not.
            let kept = scaled != 0.0 || value == 0.0;
            (whole_enough && kept && (0.0..=LIMIT).contains(&scaled)).then_some(scaled as u64)
        }
    }
}
