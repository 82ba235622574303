//! What a path must know, kept in the plainest way: a map of all packets, walked whenever something is asked.

use super::spy::{Call, Spy};
use super::{N, Settable};
use cc_core::{
    CongestionController, EcnCounts, GRANULARITY, Instant, LossDetection, MAX_DATAGRAM_SIZE, OutgoingPacket,
    PacketSpace, Path, PathConfig, RttEstimator,
};
use std::collections::BTreeMap;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    InFlight,
    Lost,
    Acked,
    /// Neither; nor can it be any more.
    Discarded,
}

/// What the frame that is being collected says of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    Acked,
    Lost,
    /// Acked after having been declared lost. The path may have forgotten the packet.
    Late,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) bytes: u64,
    pub(super) space: PacketSpace,
    pub(super) sent_at: Instant,
    pub(super) ack_eliciting: bool,
    pub(super) fate: Fate,
    pub(super) mark: Option<Mark>,
}

/// One for each of the packet number spaces.
pub(super) type PerSpace<T> = [T; 3];

pub(super) const SPACES: PerSpace<PacketSpace> =
    [PacketSpace::Initial, PacketSpace::Handshake, PacketSpace::Application];

pub(super) fn index(space: PacketSpace) -> usize {
    SPACES.iter().position(|other| *other == space).expect("there are three")
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) packets: BTreeMap<u64, Packet>,
    next_number: u64,
    detection: Option<LossDetection>,
    max_datagram_size: u64,
    /// `largest_acked_packet` (RFC 9002 appendix A.3).
    pub(super) largest_acked: PerSpace<Option<u64>>,
    /// `loss_time`.
    deadlines: PerSpace<Option<Instant>>,
    /// Largest number that the frame names.
    pub(super) largest_named: Option<u64>,
    pub(super) ecn: Option<EcnCounts>,
    pub(super) ecn_acked: u64,
    delivered: u64,
    lost: u64,
}

impl Model {
    pub(super) fn new<C: CongestionController>(config: PathConfig, path: &Path<C, N>) -> Self {
        Self {
            packets: BTreeMap::new(),
            next_number: path.next_number(),
            detection: config.loss_detection,
            max_datagram_size: config.max_datagram_size.clamp(1, MAX_DATAGRAM_SIZE),
            largest_acked: [None; 3],
            deadlines: [None; 3],
            largest_named: None,
            ecn: None,
            ecn_acked: 0,
            delivered: 0,
            lost: 0,
        }
    }

    /// The path's numbers begin here.
    pub(super) fn start_at(&mut self, number: u64) {
        self.next_number = number;
    }

    pub(super) fn datagram_size(&self) -> u64 {
        self.max_datagram_size
    }

    pub(super) fn set_datagram_size(&mut self, bytes: u64) {
        self.max_datagram_size = bytes.clamp(1, MAX_DATAGRAM_SIZE);
    }

    pub(super) fn in_flight(&self) -> Vec<u64> {
        let open = self.packets.iter().filter(|(_, packet)| packet.fate == Fate::InFlight);
        open.map(|(number, _)| *number).collect()
    }

    /// Whether `N` numbers, the oldest of them in flight, have been given.
    pub(super) fn is_full(&self) -> bool {
        self.in_flight().first().is_some_and(|oldest| self.next_number - oldest >= N as u64)
    }

    pub(super) fn sent(&mut self, number: u64, packet: &OutgoingPacket) {
        self.next_number = number + 1;
        let packet = Packet {
            bytes: packet.bytes.min(65_535),
            space: packet.space,
            sent_at: packet.sent_at,
            ack_eliciting: packet.ack_eliciting,
            fate: Fate::InFlight,
            mark: None,
        };
        self.packets.insert(number, packet);
    }

    pub(super) fn acked(&mut self, number: u64) {
        if number < self.next_number {
            self.largest_named = self.largest_named.max(Some(number));
        }
        let Some(packet) = self.packets.get_mut(&number) else { return };
        match packet.fate {
            // An ack wins over a loss in the same frame.
            Fate::InFlight => packet.mark = Some(Mark::Acked),
            Fate::Lost => packet.mark = Some(Mark::Late),
            Fate::Acked | Fate::Discarded => {}
        }
    }

    pub(super) fn lost(&mut self, number: u64) {
        if let Some(packet) = self.packets.get_mut(&number)
            && packet.fate == Fate::InFlight
            && packet.mark.is_none()
        {
            packet.mark = Some(Mark::Lost);
        }
    }

    pub(super) fn ecn(&mut self, more: EcnCounts) {
        let sum = self.ecn.get_or_insert_default();
        sum.ce = sum.ce.saturating_add(more.ce);
        sum.ect0 = sum.ect0.saturating_add(more.ect0);
        sum.ect1 = sum.ect1.saturating_add(more.ect1);
    }

    /// The numbers with a mark.
    pub(super) fn marked(&self, mark: Mark) -> Vec<u64> {
        let marked = self.packets.iter().filter(|(_, packet)| packet.mark == Some(mark));
        marked.map(|(number, _)| *number).collect()
    }

