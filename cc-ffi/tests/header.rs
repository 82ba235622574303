//! The header in the repository is the one that the crate's source gives.

use std::fmt::Write as _;
use std::path::Path;

const HEADER: &str = "include/cc_ffi.h";

/// The start of the header; the contract is that of the crate's documentation.
fn preamble(crate_docs: &str) -> String {
    let mut text = String::from(
        "// C ABI over the congestion controllers of this project. Generated from the crate cc-ffi: do not edit.\n//\n\
         // Times and spans are in nanoseconds, sizes in bytes, rates in bytes per second. Structs start from zero: optional\n\
         // fields are looked at if their bit in `has` is set, a flag is a byte that is 0 or not. A `uint32_t` that names one\n\
         // of several values is documented with the enum that lists them.\n//\n\
         // SPDX-License-Identifier: MIT OR Apache-2.0\n//\n",
    );
    let contract = crate_docs
        .lines()
        .skip_while(|line| *line != "//! # Safety")
        .take_while(|line| *line != "//! # Panics");
    let before = text.len();
    for line in contract {
        let _ = writeln!(text, "{}", line.replacen("//!", "//", 1));
    }
    assert!(text.len() > before, "the crate's documentation has the contract");
    text.trim_end_matches(['/', '\n']).to_owned()
}

/// The header, from the source and from the table of algorithms.
fn generate() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_root_or_default(root);
    let mut numbers = String::from("\n// Numbers of the algorithms.\n");
    for algorithm in cc_ffi::ALGORITHMS {
        let name = algorithm.name.to_str().expect("an ASCII name").to_ascii_uppercase();
        let _ = writeln!(numbers, "#define CCFFI_ALGORITHM_{name} {}", algorithm.number);
    }
    numbers.push_str(
        "\n// Bytes that are enough for a path of this capacity: 64, 512 or 4096 packets in flight.\n\
         #define CCFFI_PATH_SIZE(capacity) \\\n    \
         (CCFFI_PATH_OVERHEAD + CCFFI_PATH_BYTES_PER_PACKET * (size_t)(capacity))",
    );
    let crate_docs = std::fs::read_to_string(root.join("src/lib.rs")).expect("the source is there");
    config.header = Some(preamble(&crate_docs));
    config.after_includes = Some(numbers);
    let bindings = cbindgen::Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .expect("cbindgen reads the crate");
    let mut header = Vec::new();
    bindings.write(&mut header);
    String::from_utf8(header).expect("UTF-8")
}

#[test]
fn the_header_is_up_to_date() {
    let generated = generate();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(HEADER);
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == generated,
        "{HEADER} is out of date; make it again with: UPDATE_HEADER=1 cargo test -p cc-ffi --test header"
    );
}
