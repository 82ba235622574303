//! What a run with several flows or a queue of interest is judged by: goodput, shares, Jain's index, utilisation, RTT and
//! queue over time, loss.

use crate::engine::{
    Departure, FlowOutcome, Observer, Progress, QueueKind, RunOutcome, Sample, SimulationError,
};
use crate::scenario::{Direction, LinkTimeline, Scenario};
use crate::stats::{Weighted, jain_index};
use crate::{Algorithm, simulate_flows};
use serde::{Deserialize, Serialize};

/// How often the queues are looked at, in microseconds.
const INTERVAL_US: u64 = 10_000;

/// How often what the clients have got is noted, in microseconds: the resolution of shares.
pub const SHARE_INTERVAL_US: u64 = 100_000;

/// Figures of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFigures {
    /// The run itself.
    pub outcome: RunOutcome,
    /// Figures of its flows, in the order of [`RunOutcome::flows`].
    pub flows: Vec<FlowFigures>,
    /// What came out of the forward link over what it could have carried, from the first request of a forward flow to
    /// the last byte of the last one, or the end of the run. It may be a little above 1: the link rounds the time of a
    /// packet down to whole microseconds.
    pub utilisation: f64,
    /// Time for which a packet would have waited in front of the forward link, in microseconds, over the same time.
    pub queue: Distribution,
    /// The same for the reverse link.
    pub reverse_queue: Distribution,
    /// What the datagrams on the forward link met in the queues of its AQM; `None` without one.
    pub aqm: Option<AqmFigures>,
    /// What the forward flows have in common; `None` if there is no tenth of a second in which all of them transfer.
    pub common: Option<CommonPeriod>,
    /// Bytes that the clients of all flows had got after each tenth of a second.
    pub received: Vec<Vec<u64>>,
}

/// Figures of the two queues of an AQM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AqmFigures {
    /// The L queue: ECT(1) and CE.
    pub l4s: QueueFigures,
    /// The classic queue.
    pub classic: QueueFigures,
}

/// What the datagrams that left a queue met in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueFigures {
    /// How many they were.
    pub packets: u64,
    /// How many of them were marked CE there.
    pub marked: u64,
    /// Time that they spent there, in microseconds; each counts once.
    pub sojourn: Distribution,
}

/// Figures of a flow in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowFigures {
    /// Data that its client got, in bits per second, from its request to its last byte or the end of the run; 0 if there
    /// was no request.
    pub goodput_bps: f64,
    /// RTT without the receiver's ACK delay, in microseconds: each sample stands until the next one.
    pub rtt: Distribution,
    /// Of its datagrams, the part that a queue dropped or that got lost on the link (0 to 1).
    pub loss: f64,
}

/// A quantity over time; `None` if there is no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// Mean over time.
    pub mean: Option<f64>,
    /// Value that is not exceeded 95 % of the time, to a thousandth of itself.
    pub p95: Option<f64>,
    /// The same for 99 %.
    pub p99: Option<f64>,
    /// Largest value.
    pub max: Option<u64>,
}

impl From<&Weighted> for Distribution {
    fn from(weighted: &Weighted) -> Self {
        Self {
            mean: weighted.mean(),
            p95: weighted.quantile(0.95),
            p99: weighted.quantile(0.99),
            max: weighted.max(),
        }
    }
}

/// The time in which every forward flow transfers, in whole tenths of a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommonPeriod {
    /// Its start in microseconds of virtual time.
    pub from_us: u64,
    /// Its end.
    pub until_us: u64,
    /// Share of each forward flow in what their clients got, in the order of the scenario; sums to 1.
    pub shares: Vec<f64>,
    /// Jain's index of these.
    pub jain: f64,
}

/// Runs `scenario` and measures.
///
/// # Errors
///
/// Those of [`simulate_flows`].
pub fn measure(scenario: &Scenario, algorithm: Algorithm, seed: u64) -> Result<RunFigures, SimulationError> {
    measure_from(scenario, algorithm, seed, 0)
}

/// As [`measure`], but RTTs and queues before `from_us`, in microseconds of virtual time, do not count.
///
/// # Errors
///
/// Those of [`simulate_flows`].
pub fn measure_from(
    scenario: &Scenario,
    algorithm: Algorithm,
    seed: u64,
    from_us: u64,
) -> Result<RunFigures, SimulationError> {
    let mut meter = Meter::new(scenario.flows.len() + 1, from_us);
    let outcome = simulate_flows(scenario, algorithm, seed, &mut meter)?;
    Ok(meter.figures(scenario, outcome))
}

