//! The bookkeeping of one network path through C: for a stack that keeps nothing.
//!
//! A `ccffi_path` owns a controller and everything that it must be told: RTT estimator, delivery-rate sampler, bytes in flight, pacer,
//! persistent congestion, and a ring of packets in flight; loss detection after RFC 9002 section 6.1 is an option. The stack asks
//! `ccffi_path_poll_send`, reports `ccffi_path_on_packet_sent` and keeps the number that it gets beside its own packet number. Per
//! ACK frame it names the parts, in any order (`ccffi_path_acked`, `ccffi_path_lost`, `ccffi_path_ecn`), and ends with
//! `ccffi_path_finish`. [`cc_core::Path`] documents what each does in full.

#![expect(unsafe_code, reason = "names that C links to, and pointers from C")]

use crate::info::check_version;
use crate::memory::{Object, open, open_mut, place, read, tag, write};
use crate::status::status_of;
use crate::types::Raw;
use crate::{
    AnyController, FfiFrameEnd, FfiFrameReport, FfiOutgoingPacket, FfiOutputs, FfiOutstanding, FfiPathConfig,
    FfiPathState, FfiSendDecision, FfiSetup, FfiSnapshot, Status,
};
use cc_core::{
    AckPolicy, CongestionController, Duration, EcnCounts, FrameReport, Instant, Path, PathConfig,
    PeerInstant, ResumeHint,
};
use core::ffi::c_void;

/// Capacities of a path: packets in flight that it has room for.
const SMALL: usize = 64;
const MEDIUM: usize = 512;
const LARGE: usize = 4_096;

/// Bytes that a path takes beside 32 for each packet in flight that it has room for, at most.
pub const CCFFI_PATH_OVERHEAD: usize = 4_096;

/// Bytes that a path takes for each packet in flight that it has room for.
pub const CCFFI_PATH_BYTES_PER_PACKET: usize = 32;

const SMALL_TAG: u64 = u64::from_be_bytes(*b"ccffis\0\x01");
const MEDIUM_TAG: u64 = u64::from_be_bytes(*b"ccffim\0\x01");
const LARGE_TAG: u64 = u64::from_be_bytes(*b"ccffil\0\x01");

/// A network path. Only its size and alignment are anybody's business.
#[derive(Debug)]
pub struct FfiPath(());

type Placed<const N: usize> = Object<Path<AnyController, N>>;

const fn fits<const N: usize>() -> bool {
    size_of::<Placed<N>>()
        <= CCFFI_PATH_OVERHEAD.saturating_add(CCFFI_PATH_BYTES_PER_PACKET.saturating_mul(N))
        && align_of::<Placed<N>>() <= align_of::<u64>()
}

const _: () = assert!(fits::<SMALL>() && fits::<MEDIUM>() && fits::<LARGE>(), "raise CCFFI_PATH_OVERHEAD");

/// Does the same with a path of whatever capacity.
///
/// Only inside an `unsafe` block of a function whose caller keeps the contract of the module.
macro_rules! with_path {
    ($open:ident $handle:expr, |$path:ident| $body:expr) => {{
        let handle = $handle.cast();
        match tag(handle) {
            Ok(SMALL_TAG) => $open(handle, SMALL_TAG).and_then(|$path: with_path!(@$open SMALL)| $body),
            Ok(MEDIUM_TAG) => $open(handle, MEDIUM_TAG).and_then(|$path: with_path!(@$open MEDIUM)| $body),
            Ok(LARGE_TAG) => $open(handle, LARGE_TAG).and_then(|$path: with_path!(@$open LARGE)| $body),
            Ok(_) => Err(Status::NotAnObject),
            Err(status) => Err(status),
        }
    }};
    (@open $capacity:ident) => { &Path<AnyController, $capacity> };
    (@open_mut $capacity:ident) => { &mut Path<AnyController, $capacity> };
}

/// Does the same with a path of whatever capacity, to change it.
///
/// As for `with_path`.
macro_rules! change {
    ($handle:ident, |$path:ident| $body:expr) => {
        with_path!(open_mut $handle, |$path| {
            $body;
            Ok(())
        })
    };
}

/// Bytes that a path for `capacity` packets in flight takes: 64, 512 or 4096. 0 for any other capacity.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_path_size(capacity: usize) -> usize {
    match capacity {
        SMALL => size_of::<Placed<SMALL>>(),
        MEDIUM => size_of::<Placed<MEDIUM>>(),
        LARGE => size_of::<Placed<LARGE>>(),
        _ => 0,
    }
}

