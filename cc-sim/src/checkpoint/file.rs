//! One file of finished cells.

use super::{AFTER_MS, EVERY_MS, Finished, Job, JobCommand, MAX_SHARDS, Refused, Shard, VERSION};
use crate::experiment::{CellName, MAX_RUNS};
use crate::{Algorithm, Scenario};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

/// Longest line that is written or read, in bytes: an outcome has 500 bytes or so, figures of a run with what its clients had got at each tenth of
/// a second some kilobytes, in a long run with many flows a megabyte; a cell has up to [`MAX_RUNS`] of them.
const MAX_LINE: u64 = 1 << 30;

/// What is left of the runs of each cell of a job, in the order of the result; `None` for those that are not there.
pub type Cells<T> = Vec<Option<Vec<T>>>;

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
    pub fn open<T: Clone + DeserializeOwned>(
        path: &str,
        job: &Job,
        scenarios: &[Scenario],
    ) -> Result<(Self, Cells<T>), Refused> {
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
            (vec![None; job.names(scenarios).len()], 0)
        } else {
            let is_this_job = |found: &Job| {
                if let Some((field, problem)) = found.difference(job) {
                    return Err(Refused::new(path, &field, problem));
                }
                if found.shard != job.shard {
                    let problem = format!("made with {}, not with {}", found.shard, job.shard);
                    return Err(Refused::new(path, "shard", problem));
                }
                Ok(())
            };
            let found = Found::read(path, BufReader::new(&mut file), is_this_job)?;
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
    pub fn add<T: Clone + Serialize>(&mut self, name: CellName, outcomes: &[T]) {
        if self.error.is_none() {
            let line = json_line(&Finished { name, outcomes: outcomes.to_vec() });
            let write = |line: Vec<u8>| match line.len() as u64 {
                0..=MAX_LINE => self.file.write_all(&line),
                _ => Err(too_long()),
            };
            self.error = line.and_then(write).err();
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
pub(super) struct Found<T> {
    pub(super) job: Job,
    pub(super) scenarios: Vec<Scenario>,
    /// Names of the cells, in the order of the result.
    pub(super) names: Vec<CellName>,
    pub(super) cells: Cells<T>,
    /// Bytes of the lines that have their end.
    pub(super) whole: u64,
}

impl<T: Clone + DeserializeOwned> Found<T> {
    /// Reads the file at `path`, unless `accept` refuses its job. A last line without an end is left out.
    pub(super) fn read(
        path: &str,
        mut reader: impl BufRead,
        accept: impl FnOnce(&Job) -> Result<(), Refused>,
    ) -> Result<Self, Refused> {
        let mut line = Vec::new();
        let job = read_job(path, &mut reader, &mut line)?;
        accept(&job)?;
        let scenarios = job.parse_scenarios(path)?;
        let names = job.names(&scenarios);
        let cells = vec![None; names.len()];
        let mut found = Self { job, scenarios, names, cells, whole: line.len() as u64 };
        for number in 2.. {
            let refused = |why| Refused::new(path, &format!("line {number}"), why);
            if !next_line(&mut reader, &mut line).map_err(|e| refused(format!("cannot be read: {e}")))? {
                break;
            }
            found.take(&line).map_err(refused)?;
            found.whole += line.len() as u64;
        }
        Ok(found)
    }

    /// The job of the file at `path`.
    pub(super) fn job_of(path: &str, mut reader: impl BufRead) -> Result<Job, Refused> {
        read_job(path, &mut reader, &mut Vec::new())
    }

    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let finished: Finished<T> =
            serde_json::from_slice(line).map_err(|e| format!("no finished cell: {e}"))?;
        let name = finished.name;
        let index = self.names.iter().position(|known| *known == name);
        let index = index.filter(|&index| self.job.shard.has(index));
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

/// Reads the first line, which stays in `line`.
fn read_job(path: &str, reader: &mut impl BufRead, line: &mut Vec<u8>) -> Result<Job, Refused> {
    let no_job = |why: String| Refused::new(path, "line 1", format!("no file of finished cells: {why}"));
    let is_whole = next_line(reader, line).map_err(|e| no_job(e.to_string()))?;
    if !is_whole {
        return Err(no_job("no whole line".to_owned()));
    }
    let job: Job = serde_json::from_slice(line).map_err(|e| no_job(e.to_string()))?;
    if job.version != VERSION {
        let problem = format!("made with {}, this is {VERSION}", job.version);
        return Err(Refused::new(path, "version", problem));
    }
    check(&job).map_err(|(field, problem)| Refused::new(path, field, problem))?;
    Ok(job)
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
    let against = match &job.command {
        JobCommand::Share { against, .. } => against.as_ref().map_or(0, Vec::len),
        JobCommand::Run | JobCommand::Compare | JobCommand::Delay | JobCommand::Ecn { .. } => 0,
    };
    if job.algorithms.len().max(against) > Algorithm::ALL.len() {
        return Err(("algorithms", format!("too many (allowed: {} at most)", Algorithm::ALL.len())));
    }
    match job.command {
        JobCommand::Share { every_ms: Some(ms), .. } if !EVERY_MS.contains(&ms) => {
            let problem = format!("{ms} (allowed: {}..={})", EVERY_MS.start(), EVERY_MS.end());
            Err(("every_ms", problem))
        }
        JobCommand::Ecn { after_ms } if !AFTER_MS.contains(&after_ms) => {
            let problem = format!("{after_ms} (allowed: {}..={})", AFTER_MS.start(), AFTER_MS.end());
            Err(("after_ms", problem))
        }
        _ => Ok(()),
    }
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
        return Err(too_long());
    }
    Ok(line.last() == Some(&b'\n'))
}

fn json_line(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn too_long() -> io::Error {
    io::Error::other(format!("too long (allowed: 0..={MAX_LINE} bytes)"))
}
