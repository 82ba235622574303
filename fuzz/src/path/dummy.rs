//! A controller whose outputs are part of the input.

use crate::number::Number;
use arbitrary::Arbitrary;
use cc_core::{
    AckEvent, CongestionController, Duration, EcnEvent, LossEvent, PathState, Rate, SamplingRule, SentPacket,
    Snapshot,
};

/// What a controller says.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Outputs {
    cwnd: Number,
    pacing_rate: Option<Number>,
    quantum: Number,
    beyond: bool,
    marks: bool,
}

/// A controller that can be told what to say, or does not mind.
pub trait Settable {
    /// These are the outputs from now on.
    fn set(&mut self, outputs: &Outputs);
}

/// Decides nothing.
#[derive(Clone, Debug)]
pub struct Dummy {
    outputs: Outputs,
    rule: SamplingRule,
}

impl Dummy {
    /// One whose samples follow the rule of C4, or that of the BBR draft.
    pub fn new(accepted_samples: bool) -> Self {
        let outputs = Outputs {
            cwnd: Number::Large(1 << 30),
            pacing_rate: None,
            quantum: Number::Small(12_000),
            beyond: false,
            marks: false,
        };
        let accepted = SamplingRule::LastAcceptedSample { min_ack_interval: Duration::from_millis(1) };
        Self { outputs, rule: if accepted_samples { accepted } else { SamplingRule::LastAck } }
    }
}

impl Settable for Dummy {
    fn set(&mut self, outputs: &Outputs) {
        self.outputs = *outputs;
    }
}

impl CongestionController for Dummy {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {}
    fn on_ack(&mut self, _: &PathState, _: &AckEvent<'_>) {}
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {}
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {}
    fn pacing_rate(&self) -> Option<Rate> {
        self.outputs.pacing_rate.map(|rate| Rate::from_bytes_per_sec(rate.get()))
    }
    fn cwnd(&self) -> u64 {
        self.outputs.cwnd.get()
    }
    fn send_quantum(&self) -> u64 {
        self.outputs.quantum.get()
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.outputs.beyond
    }
    fn marks_app_limited(&self) -> bool {
        self.outputs.marks
    }
    fn sampling_rule(&self) -> SamplingRule {
        self.rule
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}
