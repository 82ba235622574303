//! A congestion controller through C: events in; window, pacing rate and a few hints out.
//!
//! The order of one ACK frame is `ccffi_on_ecn`, `ccffi_on_rtt`, `ccffi_on_loss`, `ccffi_on_ack`. A stack whose order is another
//! buffers the parts of a frame.

#![expect(unsafe_code, reason = "names that C links to, and pointers from C")]

use crate::info::check_version;
use crate::memory::{Object, open, open_mut, place, read, slice, write};
use crate::status::status_of;
use crate::types::{Raw, raw_pacing_rate};
use crate::{
    AnyController, FfiAck, FfiAckedPacket, FfiEcnEvent, FfiLoss, FfiLostPacket, FfiOutputs, FfiPathState,
    FfiRtt, FfiSentPacket, FfiSetup, FfiSnapshot, FfiSpuriousLoss, Status,
};
use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, Duration, LossEvent, LostPacket, PathState,
    ResumeHint, SpuriousLoss,
};
use core::ffi::c_void;

/// Room for a controller, in units of eight bytes, with some left for algorithms to come. `ccffi_controller_size` is what is used.
pub const CCFFI_CONTROLLER_WORDS: usize = 128;

/// Packets handed to a controller at once: a frame of more is cut, so that it costs a fixed amount of stack.
pub const CCFFI_PART: usize = 8;

/// First eight bytes of a controller: "ccffi", kind, and the ABI version.
const TAG: u64 = u64::from_be_bytes(*b"ccffi\0C\x01");

/// A congestion controller. What is in it is nobody's business: only its size and alignment are.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FfiController {
    /// Not to be looked at.
    pub opaque: [u64; CCFFI_CONTROLLER_WORDS],
}

const _: () = {
    assert!(size_of::<Object<AnyController>>() <= size_of::<FfiController>(), "raise CCFFI_CONTROLLER_WORDS");
    assert!(align_of::<Object<AnyController>>() <= align_of::<FfiController>());
};

/// Bytes that a controller takes, of whatever algorithm.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_controller_size() -> usize {
    size_of::<Object<AnyController>>()
}

/// Alignment of a controller in bytes: no more than that of `uint64_t`.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_controller_align() -> usize {
    align_of::<Object<AnyController>>()
}

/// Makes a controller in `memory`, which has `size` bytes. From then on `memory` is a `ccffi_controller *`. What was there is overwritten;
/// a controller that is no longer needed is just forgotten.
///
/// `abi_version` is `CCFFI_ABI_VERSION`. `algorithm` is one of `CCFFI_ALGORITHM_...`.
///
/// Fails with `CCFFI_STATUS_NULL_POINTER`, `CCFFI_STATUS_MISALIGNED`, `CCFFI_STATUS_TOO_SMALL`, `CCFFI_STATUS_ABI_VERSION`,
/// `CCFFI_STATUS_UNKNOWN_ALGORITHM`, `CCFFI_STATUS_INVALID_ENUM`, `CCFFI_STATUS_INVALID_HAS` or
/// `CCFFI_STATUS_INVALID_DATAGRAM_SIZE`.
///
/// # Safety
///
/// `memory` is NULL or points to `size` bytes that nobody else uses during the call; `setup` is NULL or points to an initialised
/// `ccffi_setup` outside of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_controller_init(
    memory: *mut c_void,
    size: usize,
    abi_version: u32,
    algorithm: u32,
    setup: *const FfiSetup,
) -> Status {
    let init = || {
        check_version(abi_version)?;
        // SAFETY: the caller's promise.
        let setup = unsafe { read(setup) }?.to_core()?;
        let controller = AnyController::new(algorithm, &setup).ok_or(Status::UnknownAlgorithm)?;
        // SAFETY: the caller's promise.
        unsafe { place(memory, size, TAG, || controller) }
    };
    status_of(init())
}

/// Makes a copy of a controller in `memory`, which has `size` bytes: for a migrated path.
///
/// Fails also with `CCFFI_STATUS_TOO_SMALL`.
///
/// # Safety
///
/// The common contract for `controller`; `memory` is NULL or points to `size` bytes outside of it that nobody else uses
/// during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_controller_clone(
    controller: *const FfiController,
    memory: *mut c_void,
    size: usize,
) -> Status {
    let clone = || {
        // SAFETY: the caller's promise.
        let controller: &AnyController = unsafe { open(controller.cast(), TAG) }?;
        // SAFETY: the caller's promise.
        unsafe { place(memory, size, TAG, || controller.clone()) }
    };
    status_of(clone())
}

