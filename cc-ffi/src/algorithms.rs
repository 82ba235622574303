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
        }
    };
}

// One line per algorithm, and one in `any`. A number is part of the ABI: it is never given to another algorithm. The header is
// made from this table too (`UPDATE_HEADER=1 cargo test -p cc-ffi --test header`).
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

/// Does the same with a controller of whatever algorithm.
///
/// Not by way of `&dyn CongestionController`: its table of methods keeps the controllers' `Debug` in every program, and with it
/// the check of a length in what `derive(Debug)` writes: the one panic path that there would be in the library.
macro_rules! any {
    ($any:expr, |$controller:ident| $body:expr) => {
        match $any {
            AnyController::C4($controller) => $body,
            AnyController::Cubic($controller) => $body,
            AnyController::Reno($controller) => $body,
            AnyController::Bbr($controller) => $body,
            AnyController::QuicDc($controller) => $body,
            AnyController::Westwood($controller) => $body,
        }
    };
}

/// Every method is handed on, those with default bodies too (a test compares with the trait).
impl CongestionController for AnyController {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        any!(self, |controller| controller.on_packet_sent(path, packet))
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        any!(self, |controller| controller.on_ack(path, ack))
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        any!(self, |controller| controller.on_loss(path, loss))
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        any!(self, |controller| controller.on_ecn(path, ecn))
    }
    fn pacing_rate(&self) -> Option<Rate> {
        any!(self, |controller| controller.pacing_rate())
    }
    fn cwnd(&self) -> u64 {
        any!(self, |controller| controller.cwnd())
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        any!(self, |controller| controller.on_rtt(path, rtt))
    }
    fn on_app_limited(&mut self, path: &PathState) {
        any!(self, |controller| controller.on_app_limited(path))
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        any!(self, |controller| controller.on_idle_restart(path, idle))
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        any!(self, |controller| controller.on_spurious_loss(path, spurious))
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        any!(self, |controller| controller.on_discarded(path, bytes, reason))
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        any!(self, |controller| controller.on_mtu_update(path, change))
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        any!(self, |controller| controller.on_path_change(path, change))
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        any!(self, |controller| controller.on_resume_hint(path, hint))
    }
    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        any!(self, |controller| controller.on_ack_policy(path, policy))
    }
    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        any!(self, |controller| controller.on_ecn_state(path, codepoint))
    }
    fn send_quantum(&self) -> u64 {
        any!(self, |controller| controller.send_quantum())
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        any!(self, |controller| controller.may_send_beyond_cwnd())
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        any!(self, |controller| controller.wanted_ecn())
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        any!(self, |controller| controller.wanted_ack_policy())
    }
    fn sampling_rule(&self) -> SamplingRule {
        any!(self, |controller| controller.sampling_rule())
    }
    fn uses_rate_samples(&self) -> bool {
        any!(self, |controller| controller.uses_rate_samples())
    }
    fn marks_app_limited(&self) -> bool {
        any!(self, |controller| controller.marks_app_limited())
    }
    fn snapshot(&self) -> Snapshot {
        any!(self, |controller| controller.snapshot())
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
