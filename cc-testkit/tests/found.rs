//! Scripts that property tests found, of controllers and of the kit itself: all invariants on all subjects.

mod subjects;

use cc_core::Duration;
use cc_testkit::{Family, Options, Script, Verdict};
use std::path::Path;

#[test]
fn what_property_tests_found_stays_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let file = entry.expect("the folder can be read").path();
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let script = Script::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for subject in subjects::all() {
            let named = |message: String| format!("{} on {}: {message}", file.display(), subject.name());
            if let Verdict::Fail(failure) = subject.run(&script, &Options::default()).verdict {
                panic!("{}", named(failure.to_string()));
            }
            subject.time_shift(&script, Duration::from_secs(1_000)).map_err(named).unwrap();
            subject.replay(&script).map_err(named).unwrap();
            subject.on_path(&script).map_err(named).unwrap();
            if subject.family() == Family::LossBased && script.settings.initial_window.is_some() {
                subject.byte_scale(&script, 4).map_err(named).unwrap();
            }
        }
        count += 1;
    }
    assert!(count >= 14, "{count} scripts");
}
