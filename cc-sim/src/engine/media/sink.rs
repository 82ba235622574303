//! The client's side: what it asks for, when a unit is complete, and how late that is.

use super::{Control, Kind, Piece, Request};
use crate::engine::outcome::{MediaOutcome, MediaStreamOutcome};
use crate::engine::ranges::Ranges;
use crate::engine::schedule::NEVER;
use crate::scenario::{Media, MediaKind, MediaStream};

/// What the client gets.
#[derive(Debug)]
pub(in crate::engine) struct Sink {
    config: Media,
    requests: Vec<Request>,
    /// One for each request.
    incoming: Vec<Incoming>,
    /// Numbers of the requests whose rest was given up.
    stops: Vec<u32>,
    /// Of each stream, the group that is to be asked for next.
    next_group: Vec<u64>,
    /// When the client asked for the first groups; `None` before.
    start_us: Option<u64>,
    /// Requests that are not closed.
    open: usize,
    received: u64,
    statistics: Vec<MediaStreamOutcome>,
}

/// A group that was asked for.
#[derive(Debug, Default)]
struct Incoming {
    data: Ranges,
    /// Bytes from its start without a gap.
    in_order: u64,
    /// Units that are complete.
    units: u64,
    is_closed: bool,
}

impl Sink {
    pub(in crate::engine) fn new(config: &Media) -> Self {
        Self {
            config: config.clone(),
            requests: Vec::new(),
            incoming: Vec::new(),
            stops: Vec::new(),
            next_group: vec![0; config.streams.len()],
            start_us: None,
            open: 0,
            received: 0,
            statistics: vec![MediaStreamOutcome::default(); config.streams.len()],
        }
    }

    /// The handshake is complete: the client asks for all streams.
    pub(in crate::engine) fn start(&mut self, now: u64) {
        self.start_us = Some(now);
        for stream in 0..self.config.streams.len() {
            self.request(stream, now);
        }
    }

    fn request(&mut self, stream: usize, start_us: u64) {
        let group = self.next_group[stream];
        self.next_group[stream] += 1;
        self.requests.push(Request { stream, group, start_us });
        self.incoming.push(Incoming::default());
        self.open += 1;
    }

    /// When the next group of a stream is asked for; `None` if there is none.
    fn next_request(&self, stream: usize) -> Option<u64> {
        let (config, group) = (self.config.streams.get(stream)?, *self.next_group.get(stream)?);
        let MediaKind::Frames { group: size, .. } = config.kind else { return None };
        if group >= config.groups() {
            return None;
        }
        Some(self.start_us?.saturating_add(group.saturating_mul(config.time_of(size))))
    }

    /// When [`Sink::ask`] has something to ask for; `None` for never.
    pub(in crate::engine) fn next_wake(&self) -> Option<u64> {
        (0..self.next_group.len()).filter_map(|stream| self.next_request(stream)).min()
    }

    /// Asks for the groups whose time has come; whether there are any.
    pub(in crate::engine) fn ask(&mut self, now: u64) -> bool {
        let known = self.requests.len();
        for stream in 0..self.next_group.len() {
            while let Some(at) = self.next_request(stream).filter(|&at| at <= now) {
                self.request(stream, at);
            }
        }
        self.requests.len() > known
    }

    /// How many requests there are at the start.
    pub(in crate::engine) fn first_requests(&self) -> u32 {
        self.config.streams.len() as u32
    }

    /// All requests so far.
    pub(in crate::engine) fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Numbers of the requests whose rest is not wanted.
    pub(in crate::engine) fn stops(&self) -> &[u32] {
        &self.stops
    }

    pub(in crate::engine) fn control(&self) -> Control {
        Control { requests: self.requests.len() as u32, stops: self.stops.len() as u32 }
    }

    /// Bytes of streams and datagrams that arrived, each counted once.
    pub(in crate::engine) fn received(&self) -> u64 {
        self.received
    }

    /// Whether everything that was asked for is here or given up, and nothing is left to ask for.
    pub(in crate::engine) fn is_complete(&self) -> bool {
        self.start_us.is_some() && self.open == 0 && self.next_wake().is_none()
    }

