//! cc-cubic with both slow starts, and `Path` around it.
#![no_std]
#![no_main]

use cc_core::{HyStartPlusPlus, Setup, StandardSlowStart};
use cc_cubic::{Config, Cubic, ResumeJump};
use panic_free::{Bookkeeping, Comparable, Controller, entries, program};

type Standard = Cubic<StandardSlowStart>;

program![
    Controller::<Cubic>::TABLE,
    Controller::<Standard>::TABLE,
    Bookkeeping::<Cubic, 64>::TABLE,
    Bookkeeping::<Standard, 64>::TABLE,
    Comparable::<ResumeJump>::TABLE,
    Comparable::<Config>::TABLE,
    entries![
        Cubic::new,
        Cubic::<HyStartPlusPlus>::with_slow_start,
        Cubic::<HyStartPlusPlus>::ssthresh,
        Cubic::<HyStartPlusPlus>::w_max,
        Cubic::<HyStartPlusPlus>::cwnd_prior,
        Cubic::<HyStartPlusPlus>::k,
        Cubic::<HyStartPlusPlus>::w_est,
        Cubic::<HyStartPlusPlus>::epoch,
        Cubic::<HyStartPlusPlus>::in_recovery,
        Cubic::<HyStartPlusPlus>::utilisation,
        Cubic::<HyStartPlusPlus>::slow_start,
        Cubic::<StandardSlowStart>::with_slow_start,
        <Config as From<Setup>>::from,
        <Config as Default>::default,
    ],
];
