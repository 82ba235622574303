//! Reading a script. Total: any text gives a script or an error that names the line and what was expected.

use super::expression::{Expression, Extreme, Operator};
use super::token::{Token, tokens, whole};
use super::words::{
    BYTE_UNITS, CODEPOINTS, COMPARISONS, DISCARD_REASONS, EVENTS, LIMITS, MILLISECOND, MTU_CHANGES,
    PATH_CHANGES, PICKS, RECEIVE_TIMES, TIME_UNITS,
};
use super::{
    Comparison, Condition, Event, Frame, Line, Link, Pick, ReceiveTime, Received, Script, Selection, Send,
    SendKind, Settings, Statement, Tags, When,
};
use cc_core::{Duration, PacketSpace, ResumeHint};
use std::fmt;

/// Most tokens in a line, so that no expression nests too deep for a recursive walk.
const MAX_TOKENS: usize = 200;
/// Deepest nesting of loops.
const MAX_DEPTH: usize = 8;

/// What is wrong with a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError {
    /// Line number, from 1.
    pub line: usize,
    /// What was expected there, one line.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// The first line that is not understood, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut script = Self::default();
        // Bodies of the loops that are open, innermost last, with line number and count of each.
        let mut open: Vec<(Line, Vec<Line>)> = Vec::new();
        let mut last = 0;
        for (index, text) in text.lines().enumerate() {
            let number = index.saturating_add(1);
            last = number;
            let fail = |message: String| ScriptError { line: number, message };
            if open.is_empty() && script.body.is_empty() && script.header(text).map_err(fail)? {
                continue;
            }
            let (only, rest) = split_tags(text).map_err(fail)?;
            let tokens = tokens(rest).map_err(fail)?;
            if tokens.is_empty() {
                continue;
            }
            if tokens.len() > MAX_TOKENS {
                return Err(fail(format!("expected at most {MAX_TOKENS} words in a line")));
            }
            let mut cursor = Cursor { tokens: &tokens };
            match cursor.line(&mut script).map_err(fail)? {
                Parsed::Setting => {}
                Parsed::Statement(Statement::Loop(count, _)) => {
                    if open.len() >= MAX_DEPTH {
                        return Err(fail(format!("expected at most {MAX_DEPTH} loops inside each other")));
                    }
                    let statement = Statement::Loop(count, Vec::new());
                    open.push((Line { number, only, statement }, Vec::new()));
                }
                Parsed::Statement(statement) => {
                    let body = open.last_mut().map_or(&mut script.body, |(_, body)| body);
                    body.push(Line { number, only, statement });
                }
                Parsed::End => {
                    let Some((mut line, body)) = open.pop() else {
                        return Err(fail("expected a statement, found `}` without a loop".into()));
                    };
                    if let Statement::Loop(_, inner) = &mut line.statement {
                        *inner = body;
                    }
                    open.last_mut().map_or(&mut script.body, |(_, body)| body).push(line);
                }
            }
        }
        match open.last() {
            Some((line, _)) => Err(ScriptError {
                line: last,
                message: format!("expected `}}` for the loop of line {}", line.number),
            }),
            None => Ok(script),
        }
    }

    /// Takes a line of the header; false if it is none.
    fn header(&mut self, text: &str) -> Result<bool, String> {
        let Some((key, value)) = text.split_once(':') else { return Ok(false) };
        let value = value.trim();
        match key.trim() {
            "title" => value.clone_into(&mut self.title),
            "source" if value.is_empty() => {}
            "source" => {
                let space = if self.source.is_empty() { "" } else { " " };
                self.source.push_str(space);
                self.source.push_str(value);
            }
            "applies" => {
                let (tags, reason) = value.split_once(';').unwrap_or((value, ""));
                self.applies = Tags::parse(tags)
                    .ok_or_else(|| format!("expected tags such as `loss-based undo`, found `{tags}`"))?;
                reason.trim().clone_into(&mut self.reason);
                if !self.applies.0.is_empty() && self.reason.is_empty() {
                    return Err("expected `; REASON` why it does not apply to others".into());
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Cuts off `[tags]` at the start.
fn split_tags(text: &str) -> Result<(Tags, &str), String> {
    let text = text.trim_start();
    let Some(rest) = text.strip_prefix('[') else { return Ok((Tags::default(), text)) };
    let (tags, rest) = rest.split_once(']').ok_or("expected `]` after the tags")?;
    let tags = Tags::parse(tags).ok_or_else(|| format!("expected tags in brackets, found `{tags}`"))?;
    Ok((tags, rest))
}

enum Parsed {
    Setting,
    Statement(Statement),
    End,
}

/// The tokens of a line that are left.
struct Cursor<'a> {
    tokens: &'a [Token],
}

type Result2<T> = Result<T, String>;

impl Cursor<'_> {
    fn line(&mut self, script: &mut Script) -> Result2<Parsed> {
        if self.take("}") {
            self.end()?;
            return Ok(Parsed::End);
        }
        let word = self.word("a statement")?;
        let parsed = match word.as_str() {
            "set" => {
                if !script.body.is_empty() {
                    return Err("expected `set` before the first statement".into());
                }
                self.setting(&mut script.settings)?;
                Parsed::Setting
            }
            "let" => {
                let name = self.word("a name")?;
                self.sign("=")?;
                Parsed::Statement(Statement::Let(name, self.expression()?))
            }
            "loop" => {
                let count = self.count("how often")?;
                self.sign("{")?;
                Parsed::Statement(Statement::Loop(count, Vec::new()))
            }
            "expect" => Parsed::Statement(Statement::Expect(self.condition()?)),
            "run" => Parsed::Statement(Statement::Run(self.link()?)),
            event => Parsed::Statement(self.event(event)?),
        };
        self.end()?;
        Ok(parsed)
    }

    fn setting(&mut self, settings: &mut Settings) -> Result2<()> {
        let key = self.word("a setting")?;
        match key.as_str() {
            "mss" => settings.mss = self.bytes("a size")?,
            "iw" => {
                settings.initial_window =
                    if self.take_word("default") { None } else { Some(self.bytes("a window or `default`")?) };
            }
            "start" => settings.start = self.time("a time")?,
            "max-ack-delay" => settings.max_ack_delay = self.time("a time")?,
            "resume" => {
                let cwnd = self.bytes("a window")?;
                settings.resume = Some(ResumeHint { cwnd, rtt: self.time("an RTT")? });
            }
            "paces" => settings.paces = self.one_of(&[("yes", true), ("no", false)])?,
            "ecn" => settings.ecn = self.one_of(&CODEPOINTS)?,
            "handshake" => settings.handshake_done = self.one_of(&[("done", true), ("open", false)])?,
            other => {
                return Err(format!(
                    "expected mss, iw, start, max-ack-delay, resume, paces, ecn or handshake, found `{other}`"
                ));
            }
        }
        Ok(())
    }

    fn event(&mut self, name: &str) -> Result2<Statement> {
        if !EVENTS.contains(&name) {
            return Err(format!(
                "expected {}, let, loop, run, expect or set, found `{name}`",
                EVENTS.join(", ")
            ));
        }
        self.sign("(")?;
        let when = if self.take("+") {
            When::After(self.time("a time after `+`")?)
        } else {
            When::At(self.time("a time")?)
        };
        let event = match name {
            "sent" => self.sent()?,
            "fill" => self.fill()?,
            "ack" => {
                self.sign(",")?;
                let acked = self.selection()?;
                self.sign(")")?;
                return Ok(Statement::Event(
                    when,
                    Event::Frame(self.parts(Frame { acked, ..Frame::default() })?),
                ));
            }
            "lost" => {
                self.sign(",")?;
                let lost = self.selection()?;
                let timer = self.take(",");
                if timer {
                    self.one_of(&[("timer", ())])?;
                }
                self.sign(")")?;
                return Ok(Statement::Event(
                    when,
                    Event::Frame(self.parts(Frame { lost, timer, ..Frame::default() })?),
                ));
            }
            "time" => Event::Time,
            "spurious" => Event::Spurious,
            "app-limited" => Event::AppLimited,
            "mtu" => {
                self.sign(",")?;
                let bytes = self.bytes("a size")?;
                self.sign(",")?;
                Event::Mtu(bytes, self.one_of(&MTU_CHANGES)?)
            }
            "path" => {
                self.sign(",")?;
                Event::Path(self.one_of(&PATH_CHANGES)?)
            }
            "discard" => {
                self.sign(",")?;
                let packets = self.selection()?;
                self.sign(",")?;
                Event::Discard(packets, self.one_of(&DISCARD_REASONS)?)
            }
            "resume" => {
                self.sign(",")?;
                let cwnd = self.bytes("a window")?;
                self.sign(",")?;
                Event::Resume(ResumeHint { cwnd, rtt: self.time("an RTT")? })
            }
            "policy" => {
                self.sign(",")?;
                let packets = self.count("packets per ACK")?;
                self.sign(",")?;
                Event::Policy(packets, self.time("an ack delay")?)
            }
            "ecn" => {
                self.sign(",")?;
                Event::Ecn(self.one_of(&CODEPOINTS)?)
            }
            "handshake" => {
                self.sign(",")?;
                Event::Handshake(self.one_of(&[("done", true), ("open", false)])?)
            }
            _ => {
                self.sign(",")?;
                Event::Limit(self.one_of(&LIMITS)?)
            }
        };
        self.sign(")")?;
        Ok(Statement::Event(when, event))
    }

    fn sent(&mut self) -> Result2<Event> {
        self.sign(",")?;
        let (first, count) = if self.take_word("next") {
            (None, self.count("how many packets")?)
        } else {
            let first = self.count("a packet number or `next`")?;
            let last = if self.take("..") { self.count("the last packet number")? } else { first };
            let count = last.checked_sub(first).and_then(|n| n.checked_add(1));
            (Some(first), count.ok_or("expected a range that ascends")?)
        };
        let mut send =
            Send { first, count, bytes: None, space: PacketSpace::Application, kind: SendKind::Data };
        while self.take(",") {
            if matches!(self.tokens.first(), Some(Token::Number(_))) {
                send.bytes = Some(self.bytes("a size")?);
                continue;
            }
            let word = self.word("a size, a space or a kind")?;
            match word.as_str() {
                "initial" => send.space = PacketSpace::Initial,
                "handshake" => send.space = PacketSpace::Handshake,
                "ack-only" => send.kind = SendKind::AckOnly,
                "padded" => send.kind = SendKind::Padded,
                "no-data" => send.kind = SendKind::Control,
                other => {
                    return Err(format!(
                        "expected a size, initial, handshake, ack-only, padded or no-data, found `{other}`"
                    ));
                }
            }
        }
        Ok(Event::Sent(send))
    }

    fn fill(&mut self) -> Result2<Event> {
        let (mut leave, mut in_one) = (0, false);
        while self.take(",") {
            if self.take_word("leave") {
                leave = self.count("how many packets to leave")?;
            } else {
                self.one_of(&[("in", ())])?;
                self.one_of(&[("one", ())])?;
                in_one = true;
            }
        }
        Ok(Event::Fill { leave, in_one })
    }

    /// `+ lost 1 + ce 2` and so on.
    fn parts(&mut self, mut frame: Frame) -> Result2<Frame> {
        while self.take("+") {
            let part = self.word("a part of the frame")?;
            match part.as_str() {
                "ack" => frame.acked = self.selection()?,
                "lost" => frame.lost = self.selection()?,
                "ce" => frame.ce = Some(self.count("how many marks")?),
                "ect0" => frame.ect0 = Some(self.count("how many packets")?),
                "ect1" => frame.ect1 = Some(self.count("how many packets")?),
                "delay" => frame.delay = Some(self.time("an ack delay")?),
                "received" => frame.received.push(self.received()?),
                "timer" => frame.timer = true,
                "pc" => frame.persistent = true,
                "forced" => frame.forced = true,
                other => {
                    return Err(format!(
                        "expected ack, lost, ce, ect0, ect1, delay, received, timer, pc or forced, found `{other}`"
                    ));
                }
            }
        }
        Ok(frame)
    }

    /// What follows `received`: packets, or all if there are none, and a time.
    fn received(&mut self) -> Result2<Received> {
        let packets = match self.tokens.first() {
            Some(Token::Word(word)) if RECEIVE_TIMES.contains(&word.as_str()) => Selection(vec![Pick::All]),
            _ => self.selection()?,
        };
        let word = self.word("at, after or before")?;
        let time = match word.as_str() {
            "at" => ReceiveTime::At(self.time("a receive time")?),
            "after" => ReceiveTime::After(self.time("a time on the way")?),
            "before" => ReceiveTime::Before(self.time("a time")?),
            other => return Err(format!("expected at, after or before, found `{other}`")),
        };
        Ok(Received { packets, time })
    }

    fn selection(&mut self) -> Result2<Selection> {
        let mut picks = Vec::new();
        if self.take_word("none") {
            return Ok(Selection(picks));
        }
        loop {
            picks.push(self.pick()?);
            let more = match self.tokens {
                [Token::Sign(","), Token::Number(_), ..] => true,
                [Token::Sign(","), Token::Word(word), ..] => PICKS.contains(&word.as_str()),
                _ => false,
            };
            if !more {
                return Ok(Selection(picks));
            }
            self.sign(",")?;
        }
    }

    fn pick(&mut self) -> Result2<Pick> {
        if self.take_word("all") {
            return Ok(Pick::All);
        }
        if self.take_word("first") {
            return Ok(Pick::First(self.count("how many packets")?));
        }
        if self.take_word("last") {
            return Ok(Pick::Last(self.count("how many packets")?));
        }
        if self.take_word("older") {
            return Ok(Pick::Older(self.time("an age")?));
        }
        if self.take_word("next") {
            return Ok(Pick::Next(self.count("how many packets")?));
        }
        let first = self.count("a packet number, all, none, first, last, older or next")?;
        let last = if self.take("..") { self.count("the last packet number")? } else { first };
        if last < first {
            return Err("expected a range that ascends".into());
        }
        Ok(Pick::Range(first, last))
    }

    fn link(&mut self) -> Result2<Link> {
        self.sign("(")?;
        let mut link = Link {
            span: self.time("how long")?,
            rate: 1_250_000,
            rtt: Duration::from_millis(100),
            queue: 125_000,
            flow: u64::MAX,
            app: 0,
            per_ack: 2,
            forward: None,
        };
        while self.take(",") {
            let key = self.word("rate, rtt, queue, flow, app, per-ack or forward")?;
            match key.as_str() {
                "rate" => link.rate = self.bytes("bytes per second")?,
                "rtt" => link.rtt = self.time("an RTT")?,
                "queue" => link.queue = self.bytes("a size")?,
                "flow" => link.flow = self.bytes("a size")?,
                "app" => link.app = self.bytes("bytes per second")?,
                "per-ack" => link.per_ack = self.count("packets per ACK")?,
                "forward" => link.forward = Some(self.time("a time on the way")?),
                other => {
                    return Err(format!(
                        "expected rate, rtt, queue, flow, app, per-ack or forward, found `{other}`"
                    ));
                }
            }
        }
        self.sign(")")?;
        Ok(link)
    }

    fn condition(&mut self) -> Result2<Condition> {
        match self.tokens {
            [Token::Word(pacing), Token::Word(what), ..] if pacing == "pacing" => {
                let condition = match what.as_str() {
                    "none" => Condition::PacingNone,
                    "positive" => Condition::PacingPositive,
                    other => return Err(format!("expected none, positive or a comparison, found `{other}`")),
                };
                self.skip(2);
                return Ok(condition);
            }
            [Token::Word(phase), Token::Word(_), ..] if phase == "phase" => {
                self.skip(1);
                let mut names = vec![self.word("a phase")?];
                while self.take("|") {
                    names.push(self.word("a phase")?);
                }
                return Ok(Condition::Phase(names));
            }
            _ => {}
        }
        if self.take_word("startup") {
            return Ok(Condition::Startup(true));
        }
        if self.take_word("not") {
            self.one_of(&[("startup", ())])?;
            return Ok(Condition::Startup(false));
        }
        let left = self.expression()?;
        let comparison =
            COMPARISONS.iter().find(|(sign, _)| self.take(sign)).map(|(_, comparison)| *comparison);
        let comparison = comparison
            .ok_or_else(|| format!("expected a comparison such as `<=`, found {}", self.found()))?;
        let right = self.expression()?;
        let within = if self.take_word("within") { Some(self.expression()?) } else { None };
        if within.is_some() && comparison != Comparison::Equal {
            return Err("expected `==` before `within`".into());
        }
        Ok(Condition::Compare(left, comparison, right, within))
    }

    fn expression(&mut self) -> Result2<Expression> {
        let mut left = self.term()?;
        loop {
            let operator = if self.take("+") {
                Operator::Plus
            } else if self.take("-") {
                Operator::Minus
            } else {
                return Ok(left);
            };
            left = Expression::Binary(Box::new(left), operator, Box::new(self.term()?));
        }
    }

    fn term(&mut self) -> Result2<Expression> {
        let mut left = self.factor()?;
        loop {
            let operator = if self.take("*") {
                Operator::Times
            } else if self.take("/") {
                Operator::Over
            } else {
                return Ok(left);
            };
            left = Expression::Binary(Box::new(left), operator, Box::new(self.factor()?));
        }
    }

    fn factor(&mut self) -> Result2<Expression> {
        if self.take("(") {
            let inner = self.expression()?;
            self.sign(")")?;
            return Ok(inner);
        }
        if let Some(Token::Number(billionths)) = self.tokens.first() {
            let billionths = *billionths;
            self.skip(1);
            let whole = |unit| whole(billionths, unit).ok_or("expected a whole number of units");
            if self.take_word("mss") {
                let literal = Box::new(Expression::Literal(whole(1)?));
                let mss = Box::new(Expression::Name("mss".into()));
                return Ok(Expression::Binary(literal, Operator::Times, mss));
            }
            let unit = self.unit(&TIME_UNITS).or_else(|| self.unit(&BYTE_UNITS)).unwrap_or(1);
            return Ok(Expression::Literal(whole(unit)?));
        }
        let name = self.word("a number, a name or `(`")?;
        let extreme = match name.as_str() {
            "min" => Extreme::Min,
            "max" => Extreme::Max,
            _ => return Ok(Expression::Name(name)),
        };
        self.sign("(")?;
        let left = self.expression()?;
        self.sign(",")?;
        let right = self.expression()?;
        self.sign(")")?;
        Ok(Expression::Extreme(extreme, Box::new(left), Box::new(right)))
    }

    fn time(&mut self, what: &str) -> Result2<Duration> {
        let billionths = self.number(what)?;
        let unit = self.unit(&TIME_UNITS).unwrap_or(MILLISECOND);
        whole(billionths, unit)
            .map(Duration::from_nanos)
            .ok_or_else(|| format!("expected {what} in whole nanoseconds"))
    }

    fn bytes(&mut self, what: &str) -> Result2<u64> {
        let billionths = self.number(what)?;
        let unit = self.unit(&BYTE_UNITS).unwrap_or(1);
        whole(billionths, unit).ok_or_else(|| format!("expected {what} in whole bytes"))
    }

    fn count(&mut self, what: &str) -> Result2<u64> {
        let billionths = self.number(what)?;
        whole(billionths, 1).ok_or_else(|| format!("expected {what}: a whole number"))
    }

    fn unit(&mut self, units: &[(&str, u64)]) -> Option<u64> {
        let unit = units.iter().find(|(name, _)| self.take_word(name));
        unit.map(|(_, factor)| *factor)
    }

    fn number(&mut self, what: &str) -> Result2<u128> {
        match self.tokens.first() {
            Some(Token::Number(billionths)) => {
                let billionths = *billionths;
                self.skip(1);
                Ok(billionths)
            }
            _ => Err(format!("expected {what}, found {}", self.found())),
        }
    }

    fn word(&mut self, what: &str) -> Result2<String> {
        match self.tokens.first() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.skip(1);
                Ok(word)
            }
            _ => Err(format!("expected {what}, found {}", self.found())),
        }
    }

    fn one_of<T: Copy>(&mut self, choices: &[(&str, T)]) -> Result2<T> {
        match choices.iter().find(|(name, _)| self.take_word(name)) {
            Some((_, choice)) => Ok(*choice),
            None => {
                let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
                Err(format!("expected {}, found {}", names.join(" or "), self.found()))
            }
        }
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token::Word(word)) if word == wanted);
        if found {
            self.skip(1);
        }
        found
    }

    fn sign(&mut self, wanted: &str) -> Result2<()> {
        if self.take(wanted) { Ok(()) } else { Err(format!("expected `{wanted}`, found {}", self.found())) }
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token::Sign(sign)) if *sign == wanted);
        if found {
            self.skip(1);
        }
        found
    }

    fn end(&self) -> Result2<()> {
        if self.tokens.is_empty() {
            Ok(())
        } else {
            Err(format!("expected the end of the line, found {}", self.found()))
        }
    }

    fn found(&self) -> String {
        self.tokens.first().map_or_else(|| "the end of the line".into(), Token::to_string)
    }

    fn skip(&mut self, count: usize) {
        self.tokens = self.tokens.get(count..).unwrap_or(&[]);
    }
}
