//! What was remembered of packets when they were sent, found by packet number.

use crate::Sent;
use cc_core::{Duration, Instant, PacketSnapshot};
use std::collections::VecDeque;

/// How long a packet is kept at least, in time and in smoothed RTTs, if nothing is heard of it but later ones are acked: a stack
/// does not tell of packets whose keys were dropped, nor of lost MTU probes.
const MIN_AGE: Duration = Duration::from_secs(1);
const MIN_AGE_IN_RTTS: u64 = 8;

/// How many packets are kept; the oldest goes first.
const MAX_ENTRIES: usize = 65_536;

/// Number and delivery state of each packet in flight, for a stack that names packets by the number in their packet number
/// space (noq).
///
/// Packets of several spaces may have the same number. An ack comes with the send time, which tells them apart, a loss with the size:
/// of two packets that agree in both the older one is taken.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    /// Ascending by send time; the first one is still in flight.
    entries: VecDeque<Entry>,
    /// The latest send time that was acked: what was sent later waits for its ack, however long the path is silent.
    newest_acked: Option<Instant>,
}

/// A packet that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// When it was sent.
    pub sent_at: Instant,
    /// Its number in the path's sequence.
    pub number: u64,
    /// Delivery state with it, if the controller uses any.
    pub snapshot: Option<PacketSnapshot>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    packet_number: u64,
    bytes: u64,
    known: Known,
    /// Acked or declared lost.
    settled: bool,
}

impl Packets {
    /// Nothing was sent.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: VecDeque::new(), newest_acked: None }
    }

    /// A packet was sent. `smoothed_rtt` says how long those are kept of which nothing is heard.
    pub fn on_sent(
        &mut self,
        sent_at: Instant,
        packet_number: u64,
        bytes: u64,
        sent: &Sent,
        smoothed_rtt: Duration,
    ) {
        let aged = sent_at.before(smoothed_rtt.times(MIN_AGE_IN_RTTS).max(MIN_AGE));
        let oldest = self.newest_acked.map_or(Instant::ZERO, |acked| acked.min(aged));
        while self.entries.front().is_some_and(|entry| entry.known.sent_at < oldest) {
            self.entries.pop_front();
        }
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.pop_front();
        }
        // A clock that went backwards: the order must hold.
        let sent_at = self.entries.back().map_or(sent_at, |last| sent_at.max(last.known.sent_at));
        let known = Known { sent_at, number: sent.number, snapshot: sent.snapshot };
        self.entries.push_back(Entry { packet_number, bytes, known, settled: false });
    }

    /// The packet is acked; `None` if it is not known.
    pub fn on_acked(&mut self, sent_at: Instant, packet_number: u64) -> Option<Known> {
        let first = self.entries.partition_point(|entry| entry.known.sent_at < sent_at);
        let entry = self
            .entries
            .range_mut(first..)
            .take_while(|entry| entry.known.sent_at == sent_at)
            .find(|entry| entry.packet_number == packet_number && !entry.settled)?;
        entry.settled = true;
        let known = entry.known;
        self.newest_acked = self.newest_acked.max(Some(known.sent_at));
        self.trim();
        Some(known)
    }

    /// The packet is declared lost; `None` if it is not known.
    pub fn on_lost(&mut self, packet_number: u64, bytes: u64) -> Option<Known> {
        // Lost packets are the oldest in flight, so that the search is short.
        let entry = self
            .entries
            .iter_mut()
            .find(|entry| entry.packet_number == packet_number && entry.bytes == bytes && !entry.settled)?;
        entry.settled = true;
        let known = entry.known;
        self.trim();
        Some(known)
    }

    /// How many packets are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn trim(&mut self) {
        while self.entries.front().is_some_and(|entry| entry.settled) {
            self.entries.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ENTRIES, Packets};
    use crate::Sent;
    use cc_core::{Duration, Instant};

    const RTT: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn send(packets: &mut Packets, millis: u64, packet_number: u64, bytes: u64, number: u64) {
        let sent = Sent { number, snapshot: None };
        packets.on_sent(at(millis), packet_number, bytes, &sent, RTT);
    }

    #[test]
    fn packets_of_several_spaces_are_told_apart_by_send_time_or_size() {
        let mut packets = Packets::new();
        send(&mut packets, 1_000, 0, 1_200, 10);
        send(&mut packets, 1_000, 1, 1_200, 11);
        send(&mut packets, 1_010, 0, 300, 12);
        assert_eq!(packets.on_acked(at(1_000), 2), None);
        assert_eq!(packets.on_acked(at(1_010), 0).unwrap().number, 12);
        let lost = packets.on_lost(0, 1_200).unwrap();
        assert_eq!((lost.number, lost.sent_at), (10, at(1_000)));
        // Each once.
        assert_eq!(packets.on_lost(0, 1_200), None);
        assert_eq!(packets.on_acked(at(1_010), 0), None);
        assert_eq!(packets.on_acked(at(1_000), 1).unwrap().number, 11);
        assert!(packets.is_empty());
    }

    #[test]
    fn what_is_in_flight_stays_and_what_nobody_speaks_of_goes_by_age() {
        let mut packets = Packets::new();
        send(&mut packets, 1_000, 0, 1_200, 0);
        send(&mut packets, 1_500, 1, 1_200, 1);
        packets.on_acked(at(1_500), 1);
        // The settled one waits behind the one in flight.
        assert_eq!(packets.len(), 2);
        send(&mut packets, 2_000, 2, 1_200, 2);
        assert_eq!(packets.len(), 3);
        // The larger of 1 s and eight RTTs of 100 ms after the first.
        send(&mut packets, 2_001, 3, 1_200, 3);
        assert_eq!(packets.on_lost(0, 1_200), None);
        assert_eq!(packets.on_lost(2, 1_200).unwrap().number, 2);
    }

    #[test]
    fn what_was_sent_after_everything_acked_stays_however_long_the_path_is_silent() {
        let mut packets = Packets::new();
        send(&mut packets, 1_000, 0, 1_200, 0);
        send(&mut packets, 1_010, 1, 1_200, 1);
        packets.on_acked(at(1_000), 0);
        // Ten seconds are more than 1 s and eight RTTs.
        send(&mut packets, 11_010, 2, 1_200, 2);
        packets.on_acked(at(11_010), 2);
        assert_eq!(packets.on_lost(1, 1_200).unwrap().number, 1);
    }

    #[test]
    fn there_is_a_bound_and_a_clock_may_go_backwards() {
        let mut packets = Packets::new();
        for number in 0..u64::try_from(MAX_ENTRIES).unwrap() + 10 {
            send(&mut packets, 1_000, number, 1_200, number);
        }
        assert_eq!(packets.len(), MAX_ENTRIES);
        assert_eq!(packets.on_acked(at(1_000), 9), None);
        assert_eq!(packets.on_acked(at(1_000), 10).unwrap().number, 10);
        send(&mut packets, 900, 99_999, 1_200, 99_999);
        assert_eq!(packets.on_acked(at(1_000), 99_999).unwrap().number, 99_999);
    }
}
