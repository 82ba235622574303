//! Structures as rows of 64-bit words, which is what a file holds of them.
//!
//! A word is a number, or the number of a variant, or up to eight flags. The value of an `Option` has a word, 0 if there
//! is none, and a flag. Both directions destructure, so that the compiler finds a field that is new.

use crate::header::TraceSetup;
use cc_core::{
    AckPolicy, AckedPacket, DiscardReason, Duration, EcnCodepoint, EcnEvent, Instant, LossCause, LostPacket,
    MtuChange, PacketSnapshot, PacketSpace, PathChange, PathRtt, PathState, PeerInstant, RateSample,
    ResumeHint, RttEvent, SendLimit, SentPacket, SpuriousLoss,
};

/// A structure that is a row of words.
pub trait Words<const N: usize>: Sized {
    /// Its words.
    fn words(&self) -> [u64; N];

    /// The structure with these words; `None` if there is none.
    fn from_words(words: &[u64; N]) -> Option<Self>;
}

/// Both directions of an enum without data.
macro_rules! numbered {
    ($($type:ident { $($variant:ident = $number:literal),+ $(,)? })+) => {$(
        impl Words<1> for $type {
            fn words(&self) -> [u64; 1] {
                match self {
                    $(Self::$variant => [$number]),+
                }
            }

            fn from_words(&[number]: &[u64; 1]) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    )+};
}

numbered! {
    PacketSpace { Initial = 0, Handshake = 1, Application = 2 }
    SendLimit { Cwnd = 0, Pacer = 1, Amplification = 2, FlowControl = 3, NoData = 4, Unknown = 5 }
    DiscardReason { KeysDiscarded = 0, MtuProbeLost = 1, ZeroRttRejected = 2 }
    MtuChange { Handshake = 0, Discovered = 1, BlackHole = 2 }
    PathChange { Rebinding = 0, New = 1 }
    EcnCodepoint { NotEct = 0, Ect0 = 1, Ect1 = 2 }
}

fn number<T: Words<1>>(value: T) -> u64 {
    let [number] = value.words();
    number
}

fn variant<T: Words<1>>(number: u64) -> Option<T> {
    T::from_words(&[number])
}

/// Up to 64 flags in a word, the first in the lowest bit.
fn flags<const N: usize>(flags: [bool; N]) -> u64 {
    flags.into_iter().rev().fold(0, |word, flag| word << 1 | u64::from(flag))
}

/// The flags in a word; `None` if others are set too.
fn unflags<const N: usize>(mut word: u64) -> Option<[bool; N]> {
    let flags = [false; N].map(|_| {
        let flag = word & 1 != 0;
        word >>= 1;
        flag
    });
    (word == 0).then_some(flags)
}

/// The value, if the flag says that there is one. A word that is not 0 without its flag has no structure.
fn option(flag: bool, word: u64) -> Option<Option<u64>> {
    match (flag, word) {
        (true, word) => Some(Some(word)),
        (false, 0) => Some(None),
        (false, _) => None,
    }
}

fn nanos(at: Option<Instant>) -> u64 {
    at.map_or(0, Instant::as_nanos)
}

impl Words<13> for PathState {
    fn words(&self) -> [u64; 13] {
        let Self {
            now,
            bytes_in_flight,
            prior_bytes_in_flight,
            delivered,
            lost,
            next_number,
            oldest_outstanding,
            rtt,
            max_datagram_size,
            app_limited,
            handshake_ready,
        } = *self;
        let of_rtt = |part: fn(PathRtt) -> Duration| rtt.map_or(0, |rtt| part(rtt).as_nanos());
        [
            now.as_nanos(),
            bytes_in_flight,
            prior_bytes_in_flight,
            delivered,
            lost,
            next_number,
            oldest_outstanding.unwrap_or(0),
            of_rtt(|rtt| rtt.latest),
            of_rtt(|rtt| rtt.smoothed),
            of_rtt(|rtt| rtt.min),
            of_rtt(|rtt| rtt.var),
            max_datagram_size,
            flags([oldest_outstanding.is_some(), rtt.is_some(), app_limited, handshake_ready]),
        ]
    }

    fn from_words(words: &[u64; 13]) -> Option<Self> {
        let [now, bytes_in_flight, prior, delivered, lost, next_number, oldest, rtt @ .., size, flags] =
            *words;
        let [has_oldest, has_rtt, app_limited, handshake_ready] = unflags(flags)?;
        let [latest, smoothed, min, var] = rtt.map(Duration::from_nanos);
        Some(Self {
            now: Instant::from_nanos(now),
            bytes_in_flight,
            prior_bytes_in_flight: prior,
            delivered,
            lost,
            next_number,
            oldest_outstanding: option(has_oldest, oldest)?,
            rtt: if has_rtt {
                Some(PathRtt { latest, smoothed, min, var })
            } else if rtt == [0; 4] {
                None
            } else {
                return None;
            },
            max_datagram_size: size,
            app_limited,
            handshake_ready,
        })
    }
}

impl Words<5> for SentPacket {
    fn words(&self) -> [u64; 5] {
        let Self { number: sequence, space, bytes, in_flight, sent_at, carries_data } = *self;
        [sequence, number(space), bytes, sent_at.as_nanos(), flags([in_flight, carries_data])]
    }

    fn from_words(&[number, space, bytes, sent_at, flags]: &[u64; 5]) -> Option<Self> {
        let [in_flight, carries_data] = unflags(flags)?;
        let sent_at = Instant::from_nanos(sent_at);
        Some(Self { number, space: variant(space)?, bytes, in_flight, sent_at, carries_data })
    }
}

impl Words<6> for PacketSnapshot {
    fn words(&self) -> [u64; 6] {
        let Self { delivered, delivered_at, first_sent_at, lost, bytes_in_flight, app_limited } = *self;
        let flags = flags([delivered_at.is_some(), app_limited]);
        [delivered, nanos(delivered_at), first_sent_at.as_nanos(), lost, bytes_in_flight, flags]
    }

    fn from_words(words: &[u64; 6]) -> Option<Self> {
        let [delivered, delivered_at, first_sent_at, lost, bytes_in_flight, flags] = *words;
        let [has_time, app_limited] = unflags(flags)?;
        Some(Self {
            delivered,
            delivered_at: option(has_time, delivered_at)?.map(Instant::from_nanos),
            first_sent_at: Instant::from_nanos(first_sent_at),
            lost,
            bytes_in_flight,
            app_limited,
        })
    }
}

/// The words of a snapshot that may not be there, and whether it is.
fn optional_snapshot(snapshot: Option<PacketSnapshot>) -> [u64; 6] {
    snapshot.map_or([0; 6], |snapshot| snapshot.words())
}

fn snapshot_of(flag: bool, words: &[u64; 6]) -> Option<Option<PacketSnapshot>> {
    match flag {
        true => PacketSnapshot::from_words(words).map(Some),
        false => (*words == [0; 6]).then_some(None),
    }
}

impl Words<13> for AckedPacket {
    fn words(&self) -> [u64; 13] {
        let Self { number: sequence, space, sent_at, bytes, packets, received_at, snapshot, was_lost } =
            *self;
        let has = flags([
            sequence.is_some(),
            packets.is_some(),
            received_at.is_some(),
            snapshot.is_some(),
            was_lost,
        ]);
        let [a, b, c, d, e, f] = optional_snapshot(snapshot);
        [
            sequence.unwrap_or(0),
            number(space),
            sent_at.as_nanos(),
            bytes,
            u64::from(packets.unwrap_or(0)),
            received_at.map_or(0, PeerInstant::as_nanos),
            a,
            b,
            c,
            d,
            e,
            f,
            has,
        ]
    }

    fn from_words(words: &[u64; 13]) -> Option<Self> {
        let [number, space, sent_at, bytes, packets, received_at, snapshot @ .., has] = *words;
        let [has_number, has_packets, has_time, has_snapshot, was_lost] = unflags(has)?;
        let packets = match option(has_packets, packets)? {
            Some(packets) => Some(u32::try_from(packets).ok()?),
            None => None,
        };
        Some(Self {
            number: option(has_number, number)?,
            space: variant(space)?,
            sent_at: Instant::from_nanos(sent_at),
            bytes,
            packets,
            received_at: option(has_time, received_at)?.map(PeerInstant::from_nanos),
            snapshot: snapshot_of(has_snapshot, &snapshot)?,
            was_lost,
        })
    }
}

impl Words<11> for LostPacket {
    fn words(&self) -> [u64; 11] {
        let Self { number: sequence, space, sent_at, bytes, snapshot, starts_run } = *self;
        let has = flags([
            sequence.is_some(),
            snapshot.is_some(),
            starts_run.is_some(),
            starts_run.unwrap_or(false),
        ]);
        let [a, b, c, d, e, f] = optional_snapshot(snapshot);
        [sequence.unwrap_or(0), number(space), sent_at.as_nanos(), bytes, a, b, c, d, e, f, has]
    }

    fn from_words(words: &[u64; 11]) -> Option<Self> {
        let [number, space, sent_at, bytes, snapshot @ .., has] = *words;
        let [has_number, has_snapshot, has_run, starts_run] = unflags(has)?;
        Some(Self {
            number: option(has_number, number)?,
            space: variant(space)?,
            sent_at: Instant::from_nanos(sent_at),
            bytes,
            snapshot: snapshot_of(has_snapshot, &snapshot)?,
            starts_run: match (has_run, starts_run) {
                (true, starts_run) => Some(starts_run),
                (false, false) => None,
                (false, true) => return None,
            },
        })
    }
}

impl Words<16> for RateSample {
    fn words(&self) -> [u64; 16] {
        let Self {
            number,
            sent_at,
            snapshot,
            delivered,
            send_interval,
            ack_interval,
            lost_since_sent,
            newly_acked,
            newly_lost,
            late_acked,
            app_limited,
            moved_reference,
        } = *self;
        let [a, b, c, d, e, f] = snapshot.words();
        [
            number.unwrap_or(0),
            sent_at.as_nanos(),
            a,
            b,
            c,
            d,
            e,
            f,
            delivered,
            send_interval.as_nanos(),
            ack_interval.as_nanos(),
            lost_since_sent,
            newly_acked,
            newly_lost,
            late_acked,
            flags([number.is_some(), app_limited, moved_reference]),
        ]
    }

    fn from_words(words: &[u64; 16]) -> Option<Self> {
        let [number, sent_at, rest @ ..] = *words;
        let [a, b, c, d, e, f, rest @ ..] = rest;
        let [delivered, send, ack, lost_since_sent, newly_acked, newly_lost, late_acked, flags] = rest;
        let [has_number, app_limited, moved_reference] = unflags(flags)?;
        Some(Self {
            number: option(has_number, number)?,
            sent_at: Instant::from_nanos(sent_at),
            snapshot: PacketSnapshot::from_words(&[a, b, c, d, e, f])?,
            delivered,
            send_interval: Duration::from_nanos(send),
            ack_interval: Duration::from_nanos(ack),
            lost_since_sent,
            newly_acked,
            newly_lost,
            late_acked,
            app_limited,
            moved_reference,
        })
    }
}

/// An ACK event without its packets and its sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckHead {
    /// `last`
    pub last: bool,
    /// `limited_by`
    pub limited_by: SendLimit,
    /// `max_bytes_in_flight`
    pub max_bytes_in_flight: u64,
    /// `app_limited_at`
    pub app_limited_at: Option<Instant>,
    /// `newest_data_sent_at`
    pub newest_data_sent_at: Option<Instant>,
    /// Whether there is a rate sample.
    pub has_sample: bool,
}

