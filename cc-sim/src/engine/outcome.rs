//! What is left of a run.

use crate::Algorithm;
use crate::scenario::Direction;
use serde::{Deserialize, Serialize};

/// How a run ended for all flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOutcome {
    /// The main flow, as the tables of completion times see it.
    pub main: Outcome,
    /// When the run ended, in microseconds of virtual time.
    pub end_us: u64,
    /// All flows, the main one first, then those of the scenario in its order.
    pub flows: Vec<FlowOutcome>,
    /// The sources of cross traffic, in the order of the scenario.
    pub cross: Vec<CrossOutcome>,
    /// The streams of audio and video of the main flow, in the order of the scenario; none if it is a bulk transfer.
    pub media: Vec<MediaStreamOutcome>,
    /// The link in forward direction.
    pub forward: LinkOutcome,
    /// The other one.
    pub reverse: LinkOutcome,
}

/// What a link has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkOutcome {
    /// Datagrams that came out of it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What became of the datagrams of a source of cross traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossOutcome {
    /// How many it sent.
    pub packets_sent: u64,
    /// How many arrived.
    pub packets_delivered: u64,
    /// How many the queue dropped.
    pub dropped: u64,
    /// How many got lost at random on the link.
    pub lost_on_link: u64,
}

/// How one flow fared. Sizes are UDP payload bytes, times are microseconds of virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOutcome {
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Which way its data goes.
    pub direction: Direction,
    /// When its client started the handshake.
    pub start_us: u64,
    /// When its request reached the data sender; `None` if that was after the end of the run.
    pub request_us: Option<u64>,
    /// When its client had all data; `None` if that was after the end of the run.
    pub last_byte_us: Option<u64>,
    /// When its connection was closed at the client; `None` if that was after the end of the run.
    pub completion_us: Option<u64>,
    /// Bytes of data that the client has got, each counted once.
    pub received: u64,
    /// What was counted on the way.
    pub counters: FlowCounters,
}

/// What a flow's data sender and the links count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowCounters {
    /// Datagrams sent by the data sender, those of handshake and close included.
    pub packets_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets that it declared lost, path MTU probes among them.
    pub packets_lost: u64,
    /// Their bytes.
    pub bytes_lost: u64,
    /// Packets declared lost that were acknowledged later.
    pub spurious_losses: u64,
    /// ACK frames that reached it.
    pub acks_received: u64,
    /// Datagrams that the queue towards the data receiver dropped.
    pub dropped: u64,
    /// Datagrams that the queue towards the data sender dropped.
    pub dropped_back: u64,
    /// Of those dropped on the way to the data receiver, the ones that an AQM dropped although there was room.
    pub dropped_early: u64,
    /// Datagrams that an AQM marked CE on the way to the data receiver.
    pub marked: u64,
    /// CE marks that the data receiver reported, if ECN was valid.
    pub ce_reported: u64,
    /// Whether ECN was in use and failed validation.
    pub ecn_failed: bool,
    /// Datagrams that got lost at random on the way to the data receiver.
    pub lost_on_link: u64,
    /// Datagrams that got lost at random on the way to the data sender.
    pub lost_on_link_back: u64,
}

impl FlowCounters {
    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.packets_sent += 1;
        self.bytes_sent += bytes;
    }
}

/// How the main flow of a run fared. Sizes are UDP payload bytes, times are microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// When the client's connection was closed: the completion time of the tables. It is a point of the virtual
    /// clock, so that a late start counts. The end of the run if that came first.
    pub completion_us: u64,
    /// When the request reached the server.
    pub request_us: u64,
    /// When the client had all data.
    pub last_byte_us: u64,
    /// Datagrams sent by the server, those of handshake and close included, each as often as it was sent.
    pub packets_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets that the server declared lost, path MTU probes among them.
    pub packets_lost: u64,
    /// Their bytes.
    pub bytes_lost: u64,
    /// Packets declared lost that were acknowledged later.
    pub spurious_losses: u64,
    /// Datagrams that the queue towards the client dropped.
    pub dropped: u64,
    /// ACK frames that reached the server.
    pub acks_received: u64,
    /// Datagrams handed to both links, by all flows.
    pub events: u64,
    /// How late its audio and video was, if it is no bulk transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaOutcome>,
}

/// How late the audio and video of a run was, over the streams that count; see [`crate::scenario::Media`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaOutcome {
    /// Average delay of the units of a stream, in microseconds, rounded down; the largest of these.
    pub average_us: u64,
    /// Largest delay of a unit, in microseconds.
    pub max_us: u64,
    /// Groups that the client gave up, of all streams.
    pub stopped: u64,
}

/// What became of a stream of audio or video.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaStreamOutcome {
    /// Units, datagrams or frames, that arrived and count.
    pub units: u64,
    /// Sum of their delays, in microseconds.
    pub sum_us: u64,
    /// The largest of these.
    pub max_us: u64,
    /// Groups that the client gave up.
    pub stopped: u64,
}

impl MediaStreamOutcome {
    /// The average delay in microseconds, rounded down; `None` without units.
    #[must_use]
    pub fn average_us(&self) -> Option<u64> {
        self.sum_us.checked_div(self.units)
    }
}
