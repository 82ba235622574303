//! Sending: the window, the pacer, and packets on their way.

use super::Path;
use super::entry::{Entry, State};
use crate::{CongestionController, Instant, OutgoingPacket, PacketSpace, SendLimit, SentPacket};
use std::fmt;

/// Whether a packet may be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendDecision {
    /// Now.
    Now,
    /// Not before this time, which is in the future: the pacer asks to wait.
    At(Instant),
    /// Not before an event: the window is full ([`SendLimit::Cwnd`]) or the ring is ([`SendLimit::Unknown`], so
    /// that no controller takes a lack of memory for a full window).
    Blocked(SendLimit),
}

/// The ring has no room for one more packet in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RingFull;

impl fmt::Display for RingFull {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no room for one more packet in flight")
    }
}

impl core::error::Error for RingFull {}

/// A packet in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outstanding {
    /// Its number.
    pub number: u64,
    /// Its send time.
    pub sent_at: Instant,
    /// Its size in bytes, as clamped.
    pub bytes: u64,
    /// Its packet number space.
    pub space: PacketSpace,
}

impl<C: CongestionController, const N: usize> Path<C, N> {
    /// Most bytes that may be in flight: the congestion window, or what the free entries of the ring allow
    /// with datagrams of the maximum size, whichever is less.
    #[must_use]
    pub fn window(&self) -> u64 {
        let room =
            self.config.max_datagram_size.saturating_mul(u64::try_from(self.ring.free()).unwrap_or(u64::MAX));
        self.controller.cwnd().min(self.bytes_in_flight.saturating_add(room))
    }

