//! The calls that one frame makes, as data, so that they can be made in any order and on any copy of a controller.

use cc_core::{
    AckEvent, AckedPacket, CongestionController, EcnEvent, Instant, LossCause, LossEvent, LostPacket,
    PathState, Rate, RateSample, RttEvent, SendLimit, SpuriousLoss,
};

/// A part of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Ecn,
    Rtt,
    Loss,
    Ack,
}

impl Part {
    /// The order of the contract.
    pub(crate) const CANONICAL: [Self; 4] = [Self::Ecn, Self::Rtt, Self::Loss, Self::Ack];

    /// All orders, the canonical one first.
    pub(crate) fn orders() -> Vec<[Self; 4]> {
        let parts = Self::CANONICAL;
        let mut orders = Vec::new();
        for a in parts {
            for b in parts {
                for c in parts {
                    for d in parts {
                        let order = [a, b, c, d];
                        if parts.iter().all(|part| order.contains(part)) {
                            orders.push(order);
                        }
                    }
                }
            }
        }
        orders
    }
}

/// One call and what it did to the outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) part: Part,
    pub(crate) before: (u64, Option<Rate>),
    pub(crate) after: (u64, Option<Rate>),
}

/// All that a controller is told of one frame.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// State after the frame; `lost` is that before it.
    pub(crate) state: PathState,
    pub(crate) newly_lost: u64,
    pub(crate) ecn: Option<EcnEvent>,
    pub(crate) rtt: Option<RttEvent>,
    pub(crate) losses: Vec<LostPacket>,
    pub(crate) cause: LossCause,
    pub(crate) persistent: bool,
    pub(crate) spurious: Vec<SpuriousLoss>,
    pub(crate) acks: Vec<AckedPacket>,
    pub(crate) rate_sample: Option<RateSample>,
    pub(crate) limited_by: SendLimit,
    pub(crate) max_bytes_in_flight: u64,
    pub(crate) app_limited_at: Option<Instant>,
    pub(crate) newest_data_sent_at: Option<Instant>,
    /// Whether `on_ack` is called without packets too.
    pub(crate) force_ack: bool,
}

impl Delivery {
    /// Makes the calls.
    pub(crate) fn deliver<C: CongestionController>(&self, controller: &mut C, order: [Part; 4]) -> Vec<Call> {
        let outputs = |controller: &C| (controller.cwnd(), controller.pacing_rate());
        let mut calls = Vec::new();
        for part in order {
            let before = outputs(controller);
            if self.deliver_part(controller, part) {
                calls.push(Call { part, before, after: outputs(controller) });
            }
        }
        calls
    }

    fn deliver_part<C: CongestionController>(&self, controller: &mut C, part: Part) -> bool {
        let after_losses = PathState { lost: self.state.lost.saturating_add(self.newly_lost), ..self.state };
        match part {
            Part::Ecn => {
                let Some(ecn) = &self.ecn else { return false };
                controller.on_ecn(&self.state, ecn);
            }
            Part::Rtt => {
                let Some(rtt) = &self.rtt else { return false };
                controller.on_rtt(&self.state, rtt);
            }
            Part::Loss => {
                if self.losses.is_empty() {
                    return false;
                }
                let loss = LossEvent {
                    packets: &self.losses,
                    last: true,
                    persistent_congestion: self.persistent,
                    cause: Some(self.cause),
                };
                controller.on_loss(&self.state, &loss);
            }
            Part::Ack => {
                for spurious in &self.spurious {
                    controller.on_spurious_loss(&after_losses, spurious);
                }
                if self.acks.is_empty() && !self.force_ack {
                    return !self.spurious.is_empty();
                }
                let ack = AckEvent {
                    packets: &self.acks,
                    last: true,
                    rate_sample: self.rate_sample,
                    limited_by: self.limited_by,
                    max_bytes_in_flight: self.max_bytes_in_flight,
                    app_limited_at: self.app_limited_at,
                    newest_data_sent_at: self.newest_data_sent_at,
                };
                controller.on_ack(&after_losses, &ack);
            }
        }
        true
    }
}
