#![no_main]
use cc_fuzz::script::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| check(text));
