//! What two runs of a script must have in common.

use crate::invariants::{Checks, MAX_QUANTUM};
use crate::run::{Options, Report, Step, Trace, Verdict, run, run_on_path};
use crate::script::Script;
use crate::stack::sum;
use crate::subject::Subject;
use cc_core::{CongestionController, Duration};

/// U7, first half: all times later by a constant, nothing changes.
///
/// # Errors
///
/// The first step that differs.
pub fn time_shift<C: CongestionController + Clone>(
    script: &Script,
    subject: &Subject<C>,
    shift: Duration,
) -> Result<(), String> {
    let options = bare();
    let plain = run(script, subject, &options);
    // A script near the end of the range of time cannot be moved.
    let start = script.settings.start.as_nanos();
    let last = plain.trace.steps.iter().map(|step| step.at).max().unwrap_or(0);
    if start.checked_add(last).and_then(|last| last.checked_add(shift.as_nanos())).is_none() {
        return Ok(());
    }
    let shifted = run(script, subject, &Options { shift, ..options });
    same(&plain, &shifted, "U7: later in time")
}

/// U7, second half: the same again gives the same, bit for bit, also if the controller is replaced by a clone again and
/// again while its original goes another way.
///
/// # Errors
///
/// The first step that differs.
pub fn replay<C: CongestionController + Clone>(script: &Script, subject: &Subject<C>) -> Result<(), String> {
    let options = bare();
    let first = run(script, subject, &options);
    same(&first, &run(script, subject, &options), "U7: once more")?;
    same(&first, &run(script, subject, &Options { clones: true, ..options }), "U7: on clones")
}

/// [`cc_core::Path`] shows the controller the same as the kit's own bookkeeping, whatever the order in which the parts
/// of a frame are handed to it. Scripts that a path cannot run are left out. A path cuts the acks of a frame into calls
/// of eight packets, so that windows may differ by what is rounded: a thousandth and 8 bytes.
///
/// # Errors
///
/// The first step that differs.
pub fn on_path<C: CongestionController + Clone>(script: &Script, subject: &Subject<C>) -> Result<(), String> {
    let options = bare();
    let own = run(script, subject, &options);
    let path = run_on_path(script, subject, &options, false);
    if matches!(path.verdict, Verdict::NotApplicable(_)) {
        return Ok(());
    }
    for (one, other) in own.trace.steps.iter().zip(&path.trace.steps) {
        if other.acked < one.acked {
            // A path forgets a loss after three probe timeouts; its late ack is then nothing new.
            break;
        }
        let (a, b) = (&one.outputs, &other.outputs);
        if one.sent != other.sent && a.cwnd.abs_diff(b.cwnd) <= a.cwnd / 1_000 + 8 {
            // What was rounded decides whether one more datagram fits. What comes after that is another run.
            break;
        }
        let apart = a.cwnd.abs_diff(b.cwnd);
        if apart > a.cwnd / 1_000 + 8 && apart <= one.acked {
            // A path makes several calls of a frame, and a controller may judge each of them anew (U8). What comes after
            // that is another run.
            break;
        }
        let alike = apart <= a.cwnd / 1_000 + 8
            && a.pacing.is_some() == b.pacing.is_some()
            && (a.phase, a.events, a.in_flight) == (b.phase, b.events, b.in_flight)
            && (one.acked, one.lost) == (other.acked, other.lost);
        if !alike {
            return Err(format!("Path:\n{one}\n{other}"));
        }
    }
    let backwards = run_on_path(script, subject, &options, true);
    same(&path, &backwards, "Path, parts last to first")
}

/// Bytes added to the initial window for another look at a script whose sizes do not scale.
const NUDGES: [u64; 3] = [1, 7, 40];

/// Parts of a thousand by which the bytes delivered over a scaled link may differ.
const DELIVERED_TOLERANCE: u64 = 10;

/// Parts of a thousand by which the largest window over a scaled link may differ: a queue that overflows a packet later or
/// earlier makes more of a difference to it than to what is delivered.
const WINDOW_TOLERANCE: u64 = 150;

