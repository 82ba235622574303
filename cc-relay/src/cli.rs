//! Paths and counters for people: command-line arguments and text, for the binary of this crate and for others.

use crate::{DirectionStats, DualPi2, EcnPolicy, Jitter, LinkConfig, PathConfig, QueueLimit, RelayStats};
use clap::Args;
use std::fmt::Write as _;

/// Arguments that describe a path. What is not given is not limited.
#[derive(Args, Clone, Debug, Default)]
pub struct PathArgs {
    /// Rate in Mbit/s of UDP payload, 0.001 to 1000000; 0 lets nothing through
    #[arg(long, value_name = "MBPS")]
    pub rate_mbps: Option<f64>,
    /// Delay each way in ms, 0 to 60000
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    pub delay_ms: f64,
    /// Queue in front of the link, in ms at its rate, 0.001 to 60000; not limited if not given
    #[arg(long, value_name = "MS", conflicts_with = "queue_bytes")]
    pub queue_ms: Option<f64>,
    /// The same in bytes, 1252 to 10^12
    #[arg(long, value_name = "BYTES")]
    pub queue_bytes: Option<u64>,
    /// Mean jitter in ms (Gaussian, standard deviation a third of it), 0 to 10000
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    pub jitter_ms: f64,
    /// Datagrams lost at random, 0 to 100 %
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub loss_percent: f64,
    /// Datagrams that come late and are overtaken, 0 to 100 %
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub reorder_percent: f64,
    /// How late they come, 0 to 60000 ms
    #[arg(long, value_name = "MS", default_value_t = 5.0)]
    pub reorder_ms: f64,
    /// DualPI2 (RFC 9332) instead of tail drop, with the parameters of the RFC
    #[arg(long)]
    pub dualpi2: bool,
    /// Clear ECN fields, as a proxy does that knows nothing of them
    #[arg(long)]
    pub clear_ecn: bool,
    /// Largest UDP payload that gets through, 1200 to 65527 bytes
    #[arg(long, value_name = "BYTES", default_value_t = 65_527)]
    pub mtu_bytes: usize,
}

impl PathArgs {
    /// The path that they describe. Its ranges are checked where it is used.
    ///
    /// # Errors
    ///
    /// One line that names the argument that is no number of units the relay counts in.
    pub fn path(&self) -> Result<PathConfig, String> {
        let queue = match (self.queue_ms, self.queue_bytes) {
            (Some(ms), _) => QueueLimit::DelayUs(scaled("queue-ms", ms, 1e3)?),
            (None, Some(bytes)) => QueueLimit::Bytes(bytes),
            (None, None) => QueueLimit::Unlimited,
        };
        let jitter = match scaled("jitter-ms", self.jitter_ms, 1e3)? {
            0 => Jitter::None,
            mean_us => Jitter::Gauss { mean_us },
        };
        let ppm =
            |name, percent| scaled(name, percent, 1e4).map(|ppm| u32::try_from(ppm).unwrap_or(u32::MAX));
        let any = LinkConfig::default();
        let link = LinkConfig {
            rate_bps: self.rate_mbps.map_or(Ok(any.rate_bps), |mbps| scaled("rate-mbps", mbps, 1e6))?,
            latency_us: scaled("delay-ms", self.delay_ms, 1e3)?,
            queue,
            jitter,
            loss_ppm: ppm("loss-percent", self.loss_percent)?,
            reorder_ppm: ppm("reorder-percent", self.reorder_percent)?,
            reorder_us: scaled("reorder-ms", self.reorder_ms, 1e3)?,
            dualpi2: self.dualpi2.then(DualPi2::default),
        };
        let ecn = if self.clear_ecn { EcnPolicy::Clear } else { EcnPolicy::Forward };
        Ok(PathConfig { ecn, mtu_bytes: self.mtu_bytes, ..PathConfig::new(link) })
    }
}

/// `value` in units of the program, of which there are `per_unit` in one.
fn scaled(name: &str, value: f64, per_unit: f64) -> Result<u64, String> {
    /// Above every range, below 2^53.
    const LIMIT: f64 = 1e15;
    let scaled = (value * per_unit).round();
    let vanishes = scaled == 0.0 && value != 0.0;
    if !(0.0..=LIMIT).contains(&scaled) || vanishes {
        let least = 1.0 / per_unit;
        return Err(format!("--{name}: {value} is out of range (allowed: 0, or {least} and more)"));
    }
    // Whole and below 2^53.
    Ok(scaled as u64)
}

