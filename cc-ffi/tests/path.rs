//! The bookkeeping of a path and the delivery-rate sampler, through C and in Rust, side by side.
#![expect(unsafe_code, reason = "calls the C functions")]

mod common;

use cc_core::{
    AckPolicy, AckedPacket, DeliveryRate, DiscardReason, Duration, EcnCodepoint, EcnCounts, FrameEnd,
    FrameReport, Instant, LossCause, LossDetection, MtuChange, OutgoingPacket, PacketSnapshot, PacketSpace,
    Path, PathChange, PathConfig, PeerInstant, ResumeHint, SamplingRule, SendDecision, SendLimit, Setup,
};
use cc_ffi::info::CCFFI_ABI_VERSION;
use cc_ffi::path::*;
use cc_ffi::rate::*;
use cc_ffi::*;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// One call.
#[derive(Clone, Debug)]
enum Call {
    /// Sends up to so many datagrams while the path lets it.
    Send(u64, u64, PacketSpace, [bool; 3]),
    /// A frame that acks so many of the oldest packets but the first few, and loses some.
    Frame(Vec<(u64, bool)>, Option<[u64; 3]>, FrameEnd, bool),
    Timeout,
    AppLimited,
    Limit(SendLimit),
    Mtu(u64, MtuChange),
    Resume(ResumeHint),
    Changed(PathChange),
    Policy(AckPolicy),
    Ecn(EcnCodepoint),
    Discard(u64, DiscardReason),
    DiscardSpace(PacketSpace),
    Handshake(bool),
    Departure(u64),
}

/// A path, twice.
struct Both<const N: usize> {
    rust: Box<Path<AnyController, N>>,
    memory: Vec<u64>,
}

impl<const N: usize> Both<N> {
    fn new(number: u32, setup: &Setup, max_ack_delay: Option<Duration>, loss: Option<LossDetection>) -> Self {
        let config = PathConfig {
            now: setup.now,
            max_datagram_size: setup.max_datagram_size,
            loss_detection: loss,
            ..PathConfig::default()
        };
        let config = PathConfig {
            initial_rtt: setup.initial_rtt.unwrap_or(config.initial_rtt),
            max_ack_delay: max_ack_delay.unwrap_or(config.max_ack_delay),
            ..config
        };
        let controller = AnyController::new(number, setup).expect("the algorithm exists");
        let rust = Box::new(Path::new(controller, config));

        // Exactly as many bytes as it says that it takes, and no more than the constants say.
        let size = ccffi_path_size(N);
        assert!(size > 0 && size <= CCFFI_PATH_OVERHEAD + CCFFI_PATH_BYTES_PER_PACKET * N);
        assert!(size.is_multiple_of(8) && ccffi_path_align() <= 8);
        let mut memory = vec![0_u64; size / 8];
        let setup = common::setup(setup);
        let mut config = FfiPathConfig::default();
        if let Some(delay) = max_ack_delay {
            config.max_ack_delay = delay.as_nanos();
            config.has |= CCFFI_PATH_CONFIG_HAS_MAX_ACK_DELAY;
        }
        if let Some(loss) = loss {
            config.has |= CCFFI_PATH_CONFIG_HAS_LOSS_DETECTION;
            if loss != LossDetection::default() {
                config.has |= CCFFI_PATH_CONFIG_HAS_THRESHOLDS;
                config.packet_threshold = loss.packet_threshold;
                config.time_numerator = loss.time_numerator;
                config.time_denominator = loss.time_denominator;
            }
        }
        // SAFETY: the vector has `size` bytes, and the structs are there.
        let status = unsafe {
            ccffi_path_init(
                memory.as_mut_ptr().cast(),
                size,
                CCFFI_ABI_VERSION,
                N,
                number,
                &raw const setup,
                &raw const config,
            )
        };
        assert_eq!(status, Status::Ok);
        Self { rust, memory }
    }

