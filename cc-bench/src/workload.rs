//! What N clients do against one server: connect, echo, send frames, send in bulk; and the figures of it.

use crate::controllers::Controller;
use crate::media::{self, Frames, Media, MediaReport};
use crate::now;
use crate::protocol::{self, Arrived, Upload, Usage, micros};
use crate::quic::{Trust, send_buffer};
use crate::stack::{Connection, Counted, Endpoint, Stack};
use crate::tap::RttSamples;
use crate::usage::{Meter, share};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// What to do. The phases follow each other; in each all clients work at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Where the server is, or the relay in front of it.
    pub server: SocketAddr,
    /// The stack of the clients.
    pub stack: Stack,
    /// Controllers of the clients, in turn.
    pub controllers: Vec<Controller>,
    /// How many clients.
    pub clients: u32,
    /// How long each of them may take for its handshake.
    pub handshake_limit: Duration,
    /// Messages that each sends and waits for; 0 for no such phase.
    pub messages: u32,
    /// Size of a message in bytes.
    pub message_bytes: usize,
    /// How long each may take for all of its messages.
    pub echo_limit: Duration,
    /// Frames that each sends; none for no such phase.
    pub media: Option<Media>,
    /// How long all send in bulk; 0 for no such phase.
    pub bulk: Duration,
}

/// The figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Clients that there were.
    pub clients: u32,
    /// Handshakes that succeeded in time.
    pub connected: u32,
    /// Clients whose echo phase was complete.
    pub echoed: u32,
    /// Time of the handshakes that succeeded.
    pub connect: Option<Quantiles>,
    /// Time of each message and its echo.
    pub echo: Option<Quantiles>,
    /// The media phase.
    pub media: Option<MediaReport>,
    /// The bulk phase.
    pub bulk: Option<Bulk>,
    /// What went wrong, one line for each client.
    pub errors: Vec<String>,
    /// CPU time in each phase.
    pub cpu: Vec<PhaseCpu>,
    /// What the figures are made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Handshakes.
    Connect,
    /// Messages.
    Echo,
    /// Frames.
    Media,
    /// As much as goes.
    Bulk,
    /// All is done.
    End,
}

/// CPU time in a phase, over the time that it took: 1 is one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseCpu {
    /// Which.
    pub phase: Phase,
    /// Of the clients' process.
    pub client: f64,
    /// Of the server's process; it cannot say before a client is connected.
    pub server: Option<f64>,
    /// Part of all CPUs of the clients' machine that was in use, by whatever process.
    pub machine: Option<f64>,
}

/// Every single value, in the order of the clients; where there is one list for each client, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Handshakes that succeeded, in microseconds.
    pub connect_us: Vec<u64>,
    /// Messages and their echoes, in microseconds.
    pub echo_us: Vec<Vec<u64>>,
    /// Frames.
    pub frames: Vec<Frames>,
    /// RTT samples until the end of the bulk phase (see [`RttSamples`]), in microseconds.
    pub rtt_us: Vec<Vec<u32>>,
}

/// A distribution of times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// How many there are.
    pub count: u64,
    /// Their mean.
    pub mean_us: f64,
    /// Their median, and so on.
    pub p50_us: u64,
    /// 99 %.
    pub p99_us: u64,
    /// 99.9 %.
    pub p999_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// All flows of a bulk phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bulk {
    /// The flows that ended well.
    pub flows: Vec<BulkFlow>,
    /// Of all flows together, in kbit/s of data that arrived: from the first byte of any flow to the last of any, and at least the
    /// time for which they sent.
    pub throughput_kbps: f64,
    /// Jain's index of their throughputs, of all clients that had connected: 1 if all are alike.
    pub jain: f64,
    /// RTT samples of all flows (see [`RttSamples`]), from the handshakes on.
    pub rtt: Option<Quantiles>,
}

/// One flow of a bulk phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BulkFlow {
    /// Its controller.
    pub cc: String,
    /// Bytes that arrived.
    pub bytes: u64,
    /// When the first of them came, by the server's clock.
    pub first_us: u64,
    /// When the last of them came.
    pub last_us: u64,
    /// Bytes over the time that the phase took for all flows, in kbit/s.
    pub throughput_kbps: f64,
    /// Packets sent since the handshake began.
    pub sent_packets: u64,
    /// Of these, how many were declared lost.
    pub lost_packets: u64,
}

