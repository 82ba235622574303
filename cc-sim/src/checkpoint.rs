//! Finished cells in a file: a job can be stopped and resumed, or done in parts on several machines and put together.
//!
//! The file consists of JSON lines: what the job is ([`Job`]), then a line for each finished cell, in the order in which they
//! were finished, with the outcomes of all its runs. Everything is whole numbers and names, so that what is computed of a
//! cell that was read is what is computed of one that was just run. Each line is handed to the system at once: a process that
//! is killed loses the cells that it was at, and what it had written of a line is dropped when the job is resumed.

mod file;
mod merge;

pub use file::{Cells, Checkpoint};
pub use merge::{Merged, merge};

use crate::experiment::{Experiment, Pair};
use crate::scenario::{self, Scenario};
use crate::{Algorithm, Outcome};
use serde::{Deserialize, Serialize};
use std::fmt;

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

/// The commands whose cells can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobCommand {
    /// One line a cell.
    Run,
    /// One line a scenario.
    Compare,
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
    /// The part `shard` of `experiment`.
    #[must_use]
    pub fn new(command: JobCommand, experiment: &Experiment<'_>, shard: Shard) -> Self {
        let scenarios = experiment.scenarios.iter();
        let saved =
            |scenario: &Scenario| SavedScenario { name: scenario.name.clone(), toml: scenario.to_toml() };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            runs: experiment.runs.max(1),
            seed: experiment.seed,
            shard,
            algorithms: experiment.algorithms.to_vec(),
            scenarios: scenarios.map(saved).collect(),
        }
    }

    /// Number of cells of all parts.
    fn cells(&self) -> usize {
        self.scenarios.len().saturating_mul(self.algorithms.len())
    }

    /// Scenario and algorithm of the cell at `index`.
    fn cell_name(&self, index: usize) -> String {
        let width = self.algorithms.len().max(1);
        let scenario = self.scenarios.get(index / width).map_or("?", |scenario| &scenario.name);
        let algorithm = self.algorithms.get(index % width).map_or("?", |algorithm| algorithm.name());
        format!("{scenario} with {algorithm}")
    }

    /// Where in the order of the result a line's cell stands.
    fn index_of(&self, line: &Finished) -> Option<usize> {
        let scenario = self.scenarios.iter().position(|scenario| scenario.name == line.scenario)?;
        let algorithm = self.algorithms.iter().position(|&algorithm| algorithm == line.algorithm)?;
        Some(scenario * self.algorithms.len() + algorithm)
    }

    /// The first setting that differs from that of `wanted`, and how; the shards' numbers do not count.
    fn difference(&self, wanted: &Self) -> Option<(String, String)> {
        // Destructured, so that a field that is new cannot be forgotten here.
        let Self { version, command, runs, seed, shard, algorithms, scenarios } = self;
        let says = |field: &str, ours: String, theirs: String| {
            (ours != theirs).then(|| (field.to_owned(), format!("made with {ours}, not with {theirs}")))
        };
        let names = |algorithms: &[Algorithm]| {
            algorithms.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(",")
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
            .or_else(|| says("cc", names(algorithms), names(&wanted.algorithms)))
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
        f.write_str(match self {
            Self::Run => "run",
            Self::Compare => "compare",
        })
    }
}

/// The line of a finished cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finished {
    scenario: String,
    algorithm: Algorithm,
    outcomes: Vec<Outcome>,
}

impl Finished {
    fn new((scenario, algorithm): Pair<'_>, outcomes: &[Outcome]) -> Self {
        Self { scenario: scenario.name.clone(), algorithm, outcomes: outcomes.to_vec() }
    }
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
