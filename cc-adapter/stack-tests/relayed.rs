//! Connections through a relay that behaves like a link.

use super::watch::{Mark, watched};
use super::{Failure, MIB, for_each_algorithm, pattern, transfer};
use crate::stack::{CONTROLLERS_WITH_A_NEW_PORT, Config, Pair, reno};
use cc_core::CongestionController;
use cc_relay::{DirectionStats, DualPi2, LinkConfig, PathConfig, QueueLimit, Relay, RelayConfig};
use cc_testkit::Subject;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::oneshot;

/// A relay, and a connection through it.
async fn connect<A, B>(
    client: Config<A>,
    server: Config<B>,
    config: impl FnOnce(SocketAddr) -> RelayConfig,
) -> Result<(Pair, Relay), Failure>
where
    A: CongestionController + Clone,
    B: CongestionController + Clone,
{
    let mut relay = None;
    let pair = Pair::connect(client, server, |address| {
        let started = Relay::start(&config(address))?;
        Ok(relay.insert(started).local_addr())
    })
    .await?;
    Ok((pair, relay.ok_or("there is no relay")?))
}

/// 10 MiB over a link that loses and reorders 2 % of the datagrams in each direction, byte for byte.
async fn with_loss_and_reordering<C: CongestionController + Clone>(
    subject: Subject<C>,
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
    let (config, seen) = watched(subject);
    let (pair, relay) = connect(config.clone(), config, |address| {
        RelayConfig::new(address).with_path(&PathConfig::new(link))
    })
    .await?;
    transfer(&pair.at_client, &pair.at_server, &pattern(10 * MIB), || Ok(())).await?;
    pair.close().await;
    let stats = relay.stop();
    seen.check()?;
    // Some 7200 datagrams and more; 2 % are 144. The controller was told, but for what the last words of the connection were.
    assert!(stats.to_server.dropped.random_loss > 50, "{stats:?}");
    let lost_bytes = seen.notes().lost_bytes;
    assert!(lost_bytes > 50 * 1_200, "{lost_bytes} bytes lost, {stats:?}");
    Ok(())
}

for_each_algorithm! { loss_and_reordering_with: crate::shared::relayed::with_loss_and_reordering }

/// 5 MiB each way at the same time over a link that loses 1 % in each direction, byte for byte: ACKs come with data, and both ends
/// are told of losses.
async fn with_data_both_ways<C: CongestionController + Clone>(subject: Subject<C>) -> Result<(), Failure> {
    let link = LinkConfig {
        rate_bps: 400_000_000,
        latency_us: 1_000,
        queue: QueueLimit::DelayUs(50_000),
        loss_ppm: 10_000,
        ..LinkConfig::default()
    };
    let ((client, seen_by_client), (server, seen_by_server)) = (watched(subject.clone()), watched(subject));
    let (pair, relay) =
        connect(client, server, |address| RelayConfig::new(address).with_path(&PathConfig::new(link)))
            .await?;
    let data = pattern(5 * MIB);
    tokio::try_join!(
        transfer(&pair.at_client, &pair.at_server, &data, || Ok(())),
        transfer(&pair.at_server, &pair.at_client, &data, || Ok(())),
    )?;
    pair.close().await;
    let stats = relay.stop();
    // Some 3600 datagrams and more in each direction; 1 % are 36.
    for (seen, direction) in [(seen_by_client, &stats.to_server), (seen_by_server, &stats.to_client)] {
        seen.check()?;
        assert!(direction.dropped.random_loss > 10, "{stats:?}");
        let lost_bytes = seen.notes().lost_bytes;
        assert!(lost_bytes > 10 * 1_200, "{lost_bytes} bytes lost, {stats:?}");
    }
    Ok(())
}

for_each_algorithm! { data_both_ways_with: crate::shared::relayed::with_data_both_ways }