impl Words<5> for AckHead {
    fn words(&self) -> [u64; 5] {
        let Self { last, limited_by, max_bytes_in_flight, app_limited_at, newest_data_sent_at, has_sample } =
            *self;
        let has = flags([last, app_limited_at.is_some(), newest_data_sent_at.is_some(), has_sample]);
        [number(limited_by), max_bytes_in_flight, nanos(app_limited_at), nanos(newest_data_sent_at), has]
    }

    fn from_words(&[limited_by, max, app_limited_at, data, has]: &[u64; 5]) -> Option<Self> {
        let [last, has_app_limited, has_data, has_sample] = unflags(has)?;
        Some(Self {
            last,
            limited_by: variant(limited_by)?,
            max_bytes_in_flight: max,
            app_limited_at: option(has_app_limited, app_limited_at)?.map(Instant::from_nanos),
            newest_data_sent_at: option(has_data, data)?.map(Instant::from_nanos),
            has_sample,
        })
    }
}

/// A loss event without its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossHead {
    /// `last`
    pub last: bool,
    /// `persistent_congestion`
    pub persistent_congestion: bool,
    /// `cause`
    pub cause: Option<LossCause>,
}

impl Words<2> for LossHead {
    fn words(&self) -> [u64; 2] {
        let cause = match self.cause {
            None => 0,
            Some(LossCause::Ack) => 1,
            Some(LossCause::Timer) => 2,
        };
        [cause, flags([self.last, self.persistent_congestion])]
    }

