//! Programs that this one starts on other hosts: each prints a line of JSON when it is ready, one for each line that it is sent, and
//! one when it ends, which it does when its standard input is closed. It therefore ends with the one that started it, however
//! that ends. A program on another machine does the same over a TCP connection.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a program may take to be ready, and to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program that runs. It ends when this is dropped.
#[derive(Debug)]
pub struct Child {
    name: &'static str,
    input: Option<Input>,
    lines: mpsc::Receiver<io::Result<String>>,
    /// Not if it is on another machine.
    process: Option<Process>,
}

#[derive(Debug)]
enum Input {
    Pipe(ChildStdin),
    Connection(TcpStream),
}

impl Child {
    /// Starts it and waits until it is ready; what it says then.
    ///
    /// # Errors
    ///
    /// It does not start, or says something else, or nothing for ten seconds: one line with what it wrote to its standard error.
    pub fn start<T: DeserializeOwned>(name: &'static str, mut command: Command) -> Result<(Self, T), String> {
        let failed = |error: io::Error| format!("{name}: {error}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(failed)?;
        let (input, output) = (process.stdin.take().map(Input::Pipe), process.stdout.take());
        let lines = lines(name, output).map_err(failed)?;
        let mut child = Self { name, input, lines, process: Some(process) };
        let ready = child.line(PATIENCE)?;
        Ok((child, ready))
    }

    /// Reaches one that runs on another machine and sends it its first line; what it says then.
    ///
    /// # Errors
    ///
    /// It cannot be reached, or as for [`Child::start`].
    pub fn connect<T: DeserializeOwned>(
        name: &'static str,
        address: SocketAddr,
        first: &impl Serialize,
    ) -> Result<(Self, T), String> {
        let failed = |error: io::Error| format!("{name} at {address}: {error}");
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
        let output = stream.try_clone().map_err(failed)?;
        let lines = lines(name, Some(output)).map_err(failed)?;
        let mut child = Self { name, input: Some(Input::Connection(stream)), lines, process: None };
        let first = serde_json::to_string(first).map_err(|error| format!("{name}: {error}"))?;
        child.send(&first)?;
        let ready = child.line(PATIENCE)?;
        Ok((child, ready))
    }

    /// Asks it how it is doing.
    ///
    /// # Errors
    ///
    /// As [`Child::start`].
    pub fn ask<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        self.send("")?;
        self.line(PATIENCE)
    }

    fn send(&mut self, line: &str) -> Result<(), String> {
        let line = format!("{line}\n");
        let result = match &mut self.input {
            Some(Input::Pipe(pipe)) => pipe.write_all(line.as_bytes()),
            Some(Input::Connection(stream)) => stream.write_all(line.as_bytes()),
            None => Ok(()),
        };
        result.map_err(|error| match error.kind() {
            // It has ended, and has said why.
            io::ErrorKind::BrokenPipe => self.complaint(),
            _ => format!("{}: {error}", self.name),
        })
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
        serde_json::from_str(&line).map_err(|error| match serde_json::from_str(&line) {
            Ok(Complaint { error }) => format!("{}: {error}", self.name),
            Err(_) => format!("{}: {error}: {}", self.name, cc_sim::text::one_line(&line)),
        })
    }

    /// Lets it end; its last line.
    ///
    /// # Errors
    ///
    /// As [`Child::start`].
    pub fn stop<T: DeserializeOwned>(mut self) -> Result<T, String> {
        self.close();
        self.line(PATIENCE)
    }

    fn close(&mut self) {
        if let Some(Input::Connection(stream)) = self.input.take() {
            // The other half stays, for its last line. It may be gone already.
            let _ = stream.shutdown(Shutdown::Write);
        }
    }

    /// What it has to say now that it has ended.
    fn complaint(&mut self) -> String {
        let mut text = String::new();
        match self.process.as_mut().map(|process| &mut process.stderr) {
            Some(Some(stderr)) => drop(stderr.read_to_string(&mut text)),
            Some(None) => {}
            None => text.push_str("it has closed the connection"),
        }
        format!("{}: {}", self.name, cc_sim::text::one_line(&text))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.close();
        let Some(process) = &mut self.process else { return };
        // One that hangs is ended; one that has ended is not there to be killed.
        for _ in 0..200 {
            if matches!(process.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// What a program says instead of what it was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Complaint {
    /// One line.
    pub error: String,
}

/// The lines of a program, read by a thread that ends when the program does.
fn lines(
    name: &str,
    output: Option<impl Read + Send + 'static>,
) -> io::Result<mpsc::Receiver<io::Result<String>>> {
    let (sender, lines) = mpsc::channel();
    std::thread::Builder::new().name(format!("output of {name}")).spawn(move || {
        for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
            if sender.send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(lines)
}

/// Prints a line of JSON on standard output, for the one that has started this program.
///
/// # Errors
///
/// Nobody reads it.
pub fn say(what: &impl Serialize) -> io::Result<()> {
    write(&mut io::stdout().lock(), what)
}

/// The same to somebody else.
///
/// # Errors
///
/// Nobody reads it.
pub fn write(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    to.write_all(line.as_bytes())?;
    to.flush()
}

/// Answers each line of `input` until there are no more.
///
/// # Errors
///
/// Nobody reads the answers.
pub fn answer<T: Serialize>(
    input: impl Read,
    output: &mut impl Write,
    mut answer: impl FnMut() -> T,
) -> io::Result<()> {
    let mut some = [0; 64];
    let mut input = input;
    loop {
        let count = match input.read(&mut some) {
            Ok(0) | Err(_) => return Ok(()),
            Ok(count) => count,
        };
        for _ in some.iter().take(count).filter(|&&byte| byte == b'\n') {
            write(output, &answer())?;
        }
    }
}

/// Returns when standard input is closed.
pub fn wait_for_end() {
    let mut rest = [0; 64];
    while matches!(io::stdin().read(&mut rest), Ok(count) if count > 0) {}
}
