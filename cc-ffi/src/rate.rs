//! A delivery-rate sampler through C (draft-ietf-ccwg-bbr, "Delivery Rate Samples", and C4's reference rule).
//!
//! A stack keeps one per path, asks it for a `ccffi_packet_snapshot` with every packet sent in flight, stores that with the packet,
//! and hands it back with the ack. Once per ACK frame `ccffi_rate_finish_frame` gives the sample for `ccffi_ack`. Losses of the
//! frame are told before its acks.

#![expect(unsafe_code, reason = "names that C links to, and pointers from C")]

use crate::info::check_version;
use crate::memory::{Object, open, open_mut, place, read, write};
use crate::status::status_of;
use crate::{FfiAckedPacket, FfiPacketSnapshot, FfiRateSample, FfiSamplingRule, Status};
use cc_core::{DeliveryRate, Duration, Instant, SamplingRule};
use core::ffi::c_void;

/// Room for a sampler, in units of eight bytes. `ccffi_rate_size` is what is used.
pub const CCFFI_RATE_WORDS: usize = 48;

/// First eight bytes of a sampler.
const TAG: u64 = u64::from_be_bytes(*b"ccffi\0R\x01");

/// A delivery-rate sampler. Only its size and alignment are anybody's business.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FfiRate {
    /// Not to be looked at.
    pub opaque: [u64; CCFFI_RATE_WORDS],
}

const _: () = {
    assert!(size_of::<Object<DeliveryRate>>() <= size_of::<FfiRate>(), "raise CCFFI_RATE_WORDS");
    assert!(align_of::<Object<DeliveryRate>>() <= align_of::<FfiRate>());
};

/// Bytes that a sampler takes.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_rate_size() -> usize {
    size_of::<Object<DeliveryRate>>()
}

/// Alignment of a sampler in bytes: no more than that of `uint64_t`.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_rate_align() -> usize {
    align_of::<Object<DeliveryRate>>()
}

/// Makes a sampler in `memory`, which has `size` bytes. `sampling_rule` and `min_ack_interval` (nanoseconds) are those of the
/// controller's `ccffi_outputs`; the latter is looked at only with `CCFFI_SAMPLING_RULE_LAST_ACCEPTED_SAMPLE`.
///
/// Fails also with `CCFFI_STATUS_TOO_SMALL`, `CCFFI_STATUS_ABI_VERSION` or `CCFFI_STATUS_INVALID_ENUM`.
///
/// # Safety
///
/// `memory` is NULL or points to `size` bytes that nobody else uses during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_init(
    memory: *mut c_void,
    size: usize,
    abi_version: u32,
    sampling_rule: u32,
    min_ack_interval: u64,
) -> Status {
    let init = || {
        check_version(abi_version)?;
        let rule = match sampling_rule {
            rule if rule == FfiSamplingRule::LastAck as u32 => SamplingRule::LastAck,
            rule if rule == FfiSamplingRule::LastAcceptedSample as u32 => {
                SamplingRule::LastAcceptedSample { min_ack_interval: Duration::from_nanos(min_ack_interval) }
            }
            _ => return Err(Status::InvalidEnum),
        };
        // SAFETY: the caller's promise.
        unsafe { place(memory, size, TAG, || DeliveryRate::new(rule)) }
    };
    status_of(init())
}

/// A packet that counts in flight is sent at `sent_at`: writes what is to be stored with it to `snapshot`. Bytes in flight are
/// those before it, and with it.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_on_sent(
    rate: *mut FfiRate,
    sent_at: u64,
    bytes_in_flight_before: u64,
    bytes_in_flight_after: u64,
    snapshot: *mut FfiPacketSnapshot,
) -> Status {
    let sent = || {
        // SAFETY: the caller's promise. Written before anything changes, so that a bad pointer leaves the sampler as it is.
        unsafe { write(snapshot, FfiPacketSnapshot::default()) }?;
        // SAFETY: the caller's promise.
        let rate: &mut DeliveryRate = unsafe { open_mut(rate.cast(), TAG) }?;
        let stored =
            rate.on_sent(Instant::from_nanos(sent_at), bytes_in_flight_before, bytes_in_flight_after);
        // SAFETY: the caller's promise.
        unsafe { write(snapshot, FfiPacketSnapshot::from_core(&stored)) }
    };
    status_of(sent())
}

