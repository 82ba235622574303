//! The scenario file of a scenario: what a fuzz target has found becomes a file that can be kept.

use super::parse::{ROUND_ROBIN, SHIFTED_FIFO};
use super::{
    CrossTraffic, Direction, DualPi2, Endpoint, Flow, FlowAlgorithm, Jitter, LinkState, LinkTimeline, Media,
    MediaKind, MediaStream, Pattern, QueueFor, QueueLimit, ReceiveTimestamps, ReceiverClock, Resume, RunEnd,
    Scenario, Scheduler, Transfer,
};
use crate::text::decimal;
use std::fmt::{Display, Write as _};

/// Units of the program in one of the file: microseconds in a millisecond, bits in a megabit, millionths in a percent.
const MS: u64 = 1_000;
const MBPS: u64 = 1_000_000;
const PERCENT: u64 = 10_000;

impl Scenario {
    /// The scenario as a file. [`parse`](super::parse) reads it as the same scenario if it is one that a file can have.
    ///
    /// Everything is destructured, so that a field that is new cannot be forgotten here.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let Self {
            name,
            summary,
            link,
            queue_for,
            dualpi2,
            transfer,
            media,
            resume,
            flows,
            cross,
            end,
            endpoint,
            time_limit_us,
        } = self;
        let mut file = File::default();
        file.line("name", quoted(name));
        file.line("summary", quoted(summary));
        file.line("time_limit_ms", decimal(*time_limit_us, MS));
        let LinkTimeline { states, repeat } = link;
        file.unless("link_repeats", *repeat, false);
        match end {
            RunEnd::MainFlow => {}
            RunEnd::AllFlows => file.line("ends", quoted("all")),
            RunEnd::At(us) => file.line("duration_ms", decimal(*us, MS)),
        }
        for state in states {
            file.table("[[link]]");
            file.state(state);
        }
        for QueueFor { algorithm, queue } in queue_for {
            file.table("[[queue_for]]");
            file.line("algorithm", quoted(algorithm.name()));
            file.queue("queue", *queue);
        }
        if let Some(dualpi2) = dualpi2 {
            file.table("[dualpi2]");
            file.dualpi2(dualpi2);
        }
        match media {
            None => {
                file.table("[transfer]");
                file.transfer(transfer);
            }
            Some(media) => {
                file.table("[media]");
                file.media(media, transfer);
            }
        }
        for Flow { algorithm, transfer, direction } in flows {
            file.table("[[flow]]");
            match algorithm {
                FlowAlgorithm::Main => {}
                FlowAlgorithm::Fixed(algorithm) => file.line("algorithm", quoted(algorithm.name())),
            }
            file.transfer(transfer);
            file.direction(*direction);
        }
        for source in cross {
            file.table("[[cross]]");
            file.cross(source);
        }
        if let Some(Resume { cwnd_bytes, rtt_us }) = resume {
            file.table("[resume]");
            file.line("cwnd_bytes", cwnd_bytes);
            file.line("rtt_ms", decimal(*rtt_us, MS));
        }
        if *endpoint != Endpoint::default() {
            file.table("[endpoint]");
            file.endpoint(endpoint);
        }
        file.0
    }
}

/// A file that is being written.
#[derive(Default)]
struct File(String);

impl File {
    fn line(&mut self, key: &str, value: impl Display) {
        // A string takes whatever is written to it.
        let _ = writeln!(self.0, "{key} = {value}");
    }

    fn table(&mut self, header: &str) {
        let _ = writeln!(self.0, "\n{header}");
    }

    fn unless<T: Display + PartialEq>(&mut self, key: &str, value: T, default: T) {
        if value != default {
            self.line(key, value);
        }
    }

