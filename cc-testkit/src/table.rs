//! The table of cases and invariants by controller.

use crate::cases::{self, Case, CaseKind};
use crate::invariants::{self, Checks};
use crate::run::{Options, Report, Verdict, run};
use crate::script::Script;
use crate::subject::{Family, Subject};
use cc_core::{CongestionController, Duration, MAX_DATAGRAM_SIZE};
use std::fmt;

/// A subject whatever the type of its controller.
pub trait Candidate {
    /// Name in the table.
    fn name(&self) -> &'static str;
    /// Runs a script with all invariants checked.
    fn run(&self, script: &Script) -> Report;
    /// Whether a run of the script violates none of U1 to U6 and U8.
    fn is_clean(&self, script: &Script) -> bool;
    /// Why one of U1 to U9 does not apply; `None` if it does.
    fn without(&self, number: usize) -> Option<&'static str>;
    /// Checks one of U1 to U9 over a script.
    ///
    /// # Errors
    ///
    /// What did not hold.
    fn invariant(&self, number: usize, script: &Script) -> Result<(), String>;
}

/// Names of the rows of invariants.
pub const INVARIANTS: [&str; 9] = [
    "U1 cwnd within bounds",
    "U2 pacing and quantum",
    "U3 no panic",
    "U4 no growth without acks",
    "U5 one decrease per round",
    "U6 signals never raise",
    "U7 time shift, replay, Path",
    "U8 ACK cut, order of calls",
    "U9 scale of sizes",
];

/// Times later by a million seconds: whole microseconds, the unit of some controllers.
const SHIFT: Duration = Duration::from_secs(1_000_003);
/// Factor of sizes: datagrams of 1200 B become larger than most links take.
const SCALE: u64 = 5;

impl<C: CongestionController + Clone> Candidate for Subject<C> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, script: &Script) -> Report {
        run(script, self, &Options::default())
    }

    fn is_clean(&self, script: &Script) -> bool {
        check(self, script, Checks::ALL).is_ok()
    }

    fn without(&self, number: usize) -> Option<&'static str> {
        (self.family == Family::RateBased && matches!(number, 5 | 8 | 9))
            .then_some("of loss-based controllers; this one works with absolute rates and with time")
    }

    fn invariant(&self, number: usize, script: &Script) -> Result<(), String> {
        let none = Checks::NONE;
        match number {
            1 => check(self, script, Checks { bounds: true, ..none }),
            2 => check(self, script, Checks { outputs: true, ..none }),
            4 => check(self, script, Checks { growth: true, ..none }),
            5 => check(self, script, Checks { once: true, ..none }),
            6 => check(self, script, Checks { signals: true, ..none }),
            7 => {
                invariants::time_shift(script, self, SHIFT)?;
                invariants::replay(script, self)?;
                invariants::on_path(script, self)
            }
            8 => check(self, script, Checks { orders: true, cut: true, ..none }),
            // Windows near the ceiling and the largest datagrams do not scale, and a queue is chaotic.
            9 if !script.has_link()
                && script.settings.initial_window.is_some_and(|bytes| bytes <= 1 << 32)
                && script.settings.mss.saturating_mul(SCALE) <= MAX_DATAGRAM_SIZE =>
            {
                invariants::byte_scale(script, self, SCALE)
            }
            9 => Ok(()),
            // A panic fails whatever is checked.
            _ => check(self, script, none),
        }
    }
}

fn check<C: CongestionController + Clone>(
    subject: &Subject<C>,
    script: &Script,
    checks: Checks,
) -> Result<(), String> {
    let options = Options { expectations: false, checks, any_subject: true, ..Options::default() };
    match run(script, subject, &options).verdict {
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
            .map(|candidate| scripts.iter().map(|(_, script)| candidate.is_clean(script)).collect())
            .collect();
        for (index, title) in INVARIANTS.iter().enumerate() {
            let number = index.saturating_add(1);
            let cells = candidates
                .iter()
                .zip(&clean)
                .map(|(candidate, clean)| invariant_cell(*candidate, number, &scripts, clean))
                .collect();
            let (name, title) = title.split_once(' ').unwrap_or((title, ""));
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
                Ok(()) => Cell::NotApplicable(format!("a test of {component}, which passes")),
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
        let report = candidate.run(script);
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
    if let Some(reason) = candidate.without(number) {
        return Cell::NotApplicable(reason.into());
    }
    for ((name, script), clean) in scripts.iter().zip(clean) {
        if *clean && !matches!(number, 7 | 9) {
            continue;
        }
        if let Err(message) = candidate.invariant(number, script) {
            return Cell::Fail(format!("{name}: {message}"));
        }
    }
    Cell::Pass
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
