//! What the JavaScript host gives: the bytes of the file, and a place for lines.

#![expect(unsafe_code, reason = "calls of the host")]

use cc_replay::Source;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Writes the next bytes of the file to `to`, `length` at most, and says how many.
    fn read(to: *mut u8, length: usize) -> usize;
    /// Prints a line.
    fn line(from: *const u8, length: usize);
}

/// The file of traces.
pub(crate) struct Traces;

impl Source for Traces {
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        // SAFETY: the host writes no more than `length` bytes to `to`, and does so during the call.
        unsafe { read(buffer.as_mut_ptr(), buffer.len()) }
    }
}

/// Prints a line.
pub(crate) fn print(text: &str) {
    // SAFETY: the host only reads the `length` bytes at `from`, during the call.
    unsafe { line(text.as_ptr(), text.len()) }
}
