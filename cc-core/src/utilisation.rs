//! Whether the congestion window was used, so that it may grow (RFC 9002 section 7.8 and
//! draft-ietf-ccwg-ratelimited-increase).
//!
//! A window that was not used says nothing about the path, and growing it stores up a burst. A paced sender
//! that has data all the time must still grow although its flight rarely touches the window. The judgement is
//! made from what every ACK carries, so it works for stacks that never report sends.

use crate::slow_start::{SendMark, SendRound};
use crate::{AckEvent, Duration, Instant, MAX_DATAGRAM_SIZE, PathState, SendLimit};

/// Room, in datagrams, that a flight may leave in the window and still count as filling it, where the stack
/// does not say what stopped it: pacing and packetisation leave a few (the value that several stacks use).
const FULL_SLACK: u64 = 3;

/// Which document limits the growth of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IncreaseRule {
    /// RFC 9002 section 7.8, the default: no growth while the window is underutilised. It is the published rule and
    /// the more conservative one; RFC 9438 section 5.8 has the same.
    #[default]
    Rfc9002,
    /// draft-ietf-ccwg-ratelimited-increase, section "Rate-Limited Increase": the window may grow, but not above
    /// what acks for the largest flight since the last reduction can yield.
    RateLimited,
}

/// How a window grows for each window acked: it gives `limit(maxFS)` of draft-ietf-ccwg-ratelimited-increase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowGrowth {
    /// Slow start: `2 * maxFS`.
    Doubling,
    /// Reno's congestion avoidance: `maxFS` plus one datagram.
    Additive,
    /// CUBIC's: `1.5 * maxFS`, the most that its target allows for one window (RFC 9438 section 4.2).
    Cubic,
}

/// The judgement of one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Utilisation {
    rule: IncreaseRule,
    /// Whether the window was full in the current round of sends.
    filled: bool,
    /// Whether it was full in the round before, whose acks arrive now.
    filled_before: bool,
    /// Whether the next ACK part continues a frame.
    mid_frame: bool,
    /// What the newest ACK showed of the window, for more ACKs of the same moment.
    use_of_window: WindowUse,
    /// Verdict on the newest ACK.
    utilised: bool,
    /// Whether the window was reduced since the last ACK, so that the largest flight since then is out of date.
    reduced: bool,
    /// `maxFS`: largest flight since the last reduction, in bytes.
    max_flight: u64,
    /// The moment after the last one at which something other than window and pacer is known to have stopped the
    /// sender; zero for never.
    fed_since: Instant,
    /// The running round, unpacked.
    round_start: SendMark,
    round_has_begun: bool,
    /// When the newest ACK came.
    acked_at: Instant,
}

/// How the flight before an ACK lies to the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WindowUse {
    /// No ACK since the last packet sent, or none at all.
    Unknown,
    /// The window was not used.
    Spare,
    /// Only so much was left that pacing or packetisation may be the reason.
    Nearly,
    /// The window was full in this round of sends or in the one before.
    Full,
}

impl Utilisation {
    /// Before the first packet, with an initial window in bytes: `maxFS` starts there.
    #[must_use]
    pub const fn new(rule: IncreaseRule, initial_window: u64) -> Self {
        let (round_start, round_has_begun) = SendRound::new().unpack();
        Self {
            rule,
            filled: false,
            filled_before: false,
            mid_frame: false,
            use_of_window: WindowUse::Unknown,
            utilised: false,
            reduced: false,
            max_flight: initial_window,
            fed_since: Instant::ZERO,
            round_start,
            round_has_begun,
            acked_at: Instant::ZERO,
        }
    }

    /// A packet was sent; `path` is the state after it. Optional: sharpens `maxFS`, and tells two ACKs of one moment apart.
    pub fn on_packet_sent(&mut self, path: &PathState) {
        self.use_of_window = WindowUse::Unknown;
        self.max_flight = self.max_flight.max(path.bytes_in_flight);
    }

    /// No data was left while window and pacer allowed sending. Optional where
    /// [`AckEvent::app_limited_at`] is filled.
    pub fn on_app_limited(&mut self, now: Instant) {
        self.fed_since = self.fed_since.max(moment_after(now));
    }

