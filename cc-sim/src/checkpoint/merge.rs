//! Files of finished cells, put together.

use super::file::Found;
use super::{Job, JobCommand, Refused};
use crate::measure::RunFigures;
use crate::{Outcome, Scenario};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::BufReader;

/// All cells of a job.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The job, as the first file has it.
    pub job: Job,
    /// Its scenarios.
    pub scenarios: Vec<Scenario>,
    /// What is left of the runs of each cell, in the order of the result.
    pub results: Results,
}

/// What is left of the runs of each cell: [`Outcome`]s of `run` and `compare`, [`RunFigures`] of the other commands.
#[derive(Clone, Debug)]
pub enum Results {
    /// When runs ended, and how many packets they took.
    Outcomes(Vec<Vec<Outcome>>),
    /// With several flows, or queues of interest.
    Figures(Vec<Vec<RunFigures>>),
}

impl From<Vec<Vec<Outcome>>> for Results {
    fn from(outcomes: Vec<Vec<Outcome>>) -> Self {
        Self::Outcomes(outcomes)
    }
}

impl From<Vec<Vec<RunFigures>>> for Results {
    fn from(figures: Vec<Vec<RunFigures>>) -> Self {
        Self::Figures(figures)
    }
}

/// Puts the files at `paths` together, in any order: those of all parts of a job, or one with the whole of it.
///
/// # Errors
///
/// A file cannot be read or is no such file, two of them are of different jobs, a cell is missing, or there more than once.
pub fn merge(paths: &[String]) -> Result<Merged, Refused> {
    let Some((first, others)) = paths.split_first() else {
        return Err(Refused::new("merge", "FILE", "none given (allowed: one or more)"));
    };
    let job = Found::<Outcome>::job_of(first, open(first)?)?;
    match job.command {
        JobCommand::Run | JobCommand::Compare => merged::<Outcome>(first, others),
        JobCommand::Share { .. } | JobCommand::Delay | JobCommand::Ecn { .. } => {
            merged::<RunFigures>(first, others)
        }
    }
}

fn merged<T: Clone + DeserializeOwned>(first: &str, others: &[String]) -> Result<Merged, Refused>
where
    Results: From<Vec<Vec<T>>>,
{
    let Found { job, scenarios, names, mut cells, .. } = Found::<T>::read(first, open(first)?, |_| Ok(()))?;
    for path in others {
        let is_of_the_job = |found: &Job| match found.difference(&job) {
            None => Ok(()),
            Some((field, problem)) => Err(Refused::new(path, &field, format!("{problem} as in {first}"))),
        };
        let found = Found::<T>::read(path, open(path)?, is_of_the_job)?;
        for ((cell, another), name) in cells.iter_mut().zip(found.cells).zip(&names) {
            if cell.is_some() && another.is_some() {
                let problem = "there twice, here and in a file before (allowed: each cell once)";
                return Err(Refused::new(path, &name.to_string(), problem));
            }
            *cell = cell.take().or(another);
        }
    }
    let missing: Vec<usize> = (0..cells.len()).filter(|&index| cells[index].is_none()).collect();
    if let Some(&index) = missing.first() {
        let shard = index % job.shard.of as usize + 1;
        let (count, all, of) = (missing.len(), cells.len(), job.shard.of);
        let problem = format!("not finished, in shard {shard}/{of} ({count} of {all} cells are missing)");
        return Err(Refused::new("merge", &names[index].to_string(), problem));
    }
    let results: Vec<Vec<T>> = cells.into_iter().flatten().collect();
    Ok(Merged { job, scenarios, results: results.into() })
}

fn open(path: &str) -> Result<BufReader<File>, Refused> {
    let file =
        File::open(path).map_err(|e| Refused::new(path, "FILE", format!("cannot open the file: {e}")))?;
    Ok(BufReader::new(file))
}
