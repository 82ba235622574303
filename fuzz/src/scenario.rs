//! The `scenario` target: text for the simulator's parser.

use cc_sim::scenario::{
    CrossTraffic, DualPi2, Jitter, LinkState, Media, MediaKind, MediaStream, Pattern, QueueLimit, RunEnd,
    Scheduler, Transfer, parse,
};
use cc_sim::{Algorithm, Scenario};
use std::ops::RangeInclusive;

// The ranges that the documentation of the file format gives, in microseconds, bits per second, bytes and millionths.
const MINUTE: u64 = 60_000_000;
const DAY: u64 = 86_400_000_000;

/// Reads a text. What is no scenario gives an error of one line that names the field; what is one is within the documented
/// ranges and is read as itself when printed.
pub fn check(text: &str) {
    let scenario = match parse(text, "input") {
        Ok(scenario) => scenario,
        Err(error) => {
            let message = error.to_string();
            assert!(!error.field().is_empty() && message.starts_with("input: "), "{message}");
            assert!(!message.contains(['\n', '\r']), "{message:?}");
            return;
        }
    };
    ranges(&scenario);
    let printed = scenario.to_toml();
    assert_eq!(parse(&printed, "printed"), Ok(scenario), "{printed}");
}

fn within(what: &str, value: u64, range: RangeInclusive<u64>) {
    assert!(range.contains(&value), "{what} is {value}, allowed are {range:?}");
}

fn ranges(scenario: &Scenario) {
    let Scenario {
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
    } = scenario;
    assert!(
        (1..=64).contains(&name.len())
            && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-".contains(&c))
    );
    assert!(summary.chars().count() <= 200 && !summary.chars().any(char::is_control));
    within("time_limit", *time_limit_us, 1_000..=DAY);
    within("states", link.states.len() as u64, 1..=1_000);
    within("flows", flows.len() as u64, 0..=255);
    for transfer in flows.iter().map(|flow| &flow.transfer).chain([transfer]) {
        let Transfer { bytes, start_us, access_us } = transfer;
        within("access", *access_us, 0..=MINUTE);
        within("size", *bytes, 1..=100_000_000_000);
        within("start", *start_us, 0..=3_600_000_000.min(time_limit_us - 1));
    }
    media.iter().for_each(|media| media_ranges(media, endpoint.initial_max_stream_data));
    within("queues", queue_for.len() as u64, 0..=Algorithm::ALL.len() as u64);
    queue_for.iter().for_each(|own| queue_range(own.queue, endpoint.initial_mtu));
    within("sources", cross.len() as u64, 0..=64);
    cross.iter().for_each(source_ranges);
    if let RunEnd::At(us) = end {
        within("duration", *us, 1_000..=*time_limit_us);
    }
    if let Some(resume) = resume {
        within("resume.cwnd", resume.cwnd_bytes, 1_200..=1_000_000_000_000);
        within("resume.rtt", resume.rtt_us, 1..=MINUTE);
    }
    for (place, state) in link.states.iter().enumerate() {
        let ends = link.repeat || place + 1 < link.states.len();
        state_ranges(state, ends, endpoint.initial_mtu);
    }
    assert!(link.states.iter().any(|state| state.down_bps > 0));
    assert!(link.states.iter().any(|state| state.up_bps > 0));

    if let Some(dualpi2) = dualpi2 {
        dualpi2_ranges(dualpi2);
    }
    within("mtu", endpoint.mtu, 1_200..=65_527);
    within("initial_mtu", endpoint.initial_mtu, 1_200..=endpoint.mtu);
    within("overhead", endpoint.overhead, 16..=200);
    within("ack_size", endpoint.ack_size, 20..=1_200);
    within("initial_window", endpoint.initial_window, 1_200..=1_000_000_000);
    within("max_ack_delay", endpoint.max_ack_delay_us, 0..=16_384_000);
    within("min_ack_delay", endpoint.min_ack_delay_us, 0..=endpoint.max_ack_delay_us);
    within("quick_ack_packets", endpoint.quick_ack_packets, 0..=1_000_000);
    within("max_ack_ranges", endpoint.max_ack_ranges, 1..=65_536);
    within("packet_threshold", endpoint.packet_threshold, 1..=1_000_000);
    within("mtu_losses", endpoint.mtu_losses, 1..=1_000_000);
    within("initial_pto", endpoint.initial_pto_us, 1_000..=MINUTE);
    within("max_pto", endpoint.max_pto_us, endpoint.initial_pto_us..=10 * MINUTE);
    within("initial_max_data", endpoint.initial_max_data, 65_527..=1_000_000_000_000_000);
    within("initial_max_stream_data", endpoint.initial_max_stream_data, 65_527..=1_000_000_000_000_000);
    within("max_growth_rtt", endpoint.max_growth_rtt_us, 100_000..=MINUTE);
    if let Some(times) = endpoint.receive_timestamps {
        within("exponent", times.exponent.into(), 0..=20);
        within("max_per_ack", times.max_per_ack, 1..=16_383);
        within("missing", times.missing_ppm.into(), 0..=1_000_000);
    }
    within("clock_offset", endpoint.receiver_clock.offset_us, 0..=365 * DAY);
    assert!((-10_000..=10_000).contains(&endpoint.receiver_clock.drift_ppm));
}

