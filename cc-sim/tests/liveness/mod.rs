//! What must hold of any run whose path is calm in the end: the controllers come back to life.
//!
//! A scenario has a disturbed part, all states of the link but the last, all flows but the main one and cross traffic, and a
//! calm end, the last state. The path of the end has `P` packets (rate times RTT without queue, in datagrams), and a round trip is the
//! RTT with a full queue and the ACK delay. After the disturbance:
//!
//! - **Back to work**: within `40 + 2 P` round trips, and the probe timeout that the disturbance may have left behind (as
//!   long as the disturbance at most, and 2 s), eight round trips in a row deliver at least half of what the path carries.
//!   Why so many: from its least window a loss-based sender gains half of `P` packets, by 0.53 of a datagram a round trip
//!   (RFC 9438 section 4.3, the slowest there is) in `P` round trips, in the middle of which a full queue may halve the
//!   window once; 40 are for the timeout, the eight that are measured, and the cycles of senders that measure the path.
//!   While other flows have not ended, all flows together must do so. Where that fails, the run is made again, and so much
//!   more time given as the flows' algorithms may go on with what they measured before (`memory`), and the probe timeout takes that
//!   packets leave behind which the disturbance has held back: three times as long as it lasted. One algorithm may
//!   stay below half of what the path carries (`memory`).
//! - **No stall**: at the end of the run the last progress is not longer ago than the eight round trips and a timeout.
//! - **Bounds**: the wait in the queue is never above its limit by more than a datagram's time. Once back to work, and eight
//!   round trips after the disturbance, which may have left more of a larger path in flight than this one holds, in flight
//!   is no more than six times what path and queue hold, and the initial window. A loss-based sender has twice of that in
//!   slow start, until the first loss is noticed. One algorithm is not asked that in one of its phases (`memory`).
//! - **Obedience**, all the time: no flow sends beyond its window, its leave of RFC 9002 section 7.3.2 or its pacing rate, but
//!   for one packet per probe timeout.
//! - **The invariants** of the conformance kit, after every call.

mod memory;

use crate::watch::watched;
use cc_sim::scenario::{Jitter, LinkState, QueueLimit, RunEnd};
use cc_sim::{Algorithm, MakeController, Observer, RunOutcome, Sample, SampleKind, Scenario, simulate_with};
use cc_testkit::Record;
use memory::{comes_back, memory_us, overfilling_phase};
use std::sync::Mutex;

/// Round trips for what does not depend on the path's size.
const ROUNDS: u64 = 40;
/// Round trips that are measured.
const MEASURED: u64 = 8;
/// What of the path's rate must be delivered, in percent.
const SHARE: u64 = 50;
/// Longest probe timeout that is waited for, in microseconds: the scenario's default cap.
const MAX_TIMEOUT_US: u64 = 2_000_000;

/// A packet that was held for `R`, at most as long as the disturbance, may leave a first probe timeout of this many times `R`: a
/// smoothed RTT of `R`, and four times a variation of `R / 2` (RFC 9002 sections 5.3 and 6.2.1).
const HELD_TIMEOUT: u64 = 3;

/// How the message begins if the flow was not seen back at work.
const NOT_BACK: &str = "not back at work";

/// Runs a scenario: how many datagrams its links were given, or what did not hold.
///
/// # Errors
///
/// One line.
pub(crate) fn check(scenario: &Scenario, algorithm: Algorithm, seed: u64) -> Result<u64, String> {
    check_with(scenario, algorithm, &Algorithm::controller, seed)
}

/// The same with other controllers.
///
/// # Errors
///
/// One line.
pub(crate) fn check_with(
    scenario: &Scenario,
    algorithm: Algorithm,
    make: MakeController<'_>,
    seed: u64,
) -> Result<u64, String> {
    let calm = Calm {
        must_come_back: comes_back(algorithm),
        overfilling_phase: overfilling_phase(algorithm),
        ..Calm::of(scenario)?
    };
    let result = run(scenario, algorithm, make, seed, calm);
    let more_us = memory_us(scenario, algorithm) + HELD_TIMEOUT * calm.from;
    match result {
        Err(message) if message.starts_with(NOT_BACK) => {
            let calm = Calm { allowed_us: calm.allowed_us + more_us, ..calm };
            run(scenario, algorithm, make, seed, calm)
        }
        other => other,
    }
}

