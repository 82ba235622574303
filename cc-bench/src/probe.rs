//! Datagrams that are no QUIC: how long the bare path takes, and how much it carries.
//!
//! The server answers them from the socket of its QUIC endpoint, so that they go where QUIC goes. Each answer is as large as what it
//! answers.

use crate::now;
use crate::protocol::micros;
use crate::socket::{any_port, bind};
use crate::workload::{Quantiles, quantiles, record, times};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// What such a datagram begins with. The first byte is that of no QUIC packet whose fixed bit is set (RFC 9000 section 17).
const MAGIC: [u8; 16] = *b"\0cc-bench probe\n";
/// Magic, kind, and three numbers.
const HEADER_BYTES: usize = MAGIC.len() + 1 + 24;
/// Size of a datagram of a blast.
const BLAST_BYTES: usize = 1_200;
/// Comes back as it is.
const PING: u8 = b'p';
/// Is counted.
const BLAST: u8 = b'b';
/// Asks for the count.
const COUNT: u8 = b'c';

/// What the bare path does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    /// Round trips of single datagrams.
    pub ping: Quantiles,
    /// Part of these datagrams that did not come back.
    pub ping_lost: f64,
    /// What arrived at the server of a client that sends datagrams of 1200 bytes as fast as it can, in kbit/s of payload.
    pub blast_kbps: f64,
    /// Part of these datagrams that did not arrive.
    pub blast_lost: f64,
}

/// What a server has counted of the last blast.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    blast: u64,
    packets: u64,
    began: Option<Instant>,
    last: Option<Instant>,
}

impl Tally {
    /// Takes `count` datagrams that arrived together; whether they were probes, and the answer to each, if there is one.
    pub(crate) fn take(&mut self, datagram: &[u8], count: u64) -> (bool, Option<Vec<u8>>) {
        let Some((kind, [blast, _, _])) = parse(datagram) else { return (false, None) };
        match kind {
            PING => (true, Some(datagram.to_vec())),
            BLAST => {
                if self.blast != blast {
                    *self = Self { blast, ..Self::default() };
                }
                let now = now();
                (self.packets, self.last) = (self.packets + count, Some(now));
                self.began.get_or_insert(now);
                (true, None)
            }
            COUNT => {
                let (packets, time) = if self.blast == blast {
                    let time = self.began.zip(self.last).map(|(began, last)| last - began);
                    (self.packets, time.unwrap_or_default())
                } else {
                    (0, Duration::ZERO)
                };
                (true, Some(datagram_of(COUNT, [blast, packets, micros(time)], datagram.len())))
            }
            _ => (true, None),
        }
    }
}

/// Kind and numbers of a probe.
fn parse(datagram: &[u8]) -> Option<(u8, [u64; 3])> {
    let (&kind, rest) = datagram.strip_prefix(&MAGIC)?.split_first()?;
    let mut numbers =
        rest.chunks_exact(8).map(|bytes| bytes.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)));
    Some((kind, [numbers.next()?, numbers.next()?, numbers.next()?]))
}

fn datagram_of(kind: u8, numbers: [u64; 3], bytes: usize) -> Vec<u8> {
    let mut datagram = MAGIC.to_vec();
    datagram.push(kind);
    numbers.iter().for_each(|number| datagram.extend(number.to_be_bytes()));
    datagram.resize(bytes.max(HEADER_BYTES), 0);
    datagram
}

