//! Why a scenario is refused.

use crate::text::one_line;
use std::fmt;

/// Why a scenario was refused. Displayed on one line: origin, field, what is wrong and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    origin: String,
    field: String,
    problem: String,
}

impl ScenarioError {
    pub(super) fn new(origin: &str, field: &str, problem: &str) -> Self {
        Self { origin: origin.to_owned(), field: field.to_owned(), problem: problem.to_owned() }
    }

    /// Path of the field, such as `link[1].rate_mbps`; `scenario` if it is the file as a whole.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&format!("{}: {}: {}", self.origin, self.field, self.problem)))
    }
}

impl std::error::Error for ScenarioError {}
