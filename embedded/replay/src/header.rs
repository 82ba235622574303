//! What a trace begins with.

use crate::Algorithm;
use heapless::String;

/// Longest name of a scenario, in bytes.
pub const MAX_NAME: usize = 40;

/// Name of a scenario.
pub type Name = String<MAX_NAME>;

/// Where a trace comes from, and what its controller is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The controller's algorithm.
    pub algorithm: Algorithm,
    /// The scenario of the simulation.
    pub scenario: Name,
    /// Algorithm of the main flow of the run.
    pub main: Algorithm,
    /// Which flow of the scenario; 0 is the main flow.
    pub flow: u64,
    /// What the controller is made from.
    pub setup: TraceSetup,
}

/// What a controller is made from: the parameters that the simulator sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceSetup {
    /// Maximum datagram size in bytes.
    pub max_datagram_size: u64,
    /// Initial window in bytes.
    pub initial_window: u64,
    /// Whether the stack paces.
    pub paces: bool,
    /// Whether CUBIC uses fast convergence.
    pub fast_convergence: bool,
    /// Seed of random numbers.
    pub seed: u64,
}
