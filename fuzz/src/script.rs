//! The `script` target: text for the parser of the conformance kit.

use crate::{count, subjects};
use cc_core::CongestionController;
use cc_testkit::{Checks, Line, Options, Script, Statement, Subject, Verdict, run};

/// Most events and packets of a run.
const MAX_EVENTS: usize = 2_000;

/// Reads a text. What is no script gives an error that names a line; what is one reads as itself when printed, and runs.
pub fn check(text: &str) {
    let lines = text.lines().count();
    let script = match Script::parse(text) {
        Ok(script) => script,
        Err(error) => {
            assert!((1..=lines.max(1)).contains(&error.line), "{error} in a text of {lines} lines");
            assert!(!error.message.is_empty() && !error.message.contains('\n'), "{error:?}");
            return;
        }
    };
    let printed = script.to_string();
    match Script::parse(&printed) {
        Ok(again) => assert_eq!(plain(&script), plain(&again), "another script when printed:\n{printed}"),
        Err(error) => panic!("not read again: {error}\n{printed}"),
    }
    let mut player = Player { script: &script, events: 0 };
    subjects::each(&mut player);
    count::input(player.events);
}

/// All of a script but the places of its lines.
fn plain(script: &Script) -> String {
    fn forget(body: &mut [Line]) {
        for line in body {
            line.number = 0;
            if let Statement::Loop(_, inner) = &mut line.statement {
                forget(inner);
            }
        }
    }
    let mut script = script.clone();
    forget(&mut script.body);
    format!("{script:?}")
}

/// Plays a script to every controller.
struct Player<'a> {
    script: &'a Script,
    events: u64,
}

impl subjects::Visitor for Player<'_> {
    fn visit<C: CongestionController + Clone>(&mut self, subject: Subject<C>) {
        self.events += play(self.script, &subject);
    }
}

/// Runs a script; whatever it says, the outputs stay in their bounds. Returns how many steps there were.
fn play<C: CongestionController + Clone>(script: &Script, subject: &Subject<C>) -> u64 {
    let checks = Checks { bounds: true, outputs: true, growth: true, ..Checks::NONE };
    let options = Options { checks, any_subject: true, max_events: MAX_EVENTS, ..Options::default() };
    let report = run(script, subject, &options);
    if let Verdict::Fail(failure) = report.verdict {
        assert!(!failure.message.starts_with('U'), "{}: {failure}\n{script}", subject.name);
    }
    report.trace.steps.len() as u64
}
