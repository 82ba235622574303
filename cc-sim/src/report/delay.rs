//! The tables of the delay experiments: figures of each cell, immunity to the reverse queue, and what was expected.

use super::share::decimals;
use super::table::{new_table, ratio};
use super::{Format, RenderError, Settings, csv_text, json_text, rounded};
use crate::delay::{DelayCell, SETTLING_US, Signal};
use crate::measure::{FlowFigures, RunFigures, SHARE_INTERVAL_US};
use crate::scenario::Direction;
use serde::Serialize;

/// One cell; means of its runs. Where several flows go the same way, RTTs are the means of theirs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelayRow {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the main flow's algorithm.
    pub algorithm: &'static str,
    /// What it got to know of one-way delays.
    pub signal: Signal,
    /// Whether there was other traffic on the reverse link; `None` if the scenario knows none.
    pub reverse_traffic: Option<bool>,
    /// Part of the capacity of the forward link that was used.
    pub utilisation: f64,
    /// Data that the clients of forward flows got, in Mbit/s, from the first request to the last byte or the end of the
    /// run.
    pub goodput_mbps: f64,
    /// The same in the first [`SETTLING_US`] of other traffic on the reverse link, if the scenario knows any.
    pub early_goodput_mbps: Option<f64>,
    /// The same from then on: the time that is judged.
    pub late_goodput_mbps: Option<f64>,
    /// Data that the client of a reverse flow got, in Mbit/s, while it transferred; mean of these flows.
    pub reverse_goodput_mbps: Option<f64>,
    /// RTT without the receiver's ACK delay, mean over time, in milliseconds.
    pub rtt_mean_ms: Option<f64>,
    /// The same, 95th percentile.
    pub rtt_p95_ms: Option<f64>,
    /// Mean RTT over that of CUBIC in the same scenario, if that was run.
    pub rtt_over_cubic: Option<f64>,
    /// Datagrams of forward flows lost on the way, in percent of those sent.
    pub loss_percent: f64,
    /// That over CUBIC's; `None` also if CUBIC lost nothing.
    pub loss_over_cubic: Option<f64>,
    /// Jain's index of the forward flows' shares while all of them transfer; `None` for one flow.
    pub jain: Option<f64>,
    /// Share of the main flow in that time; `None` for one flow.
    pub share: Option<f64>,
    /// Waiting time in front of the forward link, mean over the time that is judged, in milliseconds.
    pub queue_mean_ms: Option<f64>,
    /// The same, 95th percentile.
    pub queue_p95_ms: Option<f64>,
    /// Waiting time in front of the reverse link, mean over time, in milliseconds.
    pub reverse_queue_mean_ms: Option<f64>,
    /// Number of runs.
    pub runs: usize,
    /// Base seed.
    pub seed: u64,
}

/// The rows of `cells`, which were measured with the base seed `seed`.
#[must_use]
pub fn delay_rows(cells: &[DelayCell], seed: u64) -> Vec<DelayRow> {
    let mut rows: Vec<DelayRow> = cells.iter().map(|cell| row(cell, seed)).collect();
    let cubic: Vec<(String, Option<f64>, f64)> = rows
        .iter()
        .filter(|row| row.algorithm == "cubic" && row.reverse_traffic.is_none())
        .map(|row| (row.scenario.clone(), row.rtt_mean_ms, row.loss_percent))
        .collect();
    for row in rows.iter_mut().filter(|row| row.reverse_traffic.is_none()) {
        if let Some((_, rtt_ms, loss)) = cubic.iter().find(|(scenario, ..)| *scenario == row.scenario) {
            let over = |ours: f64, theirs: f64| (theirs > 0.0).then(|| rounded(ours / theirs, 1e4));
            row.rtt_over_cubic = row.rtt_mean_ms.zip(*rtt_ms).and_then(|(ours, theirs)| over(ours, theirs));
            row.loss_over_cubic = over(row.loss_percent, *loss);
        }
    }
    rows
}

