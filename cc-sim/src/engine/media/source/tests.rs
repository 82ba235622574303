use super::Source;
use crate::engine::media::{Control, Kind, Request};
use crate::scenario::{Media, MediaKind, MediaStream};

/// No limit of flow control.
const ALL: u64 = u64::MAX;
/// Room of a packet for the data of one stream: 1440 bytes less 34.
const ROOM: u64 = 1_406;

/// 50 datagrams of 80 bytes a second, three in all.
fn audio() -> MediaStream {
    MediaStream {
        name: "audio".to_owned(),
        kind: MediaKind::Datagrams,
        priority: 2,
        per_second: 50,
        units: 3,
        unit_bytes: 80,
        counts: true,
    }
}

/// 30 frames a second, 3000 bytes and then 1000 each, three in all.
fn video(priority: u8) -> MediaStream {
    MediaStream {
        name: "video".to_owned(),
        kind: MediaKind::Frames { group: 3, first_bytes: 3_000, stop_after_us: None },
        priority,
        per_second: 30,
        units: 3,
        unit_bytes: 1_000,
        counts: true,
    }
}

/// All streams are asked for at 0.
fn source(streams: Vec<MediaStream>, one_timer: bool) -> Source {
    let count = streams.len();
    let mut source = Source::new(&Media { stats_from_us: 0, all_datagrams_count: false, one_timer, streams });
    let requests: Vec<Request> = (0..count).map(|stream| Request { stream, group: 0, start_us: 0 }).collect();
    source.on_control(0, Control { requests: count as u32, stops: 0 }, &requests, &[]);
    source.advance(0);
    source
}

/// Request, offset and length of each piece of a packet.
type Pieces = Vec<(u32, u64, u64)>;

/// The next packet: its pieces, and the room that they take.
fn packet(source: &mut Source, now: u64) -> Option<(Pieces, u64)> {
    let (number, length) = source.fill(now, ROOM, ALL)?;
    Some((source.packet(number).map(|piece| (piece.request, piece.offset, piece.length)).collect(), length))
}

fn pieces(source: &mut Source, now: u64) -> Pieces {
    packet(source, now).map(|(pieces, _)| pieces).unwrap_or_default()
}

/// Sends everything that there is.
fn drain(source: &mut Source, now: u64) {
    while packet(source, now).is_some() {}
}

#[test]
fn a_packet_has_the_datagram_and_then_streams_by_priority() {
    let mut source = source(vec![audio(), video(4), video(6)], false);
    // 1406 + 6 bytes: 3 + 80 of the datagram, 6 + 1323 of the first frame.
    assert_eq!(packet(&mut source, 0), Some((vec![(0, 0, 80), (1, 0, 1_323)], ROOM)));
    assert_eq!(packet(&mut source, 0), Some((vec![(1, 1_323, 1_406)], ROOM)));
    // The rest of the frame, 271 bytes; of 1412 - 277 bytes the other stream has 1129.
    assert_eq!(packet(&mut source, 0), Some((vec![(1, 2_729, 271), (2, 0, 1_129)], ROOM)));
    assert_eq!(packet(&mut source, 0), Some((vec![(2, 1_129, 1_406)], ROOM)));
    // 3000 - 2535.
    assert_eq!(packet(&mut source, 0), Some((vec![(2, 2_535, 465)], 465)));
    assert_eq!(packet(&mut source, 0), None);
    assert_eq!(source.next_wake(), Some(20_000));
}

