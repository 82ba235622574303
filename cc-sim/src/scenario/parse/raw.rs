//! A scenario file as serde sees it: right names and types, no ranges yet.

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use std::fmt;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScenario {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) time_limit_ms: Option<Number>,
    #[serde(default)]
    pub(super) link_repeats: bool,
    pub(super) link: Vec<RawState>,
    #[serde(default)]
    pub(super) queue_for: Vec<RawQueueFor>,
    pub(super) dualpi2: Option<RawDualPi2>,
    pub(super) transfer: Option<RawTransfer>,
    pub(super) media: Option<RawMedia>,
    pub(super) resume: Option<RawResume>,
    #[serde(default)]
    pub(super) flow: Vec<RawFlow>,
    #[serde(default)]
    pub(super) cross: Vec<RawCross>,
    pub(super) ends: Option<String>,
    pub(super) duration_ms: Option<Number>,
    #[serde(default)]
    pub(super) endpoint: RawEndpoint,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawState {
    pub(super) duration_ms: Option<Number>,
    pub(super) rate_mbps: Number,
    pub(super) up_mbps: Option<Number>,
    pub(super) latency_ms: Number,
    pub(super) queue_ms: Option<Number>,
    pub(super) queue_bytes: Option<Number>,
    #[serde(default)]
    pub(super) queue_unlimited: bool,
    pub(super) up_queue_ms: Option<Number>,
    pub(super) up_queue_bytes: Option<Number>,
    #[serde(default)]
    pub(super) up_queue_unlimited: bool,
    pub(super) jitter_ms: Option<Number>,
    pub(super) jitter_model: Option<String>,
    pub(super) loss_percent: Option<Number>,
    pub(super) up_loss_percent: Option<Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawQueueFor {
    pub(super) algorithm: String,
    pub(super) queue_ms: Option<Number>,
    pub(super) queue_bytes: Option<Number>,
    #[serde(default)]
    pub(super) queue_unlimited: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDualPi2 {
    pub(super) target_ms: Option<Number>,
    pub(super) rtt_max_ms: Option<Number>,
    pub(super) update_ms: Option<Number>,
    pub(super) coupling: Option<Number>,
    pub(super) l4s_min_ms: Option<Number>,
    pub(super) l4s_range_ms: Option<Number>,
    pub(super) l4s_min_packets: Option<Number>,
    pub(super) scheduler: Option<String>,
    pub(super) l4s_weight: Option<Number>,
    pub(super) shift_ms: Option<Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTransfer {
    pub(super) size_bytes: Number,
    pub(super) start_ms: Option<Number>,
    pub(super) access_ms: Option<Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMedia {
    pub(super) start_ms: Option<Number>,
    pub(super) access_ms: Option<Number>,
    pub(super) stats_from_ms: Option<Number>,
    #[serde(default)]
    pub(super) all_datagrams_count: bool,
    #[serde(default)]
    pub(super) one_timer: bool,
    #[serde(default)]
    pub(super) stream: Vec<RawMediaStream>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMediaStream {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) priority: Number,
    pub(super) per_second: Number,
    pub(super) units: Number,
    pub(super) unit_bytes: Number,
    pub(super) group: Option<Number>,
    pub(super) first_bytes: Option<Number>,
    pub(super) stop_after_ms: Option<Number>,
    pub(super) counts: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFlow {
    pub(super) algorithm: Option<String>,
    pub(super) size_bytes: Number,
    pub(super) start_ms: Option<Number>,
    pub(super) access_ms: Option<Number>,
    pub(super) direction: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCross {
    pub(super) direction: Option<String>,
    pub(super) rate_mbps: Number,
    pub(super) packet_bytes: Option<Number>,
    pub(super) start_ms: Option<Number>,
    pub(super) stop_ms: Option<Number>,
    pub(super) on_ms: Option<Number>,
    pub(super) off_ms: Option<Number>,
    pub(super) random: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawResume {
    pub(super) cwnd_bytes: Number,
    pub(super) rtt_ms: Number,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEndpoint {
    pub(super) initial_mtu_bytes: Option<Number>,
    pub(super) mtu_bytes: Option<Number>,
    pub(super) overhead_bytes: Option<Number>,
    pub(super) ack_size_bytes: Option<Number>,
    pub(super) initial_window_bytes: Option<Number>,
    pub(super) may_overshoot: Option<bool>,
    pub(super) max_ack_delay_ms: Option<Number>,
    pub(super) min_ack_delay_ms: Option<Number>,
    pub(super) quick_ack_packets: Option<Number>,
    pub(super) max_ack_ranges: Option<Number>,
    pub(super) packet_threshold: Option<Number>,
    pub(super) mtu_losses: Option<Number>,
    pub(super) initial_pto_ms: Option<Number>,
    pub(super) max_pto_ms: Option<Number>,
    pub(super) initial_max_data_bytes: Option<Number>,
    pub(super) initial_max_stream_data_bytes: Option<Number>,
    pub(super) max_growth_rtt_ms: Option<Number>,
    pub(super) skip_packet_numbers: Option<bool>,
    pub(super) pacing: Option<bool>,
    pub(super) fast_convergence: Option<bool>,
    pub(super) ecn: Option<String>,
    pub(super) report_ecn: Option<bool>,
    pub(super) receive_timestamps: Option<bool>,
    pub(super) receive_timestamps_exponent: Option<Number>,
    pub(super) max_receive_timestamps_per_ack: Option<Number>,
    pub(super) receive_timestamps_missing_percent: Option<Number>,
    pub(super) receiver_clock_offset_ms: Option<Number>,
    pub(super) receiver_clock_drift_ppm: Option<Number>,
    pub(super) receive_times_from_rtt: Option<bool>,
}

/// Any number, so that one out of range is refused by the range of its field and not by that of a Rust type.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Whole(i128),
    Real(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            // The shortest form that reads back, with an exponent if it is long.
            Self::Real(value) => fmt::Debug::fmt(value, f),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyNumber;
        impl Visitor<'_> for AnyNumber {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Whole(value.into()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number::Whole(value.into()))
            }
            fn visit_i128<E: Error>(self, value: i128) -> Result<Number, E> {
                Ok(Number::Whole(value))
            }
            fn visit_u128<E: Error>(self, value: u128) -> Result<Number, E> {
                Ok(i128::try_from(value).map_or(Number::Real(f64::INFINITY), Number::Whole))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number::Real(value))
            }
        }
        deserializer.deserialize_any(AnyNumber)
    }
}
