//! A sender with data to send, on a link with a drop-tail queue.

use super::runner::{Runner, Stop};
use super::select::newest_times;
use crate::script::Link;
use crate::stack::{Incoming, Outgoing, Stack};
use cc_core::{CongestionController, Duration, LossCause, Pacer, PeerInstant, Rate, SendLimit};
use std::collections::VecDeque;

/// Packets acked above a missing one after which it is lost (RFC 9002 section 6.1.1).
const THRESHOLD: usize = 3;

/// A packet on the way.
#[derive(Clone, Copy, Debug)]
struct Flying {
    place: usize,
    sent_at: Duration,
    /// When its ack arrives; `None` if it was dropped.
    arrives: Option<Duration>,
    /// When the receiver says that it got it.
    received: Option<Duration>,
}

struct State {
    flying: VecDeque<Flying>,
    /// When the bottleneck has sent all that it holds.
    busy_until: Duration,
    pacer: Pacer,
    /// Bytes that the application has made so far and that were sent.
    made_from: Duration,
    sent: u64,
    /// Probes in a row without an ack (RFC 9002 section 6.2.1).
    probes: u32,
    last_progress: Duration,
}

impl<S: Stack> Runner<'_, S> {
    /// Runs the link from now on. Packets that are in flight at the start stay so; those in flight at the end are
    /// declared lost if dropped, else acked, one round trip later.
    pub(super) fn run_link(&mut self, line: usize, link: &Link) -> Result<(), Stop> {
        let link = &self.scaled(link);
        let end = self.now.plus(link.span);
        let start = self.now;
        let mut state = State {
            flying: VecDeque::new(),
            busy_until: start,
            pacer: Pacer::new(self.instant(), self.stack.controller().send_quantum().max(self.mss)),
            made_from: start,
            sent: 0,
            probes: 0,
            last_progress: start,
        };
        while self.now < end {
            let wake = self.send_what_may_be(line, link, &mut state)?;
            let ack = next_ack(&state, link);
            let timeout = self.timeout(&state);
            let next = [wake, ack, timeout, Some(end)].into_iter().flatten().min().unwrap_or(end);
            self.now = next.max(self.now.plus(Duration::from_nanos(1))).min(end.max(next));
            // What has arrived is told when its ACK is due, whatever else the sender woke up for.
            if ack.is_some_and(|at| at <= self.now) {
                self.deliver(line, &mut state)?;
            }
            self.expire(line, &mut state, link)?;
        }
        // The network empties.
        while let Some(last) = state.flying.iter().filter_map(|packet| packet.arrives).max() {
            self.now = self.now.max(last);
            self.deliver(line, &mut state)?;
        }
        let lost: Vec<usize> = state.flying.iter().map(|packet| packet.place).collect();
        if !lost.is_empty() {
            self.now = self.now.plus(link.rtt);
            self.told(line, &[], &[], &lost, LossCause::Timer)?;
        }
        Ok(())
    }

    fn scaled(&self, link: &Link) -> Link {
        let k = self.scale();
        Link {
            rate: link.rate.saturating_mul(k),
            queue: link.queue.saturating_mul(k),
            flow: link.flow.saturating_mul(k),
            app: link.app.saturating_mul(k),
            ..*link
        }
    }

    /// Sends until window, pacer, flow control or application stop it; when to try again, if time alone may help.
    fn send_what_may_be(
        &mut self,
        line: usize,
        link: &Link,
        state: &mut State,
    ) -> Result<Option<Duration>, Stop> {
        loop {
            let now = self.instant();
            let bytes = self.mss;
            let after = self.stack.in_flight().saturating_add(bytes);
            if link.app > 0 {
                let rate = Rate::from_bytes_per_sec(link.app);
                let made = rate.bytes_in(self.now.minus(state.made_from));
                if made < state.sent.saturating_add(bytes) {
                    self.stack.app_limited(now);
                    let due = rate.time_to_send(state.sent.saturating_add(bytes));
                    return Ok(Some(state.made_from.plus(due)));
                }
            }
            if after > self.stack.controller().cwnd() {
                self.stack.set_limit(SendLimit::Cwnd);
                return Ok(None);
            }
            if after > link.flow {
                self.stack.set_limit(SendLimit::FlowControl);
                return Ok(None);
            }
            let burst = self.stack.controller().send_quantum().max(bytes);
            state.pacer.set_rate(now, self.stack.controller().pacing_rate(), burst);
            let departure = state.pacer.departure(now, bytes);
            if departure > now {
                self.stack.set_limit(SendLimit::Pacer);
                return Ok(Some(self.now.plus(departure.since(now))));
            }
            state.pacer.on_sent(now, now, bytes);
            self.put_on(line, link, state)?;
        }
    }

    fn put_on(&mut self, line: usize, link: &Link, state: &mut State) -> Result<(), Stop> {
        let bytes = self.mss;
        let place = self.next_place();
        self.send_one(line, &Outgoing::data(bytes))?;
        state.sent = state.sent.saturating_add(bytes);
        let queued = Rate::from_bytes_per_sec(link.rate).bytes_in(state.busy_until.minus(self.now));
        let arrives = (link.rate > 0 && queued.saturating_add(bytes) <= link.queue.max(bytes)).then(|| {
            let takes = Rate::from_bytes_per_sec(link.rate).time_to_send(bytes);
            state.busy_until = state.busy_until.max(self.now).plus(takes);
            state.busy_until.plus(link.rtt)
        });
        let received = arrives.and(link.forward).map(|forward| state.busy_until.plus(forward));
        state.flying.push_back(Flying { place, sent_at: self.now, arrives, received });
        Ok(())
    }

    /// Acks what has arrived, and declares lost what is three packets behind.
    fn deliver(&mut self, line: usize, state: &mut State) -> Result<(), Stop> {
        let now = self.now;
        // The queue keeps the order: what has arrived is at the front, between what was dropped.
        let reached =
            state.flying.iter().take_while(|packet| packet.arrives.is_none_or(|at| at <= now)).count();
        let front = state.flying.iter().take(reached);
        let Some(newest) = front.clone().rposition(|packet| packet.arrives.is_some()) else { return Ok(()) };
        let (mut acked, mut lost, mut left) = (Vec::new(), Vec::new(), Vec::new());
        let mut received = Vec::new();
        for (n, packet) in front.enumerate() {
            if packet.arrives.is_some() {
                acked.push(packet.place);
                let time = packet.received.map(|at| PeerInstant::from_nanos(at.as_nanos()));
                received.extend(time.map(|time| (packet.place, time)));
            } else if newest >= n.saturating_add(THRESHOLD) {
                lost.push(packet.place);
            } else {
                left.push(*packet);
            }
        }
        state.flying.drain(..reached);
        for packet in left.into_iter().rev() {
            state.flying.push_front(packet);
        }
        state.probes = 0;
        state.last_progress = now;
        self.told(line, &acked, &newest_times(received), &lost, LossCause::Ack)
    }

    /// The time threshold of RFC 9002 section 6.1.2, and probes (section 6.2).
    fn expire(&mut self, line: usize, state: &mut State, link: &Link) -> Result<(), Stop> {
        if self.timeout(state).is_none_or(|at| at > self.now) {
            return Ok(());
        }
        state.probes = state.probes.saturating_add(1);
        state.last_progress = self.now;
        // The probe, which no window holds back.
        self.put_on(line, link, state)
    }

    fn timeout(&self, state: &State) -> Option<Duration> {
        let oldest = state.flying.front()?;
        let base = self.stack.rtt().map_or(Duration::from_millis(999), |rtt| {
            rtt.smoothed.plus(rtt.var.times(4)).plus(Duration::from_millis(25))
        });
        let backoff = 1_u64.checked_shl(state.probes.min(6)).unwrap_or(1);
        Some(oldest.sent_at.max(state.last_progress).plus(base.times(backoff)))
    }

    fn told(
        &mut self,
        line: usize,
        acked: &[usize],
        received: &[(usize, PeerInstant)],
        lost: &[usize],
        cause: LossCause,
    ) -> Result<(), Stop> {
        let incoming = Incoming {
            now: self.instant(),
            acked,
            received,
            lost,
            ecn: None,
            delay: None,
            cause,
            persistent: false,
            forced: false,
        };
        self.incoming(line, "run", &incoming)
    }
}