fn row(cell: &DelayCell, seed: u64) -> DelayRow {
    let mean_of = |value: &dyn Fn(&RunFigures) -> Option<f64>| {
        let values: Option<Vec<f64>> = cell.runs.iter().map(value).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len().max(1) as f64)
    };
    let ms = |value: &dyn Fn(&RunFigures) -> Option<f64>| mean_of(value).map(|us| rounded(us / 1e3, 1e3));
    let mbps = |value: &dyn Fn(&RunFigures) -> Option<f64>| mean_of(value).map(|bps| rounded(bps / 1e6, 1e4));
    let several = cell.scenario.flows.iter().any(|flow| flow.direction == Direction::Forward);
    let common = |value: &dyn Fn(&RunFigures) -> Option<f64>| {
        several.then(|| mean_of(value)).flatten().map(|figure| rounded(figure, 1e4))
    };
    let judged_from_us = cell.reverse_traffic.map(|(from_us, _)| from_us);
    let early = |run: &RunFigures| {
        let until_us = judged_from_us?;
        goodput_between_bps(run, until_us.saturating_sub(SETTLING_US), until_us)
    };
    let late = |run: &RunFigures| goodput_between_bps(run, judged_from_us?, u64::MAX);
    DelayRow {
        scenario: cell.scenario.name.clone(),
        algorithm: cell.algorithm.name(),
        signal: cell.signal,
        reverse_traffic: cell.reverse_traffic.map(|(_, with)| with),
        utilisation: rounded(mean_of(&|run| Some(run.utilisation)).unwrap_or(0.0), 1e4),
        goodput_mbps: mbps(&|run| Some(forward_goodput_bps(run))).unwrap_or(0.0),
        early_goodput_mbps: mbps(&early),
        late_goodput_mbps: mbps(&late),
        reverse_goodput_mbps: mbps(&|run| flow_mean(run, Direction::Reverse, |flow| Some(flow.goodput_bps))),
        rtt_mean_ms: ms(&|run| flow_mean(run, Direction::Forward, |flow| flow.rtt.mean)),
        rtt_p95_ms: ms(&|run| flow_mean(run, Direction::Forward, |flow| flow.rtt.p95)),
        rtt_over_cubic: None,
        loss_percent: rounded(mean_of(&|run| Some(loss(run))).unwrap_or(0.0) * 100.0, 1e4),
        loss_over_cubic: None,
        jain: common(&|run| Some(run.common.as_ref()?.jain)),
        share: common(&|run| run.common.as_ref()?.shares.first().copied()),
        queue_mean_ms: ms(&|run| run.queue.mean),
        queue_p95_ms: ms(&|run| run.queue.p95),
        reverse_queue_mean_ms: ms(&|run| run.reverse_queue.mean),
        runs: cell.runs.len(),
        seed,
    }
}

/// The mean over the flows of one direction; `None` if there are none, or one has no value.
fn flow_mean(run: &RunFigures, direction: Direction, value: fn(&FlowFigures) -> Option<f64>) -> Option<f64> {
    let flows = run.outcome.flows.iter().zip(&run.flows).filter(|(flow, _)| flow.direction == direction);
    let values: Vec<f64> = flows.map(|(_, figures)| value(figures)).collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// What all forward clients got, from the first request to the last byte or the end of the run.
fn forward_goodput_bps(run: &RunFigures) -> f64 {
    let forward = || run.outcome.flows.iter().filter(|flow| flow.direction == Direction::Forward);
    let received: u64 = forward().map(|flow| flow.received).sum();
    let first_us = forward().filter_map(|flow| flow.request_us).min();
    let last_us = forward().map(|flow| flow.last_byte_us.unwrap_or(run.outcome.end_us)).max();
    match first_us.zip(last_us) {
        Some((first_us, last_us)) if last_us > first_us => {
            received as f64 * 8e6 / (last_us - first_us) as f64
        }
        _ => 0.0,
    }
}

/// Datagrams of all forward flows.
fn loss(run: &RunFigures) -> f64 {
    let forward = || run.outcome.flows.iter().filter(|flow| flow.direction == Direction::Forward);
    let lost: u64 = forward().map(|flow| flow.counters.dropped + flow.counters.lost_on_link).sum();
    let sent: u64 = forward().map(|flow| flow.counters.packets_sent).sum();
    lost as f64 / sent.max(1) as f64
}

/// What all forward clients got between two times, taken to tenths of a second and to the end of the run.
fn goodput_between_bps(run: &RunFigures, from_us: u64, until_us: u64) -> Option<f64> {
    let note = |us: u64| usize::try_from((us / SHARE_INTERVAL_US).checked_sub(1)?).ok();
    let (from, until) = (note(from_us)?, note(until_us)?.min(run.received.len().checked_sub(1)?));
    let (before, after) = (run.received.get(from)?, run.received.get(until)?);
    let forward =
        run.outcome.flows.iter().enumerate().filter(|(_, flow)| flow.direction == Direction::Forward);
    let bytes: u64 = forward.map(|(flow, _)| after[flow].saturating_sub(before[flow])).sum();
    let interval_us = until.saturating_sub(from) as u64 * SHARE_INTERVAL_US;
    (interval_us > 0).then(|| bytes as f64 * 8e6 / interval_us as f64)
}

/// An expectation, and whether the rows meet it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expectation {
    /// What is expected of which algorithm.
    pub what: String,
    /// The limit.
    pub limit: f64,
    /// Whether the limit is the largest allowed value (else the smallest).
    pub is_largest: bool,
    /// What was measured.
    pub measured: f64,
    /// Whether it is met.
    pub met: bool,
}

