//! Real connections over loopback.

mod common;

use cc_core::{CongestionController, Setup};
use cc_quinn::{Config, QuinnController};
use cc_testkit::{Record, Subject, Watched};
use common::{Failure, Pair, any_port, pattern, transfer, transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const MIB: usize = 1 << 20;

/// 10 MiB from client to server and 1 MiB back, byte for byte, with a controller that is watched by the kit on both sides.
async fn ten_mebibytes<C: CongestionController + Clone>(subject: Subject<C>) -> Result<(), Failure> {
    let (name, subject) = (subject.name, Arc::new(subject));
    let record = Record::default();
    let config = {
        let record = record.clone();
        Config::new(move |setup| Watched::new(subject.make(setup), &subject).recording_in(&record))
    };
    let pair = Pair::connect(transport(config.clone()), transport(config)).await?;
    let data = Arc::new(pattern(10 * MIB));
    transfer(&pair.to_server, &pair.to_client, &data, || Ok(())).await?;
    let back = Arc::new(pattern(MIB));
    transfer(&pair.to_client, &pair.to_server, &back, || Ok(())).await?;

    let state = pair.to_server.congestion_state().into_any();
    let controller =
        state.downcast::<QuinnController<Watched<C>>>().map_err(|_| "another controller than asked for")?;
    // 10 MiB in batches of at most 64 KiB are 160 sends.
    assert!(controller.controller().calls() > 160, "{name}: {:?}", controller.snapshot());
    assert!(record.violation().is_none(), "{name}: {}", record.violation().ok_or("none")?);
    pair.close().await;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_changes_its_port_gets_everything_and_the_server_keeps_its_controller()
-> Result<(), Failure> {
    let made = Arc::new(AtomicUsize::new(0));
    let config = {
        let made = Arc::clone(&made);
        Config::new(move |setup| {
            made.fetch_add(1, Ordering::Relaxed);
            cc_cubic::Cubic::new(&cc_cubic::Config::from(*setup))
        })
    };
    // The server sends.
    let pair = Pair::connect(transport(cc_quinn::c4()), transport(config)).await?;
    let before = pair.to_client.remote_address();
    let data = Arc::new(pattern(10 * MIB));
    let rebind = || {
        pair.client.rebind(std::net::UdpSocket::bind(any_port())?)?;
        Ok(())
    };
    transfer(&pair.to_client, &pair.to_server, &data, rebind).await?;
    assert_ne!(pair.to_client.remote_address(), before, "the client has not moved");
    assert_eq!(pair.to_client.remote_address(), pair.client.local_addr()?);
    // Only the port changed: the controller was copied, not made anew.
    assert_eq!(made.load(Ordering::Relaxed), 1);
    // And the copy is at work: what it sent was acked.
    let state = pair.to_client.congestion_state().into_any();
    let controller =
        state.downcast::<QuinnController<cc_cubic::Cubic>>().map_err(|_| "another controller")?;
    assert!(controller.snapshot().cwnd > 0);
    transfer(&pair.to_client, &pair.to_server, &data, || Ok(())).await?;
    pair.close().await;
    Ok(())
}
