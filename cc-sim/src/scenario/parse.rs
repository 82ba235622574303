//! The scenario file: TOML in, a validated [`Scenario`] or one line that says what is wrong with it out.
//!
//! # Format
//!
//! Units are in the names: times end in `_ms` (milliseconds, decimals allowed, kept to the microsecond), rates in
//! `_mbps` (10^6 bits per second, decimals allowed, kept to the bit), sizes in `_bytes`. Unknown fields are refused.
//!
//! ```toml
//! name = "two_rates"            # 1..=64 of A-Z a-z 0-9 _ -
//! summary = "one line for people"
//! time_limit_ms = 600_000       # optional, 1..=86400000: a run that lasts longer in virtual time is an error
//! link_repeats = false          # optional: whether the first [[link]] follows the last one
//!
//! # One [[link]] for each state of the path, in order of time; at least one, at most 1000.
//! [[link]]
//! duration_ms = 2_500           # 1..=86400000; required but in the last state, which lasts for ever
//!                               # (if link_repeats: required in all)
//! rate_mbps = 5                 # 0.001..=1000000, or 0 in a state that ends: nothing passes, nothing is dropped
//! up_mbps = 1                   # optional: another rate from the data receiver to the data sender
//! latency_ms = 50               # 0..=60000, one way
//! queue_ms = 80                 # 0.001..=60000; or queue_bytes = 1252..=10^12 (initial_mtu_bytes at least);
//!                               # or queue_unlimited = true
//! jitter_ms = 2                 # optional, 0..=10000: mean of the Gaussian jitter
//!
//! [[link]]
//! rate_mbps = 10
//! latency_ms = 50
//! queue_ms = 80
//!
//! [transfer]
//! size_bytes = 7_000_000        # 1..=10^11
//! start_ms = 0                  # optional, 0..=3600000, less than time_limit_ms
//!
//! [resume]                      # optional: what the sender remembers of an earlier connection (RFC 9959)
//! cwnd_bytes = 18_750_000       # 1200..=10^12
//! rtt_ms = 600.123              # 0.001..=60000
//!
//! [endpoint]                    # optional, as is every field of it; the values are the defaults
//! initial_mtu_bytes = 1252      # 1200..=mtu_bytes
//! mtu_bytes = 1440              # 1200..=65527 (RFC 9000 section 18.2)
//! overhead_bytes = 34           # 16..=200: part of a data packet that is not data
//! ack_size_bytes = 55           # 20..=1200
//! initial_window_bytes = 15_360 # 1200..=10^9
//! may_overshoot = true          # whether the last packet may exceed the window
//! max_ack_delay_ms = 10         # 0..=16384 (2^14, RFC 9000 section 18.2)
//! min_ack_delay_ms = 1          # 0..=max_ack_delay_ms
//! quick_ack_packets = 128       # 0..=1000000
//! max_ack_ranges = 33           # 1..=65536
//! packet_threshold = 3          # 1..=1000000 (RFC 9002 section 6.1.1)
//! mtu_losses = 10               # 1..=1000000
//! initial_pto_ms = 250          # 1..=60000
//! max_pto_ms = 2_000            # initial_pto_ms..=600000
//! initial_max_data_bytes = 1_048_576         # 65527..=10^15: flow control of the connection
//! initial_max_stream_data_bytes = 2_097_152  # 65527..=10^15: flow control of the stream
//! max_growth_rtt_ms = 610       # 100..=60000: RTT above which flow-control windows grow no faster
//! skip_packet_numbers = true    # the only randomness without jitter
//! pacing = true
//! fast_convergence = false      # of CUBIC; off for a single flow (RFC 9438 section 4.7)
//! ```

mod raw;

use super::{Endpoint, Jitter, LinkState, LinkTimeline, QueueLimit, Resume, Scenario, Transfer};
use crate::engine::packet::size;
use crate::text::{decimal, is_hidden, one_line};
use raw::{Number, RawEndpoint, RawResume, RawScenario, RawState};
use std::fmt;
use std::ops::RangeInclusive;

/// Reads and checks a scenario file. `origin` names it in errors (a path, say).
///
/// # Errors
///
/// The first thing wrong with it: not TOML, a field missing, unknown or of the wrong type, a value out of range,
/// or a link that stays at rate 0 for ever.
pub fn parse(text: &str, origin: &str) -> Result<Scenario, ScenarioError> {
    let checker = Checker { origin };
    let raw = read(text).or_else(|refused| match refused.long_integer_ends {
        // A whole number of more digits than the TOML library reads: as a decimal number it is refused by its field.
        Some(end) => read(&[&text[..end], ".0", &text[end..]].concat()),
        None => Err(refused),
    });
    checker.scenario(raw.map_err(|refused| checker.error(&refused.field, &refused.problem))?)
}

