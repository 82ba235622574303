//! What is simulated: one bottleneck link each way, a timeline of its parameters, endpoints and a transfer.
//!
//! The defaults of the endpoint are those of the runs behind the tables of the C4 test draft, in brackets in its
//! documentation. Sizes are UDP payload bytes, times are microseconds.
//!
//! # What is no parameter
//!
//! Constants of the protocol that the endpoints speak, which no run of a table varies:
//!
//! | what | value | in `engine/` |
//! |---|---|---|
//! | sizes of the datagrams of handshake and close | 32 to 1252 bytes | `packet.rs`, `size` |
//! | how the server's first flight is cut into packets | 184 and 222 bytes | `server/send.rs` |
//! | the ACK frequency that the sender asks for: quarter of window and RTT, gaps 2, 4, 10, 32, 64 | | `ack_policy.rs` |
//! | packets per ACK in the quick-ACK phase | 2 | `client.rs`, `on_number` |
//! | growth of flow-control windows: by two of themselves, or by one per 100 ms of RTT | | `client.rs`, `grow_limits` |
//! | handshake timers double at most 6 times; a close is given up after 3 probe timeouts | | `client.rs`, `arm_retry` |
//! | time threshold: min(smoothed RTT / 4, 5 ms) after the ACK | | `loss.rs` |
//! | probe timeouts back off by 2, 4, then 1/4 each | | `loss.rs`, `backed_off` |
//! | packet numbers are skipped every 3 + U(256 * 2^n) | | `server/send.rs`, `skip_number` |
//! | packets in flight that the sender keeps track of | 65 536 | `server/mod.rs` |
//! | resolution of the clock and of a packet's time on the link | 1 us | `link.rs` |

mod parse;

pub(crate) use parse::time_limit_range;
pub use parse::{ScenarioError, builtin, builtin_names, parse};

/// A complete, validated description of a run. Made by [`parse`] from a TOML file or by [`builtin`].
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Short name, unique among the scenarios of a run.
    pub name: String,
    /// One line for people.
    pub summary: String,
    /// The two directions of the bottleneck share their parameters, but the rate may differ.
    pub link: LinkTimeline,
    /// The transfer.
    pub transfer: Transfer,
    /// State of an earlier connection, given to the sender (careful resume, RFC 9959).
    pub resume: Option<Resume>,
    /// Parameters of both endpoints.
    pub endpoint: Endpoint,
    /// Virtual time at which a run that has not finished is given up with an error, in microseconds.
    pub time_limit_us: u64,
}

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
    /// What the queue in front of the link holds.
    pub queue: QueueLimit,
    /// Jitter added to the propagation delay. Packets are never reordered: a late one holds back later ones.
    pub jitter: Jitter,
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
}

/// A bulk transfer requested by the client right after its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes of the answer.
    pub bytes: u64,
    /// When the client starts its handshake, in microseconds.
    pub start_us: u64,
}

/// Saved state for careful resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Saved congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Saved RTT in microseconds.
    pub rtt_us: u64,
}

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
        }
    }
}
