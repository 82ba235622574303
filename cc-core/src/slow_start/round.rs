//! "Sent before this moment" and rounds of sending, by number where the stack knows numbers, else by time.

use crate::{AckEvent, Instant, PathState};

/// A moment in the sequence of sent packets.
///
/// Whether a packet was sent before it is decided by its number where that is known, else by its send time;
/// equal to the moment counts as before. The order in which a stack makes its calls never matters.
///
/// A mark with the number 0 has none: nothing was sent before it, or the stack leaves `next_number` at 0. Then
/// send times decide although packets have numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendMark {
    /// Number that the next packet will get: all lower ones were sent before.
    number: u64,
    /// The time of the mark.
    at: Instant,
}

impl SendMark {
    /// The moment at which an event with this path state is delivered.
    #[must_use]
    pub const fn new(path: &PathState) -> Self {
        Self { number: path.next_number, at: path.now }
    }

    /// Number of the first packet after the mark.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Whether packets with numbers are compared by number.
    #[must_use]
    pub const fn has_number(&self) -> bool {
        self.number > 0
    }

    /// Time of the mark.
    #[must_use]
    pub const fn at(&self) -> Instant {
        self.at
    }

    /// Whether the packet was sent before the mark.
    #[must_use]
    pub fn covers(&self, number: Option<u64>, sent_at: Instant) -> bool {
        match number {
            Some(number) if self.has_number() => number < self.number,
            _ => sent_at <= self.at,
        }
    }

    /// Whether `ack` shows that the round that began at the mark is over: a packet sent after the mark is acked, or
    /// everything sent before it is acked or lost.
    #[must_use]
    pub fn is_passed(&self, path: &PathState, ack: &AckEvent<'_>) -> bool {
        if path.bytes_in_flight == 0 {
            return ack.last && !ack.packets.is_empty();
        }
        let all_accounted_for =
            self.has_number() && path.oldest_outstanding.is_some_and(|oldest| oldest >= self.number);
        all_accounted_for || ack.packets.iter().any(|packet| !self.covers(packet.number, packet.sent_at))
    }
}

/// Rounds of sending: a round ends when what had been sent at its start is acked or lost, or overtaken.
///
/// The next one starts at that moment, or, if nothing is in flight then, with the first ACK of the next flight: so
/// a flight that is acked as a whole before anything else is sent is one round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SendRound {
    /// `None` before the first ACK of a flight.
    start: Option<SendMark>,
}

impl SendRound {
    /// Before the first ACK.
    #[must_use]
    pub const fn new() -> Self {
        Self { start: None }
    }

    /// Whether the next ACK is the first one of a flight.
    #[must_use]
    pub const fn awaits_flight(&self) -> bool {
        self.start.is_none()
    }

    /// Its start, and whether there is one: both fit better beside the fields of another struct than the round itself.
    pub(crate) const fn unpack(self) -> (SendMark, bool) {
        match self.start {
            Some(start) => (start, true),
            None => (SendMark { number: 0, at: Instant::ZERO }, false),
        }
    }

    /// The inverse of [`unpack`](Self::unpack).
    pub(crate) const fn pack(start: SendMark, has_begun: bool) -> Self {
        Self { start: if has_begun { Some(start) } else { None } }
    }

