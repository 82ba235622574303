//! The header, the examples and the adapters, by a C and a C++ compiler; the examples run under AddressSanitizer and
//! UndefinedBehaviorSanitizer, with the library itself instrumented.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Sanitizers of the C side; any report ends the program.
const SANITIZERS: [&str; 3] = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];
/// What the standard library in the static library wants.
const LIBRARIES: [&str; 3] = ["-lm", "-lpthread", "-ldl"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn scratch() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

/// The compiler named by the environment, else the usual one.
fn compiler(variable: &str, usual: &str) -> Command {
    let mut command = Command::new(std::env::var_os(variable).unwrap_or_else(|| usual.into()));
    command.arg("-I").arg(root().join("include"));
    command
}

fn c() -> Command {
    compiler("CC", "cc")
}

fn cxx() -> Command {
    compiler("CXX", "c++")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?} can not be run: {error}"))
}

fn succeed(command: &mut Command) -> String {
    let output = output(command);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{command:?}\n{printed}{}", text(&output.stderr));
    printed
}

fn host() -> String {
    let printed =
        succeed(Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"));
    printed.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

/// The static library, with every access to memory checked by AddressSanitizer. `-Zsanitizer` is not stable, which
/// `RUSTC_BOOTSTRAP` makes a stable compiler overlook; the checks themselves are LLVM's.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let (target, host) = (scratch().join("target"), host());
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        succeed(
            Command::new(cargo)
                .args(["rustc", "--locked", "-p", "cc-ffi", "--crate-type", "staticlib", "--target", &host])
                .arg("--target-dir")
                .arg(&target)
                .current_dir(root())
                .env("RUSTC_BOOTSTRAP", "1")
                .env("RUSTFLAGS", "-Zsanitizer=address")
                .env_remove("CARGO_ENCODED_RUSTFLAGS"),
        );
        target.join(host).join("debug/libcc_ffi.a")
    })
}

/// Compiles a program with sanitizers.
fn program(source: &Path, name: &str) -> PathBuf {
    let program = scratch().join(name);
    succeed(
        c().arg("-std=c99")
            .args(STRICT)
            .args(SANITIZERS)
            .arg(source)
            .arg(library())
            .args(LIBRARIES)
            .arg("-o")
            .arg(&program),
    );
    program
}

fn example(name: &str) -> String {
    succeed(&mut Command::new(program(&root().join("examples/c").join(format!("{name}.c")), name)))
}

#[test]
fn a_sender_that_keeps_its_own_books_runs_every_algorithm_under_the_sanitizers() {
    let printed = example("controller");
    for algorithm in cc_ffi::ALGORITHMS {
        let name = algorithm.name.to_str().expect("an ASCII name");
        assert!(printed.lines().any(|line| line.split_whitespace().next() == Some(name)), "{printed}");
    }
}

#[test]
fn a_sender_that_keeps_nothing_runs_under_the_sanitizers() {
    let printed = example("path");
    assert!(printed.contains("packets sent"), "{printed}");
}

#[test]
fn the_sanitizer_sees_what_the_library_writes() {
    // A caller that lies about the size of its memory: undefined behaviour that only the sanitizer can find, and only if the
    // library is instrumented.
    let source = scratch().join("liar.c");
    let text_of_program = "#include \"cc_ffi.h\"\n#include <stdlib.h>\n\
        int main(void) {\n\
            ccffi_setup setup = {0};\n\
            setup.max_datagram_size = 1200;\n\
            void *memory = malloc(ccffi_controller_size() - 8);\n\
            return (int)ccffi_controller_init(memory, ccffi_controller_size(), CCFFI_ABI_VERSION, CCFFI_ALGORITHM_C4, &setup);\n\
        }\n";
    std::fs::write(&source, text_of_program).expect("the target folder is writable");
    let output = output(&mut Command::new(program(&source, "liar")));
    assert!(!output.status.success());
    let report = text(&output.stderr);
    assert!(report.contains("heap-buffer-overflow") && report.contains("WRITE"), "{report}");
}

#[test]
fn the_header_is_valid_c_and_cpp() {
    for standard in ["c99", "c11", "c17"] {
        succeed(
            c().args(["-x", "c", "-fsyntax-only"])
                .arg(format!("-std={standard}"))
                .args(STRICT)
                .arg(root().join("include/cc_ffi.h")),
        );
    }
    for standard in ["c++11", "c++17", "c++20"] {
        succeed(
            cxx()
                .args(["-x", "c++", "-fsyntax-only"])
                .arg(format!("-std={standard}"))
                .args(STRICT)
                .arg(root().join("include/cc_ffi.h")),
        );
    }
}

#[test]
fn the_adapters_fit_the_header_and_their_stacks() {
    let adapters = root().join("examples/adapters");
    for (stack, source, compiler, standard) in [
        ("picoquic", "picoquic.c", c as fn() -> Command, "gnu99"),
        ("xquic", "xquic.c", c, "gnu99"),
        ("quicly", "quicly.c", c, "gnu99"),
        ("mvfst", "mvfst.cpp", cxx, "c++17"),
    ] {
        succeed(
            compiler()
                .args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror"])
                .arg(format!("-std={standard}"))
                .arg("-I")
                .arg(&adapters)
                .arg("-I")
                .arg(root().join("tests/stubs").join(stack))
                .arg(adapters.join(source)),
        );
    }
}

/// Words of a text that start with `ccffi_` or `CCFFI_`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| word.starts_with("ccffi_") || word.starts_with("CCFFI_"))
}

#[test]
fn the_pages_name_what_is_there() {
    let read =
        |path: PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let header = read(root().join("include/cc_ffi.h"));
    let known: std::collections::HashSet<&str> = names(&header).collect();
    for stack in ["picoquic", "mvfst", "xquic", "quicly"] {
        let page = read(root().join(format!("docs/{stack}.md")));
        let adapter = read(root().join("examples/adapters").join(if stack == "mvfst" {
            "mvfst.cpp".into()
        } else {
            format!("{stack}.c")
        }));
        let of_adapter: std::collections::HashSet<&str> = names(&adapter).collect();
        let mut found = 0;
        for name in names(&page) {
            // A name that ends with an underscore stands for a family; those with an algorithm's name are pasted together
            // by a macro of the adapter.
            let pasted = cc_ffi::ALGORITHMS.iter().any(|algorithm| {
                let part = format!("_{}", algorithm.name.to_str().expect("an ASCII name"));
                name.find(&part).is_some_and(|at| adapter.contains(&name[..=at]))
            });
            let family = name.ends_with('_') && known.iter().any(|other| other.starts_with(name));
            assert!(
                pasted || family || known.contains(name) || of_adapter.contains(name),
                "docs/{stack}.md names {name}, which is nowhere"
            );
            found += 1;
        }
        assert!(found > 5, "docs/{stack}.md maps nothing");
        // Every event that the adapter tells is in the page's table.
        for event in of_adapter.iter().filter(|name| name.starts_with("ccffi_on_")) {
            assert!(page.contains(event), "docs/{stack}.md does not say when {event} is called");
        }
    }
}
