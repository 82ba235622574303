#![no_main]
use cc_fuzz::network::{Input, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input| run(&input));
