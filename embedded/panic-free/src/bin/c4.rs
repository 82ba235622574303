//! cc-c4, and `Path` around it, with rings of several sizes.
#![no_std]
#![no_main]

use cc_c4::{C4, Config, Phase};
use cc_core::Setup;
use panic_free::{Bookkeeping, Comparable, Controller, entries, program};

program![
    Controller::<C4>::TABLE,
    Bookkeeping::<C4, 1>::TABLE,
    Bookkeeping::<C4, 64>::TABLE,
    Bookkeeping::<C4, 1_000>::TABLE,
    Bookkeeping::<C4, 32_768>::TABLE,
    Comparable::<C4>::TABLE,
    Comparable::<Phase>::TABLE,
    Comparable::<Config>::TABLE,
    entries![
        C4::new,
        C4::phase,
        C4::nominal_rate,
        C4::nominal_max_rtt,
        C4::running_min_rtt,
        C4::delay_threshold,
        C4::sensitivity,
        C4::alpha,
        C4::probe_level,
        C4::ecn_alpha,
        C4::delivery_rate,
        C4::peak_rate,
        Phase::name,
        <Config as From<Setup>>::from,
        <Config as Default>::default,
    ],
];
