//! The numbers of C4: microseconds, bytes per second, bytes, and parts of 1024.
//!
//! Origin, unless stated: the constants at the top of picoquic's `c4.c` and section "Constants" of the draft.

use cc_core::Duration;

/// "One" in parts of 1024: gains and fractions.
pub(crate) const ONE: u32 = 1_024;

/// Gain in Initial: doubles the rate each round trip.
pub(crate) const ALPHA_INITIAL: u32 = 2_048;
/// Gain in Recovery, 93.75 %: drains what the last test queued.
pub(crate) const ALPHA_RECOVERY: u32 = 960;
/// Gain in Recovery after a further congestion signal inside it, 87.5 %.
pub(crate) const ALPHA_RECOVERY_DEEP: u32 = 896;
/// Gain in Cruising.
pub(crate) const ALPHA_CRUISING: u32 = ONE;
/// Gain in Cruising on paths with a smoothed RTT below [`MIN_NOMINAL_MAX_RTT`], where the CPU limits and pacing
/// at the measured rate would keep it there.
pub(crate) const ALPHA_CRUISING_SHORT_PATH: u32 = 1_072;
/// Gain in Probing at probe level 0, 3.125 %: the last test raised too many CE marks.
pub(crate) const ALPHA_PROBING_LOW: u32 = 1_056;
/// Gain in Probing otherwise, 6.25 %. Up to this gain growth can not be told from noise by the rate alone.
pub(crate) const ALPHA_PROBING: u32 = 1_088;
/// Gain in Pushing, 22.7 % (called "25 %" in the draft).
pub(crate) const ALPHA_PUSHING: u32 = 1_256;
/// Gain held in Resuming. No output uses it, but the growth test after it does.
pub(crate) const ALPHA_RESUMING: u32 = 3_072;

/// Cap of any reduction, a quarter.
pub(crate) const BETA_MAX: u32 = 256;

/// Longest excess of the RTT over the nominal max RTT that is not taken as a queue, us.
pub(crate) const DELAY_THRESHOLD_MAX: u32 = 25_000;
/// RTT for which the window keeps headroom above the nominal max RTT, us.
pub(crate) const RTT_MARGIN: u32 = 15_000;
/// Least nominal max RTT, us.
pub(crate) const MIN_NOMINAL_MAX_RTT: u32 = 1_000;
/// What one era may add to the nominal max RTT above the running minimum, us: jitter beyond it is an outage.
pub(crate) const MAX_JITTER: u32 = 250_000;

/// Packets that must be seen before losses end Initial: fewer say nothing about a loss rate.
pub(crate) const PACKETS_BEFORE_LOSS: u32 = 20;
/// Eras without growth that end Initial.
pub(crate) const ERAS_WITHOUT_INCREASE: u8 = 3;
/// Eras of Cruising before a probe.
pub(crate) const CRUISE_ERAS: u8 = 2;
/// Eras of Cruising before a probe at probe level 0.
pub(crate) const CRUISE_ERAS_LOW: u8 = 1;
/// Eras of Resuming: one to fill the pipe, one to measure.
pub(crate) const RESUMING_ERAS: u8 = 2;
/// Congestion signals in successive Recoveries from which the nominal rate is cut to what was seen.
pub(crate) const CONGESTIONS_BEFORE_CUT: u8 = 2;

/// Least pacing rate in Initial once a packet was acked, bytes per second (about 1 Mbit/s).
pub(crate) const INITIAL_PACING: u64 = 131_072;
/// Default of [`Config::initial_window`](crate::Config::initial_window), bytes: 10 packets of 1536, whatever the MTU.
pub(crate) const INITIAL_WINDOW: u64 = 15_360;

/// Probe level at the start and after a test without growth.
pub(crate) const PROBE_LEVEL_DEFAULT: u8 = 1;
/// Highest probe level: growth beyond it leads back to Initial.
pub(crate) const PROBE_LEVEL_MAX: u8 = 3;

/// Jitter restart: least nominal max RTT, us. Below it Initial loses little by ending early.
pub(crate) const JITTER_RESTART_RTT: u32 = 50_000;
/// Jitter restart: only below this nominal rate, bytes per second.
pub(crate) const JITTER_RESTART_RATE: u64 = 1_000_000;

/// An ACK interval must be longer than this to give a rate (picoquic `PICOQUIC_BANDWIDTH_TIME_INTERVAL_MIN`):
/// shorter ones measure batching.
pub(crate) const MIN_ACK_INTERVAL: Duration = Duration::from_micros(1_000);

/// Least CE fraction (of 1024) that replaces the average at once when it is above it.
pub(crate) const ECN_JUMP: u32 = 512;

/// Least send quantum in datagrams, and least window in datagrams (RFC 9002 section 7.2).
pub(crate) const MIN_DATAGRAMS: u32 = 2;
/// Largest send quantum, bytes.
pub(crate) const MAX_QUANTUM: u32 = 65_536;
/// Largest saved window that is believed, bytes: 3.4 s at 10 Gbit/s. This project's.
pub(crate) const MAX_SAVED_WINDOW: u64 = 1 << 32;