    fn c(&mut self) -> *mut FfiPath {
        self.memory.as_mut_ptr().cast()
    }

    fn ok(&mut self, call: impl FnOnce(*mut FfiPath) -> Status) {
        assert_eq!(call(self.c()), Status::Ok);
    }

    /// Asks both whether a packet may be sent.
    fn poll(&mut self, now: Instant, bytes: u64) -> SendDecision {
        let decision = self.rust.poll_send(now, bytes);
        let mut c = FfiSendDecision::default();
        // SAFETY: the memory holds a path, and the struct is there.
        self.ok(|path| unsafe { ccffi_path_poll_send(path, now.as_nanos(), bytes, &raw mut c) });
        let expected = match decision {
            SendDecision::Now => FfiSendDecision { send: FfiSend::Now as u32, ..FfiSendDecision::default() },
            SendDecision::At(at) => {
                FfiSendDecision { send: FfiSend::At as u32, at: at.as_nanos(), ..FfiSendDecision::default() }
            }
            SendDecision::Blocked(limit) => FfiSendDecision {
                send: FfiSend::Blocked as u32,
                limit: common::limit(limit),
                ..FfiSendDecision::default()
            },
        };
        assert_eq!(c, expected);
        decision
    }

    fn send(&mut self, now: Instant, packet: &OutgoingPacket) {
        let c_packet = FfiOutgoingPacket {
            bytes: packet.bytes,
            sent_at: packet.sent_at.as_nanos(),
            space: common::space(packet.space),
            in_flight: packet.in_flight.into(),
            ack_eliciting: packet.ack_eliciting.into(),
            carries_data: packet.carries_data.into(),
        };
        let mut number = 0;
        let c = self.c();
        // SAFETY: the memory holds a path, and the structs are there.
        let status =
            unsafe { ccffi_path_on_packet_sent(c, now.as_nanos(), &raw const c_packet, &raw mut number) };
        match self.rust.on_packet_sent(now, packet) {
            Ok(given) => assert_eq!((status, number), (Status::Ok, given)),
            Err(_) => assert_eq!(status, Status::RingFull),
        }
    }

