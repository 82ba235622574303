//! Runs that are written as qlog.

use super::Failure;
use cc_sim::event_log::{EventLog, EventLogError};
use cc_sim::experiment::{CellName, Experiment, Pair, Plan, run_seed};
use cc_sim::{Outcome, RunOutcome, SimulationError};
use std::fs::{File, create_dir_all};
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The runs of an experiment, each of which writes its flows to files of their own.
pub(super) struct LoggedRuns<'a> {
    experiment: Experiment<'a>,
    folder: &'a Path,
    packets: bool,
    /// Why a file could not be written. Nothing is written after it; the runs are worth something without.
    error: Mutex<Option<io::Error>>,
}

impl<'a> LoggedRuns<'a> {
    pub(super) fn new(experiment: Experiment<'a>, folder: &'a Path, packets: bool) -> Self {
        Self { experiment, folder, packets, error: Mutex::new(None) }
    }

    /// The first error of a file, if there was one.
    pub(super) fn close(self) -> Result<(), Failure> {
        let Self { folder, error, .. } = self;
        let error = error.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(()), |error| Err(log_failure(folder, EventLogError::Write(error))))
    }
}

impl<'a> Plan for LoggedRuns<'a> {
    type Cell = Pair<'a>;
    type Run = Outcome;

    fn cells(&self) -> Vec<Pair<'a>> {
        self.experiment.cells()
    }

    fn runs(&self) -> u32 {
        self.experiment.runs
    }

    fn name(&self, cell: &Pair<'a>) -> CellName {
        self.experiment.name(cell)
    }

    fn run_one(&self, cell: &Pair<'a>, number: u64) -> Result<Outcome, SimulationError> {
        let has_failed = self.error.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if has_failed {
            return self.experiment.run_one(cell, number);
        }
        let (scenario, algorithm) = *cell;
        let seed = run_seed(self.experiment.seed, &scenario.name, algorithm, number);
        let log = EventLog { scenario, algorithm, seed, packets: self.packets };
        match write_qlog(log, self.folder, number) {
            Ok(outcome) => Ok(outcome.main),
            Err(EventLogError::Run(error)) => Err(error),
            Err(EventLogError::Write(error)) => {
                self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                self.experiment.run_one(cell, number)
            }
        }
    }

    fn events(run: &Outcome) -> u64 {
        Experiment::events(run)
    }
}

/// Writes run number `run` to `folder`, each flow to a file of its own.
pub(super) fn write_qlog(log: EventLog<'_>, folder: &Path, run: u64) -> Result<RunOutcome, EventLogError> {
    let name = format!("{}-{}-run{run}", log.scenario.name, log.algorithm.name());
    log.write(|flow| {
        create_dir_all(folder)?;
        File::create(folder.join(format!("{name}-flow{flow}.sqlog"))).map(io::BufWriter::new)
    })
}

pub(super) fn log_failure(folder: &Path, error: EventLogError) -> Failure {
    match error {
        EventLogError::Run(error) => Failure::bad_input(error),
        EventLogError::Write(error) => {
            Failure::failed(format!("{}: --qlog: cannot write: {error}", folder.display()))
        }
    }
}