/// Alignment of a path in bytes: no more than that of `uint64_t`.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_path_align() -> usize {
    align_of::<Placed<SMALL>>()
}

/// Makes a path in `memory`, which has `size` bytes: `ccffi_path_size(capacity)`, or the constant `CCFFI_PATH_SIZE(capacity)`, which
/// is a little more. From then on `memory` is a `ccffi_path *`. `capacity` is 64, 512 or 4096 packets in flight. A release build
/// makes the path in place, with about a kilobyte of stack; a debug build makes it on the stack first.
///
/// `abi_version` is `CCFFI_ABI_VERSION`. `algorithm` is one of `CCFFI_ALGORITHM_...`.
///
/// Fails also with `CCFFI_STATUS_UNKNOWN_CAPACITY`, `CCFFI_STATUS_TOO_SMALL`, `CCFFI_STATUS_ABI_VERSION`,
/// `CCFFI_STATUS_UNKNOWN_ALGORITHM`, `CCFFI_STATUS_INVALID_ENUM`, `CCFFI_STATUS_INVALID_HAS` or
/// `CCFFI_STATUS_INVALID_DATAGRAM_SIZE`.
///
/// # Safety
///
/// `memory` is NULL or points to `size` bytes that nobody else uses during the call; `setup` and `config` are NULL or point to
/// initialised structs outside of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_init(
    memory: *mut c_void,
    size: usize,
    abi_version: u32,
    capacity: usize,
    algorithm: u32,
    setup: *const FfiSetup,
    config: *const FfiPathConfig,
) -> Status {
    let init = || {
        check_version(abi_version)?;
        // SAFETY: the caller's promise.
        let setup = unsafe { read(setup) }?.to_core()?;
        // SAFETY: the caller's promise.
        let config = unsafe { read(config) }?.to_core(&setup)?;
        let controller = AnyController::new(algorithm, &setup).ok_or(Status::UnknownAlgorithm)?;
        // SAFETY: the caller's promise.
        unsafe {
            match capacity {
                SMALL => init_path::<SMALL>(memory, size, SMALL_TAG, controller, config),
                MEDIUM => init_path::<MEDIUM>(memory, size, MEDIUM_TAG, controller, config),
                LARGE => init_path::<LARGE>(memory, size, LARGE_TAG, controller, config),
                _ => Err(Status::UnknownCapacity),
            }
        }
    };
    status_of(init())
}

/// # Safety
///
/// As for [`place`].
unsafe fn init_path<const N: usize>(
    memory: *mut c_void,
    size: usize,
    tag: u64,
    controller: AnyController,
    config: PathConfig,
) -> Result<(), Status> {
    // SAFETY: the caller's promise.
    unsafe { place(memory, size, tag, || Path::<_, N>::new(controller, config)) }
}

/// Writes to `decision` whether a packet of `bytes` bytes may be sent at `now`, by window and pacer. Not to be asked for probes and
/// ACK-only packets.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_poll_send(
    path: *mut FfiPath,
    now: u64,
    bytes: u64,
    decision: *mut FfiSendDecision,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open_mut path, |path| {
            write(decision, FfiSendDecision::default())?;
            write(decision, FfiSendDecision::from_core(path.poll_send(Instant::from_nanos(now), bytes)))
        })
    })
}

/// A packet was handed to the network. Writes its number to `number`. A packet that is not in flight (ACK-only) takes no number: what
/// is written is the number that the next packet in flight will get.
///
/// Fails also with `CCFFI_STATUS_RING_FULL` or `CCFFI_STATUS_INVALID_ENUM`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_on_packet_sent(
    path: *mut FfiPath,
    now: u64,
    packet: *const FfiOutgoingPacket,
    number: *mut u64,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open_mut path, |path| {
            let packet = read(packet)?.to_core()?;
            write(number, path.next_number())?;
            let given = path.on_packet_sent(Instant::from_nanos(now), &packet).map_err(|_| Status::RingFull)?;
            write(number, given)
        })
    })
}

/// A part of a frame: the packet is acked, whether or not it was acked before. Of an ACK frame's ranges, naming the newly acked
/// packets is enough. Takes effect with `ccffi_path_finish`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_acked(path: *mut FfiPath, number: u64) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.acked(number, None)) })
}

