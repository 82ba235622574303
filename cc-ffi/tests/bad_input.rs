//! Arguments that no caller should give: a status code, and no object has changed.
#![expect(unsafe_code, reason = "calls the C functions")]

use cc_ffi::controller::*;
use cc_ffi::info::*;
use cc_ffi::path::*;
use cc_ffi::rate::*;
use cc_ffi::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

const SIZE: usize = size_of::<FfiController>();

fn setup() -> FfiSetup {
    FfiSetup { max_datagram_size: 1_200, ..FfiSetup::default() }
}

fn path_state() -> FfiPathState {
    FfiPathState { max_datagram_size: 1_200, ..FfiPathState::default() }
}

fn init(memory: *mut c_void, size: usize, version: u32, algorithm: u32, setup: *const FfiSetup) -> Status {
    // SAFETY: every test gives memory of at least `size` bytes, or what is to be refused.
    unsafe { ccffi_controller_init(memory, size, version, algorithm, setup) }
}

fn controller() -> Box<FfiController> {
    let mut memory = Box::new(FfiController { opaque: [0; CCFFI_CONTROLLER_WORDS] });
    let setup = setup();
    let status = init((&raw mut *memory).cast(), SIZE, CCFFI_ABI_VERSION, 1, &raw const setup);
    assert_eq!(status, Status::Ok);
    memory
}

/// What a controller answers to a few events that reach most of its state. Two controllers in the same state give the same.
fn future(c: *mut FfiController) -> Vec<(FfiOutputs, FfiSnapshot)> {
    let mut answers = Vec::new();
    for round in 1..40_u64 {
        let now = round * 20_000_000;
        let state = FfiPathState {
            now,
            delivered: round * 12_000,
            next_number: round * 10,
            bytes_in_flight: 12_000,
            prior_bytes_in_flight: 24_000,
            latest_rtt: 20_000_000,
            smoothed_rtt: 20_000_000,
            min_rtt: 20_000_000,
            rtt_var: 1_000_000,
            has: CCFFI_PATH_HAS_RTT,
            ..path_state()
        };
        let sent_at = now - 20_000_000;
        let acked = FfiAckedPacket {
            number: round * 10 - 1,
            sent_at,
            bytes: 12_000,
            has: CCFFI_ACKED_HAS_NUMBER,
            ..FfiAckedPacket::default()
        };
        let lost = FfiLostPacket {
            number: round * 10 - 2,
            sent_at,
            bytes: 1_200,
            has: CCFFI_LOST_HAS_NUMBER,
            ..FfiLostPacket::default()
        };
        let rtt = FfiRtt { latest: 20_000_000, is_sample: 1, ..FfiRtt::default() };
        let ack = FfiAck { max_bytes_in_flight: 24_000, limited_by: 1, ..FfiAck::default() };
        let loss = FfiLoss::default();
        let (mut outputs, mut snapshot) = (FfiOutputs::default(), FfiSnapshot::default());
        let state = &raw const state;
        // SAFETY: a controller, and structs.
        let statuses = unsafe {
            [
                ccffi_on_rtt(c, state, &raw const rtt),
                ccffi_on_loss(c, state, &raw const loss, &raw const lost, usize::from(round % 8 == 0)),
                ccffi_on_ack(c, state, &raw const ack, &raw const acked, 1),
                ccffi_get_outputs(c, &raw mut outputs),
                ccffi_get_snapshot(c, &raw mut snapshot),
            ]
        };
        assert_eq!(statuses, [Status::Ok; 5]);
        answers.push((outputs, snapshot));
    }
    answers
}

/// Fails unless what was refused left the controller as it was.
fn assert_unchanged(mut memory: Box<FfiController>) {
    assert_eq!(future(&raw mut *memory), future(&raw mut *controller()));
}

