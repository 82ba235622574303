//! stdout and stderr. Both may be closed by whoever reads them; that is no error of ours.

use super::Failure;
use std::io::{self, Write};

/// Writes `text` to stdout. A reader that has gone away (`| head`) has had enough: that is success.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = Stdout::new();
    stdout.write(text);
    stdout.finish()
}

/// A line for people on stderr.
pub(super) fn note(line: &str) {
    // If stderr is closed there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Buffered stdout that remembers its first error, for writers that cannot return one.
pub(super) struct Stdout {
    writer: io::BufWriter<io::StdoutLock<'static>>,
    error: Option<io::Error>,
}

impl Stdout {
    pub(super) fn new() -> Self {
        Self { writer: io::BufWriter::new(io::stdout().lock()), error: None }
    }

    /// Writes `text`, unless something went wrong before.
    pub(super) fn write(&mut self, text: &str) {
        if self.error.is_none() {
            self.error = self.writer.write_all(text.as_bytes()).err();
        }
    }

    /// Writes what is buffered; the first error, unless it is that the reader went away.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let error = self.error.take().or_else(|| self.writer.flush().err());
        // What could not be written is dropped with the buffer, without another attempt.
        let (_, _) = self.writer.into_parts();
        match error {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::failed(format!("cannot write to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }
}
