//! Audio and video: delays worked out by hand, the runs of the draft's tests, and their traces.

mod snapshot;

use cc_sim::scenario::{Group, builtin, parse};
use cc_sim::{Algorithm, MediaStreamOutcome, RunOutcome, Scenario, simulate_flows};
use snapshot::{assert_traces_unchanged, assert_unchanged};
use std::fmt::Write;

/// 8 Mbit/s, a microsecond a byte, and 10 ms one way; datagrams have full size from the start and leave at once.
fn byte_a_microsecond(media: &str, streams: &str) -> Scenario {
    let text = format!(
        "name = \"test\"\nsummary = \"\"\n\
         [[link]]\nrate_mbps = 8\nlatency_ms = 10\nqueue_unlimited = true\n\
         [media]\n{media}\n{streams}\n\
         [endpoint]\ninitial_mtu_bytes = 1_440\npacing = false\n"
    );
    parse(&text, "test").unwrap()
}

fn run(scenario: &Scenario) -> RunOutcome {
    simulate_flows(scenario, Algorithm::Cubic, 1, &mut ()).unwrap()
}

/// Five units a tenth of a second apart.
fn stream(kind: &str, unit_bytes: u64) -> String {
    format!(
        "[[media.stream]]\nname = \"s\"\nkind = \"{kind}\"\npriority = 2\nper_second = 10\nunits = 5\nunit_bytes = {unit_bytes}\n"
    )
}

/// When the client asks: its hello (1252 us) is at the server at 11 252; the two datagrams of the answer (1252 and 511) are at
/// the client at 22 504 and 23 015.
const T0: u64 = 23_015;
/// From there to the arrival of the request: the end of the flight without the request for a bulk transfer (715 - 401), one
/// request (20), and 10 ms.
const REQUEST_US: u64 = 10_334;

#[test]
fn on_an_idle_link_the_delay_is_two_latencies_and_the_packets() {
    // A datagram of 80 bytes: 34 - 6 bytes of packet, 3 of frame. A frame of 500 bytes: 34 more. One of 2000: 1406 + 34 and
    // 594 + 34.
    for (kind, unit_bytes, wire_bytes) in
        [("datagrams", 80, 111), ("frames", 500, 534), ("frames", 2_000, 2_068)]
    {
        let outcome = run(&byte_a_microsecond("", &stream(kind, unit_bytes)));
        let delay_us = REQUEST_US + wire_bytes + 10_000;
        let all = MediaStreamOutcome { units: 5, sum_us: 5 * delay_us, max_us: delay_us, stopped: 0 };
        assert_eq!(outcome.media, [all], "{kind} {unit_bytes}");
        let media = outcome.main.media.unwrap();
        assert_eq!((media.average_us, media.max_us), (delay_us, delay_us));
        assert_eq!(outcome.flows[0].counters.packets_lost, 0);
    }
}

#[test]
fn a_large_frame_makes_what_follows_it_wait() {
    // One after the other at the time of the first: 80 bytes (as a datagram, with the first bytes of the frame), then 14 000.
    let streams =
        format!("{}{}", stream("datagrams", 80), stream("frames", 14_000).replace("= 2\n", "= 4\n"));
    let outcome = run(&byte_a_microsecond("", &streams));
    // Two requests: 20 us more. 1440 bytes of the first packet for the datagram: 1412 - 83 - 6 = 1323 of the frame. The rest,
    // 12 677, is nine packets of 1406 and one of 23: 10 packets in all of 1440 and one of 57.
    let datagram_us = REQUEST_US + 20 + 1_440 + 10_000;
    let frame_us = REQUEST_US + 20 + 10 * 1_440 + 57 + 10_000;
    assert_eq!(outcome.media[0].max_us, datagram_us);
    // The initial window of 15 360 bytes holds it.
    assert_eq!(outcome.media[1].max_us, frame_us);
    assert_eq!(outcome.main.media.unwrap().average_us, frame_us);
}