/// What the TOML library has to say.
struct Refused {
    field: String,
    problem: String,
    /// Where the whole number ends that is the problem.
    long_integer_ends: Option<usize>,
}

fn read(text: &str) -> Result<RawScenario, Refused> {
    let deserializer = toml::Deserializer::parse(text).map_err(|e| {
        let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        Refused {
            field: format!("line {}", before.matches('\n').count() + 1),
            problem: format!("not TOML: {}", e.message()),
            long_integer_ends: None,
        }
    })?;
    serde_path_to_error::deserialize(deserializer).map_err(|e| {
        let path = e.path().to_string();
        let span = e.inner().span();
        Refused {
            field: if path == "." { "scenario".to_owned() } else { path },
            problem: e.inner().message().to_owned(),
            long_integer_ends: span
                .filter(|span| text.get(span.clone()).is_some_and(is_long_integer))
                .map(|span| span.end),
        }
    })
}

/// Whether `literal` is a decimal integer with more digits than 128 bits hold.
fn is_long_integer(literal: &str) -> bool {
    let digits = literal.strip_prefix(['+', '-']).unwrap_or(literal);
    digits.len() >= 39 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

/// One of the scenarios that are part of the program.
///
/// # Errors
///
/// There is none of that name; the error lists those that there are.
pub fn builtin(name: &str) -> Result<Scenario, ScenarioError> {
    match BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
        Some((_, text)) => parse(text, &format!("built-in scenario {name}")),
        None => Err(ScenarioError {
            origin: format!("`{name}`"),
            field: "scenario".to_owned(),
            problem: format!("unknown (allowed: {})", builtin_names().collect::<Vec<_>>().join(", ")),
        }),
    }
}

/// Names of the scenarios that are part of the program, in the order of the draft's table.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The network events of draft-huitema-ccwg-c4-test; each file says where its runs differ from the text.
const BUILTIN: [(&str, &str); 7] = [
    ("alone", include_str!("../../scenarios/alone.toml")),
    ("alone_200", include_str!("../../scenarios/alone_200.toml")),
    ("low_and_up", include_str!("../../scenarios/low_and_up.toml")),
    ("drop_and_back", include_str!("../../scenarios/drop_and_back.toml")),
    ("blackhole", include_str!("../../scenarios/blackhole.toml")),
    ("short_long", include_str!("../../scenarios/short_long.toml")),
    ("satellite", include_str!("../../scenarios/satellite.toml")),
];

/// Why a scenario was refused. Displayed on one line: origin, field, what is wrong and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    origin: String,
    field: String,
    problem: String,
}

impl ScenarioError {
    /// Path of the field, such as `link[1].rate_mbps`; `scenario` if it is the file as a whole.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&format!("{}: {}: {}", self.origin, self.field, self.problem)))
    }
}

impl std::error::Error for ScenarioError {}

/// A unit of the file, in terms of the unit of the program.
#[derive(Clone, Copy)]
struct Unit {
    per_file_unit: u32,
    name: &'static str,
}

const MS: Unit = Unit { per_file_unit: 1_000, name: " ms" };
const MBPS: Unit = Unit { per_file_unit: 1_000_000, name: " Mbit/s" };
const BYTES: Unit = Unit { per_file_unit: 1, name: " bytes" };
const COUNT: Unit = Unit { per_file_unit: 1, name: "" };

// Ranges in units of the program: us, bit/s, bytes.
const DAY_US: u64 = 86_400_000_000;
const MINUTE_US: u64 = 60_000_000;
/// A millisecond at least, so that a timeline that repeats does not consist of changes only.
const DURATION_US: RangeInclusive<u64> = 1_000..=DAY_US;
const TIME_LIMIT_US: RangeInclusive<u64> = 1_000..=DAY_US;
const LATENCY_US: RangeInclusive<u64> = 0..=MINUTE_US;
const QUEUE_US: RangeInclusive<u64> = 1..=MINUTE_US;
/// The least that [`queue_bytes`] allows, and the most.
const QUEUE_BYTES: RangeInclusive<u64> = size::CLIENT_HELLO..=1_000_000_000_000;
const JITTER_US: RangeInclusive<u64> = 0..=10_000_000;
const RATE_BPS: RangeInclusive<u64> = 1_000..=1_000_000_000_000;
const SIZE_BYTES: RangeInclusive<u64> = 1..=100_000_000_000;
const START_US: RangeInclusive<u64> = 0..=3_600_000_000;
const RESUME_CWND_BYTES: RangeInclusive<u64> = 1_200..=1_000_000_000_000;
const RESUME_RTT_US: RangeInclusive<u64> = 1..=MINUTE_US;
/// Largest UDP payload (RFC 9000 section 18.2, max_udp_payload_size).
const MAX_MTU: u64 = 65_527;
/// Smallest datagram size that QUIC works with (RFC 9000 section 14).
const MIN_MTU: u64 = 1_200;
const FLOW_CONTROL_BYTES: RangeInclusive<u64> = MAX_MTU..=1_000_000_000_000_000;
const MAX_STATES: usize = 1_000;
const MAX_NAME: usize = 64;
const MAX_SUMMARY: usize = 200;
/// Virtual time after which a run is given up if the file does not say.
const DEFAULT_TIME_LIMIT_US: u64 = 600_000_000;

