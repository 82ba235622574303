//! The event-script language: what it consists of.
//!
//! A script is a text file: a header, settings, and one statement a line. [`Script::parse`] reads it, `Display` writes
//! it. The [crate documentation](crate#the-script-language) describes the language.

mod expression;
mod parse;
mod print;
mod tags;
mod token;
mod words;

pub use expression::{Expression, Scope};
pub use parse::ScriptError;
pub use tags::Tags;

use cc_core::{
    DiscardReason, Duration, EcnCodepoint, MtuChange, PacketSpace, PathChange, ResumeHint, SendLimit,
};

/// A parsed script.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// What the script shows, one line.
    pub title: String,
    /// Where the bug was found and which document says what is right.
    pub source: String,
    /// Which subjects the script is for.
    pub applies: Tags,
    /// Why not for the others; empty if for all.
    pub reason: String,
    /// What the controller is made from.
    pub settings: Settings,
    /// The statements.
    pub body: Vec<Line>,
}

impl Script {
    /// Whether there is a `run(...)` in it.
    #[must_use]
    pub fn has_link(&self) -> bool {
        fn any(body: &[Line]) -> bool {
            body.iter().any(|line| match &line.statement {
                Statement::Run(_) => true,
                Statement::Loop(_, inner) => any(inner),
                Statement::Let(..) | Statement::Event(..) | Statement::Expect(_) => false,
            })
        }
        any(&self.body)
    }
}

/// The `set` lines of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// `set mss BYTES`: maximum datagram size. Default 1200.
    pub mss: u64,
    /// `set iw BYTES|default`: initial window, `None` for the controller's own. Default 12000.
    pub initial_window: Option<u64>,
    /// `set start TIME`: time of construction, to which the times of the script are added. Default 0.
    pub start: Duration,
    /// `set max-ack-delay TIME`. Default 25 ms.
    pub max_ack_delay: Duration,
    /// `set resume BYTES TIME`: state of an earlier connection. Default none.
    pub resume: Option<ResumeHint>,
    /// `set paces yes|no`. Default yes.
    pub paces: bool,
    /// `set ecn off|ect0|ect1`: what outgoing packets can carry. Default ECT(1): any.
    pub ecn: EcnCodepoint,
    /// `set handshake done|open`: whether the handshake has finished. Default done.
    pub handshake_done: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mss: 1_200,
            initial_window: Some(12_000),
            start: Duration::ZERO,
            max_ack_delay: Duration::from_millis(25),
            resume: None,
            paces: true,
            ecn: EcnCodepoint::Ect1,
            handshake_done: true,
        }
    }
}

/// A statement with its place.
#[derive(Clone, Debug)]
pub struct Line {
    /// Line number in the file, from 1.
    pub number: usize,
    /// Only for these subjects.
    pub only: Tags,
    /// What to do.
    pub statement: Statement,
}

impl From<Statement> for Line {
    fn from(statement: Statement) -> Self {
        Self { number: 0, only: Tags::default(), statement }
    }
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `let NAME = EXPRESSION`: the value at this moment.
    Let(String, Expression),
    /// An event at a time.
    Event(When, Event),
    /// `run(...)`: a sender with unlimited data on a link.
    Run(Link),
    /// `loop N { ... }`.
    Loop(u64, Vec<Line>),
    /// `expect ...`: must hold now.
    Expect(Condition),
}

/// The time of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Since the start of the script. May be earlier than the event before.
    At(Duration),
    /// After the event before.
    After(Duration),
}

/// What can happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// `sent(TIME, PACKETS, ...)`.
    Sent(Send),
    /// `fill(TIME, ...)`: datagrams of full size until one more would exceed the window.
    Fill {
        /// `leave N`: stop that many datagrams before.
        leave: u64,
        /// `in one`: one entry that stands for all of them.
        in_one: bool,
    },
    /// `ack(TIME, PACKETS) + ...` or `lost(TIME, PACKETS) + ...`.
    Frame(Frame),
    /// `time(TIME)`: nothing happens.
    Time,
    /// `mtu(TIME, BYTES, handshake|discovered|black-hole)`.
    Mtu(u64, MtuChange),
    /// `path(TIME, rebinding|new)`.
    Path(PathChange),
    /// `discard(TIME, PACKETS, keys|probe|zero-rtt)`.
    Discard(Selection, DiscardReason),
    /// `spurious(TIME)`: all losses of the last period were spurious, no detail known.
    Spurious,
    /// `resume(TIME, BYTES, RTT)`.
    Resume(ResumeHint),
    /// `app-limited(TIME)`: no data is left.
    AppLimited,
    /// `policy(TIME, PACKETS, DELAY)`.
    Policy(u64, Duration),
    /// `ecn(TIME, off|ect0|ect1)`.
    Ecn(EcnCodepoint),
    /// `handshake(TIME, done|open)`.
    Handshake(bool),
    /// `limit(TIME, cwnd|pacer|amplification|flow-control|no-data|unknown)`: what stopped the last attempt to send.
    Limit(SendLimit),
}

