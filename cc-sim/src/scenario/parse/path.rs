//! The `[[link]]` tables.

use super::check::{BYTES, Checker, DAY_US, MBPS, MINUTE_US, MS, PERCENT, range_text, scaled};
use super::raw::{Number, RawQueueFor, RawState};
use crate::engine::packet::size;
use crate::scenario::{
    Endpoint, Jitter, LinkState, LinkTimeline, QueueFor, QueueLimit, ScenarioError, WifiModel,
};
use std::ops::RangeInclusive;

// In units of the program: us, bit/s, bytes.
/// A millisecond at least, so that a timeline that repeats does not consist of changes only.
const DURATION_US: RangeInclusive<u64> = 1_000..=DAY_US;
pub(crate) const LATENCY_US: RangeInclusive<u64> = 0..=MINUTE_US;
pub(crate) const QUEUE_US: RangeInclusive<u64> = 1..=MINUTE_US;
/// The least that [`queue_bytes`] allows, and the most.
pub(crate) const QUEUE_BYTES: RangeInclusive<u64> = size::CLIENT_HELLO..=1_000_000_000_000;
pub(crate) const JITTER_US: RangeInclusive<u64> = 0..=10_000_000;
pub(crate) const RATE_BPS: RangeInclusive<u64> = 1_000..=1_000_000_000_000;
/// So that a run that is given time enough gets through.
const LOSS_PPM: RangeInclusive<u64> = 0..=500_000;
const MAX_STATES: usize = 1_000;
/// The jitter of a file that names none.
const GAUSS: &str = "gauss";

