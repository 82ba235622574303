//! A C ABI over the congestion controllers of this project, for QUIC stacks in C and C++.
//!
//! The functions are declared in `include/cc_ffi.h`, which is generated from this crate. There are three sets:
//!
//! - [`controller`]: a congestion controller (`ccffi_controller`), for a stack that keeps per-packet state and an RTT.
//! - [`rate`]: a delivery-rate sampler (`ccffi_rate`), for such a stack without one; C4 and BBR need rate samples.
//! - [`path`]: the whole bookkeeping of one network path (`ccffi_path`), for a stack that keeps nothing.
//!
//! Pages for picoquic, mvfst, xquic and quicly are in the folder `docs` of the crate.
//!
//! QUIC-DC wants to know when the peer received a packet (draft-ietf-quic-receive-ts): `received_at` of `ccffi_acked_packet` with
//! `CCFFI_ACKED_HAS_RECEIVED_AT`, or `ccffi_path_acked_at`. Without, it takes the arrival of ACKs, which shows queues on the way back too.
//!
//! # Memory
//!
//! All state lies where the caller puts it: a struct, the stack, static or allocated memory. Nothing is allocated, nothing has to be
//! freed, and an object holds no pointers: it may be moved with `memcpy` as long as one copy only is used. An object of all
//! sizes and alignments is asked for with `ccffi_..._size` and `ccffi_..._align`, or taken as the constants of the header,
//! which leave some room for algorithms to come.
//!
//! # Errors
//!
//! Every function that can fail answers with a [`Status`]. Null and misaligned pointers, memory that is too small, numbers that name
//! nothing, unknown optional fields, and memory that holds no object of the kind are recognised. No object has changed then; what
//! was to be written may have been. What can not be recognised is a broken contract, and undefined behaviour as in C.
//!
//! # Safety
//!
//! The common contract of all functions that take a `ccffi_controller`, a `ccffi_rate` or a `ccffi_path`:
//!
//! - The object is NULL, or memory in which the `..._init` of its kind (or `ccffi_controller_clone`) has made one, or memory of which
//!   at least the first eight bytes are initialised and are not by chance those of such an object (zeros are not).
//! - Nobody else uses the object during the call. Between calls it may go from one thread to another.
//! - Every other pointer is NULL, or points to what its type says: initialised if it is read, writable if it is written, outside
//!   the object, and not written to by anybody else during the call. No pointer is kept.
//!
//! A call that keeps the contract is never undefined behaviour, whatever the numbers in it. Besides what they name themselves,
//! these functions fail with `CCFFI_STATUS_NULL_POINTER`, `CCFFI_STATUS_MISALIGNED` or `CCFFI_STATUS_NOT_AN_OBJECT`.
//!
//! # Panics
//!
//! The crates do not panic: their lints deny what could, fuzz targets with overflow checks try it, and a program of all functions of the
//! header, optimised as a whole, links only if no panic path is left in it (`embedded/panic-free`). Were there a panic all the same, it does
//! not cross the boundary: the functions are `extern "C"`, in which Rust turns an unwinding panic into an abort.
//!
//! # Versions
//!
//! The caller passes [`CCFFI_ABI_VERSION`](crate::info::CCFFI_ABI_VERSION) of the header that it was compiled against to every `ccffi_..._init`; the library refuses a version that it does
//! not serve. A change of a struct, of a constant or of a function's signature raises the version. New functions, algorithms and
//! status codes do not.
//!
//! # Features
//!
//! `std` (default): links the standard library, for its panic handler. Without it the crate is `no_std`; `panic-handler` then gives
//! a handler that calls C's `abort`, which a static library for firmware needs.
//!
//! # Not in it
//!
//! Options of single algorithms (CUBIC's fast convergence): every algorithm runs with its defaults, but for what `ccffi_setup` has.
//! The queueing delay and its source (QUIC-DC) are not in `ccffi_snapshot`.
#![no_std]
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
        reason = "tests compute expected values in plain arithmetic"
    )
)]

#[cfg(any(test, feature = "std"))]
extern crate std;

// In the order in which the header is to have them.
mod status;

pub mod info;

pub mod controller;

pub mod rate;

pub mod path;

mod algorithms;
mod memory;
#[cfg(all(feature = "panic-handler", not(any(test, feature = "std"))))]
mod panic_handler;
mod types;

pub use algorithms::{ALGORITHMS, Algorithm, AnyController};
pub use status::{Status, ccffi_status_text};
pub use types::*;
