//! `[transfer]`, `[[flow]]`, `[resume]`, and what ends a run.

use super::check::{BYTES, Checker, DAY_US, MINUTE_US, MS, range_text};
use super::raw::{Number, RawFlow, RawResume, RawScenario};
use crate::Algorithm;
use crate::scenario::{Direction, Flow, FlowAlgorithm, Resume, RunEnd, ScenarioError, Transfer};
use std::ops::RangeInclusive;

// In units of the program: us, bytes.
pub(super) const SIZE_BYTES: RangeInclusive<u64> = 1..=100_000_000_000;
const START_US: RangeInclusive<u64> = 0..=3_600_000_000;
const ACCESS_US: RangeInclusive<u64> = 0..=MINUTE_US;
const RESUME_CWND_BYTES: RangeInclusive<u64> = 1_200..=1_000_000_000_000;
const RESUME_RTT_US: RangeInclusive<u64> = 1..=MINUTE_US;
const RUN_US: RangeInclusive<u64> = 1_000..=DAY_US;
/// Flows beside the main one.
const MAX_FLOWS: usize = 255;

impl Checker<'_> {
    /// A transfer of the table `table`, which starts before the time limit.
    pub(super) fn transfer(
        &self,
        table: &str,
        (size_bytes, start_ms, access_ms): (Number, Option<Number>, Option<Number>),
        time_limit_us: u64,
    ) -> Result<Transfer, ScenarioError> {
        let bytes = self.number(&format!("{table}.size_bytes"), size_bytes, BYTES, SIZE_BYTES)?;
        let (start_us, access_us) = self.path_of(table, start_ms, access_ms, time_limit_us)?;
        Ok(Transfer { bytes, start_us, access_us })
    }

    /// Start and access path of the flow of the table `table`, in microseconds.
    pub(super) fn path_of(
        &self,
        table: &str,
        start_ms: Option<Number>,
        access_ms: Option<Number>,
        time_limit_us: u64,
    ) -> Result<(u64, u64), ScenarioError> {
        let start_us = *START_US.start()..=*START_US.end().min(&(time_limit_us - 1));
        Ok((
            self.or(&format!("{table}.start_ms"), start_ms, MS, start_us, 0)?,
            self.or(&format!("{table}.access_ms"), access_ms, MS, ACCESS_US, 0)?,
        ))
    }

    pub(super) fn flows(&self, raw: &[RawFlow], time_limit_us: u64) -> Result<Vec<Flow>, ScenarioError> {
        if raw.len() > MAX_FLOWS {
            return Err(self.error("flow", &format!("{} flows (allowed: 0..={MAX_FLOWS})", raw.len())));
        }
        raw.iter().enumerate().map(|(i, flow)| self.flow(i, flow, time_limit_us)).collect()
    }

    fn flow(&self, i: usize, raw: &RawFlow, time_limit_us: u64) -> Result<Flow, ScenarioError> {
        let table = format!("flow[{i}]");
        Ok(Flow {
            algorithm: self.flow_algorithm(&format!("{table}.algorithm"), raw.algorithm.as_deref())?,
            transfer: self.transfer(&table, (raw.size_bytes, raw.start_ms, raw.access_ms), time_limit_us)?,
            direction: self.direction(&format!("{table}.direction"), raw.direction.as_deref())?,
        })
    }

    fn flow_algorithm(&self, field: &str, name: Option<&str>) -> Result<FlowAlgorithm, ScenarioError> {
        match name {
            None | Some(MAIN) => Ok(FlowAlgorithm::Main),
            Some(name) => self.known_algorithm(field, name, &[MAIN]).map(FlowAlgorithm::Fixed),
        }
    }

    /// The algorithm called `name`; the error names them all, after `others` that are allowed too.
    pub(super) fn known_algorithm(
        &self,
        field: &str,
        name: &str,
        others: &[&str],
    ) -> Result<Algorithm, ScenarioError> {
        Algorithm::from_name(name).ok_or_else(|| {
            let algorithms = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
            let names: Vec<&str> = others.iter().copied().chain(algorithms).collect();
            self.error(field, &format!("`{name}` (allowed: {})", names.join(", ")))
        })
    }

    pub(super) fn direction(&self, field: &str, name: Option<&str>) -> Result<Direction, ScenarioError> {
        match name {
            None | Some("forward") => Ok(Direction::Forward),
            Some("reverse") => Ok(Direction::Reverse),
            Some(name) => Err(self.error(field, &format!("`{name}` (allowed: forward, reverse)"))),
        }
    }

    pub(super) fn end(&self, raw: &RawScenario, time_limit_us: u64) -> Result<RunEnd, ScenarioError> {
        let range = *RUN_US.start()..=*RUN_US.end().min(&time_limit_us);
        match (raw.ends.as_deref(), raw.duration_ms) {
            (None | Some(MAIN), None) => Ok(RunEnd::MainFlow),
            (Some("all"), None) => Ok(RunEnd::AllFlows),
            (None, Some(duration)) => self.number("duration_ms", duration, MS, range).map(RunEnd::At),
            (Some(name), None) => Err(self.error("ends", &format!("`{name}` (allowed: {MAIN}, all)"))),
            (Some(_), Some(_)) => {
                let range = range_text(&range, MS);
                let problem = format!("given with duration_ms (allowed: one of ends, duration_ms = {range})");
                Err(self.error("ends", &problem))
            }
        }
    }

    pub(super) fn resume(&self, raw: &RawResume) -> Result<Resume, ScenarioError> {
        Ok(Resume {
            cwnd_bytes: self.number("resume.cwnd_bytes", raw.cwnd_bytes, BYTES, RESUME_CWND_BYTES)?,
            rtt_us: self.number("resume.rtt_ms", raw.rtt_ms, MS, RESUME_RTT_US)?,
        })
    }
}

/// The main flow, where it stands for its algorithm or its end.
const MAIN: &str = "main";
