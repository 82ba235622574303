//! Traces of the example: what its path tells a controller, with ACKs of two packets as RFC 9000 recommends.

use crate::record::{Recorded, header, name};
use crate::recorder::{Recorder, Recording, lock};
use cc_core::{Duration, Instant, Rate};
use cc_embedding::{Link, Peer, Sender, transfer};
use cc_replay::MAGIC;
use cc_sim::Algorithm;
use cc_sim::scenario::Endpoint;
use std::sync::{Arc, Mutex};

/// The link, the bytes and the ring of the firmware's `path_cost`.
const LINK: Link =
    Link { rate: Rate::from_bytes_per_sec(1_250_000), delay: Duration::from_millis(10), queue: 25_000 };
const BYTES: u64 = 10_000_000;
const RING: usize = 64;

/// A transfer with every algorithm.
pub(crate) fn record_transfers() -> Result<Recorded, String> {
    // RFC 9002 section 7.2: ten datagrams of 1200 bytes, which is what the firmware's controllers begin with.
    let endpoint = Endpoint { initial_mtu: 1_200, initial_window: 12_000, ..Endpoint::default() };
    let name = name("embedding")?;
    let mut recorded = Recorded::new(MAGIC.to_vec());
    for &algorithm in Algorithm::ALL {
        let header = header(algorithm, algorithm, &name, 0, &endpoint, 0);
        let recording = Arc::new(Mutex::new(Recording::new(header, u64::MAX)));
        let recorder = Recorder::new(algorithm.controller(&endpoint, 0), Arc::clone(&recording));
        let mut sender: Sender<_, RING> = Sender::new(recorder, Instant::ZERO, BYTES);
        let mut peer: Peer<RING> = Peer::new(LINK);
        transfer(&mut sender, &mut peer, Instant::from_secs(100))
            .ok_or_else(|| format!("the transfer with {} does not end", algorithm.name()))?;
        recorded.add(&lock(&recording));
    }
    recorded.end();
    Ok(recorded)
}
