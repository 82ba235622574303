//! Finished cells in a file: a job can be stopped and resumed, or done in parts on several machines and put together.
//!
//! The file consists of JSON lines: what the job is ([`Job`]), then a line for each finished cell, in the order in which they
//! were finished, with the outcomes of all its runs. Numbers are written so that they come back bit for bit, and what is computed of a
//! cell that was read is what is computed of one that was just run. Each line is handed to the system at once: a process that
//! is killed loses the cells that it was at, and what it had written of a line is dropped when the job is resumed.

mod file;
mod merge;

pub use file::{Cells, Checkpoint};
pub use merge::{Merged, Results, merge};

use crate::Algorithm;
use crate::delay::DelayExperiment;
use crate::ecn::EcnExperiment;
use crate::experiment::{CellName, Experiment, Plan};
use crate::scenario::{self, Scenario};
use crate::share::ShareExperiment;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// Lengths of the intervals of `share` that can be asked for, in milliseconds.
pub const EVERY_MS: RangeInclusive<u64> = 100..=3_600_000;

/// What `ecn` can leave out at the start of a run, in milliseconds.
pub const AFTER_MS: RangeInclusive<u64> = 0..=3_600_000;

/// What a file says of the program that made it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Most parts that a job can be split into.
pub const MAX_SHARDS: u32 = 65_536;

/// Whose cells a file holds: the settings that their outcomes depend on, and how the job was to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Version of the program.
    pub version: String,
    /// What shows the result.
    pub command: JobCommand,
    /// Runs of each cell.
    pub runs: u32,
    /// Base seed.
    pub seed: u64,
    /// Which cells are done here.
    pub shard: Shard,
    /// Algorithms, in the order of the result.
    pub algorithms: Vec<Algorithm>,
    /// Scenarios, in the order of the result.
    pub scenarios: Vec<SavedScenario>,
}

/// The commands whose cells can be kept, with the settings that only they have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum JobCommand {
    /// One line a cell.
    Run,
    /// One line a scenario.
    Compare,
    /// Several flows on one path.
    Share {
        /// Algorithms of the flows that a scenario leaves open; `None` for each pair once.
        against: Option<Vec<Algorithm>>,
        /// Length of the intervals that are shown, in milliseconds; `None` for the table.
        every_ms: Option<u64>,
    },
    /// The queues that algorithms make.
    Delay,
    /// Marks and the queues of an AQM.
    Ecn {
        /// What is left out at the start of each run, in milliseconds.
        after_ms: u64,
    },
}

/// A part of a job: of the cells in the order of the result, each `of`-th one, beginning with number `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Which part, 1 to `of`.
    pub number: u32,
    /// How many parts there are, 1 to [`MAX_SHARDS`].
    pub of: u32,
}

