//! What client and server say to each other: one stream for each request, whose first byte says what it is.

use crate::stack::{Connection, Receiving, Sending};
use crate::usage::cpu_time;
use crate::{media, now};
use quinn::{ReadError, RecvStream, SendStream};
use std::time::{Duration, Instant};
use std::{error, fmt};
use tokio::time::timeout;

type AnyError = Box<dyn error::Error + Send + Sync>;

/// First byte of a stream that carries data to the server, which sends this byte back, and at the end how many bytes of the data
/// were good.
const UPLOAD: u8 = b'u';
/// First byte of a stream that the server sends back as it comes.
const ECHO: u8 = b'e';

/// First byte of a stream that asks for the server's clock and CPU time.
const USAGE: u8 = b'c';
/// First byte of a stream that stays open while datagrams are sent; what arrived of them is the answer.
pub(crate) const MEDIA: u8 = b'm';

/// Size of the answer to an upload: how many bytes, when the first of them came and when the last, in microseconds of the server's
/// clock; and of that to the question for its usage: nothing, its clock, its CPU time. Each 64 bits, big endian.
const ANSWER_BYTES: usize = 24;
/// The data of an upload is a block of pseudo-random bytes, over and over.
const BLOCK_BYTES: usize = 1 << 16;

/// What the server says of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Bytes that arrived as they were sent, in whatever order.
    pub bytes: u64,
    /// When the first of them came, by the server's clock.
    pub first: Duration,
    /// When the last of them came.
    pub last: Duration,
}

impl Arrived {
    /// From the first byte to the last.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.last.saturating_sub(self.first)
    }
}

/// Why a request failed.
#[derive(Debug)]
pub enum ProtocolError {
    /// What arrived is not what was sent.
    Corrupt,
    /// The connection or the stream failed.
    Connection(AnyError),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupt => f.write_str("the bytes that arrived are not those that were sent"),
            // Without its sources all that is said of a connection that was closed is that it is lost.
            Self::Connection(error) => {
                write!(f, "{error}")?;
                let mut error: &dyn error::Error = error.as_ref();
                while let Some(source) = error.source() {
                    write!(f, ": {source}")?;
                    error = source;
                }
                Ok(())
            }
        }
    }
}

impl error::Error for ProtocolError {}

pub(crate) fn failed<E: Into<AnyError>>(error: E) -> ProtocolError {
    ProtocolError::Connection(error.into())
}

/// Sends this many bytes, and waits for the word of the server that all of them have arrived.
///
/// # Errors
///
/// See [`ProtocolError`].
pub async fn upload(connection: &Connection, bytes: u64) -> Result<(), ProtocolError> {
    let block = block();
    let (mut to, mut from) = connection.open_bi().await.map_err(failed)?;
    to.write_all(&[UPLOAD]).await.map_err(failed)?;
    let mut left = bytes;
    while left > 0 {
        let length = left.min(BLOCK_BYTES as u64) as usize;
        to.write_all(block.get(..length).unwrap_or_default()).await.map_err(failed)?;
        left -= length as u64;
    }
    to.finish().map_err(failed)?;
    from.read_exact(&mut [0]).await.map_err(failed)?;
    if answer(&mut from).await?.bytes == bytes { Ok(()) } else { Err(ProtocolError::Corrupt) }
}

/// Sends as much as goes in this time, from the server's word that it is ready; what has arrived when it hears of the end.
///
/// # Errors
///
/// See [`ProtocolError`].
pub async fn upload_for(connection: &Connection, duration: Duration) -> Result<Arrived, ProtocolError> {
    let upload = Upload::begin(connection).await?;
    upload.send_until(now() + duration).await
}

/// A stream that the server is ready to count.
#[derive(Debug)]
pub struct Upload {
    to: Sending,
    from: Receiving,
}

impl Upload {
    /// Opens it, and waits for the server's word: its first packet may get lost.
    ///
    /// # Errors
    ///
    /// See [`ProtocolError`].
    pub async fn begin(connection: &Connection) -> Result<Self, ProtocolError> {
        let (mut to, mut from) = connection.open_bi().await.map_err(failed)?;
        to.write_all(&[UPLOAD]).await.map_err(failed)?;
        from.read_exact(&mut [0]).await.map_err(failed)?;
        Ok(Self { to, from })
    }

    /// Sends as much as goes; what has arrived when the server hears of the end.
    ///
    /// # Errors
    ///
    /// See [`ProtocolError`].
    pub async fn send_until(mut self, until: Instant) -> Result<Arrived, ProtocolError> {
        let block = block();
        while let Some(left) = until.checked_duration_since(now()) {
            match timeout(left, self.to.write_all(&block)).await {
                // As long as there is room nothing waits: the others, and what sends, have their turn.
                Ok(result) => {
                    result.map_err(failed)?;
                    tokio::task::yield_now().await;
                }
                // In the middle of a block, of which the server then gets the beginning.
                Err(_) => break,
            }
        }
        self.to.reset().map_err(failed)?;
        answer(&mut self.from).await
    }
}