    /// Whether the ring has no room for one more packet in flight.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.ring.free() == 0
    }

    /// Whether a packet of `bytes` bytes may be sent at `now`, by window and pacer. What stops it is remembered
    /// for [`AckEvent::limited_by`](crate::AckEvent::limited_by) until the next attempt; where nothing does, the limit is
    /// unknown until something stops an attempt or the stack names it. So a stack asks before each packet, and once more
    /// behind the last that it has data for, or says [`Path::on_app_limited`]; growth of the window depends on it.
    ///
    /// Without a pacing rate nothing but the window limits bursts: see
    /// [`pacing_rate`](CongestionController::pacing_rate) for when that is enough (RFC 9002 section 7.7).
    ///
    /// Not to be asked for probes, which no window holds back (RFC 9002 section 7.5), nor for ACK-only packets
    /// (section 7.7).
    pub fn poll_send(&mut self, now: Instant, bytes: u64) -> SendDecision {
        if self.is_full() {
            self.limited_by = SendLimit::Unknown;
            return SendDecision::Blocked(SendLimit::Unknown);
        }
        // RFC 9002 section 7: a packet must not raise bytes_in_flight above the window, but for the one that
        // section 7.3.2 allows on entering recovery.
        if self.bytes_in_flight.saturating_add(bytes) > self.controller.cwnd()
            && !self.controller.may_send_beyond_cwnd()
        {
            self.limited_by = SendLimit::Cwnd;
            return SendDecision::Blocked(SendLimit::Cwnd);
        }
        self.update_pacer(now);
        let departure = self.pacer.departure(now, bytes);
        if departure > now {
            self.limited_by = SendLimit::Pacer;
            return SendDecision::At(departure);
        }
        // Nothing stopped this attempt. What stopped an earlier one must not stay for ever: a sender that runs out of data
        // without saying so would look limited by its window, which may then grow though it is not used (RFC 9002
        // section 7.8).
        self.limited_by = SendLimit::Unknown;
        SendDecision::Now
    }

    /// When the pacer lets a packet of `bytes` bytes leave, whatever the window says: at most `now` means at once.
    /// For a stack that does its own test of the window.
    pub fn departure(&mut self, now: Instant, bytes: u64) -> Instant {
        self.update_pacer(now);
        self.pacer.departure(now, bytes)
    }

    /// Bytes that the pacer lets leave at `now`, whatever the window says: at most one burst, `u64::MAX` if unpaced.
    pub fn pacing_allowance(&mut self, now: Instant) -> u64 {
        self.update_pacer(now);
        self.pacer.allowance(now)
    }

    /// Says what stopped the last attempt to send, for a stack that does its own send test or is held back by
    /// something else. It stands until the next call, or the next answer of [`Path::poll_send`].
    pub fn note_limit(&mut self, limit: SendLimit) {
        self.limited_by = limit;
    }

    /// No data is left to send although window and pacer allow it. Ignored while the window is full: then the
    /// window is the limit (draft-ietf-ccwg-bbr, "Detecting application-limited phases").
    pub fn on_app_limited(&mut self, now: Instant) {
        // At or above `window`.
        if self.is_full() || self.bytes_in_flight >= self.controller.cwnd() {
            return;
        }
        self.limited_by = SendLimit::NoData;
        self.app_limited_at = Some(now);
        self.rate.on_app_limited(self.bytes_in_flight);
        let state = self.state(now);
        self.told().on_app_limited(&state);
    }

    /// A packet was handed to the network. Answers with its number.
    ///
    /// A packet that is not in flight (ACK-only) takes no entry: it is told to the controller under the number
    /// that the next packet in flight will get, is never paced, and must not be acked or lost by that number.
    ///
    /// # Errors
    ///
    /// [`RingFull`] if the packet is in flight and the ring has no room; nothing is changed then.
    pub fn on_packet_sent(&mut self, now: Instant, packet: &OutgoingPacket) -> Result<u64, RingFull> {
        let packet = OutgoingPacket { bytes: packet.bytes.min(u64::from(u16::MAX)), ..*packet };
        if !packet.in_flight {
            let number = self.ring.next_number();
            let state = self.state(now);
            self.told().on_packet_sent(&state, &sent(number, &packet));
            return Ok(number);
        }
        if self.is_full() {
            return Err(RingFull);
        }
        self.restart_if_idle(now);

        let prior_bytes_in_flight = self.bytes_in_flight;
        let bytes_in_flight = prior_bytes_in_flight.saturating_add(packet.bytes);
        if self.is_held_back(packet.space) {
            self.rate.on_app_limited(prior_bytes_in_flight);
        }
        let snapshot = self.rate.on_sent(packet.sent_at, prior_bytes_in_flight, bytes_in_flight);
        let number = self.ring.push(Entry::new(&packet, &snapshot))?;
        self.bytes_in_flight = bytes_in_flight;
        self.max_bytes_in_flight = self.max_bytes_in_flight.max(bytes_in_flight);

        self.update_pacer(now);
        self.pacer.on_sent(now, packet.sent_at, packet.bytes);

        let state = self.state_after(now, prior_bytes_in_flight);
        self.told().on_packet_sent(&state, &sent(number, &packet));
        Ok(number)
    }

    /// The packets in flight, ascending; those marked by the frame that is being collected are left out.
    pub fn outstanding(&self) -> impl Iterator<Item = Outstanding> + '_ {
        (self.ring.unsettled()..self.ring.next_number()).filter_map(|number| {
            self.outstanding_entry(number).map(|entry| Outstanding {
                number,
                sent_at: entry.sent_at(),
                bytes: entry.bytes(),
                space: entry.space(),
            })
        })
    }

    /// Whether the packet is in flight and not marked by the frame that is being collected.
    #[must_use]
    pub fn is_outstanding(&self, number: u64) -> bool {
        self.outstanding_entry(number).is_some()
    }

    /// The lowest number of [`Path::outstanding`].
    #[must_use]
    pub fn oldest_outstanding(&self) -> Option<u64> {
        // None is below those that are settled, and as a rule it is the first behind them.
        let is_outstanding =
            |index| self.ring.at(index).is_some_and(|entry: &Entry| entry.state() == State::Outstanding);
        self.ring
            .unsettled_indexes()
            .find(|&index| is_outstanding(index))
            .map(|index| self.ring.number(index))
    }

    /// The number that the next packet in flight will get.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.ring.next_number()
    }

    /// Tells the controller that sending starts again after the flight was empty.
    fn restart_if_idle(&mut self, now: Instant) {
        if self.bytes_in_flight > 0 {
            return;
        }
        if let Some(since) = self.idle_since.take() {
            let state = self.state(now);
            self.told().on_idle_restart(&state, now.since(since));
        }
    }

    /// Whether a packet sent now is to count as application-limited although nobody said so.
    fn is_held_back(&self, space: PacketSpace) -> bool {
        // A stack that does not say what limits it is taken to be limited during the handshake, whose flights
        // are small, and not afterwards, where the model could never learn anything.
        let unknown = self.limited_by == SendLimit::Unknown && space != PacketSpace::Application;
        unknown || self.controller.marks_app_limited()
    }

    /// Hands the controller's outputs to the pacer, if they may have changed since the last time.
    fn update_pacer(&mut self, now: Instant) {
        if !std::mem::take(&mut self.pacer_is_stale) {
            return;
        }
        let (rate, burst) = (self.controller.pacing_rate(), self.burst());
        self.pacer.set_rate(now, rate, burst);
    }
}

fn sent(number: u64, packet: &OutgoingPacket) -> SentPacket {
    SentPacket {
        number,
        space: packet.space,
        bytes: packet.bytes,
        in_flight: packet.in_flight,
        sent_at: packet.sent_at,
        carries_data: packet.carries_data,
    }
}
