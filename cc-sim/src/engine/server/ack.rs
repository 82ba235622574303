//! ACK frames, loss detection, timers, path MTU and the ACK frequency asked for.

use super::{NEVER, SentPacket, Server, State, Timers, instant};
use crate::engine::ecn::{Counts, Verdict};
use crate::engine::packet::AckFrame;
use crate::engine::{FlowCounters, PacketEvent, SampleKind, ack_policy};
use cc_core::{
    CongestionController, DiscardReason, Duration, EcnCodepoint, LossCause, MtuChange, PeerInstant,
};

impl Server {
    pub(super) fn on_ack(&mut self, now: u64, frame: &AckFrame, counters: &mut FlowCounters) {
        let Some(named) = frame.ranges.last().map(|range| range.1) else { return };
        frame.timestamps.decode(named, &mut self.received);
        let largest = named.min(self.next_number.saturating_sub(1));
        let newest = self.packet(largest).filter(|packet| packet.state != State::Acked);
        let newest = newest.map(|packet| packet.sent_at);
        let mut acked_new = false;
        for &(first, last) in frame.ranges.iter().rev() {
            let last = last.min(self.next_number.saturating_sub(1));
            let mut from = first.max(self.first_number);
            while let Some((start, end)) = self.acked.first_gap(from, last) {
                for number in start..=end {
                    acked_new |= self.mark_acked(now, number, counters);
                }
                self.acked.insert(start, end);
                from = end + 1;
            }
        }
        if let Some(sent_at) = self.packet(largest).map(|packet| packet.sent_at) {
            self.loss.on_ack(now, largest, sent_at);
        }
        if !acked_new {
            return;
        }
        self.probes = 0;
        self.note_ecn(now, largest, frame.ecn, counters);
        self.network_rtt_us =
            newest.map(|sent_at| now.saturating_sub(sent_at).saturating_sub(frame.delay_us));
        self.detect_losses(now, counters);
        let delay = Duration::from_micros(frame.delay_us);
        self.finish(now, LossCause::Ack, delay);
        self.forget_resolved();
        self.changed = Some(SampleKind::Ack);
        self.update_ack_frequency();
    }

    /// Validates the ECN counts of a frame and hands their increases to the path.
    fn note_ecn(&mut self, now: u64, largest: u64, counts: Option<Counts>, counters: &mut FlowCounters) {
        match self.ecn.on_frame(largest, counts) {
            Verdict::None => {}
            Verdict::Valid(increases) => {
                counters.ce_reported += increases.ce;
                self.path.ecn(increases);
            }
            Verdict::Failed => self.give_up_ecn(now, counters),
        }
    }

    /// RFC 9000 section 13.4.2.2: packets are sent without ECT from now on.
    fn give_up_ecn(&mut self, now: u64, counters: &mut FlowCounters) {
        counters.ecn_failed = true;
        self.note_packet(|_| PacketEvent::EcnFailed);
        self.path.set_ecn_state(instant(now), EcnCodepoint::NotEct);
    }

    /// Marks a packet acknowledged; whether it was outstanding or declared lost.
    pub(super) fn mark_acked(&mut self, now: u64, number: u64, counters: &mut FlowCounters) -> bool {
        let Some(packet) = self.index(number).and_then(|index| self.sent.get_mut(index)) else {
            return false;
        };
        match packet.state {
            State::Outstanding => {}
            State::Lost => counters.spurious_losses += 1,
            State::Acked | State::Hole => return false,
        }
        packet.state = State::Acked;
        let packet = *packet;
        if packet.ect {
            self.ecn.on_acked();
        }
        let received_at = self.received_at(number, packet.sent_at);
        self.path.acked(packet.path_number, received_at);
        match &mut self.media {
            _ if packet.length == 0 => {}
            Some(media) => media.on_acked(packet.offset),
            None => {
                self.stream.acked.insert(packet.offset, packet.offset + packet.length - 1);
                if let Some((offset, length)) = self.second_piece(number) {
                    self.stream.acked.insert(offset, offset + length - 1);
                }
            }
        }
        if packet.bytes > self.mtu.current && packet.bytes <= self.config.mtu {
            // Any large packet will do, not only the probe.
            self.set_mtu(now, packet.bytes, MtuChange::Discovered);
        }
        if packet.bytes == self.mtu.current {
            self.mtu.full_losses = 0;
        }
        if self.mtu.probe == Some(number) {
            self.mtu.probe = None;
        }
        true
    }

    /// When the packet arrived, on the receiver's clock, if the frame says so.
    fn received_at(&self, number: u64, sent_at: u64) -> Option<PeerInstant> {
        if self.config.receive_times_from_rtt {
            let rtt = self.path.rtt();
            let after = rtt.has_sample().then(|| rtt.smoothed())?;
            return Some(PeerInstant::from_nanos(instant(sent_at).after(after).as_nanos()));
        }
        let place = self.received.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        Some(PeerInstant::from_nanos(self.received[place].1.saturating_mul(1_000)))
    }

    /// Declares lost, oldest first, what the thresholds say; stops at the first packet that is not.
    pub(super) fn detect_losses(&mut self, now: u64, counters: &mut FlowCounters) -> bool {
        let Timers { retransmit_us, smoothed_us, .. } = self.timers;
        let mut any = false;
        while let Some(packet) = self.packet(self.first_outstanding) {
            let number = self.first_outstanding;
            match packet.state {
                State::Acked | State::Lost | State::Hole => {}
                State::Outstanding => {
                    if !self.loss.is_lost(now, number, packet.sent_at, retransmit_us, smoothed_us) {
                        break;
                    }
                    self.declare_lost(now, number, *packet, counters);
                    any = true;
                }
            }
            self.first_outstanding += 1;
        }
        any
    }