/// Pings, then sends as fast as the system takes it for `duration`.
///
/// # Errors
///
/// Nobody answers, or those of the system.
pub fn probe(to: SocketAddr, duration: Duration) -> io::Result<Probed> {
    /// Distance of two pings, and how many there are.
    const GAP: Duration = Duration::from_millis(5);
    const PINGS: u64 = 100;
    /// How long an answer may take.
    const PATIENCE: Duration = Duration::from_secs(2);
    let socket = bind(any_port(to))?;
    socket.connect(to)?;
    let (epoch, mut round_trips) = (now(), times());
    let mut answered = 0;
    let mut wait = |until: Instant, answered: &mut u64| -> io::Result<()> {
        let mut buffer = [0; 2_048];
        while let Some(left) = until.checked_duration_since(now()).filter(|left| !left.is_zero()) {
            socket.set_read_timeout(Some(left))?;
            match socket.recv(&mut buffer) {
                Ok(length) => {
                    let sent = buffer.get(..length).and_then(parse).filter(|&(kind, _)| kind == PING);
                    if let Some((_, [sent_us, _, _])) = sent {
                        let round_trip = epoch.elapsed().saturating_sub(Duration::from_micros(sent_us));
                        record(&mut round_trips, round_trip);
                        *answered += 1;
                        if *answered == PINGS {
                            return Ok(());
                        }
                    }
                }
                // Nothing came, or word that nobody listens there yet.
                Err(error) if is_silence(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    for number in 0..PINGS {
        match socket.send(&datagram_of(PING, [micros(epoch.elapsed()), number, 0], HEADER_BYTES)) {
            Err(error) if !is_silence(&error) => return Err(error),
            _ => wait(now() + GAP, &mut answered)?,
        }
    }
    if answered < PINGS {
        wait(now() + PATIENCE, &mut answered)?;
    }
    let Some(ping) = quantiles(&round_trips) else {
        let error = format!("no answer from {to} to {PINGS} datagrams");
        return Err(io::Error::new(io::ErrorKind::TimedOut, error));
    };
    let ping_lost = 1.0 - answered as f64 / PINGS as f64;
    // Another number for each blast, of all clients that there may be.
    let blast = u64::from(std::process::id()) << 32 | u64::from(micros(duration) as u32);
    let datagram = datagram_of(BLAST, [blast, 0, 0], BLAST_BYTES);
    let (began, mut sent) = (now(), 0_u64);
    while began.elapsed() < duration {
        match socket.send(&datagram) {
            Ok(_) => sent += 1,
            Err(error) if is_silence(&error) => {}
            Err(error) => return Err(error),
        }
    }
    // What is under way gets there before the question, or with it.
    std::thread::sleep(Duration::from_micros(ping.p99_us) + Duration::from_millis(50));
    let (packets, time_us) = count(&socket, blast)?;
    let time_us = time_us.max(1);
    Ok(Probed {
        ping,
        ping_lost,
        blast_kbps: (packets as f64) * BLAST_BYTES as f64 * 8e3 / time_us as f64,
        blast_lost: 1.0 - packets as f64 / sent.max(packets).max(1) as f64,
    })
}

/// Datagrams that the server has counted, and in which time in microseconds.
fn count(socket: &std::net::UdpSocket, blast: u64) -> io::Result<(u64, u64)> {
    const TRIES: u32 = 20;
    let mut buffer = [0; 2_048];
    for _ in 0..TRIES {
        let _ = socket.send(&datagram_of(COUNT, [blast, 0, 0], HEADER_BYTES));
        let until = now() + Duration::from_millis(500);
        while let Some(left) = until.checked_duration_since(now()).filter(|left| !left.is_zero()) {
            socket.set_read_timeout(Some(left))?;
            let Ok(length) = socket.recv(&mut buffer) else { continue };
            match buffer.get(..length).and_then(parse) {
                Some((COUNT, [of, packets, time_us])) if of == blast => return Ok((packets, time_us)),
                // A late ping, or of an earlier blast.
                _ => {}
            }
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "no answer from the server to what it has counted"))
}

/// Whether an error says no more than that nothing came or went at the moment.
fn is_silence(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), ConnectionRefused | Interrupted | TimedOut | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::{BLAST, COUNT, HEADER_BYTES, PING, Tally, datagram_of, parse};

    #[test]
    fn what_is_no_probe_is_left_to_quic() {
        let mut tally = Tally::default();
        assert_eq!(tally.take(b"\x40 a short header", 1), (false, None));
        assert_eq!(tally.take(&datagram_of(PING, [0; 3], 0)[..HEADER_BYTES - 1], 1), (false, None));
        assert_eq!(tally.take(&[], 1), (false, None));
    }

    #[test]
    fn a_ping_comes_back_as_it_is() {
        let ping = datagram_of(PING, [1, 2, 3], 50);
        assert_eq!(parse(&ping), Some((PING, [1, 2, 3])));
        assert_eq!(Tally::default().take(&ping, 1), (true, Some(ping)));
    }

    #[test]
    fn a_count_is_that_of_the_blast_that_is_asked_for() {
        let mut tally = Tally::default();
        let ask = |tally: &mut Tally, blast| {
            let answer = tally.take(&datagram_of(COUNT, [blast, 0, 0], 0), 1).1.unwrap();
            let (kind, [of, packets, _]) = parse(&answer).unwrap();
            assert_eq!((kind, of), (COUNT, blast));
            packets
        };
        tally.take(&datagram_of(BLAST, [5, 0, 0], 1_200), 1);
        tally.take(&datagram_of(BLAST, [5, 0, 0], 1_200), 4);
        assert_eq!((ask(&mut tally, 5), ask(&mut tally, 6)), (5, 0));
        tally.take(&datagram_of(BLAST, [6, 0, 0], 1_200), 1);
        assert_eq!((ask(&mut tally, 5), ask(&mut tally, 6)), (0, 1));
    }
}
