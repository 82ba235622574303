//! The data sender's side: frames in time, and what goes into the next packet.

use super::{Control, DATAGRAM_HEADER, Kind, Piece, PieceLog, Request, STREAM_HEADER};
use crate::engine::ranges::Ranges;
use crate::engine::schedule::NEVER;
use crate::scenario::{Media, MediaKind};
use std::collections::VecDeque;

/// What the data sender has to send.
#[derive(Debug)]
pub(in crate::engine) struct Source {
    config: Media,
    /// One for each request, in order.
    outgoing: Vec<Outgoing>,
    /// Those of which something may still have to be sent.
    live: Vec<usize>,
    /// STOP_SENDING frames that are heeded.
    stops: u32,
    /// Datagrams that are due: request, number, bytes.
    datagrams: VecDeque<(u32, u64, u64)>,
    /// When a stream may have something new.
    timer: u64,
    /// Pieces of streams so far: who had his turn last.
    turn: u64,
    log: PieceLog,
    /// Bytes of streams that were sent once or more, less what of abandoned ones did not arrive: what counts for flow control.
    sent: u64,
}

/// A group that is asked for.
#[derive(Debug)]
struct Outgoing {
    stream: usize,
    priority: u8,
    units: u64,
    /// When the request arrived.
    start_us: u64,
    state: State,
    /// Units that are sent, and what is left of the one after them.
    units_sent: u64,
    left: u64,
    next_offset: u64,
    lost: VecDeque<(u64, u64)>,
    acked: Ranges,
    last_turn: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Something of a frame is still to be sent.
    Sending,
    /// The next unit is due at this time.
    Waiting(u64),
    /// Everything was sent once.
    Sent,
    /// The client does not want the rest.
    Stopped,
}

/// What goes next into a packet.
#[derive(Clone, Copy, Debug)]
enum Next {
    Datagram { request: u32, number: u64, bytes: u64 },
    Lost { index: usize, offset: u64, length: u64 },
    New { index: usize },
}

impl Source {
    pub(in crate::engine) fn new(config: &Media) -> Self {
        Self {
            config: config.clone(),
            outgoing: Vec::new(),
            live: Vec::new(),
            stops: 0,
            datagrams: VecDeque::new(),
            timer: 0,
            turn: 0,
            log: PieceLog::default(),
            sent: 0,
        }
    }

    /// A packet of the client arrived that has the first `control.requests` of `requests`, and as many of `stops` as it
    /// says.
    pub(in crate::engine) fn on_control(
        &mut self,
        now: u64,
        control: Control,
        requests: &[Request],
        stops: &[u32],
    ) {
        let known = self.outgoing.len();
        for request in requests.iter().take(control.requests as usize).skip(known) {
            self.start(now, *request);
        }
        for &request in stops.iter().take(control.stops as usize).skip(self.stops as usize) {
            self.stop(request);
        }
        self.stops = self.stops.max(control.stops);
    }

    fn start(&mut self, now: u64, request: Request) {
        let Some(stream) = self.config.streams.get(request.stream) else { return };
        let state = match stream.kind {
            MediaKind::Datagrams => State::Waiting(now),
            MediaKind::Frames { .. } => State::Sending,
        };
        self.live.push(self.outgoing.len());
        self.outgoing.push(Outgoing {
            stream: request.stream,
            priority: stream.priority,
            units: stream.units_of(request.group),
            start_us: now,
            state,
            units_sent: 0,
            left: stream.bytes_of(0),
            next_offset: 0,
            lost: VecDeque::new(),
            acked: Ranges::default(),
            last_turn: 0,
        });
        if matches!(stream.kind, MediaKind::Datagrams) {
            self.timer = self.timer.min(now);
        }
    }

    fn stop(&mut self, request: u32) {
        let Some(outgoing) = self.outgoing.get_mut(request as usize) else { return };
        outgoing.state = State::Stopped;
        self.live.retain(|&index| index != request as usize);
        let lost: u64 = outgoing.lost.drain(..).map(|(_, length)| length).sum();
        self.sent = self.sent.saturating_sub(lost);
    }

    /// When a stream has something new; `None` if nothing is waited for.
    pub(in crate::engine) fn next_wake(&self) -> Option<u64> {
        let waits = self.live.iter().any(|&index| matches!(self.outgoing[index].state, State::Waiting(_)));
        (waits && self.timer != NEVER).then_some(self.timer)
    }