/// The same with the time at which the peer received the packet, on the peer's clock, nanoseconds (draft-ietf-quic-receive-ts).
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_acked_at(path: *mut FfiPath, number: u64, received_at: u64) -> Status {
    let received_at = Some(PeerInstant::from_nanos(received_at));
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.acked(number, received_at)) })
}

/// A part of a frame: the packet is declared lost. Ignored unless it is in flight; an ack of the same frame wins.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_lost(path: *mut FfiPath, number: u64) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.lost(number)) })
}

/// A part of a frame: validated increases of the peer's ECN counts.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_ecn(path: *mut FfiPath, ce: u64, ect0: u64, ect1: u64) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.ecn(EcnCounts { ce, ect0, ect1 })) })
}

/// The frame is complete: settles its packets and tells the controller. Writes what it came to to `report`, which may be NULL.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM` or `CCFFI_STATUS_INVALID_HAS`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_finish(
    path: *mut FfiPath,
    now: u64,
    end: *const FfiFrameEnd,
    report: *mut FfiFrameReport,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open_mut path, |path| {
            let end = read(end)?.to_core()?;
            report_to(report, || path.finish(Instant::from_nanos(now), end))
        })
    })
}

/// Writes to `given` whether `ccffi_path_on_loss_timeout` is to be called, and if so to `deadline` when: never without loss
/// detection by the path.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_loss_deadline(
    path: *const FfiPath,
    deadline: *mut u64,
    given: *mut u8,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open path, |path| {
            let found = path.loss_deadline();
            write(deadline, found.unwrap_or_default().as_nanos())?;
            write(given, found.is_some().into())
        })
    })
}

/// The loss deadline has passed: declares lost what has become so. Writes what it came to to `report`, which may be NULL.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_on_loss_timeout(
    path: *mut FfiPath,
    now: u64,
    report: *mut FfiFrameReport,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open_mut path, |path| report_to(report, || path.on_loss_timeout(Instant::from_nanos(now))))
    })
}

/// No data is left to send although window and pacer allow it.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_on_app_limited(path: *mut FfiPath, now: u64) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.on_app_limited(Instant::from_nanos(now))) })
}

/// Says what stopped the last attempt to send (`ccffi_send_limit`), for a stack that is held back by something else than
/// `ccffi_path_poll_send`.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_note_limit(path: *mut FfiPath, limit: u32) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.note_limit(Raw::from_raw(limit)?)) })
}

/// Writes to `departure` when the pacer lets a packet of `bytes` bytes leave, whatever the window says; `now` or earlier is at once.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_departure(
    path: *mut FfiPath,
    now: u64,
    bytes: u64,
    departure: *mut u64,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open_mut path, |path| {
            write(departure, 0)?;
            write(departure, path.departure(Instant::from_nanos(now), bytes).as_nanos())
        })
    })
}

/// Writes to `bytes` how many bytes the pacer lets leave at `now`, whatever the window says; `UINT64_MAX` if unpaced.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_pacing_allowance(
    path: *mut FfiPath,
    now: u64,
    bytes: *mut u64,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open_mut path, |path| {
            write(bytes, 0)?;
            write(bytes, path.pacing_allowance(Instant::from_nanos(now)))
        })
    })
}

/// Writes to `bytes` the most that may be in flight: the congestion window, or what the free entries of the ring allow.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_window(path: *const FfiPath, bytes: *mut u64) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { with_path!(open path, |path| write(bytes, path.window())) })
}

/// Writes the state of the path, as an event at `now` would carry it, to `state`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_get_state(
    path: *const FfiPath,
    now: u64,
    state: *mut FfiPathState,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open path, |path| {
            write(state, FfiPathState::from_core(&path.state(Instant::from_nanos(now))))
        })
    })
}

/// Writes what the path's controller asks for to `outputs`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_get_outputs(path: *const FfiPath, outputs: *mut FfiOutputs) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { with_path!(open path, |path| write(outputs, FfiOutputs::of(path.controller()))) })
}

/// Writes the state of the path's controller for logs to `snapshot`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_get_snapshot(path: *const FfiPath, snapshot: *mut FfiSnapshot) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open path, |path| write(snapshot, FfiSnapshot::from_core(&path.controller().snapshot())))
    })
}

