//! The physical limit: when a sender that knew the path would have finished.
//!
//! It sends what has to be sent and nothing else, in datagrams of full size from the first one on, keeps the link
//! busy from the moment the request arrives until the last byte, loses nothing and queues nothing. What it cannot
//! avoid counts: the handshake, propagation, serialisation on the timeline of the link with its rounding, the
//! stretches at rate 0, and the exchange that closes the connection. Flow control and jitter are left out: both can
//! only make a run longer.
//!
//! Some things can make a run shorter than this, none on the draft's paths:
//!
//! * a path whose latency falls, on which it would have been faster to wait than to send at once;
//! * a client that stops waiting for the answer to its close because the path has become much longer than it knew;
//! * the rounding of the link to whole microseconds a datagram: at 8 Gbit/s one of 1252 bytes takes 1 us and one of 9000
//!   bytes 9 us, in which nine of the small ones carry more. The limit takes full datagrams nevertheless;
//! * a change of the link, which serialises again the packet that it finds in service: a smaller datagram may have been
//!   through.

use crate::engine::link::service_time_us;
use crate::engine::packet::size;
use crate::scenario::{LinkState, LinkTimeline, RunEnd, Scenario};

/// Milestones of the ideal run, in microseconds of virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The request reaches the server.
    pub request_us: u64,
    /// The client has all data.
    pub last_byte_us: u64,
    /// The client's connection is closed.
    pub completion_us: u64,
}

/// The two datagrams of the server's handshake flight, and the client's answers to them.
const FLIGHT: [(u64, u64); 2] =
    [(size::SERVER_HELLO, size::HANDSHAKE_ACK), (size::SERVER_FINISHED, size::CLIENT_FINISHED)];

/// The limit of `scenario`'s main flow, which has the links for itself; `None` if even the ideal sender would not be done at
/// the end of the run, or if it carries audio and video.
#[must_use]
pub fn physical_limit(scenario: &Scenario) -> Option<Limit> {
    if scenario.media.is_some() {
        return None; // what is produced in time can not be sent before
    }
    let endpoint = &scenario.endpoint;
    let end_us = match scenario.end {
        RunEnd::At(us) => us.min(scenario.time_limit_us),
        RunEnd::MainFlow | RunEnd::AllFlows => scenario.time_limit_us,
    };
    let lane = |rate| Lane::new(&scenario.link, rate, scenario.transfer.access_us, end_us);
    let mut down = lane(|state: &LinkState| state.down_bps);
    let mut up = lane(|state: &LinkState| state.up_bps);

    let hello_us = up.send(scenario.transfer.start_us, size::CLIENT_HELLO, 1)?;
    let mut request_us = hello_us;
    for (flight, answer) in FLIGHT {
        let flight_us = down.send(hello_us, flight, 1)?;
        request_us = up.send(flight_us, answer, 1)?;
    }

    let payload = endpoint.mtu.saturating_sub(endpoint.overhead).max(1);
    let (full, rest) = (scenario.transfer.bytes / payload, scenario.transfer.bytes % payload);
    let mut last_byte_us = request_us;
    if full > 0 {
        last_byte_us = down.send(request_us, endpoint.mtu, full)?;
    }
    if rest > 0 {
        last_byte_us = down.send(request_us, rest.saturating_add(endpoint.overhead), 1)?;
    }

    let close_us = up.send(last_byte_us, size::CLOSE, 1)?;
    let completion_us = down.send(close_us, size::CLOSE_REPLY, 1)?;
    Some(Limit { request_us, last_byte_us, completion_us })
}

/// One direction of the link, walked through once from its start.
struct Lane<'a> {
    timeline: &'a LinkTimeline,
    rate: fn(&LinkState) -> u64,
    /// Propagation delay after the link.
    access_us: u64,
    limit_us: u64,
    /// State in force and when it ends (`u64::MAX`: never).
    state: usize,
    state_ends_us: u64,
    /// When the serialiser has sent all that it was given.
    idle_us: u64,
    /// When the last packet comes out of the link: no later one does before it.
    arrived_us: u64,
}

impl<'a> Lane<'a> {
    fn new(timeline: &'a LinkTimeline, rate: fn(&LinkState) -> u64, access_us: u64, limit_us: u64) -> Self {
        let state_ends_us = timeline.states.first().and_then(|state| state.duration_us).unwrap_or(u64::MAX);
        Self { timeline, rate, access_us, limit_us, state: 0, state_ends_us, idle_us: 0, arrived_us: 0 }
    }

