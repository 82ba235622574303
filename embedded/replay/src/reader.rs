//! Reading traces, in pieces, from a source that may be damaged.

use crate::last::{Last, mark};
use crate::words::{AckHead, Discarded, LossHead, Words};
use crate::{Algorithm, Call, Header, MAGIC, MAX_NAME, Name, TraceSetup};
use cc_core::{AckEvent, AckedPacket, LossEvent, LostPacket, PathState};
use core::fmt;
use heapless::Vec;

/// Most packets of one call: [`Path`](cc_core::Path) cuts frames into parts of this many.
pub const MAX_PACKETS: usize = 8;

/// Bytes read at once.
const PIECE: usize = 256;

/// Where the bytes of a file come from.
pub trait Source {
    /// Fills the buffer as far as it can, and says with how many bytes; 0 only at the end.
    fn read(&mut self, buffer: &mut [u8]) -> usize;
}

impl Source for &[u8] {
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        let length = self.len().min(buffer.len());
        let (Some((piece, rest)), Some(to)) = (self.split_at_checked(length), buffer.get_mut(..length))
        else {
            return 0;
        };
        to.copy_from_slice(piece);
        *self = rest;
        length
    }
}

/// A file that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Bytes read until then.
    pub at: u64,
}

/// What is wrong with a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// It does not begin with [`MAGIC`].
    NoTraces,
    /// It ends before the end mark.
    Truncated,
    /// A number has more than 64 bits.
    NumberTooLarge,
    /// No part of a file begins with this byte, or not here.
    UnexpectedMark(u8),
    /// A structure has words that no structure has.
    NoSuchValue,
    /// A call with more than [`MAX_PACKETS`] packets.
    TooManyPackets,
    /// A name that is longer than [`MAX_NAME`] bytes or no UTF-8.
    BadName,
    /// The end mark names another number of traces than there were.
    WrongCount,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "traces: byte {}: {:?}", self.at, self.kind)
    }
}

impl core::error::Error for Error {}

/// A part of a file.
#[expect(clippy::large_enum_variant, reason = "one at a time, and there is no heap to put the large one on")]
#[derive(Clone, Debug)]
pub enum Record<'a> {
    /// A trace begins.
    Trace(Header),
    /// A call, with the state of the path.
    Call(PathState, Call<'a>),
    /// The trace ends.
    EndOfTrace,
    /// The file ends.
    EndOfFile,
}

/// Reads a file part by part. After an error it goes on giving errors or nonsense, but never panics.
#[derive(Clone, Debug)]
pub struct Reader<S> {
    source: S,
    buffer: [u8; PIECE],
    /// What of the buffer is still to be read.
    next: usize,
    end: usize,
    at: u64,
    last: Last,
    in_trace: bool,
    traces: u64,
    acked: Vec<AckedPacket, MAX_PACKETS>,
    lost: Vec<LostPacket, MAX_PACKETS>,
}

impl<S: Source> Reader<S> {
    /// Reads the beginning of the file.
    ///
    /// # Errors
    ///
    /// It is not that of a file of traces.
    pub fn new(source: S) -> Result<Self, Error> {
        let mut reader = Self {
            source,
            buffer: [0; PIECE],
            next: 0,
            end: 0,
            at: 0,
            last: Last::default(),
            in_trace: false,
            traces: 0,
            acked: Vec::new(),
            lost: Vec::new(),
        };
        for byte in MAGIC {
            match reader.byte() {
                Ok(read) if read == byte => {}
                _ => return Err(reader.error(ErrorKind::NoTraces)),
            }
        }
        Ok(reader)
    }

