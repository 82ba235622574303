//! The algorithms that can be simulated, by name.

use crate::scenario::Endpoint;
use cc_core::{
    AckEvent, AckPolicy, CongestionController, DiscardReason, EcnCodepoint, EcnEvent, Instant, LossEvent,
    MtuChange, PathChange, PathState, Rate, ResumeHint, RttEvent, SamplingRule, SentPacket, Snapshot,
    SpuriousLoss,
};

/// A congestion-control algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// C4, `cc-c4`.
    C4,
    /// CUBIC with HyStart++, `cc-cubic`.
    Cubic,
}

impl Algorithm {
    /// All of them, in the order of tables.
    pub const ALL: &'static [Self] = &[Self::C4, Self::Cubic];

    /// The name used on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::C4 => "c4",
            Self::Cubic => "cubic",
        }
    }

    /// The algorithm with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// A controller with the algorithm's defaults and the initial window of the endpoint.
    #[must_use]
    pub fn controller(self, endpoint: &Endpoint) -> AnyController {
        let now = Instant::ZERO;
        AnyController(match self {
            Self::C4 => Box::new(cc_c4::C4::new(&cc_c4::Config {
                now,
                max_datagram_size: endpoint.initial_mtu,
                initial_window: endpoint.initial_window,
                ..cc_c4::Config::default()
            })),
            Self::Cubic => Box::new(cc_cubic::Cubic::new(&cc_cubic::Config {
                max_datagram_size: endpoint.initial_mtu,
                initial_window: Some(endpoint.initial_window),
                fast_convergence: endpoint.fast_convergence,
                ..cc_cubic::Config::default()
            })),
        })
    }
}

/// Any controller, behind one type: what a stack that chooses its algorithm at run time would use.
#[derive(Debug)]
pub struct AnyController(Box<dyn CongestionController>);

impl CongestionController for AnyController {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.0.on_packet_sent(path, packet);
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.0.on_ack(path, ack);
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.0.on_loss(path, loss);
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.0.on_ecn(path, ecn);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.0.pacing_rate()
    }
    fn cwnd(&self) -> u64 {
        self.0.cwnd()
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.0.on_rtt(path, rtt);
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.0.on_app_limited(path);
    }
    fn on_idle_restart(&mut self, path: &PathState) {
        self.0.on_idle_restart(path);
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.0.on_spurious_loss(path, spurious);
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.0.on_discarded(path, bytes, reason);
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.0.on_mtu_update(path, change);
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.0.on_path_change(path, change);
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.0.on_resume_hint(path, hint);
    }
    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.0.on_ack_policy(path, policy);
    }
    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.0.on_ecn_state(path, codepoint);
    }
    fn send_quantum(&self) -> u64 {
        self.0.send_quantum()
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.0.may_send_beyond_cwnd()
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        self.0.wanted_ecn()
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        self.0.wanted_ack_policy()
    }
    fn sampling_rule(&self) -> SamplingRule {
        self.0.sampling_rule()
    }
    fn marks_app_limited(&self) -> bool {
        self.0.marks_app_limited()
    }
    fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }
}
