//! What the unit tests of the rules share, and the tests of whole event sequences.

mod edges;
mod events;
mod invariants;
mod without_samples;

use crate::inflight_longterm::AckPhase;
use crate::sample::Sample;
use crate::{Bbr, Config, State};
use cc_core::{Duration, Instant, PathRtt, PathState, Rate};

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A path in the middle of a connection: 1200-byte datagrams, at 1 s, 100 packets sent.
pub(crate) fn path() -> PathState {
    PathState {
        now: Instant::from_secs(1),
        next_number: 100,
        delivered: 1_000_000,
        rtt: Some(PathRtt { latest: ms(40), smoothed: ms(40), min: ms(40), var: ms(1) }),
        ..PathState::default()
    }
}

/// The same path later.
pub(crate) fn later(path: &PathState, span: Duration) -> PathState {
    PathState { now: path.now.after(span), ..*path }
}

pub(crate) fn rate(bytes_per_sec: u64) -> Rate {
    Rate::from_bytes_per_sec(bytes_per_sec)
}

/// A sample with this delivery rate that ends a round.
pub(crate) fn sample(bytes_per_sec: u64) -> Sample {
    Sample {
        delivery_rate: rate(bytes_per_sec),
        prior_delivered: Some(u64::MAX),
        round_start: true,
        newly_acked: 1_200,
        ..Sample::default()
    }
}

/// A controller in Startup that knows a bandwidth (B/s) and a minimum RTT (ms).
pub(crate) fn starting(bandwidth: u64, min_rtt: u64) -> Bbr {
    let mut bbr = Bbr::new(&Config { seed: 3, ..Config::default() });
    bbr.update_max_bw(&path(), &mut sample(bandwidth));
    let _ = bbr.update_min_rtt(&path(), &Sample { rtt: Some(ms(min_rtt)), ..Sample::default() });
    bbr.bound_bw_for_model();
    bbr
}

/// The same in ProbeBW_CRUISE, with a window of twice the BDP.
pub(crate) fn cruising(bandwidth: u64, min_rtt: u64) -> Bbr {
    let mut bbr = starting(bandwidth, min_rtt);
    bbr.full_bw.set_full();
    bbr.cwnd = bbr.bdp().saturating_mul(2);
    bbr.set_pacing_rate_with_gain(100);
    bbr.start_probe_bw_down(&path());
    if let State::ProbeBwDown(wait) = bbr.state {
        bbr.start_probe_bw_cruise(wait);
    }
    bbr
}

/// The same in ProbeBW_UP, with feedback of the probe.
pub(crate) fn probing(bandwidth: u64, min_rtt: u64) -> Bbr {
    let mut bbr = cruising(bandwidth, min_rtt);
    bbr.start_probe_bw_refill(&path());
    bbr.long_term.is_bw_probe_sample = true;
    bbr.long_term.ack_phase = AckPhase::ProbeFeedback;
    bbr.full_bw.reset(rate(bandwidth));
    bbr.state = State::ProbeBwUp { rounds: 0, acked: 0, acked_per_increase: 0 };
    bbr.raise_inflight_longterm_slope();
    bbr
}
