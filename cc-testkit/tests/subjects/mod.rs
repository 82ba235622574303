//! The controllers of this workspace as subjects of the kit, in one list for the table, the tests and the examples.
#![allow(dead_code, reason = "every test file uses a part of this module")]

use cc_bbr::Bbr;
use cc_c4::C4;
use cc_core::CongestionController;
use cc_cubic::Cubic;
use cc_quicdc::{QuicDc, Westwood};
use cc_reno::Reno;
use cc_testkit::{Candidate, Subject};

/// Shows every subject to a visitor. A new controller is a line here, and the function that the line calls.
pub(crate) fn each(visitor: &mut impl Visitor) {
    visitor.visit(cubic());
    visitor.visit(c4());
    visitor.visit(bbr());
    visitor.visit(quicdc());
    visitor.visit(westwood());
    visitor.visit(reno());
}

/// What is to be done with each subject, whatever the type of its controller.
pub(crate) trait Visitor {
    fn visit<C: CongestionController + Clone>(&mut self, subject: Subject<C>);
}

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

/// BBR.
pub(crate) fn bbr() -> Subject<Bbr> {
    Subject::rate_based("bbr", |setup| Bbr::new(&cc_bbr::Config::from(*setup)))
        .tagged(&["persistent", "resume"])
}

/// QUIC-DC. Rate-based: what a signal leaves of the window is measured, and a delay may lower it at any ACK.
pub(crate) fn quicdc() -> Subject<QuicDc> {
    Subject::rate_based("quicdc", |setup| QuicDc::new(&cc_quicdc::Config::from(*setup)))
        .with_max_window(cc_quicdc::MAX_WINDOW)
        .tagged(&["classic-ecn", "persistent", "delay"])
}

/// Westwood+. Rate-based: what a signal leaves of the window is measured.
pub(crate) fn westwood() -> Subject<Westwood> {
    Subject::rate_based("westwood", |setup| Westwood::new(&cc_quicdc::Config::from(*setup)))
        .with_max_window(cc_quicdc::MAX_WINDOW)
        .tagged(&["classic-ecn", "persistent"])
}

/// NewReno: half on loss and on CE (RFC 9002 section 7.3.2).
pub(crate) fn reno() -> Subject<Reno> {
    Subject::loss_based("reno", |setup| Reno::new(&cc_reno::Config::from(*setup)))
        .with_max_window(cc_reno::MAX_WINDOW)
        .tagged(&["reno", "classic-ecn", "persistent"])
}

/// All subjects, for what needs not know the types of their controllers.
pub(crate) fn all() -> Vec<Box<dyn Candidate>> {
    struct Boxes(Vec<Box<dyn Candidate>>);
    impl Visitor for Boxes {
        fn visit<C: CongestionController + Clone>(&mut self, subject: Subject<C>) {
            self.0.push(Box::new(subject));
        }
    }
    let mut boxes = Boxes(Vec::new());
    each(&mut boxes);
    boxes.0
}
