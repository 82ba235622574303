//! Tests of the whole controllers.

mod delay;
mod hostile;
mod link;
mod stack;
mod trace;
mod westwood;

use crate::{Config, QuicDc, Westwood};
use cc_core::CongestionController;

#[test]
fn controllers_fit_into_a_quarter_of_a_kilobyte() {
    assert!(size_of::<Westwood>() <= 256, "{} bytes", size_of::<Westwood>());
    assert!(size_of::<QuicDc>() <= 256, "{} bytes", size_of::<QuicDc>());
}

#[test]
fn controllers_can_be_cloned_sent_and_used_as_objects() {
    fn check<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    check::<Westwood>();
    check::<QuicDc>();
    let object: std::boxed::Box<dyn CongestionController> =
        std::boxed::Box::new(QuicDc::new(&Config::default()));
    assert_eq!(object.cwnd(), 12_000);
}
