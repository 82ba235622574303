//! The controllers that are compared: those of this project, and those that quinn brings along.

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
            Self::Fixed => "fixed",
        }
    }

    /// What makes it for a connection.
    #[must_use]
    pub fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
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
