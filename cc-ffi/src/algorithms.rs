//! The algorithms, by number and name, and one type for any of them.

use cc_core::{
    AckEvent, AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, LossEvent,
    MtuChange, PathChange, PathState, Rate, ResumeHint, RttEvent, SamplingRule, SentPacket, Setup, Snapshot,
    SpuriousLoss,
};
use core::ffi::CStr;

/// Makes `AnyController` and `ALGORITHMS` of lines `NUMBER VARIANT NAME CONTROLLER = CONFIG;`.
macro_rules! algorithms {
    ($($number:literal $variant:ident $name:literal $controller:ty = $config:ty;)+) => {
        /// All algorithms, by ascending number.
        pub const ALGORITHMS: &[Algorithm] = &[$(Algorithm { number: $number, name: $name }),+];

        /// A controller of any of the [`ALGORITHMS`], as large as the largest of them; nothing is allocated.
        #[allow(clippy::large_enum_variant, reason = "the caller has reserved room for any algorithm")]
        #[derive(Clone, Debug)]
        pub enum AnyController {
            $(#[doc = concat!("[`", stringify!($controller), "`]")] $variant($controller)),+
        }

        impl AnyController {
            /// A controller of the algorithm with this number, with the algorithm's default configuration but for `setup`;
            /// `None` if no algorithm has the number.
            #[must_use]
            pub fn new(number: u32, setup: &Setup) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant(<$controller>::new(&<$config>::from(*setup)))),)+
                    _ => None,
                }
            }

            fn get(&self) -> &dyn CongestionController {
                match self {
                    $(Self::$variant(controller) => controller),+
                }
            }

            fn get_mut(&mut self) -> &mut dyn CongestionController {
                match self {
                    $(Self::$variant(controller) => controller),+
                }
            }
        }
    };
}

// One line per algorithm. A number is part of the ABI: it is never given to another algorithm. The header is made from this table
// too (`UPDATE_HEADER=1 cargo test -p cc-ffi --test header`).
algorithms! {
    1 C4 c"c4" cc_c4::C4 = cc_c4::Config;
    2 Cubic c"cubic" cc_cubic::Cubic = cc_cubic::Config;
    3 Reno c"reno" cc_reno::Reno = cc_reno::Config;
    4 Bbr c"bbr" cc_bbr::Bbr = cc_bbr::Config;
    5 QuicDc c"quicdc" cc_quicdc::QuicDc = cc_quicdc::Config;
    6 Westwood c"westwood" cc_quicdc::Westwood = cc_quicdc::Config;
}

/// An algorithm that the library knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Algorithm {
    /// Its number, greater than 0.
    pub number: u32,
    /// Its name, in lower case.
    pub name: &'static CStr,
}

/// Every method is handed on, those with default bodies too (a test compares with the trait).
impl CongestionController for AnyController {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.get_mut().on_packet_sent(path, packet);
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.get_mut().on_ack(path, ack);
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.get_mut().on_loss(path, loss);
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.get_mut().on_ecn(path, ecn);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.get().pacing_rate()
    }
    fn cwnd(&self) -> u64 {
        self.get().cwnd()
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.get_mut().on_rtt(path, rtt);
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.get_mut().on_app_limited(path);
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.get_mut().on_idle_restart(path, idle);
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.get_mut().on_spurious_loss(path, spurious);
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.get_mut().on_discarded(path, bytes, reason);
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.get_mut().on_mtu_update(path, change);
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.get_mut().on_path_change(path, change);
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.get_mut().on_resume_hint(path, hint);
    }
    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.get_mut().on_ack_policy(path, policy);
    }
    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.get_mut().on_ecn_state(path, codepoint);
    }
    fn send_quantum(&self) -> u64 {
        self.get().send_quantum()
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.get().may_send_beyond_cwnd()
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        self.get().wanted_ecn()
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        self.get().wanted_ack_policy()
    }
    fn sampling_rule(&self) -> SamplingRule {
        self.get().sampling_rule()
    }
    fn marks_app_limited(&self) -> bool {
        self.get().marks_app_limited()
    }
    fn snapshot(&self) -> Snapshot {
        self.get().snapshot()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::string::String;
    use std::vec::Vec;

    /// Names of the methods in the block that starts with the line `start`.
    fn methods(source: &str, start: &str) -> Vec<String> {
        let block = source.lines().skip_while(|line| !line.starts_with(start)).skip(1);
        block
            .take_while(|line| !line.starts_with('}'))
            .filter_map(|line| line.trim().strip_prefix("fn ")?.split('(').next().map(String::from))
            .collect()
    }

    #[test]
    fn every_method_of_the_contract_is_handed_on() {
        // A method that is forgotten would silently take its default body.
        let read = |path: &str| {
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
                .expect("the source is there")
        };
        let mut wanted = methods(&read("../cc-core/src/controller.rs"), "pub trait CongestionController");
        let mut given = methods(&read("src/algorithms.rs"), "impl CongestionController for AnyController");
        wanted.sort();
        given.sort();
        assert!(wanted.len() > 20, "{wanted:?}");
        assert_eq!(given, wanted);
    }
}