/// A client that is connected.
struct Client {
    controller: Controller,
    endpoint: Endpoint,
    connection: Connection,
    rtt: RttSamples,
}

/// Does it. No client can hold up the others longer than the limits say. `on_phase` is told of each phase before it begins.
///
/// # Errors
///
/// The system has no more sockets. What happens to a client is in the report.
pub async fn run(
    workload: &Workload,
    trust: &Trust,
    mut on_phase: impl FnMut(Phase),
) -> Result<Report, Box<dyn std::error::Error + Send + Sync>> {
    let mut report = Report { clients: workload.clients, ..Report::default() };
    let mut samples = Samples::default();
    let mut account = Account::default();
    on_phase(Phase::Connect);
    account.begin(&[]).await;
    let mut connects = Vec::new();
    for (&controller, _) in workload.controllers.iter().cycle().zip(0..workload.clients) {
        connects.push(tokio::spawn(connect(workload.clone(), controller, trust.clone())));
    }
    let mut clients = Vec::new();
    for connect in connects {
        match connect.await? {
            Ok((client, time)) => {
                samples.connect_us.push(micros(time));
                clients.push(Arc::new(client));
            }
            Err(error) => report.errors.push(format!("connect: {error}")),
        }
    }
    account.end(Phase::Connect, &[]).await;
    report.connected = clients.len() as u32;
    report.connect = quantiles(&histogram(&samples.connect_us));
    if workload.messages > 0 {
        on_phase(Phase::Echo);
        account.begin(&clients).await;
        echo_phase(workload, &clients, &mut report, &mut samples).await?;
        account.end(Phase::Echo, &clients).await;
    }
    if let Some(media) = &workload.media {
        on_phase(Phase::Media);
        account.begin(&clients).await;
        media_phase(media, &clients, &mut report, &mut samples).await?;
        account.end(Phase::Media, &clients).await;
    }
    if !workload.bulk.is_zero() {
        on_phase(Phase::Bulk);
        account.begin(&clients).await;
        bulk_phase(workload, &clients, &mut report, &mut samples).await?;
        account.end(Phase::Bulk, &clients).await;
    }
    on_phase(Phase::End);
    for client in &clients {
        client.endpoint.close();
    }
    // Lets the closes leave; nothing depends on them.
    tokio::time::sleep(Duration::from_millis(20)).await;
    (report.cpu, report.samples) = (account.phases, Some(samples));
    Ok(report)
}

/// Who used how much CPU time in which phase.
#[derive(Debug, Default)]
struct Account {
    begun: Option<(Meter, Option<Usage>)>,
    phases: Vec<PhaseCpu>,
}

impl Account {
    async fn begin(&mut self, clients: &[Arc<Client>]) {
        let server = server_usage(clients).await;
        self.begun = Some((Meter::start(), server));
    }

    async fn end(&mut self, phase: Phase, clients: &[Arc<Client>]) {
        let Some((meter, before)) = self.begun.take() else { return };
        let (client, machine) = (meter.process(), meter.machine());
        let server = before.zip(server_usage(clients).await).map(|(before, after)| {
            share(after.cpu.saturating_sub(before.cpu), after.clock.saturating_sub(before.clock))
        });
        self.phases.push(PhaseCpu { phase, client, server, machine });
    }
}

/// Asked on the first connection; `None` if there is none or it does not answer.
async fn server_usage(clients: &[Arc<Client>]) -> Option<Usage> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let connection = &clients.first()?.connection;
    timeout(PATIENCE, protocol::usage(connection)).await.ok()?.ok()
}

async fn connect(
    workload: Workload,
    controller: Controller,
    trust: Trust,
) -> Result<(Client, Duration), String> {
    let Workload { stack, server, clients, handshake_limit: limit, .. } = workload;
    let (endpoint, rtt) = Endpoint::new(stack, controller, server, &trust, send_buffer(clients))
        .map_err(|error| error.to_string())?;
    let began = now();
    match timeout(limit, endpoint.connect(server)).await {
        Ok(Ok(connection)) => Ok((Client { controller, endpoint, connection, rtt }, began.elapsed())),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no handshake within {limit:?}")),
    }
}

