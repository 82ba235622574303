//! cc-reno with both slow starts, and `Path` around it.
#![no_std]
#![no_main]

use cc_core::{HyStartPlusPlus, Setup, StandardSlowStart};
use cc_reno::{Config, Reno};
use panic_free::{Bookkeeping, Comparable, Controller, entries, program};

type HyStart = Reno<HyStartPlusPlus>;

program![
    Controller::<Reno>::TABLE,
    Controller::<HyStart>::TABLE,
    Bookkeeping::<Reno, 64>::TABLE,
    Bookkeeping::<HyStart, 64>::TABLE,
    Comparable::<Config>::TABLE,
    entries![
        Reno::new,
        Reno::<StandardSlowStart>::with_slow_start,
        Reno::<StandardSlowStart>::ssthresh,
        Reno::<StandardSlowStart>::in_recovery,
        Reno::<StandardSlowStart>::utilisation,
        Reno::<StandardSlowStart>::slow_start,
        Reno::<HyStartPlusPlus>::with_slow_start,
        <Config as From<Setup>>::from,
        <Config as Default>::default,
    ],
];
