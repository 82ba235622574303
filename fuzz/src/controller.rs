//! The target of a controller: the conformance kit watches it while it is told absurd things, or used by a path.

use crate::events::{self, Event};
use crate::path::{self, Outputs, Settable};
use arbitrary::Arbitrary;
use cc_core::CongestionController;
use cc_testkit::{Checks, Subject, Watched};

/// What happens to the controller.
#[derive(Arbitrary, Clone, Debug)]
pub enum Input {
    /// Any event, in any order, with any numbers.
    Events(events::Setting, Vec<Event>),
    /// Calls of a path, which tells the controller what is true, though the network may be absurd.
    Path(path::Setting, Vec<path::Step>),
}

/// No stack gives such numbers, and U5 rests on them.
const WITHOUT_NUMBERS: Checks = Checks { once: false, ..Checks::ALL };

/// Runs an input on a controller of the subject.
pub fn run<C: CongestionController + Clone>(subject: &Subject<C>, input: &Input) {
    match input {
        Input::Events(setting, events) => {
            let watched = Watched::new(subject.make(&setting.setup()), subject).with_checks(WITHOUT_NUMBERS);
            events::run(watched, setting, events);
        }
        Input::Path(setting, steps) => {
            path::run(Watched::new(subject.make(&setting.setup()), subject), setting, steps);
        }
    }
}

impl<C> Settable for Watched<C> {
    /// Its outputs are its own.
    fn set(&mut self, _outputs: &Outputs) {}
}
