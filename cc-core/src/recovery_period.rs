//! Which packets the last reduction of a window answers (RFC 9002 section 7.3.2, RFC 9000 section 9.4).

use crate::{Instant, PathState, SendMark, SentPacket};

/// The recovery period of one path: what was sent before the last reduction, or before the network path changed.
///
/// Losses and marks of packets that it [covers](Self::covers) cause no further reduction, and their acks no growth: so
/// there is one reduction for each round trip, whatever the order of a stack's calls. Membership is by
/// number where that is known, else by send time ([`SendMark`]).
///
/// It also keeps the permission for the one packet that may be sent beyond the window on entering recovery. RFC 9002
/// section 7.3.2 has it sent *prior to* the reduction, so it belongs to the period: its loss, likely with a full queue, is no
/// new signal, and its ack does not end the recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecoveryPeriod {
    /// Of the last reduction or change of path, later by the packet that was sent beyond the window.
    mark: SendMark,
    cause: Cause,
    /// Whether no packet sent after the reduction was acked yet.
    is_running: bool,
    /// Whether one packet may be sent beyond the window.
    may_send_beyond: bool,
}

/// What the mark stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// Nothing yet.
    Nothing,
    Congestion,
    PersistentCongestion {
        /// Whether an ack of a packet that is not covered has come since.
        is_answered: bool,
    },
    NewPath,
}

impl RecoveryPeriod {
    /// Before any reduction: nothing is covered, whatever the time of construction.
    #[must_use]
    pub fn new() -> Self {
        Self {
            mark: SendMark::new(&PathState::default()),
            cause: Cause::Nothing,
            is_running: false,
            may_send_beyond: false,
        }
    }

    /// The window is reduced now: a period begins.
    pub fn begin(&mut self, path: &PathState) {
        *self = Self {
            mark: SendMark::new(path),
            cause: Cause::Congestion,
            is_running: true,
            may_send_beyond: true,
        };
    }

    /// The window collapsed for persistent congestion. Slow start follows (RFC 9002 section 7.6.2); what the period covers
    /// stays covered.
    pub fn collapse(&mut self) {
        self.cause = Cause::PersistentCongestion { is_answered: false };
        self.is_running = false;
    }

    /// A packet that is not covered was acked: the period is over (RFC 9002 section 7.3.2).
    pub fn end(&mut self) {
        self.is_running = false;
        if let Cause::PersistentCongestion { is_answered } = &mut self.cause {
            *is_answered = true;
        }
    }

    /// A new network path is in use: nothing sent before counts for it (RFC 9000 section 9.4).
    pub fn on_new_path(&mut self, path: &PathState) {
        *self = Self { mark: SendMark::new(path), cause: Cause::NewPath, ..Self::new() };
    }

    /// A packet was sent, the window being `cwnd` bytes; `path` is the state after it. The first one in flight after the
    /// reduction takes the permission, whether or not it used it.
    pub fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket, cwnd: u64) {
        if !packet.in_flight || !std::mem::replace(&mut self.may_send_beyond, false) {
            return;
        }
        let mark = self.mark;
        let is_first = !mark.has_number() || packet.number == mark.number();
        if path.bytes_in_flight > cwnd && is_first {
            let next_number = if mark.has_number() { packet.number.saturating_add(1) } else { 0 };
            let now = mark.at().max(packet.sent_at);
            self.mark = SendMark::new(&PathState { now, next_number, ..*path });
        }
    }

    /// An ACK came. Acks clock out packets by then: one later than the reduction ends the permission, which would
    /// otherwise stay for a round trip where sends are not reported.
    pub fn on_ack(&mut self, now: Instant) {
        self.may_send_beyond &= now <= self.mark.at();
    }

    /// Whether the packet was sent before the last reduction, or on another network path.
    #[must_use]
    pub fn covers(&self, number: Option<u64>, sent_at: Instant) -> bool {
        self.cause != Cause::Nothing && self.mark.covers(number, sent_at)
    }

    /// Whether the packet is known to have been sent on another network path. After the first reduction on the new
    /// path that is known no longer: such a packet is only [covered](Self::covers) then.
    #[must_use]
    pub fn is_elsewhere(&self, number: Option<u64>, sent_at: Instant) -> bool {
        self.cause == Cause::NewPath && self.mark.covers(number, sent_at)
    }

    /// Whether recovery is going on: from a reduction until a packet sent after it is acked (RFC 9002 section 7.3.2).
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.is_running
    }

    /// Whether the last reduction was one for persistent congestion: another for the same packets would be no news.
    #[must_use]
    pub fn is_collapse(&self) -> bool {
        matches!(self.cause, Cause::PersistentCongestion { .. })
    }

    /// Whether the window collapsed for persistent congestion and nothing sent after that was acked yet: the slow start that
    /// follows has not begun to grow. A collapse must not raise the pacing rate; one that paces slow start faster waits for
    /// that ack.
    #[must_use]
    pub fn is_fresh_collapse(&self) -> bool {
        self.cause == Cause::PersistentCongestion { is_answered: false }
    }

    /// Whether one packet may be sent beyond the window (RFC 9002 section 7.3.2).
    #[must_use]
    pub const fn may_send_beyond_cwnd(&self) -> bool {
        self.may_send_beyond
    }
}

impl Default for RecoveryPeriod {
    /// Before any reduction.
    fn default() -> Self {
        Self::new()
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
    fn a_period_runs_until_it_is_ended_and_a_collapse_ends_it() {
        let mut period = RecoveryPeriod::new();
        assert!(!period.is_running() && !period.is_collapse());
        period.begin(&path(100, 10, 0));
        assert!(period.is_running());
        period.end();
        assert!(!period.is_running() && period.covers(Some(9), at(50)));
        period.begin(&path(200, 20, 0));
        period.collapse();
        assert!(!period.is_running() && period.is_collapse() && period.covers(Some(19), at(150)));
        assert!(period.is_fresh_collapse());
        period.end();
        assert!(period.is_collapse() && !period.is_fresh_collapse());
        period.begin(&path(300, 30, 0));
        assert!(period.is_running() && !period.is_collapse());
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
        assert!(period.covers(Some(19), at(199)) && period.covers(Some(20), at(201)));
    }
}