async fn echo_phase(
    workload: &Workload,
    clients: &[Arc<Client>],
    report: &mut Report,
    samples: &mut Samples,
) -> Result<(), tokio::task::JoinError> {
    let (count, bytes, limit) = (workload.messages, workload.message_bytes, workload.echo_limit);
    let each = |client: Arc<Client>| async move {
        let mut times = Vec::new();
        let echo = protocol::echo(&client.connection, count, bytes, |rtt| times.push(micros(rtt)));
        let result = match timeout(limit, echo).await {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err(format!("not finished within {limit:?}")),
        };
        (times, result)
    };
    for (times, result) in together(clients.iter().cloned().map(each)).await? {
        // Also those of a client that did not finish.
        samples.echo_us.push(times);
        match result {
            Ok(()) => report.echoed += 1,
            Err(error) => report.errors.push(format!("echo: {error}")),
        }
    }
    report.echo = quantiles(&histogram(samples.echo_us.iter().flatten()));
    Ok(())
}

async fn media_phase(
    media: &Media,
    clients: &[Arc<Client>],
    report: &mut Report,
    samples: &mut Samples,
) -> Result<(), tokio::task::JoinError> {
    /// For clocks and answer, beside the time of the phase.
    const GRACE: Duration = Duration::from_secs(30);
    let limit = media.time() + GRACE;
    let each = |client: Arc<Client>| {
        let media = media.clone();
        async move {
            match timeout(limit, media::send(&client.connection, &media)).await {
                Ok(result) => result.map_err(|error| error.to_string()),
                Err(_) => Err(format!("not finished within {limit:?}")),
            }
        }
    };
    for result in together(clients.iter().cloned().map(each)).await? {
        match result {
            Ok(frames) => samples.frames.push(frames),
            Err(error) => report.errors.push(format!("media: {error}")),
        }
    }
    report.media = Some(MediaReport::new(&samples.frames, &media.deadlines));
    Ok(())
}

async fn bulk_phase(
    workload: &Workload,
    clients: &[Arc<Client>],
    report: &mut Report,
    samples: &mut Samples,
) -> Result<(), tokio::task::JoinError> {
    /// For the answer, beside the time of the phase.
    const GRACE: Duration = Duration::from_secs(10);
    let duration = workload.bulk;
    let begin = |client: Arc<Client>| async move {
        match timeout(GRACE, Upload::begin(&client.connection)).await {
            Ok(Ok(upload)) => Ok((client, upload)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("not begun within {GRACE:?}")),
        }
    };
    let (mut ready, mut arrived) = (Vec::new(), Vec::new());
    for result in together(clients.iter().cloned().map(begin)).await? {
        match result {
            Ok(upload) => ready.push(upload),
            Err(error) => report.errors.push(format!("bulk: {error}")),
        }
    }
    // All at the same time, whoever was ready first.
    let until = now() + duration;
    let send = |(client, upload): (Arc<Client>, Upload)| async move {
        match timeout(duration + GRACE, upload.send_until(until)).await {
            Ok(Ok(arrived)) => Ok((client, arrived)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {GRACE:?}")),
        }
    };
    for result in together(ready.into_iter().map(send)).await? {
        match result {
            Ok(flow) => arrived.push(flow),
            Err(error) => report.errors.push(format!("bulk: {error}")),
        }
    }
    let time = phase_time(arrived.iter().map(|(_, arrived)| arrived), duration);
    let flows: Vec<BulkFlow> = arrived.iter().map(|(client, arrived)| flow(client, arrived, time)).collect();
    samples.rtt_us = clients.iter().map(|client| client.rtt.take()).collect();
    let mut rtt = times();
    for &sample in samples.rtt_us.iter().flatten() {
        record(&mut rtt, Duration::from_micros(sample.into()));
    }
    let mut shares: Vec<f64> = flows.iter().map(|flow| flow.throughput_kbps).collect();
    let throughput_kbps = shares.iter().sum();
    shares.resize(clients.len(), 0.0);
    report.bulk = Some(Bulk { flows, throughput_kbps, jain: jain(&shares), rtt: quantiles(&rtt) });
    Ok(())
}

/// Lets all do something at the same time; what comes of it, in their order.
async fn together<F: Future<Output: Send + 'static> + Send + 'static>(
    all: impl Iterator<Item = F>,
) -> Result<Vec<F::Output>, tokio::task::JoinError> {
    let tasks: Vec<_> = all.map(tokio::spawn).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await?);
    }
    Ok(results)
}

