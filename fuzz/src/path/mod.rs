//! Calls of a `Path`: what a stack tells it, true or absurd, held against a model that keeps every packet.

mod dummy;
mod frame;
mod model;
mod spy;

pub use dummy::{Dummy, Outputs, Settable};

use crate::count;
use crate::events::codepoint;
use crate::number::{Number, Stamp};
use arbitrary::Arbitrary;
use cc_core::{
    AckPolicy, CongestionController, DiscardReason, Duration, EcnCounts, FrameEnd, INITIAL_RTT, Instant,
    LossCause, LossDetection, MtuChange, OutgoingPacket, PacketSpace, Path, PathChange, PathConfig,
    ResumeHint, SendDecision, SendLimit, Setup,
};
use model::Model;
use spy::Spy;

/// Size of the ring: small, so that it fills up.
const N: usize = 16;
/// Steps looked at: the model walks all packets at each of them.
const MAX_STEPS: usize = 600;
/// Most datagrams of a step.
const FILL: usize = 8;
/// Numbers begin no higher than this: a path gives 2^64 of them and not one more.
const MAX_FIRST_NUMBER: u64 = u64::MAX - (FILL * MAX_STEPS) as u64;

/// What the path and its controller are made from.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Setting {
    now: Number,
    mtu: u16,
    window: Option<u16>,
    rtt: Option<Number>,
    max_ack_delay: Number,
    /// Thresholds of loss detection; `None`: the stack declares losses.
    detection: Option<(u8, u8, u8)>,
    resume: Option<(Number, Number)>,
    paces: bool,
    /// First number, bytes delivered and bytes lost, as after a long life.
    counters: Option<[Number; 3]>,
}

impl Setting {
    /// The same for a controller.
    pub fn setup(&self) -> Setup {
        Setup {
            now: self.now.instant(),
            max_datagram_size: u64::from(self.mtu),
            initial_window: self.window.map(u64::from),
            initial_rtt: self.rtt.map(Number::span),
            resume: self.resume.map(|(cwnd, rtt)| ResumeHint { cwnd: cwnd.get(), rtt: rtt.span() }),
            paces: self.paces,
            ..Setup::default()
        }
    }

    fn config(&self) -> PathConfig {
        PathConfig {
            now: self.now.instant(),
            max_datagram_size: u64::from(self.mtu),
            initial_rtt: self.rtt.map_or(INITIAL_RTT, Number::span),
            max_ack_delay: self.max_ack_delay.span(),
            loss_detection: self.detection.map(|(packets, numerator, denominator)| LossDetection {
                packet_threshold: packets.into(),
                time_numerator: numerator.into(),
                time_denominator: denominator.into(),
            }),
        }
    }
}

/// One call, or time.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Step {
    /// Time passes, or goes backwards.
    Time {
        span: Number,
        backwards: bool,
    },
    Send {
        bytes: Size,
        space: u8,
        kind: u8,
        data: bool,
        /// Departs so much later.
        later: u8,
    },
    /// As many datagrams as window, pacer and ring allow, [`FILL`] at most.
    Fill,
    /// Marks the packet so many numbers before the newest, and those before it.
    Acked {
        back: u8,
        count: u8,
        received_at: Option<Stamp>,
    },
    Lost {
        back: u8,
        count: u8,
    },
    /// A number that was never given, or long ago.
    AckedAny(Number),
    LostAny(Number),
    Ecn {
        ce: Number,
        ect0: u8,
        ect1: u8,
    },
    Finish {
        delay: Option<Number>,
        timer: bool,
        untracked: u8,
        largest_untracked: Option<Number>,
    },
    Timeout,
    Discard {
        back: u8,
        reason: u8,
    },
    DiscardSpace(u8),
    PathChanged {
        new: bool,
    },
    Mtu {
        bytes: u16,
        change: u8,
    },
    AppLimited,
    Limit(u8),
    Poll(Size),
    Handshake(bool),
    Policy(u8, Number),
    EcnState(u8),
    Resume(Number, Number),
    /// What the dummy controller says from now on.
    Outputs(Outputs),
}

/// A packet size, seldom absurd.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Size {
    Full,
    Small(u8),
    Any(Number),
}

impl Size {
    fn bytes(self, full: u64) -> u64 {
        match self {
            Self::Full => full,
            Self::Small(bytes) => bytes.into(),
            Self::Any(bytes) => bytes.get(),
        }
    }
}

