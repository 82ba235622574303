//! One entry of the ring: a packet and its delivery state in 32 bytes.

use super::OutgoingPacket;
use crate::{Duration, Instant, PacketSnapshot, PacketSpace, division};

/// Stands for an age that does not exist: the packet has no reference point.
const NO_AGE: u32 = u32::MAX;
/// Set in an age that counts microseconds instead of nanoseconds.
const MICROS: u32 = 1 << 31;
/// Longest age in microseconds: 35 minutes.
const MAX_MICROS: u32 = MICROS - 2;

const STATE: u8 = 0b0000_0111;
const SPACE: u8 = 0b0001_1000;
const SPACE_HANDSHAKE: u8 = 0b0000_1000;
const SPACE_APPLICATION: u8 = 0b0001_0000;
const APP_LIMITED: u8 = 0b0010_0000;
const CARRIES_DATA: u8 = 0b0100_0000;
const ACK_ELICITING: u8 = 0b1000_0000;

/// What became of a packet that was sent in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum State {
    /// In flight.
    Outstanding = 0,
    /// In flight before the frame that is being collected, which acks it.
    MarkedAcked = 1,
    /// In flight before the frame that is being collected, which loses it.
    MarkedLost = 2,
    /// Declared lost earlier; acked by the frame that is being collected.
    MarkedLate = 3,
    /// Acked.
    Acked = 4,
    /// Declared lost.
    Lost = 5,
    /// Left the network without being acked or lost.
    Discarded = 6,
}

/// A packet in the ring. Every entry is a packet in flight, so that no bit says so.
///
/// Delivered and lost totals are kept as their low 32 bits, and times other than the send time as ages at the
/// send: below 2.1 s in nanoseconds, above in microseconds (rounded up), saturating at 35 minutes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    sent_at: Instant,
    delivered: u32,
    lost: u32,
    /// Saturates at 4 GiB.
    bytes_in_flight: u32,
    delivered_age: u32,
    first_sent_age: u32,
    bytes: u16,
    flags: u8,
}

impl Entry {
    pub(super) fn new(packet: &OutgoingPacket, snapshot: &PacketSnapshot) -> Self {
        let mut flags = match packet.space {
            PacketSpace::Initial => 0,
            PacketSpace::Handshake => SPACE_HANDSHAKE,
            PacketSpace::Application => SPACE_APPLICATION,
        };
        for (set, bit) in [
            (snapshot.app_limited, APP_LIMITED),
            (packet.carries_data, CARRIES_DATA),
            (packet.ack_eliciting, ACK_ELICITING),
        ] {
            if set {
                flags |= bit;
            }
        }
        let (delivered_age, first_sent_age) = match snapshot.delivered_at {
            Some(delivered_at) => (
                encode_age(packet.sent_at.since(delivered_at)),
                encode_age(packet.sent_at.since(snapshot.first_sent_at)),
            ),
            None => (NO_AGE, NO_AGE),
        };
        Self {
            sent_at: packet.sent_at,
            delivered: low_32_bits(snapshot.delivered),
            lost: low_32_bits(snapshot.lost),
            bytes_in_flight: u32::try_from(snapshot.bytes_in_flight).unwrap_or(u32::MAX),
            delivered_age,
            first_sent_age,
            bytes: u16::try_from(packet.bytes).unwrap_or(u16::MAX),
            flags,
        }
    }

    /// The delivery state at the send, given the totals of now.
    pub(super) fn snapshot(&self, delivered: u64, lost: u64) -> PacketSnapshot {
        let (delivered, delivered_at, first_sent_at) = match self.delivered_age {
            // Without a reference point these are zero.
            NO_AGE => (0, None, Instant::ZERO),
            age => (
                expand(self.delivered, delivered),
                Some(self.sent_at.before(decode_age(age))),
                self.sent_at.before(decode_age(self.first_sent_age)),
            ),
        };
        PacketSnapshot {
            delivered,
            delivered_at,
            first_sent_at,
            lost: expand(self.lost, lost),
            bytes_in_flight: u64::from(self.bytes_in_flight),
            app_limited: self.has(APP_LIMITED),
        }
    }

    pub(super) const fn sent_at(&self) -> Instant {
        self.sent_at
    }

    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }

    pub(super) const fn space(&self) -> PacketSpace {
        match self.flags & SPACE {
            0 => PacketSpace::Initial,
            SPACE_HANDSHAKE => PacketSpace::Handshake,
            _ => PacketSpace::Application,
        }
    }

    pub(super) const fn carries_data(&self) -> bool {
        self.has(CARRIES_DATA)
    }

    pub(super) const fn ack_eliciting(&self) -> bool {
        self.has(ACK_ELICITING)
    }

    pub(super) const fn state(&self) -> State {
        match self.flags & STATE {
            0 => State::Outstanding,
            1 => State::MarkedAcked,
            2 => State::MarkedLost,
            3 => State::MarkedLate,
            4 => State::Acked,
            5 => State::Lost,
            _ => State::Discarded,
        }
    }

    pub(super) fn set_state(&mut self, state: State) {
        self.flags = (self.flags & !STATE) | (state as u8);
    }

    const fn has(&self, bit: u8) -> bool {
        self.flags & bit != 0
    }
}

