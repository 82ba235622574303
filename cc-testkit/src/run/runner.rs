//! The interpreter.

use super::Options;
use super::trace::{Failure, Outputs, Report, Step, Trace, Verdict};
use crate::invariants::{Cause, Checks, Monitor, Observed};
use crate::script::{
    Comparison, Condition, Event, Expression, Frame, Line, Scope, Script, Send, SendKind, Statement, When,
};
use crate::stack::{Incoming, Outcome, Outgoing, Stack, Unsupported};
use crate::subject::Subject;
use cc_core::{
    AckPolicy, CongestionController, Duration, EcnCounts, Instant, LossCause, MAX_DATAGRAM_SIZE, MtuChange,
    PacketSpace, PathChange, Rate, ResumeHint, SendLimit,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Most packets of one `fill`: a window without limit must not send for ever.
const MAX_FILL: usize = 2_000;
/// Frames are examined more closely (every order, every cut) in runs with no more packets than this.
pub(super) const MAX_EXAMINED: usize = 600;

/// With [`Options::clones`], the stack is replaced by a clone at every so many-th step, if that is a frame.
const CLONE_EVERY: usize = 3;

/// Why a run stops before its end.
pub(super) enum Stop {
    Failed(usize, String),
    Unsupported(&'static str),
}

impl From<Unsupported> for Stop {
    fn from(unsupported: Unsupported) -> Self {
        Self::Unsupported(unsupported.0)
    }
}

/// A packet as scripts see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) sent_at: Duration,
    pub(super) in_flight: bool,
}

pub(super) struct Runner<'a, S> {
    pub(super) stack: S,
    script: &'a Script,
    options: &'a Options,
    tags: Vec<&'static str>,
    betas: (u64, u64),
    /// Time of the script's zero.
    base: Instant,
    pub(super) now: Duration,
    pub(super) mss: u64,
    pub(super) packets: Vec<Entry>,
    /// No packet before is in flight.
    pub(super) oldest: usize,
    handshake_done: bool,
    variables: BTreeMap<String, i128>,
    monitor: Monitor,
    trace: Trace,
    acked: u64,
    max_flight: u64,
}

impl<'a, S: Stack> Runner<'a, S> {
    pub(super) fn new(
        stack: S,
        subject: &Subject<S::Controller>,
        script: &'a Script,
        options: &'a Options,
        base: Instant,
    ) -> Self {
        Self {
            monitor: Monitor::new(subject, options.checks),
            mss: script.settings.mss.saturating_mul(options.scale).clamp(1, MAX_DATAGRAM_SIZE),
            tags: subject.all_tags(),
            betas: (subject.beta_loss, subject.beta_ce),
            stack,
            script,
            options,
            base,
            now: Duration::ZERO,
            packets: Vec::new(),
            oldest: 0,
            handshake_done: script.settings.handshake_done,
            variables: BTreeMap::new(),
            trace: Trace::default(),
            acked: 0,
            max_flight: 0,
        }
    }

    pub(super) fn run(mut self) -> Report {
        let stop = self
            .guarded(0, |runner| {
                let outputs = runner.outputs();
                runner.monitor.outputs(&outputs, runner.mss).map_err(|message| Stop::Failed(0, message))
            })
            .and_then(|()| self.lines(&self.script.body));
        let verdict = match stop {
            Ok(()) => Verdict::Pass,
            Err(Stop::Unsupported(reason)) => Verdict::NotApplicable(reason.into()),
            Err(Stop::Failed(line, message)) => {
                Verdict::Fail(Box::new(Failure { line, message, trace: self.trace.clone() }))
            }
        };
        Report { verdict, trace: self.trace }
    }

