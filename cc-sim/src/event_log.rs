//! A run as qlog (draft-ietf-quic-qlog-main-schema, draft-ietf-quic-qlog-quic-events), for the viewers that there are.
//!
//! One file for each flow, seen from its data sender, as a JSON text sequence (RFC 7464): each event is a record of its own, so that a
//! file is good up to where it was cut off. The times are those of the virtual clock in milliseconds.
//!
//! * `quic:recovery_metrics_updated`: what changed of congestion window, bytes in flight, RTT, slow start threshold and
//!   pacing rate (bits per second), whenever the sender's state may have changed.
//! * `quic:congestion_state_updated`: a change of the controller's phase. The names of states are those of the controller's phases.
//! * `quic:packet_sent`, `quic:packet_received`, `quic:packet_lost`, if wanted: 1-RTT packets with their STREAM and ACK frames. Packets
//!   of the handshake are not in it. What the client sends has no packet numbers in this simulator, and its packets have none here. ACK
//!   frames have the ECN counts that they carry.
//! * `quic:udp_datagrams_sent`, with the packets and in scenarios with ECN only: the ECN codepoint that this datagram and those after it are
//!   sent with. It comes when the codepoint changes; until then that of the event before holds, Not-ECT before the first.
//! * `quic:ecn_state_updated`, with the packets: ECN has failed.

use crate::{
    Algorithm, Observer, PacketEvent, RunOutcome, Sample, Scenario, SimulationError, simulate_flows,
};
use cc_core::{Duration, EcnCodepoint};
use qlog::events::quic::{
    AckRange, CongestionStateUpdated, EcnState, EcnStateUpdated, PacketHeader, PacketLost, PacketReceived,
    PacketSent, PacketType, QuicFrame, RecoveryMetricsUpdated,
};
use qlog::events::{Event, EventData, EventImportance, JsonEvent, QUIC_URI, RawInfo};
use qlog::{CommonFields, QLOGFILESEQ_URI, QlogSeq, ReferenceTime, TraceSeq, VantagePoint, VantagePointType};
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::io::{self, Write};

/// What to write.
#[derive(Clone, Copy, Debug)]
pub struct EventLog<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The algorithm of the main flow.
    pub algorithm: Algorithm,
    /// Seed of the run itself.
    pub seed: u64,
    /// Whether to write the events of packets too.
    pub packets: bool,
}

/// Why there is no log, or not all of it.
#[derive(Debug)]
pub enum EventLogError {
    /// The run fails. Nothing has been written.
    Run(SimulationError),
    /// A file could not be written.
    Write(io::Error),
}

impl fmt::Display for EventLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EventLogError {}

impl EventLog<'_> {
    /// Runs the simulation and writes it: `open` is asked for the file of each flow, number 0 is the main one.
    ///
    /// A first run, which nobody watches, shows whether there is an end; the one that is written goes the same way.
    ///
    /// # Errors
    ///
    /// The run fails, and no file has been asked for; or a file cannot be written.
    pub fn write<W: Write>(
        self,
        mut open: impl FnMut(usize) -> io::Result<W>,
    ) -> Result<RunOutcome, EventLogError> {
        let Self { scenario, algorithm, seed, packets } = self;
        simulate_flows(scenario, algorithm, seed, &mut ()).map_err(EventLogError::Run)?;
        let others = scenario.flows.iter().map(|flow| flow.algorithm.with(algorithm));
        let mut logs = Logs { flows: Vec::new(), packets };
        for (number, algorithm) in std::iter::once(algorithm).chain(others).enumerate() {
            let mut flow = FlowLog::new(open(number).map_err(EventLogError::Write)?);
            flow.record(&header(scenario, algorithm, seed, number));
            logs.flows.push(flow);
        }
        let outcome = simulate_flows(scenario, algorithm, seed, &mut logs).map_err(EventLogError::Run)?;
        for flow in logs.flows {
            flow.finish().map_err(EventLogError::Write)?;
        }
        Ok(outcome)
    }
}

