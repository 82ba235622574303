//! RS: what one ACK says (section 2.3), from the raw rate sample and the sums of the frame.

use crate::Bbr;
use crate::constants::SHORTEST_RTT;
use cc_core::{Duration, Instant, PathState, Rate, RateSample};

/// The rate sample of the ACK that is being processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sample {
    /// `RS.delivery_rate`; zero if there is no reliable one.
    pub(crate) delivery_rate: Rate,
    /// `RS.delivered`: bytes delivered over the sampling interval.
    pub(crate) delivered: u64,
    /// `RS.prior_delivered`; `None` if the stack stored nothing with the newest packet, and it did not end a round.
    pub(crate) prior_delivered: Option<u64>,
    /// `RS.is_app_limited`.
    pub(crate) is_app_limited: bool,
    /// `RS.tx_in_flight`.
    pub(crate) tx_in_flight: u64,
    /// `RS.lost`: bytes declared lost since the newest packet acked was sent.
    pub(crate) lost: u64,
    /// `RS.newly_acked`.
    pub(crate) newly_acked: u64,
    /// `RS.rtt`.
    pub(crate) rtt: Option<Duration>,
    /// `BBR.round_start`: whether this ACK ended a round trip.
    pub(crate) round_start: bool,
    /// `BBR.loss_round_start`: whether this ACK ended a round trip that is looked at for losses.
    pub(crate) loss_round_start: bool,
}

impl Bbr {
    /// `GenerateRateSample()` (section 4.1.2.3) for a whole frame. `ends_round` counts where the stack gives no raw sample.
    pub(crate) fn rate_sample(
        &self,
        path: &PathState,
        newly_acked: u64,
        newest_sent_at: Instant,
        ends_round: bool,
        raw: Option<&RateSample>,
    ) -> Sample {
        // Section 4.2: from the newest packet. A clock that went back gives none.
        let rtt = (path.now >= newest_sent_at).then(|| path.now.since(newest_sent_at).max(SHORTEST_RTT));
        let rs = Sample { newly_acked, rtt, is_app_limited: path.app_limited, ..Sample::default() };
        let Some(raw) = raw else {
            let rs = Sample { is_app_limited: path.app_limited || self.is_round_limited, ..rs };
            return if ends_round { self.round.sample(path, &rs) } else { rs };
        };
        if !self.is_of_this_path(raw) {
            return rs;
        }
        Sample {
            delivery_rate: reliable_rate(path, raw.delivered_since_sent(), raw.interval()),
            delivered: raw.delivered_since_sent(),
            prior_delivered: Some(raw.snapshot.delivered),
            is_app_limited: raw.app_limited,
            tx_in_flight: raw.snapshot.bytes_in_flight,
            lost: raw.lost_since_sent,
            ..rs
        }
    }

    /// Whether the sample does not reach back to another path, and has a reference at all.
    fn is_of_this_path(&self, raw: &RateSample) -> bool {
        self.is_since_path_start(raw.number, raw.sent_at)
            && raw.snapshot.delivered_at.is_some_and(|at| at >= self.path_start.at())
    }
}

/// The rate, unless the interval is shorter than the path's minimum RTT (`C.min_rtt`): then it is no reliable one.
pub(crate) fn reliable_rate(path: &PathState, delivered: u64, interval: Duration) -> Rate {
    if path.rtt.is_some_and(|rtt| interval < rtt.min) {
        return Rate::ZERO;
    }
    Rate::from_delivery(delivered, interval).unwrap_or(Rate::ZERO)
}
