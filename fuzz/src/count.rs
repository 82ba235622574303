//! How many events the inputs came to.

use std::cell::Cell;

thread_local! {
    static TOTAL: Total = const { Total { inputs: Cell::new(0), events: Cell::new(0) } };
}

/// Said when the thread ends: when libFuzzer exits, beside its own final statistics, and not after a finding.
struct Total {
    inputs: Cell<u64>,
    events: Cell<u64>,
}

impl Drop for Total {
    fn drop(&mut self) {
        let (inputs, events) = (self.inputs.get(), self.events.get());
        eprintln!("stat::events: {events} in {inputs} inputs, {} each", events / inputs.max(1));
    }
}

/// An input came to so many events.
pub(crate) fn input(events: u64) {
    TOTAL.with(|total| {
        total.inputs.set(total.inputs.get() + 1);
        total.events.set(total.events.get() + events);
    });
}
