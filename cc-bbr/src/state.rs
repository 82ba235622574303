//! The controller's variables, and the states of its machine (section 5.1.1).

use crate::Config;
use crate::constants::{
    DEFAULT_CWND_GAIN, DOWN_PACING_GAIN, DRAIN_PACING_GAIN, MIN_PIPE_DATAGRAMS, MIN_WINDOW_DATAGRAMS, ONE,
    PROBE_RTT_CWND_GAIN, STARTUP_PACING_GAIN, UNKNOWN_RTT, UP_CWND_GAIN, UP_PACING_GAIN,
};
use crate::extra_acked::ExtraAcked;
use crate::full_bw::FullBw;
use crate::inflight_longterm::LongTerm;
use crate::loss_model::Signals;
use crate::max_bw::MaxBw;
use crate::min_rtt::MinRtt;
use crate::offload_budget::PeerAckPolicy;
use crate::probe_bw::ProbeWait;
use crate::random::Random;
use crate::recovery::Recovery;
use crate::resume::Resume;
use crate::round::{CwndLimited, Round};
use crate::shortterm::Bounds;
use crate::undo::Undo;
use cc_core::{Duration, Instant, MAX_DATAGRAM_SIZE, PathState, Rate, SendMark, initial_window};

/// `BBR.state`, with what exists only in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Doubles the rate each round until the pipe is full.
    Startup,
    /// Empties the queue that Startup made.
    Drain {
        /// `BBR.drain_start_round`: the value of `round_count` when it began.
        start_round: u64,
    },
    /// ProbeBW_DOWN: sends slower than the path delivers.
    ProbeBwDown(ProbeWait),
    /// ProbeBW_CRUISE: sends as fast as the path delivers.
    ProbeBwCruise(ProbeWait),
    /// ProbeBW_REFILL: fills the pipe for one round, without the short-term bounds.
    ProbeBwRefill,
    /// ProbeBW_UP: sends faster than the path delivered.
    ProbeBwUp {
        /// `BBR.bw_probe_up_rounds`: rounds over which `inflight_longterm` has been raised in this state.
        rounds: u8,
        /// `BBR.bw_probe_up_acked`: bytes acked since it was last raised.
        acked: u64,
        /// `BBR.probe_up_acked_per_inc`: bytes to be acked for each datagram that it is raised by.
        acked_per_increase: u64,
    },
    /// Keeps little in flight, to measure the RTT of an empty queue.
    ProbeRtt {
        /// `BBR.probe_rtt_done_stamp`: earliest end; `None` before the flight is small enough.
        done_at: Option<Instant>,
        /// `BBR.probe_rtt_round_done`: whether a round has passed since then.
        round_done: bool,
    },
}

impl State {
    /// The name in snapshots.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain { .. } => "drain",
            Self::ProbeBwDown(_) => "probe_bw_down",
            Self::ProbeBwCruise(_) => "probe_bw_cruise",
            Self::ProbeBwRefill => "probe_bw_refill",
            Self::ProbeBwUp { .. } => "probe_bw_up",
            Self::ProbeRtt { .. } => "probe_rtt",
        }
    }

    /// `BBR.pacing_gain` in percent (table of section 5.6.1).
    #[must_use]
    pub const fn pacing_gain(&self) -> u32 {
        match self {
            Self::Startup => STARTUP_PACING_GAIN,
            Self::Drain { .. } => DRAIN_PACING_GAIN,
            Self::ProbeBwDown(_) => DOWN_PACING_GAIN,
            Self::ProbeBwUp { .. } => UP_PACING_GAIN,
            Self::ProbeBwCruise(_) | Self::ProbeBwRefill | Self::ProbeRtt { .. } => ONE,
        }
    }

    /// `BBR.cwnd_gain` in percent (table of section 5.6.1).
    #[must_use]
    pub const fn cwnd_gain(&self) -> u32 {
        match self {
            Self::ProbeBwUp { .. } => UP_CWND_GAIN,
            Self::ProbeRtt { .. } => PROBE_RTT_CWND_GAIN,
            Self::Startup
            | Self::Drain { .. }
            | Self::ProbeBwDown(_)
            | Self::ProbeBwCruise(_)
            | Self::ProbeBwRefill => DEFAULT_CWND_GAIN,
        }
    }

    /// `IsInAProbeBWState()`.
    #[must_use]
    pub const fn is_probe_bw(&self) -> bool {
        match self {
            Self::ProbeBwDown(_) | Self::ProbeBwCruise(_) | Self::ProbeBwRefill | Self::ProbeBwUp { .. } => {
                true
            }
            Self::Startup | Self::Drain { .. } | Self::ProbeRtt { .. } => false,
        }
    }

    /// `IsProbingBW()`.
    #[must_use]
    pub const fn is_probing_bw(&self) -> bool {
        matches!(self, Self::Startup | Self::ProbeBwRefill | Self::ProbeBwUp { .. })
    }

    /// Whether it is ProbeRTT.
    #[must_use]
    pub const fn is_probe_rtt(&self) -> bool {
        matches!(self, Self::ProbeRtt { .. })
    }
}

