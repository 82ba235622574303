//! A sender of audio and video in real time, in the place of a bulk transfer.

/// What the main flow's data sender produces while the connection lasts, and what is noted of it.
///
/// The client asks for all streams right after its handshake, at T0. The data sender starts each when the request
/// arrives, at S0, and has unit number k (a datagram or a video frame) ready at S0 + k/f. The delay of a unit is what
/// passes from T0 + k/f until the client has its last byte, and everything before it in its group: one RTT at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// Virtual time from which units count, in microseconds: those that the client expects before do not.
    pub stats_from_us: u64,
    /// Whether this time is for frames only, and datagrams count from the first one (false).
    pub all_datagrams_count: bool,
    /// Whether the data sender has one timer for all streams, which the last stream that waits for its next frame sets,
    /// even if a datagram is due before (false: each stream is on time).
    pub one_timer: bool,
    /// The streams, in the order in which they are asked for.
    pub streams: Vec<MediaStream>,
}

/// A stream of units at a constant rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaStream {
    /// Its name.
    pub name: String,
    /// How its units travel.
    pub kind: MediaKind,
    /// Streams of a lower number are sent first. Those of one even number take turns, packet by packet; those of one odd
    /// number are sent in the order in which they were asked for.
    pub priority: u8,
    /// Units per second, f.
    pub per_second: u64,
    /// Number of units.
    pub units: u64,
    /// Bytes of a unit, of each but the first of a group.
    pub unit_bytes: u64,
    /// Whether its delays are part of the average and of the maximum of a run.
    pub counts: bool,
}

/// How the units of a stream travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// Each in a QUIC datagram of its own (RFC 9221), which is not repeated if it gets lost.
    Datagrams,
    /// Frames in groups, a QUIC stream for each group. The client asks for group g at T0 plus the time of its first frame,
    /// however far the groups before are.
    Frames {
        /// Frames of a group.
        group: u64,
        /// Bytes of its first frame.
        first_bytes: u64,
        /// If a frame (not the last of a group) is complete more than this and the time of one frame late, in
        /// microseconds, the client gives the rest of the group up (STOP_SENDING).
        stop_after_us: Option<u64>,
    },
}

impl MediaStream {
    /// How many groups there are; datagrams are one.
    #[must_use]
    pub fn groups(&self) -> u64 {
        match self.kind {
            MediaKind::Datagrams => 1,
            MediaKind::Frames { group, .. } => self.units.div_ceil(group.max(1)),
        }
    }

    /// Units of group number `group`.
    #[must_use]
    pub fn units_of(&self, group: u64) -> u64 {
        match self.kind {
            MediaKind::Datagrams => self.units,
            MediaKind::Frames { group: size, .. } => {
                size.min(self.units.saturating_sub(size.saturating_mul(group)))
            }
        }
    }

    /// Bytes of unit number `unit` of a group.
    #[must_use]
    pub fn bytes_of(&self, unit: u64) -> u64 {
        match self.kind {
            MediaKind::Frames { first_bytes, .. } if unit == 0 => first_bytes,
            MediaKind::Frames { .. } | MediaKind::Datagrams => self.unit_bytes,
        }
    }

    /// Bytes of the first `units` units of a group.
    #[must_use]
    pub fn bytes_until(&self, units: u64) -> u64 {
        match units.checked_sub(1) {
            None => 0,
            Some(others) => self.bytes_of(0).saturating_add(others.saturating_mul(self.unit_bytes)),
        }
    }

    /// From the start of a group to its unit number `unit`, in microseconds, rounded down.
    #[must_use]
    pub fn time_of(&self, unit: u64) -> u64 {
        unit.saturating_mul(1_000_000) / self.per_second.max(1)
    }
}

impl Media {
    /// Bytes of all units.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        let groups = self.streams.iter().flat_map(|stream| (0..stream.groups()).map(move |g| (stream, g)));
        groups.map(|(stream, group)| stream.bytes_until(stream.units_of(group))).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::{Media, MediaKind, MediaStream};

    fn video(units: u64) -> MediaStream {
        MediaStream {
            name: "video".to_owned(),
            kind: MediaKind::Frames { group: 30, first_bytes: 37_500, stop_after_us: None },
            priority: 4,
            per_second: 30,
            units,
            unit_bytes: 3_750,
            counts: true,
        }
    }

    #[test]
    fn frames_come_in_groups_that_begin_with_a_large_one() {
        let video = video(70);
        assert_eq!(video.groups(), 3);
        assert_eq!([0, 1, 2, 3].map(|group| video.units_of(group)), [30, 30, 10, 0]);
        assert_eq!([0, 1, 29].map(|unit| video.bytes_of(unit)), [37_500, 3_750, 3_750]);
        // 37 500 + 29 * 3750; of one frame, and of none.
        assert_eq!([30, 1, 0].map(|units| video.bytes_until(units)), [146_250, 37_500, 0]);
        // 1/30 s, 2/30 s and 29/30 s in whole microseconds.
        assert_eq!(
            [0, 1, 2, 29, 30].map(|unit| video.time_of(unit)),
            [0, 33_333, 66_666, 966_666, 1_000_000]
        );
    }

    #[test]
    fn datagrams_are_one_group_of_equal_units() {
        let audio = MediaStream { kind: MediaKind::Datagrams, per_second: 50, unit_bytes: 80, ..video(250) };
        assert_eq!((audio.groups(), audio.units_of(0), audio.bytes_of(0)), (1, 250, 80));
        assert_eq!((audio.time_of(249), audio.bytes_until(250)), (4_980_000, 20_000));
        let streams = vec![audio, video(70)];
        let media = Media { stats_from_us: 0, all_datagrams_count: false, one_timer: false, streams };
        // 20 000 + 2 * 146 250 + 37 500 + 9 * 3750.
        assert_eq!(media.total_bytes(), 383_750);
    }
}
