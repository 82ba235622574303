#!/usr/bin/env python3
"""Proves that no panic path is left in programs that contain every public function of the no_std crates.

  check.py [--target-dir DIR]   everything below
  check.py --fetch              only downloads what the builds need

1. Every public function, method and type of the crates is named in the programs.
2. Every program links, for each target and profile. What a program that does not link may panic in is printed.
3. With a panic put in on purpose no program links.

Needs rustup's toolchain, for its linker, and Debian's rustc-web, cargo-web and rust-web-src, which build core.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys

import callers
import surface

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CRATES = ("cc-core", "cc-bbr", "cc-c4", "cc-cubic", "cc-quicdc", "cc-reno", "cc-ffi")
# The first is where the panic on purpose is tried.
BUILDS = (
    ("thumbv7em-none-eabihf", "release"),
    ("thumbv7em-none-eabihf", "small"),
    ("thumbv7em-none-eabihf", "tiny"),
    ("thumbv6m-none-eabi", "tiny"),
    ("riscv32imac-unknown-none-elf", "small"),
    ("x86_64-unknown-none", "release"),
)


class Cargo:
    """Debian's cargo and rustc, with rustup's linker."""

    def __init__(self, target_dir):
        ask = lambda *what: subprocess.check_output(["rustc", *what], text=True)
        host = next(line.split()[1] for line in ask("-vV").splitlines() if line.startswith("host:"))
        linker = pathlib.Path(ask("--print", "sysroot").strip(), "lib/rustlib", host, "bin/rust-lld")
        drop = ("RUSTUP_TOOLCHAIN", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER")
        self.env = {name: value for name, value in os.environ.items() if name not in drop}
        # RUSTC_BOOTSTRAP lets this stable compiler take -Zbuild-std.
        self.env |= {"PATH": "/usr/bin:/bin", "RUSTC": "/usr/bin/rustc", "RUSTC_BOOTSTRAP": "1"}
        self.env["CARGO_TARGET_DIR"] = str(target_dir)
        for target, _ in BUILDS:
            self.env[f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"] = str(linker)

    def run(self, command, target, *arguments, **options):
        return subprocess.run(
            ["/usr/bin/cargo", command, "--locked", "-Zbuild-std=core", "--target", target, *arguments],
            cwd=HERE, env=self.env, stdin=subprocess.DEVNULL, text=True, check=False, **options,
        )

    def build(self, target, profile, *arguments):
        """Program -> the path of what was linked, or why it was not."""
        done = self.run(
            "build", target, "--profile", profile, "--bins", "--keep-going", "--message-format=json", *arguments,
            stdout=subprocess.PIPE,
        )
        outcome = {name: "not built" for name in programs()}
        for line in done.stdout.splitlines():
            message = json.loads(line)
            name = message.get("target", {}).get("name")
            if message["reason"] == "compiler-artifact" and message["executable"]:
                outcome[name] = pathlib.Path(message["executable"])
            elif message["reason"] == "compiler-message":
                if message["message"]["level"] == "error" and name in outcome:
                    outcome[name] = message["message"]["rendered"]
                elif not message["message"]["rendered"].startswith("error: aborting"):
                    print(message["message"]["rendered"])
        return outcome

    def explain(self, target, profile, name):
        """Links the program after all, and names what may panic in it."""
        self.run(
            "rustc", target, "--profile", profile, "--bin", name, "--",
            "--emit=asm", "-Csymbol-mangling-version=v0", f"-Clink-arg=--defsym={callers.HANDLER}=0",
        )
        written = pathlib.Path(self.env["CARGO_TARGET_DIR"], target, profile, "deps").glob(f"{name}-*.s")
        callers.report(max(written, key=lambda path: path.stat().st_mtime))


def programs():
    return sorted(path.stem for path in HERE.glob("src/bin/*.rs"))


def code_size(path):
    """Bytes of the executable segments of an ELF file."""
    image = path.read_bytes()
    wide = image[4] == 2
    start, = struct.unpack_from("<Q" if wide else "<I", image, 32 if wide else 28)
    entry, count = struct.unpack_from("<HH", image, 54 if wide else 42)
    size = 0
    for at in range(start, start + entry * count, entry):
        kind, = struct.unpack_from("<I", image, at)
        flags, = struct.unpack_from("<I", image, at + (4 if wide else 24))
        in_memory, = struct.unpack_from("<Q" if wide else "<I", image, at + (40 if wide else 20))
        if kind == 1 and flags & 1:
            size += in_memory
    return size


def links(cargo, target, profile):
    """Whether every program does."""
    good = True
    for name, outcome in cargo.build(target, profile).items():
        if isinstance(outcome, pathlib.Path):
            print(f"{target:30}{profile:9}{name:8} no panic path in {code_size(outcome):7} bytes of code", flush=True)
            continue
        good = False
        print(f"error: {target} {profile} {name} does not link")
        if callers.HANDLER in outcome:
            cargo.explain(target, profile, name)
        else:
            print(outcome)
    return good


def refuses(cargo, target, profile):
    """Whether no program links if there is something to panic, for this reason alone."""
    good = True
    for name, outcome in cargo.build(target, profile, "--features", "panic_on_purpose").items():
        if isinstance(outcome, pathlib.Path):
            why = "links"
        elif f"undefined symbol: {callers.HANDLER}" not in outcome or outcome.count("undefined symbol:") != 1:
            why = f"fails otherwise: {outcome}"
        else:
            print(f"{target:30}{profile:9}{name:8} refused: undefined symbol {callers.HANDLER}")
            continue
        good = False
        print(f"error: with a panic on purpose {name} {why}")
    return good


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--target-dir", type=pathlib.Path, default=ROOT / "target/panic_free")
    arguments.add_argument("--fetch", action="store_true")
    given = arguments.parse_args()
    cargo = Cargo(given.target_dir.resolve())
    if given.fetch:
        for target in sorted({target for target, _ in BUILDS}):
            if cargo.run("fetch", target).returncode:
                sys.exit(1)
        return
    good = surface.is_covered(ROOT, CRATES, HERE / "src")
    for target, profile in BUILDS:
        good &= links(cargo, target, profile)
    good &= refuses(cargo, *BUILDS[0])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