    fn call(&mut self, now: Instant, call: &Call) {
        let at = now.as_nanos();
        // SAFETY (of every call below): the memory holds a path, and the structs live as long as the call.
        match call {
            Call::Send(count, bytes, space, [in_flight, ack_eliciting, carries_data]) => {
                for _ in 0..*count {
                    let may_send = self.poll(now, *bytes) == SendDecision::Now;
                    // Some packets are sent whatever the answer: ACKs and probes.
                    if may_send || !in_flight || *count == 1 {
                        self.send(
                            now,
                            &OutgoingPacket {
                                space: *space,
                                bytes: *bytes,
                                in_flight: *in_flight,
                                ack_eliciting: *ack_eliciting,
                                carries_data: *carries_data,
                                sent_at: now,
                            },
                        );
                    }
                }
            }
            Call::Frame(packets, ecn, end, timed) => {
                let oldest = self.rust.oldest_outstanding().unwrap_or_default();
                for (offset, acked) in packets {
                    let number = (oldest + offset).saturating_sub(3);
                    if *acked {
                        let received_at = timed.then(|| PeerInstant::from_nanos(at + offset));
                        self.rust.acked(number, received_at);
                        match received_at {
                            // SAFETY: as said above.
                            Some(received) => self
                                .ok(|path| unsafe { ccffi_path_acked_at(path, number, received.as_nanos()) }),
                            // SAFETY: as said above.
                            None => self.ok(|path| unsafe { ccffi_path_acked(path, number) }),
                        }
                    } else {
                        self.rust.lost(number);
                        // SAFETY: as said above.
                        self.ok(|path| unsafe { ccffi_path_lost(path, number) });
                    }
                }
                if let Some([ce, ect0, ect1]) = *ecn {
                    self.rust.ecn(EcnCounts { ce, ect0, ect1 });
                    // SAFETY: as said above.
                    self.ok(|path| unsafe { ccffi_path_ecn(path, ce, ect0, ect1) });
                }
                let expected = self.rust.finish(now, *end);
                let mut c_end = FfiFrameEnd {
                    untracked_acked: end.untracked_acked,
                    cause: common::cause(Some(end.cause)),
                    ..FfiFrameEnd::default()
                };
                if let Some(delay) = end.ack_delay {
                    c_end.ack_delay = delay.as_nanos();
                    c_end.has |= CCFFI_FRAME_END_HAS_ACK_DELAY;
                }
                if let Some(sent_at) = end.largest_untracked {
                    c_end.largest_untracked = sent_at.as_nanos();
                    c_end.has |= CCFFI_FRAME_END_HAS_LARGEST_UNTRACKED;
                }
                let mut report = FfiFrameReport::default();
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_finish(path, at, &raw const c_end, &raw mut report) });
                compare_reports(&report, &expected);
            }
            Call::Timeout => {
                let expected = self.rust.on_loss_timeout(now);
                let mut report = FfiFrameReport::default();
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_on_loss_timeout(path, at, &raw mut report) });
                compare_reports(&report, &expected);
            }
            Call::AppLimited => {
                self.rust.on_app_limited(now);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_on_app_limited(path, at) });
            }
            Call::Limit(limit) => {
                self.rust.note_limit(*limit);
                let limit = common::limit(*limit);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_note_limit(path, limit) });
            }
            Call::Mtu(bytes, change) => {
                self.rust.set_max_datagram_size(now, *bytes, *change);
                let change = common::mtu_change(*change);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_set_max_datagram_size(path, at, *bytes, change) });
            }
            Call::Resume(hint) => {
                self.rust.resume(now, hint);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_resume(path, at, hint.cwnd, hint.rtt.as_nanos()) });
            }
            Call::Changed(change) => {
                self.rust.path_changed(now, *change);
                let change = common::path_change(*change);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_changed(path, at, change) });
            }
            Call::Policy(policy) => {
                self.rust.set_ack_policy(now, policy);
                let delay = policy.max_ack_delay.as_nanos();
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_set_ack_policy(path, at, policy.packets, delay) });
            }
            Call::Ecn(codepoint) => {
                self.rust.set_ecn_state(now, *codepoint);
                let codepoint = common::ecn(*codepoint);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_set_ecn_state(path, at, codepoint) });
            }
            Call::Discard(offset, reason) => {
                let number = self.rust.oldest_outstanding().unwrap_or_default() + offset;
                self.rust.discard(now, number, *reason);
                let reason = common::reason(*reason);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_discard(path, at, number, reason) });
            }
            Call::DiscardSpace(space) => {
                self.rust.discard_space(now, *space);
                let space = common::space(*space);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_discard_space(path, at, space) });
            }
            Call::Handshake(ready) => {
                self.rust.set_handshake_ready(*ready);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_set_handshake_ready(path, (*ready).into()) });
            }
            Call::Departure(bytes) => {
                let (departure, allowance) =
                    (self.rust.departure(now, *bytes).as_nanos(), self.rust.pacing_allowance(now));
                let mut c = (1, 1);
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_departure(path, at, *bytes, &raw mut c.0) });
                // SAFETY: as said above.
                self.ok(|path| unsafe { ccffi_path_pacing_allowance(path, at, &raw mut c.1) });
                assert_eq!(c, (departure, allowance));
            }
        }
        self.compare(now);
    }

    fn compare(&mut self, now: Instant) {
        let (mut state, mut outputs, mut snapshot) =
            (FfiPathState::default(), FfiOutputs::default(), FfiSnapshot::default());
        let (mut window, mut deadline, mut given) = (0, 0, 0);
        // SAFETY: the memory holds a path, and the structs are there; so for every call below.
        self.ok(|path| unsafe { ccffi_path_get_state(path, now.as_nanos(), &raw mut state) });
        // SAFETY: as said above.
        self.ok(|path| unsafe { ccffi_path_get_outputs(path, &raw mut outputs) });
        // SAFETY: as said above.
        self.ok(|path| unsafe { ccffi_path_get_snapshot(path, &raw mut snapshot) });
        // SAFETY: as said above.
        self.ok(|path| unsafe { ccffi_path_window(path, &raw mut window) });
        // SAFETY: as said above.
        self.ok(|path| unsafe { ccffi_path_loss_deadline(path, &raw mut deadline, &raw mut given) });
        assert_eq!(format!("{state:?}"), format!("{:?}", common::path_state(&self.rust.state(now))));
        assert_eq!(outputs, common::outputs(self.rust.controller()));
        assert_eq!(snapshot, common::controller_snapshot(self.rust.controller()));
        assert_eq!(window, self.rust.window());
        let expected = self.rust.loss_deadline();
        assert_eq!((given != 0, deadline), (expected.is_some(), expected.unwrap_or_default().as_nanos()));

        let mut first = 0;
        for packet in self.rust.outstanding().collect::<Vec<_>>() {
            let mut found = FfiOutstanding::default();
            // SAFETY: as said above.
            self.ok(|path| unsafe {
                ccffi_path_next_outstanding(path, first, &raw mut found, &raw mut given)
            });
            let expected = FfiOutstanding {
                number: packet.number,
                sent_at: packet.sent_at.as_nanos(),
                bytes: packet.bytes,
                space: common::space(packet.space),
            };
            assert_eq!((given, found), (1, expected));
            first = found.number + 1;
        }
        let mut found = FfiOutstanding::default();
        // SAFETY: as said above.
        self.ok(|path| unsafe { ccffi_path_next_outstanding(path, first, &raw mut found, &raw mut given) });
        assert_eq!(given, 0);
    }
}

