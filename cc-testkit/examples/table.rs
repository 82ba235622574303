//! Prints the table of cases and invariants by controller; fails if a cell does.

#[path = "../tests/subjects/mod.rs"]
mod subjects;

use cc_testkit::table::Table;
use std::process::ExitCode;

fn main() -> ExitCode {
    let subjects = subjects::all();
    let table = Table::of(&subjects.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    println!("{table}");
    let mut code = ExitCode::SUCCESS;
    for (row, column, message) in table.failures() {
        println!("\n=== {row} on {column}\n{message}");
        code = ExitCode::FAILURE;
    }
    code
}