    fn from_words(&[cause, flags]: &[u64; 2]) -> Option<Self> {
        let [last, persistent_congestion] = unflags(flags)?;
        let cause = match cause {
            0 => None,
            1 => Some(LossCause::Ack),
            2 => Some(LossCause::Timer),
            _ => return None,
        };
        Some(Self { last, persistent_congestion, cause })
    }
}

impl Words<8> for EcnEvent {
    fn words(&self) -> [u64; 8] {
        let Self { space, ce, ect0, ect1, newly_acked, largest_acked, largest_acked_sent_at } = *self;
        let has = [ce, ect0, ect1, newly_acked, largest_acked].map(|count| count.is_some());
        let [a, b, c, d, e] = [ce, ect0, ect1, newly_acked, largest_acked].map(|count| count.unwrap_or(0));
        [number(space), a, b, c, d, e, largest_acked_sent_at.as_nanos(), flags(has)]
    }

    fn from_words(&[space, ce, ect0, ect1, acked, largest, sent_at, has]: &[u64; 8]) -> Option<Self> {
        let [has_ce, has_ect0, has_ect1, has_acked, has_largest] = unflags(has)?;
        Some(Self {
            space: variant(space)?,
            ce: option(has_ce, ce)?,
            ect0: option(has_ect0, ect0)?,
            ect1: option(has_ect1, ect1)?,
            newly_acked: option(has_acked, acked)?,
            largest_acked: option(has_largest, largest)?,
            largest_acked_sent_at: Instant::from_nanos(sent_at),
        })
    }
}

