//! One-way queueing delay from the receive times of packets.
//!
//! For a packet sent at `s` on the sender's clock and received at `r` on the peer's, `r - s` is its one-way delay plus an
//! unknown constant, the offset of the clocks. Less the smallest such value of late, the constant falls out, and what is left
//! is the time that the packet queued on the *forward* path. A queue on the way back delays the ACK and not `r`.
//!
//! Source: Mascolo et al., "QUIC Delay Control" (arXiv 2507.00896). The paper adds up differences and clamps the sum at zero,
//! `q = max(0, q + (r_i - r_(i-1)) - (s_i - s_(i-1)))`, which is the same value with a base that never ages.

use crate::{Duration, Instant, PeerInstant};

/// Length of a bucket of the base. The base is the minimum of the running bucket and the one before, so that it looks back
/// between 5 and 10 s. Clocks that drift by 200 ppm are 2 ms apart by then.
const BUCKET: Duration = Duration::from_secs(5);

/// A bucket whose minimum lies higher than this above that of the one before never saw the queue drained, as far as can be told:
/// the same drift makes 1 ms of it. It does not become the base.
const STANDING: Duration = Duration::from_millis(5);

/// For at most so many buckets, 50 s: drift adds up meanwhile, and what stands for that long may be a longer route.
const MAX_HELD: u8 = 10;

/// A bucket that a drained queue may end early: half of one, so that the base is never younger than that for long.
const MIN_BUCKET: Duration = Duration::from_millis(2_500);

/// Where the delays come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelaySource {
    /// The peer's receive times: the queue of the forward path alone.
    ReceiveTimes,
    /// The arrival of ACKs less the reported ack delay: the queues of *both* directions, which this source cannot tell apart. A
    /// queue on the way back looks like one that the sender has caused.
    AckArrival,
}

/// Estimator of the one-way queueing delay (OWQD) of one network path. Integer, 40 bytes.
///
/// # What it withstands
///
/// - **Clock offset**: falls out. **Clock drift**: the base ages. At 200 ppm it is 2 ms off at most, and 12 ms while a queue
///   stands. Times are compared modulo 2^64 ns, as sequence numbers are, so an offset that wraps does no harm.
/// - **A queue that stands**: while no packet of 5 s comes within 5 ms of the base, the base stays, for up to 60 s.
/// - **A route that becomes shorter**: the base follows at once. **One that becomes longer** looks like a queue that stands; a
///   change that the stack knows of is told by [`reset`](Self::reset).
/// - **Reordering and duplicates**: a packet that was sent before the newest one seen gives no sample, so neither does a second
///   stamp of the same packet. Without numbers send times decide, and packets sent at the same time all count.
/// - **Missing stamps**: what is said of the samples holds for those that are there.
/// - **Quantised stamps**: the error of a stamp is an error of the sample. With the frames of draft-ietf-quic-receive-ts, whose
///   deltas are truncated to `2^exponent` us, it adds up within a frame: ask for exponent 0.
/// - **Hostile stamps**: any value is taken without a panic. A peer can hide a queue or invent one; what a controller does
///   with that is the controller's business.
///
/// # What it does not see
///
/// A queue that grows by less than 5 ms in 5 s looks like drift, and becomes the base. So does one that stands for longer than 60 s, and
/// one that was there at the first sample, until it drains for the first time. No reduction, loss or signal resets the base: that
/// would hide the queue of that moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneWayDelay {
    /// Smallest `r - s` of the running bucket, in nanoseconds modulo 2^64.
    current: i64,
    /// Of the bucket before, or of an older one that is held.
    previous: i64,
    bucket_began: Instant,
    /// Number of the newest packet that gave a sample, or its send time in nanoseconds.
    newest: u64,
    newest_is_number: bool,
    /// Whether the next sample is the first of its bucket.
    starts_bucket: bool,
    /// Buckets for which `previous` was held.
    held: u8,
    /// `None` before the first sample.
    source: Option<DelaySource>,
    /// OWQD of the newest sample in microseconds.
    queue_us: u32,
}