fn header(scenario: &Scenario, algorithm: Algorithm, seed: u64, number: usize) -> QlogSeq {
    let reference_time = ReferenceTime::new_monotonic(None);
    let trace = TraceSeq {
        title: Some(format!("{}, flow {number}: {}", scenario.name, algorithm.name())),
        description: Some(format!("seed {seed:#018x}")),
        common_fields: Some(CommonFields { reference_time, ..CommonFields::default() }),
        vantage_point: Some(VantagePoint {
            name: Some(format!("data sender of flow {number}")),
            ty: VantagePointType::Server,
            flow: None,
        }),
        event_schemas: vec![QUIC_URI.to_owned()],
    };
    QlogSeq {
        file_schema: QLOGFILESEQ_URI.to_owned(),
        serialization_format: "JSON-SEQ".to_owned(),
        title: Some(scenario.name.clone()),
        description: Some(scenario.summary.clone()),
        trace,
    }
}

/// The files of all flows.
struct Logs<W> {
    flows: Vec<FlowLog<W>>,
    packets: bool,
}

impl<W: Write> Observer for Logs<W> {
    fn on_flow_sample(&mut self, flow: usize, sample: &Sample) {
        if let Some(log) = self.flows.get_mut(flow) {
            log.on_sample(sample);
        }
    }

    fn watches_packets(&self, _flow: usize) -> bool {
        self.packets
    }

    fn on_packet(&mut self, flow: usize, at_us: u64, event: &PacketEvent) {
        if let Some(log) = self.flows.get_mut(flow) {
            log.on_packet(at_us, event);
        }
    }
}

/// The file of one flow.
struct FlowLog<W> {
    writer: W,
    /// Why a record could not be written. Nothing is written after it.
    error: Option<io::Error>,
    phase: Option<&'static str>,
    /// Codepoint of the datagrams since the last event that had one.
    ecn: EcnCodepoint,
    /// The values that were written last.
    metrics: RecoveryMetricsUpdated,
}