/// What a fluid model says of QUIC-DC with its default threshold, as far as the rows have it: mean RTT at most 0.70, 0.50 and
/// 0.30 of CUBIC's over 1, 2 and 4 bandwidth-delay products; 90 % of the capacity used; at most 20 % of CUBIC's loss; a Jain
/// index of four equal flows of 0.9; a quarter of the path beside CUBIC; and, with receive times, 98 % of the goodput whatever
/// the reverse queue, and a forward queue no longer than without it.
#[must_use]
pub fn expectations(rows: &[DelayRow]) -> Vec<Expectation> {
    let mut all = Vec::new();
    for row in rows.iter().filter(|row| row.algorithm == "quicdc") {
        let mut add = |what: &str, limit: f64, is_largest: bool, measured: Option<f64>| {
            let Some(measured) = measured else { return };
            let met = if is_largest { measured <= limit } else { measured >= limit };
            let what = format!("{}: {what}", row.scenario);
            all.push(Expectation { what, limit, is_largest, measured, met });
        };
        let single = [("delay_05bdp", None), ("delay_1bdp", Some(0.70)), ("delay_2bdp", Some(0.50))];
        let single = single.into_iter().chain([("delay_4bdp", Some(0.30))]);
        for (_, rtt_limit) in single.filter(|(name, _)| *name == row.scenario) {
            if let Some(limit) = rtt_limit {
                add("mean RTT over CUBIC's", limit, true, row.rtt_over_cubic);
            }
            add("capacity used", 0.90, false, Some(row.utilisation));
            add("loss over CUBIC's", 0.20, true, row.loss_over_cubic);
        }
        match row.scenario.as_str() {
            "delay_four_flows" => add("Jain's index", 0.90, false, row.jain),
            "delay_against_cubic" => add("share beside CUBIC", 0.25, false, row.share),
            _ => {}
        }
        if row.signal == Signal::ReceiveTimes && row.reverse_traffic == Some(true) {
            let without = without_reverse_traffic(rows, row);
            let goodput = row.late_goodput_mbps.zip(without.and_then(|row| row.late_goodput_mbps));
            add("goodput with a reverse queue over that without", 0.98, false, quotient(goodput));
            let queue = row.queue_p95_ms.zip(without.and_then(|row| row.queue_p95_ms));
            add("forward queue with a reverse queue over that without", 1.05, true, quotient(queue));
        }
    }
    all
}

fn quotient(figures: Option<(f64, f64)>) -> Option<f64> {
    figures.filter(|&(_, divisor)| divisor > 0.0).map(|(figure, divisor)| rounded(figure / divisor, 1e4))
}

/// The row of the same cell without the other traffic.
fn without_reverse_traffic<'a>(rows: &'a [DelayRow], with: &DelayRow) -> Option<&'a DelayRow> {
    rows.iter().find(|row| {
        row.reverse_traffic == Some(false)
            && (&row.scenario, row.algorithm, row.signal) == (&with.scenario, with.algorithm, with.signal)
    })
}

