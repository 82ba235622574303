//! A sender with a path, in the language of the test scripts: sent, acked, lost, CE, at times in milliseconds. Packets
//! count from 0.

use crate::{Config, Reno};
use cc_core::{
    CongestionController, EcnCounts, FrameEnd, Instant, OutgoingPacket, Path, PathConfig, SendLimit,
    SlowStart,
};
use std::ops::Range;
use std::vec::Vec;

pub(crate) const MSS: u64 = 1_200;

pub(crate) struct Stack<S: SlowStart = cc_core::StandardSlowStart> {
    pub(crate) path: Path<Reno<S>, 1_024>,
}

pub(crate) fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

impl Stack {
    pub(crate) fn new() -> Self {
        Self::with(&Config::default())
    }

    pub(crate) fn with(config: &Config) -> Self {
        Self::around(Reno::new(config), config.max_datagram_size)
    }

    /// In congestion avoidance with a window of `cwnd` bytes (a multiple of 1200) and an RTT of 100 ms, at 200 ms, with
    /// nothing in flight.
    pub(crate) fn in_avoidance(cwnd: u64) -> Self {
        let mut stack = Self::with(&Config { initial_window: Some(2 * cwnd), ..Config::default() });
        let flight = stack.fill(0);
        stack.frame(100, flight.start + 1..flight.end, [flight.start], 0);
        assert_eq!(stack.cwnd(), cwnd);
        // One byte sent after the reduction ends the recovery.
        let probe = stack.send(100, 1, 1);
        stack.path.note_limit(SendLimit::Cwnd);
        stack.ack(200, probe);
        assert_eq!((stack.cwnd(), stack.path.controller().in_recovery()), (cwnd, false));
        stack
    }
}

impl<S: SlowStart> Stack<S> {
    pub(crate) fn around(reno: Reno<S>, max_datagram_size: u64) -> Self {
        Self { path: Path::new(reno, PathConfig { max_datagram_size, ..PathConfig::default() }) }
    }

    pub(crate) fn cwnd(&self) -> u64 {
        self.path.controller().cwnd()
    }

    pub(crate) fn phase(&self) -> &'static str {
        self.path.controller().snapshot().phase
    }

    pub(crate) fn events(&self) -> u64 {
        self.path.controller().snapshot().congestion_events
    }

    pub(crate) fn send(&mut self, at_ms: u64, count: u64, bytes: u64) -> Range<u64> {
        let first = self.path.next_number();
        for _ in 0..count {
            let packet = OutgoingPacket { bytes, sent_at: ms(at_ms), ..OutgoingPacket::default() };
            self.path.on_packet_sent(ms(at_ms), &packet).unwrap();
        }
        first..self.path.next_number()
    }

    /// Sends until the next datagram would not fit the window; the window is what stops it.
    pub(crate) fn fill(&mut self, at_ms: u64) -> Range<u64> {
        let room = self.cwnd().saturating_sub(self.path.bytes_in_flight()) / MSS;
        let sent = self.send(at_ms, room, MSS);
        self.path.note_limit(SendLimit::Cwnd);
        sent
    }

    pub(crate) fn ack(&mut self, at_ms: u64, acked: impl IntoIterator<Item = u64>) {
        self.frame(at_ms, acked, [], 0);
    }

    pub(crate) fn lose(&mut self, at_ms: u64, lost: impl IntoIterator<Item = u64>) {
        self.frame(at_ms, [], lost, 0);
    }

    /// One ACK frame: acks, losses that go with it, and new CE marks.
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

    /// Acks everything in flight.
    pub(crate) fn ack_all(&mut self, at_ms: u64) {
        let all: Vec<u64> = self.path.outstanding().map(|packet| packet.number).collect();
        self.ack(at_ms, all);
    }
}