/// A call of every event, with every pointer as given.
fn events(c: *mut FfiController, path: *const FfiPathState, none: bool) -> Vec<(&'static str, bool, Status)> {
    let (packet, ack, loss, ecn, rtt, spurious) = (
        FfiSentPacket::default(),
        FfiAck::default(),
        FfiLoss::default(),
        FfiEcnEvent::default(),
        FfiRtt::default(),
        FfiSpuriousLoss::default(),
    );
    let acked = [FfiAckedPacket::default()];
    let lost = [FfiLostPacket::default()];
    macro_rules! or_null {
        ($value:ident) => {
            if none { null() } else { &raw const $value }
        };
    }
    let (acked, lost) = if none { (null(), null()) } else { (acked.as_ptr(), lost.as_ptr()) };
    // SAFETY: every pointer is null or points to a struct; a controller of zeros or of another kind is refused.
    unsafe {
        vec![
            ("sent", true, ccffi_on_packet_sent(c, path, or_null!(packet))),
            ("ack", true, ccffi_on_ack(c, path, or_null!(ack), acked, 1)),
            ("acked", true, ccffi_on_ack(c, path, &raw const ack, acked, 1)),
            ("loss", true, ccffi_on_loss(c, path, or_null!(loss), lost, 1)),
            ("lost", true, ccffi_on_loss(c, path, &raw const loss, lost, 1)),
            ("ecn", true, ccffi_on_ecn(c, path, or_null!(ecn))),
            ("rtt", true, ccffi_on_rtt(c, path, or_null!(rtt))),
            ("spurious", true, ccffi_on_spurious_loss(c, path, or_null!(spurious))),
            ("spurious all", false, ccffi_on_spurious_losses(c, path)),
            ("app limited", false, ccffi_on_app_limited(c, path)),
            ("idle", false, ccffi_on_idle_restart(c, path, 1)),
            ("discarded", false, ccffi_on_discarded(c, path, 1, 1)),
            ("mtu", false, ccffi_on_mtu_update(c, path, 2)),
            ("path", false, ccffi_on_path_change(c, path, 1)),
            ("resume", false, ccffi_on_resume_hint(c, path, 1, 1)),
            ("policy", false, ccffi_on_ack_policy(c, path, 1, 1)),
            ("ecn state", false, ccffi_on_ecn_state(c, path, 1)),
        ]
    }
}

#[test]
fn null_pointers_are_refused_by_every_event() {
    let state = path_state();
    for (name, _, status) in events(null_mut(), &raw const state, false) {
        assert_eq!(status, Status::NullPointer, "controller of {name}");
    }
    let mut memory = controller();
    for (name, _, status) in events(&raw mut *memory, null(), false) {
        assert_eq!(status, Status::NullPointer, "path of {name}");
    }
    assert_unchanged(memory);
    let mut memory = controller();
    for (name, has_argument, status) in events(&raw mut *memory, &raw const state, true) {
        let expected = if has_argument { Status::NullPointer } else { Status::Ok };
        assert_eq!(status, expected, "argument of {name}");
    }
    for (name, _, status) in events(&raw mut *memory, &raw const state, false) {
        assert_eq!(status, Status::Ok, "{name}");
    }
}

#[test]
fn getters_refuse_null_pointers_and_what_is_no_controller() {
    let memory = controller();
    let zeros = FfiController { opaque: [0; CCFFI_CONTROLLER_WORDS] };
    let (c, zeros) = (&raw const *memory, &raw const zeros);
    let (mut outputs, mut snapshot) = (FfiOutputs::default(), FfiSnapshot::default());
    // SAFETY: null, zeros, or a controller.
    unsafe {
        assert_eq!(ccffi_get_outputs(c, null_mut()), Status::NullPointer);
        assert_eq!(ccffi_get_snapshot(c, null_mut()), Status::NullPointer);
        assert_eq!(ccffi_get_outputs(null(), &raw mut outputs), Status::NullPointer);
        assert_eq!(ccffi_get_snapshot(null(), &raw mut snapshot), Status::NullPointer);
        assert_eq!(ccffi_get_outputs(zeros, &raw mut outputs), Status::NotAnObject);
        assert_eq!(ccffi_get_snapshot(zeros, &raw mut snapshot), Status::NotAnObject);
        assert_eq!((ccffi_get_cwnd(null()), ccffi_get_pacing_rate(null())), (0, 0));
        assert_eq!((ccffi_get_cwnd(zeros), ccffi_get_pacing_rate(zeros)), (0, 0));
        assert_ne!((ccffi_get_cwnd(c), ccffi_get_pacing_rate(c)), (0, 0));
    }
}

