//! What was remembered of packets when they were sent, found by send time.

use cc_core::{Duration, INITIAL_RTT, Instant, PacketSnapshot, PathRtt};
use std::collections::VecDeque;

/// How many send times are kept. Beyond that every second one is folded into the one before it.
const MAX_ENTRIES: usize = 8_192;

/// How long a send time is kept at least while nothing is heard of later ones, in time and in smoothed RTTs: until then a packet is
/// acked or declared lost, but for a path that fell silent, whose next rate sample would say nothing anyway.
const MIN_AGE: Duration = Duration::from_secs(1);
const MIN_AGE_IN_RTTS: u64 = 8;

/// How old a send time is, in RTTs and at least, when it is settled because a later one was acked: such packets are lost after 9/8 of
/// an RTT and at least the timer's granularity of 1 ms (RFC 9002 section 6.1.2). Two RTTs, since stacks differ in which they
/// take; and a timer may be late by as much as its granularity.
const SETTLED_AGE_IN_RTTS: u64 = 2;
const SETTLED_AGE: Duration = Duration::from_millis(3);

/// Packets this small are not kept apart when they are sent within [`FOLD_WITHIN`] of the send before: a receiver sends thousands of
/// ACK-only packets a second, which no ack ever asks for.
const SMALL: u64 = 128;
const FOLD_WITHIN: Duration = Duration::from_millis(1);

/// How many sends after the one found last are looked at before all are searched: acks come in the order of the sends.
const NEAR: usize = 3;

/// The delivery state at each send, for a stack that names a packet by nothing but its send time (quinn).
///
/// Entries go by age only, never because as many bytes were acked or lost, since the sums do not tell which packets those were:
/// ACK-only packets are announced and never acked, MTU probes the other way round. They are two round trips old at most while acks
/// come, so that on a fast path with a short RTT they stay in the processor's cache. Memory is bounded: an entry that
/// finds no room is folded into an older one. A rate sample from an older state is as valid; it only spans a longer time.
#[derive(Clone, Debug, Default)]
pub struct SendTimes {
    /// Ascending by send time.
    entries: VecDeque<Entry>,
    /// The latest send time that was acked.
    newest_acked: Option<Instant>,
    /// Index of the send that was found last, or near it.
    found: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    sent_at: Instant,
    /// Before anything was sent at that time; `bytes_in_flight` is the flight before.
    snapshot: PacketSnapshot,
    /// Sent at that time.
    bytes: u64,
    /// Acked of that.
    acked: u64,
}

impl SendTimes {
    /// Nothing was sent.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: VecDeque::new(), newest_acked: None, found: 0 }
    }

    /// `bytes` were sent at `sent_at`; `snapshot` is the state with them. `rtt` is that of the path, which says what is too old.
    pub fn on_sent(&mut self, sent_at: Instant, bytes: u64, snapshot: &PacketSnapshot, rtt: Option<PathRtt>) {
        let oldest = self.oldest(sent_at, rtt);
        while self.entries.front().is_some_and(|entry| entry.sent_at < oldest) {
            self.entries.pop_front();
            self.found = self.found.saturating_sub(1);
        }
        if let Some(last) = self.entries.back_mut() {
            let is_small = bytes <= SMALL && sent_at.since(last.sent_at) < FOLD_WITHIN;
            // A clock that went backwards: the order must hold.
            if sent_at <= last.sent_at || is_small {
                last.bytes = last.bytes.saturating_add(bytes);
                return;
            }
        }
        if self.entries.len() >= MAX_ENTRIES {
            self.thin_out();
        }
        let flight_before = snapshot.bytes_in_flight.saturating_sub(bytes);
        let snapshot = PacketSnapshot { bytes_in_flight: flight_before, ..*snapshot };
        self.entries.push_back(Entry { sent_at, snapshot, bytes, acked: 0 });
    }

    /// The state at the send of a packet of `bytes` bytes that is acked now; `None` if it is forgotten.
    ///
    /// Of packets sent at one time the first acked is taken for the first sent: its flight is the one before and itself.
    pub fn on_acked(&mut self, sent_at: Instant, bytes: u64) -> Option<PacketSnapshot> {
        self.newest_acked = self.newest_acked.max(Some(sent_at));
        let entry = self.find(sent_at)?;
        entry.acked = entry.acked.saturating_add(bytes).min(entry.bytes.max(bytes));
        Some(entry.with_flight(entry.acked))
    }

    /// The state at the send of the packets of one time, the last of which was declared lost; `None` if it is forgotten.
    pub fn on_lost(&mut self, sent_at: Instant) -> Option<PacketSnapshot> {
        self.find(sent_at).map(|entry| entry.with_flight(entry.bytes))
    }

    /// How many send times are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What was sent before that is forgotten.
    fn oldest(&self, now: Instant, rtt: Option<PathRtt>) -> Instant {
        let smoothed = rtt.map_or(INITIAL_RTT, |rtt| rtt.smoothed);
        let unheard = now.before(smoothed.times(MIN_AGE_IN_RTTS).max(MIN_AGE));
        let (Some(acked), Some(rtt)) = (self.newest_acked, rtt) else { return unheard };
        let loss_delay = rtt.smoothed.max(rtt.latest).times(SETTLED_AGE_IN_RTTS).max(SETTLED_AGE);
        unheard.max(acked.min(now.before(loss_delay)))
    }

    /// The last entry that is not later than `sent_at`.
    fn find(&mut self, sent_at: Instant) -> Option<&mut Entry> {
        self.found = self.find_near(sent_at).or_else(|| self.find_anywhere(sent_at))?;
        self.entries.get_mut(self.found)
    }

    /// `None` if it is not near the one found last.
    fn find_near(&self, sent_at: Instant) -> Option<usize> {
        let is_earlier = |index: usize| self.entries.get(index).is_some_and(|entry| entry.sent_at <= sent_at);
        if !is_earlier(self.found) {
            return None;
        }
        (self.found..).take(NEAR).find(|&index| !is_earlier(index.saturating_add(1)))
    }

    fn find_anywhere(&self, sent_at: Instant) -> Option<usize> {
        self.entries.partition_point(|entry| entry.sent_at <= sent_at).checked_sub(1)
    }

    fn thin_out(&mut self) {
        let mut thinned: VecDeque<Entry> = VecDeque::with_capacity(self.entries.len());
        for (index, entry) in self.entries.drain(..).enumerate() {
            match thinned.back_mut() {
                Some(older) if index % 2 == 1 => {
                    older.bytes = older.bytes.saturating_add(entry.bytes);
                    older.acked = older.acked.saturating_add(entry.acked);
                }
                _ => thinned.push_back(entry),
            }
        }
        self.entries = thinned;
    }
}

