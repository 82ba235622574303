use super::Sink;
use crate::engine::media::{Control, Kind, Piece, Request};
use crate::engine::outcome::{MediaOutcome, MediaStreamOutcome};
use crate::scenario::{Media, MediaKind, MediaStream};

/// Ten frames a second in groups of two, 3000 and 1000 bytes, four in all; given up after 50 ms.
fn video() -> MediaStream {
    MediaStream {
        name: "video".to_owned(),
        kind: MediaKind::Frames { group: 2, first_bytes: 3_000, stop_after_us: Some(50_000) },
        priority: 4,
        per_second: 10,
        units: 4,
        unit_bytes: 1_000,
        counts: true,
    }
}

/// The same as ten datagrams a second.
fn audio() -> MediaStream {
    MediaStream { name: "audio".to_owned(), kind: MediaKind::Datagrams, ..video() }
}

fn media(streams: Vec<MediaStream>) -> Media {
    Media { stats_from_us: 0, all_datagrams_count: false, one_timer: false, streams }
}

/// Asks for everything at 1 ms.
fn sink(media: &Media) -> Sink {
    let mut sink = Sink::new(media);
    sink.start(1_000);
    sink
}

fn arrive(sink: &mut Sink, now: u64, request: u32, offset: u64, length: u64) {
    sink.on_piece(now, &Piece { request, kind: Kind::Stream, offset, length, is_last: true });
}

fn datagram(sink: &mut Sink, now: u64, number: u64) {
    let piece = Piece { request: 0, kind: Kind::Datagram, offset: number, length: 80, is_last: true };
    sink.on_piece(now, &piece);
}

#[test]
fn groups_are_asked_for_in_time_whatever_became_of_those_before() {
    let mut sink = sink(&media(vec![video()]));
    assert_eq!(sink.requests(), [Request { stream: 0, group: 0, start_us: 1_000 }]);
    // Two frames of a tenth of a second later.
    assert_eq!(sink.next_wake(), Some(201_000));
    assert!(!sink.ask(200_999));
    assert!(sink.ask(205_000));
    assert_eq!(sink.requests()[1], Request { stream: 0, group: 1, start_us: 201_000 });
    assert_eq!((sink.next_wake(), sink.is_complete()), (None, false));
    assert_eq!(sink.control(), Control { requests: 2, stops: 0 });
}

#[test]
fn a_frame_is_complete_with_its_last_byte_and_all_before_it() {
    let mut sink = sink(&media(vec![video()]));
    arrive(&mut sink, 20_000, 0, 0, 2_999);
    arrive(&mut sink, 31_000, 0, 2_999, 1);
    // The second half of the second frame first.
    arrive(&mut sink, 105_000, 0, 3_500, 500);
    arrive(&mut sink, 106_000, 0, 3_000, 499);
    assert_eq!(sink.statistics()[0].units, 1);
    arrive(&mut sink, 107_000, 0, 3_499, 1);
    // 31 - 1 ms; expected at 101 ms, 6 ms.
    let expected = MediaStreamOutcome { units: 2, sum_us: 36_000, max_us: 30_000, stopped: 0 };
    assert_eq!((sink.statistics()[0], sink.received()), (expected, 4_000));
}

#[test]
fn a_group_is_given_up_when_a_frame_is_later_than_the_limit_and_one_frame() {
    for (at, is_given_up) in [(151_000, false), (151_001, true)] {
        // 1 ms, 50 ms, and one frame of 100 ms.
        let mut sink = sink(&media(vec![video()]));
        arrive(&mut sink, at, 0, 0, 3_000);
        assert_eq!(sink.stops(), if is_given_up { &[0][..] } else { &[] });
        assert_eq!(sink.control().stops, u32::from(is_given_up));
        // What comes nevertheless is no frame, but data.
        arrive(&mut sink, at, 0, 3_000, 1_000);
        assert_eq!(sink.statistics()[0].units, if is_given_up { 1 } else { 2 });
        assert_eq!((sink.statistics()[0].stopped, sink.received()), (u64::from(is_given_up), 4_000));
        // The next group is asked for in its time.
        assert!(!sink.is_complete());
        assert!(sink.ask(201_000));
        arrive(&mut sink, 210_000, 1, 0, 4_000);
        assert!(sink.is_complete());
    }
}

#[test]
fn the_last_frame_of_a_group_does_not_give_it_up() {
    let mut sink = sink(&media(vec![video()]));
    arrive(&mut sink, 20_000, 0, 0, 3_000);
    arrive(&mut sink, 900_000, 0, 3_000, 1_000);
    assert!(sink.stops().is_empty());
    assert_eq!(sink.outcome(), MediaOutcome { average_us: 409_000, max_us: 799_000, stopped: 0 });
}

#[test]
fn statistics_begin_with_what_is_expected_at_their_start() {
    // Datagrams are expected at 1, 101 and 201 ms; each comes 7 ms later.
    let counted = |stats_from_us, all_datagrams_count| {
        let mut sink = sink(&Media { stats_from_us, all_datagrams_count, ..media(vec![audio()]) });
        (0..3).for_each(|number| datagram(&mut sink, 8_000 + number * 100_000, number));
        sink.statistics()[0]
    };
    let of = |units| MediaStreamOutcome { units, sum_us: 7_000 * units, max_us: 7_000, stopped: 0 };
    assert_eq!((counted(0, false), counted(101_000, false)), (of(3), of(2)));
    assert_eq!((counted(101_001, false), counted(101_001, true)), (of(1), of(3)));
}

#[test]
fn datagrams_end_with_the_stream_of_their_request() {
    let mut sink = sink(&media(vec![audio()]));
    datagram(&mut sink, 10_000, 0);
    assert!(!sink.is_complete());
    arrive(&mut sink, 401_000, 0, 0, 1);
    assert!(sink.is_complete());
    datagram(&mut sink, 402_000, 3);
    assert_eq!(sink.statistics()[0].units, 1, "too late to count");
}

#[test]
fn the_figures_are_the_largest_of_the_streams_that_count() {
    let left_out = MediaStream { counts: false, ..video() };
    let mut sink = sink(&media(vec![audio(), video(), left_out]));
    // Audio 4 and 6 ms late, video 9, the other 100.
    datagram(&mut sink, 5_000, 0);
    datagram(&mut sink, 107_001, 1);
    arrive(&mut sink, 10_000, 1, 0, 3_000);
    arrive(&mut sink, 101_000, 2, 0, 3_000);
    assert_eq!(sink.outcome(), MediaOutcome { average_us: 9_000, max_us: 9_000, stopped: 0 });
    // The average of audio is rounded down: (4000 + 6001) / 2.
    assert_eq!(sink.statistics()[0].average_us(), Some(5_000));
}