fn compare_reports(c: &FfiFrameReport, rust: &FrameReport) {
    let (lost_first, lost_last) = rust.lost_span.unwrap_or_default();
    let mut expected = FfiFrameReport {
        newly_acked: rust.newly_acked,
        newly_lost: rust.newly_lost,
        late_acked: rust.late_acked,
        lost_first,
        lost_last,
        rtt_sample: rust.rtt_sample.unwrap_or_default().as_nanos(),
        persistent_congestion: rust.persistent_congestion.into(),
        ..FfiFrameReport::default()
    };
    if let Some(sample) = &rust.rate_sample {
        expected.rate_sample = common::rate_sample(sample);
        expected.has |= CCFFI_FRAME_REPORT_HAS_RATE_SAMPLE;
    }
    if rust.lost_span.is_some() {
        expected.has |= CCFFI_FRAME_REPORT_HAS_LOST_SPAN;
    }
    if rust.rtt_sample.is_some() {
        expected.has |= CCFFI_FRAME_REPORT_HAS_RTT_SAMPLE;
    }
    assert_eq!(format!("{c:?}"), format!("{expected:?}"));
}

fn space() -> impl Strategy<Value = PacketSpace> {
    prop_oneof![
        8 => Just(PacketSpace::Application),
        1 => Just(PacketSpace::Initial),
        1 => Just(PacketSpace::Handshake),
    ]
}