    /// Produces what is due at `now`.
    pub(in crate::engine) fn advance(&mut self, now: u64) {
        if now < self.timer {
            return;
        }
        let mut timer = NEVER;
        for &index in &self.live {
            let outgoing = &mut self.outgoing[index];
            let State::Waiting(at) = outgoing.state else { continue };
            let Some(stream) = self.config.streams.get(outgoing.stream) else { continue };
            match stream.kind {
                MediaKind::Datagrams => {
                    let mut next = at;
                    while next <= now && outgoing.units_sent < outgoing.units {
                        self.datagrams.push_back((index as u32, outgoing.units_sent, stream.unit_bytes));
                        outgoing.units_sent += 1;
                        next = outgoing.start_us.saturating_add(stream.time_of(outgoing.units_sent));
                    }
                    if next > now {
                        outgoing.state = State::Waiting(next);
                        timer = timer.min(next);
                    } else {
                        // A time of a unit after the last one the QUIC stream of the request ends.
                        (outgoing.state, outgoing.left) = (State::Sending, 1);
                    }
                }
                MediaKind::Frames { .. } if at <= now => outgoing.state = State::Sending,
                MediaKind::Frames { .. } => timer = if self.config.one_timer { at } else { timer.min(at) },
            }
        }
        self.timer = timer;
    }

    /// Whether there is something to send; `credit` is the flow-control limit of the connection.
    pub(in crate::engine) fn has_data(&mut self, credit: u64) -> bool {
        self.next(credit).is_some()
    }

    /// Whether flow control alone keeps data back.
    pub(in crate::engine) fn is_blocked(&self) -> bool {
        self.live.iter().any(|&index| self.outgoing[index].state == State::Sending)
    }

    /// Puts a packet together that has room for `room` bytes of one stream: the number of its first piece, and how much of
    /// the room it takes; `None` if there is nothing to send.
    pub(in crate::engine) fn fill(&mut self, now: u64, room: u64, credit: u64) -> Option<(u64, u64)> {
        let number = self.log.next();
        let whole = room.saturating_add(STREAM_HEADER);
        let mut left = whole;
        while let Some(next) = self.next(credit) {
            let piece = match next {
                Next::Datagram { request, number, bytes } => {
                    // One that does not fit goes first into the next packet.
                    let Some(rest) = left.checked_sub(DATAGRAM_HEADER + bytes) else { break };
                    left = rest;
                    self.datagrams.pop_front();
                    Piece { request, kind: Kind::Datagram, offset: number, length: bytes, is_last: false }
                }
                Next::Lost { index, offset, length } => {
                    let Some(space) = left.checked_sub(STREAM_HEADER).filter(|&space| space > 0) else {
                        break;
                    };
                    let length = length.min(space);
                    left = space - length;
                    self.take_lost(index, length);
                    self.stream_piece(index, offset, length)
                }
                Next::New { index } => {
                    let Some(space) = left.checked_sub(STREAM_HEADER).filter(|&space| space > 0) else {
                        break;
                    };
                    let (offset, length) =
                        self.take_new(now, index, space.min(credit.saturating_sub(self.sent)));
                    left = space - length;
                    self.stream_piece(index, offset, length)
                }
            };
            self.log.push(piece);
        }
        if self.log.next() == number {
            return None;
        }
        self.log.end_packet();
        Some((number, (whole - left).saturating_sub(STREAM_HEADER).max(1)))
    }

    fn stream_piece(&mut self, index: usize, offset: u64, length: u64) -> Piece {
        self.turn += 1;
        self.outgoing[index].last_turn = self.turn;
        Piece { request: index as u32, kind: Kind::Stream, offset, length, is_last: false }
    }

    /// By priority; of one priority, what was lost goes before new data, and streams take turns if it is even.
    fn next(&mut self, credit: u64) -> Option<Next> {
        let mut best: Option<((u8, u8, u64), Next)> = None;
        if let Some(&(request, number, bytes)) = self.datagrams.front() {
            let priority = self.outgoing[request as usize].priority;
            best = Some(((priority, 0, 0), Next::Datagram { request, number, bytes }));
        }
        let may_send = self.sent < credit;
        for &index in &self.live {
            let outgoing = &mut self.outgoing[index];
            let next = match outgoing.first_lost() {
                Some((offset, length)) => Next::Lost { index, offset, length },
                None if outgoing.state == State::Sending && may_send => Next::New { index },
                None => continue,
            };
            let age = u8::from(matches!(next, Next::New { .. })) + 1;
            let turn = if outgoing.priority.is_multiple_of(2) { outgoing.last_turn } else { index as u64 };
            let key = (outgoing.priority, age, turn);
            if best.is_none_or(|(other, _)| key < other) {
                best = Some((key, next));
            }
        }
        best.map(|(_, next)| next)
    }

