//! How long an algorithm may go on with what it measured before the path became calm.

use cc_sim::{Algorithm, Scenario};

const SECOND: u64 = 1_000_000;

/// Whether the algorithm's document lets it come back after any disturbance.
///
/// The fraction mode of QUIC-DC's paper takes the largest queue from the RTTs before a loss. After losses that no queue caused
/// the sender's own datagrams are a signal, and nothing ends that where nothing is lost any more.
pub(super) fn comes_back(main: Algorithm) -> bool {
    main != Algorithm::QuicDcFraction
}

/// The phase in which the algorithm may have more in flight than a multiple of what the path holds.
///
/// C4 paces in Initial at the mean of twice its rate and of the fastest burst of ACKs that the path ever showed, and after three successful
/// pushes begins Initial again. A disturbance of the way back that hands over ACKs in bursts so leaves it a pace of many times the
/// path's rate (twelve times was seen) until the delay or the losses of the first round trip end that phase. Its window, which is checked, is the
/// only bound there.
pub(super) fn overfilling_phase(main: Algorithm) -> Option<&'static str> {
    (main == Algorithm::C4).then_some("initial")
}

/// In microseconds, by the time scales that the algorithm's document gives; the longest of all flows counts.
///
/// - BBR probes for bandwidth 3 s after the last time at the latest (draft-ietf-ccwg-bbr section 5.3.3.8).
/// - Where an earlier state of the link was shorter than the last one, a minimum of the RTT is too low until it expires: after 10 s
///   in BBR, and its `ProbeRTT` of 200 ms that is due then (sections 5.5.7 and 5.3.4); after 20 s in Westwood+; in QUIC-DC the base of the
///   queueing delay is held for 60 s, since a longer path looks like a queue that stands.
pub(super) fn memory_us(scenario: &Scenario, main: Algorithm) -> u64 {
    let Some((end, disturbed)) = scenario.link.states.split_last() else { return 0 };
    let was_shorter = disturbed.iter().any(|state| state.latency_us < end.latency_us);
    let of = |algorithm| match algorithm {
        Algorithm::Bbr => 3 * SECOND + if was_shorter { 10 * SECOND + 200_000 } else { 0 },
        Algorithm::Westwood if was_shorter => 20 * SECOND,
        Algorithm::QuicDc | Algorithm::QuicDcFraction | Algorithm::QuicDcProbe if was_shorter => 60 * SECOND,
        _ => 0,
    };
    let others = scenario.flows.iter().map(|flow| of(flow.algorithm.with(main)));
    others.fold(of(main), u64::max)
}
