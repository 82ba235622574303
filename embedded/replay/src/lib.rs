//! Recorded calls of congestion controllers, replayed on any CPU.
//!
//! A *trace* is every call that a stack made of one controller, with the [`PathState`](cc_core::PathState) of each, and
//! what the controller was made from. Traces come from runs of the simulator; a file holds many of them.
//! [`replay`] makes the controllers anew, repeats the calls, and after each one puts *all* outputs,
//! the snapshot for logs included, into a hash ([`struct@Hash`]). Whether two CPUs decide the same is then a comparison of two
//! numbers.
//!
//! `no_std`, no allocation; the file is read in pieces of a few hundred bytes ([`Source`]), so that a microcontroller with
//! 16 KiB of RAM replays files of any length. A damaged file is an [`Error`] and never a panic.
//!
//! # The format
//!
//! The eight bytes [`MAGIC`], then traces, then the end mark. A trace is its header ([`Header`]), calls, and the end of
//! the trace. All of it is made of unsigned numbers in base 128, low digits first (LEB128). A structure is its words
//! ([`words`]): a mask of those that are not what they were in the last structure of its kind, then the differences of these, zigzag.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::float_arithmetic,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "tests"
    )
)]

#[cfg(test)]
extern crate std;

mod algorithm;
mod call;
mod hash;
mod header;
mod last;
mod outputs;
mod reader;
mod run;
pub mod words;
mod writer;

#[cfg(test)]
mod tests;

pub use algorithm::Algorithm;
pub use call::Call;
pub use hash::Hash;
pub use header::{Header, MAX_NAME, Name, TraceSetup};
pub use outputs::hash_outputs;
pub use reader::{Error, ErrorKind, MAX_PACKETS, Reader, Record, Source};
pub use run::{Observer, Totals, TraceEnd, replay};
pub use writer::{TraceWriter, end_of_file};

/// What a file begins with. The digit is the version of the format.
pub const MAGIC: [u8; 8] = *b"CCTRACE1";