/// A BBR congestion controller for one network path.
///
/// The crate documentation names the source, what a stack must give, and every choice and deviation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bbr {
    pub(crate) state: State,
    pub(crate) settings: Settings,
    pub(crate) random: Random,

    // Outputs.
    /// `C.cwnd` in bytes.
    pub(crate) cwnd: u64,
    /// `C.pacing_rate`; never zero.
    pub(crate) pacing_rate: Rate,
    /// `BBR.prior_cwnd`: the last window that was not lowered by loss recovery or ProbeRTT.
    pub(crate) prior_cwnd: u64,

    // The model of the path.
    pub(crate) max_bw: MaxBw,
    /// `BBR.bw` as of the last ACK.
    pub(crate) bw: Rate,
    pub(crate) min_rtt: MinRtt,
    pub(crate) extra_acked: ExtraAcked,
    pub(crate) bounds: Bounds,
    pub(crate) signals: Signals,
    pub(crate) full_bw: FullBw,
    pub(crate) long_term: LongTerm,

    // Rounds, recovery and restarts.
    pub(crate) round: Round,
    /// Whether the connection was application-limited at its start or an ACK since, for stacks that take no samples.
    pub(crate) is_round_limited: bool,
    pub(crate) cwnd_limited: CwndLimited,
    pub(crate) recovery: Recovery,
    /// Start of the newest recovery period, if there was one.
    pub(crate) recovery_start: SendMark,
    pub(crate) undo: Option<Undo>,
    pub(crate) resume: Resume,
    /// The last response to CE marks: those on packets sent before it are answered.
    pub(crate) marks_answered: SendMark,
    /// Whether there was one.
    pub(crate) has_answered_marks: bool,
    /// Whether ECN failed validation on the path (RFC 9000 section 13.4.2).
    pub(crate) ecn_has_failed: bool,
    /// `BBR.idle_restart`.
    pub(crate) idle_restart: bool,
    /// Whether ProbeRTT ended and no packet was sent since: what is in flight still counts as limited.
    pub(crate) left_probe_rtt: bool,

    pub(crate) frame: Frame,
    /// Whether a part of the loss report that is being given had a packet of this path.
    pub(crate) loss_is_of_path: bool,
    /// Start of the present path, if it is not the first: packets sent before belong to another.
    pub(crate) path_start: SendMark,
    /// `C.delivered` when the path began.
    pub(crate) delivered_before: u64,
    /// Recovery periods, and responses to CE marks outside of them.
    pub(crate) congestion_events: u32,
}

/// What the configuration and the transport say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// Bytes; 0 for RFC 9002 section 7.2.
    initial_window: u64,
    pub(crate) peer_acks: PeerAckPolicy,
    /// RTT assumed before the first sample, us; 0 for none.
    initial_rtt_us: u32,
    /// `C.SMSS`, bytes.
    datagram: u16,
    /// Whether the initial pacing rate was computed from a measured RTT.
    pub(crate) has_seen_rtt: bool,
}

impl Settings {
    fn new(config: &Config) -> Self {
        Self {
            initial_window: config.initial_window.map_or(0, |bytes| bytes.max(1)),
            initial_rtt_us: config
                .initial_rtt
                .map_or(0, |rtt| u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX)),
            peer_acks: PeerAckPolicy::default(),
            datagram: clamp_datagram(config.max_datagram_size),
            has_seen_rtt: false,
        }
    }

    /// `C.SMSS`: the maximum datagram size in bytes, 1 to 65 527.
    pub(crate) const fn datagram(&self) -> u64 {
        self.datagram as u64
    }

    /// RTT from which the initial pacing rate is computed.
    pub(crate) const fn assumed_rtt(&self) -> Duration {
        if self.initial_rtt_us == 0 { UNKNOWN_RTT } else { Duration::from_micros(self.initial_rtt_us as u64) }
    }

    /// `BBR.MinPipeCwnd` in bytes.
    pub(crate) const fn min_pipe_cwnd(&self) -> u64 {
        self.datagram().saturating_mul(MIN_PIPE_DATAGRAMS)
    }

    /// `kMinimumWindow` in bytes (RFC 9002 section 7.2).
    pub(crate) const fn min_window(&self) -> u64 {
        self.datagram().saturating_mul(MIN_WINDOW_DATAGRAMS)
    }

    /// `C.InitialCwnd` in bytes (section 5.6.4.1).
    pub(crate) fn initial_window(&self) -> u64 {
        match self.initial_window {
            0 => initial_window(self.datagram()),
            bytes => bytes,
        }
        .max(self.min_window())
    }
}