    fn take_lost(&mut self, index: usize, length: u64) {
        if let Some(front) = self.outgoing[index].lost.front_mut() {
            if front.1 > length {
                *front = (front.0 + length, front.1 - length);
            } else {
                self.outgoing[index].lost.pop_front();
            }
        }
    }

    /// Takes up to `space` bytes of the frame at hand: where they begin and how many they are.
    fn take_new(&mut self, now: u64, index: usize, space: u64) -> (u64, u64) {
        let outgoing = &mut self.outgoing[index];
        let length = outgoing.left.min(space);
        let offset = outgoing.next_offset;
        outgoing.next_offset += length;
        outgoing.left -= length;
        self.sent += length;
        if outgoing.left == 0 {
            outgoing.units_sent += 1;
            if outgoing.units_sent >= outgoing.units {
                outgoing.state = State::Sent;
            } else if let Some(stream) = self.config.streams.get(outgoing.stream) {
                let at = outgoing.start_us.saturating_add(stream.time_of(outgoing.units_sent));
                outgoing.left = stream.bytes_of(outgoing.units_sent);
                if now < at {
                    outgoing.state = State::Waiting(at);
                    self.timer = self.timer.min(at);
                }
            }
        }
        (offset, length)
    }

    /// The pieces of the packet whose first one has this number.
    pub(in crate::engine) fn packet(&self, number: u64) -> impl Iterator<Item = Piece> {
        self.log.packet(number)
    }

    /// Stream data of a packet is acknowledged.
    pub(in crate::engine) fn on_acked(&mut self, number: u64) {
        for piece in self.log.packet(number) {
            if piece.kind == Kind::Stream
                && piece.length > 0
                && let Some(outgoing) = self.outgoing.get_mut(piece.request as usize)
            {
                outgoing.acked.insert(piece.offset, piece.offset + piece.length - 1);
                let all = outgoing.next_offset.saturating_sub(1);
                if outgoing.state == State::Sent && outgoing.acked.first_gap(0, all).is_none() {
                    self.live.retain(|&index| index != piece.request as usize);
                }
            }
        }
    }

    /// A packet is lost: its stream data is sent again, its datagrams are not.
    pub(in crate::engine) fn on_lost(&mut self, number: u64) {
        for piece in self.log.packet(number) {
            let outgoing = self.outgoing.get_mut(piece.request as usize);
            match (piece.kind, outgoing) {
                (Kind::Stream, Some(outgoing)) if outgoing.state == State::Stopped => {
                    self.sent = self.sent.saturating_sub(piece.length);
                }
                (Kind::Stream, Some(outgoing)) => outgoing.lost.push_back((piece.offset, piece.length)),
                (Kind::Stream | Kind::Datagram, _) => {}
            }
        }
    }

    /// A packet for a probe timeout: stream data of the one at `number` again, as far as `room` goes.
    pub(in crate::engine) fn repeat(&mut self, number: u64, room: u64) -> Option<(u64, u64)> {
        let first = self.log.next();
        let whole = room.saturating_add(STREAM_HEADER);
        let mut left = whole;
        let pieces: Vec<Piece> = self.log.packet(number).collect();
        for piece in pieces {
            let is_wanted = piece.kind == Kind::Stream
                && self.outgoing.get(piece.request as usize).is_some_and(|o| o.state != State::Stopped);
            let Some(space) = left.checked_sub(STREAM_HEADER).filter(|&space| is_wanted && space > 0) else {
                continue;
            };
            let length = piece.length.min(space);
            left = space - length;
            self.log.push(Piece { length, is_last: false, ..piece });
        }
        if self.log.next() == first {
            return None;
        }
        self.log.end_packet();
        Some((first, (whole - left).saturating_sub(STREAM_HEADER).max(1)))
    }

    /// Packets whose first piece has a number below this one are resolved.
    pub(in crate::engine) fn forget_below(&mut self, number: u64) {
        self.log.forget_below(number);
    }
}

impl Outgoing {
    /// The first lost data that is not acknowledged by now.
    fn first_lost(&mut self) -> Option<(u64, u64)> {
        while let Some(&(offset, length)) = self.lost.front() {
            let Some((first, last)) = self.acked.first_gap(offset, offset + length.saturating_sub(1)) else {
                self.lost.pop_front();
                continue;
            };
            // What is before the gap is there; what is after it is looked at later.
            let end = offset + length;
            self.lost[0] = (first, end - first);
            return Some((first, last + 1 - first));
        }
        None
    }
}

#[cfg(test)]
mod tests;