#[test]
fn memory_that_is_misaligned_or_too_small_is_refused() {
    let mut memory = vec![0_u64; SIZE / 8 + 1];
    let base: *mut u8 = memory.as_mut_ptr().cast();
    let size = ccffi_controller_size();
    assert!(size <= SIZE && ccffi_controller_align() <= 8);
    let setup = setup();
    // SAFETY: within the vector.
    let odd = unsafe { base.add(1) };
    assert_eq!(init(odd.cast(), SIZE, CCFFI_ABI_VERSION, 1, &raw const setup), Status::Misaligned);
    for small in [0, 1, 8, size - 1] {
        assert_eq!(
            init(base.cast(), small, CCFFI_ABI_VERSION, 1, &raw const setup),
            Status::TooSmall,
            "{small}"
        );
    }
    assert_eq!(init(null_mut(), SIZE, CCFFI_ABI_VERSION, 1, &raw const setup), Status::NullPointer);
    assert!(memory.iter().all(|word| *word == 0), "nothing was written");
    assert_eq!(init(base.cast(), size, CCFFI_ABI_VERSION, 1, &raw const setup), Status::Ok);

    let state = path_state();
    for (name, _, status) in events(odd.cast(), &raw const state, false) {
        assert_eq!(status, Status::Misaligned, "{name}");
    }
    let mut states = [path_state(), path_state()];
    // SAFETY: within the array.
    let odd_state = unsafe { (&raw mut states).cast::<u8>().add(1) };
    for (name, _, status) in events(base.cast(), odd_state.cast(), false) {
        assert_eq!(status, Status::Misaligned, "path of {name}");
    }
}

#[test]
fn a_setup_that_means_nothing_is_refused() {
    let mut memory = Box::new(FfiController { opaque: [0; CCFFI_CONTROLLER_WORDS] });
    let at: *mut c_void = (&raw mut *memory).cast();
    let good = setup();
    assert_eq!(init(at, SIZE, CCFFI_ABI_VERSION, 1, null()), Status::NullPointer);
    for version in [0, CCFFI_ABI_VERSION + 1, u32::MAX] {
        assert_eq!(init(at, SIZE, version, 1, &raw const good), Status::AbiVersion);
    }
    for algorithm in [0, ALGORITHMS.len() as u32 + 100, u32::MAX] {
        assert_eq!(init(at, SIZE, CCFFI_ABI_VERSION, algorithm, &raw const good), Status::UnknownAlgorithm);
    }
    for (bad, expected) in [
        (FfiSetup { max_datagram_size: 0, ..good }, Status::InvalidDatagramSize),
        (FfiSetup { ecn: 3, ..good }, Status::InvalidEnum),
        (FfiSetup { ecn: u32::MAX, ..good }, Status::InvalidEnum),
        (FfiSetup { has: 8, ..good }, Status::InvalidHas),
        (FfiSetup { has: u32::MAX, ..good }, Status::InvalidHas),
    ] {
        assert_eq!(init(at, SIZE, CCFFI_ABI_VERSION, 1, &raw const bad), expected, "{bad:?}");
    }
    assert!(memory.opaque.iter().all(|word| *word == 0), "nothing was written");
    // Absurd numbers are no error: the controllers clamp them.
    let absurd = FfiSetup {
        now: u64::MAX,
        max_datagram_size: u64::MAX,
        initial_window: u64::MAX,
        initial_rtt: u64::MAX,
        resume_cwnd: u64::MAX,
        resume_rtt: u64::MAX,
        has: 7,
        unpaced: 255,
        ..good
    };
    for algorithm in ALGORITHMS {
        assert_eq!(init(at, SIZE, CCFFI_ABI_VERSION, algorithm.number, &raw const absurd), Status::Ok);
    }
}

