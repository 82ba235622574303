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
//! ends = "main"                 # optional: the run ends with the main flow; or "all" for all flows,
//!                               # or duration_ms = 1..=time_limit_ms instead
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
//! up_queue_ms = 100             # optional: another queue from the data receiver to the data sender, in the same three
//!                               # ways (up_queue_bytes, up_queue_unlimited)
//! jitter_ms = 2                 # optional, 0..=10000: mean of the jitter
//! jitter_model = "gauss"        # optional: Gaussian; or "wifi" as simulated, "wifi_written" as in the draft's text
//! loss_percent = 0.1            # optional, 0..=50: packets lost at random on the way to the data receiver
//! up_loss_percent = 1           # optional, 0..=50: and on the way back, ACKs among them
//!
//! [[link]]
//! rate_mbps = 10
//! latency_ms = 50
//! queue_ms = 80
//!
//! [[queue_for]]                 # optional, at most one for each algorithm: another queue in all states and both ways
//! algorithm = "bbr"             # if this is the algorithm of the main flow
//! queue_ms = 30                 # in one of the three ways of [[link]]
//!
//! [transfer]
//! size_bytes = 7_000_000        # 1..=10^11
//! start_ms = 0                  # optional, 0..=3600000, less than time_limit_ms
//! access_ms = 0                 # optional, 0..=60000: propagation delay each way that this flow has after the link
//!
//! # In the place of [transfer], audio and video:
//! # [media]
//! # start_ms = 0                # optional, as is access_ms: as in [transfer]
//! # stats_from_ms = 200         # optional, 0..=86400000: units that the client expects before do not count
//! # all_datagrams_count = false # optional: whether datagrams count from the first one nevertheless
//! # one_timer = false           # optional: whether the sender has one timer for all streams, set by the last of them that
//! #                             # waits for its next frame, even if a datagram is due before
//! #
//! # [[media.stream]]            # 1..=16
//! # name = "audio"              # 1..=32 of A-Z a-z 0-9 _ -
//! # kind = "datagrams"          # or "frames" in groups, each group a QUIC stream
//! # priority = 2                # 0..=255: lower ones go first; of one even number, streams take turns
//! # per_second = 50             # 1..=1000
//! # units = 250                 # 1..=1000000: datagrams or frames in all
//! # unit_bytes = 80             # datagrams: 8..=1000; frames: 8..=10000000, a group initial_max_stream_data_bytes at most
//! # counts = true               # optional: whether its delays are in the result; in one stream at least
//! # group = 30                  # optional, frames only, 1..=1000000: frames of a group; all if not given
//! # first_bytes = 37_500        # optional, frames only, 8..=10000000: first frame of a group; unit_bytes if not given
//! # stop_after_ms = 250         # optional, frames only, 0..=60000: the client gives a group up (STOP_SENDING) when a frame
//! #                             # is complete more than this and the time of one frame late; never if not given
//!
//! [[flow]]                      # optional, at most 255: another flow over the same links
//! algorithm = "main"            # optional: that of the main flow; or the name of one
//! size_bytes = 10_000_000       # 1..=10^11
//! start_ms = 500                # optional, 0..=3600000, less than time_limit_ms
//! access_ms = 0                 # optional, as that of the main flow
//! direction = "forward"         # optional: as the main flow; or "reverse"
//!
//! [[cross]]                     # optional, at most 64: datagrams that nobody waits for, at a constant rate
//! rate_mbps = 2                 # 0.001..=8 times packet_bytes: at most one datagram a microsecond
//! packet_bytes = 1_200          # optional, 20..=65527
//! direction = "reverse"         # optional: which link it loads; "forward" if not given
//! start_ms = 1_000              # optional, 0..=86400000
//! stop_ms = 9_000               # optional, start_ms..=86400000
//! on_ms = 100                   # optional, with off_ms: on and off in turn, 0.001..=86400000 each
//! off_ms = 50
//! random = false                # optional: whether these are means of exponential distributions
//!
//! [dualpi2]                     # optional: DualPI2 (RFC 9332) instead of tail drop in front of both links, in the room that
//!                               # queue_ms and so on give; every field is optional, the values are the defaults
//! target_ms = 15                # 0.1..=60000: delay of the classic queue
//! rtt_max_ms = 100              # 1..=60000: largest RTT to be stable at
//! update_ms = 15                # 0.1..=10000; if not given, the smaller of target_ms and a third of rtt_max_ms
//! coupling = 2                  # 1..=16
//! l4s_min_ms = 0.8              # 0..=60000: delay of the L queue at which its own ramp starts to mark
//! l4s_range_ms = 0.4            # 0..=60000: length of the ramp; 0 for a step
//! l4s_min_packets = 1           # 0..=1000000: packets that must be left in the L queue for that
//! scheduler = "wrr"             # weighted round robin; or "ts_fifo": time-shifted FIFO
//! l4s_weight = 15               # 1..=1000, of wrr: parts of the L queue, of which the classic queue has one
//!                               # (of ts_fifo: shift_ms = 50, 0..=60000)
//!
//! [resume]                      # optional: what the main flow remembers (RFC 9959)
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
//! ecn = "off"                   # codepoint of the data senders: not-ECT; or "ect0"; or "l4s": ECT(1) for algorithms that
//!                               # want it, not-ECT for others; or "wanted": what each algorithm wants
//! report_ecn = true             # whether the data receivers report ECN counts in their ACKs
//! receive_timestamps = false    # draft-ietf-quic-receive-ts; the fields below have no effect without it
//! receive_timestamps_exponent = 0         # 0..=20
//! max_receive_timestamps_per_ack = 32     # 1..=16383
//! receive_timestamps_missing_percent = 0  # 0..=100
//! receiver_clock_offset_ms = 0            # 0..=31536000000
//! receiver_clock_drift_ppm = 0            # -10000..=10000
//! receive_times_from_rtt = false          # send time + smoothed RTT instead: for comparison
//! ```