impl OneWayDelay {
    /// Before the first sample.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            current: 0,
            previous: 0,
            bucket_began: Instant::ZERO,
            newest: 0,
            newest_is_number: false,
            starts_bucket: false,
            held: 0,
            source: None,
            queue_us: 0,
        }
    }

    /// A packet was acked that the peer says it received at `received_at`. Call it for the packets of a frame in the order
    /// in which they were sent. Returns the OWQD of the packet, or `None` if it was sent before the newest one seen.
    ///
    /// The first receive time takes the place of ACK arrivals as the source, with a base of its own.
    pub fn on_received(
        &mut self,
        now: Instant,
        number: Option<u64>,
        sent_at: Instant,
        received_at: PeerInstant,
    ) -> Option<Duration> {
        let delay = received_at.as_nanos().wrapping_sub(sent_at.as_nanos()).cast_signed();
        self.on_sample(DelaySource::ReceiveTimes, now, number, sent_at, delay)
    }

    /// An ACK arrived whose newest packet was sent at `sent_at`, with the ack delay that the peer reported: the fallback
    /// for peers that report no receive times. Returns the OWQD, or `None` if there is no sample: receive
    /// times are the source, unless the last one is 5 to 10 s ago, or the packet was sent before the newest one seen.
    pub fn on_ack_arrival(
        &mut self,
        now: Instant,
        sent_at: Instant,
        ack_delay: Duration,
    ) -> Option<Duration> {
        let receives = self.source == Some(DelaySource::ReceiveTimes);
        if receives && now.since(self.bucket_began) < BUCKET.times(2) {
            return None;
        }
        let delay = now.since(sent_at).minus(ack_delay).as_nanos().cast_signed();
        self.on_sample(DelaySource::AckArrival, now, None, sent_at, delay)
    }

    /// A reaction has drained the queue, as far as anybody can tell: the base had better be renewed now than at a moment with a
    /// queue. Ends the running bucket if it is at least half of one old and has come close to the base. Does nothing
    /// before the first sample.
    pub fn on_drained(&mut self, now: Instant) {
        let is_due = now.since(self.bucket_began) >= MIN_BUCKET && !self.starts_bucket;
        if self.source.is_some() && is_due && !self.stands() {
            self.end_bucket(now);
            self.starts_bucket = true;
        }
    }

    /// The network path changed: nothing measured so far counts for it.
    pub const fn reset(&mut self) {
        *self = Self::new();
    }

    /// OWQD of the newest sample, in whole microseconds and at most 71 minutes; `None` before the first.
    #[must_use]
    pub fn queue(&self) -> Option<Duration> {
        self.source.map(|_| Duration::from_micros(u64::from(self.queue_us)))
    }

    /// Where the samples come from; `None` before the first.
    #[must_use]
    pub const fn source(&self) -> Option<DelaySource> {
        self.source
    }

    fn on_sample(
        &mut self,
        source: DelaySource,
        now: Instant,
        number: Option<u64>,
        sent_at: Instant,
        delay: i64,
    ) -> Option<Duration> {
        let is_first = self.source != Some(source);
        if !is_first && !self.is_in_order(number, sent_at) {
            return None;
        }
        self.newest = number.unwrap_or(sent_at.as_nanos());
        self.newest_is_number = number.is_some();
        if now < self.bucket_began {
            // A clock that went backwards must not stop the ageing until it has caught up.
            self.bucket_began = now;
        }
        let elapsed = now.since(self.bucket_began);
        let is_over = elapsed >= BUCKET;
        if is_first || elapsed >= BUCKET.times(2) || is_over && self.starts_bucket {
            // Nothing that is left is young enough.
            self.source = Some(source);
            self.bucket_began = now;
            (self.current, self.previous) = (delay, delay);
            self.held = 0;
        } else {
            if is_over {
                // Buckets lie back to back, so that no sample outlives two of them unless it is held.
                self.end_bucket(self.bucket_began.after(BUCKET));
            }
            if is_over || self.starts_bucket || is_less(delay, self.current) {
                self.current = delay;
            }
        }
        self.starts_bucket = false;
        let base = if is_less(self.previous, self.current) { self.previous } else { self.current };
        let queue = Duration::from_nanos(delay.wrapping_sub(base).max(0).unsigned_abs());
        self.queue_us = u32::try_from(queue.as_micros()).unwrap_or(u32::MAX);
        Some(queue)
    }

    /// Whether the running bucket saw nothing but a queue.
    fn stands(&self) -> bool {
        Duration::from_nanos(self.current.wrapping_sub(self.previous).max(0).unsigned_abs()) > STANDING
    }

    /// The running bucket is over. Its minimum takes the place of the one before, unless a queue stands.
    fn end_bucket(&mut self, next_begins: Instant) {
        if self.stands() && self.held < MAX_HELD {
            self.held = self.held.saturating_add(1);
        } else {
            self.previous = self.current;
            self.held = 0;
        }
        self.bucket_began = next_begins;
    }

    /// Whether the packet was sent after the newest one seen.
    fn is_in_order(&self, number: Option<u64>, sent_at: Instant) -> bool {
        match number {
            Some(number) if self.newest_is_number => number > self.newest,
            None if !self.newest_is_number => sent_at.as_nanos() >= self.newest,
            // The stack began to give numbers, or ceased to.
            _ => true,
        }
    }
}

impl Default for OneWayDelay {
    /// Before the first sample.
    fn default() -> Self {
        Self::new()
    }
}

/// Whether `a` is below `b`, modulo 2^64.
const fn is_less(a: i64, b: i64) -> bool {
    a.wrapping_sub(b) < 0
}

#[cfg(test)]
mod tests;
