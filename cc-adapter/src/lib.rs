//! What the adapters for quinn, noq and s2n-quic share.
//!
//! These stacks own sockets, clocks, packets and loss detection, and tell a congestion controller less than
//! [`CongestionController`](cc_core::CongestionController) is told, in an order of their own. A [`Ledger`] stands between: it
//! holds a controller and the books that the stack does not hand over (delivered and lost totals, delivery-rate samples, RTT,
//! bytes in flight), collects the calls that belong to one ACK frame, and delivers them in the order of the contract: ECN, RTT,
//! losses, acks. A [`Recipe`] makes a controller for each connection, with a seed of its own. [`SendTimes`] gives back what was
//! remembered of a packet to a stack that names packets by their send time only, [`Packets`] to one that names their numbers; [`Clock`] turns the stack's clock
//! into ours. A [`Flow`] is a ledger on such a clock, with what quinn and noq have in common.
//!
//! # A rate as a window
//!
//! quinn takes no rate, so that its window stands for both ([`Ledger::window_for_rate`]). `rate * smoothed_rtt` grants a queue as much as
//! the path: if the rate is that of the bottleneck, whatever queue there is stays, and if it is a little higher, as a rate measured from
//! batches of ACKs is, the queue grows up to the controller's own window. C4's own window does not end that, since it follows the largest RTT.
//! Of what exceeds the least RTT of the last seconds by more than four RTT variations an eighth is therefore not granted: the queue
//! shrinks by an eighth in a round trip as long as the rate is not above that of the bottleneck, and stays short if it is so
//! by a few percent. A rate a seventh too high (8/7) still fills the controller's window: seen with C4 on a machine that was short of CPU. A
//! quarter instead of an eighth left half of the queues in the model below, and cost C4 1.6 points of throughput under loss instead of 0.8.
//!
//! Measured in a model of quinn on a bottleneck with a tail-drop queue of 100 ms (`tests/rate_window.rs`, means of five runs of 8 s): use of
//! the link in percent and mean RTT in ms, with `rate * smoothed_rtt` and with this rule. Jitter: ACKs up to 1 ms late.
//!
//! | path, no loss | C4 | C4, this rule | BBR | BBR, this rule |
//! |---|---|---|---|---|
//! | 20 Mbit/s, 2 ms | 100.0, 6.7 | 100.0, 7.2 | 98.3, 4.8 | 98.3, 4.6 |
//! | with jitter | 100.0, 68.0 | 100.0, 18.9 | 97.7, 7.9 | 97.7, 7.6 |
//! | 20 Mbit/s, 40 ms | 100.0, 73.3 | 99.8, 42.8 | 96.9, 44.7 | 96.0, 42.3 |
//! | with jitter | 100.0, 113.1 | 100.0, 50.4 | 96.9, 52.8 | 96.9, 46.6 |
//! | 200 Mbit/s, 2 ms | 100.0, 5.0 | 100.0, 2.6 | 97.4, 2.3 | 97.4, 2.3 |
//! | with jitter | 92.8, 2.6 | 92.8, 2.6 | 89.6, 2.6 | 88.5, 2.6 |
//! | 200 Mbit/s, 40 ms | 100.0, 80.8 | 99.7, 41.0 | 96.3, 42.4 | 96.2, 41.7 |
//! | with jitter | 99.9, 55.0 | 99.2, 42.1 | 97.3, 41.8 | 96.7, 41.6 |
//!
//! With 1 % of random loss the means over these paths are 64.6 and 63.8 % for C4, 85.7 and 84.7 % for BBR: less than what single runs differ by.
//! Where jitter is many times the path's RTT (5 ms on 2 ms) the variations cover it and nothing changes; after a path became 60 ms longer, the minimum is
//! forgotten after 10 s at most and costs an eighth of the rate until then. Other rules were tried: with none of the queue granted BBR starves
//! (25 % instead of 73 % of 200 Mbit/s at 2 ms with jitter and loss), and C4's own window alone, without the rate, fills the queue (RTT
//! 89 ms on a path of 2 ms).
//!
//! C4 keeps such queues in the same model also where the stack paces at its rate and the window is the window: 40 ms in the mean over these
//! paths, against 30 ms with `rate * smoothed_rtt` and 5 ms with this rule. They come from its rate and from the largest RTT, not
//! from the window that stands for a rate.
//!
//! It is for writers of adapters. Users of a stack take `cc-quinn`, `cc-noq` or `cc-s2n-quic`.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, reason = "tests compute expected values in plain arithmetic")
)]

mod clock;
mod flow;
mod frame;
mod ledger;
mod packets;
mod recent_min;
mod recipe;
mod send_times;

/// For macros.
#[doc(hidden)]
pub use {cc_bbr, cc_c4, cc_core, cc_cubic, cc_quicdc, cc_reno};

pub use clock::Clock;
pub use flow::{Flow, Locked};
pub use ledger::{Ledger, Sent};
pub use packets::{Known, Packets};
pub use recipe::Recipe;
pub use send_times::SendTimes;
