//! Tests of the whole controller, by document. Scripts named A1, B2, ... are bugs found in other stacks.

mod growth;
mod invariants;
mod limits;
mod reduction;
mod stack;
mod startup;
mod undo;

use crate::{Config, Cubic};
use cc_core::{CongestionController, EcnCodepoint};

#[test]
fn a_controller_fits_into_half_a_kilobyte() {
    assert!(size_of::<Cubic>() <= 512, "{} bytes", size_of::<Cubic>());
}

#[test]
fn a_controller_can_be_cloned_sent_and_used_as_an_object() {
    fn check<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    check::<Cubic>();
    let object: std::boxed::Box<dyn CongestionController> =
        std::boxed::Box::new(Cubic::new(&Config::default()));
    assert_eq!(object.cwnd(), 12_000);
    assert_eq!(object.wanted_ecn(), EcnCodepoint::Ect0);
}
