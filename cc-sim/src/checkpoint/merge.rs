//! Files of finished cells, put together.

use super::file::Found;
use super::{Job, Refused};
use crate::experiment::Cell;
use crate::{Outcome, Scenario};
use std::fs::File;
use std::io::BufReader;

/// All cells of a job.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The job, as the first file has it.
    pub job: Job,
    scenarios: Vec<Scenario>,
    /// In the order of the result.
    outcomes: Vec<Vec<Outcome>>,
}

impl Merged {
    /// The cells, in the order of the result.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell<'_>> {
        let algorithms = &self.job.algorithms;
        let with_all = |scenario| algorithms.iter().map(move |&algorithm| (scenario, algorithm));
        let pairs = self.scenarios.iter().flat_map(with_all);
        pairs.zip(&self.outcomes).filter_map(|(pair, outcomes)| Cell::new(pair, outcomes.clone())).collect()
    }
}

/// Puts the files at `paths` together, in any order: those of all parts of a job, or one with the whole of it.
///
/// # Errors
///
/// A file cannot be read or is no such file, two of them are of different jobs, a cell is missing, or there more than once.
pub fn merge(paths: &[String]) -> Result<Merged, Refused> {
    let mut files = paths.iter().map(|path| read(path).map(|found| (path, found)));
    let Some(first) = files.next() else {
        return Err(Refused::new("merge", "FILE", "none given (allowed: one or more)"));
    };
    let (first_path, Found { job, mut cells, .. }) = first?;
    let version = env!("CARGO_PKG_VERSION");
    if job.version != version {
        let problem = format!("made with {}, this is {version}", job.version);
        return Err(Refused::new(first_path, "version", problem));
    }
    for file in files {
        let (path, found) = file?;
        if let Some((field, problem)) = found.job.difference(&job) {
            return Err(Refused::new(path, &field, format!("{problem} as in {first_path}")));
        }
        for (index, (cell, another)) in cells.iter_mut().zip(found.cells).enumerate() {
            if cell.is_some() && another.is_some() {
                let problem = "there twice, here and in a file before (allowed: each cell once)";
                return Err(Refused::new(path, &job.cell_name(index), problem));
            }
            *cell = cell.take().or(another);
        }
    }
    let missing: Vec<usize> = (0..cells.len()).filter(|&index| cells[index].is_none()).collect();
    if let Some(&index) = missing.first() {
        let shard = index % job.shard.of as usize + 1;
        let (count, all, of) = (missing.len(), cells.len(), job.shard.of);
        let problem = format!("not finished, in shard {shard}/{of} ({count} of {all} cells are missing)");
        return Err(Refused::new("merge", &job.cell_name(index), problem));
    }
    let scenarios = job.parse_scenarios(first_path)?;
    Ok(Merged { job, scenarios, outcomes: cells.into_iter().flatten().collect() })
}

fn read(path: &str) -> Result<Found, Refused> {
    let file =
        File::open(path).map_err(|e| Refused::new(path, "FILE", format!("cannot open the file: {e}")))?;
    Found::read(path, BufReader::new(file))
}
