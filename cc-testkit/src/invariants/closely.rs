//! What must hold for every frame, tried on copies: every order of its calls (interface: "Canonical order"), and cut
//! in two (U8).

use super::Checks;
use crate::stack::{Delivery, Honest, Incoming, Part, Stack, sum};
use crate::subject::Family;
use cc_core::CongestionController;

impl<C: CongestionController + Clone> Honest<C> {
    pub(crate) fn examine_frame(
        &self,
        frame: &Incoming<'_>,
        family: Family,
        checks: Checks,
    ) -> Result<(), String> {
        if family != Family::LossBased || !(checks.orders || checks.cut) || frame.forced {
            return Ok(());
        }
        let mut copy = self.clone();
        let delivery = copy.prepare(frame);
        if checks.orders {
            self.every_order(&delivery)?;
        }
        if checks.cut { self.cut_in_two(frame, &delivery) } else { Ok(()) }
    }

    fn every_order(&self, delivery: &Delivery) -> Result<(), String> {
        // A frame that restores a window is not about growth.
        if !delivery.spurious.is_empty() || (delivery.losses.is_empty() && delivery.ecn.is_none()) {
            return Ok(());
        }
        let acked = sum(delivery.acks.iter().map(|packet| packet.bytes));
        // Acks may complete a window of them, which adds a datagram (RFC 9002 section 7.3.3), however few bytes they bring.
        let growth = if acked > 0 { acked.max(delivery.state.max_datagram_size) } else { 0 };
        let mut canonical = None;
        for order in Part::orders() {
            let mut controller = self.controller().clone();
            delivery.deliver(&mut controller, order);
            let events = controller.snapshot().congestion_events;
            let cwnd = controller.cwnd();
            let (expected_events, expected) = *canonical.get_or_insert((events, cwnd));
            if events != expected_events || cwnd.abs_diff(expected) > growth {
                return Err(format!(
                    "U5: order {order:?} gives cwnd {cwnd} after {events} congestion events, the canonical one {expected} \
                     after {expected_events}, and {acked} bytes were acked"
                ));
            }
        }
        Ok(())
    }

    fn cut_in_two(&self, frame: &Incoming<'_>, delivery: &Delivery) -> Result<(), String> {
        let plain = delivery.losses.is_empty() && delivery.spurious.is_empty() && delivery.ecn.is_none();
        // If the sender had no data in the time of the packets acked, the two halves are about different times: one with a
        // pause and one without.
        if delivery.acks.first().is_none_or(|oldest| self.starved_since(oldest.sent_at)) {
            return Ok(());
        }
        // More than two windows in one ACK are a flight that no window allowed; controllers may count less of them.
        let acked = sum(delivery.acks.iter().map(|packet| packet.bytes));
        if acked > self.controller().cwnd().saturating_mul(2) {
            return Ok(());
        }
        if !plain || frame.acked.len() < 2 {
            return Ok(());
        }
        let mut whole = self.clone();
        delivery.deliver(whole.controller_mut(), Part::CANONICAL);
        // The whole one is a copy in which only the controller goes on: the bookkeeping is not needed.
        let (first, second) = frame.acked.split_at(frame.acked.len() / 2);
        let mut cut = self.clone();
        for part in [first, second] {
            let mut half = cut.prepare(&Incoming { acked: part, ..*frame });
            // Two RTT samples instead of one are not what this is about.
            half.state.rtt = delivery.state.rtt;
            half.rtt = half.rtt.and(delivery.rtt);
            half.deliver(cut.controller_mut(), Part::CANONICAL);
            cut.conclude();
        }
        let (one, two) = (whole.controller(), cut.controller());
        // HyStart++ counts RTT samples per ACK, so slow start may end at the one and not at the other.
        let same_search =
            one.snapshot().startup == two.snapshot().startup && one.snapshot().phase == two.snapshot().phase;
        let mss = delivery.state.max_datagram_size;
        if same_search && one.cwnd().abs_diff(two.cwnd()) > mss {
            return Err(format!(
                "U8: cwnd {} after one frame, {} after its two halves",
                one.cwnd(),
                two.cwnd()
            ));
        }
        Ok(())
    }
}