/// Reads the state of the path and hands both to `deliver`.
///
/// # Safety
///
/// The common contract.
unsafe fn event(
    controller: *mut FfiController,
    path: *const FfiPathState,
    deliver: impl FnOnce(&mut AnyController, &PathState) -> Result<(), Status>,
) -> Status {
    let event = || {
        // SAFETY: the caller's promise.
        let controller = unsafe { open_mut(controller.cast(), TAG) }?;
        // SAFETY: the caller's promise.
        let path = unsafe { read(path) }?.to_core()?;
        deliver(controller, &path)
    };
    status_of(event())
}

/// A packet was handed to the network. `path` is the state after it. Stacks that never call it lose precision, not correctness.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM`, `CCFFI_STATUS_INVALID_HAS` or `CCFFI_STATUS_INVALID_DATAGRAM_SIZE`; so do all
/// events.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_packet_sent(
    controller: *mut FfiController,
    path: *const FfiPathState,
    packet: *const FfiSentPacket,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_packet_sent(path, &read(packet)?.to_core()?);
            Ok(())
        })
    }
}

/// Packets were newly acknowledged: `count` entries at `packets`, ascending by send order. A frame may be cut into several calls
/// (`more`).
///
/// Fails as all events do, and with `CCFFI_STATUS_INVALID_LENGTH`.
///
/// # Safety
///
/// The common contract; `packets` points to `count` entries, or is NULL, or `count` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_ack(
    controller: *mut FfiController,
    path: *const FfiPathState,
    ack: *const FfiAck,
    packets: *const FfiAckedPacket,
    count: usize,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            deliver_acks(controller, path, read(ack)?.to_core()?, slice(packets, count)?)
        })
    }
}

/// Packets were declared lost by packet or time threshold (RFC 9002 section 6.1): `count` entries at `packets`, ascending by send
/// order. Losses may be cut into several calls (`more`), of which each has in `path->lost` what the calls before it declared lost.
///
/// Fails as all events do, and with `CCFFI_STATUS_INVALID_LENGTH`.
///
/// # Safety
///
/// The common contract; `packets` points to `count` entries, or is NULL, or `count` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_loss(
    controller: *mut FfiController,
    path: *const FfiPathState,
    loss: *const FfiLoss,
    packets: *const FfiLostPacket,
    count: usize,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            deliver_losses(controller, path, read(loss)?.to_core()?, slice(packets, count)?)
        })
    }
}

/// Validated ECN counts arrived, also when none of them is CE.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_ecn(
    controller: *mut FfiController,
    path: *const FfiPathState,
    ecn: *const FfiEcnEvent,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_ecn(path, &read(ecn)?.to_core()?);
            Ok(())
        })
    }
}

/// An RTT was measured: once per frame that acked something new.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_rtt(
    controller: *mut FfiController,
    path: *const FfiPathState,
    rtt: *const FfiRtt,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_rtt(path, &read(rtt)?.to_core()?);
            Ok(())
        })
    }
}

/// Window and pacer allow sending, and no data is left.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_app_limited(
    controller: *mut FfiController,
    path: *const FfiPathState,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_app_limited(path);
            Ok(())
        })
    }
}

/// A packet in flight is about to be sent after the flight had been empty for `idle` nanoseconds. Called before the packet is
/// counted; not before the first packet of all.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_idle_restart(
    controller: *mut FfiController,
    path: *const FfiPathState,
    idle: u64,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_idle_restart(path, Duration::from_nanos(idle));
            Ok(())
        })
    }
}

/// A packet declared lost was acked after all.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_spurious_loss(
    controller: *mut FfiController,
    path: *const FfiPathState,
    packet: *const FfiSpuriousLoss,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_spurious_loss(path, &read(packet)?.to_core()?);
            Ok(())
        })
    }
}

/// All losses of the last recovery period turned out to be spurious: for a stack that gives no detail.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_spurious_losses(
    controller: *mut FfiController,
    path: *const FfiPathState,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_spurious_loss(path, &SpuriousLoss::All);
            Ok(())
        })
    }
}

/// `bytes` left the network without being acked or lost; `reason` is a `ccffi_discard_reason`.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_discarded(
    controller: *mut FfiController,
    path: *const FfiPathState,
    bytes: u64,
    reason: u32,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_discarded(path, bytes, Raw::from_raw(reason)?);
            Ok(())
        })
    }
}

