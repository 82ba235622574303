//! What is linked to see how large it is.
//!
//! `bare_*`: all methods of a controller, called as by a stack that does its own bookkeeping. `path_*`: a
//! [`Path`](cc_core::Path) around the controller, called as by the sender of `cc-embedding`, with ECN. What a
//! program links beyond these is subtracted: `bare_nothing` has a controller that does nothing, `none` has no call at all.
//!
//! Every argument goes through [`black_box`], so that the compiler knows none of them; a panic stops the processor.
#![no_std]

mod nothing;

pub use nothing::Nothing;

use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnCounts,
    EcnEvent, FrameEnd, Instant, LossDetection, LossEvent, LostPacket, MtuChange, OutgoingPacket, Path,
    PathChange, PathConfig, PathState, RateSample, ResumeHint, RttEvent, SendLimit, SentPacket, SpuriousLoss,
};
use core::hint::black_box;

/// Packets that the path keeps in mind.
pub const RING: usize = 64;

/// Calls every method.
pub fn bare<C: CongestionController>(controller: &mut C) {
    let path = black_box(PathState::default());
    let packets = [black_box(AckedPacket::default())];
    let ack = AckEvent {
        packets: &packets,
        last: black_box(true),
        rate_sample: black_box(Some(RateSample::default())),
        limited_by: black_box(SendLimit::Unknown),
        max_bytes_in_flight: black_box(0),
        app_limited_at: black_box(None),
        newest_data_sent_at: black_box(None),
    };
    let packets = [black_box(LostPacket::default())];
    let loss = LossEvent {
        packets: &packets,
        last: black_box(true),
        persistent_congestion: black_box(false),
        cause: black_box(None),
    };
    controller.on_packet_sent(&path, &black_box(SentPacket::default()));
    controller.on_ack(&path, black_box(&ack));
    controller.on_loss(&path, black_box(&loss));
    controller.on_ecn(&path, &black_box(EcnEvent::default()));
    controller.on_rtt(&path, &black_box(RttEvent::default()));
    controller.on_app_limited(&path);
    controller.on_idle_restart(&path, black_box(Duration::ZERO));
    controller.on_spurious_loss(&path, &black_box(SpuriousLoss::All));
    controller.on_discarded(&path, black_box(0), black_box(DiscardReason::KeysDiscarded));
    controller.on_mtu_update(&path, black_box(MtuChange::Handshake));
    controller.on_path_change(&path, black_box(PathChange::New));
    controller.on_resume_hint(&path, &black_box(ResumeHint { cwnd: 0, rtt: Duration::ZERO }));
    controller.on_ack_policy(&path, &black_box(AckPolicy { packets: 0, max_ack_delay: Duration::ZERO }));
    controller.on_ecn_state(&path, black_box(EcnCodepoint::NotEct));
    black_box(controller.pacing_rate());
    black_box(controller.cwnd());
    black_box(controller.send_quantum());
    black_box(controller.may_send_beyond_cwnd());
    black_box(controller.wanted_ecn());
    black_box(controller.wanted_ack_policy());
    black_box(controller.sampling_rule());
    black_box(controller.uses_rate_samples());
    black_box(controller.marks_app_limited());
    black_box(controller.snapshot());
}

/// Calls what a sender needs of a path.
pub fn path<C: CongestionController>(controller: C) {
    let config = PathConfig { loss_detection: Some(LossDetection::default()), ..PathConfig::default() };
    let mut path: Path<C, RING> = Path::new(controller, black_box(config));
    let now = || black_box(Instant::ZERO);
    loop {
        black_box(path.poll_send(now(), black_box(0)));
        black_box(path.on_packet_sent(now(), &black_box(OutgoingPacket::default())).is_ok());
        path.on_app_limited(now());
        path.acked(black_box(0), black_box(None));
        path.ecn(black_box(EcnCounts::default()));
        black_box(path.finish(now(), black_box(FrameEnd::default())));
        black_box(path.loss_deadline());
        black_box(path.on_loss_timeout(now()));
        black_box(path.bytes_in_flight());
        black_box(path.rtt().pto_base());
    }
}

/// Makes a program of an expression that calls what is to be linked.
#[macro_export]
macro_rules! program {
    ($($call:tt)*) => {
        #[cortex_m_rt::entry]
        fn main() -> ! {
            loop {
                { $($call)* };
                core::hint::black_box(());
            }
        }

        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            loop {}
        }
    };
}

/// What a controller is made from, unknown to the compiler.
#[must_use]
pub fn setup() -> cc_core::Setup {
    black_box(cc_core::Setup::default())
}
