//! See [`cc_bench::cli`].

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    cc_bench::cli::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: the benchmark needs Linux");
    std::process::exit(1);
}
