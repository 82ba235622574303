//! Names the linker scripts of the board that QEMU has for the target. The package `cc-size` uses it too.

use std::env;

fn main() {
    let target = env::var("TARGET").unwrap_or_default();
    // The target, the folder with the board's `memory.x`, and the scripts in the order that the runtime crate wants.
    let (board, scripts): (&str, &[&str]) = match target.as_str() {
        "thumbv7em-none-eabihf" => ("mps2-an386", &["link.x"]),
        "thumbv6m-none-eabi" => ("microbit", &["link.x"]),
        "riscv32imac-unknown-none-elf" => ("riscv-virt", &["memory.x", "link.x"]),
        // Nothing to link: the host looks at the library only.
        _ => return,
    };
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:rustc-link-search={folder}/../firmware/memory/{board}");
    for script in scripts {
        println!("cargo:rustc-link-arg-bins=-T{script}");
    }
    println!("cargo:rerun-if-changed=../firmware/memory");
}