/// A run that is judged by `calm`.
fn run(
    scenario: &Scenario,
    algorithm: Algorithm,
    make: MakeController<'_>,
    seed: u64,
    calm: Calm,
) -> Result<u64, String> {
    let scenario = calm.scenario(scenario);
    let records: Mutex<Vec<Record>> = Mutex::default();
    let make_watched = |algorithm: Algorithm, endpoint: &_, seed| {
        let record = Record::default();
        records.lock().expect("no thread has panicked").push(record.clone());
        watched(algorithm, make(algorithm, endpoint, seed), &record)
    };
    let mut meter = Meter { calm, ..Meter::default() };
    let outcome = simulate_with(&scenario, algorithm, &make_watched, seed, &mut meter)
        .map_err(|error| error.to_string())?;
    for record in records.into_inner().expect("no thread has panicked") {
        if let Some(violation) = record.violation() {
            return Err(violation.to_string());
        }
        meter.sent_beyond_window += record.sent_beyond_window();
        meter.sent_ahead_of_pace += record.sent_ahead_of_pace();
    }
    meter.judge(&outcome)?;
    Ok(outcome.main.events)
}

/// The path after the disturbance. Times in microseconds, sizes in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Calm {
    /// When the last state of the link begins.
    from: u64,
    bps: u64,
    round_us: u64,
    /// What path and queue hold.
    holds: u64,
    queue_us: u64,
    service_us: u64,
    initial_window: u64,
    /// How long coming back may take.
    allowed_us: u64,
    /// How long the other flows may take from then on, if there are any.
    others_us: u64,
    must_come_back: bool,
    /// The flight is judged from two round trips after this phase on.
    overfilling_phase: Option<&'static str>,
}

impl Calm {
    fn of(scenario: &Scenario) -> Result<Self, String> {
        let states = &scenario.link.states;
        let Some((end, disturbed)) = states.split_last().filter(|_| !scenario.link.repeat) else {
            return Err("the timeline of the link has no end".to_owned());
        };
        let quiet =
            LinkState { queue: end.queue, ..LinkState::constant(end.down_bps, end.latency_us, end.queue) };
        if *end != quiet || end.jitter != Jitter::None {
            return Err("the last state of the link is not calm".to_owned());
        }
        let from = disturbed.iter().filter_map(|state| state.duration_us).sum();
        if scenario.cross.iter().any(|cross| cross.stop_us.is_none_or(|stop| stop > from)) {
            return Err("there is cross traffic in the last state of the link".to_owned());
        }
        let endpoint = &scenario.endpoint;
        let time_of = |bytes: u64| bytes * 8_000_000 / end.down_bps;
        let service_us = time_of(endpoint.mtu) + 1;
        let queue_us = match end.queue {
            QueueLimit::DelayUs(us) => us,
            QueueLimit::Bytes(bytes) => time_of(bytes),
            QueueLimit::Unlimited => return Err("the queue of the last state has no limit".to_owned()),
        };
        let rtt_us = 2 * (end.latency_us + scenario.transfer.access_us + service_us);
        let ack_delay_us = (rtt_us / 4).max(endpoint.min_ack_delay_us).min(endpoint.max_ack_delay_us);
        let round_us = rtt_us + queue_us + ack_delay_us;
        let in_time = |us: u64| end.down_bps * us / 8_000_000;
        let packets = in_time(rtt_us).div_ceil(endpoint.mtu);
        let others = scenario.flows.iter().map(|flow| flow.transfer.bytes).sum::<u64>();
        Ok(Self {
            from,
            bps: end.down_bps,
            round_us,
            holds: in_time(rtt_us + queue_us),
            queue_us,
            service_us,
            initial_window: endpoint.initial_window,
            allowed_us: (ROUNDS + 2 * packets) * round_us + from.min(MAX_TIMEOUT_US),
            others_us: 2 * time_of(others),
            must_come_back: true,
            overfilling_phase: None,
        })
    }

    /// The same scenario, run until a verdict is possible.
    fn scenario(&self, scenario: &Scenario) -> Scenario {
        let until = self.from + self.others_us + self.allowed_us + MEASURED * self.round_us;
        Scenario { end: RunEnd::At(until), time_limit_us: until, ..scenario.clone() }
    }
}

/// What is seen of a run.
#[derive(Debug, Default)]
struct Meter {
    calm: Calm,
    /// Time, flow, and bytes newly delivered.
    progress: Vec<(u64, usize, u64)>,
    delivered: Vec<u64>,
    /// Time and bytes in flight of the main flow, in the calm part.
    flight: Vec<(u64, u64)>,
    /// Until when what the overfilling phase sent may be in flight.
    overfilled_until_us: u64,
    timeouts: u64,
    longest_wait_us: u64,
    sent_beyond_window: u64,
    sent_ahead_of_pace: u64,
}

