//! s2n-quic's traits.

use crate::Config;
use cc_adapter::Ledger;
use cc_core::{
    AckedPacket, CongestionController, DiscardReason, EcnEvent, Instant, LostPacket, Pacer, PacketSnapshot,
    PacketSpace, PathRtt, Snapshot,
};
use s2n::{Endpoint, PathInfo, Publisher, RandomGenerator, RttEstimator, Timestamp};

/// What `s2n_quic::provider::congestion_controller` exports, from where it gets it: s2n-quic itself is much larger.
mod s2n {
    pub(super) use s2n_quic_core::random::Generator as RandomGenerator;
    pub(super) use s2n_quic_core::recovery::RttEstimator;
    pub(super) use s2n_quic_core::recovery::congestion_controller::{
        CongestionController, Endpoint, PathInfo, Publisher,
    };
    pub(super) use s2n_quic_core::time::Timestamp;
}

/// What the first moment that s2n-quic tells is called: not zero, which means "never" in some places.
const START: Instant = Instant::from_secs(1);

/// A controller as s2n-quic wants it. [`Config`] makes them.
#[derive(Clone, Debug)]
pub struct S2nController<C> {
    ledger: Ledger<C>,
    pacer: Pacer,
    /// The first moment that was told: a controller is made without one.
    epoch: Option<Timestamp>,
    /// When the next datagram may leave.
    departure: Option<Timestamp>,
    /// The packet sent last of those that count in flight.
    last_sent: Option<PacketInfo>,
    /// CE marks of the frame that is being collected: what they refer to comes with its ack.
    marks: Option<u64>,
    app_limited: bool,
}

/// What comes back with the ack or loss of a packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketInfo {
    number: u64,
    sent_at: Instant,
    snapshot: Option<PacketSnapshot>,
    space: PacketSpace,
}

impl<C: CongestionController + Clone> S2nController<C> {
    /// The controller's state for logs.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.ledger.controller().snapshot()
    }

    /// The controller itself.
    #[must_use]
    pub const fn controller(&self) -> &C {
        self.ledger.controller()
    }

    fn at(&mut self, now: Timestamp) -> Instant {
        let epoch = *self.epoch.get_or_insert(now);
        // s2n-quic rounds a difference of nothing up to a microsecond.
        if now <= epoch { START } else { START.after(now.saturating_duration_since(epoch).into()) }
    }

    /// Outputs may have changed: the next departure follows from them.
    fn update_departure(&mut self) {
        let (now, datagram) = (self.ledger.now(), self.ledger.max_datagram_size());
        let controller = self.ledger.controller();
        let (rate, burst) = (controller.pacing_rate(), controller.send_quantum().max(datagram));
        self.pacer.set_rate(now, rate, burst);
        let departure = self.pacer.departure(now, datagram);
        self.departure = self
            .epoch
            .filter(|_| departure > now)
            .and_then(|epoch| epoch.checked_add(departure.since(START).into()));
    }

    fn finish_frame(&mut self) {
        self.ledger.commit();
        self.update_departure();
    }
}

impl<C: CongestionController + Clone> s2n::CongestionController for S2nController<C> {
    type PacketInfo = PacketInfo;

    fn congestion_window(&self) -> u32 {
        clamped(self.ledger.controller().cwnd())
    }

    fn bytes_in_flight(&self) -> u32 {
        clamped(self.ledger.bytes_in_flight())
    }

    fn is_congestion_limited(&self) -> bool {
        let room = self.congestion_window().saturating_sub(self.bytes_in_flight());
        u64::from(room) < self.ledger.max_datagram_size()
    }

