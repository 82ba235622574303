//! Running a script on a subject.

mod link;
mod runner;
mod select;
mod trace;

pub use trace::{Failure, Outputs, Report, Step, Trace, Verdict};

use crate::invariants::Checks;
use crate::script::Script;
use crate::stack::{Honest, PathStack, Stack};
use crate::subject::Subject;
use cc_core::{CongestionController, Duration, Instant, Setup};
use runner::Runner;

/// How to run a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Added to all times.
    pub shift: Duration,
    /// Multiplies all sizes.
    pub scale: u64,
    /// Whether `expect` lines count.
    pub expectations: bool,
    /// Which invariants are checked after every event.
    pub checks: Checks,
    /// Whether scripts that are not for the subject are run all the same.
    pub any_subject: bool,
    /// Cuts every ACK frame into frames of so many packets.
    pub cut: Option<usize>,
    /// Replaces the controller by a clone again and again, and lets the original diverge before.
    pub clones: bool,
    /// Most events of a run, and most packets: a script that has more fails. Default 3 000 000.
    pub max_events: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            shift: Duration::ZERO,
            scale: 1,
            expectations: true,
            checks: Checks::ALL,
            any_subject: false,
            cut: None,
            clones: false,
            max_events: 3_000_000,
        }
    }
}

/// Runs a script on the kit's own bookkeeping.
#[must_use]
pub fn run<C: CongestionController + Clone>(
    script: &Script,
    subject: &Subject<C>,
    options: &Options,
) -> Report {
    start(script, subject, options, |controller, setup, delay| Honest::new(controller, setup, delay))
}

/// Runs a script on [`cc_core::Path`]. `backwards`: the parts of each frame are handed over in the opposite order.
#[must_use]
pub fn run_on_path<C: CongestionController + Clone>(
    script: &Script,
    subject: &Subject<C>,
    options: &Options,
    backwards: bool,
) -> Report {
    start(script, subject, options, |controller, setup, delay| {
        PathStack::new(controller, setup, delay, backwards)
    })
}

fn start<C, S>(
    script: &Script,
    subject: &Subject<C>,
    options: &Options,
    stack: impl FnOnce(C, &Setup, Duration) -> S,
) -> Report
where
    C: CongestionController + Clone,
    S: Stack<Controller = C>,
{
    let tags = subject.all_tags();
    if !options.any_subject && !script.applies.hold(&tags) {
        let verdict = Verdict::NotApplicable(script.reason.clone());
        return Report { verdict, trace: Trace::default() };
    }
    let settings = script.settings;
    let base = Instant::ZERO.after(settings.start).after(options.shift);
    let resume = settings
        .resume
        .map(|hint| cc_core::ResumeHint { cwnd: hint.cwnd.saturating_mul(options.scale), ..hint });
    let setup = Setup {
        now: base,
        max_datagram_size: settings.mss.saturating_mul(options.scale),
        initial_window: settings.initial_window.map(|bytes| bytes.saturating_mul(options.scale)),
        resume,
        paces: settings.paces,
        ecn: settings.ecn,
        ..Setup::default()
    };
    let mut stack = stack(subject.make(&setup), &setup, settings.max_ack_delay);
    stack.set_handshake(settings.handshake_done);
    Runner::new(stack, subject, script, options, base).run()
}
