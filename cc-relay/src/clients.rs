//! The table of clients: who sends, and the socket that stands for them towards the server.

use crate::socket::Socket;
use crate::stats::DirectionStats;
use slab::Slab;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

/// Key of a client in the table; used again after it is gone.
pub(crate) type ClientKey = usize;

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    /// Address of the relay that it sends to.
    pub(crate) relay_ip: Option<IpAddr>,
    pub(crate) socket: Socket,
    pub(crate) server_side: SocketAddr,
    /// When something came from it or for it last, in microseconds.
    pub(crate) active_at: u64,
    pub(crate) to_server: DirectionStats,
    pub(crate) to_client: DirectionStats,
    /// Its number among all clients that there have been.
    pub(crate) number: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Clients {
    table: Slab<Client>,
    by_address: HashMap<SocketAddr, ClientKey>,
    total: u64,
}

impl Clients {
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// Clients that there have been.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn find(&self, address: SocketAddr) -> Option<ClientKey> {
        self.by_address.get(&address).copied()
    }

    pub(crate) fn get(&self, key: ClientKey) -> Option<&Client> {
        self.table.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: ClientKey) -> Option<&mut Client> {
        self.table.get_mut(key)
    }

    /// The client at `key`, if it is still number `number`.
    pub(crate) fn same_mut(&mut self, key: ClientKey, number: u64) -> Option<&mut Client> {
        self.table.get_mut(key).filter(|client| client.number == number)
    }

    /// Key of the next client that is added.
    pub(crate) fn next_key(&self) -> ClientKey {
        self.table.vacant_key()
    }

    pub(crate) fn add(
        &mut self,
        address: SocketAddr,
        relay_ip: Option<IpAddr>,
        socket: Socket,
        server_side: SocketAddr,
        now: u64,
    ) -> ClientKey {
        let key = self.table.insert(Client {
            address,
            relay_ip,
            socket,
            server_side,
            active_at: now,
            to_server: DirectionStats::default(),
            to_client: DirectionStats::default(),
            number: self.total,
        });
        self.total += 1;
        self.by_address.insert(address, key);
        key
    }

    /// Forgets those that have been idle since `since`; how many.
    pub(crate) fn expire(&mut self, since: u64) -> u64 {
        let before = self.table.len();
        let by_address = &mut self.by_address;
        self.table.retain(|_, client| {
            let keep = client.active_at > since;
            if !keep {
                by_address.remove(&client.address);
            }
            keep
        });
        (before - self.table.len()) as u64
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Client> {
        self.table.iter().map(|(_, client)| client)
    }

    pub(crate) fn keys(&self) -> Vec<ClientKey> {
        self.table.iter().map(|(key, _)| key).collect()
    }
}
