//! Connections without anything between their ends.

use super::watch::watched;
use super::{Failure, MIB, for_each_algorithm, pattern, transfer};
use crate::stack::Pair;
use cc_core::CongestionController;
use cc_testkit::Subject;

/// 10 MiB from client to server and 1 MiB back, byte for byte, with a controller that is watched by the kit on both sides.
async fn ten_mebibytes<C: CongestionController + Clone>(subject: Subject<C>) -> Result<(), Failure> {
    let (config, seen) = watched(subject);
    let pair = Pair::connect(config.clone(), config, Ok).await?;
    transfer(&pair.at_client, &pair.at_server, &pattern(10 * MIB), || Ok(())).await?;
    transfer(&pair.at_server, &pair.at_client, &pattern(MIB), || Ok(())).await?;
    pair.close().await;
    seen.check()?;
    // One for each end.
    let notes = seen.notes();
    assert_eq!(notes.made, 2);
    assert!(notes.acks > 0, "the controllers were told of no ACK");
    Ok(())
}

for_each_algorithm! { ten_mebibytes_through: crate::shared::loopback::ten_mebibytes }
