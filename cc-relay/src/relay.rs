//! The handle of a relay, and its thread.

use crate::config::{PathConfig, RelayConfig};
use crate::socket::Buffers;
use crate::state::{State, WAKE};
use crate::stats::RelayStats;
use crate::{Direction, RelayError};
use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A running relay. It stops, and its thread ends, when this is dropped.
#[derive(Debug)]
pub struct Relay {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    local_addr: SocketAddr,
}

/// What the handle and the thread share. The thread holds the lock while it works, not while it sleeps.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    epoll: Arc<OwnedFd>,
    /// Becomes readable to wake the thread up.
    wake: OwnedFd,
    stop: AtomicBool,
}

impl Relay {
    /// Binds the socket and starts the thread.
    ///
    /// # Errors
    ///
    /// [`RelayError::Config`] if a setting is impossible, [`RelayError::Bind`] if the address to listen on cannot be had,
    /// [`RelayError::Io`] if the system has no more threads or descriptors.
    pub fn start(config: &RelayConfig) -> Result<Self, RelayError> {
        let no_epoll = "cannot make an epoll descriptor";
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC);
        let epoll = Arc::new(epoll.map_err(|error| RelayError::io(no_epoll)(error.into()))?);
        let no_eventfd = "cannot make an event descriptor";
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = wake.map_err(|error| RelayError::io(no_eventfd)(error.into()))?;
        epoll::add(&*epoll, &wake, epoll::EventData::new_u64(WAKE), epoll::EventFlags::IN)
            .map_err(|error| RelayError::io(no_epoll)(error.into()))?;
        let state = State::new(config, Arc::clone(&epoll))?;
        let local_addr = state.local_addr().map_err(RelayError::io("cannot read the address"))?;
        let stop = AtomicBool::new(false);
        let shared = Arc::new(Shared { state: Mutex::new(state), epoll, wake, stop });
        let theirs = Arc::clone(&shared);
        let raise_priority = config.raise_priority;
        let thread = std::thread::Builder::new()
            .name("cc-relay".to_owned())
            .spawn(move || theirs.run(raise_priority))
            .map_err(RelayError::io("cannot start a thread"))?;
        Ok(Self { shared, thread: Some(thread), local_addr })
    }

    /// Where clients send to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The counters, all of the same moment.
    #[must_use]
    pub fn stats(&self) -> RelayStats {
        self.shared.lock().stats()
    }

    /// Changes a path while it runs. What is in the air stays there; what waits is taken up by the new link.
    ///
    /// # Errors
    ///
    /// [`RelayError::Config`] if a setting is impossible; nothing has changed then.
    pub fn set_path(&self, direction: Direction, path: &PathConfig) -> Result<(), RelayError> {
        let result = self.shared.lock().set_path(direction, path);
        self.shared.wake();
        result
    }

    /// Gives every client a new address towards the server, as a NAT does that has lost its state; how many clients.
    /// What the server sends to the old addresses from now on is lost.
    ///
    /// # Errors
    ///
    /// [`RelayError::Io`] if there are no more sockets; some clients may have new addresses then.
    pub fn rebind_clients(&self) -> Result<usize, RelayError> {
        self.shared.lock().rebind_clients()
    }

    /// What ended the relay before it was stopped: `None` while it runs.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        if let Some(error) = &self.shared.lock().failure {
            return Some(error.to_string());
        }
        let ended = self.thread.as_ref().is_some_and(JoinHandle::is_finished);
        ended.then(|| "its thread has panicked".to_owned())
    }

    /// Stops the relay and waits for its thread; the last counters. What was under way is not forwarded any more.
    #[must_use]
    pub fn stop(mut self) -> RelayStats {
        self.end();
        self.stats()
    }

    fn end(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            // An error is a panic there, which has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // Full only if the thread has been woken up already.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    fn run(&self, raise_priority: bool) {
        if raise_priority {
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -20);
        }
        // Sleeps are late by the slack, 50 us if nothing is said; without it they end with the next tick of the clock.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut buffers = Buffers::new();
        let mut events = Vec::with_capacity(EVENTS);
        while !self.stop.load(Ordering::Acquire) {
            let sleep = self.lock().sleep().and_then(|sleep| Timespec::try_from(sleep).ok());
            events.clear();
            match epoll::wait(&*self.epoll, spare_capacity(&mut events), sleep.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    self.lock().failure = Some(io::Error::from(error));
                    return;
                }
            }
            let mut state = self.lock();
            for event in &events {
                let epoll::Event { data, .. } = *event;
                if data.u64() == WAKE {
                    let _ = rustix::io::read(&self.wake, &mut [0; 8]);
                } else {
                    state.on_ready(data.u64(), &mut buffers);
                }
            }
            state.advance();
        }
    }
}

/// Descriptors that are asked for at a time; more that are ready come with the next call.
const EVENTS: usize = 64;