fn low_32_bits(total: u64) -> u32 {
    u32::try_from(total & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

/// The total whose low 32 bits are `low`, at most 4 GiB before `now`.
fn expand(low: u32, now: u64) -> u64 {
    now.saturating_sub(u64::from(low_32_bits(now).wrapping_sub(low)))
}

fn encode_age(age: Duration) -> u32 {
    match u32::try_from(age.as_nanos()) {
        Ok(nanos) if nanos < MICROS => nanos,
        _ => {
            let micros = division::by_thousand(age.as_nanos().saturating_add(999));
            MICROS | u32::try_from(micros).unwrap_or(MAX_MICROS).min(MAX_MICROS)
        }
    }
}

/// The age; there must be one.
fn decode_age(age: u32) -> Duration {
    // No overflow: 31 bits times 10.
    let factor = if age < MICROS { 1 } else { 1_000 };
    Duration::from_nanos(u64::from(age & !MICROS).wrapping_mul(factor))
}

#[cfg(test)]
mod tests {
    use super::{Entry, MAX_MICROS, State, decode_age, encode_age, expand};
    use crate::{Duration, Instant, OutgoingPacket, PacketSnapshot, PacketSpace};
    use proptest::prelude::*;

    #[test]
    fn an_entry_takes_32_bytes() {
        assert_eq!(std::mem::size_of::<Entry>(), 32);
    }

    #[test]
    fn ages_are_exact_below_two_seconds_and_rounded_up_to_microseconds_above() {
        // 2^31 ns = 2 147 483 648 ns is the first age in microseconds.
        assert_eq!(decode_age(encode_age(Duration::ZERO)), Duration::ZERO);
        assert_eq!(
            decode_age(encode_age(Duration::from_nanos(2_147_483_647))),
            Duration::from_nanos(2_147_483_647)
        );
        assert_eq!(
            decode_age(encode_age(Duration::from_nanos(2_147_483_648))),
            Duration::from_micros(2_147_484)
        );
        let longest = Duration::from_micros(u64::from(MAX_MICROS));
        assert_eq!(decode_age(encode_age(Duration::from_secs(86_400))), longest);
        assert_eq!(decode_age(encode_age(Duration::MAX)), longest);
    }

    #[test]
    fn totals_expand_across_a_32_bit_boundary() {
        // 2^32 - 100 was stored as 0xFFFF_FF9C; the total is now 2^32 + 50.
        assert_eq!(expand(0xFFFF_FF9C, 0x1_0000_0032), 0xFFFF_FF9C);
        assert_eq!(expand(7, 7), 7);
    }

    fn snapshots() -> impl Strategy<Value = (OutgoingPacket, PacketSnapshot)> {
        let reference = proptest::option::of((0..2_147_483_648_u64, 0..2_147_483_648_u64));
        (
            (3_000_000_000..u64::MAX, 0..=65_535_u64, 0..3_u8, any::<[bool; 3]>()),
            (reference, any::<u64>(), any::<u64>(), any::<u32>()),
        )
            .prop_map(|((sent, bytes, space, flags), (reference, delivered, lost, in_flight))| {
                let packet = OutgoingPacket {
                    space: [PacketSpace::Initial, PacketSpace::Handshake, PacketSpace::Application]
                        [usize::from(space)],
                    bytes,
                    in_flight: true,
                    ack_eliciting: flags[0],
                    carries_data: flags[1],
                    sent_at: Instant::from_nanos(sent),
                };
                let snapshot = PacketSnapshot {
                    delivered: if reference.is_some() { delivered } else { 0 },
                    delivered_at: reference.map(|(age, _)| Instant::from_nanos(sent - age)),
                    first_sent_at: reference
                        .map_or(Instant::ZERO, |(_, age)| Instant::from_nanos(sent - age)),
                    lost,
                    bytes_in_flight: u64::from(in_flight),
                    app_limited: flags[2],
                };
                (packet, snapshot)
            })
    }

    proptest! {
        #[test]
        fn what_was_stored_comes_back(
            (packet, snapshot) in snapshots(), more in any::<u32>(), lost in any::<u32>(), state in 0..7_u8,
        ) {
            let state = [
                State::Outstanding, State::MarkedAcked, State::MarkedLost, State::MarkedLate, State::Acked,
                State::Lost, State::Discarded,
            ][usize::from(state)];
            let mut entry = Entry::new(&packet, &snapshot);
            entry.set_state(State::Discarded);
            entry.set_state(state);
            prop_assert_eq!(entry.state(), state);
            prop_assert_eq!(entry.space(), packet.space);
            prop_assert_eq!(entry.bytes(), packet.bytes);
            prop_assert_eq!(entry.sent_at(), packet.sent_at);
            prop_assert_eq!(entry.carries_data(), packet.carries_data);
            prop_assert_eq!(entry.ack_eliciting(), packet.ack_eliciting);
            let delivered = snapshot.delivered.checked_add(u64::from(more));
            let lost = snapshot.lost.checked_add(u64::from(lost));
            if let (Some(delivered), Some(lost)) = (delivered, lost) {
                prop_assert_eq!(entry.snapshot(delivered, lost), snapshot);
            }
        }
    }
}