#[test]
fn numbers_that_name_nothing_and_unknown_bits_are_refused_and_change_nothing() {
    let mut memory = controller();
    let c = &raw mut *memory;
    let state = path_state();
    let path = &raw const state;
    let bad_state = FfiPathState { has: 4, ..state };
    let no_size = FfiPathState { max_datagram_size: 0, ..state };
    for (name, _, status) in events(c, &raw const bad_state, false) {
        assert_eq!(status, Status::InvalidHas, "{name}");
    }
    for (name, _, status) in events(c, &raw const no_size, false) {
        assert_eq!(status, Status::InvalidDatagramSize, "{name}");
    }
    let ack = FfiAck::default();
    let loss = FfiLoss::default();
    let acked = FfiAckedPacket::default();
    let lost = FfiLostPacket::default();
    let bad_snapshot = FfiPacketSnapshot { has: 2, ..FfiPacketSnapshot::default() };
    // SAFETY: a controller, and structs.
    let refused = unsafe {
        [
            (
                ccffi_on_packet_sent(c, path, &FfiSentPacket { space: 3, ..FfiSentPacket::default() }),
                Status::InvalidEnum,
            ),
            (
                ccffi_on_ack(c, path, &FfiAck { limited_by: 6, ..ack }, &raw const acked, 1),
                Status::InvalidEnum,
            ),
            (ccffi_on_ack(c, path, &FfiAck { has: 8, ..ack }, &raw const acked, 1), Status::InvalidHas),
            (
                ccffi_on_ack(
                    c,
                    path,
                    &FfiAck {
                        has: CCFFI_ACK_HAS_RATE_SAMPLE,
                        rate_sample: FfiRateSample { has: 2, ..FfiRateSample::default() },
                        ..ack
                    },
                    &raw const acked,
                    1,
                ),
                Status::InvalidHas,
            ),
            (
                ccffi_on_ack(c, path, &raw const ack, &FfiAckedPacket { space: 9, ..acked }, 1),
                Status::InvalidEnum,
            ),
            (
                ccffi_on_ack(c, path, &raw const ack, &FfiAckedPacket { has: 16, ..acked }, 1),
                Status::InvalidHas,
            ),
            (
                ccffi_on_ack(
                    c,
                    path,
                    &raw const ack,
                    &FfiAckedPacket { has: CCFFI_ACKED_HAS_SNAPSHOT, snapshot: bad_snapshot, ..acked },
                    1,
                ),
                Status::InvalidHas,
            ),
            (ccffi_on_loss(c, path, &FfiLoss { cause: 3, ..loss }, &raw const lost, 1), Status::InvalidEnum),
            (
                ccffi_on_loss(c, path, &raw const loss, &FfiLostPacket { space: 3, ..lost }, 1),
                Status::InvalidEnum,
            ),
            (
                ccffi_on_loss(c, path, &raw const loss, &FfiLostPacket { has: 8, ..lost }, 1),
                Status::InvalidHas,
            ),
            (ccffi_on_ecn(c, path, &FfiEcnEvent { space: 3, ..FfiEcnEvent::default() }), Status::InvalidEnum),
            (ccffi_on_ecn(c, path, &FfiEcnEvent { has: 32, ..FfiEcnEvent::default() }), Status::InvalidHas),
            (ccffi_on_rtt(c, path, &FfiRtt { space: 3, ..FfiRtt::default() }), Status::InvalidEnum),
            (ccffi_on_rtt(c, path, &FfiRtt { has: 2, ..FfiRtt::default() }), Status::InvalidHas),
            (
                ccffi_on_spurious_loss(c, path, &FfiSpuriousLoss { has: 2, ..FfiSpuriousLoss::default() }),
                Status::InvalidHas,
            ),
            (ccffi_on_discarded(c, path, 1, 0), Status::InvalidEnum),
            (ccffi_on_discarded(c, path, 1, 4), Status::InvalidEnum),
            (ccffi_on_mtu_update(c, path, 0), Status::InvalidEnum),
            (ccffi_on_mtu_update(c, path, 4), Status::InvalidEnum),
            (ccffi_on_path_change(c, path, 0), Status::InvalidEnum),
            (ccffi_on_path_change(c, path, 3), Status::InvalidEnum),
            (ccffi_on_ecn_state(c, path, 3), Status::InvalidEnum),
        ]
    };
    for (index, (status, expected)) in refused.into_iter().enumerate() {
        assert_eq!(status, expected, "call {index}");
    }
    assert_unchanged(memory);
}