impl Entry {
    fn with_flight(&self, bytes: u64) -> PacketSnapshot {
        let bytes_in_flight = self.snapshot.bytes_in_flight.saturating_add(bytes);
        PacketSnapshot { bytes_in_flight, ..self.snapshot }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ENTRIES, SendTimes};
    use cc_core::{Duration, Instant, PacketSnapshot, PathRtt};
    use proptest::prelude::*;

    const RTT: Option<PathRtt> = rtt(100, 100);

    const fn rtt(smoothed_ms: u64, latest_ms: u64) -> Option<PathRtt> {
        let (smoothed, latest) = (Duration::from_millis(smoothed_ms), Duration::from_millis(latest_ms));
        Some(PathRtt { latest, smoothed, min: smoothed, var: Duration::ZERO })
    }

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// `delivered` tells the snapshots apart.
    fn sent(times: &mut SendTimes, millis: u64, bytes: u64, flight: u64, delivered: u64) {
        let snapshot = PacketSnapshot { delivered, bytes_in_flight: flight, ..PacketSnapshot::default() };
        times.on_sent(at(millis), bytes, &snapshot, RTT);
    }

    #[test]
    fn a_packet_is_found_by_its_send_time_and_its_flight_counts_what_was_sent_before_it() {
        let mut times = SendTimes::new();
        // 5000 in flight, then three packets of 1200 in one batch: 8600 with them.
        sent(&mut times, 1_000, 3_600, 8_600, 7);
        sent(&mut times, 1_010, 1_200, 9_800, 8);
        for flight in [5_000 + 1_200, 5_000 + 2_400, 5_000 + 3_600] {
            let snapshot = times.on_acked(at(1_000), 1_200).unwrap();
            assert_eq!((snapshot.delivered, snapshot.bytes_in_flight), (7, flight));
        }
        let lost = times.on_lost(at(1_010)).unwrap();
        assert_eq!((lost.delivered, lost.bytes_in_flight), (8, 9_800));
        // Never announced (an MTU probe sent in between): the state of the send before it.
        assert_eq!(times.on_acked(at(1_005), 1_400).unwrap().delivered, 7);
        // Before everything.
        assert_eq!(times.on_acked(at(999), 1_200), None);
    }

    #[test]
    fn more_sends_of_one_time_are_one_entry() {
        let mut times = SendTimes::new();
        sent(&mut times, 1_000, 12_000, 12_000, 1);
        sent(&mut times, 1_000, 12_000, 24_000, 1);
        assert_eq!(times.len(), 1);
        assert_eq!(times.on_lost(at(1_000)).unwrap().bytes_in_flight, 24_000);
    }

    #[test]
    fn while_nothing_is_acked_a_send_is_kept_for_a_second_and_eight_rtts() {
        let mut times = SendTimes::new();
        sent(&mut times, 1_000, 1_200, 1_200, 1);
        // The larger of one second and eight RTTs of 100 ms: 2000 ms is the last moment to keep it.
        sent(&mut times, 2_000, 1_200, 1_200, 2);
        assert_eq!(times.on_lost(at(1_000)).unwrap().delivered, 1);
        sent(&mut times, 2_001, 1_200, 2_400, 3);
        assert_eq!(times.on_lost(at(1_000)), None);
        assert_eq!(times.on_lost(at(2_000)).unwrap().delivered, 2);
        // Eight RTTs of 500 ms are 4 s.
        let mut times = SendTimes::new();
        let slow = rtt(500, 500);
        times.on_sent(at(1_000), 1_200, &PacketSnapshot::default(), slow);
        times.on_sent(at(5_000), 1_200, &PacketSnapshot::default(), slow);
        assert_eq!(times.len(), 2);
        times.on_sent(at(5_001), 1_200, &PacketSnapshot::default(), slow);
        assert_eq!(times.len(), 2);
    }

