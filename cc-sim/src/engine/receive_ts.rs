//! Receive timestamps: the field that an ACK_RECEIVE_TIMESTAMPS frame adds to an ACK, and the clock behind it
//! (draft-ietf-quic-receive-ts, "ACK_RECEIVE_TIMESTAMPS Frame Wire Format").

use crate::scenario::{ReceiveTimestamps, ReceiverClock};
use std::collections::VecDeque;

/// Bytes by which the type of the frame, 0x03178307, is longer than that of an ACK frame.
const LONGER_TYPE: u64 = 3;

impl ReceiverClock {
    /// What it shows at the virtual time `now`, in microseconds since the receive timestamp basis.
    pub(super) fn at(&self, now: u64) -> u64 {
        let drift = i128::from(now) * i128::from(self.drift_ppm) / 1_000_000;
        u64::try_from(i128::from(now) + drift + i128::from(self.offset_us)).unwrap_or(0)
    }
}

/// The newest arrivals that the receiver may still report.
#[derive(Debug)]
pub(super) struct Arrivals {
    config: ReceiveTimestamps,
    clock: ReceiverClock,
    /// Packet numbers and timestamps in order of arrival.
    newest: VecDeque<(u64, u64)>,
}

impl Arrivals {
    pub(super) fn new(config: ReceiveTimestamps, clock: ReceiverClock) -> Self {
        let exponent = config.exponent.min(ReceiveTimestamps::MAX_EXPONENT);
        let max_per_ack = config.max_per_ack.min(ReceiveTimestamps::MAX_PER_ACK);
        let config = ReceiveTimestamps { exponent, max_per_ack, ..config };
        Self { config, clock, newest: VecDeque::new() }
    }

    /// A packet that had not arrived before arrives.
    pub(super) fn push(&mut self, now: u64, number: u64) {
        self.newest.push_back((number, self.clock.at(now)));
        if self.newest.len() as u64 > self.config.max_per_ack {
            self.newest.pop_front();
        }
    }

    /// Writes them into `field`, the newest first, as many as fit into `room` bytes.
    pub(super) fn encode(&self, largest_acked: u64, room: u64, field: &mut TimestampField) {
        field.encode(largest_acked, self.config.exponent, self.newest.iter().rev().copied(), room);
    }
}

/// The Receive Timestamps field: what is on the wire.
#[derive(Debug, Default)]
pub(super) struct TimestampField {
    /// Delta Largest Acknowledged and Timestamp Delta Count of each Timestamp Range.
    ranges: Vec<(u64, u64)>,
    /// Timestamp Deltas of all ranges.
    deltas: Vec<u64>,
    exponent: u8,
    bytes: u64,
}

impl TimestampField {
    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.deltas.clear();
        self.bytes = 0;
    }

    /// Bytes by which it makes the frame longer.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `arrivals`, the newest first, none after `largest_acked`; packets whose numbers follow each other share a range.
    ///
    /// Each delta is rounded down to units of 2^`exponent` us by itself, as implementations do, so that the error adds up
    /// from the newest to the oldest.
    fn encode(
        &mut self,
        largest_acked: u64,
        exponent: u8,
        arrivals: impl Iterator<Item = (u64, u64)>,
        room: u64,
    ) {
        self.clear();
        self.exponent = exponent;
        let mut previous: Option<(u64, u64)> = None;
        // The count of ranges takes one byte up to 63 of them, two after that.
        let mut bytes = LONGER_TYPE + 2;
        for (number, at) in arrivals {
            let delta = previous.map_or(at, |(_, before)| before.saturating_sub(at)) >> exponent;
            let continues = previous.is_some_and(|(before, _)| before == number + 1);
            let mut more = varint_size(delta);
            if !continues {
                // The count of a range takes two bytes at the most, as there are at most 16 383 timestamps.
                more += varint_size(largest_acked.saturating_sub(number)) + 2;
            }
            if bytes + more > room {
                break;
            }
            bytes += more;
            match self.ranges.last_mut() {
                Some(range) if continues => range.1 += 1,
                _ => self.ranges.push((largest_acked.saturating_sub(number), 1)),
            }
            self.deltas.push(delta);
            previous = Some((number, at));
        }
        self.bytes = if self.deltas.is_empty() { 0 } else { bytes };
    }

    /// Packet numbers and timestamps as the data sender understands them, into `received`, ascending by number.
    pub(super) fn decode(&self, largest_acked: u64, received: &mut Vec<(u64, u64)>) {
        received.clear();
        let mut deltas = self.deltas.iter();
        let mut at: Option<u64> = None;
        for &(delta_largest, count) in &self.ranges {
            let mut number = largest_acked.checked_sub(delta_largest);
            for &delta in deltas.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
                let delta = delta << self.exponent;
                let time = at.map_or(delta, |before| before.saturating_sub(delta));
                at = Some(time);
                received.extend(number.map(|number| (number, time)));
                number = number.and_then(|number| number.checked_sub(1));
            }
        }
        received.sort_unstable();
    }
}

