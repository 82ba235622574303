//! Calls of a `Path`, mostly plausible, with a model that counts bytes in flight.

use crate::check_outputs;
use arbitrary::Arbitrary;
use cc_core::{
    CongestionController, DiscardReason, Duration, EcnCounts, FrameEnd, Instant, LossCause, OutgoingPacket,
    PacketSpace, Path, PathConfig,
};

/// Ring size of the fuzzed path: small, so that it fills up.
const N: usize = 16;

/// One step.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Step {
    /// Time passes, or goes backwards.
    Time {
        micros: u32,
        backwards: bool,
    },
    Send {
        bytes: u16,
        ack_only: bool,
        eliciting: bool,
        data: bool,
    },
    /// Marks the packet `back` numbers before the newest.
    Acked {
        back: u8,
    },
    Lost {
        back: u8,
    },
    /// A number that was never given.
    AckedUnknown {
        number: u64,
    },
    Ecn {
        ce: u32,
        ect0: u32,
        ect1: u32,
    },
    Finish {
        delay_micros: Option<u32>,
        timer: bool,
        untracked: u8,
        largest_untracked: Option<u32>,
    },
    Discard {
        back: u8,
    },
    DiscardSpace {
        initial: bool,
    },
    AppLimited,
    Timeout,
    Poll {
        bytes: u16,
    },
}

/// Runs `steps` on a path around `controller`.
pub fn run<C: CongestionController>(controller: C, steps: &[Step]) {
    let mut path: Path<C, N> = Path::new(controller, PathConfig::default());
    let mut now = Instant::from_secs(1);
    for step in steps {
        let newest = path.next_number().saturating_sub(1);
        match *step {
            Step::Time { micros, backwards } => {
                let span = Duration::from_micros(micros.into());
                now = if backwards { now.before(span) } else { now.after(span) };
            }
            Step::Send { bytes, ack_only, eliciting, data } => {
                let packet = OutgoingPacket {
                    space: PacketSpace::Application,
                    bytes: bytes.into(),
                    in_flight: !ack_only,
                    ack_eliciting: eliciting,
                    carries_data: data,
                    sent_at: now,
                };
                let full = path.is_full();
                let sent = path.on_packet_sent(now, &packet);
                assert!(sent.is_ok() || full, "refused although the ring was not full");
            }
            Step::Acked { back } => path.acked(newest.saturating_sub(back.into()), None),
            Step::Lost { back } => path.lost(newest.saturating_sub(back.into())),
            Step::AckedUnknown { number } => path.acked(number, None),
            Step::Ecn { ce, ect0, ect1 } => {
                path.ecn(EcnCounts { ce: ce.into(), ect0: ect0.into(), ect1: ect1.into() });
            }
            Step::Finish { delay_micros, timer, untracked, largest_untracked } => {
                let end = FrameEnd {
                    cause: if timer { LossCause::Timer } else { LossCause::Ack },
                    ack_delay: delay_micros.map(|micros| Duration::from_micros(micros.into())),
                    untracked_acked: untracked.into(),
                    largest_untracked: largest_untracked
                        .map(|micros| now.before(Duration::from_micros(micros.into()))),
                };
                path.finish(now, end);
            }
            Step::Discard { back } => {
                path.discard(now, newest.saturating_sub(back.into()), DiscardReason::MtuProbeLost);
            }
            Step::DiscardSpace { initial } => {
                let space = if initial { PacketSpace::Initial } else { PacketSpace::Handshake };
                path.discard_space(now, space);
            }
            Step::AppLimited => path.on_app_limited(now),
            Step::Timeout => {
                path.on_loss_timeout(now);
            }
            Step::Poll { bytes } => {
                let _ = path.poll_send(now, bytes.into());
            }
        }
        check_outputs(path.controller(), path.state(now).max_datagram_size);
        let outstanding: u64 = path.outstanding().map(|packet| packet.bytes).sum();
        assert!(outstanding <= path.bytes_in_flight(), "bytes in flight lost count");
    }
    path.finish(now, FrameEnd::default());
    let outstanding: u64 = path.outstanding().map(|packet| packet.bytes).sum();
    assert_eq!(outstanding, path.bytes_in_flight());
}
