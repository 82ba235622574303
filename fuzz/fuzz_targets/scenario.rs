#![no_main]
use cc_fuzz::scenario::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| check(text));
