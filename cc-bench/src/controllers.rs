//! The controllers that are compared: those of this project, and those that quinn brings along.

use crate::stack::Stack;
use clap::ValueEnum;
use quinn::congestion::{self, BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// A congestion controller for quinn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum Controller {
    /// CUBIC of this project.
    Cubic,
    /// QUIC-DC of this project.
    Quicdc,
    /// C4 of this project.
    C4,
    /// BBR version 3 of this project.
    Bbr,
    /// NewReno of this project.
    Reno,
    /// Westwood+ of this project.
    Westwood,
    /// quinn's own CUBIC.
    QuinnCubic,
    /// quinn's own BBR (version 1).
    QuinnBbr,
    /// quinn's own NewReno.
    QuinnReno,
    /// noq's own CUBIC.
    NoqCubic,
    /// noq's own BBR (version 3).
    NoqBbr,
    /// noq's own NewReno.
    NoqReno,
    /// A window of [`FIXED_WINDOW`] bytes whatever happens, to hold measurements against window / RTT.
    Fixed,
}

/// Window of [`Controller::Fixed`] in bytes: a hundred datagrams.
pub const FIXED_WINDOW: u64 = 120_000;

impl Controller {
    /// Its name in arguments and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Quicdc => "quicdc",
            Self::C4 => "c4",
            Self::Bbr => "bbr",
            Self::Reno => "reno",
            Self::Westwood => "westwood",
            Self::QuinnCubic => "quinn-cubic",
            Self::QuinnBbr => "quinn-bbr",
            Self::QuinnReno => "quinn-reno",
            Self::NoqCubic => "noq-cubic",
            Self::NoqBbr => "noq-bbr",
            Self::NoqReno => "noq-reno",
            Self::Fixed => "fixed",
        }
    }

    /// What makes it for a connection of quinn's; `None` if it is noq's own.
    #[must_use]
    pub fn factory(self) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        Some(match self {
            Self::Cubic => Arc::new(cc_quinn::cubic()),
            Self::Quicdc => Arc::new(cc_quinn::quicdc()),
            Self::C4 => Arc::new(cc_quinn::c4()),
            Self::Bbr => Arc::new(cc_quinn::bbr()),
            Self::Reno => Arc::new(cc_quinn::reno()),
            Self::Westwood => Arc::new(cc_quinn::westwood()),
            Self::QuinnCubic => Arc::new(CubicConfig::default()),
            Self::QuinnBbr => Arc::new(BbrConfig::default()),
            Self::QuinnReno => Arc::new(NewRenoConfig::default()),
            Self::Fixed => Arc::new(FixedConfig),
            Self::NoqCubic | Self::NoqBbr | Self::NoqReno => return None,
        })
    }

    /// What makes it for a connection of noq's; `None` if it is quinn's own, or [`Controller::Fixed`].
    #[must_use]
    pub fn noq_factory(self) -> Option<Arc<dyn noq::congestion::ControllerFactory + Send + Sync>> {
        Some(match self {
            Self::Cubic => Arc::new(cc_noq::cubic()),
            Self::Quicdc => Arc::new(cc_noq::quicdc()),
            Self::C4 => Arc::new(cc_noq::c4()),
            Self::Bbr => Arc::new(cc_noq::bbr()),
            Self::Reno => Arc::new(cc_noq::reno()),
            Self::Westwood => Arc::new(cc_noq::westwood()),
            Self::NoqCubic => Arc::new(noq::congestion::CubicConfig::default()),
            Self::NoqBbr => Arc::new(noq::congestion::Bbr3Config::default()),
            Self::NoqReno => Arc::new(noq::congestion::NewRenoConfig::default()),
            Self::QuinnCubic | Self::QuinnBbr | Self::QuinnReno | Self::Fixed => return None,
        })
    }

    /// Whether clients of a stack can have it.
    #[must_use]
    pub fn is_for(self, stack: Stack) -> bool {
        match stack {
            Stack::Quinn => self.factory().is_some(),
            Stack::Noq => self.noq_factory().is_some(),
        }
    }
}

struct FixedConfig;

impl ControllerFactory for FixedConfig {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Fixed)
    }
}

struct Fixed;

impl congestion::Controller for Fixed {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        FIXED_WINDOW
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(Self)
    }

    fn initial_window(&self) -> u64 {
        FIXED_WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
