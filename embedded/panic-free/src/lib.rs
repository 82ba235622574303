//! What the programs of this package share: the panic handler that cannot be linked, and tables of entry points.
//!
//! A program lists functions of one crate; its entry symbol hands out their addresses. So each of them has to be in the
//! program, and nothing is known of its arguments: any value of their types, any memory behind a reference. The panic
//! handler calls a function that is nowhere defined. The linker removes the handler if nothing can reach it, and fails
//! otherwise.
#![no_std]

mod controller;
mod data;
mod path;
mod slow_start;

pub use controller::Controller;
pub use data::{Comparable, Data, Ordered};
pub use path::Bookkeeping;
pub use slow_start::Growth;

/// The address of a function.
#[repr(transparent)]
#[derive(Debug)]
pub struct Entry(pub *const ());

// SAFETY: an address of code, never written through.
unsafe impl Sync for Entry {}

/// A slice of [`Entry`] of the functions named.
#[macro_export]
macro_rules! entries {
    ($($function:expr),+ $(,)?) => { &[$($crate::Entry($function as *const ())),+] };
}

/// The program: its entry symbol gives the tables away, so that the optimiser has to keep what they name.
#[macro_export]
macro_rules! program {
    ($($table:expr),+ $(,)?) => {
        static TABLES: &[&[$crate::Entry]] = &[$($table,)+ $crate::ON_PURPOSE];

        /// Where the program begins.
        #[unsafe(no_mangle)]
        pub extern "C" fn _start() -> *const &'static [$crate::Entry] {
            TABLES.as_ptr()
        }
    };
}

/// What is added to every program to see the link fail.
pub const ON_PURPOSE: &[Entry] = if cfg!(feature = "panic_on_purpose") { entries![byte_at] } else { &[] };

fn byte_at(bytes: &[u8], index: usize) -> u8 {
    bytes[index]
}

unsafe extern "C" {
    /// Defined nowhere: the linker names it if a panic path is left.
    fn panic_path_left() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: no program that contains this call can be linked.
    unsafe { panic_path_left() }
}