#[test]
fn statistics_have_a_start() {
    // Frame 2 is expected at T0 + 200 ms.
    for (from_us, units) in [(0, 5), (T0 + 200_000, 3), (T0 + 200_001, 2)] {
        let from = format!("stats_from_ms = {}.{:03}", from_us / 1_000, from_us % 1_000);
        let outcome = run(&byte_a_microsecond(&from, &stream("frames", 500)));
        assert_eq!(outcome.media[0].units, units, "{from}");
    }
}

#[test]
fn a_run_ends_a_round_trip_after_the_last_unit() {
    let outcome = run(&byte_a_microsecond("", &stream("frames", 500)));
    let last_us = T0 + 400_000 + REQUEST_US + 534 + 10_000;
    assert_eq!(outcome.main.last_byte_us, last_us);
    // An ACK of 55 bytes goes first; the close has 41 bytes, the answer 32.
    assert_eq!(outcome.main.completion_us, last_us + 55 + 41 + 10_000 + 32 + 10_000);
    assert_eq!(outcome.flows[0].received, 2_500);
}

#[test]
fn a_link_that_is_too_slow_makes_the_client_give_groups_up() {
    // 8 Mbit/s have 1 MB a second, the stream needs 1.2 MB; the one of audio goes first and is in time.
    let video = "[[media.stream]]\nname = \"v\"\nkind = \"frames\"\npriority = 6\nper_second = 10\nunits = 50\n\
                 unit_bytes = 120_000\ngroup = 10\nstop_after_ms = 250\n";
    let audio = stream("datagrams", 80).replace("units = 5\n", "units = 50\n");
    let outcome = run(&byte_a_microsecond("", &format!("{audio}{video}")));
    let [audio, video] = outcome.media[..] else { panic!("{outcome:?}") };
    assert!(video.stopped >= 1, "{video:?}");
    assert!(video.units < 50 && video.units > 25, "{video:?}");
    assert!(audio.units >= 49, "{audio:?}");
    assert!(outcome.main.completion_us < 7_000_000, "{outcome:?}");
}

/// The draft's tests and the interval of their lines in microseconds.
const TRACED: [(&str, u64); 8] = [
    ("media100", 500_000),
    ("media10", 500_000),
    ("media_600fr", 2_000_000),
    ("media_short_long", 1_000_000),
    ("media_wb", 500_000),
    ("media_wf", 500_000),
    ("media_ws", 500_000),
    ("media_ecn", 500_000),
];

#[test]
fn c4_goes_the_same_way_through_media() {
    assert_traces_unchanged(Algorithm::C4, &TRACED);
}

#[test]
fn bbr_goes_the_same_way_through_media() {
    assert_traces_unchanged(Algorithm::Bbr, &TRACED);
}

#[test]
fn cubic_goes_the_same_way_through_media() {
    assert_traces_unchanged(Algorithm::Cubic, &TRACED);
}

#[test]
fn every_media_test_is_traced() {
    assert!(Group::Media.scenarios().eq(TRACED.iter().map(|&(name, _)| name)));
}

/// What became of each stream: a line for each, delays in microseconds.
#[test]
fn the_streams_of_the_media_tests_fare_as_they_did() {
    let mut table = "scenario         cc     stream    units average     max stopped\n".to_owned();
    for name in Group::Media.scenarios() {
        let scenario = builtin(name).unwrap();
        for &algorithm in Algorithm::MAIN_JOB {
            let outcome = simulate_flows(&scenario, algorithm, 1, &mut ()).unwrap();
            for (stream, figures) in scenario.media.iter().flat_map(|media| &media.streams).zip(outcome.media)
            {
                let MediaStreamOutcome { units, max_us, stopped, .. } = figures;
                let average_us = figures.average_us().unwrap_or(0);
                let (cc, stream) = (algorithm.name(), &stream.name);
                writeln!(
                    table,
                    "{name:<16} {cc:<6} {stream:<9} {units:>5} {average_us:>7} {max_us:>7} {stopped:>7}"
                )
                .unwrap();
            }
        }
    }
    assert_unchanged("media_streams", &table);
}
