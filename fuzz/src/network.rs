//! The `network` target: a path that is disturbed for a while, and then calm.
//!
//! The input is a timeline of rate, latency, loss, jitter, ACK loss, cross traffic and other flows; it becomes a scenario of the simulator,
//! which the tests of the simulator judge (`liveness`). Everything is measured in round trips of the calm path, so that
//! short and long paths take the same number of packets.

use crate::{count, liveness};
use arbitrary::Arbitrary;
use cc_sim::Algorithm;
use cc_sim::scenario::{
    CrossTraffic, Direction, Flow, FlowAlgorithm, Jitter, LinkState, LinkTimeline, Pattern, QueueLimit,
    Scenario, Transfer,
};

/// Where a scenario is written to, if this variable is set: the way from an artifact to a file of its own.
pub const SAVE: &str = "SAVE_SCENARIO";

const MTU: u64 = 1_440;
/// Round trips before the disturbance: three of the handshake, and a start.
const BEFORE: u64 = 8;
const MAX_PHASES: usize = 6;
const MAX_FLOWS: usize = 3;
/// Slowest calm path. Below 50 kB/s losses are no signal to C4 (see its documentation), which then fills a path with up to
/// fifteen times its rate for some seconds.
const LEAST_BPS: u64 = 1_000_000;
/// More than any run delivers.
const ENDLESS: u64 = 100_000_000_000;

/// A path and what happens on it.
#[derive(Arbitrary, Clone, Debug)]
pub struct Input {
    algorithm: u8,
    seed: u8,
    /// Packets that the path holds without a queue, if it is fast enough.
    packets: u8,
    latency: u8,
    /// Quarters of that in the queue.
    queue: u8,
    phases: Vec<Phase>,
    flows: Vec<Other>,
    cross: Vec<Source>,
}

/// A state of the link, as parts of its calm one.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Phase {
    rounds: u8,
    rate: u8,
    up_rate: u8,
    latency: u8,
    jitter: u8,
    loss: u8,
    up_loss: u8,
    queue: u8,
}

/// Another flow.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Other {
    algorithm: u8,
    start: u8,
    rounds: u8,
    reverse: bool,
}

/// A source of datagrams that does not react; it ends with the disturbance at the latest.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Source {
    rate: u8,
    start: u8,
    stop: u8,
    on: u8,
    off: u8,
    random: bool,
    small: bool,
    reverse: bool,
}

/// `of` times one of these, as numerator and denominator.
fn part(of: u64, index: u8, parts: &[(u64, u64)]) -> u64 {
    let (numerator, denominator) = parts[usize::from(index) % parts.len()];
    of * numerator / denominator
}

/// 0 to `most` millionths, more often few than many.
fn millionths(index: u8, most: u64) -> u32 {
    let square = u64::from(index.saturating_sub(64)).pow(2);
    u32::try_from(most * square / 191_u64.pow(2)).expect("most is small")
}

impl Input {
    fn algorithm(index: u8) -> Algorithm {
        Algorithm::ALL[usize::from(index) % Algorithm::ALL.len()]
    }

