//! proptest strategies whose values are scripts, so that a shrunk failure prints as a script that can be saved as a case.
//!
//! [`plausible`] makes what a stack and a network can do: packets are sent in order, acked or lost once, time goes on.
//! [`absurd`] makes what only a broken stack or a hostile peer can: events about packets never sent and settled before,
//! times that jump both ways on either clock, impossible counts, sizes and changes of the datagram size.

use crate::script::{
    Event, Frame, Line, Pick, ReceiveTime, Received, Script, Selection, Send, SendKind, Settings, Statement,
    When,
};
use cc_core::{
    DiscardReason, Duration, EcnCodepoint, MtuChange, PacketSpace, PathChange, ResumeHint, SendLimit,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Scripts of up to `length` events that an honest stack can give.
pub fn plausible(length: usize) -> impl Strategy<Value = Script> {
    (plausible_settings(), vec(plausible_event(), 1..=length)).prop_map(script)
}

/// Scripts of up to `length` events without rhyme or reason.
pub fn absurd(length: usize) -> impl Strategy<Value = Script> {
    (absurd_settings(), vec(absurd_event(), 1..=length)).prop_map(script)
}

const AN_HOUR_AND_10_MS: Duration = Duration::from_millis(3_600_010);

fn script((settings, events): (Settings, Vec<(When, Event)>)) -> Script {
    let body = events.into_iter().map(|(when, event)| Line::from(Statement::Event(when, event))).collect();
    Script { title: "found by a property test".into(), settings, body, ..Script::default() }
}

fn plausible_settings() -> impl Strategy<Value = Settings> {
    let resume = option::weighted(0.2, (20_000_u64..5_000_000, millis(10..300)));
    (1_200_u64..1_500, 10_u64..40, resume, any::<bool>(), codepoint()).prop_map(
        |(mss, packets, resume, paces, ecn)| Settings {
            mss,
            initial_window: Some(mss.saturating_mul(packets)),
            resume: resume.map(|(cwnd, rtt)| ResumeHint { cwnd, rtt }),
            paces,
            ecn,
            ..Settings::default()
        },
    )
}

fn absurd_settings() -> impl Strategy<Value = Settings> {
    let resume = option::of((any::<u64>(), any_span()));
    (size(), option::of(any::<u64>()), any_span(), resume, any::<bool>(), codepoint(), any::<bool>())
        .prop_map(|(mss, initial_window, start, resume, paces, ecn, handshake_done)| Settings {
            mss,
            initial_window,
            start,
            resume: resume.map(|(cwnd, rtt)| ResumeHint { cwnd, rtt }),
            paces,
            ecn,
            handshake_done,
            ..Settings::default()
        })
}

fn plausible_event() -> impl Strategy<Value = (When, Event)> {
    let event = prop_oneof![
        6 => (0_u64..4).prop_map(|leave| Event::Fill { leave, in_one: false }),
        4 => (1_u64..8).prop_map(|count| Event::Sent(data(count, None))),
        12 => plausible_frame().prop_map(Event::Frame),
        1 => (1_u64..3).prop_map(|count| {
            Event::Frame(Frame { lost: Selection(vec![Pick::First(count)]), timer: true, ..Frame::default() })
        }),
        1 => Just(Event::AppLimited),
        1 => Just(Event::Time),
        1 => select(vec![
            SendLimit::Cwnd, SendLimit::Pacer, SendLimit::FlowControl, SendLimit::NoData, SendLimit::Unknown,
        ]).prop_map(Event::Limit),
        1 => (1_000_u64..1_500).prop_map(|bytes| Event::Mtu(bytes, MtuChange::Discovered)),
        1 => Just(Event::Discard(Selection(vec![Pick::Last(1)]), DiscardReason::MtuProbeLost)),
        1 => Just(Event::Path(PathChange::Rebinding)),
    ];
    (prop_oneof![8 => millis(0..60), 1 => millis(60..5_000)].prop_map(When::After), event)
}

fn plausible_frame() -> impl Strategy<Value = Frame> {
    let acked = prop_oneof![
        4 => (1_u64..12).prop_map(Pick::First),
        1 => Just(Pick::All),
        2 => millis(20..120).prop_map(Pick::Older),
    ];
    let lost = option::weighted(0.15, (1_u64..4).prop_map(Pick::First));
    // A late ack of a packet lost early.
    let late = option::weighted(0.05, (1_u64..40).prop_map(|number| Pick::Range(number, number)));
    let (ce, delay) = (option::weighted(0.2, 0_u64..5), option::weighted(0.3, millis(0..25)));
    (acked, lost, late, ce, delay, plausible_receive_times()).prop_map(
        |(acked, lost, late, ce, delay, received)| Frame {
            acked: Selection([Some(acked), late].into_iter().flatten().collect()),
            lost: Selection(lost.into_iter().collect()),
            ce,
            ect0: ce.map(|_| 3),
            delay,
            received,
            ..Frame::default()
        },
    )
}

/// Of all packets of a frame or of some, on a clock an hour ahead: some milliseconds on the way, and up to 60 ms in a queue.
fn plausible_receive_times() -> impl Strategy<Value = Vec<Received>> {
    let packets = prop_oneof![
        3 => Just(Pick::All),
        1 => (1_u64..5).prop_map(Pick::First),
        1 => (1_u64..5).prop_map(Pick::Last),
    ];
    let queue = prop_oneof![1 => Just(Duration::ZERO), 1 => millis(0..60)];
    let received = (packets, queue).prop_map(|(pick, queue)| Received {
        packets: Selection(vec![pick]),
        time: ReceiveTime::After(AN_HOUR_AND_10_MS.plus(queue)),
    });
    option::weighted(0.5, received).prop_map(|received| received.into_iter().collect())
}

fn absurd_receive_times() -> impl Strategy<Value = Vec<Received>> {
    let time = prop_oneof![
        2 => any_span().prop_map(ReceiveTime::At),
        2 => any_span().prop_map(ReceiveTime::After),
        1 => any_span().prop_map(ReceiveTime::Before),
        // Equal ones, and such as go back.
        2 => select(vec![40_u64, 20, 0]).prop_map(|at| ReceiveTime::At(Duration::from_millis(at))),
    ];
    vec((selection(), time).prop_map(|(packets, time)| Received { packets, time }), 0..4)
}

fn absurd_event() -> impl Strategy<Value = (When, Event)> {
    let event = prop_oneof![
        3 => (0_u64..9, any::<bool>()).prop_map(|(leave, in_one)| Event::Fill { leave, in_one }),
        4 => (0_u64..40, option::of(size()), space(), kind()).prop_map(|(count, bytes, space, kind)| {
            Event::Sent(Send { space, kind, ..data(count, bytes) })
        }),
        8 => absurd_frame().prop_map(Event::Frame),
        1 => (size(), select(vec![MtuChange::Handshake, MtuChange::Discovered, MtuChange::BlackHole]))
            .prop_map(|(bytes, change)| Event::Mtu(bytes, change)),
        1 => select(vec![PathChange::Rebinding, PathChange::New]).prop_map(Event::Path),
        1 => (selection(), select(vec![
            DiscardReason::KeysDiscarded, DiscardReason::MtuProbeLost, DiscardReason::ZeroRttRejected,
        ])).prop_map(|(packets, reason)| Event::Discard(packets, reason)),
        1 => Just(Event::Spurious),
        1 => (any::<u64>(), any_span()).prop_map(|(cwnd, rtt)| Event::Resume(ResumeHint { cwnd, rtt })),
        1 => Just(Event::AppLimited),
        1 => (any::<u64>(), any_span()).prop_map(|(packets, delay)| Event::Policy(packets, delay)),
        1 => codepoint().prop_map(Event::Ecn),
        1 => any::<bool>().prop_map(Event::Handshake),
    ];
    let when = prop_oneof![
        6 => millis(0..200).prop_map(When::After),
        1 => any_span().prop_map(When::After),
        1 => millis(0..2_000).prop_map(When::At),
        1 => any_span().prop_map(When::At),
    ];
    (when, event)
}

fn absurd_frame() -> impl Strategy<Value = Frame> {
    let ce = option::of(prop_oneof![Just(0), 1_u64..30, any::<u64>()]);
    let (ect1, delay) = (option::of(any::<u64>()), option::of(any_span()));
    (selection(), option::of(selection()), ce, ect1, delay, absurd_receive_times(), flags()).prop_map(
        |(acked, lost, ce, ect1, delay, received, (timer, persistent, forced))| Frame {
            acked,
            lost: lost.unwrap_or_default(),
            ce,
            ect0: None,
            ect1,
            delay,
            received,
            timer,
            persistent,
            forced,
        },
    )
}

fn flags() -> impl Strategy<Value = (bool, bool, bool)> {
    let rarely = || proptest::bool::weighted(0.2);
    (rarely(), rarely(), rarely())
}

fn selection() -> impl Strategy<Value = Selection> {
    let pick = prop_oneof![
        3 => (1_u64..200, 0_u64..20).prop_map(|(first, more)| Pick::Range(first, first.saturating_add(more))),
        3 => (0_u64..20).prop_map(Pick::First),
        2 => (0_u64..20).prop_map(Pick::Last),
        1 => Just(Pick::All),
        1 => any_span().prop_map(Pick::Older),
        1 => (0_u64..20).prop_map(Pick::Next),
    ];
    vec(pick, 0..3).prop_map(Selection)
}

const fn data(count: u64, bytes: Option<u64>) -> Send {
    Send { first: None, count, bytes, space: PacketSpace::Application, kind: SendKind::Data }
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 1_000_u64..1_500, 1 => 0_u64..100, 1 => 1_500_u64..70_000, 1 => any::<u64>()]
}

fn space() -> impl Strategy<Value = PacketSpace> {
    prop_oneof![
        4 => Just(PacketSpace::Application),
        1 => Just(PacketSpace::Initial),
        1 => Just(PacketSpace::Handshake),
    ]
}

fn kind() -> impl Strategy<Value = SendKind> {
    prop_oneof![
        6 => Just(SendKind::Data),
        1 => Just(SendKind::Control),
        1 => Just(SendKind::Padded),
        1 => Just(SendKind::AckOnly),
    ]
}

fn codepoint() -> impl Strategy<Value = EcnCodepoint> {
    select(vec![EcnCodepoint::NotEct, EcnCodepoint::Ect0, EcnCodepoint::Ect1])
}

fn millis(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

/// Any span, most of them below a minute.
fn any_span() -> impl Strategy<Value = Duration> {
    prop_oneof![3 => 0_u64..60_000_000_000, 1 => any::<u64>()].prop_map(Duration::from_nanos)
}