impl Shard {
    /// The only part.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether the cell at `index` belongs to it. Cells belong to exactly one part.
    #[must_use]
    pub fn has(self, index: usize) -> bool {
        index % self.of.max(1) as usize + 1 == self.number as usize
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A scenario as a file would have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedScenario {
    name: String,
    /// All of its parameters: [`Scenario::to_toml`].
    toml: String,
}

impl Job {
    /// The part `shard` of what `command` does with these scenarios and algorithms.
    #[must_use]
    pub fn new(
        command: JobCommand,
        scenarios: &[Scenario],
        algorithms: &[Algorithm],
        (runs, seed): (u32, u64),
        shard: Shard,
    ) -> Self {
        let saved =
            |scenario: &Scenario| SavedScenario { name: scenario.name.clone(), toml: scenario.to_toml() };
        Self {
            version: VERSION.to_owned(),
            command,
            runs: runs.max(1),
            seed,
            shard,
            algorithms: algorithms.to_vec(),
            scenarios: scenarios.iter().map(saved).collect(),
        }
    }

    /// The experiment of `run` and `compare`.
    #[must_use]
    pub fn experiment<'a>(&'a self, scenarios: &'a [Scenario]) -> Experiment<'a> {
        Experiment { scenarios, algorithms: &self.algorithms, runs: self.runs, seed: self.seed }
    }

    /// The experiment of `share`.
    #[must_use]
    pub fn share<'a>(&'a self, scenarios: &'a [Scenario]) -> ShareExperiment<'a> {
        let against = match &self.command {
            JobCommand::Share { against, .. } => against.as_deref(),
            JobCommand::Run | JobCommand::Compare | JobCommand::Delay | JobCommand::Ecn { .. } => None,
        };
        ShareExperiment { scenarios, main: &self.algorithms, against, runs: self.runs, seed: self.seed }
    }

    /// The experiment of `delay`.
    #[must_use]
    pub fn delay<'a>(&'a self, scenarios: &'a [Scenario]) -> DelayExperiment<'a> {
        DelayExperiment { scenarios, algorithms: &self.algorithms, runs: self.runs, seed: self.seed }
    }

    /// The experiment of `ecn`.
    #[must_use]
    pub fn ecn<'a>(&'a self, scenarios: &'a [Scenario]) -> EcnExperiment<'a> {
        let after_us = match self.command {
            JobCommand::Ecn { after_ms } => after_ms.saturating_mul(1_000),
            JobCommand::Run | JobCommand::Compare | JobCommand::Delay | JobCommand::Share { .. } => 0,
        };
        EcnExperiment { scenarios, algorithms: &self.algorithms, runs: self.runs, seed: self.seed, after_us }
    }

    /// Names of the cells of all parts, in the order of the result.
    fn names(&self, scenarios: &[Scenario]) -> Vec<CellName> {
        fn of<P: Plan>(plan: &P) -> Vec<CellName> {
            plan.cells().iter().map(|cell| plan.name(cell)).collect()
        }
        match self.command {
            JobCommand::Run | JobCommand::Compare => of(&self.experiment(scenarios)),
            JobCommand::Share { .. } => of(&self.share(scenarios)),
            JobCommand::Delay => of(&self.delay(scenarios)),
            JobCommand::Ecn { .. } => of(&self.ecn(scenarios)),
        }
    }

    /// The first setting that differs from that of `wanted`, and how; the shards' numbers do not count.
    fn difference(&self, wanted: &Self) -> Option<(String, String)> {
        // Destructured, so that a field that is new cannot be forgotten here.
        let Self { version, command, runs, seed, shard, algorithms, scenarios } = self;
        let says = |field: &str, ours: String, theirs: String| {
            (ours != theirs).then(|| (field.to_owned(), format!("made with {ours}, not with {theirs}")))
        };
        let scenario_names = |scenarios: &[SavedScenario]| {
            scenarios.iter().map(|scenario| scenario.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        let changed = || {
            let pair =
                scenarios.iter().zip(&wanted.scenarios).find(|(ours, theirs)| ours.toml != theirs.toml)?;
            Some((format!("scenario {}", pair.0.name), "made with other parameters".to_owned()))
        };
        says("version", version.clone(), wanted.version.clone())
            .or_else(|| says("command", command.to_string(), wanted.command.to_string()))
            .or_else(|| says("runs", runs.to_string(), wanted.runs.to_string()))
            .or_else(|| says("seed", seed.to_string(), wanted.seed.to_string()))
            .or_else(|| says("shards", shard.of.to_string(), wanted.shard.of.to_string()))
            .or_else(|| says("cc", listed(algorithms), listed(&wanted.algorithms)))
            .or_else(|| says("scenarios", scenario_names(scenarios), scenario_names(&wanted.scenarios)))
            .or_else(changed)
    }

    /// The scenarios, read again.
    fn parse_scenarios(&self, path: &str) -> Result<Vec<Scenario>, Refused> {
        let parse = |saved: &SavedScenario| {
            let scenario = scenario::parse(&saved.toml, path)
                .map_err(|e| Refused::new(path, &format!("scenario {}", saved.name), e.to_string()))?;
            if scenario.name == saved.name {
                return Ok(scenario);
            }
            Err(Refused::new(path, &format!("scenario {}", saved.name), format!("it is {}", scenario.name)))
        };
        self.scenarios.iter().map(parse).collect()
    }
}

impl fmt::Display for JobCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run => f.write_str("run"),
            Self::Compare => f.write_str("compare"),
            Self::Delay => f.write_str("delay"),
            Self::Ecn { after_ms } => write!(f, "ecn --after-ms {after_ms}"),
            Self::Share { against, every_ms } => {
                f.write_str("share")?;
                if let Some(against) = against {
                    write!(f, " --against {}", listed(against))?;
                }
                every_ms.map_or(Ok(()), |ms| write!(f, " --every-ms {ms}"))
            }
        }
    }
}

fn listed(algorithms: &[Algorithm]) -> String {
    algorithms.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(",")
}

/// The line of a finished cell.
#[derive(Serialize, Deserialize)]
struct Finished<T> {
    #[serde(flatten)]
    name: CellName,
    outcomes: Vec<T>,
}

/// Why a file is not taken. Displayed on one line: file, field, what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    path: String,
    field: String,
    problem: String,
}

impl Refused {
    fn new(path: &str, field: &str, problem: impl Into<String>) -> Self {
        Self { path: path.to_owned(), field: field.to_owned(), problem: problem.into() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.path, self.field, self.problem)
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests;