/// What a run shows while it goes on.
#[derive(Debug)]
struct Meter {
    /// When it starts to look at RTTs and queues.
    from_us: u64,
    rtt: Vec<RttMeter>,
    /// Waiting times of both links and when they were seen.
    queues: Vec<(u64, [u64; 2])>,
    /// L queue and classic queue of the forward link.
    sojourns: [QueueMeter; 2],
    received: Vec<Vec<u64>>,
}

#[derive(Clone, Debug, Default)]
struct QueueMeter {
    packets: u64,
    marked: u64,
    sojourn: Weighted,
}

impl QueueMeter {
    fn figures(&self) -> QueueFigures {
        let Self { packets, marked, sojourn } = self;
        QueueFigures { packets: *packets, marked: *marked, sojourn: Distribution::from(sojourn) }
    }
}

#[derive(Clone, Debug, Default)]
struct RttMeter {
    over_time: Weighted,
    /// The newest value and since when it stands.
    current: Option<(u64, u64)>,
}

impl RttMeter {
    fn add(&mut self, at_us: u64, rtt_us: u64) {
        if let Some((before_us, since_us)) = self.current.replace((rtt_us, at_us)) {
            self.over_time.add(before_us, at_us.saturating_sub(since_us));
        }
    }
}

impl Observer for Meter {
    fn on_flow_sample(&mut self, flow: usize, sample: &Sample) {
        if sample.at_us < self.from_us {
            return;
        }
        if let (Some(rtt_us), Some(meter)) = (sample.network_rtt_us, self.rtt.get_mut(flow)) {
            meter.add(sample.at_us, rtt_us);
        }
    }

    fn interval_us(&self) -> Option<u64> {
        Some(INTERVAL_US)
    }

    fn on_interval(&mut self, progress: &Progress<'_>) {
        if progress.at_us >= self.from_us {
            self.queues.push((progress.at_us, [progress.queue_us, progress.reverse_queue_us]));
        }
        if progress.at_us.is_multiple_of(SHARE_INTERVAL_US) {
            self.received.push(progress.received.to_vec());
        }
    }

    fn on_dequeue(&mut self, departure: &Departure) {
        if departure.at_us < self.from_us || departure.direction != Direction::Forward {
            return;
        }
        let [l4s, classic] = &mut self.sojourns;
        let queue = match departure.queue {
            QueueKind::L4s => l4s,
            QueueKind::Classic => classic,
        };
        queue.packets += 1;
        queue.marked += u64::from(departure.marked);
        queue.sojourn.add(departure.sojourn_us, 1);
    }
}

impl Meter {
    fn new(flows: usize, from_us: u64) -> Self {
        Self {
            from_us,
            rtt: vec![RttMeter::default(); flows],
            queues: Vec::new(),
            sojourns: Default::default(),
            received: Vec::new(),
        }
    }

    fn figures(self, scenario: &Scenario, outcome: RunOutcome) -> RunFigures {
        let end_of = |flow: &FlowOutcome| flow.last_byte_us.unwrap_or(outcome.end_us);
        let forward = || outcome.flows.iter().filter(|flow| flow.direction == Direction::Forward);
        let first_us = forward().filter_map(|flow| flow.request_us).min().unwrap_or(outcome.end_us);
        let last_us = forward().map(end_of).max().unwrap_or(outcome.end_us);
        let mut queues = [Weighted::default(), Weighted::default()];
        for (_, waits) in self.queues.iter().filter(|(at_us, _)| (first_us..=last_us).contains(at_us)) {
            for (queue, wait_us) in queues.iter_mut().zip(waits) {
                queue.add(*wait_us, 1);
            }
        }
        let flows = outcome.flows.iter().zip(&self.rtt).map(|(flow, rtt)| FlowFigures {
            goodput_bps: goodput_bps(flow, outcome.end_us),
            rtt: Distribution::from(&rtt.over_time),
            loss: loss(flow),
        });
        let capacity = capacity_bytes(&scenario.link, first_us, last_us);
        RunFigures {
            flows: flows.collect(),
            utilisation: if capacity > 0.0 { outcome.forward.bytes as f64 / capacity } else { 0.0 },
            queue: Distribution::from(&queues[0]),
            reverse_queue: Distribution::from(&queues[1]),
            aqm: scenario.dualpi2.map(|_| {
                let [l4s, classic] = self.sojourns.each_ref().map(QueueMeter::figures);
                AqmFigures { l4s, classic }
            }),
            common: common_period(&outcome, &self.received),
            received: self.received,
            outcome,
        }
    }
}

