//! Which packets the last reduction of a window answers (RFC 9002 section 7.3.2, RFC 9000 section 9.4).

use crate::{Instant, PathState, SendMark, SentPacket};

/// What was sent before the last reduction, and before the network path changed.
///
/// Losses and marks of packets that it [covers](Self::covers) cause no further reduction, and their acks no growth: so
/// there is one reduction for each round trip, whatever the order of a stack's calls. Membership is by
/// number where that is known, else by send time ([`SendMark`]).
///
/// It also keeps the permission for the one packet that may be sent beyond the window on entering recovery. RFC 9002
/// section 7.3.2 has it sent *prior to* the reduction, so it belongs to the period: its loss, likely with a full queue, is no
/// new signal, and its ack does not end the recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecoveryPeriod {
    /// The last reduction on this network path.
    reduced: Option<SendMark>,
    /// When the network path changed.
    path_began: Option<SendMark>,
    /// Whether one packet may be sent beyond the window.
    may_send_beyond: bool,
}

impl RecoveryPeriod {
    /// Before any reduction: nothing is covered, whatever the time of construction.
    #[must_use]
    pub const fn new() -> Self {
        Self { reduced: None, path_began: None, may_send_beyond: false }
    }

    /// The window is reduced now.
    pub const fn begin(&mut self, path: &PathState) {
        self.reduced = Some(SendMark::new(path));
        self.may_send_beyond = true;
    }

    /// The window is reduced now, without anything lost that one more packet could help to repair.
    pub const fn begin_quietly(&mut self, path: &PathState) {
        self.reduced = Some(SendMark::new(path));
        self.may_send_beyond = false;
    }

    /// A new network path is in use: nothing sent before counts for it (RFC 9000 section 9.4).
    pub const fn on_new_path(&mut self, path: &PathState) {
        *self = Self { reduced: None, path_began: Some(SendMark::new(path)), may_send_beyond: false };
    }

    /// A packet was sent, the window being `cwnd` bytes; `path` is the state after it. The first one in flight after the
    /// reduction takes the permission, whether or not it used it.
    pub fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket, cwnd: u64) {
        if !packet.in_flight || !std::mem::replace(&mut self.may_send_beyond, false) {
            return;
        }
        let Some(mark) = self.reduced else { return };
        let is_first = !mark.has_number() || packet.number == mark.number();
        if path.bytes_in_flight > cwnd && is_first {
            let next_number = if mark.has_number() { packet.number.saturating_add(1) } else { 0 };
            let now = mark.at().max(packet.sent_at);
            self.reduced = Some(SendMark::new(&PathState { now, next_number, ..*path }));
        }
    }

    /// An ACK came. Acks clock out packets by then: one later than the reduction ends the permission, which would
    /// otherwise stay for a round trip where sends are not reported.
    pub fn on_ack(&mut self, now: Instant) {
        self.may_send_beyond &= self.reduced.is_some_and(|mark| now <= mark.at());
    }

    /// Whether the packet was sent before the last reduction, or on another network path.
    #[must_use]
    pub fn covers(&self, number: Option<u64>, sent_at: Instant) -> bool {
        self.reduced.is_some_and(|mark| mark.covers(number, sent_at)) || self.is_elsewhere(number, sent_at)
    }

    /// Whether the packet was sent on another network path.
    #[must_use]
    pub fn is_elsewhere(&self, number: Option<u64>, sent_at: Instant) -> bool {
        self.path_began.is_some_and(|mark| mark.covers(number, sent_at))
    }

    /// Whether one packet may be sent beyond the window (RFC 9002 section 7.3.2).
    #[must_use]
    pub const fn may_send_beyond_cwnd(&self) -> bool {
        self.may_send_beyond
    }

    /// The last reduction on this network path; later than it by the packet that was sent beyond the window.
    #[must_use]
    pub const fn last_reduction(&self) -> Option<SendMark> {
        self.reduced
    }
}

