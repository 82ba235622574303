//! One file of finished cells.

use super::{Finished, Job, MAX_SHARDS, Refused, Shard};
use crate::experiment::{MAX_RUNS, Pair};
use crate::{Algorithm, Outcome};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

/// Longest line that is read, in bytes: an outcome has 14 numbers of up to 20 digits and their names, 500 bytes or so, and a
/// cell up to [`MAX_RUNS`] of them.
const MAX_LINE: u64 = 640 * MAX_RUNS as u64;

/// The outcomes of each cell of a job, in the order of the result; `None` for those that are not there.
pub type Cells = Vec<Option<Vec<Outcome>>>;

/// A file that finished cells are added to.
#[derive(Debug)]
pub struct Checkpoint {
    file: File,
    /// Why a line could not be written. Nothing is written after it.
    error: Option<io::Error>,
}

impl Checkpoint {
    /// Opens the file at `path`, which is made if it does not exist: the file, and the cells that it has, in the order of the
    /// result. A last line that was not written to its end is cut off.
    ///
    /// # Errors
    ///
    /// The file cannot be read and written, is no such file, or was made for another job. It has not been changed.
    pub fn open(path: &str, job: &Job) -> Result<(Self, Cells), Refused> {
        let refused = |e: io::Error| Refused::new(path, "--resume", format!("cannot open the file: {e}"));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(refused)?;
        let header = json_line(job).map_err(refused)?;
        let (cells, whole) = if is_start_of(&mut file, &header).map_err(refused)? {
            (vec![None; job.cells()], 0)
        } else {
            let found = Found::read(path, BufReader::new(&mut file))?;
            if let Some((field, problem)) = found.job.difference(job) {
                return Err(Refused::new(path, &field, problem));
            }
            if found.job.shard != job.shard {
                let problem = format!("made with {}, not with {}", found.job.shard, job.shard);
                return Err(Refused::new(path, "shard", problem));
            }
            (found.cells, found.whole)
        };
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(refused)?;
        let mut checkpoint = Self { file, error: None };
        if whole == 0 {
            checkpoint.file.write_all(&header).map_err(refused)?;
        }
        Ok((checkpoint, cells))
    }

    /// Adds a cell. An error is kept for [`Checkpoint::close`]: the cells are worth something without the file.
    pub fn add(&mut self, pair: Pair<'_>, outcomes: &[Outcome]) {
        if self.error.is_none() {
            let line = json_line(&Finished::new(pair, outcomes));
            self.error = line.and_then(|line| self.file.write_all(&line)).err();
        }
    }

    /// The first error of [`Checkpoint::add`], if there was one.
    ///
    /// # Errors
    ///
    /// The system refused to write a line.
    pub fn close(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }
}

/// What is in a file.
pub(super) struct Found {
    pub(super) job: Job,
    pub(super) cells: Cells,
    /// Bytes of the lines that have their end.
    pub(super) whole: u64,
}

impl Found {
    /// Reads the file at `path`. A last line without an end is left out.
    pub(super) fn read(path: &str, mut reader: impl BufRead) -> Result<Self, Refused> {
        let mut line = Vec::new();
        let mut next = |number: usize| match next_line(&mut reader, &mut line) {
            Ok(true) => Ok(Some(line.clone())),
            Ok(false) => Ok(None),
            Err(e) => Err(Refused::new(path, &format!("line {number}"), format!("cannot be read: {e}"))),
        };
        let no_job = |why: String| Refused::new(path, "line 1", format!("no file of finished cells: {why}"));
        let first = next(1)?.ok_or_else(|| no_job("no whole line".to_owned()))?;
        let job: Job = serde_json::from_slice(&first).map_err(|e| no_job(e.to_string()))?;
        check(&job).map_err(|(field, problem)| Refused::new(path, field, problem))?;
        let mut found = Self { cells: vec![None; job.cells()], job, whole: first.len() as u64 };
        for number in 2.. {
            let Some(line) = next(number)? else { break };
            found.take(&line).map_err(|why| Refused::new(path, &format!("line {number}"), why))?;
            found.whole += line.len() as u64;
        }
        Ok(found)
    }

    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let finished: Finished =
            serde_json::from_slice(line).map_err(|e| format!("no finished cell: {e}"))?;
        let name = format!("{} with {}", finished.scenario, finished.algorithm.name());
        let index = self.job.index_of(&finished).filter(|&index| self.job.shard.has(index));
        let place = index.and_then(|index| self.cells.get_mut(index));
        let place = place.ok_or_else(|| format!("{name} is no cell of this file"))?;
        let (runs, wanted) = (finished.outcomes.len(), self.job.runs);
        if runs != wanted as usize {
            return Err(format!("{name} has {runs} runs, not {wanted}"));
        }
        if place.replace(finished.outcomes).is_some() {
            return Err(format!("{name} is there twice"));
        }
        Ok(())
    }
}

/// The field that is not as the program writes it.
fn check(job: &Job) -> Result<(), (&'static str, String)> {
    let Shard { number, of } = job.shard;
    if !(1..=MAX_SHARDS).contains(&of) || !(1..=of).contains(&number) {
        return Err(("shard", format!("{} (allowed: k/n, n 1..={MAX_SHARDS}, k 1..=n)", job.shard)));
    }
    if !(1..=MAX_RUNS).contains(&job.runs) {
        return Err(("runs", format!("{} (allowed: 1..={MAX_RUNS})", job.runs)));
    }
    if job.algorithms.len() > Algorithm::ALL.len() {
        return Err(("algorithms", format!("too many (allowed: {} at most)", Algorithm::ALL.len())));
    }
    Ok(())
}

/// Whether the file is empty, or holds what a process left that was killed when it wrote the first line.
fn is_start_of(file: &mut File, header: &[u8]) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(header.len() as u64).read_to_end(&mut start)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(start.len() < header.len() && header.starts_with(&start))
}

/// The next line with its end in `line`; false if there is none.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    reader.take(MAX_LINE).read_until(b'\n', line)?;
    if line.len() as u64 == MAX_LINE && line.last() != Some(&b'\n') {
        return Err(io::Error::other(format!("too long (allowed: 0..={MAX_LINE} bytes)")));
    }
    Ok(line.last() == Some(&b'\n'))
}

fn json_line(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}
