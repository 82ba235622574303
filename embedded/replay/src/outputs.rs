//! All outputs of a controller, put into a hash.

use crate::Hash;
use cc_core::{CongestionController, DelaySource, EcnCodepoint, SamplingRule, Snapshot};

/// Adds everything that a controller says: what a stack acts on, and the snapshot for logs.
pub fn hash_outputs(hash: &mut Hash, controller: &dyn CongestionController) {
    hash.word(controller.cwnd());
    hash.option(controller.pacing_rate().map(cc_core::Rate::as_bytes_per_sec));
    hash.word(controller.send_quantum());
    let policy = controller.wanted_ack_policy();
    hash.option(policy.map(|policy| policy.packets));
    hash.option(policy.map(|policy| policy.max_ack_delay.as_nanos()));
    let (rule, interval) = match controller.sampling_rule() {
        SamplingRule::LastAck => (0, 0),
        SamplingRule::LastAcceptedSample { min_ack_interval } => (1, min_ack_interval.as_nanos()),
    };
    hash.word(interval);
    let ecn = match controller.wanted_ecn() {
        EcnCodepoint::NotEct => 0,
        EcnCodepoint::Ect0 => 1,
        EcnCodepoint::Ect1 => 2,
    };
    let beyond = u64::from(controller.may_send_beyond_cwnd());
    let app_limited = u64::from(controller.marks_app_limited());
    let samples = u64::from(controller.uses_rate_samples());
    hash.word(rule | ecn << 8 | beyond << 16 | app_limited << 24 | samples << 32);
    hash_snapshot(hash, &controller.snapshot());
}

fn hash_snapshot(hash: &mut Hash, snapshot: &Snapshot) {
    // Destructured, so that a field that is new cannot be forgotten here.
    let Snapshot {
        phase,
        startup,
        cwnd,
        pacing_rate,
        ssthresh,
        bandwidth,
        model_rtt,
        queueing_delay,
        delay_source,
        congestion_events,
    } = *snapshot;
    hash.text(phase);
    hash.word(u64::from(startup));
    hash.word(cwnd);
    hash.option(pacing_rate.map(cc_core::Rate::as_bytes_per_sec));
    hash.option(ssthresh);
    hash.option(bandwidth.map(cc_core::Rate::as_bytes_per_sec));
    hash.option(model_rtt.map(cc_core::Duration::as_nanos));
    hash.option(queueing_delay.map(cc_core::Duration::as_nanos));
    hash.option(delay_source.map(|source| match source {
        DelaySource::ReceiveTimes => 0,
        DelaySource::AckArrival => 1,
    }));
    hash.word(congestion_events);
}