    fn lines(&mut self, body: &'a [Line]) -> Result<(), Stop> {
        for line in body {
            if !line.only.hold(&self.tags) {
                continue;
            }
            match &line.statement {
                Statement::Loop(count, inner) => {
                    for _ in 0..*count {
                        // An empty loop must not spin for ever.
                        let before = self.trace.steps.len();
                        self.lines(inner)?;
                        if self.trace.steps.len() == before {
                            break;
                        }
                    }
                }
                Statement::Let(name, value) => {
                    // Only expectations use it.
                    if !self.options.expectations {
                        continue;
                    }
                    let value = value.evaluate(self).map_err(|m| Stop::Failed(line.number, m))?;
                    self.variables.insert(name.clone(), value);
                }
                Statement::Expect(condition) => {
                    if self.options.expectations {
                        self.expect(condition).map_err(|m| Stop::Failed(line.number, m))?;
                    }
                }
                Statement::Run(link) => self.run_link(line.number, link)?,
                Statement::Event(when, event) => {
                    self.now = match when {
                        When::At(at) => *at,
                        When::After(span) => self.now.plus(*span),
                    };
                    self.event(line.number, event)?;
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, line: usize, event: &Event) -> Result<(), Stop> {
        let now = self.instant();
        match event {
            Event::Sent(send) => self.sent(line, send),
            Event::Fill { leave, in_one } => self.fill(line, *leave, *in_one),
            Event::Frame(frame) => self.frame(line, frame),
            Event::Time => self.quietly(line, "time", |_| Ok(())),
            Event::AppLimited => self.quietly(line, "app-limited", |runner| {
                runner.stack.app_limited(now);
                Ok(())
            }),
            Event::Policy(packets, delay) => {
                let policy = AckPolicy { packets: *packets, max_ack_delay: *delay };
                self.quietly(line, "policy", |runner| {
                    runner.stack.set_policy(now, &policy);
                    Ok(())
                })
            }
            Event::Ecn(codepoint) => self.quietly(line, "ecn", |runner| {
                runner.stack.set_ecn(now, *codepoint);
                Ok(())
            }),
            Event::Handshake(done) => self.quietly(line, "handshake", |runner| {
                runner.stack.set_handshake(*done);
                runner.handshake_done = *done;
                Ok(())
            }),
            Event::Limit(limit) => self.quietly(line, "limit", |runner| {
                runner.stack.set_limit(*limit);
                Ok(())
            }),
            Event::Discard(packets, reason) => {
                let mut chosen = self.select(packets);
                chosen.retain(|id| *id < self.packets.len());
                self.quietly(line, "discard", |runner| {
                    runner.stack.discard(now, &chosen, *reason);
                    runner.settle(&chosen);
                    Ok(())
                })
            }
            Event::Mtu(bytes, change) => {
                self.mss = bytes.saturating_mul(self.options.scale).clamp(1, MAX_DATAGRAM_SIZE);
                // A change before the handshake has finished belongs to it.
                let cause = if self.handshake_done { *change } else { MtuChange::Handshake };
                self.step(line, "mtu", Cause::Mtu(cause), |runner| {
                    runner.stack.set_mtu(now, runner.mss, *change);
                    Ok(())
                })
            }
            Event::Path(change) => self.step(line, "path", Cause::Path(*change), |runner| {
                runner.stack.change_path(now, *change);
                if *change == PathChange::New {
                    for entry in &mut runner.packets {
                        entry.in_flight = false;
                    }
                    runner.oldest = runner.packets.len();
                }
                Ok(())
            }),
            Event::Spurious => {
                self.step(line, "spurious", Cause::Undo, |runner| Ok(runner.stack.all_spurious(now)?))
            }
            Event::Resume(hint) => {
                let hint = ResumeHint { cwnd: hint.cwnd.saturating_mul(self.options.scale), ..*hint };
                self.step(line, "resume", Cause::Resume, |runner| {
                    runner.stack.resume(now, &hint);
                    Ok(())
                })
            }
        }
    }

    fn quietly(
        &mut self,
        line: usize,
        name: &'static str,
        act: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.step(line, name, Cause::Quiet, act)
    }

    /// An event without packets.
    fn step(
        &mut self,
        line: usize,
        name: &'static str,
        cause: Cause,
        act: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let before = self.outputs();
        self.guarded(line, act)?;
        self.acked = 0;
        self.record(line, name, 0, &Outcome::default())?;
        self.verify(line, &before, cause, &Outcome::default())
    }

    fn sent(&mut self, line: usize, send: &Send) -> Result<(), Stop> {
        let next = u64::try_from(self.packets.len()).unwrap_or(u64::MAX).saturating_add(1);
        if let Some(first) = send.first.filter(|first| *first != next) {
            return Err(Stop::Failed(line, format!("packet {first} is sent, but {next} is the next one")));
        }
        let size = send.bytes.map_or(self.mss, |bytes| bytes.saturating_mul(self.options.scale));
        let out = Outgoing {
            bytes: size,
            space: send.space,
            in_flight: send.kind != SendKind::AckOnly,
            ack_eliciting: matches!(send.kind, SendKind::Data | SendKind::Control),
            carries_data: send.kind == SendKind::Data,
        };
        self.stack.set_limit(SendLimit::Unknown);
        for _ in 0..send.count {
            self.send_one(line, &out)?;
        }
        self.record(line, "sent", size.saturating_mul(send.count), &Outcome::default())
    }

    fn fill(&mut self, line: usize, leave: u64, in_one: bool) -> Result<(), Stop> {
        let reserve = self.mss.saturating_mul(leave);
        let mut sent = 0_u64;
        let mut count = 0;
        loop {
            if count == MAX_FILL {
                self.stack.set_limit(SendLimit::Unknown);
                return self.record(line, "fill", sent, &Outcome::default());
            }
            count += 1;
            let room =
                self.stack.controller().cwnd().saturating_sub(self.stack.in_flight()).saturating_sub(reserve);
            if room < self.mss {
                break;
            }
            let whole = room.checked_div(self.mss).unwrap_or(0).saturating_mul(self.mss);
            let bytes = if in_one { whole } else { self.mss };
            self.send_one(line, &Outgoing::data(bytes))?;
            sent = sent.saturating_add(bytes);
        }
        self.stack.set_limit(if leave == 0 { SendLimit::Cwnd } else { SendLimit::Pacer });
        self.record(line, "fill", sent, &Outcome::default())
    }

    /// Sends a packet and checks the outputs. Not recorded.
    pub(super) fn send_one(&mut self, line: usize, out: &Outgoing) -> Result<(), Stop> {
        let most = self.options.max_events;
        if self.packets.len() >= most {
            return Err(Stop::Failed(line, format!("the script sends more than {most} packets")));
        }
        let before = self.outputs();
        let now = self.instant();
        self.guarded(line, |runner| Ok(runner.stack.send(now, out)?))?;
        self.packets.push(Entry { sent_at: self.now, in_flight: out.in_flight });
        self.max_flight = self.max_flight.max(self.stack.in_flight());
        self.acked = 0;
        self.verify(line, &before, Cause::Quiet, &Outcome::default())
    }

    fn frame(&mut self, line: usize, frame: &Frame) -> Result<(), Stop> {
        let lost = self.select(&frame.lost);
        let mut acked = self.select(&frame.acked);
        acked.retain(|id| lost.binary_search(id).is_err());
        let Some(cut) = self.options.cut.filter(|cut| acked.len() > *cut) else {
            return self.frame_of(line, frame, &acked, &lost);
        };
        // All but the last part carry acks only.
        let mut left = acked.as_slice();
        while let Some((part, rest)) = left.split_at_checked(cut.max(1)).filter(|(_, rest)| !rest.is_empty())
        {
            let received = frame.received.clone();
            let bare = Frame { delay: frame.delay, received, forced: frame.forced, ..Frame::default() };
            self.frame_of(line, &bare, part, &[])?;
            left = rest;
        }
        self.frame_of(line, frame, left, &lost)
    }

    fn frame_of(&mut self, line: usize, frame: &Frame, acked: &[usize], lost: &[usize]) -> Result<(), Stop> {
        let counted = frame.ce.is_some() || frame.ect0.is_some() || frame.ect1.is_some();
        let ecn = counted.then(|| EcnCounts {
            ce: frame.ce.unwrap_or(0),
            ect0: frame.ect0.unwrap_or(0),
            ect1: frame.ect1.unwrap_or(0),
        });
        let received = self.receive_times(&frame.received, acked);
        let incoming = Incoming {
            now: self.instant(),
            acked,
            received: &received,
            lost,
            ecn,
            delay: frame.delay,
            cause: if frame.timer { LossCause::Timer } else { LossCause::Ack },
            persistent: frame.persistent,
            forced: frame.forced,
        };
        self.incoming(line, if frame.timer { "timer" } else { "frame" }, &incoming)
    }

    /// A frame arrives: told, recorded, checked.
    pub(super) fn incoming(
        &mut self,
        line: usize,
        name: &'static str,
        incoming: &Incoming<'_>,
    ) -> Result<(), Stop> {
        let before = self.outputs();
        let checks =
            Checks { cut: self.options.checks.cut && self.script.settings.paces, ..self.options.checks };
        if (checks.orders || checks.cut) && self.packets.len() <= MAX_EXAMINED {
            self.guarded(line, |runner| {
                let examined = runner.stack.examine(incoming, runner.monitor.family(), checks);
                examined.map_err(|message| Stop::Failed(line, message))
            })?;
        }
        if self.options.clones
            && self.packets.len() <= MAX_EXAMINED
            && self.trace.steps.len().is_multiple_of(CLONE_EVERY)
        {
            // The original goes ahead and is dropped; the clone must not have noticed.
            let copy = self.stack.clone();
            self.guarded(line, |runner| Ok(runner.stack.receive(incoming).map(|_| ())?))?;
            self.stack = copy;
        }
        let mut outcome = Outcome::default();
        self.guarded(line, |runner| {
            outcome = runner.stack.receive(incoming)?;
            Ok(())
        })?;
        self.settle(incoming.acked);
        self.settle(incoming.lost);
        self.acked = outcome.acked.saturating_add(outcome.late);
        self.record(line, name, 0, &outcome)?;
        self.verify(line, &before, Cause::Frame, &outcome)
    }

    /// Runs what may make a controller panic.
    fn guarded(&mut self, line: usize, act: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        catch_unwind(AssertUnwindSafe(|| act(self))).unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Err(Stop::Failed(line, format!("U3: the controller panicked: {text}")))
        })
    }

    fn record(&mut self, line: usize, event: &'static str, sent: u64, outcome: &Outcome) -> Result<(), Stop> {
        let most = self.options.max_events;
        if self.trace.steps.len() >= most {
            return Err(Stop::Failed(line, format!("the script has more than {most} events")));
        }
        self.trace.steps.push(Step {
            at: self.now.as_nanos(),
            line,
            event,
            sent,
            acked: outcome.acked.saturating_add(outcome.late),
            lost: outcome.lost,
            marks: outcome.marks,
            outputs: self.outputs(),
        });
        Ok(())
    }

    fn verify(&mut self, line: usize, before: &Outputs, cause: Cause, outcome: &Outcome) -> Result<(), Stop> {
        let after = self.outputs();
        let observed = Observed { cause, outcome, next_number: self.stack.next_number(), mss: self.mss };
        self.monitor.check(before, &after, &observed).map_err(|message| Stop::Failed(line, message))
    }

    fn settle(&mut self, chosen: &[usize]) {
        for id in chosen {
            if let Some(entry) = self.packets.get_mut(*id) {
                entry.in_flight = false;
            }
        }
        while self.packets.get(self.oldest).is_some_and(|entry| !entry.in_flight) {
            self.oldest = self.oldest.saturating_add(1);
        }
    }

    pub(super) fn outputs(&self) -> Outputs {
        Outputs::of(self.stack.controller(), self.stack.in_flight())
    }

    pub(super) fn instant(&self) -> Instant {
        self.base.after(self.now)
    }

    pub(super) const fn scale(&self) -> u64 {
        self.options.scale
    }

    /// Place of the next packet in the order of sending.
    pub(super) fn next_place(&self) -> usize {
        self.packets.len()
    }

    fn expect(&self, condition: &Condition) -> Result<(), String> {
        let outputs = self.outputs();
        let holds = match condition {
            Condition::Compare(left, comparison, right, within) => {
                return self.compare(condition, left, *comparison, right, within.as_ref());
            }
            Condition::PacingNone => outputs.pacing.is_none(),
            Condition::PacingPositive => outputs.pacing.is_none_or(|rate| !rate.is_zero()),
            Condition::Phase(names) => names.iter().any(|name| name == outputs.phase),
            Condition::Startup(startup) => outputs.startup == *startup,
        };
        if holds {
            return Ok(());
        }
        Err(format!("expected {condition}; pacing is {:?}, phase {}", outputs.pacing, outputs.phase))
    }

    fn compare(
        &self,
        condition: &Condition,
        left: &Expression,
        comparison: Comparison,
        right: &Expression,
        within: Option<&Expression>,
    ) -> Result<(), String> {
        let (left, right) = (left.evaluate(self)?, right.evaluate(self)?);
        let within = within.map_or(Ok(0), |within| within.evaluate(self))?;
        let holds = match comparison {
            Comparison::Equal => left.saturating_sub(right).saturating_abs() <= within,
            Comparison::Unequal => left != right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::More => left > right,
            Comparison::AtLeast => left >= right,
        };
        if holds {
            return Ok(());
        }
        let within = if within == 0 { String::new() } else { format!(" within {within}") };
        Err(format!("expected {condition}, found {left} and {right}{within}"))
    }
}

impl Outgoing {
    /// A data packet of the application space.
    pub(super) const fn data(bytes: u64) -> Self {
        Self {
            bytes,
            space: PacketSpace::Application,
            in_flight: true,
            ack_eliciting: true,
            carries_data: true,
        }
    }
}

impl<S: Stack> Scope for Runner<'_, S> {
    fn value(&self, name: &str) -> Result<i128, String> {
        let none = || format!("`{name}` has no value now");
        let snapshot = self.stack.controller().snapshot();
        let rtt = self.stack.rtt();
        let value = match name {
            "cwnd" => self.stack.controller().cwnd(),
            "pacing" => self.stack.controller().pacing_rate().map(Rate::as_bytes_per_sec).ok_or_else(none)?,
            "quantum" => self.stack.controller().send_quantum(),
            "beyond" => u64::from(self.stack.controller().may_send_beyond_cwnd()),
            "in_flight" => self.stack.in_flight(),
            "max_flight" => self.max_flight,
            "delivered" => self.stack.delivered(),
            "lost" => self.stack.lost(),
            "acked" => self.acked,
            "reductions" => self.monitor.reductions(),
            "events" => snapshot.congestion_events,
            "ssthresh" => snapshot.ssthresh.ok_or_else(none)?,
            "bandwidth" => snapshot.bandwidth.map(Rate::as_bytes_per_sec).ok_or_else(none)?,
            "model_rtt" => snapshot.model_rtt.map(Duration::as_nanos).ok_or_else(none)?,
            "smoothed_rtt" => rtt.map(|rtt| rtt.smoothed.as_nanos()).ok_or_else(none)?,
            "min_rtt" => rtt.map(|rtt| rtt.min.as_nanos()).ok_or_else(none)?,
            "latest_rtt" => rtt.map(|rtt| rtt.latest.as_nanos()).ok_or_else(none)?,
            "queueing_delay" => snapshot.queueing_delay.map(Duration::as_nanos).ok_or_else(none)?,
            "rtt_samples" => u64::from(rtt.is_some()),
            "mss" => self.mss,
            "now" => self.now.as_nanos(),
            "beta_loss" => self.betas.0,
            "beta_ce" => self.betas.1,
            other => {
                return self
                    .variables
                    .get(other)
                    .copied()
                    .ok_or_else(|| format!("expected a quantity or the name of a `let`, found `{other}`"));
            }
        };
        Ok(i128::from(value))
    }
}

impl Checks {
    /// No invariant at all.
    pub const NONE: Self = Self {
        bounds: false,
        outputs: false,
        growth: false,
        once: false,
        signals: false,
        orders: false,
        cut: false,
    };
    /// All of them.
    pub const ALL: Self = Self {
        bounds: true,
        outputs: true,
        growth: true,
        once: true,
        signals: true,
        orders: true,
        cut: true,
    };
}