/// `rows` in `format`, with a line break at the end; as tables and in JSON with what was expected.
///
/// # Errors
///
/// The writer of the format refuses a value.
pub fn render_delays(rows: &[DelayRow], settings: Settings, format: Format) -> Result<String, RenderError> {
    #[derive(Serialize)]
    struct Delays<'a> {
        #[serde(flatten)]
        settings: Settings,
        rows: &'a [DelayRow],
        expectations: Vec<Expectation>,
    }
    match format {
        Format::Table => Ok(text(rows, settings)),
        Format::Csv => csv_text(rows),
        Format::Json => json_text(&Delays { settings, rows, expectations: expectations(rows) }),
    }
}

fn text(rows: &[DelayRow], settings: Settings) -> String {
    let Settings { runs, seed } = settings;
    let mut text = String::new();
    if let Some(table) = performance_table(rows) {
        text += &format!(
            "{table}\n\
             RTT: mean and 95th percentile over time, in milliseconds, and the mean over that of cubic; loss of packets, and over\n\
             that of cubic; Jain: index of the forward flows; back: what reverse flows got, in Mbit/s.\n"
        );
    }
    if let Some(table) = immunity_table(rows) {
        text += &format!(
            "{table}\n\
             Goodput in Mbit/s without and with the reverse queue and the quotient, in the first 20 s of it and after these, when\n\
             the window has had time to grow to what the longer path holds; after these, 95th percentile of the waiting time in\n\
             the forward queue, and mean of that in the reverse queue, in milliseconds.\n"
        );
    }
    let expectations = expectations(rows);
    if !expectations.is_empty() {
        let mut table = new_table(&["expected of quicdc"], &["limit", "measured", "met"]);
        for expectation in &expectations {
            let sign = if expectation.is_largest { "<=" } else { ">=" };
            table.add_row([
                expectation.what.clone(),
                format!("{sign} {:.2}", expectation.limit),
                format!("{:.3}", expectation.measured),
                if expectation.met { "yes" } else { "no" }.to_owned(),
            ]);
        }
        text += &format!("{table}\n");
    }
    text + &format!("Means of {runs} runs, seed {seed}.\n")
}

fn performance_table(rows: &[DelayRow]) -> Option<comfy_table::Table> {
    let mut table = new_table(
        &["scenario", "cc"],
        &["used", "Mbit/s", "RTT", "p95", "/cubic", "loss %", "/cubic", "Jain", "share", "back"],
    );
    for row in rows.iter().filter(|row| row.reverse_traffic.is_none()) {
        table.add_row([
            row.scenario.clone(),
            row.algorithm.to_owned(),
            decimals(Some(row.utilisation), 3),
            decimals(Some(row.goodput_mbps), 2),
            decimals(row.rtt_mean_ms, 1),
            decimals(row.rtt_p95_ms, 1),
            ratio(row.rtt_over_cubic),
            decimals(Some(row.loss_percent), 2),
            ratio(row.loss_over_cubic),
            decimals(row.jain, 3),
            decimals(row.share, 3),
            decimals(row.reverse_goodput_mbps, 2),
        ]);
    }
    (!table.is_empty()).then_some(table)
}

