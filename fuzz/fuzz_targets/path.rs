#![no_main]
use cc_fuzz::path::{Dummy, Setting, Step, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, Setting, Vec<Step>)| run(Dummy::new(input.0), &input.1, &input.2));
