//! What a run showed.

use cc_core::{CongestionController, Rate};
use std::fmt;

/// Steps that a failure prints.
const PRINTED: usize = 30;

/// Outputs of a controller, and bytes in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outputs {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Pacing rate.
    pub pacing: Option<Rate>,
    /// Send quantum, bytes.
    pub quantum: u64,
    /// Whether one packet may be sent beyond the window.
    pub beyond: bool,
    /// Phase, as the controller's snapshot names it.
    pub phase: &'static str,
    /// Whether the controller is in its first search for capacity.
    pub startup: bool,
    /// Congestion events, as the controller's snapshot counts them.
    pub events: u64,
    /// Bytes in flight.
    pub in_flight: u64,
}

impl Outputs {
    pub(crate) fn of(controller: &impl CongestionController, in_flight: u64) -> Self {
        let snapshot = controller.snapshot();
        Self {
            cwnd: controller.cwnd(),
            pacing: controller.pacing_rate(),
            quantum: controller.send_quantum(),
            beyond: controller.may_send_beyond_cwnd(),
            phase: snapshot.phase,
            startup: snapshot.startup,
            events: snapshot.congestion_events,
            in_flight,
        }
    }
}

/// One event and what it led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Time since the start of the script, in nanoseconds.
    pub at: u64,
    /// Line of the script.
    pub line: usize,
    /// Name of the event.
    pub event: &'static str,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes acked, late ones included.
    pub acked: u64,
    /// Bytes declared lost.
    pub lost: u64,
    /// Marks to believe.
    pub marks: u64,
    /// Outputs after it.
    pub outputs: Outputs,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (millis, rest) = (self.at / 1_000_000, self.at % 1_000_000);
        let Outputs { cwnd, pacing, phase, in_flight, events, .. } = self.outputs;
        let pacing = pacing.map_or_else(|| "none".into(), |rate| format!("{} B/s", rate.as_bytes_per_sec()));
        write!(
            formatter,
            "line {:>3}  {millis:>7}.{rest:06} ms  {:<11} sent {:>6} acked {:>6} lost {:>6} ce {:>2}  | cwnd {cwnd:>8}  \
             pacing {pacing:>13}  in flight {in_flight:>8}  events {events}  {phase}",
            self.line, self.event, self.sent, self.acked, self.lost, self.marks,
        )
    }
}

/// All steps of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// In the order of the events.
    pub steps: Vec<Step>,
}

impl fmt::Display for Trace {
    /// The last steps.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped = self.steps.len().saturating_sub(PRINTED);
        if skipped > 0 {
            writeln!(formatter, "({skipped} steps before)")?;
        }
        self.steps.iter().skip(skipped).try_for_each(|step| writeln!(formatter, "{step}"))
    }
}

/// Why a run failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Line of the script.
    pub line: usize,
    /// What should have held and what was found.
    pub message: String,
    /// The trace up to the failing step.
    pub trace: Trace,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}\n{}", self.line, self.message, self.trace)
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Everything held.
    Pass,
    /// The script is not for this subject or this stack; the reason.
    NotApplicable(String),
    /// Something did not hold.
    Fail(Box<Failure>),
}

impl Verdict {
    /// Whether something did not hold.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Fail(_))
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub verdict: Verdict,
    /// All steps.
    pub trace: Trace,
}