    /// The next part.
    ///
    /// # Errors
    ///
    /// The file is damaged or ends too early.
    pub fn read_record(&mut self) -> Result<Record<'_>, Error> {
        let mark = self.byte()?;
        match (mark, self.in_trace) {
            (mark::TRACE, false) => {
                self.in_trace = true;
                self.traces = self.traces.saturating_add(1);
                self.last = Last::default();
                self.header().map(Record::Trace)
            }
            (mark::END_OF_FILE, false) => {
                if self.number()? == self.traces {
                    Ok(Record::EndOfFile)
                } else {
                    Err(self.error(ErrorKind::WrongCount))
                }
            }
            (mark::END_OF_TRACE, true) => {
                self.in_trace = false;
                Ok(Record::EndOfTrace)
            }
            (mark, true) => {
                self.last.path = self.row(self.last.path)?;
                let path = self.structure(&self.last.path)?;
                self.call(mark).map(|call| Record::Call(path, call))
            }
            (mark, false) => Err(self.error(ErrorKind::UnexpectedMark(mark))),
        }
    }

    fn header(&mut self) -> Result<Header, Error> {
        let algorithm = self.algorithm()?;
        let length = self.number()?;
        let mut name: Vec<u8, MAX_NAME> = Vec::new();
        for _ in 0..length {
            let byte = self.byte()?;
            name.push(byte).map_err(|_| self.error(ErrorKind::BadName))?;
        }
        let scenario = Name::from_utf8(name).map_err(|_| self.error(ErrorKind::BadName))?;
        let main = self.algorithm()?;
        let flow = self.number()?;
        let setup: TraceSetup = self.rare()?;
        Ok(Header { algorithm, scenario, main, flow, setup })
    }

    fn algorithm(&mut self) -> Result<Algorithm, Error> {
        let number = self.number()?;
        Algorithm::from_number(number).ok_or_else(|| self.error(ErrorKind::NoSuchValue))
    }

    fn call(&mut self, mark: u8) -> Result<Call<'_>, Error> {
        Ok(match mark {
            mark::PACKET_SENT => {
                self.last.sent = self.row(self.last.sent)?;
                Call::PacketSent(self.structure(&self.last.sent)?)
            }
            mark::ACK => return self.ack(),
            mark::LOSS => return self.loss(),
            mark::ECN => {
                self.last.ecn = self.row(self.last.ecn)?;
                Call::Ecn(self.structure(&self.last.ecn)?)
            }
            mark::RTT => {
                self.last.rtt = self.row(self.last.rtt)?;
                Call::Rtt(self.structure(&self.last.rtt)?)
            }
            mark::APP_LIMITED => Call::AppLimited,
            mark::IDLE_RESTART => Call::IdleRestart(self.rare()?),
            mark::SPURIOUS_LOSS => Call::SpuriousLoss(self.rare()?),
            mark::DISCARDED => {
                let Discarded { bytes, reason } = self.rare()?;
                Call::Discarded(bytes, reason)
            }
            mark::MTU_UPDATE => Call::MtuUpdate(self.rare()?),
            mark::PATH_CHANGE => Call::PathChange(self.rare()?),
            mark::RESUME_HINT => Call::ResumeHint(self.rare()?),
            mark::ACK_POLICY => Call::AckPolicy(self.rare()?),
            mark::ECN_STATE => Call::EcnState(self.rare()?),
            other => return Err(self.error(ErrorKind::UnexpectedMark(other))),
        })
    }

    fn ack(&mut self) -> Result<Call<'_>, Error> {
        self.last.ack = self.row(self.last.ack)?;
        let head: AckHead = self.structure(&self.last.ack)?;
        let mut rate_sample = None;
        if head.has_sample {
            self.last.sample = self.row(self.last.sample)?;
            rate_sample = Some(self.structure(&self.last.sample)?);
        }
        self.acked.clear();
        for _ in 0..self.number()? {
            self.last.acked = self.row(self.last.acked)?;
            let packet = self.structure(&self.last.acked)?;
            self.acked.push(packet).map_err(|_| self.error(ErrorKind::TooManyPackets))?;
        }
        Ok(Call::Ack(AckEvent {
            packets: &self.acked,
            last: head.last,
            rate_sample,
            limited_by: head.limited_by,
            max_bytes_in_flight: head.max_bytes_in_flight,
            app_limited_at: head.app_limited_at,
            newest_data_sent_at: head.newest_data_sent_at,
        }))
    }

    fn loss(&mut self) -> Result<Call<'_>, Error> {
        let LossHead { last, persistent_congestion, cause } = self.rare()?;
        self.lost.clear();
        for _ in 0..self.number()? {
            self.last.lost = self.row(self.last.lost)?;
            let packet = self.structure(&self.last.lost)?;
            self.lost.push(packet).map_err(|_| self.error(ErrorKind::TooManyPackets))?;
        }
        Ok(Call::Loss(LossEvent { packets: &self.lost, last, persistent_congestion, cause }))
    }

    fn rare<T: Words<N>, const N: usize>(&mut self) -> Result<T, Error> {
        let words = self.row([0; N])?;
        self.structure(&words)
    }

    fn structure<T: Words<N>, const N: usize>(&self, words: &[u64; N]) -> Result<T, Error> {
        T::from_words(words).ok_or_else(|| self.error(ErrorKind::NoSuchValue))
    }

    /// The words that follow `words`.
    fn row<const N: usize>(&mut self, mut words: [u64; N]) -> Result<[u64; N], Error> {
        let mut mask = self.number()?;
        for word in &mut words {
            if mask & 1 != 0 {
                let zigzag = self.number()?;
                let sign = if zigzag & 1 == 0 { 0 } else { u64::MAX };
                *word = word.wrapping_add(zigzag >> 1 ^ sign);
            }
            mask >>= 1;
        }
        if mask == 0 { Ok(words) } else { Err(self.error(ErrorKind::NoSuchValue)) }
    }

    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let digit = u64::from(byte & 0x7f);
            let placed = digit << shift;
            if placed >> shift != digit {
                break;
            }
            number |= placed;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.error(ErrorKind::NumberTooLarge))
    }

    fn byte(&mut self) -> Result<u8, Error> {
        if self.next >= self.end {
            self.next = 0;
            self.end = self.source.read(&mut self.buffer);
        }
        // A source that claims to have given more than there is room for gives what there is room for, and then its end.
        let byte = self.buffer.get(..self.end.min(PIECE)).and_then(|piece| piece.get(self.next));
        let byte = *byte.ok_or_else(|| self.error(ErrorKind::Truncated))?;
        self.next = self.next.saturating_add(1);
        self.at = self.at.saturating_add(1);
        Ok(byte)
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error { kind, at: self.at }
    }
}
