//! The table `[endpoint]`.

use super::{GOOD, assert_refused, good, parse};
use crate::scenario::{EcnUse, ReceiveTimestamps, ReceiverClock};
use cc_core::EcnCodepoint;

#[test]
fn numbers_of_endpoints_out_of_range_are_refused_with_the_range() {
    for (name, allowed, bad) in [
        ("initial_mtu_bytes", "1200..=1440 bytes", "1_441"),
        ("mtu_bytes", "1200..=65527 bytes", "1_199"),
        ("overhead_bytes", "16..=200 bytes", "201"),
        ("ack_size_bytes", "20..=1200 bytes", "19"),
        ("initial_window_bytes", "1200..=1000000000 bytes", "0"),
        ("max_ack_delay_ms", "0..=16384 ms", "16_385"),
        ("min_ack_delay_ms", "0..=10 ms", "10.001"),
        ("quick_ack_packets", "0..=1000000", "1_000_001"),
        ("max_ack_ranges", "1..=65536", "65_537"),
        ("packet_threshold", "1..=1000000", "0"),
        ("mtu_losses", "1..=1000000", "0"),
        ("initial_pto_ms", "1..=60000 ms", "0"),
        ("max_pto_ms", "250..=600000 ms", "249"),
        ("initial_max_data_bytes", "65527..=1000000000000000 bytes", "65_526"),
        ("initial_max_stream_data_bytes", "65527..=1000000000000000 bytes", "0"),
        ("max_growth_rtt_ms", "100..=60000 ms", "99.999"),
        ("receive_timestamps_exponent", "0..=20", "21"),
        ("max_receive_timestamps_per_ack", "1..=16383", "0"),
        ("receive_timestamps_missing_percent", "0..=100 %", "100.1"),
        ("receiver_clock_offset_ms", "0..=31536000000 ms", "31_536_000_001"),
        ("receiver_clock_drift_ppm", "-10000..=10000", "10_001"),
        ("receiver_clock_drift_ppm", "-10000..=10000", "-10_001"),
        ("receiver_clock_drift_ppm", "-10000..=10000", "0.5"),
    ] {
        for bad in [bad, "-1e6", "nan", "1e300", "-9223372036854775808"] {
            assert_refused(
                "mtu_bytes = 1_440",
                &format!("{name} = {bad}"),
                &format!("endpoint.{name}"),
                allowed,
            );
        }
    }
}

#[test]
fn ecn_is_off_or_one_of_three_ways_to_choose_the_codepoint() {
    let ecn = |word: &str| {
        let endpoint = format!("[endpoint]\necn = \"{word}\"\n");
        parse(&GOOD.replace("[endpoint]\n", &endpoint), "test").map(|scenario| scenario.endpoint.ecn)
    };
    assert_eq!(good().endpoint.ecn, EcnUse::Off);
    assert_eq!(
        (ecn("ect0"), ecn("l4s"), ecn("wanted")),
        (Ok(EcnUse::Ect0), Ok(EcnUse::L4s), Ok(EcnUse::Wanted))
    );
    let error = ecn("ect1").unwrap_err();
    assert_eq!(error.field(), "endpoint.ecn");
    assert!(error.to_string().contains("off, ect0, l4s, wanted"), "{error}");
    // What an algorithm wants, and what it gets.
    let wanted = [EcnCodepoint::NotEct, EcnCodepoint::Ect0, EcnCodepoint::Ect1];
    let gets = |ecn: EcnUse| wanted.map(|wanted| ecn.codepoint(wanted));
    assert_eq!(gets(EcnUse::Off), [EcnCodepoint::NotEct; 3]);
    assert_eq!(gets(EcnUse::Ect0), [EcnCodepoint::Ect0; 3]);
    assert_eq!(gets(EcnUse::L4s), [EcnCodepoint::NotEct, EcnCodepoint::NotEct, EcnCodepoint::Ect1]);
    assert_eq!(gets(EcnUse::Wanted), wanted);
}

#[test]
fn receive_timestamps_are_asked_for_as_the_file_says() {
    let with = |lines: &str| parse(&GOOD.replace("mtu_bytes = 1_440", lines), "x").unwrap().endpoint;
    assert_eq!(with("receive_timestamps = true").receive_timestamps, Some(ReceiveTimestamps::default()));
    let fields = "receive_timestamps_exponent = 3\nmax_receive_timestamps_per_ack = 8\n\
                  receive_timestamps_missing_percent = 5\n";
    let all = format!("{fields}receive_timestamps = true");
    let expected = ReceiveTimestamps { exponent: 3, max_per_ack: 8, missing_ppm: 50_000 };
    assert_eq!(with(&all).receive_timestamps, Some(expected));
    assert_eq!(with(fields).receive_timestamps, None);
    let clock = "receiver_clock_offset_ms = 5_000\nreceiver_clock_drift_ppm = -200";
    assert_eq!(with(clock).receiver_clock, ReceiverClock { offset_us: 5_000_000, drift_ppm: -200 });
}

#[test]
fn a_smaller_mtu_takes_the_initial_one_along() {
    let small = parse(&GOOD.replace("mtu_bytes = 1_440", "mtu_bytes = 1_200"), "small.toml").unwrap();
    assert_eq!((small.endpoint.mtu, small.endpoint.initial_mtu), (1_200, 1_200));
}