/// Sums over the parts of one ACK frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Frame {
    /// Bytes newly acked.
    pub(crate) acked: u64,
    /// Bytes acked after having been declared lost.
    pub(crate) late_acked: u64,
    /// Send time of the newest packet acked.
    pub(crate) newest_sent_at: Instant,
    /// Whether any packet was acked.
    pub(crate) any: bool,
    /// Whether a part of the frame ended the recovery period.
    pub(crate) ends_recovery: bool,
    /// Whether a packet was acked that was sent after the start of the round.
    pub(crate) ends_round: bool,
}

impl Bbr {
    /// `OnInit()` (section 5.2.1).
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let settings = Settings::new(config);
        // Before all packets.
        let nowhere = SendMark::new(&PathState::default());
        let mut bbr = Self {
            state: State::Startup,
            settings,
            random: Random::new(config.seed),
            cwnd: settings.initial_window(),
            pacing_rate: Rate::ZERO,
            prior_cwnd: 0,
            max_bw: MaxBw::default(),
            bw: Rate::ZERO,
            min_rtt: MinRtt::new(),
            extra_acked: ExtraAcked::new(config.now),
            bounds: Bounds::UNKNOWN,
            signals: Signals::default(),
            full_bw: FullBw::default(),
            long_term: LongTerm::default(),
            round: Round::new(config.now),
            is_round_limited: false,
            cwnd_limited: CwndLimited::default(),
            recovery: Recovery::Never,
            recovery_start: nowhere,
            undo: None,
            resume: config.resume.map_or(Resume::Open, Resume::Waiting),
            marks_answered: nowhere,
            has_answered_marks: false,
            ecn_has_failed: false,
            idle_restart: false,
            left_probe_rtt: false,
            frame: Frame::default(),
            loss_is_of_path: false,
            path_start: nowhere,
            delivered_before: 0,
            congestion_events: 0,
        };
        bbr.init_pacing_rate(None);
        bbr
    }

    /// Starts again on another path: nothing measured on the old one holds. What was chosen, what the peer announced, the
    /// random sequence and the counter for logs go on.
    pub(crate) fn restart(&mut self, path: &PathState) {
        self.settings.has_seen_rtt = false;
        let fresh = Self::new(&Config { now: path.now, ..Config::default() });
        *self = Self {
            settings: self.settings,
            random: self.random,
            cwnd: self.settings.initial_window(),
            path_start: SendMark::new(path),
            delivered_before: path.delivered,
            congestion_events: self.congestion_events,
            ..fresh
        };
        // The totals go on from where they are.
        self.start_round(path);
        self.signals.restart(path);
        self.init_pacing_rate(None);
    }

    /// What every event says: the datagram size, by which a window never grows but to the minimum, and the time. A clock
    /// that went back behind the start of the path takes the start along: else all that follows would be of before.
    pub(crate) fn take_path(&mut self, path: &PathState) {
        if path.now < self.path_start.at() {
            self.path_start = SendMark::new(&PathState { next_number: self.path_start.number(), ..*path });
        }
        let datagram = clamp_datagram(path.max_datagram_size);
        if datagram != self.settings.datagram {
            self.settings.datagram = datagram;
            self.cwnd = self.cwnd.max(self.settings.min_window());
        }
    }

    /// Whether a packet was sent since the present path began. One of the same moment was, if it has no number.
    pub(crate) fn is_since_path_start(&self, number: Option<u64>, sent_at: Instant) -> bool {
        match number {
            Some(number) if self.path_start.has_number() => number >= self.path_start.number(),
            _ => sent_at >= self.path_start.at(),
        }
    }

    /// The handshake told the datagram size: the initial window is computed anew (RFC 9002 section 7.2), unless acks have
    /// changed it.
    pub(crate) fn update_initial_window(&mut self, path: &PathState) {
        let untouched =
            self.cwnd == self.settings.initial_window() && path.delivered == self.delivered_before;
        self.take_path(path);
        if untouched && !self.settings.has_seen_rtt {
            self.cwnd = self.settings.initial_window();
            self.init_pacing_rate(None);
        }
    }
}

fn clamp_datagram(bytes: u64) -> u16 {
    u16::try_from(bytes.clamp(1, MAX_DATAGRAM_SIZE)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::Bbr;

    #[test]
    fn a_controller_takes_at_most_472_bytes() {
        assert!(std::mem::size_of::<Bbr>() <= 472, "{}", std::mem::size_of::<Bbr>());
    }
}
