//! The `[media]` table, in the place of `[transfer]`.

use super::check::{BYTES, COUNT, Checker, DAY_US, MINUTE_US, MS};
use super::flows::SIZE_BYTES;
use super::raw::{RawMedia, RawMediaStream, RawScenario};
use crate::scenario::{Endpoint, Media, MediaKind, MediaStream, ScenarioError, Transfer};
use std::ops::RangeInclusive;

const MAX_STREAMS: usize = 16;
const MAX_NAME: usize = 32;
/// All bytes of a byte.
const PRIORITY: RangeInclusive<u64> = 0..=255;
const PER_SECOND: RangeInclusive<u64> = 1..=1_000;
const UNITS: RangeInclusive<u64> = 1..=1_000_000;
/// A unit has a time stamp of 8 bytes (sim_model section 6); a datagram fits into the smallest packet.
const DATAGRAM_BYTES: RangeInclusive<u64> = 8..=1_000;
const FRAME_BYTES: RangeInclusive<u64> = 8..=10_000_000;

impl Checker<'_> {
    /// What the main flow does: a bulk transfer or audio and video.
    pub(super) fn main_flow(
        &self,
        raw: &RawScenario,
        endpoint: &Endpoint,
        time_limit_us: u64,
    ) -> Result<(Transfer, Option<Media>), ScenarioError> {
        match (&raw.transfer, &raw.media) {
            (Some(raw), None) => {
                let numbers = (raw.size_bytes, raw.start_ms, raw.access_ms);
                Ok((self.transfer("transfer", numbers, time_limit_us)?, None))
            }
            (None, Some(raw)) => {
                let media = self.media(raw, endpoint)?;
                let (start_us, access_us) =
                    self.path_of("media", raw.start_ms, raw.access_ms, time_limit_us)?;
                Ok((Transfer { bytes: media.total_bytes(), start_us, access_us }, Some(media)))
            }
            (Some(_), Some(_)) => {
                Err(self.error("media", "given with transfer (allowed: one of [transfer], [media])"))
            }
            (None, None) => Err(self.error("scenario", "missing field `transfer` (or `media`)")),
        }
    }

    fn media(&self, raw: &RawMedia, endpoint: &Endpoint) -> Result<Media, ScenarioError> {
        let count = raw.stream.len();
        if !(1..=MAX_STREAMS).contains(&count) {
            return Err(self.error("media.stream", &format!("{count} streams (allowed: 1..={MAX_STREAMS})")));
        }
        let streams = raw.stream.iter().enumerate();
        let streams: Vec<_> =
            streams.map(|(i, stream)| self.media_stream(i, stream, endpoint)).collect::<Result<_, _>>()?;
        if !streams.iter().any(|stream| stream.counts) {
            return Err(
                self.error("media.stream", "none that counts (allowed: counts = true in one at least)")
            );
        }
        let media = Media {
            stats_from_us: self.or("media.stats_from_ms", raw.stats_from_ms, MS, 0..=DAY_US, 0)?,
            all_datagrams_count: raw.all_datagrams_count,
            one_timer: raw.one_timer,
            streams,
        };
        if !SIZE_BYTES.contains(&media.total_bytes()) {
            let problem =
                format!("{} bytes in all (allowed: {} at most)", media.total_bytes(), SIZE_BYTES.end());
            return Err(self.error("media.stream", &problem));
        }
        Ok(media)
    }

    fn media_stream(
        &self,
        i: usize,
        raw: &RawMediaStream,
        endpoint: &Endpoint,
    ) -> Result<MediaStream, ScenarioError> {
        let field = |name: &str| format!("media.stream[{i}].{name}");
        let name_ok = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if raw.name.is_empty() || raw.name.len() > MAX_NAME || !raw.name.chars().all(name_ok) {
            let problem = format!("`{}` (allowed: 1..={MAX_NAME} of A-Z a-z 0-9 _ -)", raw.name);
            return Err(self.error(&field("name"), &problem));
        }
        let units = self.number(&field("units"), raw.units, COUNT, UNITS)?;
        let per_second = self.number(&field("per_second"), raw.per_second, COUNT, PER_SECOND)?;
        let (kind, sizes) = match raw.kind.as_str() {
            "datagrams" => {
                let of_frames = [
                    ("group", raw.group.is_some()),
                    ("first_bytes", raw.first_bytes.is_some()),
                    ("stop_after_ms", raw.stop_after_ms.is_some()),
                ];
                if let Some((name, _)) = of_frames.into_iter().find(|(_, is_given)| *is_given) {
                    return Err(self.error(&field(name), "given with datagrams (allowed: with frames only)"));
                }
                (MediaKind::Datagrams, DATAGRAM_BYTES)
            }
            "frames" => (self.frames(i, raw, units)?, FRAME_BYTES),
            other => {
                let problem = format!("`{other}` (allowed: datagrams, frames)");
                return Err(self.error(&field("kind"), &problem));
            }
        };
        let stream = MediaStream {
            name: raw.name.clone(),
            kind,
            // Within a byte.
            priority: self.number(&field("priority"), raw.priority, COUNT, PRIORITY)? as u8,
            per_second,
            units,
            unit_bytes: self.number(&field("unit_bytes"), raw.unit_bytes, BYTES, sizes)?,
            counts: raw.counts.unwrap_or(true),
        };
        // A window of a QUIC stream does not grow: a group is a stream, and short.
        let (group, most) = (stream.bytes_until(stream.units_of(0)), endpoint.initial_max_stream_data);
        if kind != MediaKind::Datagrams && group > most {
            let problem = format!(
                "{group} bytes in a group (allowed: 8..={most}, endpoint.initial_max_stream_data_bytes)"
            );
            return Err(self.error(&field("unit_bytes"), &problem));
        }
        Ok(stream)
    }

    fn frames(&self, i: usize, raw: &RawMediaStream, units: u64) -> Result<MediaKind, ScenarioError> {
        let field = |name: &str| format!("media.stream[{i}].{name}");
        let first = raw.first_bytes.unwrap_or(raw.unit_bytes);
        let stop = raw.stop_after_ms.map(|ms| self.number(&field("stop_after_ms"), ms, MS, 0..=MINUTE_US));
        Ok(MediaKind::Frames {
            group: self.or(&field("group"), raw.group, COUNT, UNITS, units)?,
            first_bytes: self.number(&field("first_bytes"), first, BYTES, FRAME_BYTES)?,
            stop_after_us: stop.transpose()?,
        })
    }
}