#[test]
fn an_array_may_be_empty_and_one_bad_entry_refuses_all_of_it() {
    let mut memory = controller();
    let c = &raw mut *memory;
    let state = path_state();
    let (ack, loss) = (FfiAck::default(), FfiLoss::default());
    let dangling = std::ptr::without_provenance::<FfiAckedPacket>(7);
    // SAFETY: no entry is read where `count` is 0 or impossible.
    unsafe {
        assert_eq!(ccffi_on_ack(c, &raw const state, &raw const ack, null(), 0), Status::Ok);
        assert_eq!(ccffi_on_ack(c, &raw const state, &raw const ack, dangling, 0), Status::Ok);
        assert_eq!(ccffi_on_loss(c, &raw const state, &raw const loss, null(), 0), Status::Ok);
        assert_eq!(ccffi_on_ack(c, &raw const state, &raw const ack, null(), 1), Status::NullPointer);
        assert_eq!(
            ccffi_on_loss(c, &raw const state, &raw const loss, null(), usize::MAX),
            Status::NullPointer
        );
        assert_eq!(ccffi_on_ack(c, &raw const state, &raw const ack, dangling, 1), Status::Misaligned);
        let (acked, lost) = (FfiAckedPacket::default(), FfiLostPacket::default());
        for count in [usize::MAX, usize::MAX / size_of::<FfiAckedPacket>(), isize::MAX as usize / 8] {
            let statuses = [
                ccffi_on_ack(c, &raw const state, &raw const ack, &raw const acked, count),
                ccffi_on_loss(c, &raw const state, &raw const loss, &raw const lost, count),
            ];
            assert_eq!(statuses, [Status::InvalidLength; 2], "{count}");
        }
    }
    let mut memory = controller();
    let mut acked = [FfiAckedPacket { bytes: 1_200, ..FfiAckedPacket::default() }; 20];
    let mut lost = [FfiLostPacket { bytes: 1_200, ..FfiLostPacket::default() }; 20];
    acked[19].space = 3;
    lost[19].has = 64;
    let c = &raw mut *memory;
    // SAFETY: a controller, and arrays of 20 entries.
    unsafe {
        assert_eq!(
            ccffi_on_ack(c, &raw const state, &raw const ack, acked.as_ptr(), 20),
            Status::InvalidEnum
        );
        assert_eq!(
            ccffi_on_loss(c, &raw const state, &raw const loss, lost.as_ptr(), 20),
            Status::InvalidHas
        );
    }
    assert_unchanged(memory);
}

#[test]
fn an_object_of_another_kind_is_refused() {
    let mut rate = FfiRate { opaque: [0; CCFFI_RATE_WORDS] };
    let mut path = vec![0_u64; CCFFI_PATH_SIZE_64 / 8];
    let (config, setup, state) = (FfiPathConfig::default(), setup(), path_state());
    // SAFETY: memory of the sizes given.
    unsafe {
        let memory = (&raw mut rate).cast();
        assert_eq!(ccffi_rate_init(memory, size_of::<FfiRate>(), CCFFI_ABI_VERSION, 0, 0), Status::Ok);
        let memory = path.as_mut_ptr().cast();
        let status = ccffi_path_init(
            memory,
            CCFFI_PATH_SIZE_64,
            CCFFI_ABI_VERSION,
            64,
            1,
            &raw const setup,
            &raw const config,
        );
        assert_eq!(status, Status::Ok);
    }
    let mut zeros = [0_u64; 512];
    let mut controller = controller();
    let controllers: [*mut FfiController; 3] =
        [zeros.as_mut_ptr().cast(), (&raw mut rate).cast(), path.as_mut_ptr().cast()];
    for c in controllers {
        for (name, _, status) in events(c, &raw const state, false) {
            assert_eq!(status, Status::NotAnObject, "{name}");
        }
        let mut memory = [0_u64; CCFFI_CONTROLLER_WORDS];
        // SAFETY: what is cloned is refused.
        let status = unsafe { ccffi_controller_clone(c, memory.as_mut_ptr().cast(), SIZE) };
        assert_eq!(status, Status::NotAnObject);
    }
    let c: *mut FfiController = &raw mut *controller;
    // SAFETY: what is no path, or no sampler, is refused.
    unsafe {
        assert_eq!(ccffi_path_acked(zeros.as_mut_ptr().cast(), 0), Status::NotAnObject);
        assert_eq!(ccffi_path_acked((&raw mut rate).cast(), 0), Status::NotAnObject);
        assert_eq!(ccffi_path_acked(c.cast(), 0), Status::NotAnObject);
        assert_eq!(ccffi_path_acked(null_mut(), 0), Status::NullPointer);
        assert_eq!(ccffi_rate_on_lost(zeros.as_mut_ptr().cast(), 0), Status::NotAnObject);
        assert_eq!(ccffi_rate_on_lost(c.cast(), 0), Status::NotAnObject);
        assert_eq!(ccffi_rate_on_lost(path.as_mut_ptr().cast(), 0), Status::NotAnObject);
        assert_eq!(ccffi_rate_on_lost(null_mut(), 0), Status::NullPointer);
    }
}

