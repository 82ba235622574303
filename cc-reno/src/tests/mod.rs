//! Tests of the whole controller, by rule. Scripts named A15, C1, ... are bugs found in other stacks.

mod bare;
mod invariants;
mod rules;
mod stack;
mod trace;

use crate::{Config, Reno};
use cc_core::{CongestionController, EcnCodepoint, HyStartPlusPlus, Setup};

#[test]
fn a_controller_fits_into_a_quarter_of_a_kilobyte() {
    assert!(size_of::<Reno>() <= 256, "{} bytes", size_of::<Reno>());
}

#[test]
fn a_controller_can_be_cloned_sent_and_used_as_an_object() {
    fn check<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    check::<Reno>();
    check::<Reno<HyStartPlusPlus>>();
    let object: std::boxed::Box<dyn CongestionController> =
        std::boxed::Box::new(Reno::new(&Config::default()));
    assert_eq!(object.cwnd(), 12_000);
    assert_eq!(object.wanted_ecn(), EcnCodepoint::Ect0);
}

#[test]
fn a_setup_gives_size_window_and_codepoint() {
    let setup = Setup {
        max_datagram_size: 1_452,
        initial_window: Some(20_000),
        ecn: EcnCodepoint::NotEct,
        ..Setup::default()
    };
    let reno = Reno::new(&setup.into());
    assert_eq!((reno.cwnd(), reno.wanted_ecn()), (20_000, EcnCodepoint::NotEct));
    // RFC 9002 section 7.2: 10 * 1452 = 14520 is below 14720.
    let reno = Reno::new(&Setup { max_datagram_size: 1_452, ..Setup::default() }.into());
    assert_eq!((reno.cwnd(), reno.wanted_ecn()), (14_520, EcnCodepoint::Ect0));
}
