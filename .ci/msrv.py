#!/usr/bin/env python3
"""Fails if a dependency of the workspace declares a newer Rust than the workspace does.

It looks at what Cargo.lock chose, for every platform and with the development
dependencies. Members must all declare the same rust-version. A dependency that
declares none is counted but cannot be judged.
"""

import json
import subprocess
import sys


def version(text):
    numbers = [int(n) for n in text.split("-")[0].split("+")[0].split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def main():
    metadata = json.loads(
        subprocess.run(
            ["cargo", "metadata", "--locked", "--format-version", "1", "--all-features"],
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
    )
    packages = {p["id"]: p for p in metadata["packages"]}
    members = set(metadata["workspace_members"])

    declared = {packages[m]["name"]: packages[m]["rust_version"] for m in members}
    if len(set(declared.values())) != 1 or None in declared.values():
        print("error: members do not declare one rust-version:", file=sys.stderr)
        for name, value in sorted(declared.items()):
            print(f"  {name}: {value}", file=sys.stderr)
        return 1
    ours = next(iter(declared.values()))

    others = [p for i, p in packages.items() if i not in members]
    silent = [p for p in others if p["rust_version"] is None]
    newer = [
        p for p in others if p["rust_version"] and version(p["rust_version"]) > version(ours)
    ]
    for p in sorted(newer, key=lambda p: p["name"]):
        users = sorted(
            packages[n["id"]]["name"]
            for n in metadata["resolve"]["nodes"]
            if p["id"] in n["dependencies"]
        )
        print(
            f"error: {p['name']} {p['version']} (of {', '.join(users)})"
            f" wants Rust {p['rust_version']}, the workspace declares {ours}",
            file=sys.stderr,
        )
    highest = max(
        (p for p in others if p["rust_version"]),
        key=lambda p: version(p["rust_version"]),
        default=None,
    )
    print(
        f"workspace {ours}; {len(others)} dependencies, {len(newer)} newer,"
        f" {len(silent)} declare nothing"
        + (f"; highest {highest['rust_version']} ({highest['name']})" if highest else "")
    )
    return 1 if newer else 0


if __name__ == "__main__":
    sys.exit(main())
