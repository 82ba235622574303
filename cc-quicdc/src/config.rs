//! Settings of the controllers.

use cc_core::{EcnCodepoint, IncreaseRule, MAX_DATAGRAM_SIZE, Setup, initial_window};

/// Largest window in bytes (1 TiB): more than a path of 1 Tbit/s holds in 8 s. It bounds the arithmetic.
pub const MAX_WINDOW: u64 = 1 << 40;

/// The minimum window in datagrams (RFC 9002 section 7.2, and the floor of every reaction).
const MIN_WINDOW_DATAGRAMS: u64 = 2;

/// The low-pass filter of the bandwidth estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BandwidthFilter {
    /// Two stages in series, each with a fifth of the old and four fifths of the new value: the authors' code.
    #[default]
    TwoStages,
    /// One such stage, which is what the paper quotes.
    OneStage,
    /// Two stages in series, each with seven eighths of the old and one eighth of the new value: Linux.
    Linux,
}

/// When a queue is a signal.
///
/// The paper's two modes need to know the buffer, and are here to be compared with. Both take a single sample above the
/// threshold for a signal, as the paper does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DelayMode {
    /// A threshold in time: a quarter of the smallest RTT of the path, from 5 to 25 ms, and at least what eight datagrams take at the
    /// estimated bandwidth. Losses lower it.
    #[default]
    Threshold,
    /// The paper's first mode: a fraction of the largest queue, which is the largest RTT of the time between the last
    /// two losses (the start counts as one) less the minimum RTT. There is no signal before the first loss.
    PaperFraction {
        /// The fraction in percent: 80; 10, 20 and 50 were also tried.
        percent: u8,
    },
    /// The paper's second mode, probe and cruise: 3 s without the signal, in which the largest queueing delay is recorded, and
    /// then 10 s with a fraction of it as the threshold.
    PaperProbe {
        /// The fraction in percent: 80.
        percent: u8,
    },
}

/// How a [`QuicDc`](crate::QuicDc) or a [`Westwood`](crate::Westwood) is set up. `..Config::default()` fills in the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Maximum datagram size at the start, in bytes; taken as at least 1 and at most 65527. Default 1200.
    pub max_datagram_size: u64,
    /// Initial window in bytes; `None` (default) for RFC 9002 section 7.2, computed anew when the handshake changes the
    /// datagram size. At least two datagrams and at most [`MAX_WINDOW`] are used; of one
    /// beyond 4 GiB the highest 32 bits count.
    pub initial_window: Option<u64>,
    /// Ask for ECT(0) on outgoing packets. Default true.
    pub ecn: bool,
    /// When the window may grow. Default RFC 9002 section 7.8.
    pub increase_rule: IncreaseRule,
    /// The filter of the bandwidth estimate.
    pub filter: BandwidthFilter,
    /// When a queue is a signal. [`Westwood`](crate::Westwood) has no use for it.
    pub delay: DelayMode,
    /// Whether the arrival of ACKs stands in for receive times that a peer does not report. It cannot tell a queue on the way back
    /// from one on the way there. Default true. [`Westwood`](crate::Westwood) has no use for it.
    pub ack_arrival: bool,
}

impl From<Setup> for Config {
    /// QUIC-DC takes its times from events, needs no RTT before the first sample (it does not pace until then), draws no random
    /// numbers, uses no saved window, and asks for ECT(0) where ECN is usable.
    fn from(setup: Setup) -> Self {
        Self {
            max_datagram_size: setup.max_datagram_size,
            initial_window: setup.initial_window,
            ecn: setup.ecn != EcnCodepoint::NotEct,
            ..Self::default()
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_datagram_size: 1_200,
            initial_window: None,
            ecn: true,
            increase_rule: IncreaseRule::Rfc9002,
            filter: BandwidthFilter::TwoStages,
            delay: DelayMode::Threshold,
            ack_arrival: true,
        }
    }
}

/// What a controller keeps of its configuration, with the current datagram size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// Bytes, shifted down by `initial_window_shift`; 0 for RFC 9002 section 7.2. In eight bytes it would not fit.
    initial_window: u32,
    initial_window_shift: u8,
    datagram: u16,
    pub(crate) ecn: bool,
    pub(crate) increase_rule: IncreaseRule,
    pub(crate) filter: BandwidthFilter,
    pub(crate) ack_arrival: bool,
}

impl Settings {
    pub(crate) fn new(config: &Config) -> Self {
        // 1 to 2^40 bytes: shifts of 0 to 9.
        let window = config.initial_window.map_or(0, |bytes| bytes.clamp(1, MAX_WINDOW));
        let shift = u32::BITS.saturating_sub(window.leading_zeros());
        Self {
            initial_window: u32::try_from(window >> shift).unwrap_or(u32::MAX),
            initial_window_shift: u8::try_from(shift).unwrap_or(0),
            datagram: clamp_datagram(config.max_datagram_size),
            ecn: config.ecn,
            increase_rule: config.increase_rule,
            filter: config.filter,
            ack_arrival: config.ack_arrival,
        }
    }

    /// Maximum datagram size in bytes, 1 to 65527.
    pub(crate) const fn datagram(&self) -> u64 {
        self.datagram as u64
    }

    /// Sets the maximum datagram size; returns whether it changed.
    pub(crate) fn set_datagram(&mut self, bytes: u64) -> bool {
        let datagram = clamp_datagram(bytes);
        core::mem::replace(&mut self.datagram, datagram) != datagram
    }

    /// RFC 9002 section 7.2.
    pub(crate) const fn min_window(&self) -> u64 {
        self.datagram().saturating_mul(MIN_WINDOW_DATAGRAMS)
    }

    pub(crate) fn initial_window(&self) -> u64 {
        let bytes = if self.initial_window == 0 {
            initial_window(self.datagram())
        } else {
            u64::from(self.initial_window) << self.initial_window_shift
        };
        bytes.clamp(self.min_window(), MAX_WINDOW)
    }
}

fn clamp_datagram(bytes: u64) -> u16 {
    u16::try_from(bytes.clamp(1, MAX_DATAGRAM_SIZE)).unwrap_or(u16::MAX)
}
