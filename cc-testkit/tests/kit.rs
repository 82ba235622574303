//! All cases and invariants on all controllers of the workspace.

mod subjects;

use cc_testkit::table::Table;

#[test]
fn every_case_and_invariant_holds_for_every_controller_to_which_it_applies() {
    let subjects = subjects::all();
    let table = Table::of(&subjects.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    let failures: Vec<String> =
        table.failures().map(|(row, column, message)| format!("{row} on {column}: {message}")).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(table.columns.len(), subjects.len());
}
