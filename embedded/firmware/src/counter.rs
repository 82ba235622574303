//! Counts instructions, exactly, in QEMU.

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

/// Nanoseconds of virtual time that QEMU lets pass per instruction: 2^7, `-icount shift=7`.
const NANOS_PER_INSTRUCTION: u32 = 1 << 7;

/// A tick of SysTick on board mps2-an386, which runs at 25 MHz. More than three ticks pass per instruction, so that the
/// count of ticks gives that of instructions.
const NANOS_PER_TICK: u32 = 40;

/// SysTick counts down from here: 24 bits, 5.2 million instructions.
const RELOAD: u32 = 0x00ff_ffff;

/// A counter of instructions.
#[derive(Debug)]
pub struct Counter {
    /// What it counts when nothing is between two readings.
    overhead: u32,
}

impl Counter {
    /// Starts the timer. `None` the second time.
    #[must_use]
    pub fn start() -> Option<Self> {
        let mut timer = cortex_m::Peripherals::take()?.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(RELOAD);
        timer.clear_current();
        timer.enable_counter();
        let mut counter = Self { overhead: 0 };
        // The first reading may come before the timer has loaded its value.
        let _ = counter.count(|| ());
        counter.overhead = counter.count(|| ()).1;
        Some(counter)
    }

    /// Runs `what` and says how many instructions that took, beyond those of the measurement.
    pub fn count<R>(&self, what: impl FnOnce() -> R) -> (R, u32) {
        let before = SYST::get_current();
        let result = what();
        let after = SYST::get_current();
        let ticks = before.wrapping_sub(after) & RELOAD;
        // At most 2^24 * 40, which fits.
        let nanos = ticks.saturating_mul(NANOS_PER_TICK);
        let instructions = nanos.saturating_add(NANOS_PER_INSTRUCTION / 2) / NANOS_PER_INSTRUCTION;
        (result, instructions.saturating_sub(self.overhead))
    }
}

/// Number, sum and largest of some counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// How many.
    pub number: u64,
    /// Their sum.
    pub sum: u64,
    /// The largest.
    pub max: u32,
}

impl Counts {
    /// One more.
    pub fn add(&mut self, instructions: u32) {
        self.number = self.number.saturating_add(1);
        self.sum = self.sum.saturating_add(u64::from(instructions));
        self.max = self.max.max(instructions);
    }

    /// All of the others too.
    pub fn merge(&mut self, others: &Self) {
        self.number = self.number.saturating_add(others.number);
        self.sum = self.sum.saturating_add(others.sum);
        self.max = self.max.max(others.max);
    }

    /// Prints it for the host's `table`: `cost WHAT ALGORITHM KIND NUMBER SUM MAX`.
    pub fn print(&self, what: &str, algorithm: &str, kind: &str) {
        let Self { number, sum, max } = self;
        semihosting::println!("cost {what} {algorithm} {kind} {number} {sum} {max}");
    }
}
