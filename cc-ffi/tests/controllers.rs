//! Every algorithm, through C and in Rust, side by side: the same outputs to the last bit after every event.
#![expect(unsafe_code, reason = "calls the C functions")]

mod common;

use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent,
    Instant, LossEvent, MtuChange, PathChange, PathRtt, PathState, PeerInstant, Rate, ResumeHint, RttEvent,
    SamplingRule, SendLimit, SentPacket, Setup, Snapshot, SpuriousLoss,
};
use cc_ffi::controller::*;
use cc_ffi::info::CCFFI_ABI_VERSION;
use cc_ffi::{
    ALGORITHMS, AnyController, FfiAckedPacket, FfiLostPacket, FfiOutputs, FfiPathState, FfiSnapshot, Status,
};
use cc_testkit::{Checks, Options, Script, Subject, Verdict, cases, run, run_on_path, strategies};
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// One algorithm, twice.
#[derive(Debug)]
struct Both {
    rust: AnyController,
    c: Box<FfiController>,
}

impl Both {
    fn new(number: u32, setup: &Setup) -> Self {
        let rust = AnyController::new(number, setup).expect("the algorithm exists");
        let mut c = Box::new(FfiController { opaque: [0; CCFFI_CONTROLLER_WORDS] });
        let size = size_of::<FfiController>();
        let setup = common::setup(setup);
        // SAFETY: the box has `size` bytes, and the setup is there.
        let status = unsafe {
            ccffi_controller_init((&raw mut *c).cast(), size, CCFFI_ABI_VERSION, number, &raw const setup)
        };
        assert_eq!(status, Status::Ok);
        let both = Self { rust, c };
        both.compare();
        both
    }

    /// Hands an event to the C side, compares the sides.
    fn event(
        &mut self,
        path: &PathState,
        call: impl FnOnce(*mut FfiController, *const FfiPathState) -> Status,
    ) {
        let path = common::path_state(path);
        assert_eq!(call(&raw mut *self.c, &raw const path), Status::Ok);
        self.compare();
    }

    fn compare(&self) {
        let c = &raw const *self.c;
        let (mut outputs, mut snapshot) = (FfiOutputs::default(), FfiSnapshot::default());
        // SAFETY: a controller is in the box, and the structs are there.
        let (statuses, cwnd, pacing_rate) = unsafe {
            (
                [ccffi_get_outputs(c, &raw mut outputs), ccffi_get_snapshot(c, &raw mut snapshot)],
                ccffi_get_cwnd(c),
                ccffi_get_pacing_rate(c),
            )
        };
        assert_eq!(statuses, [Status::Ok; 2]);
        assert_eq!(outputs, common::outputs(&self.rust));
        assert_eq!(snapshot, common::controller_snapshot(&self.rust));
        assert_eq!((cwnd, pacing_rate), (outputs.cwnd, outputs.pacing_rate));
    }
}

impl Clone for Both {
    fn clone(&self) -> Self {
        let mut c = Box::new(FfiController { opaque: [0; CCFFI_CONTROLLER_WORDS] });
        // SAFETY: a controller is in the box; the other box has as many bytes.
        let status = unsafe {
            ccffi_controller_clone(&raw const *self.c, (&raw mut *c).cast(), size_of::<FfiController>())
        };
        assert_eq!(status, Status::Ok);
        let both = Self { rust: self.rust.clone(), c };
        both.compare();
        both
    }
}