    /// A piece of a packet arrived.
    pub(in crate::engine) fn on_piece(&mut self, now: u64, piece: &Piece) {
        let (Some(&request), Some(incoming)) =
            (self.requests.get(piece.request as usize), self.incoming.get_mut(piece.request as usize))
        else {
            return;
        };
        let Some(stream) = self.config.streams.get(request.stream) else { return };
        if piece.kind == Kind::Datagram {
            self.received += piece.length;
            if let Some(figures) = self.statistics.get_mut(request.stream).filter(|_| !incoming.is_closed) {
                let expected = request.start_us.saturating_add(stream.time_of(piece.offset));
                note(&self.config, stream, figures, now, expected);
            }
            return;
        }
        if piece.length == 0 {
            return;
        }
        self.received += incoming.data.insert(piece.offset, piece.offset + piece.length - 1);
        if incoming.is_closed {
            return;
        }
        incoming.in_order = match incoming.data.as_slice().first() {
            Some(&(0, last)) => last + 1,
            _ => 0,
        };
        if stream.kind == MediaKind::Datagrams {
            (incoming.is_closed, self.open) = (true, self.open - 1);
            return;
        }
        self.complete_units(now, piece.request);
    }

    fn complete_units(&mut self, now: u64, number: u32) {
        let request = self.requests[number as usize];
        let (Some(stream), Some(figures), Some(incoming)) = (
            self.config.streams.get(request.stream),
            self.statistics.get_mut(request.stream),
            self.incoming.get_mut(number as usize),
        ) else {
            return;
        };
        loop {
            let unit = incoming.units;
            if incoming.in_order < stream.bytes_until(unit + 1) {
                return;
            }
            incoming.units += 1;
            let is_last = incoming.units >= stream.units_of(request.group);
            let gives_up = !is_last && now > limit(stream, request, unit + 1);
            note(&self.config, stream, figures, now, request.start_us.saturating_add(stream.time_of(unit)));
            if gives_up {
                self.stops.push(number);
                figures.stopped += 1;
            }
            if is_last || gives_up {
                incoming.is_closed = true;
                self.open -= 1;
                return;
            }
        }
    }

    /// Figures of each stream.
    pub(in crate::engine) fn statistics(&self) -> &[MediaStreamOutcome] {
        &self.statistics
    }

    /// Figures of the connection.
    pub(in crate::engine) fn outcome(&self) -> MediaOutcome {
        let counted = || {
            let streams = self.config.streams.iter().zip(&self.statistics);
            streams.filter(|(stream, _)| stream.counts).map(|(_, figures)| figures)
        };
        MediaOutcome {
            average_us: counted().filter_map(MediaStreamOutcome::average_us).max().unwrap_or(0),
            max_us: counted().map(|figures| figures.max_us).max().unwrap_or(0),
            stopped: self.statistics.iter().map(|figures| figures.stopped).sum(),
        }
    }
}

/// A unit that was expected at `expected` is complete.
fn note(config: &Media, stream: &MediaStream, figures: &mut MediaStreamOutcome, now: u64, expected: u64) {
    let always = config.all_datagrams_count && stream.kind == MediaKind::Datagrams;
    if expected < config.stats_from_us && !always {
        return;
    }
    let delay_us = now.saturating_sub(expected);
    figures.units += 1;
    figures.sum_us = figures.sum_us.saturating_add(delay_us);
    figures.max_us = figures.max_us.max(delay_us);
}

/// After which time the client gives a group up when it has `units` of it; never if that is not wanted.
fn limit(stream: &MediaStream, request: Request, units: u64) -> u64 {
    match stream.kind {
        MediaKind::Frames { stop_after_us: Some(after_us), .. } => {
            request.start_us.saturating_add(after_us).saturating_add(stream.time_of(units))
        }
        MediaKind::Frames { stop_after_us: None, .. } | MediaKind::Datagrams => NEVER,
    }
}

#[cfg(test)]
mod tests;
