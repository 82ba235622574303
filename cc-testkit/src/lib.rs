//! A conformance kit for congestion controllers: the bugs that were found in public in sixteen QUIC and TCP stacks, as event
//! scripts that run on any [`CongestionController`](cc_core::CongestionController); invariants that are checked after every
//! event; and proptest strategies whose values are scripts too.
//!
//! ```
//! use cc_testkit::{Options, Script, Subject, run};
//! # #[derive(Clone, Debug)]
//! # struct Fixed;
//! # impl cc_core::CongestionController for Fixed {
//! #     fn on_packet_sent(&mut self, _: &cc_core::PathState, _: &cc_core::SentPacket) {}
//! #     fn on_ack(&mut self, _: &cc_core::PathState, _: &cc_core::AckEvent<'_>) {}
//! #     fn on_loss(&mut self, _: &cc_core::PathState, _: &cc_core::LossEvent<'_>) {}
//! #     fn on_ecn(&mut self, _: &cc_core::PathState, _: &cc_core::EcnEvent) {}
//! #     fn pacing_rate(&self) -> Option<cc_core::Rate> { None }
//! #     fn cwnd(&self) -> u64 { 12_000 }
//! #     fn snapshot(&self) -> cc_core::Snapshot { cc_core::Snapshot::default() }
//! # }
//! let script = Script::parse("
//!     fill(0)
//!     ack(100, 2..10) + lost 1
//!     expect cwnd == 8400
//! ")?;
//! // `Fixed` is a controller whose window never changes.
//! let subject = Subject::loss_based("fixed", |_| Fixed);
//! let report = run(&script, &subject, &Options::default());
//! assert!(report.verdict.is_failure());
//! # Ok::<(), cc_testkit::ScriptError>(())
//! ```
//!
//! # What is in it
//!
//! - [`Script`]: the language, its parser and its printer.
//! - [`run()`] and [`run_on_path`]: drivers. The first keeps honest books of its own (packets, bytes in flight, delivered, lost,
//!   RTT and delivery-rate samples) and makes the calls of a frame in the order of the contract; the second leaves that to
//!   [`cc_core::Path`]. Both record a [`Trace`]; a failure prints it up to the failing step.
//! - [`invariants`]: U1 to U10, with what each holds for.
//! - [`Watched`]: the invariants around a controller in any other stack, simulator or fuzz target. [`delegate_controller`] helps with
//!   other wrappers.
//! - [`cases`]: the 68 cases, and a few rules. [`table`]: all of it on all controllers, printed.
//! - [`strategies`]: plausible and absurd scripts for proptest.
//!
//! # The script language
//!
//! A statement a line; `#` starts a comment. Times are in milliseconds unless they have a unit (`ns us ms s min h d`), since the
//! start of the script, or with `+` since the event before. Sizes are in bytes or `kB MB GB TB`. Packets are numbered from 1 in the
//! order of sending.
//!
//! | header | |
//! |---|---|
//! | `title: ...`, `source: ...` | what it shows; where the bug was found and what says what is right |
//! | `applies: TAGS; REASON` | [tags](Subject::tags) of the subjects that it is for; why not for others |
//! | `set mss 1200`, `set iw 12000` (or `default`), `set start TIME`, `set max-ack-delay 25`, `set resume BYTES RTT`, `set paces yes`, `set ecn off` (`ect0`, `ect1`), `set handshake open` | what the controller is made from |
//!
//! | event | |
//! |---|---|
//! | `sent(T, 1..10)`, `sent(T, next 3, 120 B, initial)` | packets are sent; `handshake`, `ack-only`, `padded`, `no-data` |
//! | `fill(T)`, `fill(T, leave 3)`, `fill(T, in one)` | datagrams until one more would not fit the window (2000 at most), or three before, or one entry for all |
//! | `ack(T, 1..3, 5)` | an ACK frame; `all`, `first 2`, `last 2`, `older 100` (sent 100 ms ago or more), `next 2` (not sent yet), `none` |
//! | `... + lost 4 + ce 2 + ect0 1 + delay 25` | more parts of the same frame; a packet named as lost is not acked |
//! | `... + received 1..3 after 50` | when the receiver got packets of the frame, on its clock: so long `after` they were sent, or `before`, or `at` a time; for all of them without a set. Several parts may follow each other, and a packet that none names has no receive time. The 32 newest packets of a frame can have one |
//! | `... + pc + forced` | persistent congestion whatever the times; told to the controller even where nothing is new, or was never sent |
//! | `lost(T, 1..3)`, `lost(T, 1..3, timer)` | losses in a frame that acks nothing, or found by timer |
//! | `time(T)`, `app-limited(T)`, `limit(T, cwnd)`, `mtu(T, 1400, discovered)`, `path(T, new)`, `discard(T, 1..3, keys)`, `spurious(T)`, `resume(T, BYTES, RTT)`, `policy(T, 10, 25)`, `ecn(T, ect0)`, `handshake(T, done)` | as the methods of the contract |
//! | `run(10 s, rate 1.25 MB, rtt 100, queue 125 kB, flow 1 MB, app 50 kB, per-ack 2, forward 50)` | a sender with data on a link with a drop-tail queue; with `forward`, the part of `rtt` that is the way there, its peer reports receive times |
//! | `loop 10 { ... }` | ends early if nothing happens in it |
//! | `let x = cwnd * 7 / 10` | a value now |
//! | `expect cwnd == x within 1`, `expect pacing positive`, `expect phase recovery`, `expect not startup` | must hold now |
//! | `[cubic] ...` | a statement for some subjects only |
//!
//! Quantities: `cwnd pacing quantum beyond in_flight max_flight delivered lost acked reductions events ssthresh bandwidth
//! model_rtt queueing_delay smoothed_rtt min_rtt latest_rtt rtt_samples mss now beta_loss beta_ce`; `2 mss`, `min(a, b)`, `max(a, b)`. A minus sign needs
//! spaces around it. `reductions` are events with losses or marks that lowered the window, `events` is the controller's own
//! count.
//!
#![doc = include_str!("../docs/own_controller.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod allowance;
mod candidate;
pub mod cases;
mod components;
mod delegate;
pub mod invariants;
mod run;
mod script;
mod stack;
pub mod strategies;
mod subject;
pub mod table;
mod watched;

/// For macros.
#[doc(hidden)]
pub use cc_core as __core;

pub use candidate::Candidate;
pub use invariants::Checks;
pub use run::{Failure, Options, Outputs, Report, Step, Trace, Verdict, run, run_on_path};
pub use script::{
    Comparison, Condition, Event, Expression, Frame, Line, Link, Pick, ReceiveTime, Received, Scope, Script,
    ScriptError, Selection, Send, SendKind, Settings, Statement, Tags, When,
};
pub use subject::{Family, Subject};
pub use watched::{Record, Violation, Watched};
