//! Property tests: scripts made at random, all invariants after every event. A failure prints a script that can be saved
//! into `cases/`.

mod subjects;

use cc_core::Duration;
use cc_testkit::{Candidate, Family, Options, Script, Verdict, strategies};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Runs the script and everything that is compared between runs, on all subjects.
fn holds(script: &Script) -> Result<(), TestCaseError> {
    for subject in subjects::all() {
        holds_for(script, subject.as_ref())?;
    }
    Ok(())
}

fn holds_for(script: &Script, subject: &dyn Candidate) -> Result<(), TestCaseError> {
    let named = |message: String| TestCaseError::fail(format!("{}: {message}\n{script}", subject.name()));
    if let Verdict::Fail(failure) = subject.run(script, &Options::default()).verdict {
        return Err(named(failure.to_string()));
    }
    subject.time_shift(script, Duration::from_secs(1_000)).map_err(named)?;
    subject.replay(script).map_err(named)
}

/// The same 192 cases each time, unless the environment says otherwise: `PROPTEST_CASES`, `PROPTEST_RNG_SEED`.
fn config() -> ProptestConfig {
    let set = |name: &str| std::env::var_os(name).is_some();
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if !set("PROPTEST_CASES") {
        config.cases = 192;
    }
    if !set("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(3);
    }
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn plausible_events_hold_all_invariants(script in strategies::plausible(60)) {
        holds(&script)?;
    }

    #[test]
    fn absurd_events_hold_all_invariants(script in strategies::absurd(40)) {
        holds(&script)?;
    }

    #[test]
    fn a_path_shows_plausible_events_as_the_own_bookkeeping_does(script in strategies::plausible(60)) {
        for subject in subjects::all() {
            if let Err(message) = subject.on_path(&script) {
                return Err(TestCaseError::fail(format!("{}: {message}\n{script}", subject.name())));
            }
        }
    }

    #[test]
    fn sizes_scale_for_loss_based_controllers(script in strategies::plausible(40)) {
        for subject in subjects::all() {
            if subject.family() == Family::LossBased && let Err(message) = subject.byte_scale(&script, 4) {
                return Err(TestCaseError::fail(format!("{}: {message}\n{script}", subject.name())));
            }
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
            for subject in subjects::all() {
                let report = subject.run(&script, &Options::default());
                prop_assert!(report.trace.steps.len() < 3_000_001);
            }
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
    "received",
    "at",
    "after",
    "before",
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
