//! The algorithms of traces.

use crate::header::TraceSetup;
use cc_core::{CongestionController, Setup};
use cc_quicdc::DelayMode;

/// An algorithm, with the settings that the simulator's algorithm of this name has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// C4.
    C4,
    /// BBR version 3.
    Bbr,
    /// CUBIC.
    Cubic,
    /// QUIC-DC with its threshold in time.
    QuicDc,
    /// QUIC-DC with the first mode of its paper.
    QuicDcFraction,
    /// QUIC-DC with the second mode of its paper.
    QuicDcProbe,
    /// Westwood+.
    Westwood,
    /// NewReno.
    Reno,
}

/// Fraction of the largest queue that is the threshold of the paper's modes, in percent, as in the simulator.
const PAPER_PERCENT: u8 = 80;

impl Algorithm {
    /// All of them, in the order of results.
    pub const ALL: [Self; 8] = [
        Self::C4,
        Self::Bbr,
        Self::Cubic,
        Self::QuicDc,
        Self::QuicDcFraction,
        Self::QuicDcProbe,
        Self::Westwood,
        Self::Reno,
    ];

    /// The simulator's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::C4 => "c4",
            Self::Bbr => "bbr",
            Self::Cubic => "cubic",
            Self::QuicDc => "quicdc",
            Self::QuicDcFraction => "quicdc_q80",
            Self::QuicDcProbe => "quicdc_probe",
            Self::Westwood => "westwood",
            Self::Reno => "reno",
        }
    }

    /// The algorithm with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Its number in files: its place in [`Algorithm::ALL`].
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::C4 => 0,
            Self::Bbr => 1,
            Self::Cubic => 2,
            Self::QuicDc => 3,
            Self::QuicDcFraction => 4,
            Self::QuicDcProbe => 5,
            Self::Westwood => 6,
            Self::Reno => 7,
        }
    }

    /// The algorithm with this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.number() == number)
    }

    /// Makes a controller in the stack's memory and lends it to `body`.
    pub fn with<R>(self, setup: &TraceSetup, body: impl FnOnce(&mut dyn CongestionController) -> R) -> R {
        let fast_convergence = setup.fast_convergence;
        let setup = Setup {
            max_datagram_size: setup.max_datagram_size,
            initial_window: Some(setup.initial_window),
            paces: setup.paces,
            seed: setup.seed,
            ..Setup::default()
        };
        // A function for each, so that the stack has room for one controller and not for one of each.
        let quicdc = |delay| cc_quicdc::Config { delay, ..setup.into() };
        match self {
            Self::C4 => lend(|| cc_c4::C4::new(&setup.into()), body),
            Self::Bbr => lend(|| cc_bbr::Bbr::new(&setup.into()), body),
            Self::Cubic => {
                let config = cc_cubic::Config { fast_convergence, ..setup.into() };
                lend(|| cc_cubic::Cubic::new(&config), body)
            }
            Self::QuicDc => quicdc_with(&quicdc(DelayMode::Threshold), body),
            Self::QuicDcFraction => {
                quicdc_with(&quicdc(DelayMode::PaperFraction { percent: PAPER_PERCENT }), body)
            }
            Self::QuicDcProbe => quicdc_with(&quicdc(DelayMode::PaperProbe { percent: PAPER_PERCENT }), body),
            Self::Westwood => lend(|| cc_quicdc::Westwood::new(&setup.into()), body),
            Self::Reno => lend(|| cc_reno::Reno::new(&setup.into()), body),
        }
    }
}

#[inline(never)]
fn quicdc_with<R>(config: &cc_quicdc::Config, body: impl FnOnce(&mut dyn CongestionController) -> R) -> R {
    lend(|| cc_quicdc::QuicDc::new(config), body)
}

#[inline(never)]
fn lend<C: CongestionController, R>(
    make: impl FnOnce() -> C,
    body: impl FnOnce(&mut dyn CongestionController) -> R,
) -> R {
    body(&mut make())
}

#[cfg(test)]
mod tests {
    use super::Algorithm;

    #[test]
    fn numbers_are_places_and_names_lead_back() {
        for (place, algorithm) in Algorithm::ALL.into_iter().enumerate() {
            assert_eq!(algorithm.number(), place as u64);
            assert_eq!(Algorithm::from_number(place as u64), Some(algorithm));
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
        }
        assert_eq!(Algorithm::from_number(8), None);
        assert_eq!(Algorithm::from_name("vegas"), None);
    }
}
