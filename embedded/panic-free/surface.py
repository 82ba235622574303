"""Whether the programs name everything that the crates make public."""

import re

# Traits whose methods are listed once, for every type that has the trait: the name of the type there, and of the table.
TRAITS = {"CongestionController": ("C", "Controller"), "SlowStart": ("S", "Growth")}
# Not listed: `Debug`, see the README; `Error`, which has default bodies only; what cc-ffi has for itself.
TRAITS_LEFT_OUT = {"Debug", "Error", "Plain", "Raw"}
# Not listed: what needs the feature `alloc`.
FILES_LEFT_OUT = {"boxed.rs"}
# Not listed: data of the C header, which the functions of the header take and give. `Path` has a table of its own.
TYPES_LEFT_OUT = re.compile(r"Ffi\w+|Path$")


def public(source):
    """What one source file makes public: patterns to look for in the programs."""
    source = source.split("#[cfg(test)]\nmod ", 1)[0]
    source = re.sub(r"macro_rules!.*?^}", "", source, flags=re.S | re.M)
    block = None
    methods_of_traits = {alias for alias, _ in TRAITS.values()}
    # What is there under a feature or for the fuzzers only, is not.
    source = re.sub(r"#\[cfg\((?:fuzzing|feature).*\n( *)(?:.*\n)*?\1}\n", "", source)
    for line in source.splitlines():
        if match := re.match(r"pub (?:struct|enum) (\w+)", line):
            if not TYPES_LEFT_OUT.match(match[1]):
                yield rf"\w+::<{match[1]}>::TABLE"
        elif match := re.match(r"pub trait (\w+)", line):
            block = TRAITS[match[1]][0]
        elif match := re.match(r"impl(?:<.*?>)? (?:(?:\w+::)*(\w+)(?:<.*>)? for )?((?:\w+::)*(\w+))", line):
            trait, path, block = match.groups()
            if trait in TRAITS:
                yield rf"{TRAITS[trait][1]}::<{block}>::TABLE"
            elif trait and trait not in TRAITS_LEFT_OUT:
                yield f"<{path} as {trait}\\b".replace("std::", "core::")
            if trait:
                block = None
        elif line == "}":
            block = None
        elif match := re.match(r'( {4})?(pub )?(?:const )?(?:unsafe )?(?:extern "C" )?fn (\w+)', line):
            indented, is_public, name = match.groups()
            if indented and block and (is_public or block in methods_of_traits):
                yield rf"\b{block}(?:::<[^<>]*>)?::{name}\b"
            elif is_public and not indented:
                yield rf"\b{name}\b"


def is_covered(root, crates, programs):
    """Whether all of it is named; prints what is not."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(programs.rglob("*.rs")))
    text = re.sub(r"//.*", "", text)
    count = missing = 0
    for crate in crates:
        for path in sorted((root / crate / "src").rglob("*.rs")):
            if path.name in FILES_LEFT_OUT or "tests" in path.relative_to(root).with_suffix("").parts:
                continue
            for pattern in public(path.read_text(encoding="utf-8")):
                count += 1
                if not re.search(pattern, text):
                    missing += 1
                    print(f"error: {path.relative_to(root)}: no program has {pattern}")
    print(f"of {count} public functions, implementations and types {count - missing} are in the programs", flush=True)
    return count > 0 and not missing
