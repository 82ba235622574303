//! The numbers of BBR. Gains and factors are in percent.
//!
//! Origin, unless stated: draft-ietf-ccwg-bbr, section 2 ("Terminology").

use cc_core::Duration;

/// One, in percent.
pub(crate) const ONE: u32 = 100;

/// `BBR.StartupPacingGain`, 2.77: the least gain that lets the sending rate double each round (4 ln 2).
pub(crate) const STARTUP_PACING_GAIN: u32 = 277;
/// `BBR.DrainPacingGain`: empties in a round trip the queue that a window gain of 2 can build.
pub(crate) const DRAIN_PACING_GAIN: u32 = 50;
/// Pacing gain in ProbeBW_DOWN (section 5.6.1).
pub(crate) const DOWN_PACING_GAIN: u32 = 90;
/// Pacing gain in ProbeBW_UP (section 5.6.1).
pub(crate) const UP_PACING_GAIN: u32 = 125;
/// `BBR.PacingMarginPercent`: the part of the bandwidth that is not used, to keep queues short.
pub(crate) const PACING_MARGIN_PERCENT: u32 = 1;

/// `BBR.DefaultCwndGain`: lets the sending rate double each round.
pub(crate) const DEFAULT_CWND_GAIN: u32 = 200;
/// Window gain in ProbeBW_UP (section 5.6.1).
pub(crate) const UP_CWND_GAIN: u32 = 225;
/// `BBR.ProbeRTTCwndGain`.
pub(crate) const PROBE_RTT_CWND_GAIN: u32 = 50;

/// `1 / BBR.LossThresh`: losses of more than 1/50, 2 %, of the flight are too many.
pub(crate) const LOSS_THRESH_DIVISOR: u64 = 50;
/// `BBR.Beta`: what one round trip with losses leaves of the short-term bounds at least.
pub(crate) const BETA: u32 = 70;
/// `BBR.Headroom`: part of `inflight_longterm` that is left to others.
pub(crate) const HEADROOM: u32 = 15;

/// `BBR.MinPipeCwnd` in datagrams.
pub(crate) const MIN_PIPE_DATAGRAMS: u64 = 4;
/// `kMinimumWindow` in datagrams (RFC 9002 section 7.2): after persistent congestion, and below any state.
pub(crate) const MIN_WINDOW_DATAGRAMS: u64 = 2;

/// `BBR.ExtraAckedFilterLen` in round trips.
pub(crate) const EXTRA_ACKED_FILTER_LEN: u64 = 10;

/// Growth of the delivery rate below which a round does not count as growing: 25 % (section 5.3.1.2).
pub(crate) const FULL_BW_GROWTH: u32 = 125;
/// Rounds without growth after which the pipe is full (section 5.3.1.2).
pub(crate) const FULL_BW_COUNT: u8 = 3;
/// `BBRStartupFullLossCnt`: ranges lost in a round trip that end Startup (section 5.3.1.3).
pub(crate) const STARTUP_FULL_LOSS_COUNT: u8 = 6;

/// Round trips after which Drain ends in any case (section 5.3.2).
pub(crate) const DRAIN_ROUNDS: u64 = 3;

/// Shortest time between bandwidth probes on the native time scale (`T_bbr`, section 5.3.3.8).
pub(crate) const PROBE_WAIT: Duration = Duration::from_secs(2);
/// Length of the interval from which a random part is added to [`PROBE_WAIT`].
pub(crate) const PROBE_WAIT_SPREAD: Duration = Duration::from_secs(1);
/// Most rounds between bandwidth probes (`T_reno_bound`): 62 or 63, as rounds are counted from 0 or 1.
pub(crate) const RENO_ROUNDS: u64 = 63;
/// Largest exponent of the growth of `inflight_longterm` per round (section 5.3.3.9).
pub(crate) const MAX_UP_ROUNDS: u8 = 30;

/// `BBR.MinRTTFilterLen`.
pub(crate) const MIN_RTT_FILTER_LEN: Duration = Duration::from_secs(10);
/// `BBR.ProbeRTTInterval`; a MUST (section 5.3.4.2), so that flows drain a queue together.
pub(crate) const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// `BBR.ProbeRTTDuration`.
pub(crate) const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

/// RTT assumed for the initial pacing rate before one is known (section 5.6.2).
pub(crate) const UNKNOWN_RTT: Duration = Duration::from_millis(1);
/// Time for which a send quantum lasts (section 5.6.3).
pub(crate) const QUANTUM_TIME: Duration = Duration::from_millis(1);
/// A quantum is at most this part of the BDP. This project's: section 5.6.3 allows other rules than its own and wants the
/// smallest quanta that are feasible. On a path of 2 ms those of 1 ms are half of the BDP, more than many a queue holds.
pub(crate) const QUANTUM_BDP_DIVISOR: u64 = 4;
/// Largest send quantum in bytes: 64 KBytes (section 5.6.3).
pub(crate) const MAX_QUANTUM: u64 = 65_536;
/// Shortest RTT that is believed: clocks of some stacks are that coarse, and a path without delay has no BDP.
pub(crate) const SHORTEST_RTT: Duration = Duration::from_micros(1);

/// "Infinity" of the bounds in bytes.
pub(crate) const INFINITE: u64 = u64::MAX;