#[test]
fn frames_and_datagrams_come_in_time_and_the_datagrams_have_an_end() {
    let mut source = source(vec![audio(), video(4)], false);
    drain(&mut source, 0);
    let mut seen = Vec::new();
    while let Some(at) = source.next_wake() {
        source.advance(at);
        seen.push((at, pieces(&mut source, at)));
    }
    let expected = [
        (20_000, vec![(0, 1, 80)]),
        (33_333, vec![(1, 3_000, 1_000)]),
        (40_000, vec![(0, 2, 80)]),
        // One byte of the stream of the request, 1/50 s after the last datagram.
        (60_000, vec![(0, 0, 1)]),
        (66_666, vec![(1, 4_000, 1_000)]),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn with_one_timer_audio_waits_for_video() {
    let mut source = source(vec![audio(), video(4)], true);
    drain(&mut source, 0);
    let mut seen = Vec::new();
    while let Some(at) = source.next_wake() {
        source.advance(at);
        drain(&mut source, at);
        seen.push(at);
    }
    // At 20 ms video, which waits for 33.3, sets the timer after audio did. At 40 ms it waits for 66.7: the end of audio, due
    // at 60, is late.
    assert_eq!(seen, [20_000, 33_333, 40_000, 66_666]);
}

#[test]
fn a_frame_is_not_produced_before_the_one_before_it_is_sent() {
    let mut source = source(vec![video(4)], false);
    assert_eq!(pieces(&mut source, 0), [(0, 0, 1_406)]);
    // At 100 ms all three frames are due: they follow each other, in one packet too.
    source.advance(100_000);
    assert_eq!(pieces(&mut source, 100_000), [(0, 1_406, 1_406)]);
    // 188 and 6 bytes, 1000 and 6, 206 and 6: 1412.
    assert_eq!(pieces(&mut source, 100_000), [(0, 2_812, 188), (0, 3_000, 1_000), (0, 4_000, 206)]);
    assert_eq!(pieces(&mut source, 100_000), [(0, 4_206, 794)]);
    assert!(!source.has_data(ALL));
    assert_eq!(source.next_wake(), None);
}

#[test]
fn streams_of_an_even_priority_take_turns_and_those_of_an_odd_one_do_not() {
    let requests = |priority| {
        let mut source = source(vec![video(priority), video(priority)], false);
        (0..3).map(|_| pieces(&mut source, 0)[0].0).collect::<Vec<_>>()
    };
    assert_eq!(requests(4), [0, 1, 0]);
    assert_eq!(requests(5), [0, 0, 0]);
}

#[test]
fn lost_data_goes_before_new_data_of_its_priority_and_lost_datagrams_do_not() {
    let mut source = source(vec![audio(), video(4), video(4), video(3)], false);
    let (first, _) = source.fill(0, ROOM, ALL).unwrap();
    // The datagram, and the first bytes of the stream of priority 3.
    assert_eq!(
        source.packet(first).map(|piece| (piece.request, piece.kind)).collect::<Vec<_>>(),
        [(0, Kind::Datagram), (3, Kind::Stream)]
    );
    while pieces(&mut source, 0).last().is_none_or(|piece| piece.0 == 3) {}
    let (lost, _) = source.fill(0, ROOM, ALL).unwrap();
    let was: Vec<_> = source.packet(lost).collect();
    source.on_lost(first);
    source.on_lost(lost);
    // That of priority 3, 1323 bytes; then what was lost of priority 4, as much as there is room for.
    let again = pieces(&mut source, 0);
    assert_eq!(again, [(3, 0, 1_323), (was[0].request, was[0].offset, 1_412 - 1_329 - 6)]);
    assert_eq!(pieces(&mut source, 0)[0], (was[0].request, was[0].offset + 77, was[0].length - 77));
}

#[test]
fn what_a_late_acknowledgement_has_is_not_sent_again() {
    let mut source = source(vec![video(4)], false);
    let (first, _) = source.fill(0, ROOM, ALL).unwrap();
    let (second, _) = source.fill(0, ROOM, ALL).unwrap();
    source.on_lost(first);
    source.on_lost(second);
    source.on_acked(first);
    assert_eq!(pieces(&mut source, 0), [(0, 1_406, 1_406)]);
}

#[test]
fn nothing_more_is_sent_of_a_group_that_is_given_up() {
    let mut source = source(vec![video(4)], false);
    let (first, _) = source.fill(0, ROOM, ALL).unwrap();
    source.on_lost(first);
    source.on_control(0, Control { requests: 1, stops: 1 }, &[], &[0]);
    source.advance(1_000_000);
    assert!(!source.has_data(ALL));
    assert_eq!((source.next_wake(), source.repeat(first, ROOM)), (None, None));
}

#[test]
fn flow_control_holds_new_data_back_and_a_group_given_up_returns_what_it_lost() {
    let mut source = source(vec![video(4), video(6)], false);
    let (first, length) = source.fill(0, ROOM, 1_000).unwrap();
    assert_eq!(length, 1_000);
    assert!(!source.has_data(1_000) && source.is_blocked());
    source.on_lost(first);
    assert!(source.has_data(1_000), "lost data was counted before");
    source.on_control(0, Control { requests: 2, stops: 1 }, &[], &[0]);
    // The 1000 bytes will not arrive; the other stream may have them.
    let (number, _) = source.fill(0, ROOM, 1_000).unwrap();
    assert_eq!(source.packet(number).map(|p| (p.request, p.length)).collect::<Vec<_>>(), [(1, 1_000)]);
}

#[test]
fn a_probe_repeats_what_its_room_holds_and_no_datagram() {
    let mut source = source(vec![audio(), video(4)], false);
    let (first, _) = source.fill(0, ROOM, ALL).unwrap();
    let (probe, length) = source.repeat(first, 1_000).unwrap();
    let pieces: Vec<_> =
        source.packet(probe).map(|piece| (piece.request, piece.offset, piece.length)).collect();
    assert_eq!((pieces, length), (vec![(1, 0, 1_000)], 1_000));
}
