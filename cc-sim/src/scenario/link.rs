//! The path: a timeline of its parameters, queues, jitter.

use crate::Algorithm;
use std::borrow::Cow;

/// The states that the link goes through. There is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTimeline {
    /// States in order of time.
    pub states: Vec<LinkState>,
    /// Whether the first state follows the last one (else the last one stays for ever).
    pub repeat: bool,
}

/// One state of the link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkState {
    /// How long it lasts, in microseconds; `None` (only in the last state) for "for ever".
    pub duration_us: Option<u64>,
    /// Rate of the direction from the data sender to the data receiver, in bits per second; 0 suspends it.
    pub down_bps: u64,
    /// Rate of the other direction, in bits per second; 0 suspends it.
    pub up_bps: u64,
    /// Propagation delay each way, in microseconds.
    pub latency_us: u64,
    /// What the queue of the direction from the data sender to the data receiver holds.
    pub queue: QueueLimit,
    /// What the queue of the other direction holds.
    pub up_queue: QueueLimit,
    /// Jitter added to the propagation delay. Packets are never reordered: a late one holds back later ones.
    pub jitter: Jitter,
    /// Of the packets from the data sender to the data receiver, how many of a million are lost after they have been
    /// serialised, each for itself.
    pub loss_ppm: u32,
    /// The same of the other direction: the ACKs of the main flow.
    pub up_loss_ppm: u32,
}

impl LinkState {
    /// A state that lasts for ever, the same both ways, without jitter and loss.
    #[must_use]
    pub fn constant(bps: u64, latency_us: u64, queue: QueueLimit) -> Self {
        Self {
            duration_us: None,
            down_bps: bps,
            up_bps: bps,
            latency_us,
            queue,
            up_queue: queue,
            jitter: Jitter::None,
            loss_ppm: 0,
            up_loss_ppm: 0,
        }
    }
}

/// A queue that the link has in all states and both ways if the main flow has this algorithm, in the place of theirs: some
/// rows of the draft's tables were run with a buffer for each algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFor {
    /// The main flow's algorithm.
    pub algorithm: Algorithm,
    /// What the queues hold.
    pub queue: QueueLimit,
}

impl LinkTimeline {
    /// The timeline for a main flow of `algorithm`.
    #[must_use]
    pub fn with_queue_for(&self, algorithm: Algorithm, queues: &[QueueFor]) -> Cow<'_, Self> {
        let Some(other) = queues.iter().find(|other| other.algorithm == algorithm) else {
            return Cow::Borrowed(self);
        };
        let mut timeline = self.clone();
        for state in &mut timeline.states {
            (state.queue, state.up_queue) = (other.queue, other.queue);
        }
        Cow::Owned(timeline)
    }
}

/// When a packet that arrives at the queue is dropped (tail drop).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// If the waiting time, packet in service included, is this long already (sim_model section 2).
    DelayUs(u64),
    /// If the bytes waiting, what is left of the packet in service included, would exceed this.
    Bytes(u64),
    /// Never.
    Unlimited,
}

/// Jitter of the propagation delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// None.
    None,
    /// Mean `mean_us`, standard deviation a third of it, never below 0: the sum of 12 uniforms minus 6, cut at
    /// -3 (sim_model section 3).
    Gauss {
        /// Mean in microseconds.
        mean_us: u64,
    },
    /// Of Wi-Fi among neighbours on the same channel (draft-huitema-ccwg-c4-test section 2.3): a number of intervals of 1 ms
    /// with the Poisson distribution of mean 1, at a random place in the last of them; and for a fraction of the packets a
    /// number of intervals of 7.5 ms with that of mean 12, spikes of 50 to 150 ms.
    Wifi {
        /// What the average is to be, in microseconds, from which that fraction follows: none up to 1 ms. The mean of the
        /// samples is a third of a millisecond less, that of the delays far more, since packets stay in order.
        average_us: u64,
        /// Whose constants.
        model: WifiModel,
    },
}

/// The two versions of the Wi-Fi jitter, for an average of `a` ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WifiModel {
    /// Of the runs behind the draft's tables: a fraction of `(a - 1) / 84` of the packets has spikes, at a random place in the
    /// last interval of 7.5 ms if there are two or more (sim_model section 3).
    Simulated,
    /// Of the draft's text: a fraction of `(a - 1) / 90`, at the end of an interval.
    Written,
}

impl WifiModel {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::Simulated, Self::Written];

    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulated => "wifi",
            Self::Written => "wifi_written",
        }
    }
}
