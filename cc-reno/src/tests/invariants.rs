//! Laws that hold for any course of a flow. The invariants that hold for every controller after any event at all, the
//! absurd ones too, are checked by the conformance kit.

use super::stack::{MSS, Stack};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn each_round_trip_adds_a_datagram_or_doubles_or_halves(
        // What is lost of each flight, in 256ths of it; most lose nothing.
        rounds in prop::collection::vec(prop_oneof![4 => Just(None), 1 => any::<u8>().prop_map(Some)], 1..60),
    ) {
        let mut stack = Stack::new();
        let mut now = 0;
        for place in rounds {
            let (before, phase) = (stack.cwnd(), stack.phase());
            if before > 500 * MSS {
                break;
            }
            let sent = stack.fill(now);
            let lost = place.map(|place| sent.start + (sent.end - sent.start) * u64::from(place) / 256);
            now += 100;
            stack.frame(now, sent.clone().filter(|number| Some(*number) != lost), lost, 0);
            let after = stack.cwnd();
            match (lost, phase) {
                // RFC 9002 section 7.3.2, and no growth for the rest of the flight.
                (Some(_), _) => prop_assert_eq!(after, (before / 2).max(2 * MSS)),
                // Section 7.3.1: by whole datagrams sent, to the threshold.
                (None, "slow_start") => prop_assert!(after <= 2 * before && after > before),
                // Section 7.3.3: the flight is one window less a part of a datagram.
                (None, _) => prop_assert!(after == before || after == before + MSS, "{before} {after}"),
            }
        }
    }
}