/// When enough has arrived for an ACK, or the last packet on the way has.
fn next_ack(state: &State, link: &Link) -> Option<Duration> {
    let wanted = usize::try_from(link.per_ack.max(1)).unwrap_or(1);
    let mut arrivals = state.flying.iter().filter_map(|packet| packet.arrives);
    let first = arrivals.next()?;
    let nth = arrivals.take(wanted.saturating_sub(1)).last().unwrap_or(first);
    // A delayed ack waits for at most 25 ms (RFC 9000 section 13.2.1).
    Some(nth.min(first.plus(Duration::from_millis(25))))
}

impl Flying {
    #[cfg(test)]
    const fn is_dropped(&self) -> bool {
        self.arrives.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::{Flying, Link, Pacer, State, next_ack};
    use cc_core::{Duration, Instant};
    use std::collections::VecDeque;

    fn link(per_ack: u64) -> Link {
        let ms = Duration::from_millis;
        Link { span: ms(1), rate: 1, rtt: ms(1), queue: 1, flow: 1, app: 0, per_ack, forward: None }
    }

    #[test]
    fn an_ack_waits_for_its_packets_but_not_longer_than_25_ms() {
        let ms = Duration::from_millis;
        let flying = |place, arrives| Flying { place, sent_at: ms(0), arrives, received: None };
        let state = State {
            flying: VecDeque::from([
                flying(0, None),
                flying(1, Some(ms(10))),
                flying(2, Some(ms(12))),
                flying(3, Some(ms(50))),
            ]),
            busy_until: ms(0),
            pacer: Pacer::new(Instant::ZERO, 1),
            made_from: ms(0),
            sent: 0,
            probes: 0,
            last_progress: ms(0),
        };
        assert!(state.flying[0].is_dropped());
        assert_eq!(next_ack(&state, &link(1)), Some(ms(10)));
        assert_eq!(next_ack(&state, &link(2)), Some(ms(12)));
        assert_eq!(next_ack(&state, &link(3)), Some(ms(35)));
    }
}
