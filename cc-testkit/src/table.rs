//! The table of cases and invariants by controller.

use crate::candidate::Candidate;
use crate::cases::{self, Case, CaseKind};
use crate::invariants::Checks;
use crate::run::{Options, Verdict};
use crate::script::Script;
use crate::subject::Family;
use cc_core::{Duration, MAX_DATAGRAM_SIZE};
use std::fmt;

/// Names of the rows of invariants.
pub const INVARIANTS: [&str; 10] = [
    "U1 cwnd within bounds",
    "U2 pacing and quantum",
    "U3 no panic",
    "U4 no growth without acks",
    "U5 one decrease per round",
    "U6 signals never raise",
    "U7 time shift, replay, Path",
    "U8 ACK cut, order of calls",
    "U9 scale of sizes",
    "U10 utilisation, bound while limited, recovery (its cases above)",
];

/// Number of the invariant that consists of cases.
const OF_CASES: usize = 10;

/// Times later by a million seconds: whole microseconds, the unit of some controllers.
const SHIFT: Duration = Duration::from_secs(1_000_003);
/// Factor of sizes: datagrams of 1200 B become larger than most links take.
const SCALE: u64 = 5;

/// Why one of U1 to U9 does not apply; `None` if it does.
fn without(candidate: &dyn Candidate, number: usize) -> Option<&'static str> {
    (candidate.family() == Family::RateBased && matches!(number, 5 | 8 | 9))
        .then_some("of loss-based controllers; this one works with absolute rates and with time")
}

/// Checks one of U1 to U9 over a script, whether or not it is for the candidate.
///
/// # Errors
///
/// What did not hold.
pub fn invariant(candidate: &dyn Candidate, number: usize, script: &Script) -> Result<(), String> {
    let none = Checks::NONE;
    let check = |checks| check(candidate, script, checks);
    match number {
        1 => check(Checks { bounds: true, ..none }),
        2 => check(Checks { outputs: true, ..none }),
        4 => check(Checks { growth: true, ..none }),
        5 => check(Checks { once: true, ..none }),
        6 => check(Checks { signals: true, ..none }),
        7 => {
            candidate.time_shift(script, SHIFT)?;
            candidate.replay(script)?;
            candidate.on_path(script)
        }
        8 => check(Checks { orders: true, cut: true, ..none }),
        // Windows near the ceiling and the largest datagrams do not scale.
        9 if script.settings.initial_window.is_some_and(|bytes| bytes <= 1 << 32)
            && script.settings.mss.saturating_mul(SCALE) <= MAX_DATAGRAM_SIZE =>
        {
            candidate.byte_scale(script, SCALE)
        }
        9 => Ok(()),
        // A panic fails whatever is checked.
        _ => check(none),
    }
}

fn check(candidate: &dyn Candidate, script: &Script, checks: Checks) -> Result<(), String> {
    let options = Options { expectations: false, checks, any_subject: true, ..Options::default() };
    match candidate.run(script, &options).verdict {
        Verdict::Pass | Verdict::NotApplicable(_) => Ok(()),
        Verdict::Fail(failure) => Err(failure.to_string()),
    }
}

/// What a cell says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Everything held.
    Pass,
    /// Does not apply, and why.
    NotApplicable(String),
    /// What did not hold.
    Fail(String),
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the case or invariant.
    pub name: String,
    /// Title.
    pub title: String,
    /// One cell for each candidate.
    pub cells: Vec<Cell>,
}

/// The whole table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Names of the candidates.
    pub columns: Vec<&'static str>,
    /// Cases, then invariants.
    pub rows: Vec<Row>,
}

impl Table {
    /// Runs everything on every candidate.
    #[must_use]
    pub fn of(candidates: &[&dyn Candidate]) -> Self {
        let cases = cases::all();
        let mut rows: Vec<Row> = cases.iter().map(|case| case_row(case, candidates)).collect();
        let scripts: Vec<(&str, Script)> = cases
            .iter()
            .flat_map(|case| case.scripts().unwrap_or_default().into_iter().map(|script| (case.name, script)))
            .collect();
        // One run with all of U1 to U6 and U8 first: they are looked at one by one only where that fails.
        let clean: Vec<Vec<bool>> = candidates
            .iter()
            .map(|candidate| {
                scripts.iter().map(|(_, script)| check(*candidate, script, Checks::ALL).is_ok()).collect()
            })
            .collect();
        for (index, title) in INVARIANTS.iter().enumerate() {
            let number = index.saturating_add(1);
            let (name, title) = title.split_once(' ').unwrap_or((title, ""));
            let cells = candidates
                .iter()
                .zip(&clean)
                .enumerate()
                .map(|(column, (candidate, clean))| match number {
                    OF_CASES => cases_cell(&rows, name, column),
                    _ => invariant_cell(*candidate, number, &scripts, clean),
                })
                .collect();
            rows.push(Row { name: name.into(), title: title.into(), cells });
        }
        Self { columns: candidates.iter().map(|candidate| candidate.name()).collect(), rows }
    }

