//! A transfer in virtual time.

use crate::{Peer, Sender};
use cc_core::{CongestionController, Instant};

/// Lets the sender send all that it has; says when it was done. `None` if it was not by `limit`, or if nothing would ever
/// happen again.
pub fn transfer<C: CongestionController, const N: usize, const M: usize>(
    sender: &mut Sender<C, N>,
    peer: &mut Peer<M>,
    limit: Instant,
) -> Option<Instant> {
    let mut now = Instant::ZERO;
    loop {
        while let Some(ack) = peer.poll(now) {
            sender.on_ack(now, &ack);
        }
        sender.on_time(now);
        while let Some(packet) = sender.poll_transmit(now) {
            peer.send(now, &packet);
        }
        if sender.is_done() {
            return Some(now);
        }
        let next = sender.poll_at().into_iter().chain(peer.poll_at()).min()?;
        now = next.max(now);
        if now > limit {
            return None;
        }
    }
}