/// What `CCFFI_PATH_SIZE(64)` of the header is.
const CCFFI_PATH_SIZE_64: usize = CCFFI_PATH_OVERHEAD + CCFFI_PATH_BYTES_PER_PACKET * 64;

#[test]
fn a_clone_wants_room_of_its_own() {
    let memory = controller();
    let mut copy = [0_u64; CCFFI_CONTROLLER_WORDS];
    let c = &raw const *memory;
    // SAFETY: a controller, and memory of at least the sizes given.
    unsafe {
        assert_eq!(ccffi_controller_clone(null(), copy.as_mut_ptr().cast(), SIZE), Status::NullPointer);
        assert_eq!(ccffi_controller_clone(c, null_mut(), SIZE), Status::NullPointer);
        assert_eq!(ccffi_controller_clone(c, copy.as_mut_ptr().cast(), 8), Status::TooSmall);
        assert_eq!(
            ccffi_controller_clone(c, copy.as_mut_ptr().cast::<u8>().add(4).cast(), SIZE - 8),
            Status::Misaligned
        );
        assert_eq!(ccffi_controller_clone(c, copy.as_mut_ptr().cast(), SIZE), Status::Ok);
    }
}

#[test]
fn a_path_refuses_what_a_controller_refuses_and_unknown_capacities() {
    let mut memory = vec![0_u64; CCFFI_PATH_SIZE_64 / 8];
    let size = CCFFI_PATH_SIZE_64;
    let at: *mut c_void = memory.as_mut_ptr().cast();
    let (good, config) = (setup(), FfiPathConfig::default());
    let init = |at, size, version, capacity, algorithm, setup, config| {
        // SAFETY: memory of at least the size given, or what is to be refused.
        unsafe { ccffi_path_init(at, size, version, capacity, algorithm, setup, config) }
    };
    let (s, p) = (&raw const good, &raw const config);
    let version = CCFFI_ABI_VERSION;
    assert_eq!(init(null_mut(), size, version, 64, 1, s, p), Status::NullPointer);
    assert_eq!(init(at, size, version, 64, 1, null(), p), Status::NullPointer);
    assert_eq!(init(at, size, version, 64, 1, s, null()), Status::NullPointer);
    assert_eq!(init(at.wrapping_byte_add(4), size - 8, version, 64, 1, s, p), Status::Misaligned);
    assert_eq!(init(at, ccffi_path_size(64) - 1, version, 64, 1, s, p), Status::TooSmall);
    assert_eq!(init(at, size, version, 512, 1, s, p), Status::TooSmall);
    assert_eq!(init(at, size, 0, 64, 1, s, p), Status::AbiVersion);
    assert_eq!(init(at, size, version, 64, 0, s, p), Status::UnknownAlgorithm);
    for capacity in [0, 63, 65, 4_097, usize::MAX] {
        assert_eq!(init(at, size, version, capacity, 1, s, p), Status::UnknownCapacity);
        assert_eq!(ccffi_path_size(capacity), 0);
    }
    assert_eq!(init(at, size, version, 64, 1, s, &FfiPathConfig { has: 8, ..config }), Status::InvalidHas);
    assert_eq!(
        init(at, size, version, 64, 1, &FfiSetup { max_datagram_size: 0, ..good }, p),
        Status::InvalidDatagramSize
    );
    assert!(memory.iter().all(|word| *word == 0), "nothing was written");
    assert_eq!(init(at, size, version, 64, 1, s, p), Status::Ok);

    let path: *mut FfiPath = memory.as_mut_ptr().cast();
    let mut report = FfiFrameReport::default();
    let packet = FfiOutgoingPacket { bytes: 1_200, in_flight: 1, ..FfiOutgoingPacket::default() };
    let mut number = 0;
    // SAFETY: a path, and structs, or null.
    unsafe {
        for (status, expected) in [
            (ccffi_path_note_limit(path, 6), Status::InvalidEnum),
            (ccffi_path_set_max_datagram_size(path, 0, 0, 1), Status::InvalidDatagramSize),
            (ccffi_path_set_max_datagram_size(path, 0, 1_300, 0), Status::InvalidEnum),
            (ccffi_path_changed(path, 0, 0), Status::InvalidEnum),
            (ccffi_path_set_ecn_state(path, 0, 3), Status::InvalidEnum),
            (ccffi_path_discard(path, 0, 0, 0), Status::InvalidEnum),
            (ccffi_path_discard_space(path, 0, 3), Status::InvalidEnum),
            (ccffi_path_finish(path, 0, null(), &raw mut report), Status::NullPointer),
            (
                ccffi_path_finish(
                    path,
                    0,
                    &FfiFrameEnd { cause: 3, ..FfiFrameEnd::default() },
                    &raw mut report,
                ),
                Status::InvalidEnum,
            ),
            (
                ccffi_path_finish(
                    path,
                    0,
                    &FfiFrameEnd { has: 4, ..FfiFrameEnd::default() },
                    &raw mut report,
                ),
                Status::InvalidHas,
            ),
            (ccffi_path_poll_send(path, 0, 1, null_mut()), Status::NullPointer),
            (ccffi_path_on_packet_sent(path, 0, null(), &raw mut number), Status::NullPointer),
            (ccffi_path_on_packet_sent(path, 0, &raw const packet, null_mut()), Status::NullPointer),
            (
                ccffi_path_on_packet_sent(
                    path,
                    0,
                    &FfiOutgoingPacket { space: 3, ..packet },
                    &raw mut number,
                ),
                Status::InvalidEnum,
            ),
            (ccffi_path_departure(path, 0, 1, null_mut()), Status::NullPointer),
            (ccffi_path_pacing_allowance(path, 0, null_mut()), Status::NullPointer),
            (ccffi_path_window(path, null_mut()), Status::NullPointer),
            (ccffi_path_get_state(path, 0, null_mut()), Status::NullPointer),
            (ccffi_path_get_outputs(path, null_mut()), Status::NullPointer),
            (ccffi_path_get_snapshot(path, null_mut()), Status::NullPointer),
            (ccffi_path_loss_deadline(path, null_mut(), null_mut()), Status::NullPointer),
            (ccffi_path_next_outstanding(path, 0, null_mut(), null_mut()), Status::NullPointer),
        ] {
            assert_eq!(status, expected);
        }
        // Nothing of that was sent, and 64 packets have room.
        for expected in 0..64 {
            assert_eq!(ccffi_path_on_packet_sent(path, 0, &raw const packet, &raw mut number), Status::Ok);
            assert_eq!(number, expected);
        }
        assert_eq!(ccffi_path_on_packet_sent(path, 0, &raw const packet, &raw mut number), Status::RingFull);
    }
}