impl Words<4> for RttEvent {
    fn words(&self) -> [u64; 4] {
        let Self { space, latest, ack_delay, is_sample, is_first } = *self;
        let delay = ack_delay.map_or(0, Duration::as_nanos);
        [number(space), latest.as_nanos(), delay, flags([ack_delay.is_some(), is_sample, is_first])]
    }

    fn from_words(&[space, latest, delay, has]: &[u64; 4]) -> Option<Self> {
        let [has_delay, is_sample, is_first] = unflags(has)?;
        Some(Self {
            space: variant(space)?,
            latest: Duration::from_nanos(latest),
            ack_delay: option(has_delay, delay)?.map(Duration::from_nanos),
            is_sample,
            is_first,
        })
    }
}

impl Words<1> for Duration {
    fn words(&self) -> [u64; 1] {
        [self.as_nanos()]
    }

    fn from_words(&[nanos]: &[u64; 1]) -> Option<Self> {
        Some(Self::from_nanos(nanos))
    }
}

impl Words<4> for SpuriousLoss {
    fn words(&self) -> [u64; 4] {
        match *self {
            Self::Packet { number, sent_at, bytes } => {
                [number.unwrap_or(0), sent_at.as_nanos(), bytes, flags([true, number.is_some()])]
            }
            Self::All => [0; 4],
        }
    }

    fn from_words(words: &[u64; 4]) -> Option<Self> {
        let [number, sent_at, bytes, has] = *words;
        let [is_packet, has_number] = unflags(has)?;
        if !is_packet {
            return (*words == [0; 4]).then_some(Self::All);
        }
        let number = option(has_number, number)?;
        Some(Self::Packet { number, sent_at: Instant::from_nanos(sent_at), bytes })
    }
}

impl Words<2> for ResumeHint {
    fn words(&self) -> [u64; 2] {
        [self.cwnd, self.rtt.as_nanos()]
    }

    fn from_words(&[cwnd, rtt]: &[u64; 2]) -> Option<Self> {
        Some(Self { cwnd, rtt: Duration::from_nanos(rtt) })
    }
}

impl Words<2> for AckPolicy {
    fn words(&self) -> [u64; 2] {
        [self.packets, self.max_ack_delay.as_nanos()]
    }

    fn from_words(&[packets, delay]: &[u64; 2]) -> Option<Self> {
        Some(Self { packets, max_ack_delay: Duration::from_nanos(delay) })
    }
}

/// Bytes that left the flight, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Discarded {
    /// How many.
    pub bytes: u64,
    /// Why.
    pub reason: DiscardReason,
}

impl Words<2> for Discarded {
    fn words(&self) -> [u64; 2] {
        [self.bytes, number(self.reason)]
    }

    fn from_words(&[bytes, reason]: &[u64; 2]) -> Option<Self> {
        Some(Self { bytes, reason: variant(reason)? })
    }
}

impl Words<4> for TraceSetup {
    fn words(&self) -> [u64; 4] {
        let Self { max_datagram_size, initial_window, paces, fast_convergence, seed } = *self;
        [max_datagram_size, initial_window, seed, flags([paces, fast_convergence])]
    }

    fn from_words(&[max_datagram_size, initial_window, seed, has]: &[u64; 4]) -> Option<Self> {
        let [paces, fast_convergence] = unflags(has)?;
        Some(Self { max_datagram_size, initial_window, paces, fast_convergence, seed })
    }
}
