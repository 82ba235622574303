//! BBR version 3.
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
        reason = "tests compute expected values in plain arithmetic"
    )
)]

#[cfg(test)]
extern crate std;

mod access;
mod ack_frequency;
mod arithmetic;
mod config;
mod constants;
mod controller;
mod drain;
mod ecn;
mod extra_acked;
mod filter;
mod full_bw;
mod idle_restart;
mod inflight_longterm;
mod loss_model;
mod max_bw;
mod min_rtt;
mod offload_budget;
mod outputs;
mod probe_bw;
mod probe_rtt;
mod random;
mod recovery;
mod resume;
mod round;
mod sample;
mod shortterm;
mod startup;
mod state;
mod undo;

#[cfg(test)]
mod tests;

pub use config::Config;
pub use probe_bw::ProbeWait;
pub use state::{Bbr, State};