    /// The loss timer goes off: every space is looked at.
    pub(super) fn timeout<C: CongestionController>(&mut self, now: Instant, path: &Path<C, N>) {
        for space in SPACES {
            self.detect(now, space, path.rtt());
        }
    }

    /// RFC 9002 appendix A.10.
    pub(super) fn detect(&mut self, now: Instant, space: PacketSpace, rtt: &RttEstimator) {
        let Some(thresholds) = self.detection else { return };
        let deadline = &mut self.deadlines[index(space)];
        *deadline = None;
        let Some(largest) = self.largest_acked[index(space)] else { return };
        let delay = rtt
            .smoothed()
            .max(rtt.latest())
            .times(thresholds.time_numerator.into())
            .divided_by(thresholds.time_denominator.into())
            .max(GRANULARITY);
        let of_space: Vec<u64> = self
            .packets
            .range(..=largest)
            .filter(|(_, packet)| packet.space == space)
            .map(|(number, _)| *number)
            .collect();
        for (place, number) in of_space.iter().enumerate() {
            let packet = self.packets.get_mut(number).expect("it was just found");
            if packet.fate != Fate::InFlight || packet.mark.is_some() || *number == largest {
                continue;
            }
            // Those of the space sent after it, up to the largest acked.
            let after = of_space.len() - 1 - place;
            let due = packet.sent_at.after(delay);
            if after >= thresholds.packet_threshold as usize || due <= now {
                packet.mark = Some(Mark::Lost);
            } else {
                *deadline = Some(deadline.map_or(due, |other| due.min(other)));
            }
        }
    }

    /// Takes a packet out of the flight; its size.
    pub(super) fn discard(&mut self, number: u64) -> u64 {
        let open = self
            .packets
            .get_mut(&number)
            .filter(|packet| packet.fate == Fate::InFlight && packet.mark != Some(Mark::Acked));
        let Some(packet) = open else { return 0 };
        (packet.fate, packet.mark) = (Fate::Discarded, None);
        packet.bytes
    }

    pub(super) fn discard_space(&mut self, space: PacketSpace) -> u64 {
        (self.largest_acked[index(space)], self.deadlines[index(space)]) = (None, None);
        let of_space: Vec<u64> = self
            .packets
            .iter()
            .filter(|(_, packet)| packet.space == space)
            .map(|(number, _)| *number)
            .collect();
        of_space.into_iter().map(|number| self.discard(number)).sum()
    }

    /// The controller was told of the bytes, if there were any.
    pub(super) fn discarded(&self, bytes: u64, calls: &[Call]) {
        match calls {
            // Packets without a byte leave without a word.
            [] => assert_eq!(bytes, 0),
            [Call::Discarded(path, told)] => {
                assert_eq!(*told, bytes);
                assert_eq!(path.bytes_in_flight, self.bytes_in_flight());
                assert_eq!(path.prior_bytes_in_flight, self.bytes_in_flight() + bytes);
            }
            other => panic!("{other:?}"),
        }
    }

    /// Nothing that was sent before counts any more.
    pub(super) fn forget_path(&mut self) {
        self.packets.clear();
        (self.largest_acked, self.deadlines) = ([None; 3], [None; 3]);
        (self.largest_named, self.ecn, self.ecn_acked) = (None, None, 0);
    }

    pub(super) fn bytes_in_flight(&self) -> u64 {
        let open = self.packets.values().filter(|packet| packet.fate == Fate::InFlight);
        open.map(|packet| packet.bytes).sum()
    }

    /// The path shows what the model knows.
    pub(super) fn agrees<C: CongestionController + Clone + Settable>(&mut self, path: &Path<Spy<C>, N>) {
        assert_eq!(path.bytes_in_flight(), self.bytes_in_flight());
        assert_eq!(path.next_number(), self.next_number);
        assert_eq!(path.is_full(), self.is_full());
        // The end of the clock is never.
        let deadline = self.deadlines.into_iter().flatten().min().filter(|at| *at < Instant::MAX);
        assert_eq!(path.loss_deadline(), deadline);
        let outstanding: Vec<(u64, u64, Instant, PacketSpace)> = path
            .outstanding()
            .map(|packet| (packet.number, packet.bytes, packet.sent_at, packet.space))
            .collect();
        let expected: Vec<(u64, u64, Instant, PacketSpace)> = self
            .packets
            .iter()
            .filter(|(_, packet)| packet.fate == Fate::InFlight && packet.mark.is_none())
            .map(|(number, packet)| (*number, packet.bytes, packet.sent_at, packet.space))
            .collect();
        assert_eq!(outstanding, expected);
        assert!(outstanding.len() <= N);
        assert_eq!(path.oldest_outstanding(), expected.first().map(|packet| packet.0));
        assert!(path.window() <= path.controller().cwnd());
        // Totals never fall.
        assert!(path.delivered() >= self.delivered && path.lost_bytes() >= self.lost);
        (self.delivered, self.lost) = (path.delivered(), path.lost_bytes());
    }
}
