//! Laws that hold for any course of a flow. The invariants that hold for every controller after any event at all, the
//! absurd ones too, are checked by the conformance kit.

use super::stack::{MSS, Stack, ms};
use crate::{Config, Reno};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, EcnEvent, LossEvent, LostPacket, PathRtt,
    PathState, Rate, RttEvent, SendLimit,
};
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

    #[test]
    fn no_signal_raises_window_or_pacing_rate(
        // What comes, in which packet of the last 40, with which RTT in milliseconds, and whether congestion persists.
        calls in prop::collection::vec((0..4_u8, 1..40_u64, 1..2_000_u64, any::<bool>()), 1..150),
    ) {
        let mut reno = Reno::new(&Config::default());
        let rate = |reno: &Reno| reno.pacing_rate().map_or(u64::MAX, Rate::as_bytes_per_sec);
        for (step, (kind, age, rtt, persistent_congestion)) in (0_u64..).zip(calls) {
            let latest = Duration::from_millis(rtt);
            let path = PathState {
                now: ms(10 * step),
                next_number: step + 40,
                rtt: Some(PathRtt { latest, smoothed: latest, min: latest, var: latest }),
                ..PathState::default()
            };
            let (number, sent_at, bytes) = (Some(step + 40 - age), path.now.before(latest), MSS);
            let before = reno;
            match kind {
                0 => reno.on_rtt(&path, &RttEvent { latest, is_sample: true, ..RttEvent::default() }),
                1 => {
                    let packets = [AckedPacket { number, sent_at, bytes, ..AckedPacket::default() }];
                    reno.on_ack(&path, &AckEvent {
                        packets: &packets,
                        last: true,
                        rate_sample: None,
                        limited_by: SendLimit::Cwnd,
                        max_bytes_in_flight: before.cwnd(),
                        app_limited_at: None,
                        newest_data_sent_at: Some(sent_at),
                    });
                }
                2 => {
                    let packets = [LostPacket { number, sent_at, bytes, ..LostPacket::default() }];
                    let loss = LossEvent { packets: &packets, last: true, persistent_congestion, cause: None };
                    reno.on_loss(&path, &loss);
                }
                _ => reno.on_ecn(&path, &EcnEvent {
                    ce: Some(step),
                    newly_acked: Some(1),
                    largest_acked: number,
                    largest_acked_sent_at: sent_at,
                    ..EcnEvent::default()
                }),
            }
            if kind >= 2 {
                prop_assert!(reno.cwnd() <= before.cwnd() && rate(&reno) <= rate(&before), "{before:?} {reno:?}");
            }
        }
    }
}
