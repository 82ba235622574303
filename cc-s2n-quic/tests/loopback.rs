//! Real connections over loopback.

use cc_core::{CongestionController, Setup};
use cc_s2n_quic::Config;
use cc_testkit::{Record, Subject, Watched};
use s2n_quic::client::Connect;
use s2n_quic::{Client, Server};
use std::sync::Arc;
use std::time::Duration;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Long enough for a busy machine; only a transfer that hangs takes it.
const TIMEOUT: Duration = Duration::from_secs(50);

const BYTES: usize = 10 << 20;

/// Bytes that do not repeat with any packet size: SplitMix64.
fn pattern(bytes: usize) -> Vec<u8> {
    let mut state = 0x5eed_u64;
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        data.extend_from_slice(&(z ^ (z >> 31)).to_le_bytes());
    }
    data.truncate(bytes);
    data
}

/// 10 MiB from client to server, byte for byte, with a controller that is watched by the kit.
async fn ten_mebibytes<C: CongestionController + Clone>(subject: Subject<C>) -> Result<(), Failure> {
    let (name, subject) = (subject.name, Arc::new(subject));
    let record = Record::default();
    let config = {
        let record = record.clone();
        Config::new(move |setup| Watched::new(subject.make(setup), &subject).recording_in(&record))
    };
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let (cert, key) = (cert.pem(), signing_key.serialize_pem());
    let mut server = Server::builder()
        .with_tls((cert.as_str(), key.as_str()))?
        .with_congestion_controller(config.clone())?
        .with_io("127.0.0.1:0")?
        .start()?;
    let client = Client::builder()
        .with_tls(cert.as_str())?
        .with_congestion_controller(config)?
        .with_io("127.0.0.1:0")?
        .start()?;
    let connect = Connect::new(server.local_addr()?).with_server_name("localhost");

    let data = Arc::new(pattern(BYTES));
    let sending = async {
        let mut connection = client.connect(connect).await?;
        let mut stream = connection.open_bidirectional_stream().await?;
        for chunk in data.chunks(64 * 1_024) {
            stream.send(chunk.to_vec().into()).await?;
        }
        stream.finish()?;
        // The server says that it has everything.
        let answer = stream.receive().await?.ok_or("no answer")?;
        if answer.as_ref() != b"done" {
            return Err(Failure::from("another answer"));
        }
        // Handed on, so that it is not closed before the other end is done.
        Ok(connection)
    };
    let receiving = async {
        let mut connection = server.accept().await.ok_or("the server was closed")?;
        let mut stream = connection.accept_bidirectional_stream().await?.ok_or("no stream")?;
        let mut received = 0;
        while let Some(chunk) = stream.receive().await? {
            if data.get(received..received + chunk.len()) != Some(chunk.as_ref()) {
                return Err(Failure::from(format!("other bytes than sent at {received}")));
            }
            received += chunk.len();
        }
        if received != BYTES {
            return Err(format!("{received} bytes arrived").into());
        }
        stream.send(b"done".to_vec().into()).await?;
        stream.finish()?;
        Ok((connection, stream))
    };
    let both = async { tokio::join!(sending, receiving) };
    let (sent, received) = tokio::time::timeout(TIMEOUT, both).await?;
    let _open = (received?, sent?);
    assert!(record.violation().is_none(), "{name}: {}", record.violation().ok_or("none")?);
    Ok(())
}

macro_rules! ten_mebibytes {
    ($($test:ident $make:expr;)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() -> Result<(), Failure> {
                ten_mebibytes($make).await
            }
        )+
    };
}

// The factors and families are those of the kit's own table.
ten_mebibytes! {
    ten_mebibytes_through_c4
        Subject::rate_based("c4", |s: &Setup| cc_c4::C4::new(&cc_c4::Config::from(*s)));
    ten_mebibytes_through_bbr
        Subject::rate_based("bbr", |s: &Setup| cc_bbr::Bbr::new(&cc_bbr::Config::from(*s)));
    ten_mebibytes_through_cubic
        Subject::loss_based("cubic", |s: &Setup| cc_cubic::Cubic::new(&cc_cubic::Config::from(*s)))
            .with_betas(70, 85);
    ten_mebibytes_through_reno
        Subject::loss_based("reno", |s: &Setup| cc_reno::Reno::new(&cc_reno::Config::from(*s)));
    ten_mebibytes_through_quicdc
        Subject::rate_based("quicdc", |s: &Setup| cc_quicdc::QuicDc::new(&cc_quicdc::Config::from(*s)));
    ten_mebibytes_through_westwood
        Subject::rate_based("westwood", |s: &Setup| cc_quicdc::Westwood::new(&cc_quicdc::Config::from(*s)));
}