fn millis(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

fn end() -> impl Strategy<Value = FrameEnd> {
    (option(millis(0..30)), any::<bool>(), 0..3_u64, option(0..2_000_u64)).prop_map(
        |(ack_delay, timer, untracked_acked, largest)| FrameEnd {
            ack_delay,
            cause: if timer { LossCause::Timer } else { LossCause::Ack },
            untracked_acked,
            largest_untracked: largest.map(Instant::from_millis),
        },
    )
}

fn option<S: Strategy>(inner: S) -> impl Strategy<Value = Option<S::Value>> {
    proptest::option::weighted(0.3, inner)
}

fn calls() -> impl Strategy<Value = Vec<(u64, Call)>> {
    let frame = (
        proptest::collection::vec((0..30_u64, proptest::bool::weighted(0.85)), 1..30),
        option(prop_oneof![Just([0, 2, 0]), Just([1, 0, 3]), Just([u64::MAX, 7, 0])]),
        end(),
        any::<bool>(),
    );
    let sizes = || prop_oneof![4 => 1_000..1_500_u64, 1 => 1..70_000_u64];
    let reasons =
        vec![DiscardReason::KeysDiscarded, DiscardReason::MtuProbeLost, DiscardReason::ZeroRttRejected];
    let codepoints = vec![EcnCodepoint::NotEct, EcnCodepoint::Ect0, EcnCodepoint::Ect1];
    let limits = vec![
        SendLimit::Unknown,
        SendLimit::Cwnd,
        SendLimit::Pacer,
        SendLimit::Amplification,
        SendLimit::FlowControl,
        SendLimit::NoData,
    ];
    let changes = vec![MtuChange::Handshake, MtuChange::Discovered, MtuChange::BlackHole];
    let call = prop_oneof![
        16 => (1..40_u64, sizes(), space(), any::<[bool; 3]>()).prop_map(|(count, bytes, space, flags)| {
            Call::Send(count, bytes, space, [flags[0] || count > 1, flags[1], flags[2]])
        }),
        16 => frame.prop_map(|(packets, ecn, end, timed)| Call::Frame(packets, ecn, end, timed)),
        2 => Just(Call::Timeout),
        2 => Just(Call::AppLimited),
        1 => select(limits).prop_map(Call::Limit),
        1 => (1_000..1_600_u64, select(changes)).prop_map(|(bytes, change)| Call::Mtu(bytes, change)),
        1 => (any::<u32>(), millis(1..200)).prop_map(|(cwnd, rtt)| {
            Call::Resume(ResumeHint { cwnd: cwnd.into(), rtt })
        }),
        1 => select(vec![PathChange::Rebinding, PathChange::New]).prop_map(Call::Changed),
        1 => (1..20_u64, millis(0..50)).prop_map(|(packets, max_ack_delay)| {
            Call::Policy(AckPolicy { packets, max_ack_delay })
        }),
        1 => select(codepoints).prop_map(Call::Ecn),
        1 => (0..20_u64, select(reasons)).prop_map(|(offset, reason)| Call::Discard(offset, reason)),
        1 => space().prop_map(Call::DiscardSpace),
        1 => any::<bool>().prop_map(Call::Handshake),
        1 => sizes().prop_map(Call::Departure),
    ];
    proptest::collection::vec((0..60_000_u64, call), 1..60)
}

fn setups() -> impl Strategy<Value = (Setup, Option<Duration>, Option<LossDetection>)> {
    let loss = option(prop_oneof![
        Just(LossDetection::default()),
        Just(LossDetection { packet_threshold: 10, time_numerator: 3, time_denominator: 0 }),
    ]);
    let hint = option((20_000..900_000_u64, millis(10..200)));
    (
        1_200..1_500_u64,
        option(10_000..90_000_u64),
        option(millis(1..400)),
        hint,
        any::<bool>(),
        loss,
        option(millis(0..90)),
    )
        .prop_map(|(max_datagram_size, initial_window, initial_rtt, hint, paces, loss, delay)| {
            let setup = Setup {
                now: Instant::from_millis(7),
                max_datagram_size,
                initial_window,
                initial_rtt,
                resume: hint.map(|(cwnd, rtt)| ResumeHint { cwnd, rtt }),
                paces,
                ..Setup::default()
            };
            (setup, delay, loss)
        })
}

fn run<const N: usize>(
    (setup, delay, loss): (Setup, Option<Duration>, Option<LossDetection>),
    calls: &[(u64, Call)],
) {
    for algorithm in ALGORITHMS {
        let mut both = Both::<N>::new(algorithm.number, &setup, delay, loss);
        let mut now = setup.now;
        both.compare(now);
        for (micros, call) in calls {
            now = now.after(Duration::from_micros(*micros));
            both.call(now, call);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, rng_seed: RngSeed::Fixed(11), ..ProptestConfig::default() })]

    #[test]
    fn a_path_gives_the_same_through_c(setup in setups(), calls in calls()) {
        run::<64>(setup, &calls);
        run::<512>(setup, &calls);
    }
}

