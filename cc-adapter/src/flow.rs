//! One path of a connection, for stacks that tell of it as quinn does.

use crate::{Clock, Ledger, Recipe};
use cc_core::{CongestionController, EcnEvent, SendLimit};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A [`Ledger`] on the clock of its stack, from the MTU of a connection's beginning to the copy for a new port.
///
/// An adapter adds what it must remember of packets, and translates sends, acks and losses.
#[derive(Clone, Debug)]
pub struct Flow<C> {
    clock: Clock,
    ledger: Ledger<C>,
    initial_window: u64,
    /// A copy that has not been used yet. It may be one to look at only (`Connection::congestion_state`), so that it becomes the
    /// controller of a new port with the first thing that it is told.
    is_copy: bool,
}

impl<C: CongestionController> Flow<C> {
    /// A path that begins now, with a controller of its own.
    pub fn new(recipe: &Recipe<C>, now: Instant, mtu: u16) -> Self {
        let clock = Clock::starting(now);
        let mtu = u64::from(mtu);
        let controller = recipe.make(clock.start(), mtu);
        Self {
            clock,
            initial_window: controller.cwnd(),
            ledger: Ledger::new(controller, clock.start(), mtu),
            is_copy: false,
        }
    }

    /// The controller and its books, as of the last commit.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger<C> {
        &self.ledger
    }

    /// The same, to tell them something: at a time that [`begin`](Self::begin) gave.
    pub const fn ledger_mut(&mut self) -> &mut Ledger<C> {
        &mut self.ledger
    }

    /// The window that the controller was made with, in bytes.
    #[must_use]
    pub const fn initial_window(&self) -> u64 {
        self.initial_window
    }

    /// Something is told that happened at `now`, which is called so.
    pub fn begin(&mut self, now: Instant) -> cc_core::Instant {
        let at = self.clock.at(now);
        if std::mem::take(&mut self.is_copy) {
            self.ledger.on_rebinding(at);
        }
        at
    }

    /// When a packet was sent; `None` if that was on another path, before this one began.
    #[must_use]
    pub fn sent_at(&self, sent: Instant) -> Option<cc_core::Instant> {
        self.clock.sent_at(sent)
    }

    /// The same as [`begin`](Self::begin), for a part of an ACK frame. `limit` is asked once in a frame what stopped the last
    /// attempt to send.
    pub fn begin_acks(
        &mut self,
        now: Instant,
        limit: impl FnOnce(&Ledger<C>) -> SendLimit,
    ) -> cc_core::Instant {
        let at = self.begin(now);
        self.ledger.on_acks_begin(at, limit);
        at
    }

    /// The acks of a frame are complete; losses and marks of the same frame may follow.
    pub fn end_acks(
        &mut self,
        now: Instant,
        bytes_in_flight: u64,
        limit: impl FnOnce(&Ledger<C>) -> SendLimit,
    ) {
        let at = self.begin_acks(now, limit);
        self.ledger.on_acks_complete(at, bytes_in_flight);
    }

    /// The CE count rose; the largest acked was sent at `sent`.
    pub fn on_mark(&mut self, now: Instant, sent: Instant) {
        let at = self.begin(now);
        let Some(sent_at) = self.sent_at(sent) else { return };
        self.ledger.on_ecn(at, &EcnEvent { largest_acked_sent_at: sent_at, ..EcnEvent::default() });
    }
}

impl<C: CongestionController + Clone> Flow<C> {
    /// The copy for a path on which only the port is new.
    #[must_use]
    pub fn for_new_port(&self) -> Self {
        Self { is_copy: true, ..self.clone() }
    }
}

/// Something behind a lock that is never contended: for a stack that reads through shared references, where a read may have to
/// deliver a frame that was collected.
#[derive(Debug)]
pub struct Locked<T>(Mutex<T>);

impl<T> Locked<T> {
    /// Puts it there.
    pub const fn new(inner: T) -> Self {
        Self(Mutex::new(inner))
    }

    /// Locks. What panicked while the lock was held is used as it is: a stack has no way to be told.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Needs no lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Flow, Locked};
    use crate::Recipe;
    use cc_core::{CongestionController, PacketSpace, SendLimit, Setup};
    use cc_reno::Reno;
    use std::time::{Duration, Instant};

    #[expect(clippy::disallowed_methods, reason = "any moment of the clock will do")]
    fn start() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    fn flow(start: Instant) -> Flow<Reno> {
        let recipe = Recipe::new(Setup::default(), |setup| Reno::new(&cc_reno::Config::from(*setup)));
        Flow::new(&recipe, start, 1_200)
    }

    fn send(flow: &mut Flow<Reno>, at: Instant, bytes: u64) {
        let at = flow.begin(at);
        flow.ledger_mut().on_sent(at, at, bytes, PacketSpace::Application);
    }

    #[test]
    fn a_copy_becomes_that_of_a_new_port_with_the_first_thing_it_is_told() {
        let start = start();
        let mut flow = flow(start);
        send(&mut flow, start, 6_000);
        let mut copy = flow.for_new_port();
        assert_eq!(copy.ledger().bytes_in_flight(), 6_000, "it may be there to be looked at only");
        send(&mut copy, start, 1_200);
        send(&mut copy, start, 1_200);
        assert_eq!((copy.ledger().bytes_in_flight(), flow.ledger().bytes_in_flight()), (2_400, 6_000));
    }

    #[test]
    fn a_frame_sets_the_flight_and_a_mark_halves_the_window() {
        let (start, later) = (start(), Duration::from_millis(50));
        let mut flow = flow(start);
        send(&mut flow, start, 12_000);
        // Of another path: nothing.
        flow.on_mark(start + later, start - later);
        flow.ledger_mut().commit();
        assert_eq!(flow.ledger().window(), 12_000);
        flow.end_acks(start + later, 12_000, |_| SendLimit::Unknown);
        flow.on_mark(start + later, start);
        flow.ledger_mut().commit();
        // RFC 9002 section 7.3.2, kLossReductionFactor.
        assert_eq!((flow.ledger().controller().cwnd(), flow.initial_window()), (6_000, 12_000));
        flow.end_acks(start + later, 9_000, |_| SendLimit::Unknown);
        flow.ledger_mut().commit();
        assert_eq!(flow.ledger().bytes_in_flight(), 9_000);
    }

    #[test]
    fn what_panicked_under_the_lock_stays_usable() {
        let mut locked = Locked::new(7);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = locked.lock();
            std::panic::resume_unwind(Box::new("a controller panicked"));
        }));
        assert!(panicked.is_err() && locked.0.is_poisoned());
        *locked.lock() += 1;
        assert_eq!(*locked.get_mut(), 8);
    }
}
