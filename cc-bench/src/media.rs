//! Media-like traffic: frames at a steady rate, each in as many datagrams (RFC 9221) as it needs, none of which is sent again.
//!
//! A frame has arrived when all of its datagrams have. Its delay is that of the last of them, from the moment at which the frame was
//! handed over to the connection: what waits there for congestion control counts. The ends may be on machines with clocks of their
//! own; the difference is taken from the exchange with the shortest round trip, half of which is assumed to be each way.

use crate::now;
use crate::protocol::{self, MEDIA, ProtocolError, failed, micros};
use crate::stack::Connection;
use hdrhistogram::Histogram;
use quinn::{RecvStream, SendStream};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio::time::{sleep, sleep_until};

/// What to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Media {
    /// Frames in a second.
    pub frames_per_s: u32,
    /// Size of a frame in bytes.
    pub frame_bytes: u32,
    /// For how long.
    pub duration: Duration,
    /// When frames are too late, from the moment at which they were handed over.
    pub deadlines: Vec<Duration>,
}

impl Media {
    /// How long it takes, with what is still under way at its end.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.duration + self.wait()
    }

    fn wait(&self) -> Duration {
        self.deadlines.iter().max().copied().unwrap_or_default() + GRACE
    }
}

/// What arrived of a stream of frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frames {
    /// Delay of each frame in microseconds; `None` if a part of it did not arrive.
    pub delays_us: Vec<Option<u64>>,
    /// Datagrams that were handed over.
    pub datagrams: u64,
    /// Datagrams that arrived.
    pub arrived: u64,
    /// The longest that a frame was handed over after it was due, in microseconds: what the sender's machine was late.
    pub sender_late_max_us: u64,
}

/// The frames of all clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MediaReport {
    /// Frames that were sent.
    pub frames: u64,
    /// Of these, how many arrived whole.
    pub complete: u64,
    /// Datagrams that were sent.
    pub datagrams: u64,
    /// Of these, how many arrived.
    pub arrived: u64,
    /// Median delay of frames that arrived whole, in microseconds.
    pub delay_p50_us: Option<u64>,
    /// The same, 99 %.
    pub delay_p99_us: Option<u64>,
    /// The longest that a sender was late.
    pub sender_late_max_us: u64,
    /// For each deadline.
    pub deadlines: Vec<Deadline>,
}

/// What frames are worth that have to be there in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadline {
    /// The time, in microseconds.
    pub deadline_us: u64,
    /// Frames that arrived whole within it.
    pub in_time: u64,
    /// How much later than that frames arrived that did arrive, 0 for those in time: the median.
    pub lateness_p50_us: u64,
    /// The same, 99 %.
    pub lateness_p99_us: u64,
}

/// Frame, part of it, and how many parts it has, in front of each datagram, big endian.
const HEADER_BYTES: usize = 8;
/// Frame, part, and the server's clock in microseconds, for each datagram in its answer.
const ARRIVAL_BYTES: usize = 14;
/// Datagrams that the server keeps account of: more than an hour at 200 in a second.
const MOST_ARRIVALS: usize = 1 << 20;
/// Exchanges that the difference of the clocks is taken from.
const CLOCK_EXCHANGES: usize = 8;
/// For what is still under way, after the last deadline.
const GRACE: Duration = Duration::from_millis(500);

/// Sends frames; what the server says of them.
///
/// # Errors
///
/// See [`ProtocolError`]; also if the server takes no datagrams.
pub async fn send(connection: &Connection, media: &Media) -> Result<Frames, ProtocolError> {
    let epoch = now();
    let offset_us = clock_offset_us(connection, epoch).await?;
    let (mut to, mut from) = connection.open_bi().await.map_err(failed)?;
    to.write_all(&[MEDIA]).await.map_err(failed)?;
    // From here on the server listens.
    from.read_exact(&mut [0]).await.map_err(failed)?;
    let (began, mut frames) = (now(), Frames::default());
    let mut sent = Vec::new();
    for number in 0..u32::MAX {
        let due = began + Duration::from_secs(number.into()) / media.frames_per_s.max(1);
        if due - began >= media.duration {
            break;
        }
        sleep_until(due.into()).await;
        let handed_over = now();
        let late = micros(handed_over.saturating_duration_since(due));
        frames.sender_late_max_us = frames.sender_late_max_us.max(late);
        let parts = send_frame(connection, number, media.frame_bytes as usize)?;
        frames.datagrams += u64::from(parts);
        sent.push((micros(handed_over.saturating_duration_since(epoch)), parts));
    }
    sleep(media.wait()).await;
    to.finish().map_err(failed)?;
    let answer = from.read_to_end(MOST_ARRIVALS * ARRIVAL_BYTES).await.map_err(failed)?;
    frames.fill(&sent, &arrivals(&answer), offset_us);
    Ok(frames)
}