fn goodput_bps(flow: &FlowOutcome, end_us: u64) -> f64 {
    let end_us = flow.last_byte_us.unwrap_or(end_us);
    match flow.request_us {
        Some(request_us) if end_us > request_us => flow.received as f64 * 8e6 / (end_us - request_us) as f64,
        _ => 0.0,
    }
}

fn loss(flow: &FlowOutcome) -> f64 {
    let counters = &flow.counters;
    (counters.dropped + counters.lost_on_link) as f64 / counters.packets_sent.max(1) as f64
}

/// What the forward link can carry from `from_us` to `until_us`, in bytes.
fn capacity_bytes(link: &LinkTimeline, from_us: u64, until_us: u64) -> f64 {
    let mut bits = 0.0;
    let (mut at_us, mut state) = (0, 0);
    while at_us < until_us {
        let Some(current) = link.states.get(state) else { break };
        state += 1;
        let mut ends_us = current.duration_us.map_or(u64::MAX, |us| at_us + us.max(1));
        if state == link.states.len() {
            if link.repeat {
                state = 0;
            } else {
                ends_us = u64::MAX;
            }
        }
        let overlap_us = ends_us.min(until_us).saturating_sub(at_us.max(from_us));
        bits += current.down_bps as f64 * overlap_us as f64 / 1e6;
        at_us = ends_us;
    }
    bits / 8.0
}

fn common_period(outcome: &RunOutcome, received: &[Vec<u64>]) -> Option<CommonPeriod> {
    let forward: Vec<usize> = (0..outcome.flows.len())
        .filter(|&flow| outcome.flows[flow].direction == Direction::Forward)
        .collect();
    let starts = forward.iter().map(|&flow| outcome.flows[flow].request_us);
    let last_start_us = starts.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
    let ends = forward.iter().map(|&flow| outcome.flows[flow].last_byte_us.unwrap_or(outcome.end_us));
    let first_end_us = ends.min()?;
    // Note number n was taken after n + 1 intervals.
    let from = usize::try_from(last_start_us.div_ceil(SHARE_INTERVAL_US).checked_sub(1)?).ok()?;
    let until =
        usize::try_from((first_end_us / SHARE_INTERVAL_US).checked_sub(1)?).ok()?.min(received.len() - 1);
    if until <= from {
        return None;
    }
    let (before, after) = (received.get(from)?, received.get(until)?);
    let got: Vec<f64> = forward.iter().map(|&flow| (after[flow] - before[flow]) as f64).collect();
    let sum: f64 = got.iter().sum();
    let jain = jain_index(&got)?;
    Some(CommonPeriod {
        from_us: (from as u64 + 1) * SHARE_INTERVAL_US,
        until_us: (until as u64 + 1) * SHARE_INTERVAL_US,
        shares: got.iter().map(|bytes| bytes / sum).collect(),
        jain,
    })
}

#[cfg(test)]
mod tests {
    use super::{RunFigures, capacity_bytes, measure};
    use crate::Algorithm;
    use crate::scenario::{LinkState, LinkTimeline, QueueLimit, parse};

    fn run(text: &str, algorithm: Algorithm) -> RunFigures {
        let text = format!("name = \"m\"\nsummary = \"\"\n{text}");
        measure(&parse(&text, "m").unwrap(), algorithm, 1).unwrap()
    }

    /// 8 Mbit/s, a microsecond a byte, and 10 ms one way.
    const LINK: &str = "[[link]]\nrate_mbps = 8\nlatency_ms = 10\nqueue_ms = 60\n";

    #[test]
    fn capacity_follows_the_timeline() {
        let state = |duration_us, bps| LinkState {
            duration_us,
            ..LinkState::constant(bps, 0, QueueLimit::Unlimited)
        };
        let states = vec![state(Some(1_000_000), 8_000_000), state(None, 16_000_000)];
        let once = LinkTimeline { states, repeat: false };
        // From 0.5 s: half a second at 1 MB/s and 1.5 s at 2 MB/s.
        assert_eq!(capacity_bytes(&once, 500_000, 2_500_000), 500_000.0 + 3_000_000.0);
        let states = vec![state(Some(1_000_000), 8_000_000), state(Some(1_000_000), 0)];
        let repeated = LinkTimeline { states, repeat: true };
        assert_eq!(capacity_bytes(&repeated, 500_000, 4_250_000), 500_000.0 + 1_000_000.0 + 250_000.0);
    }