    /// Call once per part of a frame. Returns whether a round ended.
    pub fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) -> bool {
        let start = *self.start.get_or_insert(SendMark::new(path));
        let ended = start.is_passed(path, ack);
        if ended {
            self.start = (path.bytes_in_flight > 0).then(|| SendMark::new(path));
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::{SendMark, SendRound};
    use crate::{AckEvent, AckedPacket, Instant, PathState, SendLimit};

    fn ack(packets: &[AckedPacket]) -> AckEvent<'_> {
        AckEvent {
            packets,
            last: true,
            rate_sample: None,
            limited_by: SendLimit::Unknown,
            max_bytes_in_flight: 0,
            app_limited_at: None,
            newest_data_sent_at: None,
        }
    }

    fn acked(number: Option<u64>, sent_ms: u64) -> [AckedPacket; 1] {
        [AckedPacket { number, sent_at: Instant::from_millis(sent_ms), bytes: 1, ..AckedPacket::default() }]
    }

    fn path(now_ms: u64, next_number: u64, oldest: Option<u64>, flight: u64) -> PathState {
        PathState {
            now: Instant::from_millis(now_ms),
            next_number,
            oldest_outstanding: oldest,
            bytes_in_flight: flight,
            ..PathState::default()
        }
    }

    #[test]
    fn a_packet_sent_at_the_time_of_the_mark_was_sent_before_it() {
        let mark = SendMark::new(&path(100, 7, None, 0));
        assert!(mark.covers(None, Instant::from_millis(100)));
        assert!(!mark.covers(None, Instant::from_micros(100_001)));
    }

    #[test]
    fn a_known_number_decides_against_the_send_time() {
        // A packet paced by departure time leaves later than the mark, although it was numbered before it.
        let mark = SendMark::new(&path(100, 7, None, 0));
        assert!(mark.covers(Some(6), Instant::from_millis(105)));
        assert!(!mark.covers(Some(7), Instant::from_millis(95)));
    }

    #[test]
    fn where_the_next_number_is_not_told_send_times_decide() {
        let mark = SendMark::new(&path(100, 0, None, 0));
        assert!(mark.covers(Some(0), Instant::from_millis(100)));
        assert!(mark.covers(Some(7), Instant::from_millis(99)));
        assert!(!mark.covers(Some(7), Instant::from_millis(101)));
    }

    #[test]
    fn a_round_without_the_next_number_ends_with_a_packet_sent_after_its_start() {
        // The oldest outstanding number says nothing without a number to compare it with.
        let mut round = SendRound::new();
        assert!(!round.on_ack(&path(100, 0, Some(1), 1), &ack(&acked(Some(0), 0))));
        assert!(!round.on_ack(&path(150, 0, Some(9), 1), &ack(&acked(Some(8), 90))));
        assert!(round.on_ack(&path(210, 0, Some(11), 1), &ack(&acked(Some(10), 110))));
    }

    #[test]
    fn a_round_lasts_until_its_whole_flight_is_accounted_for() {
        let mut round = SendRound::new();
        assert!(
            !round.on_ack(&path(100, 10, Some(1), 1), &ack(&acked(Some(0), 0))),
            "packets 1 to 9 are out"
        );
        assert!(!round.on_ack(&path(190, 20, Some(9), 1), &ack(&acked(Some(8), 90))), "9 is outstanding");
        assert!(round.on_ack(&path(200, 20, Some(10), 1), &ack(&acked(Some(9), 90))));
    }

    #[test]
    fn a_packet_that_never_arrives_does_not_prolong_the_round() {
        let mut round = SendRound::new();
        assert!(!round.on_ack(&path(100, 10, Some(1), 1), &ack(&acked(Some(0), 0))));
        assert!(round.on_ack(&path(190, 20, Some(9), 1), &ack(&acked(Some(12), 110))));
    }

    #[test]
    fn without_knowledge_of_what_is_outstanding_a_newer_packet_ends_the_round() {
        let mut round = SendRound::new();
        assert!(!round.on_ack(&path(100, 0, None, 1), &ack(&acked(None, 0))));
        assert!(!round.on_ack(&path(150, 0, None, 1), &ack(&acked(None, 100))), "sent at the mark");
        assert!(round.on_ack(&path(210, 0, None, 1), &ack(&acked(None, 110))));
    }

    #[test]
    fn an_empty_network_ends_the_round_once_per_frame() {
        let mut round = SendRound::new();
        assert!(!round.on_ack(&path(100, 10, Some(1), 1), &ack(&acked(Some(0), 0))));
        let packet = acked(Some(9), 90);
        let first_part = AckEvent { last: false, ..ack(&packet) };
        assert!(!round.on_ack(&path(200, 10, None, 0), &first_part));
        assert!(round.on_ack(&path(200, 10, None, 0), &ack(&packet)));
        assert!(round.awaits_flight());
    }

    #[test]
    fn a_flight_that_is_acked_as_a_whole_is_one_round() {
        let mut round = SendRound::new();
        for flight in 0..3 {
            let first = flight * 3;
            for n in first..first + 2 {
                let state = path(100 * flight + n, first + 3, Some(n + 1), 1);
                assert!(!round.on_ack(&state, &ack(&acked(Some(n), 100 * flight))));
            }
            let state = path(100 * flight + 3, first + 3, None, 0);
            assert!(round.on_ack(&state, &ack(&acked(Some(first + 2), 100 * flight))));
        }
    }
}
