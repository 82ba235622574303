//! Tests of the whole controllers.

mod delay;
mod hostile;
mod link;
mod stack;
mod trace;
mod westwood;

use crate::{Config, QuicDc, Westwood};
use cc_core::{CongestionController, DiscardReason, EcnCodepoint, PathState, Setup};

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

#[test]
fn a_setup_gives_datagram_window_and_codepoint() {
    // RFC 9002 section 7.2: 10 * 1452 = 14520 is below 14720.
    for (initial_window, cwnd) in [(None, 14_520), (Some(20_000), 20_000)] {
        for (ecn, wanted) in
            [(EcnCodepoint::Ect1, EcnCodepoint::Ect0), (EcnCodepoint::NotEct, EcnCodepoint::NotEct)]
        {
            let setup = Setup { max_datagram_size: 1_452, initial_window, ecn, ..Setup::default() };
            let (quicdc, westwood) = (QuicDc::new(&setup.into()), Westwood::new(&setup.into()));
            assert_eq!((quicdc.cwnd(), quicdc.wanted_ecn()), (cwnd, wanted));
            assert_eq!((westwood.cwnd(), westwood.wanted_ecn()), (cwnd, wanted));
        }
    }
}

#[test]
fn discarded_bytes_are_no_signal_but_bring_the_datagram_size_along() {
    // RFC 9002 section 7.2: the floor is two datagrams, 2 * 9000.
    let path = PathState { max_datagram_size: 9_000, ..PathState::default() };
    let mut quicdc = QuicDc::new(&Config::default());
    quicdc.on_discarded(&path, 1_200, DiscardReason::KeysDiscarded);
    assert_eq!((quicdc.cwnd(), quicdc.snapshot().congestion_events), (18_000, 0));
}