async fn answer(from: &mut Receiving) -> Result<Arrived, ProtocolError> {
    let answer = from.read_to_end(ANSWER_BYTES).await.map_err(failed)?;
    if answer.len() != ANSWER_BYTES {
        return Err(ProtocolError::Corrupt);
    }
    let number = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
    let mut numbers = answer.chunks(8).map(number);
    let mut next = || numbers.next().unwrap_or(0);
    let (bytes, first, last) = (next(), next(), next());
    Ok(Arrived { bytes, first: Duration::from_micros(first), last: Duration::from_micros(last) })
}

/// Sends `count` messages of `bytes` bytes, each when the answer to the one before has come; how long each took. `on_rtt` gets it
/// as soon as it is known.
///
/// # Errors
///
/// See [`ProtocolError`].
pub async fn echo(
    connection: &Connection,
    count: u32,
    bytes: usize,
    mut on_rtt: impl FnMut(Duration),
) -> Result<(), ProtocolError> {
    let block = block();
    let (mut to, mut from) = connection.open_bi().await.map_err(failed)?;
    to.write_all(&[ECHO]).await.map_err(failed)?;
    let mut back = vec![0; bytes];
    for i in 0..count as usize {
        let message: Vec<u8> = block.iter().cycle().skip(i % BLOCK_BYTES).take(bytes).copied().collect();
        let began = now();
        to.write_all(&message).await.map_err(failed)?;
        from.read_exact(&mut back).await.map_err(failed)?;
        on_rtt(began.elapsed());
        if back != message {
            return Err(ProtocolError::Corrupt);
        }
    }
    to.finish().map_err(failed)
}

/// What the server says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Its clock, from an epoch of its own.
    pub clock: Duration,
    /// CPU time of its process so far.
    pub cpu: Duration,
}

/// Asks the server for its clock and CPU time.
///
/// # Errors
///
/// See [`ProtocolError`].
pub async fn usage(connection: &Connection) -> Result<Usage, ProtocolError> {
    let (mut to, mut from) = connection.open_bi().await.map_err(failed)?;
    to.write_all(&[USAGE]).await.map_err(failed)?;
    to.finish().map_err(failed)?;
    let Arrived { first: clock, last: cpu, .. } = answer(&mut from).await?;
    Ok(Usage { clock, cpu })
}

/// Answers the requests of a connection until it is closed. `epoch` is when the server's clock was 0.
pub async fn serve(connection: quinn::Connection, epoch: Instant) {
    while let Ok((to, from)) = connection.accept_bi().await {
        let connection = connection.clone();
        // A request that fails is the client's to report.
        tokio::spawn(async move { drop(respond(&connection, epoch, to, from).await) });
    }
}

async fn respond(
    connection: &quinn::Connection,
    epoch: Instant,
    mut to: SendStream,
    mut from: RecvStream,
) -> Result<(), ProtocolError> {
    let mut kind = [0];
    from.read_exact(&mut kind).await.map_err(failed)?;
    match kind {
        [UPLOAD] => {
            to.write_all(&kind).await.map_err(failed)?;
            let arrived = receive(&mut from, epoch).await?;
            to.write_all(&encoded(&arrived)).await.map_err(failed)?;
        }
        [USAGE] => {
            let usage = Arrived { bytes: 0, first: epoch.elapsed(), last: cpu_time() };
            to.write_all(&encoded(&usage)).await.map_err(failed)?;
        }
        [MEDIA] => media::receive(connection, epoch, &mut to, &mut from).await?,
        [ECHO] => {
            while let Some(chunk) = from.read_chunk(BLOCK_BYTES, true).await.map_err(failed)? {
                to.write_chunk(chunk.bytes).await.map_err(failed)?;
            }
        }
        _ => return Err(ProtocolError::Corrupt),
    }
    to.finish().map_err(failed)
}

fn encoded(Arrived { bytes, first, last }: &Arrived) -> Vec<u8> {
    [*bytes, micros(*first), micros(*last)].iter().flat_map(|number| number.to_be_bytes()).collect()
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Reads until the stream ends or is reset.
async fn receive(stream: &mut RecvStream, epoch: Instant) -> Result<Arrived, ProtocolError> {
    let block = block();
    let (mut good, mut first, mut last) = (0, None, Duration::ZERO);
    loop {
        let chunk = match stream.read_chunk(usize::MAX, false).await {
            Ok(Some(chunk)) => chunk,
            Ok(None) | Err(ReadError::Reset(_)) => {
                return Ok(Arrived { bytes: good, first: first.unwrap_or(last), last });
            }
            Err(error) => return Err(failed(error)),
        };
        last = epoch.elapsed();
        first = first.or(Some(last));
        // The first byte of the stream was the kind of the request.
        let mut at = (chunk.offset.saturating_sub(1) % BLOCK_BYTES as u64) as usize;
        let mut rest = &chunk.bytes[..];
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(rest.len().min(BLOCK_BYTES - at));
            good += if block.get(at..at + part.len()) == Some(part) { part.len() as u64 } else { 0 };
            (at, rest) = (0, behind);
        }
    }
}

/// The block: xorshift64 (Marsaglia 2003), the high byte of each number.
fn block() -> Vec<u8> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x.to_be_bytes()[0]
    };
    (0..BLOCK_BYTES).map(|_| next()).collect()
}
