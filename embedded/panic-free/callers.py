"""Names the functions that may still panic, from the assembly of a program (`--emit=asm`) that does not link."""

import re

HANDLER = "panic_path_left"
NAME = r"[A-Za-z_.$][\w.$]*"


def references(lines):
    """Function -> the names that its assembly mentions."""
    functions, current = {}, None
    labels = set()
    for line in lines:
        if match := re.match(rf"\s*\.type\s+({NAME})\s*,\s*[%@]function", line):
            labels.add(match[1])
        elif match := re.match(rf'("?{NAME}"?):', line):
            if match[1] in labels:
                current = functions.setdefault(match[1], set())
        elif current is not None and not re.match(r"\s*\.(size|type|section|globl|hidden|p2align|fnstart)", line):
            current.update(re.findall(NAME, line))
    return functions


def crate(name):
    """The crate that a mangled (v0) name was defined in."""
    match = re.search(r"C(?:s[0-9A-Za-z]*_)?(\d+)_?", name) if name.startswith("_R") else None
    return name[match.end():][:int(match[1])] if match else None


def plain(name):
    """The identifiers of a mangled (v0) name: enough to find the function."""
    if not name.startswith("_R"):
        return name
    parts, at = [], 2
    # A back-reference, a constant, or an identifier with its length.
    piece = re.compile(r"B[0-9A-Za-z]*_|K[a-z][0-9a-f]*_|(?:s[0-9A-Za-z]*_)?([1-9]\d*)_?")
    while match := piece.search(name, at):
        at = match.end()
        if match[1]:
            parts.append(name[at:][:int(match[1])])
            at += int(match[1])
    return "::".join(parts)


def report(path):
    """Prints each function outside of core that refers to one of core from which the panic handler can be reached."""
    with open(path, encoding="utf-8") as file:
        functions = references(file)
    leading = {HANDLER}
    while more := {name for name, names in functions.items() if names & leading} - leading:
        leading |= more
    core = {name for name in leading if name == HANDLER or crate(name) in ("core", "__rustc")}
    for function in sorted(leading - core, key=plain):
        if direct := sorted(map(plain, functions[function] & core)):
            print(f"  {plain(function)}: {', '.join(direct)}")
