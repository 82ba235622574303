//! A run as lines of text: one at each change of the controller's phase and one at the end of each interval.
//!
//! Constant memory: a [`Tracer`] keeps the newest sample only and hands each line on as it is made.

use crate::experiment::run_seed;
use crate::ideal::physical_limit;
use crate::report::Format;
use crate::scenario::EcnUse;
use crate::text::Millis;
use crate::{Algorithm, Observer, Outcome, Sample, Scenario, SimulationError, simulate};
use serde::Serialize;
use std::fmt;

/// Why a line was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceEvent {
    /// The controller is in another phase than before (or in its first one).
    Phase,
    /// The last state of an interval in which something happened.
    Tick,
    /// The last state of the run.
    End,
}

/// One line of a trace: the sender's state at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceLine {
    /// Virtual time in microseconds.
    pub at_us: u64,
    /// Why there is a line.
    pub event: TraceEvent,
    /// The controller's phase.
    pub phase: &'static str,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Pacing rate in kilobits (1000 bits) per second, rounded down; `None` if unpaced.
    pub pacing_kbps: Option<u64>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Newest RTT sample in microseconds.
    pub rtt_us: Option<u64>,
    /// Time that a packet would now wait in the queue towards the client, in microseconds.
    pub queue_us: u64,
    /// Bytes delivered so far.
    pub delivered: u64,
    /// Bytes declared lost so far.
    pub lost: u64,
    /// CE marks reported so far; `None` in a scenario without ECN.
    pub ce: Option<u64>,
}

impl TraceLine {
    /// Names of the columns of [`Display`](fmt::Display), aligned with them.
    pub const HEADER: &'static str = concat!(
        "   time_ms event phase                   cwnd pacing_kbps  in_flight    rtt_ms  queue_ms",
        "   delivered       lost"
    );

    fn new(sample: &Sample, event: TraceEvent) -> Self {
        Self {
            at_us: sample.at_us,
            event,
            phase: sample.cc.phase,
            cwnd: sample.cc.cwnd,
            pacing_kbps: sample.cc.pacing_rate.map(|rate| rate.as_bytes_per_sec().saturating_mul(8) / 1_000),
            in_flight: sample.bytes_in_flight,
            rtt_us: sample.rtt.map(|rtt| rtt.latest.as_micros()),
            queue_us: sample.queue_us,
            delivered: sample.delivered,
            lost: sample.lost,
            ce: sample.ce_marks,
        }
    }
}

/// Columns of fixed width, separated by blanks; `-` for what there is not. CE marks only in a scenario with ECN.
impl fmt::Display for TraceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = match self.event {
            TraceEvent::Phase => "phase",
            TraceEvent::Tick => "tick",
            TraceEvent::End => "end",
        };
        let pacing = self.pacing_kbps.map_or_else(|| "-".to_owned(), |kbps| kbps.to_string());
        let rtt = self.rtt_us.map_or_else(|| "-".to_owned(), |us| Millis(us).to_string());
        write!(
            f,
            "{:>10} {event:<5} {:<17} {:>10} {pacing:>11} {:>10} {rtt:>9} {:>9} {:>11} {:>10}",
            Millis(self.at_us),
            self.phase,
            self.cwnd,
            self.in_flight,
            Millis(self.queue_us),
            self.delivered,
            self.lost,
        )?;
        self.ce.map_or(Ok(()), |ce| write!(f, " {ce:>8}"))
    }
}

/// Makes trace lines of samples and gives them to a function.
#[derive(Debug)]
pub struct Tracer<F> {
    interval_us: u64,
    /// End of the current interval.
    tick_us: u64,
    /// The newest sample, and whether a line showed it.
    last: Option<(Sample, bool)>,
    on_line: F,
}

impl<F: FnMut(&TraceLine)> Tracer<F> {
    /// A tracer with intervals of `interval_us` microseconds, 1 at least.
    pub fn new(interval_us: u64, on_line: F) -> Self {
        let interval_us = interval_us.max(1);
        Self { interval_us, tick_us: interval_us, last: None, on_line }
    }