    /// Sends `count` packets of `bytes` each, back to back, from `now_us` on; the arrival of the last one.
    ///
    /// A packet that a change of the link finds in the serialiser is serialised again from the start at the new
    /// rate, as the link of the simulator does; one that ends at that very moment is through.
    fn send(&mut self, now_us: u64, bytes: u64, mut count: u64) -> Option<u64> {
        let mut at_us = self.idle_us.max(now_us);
        while count > 0 {
            while at_us >= self.state_ends_us {
                self.next_state()?;
            }
            let state = self.timeline.states.get(self.state)?;
            let rate_bps = (self.rate)(state);
            let service_us = (rate_bps > 0).then(|| service_time_us(rate_bps, bytes));
            let fit = match service_us {
                Some(service_us) => ((self.state_ends_us - at_us) / service_us).min(count),
                None => 0,
            };
            at_us = at_us.saturating_add(service_us.unwrap_or(0).saturating_mul(fit));
            count -= fit;
            if fit > 0 {
                self.arrived_us = self.arrived_us.max(at_us.saturating_add(state.latency_us));
            }
            if count > 0 {
                at_us = self.state_ends_us;
            }
            if at_us > self.limit_us {
                return None;
            }
        }
        self.idle_us = at_us;
        let arrived_us = self.arrived_us.saturating_add(self.access_us);
        (arrived_us <= self.limit_us).then_some(arrived_us)
    }

    /// Goes on to the state that follows; `None` if none does.
    fn next_state(&mut self) -> Option<()> {
        self.state += 1;
        if self.state >= self.timeline.states.len() {
            if !self.timeline.repeat {
                return None;
            }
            self.state = 0;
        }
        let duration_us = self.timeline.states.get(self.state)?.duration_us;
        self.state_ends_us = duration_us.map_or(u64::MAX, |us| self.state_ends_us.saturating_add(us));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, physical_limit};
    use crate::scenario::{Group, builtin};
    use crate::scenario::{LinkState, LinkTimeline, QueueLimit, Scenario, Transfer};
    use crate::{Algorithm, simulate};

    /// 8 Mbit/s: a microsecond a byte.
    const BYTE_A_MICROSECOND: u64 = 8_000_000;

    fn state(duration_us: Option<u64>, bps: u64, latency_us: u64) -> LinkState {
        LinkState { duration_us, ..LinkState::constant(bps, latency_us, QueueLimit::Unlimited) }
    }

    fn scenario(states: Vec<LinkState>, repeat: bool, bytes: u64) -> Scenario {
        let transfer = Transfer::of(bytes);
        Scenario {
            time_limit_us: 10_000_000,
            ..Scenario::single("test", LinkTimeline { states, repeat }, transfer)
        }
    }

    // At a microsecond a byte and 10 ms one way: client 1252 + 10000 = 11252; server + 1252 + 511 + 10000 = 23015 (the
    // client's ACK of the first part is out by then); client + 715 + 10000 = 33730.
    const REQUEST_US: u64 = 33_730;

    #[test]
    fn a_constant_link_costs_three_round_trips_and_the_serialisation() {
        let limit = physical_limit(&scenario(vec![state(None, BYTE_A_MICROSECOND, 10_000)], false, 3_000));
        // 3000 bytes are two datagrams of 1440 (1406 each) and one of 188 + 34: 33730 + 2880 + 222 + 10000 = 46832.
        // The closes of 41 and 32 bytes: + 41 + 10000 + 32 + 10000.
        let expected = Limit { request_us: REQUEST_US, last_byte_us: 46_832, completion_us: 66_905 };
        assert_eq!(limit, Some(expected));
    }

    #[test]
    fn the_start_of_the_transfer_counts() {
        let mut later = scenario(vec![state(None, BYTE_A_MICROSECOND, 10_000)], false, 3_000);
        later.transfer.start_us = 500_000;
        assert_eq!(physical_limit(&later).map(|limit| limit.completion_us), Some(566_905));
    }

    #[test]
    fn a_change_of_rate_serialises_the_packet_in_service_again() {
        // 100 datagrams of 1440 from 33730 on. At 40000 us four are through (33730 + 4 * 1440 = 39490); the other 96
        // take 720 us each at twice the rate: 40000 + 96 * 720 + 10000 = 119120.
        let states = vec![
            state(Some(40_000), BYTE_A_MICROSECOND, 10_000),
            state(None, 2 * BYTE_A_MICROSECOND, 10_000),
        ];
        let limit = physical_limit(&scenario(states, false, 140_600)).unwrap();
        assert_eq!(limit.last_byte_us, 119_120);
        // 41 bytes take 20 us (20.5 rounded down) at 16 Mbit/s, 32 bytes 16 us.
        assert_eq!(limit.completion_us, 119_120 + 10_020 + 10_016);
    }