/// A line for each signal; one line if an algorithm does the same with all of them.
fn immunity_table(rows: &[DelayRow]) -> Option<comfy_table::Table> {
    let mut table = new_table(
        &["scenario", "cc", "signal"],
        &["20 s: without", "with", "/", "then: without", "with", "/", "queue: without", "with", "reverse"],
    );
    let with: Vec<&DelayRow> = rows.iter().filter(|row| row.reverse_traffic == Some(true)).collect();
    for group in with.chunk_by(|a, b| (&a.scenario, a.algorithm) == (&b.scenario, b.algorithm)) {
        let figures = |row: &DelayRow| {
            let without = without_reverse_traffic(rows, row);
            let early = without.and_then(|row| row.early_goodput_mbps);
            let late = without.and_then(|row| row.late_goodput_mbps);
            [
                decimals(early, 2),
                decimals(row.early_goodput_mbps, 2),
                ratio(quotient(row.early_goodput_mbps.zip(early))),
                decimals(late, 2),
                decimals(row.late_goodput_mbps, 2),
                ratio(quotient(row.late_goodput_mbps.zip(late))),
                decimals(without.and_then(|row| row.queue_p95_ms), 1),
                decimals(row.queue_p95_ms, 1),
                decimals(row.reverse_queue_mean_ms, 1),
            ]
        };
        let lines: Vec<(&DelayRow, [String; 9])> = group.iter().map(|row| (*row, figures(row))).collect();
        // The ACKs of a receiver that reports timestamps are longer, which moves the figures a little.
        let is_deaf = |row: &DelayRow| group.iter().all(|other| same_figures(row, other));
        if let Some((first, figures)) = lines.first().filter(|(first, _)| group.len() > 1 && is_deaf(first)) {
            let head = [first.scenario.clone(), first.algorithm.to_owned(), "any".to_owned()];
            table.add_row(head.into_iter().chain(figures.clone()));
            continue;
        }
        for (row, figures) in lines {
            let signal = match row.signal {
                Signal::ReceiveTimes => "receive times",
                Signal::AckArrival => "ACK arrival",
                Signal::Rtt => "RTT",
            };
            let head = [row.scenario.clone(), row.algorithm.to_owned(), signal.to_owned()];
            table.add_row(head.into_iter().chain(figures));
        }
    }
    (!table.is_empty()).then_some(table)
}

/// Whether two rows have goodputs within two percent of each other.
fn same_figures(a: &DelayRow, b: &DelayRow) -> bool {
    let close =
        |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= 0.02 * a.max(b));
    close(a.early_goodput_mbps, b.early_goodput_mbps) && close(a.late_goodput_mbps, b.late_goodput_mbps)
}

#[cfg(test)]
mod tests {
    use super::{DelayRow, delay_rows, expectations, render_delays};
    use crate::Algorithm;
    use crate::delay::{DelayExperiment, Signal};
    use crate::report::{Format, Settings};
    use crate::scenario::{builtin, parse};

    fn row(scenario: &str, algorithm: &'static str) -> DelayRow {
        DelayRow {
            scenario: scenario.to_owned(),
            algorithm,
            signal: Signal::ReceiveTimes,
            reverse_traffic: None,
            utilisation: 0.95,
            goodput_mbps: 9.0,
            early_goodput_mbps: None,
            late_goodput_mbps: None,
            reverse_goodput_mbps: None,
            rtt_mean_ms: Some(60.0),
            rtt_p95_ms: Some(70.0),
            rtt_over_cubic: None,
            loss_percent: 0.1,
            loss_over_cubic: None,
            jain: None,
            share: None,
            queue_mean_ms: Some(10.0),
            queue_p95_ms: Some(20.0),
            reverse_queue_mean_ms: None,
            runs: 1,
            seed: 1,
        }
    }