/// Size of a variable-length integer (RFC 9000 section 16).
fn varint_size(value: u64) -> u64 {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrivals, TimestampField};
    use crate::scenario::{ReceiveTimestamps, ReceiverClock};

    fn encoded(largest: u64, exponent: u8, newest_first: &[(u64, u64)], room: u64) -> TimestampField {
        let mut field = TimestampField::default();
        field.encode(largest, exponent, newest_first.iter().copied(), room);
        field
    }

    fn decoded(field: &TimestampField, largest: u64) -> Vec<(u64, u64)> {
        let mut received = Vec::new();
        field.decode(largest, &mut received);
        received
    }

    /// Numbers and relative timestamps of the draft's "Examples": two runs, and four packets that come late.
    const IN_ORDER: [(u64, u64); 10] = [
        (100, 380),
        (99, 370),
        (98, 360),
        (97, 355),
        (96, 350),
        (91, 330),
        (90, 320),
        (89, 310),
        (88, 305),
        (87, 300),
    ];
    const LATE: [(u64, u64); 4] = [(95, 395), (94, 394), (93, 392), (92, 390)];

    #[test]
    fn the_draft_s_examples_have_the_draft_s_fields() {
        let field = encoded(100, 0, &IN_ORDER, 1_000);
        assert_eq!(field.ranges, [(0, 5), (9, 5)]);
        assert_eq!(field.deltas, [380, 10, 10, 5, 5, 20, 10, 10, 5, 5]);
        let mut sorted = IN_ORDER.to_vec();
        sorted.sort_unstable();
        assert_eq!(decoded(&field, 100), sorted);
        let all = [&LATE[..], &IN_ORDER].concat();
        let field = encoded(100, 0, &all, 1_000);
        assert_eq!(field.ranges, [(5, 4), (0, 5), (9, 5)]);
        assert_eq!(field.deltas, [395, 1, 2, 2, 10, 10, 10, 5, 5, 20, 10, 10, 5, 5]);
        let mut sorted = all;
        sorted.sort_unstable();
        assert_eq!(decoded(&field, 100), sorted);
    }

    #[test]
    fn an_exponent_rounds_each_delta_down_and_the_errors_add_up() {
        // Units of 8 us: 380 is 47 of them (376), 10 one (8), 5 none, 20 two.
        let field = encoded(100, 3, &IN_ORDER, 1_000);
        assert_eq!(field.deltas, [47, 1, 1, 0, 0, 2, 1, 1, 0, 0]);
        let times: Vec<u64> = decoded(&field, 100).iter().rev().map(|&(_, at)| at).collect();
        assert_eq!(times, [376, 368, 360, 360, 360, 344, 336, 328, 328, 328]);
        // The oldest should be 80 before the newest and is 48 before it.
        let none = encoded(100, 20, &IN_ORDER, 1_000);
        assert!(none.deltas.iter().all(|&delta| delta == 0));
    }

    #[test]
    fn the_oldest_timestamps_give_way_where_there_is_no_room() {
        // 3 + 2, then 1 + 2 + 2 for the first (380 takes two bytes) and 1 for each of the range: 5 + 5 + 2 = 12.
        let field = encoded(100, 0, &IN_ORDER, 12);
        assert_eq!((field.ranges.as_slice(), field.deltas.as_slice()), (&[(0, 3)][..], &[380, 10, 10][..]));
        assert_eq!(field.bytes(), 12);
        assert_eq!(encoded(100, 0, &IN_ORDER, 9).bytes(), 0, "no room for one");
        // All ten: 5 + (5 + 4) + (1 + 2 + 5).
        assert_eq!(encoded(100, 0, &IN_ORDER, 1_000).bytes(), 22);
    }

    #[test]
    fn the_newest_arrivals_are_reported_up_to_the_limit() {
        let config = ReceiveTimestamps { exponent: 0, max_per_ack: 3, missing_ppm: 0 };
        let mut arrivals = Arrivals::new(config, ReceiverClock { offset_us: 1_000, drift_ppm: 0 });
        for number in 5..10 {
            arrivals.push(100 * number, number);
        }
        let mut field = TimestampField::default();
        arrivals.encode(9, 1_000, &mut field);
        assert_eq!(decoded(&field, 9), [(7, 1_700), (8, 1_800), (9, 1_900)]);
    }

    #[test]
    fn the_receiver_s_clock_has_its_offset_and_its_drift() {
        // 200 ppm of 600 s are 120 ms.
        let fast = ReceiverClock { offset_us: 5_000_000, drift_ppm: 200 };
        assert_eq!((fast.at(0), fast.at(600_000_000)), (5_000_000, 605_120_000));
        let slow = ReceiverClock { offset_us: 0, drift_ppm: -200 };
        assert_eq!(slow.at(600_000_000), 599_880_000);
    }

    #[test]
    fn a_field_that_names_packets_before_number_0_names_none() {
        let field = TimestampField { ranges: vec![(0, 4)], deltas: vec![9, 1, 1, 1], exponent: 0, bytes: 9 };
        assert_eq!(decoded(&field, 1), [(0, 8), (1, 9)]);
        assert_eq!(decoded(&TimestampField { ranges: vec![(5, 4)], ..field }, 1), []);
    }
}