/// `path->max_datagram_size` changed; `change` is a `ccffi_mtu_change`.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_mtu_update(
    controller: *mut FfiController,
    path: *const FfiPathState,
    change: u32,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_mtu_update(path, Raw::from_raw(change)?);
            Ok(())
        })
    }
}

/// The network path changed; `change` is a `ccffi_path_change`.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_path_change(
    controller: *mut FfiController,
    path: *const FfiPathState,
    change: u32,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_path_change(path, Raw::from_raw(change)?);
            Ok(())
        })
    }
}

/// State of an earlier connection on the path became known (RFC 9959): its congestion window in bytes, and its minimum RTT in
/// nanoseconds. May come after construction.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_resume_hint(
    controller: *mut FfiController,
    path: *const FfiPathState,
    cwnd: u64,
    rtt: u64,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_resume_hint(path, &ResumeHint { cwnd, rtt: Duration::from_nanos(rtt) });
            Ok(())
        })
    }
}

/// The peer's ACK policy changed (draft-ietf-quic-ack-frequency): ack-eliciting packets per ACK, and maximum ack delay in
/// nanoseconds.
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_ack_policy(
    controller: *mut FfiController,
    path: *const FfiPathState,
    packets: u64,
    max_ack_delay: u64,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_ack_policy(
                path,
                &AckPolicy { packets, max_ack_delay: Duration::from_nanos(max_ack_delay) },
            );
            Ok(())
        })
    }
}

/// The codepoint really in use changed (`ccffi_ecn`); `CCFFI_ECN_NOT_ECT` after failed validation (RFC 9000 section 13.4.2).
///
/// Fails as all events do.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_on_ecn_state(
    controller: *mut FfiController,
    path: *const FfiPathState,
    codepoint: u32,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        event(controller, path, |controller, path| {
            controller.on_ecn_state(path, Raw::from_raw(codepoint)?);
            Ok(())
        })
    }
}

/// Writes what the controller asks for to `outputs`. To be read again after every event and for every burst.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_get_outputs(
    controller: *const FfiController,
    outputs: *mut FfiOutputs,
) -> Status {
    // SAFETY: the caller's promise.
    let controller: Result<&AnyController, Status> = unsafe { open(controller.cast(), TAG) };
    // SAFETY: the caller's promise.
    status_of(controller.and_then(|controller| unsafe { write(outputs, FfiOutputs::of(controller)) }))
}

/// The congestion window in bytes, which is never 0; 0 if there is no controller.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_get_cwnd(controller: *const FfiController) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { open(controller.cast(), TAG) }.map_or(0, AnyController::cwnd)
}

/// The pacing rate in bytes per second, which is never 0; `CCFFI_UNPACED` for "do not pace"; 0 if there is no controller.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_get_pacing_rate(controller: *const FfiController) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { open(controller.cast(), TAG) }
        .map_or(0, |controller: &AnyController| raw_pacing_rate(controller.pacing_rate()))
}

/// Writes the state for logs to `snapshot`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_get_snapshot(
    controller: *const FfiController,
    snapshot: *mut FfiSnapshot,
) -> Status {
    // SAFETY: the caller's promise.
    let controller: Result<&AnyController, Status> = unsafe { open(controller.cast(), TAG) };
    status_of(controller.and_then(|controller| {
        // SAFETY: the caller's promise.
        unsafe { write(snapshot, FfiSnapshot::from_core(&controller.snapshot())) }
    }))
}

/// Hands over acked packets in parts. All of them are looked at before the first is handed over, so that nothing has changed if
/// one is refused.
fn deliver_acks(
    controller: &mut impl CongestionController,
    path: &PathState,
    ack: AckEvent<'_>,
    packets: &[FfiAckedPacket],
) -> Result<(), Status> {
    for packet in packets {
        packet.to_core()?;
    }
    if packets.is_empty() {
        controller.on_ack(path, &ack);
    }
    let mut part = [AckedPacket::default(); CCFFI_PART];
    let mut rest = packets;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(CCFFI_PART));
        for (to, from) in part.iter_mut().zip(now) {
            *to = from.to_core()?;
        }
        let packets = part.get(..now.len()).unwrap_or_default();
        controller.on_ack(path, &AckEvent { packets, last: ack.last && later.is_empty(), ..ack });
        rest = later;
    }
    Ok(())
}