    pub(super) fn declare_lost(
        &mut self,
        now: u64,
        number: u64,
        packet: SentPacket,
        counters: &mut FlowCounters,
    ) {
        if let Some(index) = self.index(number) {
            self.sent[index].state = State::Lost;
        }
        self.note_packet(|server| PacketEvent::Lost {
            number,
            is_mtu_probe: server.mtu.probe == Some(number),
        });
        if packet.ect && self.ecn.on_lost() {
            self.give_up_ecn(now, counters);
        }
        counters.packets_lost += 1;
        counters.bytes_lost += packet.bytes;
        if self.mtu.probe == Some(number) {
            // RFC 9000 section 14.4: no congestion signal. Nor is it a sign of a smaller path MTU.
            self.mtu.probe = None;
            self.path.discard(instant(now), packet.path_number, DiscardReason::MtuProbeLost);
            return;
        }
        self.path.lost(packet.path_number);
        match &mut self.media {
            _ if packet.length == 0 => {}
            Some(media) => media.on_lost(packet.offset),
            None => {
                self.stream.retransmit.push_back((packet.offset, packet.length));
                let second = self.second_piece(number);
                self.stream.retransmit.extend(second);
            }
        }
        if packet.bytes == self.mtu.current && self.mtu.current > self.config.initial_mtu {
            self.mtu.full_losses += 1;
            if self.mtu.full_losses > self.config.mtu_losses {
                self.set_mtu(now, self.config.initial_mtu, MtuChange::BlackHole);
            }
        }
    }

    pub(super) fn set_mtu(&mut self, now: u64, bytes: u64, change: MtuChange) {
        self.mtu.current = bytes;
        self.mtu.full_losses = 0;
        self.path.set_max_datagram_size(instant(now), bytes, change);
    }

    pub(super) fn update_ack_frequency(&mut self) {
        let rtt = self.path.rtt();
        if !rtt.has_sample() {
            return;
        }
        let snapshot = self.path.controller().snapshot();
        let inputs = ack_policy::Inputs {
            cwnd: snapshot.cwnd,
            mtu: self.mtu.current,
            min_rtt_us: rtt.min().as_micros(),
            smoothed_rtt_us: rtt.smoothed().as_micros(),
            rate: snapshot.bandwidth.map_or(0, |rate| rate.as_bytes_per_sec()),
            return_rate: self.return_rate.max,
            startup: snapshot.startup && snapshot.ssthresh.is_none() && snapshot.congestion_events == 0,
        };
        if let Some(frame) = self.requested.update(ack_policy::suited(&self.config, &inputs)) {
            self.ack_frequency = Some(frame);
        }
    }

    /// The RTT may have changed.
    pub(super) fn note_rtt(&mut self) {
        let rtt = self.path.rtt();
        self.timers.smoothed_us = rtt.smoothed().as_micros();
        if rtt.has_sample() {
            let timer = rtt.smoothed().plus(rtt.var().times(3)).max(rtt.latest());
            self.timers.retransmit_us = timer.as_micros() + self.config.max_ack_delay_us;
        }
    }

    /// Something was sent, acknowledged or lost.
    pub(super) fn set_timers(&mut self) {
        self.timers.loss_at = self.loss_deadline().unwrap_or(NEVER);
        self.timers.probe_at = self.pto_deadline().unwrap_or(NEVER);
    }

    fn loss_deadline(&self) -> Option<u64> {
        let Timers { retransmit_us, smoothed_us, .. } = self.timers;
        // Of the oldest packet in flight, and of that only if a later one was acknowledged.
        let number = self.first_outstanding;
        let packet = self.packet(number).filter(|_| self.loss.is_later_acked(number))?;
        self.loss.deadline(number, packet.sent_at, retransmit_us, smoothed_us)
    }

    /// The probe timeout runs from the newest packet in flight (sim_model section 5.7).
    pub(super) fn pto_deadline(&self) -> Option<u64> {
        if self.path.bytes_in_flight() == 0 {
            return None;
        }
        let newest = self.sent.iter().rev().find(|packet| packet.state == State::Outstanding)?;
        let timer = self.loss.backed_off(self.timers.retransmit_us, self.probes);
        Some(newest.sent_at.saturating_add(timer))
    }

    /// Drops packets at the front that are resolved. Lost ones stay for two timers, so that late ACKs of them are
    /// noticed.
    pub(super) fn forget_resolved(&mut self) {
        let keep_us = 2 * self.timers.retransmit_us;
        while let Some(front) = self.sent.front() {
            let old = self.loss.last_ack_at().saturating_sub(front.sent_at) > keep_us;
            let done = match front.state {
                State::Acked | State::Hole => true,
                State::Lost => old,
                State::Outstanding => false,
            };
            if !done || self.first_number >= self.first_outstanding {
                break;
            }
            self.sent.pop_front();
            self.first_number += 1;
        }
        self.acked.forget_below(self.first_number);
        while self.stream.second.front().is_some_and(|&(number, ..)| number < self.first_number) {
            self.stream.second.pop_front();
        }
        // A packet without data has no pieces.
        if let (Some(media), Some(oldest)) =
            (&mut self.media, self.sent.iter().find(|packet| packet.length > 0))
        {
            media.forget_below(oldest.offset);
        }
    }
}
