//! What a record says about where it comes from.

use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Where and when something was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// The command, as it was typed.
    pub command: String,
    /// UTC, to the second.
    pub date: String,
    /// Commit of the working directory; `unknown` outside a repository.
    pub commit: String,
    /// Whether there were changes that are not in the commit; `None` if unknown.
    pub dirty: Option<bool>,
    /// Operating system and version of its kernel.
    pub kernel: String,
    /// Model of the CPU.
    pub cpu: String,
    /// How many of them this process may use.
    pub cpus: usize,
    /// Processes that were ready to run, averaged over the last minute before the start.
    pub load: String,
    /// Version of quinn.
    pub quinn: String,
}

impl Metadata {
    /// Of this moment, machine and working directory.
    #[must_use]
    pub fn collect() -> Self {
        let commit = git(&["rev-parse", "--short=12", "HEAD"]);
        let dirty = git(&["status", "--porcelain"]).map(|changes| !changes.is_empty());
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo").lines().find_map(|line| {
            line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim().to_owned())
        });
        let unknown = || "unknown".to_owned();
        Self {
            command: command_line(),
            date: timestamp(),
            commit: commit.unwrap_or_else(unknown),
            dirty,
            kernel: format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease").trim()),
            cpu: cpu.unwrap_or_else(unknown),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            load: read("/proc/loadavg").split(' ').next().map_or_else(unknown, str::to_owned),
            quinn: LOCK_FILE
                .lines()
                .skip_while(|line| *line != "name = \"quinn\"")
                .nth(1)
                .map_or_else(unknown, |line| {
                    line.trim_start_matches("version = ").trim_matches('"').to_owned()
                }),
        }
    }

    /// Where a record goes if nobody says where.
    #[must_use]
    pub fn folder(&self, out: Option<&Path>) -> PathBuf {
        let date = self.date.replace([':', '-'], "");
        out.map_or_else(|| Path::new("bench_results").join(format!("{date}_{}", self.commit)), Path::to_owned)
    }

    /// For a Markdown page: one paragraph.
    #[must_use]
    pub fn paragraph(&self) -> String {
        let Self { command, date, commit, dirty, kernel, cpu, cpus, load, quinn } = self;
        let dirty = match dirty {
            Some(true) => " with changes",
            Some(false) => "",
            None => " (changes unknown)",
        };
        format!(
            "`{command}`, {date}, commit {commit}{dirty}, quinn {quinn}, {kernel}, {cpus} x {cpu}, load {load} at the start.\n"
        )
    }
}

/// What this program was built with.
const LOCK_FILE: &str = include_str!("../../Cargo.lock");

/// The command without the folder of the program.
fn command_line() -> String {
    let mut arguments = std::env::args();
    let program = arguments.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[expect(clippy::disallowed_methods, reason = "the date of a measurement")]
fn timestamp() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Metadata;

    #[test]
    fn everything_is_filled_in() {
        let metadata = Metadata::collect();
        assert!(metadata.quinn.starts_with("0.11."), "{metadata:?}");
        assert!(metadata.date.ends_with('Z') && metadata.date.len() == 20, "{metadata:?}");
        assert!(metadata.cpus > 0 && metadata.kernel.starts_with("linux "), "{metadata:?}");
        assert_eq!(metadata.paragraph().lines().count(), 1);
    }
}