    fn scaled_unless(&mut self, key: &str, value: u64, scale: u64, default: u64) {
        if value != default {
            self.line(key, decimal(value, scale));
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        let Transfer { bytes, start_us, access_us } = transfer;
        self.line("size_bytes", bytes);
        self.path_of(*start_us, *access_us);
    }

    fn path_of(&mut self, start_us: u64, access_us: u64) {
        self.scaled_unless("start_ms", start_us, MS, 0);
        self.scaled_unless("access_ms", access_us, MS, 0);
    }

    fn media(&mut self, media: &Media, transfer: &Transfer) {
        // Its size is that of the streams.
        let Transfer { bytes: _, start_us, access_us } = *transfer;
        let Media { stats_from_us, all_datagrams_count, one_timer, streams } = media;
        self.path_of(start_us, access_us);
        self.scaled_unless("stats_from_ms", *stats_from_us, MS, 0);
        self.unless("all_datagrams_count", *all_datagrams_count, false);
        self.unless("one_timer", *one_timer, false);
        for stream in streams {
            let MediaStream { name, kind, priority, per_second, units, unit_bytes, counts } = stream;
            self.table("[[media.stream]]");
            self.line("name", quoted(name));
            match kind {
                MediaKind::Datagrams => self.line("kind", quoted("datagrams")),
                MediaKind::Frames { .. } => self.line("kind", quoted("frames")),
            }
            self.line("priority", priority);
            self.line("per_second", per_second);
            self.line("units", units);
            self.line("unit_bytes", unit_bytes);
            if let MediaKind::Frames { group, first_bytes, stop_after_us } = kind {
                self.unless("group", *group, *units);
                self.unless("first_bytes", *first_bytes, *unit_bytes);
                if let Some(us) = stop_after_us {
                    self.line("stop_after_ms", decimal(*us, MS));
                }
            }
            self.unless("counts", *counts, true);
        }
    }

    fn direction(&mut self, direction: Direction) {
        match direction {
            Direction::Forward => {}
            Direction::Reverse => self.line("direction", quoted("reverse")),
        }
    }

    fn cross(&mut self, source: &CrossTraffic) {
        let CrossTraffic { direction, rate_bps, packet_bytes, start_us, stop_us, pattern } = source;
        self.line("rate_mbps", decimal(*rate_bps, MBPS));
        self.line("packet_bytes", packet_bytes);
        self.direction(*direction);
        self.scaled_unless("start_ms", *start_us, MS, 0);
        if let Some(us) = stop_us {
            self.line("stop_ms", decimal(*us, MS));
        }
        match pattern {
            Pattern::Constant => {}
            Pattern::OnOff { on_us, off_us, random } => {
                self.line("on_ms", decimal(*on_us, MS));
                self.line("off_ms", decimal(*off_us, MS));
                self.unless("random", *random, false);
            }
        }
    }

    fn state(&mut self, state: &LinkState) {
        let LinkState {
            duration_us,
            down_bps,
            up_bps,
            latency_us,
            queue,
            up_queue,
            jitter,
            loss_ppm,
            up_loss_ppm,
        } = state;
        if let Some(us) = duration_us {
            self.line("duration_ms", decimal(*us, MS));
        }
        self.line("rate_mbps", decimal(*down_bps, MBPS));
        self.scaled_unless("up_mbps", *up_bps, MBPS, *down_bps);
        self.line("latency_ms", decimal(*latency_us, MS));
        self.queue("queue", *queue);
        if up_queue != queue {
            self.queue("up_queue", *up_queue);
        }
        match jitter {
            Jitter::None => {}
            Jitter::Gauss { mean_us } => self.line("jitter_ms", decimal(*mean_us, MS)),
            Jitter::Wifi { average_us, model } => {
                self.line("jitter_ms", decimal(*average_us, MS));
                self.line("jitter_model", quoted(model.name()));
            }
        }
        self.scaled_unless("loss_percent", (*loss_ppm).into(), PERCENT, 0);
        self.scaled_unless("up_loss_percent", (*up_loss_ppm).into(), PERCENT, 0);
    }

    fn queue(&mut self, name: &str, limit: QueueLimit) {
        match limit {
            QueueLimit::DelayUs(us) => self.line(&format!("{name}_ms"), decimal(us, MS)),
            QueueLimit::Bytes(bytes) => self.line(&format!("{name}_bytes"), bytes),
            QueueLimit::Unlimited => self.line(&format!("{name}_unlimited"), true),
        }
    }

    fn dualpi2(&mut self, dualpi2: &DualPi2) {
        let DualPi2 {
            target_us,
            rtt_max_us,
            update_us,
            coupling,
            l4s_min_us,
            l4s_range_us,
            l4s_min_packets,
            scheduler,
        } = *dualpi2;
        let default = DualPi2::default();
        self.scaled_unless("target_ms", target_us, MS, default.target_us);
        self.scaled_unless("rtt_max_ms", rtt_max_us, MS, default.rtt_max_us);
        self.scaled_unless("update_ms", update_us, MS, DualPi2::update_us(target_us, rtt_max_us));
        self.unless("coupling", coupling, default.coupling);
        self.scaled_unless("l4s_min_ms", l4s_min_us, MS, default.l4s_min_us);
        self.scaled_unless("l4s_range_ms", l4s_range_us, MS, default.l4s_range_us);
        self.unless("l4s_min_packets", l4s_min_packets, default.l4s_min_packets);
        match scheduler {
            Scheduler::RoundRobin { l4s_weight } => {
                self.line("scheduler", quoted(ROUND_ROBIN));
                self.line("l4s_weight", l4s_weight);
            }
            Scheduler::ShiftedFifo { shift_us } => {
                self.line("scheduler", quoted(SHIFTED_FIFO));
                self.line("shift_ms", decimal(shift_us, MS));
            }
        }
    }

    fn endpoint(&mut self, endpoint: &Endpoint) {
        let Endpoint {
            initial_mtu,
            mtu,
            overhead,
            ack_size,
            initial_window,
            may_overshoot,
            max_ack_delay_us,
            min_ack_delay_us,
            quick_ack_packets,
            max_ack_ranges,
            packet_threshold,
            mtu_losses,
            initial_pto_us,
            max_pto_us,
            initial_max_data,
            initial_max_stream_data,
            max_growth_rtt_us,
            skip_packet_numbers,
            pacing,
            fast_convergence,
            ecn,
            report_ecn,
            receive_timestamps,
            receiver_clock: ReceiverClock { offset_us, drift_ppm },
            receive_times_from_rtt,
        } = *endpoint;
        let default = Endpoint::default();
        // What follows another field where it is left out is not left out.
        self.line("initial_mtu_bytes", initial_mtu);
        self.line("mtu_bytes", mtu);
        self.unless("overhead_bytes", overhead, default.overhead);
        self.unless("ack_size_bytes", ack_size, default.ack_size);
        self.unless("initial_window_bytes", initial_window, default.initial_window);
        self.unless("may_overshoot", may_overshoot, default.may_overshoot);
        self.line("max_ack_delay_ms", decimal(max_ack_delay_us, MS));
        self.line("min_ack_delay_ms", decimal(min_ack_delay_us, MS));
        self.unless("quick_ack_packets", quick_ack_packets, default.quick_ack_packets);
        self.unless("max_ack_ranges", max_ack_ranges, default.max_ack_ranges);
        self.unless("packet_threshold", packet_threshold, default.packet_threshold);
        self.unless("mtu_losses", mtu_losses, default.mtu_losses);
        self.line("initial_pto_ms", decimal(initial_pto_us, MS));
        self.line("max_pto_ms", decimal(max_pto_us, MS));
        self.unless("initial_max_data_bytes", initial_max_data, default.initial_max_data);
        self.unless(
            "initial_max_stream_data_bytes",
            initial_max_stream_data,
            default.initial_max_stream_data,
        );
        self.scaled_unless("max_growth_rtt_ms", max_growth_rtt_us, MS, default.max_growth_rtt_us);
        self.unless("skip_packet_numbers", skip_packet_numbers, default.skip_packet_numbers);
        self.unless("pacing", pacing, default.pacing);
        self.unless("fast_convergence", fast_convergence, default.fast_convergence);
        if ecn != default.ecn {
            self.line("ecn", quoted(ecn.name()));
        }
        self.unless("report_ecn", report_ecn, default.report_ecn);
        if let Some(ReceiveTimestamps { exponent, max_per_ack, missing_ppm }) = receive_timestamps {
            let default = ReceiveTimestamps::default();
            self.line("receive_timestamps", true);
            self.unless("receive_timestamps_exponent", exponent, default.exponent);
            self.unless("max_receive_timestamps_per_ack", max_per_ack, default.max_per_ack);
            let missing = u64::from(missing_ppm);
            self.scaled_unless("receive_timestamps_missing_percent", missing, PERCENT, 0);
        }
        self.scaled_unless("receiver_clock_offset_ms", offset_us, MS, 0);
        self.unless("receiver_clock_drift_ppm", drift_ppm, 0);
        self.unless("receive_times_from_rtt", receive_times_from_rtt, default.receive_times_from_rtt);
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use crate::scenario::{builtin, builtin_names, parse};

    #[test]
    fn a_built_in_scenario_is_read_again_as_itself() {
        for name in builtin_names() {
            let scenario = builtin(name).unwrap();
            assert_eq!(parse(&scenario.to_toml(), name), Ok(scenario));
        }
    }

    #[test]
    fn every_field_of_audio_and_video_is_written() {
        let text = r#"
name = "media"
summary = "all"
time_limit_ms = 600000
[[link]]
rate_mbps = 8
latency_ms = 0
queue_unlimited = true
[media]
start_ms = 0.5
access_ms = 3
stats_from_ms = 200.25
all_datagrams_count = true
one_timer = true
[[media.stream]]
name = "audio"
kind = "datagrams"
priority = 2
per_second = 50
units = 250
unit_bytes = 80
[[media.stream]]
name = "video"
kind = "frames"
priority = 255
per_second = 30
units = 150
unit_bytes = 6250
group = 29
first_bytes = 62500
stop_after_ms = 0
counts = false
[[media.stream]]
name = "all"
kind = "frames"
priority = 0
per_second = 1
units = 2
unit_bytes = 10
"#;
        let scenario = parse(text, "test").unwrap();
        let printed = scenario.to_toml();
        assert_eq!(parse(&printed, "test"), Ok(scenario));
        let lines = |text: &str| {
            text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<String>>()
        };
        assert_eq!(lines(&printed), lines(text));
    }

    #[test]
    fn every_field_is_written() {
        let text = r#"
name = "all"
summary = "a \"quoted\" \\ word"
time_limit_ms = 10_000.001
link_repeats = true
ends = "all"
[[link]]
duration_ms = 2.5
rate_mbps = 5.000001
up_mbps = 1
latency_ms = 0
queue_ms = 80
up_queue_unlimited = true
jitter_ms = 2
loss_percent = 0.0001
up_loss_percent = 50
[[link]]
duration_ms = 1
rate_mbps = 0
up_mbps = 7
latency_ms = 60_000
queue_bytes = 100_000
up_queue_bytes = 1_300
jitter_ms = 7
jitter_model = "wifi"
[[link]]
duration_ms = 3
rate_mbps = 8
latency_ms = 4
queue_ms = 81
jitter_ms = 0.5
jitter_model = "wifi_written"
[[queue_for]]
algorithm = "c4"
queue_ms = 250
[[queue_for]]
algorithm = "reno"
queue_bytes = 90_000
[[queue_for]]
algorithm = "bbr"
queue_unlimited = true
[dualpi2]
target_ms = 10
rtt_max_ms = 50.5
update_ms = 4
coupling = 3
l4s_min_ms = 1
l4s_range_ms = 0
l4s_min_packets = 2
scheduler = "wrr"
l4s_weight = 9
[transfer]
size_bytes = 7
start_ms = 0.5
[[flow]]
algorithm = "cubic"
size_bytes = 8
start_ms = 9
access_ms = 3.5
direction = "reverse"
[[flow]]
size_bytes = 1
[[cross]]
rate_mbps = 0.5
packet_bytes = 100
direction = "reverse"
start_ms = 1
stop_ms = 2.5
on_ms = 0.1
off_ms = 0.2
random = true
[[cross]]
rate_mbps = 2
packet_bytes = 1_200
[resume]
cwnd_bytes = 18_750_000
rtt_ms = 600.123
[endpoint]
initial_mtu_bytes = 1_201
mtu_bytes = 1_202
overhead_bytes = 35
ack_size_bytes = 56
initial_window_bytes = 20_000
may_overshoot = false
max_ack_delay_ms = 11
min_ack_delay_ms = 2
quick_ack_packets = 3
max_ack_ranges = 4
packet_threshold = 5
mtu_losses = 6
initial_pto_ms = 7
max_pto_ms = 8
initial_max_data_bytes = 100_000
initial_max_stream_data_bytes = 100_001
max_growth_rtt_ms = 101
skip_packet_numbers = false
pacing = false
fast_convergence = true
ecn = "l4s"
report_ecn = false
receive_timestamps = true
receive_timestamps_exponent = 3
max_receive_timestamps_per_ack = 8
receive_timestamps_missing_percent = 0.5
receiver_clock_offset_ms = 1.5
receiver_clock_drift_ppm = -200
receive_times_from_rtt = true
"#;
        let scenario = parse(text, "test").unwrap();
        let printed = scenario.to_toml();
        assert_eq!(parse(&printed, "test"), Ok(scenario));
        // Each line of the one is in the other: nothing was lost that is a default, or made one.
        let lines = |text: &str| {
            let mut lines: Vec<String> =
                text.replace('_', "").lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        assert_eq!(lines(&printed), lines(text));
    }
}