#[test]
fn a_sampler_refuses_bad_arguments_and_is_as_before() {
    let mut rate = FfiRate { opaque: [0; CCFFI_RATE_WORDS] };
    let at: *mut c_void = (&raw mut rate).cast();
    let size = size_of::<FfiRate>();
    let packet = FfiAckedPacket { bytes: 1_200, ..FfiAckedPacket::default() };
    let mut sample = FfiRateSample::default();
    let (mut snapshot, mut given, mut total, mut lost) = (FfiPacketSnapshot::default(), 0, 0, 0);
    // SAFETY: memory of at least the size given, a sampler, structs, or null.
    unsafe {
        assert_eq!(ccffi_rate_init(null_mut(), size, CCFFI_ABI_VERSION, 0, 0), Status::NullPointer);
        assert_eq!(ccffi_rate_init(at, 8, CCFFI_ABI_VERSION, 0, 0), Status::TooSmall);
        assert_eq!(ccffi_rate_init(at, size, 0, 0, 0), Status::AbiVersion);
        assert_eq!(ccffi_rate_init(at, size, CCFFI_ABI_VERSION, 2, 0), Status::InvalidEnum);
        assert_eq!(ccffi_rate_init(at, size, CCFFI_ABI_VERSION, 0, 0), Status::Ok);
        let rate: *mut FfiRate = at.cast();
        for (status, expected) in [
            (ccffi_rate_on_sent(rate, 0, 0, 1, null_mut()), Status::NullPointer),
            (ccffi_rate_on_sent(null_mut(), 0, 0, 1, &raw mut snapshot), Status::NullPointer),
            (ccffi_rate_on_acked(rate, 0, null()), Status::NullPointer),
            (ccffi_rate_on_acked(rate, 0, &FfiAckedPacket { space: 3, ..packet }), Status::InvalidEnum),
            (ccffi_rate_on_acked(rate, 0, &FfiAckedPacket { has: 16, ..packet }), Status::InvalidHas),
            (ccffi_rate_finish_frame(rate, 0, null_mut(), &raw mut given), Status::NullPointer),
            (ccffi_rate_finish_frame(rate, 0, &raw mut sample, null_mut()), Status::NullPointer),
            (ccffi_rate_totals(rate, null_mut(), &raw mut total, &raw mut given), Status::NullPointer),
            (ccffi_rate_totals(rate, &raw mut total, null_mut(), &raw mut given), Status::NullPointer),
            (ccffi_rate_totals(rate, &raw mut total, &raw mut total, null_mut()), Status::NullPointer),
        ] {
            assert_eq!(status, expected);
        }
        // As before: a sample is that of a new sampler.
        assert_eq!(ccffi_rate_finish_frame(rate, 0, &raw mut sample, &raw mut given), Status::Ok);
        assert_eq!(given, 0);
        assert_eq!(ccffi_rate_totals(rate, &raw mut total, &raw mut lost, &raw mut given), Status::Ok);
        assert_eq!((total, lost, given), (0, 0, 0));
    }
}

