//! Replays the traces and prints the hashes, as the host's `replay` does.
//!
//! With the feature `broken` it leaves one call of `on_ack` out, to show that the comparison finds that.
#![no_std]
#![no_main]

use cc_core::{CongestionController, PathState};
use cc_firmware::{Failure, open_traces};
use cc_replay::{Call, Header, Observer, Totals, TraceEnd, replay};
use semihosting::println;

cc_firmware::program!(run);

fn run() -> Result<(), Failure> {
    for Totals { algorithm, traces, calls, hash } in replay(open_traces()?, &mut Printer::default())? {
        println!("total {} {traces} {calls} {:016x}", algorithm.name(), hash.get());
    }
    Ok(())
}

/// Prints each trace.
#[derive(Default)]
struct Printer {
    acks: u64,
}

/// Which call of `on_ack` a broken replay leaves out. Not any call will do: a controller may have no use for most packets sent.
const LEFT_OUT: u64 = 10;

impl Observer for Printer {
    fn call(&mut self, controller: &mut dyn CongestionController, path: &PathState, call: &Call<'_>) {
        if matches!(call, Call::Ack(_)) {
            self.acks = self.acks.saturating_add(1);
            if cfg!(feature = "broken") && self.acks == LEFT_OUT {
                return;
            }
        }
        call.apply(controller, path);
    }

    fn on_trace(&mut self, trace: &TraceEnd<'_>) {
        let Header { algorithm, scenario, main, flow, .. } = trace.header;
        let (algorithm, main) = (algorithm.name(), main.name());
        println!("trace {algorithm} {scenario} {main} {flow} {} {:016x}", trace.calls, trace.hash);
    }
}