#[test]
fn the_largest_path_gives_the_same_through_c() {
    let calls: Vec<(u64, Call)> = (0..40)
        .flat_map(|round| {
            let acks = (0..40).map(|offset| (offset, offset % 13 != round % 13)).collect();
            [
                (5_000, Call::Send(39, 1_200, PacketSpace::Application, [true; 3])),
                (20_000, Call::Frame(acks, Some([0, 4, 0]), FrameEnd::default(), false)),
            ]
        })
        .collect();
    run::<4_096>(
        (Setup { ecn: EcnCodepoint::Ect0, ..Setup::default() }, None, Some(LossDetection::default())),
        &calls,
    );
}

#[test]
fn a_frame_may_be_finished_without_a_report() {
    let mut both = Both::<64>::new(ALGORITHMS[0].number, &Setup::default(), None, None);
    both.call(Instant::ZERO, &Call::Send(5, 1_200, PacketSpace::Application, [true; 3]));
    let now = Instant::from_millis(30);
    both.rust.acked(0, None);
    both.rust.finish(now, FrameEnd::default());
    both.rust.on_loss_timeout(now);
    let end = FfiFrameEnd::default();
    // SAFETY: the memory holds a path, and the struct is there; so for every call below.
    both.ok(|path| unsafe { ccffi_path_acked(path, 0) });
    // SAFETY: as said above.
    both.ok(|path| unsafe { ccffi_path_finish(path, now.as_nanos(), &raw const end, std::ptr::null_mut()) });
    // SAFETY: as said above.
    both.ok(|path| unsafe { ccffi_path_on_loss_timeout(path, now.as_nanos(), std::ptr::null_mut()) });
    both.compare(now);
}

/// A sampler, twice.
struct Samplers {
    rust: DeliveryRate,
    c: FfiRate,
}

impl Samplers {
    fn new(rule: SamplingRule) -> Self {
        let (raw, interval) = match rule {
            SamplingRule::LastAck => (FfiSamplingRule::LastAck, 0),
            SamplingRule::LastAcceptedSample { min_ack_interval } => {
                (FfiSamplingRule::LastAcceptedSample, min_ack_interval.as_nanos())
            }
        };
        let mut c = FfiRate { opaque: [0; CCFFI_RATE_WORDS] };
        assert!(ccffi_rate_size() <= size_of::<FfiRate>() && ccffi_rate_align() <= 8);
        // SAFETY: the struct has so many bytes.
        let status = unsafe {
            ccffi_rate_init(
                (&raw mut c).cast(),
                size_of::<FfiRate>(),
                CCFFI_ABI_VERSION,
                raw as u32,
                interval,
            )
        };
        assert_eq!(status, Status::Ok);
        Self { rust: DeliveryRate::new(rule), c }
    }

