//! Real connections of s2n-quic, over loopback and through a relay.

#[path = "../../cc-adapter/stack-tests/mod.rs"]
mod shared;
mod stack;