/// U9: all sizes times `k`, all windows times `k`, to one part in a thousand and one datagram.
///
/// A flight that fills the window by a byte in one run and not in the other makes two different runs of them. So a script
/// fails only if it does with a few bytes more of initial window as well.
///
/// Over a link with a queue (a `run(...)`) the two runs part sooner or later: what is rounded decides which packet is
/// dropped. There the sum of the bytes delivered must be alike to one part in a hundred, and the largest window to 15;
/// nothing is compared where a burst would be above 64 KiB, the largest of any size.
///
/// # Errors
///
/// The first step that differs.
pub fn byte_scale<C: CongestionController + Clone>(
    script: &Script,
    subject: &Subject<C>,
    k: u64,
) -> Result<(), String> {
    if script.has_link() {
        return sums_scale(script, subject, k);
    }
    let found = scaled_alike(script, subject, k);
    let Some(initial_window) = script.settings.initial_window.filter(|_| found.is_err()) else {
        return found;
    };
    for nudge in NUDGES {
        let mut nudged = script.clone();
        nudged.settings.initial_window = initial_window.checked_add(nudge);
        if scaled_alike(&nudged, subject, k).is_ok() {
            return Ok(());
        }
    }
    found
}

fn scaled_alike<C: CongestionController + Clone>(
    script: &Script,
    subject: &Subject<C>,
    k: u64,
) -> Result<(), String> {
    let options = bare();
    let plain = run(script, subject, &options);
    let scaled = run(script, subject, &Options { scale: k, ..options });
    for (one, other) in plain.trace.steps.iter().zip(&scaled.trace.steps) {
        let expected = one.outputs.cwnd.saturating_mul(k);
        if expected > subject.max_window {
            // From here on the larger run is at its ceiling.
            return Ok(());
        }
        let apart = other.outputs.cwnd.abs_diff(expected);
        if other.sent != one.sent.saturating_mul(k) && apart <= (expected / 1_000).saturating_add(k) {
            // What was rounded decides whether one more datagram fits. What comes after that is another run.
            return Ok(());
        }
        let tolerance = (expected / 1_000).max(script.settings.mss.saturating_mul(k));
        if apart > tolerance {
            return Err(format!("U9: sizes times {k}:\n{one}\n{other}"));
        }
    }
    Ok(())
}

fn sums_scale<C: CongestionController + Clone>(
    script: &Script,
    subject: &Subject<C>,
    k: u64,
) -> Result<(), String> {
    let options = bare();
    let plain = run(script, subject, &options).trace;
    let largest = |trace: &Trace, value: fn(&Step) -> u64| trace.steps.iter().map(value).max().unwrap_or(0);
    if largest(&plain, |step| step.outputs.quantum).saturating_mul(k) > MAX_QUANTUM {
        return Ok(());
    }
    let scaled = run(script, subject, &Options { scale: k, ..options }).trace;
    let delivered = |trace: &Trace| sum(trace.steps.iter().map(|step| step.acked));
    let window = |trace: &Trace| largest(trace, |step| step.outputs.cwnd);
    for (what, one, other, tolerance) in [
        ("bytes delivered", delivered(&plain), delivered(&scaled), DELIVERED_TOLERANCE),
        ("largest window", window(&plain), window(&scaled), WINDOW_TOLERANCE),
    ] {
        let expected = one.saturating_mul(k);
        if other.abs_diff(expected) > expected.saturating_mul(tolerance) / 1_000 {
            return Err(format!("U9: sizes times {k}: {what} {one}, and {other} instead of {expected}"));
        }
    }
    Ok(())
}

fn bare() -> Options {
    Options { expectations: false, checks: Checks::NONE, any_subject: true, ..Options::default() }
}

fn same(one: &Report, other: &Report, what: &str) -> Result<(), String> {
    let Trace { steps } = &one.trace;
    for (one, other) in steps.iter().zip(&other.trace.steps) {
        if outputs(one) != outputs(other) {
            return Err(format!("{what}:\n{one}\n{other}"));
        }
    }
    if steps.len() == other.trace.steps.len() {
        return Ok(());
    }
    Err(format!("{what}: {} and {} steps", steps.len(), other.trace.steps.len()))
}

fn outputs(step: &Step) -> impl PartialEq {
    (step.at, step.line, step.acked, step.lost, step.outputs)
}
