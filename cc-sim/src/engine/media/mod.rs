//! Audio and video in real time (sim_model section 6): what a data sender produces and in which order it leaves, what the
//! client makes of it, and the pieces of data that travel.

mod sink;
mod source;

pub(super) use sink::Sink;
pub(super) use source::Source;

use std::collections::VecDeque;

/// Bytes in front of the data of a stream frame: type, stream, offset, length (RFC 9000 section 19.8).
pub(super) const STREAM_HEADER: u64 = 6;
/// The same of a datagram frame: type and length (RFC 9221 section 4).
pub(super) const DATAGRAM_HEADER: u64 = 3;
/// A request for a group: a stream frame of 16 bytes.
pub(super) const REQUEST: u64 = 20;
/// A STOP_SENDING frame (RFC 9000 section 19.5).
pub(super) const STOP_SENDING: u64 = 4;

/// A group of a stream that the client asks for; requests are numbered in the order in which they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Index of the stream in the scenario.
    pub(super) stream: usize,
    /// Number of the group.
    pub(super) group: u64,
    /// When the client expects its first unit, less the RTT.
    pub(super) start_us: u64,
}

/// How many requests, and how many STOP_SENDING frames, a client has sent. A packet has all of them, so that a lost one is
/// made up for by the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Control {
    pub(super) requests: u32,
    pub(super) stops: u32,
}

/// A part of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Number of the request that it answers.
    pub(super) request: u32,
    pub(super) kind: Kind,
    /// Where in its QUIC stream it begins; of a datagram, its number.
    pub(super) offset: u64,
    pub(super) length: u64,
    /// Whether it is the last one of its packet.
    pub(super) is_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Data of a QUIC stream. That of a request for datagrams has one byte, which ends it.
    Stream,
    Datagram,
}

/// The pieces of the packets that were sent, each packet's found by the number of its first one.
#[derive(Debug, Default)]
pub(super) struct PieceLog {
    first: u64,
    pieces: VecDeque<Piece>,
}

impl PieceLog {
    /// The number that the next piece has.
    pub(super) fn next(&self) -> u64 {
        self.first + self.pieces.len() as u64
    }

    pub(super) fn push(&mut self, piece: Piece) {
        self.pieces.push_back(piece);
    }

    /// The newest piece is the last one of its packet.
    pub(super) fn end_packet(&mut self) {
        if let Some(piece) = self.pieces.back_mut() {
            piece.is_last = true;
        }
    }

    /// The pieces of a packet; none if they are forgotten.
    pub(super) fn packet(&self, number: u64) -> impl Iterator<Item = Piece> {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        let mut rest = at.map(|at| self.pieces.iter().skip(at));
        std::iter::from_fn(move || {
            let piece = *rest.as_mut()?.next()?;
            if piece.is_last {
                rest = None;
            }
            Some(piece)
        })
    }

    /// Forgets what is before `number`.
    pub(super) fn forget_below(&mut self, number: u64) {
        while self.first < number && self.pieces.pop_front().is_some() {
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Piece, PieceLog};

    #[test]
    fn the_pieces_of_a_packet_are_found_until_they_are_forgotten() {
        let piece = |request| Piece { request, kind: Kind::Stream, offset: 0, length: 1, is_last: false };
        let mut log = PieceLog::default();
        log.push(piece(0));
        log.push(piece(1));
        log.end_packet();
        let second = log.next();
        log.push(piece(2));
        log.end_packet();
        let requests = |log: &PieceLog, at| log.packet(at).map(|piece| piece.request).collect::<Vec<_>>();
        assert_eq!((requests(&log, 0), requests(&log, second), second), (vec![0, 1], vec![2], 2));
        assert!(requests(&log, 3).is_empty());
        log.forget_below(second);
        assert_eq!((requests(&log, 0), requests(&log, second), log.next()), (vec![], vec![2], 3));
    }
}