/// A packet was newly acked at `now`. Of `packet`, its number, send time, bytes, snapshot and `was_lost` count; without a snapshot
/// its bytes count as delivered and it gives no sample.
///
/// Fails also with `CCFFI_STATUS_INVALID_ENUM` or `CCFFI_STATUS_INVALID_HAS`.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_on_acked(
    rate: *mut FfiRate,
    now: u64,
    packet: *const FfiAckedPacket,
) -> Status {
    let acked = || {
        // SAFETY: the caller's promise.
        let rate: &mut DeliveryRate = unsafe { open_mut(rate.cast(), TAG) }?;
        // SAFETY: the caller's promise.
        let packet = unsafe { read(packet) }?.to_core()?;
        let snapshot = packet.snapshot.unwrap_or_default();
        let now = Instant::from_nanos(now);
        rate.on_acked(now, packet.number, packet.sent_at, packet.bytes, &snapshot, packet.was_lost);
        Ok(())
    };
    status_of(acked())
}

/// `bytes` were declared lost.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_on_lost(rate: *mut FfiRate, bytes: u64) -> Status {
    // SAFETY: the caller's promise.
    unsafe { change(rate, |rate| rate.on_lost(bytes)) }
}

/// `bytes` left the network without being acked or lost.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_on_discarded(rate: *mut FfiRate, bytes: u64) -> Status {
    // SAFETY: the caller's promise.
    unsafe { change(rate, |rate| rate.on_discarded(bytes)) }
}

/// Window and pacer allow sending, and no data is left; also called where a controller's `marks_app_limited` is set.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_on_app_limited(rate: *mut FfiRate, bytes_in_flight: u64) -> Status {
    // SAFETY: the caller's promise.
    unsafe { change(rate, |rate| rate.on_app_limited(bytes_in_flight)) }
}

/// The path changed: packets sent from now on start from a new reference point. Totals go on.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_reset_reference(rate: *mut FfiRate) -> Status {
    // SAFETY: the caller's promise.
    unsafe { change(rate, DeliveryRate::reset_reference) }
}

/// All packets of the frame were given. Writes 1 to `given` and the raw sample to `sample`, or 0 to `given` if none was acked.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_finish_frame(
    rate: *mut FfiRate,
    now: u64,
    sample: *mut FfiRateSample,
    given: *mut u8,
) -> Status {
    let finish = || {
        // SAFETY: the caller's promise. Both are written before anything changes.
        unsafe { write(sample, FfiRateSample::default()) }?;
        // SAFETY: the caller's promise.
        unsafe { write(given, 0_u8) }?;
        // SAFETY: the caller's promise.
        let rate: &mut DeliveryRate = unsafe { open_mut(rate.cast(), TAG) }?;
        let Some(taken) = rate.finish_frame(Instant::from_nanos(now)) else { return Ok(()) };
        // SAFETY: the caller's promise.
        unsafe { write(sample, FfiRateSample::from_core(&taken)) }?;
        // SAFETY: the caller's promise.
        unsafe { write(given, 1_u8) }
    };
    status_of(finish())
}

/// Writes the totals that `ccffi_path_state` wants: bytes delivered, bytes declared lost, and whether a packet sent now would be
/// marked application-limited.
///
/// # Safety
///
/// The common contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_rate_totals(
    rate: *const FfiRate,
    delivered: *mut u64,
    lost: *mut u64,
    app_limited: *mut u8,
) -> Status {
    let totals = || {
        // SAFETY: the caller's promise.
        let rate: &DeliveryRate = unsafe { open(rate.cast(), TAG) }?;
        // SAFETY: the caller's promise.
        unsafe { write(delivered, rate.delivered()) }?;
        // SAFETY: the caller's promise.
        unsafe { write(lost, rate.lost()) }?;
        // SAFETY: the caller's promise.
        unsafe { write(app_limited, rate.is_app_limited().into()) }
    };
    status_of(totals())
}

/// # Safety
///
/// The common contract.
unsafe fn change(rate: *mut FfiRate, change: impl FnOnce(&mut DeliveryRate)) -> Status {
    // SAFETY: the caller's promise.
    status_of(unsafe { open_mut(rate.cast(), TAG) }.map(change))
}