    /// Packets were acked, the window being `cwnd` bytes before any growth for them. Returns whether
    /// the window may grow for them; [`limit`](Self::limit) applies besides.
    pub fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>, cwnd: u64, slow_start: bool) -> bool {
        let flight = ack.max_bytes_in_flight.max(path.prior_bytes_in_flight).max(path.bytes_in_flight);
        self.track_flight(path, ack, flight);
        // What an ACK says about the time before it is taken once, however the ACK is cut.
        let goes_on = self.use_of_window != WindowUse::Unknown && path.now == self.acked_at;
        if !goes_on {
            self.acked_at = path.now;
            self.take_flight(path, ack, flight, cwnd, slow_start);
        }
        if matches!(ack.limited_by, SendLimit::NoData | SendLimit::FlowControl | SendLimit::Amplification) {
            self.on_app_limited(path.now);
        }
        self.mid_frame = !ack.last;
        // The flags are used for the ACKs of this moment before a new round clears them.
        if self.is_end_of_round(path, ack) {
            self.filled_before = self.filled;
            self.filled = false;
        }
        self.utilised = match self.rule {
            IncreaseRule::RateLimited => true,
            IncreaseRule::Rfc9002 => self.would_fill(ack),
        };
        self.utilised
    }

    /// The frame is complete, whether or not its last part reached [`on_ack`](Self::on_ack) (it may have acked nothing).
    pub const fn on_frame_end(&mut self) {
        if self.mid_frame {
            self.mid_frame = false;
            self.reduced = false;
        }
    }

    /// The window was reduced, for whatever reason: `maxFS` starts again with the first flight after it.
    pub const fn on_reduction(&mut self) {
        self.max_flight = 0;
        self.reduced = true;
    }

    /// Largest window in bytes that growth may reach: `limit(maxFS)`, or no limit under
    /// [`IncreaseRule::Rfc9002`]. A window that is above it already stays.
    #[must_use]
    pub fn limit(&self, growth: WindowGrowth, max_datagram_size: u64) -> u64 {
        if self.rule == IncreaseRule::Rfc9002 {
            return u64::MAX;
        }
        match growth {
            WindowGrowth::Doubling => self.max_flight.saturating_mul(2),
            WindowGrowth::Additive => self.max_flight.saturating_add(max_datagram_size),
            WindowGrowth::Cubic => self.max_flight.saturating_add(self.max_flight / 2),
        }
    }

    /// Verdict on the newest ACK.
    #[must_use]
    pub const fn is_utilised(&self) -> bool {
        self.utilised
    }

    /// `maxFS`: largest flight since the last reduction, in bytes.
    #[must_use]
    pub const fn max_flight(&self) -> u64 {
        self.max_flight
    }

    fn is_end_of_round(&mut self, path: &PathState, ack: &AckEvent<'_>) -> bool {
        let mut round = SendRound::pack(self.round_start, self.round_has_begun);
        let ended = round.on_ack(path, ack);
        (self.round_start, self.round_has_begun) = round.unpack();
        ended
    }

    fn track_flight(&mut self, path: &PathState, ack: &AckEvent<'_>, flight: u64) {
        // The maximum since the last ACK still contains the flight before a reduction.
        let flight = if self.reduced { path.bytes_in_flight } else { flight };
        self.max_flight = self.max_flight.max(flight);
        self.reduced &= !ack.last;
    }

    /// Takes in how full the window was before an ACK.
    fn take_flight(
        &mut self,
        path: &PathState,
        ack: &AckEvent<'_>,
        flight: u64,
        cwnd: u64,
        slow_start: bool,
    ) {
        let datagram = path.max_datagram_size.min(MAX_DATAGRAM_SIZE);
        let full = ack.limited_by == SendLimit::Cwnd || flight.saturating_add(datagram) > cwnd;
        if !self.round_has_begun {
            // What was sent before the first ACK of a flight is what the ACKs of this round are for.
            self.filled_before = full;
        } else {
            self.filled |= full;
        }
        let nearly = if slow_start {
            // In a paced slow start the flight trails the window that doubles ahead of it.
            flight.saturating_mul(2) >= cwnd
        } else {
            flight.saturating_add(FULL_SLACK.saturating_mul(datagram)) >= cwnd
        };
        self.use_of_window = match (self.filled || self.filled_before, nearly) {
            (true, _) => WindowUse::Full,
            (false, true) => WindowUse::Nearly,
            (false, false) => WindowUse::Spare,
        };
    }

    /// Whether the sender filled the window, or would have without pacing (RFC 9002 section 7.8).
    fn would_fill(&self, ack: &AckEvent<'_>) -> bool {
        match (self.use_of_window, ack.limited_by) {
            (WindowUse::Full, _) | (_, SendLimit::Cwnd) => true,
            (_, SendLimit::Pacer) | (WindowUse::Nearly, SendLimit::Unknown) => {
                self.never_starved_since_sent(ack)
            }
            (_, SendLimit::NoData | SendLimit::FlowControl | SendLimit::Amplification)
            | (WindowUse::Unknown | WindowUse::Spare, SendLimit::Unknown) => false,
        }
    }

    /// Whether only window and pacer stopped the sender since it sent the newest data acked: a whole round
    /// trip in which it had data all the time.
    fn never_starved_since_sent(&self, ack: &AckEvent<'_>) -> bool {
        let newest_acked = ack.packets.last().map(|packet| packet.sent_at);
        let fed_since = ack.app_limited_at.map_or(self.fed_since, |at| self.fed_since.max(moment_after(at)));
        fed_since == Instant::ZERO
            || ack.newest_data_sent_at.or(newest_acked).is_some_and(|sent_at| sent_at >= fed_since)
    }
}

const fn moment_after(at: Instant) -> Instant {
    at.after(Duration::from_nanos(1))
}

#[cfg(test)]
mod tests;
