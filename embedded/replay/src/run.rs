//! Replay: controllers made anew, calls repeated, outputs hashed.

use crate::{Algorithm, Call, Error, ErrorKind, Hash, Header, Reader, Record, Source, hash_outputs};
use cc_core::{CongestionController, PathState};

/// What goes on during a replay, for those who measure it or print it.
pub trait Observer {
    /// A call is due: makes it. Whoever overrides it has to make the call.
    fn call(&mut self, controller: &mut dyn CongestionController, path: &PathState, call: &Call<'_>) {
        call.apply(controller, path);
    }

    /// A trace came to its end.
    fn on_trace(&mut self, _trace: &TraceEnd<'_>) {}
}

/// Nobody looks.
impl Observer for () {}

/// What a trace came to.
#[derive(Clone, Copy, Debug)]
pub struct TraceEnd<'a> {
    /// Its header.
    pub header: &'a Header,
    /// How many calls it has.
    pub calls: u64,
    /// Hash of all outputs after each of them.
    pub hash: u64,
}

/// What all traces of an algorithm came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Totals {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// How many traces.
    pub traces: u64,
    /// How many calls.
    pub calls: u64,
    /// Hash of the hashes of the traces, in the order of the file.
    pub hash: Hash,
}

impl Totals {
    /// Of no traces, for each algorithm.
    #[must_use]
    pub fn none() -> [Self; Algorithm::ALL.len()] {
        Algorithm::ALL.map(|algorithm| Self { algorithm, traces: 0, calls: 0, hash: Hash::new() })
    }

    /// Adds a trace to that of its algorithm.
    pub fn add(totals: &mut [Self; Algorithm::ALL.len()], trace: &TraceEnd<'_>) {
        for total in totals.iter_mut().filter(|total| total.algorithm == trace.header.algorithm) {
            total.traces = total.traces.saturating_add(1);
            total.calls = total.calls.saturating_add(trace.calls);
            total.hash.word(trace.hash);
        }
    }
}

/// Replays a file.
///
/// # Errors
///
/// The file is damaged. Traces before the damage have been replayed.
pub fn replay<S: Source>(
    source: S,
    observer: &mut impl Observer,
) -> Result<[Totals; Algorithm::ALL.len()], Error> {
    let mut reader = Reader::new(source)?;
    let mut totals = Totals::none();
    loop {
        let header = match reader.read_record()? {
            Record::Trace(header) => header,
            Record::EndOfFile => return Ok(totals),
            // The reader gives these inside of traces only.
            Record::Call(..) | Record::EndOfTrace => return Err(reader.error(ErrorKind::NoSuchValue)),
        };
        let (calls, hash) = header
            .algorithm
            .with(&header.setup, |controller| replay_trace(&mut reader, controller, observer))?;
        let end = TraceEnd { header: &header, calls, hash };
        observer.on_trace(&end);
        Totals::add(&mut totals, &end);
    }
}

/// Replays what is left of a trace; the number of calls, and the hash.
#[inline(never)]
fn replay_trace<S: Source>(
    reader: &mut Reader<S>,
    controller: &mut dyn CongestionController,
    observer: &mut impl Observer,
) -> Result<(u64, u64), Error> {
    let mut hash = Hash::new();
    let mut calls = 0_u64;
    loop {
        match reader.read_record()? {
            Record::Call(path, call) => {
                observer.call(controller, &path, &call);
                hash_outputs(&mut hash, controller);
                calls = calls.saturating_add(1);
            }
            Record::EndOfTrace => return Ok((calls, hash.get())),
            // The reader gives these outside of traces only.
            Record::Trace(_) | Record::EndOfFile => return Err(reader.error(ErrorKind::NoSuchValue)),
        }
    }
}