// SAFETY (of every call below): the box holds a controller, and everything else lives as long as the call.
impl CongestionController for Both {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.rust.on_packet_sent(path, packet);
        let packet = common::sent_packet(packet);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_packet_sent(c, path, &raw const packet) });
    }

    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        // The C side cuts a frame into parts of `CCFFI_PART` packets.
        let parts = ack.packets.len().div_ceil(CCFFI_PART).max(1);
        for part in 0..parts {
            let packets = ack.packets.chunks(CCFFI_PART).nth(part).unwrap_or_default();
            self.rust.on_ack(path, &AckEvent { packets, last: ack.last && part + 1 == parts, ..*ack });
        }
        let packets: Vec<FfiAckedPacket> = ack.packets.iter().map(common::acked_packet).collect();
        let ack = common::ack(ack);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe {
            ccffi_on_ack(c, path, &raw const ack, packets.as_ptr(), packets.len())
        });
    }

    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        let parts = loss.packets.len().div_ceil(CCFFI_PART).max(1);
        let mut state = *path;
        for part in 0..parts {
            let packets = loss.packets.chunks(CCFFI_PART).nth(part).unwrap_or_default();
            self.rust.on_loss(&state, &LossEvent { packets, last: loss.last && part + 1 == parts, ..*loss });
            for packet in packets {
                state.lost = state.lost.saturating_add(packet.bytes);
            }
        }
        let packets: Vec<FfiLostPacket> = loss.packets.iter().map(common::lost_packet).collect();
        let loss = common::loss(loss);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe {
            ccffi_on_loss(c, path, &raw const loss, packets.as_ptr(), packets.len())
        });
    }

    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.rust.on_ecn(path, ecn);
        let ecn = common::ecn_event(ecn);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_ecn(c, path, &raw const ecn) });
    }

    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.rust.on_rtt(path, rtt);
        let rtt = common::rtt(rtt);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_rtt(c, path, &raw const rtt) });
    }

    fn on_app_limited(&mut self, path: &PathState) {
        self.rust.on_app_limited(path);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_app_limited(c, path) });
    }

    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.rust.on_idle_restart(path, idle);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_idle_restart(c, path, idle.as_nanos()) });
    }

    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.rust.on_spurious_loss(path, spurious);
        match *spurious {
            SpuriousLoss::Packet { number, sent_at, bytes } => {
                let packet = common::spurious_loss(number, sent_at, bytes);
                // SAFETY: as said above.
                self.event(path, |c, path| unsafe { ccffi_on_spurious_loss(c, path, &raw const packet) });
            }
            SpuriousLoss::All => {
                // SAFETY: as said above.
                self.event(path, |c, path| unsafe { ccffi_on_spurious_losses(c, path) });
            }
        }
    }

    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.rust.on_discarded(path, bytes, reason);
        let reason = common::reason(reason);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_discarded(c, path, bytes, reason) });
    }

    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.rust.on_mtu_update(path, change);
        let change = common::mtu_change(change);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_mtu_update(c, path, change) });
    }

    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.rust.on_path_change(path, change);
        let change = common::path_change(change);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_path_change(c, path, change) });
    }

    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.rust.on_resume_hint(path, hint);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_resume_hint(c, path, hint.cwnd, hint.rtt.as_nanos()) });
    }

    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.rust.on_ack_policy(path, policy);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe {
            ccffi_on_ack_policy(c, path, policy.packets, policy.max_ack_delay.as_nanos())
        });
    }

    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.rust.on_ecn_state(path, codepoint);
        let codepoint = common::ecn(codepoint);
        // SAFETY: as said above.
        self.event(path, |c, path| unsafe { ccffi_on_ecn_state(c, path, codepoint) });
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rust.pacing_rate()
    }
    fn cwnd(&self) -> u64 {
        self.rust.cwnd()
    }
    fn send_quantum(&self) -> u64 {
        self.rust.send_quantum()
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.rust.may_send_beyond_cwnd()
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        self.rust.wanted_ecn()
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        self.rust.wanted_ack_policy()
    }
    fn sampling_rule(&self) -> SamplingRule {
        self.rust.sampling_rule()
    }
    fn uses_rate_samples(&self) -> bool {
        self.rust.uses_rate_samples()
    }
    fn marks_app_limited(&self) -> bool {
        self.rust.marks_app_limited()
    }
    fn snapshot(&self) -> Snapshot {
        self.rust.snapshot()
    }
}

fn subjects() -> Vec<Subject<Both>> {
    ALGORITHMS
        .iter()
        .map(|algorithm| {
            let name = algorithm.name.to_str().expect("an ASCII name");
            let number = algorithm.number;
            Subject::rate_based(name, move |setup| Both::new(number, setup))
        })
        .collect()
}