    /// Shows the last state of the run.
    pub fn finish(&mut self) {
        if let Some((sample, _)) = self.last.take() {
            (self.on_line)(&TraceLine::new(&sample, TraceEvent::End));
        }
    }
}

impl<F: FnMut(&TraceLine)> Observer for Tracer<F> {
    fn on_sample(&mut self, sample: &Sample) {
        if sample.at_us >= self.tick_us {
            if let Some((last, false)) = &self.last {
                (self.on_line)(&TraceLine::new(last, TraceEvent::Tick));
            }
            // The next multiple of the interval after this sample.
            self.tick_us =
                (sample.at_us / self.interval_us).saturating_add(1).saturating_mul(self.interval_us);
        }
        let same_phase = matches!(&self.last, Some((last, _)) if last.cc.phase == sample.cc.phase);
        if !same_phase {
            (self.on_line)(&TraceLine::new(sample, TraceEvent::Phase));
        }
        self.last = Some((*sample, !same_phase));
    }
}

/// What to trace.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Seed of the run itself.
    pub seed: u64,
    /// Interval in microseconds, 1 at least.
    pub interval_us: u64,
}

impl<'a> Trace<'a> {
    /// Run number `run` of an experiment with the base seed `base_seed`.
    #[must_use]
    pub fn of_run(
        scenario: &'a Scenario,
        algorithm: Algorithm,
        base_seed: u64,
        run: u32,
        interval_us: u64,
    ) -> Self {
        let seed = run_seed(base_seed, &scenario.name, algorithm, u64::from(run));
        Self { scenario, algorithm, seed, interval_us }
    }

    /// Runs the simulation; `write` gets the trace piece by piece, each piece of whole lines.
    ///
    /// A first run, which nobody watches, shows whether there is an end; the one that is written goes the same way. So
    /// nothing is kept in memory, however long the trace.
    ///
    /// # Errors
    ///
    /// The run fails; nothing has been written.
    pub fn write(self, format: Format, mut write: impl FnMut(&str)) -> Result<Outcome, SimulationError> {
        let Self { scenario, algorithm, seed, interval_us } = self;
        simulate(scenario, algorithm, seed, &mut ())?;
        match format {
            Format::Table => {
                write(&format!(
                    "# {} with {}, seed {seed:#018x}, every {} ms\n{}{}\n",
                    scenario.name,
                    algorithm.name(),
                    Millis(interval_us),
                    TraceLine::HEADER,
                    if scenario.endpoint.ecn == EcnUse::Off { "" } else { " CE marks" }
                ));
                let outcome = self.run(|line| write(&format!("{line}\n")))?;
                write(&summary(scenario, &outcome));
                Ok(outcome)
            }
            Format::Csv => {
                let mut header = true;
                self.run(|line| {
                    write(&csv_line(line, header));
                    header = false;
                })
            }
            Format::Json => self.run(|line| {
                // Numbers and names cannot fail to serialise.
                let json = serde_json::to_string(line).unwrap_or_default();
                write(&(json + "\n"));
            }),
        }
    }

    fn run(self, on_line: impl FnMut(&TraceLine)) -> Result<Outcome, SimulationError> {
        let mut tracer = Tracer::new(self.interval_us, on_line);
        let outcome = simulate(self.scenario, self.algorithm, self.seed, &mut tracer);
        tracer.finish();
        outcome
    }
}

/// The trace of one run as text; for snapshots. `seed` is that of the run itself, `interval_us` at least 1.
///
/// # Errors
///
/// The run fails.
pub fn trace_lines(
    scenario: &Scenario,
    algorithm: Algorithm,
    seed: u64,
    interval_us: u64,
) -> Result<String, SimulationError> {
    let mut text = String::new();
    Trace { scenario, algorithm, seed, interval_us }.write(Format::Table, |piece| text.push_str(piece))?;
    Ok(text)
}