/// Writes to `given` whether a packet is in flight whose number is `first` or higher, and if so the one with the lowest number to
/// `packet`. A walk over all packets in flight begins with 0 and goes on with the number found, plus 1.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_next_outstanding(
    path: *const FfiPath,
    first: u64,
    packet: *mut FfiOutstanding,
    given: *mut u8,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        with_path!(open path, |path| {
            let found = path.outstanding().find(|packet| packet.number >= first);
            write(packet, found.as_ref().map(FfiOutstanding::from_core).unwrap_or_default())?;
            write(given, found.is_some().into())
        })
    })
}

/// Whether the handshake has finished at this endpoint: 0 or not. It counts as finished in a new path.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_set_handshake_ready(path: *mut FfiPath, ready: u8) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.set_handshake_ready(ready != 0)) })
}

/// The maximum datagram size changed; clamped to 65 527 bytes. `change` is a `ccffi_mtu_change`.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM` or `CCFFI_STATUS_INVALID_DATAGRAM_SIZE`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_set_max_datagram_size(
    path: *mut FfiPath,
    now: u64,
    bytes: u64,
    change: u32,
) -> Status {
    if bytes == 0 {
        return Status::InvalidDatagramSize;
    }
    // SAFETY: the caller's promise.
    status_of(unsafe {
        change!(path, |path| path.set_max_datagram_size(
            Instant::from_nanos(now),
            bytes,
            Raw::from_raw(change)?
        ))
    })
}

/// State of an earlier connection on the path became known (RFC 9959): its congestion window in bytes, and its minimum RTT in
/// nanoseconds.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_resume(path: *mut FfiPath, now: u64, cwnd: u64, rtt: u64) -> Status {
    let hint = ResumeHint { cwnd, rtt: Duration::from_nanos(rtt) };
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.resume(Instant::from_nanos(now), &hint)) })
}

/// The network path changed (`ccffi_path_change`). On a new path packets sent so far are no longer looked at.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_changed(path: *mut FfiPath, now: u64, change: u32) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        change!(path, |path| path.path_changed(Instant::from_nanos(now), Raw::from_raw(change)?))
    })
}

/// The peer's ACK policy changed: ack-eliciting packets per ACK, and maximum ack delay in nanoseconds.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_set_ack_policy(
    path: *mut FfiPath,
    now: u64,
    packets: u64,
    max_ack_delay: u64,
) -> Status {
    let policy = AckPolicy { packets, max_ack_delay: Duration::from_nanos(max_ack_delay) };
    // SAFETY: the caller's promise.
    status_of(unsafe { change!(path, |path| path.set_ack_policy(Instant::from_nanos(now), &policy)) })
}

/// The ECN codepoint in use changed (`ccffi_ecn`); `CCFFI_ECN_NOT_ECT` after failed validation.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_set_ecn_state(path: *mut FfiPath, now: u64, codepoint: u32) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        change!(path, |path| path.set_ecn_state(Instant::from_nanos(now), Raw::from_raw(codepoint)?))
    })
}

/// The packet left the network without being acked or lost (`ccffi_discard_reason`): a lost path MTU probe, for instance. Ignored
/// unless it is in flight.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_discard(
    path: *mut FfiPath,
    now: u64,
    number: u64,
    reason: u32,
) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        change!(path, |path| path.discard(Instant::from_nanos(now), number, Raw::from_raw(reason)?))
    })
}

/// The keys of a packet number space (`ccffi_space`) were dropped: its packets leave the flight.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_path_discard_space(path: *mut FfiPath, now: u64, space: u32) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe {
        change!(path, |path| path.discard_space(Instant::from_nanos(now), Raw::from_raw(space)?))
    })
}

/// Writes the report unless it is not wanted.
///
/// # Safety
///
/// `report` is NULL, or points to memory for a report that nobody else uses during the call.
unsafe fn report_to(report: *mut FfiFrameReport, finish: impl FnOnce() -> FrameReport) -> Result<(), Status> {
    if report.is_null() {
        finish();
        return Ok(());
    }
    // SAFETY: the caller's promise. Written before anything changes, so that a bad pointer leaves the path as it is.
    unsafe { write(report, FfiFrameReport::default()) }?;
    let report_of_frame = FfiFrameReport::from_core(&finish());
    // SAFETY: the caller's promise.
    unsafe { write(report, report_of_frame) }
}
