//! BBR version 3: a model of the path (bandwidth, round-trip time, what is safe in flight) in place of a window that
//! losses shrink.
//!
//! Source: draft-ietf-ccwg-bbr, "BBR Congestion Control", as of August 2026; sections, names and pseudocode functions are
//! cited beside the code. The file names are those of its sections. Integers only, no allocation, 472 bytes.
//!
//! ```
//! use cc_bbr::{Bbr, Config};
//! use cc_core::CongestionController;
//!
//! let bbr = Bbr::new(&Config { seed: 7, ..Config::default() });
//! assert_eq!(bbr.cwnd(), 12_000); // RFC 9002 section 7.2
//! // 2.77 initial windows per millisecond, until an RTT is known.
//! assert_eq!(bbr.pacing_rate().unwrap().as_bytes_per_sec(), 33_240_000);
//! ```
//!
//! # What a stack must give
//!
//! * Pacing: the window alone lets BBR send twice what the path holds at once.
//! * A [`RateSample`](cc_core::RateSample) with each ACK frame, as [`DeliveryRate`](cc_core::DeliveryRate) makes it.
//! * Application-limited times, by [`Path::on_app_limited`](cc_core::Path::on_app_limited) or the sampler of one's own.
//!
//! What some stacks cannot give, and what happens then:
//!
//! * **Rate samples.** A round trip then lasts from a mark until a packet sent after it is acked, by number or else by send time,
//!   and gives one sample: what [`PathState::delivered`](cc_core::PathState::delivered) and
//!   [`lost`](cc_core::PathState::lost) grew by in its time. It is limited if the path was at any ACK of it. There are fewer
//!   samples, they know no send rate, so that clumped ACKs raise them more, and the answer to losses comes up to a round trip
//!   later. Where these totals stand still there is no bandwidth: the pacing rate stays at 2.77 initial windows per
//!   round trip; rounds go on, ProbeRTT ends, and losses lower the window alone.
//! * **Delivery state of lost packets** ([`LostPacket::snapshot`](cc_core::LostPacket)). In its place stand the losses of
//!   the present round trip and the flight before the event. A sum of losses is one burst, of which the prefix that was safe is
//!   computed like that of any packet. The loss rate may come out lower than it is, for a loss told early in a round
//!   (losses told later in the round add up), and higher where the flight has shrunk since the packet was sent. `inflight_longterm` is never set below Beta of the target.
//! * **Runs of losses** ([`LostPacket::starts_run`](cc_core::LostPacket)). Each loss event counts as one range.
//! * **Numbers.** Send times take their place; equal times count as sent before.
//! * **Spurious losses one by one.** [`SpuriousLoss::All`](cc_core::SpuriousLoss) is an undo of the whole episode.
//! * **Sends.** Whether the window was full is then judged by what every ACK carries.
//!
//! # Where the draft is ambiguous or wrong
//!
//! * **Inflated `min_rtt` in ProbeRTT** (section 5.3.4.3, issue 109 of its tracker). Where `probe_rtt_min_delay` and
//!   `min_rtt` have both expired, the pseudocode replaces both by the sample of this ACK, which may hold a whole queue, and sizes
//!   ProbeRTT by it. Here an expired `min_rtt` stays until the ProbeRTT that is due, or runs, is over; then it becomes what that
//!   found.
//! * **Expiry before the first sample** (section 5.2.1 initialises neither `probe_rtt_min_delay` nor its stamp): what was
//!   never measured does not expire, so that no ProbeRTT comes before there is a `min_rtt`.
//! * **`CheckProbeRTT()`** saves the window after it has changed the state, so that `SaveCwnd()` keeps an older, larger one. Here it
//!   is saved before.
//! * **`SaveStateUponLoss()`** is called in each round of losses, and `StartProbeBW_DOWN()` makes the next lost packet of the
//!   same frame the first of a round: it would overwrite what was saved, and the undo state with it. Here state is saved
//!   once per recovery period, as the prose says.
//! * **`HandleRestartFromIdle()`** moves the start of the interval of `extra_acked` but keeps what was acked in it, all of which
//!   would then be an excess. Here both start again. Its prose has "exactly `BBR.bw`", its pseudocode the pacing margin of 1 %:
//!   the margin applies. Where it ends ProbeRTT, the bounds of the state that is entered hold at once.
//! * **Application-limited at a restart**: the draft looks when data is written. A stack may not have said so; a flight
//!   that was empty for longer than two send quanta take was not held back by window or pacer, and counts as idle.
//! * **"`C.inflight` reaches `inflight_longterm`"** (sections 5.3.3.6 and 5.3.3.7): after an ACK the flight is below a window that is
//!   bounded by it, and a window need not be a whole number of datagrams. Here the largest flight since the last ACK counts, and
//!   it has come to the bound if one more datagram would exceed it. All other conditions take the flight after the ACK.
//! * **Units of `IsRenoCoexistenceProbeTime()`** (section 5.3.3.8, issue 27): rounds are compared with a volume. Here with the
//!   volume in whole datagrams, rounded down, and at least the four of `MinPipeCwnd`: with a BDP below a packet the flow would else
//!   probe all the time.
//! * **Drain** has volume caps in the table of section 5.6.1 and none in `BoundCwndForModel()`: the table holds. Gains are taken from the
//!   table, since the pseudocode that enters the states of ProbeBW sets none.
//! * **`Inflight()`** is called with and without a bandwidth: `IsTimeToCruise()` uses `max_bw` as it says, all others `bw`.
//! * **Loss exit from Startup** (section 5.3.1.3 has no pseudocode): judged with the ACK that ends a round of losses, by the packet
//!   that it acks, if recovery lasts then and six ranges were lost in the round. It also sets `full_bw_now`, as the appendix has it.
//! * **The threshold** is "exceeds" in `IsInflightTooHigh()` and "at or above" in the derivation of the prefix: exceeds. The prefix of a
//!   packet is at least nothing and at most the packet.
//! * **A round that ends with an ACK without a reliable rate sample** is none for the full pipe estimator.
//! * **The first pacing rate** is computed anew with the first RTT sample, since it could else only rise (section 5.6.2).
//! * **Filters.** `max_bw` is the maximum of this and the last cycle, recomputed with samples as the pseudocode says; that of
//!   `extra_acked` covers the present round and the nine before, in Startup the present one only (section 5.5.9), by the algorithm
//!   that section 5.5.5 names.
//! * **`C.is_cwnd_limited`**: the newest moment at which no further datagram fit counts until a packet is acked that was sent after the
//!   next ACK.
//! * **Limited probes** (sixth case of the appendix): the bound is "updated appropriately" after losses of limited packets.
//!   `HandleInflightTooHigh()` leaves it as it is, and so does this crate.
//! * **`MarkConnectionAppLimited()`** in ProbeRTT is told by `marks_app_limited`, for the ACK that ends the state too.
//!
//! # What QUIC makes of it
//!
//! * **Recovery** is the period of RFC 9002 section 7.3.2: from a loss until a packet sent after it is acked. So "fast recovery for
//!   a round trip" is its whole length.
//! * **RTO**: QUIC has none. Persistent congestion (RFC 9002 section 7.6) takes its place: the window becomes the
//!   minimum of that section, two datagrams (the draft: the flight and one packet), and stays there until a packet sent later
//!   is acked. Then it grows with the acks. It is not restored at the end of recovery, which in QUIC is one round trip later and
//!   long before what was lost is repaired; an undo restores it. A probe timeout by itself is no event.
//! * **Spurious loss**: an episode, which begins with a recovery period, is spurious when every byte that it declared lost
//!   was acked, whatever the number of rounds. As in the draft there is one set of saved bounds: an episode that begins before
//!   the last one has turned out spurious takes its place, and what the older one lowered stays lowered. An undo computes `bw`, pacing
//!   rate and window at once; the pseudocode leaves that to the next ACK.
//! * **Offload budget**: one quantum, and `min(threshold, delay * max_bw)` once an ACK policy of the peer was announced. There is no
//!   pacing offload.
//! * **ACK frequency** (section 4.1.3.3): [`wanted_ack_policy`](cc_core::CongestionController::wanted_ack_policy) asks for four
//!   ACKs per round trip in Startup, Drain, REFILL and UP; after a quarter of the window or half of the minimum RTT in DOWN and
//!   CRUISE, and as in UP if the window ran full there; for one per packet in ProbeRTT.
//! * **Sums** are 64 bits wide, but for three that saturate at 4 GiB: the excess of acks, the window that resuming retreats to, and
//!   the losses of an episode, which single spurious losses no longer undo then.
//! * **RTT samples** are those of the newest packet of each frame, ack delay included, at least 1 us. A clock that went back gives
//!   none.
//! * What acks cannot be for is not believed: packets with numbers that were not given yet, more bytes than were in flight, and more
//!   bytes acked late than were declared lost. A loss report without any packet of the path changes nothing.
//! * **A new path** begins at the next packet number, or else at the present time; a clock that goes back behind that
//!   time takes it along. ProbeRTT never lasts longer than its duration from the present time on.
//!
//! # ECN
//!
//! The draft specifies no response and demands one (section 3.7). BBR asks for no ECN (`wanted_ecn` is not-ECT), since what it
//! would gain is not specified. If the stack uses a codepoint all the same, any CE mark is congestion, on ECT(0) and
//! ECT(1) alike, answered once per round trip, by no less than CUBIC's answer to a loss (Beta is 0.7 in both):
//!
//! * in Startup the search ends as after high losses;
//! * in REFILL and UP the probe ends as after high losses, and `inflight_longterm` becomes Beta of the flight, but no less than
//!   Beta of the target, for limited flows too; it never rises by a mark;
//! * elsewhere the short-term bounds become Beta of what they were, or of `max_bw` and the window. What was
//!   delivered does not count here: marked packets arrive, so that it shows no congestion.
//!
//! No undo of a loss raises what a mark lowered.
//!
//! # Beyond the draft
//!
//! * **A saved window** ([`Config::resume`], a subset of RFC 9959): if the first RTT sample is within a quarter of it of the saved
//!   RTT and nothing was lost, the window jumps to half of the saved one and the pacing rate to what sends that in a round
//!   trip. Startup goes on from there. The window does not grow before a packet of the jump is acked. Congestion
//!   before all of them are acked ends Startup, and holds the window to half of what was acked for a round trip. Without a
//!   saved window nothing differs from the draft.
//! * The pacing rate is at least 1 B/s, and stays as it is while no bandwidth is known. The send quantum is never above 64 KiB, which
//!   two datagrams of more than 32 KiB are.
//! * The send quantum is at most a quarter of the BDP, where that is more than two datagrams. Section 5.6.3 allows other rules than
//!   its millisecond and wants the smallest quanta that are feasible: at an RTT of 2 ms a millisecond is half of the BDP, and each burst
//!   overran a queue of a quarter of it (a transfer took 3.4 s instead of 2.1 s).
//! * The window is at least two datagrams, whatever happened; four with the next ACK. A change of the datagram size raises it to
//!   two at most, but for the initial window in the handshake (RFC 9002 section 7.2).
//!
//! # Tests of the appendix
//!
//! `tests/appendix.rs` has the draft's 22 example test cases under their names. Where its conditions cannot be had as they stand:
//!
//! * **Exiting DRAIN Based on Time**: 55 % less bandwidth in place of 10 %, with which the flight comes to the target within a round.
//! * **Exiting PROBE_DOWN After Max Time**: 10 % less while `inflight_longterm` is infinite, and 12 % less where it is finite. The
//!   pacing margin of 1 % drains the queue of 10 % in 3 s.
//! * **Exiting PROBE_UP on Bandwidth Plateau**: once as the path is, where pacing is the limit, and once with twice the RTT, where the
//!   window is.
//! * **Exiting PROBE_UP on Loss When Application-Limited**: the bound stays, see above.
//! * **Handling Application-Limited Sending During PROBE_REFILL**, step 3: while a flow is limited the filter of `max_bw` does not
//!   advance, so that a sample that was wrongly taken would not show. A unit test advances it by hand.
//! * **Handling Loss During PROBE_UP**, step 4: more than the BDP is in flight in UP, so that Beta never is the larger bound. A unit test
//!   has the smaller flight.
//! * **Handling Spurious RTO Recovery**: losses found by timer, and persistent congestion undone as a whole.
//!
//! # Not here
//!
//! What concerns TCP only (connections without selective acks, its offload budget), the QUIC receive timestamps of section 4.1.3.3
//! (a MAY), and ProbeRTT triggered from outside (an experiment of section 5.3.4.2).
//!
//! # Properties to know
//!
//! Those of the algorithm, kept as they are.
//!
//! * **One flow uses 96.8 to 96.9 % of a bottleneck** of 40 ms, not 98 %. In ProbeRTT it sends nothing until half of a BDP has left, and then
//!   at half the rate for 200 ms: 100 ms and half of an RTT are missing in each 5.2 s. That is 2.3 % (section 5.3.4.2 counts
//!   2 %), and 2.6 % with a BDP of 21 datagrams, half of which are 10. The margin of 1 % costs 0.6 to 0.8 %: it counts where no
//!   probe has left a queue. `tests/long_run.rs` has the sums and finds no more than 0.1 % that they do not explain. An RTT that only
//!   equals the minimum does not put off ProbeRTT (section 5.3.4.1: "a lower RTT measurement").
//! * **More bandwidth is found by the next probe**: 2 to 3 s after the last one, or sooner after as many rounds as the BDP has
//!   datagrams, of which there are 62 at most (section 5.3.3.8). Then UP grows into it by a quarter per step, which shows a
//!   round trip later. The `inflight_longterm` that losses of Startup leave delays that by some rounds.
//! * **A probe that comes a round trip before the path widens** ends with losses, and the next one is 2 to 3 s away.
//! * **After ProbeRTT the wait for the next probe begins again** (section 5.3.4.4).
//! * An RTT that grows is believed after up to 10 s; until then the window is too small for it.
//! * Losses that go on between probes, unrelated to the load, leave each round trip 0.7 of the short-term bounds.
//! * With a BDP below four packets, the four that ProbeRTT keeps in flight become the minimum RTT after 10 s.
//! * ACKs that come in clumps longer than a round trip make the bandwidth look higher than it is.
//!
//! # What picoquic has beyond the draft
//!
//! The tables of draft-huitema-ccwg-c4-test have the BBR of picoquic, whose extensions no section of the draft has. They are not here:
//!
//! * After Startup, while `max_bw` grows from cycle to cycle, it waits for one RTT and up to 250 ms before it probes, not for 2 to
//!   3 s ("rapid start").
//! * In ProbeBW, a `bw` of more than 1.5 times that at its entry begins Startup anew.
//! * UP ends after an RTT with more than 1.25 BDP in flight, or an RTT that is too long; Startup with such an RTT too.
//! * An RTT within 5 % and two packets of the minimum puts off ProbeRTT and expiry.
//! * No loss counts as too high up to three packets.
//!
//! What they are worth, in seconds: the mean of the published table, those of picoquic as it is and without the named extensions (300
//! seeds of its random waits, which are else the same in each run), and ours (1000 seeds):
//!
//! | event | table | as it is | without the first | the first two | the first three | ours |
//! |---|---:|---:|---:|---:|---:|---:|
//! | `low_and_up` | 7.507 | 7.507 | 8.038 | 7.973 | 8.057 | 8.051 |
//! | `drop_and_back` | 7.627 | 7.628 | 7.712 | 7.708 | 7.735 | 7.909 |
//!
//! In `low_and_up` the rate doubles at 2.5 s. picoquic has probed three times by then; its fourth UP begins at 2.67 s, shows more than
//! before at 2.77 s, and leads to Startup at 3.04 s. By the draft a flow that enters ProbeBW at 1.06 s probes between 3.17 s and
//! 4.17 s, and each second of waiting costs half a second of transfer: 7.79 to 8.35 s. No rule that the draft has or leaves open
//! shortens the wait.
//!
//! In `drop_and_back` a probe that begins before the rate is back, at 3.5 s, costs a second: three of ten runs here, one of six there.
//! Two rounds of losses have brought `bw_shortterm` from 7.26 to 5.08 Mbit/s by then, the second by Beta, and 0.99 of that is more
//! than the path's 5: the queue stays full, and REFILL loses at once. picoquic had a third such round.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::float_arithmetic,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "tests compute expected values in plain arithmetic"
    )
)]

#[cfg(test)]
extern crate std;

mod access;
mod ack_frequency;
mod arithmetic;
mod config;
mod constants;
mod controller;
mod drain;
mod ecn;
mod extra_acked;
mod filter;
mod full_bw;
mod idle_restart;
mod inflight_longterm;
mod loss_model;
mod max_bw;
mod min_rtt;
mod offload_budget;
mod outputs;
mod probe_bw;
mod probe_rtt;
mod random;
mod recovery;
mod resume;
mod round;
mod sample;
mod shortterm;
mod startup;
mod state;
mod undo;

#[cfg(test)]
mod tests;

pub use config::Config;
pub use probe_bw::ProbeWait;
pub use state::{Bbr, State};