/// Packets to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Send {
    /// Number of the first one, if given: it must be the next one.
    pub first: Option<u64>,
    /// How many.
    pub count: u64,
    /// Size of each in bytes; `None` for a full datagram.
    pub bytes: Option<u64>,
    /// Packet number space.
    pub space: PacketSpace,
    /// `ack-only`, `padded` or neither.
    pub kind: SendKind,
}

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SendKind {
    /// Data.
    #[default]
    Data,
    /// `no-data`: ack-eliciting, without stream or datagram data.
    Control,
    /// `padded`: in flight, not ack-eliciting.
    Padded,
    /// `ack-only`: not in flight.
    AckOnly,
}

/// One ACK frame, or losses declared by a timer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// Packets acked.
    pub acked: Selection,
    /// `+ lost PACKETS`.
    pub lost: Selection,
    /// `+ ce N`: increase of the CE count; any of the three makes the counts known.
    pub ce: Option<u64>,
    /// `+ ect0 N`.
    pub ect0: Option<u64>,
    /// `+ ect1 N`.
    pub ect1: Option<u64>,
    /// `+ delay TIME`: the peer's ack delay.
    pub delay: Option<Duration>,
    /// `+ received PACKETS at|after|before TIME`, any number of times. Of several that name a packet the last counts; a packet
    /// that none names has no receive time.
    pub received: Vec<Received>,
    /// `+ timer`: the losses were found by timer.
    pub timer: bool,
    /// `+ pc`: the losses establish persistent congestion, whatever their send times.
    pub persistent: bool,
    /// `+ forced`: the controller is told of packets that were settled before or never sent.
    pub forced: bool,
}

/// When the receiver got packets that a frame acks, as it says. Its clock shows the time since the start of the script, modulo
/// 2^64 ns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// Which of the packets acked; numbers that the frame does not ack say nothing.
    pub packets: Selection,
    /// When.
    pub time: ReceiveTime,
}

/// A receive time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveTime {
    /// `at TIME`: all of them then.
    At(Duration),
    /// `after TIME`: each so long after it was sent.
    After(Duration),
    /// `before TIME`: each so long before it was sent (a clock that is behind).
    Before(Duration),
}

/// A set of packets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection(pub Vec<Pick>);

/// A part of a set of packets. All but ranges and `next` mean packets in flight, or packets acked where a set is a part of those.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// `A..B`: these numbers. Those not sent yet are handed to the stack too, a thousand at most.
    Range(u64, u64),
    /// `all`.
    All,
    /// `first N`: the oldest.
    First(u64),
    /// `last N`: the newest.
    Last(u64),
    /// `older TIME`: sent at least that long ago.
    Older(Duration),
    /// `next N`: those that will be sent next, a thousand at most.
    Next(u64),
}

/// A link with a drop-tail queue and a sender that always has data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// How long to run.
    pub span: Duration,
    /// Bytes per second; 0 loses everything.
    pub rate: u64,
    /// Round-trip time without queue.
    pub rtt: Duration,
    /// Queue in bytes.
    pub queue: u64,
    /// Most bytes in flight that the peer's flow control allows.
    pub flow: u64,
    /// The sender has data for this many bytes per second; 0 for any.
    pub app: u64,
    /// Packets per ACK.
    pub per_ack: u64,
    /// `forward TIME`: the part of `rtt` that is the way there; ACKs say when packets were received then.
    pub forward: Option<Duration>,
}

/// What must hold.
#[derive(Clone, Debug)]
pub enum Condition {
    /// `A == B`, and so on, `[within C]`.
    Compare(Expression, Comparison, Expression, Option<Expression>),
    /// `pacing none`.
    PacingNone,
    /// `pacing positive`: a rate above zero, or none.
    PacingPositive,
    /// `phase a|b`.
    Phase(Vec<String>),
    /// `[not] startup`.
    Startup(bool),
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

#[cfg(test)]
mod tests;
