//! Senders in the language of the test scripts: sent, acked, lost, CE, at times in milliseconds. Packets count from 0.

use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, EcnCounts, EcnEvent, FrameEnd, Instant, LossEvent,
    LostPacket, OutgoingPacket, Path, PathConfig, PathRtt, PathState, PeerInstant, RttEvent, SendLimit,
};
use std::ops::Range;
use std::vec::Vec;

pub(crate) const MSS: u64 = 1_200;
/// Round-trip time without queues.
pub(crate) const RTT_MS: u64 = 100;
/// How far the peer's clock is ahead.
const OFFSET: u64 = 0xFEED_BEEF_0000;

/// A sender with a [`Path`].
pub(crate) struct Stack<C> {
    pub(crate) path: Path<C, 2_048>,
}

pub(crate) fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

impl<C: CongestionController> Stack<C> {
    pub(crate) fn new(controller: C) -> Self {
        Self { path: Path::new(controller, PathConfig::default()) }
    }

    pub(crate) fn cc(&self) -> &C {
        self.path.controller()
    }

    pub(crate) fn cwnd(&self) -> u64 {
        self.cc().cwnd()
    }

    pub(crate) fn phase(&self) -> &'static str {
        self.cc().snapshot().phase
    }

    pub(crate) fn events(&self) -> u64 {
        self.cc().snapshot().congestion_events
    }

    pub(crate) fn send(&mut self, at_ms: u64, count: u64) -> Range<u64> {
        let first = self.path.next_number();
        for _ in 0..count {
            let packet = OutgoingPacket { sent_at: ms(at_ms), ..OutgoingPacket::default() };
            self.path.on_packet_sent(ms(at_ms), &packet).unwrap();
        }
        self.path.note_limit(SendLimit::Cwnd);
        first..self.path.next_number()
    }

    /// Sends until the next datagram would not fit the window.
    pub(crate) fn fill(&mut self, at_ms: u64) -> Range<u64> {
        self.send(at_ms, self.cwnd().saturating_sub(self.path.bytes_in_flight()) / MSS)
    }

    pub(crate) fn ack(&mut self, at_ms: u64, acked: impl IntoIterator<Item = u64>) {
        self.frame(at_ms, acked, [], 0);
    }

    /// Acks everything in flight.
    pub(crate) fn ack_all(&mut self, at_ms: u64) {
        let all: Vec<u64> = self.path.outstanding().map(|packet| packet.number).collect();
        self.ack(at_ms, all);
    }

    pub(crate) fn lose(&mut self, at_ms: u64, lost: impl IntoIterator<Item = u64>) {
        self.frame(at_ms, [], lost, 0);
    }

    /// One ACK frame without receive times: acks, losses that go with it, and new CE marks.
    pub(crate) fn frame(
        &mut self,
        at_ms: u64,
        acked: impl IntoIterator<Item = u64>,
        lost: impl IntoIterator<Item = u64>,
        ce: u64,
    ) {
        acked.into_iter().for_each(|number| self.path.acked(number, None));
        lost.into_iter().for_each(|number| self.path.lost(number));
        if ce > 0 {
            self.path.ecn(EcnCounts { ce, ..EcnCounts::default() });
        }
        self.path.finish(ms(at_ms), FrameEnd::default());
    }
}

/// A sender that calls the controller itself: a frame is one call, however many packets it acks. One-way delays are 50 ms each way,
/// and the peer's clock is ahead.
pub(crate) struct Bare<C> {
    pub(crate) cc: C,
    pub(crate) limited_by: SendLimit,
    /// Whether the peer reports receive times.
    pub(crate) has_stamps: bool,
    /// Send times; each packet has [`MSS`] bytes.
    sent: Vec<Instant>,
    flight: u64,
    peak: u64,
}

impl<C: CongestionController> Bare<C> {
    pub(crate) fn new(cc: C) -> Self {
        Self { cc, limited_by: SendLimit::Cwnd, has_stamps: true, sent: Vec::new(), flight: 0, peak: 0 }
    }

    pub(crate) fn state(&self, at_ms: u64, prior: u64) -> PathState {
        PathState {
            now: ms(at_ms),
            bytes_in_flight: self.flight,
            prior_bytes_in_flight: prior,
            next_number: self.sent.len() as u64,
            ..PathState::default()
        }
    }

    pub(crate) fn send(&mut self, at_ms: u64, count: u64) -> Range<u64> {
        let first = self.sent.len() as u64;
        for _ in 0..count {
            self.sent.push(ms(at_ms));
            self.flight += MSS;
        }
        self.peak = self.peak.max(self.flight);
        first..first + count
    }

    fn sent_at(&self, number: u64) -> Instant {
        self.sent[number as usize]
    }

    /// All of `acked` (not empty) in one frame; packet `n` queued for `queue_ms(n)` on its way.
    pub(crate) fn ack(&mut self, at_ms: u64, acked: Range<u64>, queue_ms: impl Fn(u64) -> u64) {
        let prior = self.flight;
        self.flight -= MSS * (acked.end - acked.start);
        let latest = ms(at_ms).since(self.sent_at(acked.end - 1));
        let rtt = PathRtt { latest, smoothed: latest, min: latest, var: Duration::ZERO };
        let path = PathState { rtt: Some(rtt), ..self.state(at_ms, prior) };
        let rtt =
            RttEvent { latest, ack_delay: Some(Duration::ZERO), is_sample: true, ..RttEvent::default() };
        self.cc.on_rtt(&path, &rtt);
        let packets: Vec<AckedPacket> = acked
            .map(|number| {
                let sent_at = self.sent_at(number);
                let received = sent_at.as_nanos() + (RTT_MS / 2 + queue_ms(number)) * 1_000_000 + OFFSET;
                AckedPacket {
                    number: Some(number),
                    sent_at,
                    bytes: MSS,
                    packets: Some(1),
                    received_at: self.has_stamps.then_some(PeerInstant::from_nanos(received)),
                    ..AckedPacket::default()
                }
            })
            .collect();
        let ack = AckEvent {
            packets: &packets,
            last: true,
            rate_sample: None,
            limited_by: self.limited_by,
            max_bytes_in_flight: self.peak,
            app_limited_at: None,
            newest_data_sent_at: packets.last().map(|packet| packet.sent_at),
        };
        self.cc.on_ack(&path, &ack);
        self.peak = self.flight;
    }

    pub(crate) fn lose(&mut self, at_ms: u64, lost: Range<u64>, persistent_congestion: bool) {
        let prior = self.flight;
        self.flight -= MSS * (lost.end - lost.start);
        let packets: Vec<LostPacket> = lost
            .map(|number| LostPacket {
                number: Some(number),
                sent_at: self.sent_at(number),
                bytes: MSS,
                ..LostPacket::default()
            })
            .collect();
        let loss = LossEvent { packets: &packets, last: true, persistent_congestion, cause: None };
        self.cc.on_loss(&self.state(at_ms, prior), &loss);
    }

    /// A CE mark that came with the ack of the packet.
    pub(crate) fn mark(&mut self, at_ms: u64, number: u64) {
        let ecn = EcnEvent {
            ce: Some(1),
            largest_acked: Some(number),
            largest_acked_sent_at: self.sent_at(number),
            ..EcnEvent::default()
        };
        self.cc.on_ecn(&self.state(at_ms, self.flight), &ecn);
    }
}
