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
//! | a CE mark after a packet without one is acknowledged at once | | `client.rs`, `on_number` |
//! | lost packets, with none acknowledged, after which ECN is given up | 10 | `ecn.rs`, `Validation` |
//! | packets per ACK in the quick-ACK phase | 2 | `client.rs`, `on_number` |
//! | growth of flow-control windows: by two of themselves, or by one per 100 ms of RTT | | `client.rs`, `grow_limits` |
//! | handshake timers double at most 6 times; a close is given up after 3 probe timeouts | | `client.rs`, `arm_retry` |
//! | time threshold: min(smoothed RTT / 4, 5 ms) after the ACK | | `loss.rs` |
//! | probe timeouts back off by 2, 4, then 1/4 each | | `loss.rs`, `backed_off` |
//! | packet numbers are skipped every 3 + U(256 * 2^n) | | `server/send.rs`, `skip_number` |
//! | packets and bytes in flight that the sender keeps track of | 131 072, 4 GiB | `server/mod.rs` |
//! | sizes of the frames that carry audio and video and ask for them | 3 to 20 bytes | `media/mod.rs` |
//! | resolution of the clock and of a packet's time on the link | 1 us | `link.rs` |

mod builtin;
mod cross;
mod dualpi2;
mod endpoint;
mod error;
mod flow;
mod link;
mod media;
pub(crate) mod parse;
mod print;

pub use builtin::{Group, builtin, builtin_names};
pub use cross::{CrossTraffic, Pattern};
pub use dualpi2::{DualPi2, Scheduler};
pub use endpoint::{EcnUse, Endpoint, ReceiveTimestamps, ReceiverClock};
pub use error::ScenarioError;
pub use flow::{Direction, Flow, FlowAlgorithm, Resume, RunEnd, Transfer};
pub use link::{Jitter, LinkState, LinkTimeline, QueueFor, QueueLimit, WifiModel};
pub use media::{Media, MediaKind, MediaStream};
pub use parse::parse;
pub(crate) use parse::time_limit_range;

/// A complete, validated description of a run. Made by [`parse`] from a TOML file or by [`builtin`].
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Short name, unique among the scenarios of a run.
    pub name: String,
    /// One line for people.
    pub summary: String,
    /// The two directions of the bottleneck share their parameters, but the rate may differ.
    pub link: LinkTimeline,
    /// Queues in the place of those of the link, for some algorithms of the main flow; one each at most.
    pub queue_for: Vec<QueueFor>,
    /// The AQM of both queues of the bottleneck; `None` for tail drop.
    pub dualpi2: Option<DualPi2>,
    /// The transfer of the main flow, which is a forward one.
    pub transfer: Transfer,
    /// Audio and video that the main flow carries in the place of a bulk transfer; its bytes are those of `transfer`.
    pub media: Option<Media>,
    /// State of an earlier connection, given to the main flow's sender (careful resume, RFC 9959).
    pub resume: Option<Resume>,
    /// The other flows.
    pub flows: Vec<Flow>,
    /// Traffic beside the flows.
    pub cross: Vec<CrossTraffic>,
    /// What ends a run.
    pub end: RunEnd,
    /// Parameters of the endpoints of all flows.
    pub endpoint: Endpoint,
    /// Virtual time at which a run that has not ended is given up with an error, in microseconds.
    pub time_limit_us: u64,
}

impl Scenario {
    /// A scenario of one flow: nothing saved, no other traffic, default endpoints, and the default time limit of a file.
    #[must_use]
    pub fn single(name: &str, link: LinkTimeline, transfer: Transfer) -> Self {
        Self {
            name: name.to_owned(),
            summary: String::new(),
            link,
            queue_for: Vec::new(),
            dualpi2: None,
            transfer,
            media: None,
            resume: None,
            flows: Vec::new(),
            cross: Vec::new(),
            end: RunEnd::default(),
            endpoint: Endpoint::default(),
            time_limit_us: parse::DEFAULT_TIME_LIMIT_US,
        }
    }
}
