//! The table `[media]` and its streams.

use super::parse;
use crate::scenario::{Group, Media, MediaKind, MediaStream, Transfer, builtin};

/// A file with audio and video.
const MEDIA: &str = r#"
name = "media"
summary = ""
time_limit_ms = 60_000
[[link]]
rate_mbps = 10
latency_ms = 10
queue_ms = 50
[media]
start_ms = 500
stats_from_ms = 200
[[media.stream]]
name = "audio"
kind = "datagrams"
priority = 2
per_second = 50
units = 250
unit_bytes = 80
[[media.stream]]
name = "video"
kind = "frames"
priority = 6
per_second = 30
units = 150
unit_bytes = 6_250
group = 30
first_bytes = 62_500
stop_after_ms = 250
counts = false
"#;

#[test]
fn audio_and_video_take_the_place_of_the_transfer() {
    let scenario = parse(MEDIA, "test").unwrap();
    let audio = MediaStream {
        name: "audio".to_owned(),
        kind: MediaKind::Datagrams,
        priority: 2,
        per_second: 50,
        units: 250,
        unit_bytes: 80,
        counts: true,
    };
    let video = MediaStream {
        name: "video".to_owned(),
        kind: MediaKind::Frames { group: 30, first_bytes: 62_500, stop_after_us: Some(250_000) },
        priority: 6,
        per_second: 30,
        units: 150,
        unit_bytes: 6_250,
        counts: false,
    };
    let media = Media {
        stats_from_us: 200_000,
        all_datagrams_count: false,
        one_timer: false,
        streams: vec![audio, video],
    };
    assert_eq!(scenario.media, Some(media));
    // 250 * 80, and five groups of 62 500 + 29 * 6250.
    let transfer = Transfer { bytes: 20_000 + 5 * 243_750, start_us: 500_000, access_us: 0 };
    assert_eq!(scenario.transfer, transfer);
}

#[test]
fn fields_of_audio_and_video_are_refused_with_their_range() {
    let cases = [
        ("start_ms = 500", "start_ms = 60_000", "media.start_ms", "0..=59999.999 ms"),
        ("start_ms = 500", "access_ms = 60_001", "media.access_ms", "0..=60000 ms"),
        ("stats_from_ms = 200", "stats_from_ms = -1", "media.stats_from_ms", "0..=86400000 ms"),
        ("stats_from_ms = 200", "stats_ms = 1", "media.stats_ms", "`stats_from_ms`"),
        ("stats_from_ms = 200", "one_timer = 1", "media.one_timer", "expected a boolean"),
        ("name = \"audio\"", "name = \"\"", "media.stream[0].name", "1..=32 of"),
        ("kind = \"datagrams\"", "kind = \"bulk\"", "media.stream[0].kind", "datagrams, frames"),
        ("priority = 2", "priority = 256", "media.stream[0].priority", "0..=255"),
        ("per_second = 50", "per_second = 0", "media.stream[0].per_second", "1..=1000"),
        ("units = 250", "units = 1_000_001", "media.stream[0].units", "1..=1000000"),
        ("unit_bytes = 80", "unit_bytes = 1_001", "media.stream[0].unit_bytes", "8..=1000 bytes"),
        ("unit_bytes = 80", "unit_bytes = 80\ngroup = 5", "media.stream[0].group", "with frames only"),
        (
            "unit_bytes = 80",
            "unit_bytes = 80\nfirst_bytes = 90",
            "media.stream[0].first_bytes",
            "with frames only",
        ),
        (
            "unit_bytes = 80",
            "unit_bytes = 80\nstop_after_ms = 1",
            "media.stream[0].stop_after_ms",
            "with frames only",
        ),
        ("unit_bytes = 6_250", "unit_bytes = 7", "media.stream[1].unit_bytes", "8..=10000000 bytes"),
        ("group = 30", "group = 0", "media.stream[1].group", "1..=1000000"),
        (
            "first_bytes = 62_500",
            "first_bytes = 10_000_001",
            "media.stream[1].first_bytes",
            "8..=10000000 bytes",
        ),
        ("stop_after_ms = 250", "stop_after_ms = 60_001", "media.stream[1].stop_after_ms", "0..=60000 ms"),
        // 10^6 and 29 * 62 500 bytes are more than 2^21.
        (
            "unit_bytes = 6_250\ngroup = 30\nfirst_bytes = 62_500",
            "unit_bytes = 62_500\ngroup = 30\nfirst_bytes = 1_000_000",
            "media.stream[1].unit_bytes",
            "2812500 bytes in a group (allowed: 8..=2097152",
        ),
        (
            "unit_bytes = 80",
            "unit_bytes = 80\ncounts = false",
            "media.stream",
            "counts = true in one at least",
        ),
        ("[media]", "[transfer]\nsize_bytes = 1\n[media]", "media", "one of [transfer], [media]"),
        ("name = \"video\"", "", "media.stream[1]", "missing field `name`"),
    ];
    for (line, other, field, allowed) in cases {
        assert!(MEDIA.contains(line), "{line}");
        let error = parse(&MEDIA.replacen(line, other, 1), "bad.toml").expect_err(other);
        assert_eq!(error.field(), field, "{error}");
        assert!(error.to_string().contains(allowed), "{error}");
    }
    let none = MEDIA.split("[[media.stream]]").next().unwrap();
    let error = parse(none, "bad.toml").unwrap_err().to_string();
    assert!(error.contains("media.stream: 0 streams (allowed: 1..=16)"), "{error}");
}

