//! Writing a script, so that what a property test found can be saved as a file.

use super::words::{CODEPOINTS, COMPARISONS, DISCARD_REASONS, LIMITS, MTU_CHANGES, PATH_CHANGES};
use super::{
    Condition, Event, Frame, Line, Link, Pick, ReceiveTime, Received, Script, Selection, Send, SendKind,
    Settings, Statement, Tags, When,
};
use cc_core::{Duration, PacketSpace};
use std::fmt;

impl fmt::Display for Script {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.title.is_empty() {
            writeln!(formatter, "title: {}", self.title)?;
        }
        if !self.source.is_empty() {
            writeln!(formatter, "source: {}", self.source)?;
        }
        if !self.applies.0.is_empty() || !self.reason.is_empty() {
            writeln!(formatter, "applies: {}; {}", self.applies, self.reason)?;
        }
        write!(formatter, "{}", self.settings)?;
        lines(formatter, &self.body, 0)
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = Self::default();
        if self.mss != default.mss {
            writeln!(formatter, "set mss {}", self.mss)?;
        }
        match self.initial_window {
            None => writeln!(formatter, "set iw default")?,
            Some(bytes) if self.initial_window != default.initial_window => {
                writeln!(formatter, "set iw {bytes}")?;
            }
            Some(_) => {}
        }
        if self.start != default.start {
            writeln!(formatter, "set start {}", time(self.start))?;
        }
        if self.max_ack_delay != default.max_ack_delay {
            writeln!(formatter, "set max-ack-delay {}", time(self.max_ack_delay))?;
        }
        if let Some(hint) = self.resume {
            writeln!(formatter, "set resume {} {}", hint.cwnd, time(hint.rtt))?;
        }
        if !self.paces {
            writeln!(formatter, "set paces no")?;
        }
        if self.ecn != default.ecn {
            writeln!(formatter, "set ecn {}", name_of(&CODEPOINTS, self.ecn))?;
        }
        if !self.handshake_done {
            writeln!(formatter, "set handshake open")?;
        }
        Ok(())
    }
}