pub(crate) fn space(index: u8) -> PacketSpace {
    match index % 4 {
        0 => PacketSpace::Initial,
        1 => PacketSpace::Handshake,
        _ => PacketSpace::Application,
    }
}

/// Makes the calls on a path around `controller`; the model says what each must come to.
pub fn run<C: CongestionController + Clone + Settable>(controller: C, setting: &Setting, steps: &[Step]) {
    count::input(steps.len().min(MAX_STEPS) as u64);
    let config = setting.config();
    let mut path: Path<Spy<C>, N> = Path::new(Spy::new(controller), config);
    let mut model = Model::new(config, &path);
    let counters = setting.counters.map(|counters| counters.map(Number::get));
    if let Some([number, delivered, lost]) = counters {
        start_at(&mut path, number.min(MAX_FIRST_NUMBER), delivered, lost);
        model.start_at(path.next_number());
    }
    let mut now = setting.now.instant();
    for step in steps.iter().take(MAX_STEPS) {
        match *step {
            Step::Time { span, backwards } => {
                now = if backwards { now.before(span.span()) } else { now.after(span.span()) };
            }
            other => apply(&mut path, &mut model, now, other),
        }
        model.agrees(&path);
    }
    // What is left is acked.
    for number in model.in_flight() {
        path.acked(number, None);
        model.acked(number);
    }
    finish(&mut path, &mut model, now, FrameEnd::default());
    model.agrees(&path);
    assert_eq!(path.bytes_in_flight(), 0);
}

/// Only a build for fuzzing can set the counters.
#[cfg(fuzzing)]
fn start_at<C: CongestionController>(path: &mut Path<C, N>, number: u64, delivered: u64, lost: u64) {
    path.set_counters(number, delivered, lost);
}

#[cfg(not(fuzzing))]
fn start_at<C: CongestionController>(_: &mut Path<C, N>, _: u64, _: u64, _: u64) {}

fn finish<C: CongestionController + Clone + Settable>(
    path: &mut Path<Spy<C>, N>,
    model: &mut Model,
    now: Instant,
    end: FrameEnd,
) {
    let before = frame::Before::of(path);
    let report = path.finish(now, end);
    let calls = path.controller_mut().take();
    model.finish(now, end, &before, &report, &calls, path);
}