/// Hands a frame over; in how many datagrams.
fn send_frame(connection: &Connection, number: u32, bytes: usize) -> Result<u16, ProtocolError> {
    let no_datagrams = || failed("the server takes no datagrams, or none of a useful size");
    let room = connection.max_datagram_size().and_then(|size| size.checked_sub(HEADER_BYTES));
    let room = room.filter(|&room| room > 0).ok_or_else(no_datagrams)?;
    let parts = u16::try_from(bytes.div_ceil(room).max(1)).map_err(failed)?;
    let mut left = bytes;
    for part in 0..parts {
        let length = left.min(room);
        left -= length;
        let mut datagram = Vec::with_capacity(HEADER_BYTES + length);
        datagram.extend(number.to_be_bytes());
        datagram.extend(part.to_be_bytes());
        datagram.extend(parts.to_be_bytes());
        datagram.resize(HEADER_BYTES + length, 0);
        // Where there is no room, the oldest one that waits is dropped.
        connection.send_datagram(datagram).map_err(failed)?;
    }
    Ok(parts)
}

/// What has to be taken from the server's clock, in microseconds, so that it is time since `epoch` here.
async fn clock_offset_us(connection: &Connection, epoch: Instant) -> Result<i128, ProtocolError> {
    let mut best: Option<(Duration, i128)> = None;
    for _ in 0..CLOCK_EXCHANGES {
        let before = epoch.elapsed();
        let there = protocol::usage(connection).await?.clock;
        let after = epoch.elapsed();
        let round_trip = after.saturating_sub(before);
        let offset = there.as_micros() as i128 - ((before + after) / 2).as_micros() as i128;
        if best.is_none_or(|(shortest, _)| round_trip < shortest) {
            best = Some((round_trip, offset));
        }
    }
    Ok(best.map_or(0, |(_, offset)| offset))
}

/// Frame, part and time of arrival.
type Arrival = (u32, u16, u64);

fn arrivals(answer: &[u8]) -> Vec<Arrival> {
    let arrival = |bytes: &[u8]| {
        let bytes: [u8; ARRIVAL_BYTES] = bytes.try_into().ok()?;
        let all = bytes.iter().fold(0_u128, |all, &byte| all << 8 | u128::from(byte));
        Some(((all >> 80) as u32, (all >> 64) as u16, all as u64))
    };
    answer.chunks_exact(ARRIVAL_BYTES).filter_map(arrival).collect()
}

/// The server's side: takes datagrams until the stream ends, then says which have arrived.
pub(crate) async fn receive(
    connection: &quinn::Connection,
    epoch: Instant,
    to: &mut SendStream,
    from: &mut RecvStream,
) -> Result<(), ProtocolError> {
    to.write_all(&[MEDIA]).await.map_err(failed)?;
    let mut answer = Vec::new();
    let mut end = [0];
    let end = from.read(&mut end);
    tokio::pin!(end);
    loop {
        tokio::select! {
            datagram = connection.read_datagram() => {
                let datagram = datagram.map_err(failed)?;
                // Frame and part, as they stand there.
                if let Some(head) = datagram.get(..6).filter(|_| answer.len() < MOST_ARRIVALS * ARRIVAL_BYTES) {
                    answer.extend(head);
                    answer.extend(micros(epoch.elapsed()).to_be_bytes());
                }
            }
            result = &mut end => {
                result.map_err(failed)?;
                return to.write_all(&answer).await.map_err(failed);
            }
        }
    }
}

impl Frames {
    /// `sent` has, for each frame, when it was handed over, and its parts.
    fn fill(&mut self, sent: &[(u64, u16)], arrivals: &[Arrival], offset_us: i128) {
        let mut of_frame: Vec<(HashSet<u16>, u64)> = vec![Default::default(); sent.len()];
        for &(frame, part, time) in arrivals {
            if let Some((parts, last)) = of_frame.get_mut(frame as usize) {
                self.arrived += u64::from(parts.insert(part));
                *last = time.max(*last);
            }
        }
        let delay = |(&(handed_over, parts), (arrived, last)): (&(u64, u16), &(HashSet<u16>, u64))| {
            let delay = i128::from(*last) - offset_us - i128::from(handed_over);
            // Below zero only if the difference of the clocks was off by more than the delay.
            (arrived.len() == usize::from(parts)).then(|| u64::try_from(delay).unwrap_or(0))
        };
        self.delays_us = sent.iter().zip(&of_frame).map(delay).collect();
    }
}

