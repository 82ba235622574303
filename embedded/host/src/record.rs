//! Traces from runs of the simulator.

use crate::recorder::{Recorder, Recording, SharedRecording, lock};
use cc_replay::{Algorithm, Header, MAGIC, Name, Totals, TraceEnd, TraceSetup, end_of_file};
use cc_sim::experiment::run_seed;
use cc_sim::scenario::{Endpoint, Group, builtin};
use cc_sim::{AnyController, Scenario, simulate_with};
use rayon::prelude::*;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

/// The groups of scenarios that are recorded: network events, Wi-Fi, and ECN without and with marks.
const GROUPS: [Group; 4] = [Group::NetworkEvents, Group::Wifi, Group::EcnSimulated, Group::EcnWritten];

/// And one in which the receiver reports receive times, which QUIC-DC prefers to the arrival of ACKs.
const MORE: [&str; 1] = ["delay_1bdp"];

/// Base seed of the runs.
const SEED: u64 = 1;

/// A file of traces, and what the controllers of the simulation said.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) file: Vec<u8>,
    pub(crate) traces: Vec<(Header, u64, u64)>,
    pub(crate) totals: [Totals; Algorithm::ALL.len()],
}

impl Recorded {
    /// Of no traces; `file` is the beginning of the file.
    pub(crate) fn new(file: Vec<u8>) -> Self {
        Self { file, traces: Vec::new(), totals: Totals::none() }
    }

    /// Adds a trace.
    pub(crate) fn add(&mut self, recording: &Recording) {
        let (calls, hash) = (recording.calls, recording.hash.get());
        self.file.extend(recording.writer.clone().finish());
        Totals::add(&mut self.totals, &TraceEnd { header: &recording.header, calls, hash });
        self.traces.push((recording.header.clone(), calls, hash));
    }

    /// Ends the file.
    pub(crate) fn end(&mut self) {
        end_of_file(&mut self.file, self.traces.len() as u64);
    }
}

/// Runs every scenario with every algorithm and writes down the first `limit` calls of each flow's controller.
pub(crate) fn record(limit: u64) -> Result<Recorded, Box<dyn Error>> {
    let names = GROUPS.iter().flat_map(|group| group.scenarios()).chain(MORE);
    let scenarios = names.map(builtin).collect::<Result<Vec<_>, _>>()?;
    let of = |scenario| cc_sim::Algorithm::ALL.iter().map(move |&algorithm| (scenario, algorithm));
    let pairs: Vec<_> = scenarios.iter().flat_map(of).collect();
    let run = |&(scenario, algorithm): &(&Scenario, _)| {
        flows(scenario, algorithm, limit).map_err(|error| error.to_string())
    };
    let flows: Vec<Vec<SharedRecording>> = pairs.par_iter().map(run).collect::<Result<_, _>>()?;

    let mut recorded = Recorded::new(MAGIC.to_vec());
    for recording in flows.iter().flatten() {
        recorded.add(&lock(recording));
    }
    recorded.end();
    Ok(recorded)
}

/// Records the flows of one run.
fn flows(
    scenario: &Scenario,
    main: cc_sim::Algorithm,
    limit: u64,
) -> Result<Vec<SharedRecording>, Box<dyn Error>> {
    let name = name(&scenario.name)?;
    let flows: Mutex<Vec<SharedRecording>> = Mutex::default();
    let make = |algorithm: cc_sim::Algorithm, endpoint: &Endpoint, seed: u64| -> AnyController {
        let mut flows = flows.lock().unwrap_or_else(PoisonError::into_inner);
        let flow = flows.len() as u64;
        let header = header(algorithm, main, &name, flow, endpoint, seed);
        let recording = Arc::new(Mutex::new(Recording::new(header, limit)));
        flows.push(Arc::clone(&recording));
        Box::new(Recorder::new(algorithm.controller(endpoint, seed), recording))
    };
    let seed = run_seed(SEED, &scenario.name, main, 0);
    simulate_with(scenario, main, &make, seed, &mut ())?;
    Ok(flows.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A scenario's name as a trace has it.
pub(crate) fn name(scenario: &str) -> Result<Name, String> {
    Name::try_from(scenario).map_err(|_| format!("the name of scenario {scenario} is too long for a trace"))
}

/// The header of a controller that the simulator makes for such an endpoint.
pub(crate) fn header(
    algorithm: cc_sim::Algorithm,
    main: cc_sim::Algorithm,
    scenario: &Name,
    flow: u64,
    endpoint: &Endpoint,
    seed: u64,
) -> Header {
    let setup = TraceSetup {
        max_datagram_size: endpoint.initial_mtu,
        initial_window: endpoint.initial_window,
        paces: endpoint.pacing,
        fast_convergence: endpoint.fast_convergence,
        seed,
    };
    Header { algorithm: ours(algorithm), scenario: scenario.clone(), main: ours(main), flow, setup }
}

/// The algorithm of traces that is this one of the simulator's.
const fn ours(algorithm: cc_sim::Algorithm) -> Algorithm {
    match algorithm {
        cc_sim::Algorithm::C4 => Algorithm::C4,
        cc_sim::Algorithm::Bbr => Algorithm::Bbr,
        cc_sim::Algorithm::Cubic => Algorithm::Cubic,
        cc_sim::Algorithm::QuicDc => Algorithm::QuicDc,
        cc_sim::Algorithm::QuicDcFraction => Algorithm::QuicDcFraction,
        cc_sim::Algorithm::QuicDcProbe => Algorithm::QuicDcProbe,
        cc_sim::Algorithm::Westwood => Algorithm::Westwood,
        cc_sim::Algorithm::Reno => Algorithm::Reno,
    }
}

#[cfg(test)]
mod tests {
    use super::{ours, record};
    use cc_replay::{Algorithm, replay};

    #[test]
    fn both_lists_of_algorithms_are_one() {
        let theirs: Vec<_> = cc_sim::Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
        assert_eq!(Algorithm::ALL.map(Algorithm::name).as_slice(), theirs);
        for algorithm in cc_sim::Algorithm::ALL {
            assert_eq!(ours(*algorithm).name(), algorithm.name());
        }
    }

    #[test]
    fn a_replay_says_what_the_controllers_of_the_simulation_said() {
        let recorded = record(300).unwrap();
        assert!(recorded.traces.len() > 100);
        assert_eq!(replay(recorded.file.as_slice(), &mut ()), Ok(recorded.totals));
    }
}
