//! Real connections of quinn, over loopback and through a relay.

#[path = "../../cc-adapter/stack-tests/migration.rs"]
mod migration;
#[path = "../../cc-adapter/stack-tests/mod.rs"]
mod shared;
mod stack;

use cc_quinn::QuinnController;
use shared::{Failure, MIB, pattern, transfer};
use stack::{Pair, reno};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_controller_of_a_connection_can_be_read() -> Result<(), Failure> {
    let pair = Pair::connect(cc_quinn::cubic(), reno(), Ok).await?;
    transfer(&pair.at_client, &pair.at_server, &pattern(MIB), || Ok(())).await?;
    let state = pair.at_client.0.congestion_state().into_any();
    let controller =
        state.downcast::<QuinnController<cc_cubic::Cubic>>().map_err(|_| "another controller")?;
    let snapshot = controller.snapshot();
    assert!(snapshot.cwnd >= 2 * 1_200 && snapshot.model_rtt.is_some(), "{snapshot:?}");
    pair.close().await;
    Ok(())
}