    #[test]
    fn one_byte_has_the_rtt_and_the_goodput_of_an_idle_path() {
        let figures = run(&format!("{LINK}[transfer]\nsize_bytes = 1\n"), Algorithm::C4);
        // From the request at 33 730 to 43 765.
        assert_eq!(figures.flows[0].goodput_bps, 8e6 / 10_035.0);
        // Packet 0 (511 bytes, after 1252): sent at 11 252, there at 23 015, acknowledged 1 ms later behind the client's
        // flight, which has the uplink until 25 170: ACK (55) at the server at 35 225. Without the ACK delay of a
        // millisecond 22 973, until the ACK of the probe (sent at 11 252, there at 24 455, ACK after a millisecond, at
        // 35 510): 23 258. That of the byte (sent 33 730, there 43 765) comes at 53 820 and is the last.
        let rtt = figures.flows[0].rtt;
        assert_eq!(rtt.max, Some(23_258));
        // 22 973 for 285 us, 23 258 from 35 510 to 53 820.
        let mean = (22_973.0 * 285.0 + 23_258.0 * 18_310.0) / 18_595.0;
        assert!((rtt.mean.unwrap() - mean).abs() < 1e-6, "{rtt:?}, {mean}");
        assert_eq!(figures.flows[0].loss, 0.0);
        assert!(figures.common.is_none(), "less than a tenth of a second");
    }

    #[test]
    fn a_long_flow_fills_its_link_and_its_queue() {
        let figures = run(&format!("{LINK}[transfer]\nsize_bytes = 10_000_000\n"), Algorithm::Cubic);
        let flow = &figures.flows[0];
        assert!(figures.utilisation > 0.9 && figures.utilisation <= 1.0, "{}", figures.utilisation);
        // 1406 of 1440 bytes are data.
        let goodput = figures.utilisation * 8e6 * 1_406.0 / 1_440.0;
        assert!((flow.goodput_bps / goodput - 1.0).abs() < 0.01, "{} {goodput}", flow.goodput_bps);
        // 20 ms, a packet and an ACK at the least, and a full queue at the most.
        let (mean, max) = (flow.rtt.mean.unwrap(), flow.rtt.max.unwrap());
        assert!(mean > 21_500.0 && (70_000..83_000).contains(&max), "{:?}", flow.rtt);
        assert!(flow.rtt.p95.unwrap() >= mean && flow.rtt.p95.unwrap() <= max as f64);
        let queue = figures.queue;
        assert!((mean - queue.mean.unwrap() - 21_500.0).abs() < 3_000.0, "{:?} {queue:?}", flow.rtt);
        assert!(
            queue.max.unwrap() <= 61_440 && flow.loss > 0.0 && flow.loss < 0.1,
            "{queue:?} {}",
            flow.loss
        );
        assert_eq!(figures.reverse_queue.p95, Some(0.0));
        assert_eq!(figures.received.len() as u64, figures.outcome.end_us / 100_000);
    }

    #[test]
    fn shares_are_those_of_the_time_in_which_all_forward_flows_transfer() {
        // The second flow starts at 2 s, its request comes 33.7 ms later behind a queue of up to 60 ms; the first is done
        // before the second. The reverse flow does not count.
        let flows = "[[flow]]\nsize_bytes = 4_000_000\nstart_ms = 2_000\n\
                     [[flow]]\nsize_bytes = 100_000\ndirection = \"reverse\"\n";
        let text = format!("ends = \"all\"\n{LINK}[transfer]\nsize_bytes = 4_000_000\n{flows}");
        let figures = run(&text, Algorithm::Cubic);
        let common = figures.common.unwrap();
        assert_eq!(common.from_us, 2_100_000);
        let first_end_us = figures.outcome.flows[0].last_byte_us.unwrap();
        assert_eq!(common.until_us, first_end_us / 100_000 * 100_000);
        assert_eq!(common.shares.len(), 2);
        assert!((common.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let jain = 1.0 / (2.0 * common.shares.iter().map(|share| share * share).sum::<f64>());
        assert!((common.jain - jain).abs() < 1e-12, "{common:?}");
        // Notes number 20 and so on: 2.1 s.
        let (from, until) = (20, (first_end_us / 100_000) as usize - 1);
        let got = |flow: usize| (figures.received[until][flow] - figures.received[from][flow]) as f64;
        assert!((common.shares[0] - got(0) / (got(0) + got(1))).abs() < 1e-12);
    }

    #[test]
    fn measuring_changes_nothing() {
        let text = format!("{LINK}[transfer]\nsize_bytes = 1_000_000\n[[flow]]\nsize_bytes = 500_000\n");
        let scenario = parse(&format!("name = \"m\"\nsummary = \"\"\n{text}"), "m").unwrap();
        for &algorithm in Algorithm::ALL {
            let plain = crate::simulate_flows(&scenario, algorithm, 5, &mut ()).unwrap();
            assert_eq!(measure(&scenario, algorithm, 5).unwrap().outcome, plain);
        }
    }
}
