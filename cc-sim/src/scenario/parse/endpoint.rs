//! The `[endpoint]` table.

use super::check::{BYTES, COUNT, Checker, DAY_US, MINUTE_US, MS, PERCENT, scaled};
use super::raw::{Number, RawEndpoint};
use crate::scenario::{EcnUse, Endpoint, ReceiveTimestamps, ReceiverClock, ScenarioError};
use std::ops::RangeInclusive;

/// Largest UDP payload (RFC 9000 section 18.2, max_udp_payload_size).
const MAX_MTU: u64 = 65_527;
/// Smallest datagram size that QUIC works with (RFC 9000 section 14).
const MIN_MTU: u64 = 1_200;
const MAX_DRIFT_PPM: u64 = 10_000;
const FLOW_CONTROL_BYTES: RangeInclusive<u64> = MAX_MTU..=1_000_000_000_000_000;

impl Checker<'_> {
    pub(super) fn endpoint(&self, raw: &RawEndpoint) -> Result<Endpoint, ScenarioError> {
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
            ecn: self.ecn(raw.ecn.as_deref())?,
            report_ecn: raw.report_ecn.unwrap_or(default.report_ecn),
            receive_timestamps: self.receive_timestamps(raw)?,
            receiver_clock: ReceiverClock {
                offset_us: or(
                    "receiver_clock_offset_ms",
                    raw.receiver_clock_offset_ms,
                    MS,
                    0..=365 * DAY_US,
                    default.receiver_clock.offset_us,
                )?,
                drift_ppm: self.drift(raw.receiver_clock_drift_ppm)?,
            },
            receive_times_from_rtt: raw.receive_times_from_rtt.unwrap_or(default.receive_times_from_rtt),
        })
    }

    fn ecn(&self, name: Option<&str>) -> Result<EcnUse, ScenarioError> {
        let Some(name) = name else { return Ok(EcnUse::default()) };
        EcnUse::ALL.iter().copied().find(|ecn| ecn.name() == name).ok_or_else(|| {
            let names: Vec<&str> = EcnUse::ALL.iter().map(|ecn| ecn.name()).collect();
            self.error("endpoint.ecn", &format!("`{name}` (allowed: {})", names.join(", ")))
        })
    }

    fn receive_timestamps(&self, raw: &RawEndpoint) -> Result<Option<ReceiveTimestamps>, ScenarioError> {
        let default = ReceiveTimestamps::default();
        let or = |name: &str, value, unit, range, default| {
            self.or(&format!("endpoint.{name}"), value, unit, range, default)
        };
        let exponent = or(
            "receive_timestamps_exponent",
            raw.receive_timestamps_exponent,
            COUNT,
            0..=ReceiveTimestamps::MAX_EXPONENT.into(),
            default.exponent.into(),
        )?;
        let max_per_ack = or(
            "max_receive_timestamps_per_ack",
            raw.max_receive_timestamps_per_ack,
            COUNT,
            1..=ReceiveTimestamps::MAX_PER_ACK,
            default.max_per_ack,
        )?;
        let missing = or(
            "receive_timestamps_missing_percent",
            raw.receive_timestamps_missing_percent,
            PERCENT,
            0..=1_000_000,
            default.missing_ppm.into(),
        )?;
        let field = ReceiveTimestamps {
            exponent: u8::try_from(exponent).unwrap_or(ReceiveTimestamps::MAX_EXPONENT),
            max_per_ack,
            missing_ppm: u32::try_from(missing).unwrap_or(u32::MAX),
        };
        Ok(raw.receive_timestamps.unwrap_or(false).then_some(field))
    }

    /// A whole number that may be negative.
    fn drift(&self, value: Option<Number>) -> Result<i32, ScenarioError> {
        let Some(value) = value else { return Ok(0) };
        let (size, sign) = match value {
            Number::Whole(whole) if whole < 0 => (whole.checked_neg().map(Number::Whole), -1),
            Number::Real(real) if real < 0.0 => (Some(Number::Real(-real)), -1),
            _ => (Some(value), 1),
        };
        size.and_then(|size| scaled(size, COUNT))
            .filter(|&size| size <= MAX_DRIFT_PPM)
            .and_then(|size| i32::try_from(size).ok())
            .map(|size| sign * size)
            .ok_or_else(|| {
                let allowed = format!("-{MAX_DRIFT_PPM}..={MAX_DRIFT_PPM}");
                let problem = format!("{value} is out of range (allowed: {allowed})");
                self.error("endpoint.receiver_clock_drift_ppm", &problem)
            })
    }
}
