//! What the firmware's programs share: the board, and the file of traces.
//!
//! The programs run in QEMU: on Cortex-M4F (board mps2-an386), Cortex-M0 (microbit) and RV32IMAC (virt). They speak to the
//! host by semihosting, and end with an exit code.
#![no_std]

#[cfg(target_arch = "arm")]
mod clock;
#[cfg(target_arch = "arm")]
mod counter;
mod traces;

#[cfg(target_arch = "arm")]
pub use clock::{Clock, on_timer_interrupt};
#[cfg(target_arch = "arm")]
pub use counter::{Counter, Counts};
pub use traces::{TraceFile, open_traces};

use core::fmt;
use semihosting::process::ExitCode;

/// Packets that the paths keep in mind whose RAM and cost are measured.
pub const RING: usize = 64;

/// Why a program failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// There is no file of traces where QEMU was started.
    NoTraceFile,
    /// The file of traces is damaged.
    Traces(cc_replay::Error),
    /// What was checked does not hold.
    Check(&'static str),
}

impl From<cc_replay::Error> for Failure {
    fn from(error: cc_replay::Error) -> Self {
        Self::Traces(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTraceFile => formatter.write_str("no file traces.bin in the folder of QEMU"),
            Self::Traces(error) => error.fmt(formatter),
            Self::Check(check) => write!(formatter, "check failed: {check}"),
        }
    }
}

/// Ends the program: QEMU exits with 0 or 1.
pub fn end(result: Result<(), Failure>) -> ! {
    match result {
        Ok(()) => ExitCode::SUCCESS.exit_process(),
        Err(failure) => {
            semihosting::eprintln!("error: {failure}");
            ExitCode::FAILURE.exit_process()
        }
    }
}

/// What a program is that needs SysTick, on a board without.
///
/// # Errors
///
/// Always.
pub fn not_here() -> Result<(), Failure> {
    Err(Failure::Check("this program has a board with SysTick"))
}

/// Makes a function that gives `Result<(), Failure>` the program.
#[macro_export]
macro_rules! program {
    ($run:path) => {
        #[cfg_attr(target_arch = "arm", cortex_m_rt::entry)]
        #[cfg_attr(target_arch = "riscv32", riscv_rt::entry)]
        fn main() -> ! {
            $crate::end($run())
        }
    };
}