    #[test]
    fn what_was_sent_before_something_acked_is_kept_for_two_rtts() {
        let mut times = SendTimes::new();
        let send = |times: &mut SendTimes, millis, latest_ms| {
            let snapshot = PacketSnapshot { delivered: millis, bytes_in_flight: 1_200, ..Default::default() };
            times.on_sent(at(millis), 1_200, &snapshot, rtt(100, latest_ms));
        };
        for millis in [1_000, 1_010, 1_020] {
            send(&mut times, millis, 100);
        }
        times.on_acked(at(1_020), 1_200);
        // 200 ms after 1000 it may still be acked or declared lost.
        send(&mut times, 1_200, 100);
        assert_eq!(times.on_lost(at(1_000)).unwrap().delivered, 1_000);
        send(&mut times, 1_201, 100);
        assert_eq!(times.on_lost(at(1_009)), None);
        // An RTT sample of 150 ms makes it 300 ms, however small the smoothed one is; 1020 is kept for a second, since nothing
        // later was acked.
        send(&mut times, 1_310, 150);
        assert_eq!(times.on_lost(at(1_010)).unwrap().delivered, 1_010);
        send(&mut times, 1_311, 150);
        assert_eq!(times.on_lost(at(1_015)), None);
        assert_eq!(times.on_lost(at(1_020)).unwrap().delivered, 1_020);
    }

    #[test]
    fn a_fast_path_of_a_short_rtt_takes_a_few_entries() {
        // A send every 30 us, acked 100 us later: 2 RTTs are less than the 3 ms that everything is kept.
        let mut times = SendTimes::new();
        let sent_at = |index: u64| at(1_000).after(Duration::from_micros(30 * index));
        let rtt = PathRtt { smoothed: Duration::from_micros(100), ..RTT.unwrap() };
        let rtt = PathRtt { latest: Duration::from_micros(100), ..rtt };
        for index in 4..100_000 {
            times.on_sent(sent_at(index), 14_520, &PacketSnapshot::default(), Some(rtt));
            assert!(times.on_acked(sent_at((index - 4).max(4)), 14_520).is_some());
        }
        // 3000 us are 100 sends, and the one at hand.
        assert_eq!(times.len(), 101);
    }

    #[test]
    fn a_stream_of_ack_only_packets_takes_an_entry_a_millisecond() {
        // 20 000 packets of 40 bytes in one second, every 50 us: at 0, 1, 2, ... ms.
        let mut times = SendTimes::new();
        for index in 0..20_000 {
            let sent_at = at(1_000).after(Duration::from_micros(50 * index));
            times.on_sent(sent_at, 40, &PacketSnapshot::default(), RTT);
        }
        assert_eq!(times.len(), 1_000);
    }

    #[test]
    fn what_finds_no_room_is_folded_into_an_older_send() {
        let mut times = SendTimes::new();
        let fill = u64::try_from(MAX_ENTRIES).unwrap();
        // Every 10 us: 82 ms, so that nothing is too old.
        let sent_at = |index: u64| at(1_000).after(Duration::from_micros(10 * index));
        for index in 0..=fill {
            let snapshot = PacketSnapshot { delivered: index, bytes_in_flight: 1_200, ..Default::default() };
            times.on_sent(sent_at(index), 1_200, &snapshot, RTT);
        }
        // Half of 8192, and the new one.
        assert_eq!(times.len(), MAX_ENTRIES / 2 + 1);
        // Odd ones went to the even one before them, the newest stayed.
        assert_eq!(times.on_acked(sent_at(5), 1_200).unwrap().delivered, 4);
        assert_eq!(times.on_acked(sent_at(6), 1_200).unwrap().delivered, 6);
        assert_eq!(times.on_acked(sent_at(fill), 1_200).unwrap().delivered, fill);
    }

    proptest! {
        #[test]
        fn any_sequence_is_bounded_and_finds_the_last_send_that_is_not_later(
            calls in proptest::collection::vec((any::<bool>(), 0..3_000_u64, any::<u64>()), 1..200),
        ) {
            let mut times = SendTimes::new();
            for (is_send, millis, bytes) in calls {
                if is_send {
                    sent(&mut times, millis, bytes, bytes, millis);
                } else {
                    let last = times.entries.iter().rev().find(|entry| entry.sent_at <= at(millis));
                    let expected = last.map(|entry| entry.snapshot.delivered);
                    let found = times.on_acked(at(millis), bytes).map(|found| found.delivered);
                    prop_assert_eq!(found, expected);
                    prop_assert!(found.is_none_or(|found| found <= millis));
                }
                prop_assert!(times.len() <= MAX_ENTRIES);
            }
        }
    }
}
