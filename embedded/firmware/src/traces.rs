//! The file of traces, read from the host's disk piece by piece.

use crate::Failure;
use cc_replay::Source;
use semihosting::fs::File;
use semihosting::io::Read;

/// The file of traces.
#[derive(Debug)]
pub struct TraceFile(File);

/// Opens `traces.bin` in the folder where QEMU was started.
///
/// # Errors
///
/// There is none.
pub fn open_traces() -> Result<TraceFile, Failure> {
    File::open(c"traces.bin").map(TraceFile).map_err(|_| Failure::NoTraceFile)
}

impl Source for TraceFile {
    /// An error ends the file, which the reader notices: it has an end mark.
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        self.0.read(buffer).unwrap_or(0)
    }
}