#[cfg(test)]
mod tests {
    use super::RecoveryPeriod;
    use crate::{Instant, PathState, SentPacket};

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn path(now_ms: u64, next_number: u64, flight: u64) -> PathState {
        PathState { now: at(now_ms), next_number, bytes_in_flight: flight, ..PathState::default() }
    }

    fn sent(number: u64, millis: u64) -> SentPacket {
        SentPacket { number, sent_at: at(millis), in_flight: true, bytes: 1_200, ..SentPacket::default() }
    }

    #[test]
    fn nothing_is_covered_before_the_first_reduction() {
        // bugs.md C3: a packet sent at the time of construction.
        assert!(!RecoveryPeriod::new().covers(Some(0), Instant::ZERO));
        assert!(!RecoveryPeriod::new().may_send_beyond_cwnd());
    }

    #[test]
    fn a_packet_is_covered_by_number_else_by_send_time() {
        let mut period = RecoveryPeriod::new();
        period.begin(&path(100, 10, 0));
        assert!(period.covers(Some(9), at(105)) && !period.covers(Some(10), at(95)));
        assert!(period.covers(None, at(100)) && !period.covers(None, at(101)));
    }

    #[test]
    fn the_one_packet_beyond_the_window_belongs_to_the_period() {
        // RFC 9002 section 7.3.2: it counts as sent prior to the reduction.
        for next_number in [10, 0] {
            let mut period = RecoveryPeriod::new();
            period.begin(&path(100, next_number, 12_000));
            assert!(period.may_send_beyond_cwnd());
            period.on_packet_sent(&path(101, next_number + 1, 13_200), &sent(10, 101), 6_000);
            assert!(!period.may_send_beyond_cwnd());
            let number = (next_number > 0).then_some(10);
            assert!(period.covers(number, at(101)), "{next_number}");
            assert!(!period.covers(number.map(|n| n + 1), at(102)), "{next_number}");
        }
    }

    #[test]
    fn the_first_packet_sent_takes_the_permission_although_it_fits_the_window() {
        let mut period = RecoveryPeriod::new();
        period.begin(&path(100, 10, 2_400));
        period.on_packet_sent(&path(101, 11, 3_600), &sent(10, 101), 6_000);
        assert!(!period.may_send_beyond_cwnd());
        assert!(!period.covers(Some(10), at(101)), "a packet within the window was sent after the reduction");
        // One that is not in flight does not.
        period.begin(&path(200, 11, 2_400));
        period.on_packet_sent(
            &path(201, 11, 2_400),
            &SentPacket { in_flight: false, ..sent(11, 201) },
            6_000,
        );
        assert!(period.may_send_beyond_cwnd());
    }

    #[test]
    fn a_later_ack_ends_the_permission_and_one_of_the_same_moment_does_not() {
        let mut period = RecoveryPeriod::new();
        period.begin(&path(100, 10, 12_000));
        period.on_ack(at(100));
        assert!(period.may_send_beyond_cwnd());
        period.on_ack(at(101));
        assert!(!period.may_send_beyond_cwnd());
    }

    #[test]
    fn a_quiet_reduction_allows_no_packet_beyond_the_window() {
        let mut period = RecoveryPeriod::new();
        period.begin(&path(100, 10, 12_000));
        period.begin_quietly(&path(300, 20, 12_000));
        assert!(!period.may_send_beyond_cwnd());
        assert!(period.covers(Some(19), at(301)));
    }

    #[test]
    fn what_was_sent_on_another_path_stays_covered() {
        let mut period = RecoveryPeriod::new();
        period.begin(&path(100, 10, 0));
        period.on_new_path(&path(200, 20, 0));
        assert!(period.covers(Some(19), at(199)) && period.is_elsewhere(Some(19), at(199)));
        assert!(!period.covers(Some(20), at(201)));
        assert!(!period.may_send_beyond_cwnd());
        period.begin(&path(300, 30, 0));
        assert!(period.is_elsewhere(Some(19), at(199)) && !period.is_elsewhere(Some(20), at(201)));
        assert!(period.covers(Some(20), at(201)));
    }
}