fn apply<C: CongestionController + Clone + Settable>(
    path: &mut Path<Spy<C>, N>,
    model: &mut Model,
    now: Instant,
    step: Step,
) {
    let newest = path.next_number().saturating_sub(1);
    let full = model.datagram_size();
    match step {
        Step::Time { .. } => {}
        Step::Send { bytes, space: index, kind, data, later } => {
            let packet = OutgoingPacket {
                space: space(index),
                bytes: bytes.bytes(full),
                in_flight: kind % 8 != 0,
                ack_eliciting: kind % 8 > 1,
                carries_data: data,
                sent_at: now.after(Duration::from_micros(later.into())),
            };
            send(path, model, now, &packet);
        }
        Step::Fill => {
            for _ in 0..FILL {
                if path.poll_send(now, full) != SendDecision::Now {
                    break;
                }
                send(
                    path,
                    model,
                    now,
                    &OutgoingPacket { bytes: full, sent_at: now, ..OutgoingPacket::default() },
                );
            }
        }
        Step::Acked { back, count, received_at } => {
            for number in below(newest, back, count) {
                let packet = path.outstanding().find(|packet| packet.number == number);
                let sent_at = packet.map_or(now, |packet| packet.sent_at);
                let received_at = received_at.map(|stamp| stamp.of(sent_at));
                path.acked(number, received_at);
                model.acked(number);
            }
        }
        Step::Lost { back, count } => {
            for number in below(newest, back, count) {
                path.lost(number);
                model.lost(number);
            }
        }
        Step::AckedAny(number) => {
            path.acked(number.get(), None);
            model.acked(number.get());
        }
        Step::LostAny(number) => {
            path.lost(number.get());
            model.lost(number.get());
        }
        Step::Ecn { ce, ect0, ect1 } => {
            let counts = EcnCounts { ce: ce.get(), ect0: ect0.into(), ect1: ect1.into() };
            path.ecn(counts);
            model.ecn(counts);
        }
        Step::Finish { delay, timer, untracked, largest_untracked } => {
            let end = FrameEnd {
                cause: if timer { LossCause::Timer } else { LossCause::Ack },
                ack_delay: delay.map(Number::span),
                untracked_acked: untracked.into(),
                largest_untracked: largest_untracked.map(|span| now.before(span.span())),
            };
            finish(path, model, now, end);
        }
        Step::Timeout => {
            model.timeout(now, path);
            let before = frame::Before::of(path);
            let report = path.on_loss_timeout(now);
            let calls = path.controller_mut().take();
            let end = FrameEnd { cause: LossCause::Timer, ..FrameEnd::default() };
            model.finish(now, end, &before, &report, &calls, path);
        }
        Step::Discard { back, reason } => {
            let reason = match reason % 3 {
                0 => DiscardReason::KeysDiscarded,
                1 => DiscardReason::MtuProbeLost,
                _ => DiscardReason::ZeroRttRejected,
            };
            let number = newest.saturating_sub(back.into());
            path.discard(now, number, reason);
            let bytes = model.discard(number);
            model.discarded(bytes, &path.controller_mut().take());
        }
        Step::DiscardSpace(index) => {
            path.discard_space(now, space(index));
            let bytes = model.discard_space(space(index));
            model.discarded(bytes, &path.controller_mut().take());
        }
        Step::PathChanged { new } => {
            path.path_changed(now, if new { PathChange::New } else { PathChange::Rebinding });
            if new {
                model.forget_path();
            }
        }
        Step::Mtu { bytes, change } => {
            let change = match change % 3 {
                0 => MtuChange::Handshake,
                1 => MtuChange::Discovered,
                _ => MtuChange::BlackHole,
            };
            path.set_max_datagram_size(now, bytes.into(), change);
            model.set_datagram_size(bytes.into());
        }
        Step::AppLimited => path.on_app_limited(now),
        Step::Limit(limit) => path.note_limit(match limit % 4 {
            0 => SendLimit::Cwnd,
            1 => SendLimit::Pacer,
            2 => SendLimit::FlowControl,
            _ => SendLimit::Unknown,
        }),
        Step::Poll(bytes) => poll(path, now, bytes.bytes(full)),
        Step::Handshake(ready) => path.set_handshake_ready(ready),
        Step::Policy(packets, delay) => {
            path.set_ack_policy(now, &AckPolicy { packets: packets.into(), max_ack_delay: delay.span() });
        }
        Step::EcnState(index) => path.set_ecn_state(now, codepoint(index)),
        Step::Resume(cwnd, rtt) => path.resume(now, &ResumeHint { cwnd: cwnd.get(), rtt: rtt.span() }),
        Step::Outputs(outputs) => path.controller_mut().set(&outputs),
    }
    path.controller_mut().take();
}

/// The numbers from `back` below the newest downwards, eight at most.
fn below(newest: u64, back: u8, count: u8) -> impl Iterator<Item = u64> {
    let last = newest.saturating_sub(back.into());
    (last.saturating_sub(u64::from(count % 8))..=last).rev()
}

fn send<C: CongestionController + Clone + Settable>(
    path: &mut Path<Spy<C>, N>,
    model: &mut Model,
    now: Instant,
    packet: &OutgoingPacket,
) {
    let number = path.next_number();
    let sent = path.on_packet_sent(now, packet);
    if packet.in_flight && model.is_full() {
        assert!(sent.is_err(), "a packet more than the ring has room for");
        assert_eq!(path.next_number(), number);
        return;
    }
    assert_eq!(sent, Ok(number));
    if packet.in_flight {
        model.sent(number, packet);
    }
}

fn poll<C: CongestionController + Clone + Settable>(path: &mut Path<Spy<C>, N>, now: Instant, bytes: u64) {
    let decision = path.poll_send(now, bytes);
    let controller = path.controller();
    let fits = path.bytes_in_flight().saturating_add(bytes) <= controller.cwnd();
    let allowed = fits || controller.may_send_beyond_cwnd();
    match decision {
        SendDecision::Blocked(SendLimit::Cwnd) => assert!(!allowed && !path.is_full()),
        SendDecision::Blocked(_) => assert!(path.is_full()),
        SendDecision::At(at) => assert!(at > now && allowed && controller.pacing_rate().is_some()),
        SendDecision::Now => assert!(allowed && !path.is_full()),
    }
}
