//! Prints the table of cases and invariants by controller; fails if a cell does.

#[path = "../tests/subjects/mod.rs"]
mod subjects;

use cc_testkit::table::Table;
use std::process::ExitCode;

fn main() -> ExitCode {
    let table = Table::of(&[&subjects::cubic(), &subjects::c4()]);
    println!("{table}");
    let mut code = ExitCode::SUCCESS;
    for (row, column, message) in table.failures() {
        println!("\n=== {row} on {column}\n{message}");
        code = ExitCode::FAILURE;
    }
    code
}
