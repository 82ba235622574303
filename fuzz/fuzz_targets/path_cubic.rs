#![no_main]
//! The controller behind a `Path` with a small ring.

use cc_fuzz::path::{Step, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|steps: Vec<Step>| run(cc_cubic::Cubic::new(&cc_cubic::Config::default()), &steps));
