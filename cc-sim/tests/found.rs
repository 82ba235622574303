//! Scenarios that the fuzz target `network` has found, replayed.
//!
//! A file in `found/` says in its first lines what went wrong with which algorithm; it is run with all of them.

mod liveness;
mod watch;

use cc_sim::{Algorithm, scenario};
use std::path::Path;

/// The target's seeds.
const SEEDS: u64 = 8;

#[test]
fn what_was_found_once_holds_for_every_algorithm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut failures = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let scenario = scenario::parse(&text, &name).unwrap();
        for &algorithm in Algorithm::ALL {
            for seed in 0..SEEDS {
                if let Err(message) = liveness::check(&scenario, algorithm, seed) {
                    failures.push(format!("{name} with {}, seed {seed}: {message}", algorithm.name()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