mod check;
mod cross;
pub(crate) mod dualpi2;
mod endpoint;
mod flows;
mod media;
pub(crate) mod path;
mod raw;

use super::{Scenario, ScenarioError};
use crate::text::is_hidden;
use check::{Checker, DAY_US, MS, range_text};
pub(super) use dualpi2::{ROUND_ROBIN, SHIFTED_FIFO};
use raw::RawScenario;
use std::ops::RangeInclusive;

// In microseconds.
const TIME_LIMIT_US: RangeInclusive<u64> = 1_000..=DAY_US;
const MAX_NAME: usize = 64;
const MAX_SUMMARY: usize = 200;
/// Virtual time after which a run is given up if the file does not say.
pub(super) const DEFAULT_TIME_LIMIT_US: u64 = 600_000_000;

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
            field: field_name(path),
            problem: e.inner().message().to_owned(),
            long_integer_ends: span
                .filter(|span| text.get(span.clone()).is_some_and(is_long_integer))
                .map(|span| span.end),
        }
    })
}

/// The field at a path of keys. A key may be empty.
fn field_name(path: String) -> String {
    if path == "." {
        "scenario".to_owned()
    } else if path.is_empty() || path.ends_with('.') {
        path + "\"\""
    } else {
        path
    }
}

/// Whether `literal` is a decimal integer with more digits than 128 bits hold.
fn is_long_integer(literal: &str) -> bool {
    let digits = literal.strip_prefix(['+', '-']).unwrap_or(literal);
    digits.len() >= 39 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
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
        let endpoint = self.endpoint(&raw.endpoint)?;
        let (transfer, media) = self.main_flow(&raw, &endpoint, time_limit_us)?;
        Ok(Scenario {
            link: self.timeline(&raw.link, raw.link_repeats, &endpoint)?,
            queue_for: self.queues_for(&raw.queue_for, &endpoint)?,
            dualpi2: raw.dualpi2.as_ref().map(|raw| self.dualpi2(raw)).transpose()?,
            transfer,
            media,
            flows: self.flows(&raw.flow, time_limit_us)?,
            cross: self.cross(&raw.cross)?,
            end: self.end(&raw, time_limit_us)?,
            resume: raw.resume.map(|resume| self.resume(&resume)).transpose()?,
            endpoint,
            time_limit_us,
            name: raw.name,
            summary: raw.summary,
        })
    }
}

/// What `time_limit_ms` may be.
pub(crate) fn time_limit_range() -> String {
    range_text(&TIME_LIMIT_US, MS)
}

#[cfg(test)]
mod tests;
