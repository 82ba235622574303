//! A hand-written stack for the unit tests, and the tests of the events' order and of whole event sequences.

mod events;
mod invariants;
mod link;

use crate::constants::ALPHA_CRUISING;
use crate::era::Era;
use crate::{C4, Config, Phase};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, EcnEvent, Instant, LossEvent, LostPacket,
    PacketSnapshot, PathRtt, PathState, RateSample, RttEvent, SendLimit,
};

/// Phases that are compared whole.
pub(crate) mod phases {
    use crate::Phase;

    pub(crate) const RECOVERY: Phase = Phase::Recovery { excess_ce: false };
}

/// A controller and the path that it sees: 1200-byte datagrams, RTT 40 ms, numbers 100 to 199 outstanding.
pub(crate) struct Rig {
    pub(crate) c4: C4,
    pub(crate) path: PathState,
    pub(crate) app_limited_at: Option<Instant>,
    pub(crate) newest_data_sent_at: Option<Instant>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let ms = Duration::from_millis;
        let path = PathState {
            now: Instant::from_secs(1),
            next_number: 200,
            oldest_outstanding: Some(100),
            rtt: Some(PathRtt { latest: ms(40), smoothed: ms(40), min: ms(40), var: ms(1) }),
            ..PathState::default()
        };
        let mut c4 = C4::new(&Config { now: path.now, ..Config::default() });
        c4.era = Era::new(&path);
        c4.rtt.latest = 40_000;
        Self { c4, path, app_limited_at: None, newest_data_sent_at: Some(Instant::ZERO) }
    }

    /// In Initial with a known rate (B/s) and nominal max RTT (us).
    pub(crate) fn initial(rate: u64, nominal_max: u32) -> Self {
        let mut rig = Self::new();
        rig.set_model(rate, nominal_max);
        rig.c4.reset_growth();
        rig
    }

    /// In the first era of Cruising at a rate (B/s) with a nominal max RTT (us).
    pub(crate) fn cruising(rate: u64, nominal_max: u32) -> Self {
        let mut rig = Self::new();
        rig.set_model(rate, nominal_max);
        rig.c4.alpha = ALPHA_CRUISING;
        rig.c4.reset_growth();
        rig.c4.enter_cruising(&rig.path);
        rig
    }

    fn set_model(&mut self, rate: u64, nominal_max: u32) {
        self.c4.nominal_rate = rate;
        if nominal_max > 0 {
            self.c4.rtt.running_min = nominal_max.min(40_000);
            self.c4.rtt.set_nominal_max(nominal_max, rate);
        }
    }

    pub(crate) fn set_initial(&mut self, window: u64, packets_seen: u32, eras_without_increase: u8) {
        self.c4.phase = Phase::Initial { window, packets_seen, eras_without_increase };
    }

    fn set_rtt(&mut self, set: impl FnOnce(&mut PathRtt)) {
        let zero = Duration::ZERO;
        set(self.path.rtt.get_or_insert(PathRtt { latest: zero, smoothed: zero, min: zero, var: zero }));
    }

    pub(crate) fn smoothed(&mut self, micros: u64) {
        self.set_rtt(|rtt| rtt.smoothed = Duration::from_micros(micros));
    }

    pub(crate) fn min_rtt(&mut self, micros: u64) {
        self.set_rtt(|rtt| rtt.min = Duration::from_micros(micros));
    }

    /// An RTT sample of the application space without ack delay, not the first.
    pub(crate) fn rtt(&mut self, micros: u64) {
        let event =
            RttEvent { latest: Duration::from_micros(micros), is_sample: true, ..RttEvent::default() };
        self.c4.on_rtt(&self.path, &event);
    }

    /// Increases of the CE and the ECT(1) count.
    pub(crate) fn ecn(&mut self, ce: u64, ect1: u64) {
        self.c4.on_ecn(&self.path, &EcnEvent { ce: Some(ce), ect1: Some(ect1), ..EcnEvent::default() });
    }

    /// The loss of one packet by number.
    pub(crate) fn lose(&mut self, number: u64) {
        let packets = [LostPacket { number: Some(number), bytes: 1_200, ..LostPacket::default() }];
        self.lose_all(&packets);
    }

    pub(crate) fn lose_all(&mut self, packets: &[LostPacket]) {
        let loss = LossEvent { packets, last: true, persistent_congestion: false, cause: None };
        self.c4.on_loss(&self.path, &loss);
    }

    /// An ACK of one packet of `bytes` bytes, without a rate sample.
    pub(crate) fn ack(&mut self, bytes: u64) {
        self.ack_with(bytes, None);
    }

    /// An ACK of one packet with an accepted rate sample of `delivered` bytes in `micros`.
    pub(crate) fn ack_rate(&mut self, delivered: u64, micros: u64) {
        let snapshot = PacketSnapshot { delivered_at: Some(Instant::ZERO), ..PacketSnapshot::default() };
        let sample = RateSample {
            snapshot,
            delivered,
            ack_interval: Duration::from_micros(micros),
            moved_reference: true,
            ..RateSample::default()
        };
        self.ack_with(1_200, Some(sample));
    }

    pub(crate) fn ack_with(&mut self, bytes: u64, rate_sample: Option<RateSample>) {
        let number = self.path.oldest_outstanding.and_then(|oldest| oldest.checked_sub(1));
        self.ack_packets(&[AckedPacket { number, bytes, ..AckedPacket::default() }], true, rate_sample);
    }

    pub(crate) fn ack_packets(
        &mut self,
        packets: &[AckedPacket],
        last: bool,
        rate_sample: Option<RateSample>,
    ) {
        let ack = AckEvent {
            packets,
            last,
            rate_sample,
            limited_by: SendLimit::Unknown,
            max_bytes_in_flight: 0,
            app_limited_at: self.app_limited_at,
            newest_data_sent_at: self.newest_data_sent_at,
        };
        self.c4.on_ack(&self.path, &ack);
    }

    /// An ACK that ends the era.
    pub(crate) fn end_era(&mut self) {
        self.end_era_with(1_200);
    }

    /// An ACK of `bytes` bytes that ends the era; 10 packets were sent in the meantime.
    pub(crate) fn end_era_with(&mut self, bytes: u64) {
        self.path.oldest_outstanding = Some(self.c4.era.sequence() + 1);
        self.path.next_number = self.c4.era.sequence() + 10;
        self.ack(bytes);
    }
}