impl Observer for Meter {
    fn on_flow_sample(&mut self, flow: usize, sample: &Sample) {
        if self.delivered.len() <= flow {
            self.delivered.resize(flow + 1, 0);
        }
        let more = sample.delivered - self.delivered[flow];
        if more > 0 {
            self.delivered[flow] = sample.delivered;
            self.progress.push((sample.at_us, flow, more));
        }
        self.timeouts += u64::from(sample.kind == SampleKind::Timeout);
        if sample.at_us > self.calm.from {
            // Of a reverse flow it is the other queue, which has the same limit.
            self.longest_wait_us = self.longest_wait_us.max(sample.queue_us);
            if flow == 0 {
                if self.calm.overfilling_phase == Some(sample.cc.phase) {
                    self.overfilled_until_us = sample.at_us + 2 * self.calm.round_us;
                }
                if sample.at_us > self.overfilled_until_us {
                    self.flight.push((sample.at_us, sample.bytes_in_flight));
                }
            }
        }
    }
}

impl Meter {
    fn judge(&self, outcome: &RunOutcome) -> Result<(), String> {
        let calm = self.calm;
        // A packet is accepted while the wait is below the limit.
        let most_us = calm.queue_us + calm.service_us;
        if self.longest_wait_us > most_us {
            return Err(format!("a packet would wait for {} us, at most {most_us}", self.longest_wait_us));
        }
        for (what, count) in [("window", self.sent_beyond_window), ("pacing rate", self.sent_ahead_of_pace)] {
            if count > self.timeouts {
                return Err(format!("{count} packets sent beyond the {what}, {} timeouts", self.timeouts));
            }
        }
        let back_us = match self.back_to_work(outcome) {
            Err(message) if calm.must_come_back => return Err(message),
            result => result.unwrap_or(outcome.end_us),
        };
        let since = self.progress.last().map_or(outcome.end_us, |last| outcome.end_us - last.0);
        let longest_us = MEASURED * calm.round_us + calm.from.min(MAX_TIMEOUT_US);
        if since > longest_us {
            return Err(format!("no progress in the last {since} us, at most {longest_us}"));
        }
        let most = 6 * calm.holds + calm.initial_window;
        let settled_us = back_us.max(calm.from + MEASURED * calm.round_us);
        let settled = self.flight.iter().filter(|(at, _)| *at > settled_us);
        if let Some((at, bytes)) = settled.copied().find(|(_, bytes)| *bytes > most) {
            return Err(format!("{bytes} bytes in flight at {at} us, at most {most}"));
        }
        Ok(())
    }

    /// When the path was used again.
    fn back_to_work(&self, outcome: &RunOutcome) -> Result<u64, String> {
        let calm = self.calm;
        let last = outcome.end_us - calm.allowed_us - MEASURED * calm.round_us;
        let ended = outcome.flows.iter().skip(1).map(|flow| flow.completion_us);
        // From the end of the other flows on, if that is early enough to see what follows, it is the main flow's.
        let alone =
            ended.map(|at| at.filter(|at| *at <= last)).try_fold(0, |latest, at| Some(latest.max(at?)));
        let from = alone.map_or(calm.from, |at| at.max(calm.from));
        let counts = |flow: usize| alone.is_none() || flow == 0;
        let span_us = MEASURED * calm.round_us;
        let wanted = calm.bps * span_us / 8_000_000 * SHARE / 100;
        let progress: Vec<(u64, u64)> = self
            .progress
            .iter()
            .filter(|(at, flow, _)| *at > from && counts(*flow))
            .map(|(at, _, bytes)| (*at, *bytes))
            .collect();
        let (mut sum, mut first, mut best) = (0, 0, 0);
        for (at, bytes) in &progress {
            sum += bytes;
            while progress[first].0 + span_us <= *at {
                sum -= progress[first].1;
                first += 1;
            }
            if sum >= wanted && *at <= from + calm.allowed_us + span_us {
                return Ok(*at);
            }
            best = best.max(sum);
        }
        Err(format!(
            "{NOT_BACK}: in {} us after {from} us never more than {best} bytes in {span_us} us, {wanted} are wanted",
            outcome.end_us - from
        ))
    }
}
