#![no_main]
//! Any event, in any order, with any numbers.

use cc_fuzz::events::{Call, State, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|calls: Vec<(State, Call)>| run(cc_c4::C4::new(&cc_c4::Config::default()), 1_200, &calls));