/// From the first byte of any flow to the last of any. A flow of its own short time would look as fast as the path for all.
fn phase_time<'a>(flows: impl Iterator<Item = &'a Arrived> + Clone, at_least: Duration) -> Duration {
    let with_bytes = || flows.clone().filter(|flow| flow.bytes > 0);
    let first = with_bytes().map(|flow| flow.first).min().unwrap_or_default();
    let last = with_bytes().map(|flow| flow.last).max().unwrap_or_default();
    last.saturating_sub(first).max(at_least)
}

fn flow(client: &Client, arrived: &Arrived, time: Duration) -> BulkFlow {
    let Counted { sent_packets, lost_packets } = client.connection.counted();
    BulkFlow {
        cc: client.controller.name().to_owned(),
        bytes: arrived.bytes,
        first_us: micros(arrived.first),
        last_us: micros(arrived.last),
        throughput_kbps: arrived.bytes as f64 * 8e-3 / time.as_secs_f64().max(1e-6),
        sent_packets,
        lost_packets,
    }
}

/// Jain's fairness index: the square of the sum over n times the sum of the squares; 1 if there is nothing to share.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares): (f64, f64) =
        shares.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// Microseconds to an hour, three digits.
pub(crate) fn times() -> Histogram<u64> {
    const HOUR_US: u64 = 3_600_000_000;
    // Bounds that the library takes: what it refuses are a zero and more than five digits.
    Histogram::new_with_bounds(1, HOUR_US, 3).unwrap_or_else(|error| unreachable!("{error}"))
}

pub(crate) fn record(times: &mut Histogram<u64>, time: Duration) {
    times.saturating_record(micros(time).max(1));
}

fn histogram<'a>(values_us: impl IntoIterator<Item = &'a u64>) -> Histogram<u64> {
    let mut times = times();
    values_us.into_iter().for_each(|&us| record(&mut times, Duration::from_micros(us)));
    times
}

pub(crate) fn quantiles(times: &Histogram<u64>) -> Option<Quantiles> {
    (!times.is_empty()).then(|| Quantiles {
        count: times.len(),
        mean_us: times.mean(),
        p50_us: times.value_at_quantile(0.5),
        p99_us: times.value_at_quantile(0.99),
        p999_us: times.value_at_quantile(0.999),
        max_us: times.max(),
    })
}

#[cfg(test)]
mod tests {
    use super::{jain, phase_time, quantiles, record, times};
    use crate::protocol::Arrived;
    use std::time::Duration;

    #[test]
    fn fairness_is_1_for_equals_and_1_over_n_for_one_that_has_all() {
        assert!((jain(&[5.0, 5.0, 5.0]) - 1.0).abs() < 1e-12);
        assert!((jain(&[9.0, 0.0, 0.0]) - 1.0 / 3.0).abs() < 1e-12);
        // (1 + 3)^2 / (2 * (1 + 9)).
        assert!((jain(&[1.0, 3.0]) - 0.8).abs() < 1e-12);
        assert!((jain(&[0.0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn flows_that_come_late_are_counted_over_the_time_of_all() {
        let ms = Duration::from_millis;
        let flow = |bytes, first, last| Arrived { bytes, first: ms(first), last: ms(last) };
        let flows = [flow(10, 1_000, 3_000), flow(5, 2_900, 3_100), flow(0, 0, 0)];
        assert_eq!(phase_time(flows.iter(), ms(2_000)), ms(2_100));
        // All of them stopped early.
        assert_eq!(phase_time(flows.iter(), ms(3_000)), ms(3_000));
        assert_eq!(phase_time([].iter(), ms(3_000)), ms(3_000));
    }

    #[test]
    fn quantiles_are_those_of_what_was_recorded() {
        let mut histogram = times();
        assert_eq!(quantiles(&histogram), None);
        (1..=1_000).for_each(|us| record(&mut histogram, Duration::from_micros(us)));
        let quantiles = quantiles(&histogram).unwrap();
        assert_eq!((quantiles.count, quantiles.p50_us, quantiles.p99_us), (1_000, 500, 990));
        assert_eq!((quantiles.p999_us, quantiles.max_us), (999, 1_000));
        assert!((quantiles.mean_us - 500.5).abs() < 0.5);
    }
}
