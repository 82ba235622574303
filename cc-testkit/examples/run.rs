//! Runs script files on every controller of the workspace and prints what happened: `cargo run -p cc-testkit --example run FILE...`

#[path = "../tests/subjects/mod.rs"]
mod subjects;

use cc_testkit::{Candidate, Options, Script, Verdict};
use std::process::ExitCode;

fn show(script: &Script, subject: &dyn Candidate) -> bool {
    let report = subject.run(script, &Options::default());
    println!("{}:", subject.name());
    match &report.verdict {
        Verdict::Pass => println!("{}pass", report.trace),
        Verdict::NotApplicable(reason) => println!("does not apply: {reason}"),
        Verdict::Fail(failure) => println!("{failure}FAIL"),
    }
    !report.verdict.is_failure()
}

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for file in std::env::args().skip(1) {
        let script = std::fs::read_to_string(&file)
            .map_err(|error| error.to_string())
            .and_then(|text| Script::parse(&text).map_err(|error| error.to_string()));
        match script {
            Ok(script) => {
                println!("{file}: {}", script.title);
                for subject in subjects::all() {
                    if !show(&script, subject.as_ref()) {
                        code = ExitCode::FAILURE;
                    }
                }
            }
            Err(error) => {
                eprintln!("{file}: {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