impl MediaReport {
    /// Of the frames of some clients.
    #[must_use]
    pub fn new(streams: &[Frames], deadlines: &[Duration]) -> Self {
        let delays = || streams.iter().flat_map(|stream| &stream.delays_us).flatten().copied();
        let deadline = |deadline: &Duration| {
            let deadline_us = micros(*deadline);
            let lateness = || delays().map(|delay| delay.saturating_sub(deadline_us));
            Deadline {
                deadline_us,
                in_time: lateness().filter(|&late| late == 0).count() as u64,
                lateness_p50_us: quantile(lateness(), 0.5).unwrap_or(0),
                lateness_p99_us: quantile(lateness(), 0.99).unwrap_or(0),
            }
        };
        Self {
            frames: streams.iter().map(|stream| stream.delays_us.len() as u64).sum(),
            complete: delays().count() as u64,
            datagrams: streams.iter().map(|stream| stream.datagrams).sum(),
            arrived: streams.iter().map(|stream| stream.arrived).sum(),
            delay_p50_us: quantile(delays(), 0.5),
            delay_p99_us: quantile(delays(), 0.99),
            sender_late_max_us: streams.iter().map(|stream| stream.sender_late_max_us).max().unwrap_or(0),
            deadlines: deadlines.iter().map(deadline).collect(),
        }
    }
}

/// `None` of nothing.
fn quantile(values: impl Iterator<Item = u64>, part: f64) -> Option<u64> {
    let mut histogram = crate::workload::times();
    // A zero is recorded as it is; what is above the bound as the bound.
    values.for_each(|value| histogram.saturating_record(value));
    (!Histogram::is_empty(&histogram)).then(|| histogram.value_at_quantile(part))
}

#[cfg(test)]
mod tests {
    use super::{ARRIVAL_BYTES, Deadline, Frames, MediaReport, arrivals};
    use std::time::Duration;

    #[test]
    fn an_answer_is_read_as_it_is_written() {
        let mut answer = Vec::new();
        for (frame, part, time) in [(1_u32, 2_u16, 3_u64), (u32::MAX, u16::MAX, u64::MAX)] {
            answer.extend(frame.to_be_bytes());
            answer.extend(part.to_be_bytes());
            answer.extend(time.to_be_bytes());
        }
        assert_eq!(answer.len(), 2 * ARRIVAL_BYTES);
        assert_eq!(arrivals(&answer), [(1, 2, 3), (u32::MAX, u16::MAX, u64::MAX)]);
        // Cut short by a peer that does not keep to the rules.
        assert_eq!(arrivals(&answer[..20]), [(1, 2, 3)]);
    }

    #[test]
    fn a_frame_is_as_late_as_its_last_part_and_missing_without_one() {
        let mut frames = Frames { datagrams: 5, ..Frames::default() };
        // The server's clock is 1000 ahead. Frame 0 has its parts after 40 and 30, one of them twice; frame 1 lacks one; frame 7 was
        // never sent; frame 2 seems to have arrived before it left.
        let arrivals = [(0, 0, 1_040), (0, 1, 1_030), (0, 1, 1_030), (1, 1, 1_200), (7, 0, 9), (2, 0, 1_199)];
        frames.fill(&[(0, 2), (100, 2), (200, 1)], &arrivals, 1_000);
        assert_eq!(frames.delays_us, [Some(40), None, Some(0)]);
        assert_eq!(frames.arrived, 4);
    }

    #[test]
    fn a_deadline_counts_what_is_whole_and_in_time() {
        let stream = |delays: &[Option<u64>]| Frames {
            delays_us: delays.to_vec(),
            datagrams: 4,
            arrived: 3,
            sender_late_max_us: 2,
        };
        let streams = [stream(&[Some(100), None]), stream(&[Some(200), Some(300)])];
        let report = MediaReport::new(&streams, &[Duration::from_micros(200)]);
        assert_eq!((report.frames, report.complete, report.datagrams, report.arrived), (4, 3, 8, 6));
        assert_eq!((report.delay_p50_us, report.delay_p99_us), (Some(200), Some(300)));
        // Late by 0, 0 and 100.
        let deadline = Deadline { deadline_us: 200, in_time: 2, lateness_p50_us: 0, lateness_p99_us: 100 };
        assert_eq!(report.deadlines, [deadline]);
        let nothing = MediaReport::new(&[], &[Duration::from_secs(1)]);
        assert_eq!((nothing.delay_p50_us, nothing.deadlines[0].in_time), (None, 0));
    }
}