    /// The cells that failed: row, column, what did not hold.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.rows.iter().flat_map(|row| {
            row.cells.iter().zip(&self.columns).filter_map(|(cell, column)| match cell {
                Cell::Fail(message) => Some((row.name.as_str(), *column, message.as_str())),
                Cell::Pass | Cell::NotApplicable(_) => None,
            })
        })
    }
}

fn case_row(case: &Case, candidates: &[&dyn Candidate]) -> Row {
    let (title, cells) = match case.kind {
        CaseKind::Script(_) | CaseKind::Alike(_) => match case.scripts() {
            Ok(scripts) => {
                let cells = candidates.iter().map(|candidate| case_cell(*candidate, &scripts)).collect();
                (scripts.first().map(|script| script.title.clone()).unwrap_or_default(), cells)
            }
            Err(error) => (String::new(), vec![Cell::Fail(error.to_string()); candidates.len()]),
        },
        CaseKind::Component { component, test } => {
            let cell = match test() {
                Ok(()) => {
                    Cell::NotApplicable(format!("no controller contains {component}; the test of it passes"))
                }
                Err(message) => Cell::Fail(message),
            };
            (format!("(component) {component}"), vec![cell; candidates.len()])
        }
    };
    Row { name: case.name.into(), title, cells }
}

/// Every script passes, and the last windows are equal within one datagram.
fn case_cell(candidate: &dyn Candidate, scripts: &[Script]) -> Cell {
    let mut windows: Vec<u64> = Vec::new();
    for script in scripts {
        let report = candidate.run(script, &Options::default());
        match report.verdict {
            Verdict::Pass => windows.extend(report.trace.steps.last().map(|step| step.outputs.cwnd)),
            other => return other.into(),
        }
    }
    let (least, most) = (windows.iter().min().copied(), windows.iter().max().copied());
    let mss = scripts.first().map_or(0, |script| script.settings.mss);
    match (least, most) {
        (Some(least), Some(most)) if most.saturating_sub(least) > mss => {
            Cell::Fail(format!("the windows are not equal within {mss} bytes: {windows:?}"))
        }
        _ => Cell::Pass,
    }
}

fn invariant_cell(
    candidate: &dyn Candidate,
    number: usize,
    scripts: &[(&str, Script)],
    clean: &[bool],
) -> Cell {
    if let Some(reason) = without(candidate, number) {
        return Cell::NotApplicable(reason.into());
    }
    for ((name, script), clean) in scripts.iter().zip(clean) {
        if *clean && !matches!(number, 7 | 9) {
            continue;
        }
        if let Err(message) = invariant(candidate, number, script) {
            return Cell::Fail(format!("{name}: {message}"));
        }
    }
    Cell::Pass
}

/// An invariant that consists of cases: it holds if all of them do.
fn cases_cell(rows: &[Row], invariant: &str, column: usize) -> Cell {
    let cells = rows
        .iter()
        .filter(|row| row.name.split('-').next() == Some(invariant))
        .filter_map(|row| row.cells.get(column).map(|cell| (row.name.as_str(), cell)));
    let mut all = Cell::NotApplicable("none of its cases applies".into());
    for (name, cell) in cells {
        match cell {
            Cell::Fail(_) => return Cell::Fail(format!("see {name}")),
            Cell::Pass => all = Cell::Pass,
            Cell::NotApplicable(_) => {}
        }
    }
    all
}

impl From<Verdict> for Cell {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::NotApplicable(reason) => Self::NotApplicable(reason),
            Verdict::Fail(failure) => Self::Fail(failure.to_string()),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.len()).max().unwrap_or(4).max(4);
        write!(formatter, "{:width$}", "case")?;
        for column in &self.columns {
            write!(formatter, "  {column:8}")?;
        }
        writeln!(formatter)?;
        let mut reasons: Vec<&str> = Vec::new();
        for row in &self.rows {
            write!(formatter, "{:width$}", row.name)?;
            for cell in &row.cells {
                let text = match cell {
                    Cell::Pass => "pass".to_owned(),
                    Cell::Fail(_) => "FAIL".to_owned(),
                    Cell::NotApplicable(reason) => {
                        let place = reasons.iter().position(|known| known == reason).unwrap_or_else(|| {
                            reasons.push(reason);
                            reasons.len().saturating_sub(1)
                        });
                        format!("- ({})", place.saturating_add(1))
                    }
                };
                write!(formatter, "  {text:8}")?;
            }
            writeln!(formatter, "  {}", row.title)?;
        }
        writeln!(formatter, "\n- does not apply:")?;
        for (n, reason) in reasons.iter().enumerate() {
            writeln!(formatter, "({}) {reason}", n.saturating_add(1))?;
        }
        Ok(())
    }
}
