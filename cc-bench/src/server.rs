//! The receiving side.

use crate::quic::Identity;
use crate::socket::{CountingSocket, EcnTally, bind};
use crate::{now, protocol};
use cc_relay::EcnCounts;
use quinn::{Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use std::error::Error;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tokio::runtime;
use tokio::sync::oneshot;

/// A server in a thread of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    tally: Arc<EcnTally>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts it at `address`; a free port if that is 0.
    ///
    /// # Errors
    ///
    /// Those of the system and of TLS.
    pub fn start(address: SocketAddr, identity: &Identity) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let config = identity.server()?;
        let socket = bind(address)?;
        let address = socket.local_addr()?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = mpsc::channel();
        let thread = std::thread::Builder::new().name("server".to_owned()).spawn(move || {
            runtime.block_on(async {
                match endpoint(socket, config) {
                    Ok((endpoint, tally)) => {
                        // The other end waits for it.
                        let _ = ready.send(Ok(tally));
                        tokio::select! {
                            () = serve(&endpoint) => {}
                            // Also if the sender is gone.
                            _ = stopped => {}
                        }
                    }
                    Err(error) => drop(ready.send(Err(error))),
                }
            });
        })?;
        let tally = is_ready.recv()??;
        Ok(Self { address, tally, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What has arrived at its socket so far.
    #[must_use]
    pub fn tally(&self) -> &EcnTally {
        &self.tally
    }

    /// Ends it; what has arrived.
    #[must_use]
    pub fn stop(mut self) -> EcnCounts {
        self.end();
        self.tally.counts()
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn endpoint(socket: UdpSocket, config: ServerConfig) -> io::Result<(Endpoint, Arc<EcnTally>)> {
    let (socket, tally) = CountingSocket::new(socket)?;
    let runtime = Arc::new(TokioRuntime);
    let (socket, config) = (Arc::new(socket), Some(config));
    let endpoint = Endpoint::new_with_abstract_socket(EndpointConfig::default(), config, socket, runtime)?;
    Ok((endpoint, tally))
}

/// Answers connections for ever.
async fn serve(endpoint: &Endpoint) {
    let epoch = now();
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            // A client that fails says so itself.
            if let Ok(connection) = incoming.await {
                protocol::serve(connection, epoch).await;
            }
        });
    }
}
