//! Programs that this one starts on other hosts: each prints a line of JSON when it is ready, and one when it ends, which it
//! does when its standard input is closed. It therefore ends with the one that started it, however that ends.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child as Process, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a program may take to be ready, and to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program that runs. It ends when this is dropped.
#[derive(Debug)]
pub struct Child {
    name: &'static str,
    process: Process,
    lines: mpsc::Receiver<io::Result<String>>,
}

impl Child {
    /// Starts it and waits until it is ready; what it says then.
    ///
    /// # Errors
    ///
    /// It does not start, or says something else, or nothing for ten seconds: one line with what it wrote to its standard error.
    pub fn start<T: DeserializeOwned>(name: &'static str, mut command: Command) -> Result<(Self, T), String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        let stdout = process.stdout.take();
        let (sender, lines) = mpsc::channel();
        let reader = std::thread::Builder::new().name(format!("output of {name}"));
        // It ends when the program does.
        reader.spawn(move || read_lines(stdout, &sender)).map_err(|error| format!("{name}: {error}"))?;
        let mut child = Self { name, process, lines };
        let ready = child.line(PATIENCE)?;
        Ok((child, ready))
    }

    /// Waits for a line.
    ///
    /// # Errors
    ///
    /// As [`Child::start`].
    pub fn line<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<T, String> {
        let line = match self.lines.recv_timeout(patience) {
            Ok(line) => line.map_err(|error| format!("{}: {error}", self.name))?,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                return Err(format!("{}: nothing said for {patience:?}", self.name));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(self.complaint()),
        };
        serde_json::from_str(&line).map_err(|error| format!("{}: {error}: {line}", self.name))
    }

    /// Lets it end; its last line.
    ///
    /// # Errors
    ///
    /// As [`Child::start`].
    pub fn stop<T: DeserializeOwned>(mut self) -> Result<T, String> {
        drop(self.process.stdin.take());
        self.line(PATIENCE)
    }

    /// What it has to say now that it has ended.
    fn complaint(&mut self) -> String {
        let mut text = String::new();
        if let Some(stderr) = &mut self.process.stderr {
            let _ = stderr.read_to_string(&mut text);
        }
        format!("{}: {}", self.name, cc_sim::text::one_line(&text))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // One that hangs is ended; one that has ended is not there to be killed.
        for _ in 0..200 {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read_lines(stdout: Option<ChildStdout>, to: &mpsc::Sender<io::Result<String>>) {
    for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        if to.send(line).is_err() {
            return;
        }
    }
}

/// Prints a line of JSON on standard output, for the one that has started this program.
///
/// # Errors
///
/// Nobody reads it.
pub fn say(what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

/// Returns when standard input is closed.
pub fn wait_for_end() {
    let mut rest = [0; 64];
    while matches!(io::stdin().read(&mut rest), Ok(count) if count > 0) {}
}