impl<W: Write> FlowLog<W> {
    fn new(writer: W) -> Self {
        Self {
            writer,
            error: None,
            phase: None,
            ecn: EcnCodepoint::NotEct,
            metrics: RecoveryMetricsUpdated::default(),
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        let phase = sample.cc.phase;
        if self.phase != Some(phase) {
            let old = self.phase.replace(phase).map(str::to_owned);
            let update = CongestionStateUpdated { old, new: phase.to_owned(), trigger: None };
            self.event(sample.at_us, EventData::QuicCongestionStateUpdated(update));
        }
        let update = changes(&mut self.metrics, metrics(sample));
        if update != RecoveryMetricsUpdated::default() {
            self.event(sample.at_us, EventData::QuicMetricsUpdated(update));
        }
    }

    fn on_packet(&mut self, at_us: u64, event: &PacketEvent) {
        if let PacketEvent::Sent { bytes, ecn, .. } = event
            && std::mem::replace(&mut self.ecn, *ecn) != *ecn
        {
            self.record(&datagram_sent(at_us, *bytes, *ecn));
        }
        self.event(at_us, packet_event(event));
    }

    fn event(&mut self, at_us: u64, data: EventData) {
        self.record(&Event::with_time(millis_at(at_us), data));
    }

    /// RFC 7464 section 2.2: a record separator, the JSON text, a line feed.
    fn record(&mut self, value: &impl Serialize) {
        if self.error.is_some() {
            return;
        }
        let mut record = vec![b'\x1e'];
        let written = serde_json::to_writer(&mut record, value).map_err(io::Error::from).and_then(|()| {
            record.push(b'\n');
            self.writer.write_all(&record)
        });
        self.error = written.err();
    }

    fn finish(mut self) -> io::Result<()> {
        self.error.map_or_else(|| self.writer.flush(), Err)
    }
}

fn metrics(sample: &Sample) -> RecoveryMetricsUpdated {
    let rtt = sample.rtt;
    RecoveryMetricsUpdated {
        min_rtt: rtt.map(|rtt| millis(rtt.min)),
        smoothed_rtt: rtt.map(|rtt| millis(rtt.smoothed)),
        latest_rtt: rtt.map(|rtt| millis(rtt.latest)),
        rtt_variance: rtt.map(|rtt| millis(rtt.var)),
        congestion_window: Some(sample.cc.cwnd),
        bytes_in_flight: Some(sample.bytes_in_flight),
        ssthresh: sample.cc.ssthresh,
        pacing_rate: sample.cc.pacing_rate.map(|rate| rate.as_bytes_per_sec().saturating_mul(8)),
        ..RecoveryMetricsUpdated::default()
    }
}

/// What of `new` is not in `known`, which becomes `new`.
fn changes(known: &mut RecoveryMetricsUpdated, new: RecoveryMetricsUpdated) -> RecoveryMetricsUpdated {
    fn changed<T: PartialEq>(new: Option<T>, old: &Option<T>) -> Option<T> {
        if new == *old { None } else { new }
    }
    let old = std::mem::replace(known, new.clone());
    RecoveryMetricsUpdated {
        min_rtt: changed(new.min_rtt, &old.min_rtt),
        smoothed_rtt: changed(new.smoothed_rtt, &old.smoothed_rtt),
        latest_rtt: changed(new.latest_rtt, &old.latest_rtt),
        rtt_variance: changed(new.rtt_variance, &old.rtt_variance),
        congestion_window: changed(new.congestion_window, &old.congestion_window),
        bytes_in_flight: changed(new.bytes_in_flight, &old.bytes_in_flight),
        ssthresh: changed(new.ssthresh, &old.ssthresh),
        pacing_rate: changed(new.pacing_rate, &old.pacing_rate),
        ..RecoveryMetricsUpdated::default()
    }
}

/// By hand: the draft has a list of codepoints, one for each datagram, where the crate has a single one.
fn datagram_sent(at_us: u64, bytes: u64, ecn: EcnCodepoint) -> JsonEvent {
    let ecn = match ecn {
        EcnCodepoint::NotEct => "Not-ECT",
        EcnCodepoint::Ect0 => "ECT(0)",
        EcnCodepoint::Ect1 => "ECT(1)",
    };
    JsonEvent {
        time: millis_at(at_us),
        importance: EventImportance::Extra,
        name: "quic:udp_datagrams_sent".to_owned(),
        data: json!({ "count": 1, "raw": [{ "length": bytes }], "ecn": [ecn] }),
    }
}

fn packet_event(event: &PacketEvent) -> EventData {
    let header = |packet_number| PacketHeader {
        packet_type: PacketType::OneRtt,
        packet_number,
        ..PacketHeader::default()
    };
    let raw = |length| RawInfo { length: Some(length), payload_length: None, data: None };
    match event {
        PacketEvent::Sent { number, bytes, offset, length, is_mtu_probe, .. } => {
            let stream = QuicFrame::Stream {
                stream_id: 0,
                offset: Some(*offset),
                fin: None,
                raw: Some(Box::new(RawInfo { length: None, payload_length: Some(*length), data: None })),
            };
            let frame = if *length > 0 { stream } else { QuicFrame::Ping { raw: None } };
            EventData::QuicPacketSent(PacketSent {
                header: header(Some(*number)),
                raw: Some(raw(*bytes)),
                is_mtu_probe_packet: is_mtu_probe.then_some(true),
                frames: Some(vec![frame]),
                ..PacketSent::default()
            })
        }
        PacketEvent::Received { bytes, ack_delay_us, ranges, ecn } => {
            let ack = QuicFrame::Ack {
                ack_delay: Some(*ack_delay_us as f32 / 1_000.0),
                acked_ranges: Some(ranges.iter().map(|&(first, last)| AckRange::new(first, last)).collect()),
                ect1: ecn.map(|counts| counts.ect1),
                ect0: ecn.map(|counts| counts.ect0),
                ce: ecn.map(|counts| counts.ce),
                raw: None,
            };
            EventData::QuicPacketReceived(PacketReceived {
                header: header(None),
                raw: Some(raw(*bytes)),
                frames: Some(vec![ack]),
                ..PacketReceived::default()
            })
        }
        PacketEvent::Lost { number, is_mtu_probe } => EventData::QuicPacketLost(PacketLost {
            header: Some(header(Some(*number))),
            is_mtu_probe_packet: is_mtu_probe.then_some(true),
            ..PacketLost::default()
        }),
        PacketEvent::EcnFailed => {
            EventData::QuicEcnStateUpdated(EcnStateUpdated { old: None, new: EcnState::Failed })
        }
    }
}

fn millis_at(us: u64) -> f64 {
    us as f64 / 1_000.0
}

fn millis(duration: Duration) -> f32 {
    duration.as_micros() as f32 / 1_000.0
}
