//! cc-quicdc, both controllers, and `Path` around each. Modes and filters are values of the configuration, which is any.
#![no_std]
#![no_main]

use cc_core::Setup;
use cc_quicdc::{BandwidthFilter, Config, DelayMode, DelayState, QuicDc, Westwood};
use panic_free::{Bookkeeping, Comparable, Controller, entries, program};

program![
    Controller::<QuicDc>::TABLE,
    Controller::<Westwood>::TABLE,
    Bookkeeping::<QuicDc, 64>::TABLE,
    Bookkeeping::<Westwood, 64>::TABLE,
    Comparable::<DelayState>::TABLE,
    Comparable::<BandwidthFilter>::TABLE,
    Comparable::<DelayMode>::TABLE,
    Comparable::<Config>::TABLE,
    entries![
        QuicDc::new,
        QuicDc::westwood,
        QuicDc::one_way_delay,
        QuicDc::delay_state,
        QuicDc::delay_reactions,
        QuicDc::is_limited_by_delay,
        Westwood::new,
        Westwood::bandwidth,
        Westwood::min_rtt,
        Westwood::ssthresh,
        Westwood::in_recovery,
        Westwood::utilisation,
        <Config as From<Setup>>::from,
        <Config as Default>::default,
    ],
];
