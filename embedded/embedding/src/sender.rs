//! The sender.

use crate::Ack;
use cc_core::{
    CongestionController, Duration, FrameEnd, Instant, LossDetection, OutgoingPacket, Path, PathConfig,
    SendDecision,
};

/// Bytes of a full datagram (RFC 9000 section 14).
const DATAGRAM: u64 = 1_200;

/// Bytes of a probe when all data is under way: a PING in a packet of its own.
const PROBE: u64 = 40;

/// Probes at most per timeout (RFC 9002 section 6.2.4).
const PROBES: u8 = 2;

/// A packet to be handed to the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Its number.
    pub number: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it carries payload.
    pub carries_data: bool,
}

/// Sends a number of bytes over a path that keeps up to `N` packets in flight in mind.
#[derive(Clone, Debug)]
pub struct Sender<C, const N: usize> {
    path: Path<C, N>,
    /// Bytes that were not sent yet, or were lost.
    left: u64,
    /// When the pacer lets the next packet go; `None` if something else holds it back.
    paced_until: Option<Instant>,
    last_sent: Instant,
    /// Probe timeouts since the last ACK.
    timeouts: u32,
    probes: u8,
}

impl<C: CongestionController, const N: usize> Sender<C, N> {
    /// A sender of `bytes` bytes.
    #[must_use]
    pub fn new(controller: C, now: Instant, bytes: u64) -> Self {
        let config =
            PathConfig { now, loss_detection: Some(LossDetection::default()), ..PathConfig::default() };
        Self {
            path: Path::new(controller, config),
            left: bytes,
            paced_until: None,
            last_sent: now,
            timeouts: 0,
            probes: 0,
        }
    }

    /// Whether everything was sent, and is acked or given up by the path.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.left == 0 && self.path.bytes_in_flight() == 0
    }

    /// The path, for logs.
    #[must_use]
    pub const fn path(&self) -> &Path<C, N> {
        &self.path
    }

    /// The next packet that may be sent now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        self.paced_until = None;
        let carries_data = self.left > 0;
        let bytes = if carries_data { self.left.min(DATAGRAM) } else { PROBE };
        if self.probes > 0 {
            // RFC 9002 section 7.5: probes are not held back.
            self.probes = self.probes.saturating_sub(1);
        } else if carries_data {
            match self.path.poll_send(now, bytes) {
                SendDecision::Now => {}
                SendDecision::At(time) => {
                    self.paced_until = Some(time);
                    return None;
                }
                SendDecision::Blocked(_) => return None,
            }
        } else {
            self.path.on_app_limited(now);
            return None;
        }
        let packet = OutgoingPacket { bytes, carries_data, sent_at: now, ..OutgoingPacket::default() };
        let number = self.path.on_packet_sent(now, &packet).ok()?;
        if carries_data {
            self.left = self.left.saturating_sub(bytes);
        }
        self.last_sent = now;
        Some(Packet { number, bytes, carries_data })
    }

    /// An ACK arrived.
    pub fn on_ack(&mut self, now: Instant, ack: &Ack) {
        for number in &ack.numbers {
            self.path.acked(*number, None);
        }
        let end = FrameEnd { ack_delay: Some(ack.delay), ..FrameEnd::default() };
        let report = self.path.finish(now, end);
        self.left = self.left.saturating_add(report.newly_lost);
        self.timeouts = 0;
    }

    /// Time has passed: looks at the timers.
    pub fn on_time(&mut self, now: Instant) {
        if self.path.loss_deadline().is_some_and(|deadline| deadline <= now) {
            let report = self.path.on_loss_timeout(now);
            self.left = self.left.saturating_add(report.newly_lost);
        }
        if self.probe_deadline().is_some_and(|deadline| deadline <= now) {
            self.timeouts = self.timeouts.saturating_add(1);
            self.probes = PROBES;
            self.last_sent = now;
        }
    }

    /// When [`Sender::on_time`] or [`Sender::poll_transmit`] is to be called at the latest, if nothing arrives before; `None` if
    /// not at all.
    #[must_use]
    pub fn poll_at(&self) -> Option<Instant> {
        // RFC 9002 section 6.2.1: a loss timer that is set comes instead of the probe timeout.
        let timer = self.path.loss_deadline().or_else(|| self.probe_deadline());
        timer.into_iter().chain(self.paced_until).min()
    }

    /// RFC 9002 section 6.2.1, with exponential backoff; `max_ack_delay` is that of the path's configuration.
    fn probe_deadline(&self) -> Option<Instant> {
        if self.path.bytes_in_flight() == 0 || self.path.loss_deadline().is_some() {
            return None;
        }
        let timeout = self.path.rtt().pto_base().plus(MAX_ACK_DELAY);
        // Six doublings are a minute or so.
        Some(self.last_sent.after(timeout.times(1 << self.timeouts.min(6))))
    }
}

/// `max_ack_delay` of RFC 9000 section 18.2, which is what `PathConfig` has.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