    #[test]
    fn nothing_passes_at_rate_zero_and_a_timeline_may_repeat() {
        // On for 40 ms, off for 40 ms. 20 datagrams: 4 until 40000, then from 80000 on 16 * 1440 = 23040, and 10000 of
        // latency: 113040. The close is sent at once (41 us), as 113040 < 120000: 123081 at the server, which is off
        // until 160000: 160000 + 32 + 10000.
        let states = vec![state(Some(40_000), BYTE_A_MICROSECOND, 10_000), state(Some(40_000), 0, 10_000)];
        let limit = physical_limit(&scenario(states, true, 28_120)).unwrap();
        assert_eq!((limit.last_byte_us, limit.completion_us), (113_040, 170_032));
    }

    #[test]
    fn a_shorter_path_does_not_let_packets_overtake() {
        // 4 datagrams are through at 39490 with 10 ms to go (49490). From 40000 on latency is 1 ms: the fifth would
        // arrive at 42440 but comes right after the fourth.
        let states =
            vec![state(Some(40_000), BYTE_A_MICROSECOND, 10_000), state(None, BYTE_A_MICROSECOND, 1_000)];
        let limit = physical_limit(&scenario(states, false, 5 * 1_406)).unwrap();
        assert_eq!(limit.last_byte_us, 49_490);
    }

    #[test]
    fn no_run_is_faster_and_its_request_arrives_when_the_limit_says() {
        let pool = crate::experiment::thread_pool(1).unwrap();
        // Without jitter, which makes a request late.
        let events = Group::NetworkEvents.scenarios().filter(|&name| name != "alone");
        for name in events.chain(["wifi_suspension"]) {
            let scenario = builtin(name).unwrap();
            let limit = physical_limit(&scenario).unwrap();
            for &algorithm in Algorithm::ALL {
                let outcome = pool.install(|| simulate(&scenario, algorithm, 1, &mut ())).unwrap();
                assert!(outcome.last_byte_us >= limit.last_byte_us, "{name}: {outcome:?}, {limit:?}");
                assert!(outcome.completion_us >= limit.completion_us, "{name}: {outcome:?}, {limit:?}");
                // On the long path the handshake is sent twice, and the copies are in the way of the request.
                if name == "satellite" {
                    assert!(outcome.request_us >= limit.request_us, "{outcome:?}, {limit:?}");
                } else {
                    assert_eq!(outcome.request_us, limit.request_us, "{name}");
                }
            }
        }
    }

    #[test]
    fn a_link_that_stays_at_zero_or_is_too_slow_has_no_limit() {
        let states = vec![state(Some(20_000), BYTE_A_MICROSECOND, 10_000), state(None, 0, 10_000)];
        assert_eq!(physical_limit(&scenario(states, false, 1)), None);
        let slow = scenario(vec![state(None, 8_000, 10_000)], false, 100_000);
        assert_eq!(physical_limit(&slow), None, "100 s of serialisation, 10 s of time limit");
    }

    #[test]
    fn the_draft_s_suspended_wifi_has_the_limit_worked_out_by_hand() {
        // 20 Mbit/s, 5 ms one way, off from 1.8 s to 2 s and from 3.8 s to 4 s. Datagrams take what they take in the test
        // below. Request: 5500 + (500 + 204 + 5000) + (285 + 5000) = 16 489.
        // 3101 datagrams until 1.8 s (16 489 + 3101 * 575 = 1 799 564), 3130 until 3.8 s (2 000 000 + 1 799 750), which leaves
        // 881 of 7112 and the last one: 4 000 000 + 881 * 575 + 224.
        let limit = physical_limit(&builtin("wifi_suspension").unwrap()).unwrap();
        assert_eq!(limit.request_us, 16_489);
        assert_eq!(limit.last_byte_us, 4_506_799 + 5_000);
        assert_eq!(limit.completion_us, limit.last_byte_us + 5_016 + 5_012);
    }

    #[test]
    fn the_draft_s_alone_scenario_has_the_limit_worked_out_by_hand() {
        // 20 Mbit/s, 40 ms one way. A byte takes 419430 / 2^20 us, a little less than 0.4; rounded down to whole us:
        // 1252 -> 500, 511 -> 204, 715 -> 285 (not 286), 1440 -> 575 (not 576), 562 -> 224, 41 -> 16, 32 -> 12.
        // Request: 40500 + (500 + 204 + 40000) + (285 + 40000) = 121489.
        // 10^7 bytes are 7112 datagrams of 1406 bytes and one of 528 (with its overhead 562).
        let limit = physical_limit(&builtin("alone").unwrap()).unwrap();
        assert_eq!(limit.request_us, 121_489);
        assert_eq!(limit.last_byte_us, 121_489 + 7_112 * 575 + 224 + 40_000);
        assert_eq!(limit.completion_us, limit.last_byte_us + 40_016 + 40_012);
    }
}
