//! What the fuzz targets do with their input.
//!
//! | target | input | must hold |
//! |---|---|---|
//! | one for each controller | [`controller`]: absurd events, or calls of a path | the kit's invariants after every call; a clone goes the same way |
//! | `path` | [`path`]: calls of a `Path` around a controller with any outputs | what a naive model of the path says |
//! | `network` | [`network`]: a path that is disturbed for a while | the flow is back to work, bounds hold, windows and rates are obeyed |
//! | `scenario` | text | [`scenario`]: a scenario within its ranges that prints as itself, or an error with a field |
//! | `script` | text | [`script`]: a script that prints as itself and runs, or an error with a line |
//!
//! Nothing panics and nothing overflows: the profile has overflow checks and debug assertions.

pub mod controller;
mod count;
pub mod events;
pub mod network;
pub mod number;
pub mod path;
pub mod scenario;
pub mod script;

#[path = "../../cc-sim/tests/liveness/mod.rs"]
mod liveness;
#[path = "../../cc-sim/tests/watch/mod.rs"]
mod watch;

use watch::subjects;

/// Makes a target of each controller, by the name of its function in `subjects`.
macro_rules! controllers {
    ($($name:ident),* $(,)?) => {
        /// The targets of the controllers.
        pub mod targets {
            $(pub fn $name(input: &$crate::controller::Input) {
                $crate::controller::run(&$crate::subjects::$name(), input);
            })*
        }
    };
}

controllers!(bbr, c4, cubic, quicdc, reno, westwood);
