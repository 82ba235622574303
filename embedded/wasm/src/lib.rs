//! Replays traces in a JavaScript engine and prints what the firmware prints; `replay.mjs` is its host.
#![no_std]
#![cfg(target_arch = "wasm32")]

mod host;

use cc_replay::{Header, Observer, Totals, TraceEnd, replay};
use core::fmt::Write;
use heapless::String;

/// Replays what the host gives: 0 if the traces could be read, else 1.
#[expect(unsafe_code, reason = "a name for the host")]
#[unsafe(no_mangle)]
pub extern "C" fn run() -> u32 {
    match replay(host::Traces, &mut Printer) {
        Ok(totals) => {
            for Totals { algorithm, traces, calls, hash } in totals {
                print(format_args!("total {} {traces} {calls} {:016x}", algorithm.name(), hash.get()));
            }
            0
        }
        Err(error) => {
            print(format_args!("error: {error}"));
            1
        }
    }
}

/// Prints each trace.
struct Printer;

impl Observer for Printer {
    fn on_trace(&mut self, trace: &TraceEnd<'_>) {
        let Header { algorithm, scenario, main, flow, .. } = trace.header;
        let (algorithm, main) = (algorithm.name(), main.name());
        print(format_args!("trace {algorithm} {scenario} {main} {flow} {} {:016x}", trace.calls, trace.hash));
    }
}

/// Longest line: three names of up to 40 bytes, three numbers of up to 20.
const LINE: usize = 256;

fn print(line: core::fmt::Arguments<'_>) {
    let mut text: String<LINE> = String::new();
    // What does not fit is cut, and the comparison sees it.
    let _ = text.write_fmt(line);
    host::print(&text);
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
