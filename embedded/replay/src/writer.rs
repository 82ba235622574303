//! Writing traces.

use crate::last::{Last, mark};
use crate::words::{AckHead, Discarded, LossHead, Words};
use crate::{Call, Header};
use cc_core::PathState;

/// Writes one trace into anything that takes bytes. A file is [`MAGIC`](crate::MAGIC), traces, and [`end_of_file`].
#[derive(Clone, Debug)]
pub struct TraceWriter<E> {
    out: E,
    last: Last,
}

impl<E: Extend<u8>> TraceWriter<E> {
    /// Writes the header.
    #[must_use]
    pub fn new(out: E, header: &Header) -> Self {
        let mut writer = Self { out, last: Last::default() };
        writer.byte(mark::TRACE);
        writer.number(header.algorithm.number());
        let name = header.scenario.as_bytes();
        writer.number(length(name));
        writer.out.extend(name.iter().copied());
        writer.number(header.main.number());
        writer.number(header.flow);
        writer.row(header.setup.words(), &[0; 4]);
        writer
    }

    /// Writes a call and the state of the path that came with it.
    pub fn call(&mut self, path: &PathState, call: &Call<'_>) {
        self.byte(match call {
            Call::PacketSent(_) => mark::PACKET_SENT,
            Call::Ack(_) => mark::ACK,
            Call::Loss(_) => mark::LOSS,
            Call::Ecn(_) => mark::ECN,
            Call::Rtt(_) => mark::RTT,
            Call::AppLimited => mark::APP_LIMITED,
            Call::IdleRestart(_) => mark::IDLE_RESTART,
            Call::SpuriousLoss(_) => mark::SPURIOUS_LOSS,
            Call::Discarded(..) => mark::DISCARDED,
            Call::MtuUpdate(_) => mark::MTU_UPDATE,
            Call::PathChange(_) => mark::PATH_CHANGE,
            Call::ResumeHint(_) => mark::RESUME_HINT,
            Call::AckPolicy(_) => mark::ACK_POLICY,
            Call::EcnState(_) => mark::ECN_STATE,
        });
        self.last.path = self.row(path.words(), &self.last.path.clone());
        match call {
            Call::PacketSent(packet) => self.last.sent = self.row(packet.words(), &self.last.sent.clone()),
            Call::Ack(ack) => {
                let head = AckHead {
                    last: ack.last,
                    limited_by: ack.limited_by,
                    max_bytes_in_flight: ack.max_bytes_in_flight,
                    app_limited_at: ack.app_limited_at,
                    newest_data_sent_at: ack.newest_data_sent_at,
                    has_sample: ack.rate_sample.is_some(),
                };
                self.last.ack = self.row(head.words(), &self.last.ack.clone());
                if let Some(sample) = &ack.rate_sample {
                    self.last.sample = self.row(sample.words(), &self.last.sample.clone());
                }
                self.number(length(ack.packets));
                for packet in ack.packets {
                    self.last.acked = self.row(packet.words(), &self.last.acked.clone());
                }
            }
            Call::Loss(loss) => {
                let head = LossHead {
                    last: loss.last,
                    persistent_congestion: loss.persistent_congestion,
                    cause: loss.cause,
                };
                self.row(head.words(), &[0; 2]);
                self.number(length(loss.packets));
                for packet in loss.packets {
                    self.last.lost = self.row(packet.words(), &self.last.lost.clone());
                }
            }
            Call::Ecn(ecn) => self.last.ecn = self.row(ecn.words(), &self.last.ecn.clone()),
            Call::Rtt(rtt) => self.last.rtt = self.row(rtt.words(), &self.last.rtt.clone()),
            Call::AppLimited => {}
            Call::IdleRestart(idle) => self.rare(idle),
            Call::SpuriousLoss(spurious) => self.rare(spurious),
            Call::Discarded(bytes, reason) => self.rare(&Discarded { bytes: *bytes, reason: *reason }),
            Call::MtuUpdate(change) => self.rare(change),
            Call::PathChange(change) => self.rare(change),
            Call::ResumeHint(hint) => self.rare(hint),
            Call::AckPolicy(policy) => self.rare(policy),
            Call::EcnState(codepoint) => self.rare(codepoint),
        }
    }

    /// Ends the trace and gives back what it was written into.
    #[must_use]
    pub fn finish(mut self) -> E {
        self.byte(mark::END_OF_TRACE);
        self.out
    }

    fn rare<const N: usize>(&mut self, structure: &impl Words<N>) {
        self.row(structure.words(), &[0; N]);
    }

    /// Writes which words changed, and by how much; returns the words.
    fn row<const N: usize>(&mut self, words: [u64; N], last: &[u64; N]) -> [u64; N] {
        let mask =
            words.iter().zip(last).rev().fold(0, |mask, (word, last)| mask << 1 | u64::from(word != last));
        self.number(mask);
        for (word, last) in words.iter().zip(last) {
            if word != last {
                self.number(zigzag(word.wrapping_sub(*last)));
            }
        }
        words
    }

    fn number(&mut self, number: u64) {
        write_number(&mut self.out, number);
    }

    fn byte(&mut self, byte: u8) {
        self.out.extend([byte]);
    }
}

/// Writes what a file of `traces` traces ends with.
pub fn end_of_file(out: &mut impl Extend<u8>, traces: u64) {
    out.extend([mark::END_OF_FILE]);
    write_number(out, traces);
}

fn write_number(out: &mut impl Extend<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            out.extend([low & 0x7f]);
            return;
        }
        out.extend([low | 0x80]);
    }
}

/// Small numbers for small differences of either sign: 0, -1, 1, -2, ...
const fn zigzag(difference: u64) -> u64 {
    let sign = if difference >> 63 == 0 { 0 } else { u64::MAX };
    difference << 1 ^ sign
}

fn length<T>(slice: &[T]) -> u64 {
    u64::try_from(slice.len()).unwrap_or(u64::MAX)
}