fn dualpi2_ranges(dualpi2: &DualPi2) {
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
    within("target", target_us, 100..=MINUTE);
    within("rtt_max", rtt_max_us, 1_000..=MINUTE);
    // What is given, or a third of a minute.
    within("update", update_us, 100..=20_000_000);
    within("coupling", coupling, 1..=16);
    within("l4s_min", l4s_min_us, 0..=MINUTE);
    within("l4s_range", l4s_range_us, 0..=MINUTE);
    within("l4s_min_packets", l4s_min_packets, 0..=1_000_000);
    match scheduler {
        Scheduler::RoundRobin { l4s_weight } => within("l4s_weight", l4s_weight, 1..=1_000),
        Scheduler::ShiftedFifo { shift_us } => within("shift", shift_us, 0..=MINUTE),
    }
}

fn media_ranges(media: &Media, stream_window: u64) {
    let Media { stats_from_us, all_datagrams_count: _, one_timer: _, streams } = media;
    within("stats_from", *stats_from_us, 0..=DAY);
    within("streams", streams.len() as u64, 1..=16);
    assert!(streams.iter().any(|stream| stream.counts));
    for stream in streams {
        let MediaStream { name, kind, priority: _, per_second, units, unit_bytes, counts: _ } = stream;
        assert!((1..=32).contains(&name.len()) && name.is_ascii());
        within("per_second", *per_second, 1..=1_000);
        within("units", *units, 1..=1_000_000);
        match *kind {
            MediaKind::Datagrams => within("datagram", *unit_bytes, 8..=1_000),
            MediaKind::Frames { group, first_bytes, stop_after_us } => {
                within("frame", *unit_bytes, 8..=10_000_000);
                within("first", first_bytes, 8..=10_000_000);
                within("group", group, 1..=1_000_000);
                within("group bytes", stream.bytes_until(stream.units_of(0)), 8..=stream_window);
                within("stop_after", stop_after_us.unwrap_or(0), 0..=MINUTE);
            }
        }
    }
}

fn source_ranges(source: &CrossTraffic) {
    let CrossTraffic { direction: _, rate_bps, packet_bytes, start_us, stop_us, pattern } = *source;
    within("cross.packet", packet_bytes, 20..=65_527);
    within("cross.rate", rate_bps, 1_000..=packet_bytes * 8_000_000);
    within("cross.start", start_us, 0..=DAY);
    if let Some(stop_us) = stop_us {
        within("cross.stop", stop_us, start_us..=DAY);
    }
    if let Pattern::OnOff { on_us, off_us, random: _ } = pattern {
        within("cross.on", on_us, 1..=DAY);
        within("cross.off", off_us, 1..=DAY);
    }
}

fn queue_range(queue: QueueLimit, initial_mtu: u64) {
    match queue {
        QueueLimit::DelayUs(us) => within("queue", us, 1..=MINUTE),
        QueueLimit::Bytes(bytes) => within("queue", bytes, initial_mtu.max(1_252)..=1_000_000_000_000),
        QueueLimit::Unlimited => {}
    }
}

fn state_ranges(state: &LinkState, ends: bool, initial_mtu: u64) {
    assert_eq!(state.duration_us.is_some(), ends);
    if let Some(us) = state.duration_us {
        within("duration", us, 1_000..=DAY);
    }
    for rate in [state.down_bps, state.up_bps] {
        assert!(ends || rate > 0, "0 for ever");
        if rate > 0 {
            within("rate", rate, 1_000..=1_000_000_000_000);
        }
    }
    within("latency", state.latency_us, 0..=MINUTE);
    for queue in [state.queue, state.up_queue] {
        queue_range(queue, initial_mtu);
    }
    if let Jitter::Gauss { mean_us: us } | Jitter::Wifi { average_us: us, .. } = state.jitter {
        within("jitter", us, 1..=10_000_000);
    }
    within("loss", state.loss_ppm.into(), 0..=500_000);
    within("loss", state.up_loss_ppm.into(), 0..=500_000);
}
