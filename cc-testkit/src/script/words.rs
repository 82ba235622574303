//! The words of the script language, for the parser and the printer.

use super::Comparison;
use cc_core::{DiscardReason, EcnCodepoint, MtuChange, PathChange, SendLimit};

pub(super) const TIME_UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];
pub(super) const BYTE_UNITS: [(&str, u64); 5] =
    [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
/// Unit of times without one: milliseconds.
pub(super) const MILLISECOND: u64 = 1_000_000;

pub(super) const EVENTS: [&str; 15] = [
    "sent",
    "fill",
    "ack",
    "lost",
    "time",
    "mtu",
    "path",
    "discard",
    "spurious",
    "resume",
    "app-limited",
    "policy",
    "ecn",
    "handshake",
    "limit",
];
pub(super) const PICKS: [&str; 5] = ["all", "first", "last", "older", "next"];
pub(super) const RECEIVE_TIMES: [&str; 3] = ["at", "after", "before"];

pub(super) const CODEPOINTS: [(&str, EcnCodepoint); 3] =
    [("off", EcnCodepoint::NotEct), ("ect0", EcnCodepoint::Ect0), ("ect1", EcnCodepoint::Ect1)];
pub(super) const MTU_CHANGES: [(&str, MtuChange); 3] = [
    ("handshake", MtuChange::Handshake),
    ("discovered", MtuChange::Discovered),
    ("black-hole", MtuChange::BlackHole),
];
pub(super) const PATH_CHANGES: [(&str, PathChange); 2] =
    [("rebinding", PathChange::Rebinding), ("new", PathChange::New)];
pub(super) const DISCARD_REASONS: [(&str, DiscardReason); 3] = [
    ("keys", DiscardReason::KeysDiscarded),
    ("probe", DiscardReason::MtuProbeLost),
    ("zero-rtt", DiscardReason::ZeroRttRejected),
];
pub(super) const LIMITS: [(&str, SendLimit); 6] = [
    ("cwnd", SendLimit::Cwnd),
    ("pacer", SendLimit::Pacer),
    ("amplification", SendLimit::Amplification),
    ("flow-control", SendLimit::FlowControl),
    ("no-data", SendLimit::NoData),
    ("unknown", SendLimit::Unknown),
];
pub(super) const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::More),
];