fn lines(formatter: &mut fmt::Formatter<'_>, body: &[Line], depth: usize) -> fmt::Result {
    let indent = "    ".repeat(depth);
    for line in body {
        formatter.write_str(&indent)?;
        if line.only != Tags::default() {
            write!(formatter, "[{}] ", line.only)?;
        }
        match &line.statement {
            Statement::Loop(count, inner) => {
                writeln!(formatter, "loop {count} {{")?;
                lines(formatter, inner, depth.saturating_add(1))?;
                writeln!(formatter, "{indent}}}")?;
            }
            other => writeln!(formatter, "{other}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Statement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Let(name, value) => write!(formatter, "let {name} = {value}"),
            Self::Loop(count, _) => write!(formatter, "loop {count} {{ ... }}"),
            Self::Expect(condition) => write!(formatter, "expect {condition}"),
            Self::Run(link) => write!(formatter, "{link}"),
            Self::Event(when, event) => event_at(formatter, *when, event),
        }
    }
}

fn event_at(formatter: &mut fmt::Formatter<'_>, when: When, event: &Event) -> fmt::Result {
    let at = match when {
        When::At(at) => time(at),
        When::After(span) => format!("+{}", time(span)),
    };
    match event {
        Event::Sent(send) => write!(formatter, "sent({at}, {send})"),
        Event::Fill { leave, in_one } => {
            let leave = if *leave > 0 { format!(", leave {leave}") } else { String::new() };
            let in_one = if *in_one { ", in one" } else { "" };
            write!(formatter, "fill({at}{leave}{in_one})")
        }
        Event::Frame(frame) => frame_at(formatter, &at, frame),
        Event::Time => write!(formatter, "time({at})"),
        Event::Spurious => write!(formatter, "spurious({at})"),
        Event::AppLimited => write!(formatter, "app-limited({at})"),
        Event::Mtu(bytes, change) => {
            write!(formatter, "mtu({at}, {bytes}, {})", name_of(&MTU_CHANGES, *change))
        }
        Event::Path(change) => write!(formatter, "path({at}, {})", name_of(&PATH_CHANGES, *change)),
        Event::Discard(packets, reason) => {
            write!(formatter, "discard({at}, {packets}, {})", name_of(&DISCARD_REASONS, *reason))
        }
        Event::Resume(hint) => write!(formatter, "resume({at}, {}, {})", hint.cwnd, time(hint.rtt)),
        Event::Policy(packets, delay) => write!(formatter, "policy({at}, {packets}, {})", time(*delay)),
        Event::Ecn(codepoint) => write!(formatter, "ecn({at}, {})", name_of(&CODEPOINTS, *codepoint)),
        Event::Handshake(done) => {
            write!(formatter, "handshake({at}, {})", if *done { "done" } else { "open" })
        }
        Event::Limit(limit) => write!(formatter, "limit({at}, {})", name_of(&LIMITS, *limit)),
    }
}

fn frame_at(formatter: &mut fmt::Formatter<'_>, at: &str, frame: &Frame) -> fmt::Result {
    if frame.acked.0.is_empty() && frame.timer {
        write!(formatter, "lost({at}, {}, timer)", frame.lost)?;
    } else {
        write!(formatter, "ack({at}, {})", frame.acked)?;
        if !frame.lost.0.is_empty() {
            write!(formatter, " + lost {}", frame.lost)?;
        }
        if frame.timer {
            write!(formatter, " + timer")?;
        }
    }
    for (name, count) in [("ce", frame.ce), ("ect0", frame.ect0), ("ect1", frame.ect1)] {
        if let Some(count) = count {
            write!(formatter, " + {name} {count}")?;
        }
    }
    if let Some(delay) = frame.delay {
        write!(formatter, " + delay {}", time(delay))?;
    }
    for Received { packets, time: received } in &frame.received {
        write!(formatter, " + received {packets} {received}")?;
    }
    for (name, set) in [("pc", frame.persistent), ("forced", frame.forced)] {
        if set {
            write!(formatter, " + {name}")?;
        }
    }
    Ok(())
}

impl fmt::Display for Send {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first {
            None => write!(formatter, "next {}", self.count)?,
            Some(first) => range(formatter, first, first.saturating_add(self.count.saturating_sub(1)))?,
        }
        if let Some(bytes) = self.bytes {
            write!(formatter, ", {bytes} B")?;
        }
        formatter.write_str(match self.space {
            PacketSpace::Initial => ", initial",
            PacketSpace::Handshake => ", handshake",
            PacketSpace::Application => "",
        })?;
        formatter.write_str(match self.kind {
            SendKind::Data => "",
            SendKind::Control => ", no-data",
            SendKind::Padded => ", padded",
            SendKind::AckOnly => ", ack-only",
        })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("none");
        }
        for (n, pick) in self.0.iter().enumerate() {
            formatter.write_str(if n == 0 { "" } else { ", " })?;
            match pick {
                Pick::Range(first, last) => range(formatter, *first, *last)?,
                Pick::All => formatter.write_str("all")?,
                Pick::First(count) => write!(formatter, "first {count}")?,
                Pick::Last(count) => write!(formatter, "last {count}")?,
                Pick::Older(age) => write!(formatter, "older {}", time(*age))?,
                Pick::Next(count) => write!(formatter, "next {count}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for ReceiveTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => write!(formatter, "at {}", time(*at)),
            Self::After(span) => write!(formatter, "after {}", time(*span)),
            Self::Before(span) => write!(formatter, "before {}", time(*span)),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { span, rate, rtt, queue, flow, app, per_ack, forward } = *self;
        write!(formatter, "run({}, rate {rate}, rtt {}, queue {queue}", time(span), time(rtt))?;
        if flow < u64::MAX {
            write!(formatter, ", flow {flow}")?;
        }
        if app > 0 {
            write!(formatter, ", app {app}")?;
        }
        write!(formatter, ", per-ack {per_ack}")?;
        if let Some(forward) = forward {
            write!(formatter, ", forward {}", time(forward))?;
        }
        formatter.write_str(")")
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(left, comparison, right, within) => {
                write!(formatter, "{left} {} {right}", name_of(&COMPARISONS, *comparison))?;
                within.as_ref().map_or(Ok(()), |within| write!(formatter, " within {within}"))
            }
            Self::PacingNone => formatter.write_str("pacing none"),
            Self::PacingPositive => formatter.write_str("pacing positive"),
            Self::Phase(names) => write!(formatter, "phase {}", names.join(" | ")),
            Self::Startup(true) => formatter.write_str("startup"),
            Self::Startup(false) => formatter.write_str("not startup"),
        }
    }
}

fn range(formatter: &mut fmt::Formatter<'_>, first: u64, last: u64) -> fmt::Result {
    if first == last { write!(formatter, "{first}") } else { write!(formatter, "{first}..{last}") }
}

/// A time in the unit in which it is a short whole number, milliseconds without a unit.
fn time(span: Duration) -> String {
    let nanos = span.as_nanos();
    if nanos.is_multiple_of(1_000_000) {
        format!("{}", nanos / 1_000_000)
    } else if nanos.is_multiple_of(1_000) {
        format!("{} us", nanos / 1_000)
    } else {
        format!("{nanos} ns")
    }
}

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, candidate)| *candidate == value).map_or("?", |(name, _)| *name)
}
