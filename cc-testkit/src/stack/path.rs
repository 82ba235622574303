//! A stack that leaves the bookkeeping to [`cc_core::Path`].

use super::{Incoming, Outcome, Outgoing, Stack, Unsupported};
use cc_core::{
    AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, FrameEnd, INITIAL_RTT, Instant,
    MtuChange, OutgoingPacket, Path, PathChange, PathConfig, PathRtt, ResumeHint, SendLimit, Setup,
};

/// Packets that the path holds.
const RING: usize = 2_048;
/// Largest packet that it takes as it is.
const MAX_PACKET: u64 = 65_535;

/// A path whose losses the script declares.
#[derive(Clone, Debug)]
pub(crate) struct PathStack<C> {
    path: Box<Path<C, RING>>,
    /// Numbers that the path gave, by place in the order of sending; `None` for ACK-only packets.
    numbers: Vec<Option<u64>>,
    /// Whether the parts of a frame are handed over last to first.
    backwards: bool,
}

impl<C: CongestionController + Clone> PathStack<C> {
    pub(crate) fn new(controller: C, setup: &Setup, max_ack_delay: Duration, backwards: bool) -> Self {
        let config = PathConfig {
            now: setup.now,
            max_datagram_size: setup.max_datagram_size,
            initial_rtt: setup.initial_rtt.unwrap_or(INITIAL_RTT),
            max_ack_delay,
            loss_detection: None,
        };
        Self { path: Box::new(Path::new(controller, config)), numbers: Vec::new(), backwards }
    }

    /// Packets by number. One that was not sent yet has the number that it will get if all before it are in flight.
    fn numbers_of<'a>(&'a self, packets: &'a [usize]) -> impl DoubleEndedIterator<Item = (usize, u64)> + 'a {
        packets.iter().filter_map(|id| {
            let unsent = || {
                let ahead = id.saturating_sub(self.numbers.len());
                Some(self.path.next_number().saturating_add(u64::try_from(ahead).unwrap_or(u64::MAX)))
            };
            let number = self.numbers.get(*id).copied().unwrap_or_else(unsent);
            number.map(|number| (*id, number))
        })
    }

    fn hand_over_acked(&mut self, frame: &Incoming<'_>, packets: &[(usize, u64)]) {
        for (id, number) in packets {
            self.path.acked(*number, frame.received_at(*id));
        }
    }

    fn hand_over_lost(&mut self, packets: &[(usize, u64)]) {
        for (_, number) in packets {
            self.path.lost(*number);
        }
    }
}

impl<C: CongestionController + Clone> Stack for PathStack<C> {
    type Controller = C;

    fn controller(&self) -> &C {
        self.path.controller()
    }
    fn in_flight(&self) -> u64 {
        self.path.bytes_in_flight()
    }
    fn delivered(&self) -> u64 {
        self.path.delivered()
    }
    fn lost(&self) -> u64 {
        self.path.lost_bytes()
    }
    fn next_number(&self) -> u64 {
        self.path.next_number()
    }
    fn rtt(&self) -> Option<PathRtt> {
        self.path.rtt().as_path_rtt()
    }

    fn send(&mut self, now: Instant, out: &Outgoing) -> Result<(), Unsupported> {
        if out.bytes > MAX_PACKET {
            return Err(Unsupported("a packet is larger than a path takes"));
        }
        let packet = OutgoingPacket {
            space: out.space,
            bytes: out.bytes,
            in_flight: out.in_flight,
            ack_eliciting: out.ack_eliciting,
            carries_data: out.carries_data,
            sent_at: now,
        };
        let number = self
            .path
            .on_packet_sent(now, &packet)
            .map_err(|_| Unsupported("more packets are in flight than a path holds"))?;
        self.numbers.push(out.in_flight.then_some(number));
        Ok(())
    }

    fn receive(&mut self, frame: &Incoming<'_>) -> Result<Outcome, Unsupported> {
        if frame.forced {
            return Err(Unsupported("a path does not hand on what it never sent"));
        }
        if frame.persistent {
            return Err(Unsupported("a path finds persistent congestion itself"));
        }
        let mut acked: Vec<(usize, u64)> = self.numbers_of(frame.acked).collect();
        let mut lost: Vec<(usize, u64)> = self.numbers_of(frame.lost).collect();
        let known = self.path.next_number();
        if self.backwards {
            acked.reverse();
            lost.reverse();
            self.hand_over_acked(frame, &acked);
            self.hand_over_lost(&lost);
            frame.ecn.into_iter().for_each(|counts| self.path.ecn(counts));
        } else {
            frame.ecn.into_iter().for_each(|counts| self.path.ecn(counts));
            self.hand_over_lost(&lost);
            self.hand_over_acked(frame, &acked);
        }
        let end = FrameEnd { ack_delay: frame.delay, cause: frame.cause, ..FrameEnd::default() };
        let report = self.path.finish(frame.now, end);
        Ok(Outcome {
            acked: report.newly_acked,
            lost: report.newly_lost,
            late: report.late_acked,
            persistent: report.persistent_congestion,
            oldest_lost: report.lost_span.map(|(first, _)| first),
            newest_lost: report.lost_span.map(|(_, last)| last),
            newest_acked: acked.into_iter().map(|(_, number)| number).filter(|number| *number < known).max(),
            marks: frame.ecn.filter(|_| report.newly_acked > 0).map_or(0, |counts| counts.ce),
            calls: Vec::new(),
        })
    }

    fn discard(&mut self, now: Instant, packets: &[usize], reason: DiscardReason) {
        let numbers: Vec<(usize, u64)> = self.numbers_of(packets).collect();
        for (_, number) in numbers {
            self.path.discard(now, number, reason);
        }
    }

    fn all_spurious(&mut self, _now: Instant) -> Result<(), Unsupported> {
        Err(Unsupported("a path knows which packet was lost without need"))
    }

    fn set_mtu(&mut self, now: Instant, bytes: u64, change: MtuChange) {
        self.path.set_max_datagram_size(now, bytes, change);
    }
    fn change_path(&mut self, now: Instant, change: PathChange) {
        self.path.path_changed(now, change);
    }
    fn resume(&mut self, now: Instant, hint: &ResumeHint) {
        self.path.resume(now, hint);
    }
    fn app_limited(&mut self, now: Instant) {
        self.path.on_app_limited(now);
    }
    fn set_policy(&mut self, now: Instant, policy: &AckPolicy) {
        self.path.set_ack_policy(now, policy);
    }
    fn set_ecn(&mut self, now: Instant, codepoint: EcnCodepoint) {
        self.path.set_ecn_state(now, codepoint);
    }
    fn set_handshake(&mut self, done: bool) {
        self.path.set_handshake_ready(done);
    }
    fn set_limit(&mut self, limit: SendLimit) {
        self.path.note_limit(limit);
    }
}
