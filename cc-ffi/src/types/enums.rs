//! Named values. In structs and arguments they are `uint32_t`.

use crate::Status;
use cc_core::{DiscardReason, EcnCodepoint, LossCause, MtuChange, PacketSpace, PathChange, SendLimit};

/// Packet number space of a packet (RFC 9000 section 12.3).
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiSpace {
    /// 0-RTT and 1-RTT packets.
    Application = 0,
    /// Initial packets.
    Initial = 1,
    /// Handshake packets.
    Handshake = 2,
}

/// What stopped the last attempt to send (RFC 9002 section 7.8: only the window says "limited by the window").
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiSendLimit {
    /// The stack does not say.
    Unknown = 0,
    /// The congestion window was full.
    Cwnd = 1,
    /// The pacer asked to wait.
    Pacer = 2,
    /// The anti-amplification limit (RFC 9000 section 8.1).
    Amplification = 3,
    /// The peer's flow control.
    FlowControl = 4,
    /// The application had nothing to send.
    NoData = 5,
}

/// What made the stack declare a loss.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiLossCause {
    /// The stack does not say.
    Unknown = 0,
    /// An ACK frame.
    Ack = 1,
    /// The loss timer.
    Timer = 2,
}

/// Why bytes left the network without being acked or lost.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiDiscardReason {
    /// Keys of a packet number space were dropped (RFC 9002 section 6.4).
    KeysDiscarded = 1,
    /// A lost path MTU probe (RFC 9000 section 14.4: no congestion signal).
    MtuProbeLost = 2,
    /// 0-RTT data was rejected.
    ZeroRttRejected = 3,
}

/// Why the maximum datagram size changed.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiMtuChange {
    /// Learnt in the handshake, before data was sent: the initial window is computed anew (RFC 9002 section 7.2).
    Handshake = 1,
    /// Found by probing (RFC 8899).
    Discovered = 2,
    /// Reduced by black-hole detection (RFC 8899 section 4.3).
    BlackHole = 3,
}

/// How the path changed (RFC 9000 section 9.4).
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiPathChange {
    /// Only the peer's port changed (NAT rebinding): state may be kept.
    Rebinding = 1,
    /// A new path: congestion state starts again.
    New = 2,
}

/// An ECN codepoint; the values are those of the IP header (RFC 3168 section 5).
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiEcn {
    /// Not ECN-capable.
    NotEct = 0,
    /// ECT(1): L4S.
    Ect1 = 1,
    /// ECT(0): classic ECN.
    Ect0 = 2,
}

/// Which reference point a packet remembers when it is sent.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiSamplingRule {
    /// The last ACK (draft-ietf-ccwg-bbr).
    LastAck = 0,
    /// The last accepted sample (C4).
    LastAcceptedSample = 1,
}

/// Whether a packet may be sent.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FfiSend {
    /// Now.
    Now = 1,
    /// Not before the time `at`: the pacer asks to wait.
    At = 2,
    /// Not before an event: see `limit`.
    Blocked = 3,
}

/// A type whose values have numbers in C.
pub(crate) trait Raw: Sized {
    fn from_raw(raw: u32) -> Result<Self, Status>;
    fn to_raw(self) -> u32;
}

macro_rules! raw {
    ($ffi:ident <=> $core:ident { $($variant:ident),+ $(,)? }) => {
        impl Raw for $core {
            fn from_raw(raw: u32) -> Result<Self, Status> {
                $(if raw == $ffi::$variant as u32 { return Ok(Self::$variant); })+
                Err(Status::InvalidEnum)
            }

            fn to_raw(self) -> u32 {
                match self {
                    $(Self::$variant => $ffi::$variant as u32),+
                }
            }
        }
    };
}

raw!(FfiSpace <=> PacketSpace { Application, Initial, Handshake });
raw!(FfiSendLimit <=> SendLimit { Unknown, Cwnd, Pacer, Amplification, FlowControl, NoData });
raw!(FfiDiscardReason <=> DiscardReason { KeysDiscarded, MtuProbeLost, ZeroRttRejected });
raw!(FfiMtuChange <=> MtuChange { Handshake, Discovered, BlackHole });
raw!(FfiPathChange <=> PathChange { Rebinding, New });
raw!(FfiEcn <=> EcnCodepoint { NotEct, Ect1, Ect0 });

impl Raw for Option<LossCause> {
    fn from_raw(raw: u32) -> Result<Self, Status> {
        match raw {
            raw if raw == FfiLossCause::Unknown as u32 => Ok(None),
            raw if raw == FfiLossCause::Ack as u32 => Ok(Some(LossCause::Ack)),
            raw if raw == FfiLossCause::Timer as u32 => Ok(Some(LossCause::Timer)),
            _ => Err(Status::InvalidEnum),
        }
    }

    fn to_raw(self) -> u32 {
        match self {
            None => FfiLossCause::Unknown as u32,
            Some(LossCause::Ack) => FfiLossCause::Ack as u32,
            Some(LossCause::Timer) => FfiLossCause::Timer as u32,
        }
    }
}
