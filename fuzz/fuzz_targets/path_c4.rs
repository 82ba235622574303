#![no_main]
//! The controller behind a `Path` with a small ring.

use cc_fuzz::path::{Step, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|steps: Vec<Step>| run(cc_c4::C4::new(&cc_c4::Config::default()), &steps));
