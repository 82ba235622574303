//! Loopback throughput of quinn with our controllers and with its own, as ratios of paired runs.
//!
//! `cargo run --release -p cc-quinn --example throughput -- --rounds 15 --mebibytes 128`
//!
//! Each round transfers the same amount with one after the other, in turned order from round to round, so that what else the
//! machine does meets both. A ratio above 1 says that ours was faster.

use clap::Parser;
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;
type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// Compares the throughput of congestion controllers in quinn over loopback.
#[derive(Parser)]
struct Arguments {
    /// Rounds for each pair.
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// What a run transfers, in MiB.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    mebibytes: u32,
    /// One CSV line per run instead of the table.
    #[arg(long)]
    csv: bool,
}

struct Contestant {
    name: &'static str,
    factory: Factory,
}

impl Contestant {
    fn new(name: &'static str, factory: impl ControllerFactory + Send + Sync + 'static) -> Self {
        Self { name, factory: Arc::new(factory) }
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let pairs = [
        (
            Contestant::new("cubic", cc_quinn::cubic()),
            Contestant::new("quinn's cubic", CubicConfig::default()),
        ),
        (Contestant::new("c4", cc_quinn::c4()), Contestant::new("quinn's bbr", BbrConfig::default())),
        (Contestant::new("bbr", cc_quinn::bbr()), Contestant::new("quinn's bbr", BbrConfig::default())),
        (
            Contestant::new("reno", cc_quinn::reno()),
            Contestant::new("quinn's new reno", quinn::congestion::NewRenoConfig::default()),
        ),
    ];
    if arguments.csv {
        println!("round,first,controller,mebibytes,seconds");
    } else {
        println!("{} MiB per run, {} rounds; MiB/s: median", arguments.mebibytes, arguments.rounds);
        println!("ours     theirs             ours  theirs  ratio: median  quartiles      range");
    }
    for (ours, theirs) in &pairs {
        let mut rows = Vec::new();
        for round in 0..arguments.rounds {
            let order = if round % 2 == 0 { [ours, theirs] } else { [theirs, ours] };
            let mut seconds = Vec::new();
            for contestant in order {
                let time = run(&contestant.factory, arguments.mebibytes).await?.as_secs_f64();
                seconds.push(time);
                if arguments.csv {
                    let (first, name) = (order[0].name, contestant.name);
                    println!("{round},{first},{name},{},{time:.6}", arguments.mebibytes);
                }
            }
            if round % 2 == 1 {
                seconds.reverse();
            }
            rows.push((seconds[0], seconds[1]));
        }
        if !arguments.csv {
            let speed = |seconds: f64| f64::from(arguments.mebibytes) / seconds;
            let ours_speed = sorted(rows.iter().map(|row| speed(row.0)));
            let theirs_speed = sorted(rows.iter().map(|row| speed(row.1)));
            let ratios = sorted(rows.iter().map(|row| row.1 / row.0));
            println!(
                "{:<8} {:<17} {:>5.0}  {:>6.0}  {:>13.3}  {:.3} {:.3}  {:.3} {:.3}",
                ours.name,
                theirs.name,
                quantile(&ours_speed, 0.5),
                quantile(&theirs_speed, 0.5),
                quantile(&ratios, 0.5),
                quantile(&ratios, 0.25),
                quantile(&ratios, 0.75),
                quantile(&ratios, 0.0),
                quantile(&ratios, 1.0),
            );
        }
    }
    Ok(())
}

/// How long a transfer takes from opening the stream to the last byte read.
#[expect(clippy::disallowed_methods, reason = "a measurement of real time")]
async fn run(factory: &Factory, mebibytes: u32) -> Result<Duration, Failure> {
    let (client_config, server_config) = configs(factory)?;
    let server = Endpoint::server(server_config, (Ipv4Addr::LOCALHOST, 0).into())?;
    let mut client = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
    client.set_default_client_config(client_config);
    let connecting = client.connect(server.local_addr()?, "localhost")?;
    let accepting = async {
        let incoming = server.accept().await.ok_or("the server was closed")?;
        Ok::<_, Failure>(incoming.await?)
    };
    let (to_server, to_client) = tokio::join!(connecting, accepting);
    let (to_server, to_client) = (to_server?, to_client?);

    let start = Instant::now();
    let sending = tokio::spawn({
        let connection = to_server.clone();
        async move {
            let chunk = bytes_of_a_chunk();
            let mut stream = connection.open_uni().await?;
            for _ in 0..mebibytes {
                stream.write_all(&chunk).await?;
            }
            stream.finish()?;
            Ok::<(), Failure>(())
        }
    });
    let mut stream = to_client.accept_uni().await?;
    let mut received = 0_u64;
    while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
        received += u64::try_from(chunk.bytes.len())?;
    }
    let time = start.elapsed();
    sending.await??;
    if received != u64::from(mebibytes) << 20 {
        return Err(format!("{received} bytes arrived").into());
    }
    to_server.close(0_u8.into(), b"done");
    client.wait_idle().await;
    Ok(time)
}

fn bytes_of_a_chunk() -> Vec<u8> {
    vec![0x5a; 1 << 20]
}

fn configs(factory: &Factory) -> Result<(ClientConfig, ServerConfig), Failure> {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::clone(factory));
    let transport = Arc::new(transport);
    let mut server_config = ServerConfig::with_single_cert(vec![cert.der().clone()], key.into())?;
    server_config.transport_config(Arc::clone(&transport));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.der().clone())?;
    let mut client_config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    client_config.transport_config(transport);
    Ok((client_config, server_config))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The value at that part of a sorted list, the nearest one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a short list")]
#[expect(clippy::cast_precision_loss, reason = "a short list")]
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let index = (sorted.len().saturating_sub(1) as f64 * part).round() as usize;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}