#[test]
fn algorithms_are_found_by_number_and_by_name() {
    assert_eq!(ccffi_algorithm_count(), ALGORITHMS.len());
    for (index, algorithm) in ALGORITHMS.iter().enumerate() {
        assert_eq!(ccffi_algorithm_number(index), algorithm.number);
        let mut number = 0;
        // SAFETY: strings, and an integer.
        unsafe {
            assert_eq!(CStr::from_ptr(ccffi_algorithm_name(algorithm.number)), algorithm.name);
            let status = ccffi_algorithm_by_name(algorithm.name.as_ptr(), &raw mut number);
            assert_eq!((status, number), (Status::Ok, algorithm.number));
            assert_eq!(ccffi_algorithm_by_name(algorithm.name.as_ptr(), null_mut()), Status::NullPointer);
        }
    }
    let mut number = 77;
    // SAFETY: strings or null, and an integer.
    unsafe {
        for unknown in [c"", c"C4", c"c4 ", c"vegas"] {
            let status = ccffi_algorithm_by_name(unknown.as_ptr(), &raw mut number);
            assert_eq!((status, number), (Status::UnknownAlgorithm, 77));
        }
        assert_eq!(ccffi_algorithm_by_name(null(), &raw mut number), Status::NullPointer);
    }
    assert_eq!(ccffi_algorithm_number(ALGORITHMS.len()), 0);
    assert_eq!(ccffi_algorithm_number(usize::MAX), 0);
    assert!(ccffi_algorithm_name(0).is_null());
    assert!(ccffi_algorithm_name(u32::MAX).is_null());
    assert!(ALGORITHMS.is_sorted_by(|one, next| one.number < next.number));
    assert!(ALGORITHMS.iter().all(|algorithm| algorithm.number > 0));
    assert_eq!(ccffi_abi_version(), CCFFI_ABI_VERSION);
}

#[test]
fn every_status_has_words() {
    for status in -3..20 {
        // SAFETY: never null, and ends with a zero.
        let text = unsafe { CStr::from_ptr(ccffi_status_text(status)) };
        assert_eq!(text == c"unknown status", !(0..=12).contains(&status), "{status}");
        assert!(!text.is_empty());
    }
}