impl Checker<'_> {
    pub(super) fn timeline(
        &self,
        raw: &[RawState],
        repeat: bool,
        endpoint: &Endpoint,
    ) -> Result<LinkTimeline, ScenarioError> {
        if raw.is_empty() || raw.len() > MAX_STATES {
            return Err(self.error("link", &format!("{} states (allowed: 1..={MAX_STATES})", raw.len())));
        }
        let last = raw.len() - 1;
        let states = raw
            .iter()
            .enumerate()
            .map(|(i, state)| self.state(i, state, repeat || i < last, endpoint))
            .collect::<Result<Vec<_>, _>>()?;
        for (rate, field) in [(down_bps as fn(&LinkState) -> u64, "rate_mbps"), (up_bps, "up_mbps")] {
            if states.iter().all(|state| rate(state) == 0) {
                return Err(self.error(&format!("link[{last}].{field}"), &rate_problem("0 in every state")));
            }
        }
        Ok(LinkTimeline { states, repeat })
    }

    pub(super) fn queues_for(
        &self,
        raw: &[RawQueueFor],
        endpoint: &Endpoint,
    ) -> Result<Vec<QueueFor>, ScenarioError> {
        let mut queues: Vec<QueueFor> = Vec::new();
        for (i, raw) in raw.iter().enumerate() {
            let field = format!("queue_for[{i}]");
            let algorithm = self.known_algorithm(&format!("{field}.algorithm"), &raw.algorithm, &[])?;
            if queues.iter().any(|other| other.algorithm == algorithm) {
                let problem = format!("`{}` for the second time (allowed: each once)", raw.algorithm);
                return Err(self.error(&format!("{field}.algorithm"), &problem));
            }
            let limits = (raw.queue_ms, raw.queue_bytes, raw.queue_unlimited);
            let name = format!("{field}.queue");
            let queue = self.queue(&name, limits, endpoint)?.ok_or_else(|| self.not_one_queue(&name))?;
            queues.push(QueueFor { algorithm, queue });
        }
        Ok(queues)
    }

    /// State number `i`, which `ends` or lasts for ever.
    fn state(
        &self,
        i: usize,
        raw: &RawState,
        ends: bool,
        endpoint: &Endpoint,
    ) -> Result<LinkState, ScenarioError> {
        let field = |name: &str| format!("link[{i}].{name}");
        let duration_us = match (raw.duration_ms, ends) {
            (Some(value), true) => Some(self.number(&field("duration_ms"), value, MS, DURATION_US)?),
            (None, false) => None,
            (None, true) => {
                let range = range_text(&DURATION_US, MS);
                return Err(self.error(&field("duration_ms"), &format!("missing (allowed: {range})")));
            }
            (Some(_), false) => {
                let problem =
                    "given for the last state, which lasts for ever (allowed: none, or link_repeats = true)";
                return Err(self.error(&field("duration_ms"), problem));
            }
        };
        let down_bps = self.rate(&field("rate_mbps"), raw.rate_mbps, ends)?;
        let up_bps = raw.up_mbps.map(|value| self.rate(&field("up_mbps"), value, ends)).transpose()?;
        let limits = (raw.queue_ms, raw.queue_bytes, raw.queue_unlimited);
        let queue = self.queue(&field("queue"), limits, endpoint)?;
        let queue = queue.ok_or_else(|| self.not_one_queue(&field("queue")))?;
        let up_limits = (raw.up_queue_ms, raw.up_queue_bytes, raw.up_queue_unlimited);
        let loss = |name: &str, value| {
            let ppm = self.or(&field(name), value, PERCENT, LOSS_PPM, 0)?;
            Ok(u32::try_from(ppm).unwrap_or(u32::MAX))
        };
        Ok(LinkState {
            duration_us,
            down_bps,
            up_bps: up_bps.unwrap_or(down_bps),
            latency_us: self.number(&field("latency_ms"), raw.latency_ms, MS, LATENCY_US)?,
            queue,
            up_queue: self.queue(&field("up_queue"), up_limits, endpoint)?.unwrap_or(queue),
            jitter: self.jitter(i, raw)?,
            loss_ppm: loss("loss_percent", raw.loss_percent)?,
            up_loss_ppm: loss("up_loss_percent", raw.up_loss_percent)?,
        })
    }

    /// The jitter of state number `i`; 0 is none of any model.
    fn jitter(&self, i: usize, raw: &RawState) -> Result<Jitter, ScenarioError> {
        let us = self.or(&format!("link[{i}].jitter_ms"), raw.jitter_ms, MS, JITTER_US, 0)?;
        let name = raw.jitter_model.as_deref().unwrap_or(GAUSS);
        let model = WifiModel::ALL.iter().find(|model| model.name() == name);
        match model {
            _ if name != GAUSS && model.is_none() => {
                let names: Vec<&str> = WifiModel::ALL.iter().map(|model| model.name()).collect();
                let problem = format!("`{name}` (allowed: {GAUSS}, {})", names.join(", "));
                Err(self.error(&format!("link[{i}].jitter_model"), &problem))
            }
            _ if us == 0 => Ok(Jitter::None),
            None => Ok(Jitter::Gauss { mean_us: us }),
            Some(&model) => Ok(Jitter::Wifi { average_us: us, model }),
        }
    }

    /// The one limit that is given of three fields called `{name}_ms` and so on; `None` if none is.
    fn queue(
        &self,
        name: &str,
        (ms, bytes, unlimited): (Option<Number>, Option<Number>, bool),
        endpoint: &Endpoint,
    ) -> Result<Option<QueueLimit>, ScenarioError> {
        match (ms, bytes, unlimited) {
            (None, None, false) => Ok(None),
            (Some(value), None, false) => {
                let us = self.number(&format!("{name}_ms"), value, MS, QUEUE_US)?;
                Ok(Some(QueueLimit::DelayUs(us)))
            }
            (None, Some(value), false) => {
                let bytes = self.number(&format!("{name}_bytes"), value, BYTES, queue_bytes(endpoint))?;
                Ok(Some(QueueLimit::Bytes(bytes)))
            }
            (None, None, true) => Ok(Some(QueueLimit::Unlimited)),
            _ => Err(self.not_one_queue(name)),
        }
    }

    fn not_one_queue(&self, name: &str) -> ScenarioError {
        let field = name.rsplit('.').next().unwrap_or(name);
        let allowed = format!("one of {field}_ms, {field}_bytes, {field}_unlimited = true");
        self.error(&format!("{name}_ms"), &format!("not exactly one limit (allowed: {allowed})"))
    }

    /// A rate; 0 only in a state that `ends`, else nothing would ever pass again.
    fn rate(&self, field: &str, value: Number, ends: bool) -> Result<u64, ScenarioError> {
        match scaled(value, MBPS) {
            Some(0) if ends => Ok(0),
            Some(0) => Err(self.error(field, &rate_problem("0 for ever"))),
            Some(bps) if RATE_BPS.contains(&bps) => Ok(bps),
            _ => Err(self.error(field, &rate_problem(&value.to_string()))),
        }
    }
}

/// A queue in bytes holds what the connection cannot do without: the first datagrams of the handshake, and a full
/// datagram before path MTU discovery.
fn queue_bytes(endpoint: &Endpoint) -> RangeInclusive<u64> {
    endpoint.initial_mtu.max(*QUEUE_BYTES.start())..=*QUEUE_BYTES.end()
}

fn down_bps(state: &LinkState) -> u64 {
    state.down_bps
}

fn up_bps(state: &LinkState) -> u64 {
    state.up_bps
}

fn rate_problem(value: &str) -> String {
    let range = range_text(&RATE_BPS, MBPS);
    format!("{value} is out of range (allowed: {range}, or 0 in a state that ends if another is not 0)")
}
