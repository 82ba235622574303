//! What N clients do against one server: connect, echo, send in bulk; and the figures of it.

use crate::controllers::Controller;
use crate::now;
use crate::protocol::{self, Arrived};
use crate::quic::{SERVER_NAME, Trust};
use crate::socket::bind;
use crate::tap::{RttSamples, Tap};
use hdrhistogram::Histogram;
use quinn::{Connection, Endpoint, EndpointConfig, TokioRuntime};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// What to do. The phases follow each other; in each all clients work at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Where the server is, or the relay in front of it.
    pub server: SocketAddr,
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
    /// The bulk phase.
    pub bulk: Option<Bulk>,
    /// What went wrong, one line for each client.
    pub errors: Vec<String>,
    /// CPU time of this process over the time that it ran: 1 is one CPU.
    pub cpu_share: f64,
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
    /// Of all flows together, in kbit/s of data that arrived.
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
    /// From the arrival of the first of them at the server until it knew of the end.
    pub duration_us: u64,
    /// Bytes over that time, in kbit/s.
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

/// Does it. No client can hold up the others longer than the limits say.
///
/// # Errors
///
/// The system has no more sockets. What happens to a client is in the report.
pub async fn run(
    workload: &Workload,
    trust: &Trust,
) -> Result<Report, Box<dyn std::error::Error + Send + Sync>> {
    let (began, cpu) = (now(), cpu_time());
    let mut report = Report { clients: workload.clients, ..Report::default() };
    let mut connects = Vec::new();
    for (&controller, _) in workload.controllers.iter().cycle().zip(0..workload.clients) {
        connects.push(tokio::spawn(connect(
            controller,
            workload.server,
            trust.clone(),
            workload.handshake_limit,
        )));
    }
    let (mut clients, mut times) = (Vec::new(), times());
    for connect in connects {
        match connect.await? {
            Ok((client, time)) => {
                record(&mut times, time);
                clients.push(Arc::new(client));
            }
            Err(error) => report.errors.push(format!("connect: {error}")),
        }
    }
    report.connected = clients.len() as u32;
    report.connect = quantiles(&times);
    if workload.messages > 0 {
        echo_phase(workload, &clients, &mut report).await?;
    }
    if !workload.bulk.is_zero() {
        bulk_phase(workload, &clients, &mut report).await?;
    }
    for client in &clients {
        client.endpoint.close(0_u32.into(), b"");
    }
    // Lets the closes leave; nothing depends on them.
    tokio::time::sleep(Duration::from_millis(20)).await;
    report.cpu_share = share(cpu, began.elapsed());
    Ok(report)
}

async fn connect(
    controller: Controller,
    server: SocketAddr,
    trust: Trust,
    limit: Duration,
) -> Result<(Client, Duration), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let (tap, rtt) = Tap::new(controller.factory());
    let config = trust.client(Arc::new(tap)).map_err(|error| text(&error))?;
    let any = match server {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let socket = bind((any, 0).into()).map_err(|error| text(&error))?;
    let endpoint = Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime))
        .map_err(|error| text(&error))?;
    let began = now();
    let connecting = endpoint.connect_with(config, server, SERVER_NAME).map_err(|error| text(&error))?;
    match timeout(limit, connecting).await {
        Ok(Ok(connection)) => Ok((Client { controller, endpoint, connection, rtt }, began.elapsed())),
        Ok(Err(error)) => Err(text(&error)),
        Err(_) => Err(format!("no handshake within {limit:?}")),
    }
}

async fn echo_phase(
    workload: &Workload,
    clients: &[Arc<Client>],
    report: &mut Report,
) -> Result<(), tokio::task::JoinError> {
    let (count, bytes, limit) = (workload.messages, workload.message_bytes, workload.echo_limit);
    let tasks: Vec<_> = clients
        .iter()
        .map(Arc::clone)
        .map(|client| {
            tokio::spawn(async move {
                let mut times = times();
                let echo = protocol::echo(&client.connection, count, bytes, |rtt| record(&mut times, rtt));
                let result = match timeout(limit, echo).await {
                    Ok(result) => result.map_err(|error| error.to_string()),
                    Err(_) => Err(format!("not finished within {limit:?}")),
                };
                (times, result)
            })
        })
        .collect();
    let mut all = times();
    for task in tasks {
        let (times, result) = task.await?;
        // Of the same bounds, so that it has room.
        let _ = all.add(&times);
        match result {
            Ok(()) => report.echoed += 1,
            Err(error) => report.errors.push(format!("echo: {error}")),
        }
    }
    report.echo = quantiles(&all);
    Ok(())
}