/// The counters of a relay, a line for each direction and one for the relay itself.
#[must_use]
pub fn summary(stats: &RelayStats) -> String {
    let mut text = String::new();
    for (name, stats) in [("to server", &stats.to_server), ("to client", &stats.to_client)] {
        let _ = writeln!(text, "{name}: {}", direction(stats));
    }
    let timing = &stats.timing;
    let _ = write!(
        text,
        "clients: {} now, {} in all; ICMP errors: {}; departures late by {:.0} us on average, {} us at most, {} of {} by more \
         than 1 ms",
        stats.clients.len(),
        stats.clients_total,
        stats.icmp_errors,
        timing.late_mean_us(),
        timing.late_max_us,
        timing.later_than_1ms,
        timing.departures,
    );
    text
}

/// The counters of a direction on one line.
fn direction(stats: &DirectionStats) -> String {
    let (dropped, ecn) = (&stats.dropped, &stats.ecn_received);
    let mut text = format!(
        "{} datagrams in ({} not-ECT, {} ECT(0), {} ECT(1), {} CE), {} out ({} bytes), {} held, {} marked CE, {} dropped",
        stats.received.packets,
        ecn.not_ect,
        ecn.ect0,
        ecn.ect1,
        ecn.ce,
        stats.forwarded.packets,
        stats.forwarded.bytes,
        stats.held(),
        stats.marked_ce,
        dropped.total(),
    );
    let reasons = [
        (dropped.queue_full, "queue full"),
        (dropped.aqm, "AQM"),
        (dropped.random_loss, "random loss"),
        (dropped.too_large, "too large"),
        (dropped.socket_error, "socket error"),
        (dropped.no_memory, "no memory"),
        (dropped.no_client, "no room for the client"),
        (dropped.client_gone, "client gone"),
    ];
    let reasons: Vec<String> = reasons
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, reason)| format!("{count} {reason}"))
        .collect();
    if !reasons.is_empty() {
        let _ = write!(text, " ({})", reasons.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{PathArgs, summary};
    use crate::{DualPi2, EcnPolicy, Jitter, LinkConfig, PathConfig, QueueLimit, RelayStats};

    fn nothing() -> PathArgs {
        PathArgs { reorder_ms: 5.0, mtu_bytes: 65_527, ..PathArgs::default() }
    }

    #[test]
    fn units_of_people_become_those_of_the_link() {
        let args = PathArgs {
            rate_mbps: Some(12.5),
            delay_ms: 20.25,
            queue_ms: Some(40.0),
            jitter_ms: 1.5,
            loss_percent: 0.5,
            reorder_percent: 1.0,
            dualpi2: true,
            clear_ecn: true,
            ..nothing()
        };
        let expected = LinkConfig {
            rate_bps: 12_500_000,
            latency_us: 20_250,
            queue: QueueLimit::DelayUs(40_000),
            jitter: Jitter::Gauss { mean_us: 1_500 },
            loss_ppm: 5_000,
            reorder_ppm: 10_000,
            reorder_us: 5_000,
            dualpi2: Some(DualPi2::default()),
        };
        let path = args.path().unwrap();
        assert_eq!(path, PathConfig { ecn: EcnPolicy::Clear, ..PathConfig::new(expected) });
    }

    #[test]
    fn without_arguments_nothing_is_limited() {
        let expected = LinkConfig { reorder_us: 5_000, ..LinkConfig::default() };
        assert_eq!(nothing().path().unwrap(), PathConfig::new(expected));
    }

    #[test]
    fn numbers_that_are_no_units_are_refused() {
        for delay_ms in [-1.0, f64::NAN, f64::INFINITY, 0.000_1] {
            let error = PathArgs { delay_ms, ..nothing() }.path().unwrap_err();
            assert!(error.starts_with("--delay-ms: "), "{error}");
        }
    }

    #[test]
    fn a_summary_names_the_reasons_that_there_were() {
        let mut stats = RelayStats::default();
        stats.to_server.received.packets = 5;
        stats.to_server.dropped.random_loss = 2;
        let text = summary(&stats);
        assert!(text.contains("to server: 5 datagrams in"), "{text}");
        assert!(text.contains("3 held, 0 marked CE, 2 dropped (2 random loss)"), "{text}");
        assert_eq!(text.lines().count(), 3);
    }
}