    /// The scenario, the algorithm of the main flow and the seed.
    pub fn scenario(&self) -> (Scenario, Algorithm, u64) {
        let packets = 4 + u64::from(self.packets) % 61;
        // 1 to 150 ms one way, more often short.
        let latency_us = 1_000 + u64::from(self.latency).pow(2) * 149_000 / 255_u64.pow(2);
        let rtt_us = 2 * latency_us;
        let bps = (packets * MTU * 8_000_000 / rtt_us).max(LEAST_BPS);
        let service_us = MTU * 8_000_000 / bps;
        let queue = |quarters: u8| {
            QueueLimit::DelayUs((rtt_us * (1 + u64::from(quarters) % 12) / 4).max(3 * service_us))
        };
        let calm = LinkState::constant(bps, latency_us, queue(self.queue));

        let before = LinkState { duration_us: Some(BEFORE * rtt_us), ..calm.clone() };
        let mut states = vec![before];
        for phase in self.phases.iter().take(MAX_PHASES) {
            let rounds = 1 + u64::from(phase.rounds) % 32;
            let least = |rate: u64| if rate == 0 { 0 } else { rate.max(8_000) };
            let latency_us =
                part(latency_us, phase.latency, &[(1, 1), (1, 1), (2, 1), (4, 1), (1, 2), (1, 4)]);
            let jitter_us = part(latency_us, phase.jitter, &[(0, 1), (0, 1), (1, 8), (1, 2), (1, 1)]);
            let rates = [(1, 1), (1, 1), (0, 1), (1, 64), (1, 16), (1, 4), (1, 2), (2, 1), (4, 1)];
            states.push(LinkState {
                duration_us: Some((rounds * rtt_us).max(1_000)),
                down_bps: least(part(bps, phase.rate, &rates)),
                up_bps: least(part(bps, phase.up_rate, &[(1, 1), (1, 1), (1, 4), (1, 16), (0, 1)])),
                latency_us,
                queue: queue(phase.queue),
                up_queue: calm.up_queue,
                jitter: if jitter_us == 0 { Jitter::None } else { Jitter::Gauss { mean_us: jitter_us } },
                loss_ppm: millionths(phase.loss, 300_000),
                up_loss_ppm: millionths(phase.up_loss, 500_000),
            });
        }
        let disturbed_us: u64 = states.iter().filter_map(|state| state.duration_us).sum();
        states.push(calm);

        let transfer = Transfer { bytes: ENDLESS, start_us: 0, access_us: 0 };
        let timeline = LinkTimeline { states, repeat: false };
        let flows = self.flows.iter().take(MAX_FLOWS).map(|flow| Flow {
            algorithm: FlowAlgorithm::Fixed(Self::algorithm(flow.algorithm)),
            transfer: Transfer {
                bytes: (1 + u64::from(flow.rounds) % 32) * packets * MTU,
                start_us: disturbed_us * u64::from(flow.start) / 256,
                access_us: 0,
            },
            direction: if flow.reverse { Direction::Reverse } else { Direction::Forward },
        });
        let cross = self.cross.iter().take(MAX_FLOWS).filter_map(|source| {
            let at = |place: u8| disturbed_us * u64::from(place) / 255;
            let on_us = rtt_us * (1 + u64::from(source.on) % 8) / 2;
            let off_us = rtt_us * (u64::from(source.off) % 8) / 2;
            let on_off = Pattern::OnOff { on_us, off_us, random: source.random };
            let (start_us, stop_us) = (at(source.start.min(source.stop)), at(source.start.max(source.stop)));
            (start_us < stop_us).then_some(CrossTraffic {
                direction: if source.reverse { Direction::Reverse } else { Direction::Forward },
                rate_bps: part(bps, source.rate, &[(1, 8), (1, 4), (1, 2), (1, 1), (2, 1)]),
                packet_bytes: if source.small { 100 } else { MTU },
                start_us,
                stop_us: Some(stop_us),
                pattern: if off_us == 0 { Pattern::Constant } else { on_off },
            })
        });
        let scenario = Scenario {
            cross: cross.collect(),
            summary: "found by the fuzz target network".to_owned(),
            flows: flows.collect(),
            ..Scenario::single("found", timeline, transfer)
        };
        (scenario, Self::algorithm(self.algorithm), u64::from(self.seed) % 8)
    }
}

/// Runs the scenario of an input.
pub fn run(input: &Input) {
    let (scenario, algorithm, seed) = input.scenario();
    let result = liveness::check(&scenario, algorithm, seed);
    if let Some(file) = std::env::var_os(SAVE) {
        let message = result.as_ref().err().map_or("nothing", String::as_str);
        let what = message.lines().next().unwrap_or_default();
        let text = format!("# With {}, seed {seed}: {what}\n\n{}", algorithm.name(), scenario.to_toml());
        std::fs::write(file, text).expect("the file can be written");
    }
    match result {
        Ok(datagrams) => count::input(datagrams),
        Err(message) => panic!("{} with seed {seed}: {message}\n{}", algorithm.name(), scenario.to_toml()),
    }
}