/// Turns the raw file into a scenario, field by field.
struct Checker<'a> {
    origin: &'a str,
}

impl Checker<'_> {
    fn scenario(&self, raw: RawScenario) -> Result<Scenario, ScenarioError> {
        let name_ok = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if raw.name.is_empty() || raw.name.len() > MAX_NAME || !raw.name.chars().all(name_ok) {
            let problem = format!("`{}` (allowed: 1..={MAX_NAME} of A-Z a-z 0-9 _ -)", raw.name);
            return Err(self.error("name", &problem));
        }
        if raw.summary.chars().count() > MAX_SUMMARY || raw.summary.chars().any(is_hidden) {
            return Err(self
                .error("summary", &format!("not one visible line (allowed: 0..={MAX_SUMMARY} characters)")));
        }
        let time_limit_us =
            self.or("time_limit_ms", raw.time_limit_ms, MS, TIME_LIMIT_US, DEFAULT_TIME_LIMIT_US)?;
        // Before the time limit.
        let start_us = *START_US.start()..=*START_US.end().min(&(time_limit_us - 1));
        let start_us = self.or("transfer.start_ms", raw.transfer.start_ms, MS, start_us, 0)?;
        let endpoint = self.endpoint(&raw.endpoint)?;
        Ok(Scenario {
            link: self.timeline(&raw.link, raw.link_repeats, &endpoint)?,
            transfer: Transfer {
                bytes: self.number("transfer.size_bytes", raw.transfer.size_bytes, BYTES, SIZE_BYTES)?,
                start_us,
            },
            resume: raw.resume.map(|resume| self.resume(&resume)).transpose()?,
            endpoint,
            time_limit_us,
            name: raw.name,
            summary: raw.summary,
        })
    }

    fn timeline(
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
        let jitter_us = self.or(&field("jitter_ms"), raw.jitter_ms, MS, JITTER_US, 0)?;
        Ok(LinkState {
            duration_us,
            down_bps,
            up_bps: up_bps.unwrap_or(down_bps),
            latency_us: self.number(&field("latency_ms"), raw.latency_ms, MS, LATENCY_US)?,
            queue: self.queue(i, raw, endpoint)?,
            jitter: if jitter_us == 0 { Jitter::None } else { Jitter::Gauss { mean_us: jitter_us } },
        })
    }

    fn queue(&self, i: usize, raw: &RawState, endpoint: &Endpoint) -> Result<QueueLimit, ScenarioError> {
        match (raw.queue_ms, raw.queue_bytes, raw.queue_unlimited) {
            (Some(value), None, false) => {
                self.number(&format!("link[{i}].queue_ms"), value, MS, QUEUE_US).map(QueueLimit::DelayUs)
            }
            (None, Some(value), false) => self
                .number(&format!("link[{i}].queue_bytes"), value, BYTES, queue_bytes(endpoint))
                .map(QueueLimit::Bytes),
            (None, None, true) => Ok(QueueLimit::Unlimited),
            _ => {
                let problem =
                    "not exactly one limit (allowed: one of queue_ms, queue_bytes, queue_unlimited = true)";
                Err(self.error(&format!("link[{i}].queue_ms"), problem))
            }
        }
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

    fn resume(&self, raw: &RawResume) -> Result<Resume, ScenarioError> {
        Ok(Resume {
            cwnd_bytes: self.number("resume.cwnd_bytes", raw.cwnd_bytes, BYTES, RESUME_CWND_BYTES)?,
            rtt_us: self.number("resume.rtt_ms", raw.rtt_ms, MS, RESUME_RTT_US)?,
        })
    }

    fn endpoint(&self, raw: &RawEndpoint) -> Result<Endpoint, ScenarioError> {
        let default = Endpoint::default();
        let or = |name: &str, value, unit, range, default| {
            self.or(&format!("endpoint.{name}"), value, unit, range, default)
        };
        let mtu = or("mtu_bytes", raw.mtu_bytes, BYTES, MIN_MTU..=MAX_MTU, default.mtu)?;
        let max_ack_delay_us =
            or("max_ack_delay_ms", raw.max_ack_delay_ms, MS, 0..=16_384_000, default.max_ack_delay_us)?;
        let initial_pto_us =
            or("initial_pto_ms", raw.initial_pto_ms, MS, 1_000..=MINUTE_US, default.initial_pto_us)?;
        Ok(Endpoint {
            // A default that another field rules out follows that field.
            initial_mtu: or(
                "initial_mtu_bytes",
                raw.initial_mtu_bytes,
                BYTES,
                MIN_MTU..=mtu,
                default.initial_mtu.min(mtu),
            )?,
            mtu,
            overhead: or("overhead_bytes", raw.overhead_bytes, BYTES, 16..=200, default.overhead)?,
            ack_size: or("ack_size_bytes", raw.ack_size_bytes, BYTES, 20..=MIN_MTU, default.ack_size)?,
            initial_window: or(
                "initial_window_bytes",
                raw.initial_window_bytes,
                BYTES,
                MIN_MTU..=1_000_000_000,
                default.initial_window,
            )?,
            may_overshoot: raw.may_overshoot.unwrap_or(default.may_overshoot),
            max_ack_delay_us,
            min_ack_delay_us: or(
                "min_ack_delay_ms",
                raw.min_ack_delay_ms,
                MS,
                0..=max_ack_delay_us,
                default.min_ack_delay_us.min(max_ack_delay_us),
            )?,
            quick_ack_packets: or(
                "quick_ack_packets",
                raw.quick_ack_packets,
                COUNT,
                0..=1_000_000,
                default.quick_ack_packets,
            )?,
            max_ack_ranges: or(
                "max_ack_ranges",
                raw.max_ack_ranges,
                COUNT,
                1..=65_536,
                default.max_ack_ranges,
            )?,
            packet_threshold: or(
                "packet_threshold",
                raw.packet_threshold,
                COUNT,
                1..=1_000_000,
                default.packet_threshold,
            )?,
            mtu_losses: or("mtu_losses", raw.mtu_losses, COUNT, 1..=1_000_000, default.mtu_losses)?,
            initial_pto_us,
            max_pto_us: or(
                "max_pto_ms",
                raw.max_pto_ms,
                MS,
                initial_pto_us..=10 * MINUTE_US,
                default.max_pto_us.max(initial_pto_us),
            )?,
            initial_max_data: or(
                "initial_max_data_bytes",
                raw.initial_max_data_bytes,
                BYTES,
                FLOW_CONTROL_BYTES,
                default.initial_max_data,
            )?,
            initial_max_stream_data: or(
                "initial_max_stream_data_bytes",
                raw.initial_max_stream_data_bytes,
                BYTES,
                FLOW_CONTROL_BYTES,
                default.initial_max_stream_data,
            )?,
            max_growth_rtt_us: or(
                "max_growth_rtt_ms",
                raw.max_growth_rtt_ms,
                MS,
                100_000..=MINUTE_US,
                default.max_growth_rtt_us,
            )?,
            skip_packet_numbers: raw.skip_packet_numbers.unwrap_or(default.skip_packet_numbers),
            pacing: raw.pacing.unwrap_or(default.pacing),
            fast_convergence: raw.fast_convergence.unwrap_or(default.fast_convergence),
        })
    }

    /// An optional number in `range`.
    fn or(
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
    fn number(
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

    fn error(&self, field: &str, problem: &str) -> ScenarioError {
        ScenarioError { origin: self.origin.to_owned(), field: field.to_owned(), problem: problem.to_owned() }
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

/// What `time_limit_ms` may be.
pub(crate) fn time_limit_range() -> String {
    range_text(&TIME_LIMIT_US, MS)
}

fn range_text(range: &RangeInclusive<u64>, unit: Unit) -> String {
    let scale = u64::from(unit.per_file_unit);
    format!("{}..={}{}", decimal(*range.start(), scale), decimal(*range.end(), scale), unit.name)
}

/// `value` in units of the program; `None` if it is negative, not finite, above 10^15 or not as whole as a unit
/// without decimals must be.
fn scaled(value: Number, unit: Unit) -> Option<u64> {
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

#[cfg(test)]
mod tests;
