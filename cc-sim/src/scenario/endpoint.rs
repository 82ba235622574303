//! What both endpoints of a connection do.

use cc_core::EcnCodepoint;

/// Parameters of the endpoints; the defaults are those of sim_model section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Datagram size before the path MTU probe is acknowledged, in bytes (1252).
    pub initial_mtu: u64,
    /// Size of the path MTU probe and of datagrams after it is acknowledged, in bytes (1440).
    pub mtu: u64,
    /// Bytes of a data packet that are not stream data: header, frame header and AEAD tag (34).
    pub overhead: u64,
    /// Size of a packet that carries no data, in bytes (55).
    pub ack_size: u64,
    /// Initial window in bytes (15 360).
    pub initial_window: u64,
    /// Whether the last packet before the window is full may exceed it (true: blocked only if the bytes in
    /// flight already exceed the window; sim_model section 5.5).
    pub may_overshoot: bool,
    /// Largest ACK delay, in microseconds (10 000).
    pub max_ack_delay_us: u64,
    /// Smallest ACK delay, in microseconds (1 000).
    pub min_ack_delay_us: u64,
    /// Packets after the start that are acknowledged two by two, whatever was asked for (128).
    pub quick_ack_packets: u64,
    /// Most ranges in an ACK frame, always those of the newest packets (33: the first one and 32 others). The
    /// simulator behind the tables fills a frame with the ranges that it has sent least often instead. A frame has the
    /// size `ack_size` however many ranges it holds.
    pub max_ack_ranges: u64,
    /// Packet threshold of loss detection (3).
    pub packet_threshold: u64,
    /// Full-size packets lost in a row, with none acknowledged in between, that are still no sign of a path MTU that
    /// has become smaller; one more and datagrams have the initial size again (10).
    pub mtu_losses: u64,
    /// Handshake timer before the first RTT sample, in microseconds (250 000).
    pub initial_pto_us: u64,
    /// Cap of the backed-off probe timeout, in microseconds (2 000 000).
    pub max_pto_us: u64,
    /// Connection-level flow-control window at the start, in bytes (1 MiB).
    pub initial_max_data: u64,
    /// Stream-level flow-control window at the start, in bytes (2 MiB).
    pub initial_max_stream_data: u64,
    /// RTT, in microseconds, up to which flow-control windows grow by themselves once per 100 ms of it (610 000); on a
    /// longer path they grow as on one of this RTT.
    pub max_growth_rtt_us: u64,
    /// Whether packet numbers are skipped now and then (sim_model section 7), the only randomness of a
    /// scenario without jitter.
    pub skip_packet_numbers: bool,
    /// Whether the sender uses its pacer (true).
    pub pacing: bool,
    /// Whether CUBIC uses fast convergence (false: RFC 9438 section 4.7 wants it off where a single flow has the
    /// network for itself, as in all scenarios so far).
    pub fast_convergence: bool,
    /// Which ECN codepoint the datagrams of the data senders carry (off). Those of the data receivers are not-ECT.
    pub ecn: EcnUse,
    /// Whether the data receivers report ECN counts in their ACKs (true). Without them ECN fails validation (RFC 9000 section
    /// 13.4.2.1).
    pub report_ecn: bool,
    /// What the data sender asks the receiver to report of arrival times; `None` for nothing (the default).
    pub receive_timestamps: Option<ReceiveTimestamps>,
    /// The receiver's clock.
    pub receiver_clock: ReceiverClock,
    /// Whether the data sender takes the send time of a packet plus its smoothed RTT for the time at which the receiver
    /// got it, whatever that reports (false). A one-way delay that is made of the RTT cannot tell the queue of the one
    /// direction from that of the other: for comparison with controllers that look at the RTT.
    pub receive_times_from_rtt: bool,
}

/// Which ECN codepoint a data sender uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnUse {
    /// Not-ECT, whatever the algorithm.
    #[default]
    Off,
    /// ECT(0), whatever the algorithm: as the runs behind the C4 test draft had it.
    Ect0,
    /// ECT(1) for an algorithm that wants ECT(1), not-ECT for others: as the draft's text has it.
    L4s,
    /// What the algorithm wants.
    Wanted,
}

impl EcnUse {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Off, Self::Ect0, Self::L4s, Self::Wanted];

    /// Its name in a scenario file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Ect0 => "ect0",
            Self::L4s => "l4s",
            Self::Wanted => "wanted",
        }
    }

    /// The codepoint for an algorithm that wants `wanted`.
    #[must_use]
    pub fn codepoint(self, wanted: EcnCodepoint) -> EcnCodepoint {
        match self {
            Self::Off => EcnCodepoint::NotEct,
            Self::Ect0 => EcnCodepoint::Ect0,
            Self::L4s if wanted == EcnCodepoint::Ect1 => wanted,
            Self::L4s => EcnCodepoint::NotEct,
            Self::Wanted => wanted,
        }
    }
}

/// Transport parameters of receive timestamps (draft-ietf-quic-receive-ts, "Extension Negotiation"), and how well the
/// receiver measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveTimestamps {
    /// `receive_timestamps_exponent`, at most 20: the unit is 2^exponent microseconds (0).
    pub exponent: u8,
    /// `max_receive_timestamps_per_ack`, at most 16 383: a frame reports this many of the packets that arrived last,
    /// whether or not an earlier frame has reported them, as far as they fit (32).
    pub max_per_ack: u64,
    /// Of how many of a million packets the receiver does not know when they arrived (0).
    pub missing_ppm: u32,
}

impl ReceiveTimestamps {
    /// Larger exponents are invalid.
    pub const MAX_EXPONENT: u8 = 20;
    /// As many as a count of two bytes can say.
    pub const MAX_PER_ACK: u64 = 16_383;
}

impl Default for ReceiveTimestamps {
    fn default() -> Self {
        Self { exponent: 0, max_per_ack: 32, missing_ppm: 0 }
    }
}

/// A clock that is neither set nor as fast as the data sender's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverClock {
    /// What it shows at the start of the run, in microseconds since the `receive_timestamp_basis`, which the data sender
    /// does not know.
    pub offset_us: u64,
    /// By how many millionths it is faster than the data sender's.
    pub drift_ppm: i32,
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            initial_mtu: 1_252,
            mtu: 1_440,
            overhead: 34,
            ack_size: 55,
            initial_window: 15_360,
            may_overshoot: true,
            max_ack_delay_us: 10_000,
            min_ack_delay_us: 1_000,
            quick_ack_packets: 128,
            max_ack_ranges: 33,
            packet_threshold: 3,
            mtu_losses: 10,
            initial_pto_us: 250_000,
            max_pto_us: 2_000_000,
            initial_max_data: 1 << 20,
            initial_max_stream_data: 2 << 20,
            max_growth_rtt_us: 610_000,
            skip_packet_numbers: true,
            pacing: true,
            fast_convergence: false,
            ecn: EcnUse::Off,
            report_ecn: true,
            receive_timestamps: None,
            receiver_clock: ReceiverClock::default(),
            receive_times_from_rtt: false,
        }
    }
}