    #[test]
    fn figures_over_cubic_s_are_those_of_the_same_scenario() {
        let scenarios = ["delay_05bdp", "delay_1bdp"].map(|name| {
            let mut scenario = builtin(name).unwrap();
            scenario.end = crate::scenario::RunEnd::At(5_000_000);
            scenario
        });
        let algorithms = [Algorithm::Cubic, Algorithm::C4];
        let plan = DelayExperiment { scenarios: &scenarios, algorithms: &algorithms, runs: 1, seed: 1 };
        let cells = crate::experiment::thread_pool(1).unwrap().install(|| plan.run(|| ())).unwrap();
        let rows = delay_rows(&cells, 1);
        for (index, row) in rows.iter().enumerate() {
            let cubic = &rows[index / 2 * 2];
            assert_eq!((cubic.algorithm, &cubic.scenario), ("cubic", &row.scenario));
            let quotient = row.rtt_mean_ms.unwrap() / cubic.rtt_mean_ms.unwrap();
            assert!((row.rtt_over_cubic.unwrap() - quotient).abs() < 1e-4);
            assert_eq!((row.jain, row.share), (None, None), "one flow");
        }
        assert_eq!((rows[0].rtt_over_cubic, rows[0].loss_over_cubic), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn expectations_are_met_at_their_limits_and_not_beyond() {
        let met = |row: DelayRow| -> Vec<bool> { expectations(&[row]).iter().map(|e| e.met).collect() };
        let single = |rtt_over_cubic, utilisation, loss_over_cubic| {
            let (rtt_over_cubic, loss_over_cubic) = (Some(rtt_over_cubic), Some(loss_over_cubic));
            DelayRow { rtt_over_cubic, utilisation, loss_over_cubic, ..row("delay_2bdp", "quicdc") }
        };
        assert_eq!(met(single(0.5, 0.9, 0.2)), [true; 3]);
        assert_eq!(met(single(0.501, 0.899, 0.201)), [false; 3]);
        // No RTT is expected of half a bandwidth-delay product, and nothing of other algorithms.
        assert_eq!(met(DelayRow { loss_over_cubic: None, ..row("delay_05bdp", "quicdc") }), [true]);
        assert!(met(row("delay_2bdp", "westwood")).is_empty());
        let four = |jain| DelayRow { jain: Some(jain), ..row("delay_four_flows", "quicdc") };
        assert_eq!((met(four(0.9)), met(four(0.89))), (vec![true], vec![false]));
        let beside = |share| DelayRow { share: Some(share), ..row("delay_against_cubic", "quicdc") };
        assert_eq!((met(beside(0.25)), met(beside(0.249))), (vec![true], vec![false]));
    }

    #[test]
    fn a_reverse_queue_is_judged_against_the_run_without_it() {
        let variant = |with, goodput, queue| DelayRow {
            reverse_traffic: Some(with),
            early_goodput_mbps: Some(goodput / 2.0),
            late_goodput_mbps: Some(goodput),
            queue_p95_ms: Some(queue),
            ..row("delay_reverse_queue", "quicdc")
        };
        let rows = [variant(false, 10.0, 20.0), variant(true, 9.8, 21.0)];
        let expected: Vec<(f64, bool)> = expectations(&rows).iter().map(|e| (e.measured, e.met)).collect();
        assert_eq!(expected, [(0.98, true), (1.05, true)]);
        let rtt = DelayRow { signal: Signal::Rtt, ..variant(true, 4.0, 20.0) };
        let without = DelayRow { signal: Signal::Rtt, ..variant(false, 10.0, 20.0) };
        let rows = [&rows[..], &[without, rtt]].concat();
        assert_eq!(expectations(&rows).len(), 2, "only with receive times");
        let settings = Settings { runs: 1, seed: 1 };
        let text = render_delays(&rows, settings, Format::Table).unwrap();
        let lines: Vec<&str> =
            text.lines().filter(|line| line.starts_with("| delay_reverse_queue ")).collect();
        assert_eq!(lines.len(), 2, "{text}");
        // Half as much in the first 20 s: 4.9 of 5, 9.8 of 10.
        assert!(lines[0].contains("| receive times |") && lines[0].contains("0.980"), "{text}");
        assert!(lines[1].contains("| RTT ") && lines[1].contains("0.400"), "{text}");
    }

    #[test]
    fn an_algorithm_that_does_the_same_with_every_signal_has_one_line() {
        let text = "name = \"r\"\nsummary = \"\"\nduration_ms = 23_000\n[[link]]\nrate_mbps = 2\nlatency_ms = 10\nqueue_ms = 40\n\
                    [transfer]\nsize_bytes = 100_000_000\n\
                    [[cross]]\nrate_mbps = 0.1\ndirection = \"reverse\"\nstart_ms = 1_000\n";
        let scenarios = [parse(text, "r").unwrap()];
        let algorithms = [Algorithm::Cubic];
        let plan = DelayExperiment { scenarios: &scenarios, algorithms: &algorithms, runs: 1, seed: 1 };
        let cells = crate::experiment::thread_pool(2).unwrap().install(|| plan.run(|| ())).unwrap();
        let rows = delay_rows(&cells, 1);
        assert_eq!(rows.len(), 6);
        assert!(rows.iter().all(|row| row.late_goodput_mbps.is_some_and(|mbps| mbps > 1.8 && mbps < 2.0)));
        let text = render_delays(&rows, Settings { runs: 1, seed: 1 }, Format::Table).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("| r ")).collect();
        assert!(lines.len() == 1 && lines[0].contains("| any "), "{text}");
        assert_eq!(
            render_delays(&rows, Settings { runs: 1, seed: 1 }, Format::Csv).unwrap().lines().count(),
            7
        );
    }
}
