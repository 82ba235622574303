//! Real connections of noq, over loopback and through a relay.
//!
//! None moves to another address: noq 1.4 often loses a connection that does, with controllers of its own, too.

#[path = "../../cc-adapter/stack-tests/migration.rs"]
mod migration;
#[path = "../../cc-adapter/stack-tests/mod.rs"]
mod shared;
mod stack;

use cc_noq::NoqController;
use shared::{Failure, MIB, pattern, transfer};
use stack::{Pair, reno};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_controller_of_a_connection_can_be_read() -> Result<(), Failure> {
    let pair = Pair::connect(cc_noq::cubic(), reno(), Ok).await?;
    transfer(&pair.at_client, &pair.at_server, &pattern(MIB), || Ok(())).await?;
    let state = pair.at_client.0.congestion_state(noq::PathId::ZERO).ok_or("no path")?.into_any();
    let controller = state.downcast::<NoqController<cc_cubic::Cubic>>().map_err(|_| "another controller")?;
    let snapshot = controller.snapshot();
    assert!(snapshot.cwnd >= 2 * 1_200 && snapshot.model_rtt.is_some(), "{snapshot:?}");
    pair.close().await;
    Ok(())
}
