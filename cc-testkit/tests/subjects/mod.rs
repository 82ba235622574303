//! The controllers of this workspace as subjects of the kit.
#![allow(dead_code, reason = "every test file uses a part of this module")]

use cc_c4::C4;
use cc_cubic::Cubic;
use cc_testkit::Subject;

/// CUBIC: 0.7 on loss (RFC 9438 section 4.6), 0.85 on CE (RFC 8511 section 3).
pub(crate) fn cubic() -> Subject<Cubic> {
    Subject::loss_based("cubic", |setup| Cubic::new(&cc_cubic::Config::from(*setup)))
        .with_betas(70, 85)
        .with_max_window(cc_cubic::MAX_WINDOW)
        .tagged(&["undo", "resume", "hystart", "classic-ecn", "persistent"])
}

/// C4.
pub(crate) fn c4() -> Subject<C4> {
    Subject::rate_based("c4", |setup| C4::new(&cc_c4::Config::from(*setup))).tagged(&["resume"])
}
