//! A clock and a timer made of SysTick.

use cc_core::{Duration, Instant};
use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

/// SysTick of board mps2-an386 runs at 25 MHz.
const NANOS_PER_CYCLE: u64 = 40;

/// Cycles per interrupt: one millisecond.
const CYCLES_PER_TICK: u32 = 25_000;

/// Interrupts so far. They wrap after 49 days.
static TICKS: AtomicU32 = AtomicU32::new(0);

/// To be called by the program's handler of the exception SysTick.
pub fn on_timer_interrupt() {
    // The only writer. Not `fetch_add`, which a Cortex-M0 does not have.
    TICKS.store(TICKS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// The time since it was started, and sleep.
#[derive(Debug)]
pub struct Clock(());

impl Clock {
    /// Starts SysTick and its interrupt. `None` the second time.
    #[must_use]
    pub fn start() -> Option<Self> {
        let mut timer = cortex_m::Peripherals::take()?.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(CYCLES_PER_TICK.saturating_sub(1));
        timer.clear_current();
        timer.enable_interrupt();
        timer.enable_counter();
        Some(Self(()))
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Instant {
        loop {
            let ticks = TICKS.load(Ordering::Relaxed);
            let left = SYST::get_current();
            // A tick in between would give a time of the tick before: read again.
            if ticks == TICKS.load(Ordering::Relaxed) {
                let cycles = CYCLES_PER_TICK.saturating_sub(1).saturating_sub(left);
                let within = Duration::from_nanos(u64::from(cycles).saturating_mul(NANOS_PER_CYCLE));
                return Instant::from_millis(u64::from(ticks)).after(within);
            }
        }
    }

    /// Sleeps until the first interrupt at or after `until`: up to a tick too long.
    pub fn sleep_until(&self, until: Instant) {
        while self.now() < until {
            cortex_m::asm::wfi();
        }
    }
}
