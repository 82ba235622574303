//! Tests of an adapter with real connections, the same for every stack.
//!
//! An adapter's tests include this file, and say in a module `stack` at their root what their stack is:
//!
//! - `Config` and `reno`, of the adapter;
//! - `End`, one end of a connection, with `send(&self, data)`, which returns when all of it has been acked, and `receive(&self, on_chunk)`,
//!   which gives what comes on the next stream to a closure;
//! - `Pair`, two `End`s `at_client` and `at_server` with their endpoints: `Pair::connect(client, server, through)` connects to
//!   the address that the closure `through` gives for the server's; `ce_received(&self)` counts what the server got with CE; `close(self)`
//!   ends both ends;
//! - `CONTROLLERS_WITH_A_NEW_PORT`: how many controllers a server has made for a connection after its client's port changed.

mod loopback;
#[cfg(target_os = "linux")]
mod relayed;
pub(crate) mod watch;

use crate::stack::End;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Long enough for a busy machine; only a transfer that hangs takes it.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) const MIB: usize = 1 << 20;

/// The boxed error of a test.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(crate) fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Bytes that do not repeat with any packet size: SplitMix64.
pub(crate) fn pattern(bytes: usize) -> Vec<u8> {
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

/// Sends `data` from one end to the other and compares what arrives. `halfway` is run when half of it has arrived.
pub(crate) async fn transfer(
    from: &End,
    to: &End,
    data: &[u8],
    halfway: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let receiving = async {
        let mut received = 0;
        let mut halfway = Some(halfway);
        let compare = |chunk: &[u8]| -> Result<(), Failure> {
            if data.get(received..received + chunk.len()) != Some(chunk) {
                return Err(format!("other bytes than sent at {received}").into());
            }
            received += chunk.len();
            match halfway.take_if(|_| received * 2 >= data.len()) {
                Some(halfway) => halfway(),
                None => Ok(()),
            }
        };
        to.receive(compare).await?;
        if received != data.len() {
            return Err(format!("{received} bytes of {} arrived", data.len()).into());
        }
        Ok(())
    };
    let both = async { tokio::try_join!(from.send(data), receiving) };
    tokio::time::timeout(TIMEOUT, both).await??;
    Ok(())
}

/// A module with a test for each algorithm, which calls a function with its [`Subject`](cc_testkit::Subject). Factors and
/// families are those of the kit's own table.
macro_rules! for_each_algorithm {
    ($module:ident: $call:path) => {
        mod $module {
            use crate::shared::Failure;
            use cc_core::Setup;
            use cc_testkit::Subject;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn c4() -> Result<(), Failure> {
                let make = |s: &Setup| cc_c4::C4::new(&cc_c4::Config::from(*s));
                $call(Subject::rate_based("c4", make)).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn bbr() -> Result<(), Failure> {
                let make = |s: &Setup| cc_bbr::Bbr::new(&cc_bbr::Config::from(*s));
                $call(Subject::rate_based("bbr", make)).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn cubic() -> Result<(), Failure> {
                let make = |s: &Setup| cc_cubic::Cubic::new(&cc_cubic::Config::from(*s));
                $call(Subject::loss_based("cubic", make).with_betas(70, 85)).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn reno() -> Result<(), Failure> {
                let make = |s: &Setup| cc_reno::Reno::new(&cc_reno::Config::from(*s));
                $call(Subject::loss_based("reno", make)).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn quicdc() -> Result<(), Failure> {
                let make = |s: &Setup| cc_quicdc::QuicDc::new(&cc_quicdc::Config::from(*s));
                $call(Subject::rate_based("quicdc", make)).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn westwood() -> Result<(), Failure> {
                let make = |s: &Setup| cc_quicdc::Westwood::new(&cc_quicdc::Config::from(*s));
                $call(Subject::rate_based("westwood", make)).await
            }
        }
    };
}
pub(crate) use for_each_algorithm;