    fn compare_totals(&self) {
        let (mut delivered, mut lost, mut app_limited) = (0, 0, 0);
        // SAFETY: a sampler, and three integers.
        let status = unsafe {
            ccffi_rate_totals(&raw const self.c, &raw mut delivered, &raw mut lost, &raw mut app_limited)
        };
        assert_eq!(status, Status::Ok);
        let rust = (self.rust.delivered(), self.rust.lost(), u8::from(self.rust.is_app_limited()));
        assert_eq!((delivered, lost, app_limited), rust);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, rng_seed: RngSeed::Fixed(13), ..ProptestConfig::default() })]

    #[test]
    fn a_sampler_gives_the_same_through_c(
        accepted in any::<bool>(),
        // What happens, after how long, and to how much.
        calls in proptest::collection::vec((0..8_u8, 0..9_000_u64, 1..3_000_u64), 1..120),
    ) {
        let rule = if accepted {
            SamplingRule::LastAcceptedSample { min_ack_interval: Duration::from_millis(1) }
        } else {
            SamplingRule::LastAck
        };
        let mut both = Samplers::new(rule);
        let mut now = Instant::from_secs(1);
        let mut flight: Vec<(u64, Instant, u64, PacketSnapshot)> = Vec::new();
        let mut next = 0;
        for (call, micros, bytes) in calls {
            now = now.after(Duration::from_micros(micros));
            let at = now.as_nanos();
            let in_flight: u64 = flight.iter().map(|packet| packet.2).sum();
            let c = &raw mut both.c;
            // SAFETY (of every call below): a sampler is there, and the structs live as long as the call.
            let status = match call {
                0..=2 => {
                    let stored = both.rust.on_sent(now, in_flight, in_flight + bytes);
                    let mut snapshot = FfiPacketSnapshot::default();
                    // SAFETY: as said above.
                    let status = unsafe { ccffi_rate_on_sent(c, at, in_flight, in_flight + bytes, &raw mut snapshot) };
                    prop_assert_eq!(format!("{snapshot:?}"), format!("{:?}", common::snapshot(&stored)));
                    flight.push((next, now, bytes, stored));
                    next += 1;
                    status
                }
                3 | 4 if !flight.is_empty() => {
                    let (number, sent_at, bytes, snapshot) = flight.remove(0);
                    let (number, was_lost) = (call.is_multiple_of(2).then_some(number), bytes % 7 == 0);
                    both.rust.on_acked(now, number, sent_at, bytes, &snapshot, was_lost);
                    let packet = AckedPacket {
                        number, sent_at, bytes, was_lost, snapshot: Some(snapshot), ..AckedPacket::default()
                    };
                    let packet = common::acked_packet(&packet);
                    // SAFETY: as said above.
                    unsafe { ccffi_rate_on_acked(c, at, &raw const packet) }
                }
                5 if !flight.is_empty() => {
                    let lost = flight.remove(0).2;
                    if lost.is_multiple_of(2) {
                        both.rust.on_lost(lost);
                        // SAFETY: as said above.
                        unsafe { ccffi_rate_on_lost(c, lost) }
                    } else {
                        both.rust.on_discarded(lost);
                        // SAFETY: as said above.
                        unsafe { ccffi_rate_on_discarded(c, lost) }
                    }
                }
                6 => {
                    if bytes % 50 == 0 {
                        both.rust.reset_reference();
                        // SAFETY: as said above.
                        unsafe { ccffi_rate_reset_reference(c) }
                    } else {
                        both.rust.on_app_limited(in_flight);
                        // SAFETY: as said above.
                        unsafe { ccffi_rate_on_app_limited(c, in_flight) }
                    }
                }
                _ => {
                    let expected = both.rust.finish_frame(now);
                    let (mut sample, mut given) = (FfiRateSample::default(), 9);
                    // SAFETY: as said above.
                    let status = unsafe { ccffi_rate_finish_frame(c, at, &raw mut sample, &raw mut given) };
                    prop_assert_eq!(given, u8::from(expected.is_some()));
                    let expected = expected.as_ref().map(common::rate_sample).unwrap_or_default();
                    prop_assert_eq!(format!("{sample:?}"), format!("{expected:?}"));
                    status
                }
            };
            prop_assert_eq!(status, Status::Ok);
            both.compare_totals();
        }
    }
}
