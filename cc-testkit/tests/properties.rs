//! Property tests: scripts made at random, all invariants after every event. A failure prints a script that can be saved
//! into `cases/`.

mod subjects;

use cc_core::{CongestionController, Duration};
use cc_testkit::{Event, Family, Options, Script, Statement, Subject, Verdict, invariants, run, strategies};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Runs the script and everything that is compared between runs.
fn holds<C: CongestionController + Clone>(
    script: &Script,
    subject: &Subject<C>,
) -> Result<(), TestCaseError> {
    let named = |message: String| TestCaseError::fail(format!("{}: {message}\n{script}", subject.name));
    if let Verdict::Fail(failure) = run(script, subject, &Options::default()).verdict {
        return Err(named(failure.to_string()));
    }
    invariants::time_shift(script, subject, Duration::from_secs(1_000)).map_err(named)?;
    invariants::replay(script, subject).map_err(named)?;
    Ok(())
}

/// C4 does not compare a saved window with what it has, and a signal may lead it out of Resuming to a larger one.
fn without_resume(script: &Script) -> Script {
    let mut script = script.clone();
    script.settings.resume = None;
    script.body.retain(|line| !matches!(line.statement, Statement::Event(_, Event::Resume(_))));
    script
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn plausible_events_hold_all_invariants(script in strategies::plausible(60)) {
        holds(&script, &subjects::cubic())?;
        holds(&without_resume(&script), &subjects::c4())?;
    }

    #[test]
    fn absurd_events_hold_all_invariants(script in strategies::absurd(40)) {
        holds(&script, &subjects::cubic())?;
        holds(&without_resume(&script), &subjects::c4())?;
    }

    #[test]
    fn a_path_shows_plausible_events_as_the_own_bookkeeping_does(script in strategies::plausible(60)) {
        let named = |message: String| TestCaseError::fail(format!("{message}\n{script}"));
        invariants::on_path(&script, &subjects::cubic()).map_err(named)?;
        invariants::on_path(&script, &subjects::c4()).map_err(named)?;
    }

    #[test]
    fn sizes_scale_for_loss_based_controllers(script in strategies::plausible(40)) {
        let subject = subjects::cubic();
        prop_assert_eq!(subject.family, Family::LossBased);
        if let Err(message) = invariants::byte_scale(&script, &subject, 4) {
            return Err(TestCaseError::fail(format!("{message}\n{script}")));
        }
    }

    #[test]
    fn printed_scripts_read_as_themselves(script in strategies::absurd(30)) {
        let printed = script.to_string();
        let again = Script::parse(&printed).map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
        prop_assert_eq!(printed, again.to_string());
        prop_assert_eq!(script.settings, again.settings);
    }

    #[test]
    fn any_text_is_a_script_or_an_error_of_one_line(text in "\\PC{0,80}(\n\\PC{0,40}){0,5}") {
        if let Err(error) = Script::parse(&text) {
            prop_assert!(!error.message.contains('\n') && error.line >= 1);
        }
    }

    #[test]
    fn words_of_the_language_in_any_order_are_a_script_or_an_error(
        words in proptest::collection::vec(proptest::sample::select(WORDS.to_vec()), 0..40),
    ) {
        let text = words.join(" ");
        if let Ok(script) = Script::parse(&text) {
            let report = run(&script, &subjects::cubic(), &Options::default());
            prop_assert!(report.trace.steps.len() < 3_000_001);
        }
    }
}

const WORDS: &[&str] = &[
    "sent",
    "fill",
    "ack",
    "lost",
    "time",
    "mtu",
    "path",
    "discard",
    "spurious",
    "resume",
    "app-limited",
    "policy",
    "ecn",
    "handshake",
    "limit",
    "loop",
    "let",
    "expect",
    "set",
    "run",
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "/",
    "{",
    "}",
    "..",
    "==",
    "<=",
    "1",
    "10",
    "0.5",
    "ms",
    "mss",
    "all",
    "first",
    "last",
    "older",
    "none",
    "next",
    "cwnd",
    "pacing",
    "positive",
    "within",
    "ce",
    "pc",
    "forced",
    "timer",
    "\n",
    "\n",
    "[cubic]",
    "iw",
];