fn csv_line(line: &TraceLine, header: bool) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    // Numbers and names of phases cannot fail to serialise, nor can a vector fail to grow.
    let bytes = writer.serialize(line).ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn summary(scenario: &Scenario, outcome: &Outcome) -> String {
    let limit = physical_limit(scenario)
        .map_or_else(|| "none".to_owned(), |limit| format!("{} ms", Millis(limit.completion_us)));
    format!(
        "# completed at {} ms: request {} ms, last byte {} ms, limit {limit}\n\
         # sent {} packets ({} bytes), lost {} ({} bytes), of them spurious {}, dropped by the queue {}, ACKs {}\n",
        Millis(outcome.completion_us),
        Millis(outcome.request_us),
        Millis(outcome.last_byte_us),
        outcome.packets_sent,
        outcome.bytes_sent,
        outcome.packets_lost,
        outcome.bytes_lost,
        outcome.spurious_losses,
        outcome.dropped,
        outcome.acks_received,
    ) + &outcome.media.map_or_else(String::new, |media| {
        format!(
            "# delay of audio and video: {} ms on average, {} ms at most, groups given up {}\n",
            Millis(media.average_us),
            Millis(media.max_us),
            media.stopped
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{TraceEvent, TraceLine, Tracer};
    use crate::{Observer, Sample, SampleKind};
    use cc_core::{Duration, PathRtt, Rate, Snapshot};

    fn sample(at_us: u64, phase: &'static str) -> Sample {
        let rtt = Duration::from_micros(80_123);
        Sample {
            at_us,
            kind: SampleKind::Ack,
            cc: Snapshot {
                phase,
                cwnd: 15_360,
                pacing_rate: Some(Rate::from_bytes_per_sec(2_500_000)),
                ..Snapshot::default()
            },
            bytes_in_flight: 1_440,
            network_rtt_us: None,
            rtt: Some(PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: rtt }),
            delivered: 10,
            lost: 2_880,
            ce_marks: None,
            queue_us: 575,
        }
    }

    fn events(samples: &[(u64, &'static str)], interval_us: u64) -> Vec<(u64, TraceEvent)> {
        let mut lines = Vec::new();
        let mut tracer = Tracer::new(interval_us, |line: &TraceLine| lines.push((line.at_us, line.event)));
        for &(at_us, phase) in samples {
            tracer.on_sample(&sample(at_us, phase));
        }
        tracer.finish();
        lines
    }

    #[test]
    fn there_is_a_line_for_each_change_of_phase_and_for_the_last_state_of_each_interval() {
        use TraceEvent::{End, Phase, Tick};
        let samples = [(1, "a"), (10, "a"), (60, "a"), (99, "a"), (120, "b"), (130, "b")];
        let expected = [(1, Phase), (10, Tick), (99, Tick), (120, Phase), (130, End)];
        assert_eq!(events(&samples, 50), expected);
    }

    #[test]
    fn an_interval_without_news_has_no_line() {
        use TraceEvent::{End, Phase, Tick};
        // Nothing but the change of phase in the first interval, nothing at all in those from 100 to 999.
        let samples = [(1, "a"), (70, "a"), (1_000, "a")];
        assert_eq!(events(&samples, 50), [(1, Phase), (70, Tick), (1_000, End)]);
    }

    #[test]
    fn a_run_without_samples_has_no_lines() {
        assert_eq!(events(&[], 50), []);
    }

    #[test]
    fn lines_have_fixed_columns_under_their_header() {
        let line = TraceLine::new(&sample(4_460_200, "recovery"), TraceEvent::Phase).to_string();
        let columns: Vec<&str> = line.split_whitespace().collect();
        // 2 500 000 bytes/s are 20 000 kbit/s.
        assert_eq!(
            columns,
            ["4460.200", "phase", "recovery", "15360", "20000", "1440", "80.123", "0.575", "10", "2880"]
        );
        assert_eq!(line.len(), TraceLine::HEADER.len());
        let mut unknown = sample(0, "initial");
        (unknown.rtt, unknown.cc.pacing_rate) = (None, None);
        let line = TraceLine::new(&unknown, TraceEvent::Tick).to_string();
        assert_eq!(line.split_whitespace().filter(|&column| column == "-").count(), 2);
        let with_marks = TraceLine::new(&Sample { ce_marks: Some(123), ..unknown }, TraceEvent::Tick);
        assert_eq!(with_marks.to_string(), format!("{line}      123"));
        assert_eq!(line.len(), TraceLine::HEADER.len());
    }
}