/// Transfers over a link of 20 Mbit/s with DualPI2, until a mark was reported that the controller has to answer: it lowers the
/// window with the very ACK that reports it, which arrives less than a round trip after the packet was marked. And the receiver
/// saw as many packets marked as the relay has sent to it.
async fn with_marks<C: CongestionController + Clone>(subject: Subject<C>) -> Result<(), Failure> {
    // For shorter paths than the RFC's default, so that a controller that keeps its queue short is marked, too: Tupdate is the target,
    // the smaller of target and a third of RTT_max (RFC 9332 appendix A.1).
    let aqm = DualPi2 { target_us: 3_000, rtt_max_us: 30_000, update_us: 3_000, ..DualPi2::default() };
    let link = LinkConfig { rate_bps: 20_000_000, latency_us: 10_000, ..LinkConfig::default() };
    let marking = LinkConfig { queue: QueueLimit::DelayUs(400_000), dualpi2: Some(aqm), ..link.clone() };
    let (config, seen) = watched(subject);
    let (pair, relay) = connect(config, reno(), |address| {
        let mut config = RelayConfig::new(address).with_path(&PathConfig::new(link));
        config.to_server = PathConfig::new(marking);
        config
    })
    .await?;
    let data = pattern(2 * MIB);
    let mut answered = None;
    for _ in 0..8 {
        transfer(&pair.at_client, &pair.at_server, &data, || Ok(())).await?;
        answered = seen.notes().marks.into_iter().find(is_to_be_answered);
        if answered.is_some() {
            break;
        }
    }
    seen.check()?;
    let first = answered.ok_or("no mark was reported that is to be answered")?;
    assert!(first.after < first.before, "{first:?}");

    let (sent, received) = settled_counts(&pair, &relay).await?;
    assert!(sent.marked_ce > 0, "{sent:?}");
    assert_eq!(received, sent.ecn_forwarded.ce, "{sent:?}");
    pair.close().await;
    Ok(())
}

/// C4 answers marks neither in Recovery, which is such an answer, nor in Initial unless its rate has stopped growing.
fn is_to_be_answered(mark: &Mark) -> bool {
    !["initial", "recovery"].contains(&mark.phase)
}

/// What the relay sent to the server, and how much of that arrived there with CE, when nothing is under way and the two agree; or
/// at last. Each time a byte is sent, with whose ACK a server that counts in its ACKs tells the latest counts.
async fn settled_counts(pair: &Pair, relay: &Relay) -> Result<(DirectionStats, u64), Failure> {
    let mut counts = (DirectionStats::default(), 0);
    for _ in 0..100 {
        transfer(&pair.at_client, &pair.at_server, &[0], || Ok(())).await?;
        let sent = relay.stats().to_server;
        counts = (sent, pair.ce_received());
        if sent.held() == 0 && sent.ecn_forwarded.ce == counts.1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(counts)
}

for_each_algorithm! { marks_lower_the_window_of: crate::shared::relayed::with_marks }

/// The port that the server sees changes in the middle of what it sends, as with a NAT that has lost its state. The client
/// speaks next: until then the server sends to a port where nobody is.
async fn with_a_new_port<C: CongestionController + Clone>(subject: Subject<C>) -> Result<(), Failure> {
    let link = LinkConfig {
        rate_bps: 400_000_000,
        latency_us: 1_000,
        queue: QueueLimit::DelayUs(50_000),
        ..LinkConfig::default()
    };
    let (config, seen) = watched(subject);
    let (pair, relay) =
        connect(reno(), config, |address| RelayConfig::new(address).with_path(&PathConfig::new(link)))
            .await?;
    let data = pattern(10 * MIB);
    let (moved, has_moved) = oneshot::channel();
    let speaking = async {
        has_moved.await?;
        transfer(&pair.at_client, &pair.at_server, b"it is me", || Ok(())).await
    };
    let rebind = || {
        let clients = relay.rebind_clients()?;
        moved.send(()).map_err(|()| "nobody waits")?;
        if clients == 1 { Ok(()) } else { Err(format!("{clients} clients").into()) }
    };
    tokio::try_join!(transfer(&pair.at_server, &pair.at_client, &data, rebind), speaking)?;
    seen.check()?;
    assert_eq!(seen.notes().made, CONTROLLERS_WITH_A_NEW_PORT);
    // And on the new path.
    let before = seen.notes().acks;
    transfer(&pair.at_server, &pair.at_client, &data, || Ok(())).await?;
    assert!(seen.notes().acks > before, "the controller of the new path is told of no ACK");
    seen.check()?;
    pair.close().await;
    Ok(())
}

for_each_algorithm! { a_new_port_with: crate::shared::relayed::with_a_new_port }
