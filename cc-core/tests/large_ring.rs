//! A large ring fits on the stack of a test thread (2 MiB) while it is being built.
use cc_core::{
    AckEvent, CongestionController, EcnEvent, FrameEnd, Instant, LossEvent, OutgoingPacket, Path, PathConfig,
    PathState, Rate, SentPacket, Snapshot,
};

#[derive(Clone, Debug)]
struct Open;

impl CongestionController for Open {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {}
    fn on_ack(&mut self, _: &PathState, _: &AckEvent<'_>) {}
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {}
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {}
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn cwnd(&self) -> u64 {
        u64::MAX
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

/// Fills the ring, acks everything in one frame from the highest number down, and fills it again.
fn fill_twice<const N: usize>(path: &mut Path<Open, N>) {
    assert!(std::mem::size_of_val(path) < 32 * N + 4_096);
    let count = u64::try_from(N).unwrap();
    for round in 0..2 {
        for number in 0..count {
            let sent = path.on_packet_sent(Instant::ZERO, &OutgoingPacket::default());
            assert_eq!(sent, Ok(round * count + number));
        }
        assert!(path.on_packet_sent(Instant::ZERO, &OutgoingPacket::default()).is_err());
        for number in (0..count).rev() {
            path.acked(round * count + number, None);
        }
        let report = path.finish(Instant::from_millis(1), FrameEnd::default());
        assert_eq!(report.newly_acked, count * 1_200);
        assert_eq!(path.bytes_in_flight(), 0);
    }
}

#[test]
fn a_ring_of_16384_packets_can_be_built_with_box_new() {
    fill_twice(&mut Box::new(Path::<_, 16_384>::new(Open, PathConfig::default())));
}

#[test]
fn a_ring_of_32768_packets_can_be_built_with_box_write() {
    fill_twice(&mut Box::write(Box::new_uninit(), Path::<_, 32_768>::new(Open, PathConfig::default())));
}