/// Hands over lost packets in parts, as [`deliver_acks`] does; the bytes of a part are lost when the next one comes.
fn deliver_losses(
    controller: &mut impl CongestionController,
    path: &PathState,
    loss: LossEvent<'_>,
    packets: &[FfiLostPacket],
) -> Result<(), Status> {
    for packet in packets {
        packet.to_core()?;
    }
    if packets.is_empty() {
        controller.on_loss(path, &loss);
    }
    let mut path = *path;
    let mut part = [LostPacket::default(); CCFFI_PART];
    let mut rest = packets;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(CCFFI_PART));
        for (to, from) in part.iter_mut().zip(now) {
            *to = from.to_core()?;
        }
        let packets = part.get(..now.len()).unwrap_or_default();
        controller.on_loss(&path, &LossEvent { packets, last: loss.last && later.is_empty(), ..loss });
        path.lost = now.iter().fold(path.lost, |lost, packet| lost.saturating_add(packet.bytes));
        rest = later;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{CCFFI_PART, deliver_acks, deliver_losses};
    use crate::{FfiAck, FfiAckedPacket, FfiLoss, FfiLostPacket, Status};
    use cc_core::{
        AckEvent, CongestionController, EcnEvent, LossEvent, PathState, Rate, SentPacket, Snapshot,
    };
    use std::vec;
    use std::vec::Vec;

    /// Sizes of the packets of a call, whether it was the last, and bytes lost before it.
    type Call = (Vec<u64>, bool, u64);

    #[derive(Debug, Default)]
    struct Recorder {
        calls: Vec<Call>,
    }

    impl CongestionController for Recorder {
        fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {}
        fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
            self.calls.push((ack.packets.iter().map(|packet| packet.bytes).collect(), ack.last, path.lost));
        }
        fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
            self.calls.push((loss.packets.iter().map(|packet| packet.bytes).collect(), loss.last, path.lost));
        }
        fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {}
        fn pacing_rate(&self) -> Option<Rate> {
            None
        }
        fn cwnd(&self) -> u64 {
            12_000
        }
        fn snapshot(&self) -> Snapshot {
            Snapshot::default()
        }
    }

    fn path() -> PathState {
        PathState { lost: 1_000, ..PathState::default() }
    }

    fn acks(count: u64, more: u8) -> Vec<Call> {
        let packets: Vec<_> =
            (1..=count).map(|bytes| FfiAckedPacket { bytes, ..FfiAckedPacket::default() }).collect();
        let ack = FfiAck { more, ..FfiAck::default() }.to_core().expect("a good event");
        let mut recorder = Recorder::default();
        assert_eq!(deliver_acks(&mut recorder, &path(), ack, &packets), Ok(()));
        recorder.calls
    }

    fn losses(count: u64, more: u8) -> Vec<Call> {
        let packets: Vec<_> =
            (1..=count).map(|bytes| FfiLostPacket { bytes, ..FfiLostPacket::default() }).collect();
        let loss = FfiLoss { more, ..FfiLoss::default() }.to_core().expect("a good event");
        let mut recorder = Recorder::default();
        assert_eq!(deliver_losses(&mut recorder, &path(), loss, &packets), Ok(()));
        recorder.calls
    }

    #[test]
    fn a_frame_is_cut_into_parts_of_eight_and_the_last_is_marked() {
        assert_eq!(CCFFI_PART, 8);
        assert_eq!(acks(0, 0), [(vec![], true, 1_000)]);
        assert_eq!(acks(8, 0), [((1..=8).collect(), true, 1_000)]);
        assert_eq!(
            acks(17, 0),
            [((1..=8).collect(), false, 1_000), ((9..=16).collect(), false, 1_000), (vec![17], true, 1_000)]
        );
        assert_eq!(acks(1, 1), [(vec![1], false, 1_000)]);
    }

    #[test]
    fn the_bytes_of_a_part_are_lost_when_the_next_one_comes() {
        assert_eq!(losses(0, 0), [(vec![], true, 1_000)]);
        // 1 + 2 + ... + 8 = 36, 9 + ... + 16 = 100.
        assert_eq!(
            losses(17, 0),
            [((1..=8).collect(), false, 1_000), ((9..=16).collect(), false, 1_036), (vec![17], true, 1_136)]
        );
        assert_eq!(losses(9, 1), [((1..=8).collect(), false, 1_000), (vec![9], false, 1_036)]);
    }

    #[test]
    fn one_bad_packet_keeps_all_of_the_frame_from_the_controller() {
        let mut recorder = Recorder::default();
        let mut packets = [FfiAckedPacket::default(); 10];
        packets[9].space = 3;
        let ack = FfiAck::default().to_core().expect("a good event");
        assert_eq!(deliver_acks(&mut recorder, &path(), ack, &packets), Err(Status::InvalidEnum));
        assert!(recorder.calls.is_empty());
    }
}
