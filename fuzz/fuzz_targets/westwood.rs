#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: cc_fuzz::controller::Input| cc_fuzz::targets::westwood(&input));