#[test]
fn the_media_tests_have_the_parameters_of_the_runs() {
    // Rates down and up in Mbit/s, durations and latencies in ms, per state; units of audio and of video; start of the
    // statistics in ms.
    type State = (Option<u64>, u64, u64, u64);
    let short_long: &[State] = &[(Some(1_000), 100, 10, 15), (None, 100, 10, 50)];
    let fade: &[State] = &[(Some(1_000), 20, 20, 20), (Some(2_000), 18, 18, 20), (None, 20, 20, 20)];
    let suspended: &[State] = &[(Some(1_800), 20, 20, 5), (Some(200), 0, 0, 5)];
    let expected: [(&str, &[State], u64, u64, u64); 8] = [
        ("media100", &[(None, 100, 100, 15)], 250, 150, 200),
        ("media10", &[(None, 10, 10, 20)], 250, 150, 200),
        ("media_600fr", &[(None, 100, 100, 15)], 360, 600, 200),
        ("media_short_long", short_long, 200, 300, 5_000),
        ("media_wb", &[(None, 20, 20, 1)], 250, 150, 200),
        ("media_wf", fade, 250, 150, 200),
        ("media_ws", suspended, 250, 150, 200),
        ("media_ecn", &[(None, 20, 20, 15)], 250, 150, 200),
    ];
    assert!(Group::Media.scenarios().eq(expected.iter().map(|(name, ..)| *name)));
    for (name, states, audio, video, stats_from_ms) in expected {
        let scenario = builtin(name).unwrap();
        let ours: Vec<State> = scenario
            .link
            .states
            .iter()
            .map(|s| {
                let duration_ms = s.duration_us.map(|us| us / 1_000);
                (duration_ms, s.down_bps / 1_000_000, s.up_bps / 1_000_000, s.latency_us / 1_000)
            })
            .collect();
        assert_eq!(ours, states, "{name}");
        let media = scenario.media.unwrap();
        assert_eq!(
            (media.stats_from_us, media.one_timer, media.all_datagrams_count),
            (stats_from_ms * 1_000, true, true)
        );
        let streams: Vec<_> = media
            .streams
            .iter()
            .map(|s| (s.priority, s.units, s.unit_bytes, s.bytes_of(0), s.counts))
            .collect();
        let wanted =
            [(2, audio, 80, 80, true), (4, video, 3_750, 37_500, true), (6, video, 6_250, 62_500, false)];
        assert_eq!(streams, wanted, "{name}");
        assert_eq!(media.streams[1].groups(), video / 30, "{name}");
    }
}