    fn requires_fast_retransmission(&self) -> bool {
        self.ledger.controller().may_send_beyond_cwnd()
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) -> PacketInfo {
        let at = self.at(time_sent);
        // Known for application data only; before that flights are small.
        let space = if app_limited.is_some() { PacketSpace::Application } else { PacketSpace::Initial };
        let bytes = u64::try_from(sent_bytes).unwrap_or(u64::MAX);
        if bytes == 0 {
            // ACK-only: it counts nowhere. As the newest packet of an ACK frame it comes back, with bytes of older ones: it
            // stands for the last one before it that counts.
            let before_all =
                PacketInfo { number: 0, sent_at: at, snapshot: Some(PacketSnapshot::default()), space };
            return self.last_sent.unwrap_or(before_all);
        }
        self.ledger.set_handshake_ready(app_limited.is_some());
        if app_limited.is_none() {
            self.ledger.hold_back();
        }
        let sent = self.ledger.on_sent(at, at, bytes, space);
        self.app_limited = app_limited.unwrap_or(true);
        if app_limited == Some(true) {
            self.ledger.on_app_limited(at);
        }
        self.update_departure();
        self.pacer.on_sent(at, at, bytes);
        self.update_departure();
        let info = PacketInfo { number: sent.number, sent_at: at, snapshot: sent.snapshot, space };
        *self.last_sent.insert(info)
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        now: Timestamp,
        rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) {
        let (sent_at, now) = (self.at(time_sent), self.at(now));
        let rtt = PathRtt {
            latest: rtt_estimator.latest_rtt().into(),
            smoothed: rtt_estimator.smoothed_rtt().into(),
            min: rtt_estimator.min_rtt().into(),
            var: rtt_estimator.rttvar().into(),
        };
        self.ledger.on_rtt(now, sent_at, &rtt);
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        _newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        newest: PacketInfo,
        _rtt_estimator: &RttEstimator,
        _random_generator: &mut dyn RandomGenerator,
        ack_receive_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        let at = self.at(ack_receive_time);
        let (app_limited, cwnd) = (self.app_limited, self.ledger.controller().cwnd());
        self.ledger.on_acks_begin(at, |ledger| ledger.limit(app_limited, cwnd));
        if let Some(marks) = self.marks.take() {
            let ecn = EcnEvent {
                space: newest.space,
                ce: Some(marks),
                largest_acked: Some(newest.number),
                largest_acked_sent_at: newest.sent_at,
                ..EcnEvent::default()
            };
            self.ledger.on_ecn(at, &ecn);
        }
        let packet = AckedPacket {
            number: Some(newest.number),
            space: newest.space,
            sent_at: newest.sent_at,
            bytes: u64::try_from(bytes_acknowledged).unwrap_or(u64::MAX),
            packets: None,
            snapshot: newest.snapshot,
            ..AckedPacket::default()
        };
        self.ledger.on_acked(at, &packet);
        self.finish_frame();
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost_bytes: u32,
        lost: PacketInfo,
        persistent_congestion: bool,
        new_loss_burst: bool,
        _random_generator: &mut dyn RandomGenerator,
        timestamp: Timestamp,
        _publisher: &mut Pub,
    ) {
        let at = self.at(timestamp);
        // Within an ACK frame that gave an RTT its ack follows; else nothing says that another loss does.
        let is_part = self.ledger.is_frame_open() && at == self.ledger.now();
        let packet = LostPacket {
            number: Some(lost.number),
            space: lost.space,
            sent_at: lost.sent_at,
            bytes: lost_bytes.into(),
            snapshot: lost.snapshot,
            starts_run: Some(new_loss_burst),
        };
        self.ledger.on_lost(at, &packet, None);
        if persistent_congestion {
            self.ledger.on_persistent_congestion(at);
        }
        if !is_part {
            self.finish_frame();
        }
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        ce_count: u64,
        _event_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        self.marks = Some(self.marks.unwrap_or(0).saturating_add(ce_count));
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, _publisher: &mut Pub) {
        self.ledger.on_mtu_update(max_data_size.into());
        self.update_departure();
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, _publisher: &mut Pub) {
        let bytes = u64::try_from(bytes_sent).unwrap_or(u64::MAX);
        if bytes > 0 {
            let reason = if self.ledger.is_handshake_ready() {
                DiscardReason::MtuProbeLost
            } else {
                DiscardReason::KeysDiscarded
            };
            self.ledger.on_discarded(bytes, reason);
            self.update_departure();
        }
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.departure
    }

    fn send_quantum(&self) -> Option<usize> {
        usize::try_from(self.ledger.controller().send_quantum()).ok()
    }
}

impl<C: CongestionController + Clone> Endpoint for Config<C> {
    type CongestionController = S2nController<C>;

    fn new_congestion_controller(&mut self, path_info: PathInfo<'_>) -> Self::CongestionController {
        let datagram = u64::from(path_info.max_datagram_size);
        let controller = self.recipe.make(START, datagram);
        let burst = controller.send_quantum().max(datagram);
        S2nController {
            ledger: Ledger::new(controller, START, datagram),
            pacer: Pacer::new(START, burst),
            epoch: None,
            departure: None,
            last_sent: None,
            marks: None,
            app_limited: true,
        }
    }
}

/// s2n-quic counts bytes in 32 bits.
fn clamped(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
