//! Real connections through a relay that behaves like a link.

#![cfg(target_os = "linux")]

mod common;

use cc_core::{AckEvent, CongestionController, EcnEvent, PathState, Setup};
use cc_noq::Config;
use cc_relay::{DualPi2, LinkConfig, PathConfig, QueueLimit, Relay, RelayConfig};
use common::{Failure, Pair, eventually, pattern, transfer, transport};
use noq::congestion::ControllerFactory;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

const MIB: usize = 1 << 20;

/// 10 MiB over a link that loses and reorders 2 % of the datagrams in each direction, byte for byte.
async fn with_loss_and_reordering(
    config: impl ControllerFactory + Clone + Send + Sync + 'static,
) -> Result<(), Failure> {
    let link = LinkConfig {
        rate_bps: 400_000_000,
        latency_us: 1_000,
        queue: QueueLimit::DelayUs(50_000),
        loss_ppm: 20_000,
        reorder_ppm: 20_000,
        reorder_us: 1_000,
        ..LinkConfig::default()
    };
    let (pair, relay) = connect(transport(config.clone()), transport(config), |address| {
        RelayConfig::new(address).with_path(&PathConfig::new(link))
    })
    .await?;
    let data = Arc::new(pattern(10 * MIB));
    transfer(&pair.to_server, &pair.to_client, &data, || Ok(())).await?;
    let lost = pair.to_server.path(noq::PathId::ZERO).ok_or("no path")?.stats().lost_packets;
    pair.close().await;
    let stats = relay.stop();
    let dropped = stats.to_server.dropped.random_loss;
    // Some 7400 datagrams and more; 2 % are 148. The sender found out, but for what the last words of the connection were.
    assert!(dropped > 50, "{stats:?}");
    assert!(lost > 50, "{lost} of {dropped}");
    Ok(())
}

/// A controller that notes its window before and after each frame with a mark.
#[derive(Clone, Debug)]
struct Spy<C> {
    inner: C,
    /// Phase and window before the frame that is being told, if it has a mark.
    before: Option<(&'static str, u64)>,
    marks: Marks,
}

type Marks = Arc<Mutex<Vec<Mark>>>;

#[derive(Clone, Copy, Debug)]
struct Mark {
    phase: &'static str,
    before: u64,
    after: u64,
}

impl<C: CongestionController> CongestionController for Spy<C> {
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.before = Some((self.inner.snapshot().phase, self.inner.cwnd()));
        self.inner.on_ecn(path, ecn);
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.inner.on_ack(path, ack);
        if let Some((phase, before)) = self.before.take() {
            let mark = Mark { phase, before, after: self.inner.cwnd() };
            self.marks.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
        }
    }
    cc_testkit::delegate_controller! { inner except on_ecn, on_ack }
}

/// Transfers over a link of 20 Mbit/s with DualPI2, until a mark was reported that the controller has to answer: it lowers the
/// window with the very ACK that reports it, which arrives less than a round trip after the packet was marked. And the relay
/// has marked as many packets as the receiver saw marked.
async fn with_marks<C: CongestionController + Clone>(
    make: impl Fn(&Setup) -> C + Send + Sync + 'static,
) -> Result<(), Failure> {
    let marks = Marks::default();
    let spy = {
        let marks = Arc::clone(&marks);
        Config::new(move |setup| Spy { inner: make(setup), before: None, marks: Arc::clone(&marks) })
    };
    // For shorter paths than the RFC's default, so that a controller that keeps its queue short is marked, too: Tupdate is the target,
    // the smaller of target and a third of RTT_max (RFC 9332 appendix A.1).
    let aqm = DualPi2 { target_us: 3_000, rtt_max_us: 30_000, update_us: 3_000, ..DualPi2::default() };
    let link = LinkConfig { rate_bps: 20_000_000, latency_us: 10_000, ..LinkConfig::default() };
    let marking = LinkConfig { queue: QueueLimit::DelayUs(400_000), dualpi2: Some(aqm), ..link.clone() };
    let (pair, relay) = connect(transport(spy), transport(cc_noq::reno()), |address| {
        let mut config = RelayConfig::new(address).with_path(&PathConfig::new(link));
        config.to_server = PathConfig::new(marking);
        config
    })
    .await?;
    let data = Arc::new(pattern(2 * MIB));
    let mut answered = None;
    for _ in 0..8 {
        transfer(&pair.to_server, &pair.to_client, &data, || Ok(())).await?;
        // C4 answers marks neither in Recovery, which is such an answer, nor in Initial unless its rate has stopped growing.
        let marks = marks.lock().map_err(|_| "poisoned")?;
        answered = marks.iter().find(|mark| !["initial", "recovery"].contains(&mark.phase)).copied();
        if answered.is_some() {
            break;
        }
    }
    let first = answered.ok_or("no mark was reported that is to be answered")?;
    assert!(first.after < first.before, "{first:?}");

    let received = Arc::clone(&pair.ce_received);
    pair.close().await;
    // The last packets are on their way.
    let counted = eventually(|| {
        let sent = relay.stats().to_server;
        let seen = received.load(Ordering::SeqCst);
        (sent.held() == 0 && sent.marked_ce == seen).then_some(seen)
    });
    let sent = relay.stats().to_server;
    assert!(
        counted.await.is_some_and(|seen| seen > 0),
        "{} seen of {sent:?}",
        received.load(Ordering::SeqCst)
    );
    Ok(())
}

async fn connect(
    client: noq::TransportConfig,
    server: noq::TransportConfig,
    config: impl FnOnce(std::net::SocketAddr) -> RelayConfig,
) -> Result<(Pair, Relay), Failure> {
    let mut relay = None;
    let pair = Pair::connect_through(client, server, |address| {
        let started = Relay::start(&config(address))?;
        Ok(relay.insert(started).local_addr())
    })
    .await?;
    Ok((pair, relay.ok_or("there is no relay")?))
}

macro_rules! tests {
    ($($test:ident $call:expr;)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() -> Result<(), Failure> {
                $call.await
            }
        )+
    };
}

tests! {
    loss_and_reordering_with_c4 with_loss_and_reordering(cc_noq::c4());
    loss_and_reordering_with_bbr with_loss_and_reordering(cc_noq::bbr());
    loss_and_reordering_with_cubic with_loss_and_reordering(cc_noq::cubic());
    loss_and_reordering_with_reno with_loss_and_reordering(cc_noq::reno());
    loss_and_reordering_with_quicdc with_loss_and_reordering(cc_noq::quicdc());
    loss_and_reordering_with_westwood with_loss_and_reordering(cc_noq::westwood());
    marks_lower_the_window_of_c4 with_marks(|s| cc_c4::C4::new(&cc_c4::Config::from(*s)));
    marks_lower_the_window_of_cubic with_marks(|s| cc_cubic::Cubic::new(&cc_cubic::Config::from(*s)));
    marks_lower_the_window_of_reno with_marks(|s| cc_reno::Reno::new(&cc_reno::Config::from(*s)));
    marks_lower_the_window_of_quicdc with_marks(|s| cc_quicdc::QuicDc::new(&cc_quicdc::Config::from(*s)));
    marks_lower_the_window_of_westwood with_marks(|s| cc_quicdc::Westwood::new(&cc_quicdc::Config::from(*s)));
}