/// The events only: what the kit expects of an algorithm is tested elsewhere.
fn options() -> Options {
    Options { expectations: false, checks: Checks::NONE, any_subject: true, ..Options::default() }
}

/// Runs the script, on the kit's books and on `Path`'s. A difference is a panic, which the kit reports as a failure.
fn compare(script: &Script) -> Result<(), String> {
    for subject in subjects() {
        for (stack, report) in [
            ("books", run(script, &subject, &Options { clones: true, ..options() })),
            ("path", run_on_path(script, &subject, &options(), false)),
        ] {
            if let Verdict::Fail(failure) = report.verdict {
                return Err(format!("{} on {stack}: {}\n{}", subject.name, failure.message, report.trace));
            }
        }
    }
    Ok(())
}

#[test]
fn all_cases_of_the_kit_give_the_same_through_c() {
    for case in cases::all() {
        for script in case.scripts().expect("the scripts are right") {
            if let Err(difference) = compare(&script) {
                panic!("{}: {difference}", case.name);
            }
        }
    }
}

#[test]
fn random_scripts_give_the_same_through_c() {
    let config =
        Config { cases: 32, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..Config::default() };
    for length in [30, 120] {
        let mut runner = TestRunner::new(config.clone());
        for outcome in [
            runner.run(&strategies::plausible(length), |script| {
                compare(&script).map_err(proptest::test_runner::TestCaseError::fail)
            }),
            runner.run(&strategies::absurd(length), |script| {
                compare(&script).map_err(proptest::test_runner::TestCaseError::fail)
            }),
        ] {
            outcome.unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
}

/// QUIC-DC's window after ten rounds of 20 datagrams and 100 ms, in which each packet of the last three has waited for `queue_ms`.
fn window_after_a_queue(queue_ms: u64, has_stamps: bool) -> u64 {
    let quicdc = ALGORITHMS.iter().find(|algorithm| algorithm.name == c"quicdc").expect("it is there");
    let mut both = Both::new(quicdc.number, &Setup { initial_window: Some(24_000), ..Setup::default() });
    let rtt = Duration::from_millis(100);
    for round in 0..10 {
        let sent_at = Instant::from_millis(101 * round);
        let (flight, first) = (24_000, 20 * round);
        let waited = if round < 7 { 0 } else { queue_ms };
        let path = PathState {
            now: sent_at.after(rtt),
            prior_bytes_in_flight: flight,
            next_number: first + 20,
            rtt: Some(PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: Duration::ZERO }),
            ..PathState::default()
        };
        // On a clock of the peer's own.
        let received_at =
            PeerInstant::from_nanos(77_000_000_000 + sent_at.as_nanos() + (50 + waited) * 1_000_000);
        let packets: Vec<AckedPacket> = (first..first + 20)
            .map(|number| AckedPacket {
                number: Some(number),
                sent_at,
                bytes: 1_200,
                received_at: has_stamps.then_some(received_at),
                ..AckedPacket::default()
            })
            .collect();
        let ack = AckEvent {
            packets: &packets,
            last: true,
            rate_sample: None,
            limited_by: SendLimit::NoData,
            max_bytes_in_flight: flight,
            app_limited_at: None,
            newest_data_sent_at: Some(sent_at),
        };
        both.on_ack(&path, &ack);
    }
    both.cwnd()
}

#[test]
fn receive_times_reach_the_controller() {
    // Eight datagrams take 40 ms at 240 kB/s: 60 ms are a queue, if anybody says so. The RTT is the same.
    let without = window_after_a_queue(60, false);
    assert_eq!(window_after_a_queue(0, true), without);
    assert!(window_after_a_queue(60, true) < without);
}

#[test]
fn a_difference_would_be_noticed() {
    let setup = Setup::default();
    let mut both = Both::new(ALGORITHMS[0].number, &setup);
    both.rust = AnyController::new(ALGORITHMS[0].number, &Setup { initial_window: Some(50_000), ..setup })
        .expect("the algorithm exists");
    let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| both.compare()));
    assert!(seen.is_err());
}
