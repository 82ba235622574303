//! cc-bbr, and `Path` around it.
#![no_std]
#![no_main]

use cc_bbr::{Bbr, Config, ProbeWait, State};
use cc_core::Setup;
use panic_free::{Bookkeeping, Comparable, Controller, entries, program};

program![
    Controller::<Bbr>::TABLE,
    Bookkeeping::<Bbr, 64>::TABLE,
    Comparable::<Bbr>::TABLE,
    Comparable::<State>::TABLE,
    Comparable::<ProbeWait>::TABLE,
    Comparable::<Config>::TABLE,
    entries![
        Bbr::new,
        Bbr::state,
        Bbr::max_bw,
        Bbr::bw,
        Bbr::bw_shortterm,
        Bbr::inflight_shortterm,
        Bbr::inflight_longterm,
        Bbr::min_rtt,
        Bbr::probe_rtt_min_delay,
        Bbr::extra_acked,
        Bbr::inflight_for,
        Bbr::headroom_inflight,
        Bbr::round_count,
        Bbr::full_bw_count,
        Bbr::full_bw_now,
        Bbr::full_bw_reached,
        Bbr::idle_restart,
        Bbr::is_cwnd_limited,
        Bbr::in_recovery,
        State::name,
        State::pacing_gain,
        State::cwnd_gain,
        State::is_probe_bw,
        State::is_probing_bw,
        State::is_probe_rtt,
        ProbeWait::since,
        ProbeWait::wait,
        <Config as From<Setup>>::from,
        <Config as Default>::default,
    ],
];
