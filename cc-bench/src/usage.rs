//! CPU time of this process, and of the machine.

use crate::now;
use std::time::{Duration, Instant};

/// CPU time that this process has used.
#[must_use]
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// What part of a CPU this process uses, and what part of all CPUs is in use, from a moment on.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    began: Instant,
    cpu: Duration,
    machine: Option<Ticks>,
}

impl Meter {
    /// From now on.
    #[must_use]
    pub fn start() -> Self {
        Self { began: now(), cpu: cpu_time(), machine: Ticks::read() }
    }

    /// How long it has run.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// CPU time of this process over time: 1 is one CPU.
    #[must_use]
    pub fn process(&self) -> f64 {
        share(cpu_time().saturating_sub(self.cpu), self.elapsed())
    }

    /// Part of the time of all CPUs that was not idle, whoever used it. `None` if the system does not say, or no tick has passed.
    #[must_use]
    pub fn machine(&self) -> Option<f64> {
        let (before, after) = (self.machine?, Ticks::read()?);
        let (all, idle) = (after.all.checked_sub(before.all)?, after.idle.checked_sub(before.idle)?);
        (all > 0).then(|| 1.0 - idle as f64 / all as f64)
    }
}

/// One time over another.
#[must_use]
pub fn share(cpu: Duration, elapsed: Duration) -> f64 {
    cpu.as_secs_f64() / elapsed.as_secs_f64().max(1e-9)
}

/// Ticks of all CPUs since the machine was started (proc_stat(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    all: u64,
    idle: u64,
}

impl Ticks {
    fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line: user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in `user` already.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        Some(Self { all: ticks.iter().sum(), idle: ticks.get(3)? + ticks.get(4)? })
    }
}

#[cfg(test)]
mod tests {
    use super::{Meter, Ticks, cpu_time};
    use std::time::Duration;

    #[test]
    fn idle_ticks_are_those_without_work_and_those_that_wait_for_a_disk() {
        let text = "cpu  10 1 5 70 4 2 3 5 6 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        // 10 + 1 + 5 + 70 + 4 + 2 + 3 + 5; the guest's 6 are among the 10.
        assert_eq!(Ticks::parse(text), Some(Ticks { all: 100, idle: 74 }));
        assert_eq!(Ticks::parse("intr 5"), None);
        assert_eq!(Ticks::parse("cpu 1 2 3"), None);
    }

    #[test]
    fn what_a_process_computes_is_its_share() {
        let (meter, before) = (Meter::start(), cpu_time());
        while cpu_time() < before + Duration::from_millis(20) {}
        // Of whatever time that took.
        let used = meter.process() * meter.elapsed().as_secs_f64();
        assert!((0.019..10.0).contains(&used), "{used}");
        assert!(meter.machine().is_none_or(|machine| (0.0..=1.0).contains(&machine)));
    }
}
