//! Real connections of quinn, over loopback and through a relay.

#[path = "../../cc-adapter/stack-tests/migration.rs"]
mod migration;
#[path = "../../cc-adapter/stack-tests/mod.rs"]
mod shared;
mod stack;

use cc_core::CongestionController;
use cc_quinn::QuinnController;
use cc_testkit::Subject;
use shared::{Failure, MIB, for_each_algorithm, pattern, transfer};
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

/// Another machine, as far as the server can tell, gets another controller (RFC 9000 section 9.4).
#[cfg(target_os = "linux")]
async fn moving_to_a_new_address<C: CongestionController + Clone>(
    subject: Subject<C>,
) -> Result<(), Failure> {
    // All of 127.0.0.0/8 is this machine.
    assert_eq!(migration::moving_to(([127, 0, 0, 2], 0).into(), subject).await?, 2);
    Ok(())
}

#[cfg(target_os = "linux")]
for_each_algorithm! { moving_to_a_new_address_with: crate::moving_to_a_new_address }
