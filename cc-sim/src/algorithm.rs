//! The algorithms that can be simulated, by name.

use crate::scenario::Endpoint;
use cc_core::{CongestionController, Setup};
use cc_quicdc::{DelayMode, QuicDc, Westwood};
use cc_reno::Reno;
use serde::{Deserialize, Serialize};

/// A congestion-control algorithm. Serialised as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Algorithm {
    /// C4, `cc-c4`.
    C4,
    /// BBR version 3, `cc-bbr`.
    Bbr,
    /// CUBIC with HyStart++, `cc-cubic`.
    Cubic,
    /// QUIC-DC with its threshold in time, `cc-quicdc`.
    QuicDc,
    /// QUIC-DC with the paper's threshold, 0.8 of the largest queue.
    QuicDcFraction,
    /// QUIC-DC with the paper's turns of probing and cruising, and 0.8 too.
    QuicDcProbe,
    /// Westwood+, `cc-quicdc`.
    Westwood,
    /// NewReno, `cc-reno`.
    Reno,
}

impl Algorithm {
    /// All of them, in the order of tables.
    pub const ALL: &'static [Self] = &[
        Self::C4,
        Self::Bbr,
        Self::Cubic,
        Self::QuicDc,
        Self::QuicDcFraction,
        Self::QuicDcProbe,
        Self::Westwood,
        Self::Reno,
    ];

    /// Those that run where nobody names any: the main job is about the draft's tables.
    pub const MAIN_JOB: &'static [Self] = &[Self::C4, Self::Bbr, Self::Cubic];

    /// The name used on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
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
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// A controller with the algorithm's defaults and the initial window of the endpoint, which draws its random numbers from
    /// `seed`.
    #[must_use]
    pub fn controller(self, endpoint: &Endpoint, seed: u64) -> AnyController {
        let setup = Setup {
            max_datagram_size: endpoint.initial_mtu,
            initial_window: Some(endpoint.initial_window),
            paces: endpoint.pacing,
            seed,
            ..Setup::default()
        };
        match self {
            Self::C4 => Box::new(cc_c4::C4::new(&setup.into())),
            Self::Bbr => Box::new(cc_bbr::Bbr::new(&setup.into())),
            Self::Cubic => Box::new(cc_cubic::Cubic::new(&cc_cubic::Config {
                fast_convergence: endpoint.fast_convergence,
                ..setup.into()
            })),
            Self::QuicDc => quicdc(setup, DelayMode::Threshold),
            Self::QuicDcFraction => quicdc(setup, DelayMode::PaperFraction { percent: PAPER_PERCENT }),
            Self::QuicDcProbe => quicdc(setup, DelayMode::PaperProbe { percent: PAPER_PERCENT }),
            Self::Westwood => Box::new(Westwood::new(&setup.into())),
            Self::Reno => Box::new(Reno::new(&setup.into())),
        }
    }
}

impl From<Algorithm> for &'static str {
    fn from(algorithm: Algorithm) -> Self {
        algorithm.name()
    }
}

impl TryFrom<String> for Algorithm {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_name(&name).ok_or_else(|| format!("unknown algorithm {name}"))
    }
}

/// Fraction of the largest queue that is the threshold of the paper's modes, in percent (arXiv 2507.00896).
const PAPER_PERCENT: u8 = 80;

fn quicdc(setup: Setup, delay: DelayMode) -> AnyController {
    Box::new(QuicDc::new(&cc_quicdc::Config { delay, ..setup.into() }))
}

/// Any controller, behind one type: what a stack that chooses its algorithm at run time would use.
pub type AnyController = Box<dyn CongestionController>;

/// Makes the controller of a flow from its algorithm, the parameters of its endpoints and a seed.
pub type MakeController<'a> = &'a (dyn Fn(Algorithm, &Endpoint, u64) -> AnyController + Sync);