async fn bulk_phase(
    workload: &Workload,
    clients: &[Arc<Client>],
    report: &mut Report,
) -> Result<(), tokio::task::JoinError> {
    /// For the answer, beside the time of the phase.
    const GRACE: Duration = Duration::from_secs(10);
    let duration = workload.bulk;
    let tasks: Vec<_> = clients
        .iter()
        .map(Arc::clone)
        .map(|client| {
            tokio::spawn(async move {
                let arrived =
                    timeout(duration + GRACE, protocol::upload_for(&client.connection, duration)).await;
                match arrived {
                    Ok(Ok(arrived)) => Ok(flow(&client, arrived)),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err(format!("no answer within {GRACE:?}")),
                }
            })
        })
        .collect();
    let mut flows = Vec::new();
    for task in tasks {
        match task.await? {
            Ok(flow) => flows.push(flow),
            Err(error) => report.errors.push(format!("bulk: {error}")),
        }
    }
    let mut rtt = times();
    for sample in clients.iter().flat_map(|client| client.rtt.take()) {
        record(&mut rtt, Duration::from_micros(sample.into()));
    }
    let mut shares: Vec<f64> = flows.iter().map(|flow| flow.throughput_kbps).collect();
    let throughput_kbps = shares.iter().sum();
    shares.resize(clients.len(), 0.0);
    report.bulk = Some(Bulk { flows, throughput_kbps, jain: jain(&shares), rtt: quantiles(&rtt) });
    Ok(())
}

fn flow(client: &Client, Arrived { bytes, duration }: Arrived) -> BulkFlow {
    let path = client.connection.stats().path;
    BulkFlow {
        cc: client.controller.name().to_owned(),
        bytes,
        duration_us: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
        // Of nothing in no time: 0.
        throughput_kbps: bytes as f64 * 8e-3 / duration.as_secs_f64().max(1e-6),
        sent_packets: path.sent_packets,
        lost_packets: path.lost_packets,
    }
}

/// Jain's fairness index: the square of the sum over n times the sum of the squares; 1 if there is nothing to share.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares): (f64, f64) =
        shares.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// Microseconds to an hour, three digits.
fn times() -> Histogram<u64> {
    const HOUR_US: u64 = 3_600_000_000;
    // Bounds that the library takes: what it refuses are a zero and more than five digits.
    Histogram::new_with_bounds(1, HOUR_US, 3).unwrap_or_else(|error| unreachable!("{error}"))
}

fn record(times: &mut Histogram<u64>, time: Duration) {
    times.saturating_record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1));
}

fn quantiles(times: &Histogram<u64>) -> Option<Quantiles> {
    (!times.is_empty()).then(|| Quantiles {
        count: times.len(),
        mean_us: times.mean(),
        p50_us: times.value_at_quantile(0.5),
        p99_us: times.value_at_quantile(0.99),
        p999_us: times.value_at_quantile(0.999),
        max_us: times.max(),
    })
}

/// What a blast sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blast {
    /// Datagrams that the system took.
    pub packets: u64,
    /// Bytes of each.
    pub bytes_each: u64,
}

/// Sends datagrams that are no QUIC packets (RFC 9000 section 17: the fixed bit is 0) as fast as the system takes them.
///
/// # Errors
///
/// Those of the system but for a full buffer, which is waited for.
pub fn blast(to: SocketAddr, duration: Duration) -> std::io::Result<Blast> {
    const BYTES: usize = 1_200;
    let any = match to {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let socket = bind((any, 0).into())?;
    socket.connect(to)?;
    let began = now();
    let mut packets = 0;
    while began.elapsed() < duration {
        socket.send(&[0; BYTES])?;
        packets += 1;
    }
    Ok(Blast { packets, bytes_each: BYTES as u64 })
}

/// CPU time that this process has used.
#[must_use]
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// What part of `elapsed` this process has computed since it had used `before`.
#[must_use]
pub fn share(before: Duration, elapsed: Duration) -> f64 {
    cpu_time().saturating_sub(before).as_secs_f64() / elapsed.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::{jain, quantiles, record, times};
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
