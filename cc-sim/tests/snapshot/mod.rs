//! Snapshots, kept in `tests/snapshots` under their plain names.
#![allow(dead_code, reason = "not every test file takes traces")]

use cc_sim::trace::trace_lines;
use cc_sim::{Algorithm, scenario};

/// Compares `text` with the snapshot `name`.
pub(crate) fn assert_unchanged(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    // Beside this folder, whichever test asks.
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Compares a run of each scenario, a line every so many microseconds. A change of any decision of an algorithm or of the
/// simulator shows here; the commit says why.
pub(crate) fn assert_traces_unchanged(algorithm: Algorithm, scenarios: &[(&str, u64)]) {
    for &(name, interval_us) in scenarios {
        let trace = trace_lines(&scenario::builtin(name).unwrap(), algorithm, 1, interval_us).unwrap();
        assert_unchanged(&format!("{name}_{}", algorithm.name()), &trace);
    }
}
