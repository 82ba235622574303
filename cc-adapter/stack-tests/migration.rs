//! A client that changes its own address, for the stacks that can do that. Beside what the other tests want,
//! `Pair::rebind(&self, address)` has the client go on from another socket, and `Pair::client_address(&self)` is where the server
//! thinks that the client is.

use crate::shared::watch::watched;
use crate::shared::{Failure, MIB, any_port, for_each_algorithm, pattern, transfer};
use crate::stack::{Pair, reno};
use cc_core::CongestionController;
use cc_testkit::Subject;
use std::net::SocketAddr;

/// The server sends 10 MiB, in the middle of which the client moves to `address`; how many controllers it has made then.
pub(crate) async fn moving_to<C: CongestionController + Clone>(
    address: SocketAddr,
    subject: Subject<C>,
) -> Result<usize, Failure> {
    let (config, seen) = watched(subject);
    let pair = Pair::connect(reno(), config, Ok).await?;
    let before = pair.client_address()?;
    let data = pattern(10 * MIB);
    transfer(&pair.at_server, &pair.at_client, &data, || pair.rebind(address)).await?;
    let after = pair.client_address()?;
    assert_ne!(after, before, "the client has not moved");
    assert_eq!(after.ip(), address.ip());
    // The controller of the new address is at work: what it sends is acked.
    let acks = seen.notes().acks;
    transfer(&pair.at_server, &pair.at_client, &data, || Ok(())).await?;
    seen.check()?;
    let notes = seen.notes();
    assert!(notes.acks > acks, "the controller is told of no ACK");
    pair.close().await;
    Ok(notes.made)
}

/// Where only the port changes the server goes on with a copy of its controller.
async fn moving_to_a_new_port<C: CongestionController + Clone>(subject: Subject<C>) -> Result<(), Failure> {
    assert_eq!(moving_to(any_port(), subject).await?, 1);
    Ok(())
}

for_each_algorithm! { moving_to_a_new_port_with: crate::migration::moving_to_a_new_port }
