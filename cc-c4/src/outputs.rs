//! Window, pacing rate and send quantum, all from one function of the state (`c4_apply_rate_and_cwin`).

use crate::arithmetic::{MILLION, bytes_in, micros, part_of};
use crate::constants::{INITIAL_PACING, MAX_QUANTUM, MIN_DATAGRAMS, ONE, RTT_MARGIN};
use crate::{C4, Phase};
use cc_core::{MAX_DATAGRAM_SIZE, PathState, Rate, division};
use core::num::NonZeroU64;

/// What the stack reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outputs {
    /// Congestion window, bytes; at least two datagrams.
    pub(crate) cwnd: u64,
    /// Pacing rate; 0 while nothing was assessed, else at least one datagram per smoothed RTT.
    pub(crate) pacing: u64,
    /// Send quantum, bytes.
    pub(crate) quantum: u32,
}

impl Outputs {
    pub(crate) fn new(initial_window: u64, datagram: u16) -> Self {
        Self {
            cwnd: initial_window.max(u64::from(min_window(datagram))),
            pacing: 0,
            quantum: quantum(0, datagram),
        }
    }

    /// After a loss or a mark: window and rate are not above those before it, until the next ACK computes them anew. What
    /// was learnt since they were computed, an RTT say, must not show as growth in answer to a signal; nor must pacing end
    /// with it.
    pub(crate) fn keep_below(&mut self, before: &Self) {
        self.cwnd = self.cwnd.min(before.cwnd);
        if before.pacing > 0 {
            self.pacing = if self.pacing == 0 { before.pacing } else { self.pacing.min(before.pacing) };
        }
    }
}

impl C4 {
    /// Recomputes all outputs. In Initial the window becomes the phase's own.
    pub(crate) fn update_outputs(&mut self, path: &PathState) {
        // Not zero once a rate is known, so that a reduction can not turn pacing off.
        let nominal_pacing = part_of(self.alpha, self.nominal_rate).max(self.nominal_rate.min(1));
        let nominal_window = if self.rtt.nominal_max == 0 || self.nominal_rate == 0 {
            self.initial_window
        } else {
            bytes_in(self.rtt.nominal_max, nominal_pacing)
        };

        let (cwnd, pacing) = match &mut self.phase {
            Phase::Initial { window, packets_seen, .. } => {
                let mut pacing = nominal_pacing;
                *window = nominal_window.max(*window);
                if *packets_seen > 0 {
                    pacing = pacing.max(INITIAL_PACING);
                    let peak = self.delivery.peak;
                    if peak > pacing {
                        // The rate sample lags by a round trip and more: the peak shows capacity earlier.
                        pacing = average(pacing, peak);
                        let smoothed = path.rtt.map_or(0, |rtt| micros(rtt.smoothed));
                        *window = (bytes_in(smoothed, peak) / 2).max(*window);
                    }
                }
                (*window, pacing)
            }
            Phase::Resuming { window, rate } => (*window, *rate),
            Phase::Recovery { .. } | Phase::Cruising | Phase::Probing | Phase::Pushing => {
                let is_test = matches!(self.phase, Phase::Probing | Phase::Pushing);
                let extra = if is_test { self.probe_packet() } else { 0 };
                let headroom = self.margin(nominal_pacing).saturating_add(extra);
                (nominal_window.saturating_add(headroom), nominal_pacing)
            }
        };
        self.outputs = Outputs {
            cwnd: cwnd.max(u64::from(min_window(self.datagram))),
            pacing: self.paced_at_least_once_per_rtt(path, pacing),
            quantum: quantum(pacing, self.datagram),
        };
    }

    /// The pacer waits for no datagram longer than a smoothed RTT (picoquic_update_pacing_parameters). Rounded up, so
    /// that the rule holds to the microsecond. A smoothed RTT below 1 us counts as 1 us.
    fn paced_at_least_once_per_rtt(&self, path: &PathState, pacing: u64) -> u64 {
        let (Some(rtt), true) = (&path.rtt, pacing > 0) else {
            return pacing;
        };
        let smoothed = NonZeroU64::new(u64::from(micros(rtt.smoothed))).unwrap_or(NonZeroU64::MIN);
        let datagram = u64::from(self.datagram).saturating_mul(MILLION);
        // Most rates let more than one datagram go in the time, which a product shows without a division.
        if pacing.saturating_mul(smoothed.get()) >= datagram {
            return pacing;
        }
        division::divide(datagram.saturating_add(smoothed.get().saturating_sub(1)), smoothed)
    }

    /// Takes the datagram size of an event.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn update_datagram(&mut self, path: &PathState) {
        if path.max_datagram_size != u64::from(self.datagram) {
            self.change_datagram(path);
        }
    }

    /// A change recomputes the outputs but gives no larger window, except to the new minimum (RFC 8899 section 3).
    #[inline(never)]
    fn change_datagram(&mut self, path: &PathState) {
        let datagram = datagram_of(path.max_datagram_size);
        if datagram == self.datagram {
            return; // clamped
        }
        let cwnd = self.outputs.cwnd;
        self.datagram = datagram;
        self.update_outputs(path);
        self.outputs.cwnd = self.outputs.cwnd.min(cwnd).max(u64::from(min_window(datagram)));
    }

    /// Window headroom for the RTT margin, bytes.
    fn margin(&self, pacing: u64) -> u64 {
        bytes_in((self.rtt.nominal_max / 4).min(RTT_MARGIN), pacing)
    }

    /// What the window of a test lacks to hold one more packet than that of Cruising, bytes.
    fn probe_packet(&self) -> u64 {
        let extra_rate = part_of(self.alpha.saturating_sub(ONE), self.nominal_rate);
        u64::from(self.datagram).saturating_sub(bytes_in(self.rtt.nominal_max, extra_rate))
    }

    /// The pacing rate, `None` while nothing was assessed.
    pub(crate) fn pacing(&self) -> Option<Rate> {
        (self.outputs.pacing > 0).then(|| Rate::from_bytes_per_sec(self.outputs.pacing))
    }
}

/// `floor((low + high) / 2)`, also where the sum exceeds `u64`.
const fn average(low: u64, high: u64) -> u64 {
    low.saturating_add(high.saturating_sub(low) / 2)
}

/// Bytes of a datagram to count with.
pub(crate) fn datagram_of(max_datagram_size: u64) -> u16 {
    u16::try_from(max_datagram_size.clamp(1, MAX_DATAGRAM_SIZE)).unwrap_or(1)
}

fn min_window(datagram: u16) -> u32 {
    u32::from(datagram).saturating_mul(MIN_DATAGRAMS)
}

/// About 3.9 ms of data, between two datagrams and 64 KiB; the upper limit wins.
fn quantum(pacing: u64, datagram: u16) -> u32 {
    u32::try_from(pacing >> 8).unwrap_or(MAX_QUANTUM).max(min_window(datagram)).min(MAX_QUANTUM)
}

#[cfg(test)]
mod tests {
    use super::{Outputs, average};
    use crate::tests::{Rig, phases};
    use crate::{C4, Config, Phase};
    use cc_core::{CongestionController, Duration, EcnCodepoint, EcnEvent, MtuChange, PathState, Rate};

    fn outputs(rig: &mut Rig) -> (u64, u64) {
        rig.c4.update_outputs(&rig.path);
        (rig.c4.cwnd(), rig.c4.pacing_rate().map_or(0, Rate::as_bytes_per_sec))
    }

    #[test]
    fn a_signal_shows_nothing_that_would_be_growth() {
        // 1 000 000 B/s and 40 ms are 40 000 B; a mark in Cruising, after an RTT of 400 ms became the nominal one, would
        // give nearly ten times that. It shows with the next ACK.
        let mut rig = Rig::cruising(1_000_000, 40_000);
        let before = outputs(&mut rig);
        rig.c4.rtt.nominal_max = 400_000;
        rig.c4.ecn.set_codepoint(EcnCodepoint::Ect1);
        let marks = EcnEvent { ce: Some(10), newly_acked: Some(10), ..EcnEvent::default() };
        for _ in 0..20 {
            rig.c4.on_ecn(&rig.path, &marks);
        }
        assert_eq!(rig.c4.phase, Phase::Recovery { excess_ce: true });
        assert_eq!(rig.c4.cwnd(), before.0);
        assert!(outputs(&mut rig).0 > 5 * before.0);
        // A resume that a mark ends before the first rate sample: no rate is known, but pacing does not end with the mark.
        let mut paced = Outputs { cwnd: 15_360, pacing: 0, quantum: 2_400 };
        paced.keep_below(&Outputs { cwnd: 600_000, pacing: 6_000_000, quantum: 65_536 });
        assert_eq!((paced.cwnd, paced.pacing), (15_360, 6_000_000));
    }

    #[test]
    fn nothing_assessed_is_the_initial_window_unpaced() {
        let mut rig = Rig::new();
        assert_eq!(outputs(&mut rig), (15_360, 0));
        assert_eq!(rig.c4.pacing_rate(), None);
        // In another phase too (a resume that ended without a rate).
        rig.c4.phase = Phase::Cruising;
        assert_eq!(outputs(&mut rig), (15_360, 0));
        // A rate alone is paced, but gives no window.
        rig.c4.nominal_rate = 1_000_000;
        rig.c4.alpha = 1_024;
        assert_eq!(outputs(&mut rig), (15_360, 1_000_000));
    }

    #[test]
    fn initial_window_is_a_parameter() {
        let c4 = C4::new(&Config { initial_window: 14_720, ..Config::default() });
        assert_eq!(c4.cwnd(), 14_720);
        let tiny = C4::new(&Config { initial_window: 0, ..Config::default() });
        assert_eq!(tiny.cwnd(), 2_400);
    }

    #[test]
    fn cruising_adds_15_ms_to_the_window_on_long_paths() {
        let mut rig = Rig::cruising(1_000_000, 100_000);
        // 100 ms * 10^6 B/s + 15 ms * 10^6 B/s
        assert_eq!(outputs(&mut rig), (115_000, 1_000_000));
    }

    #[test]
    fn the_margin_is_a_quarter_of_the_nominal_max_rtt_below_60_ms() {
        let mut rig = Rig::cruising(1_000_000, 59_999);
        // 59 999 + 59 999/4 = 59 999 + 14 999
        assert_eq!(outputs(&mut rig).0, 74_998);
        let mut rig = Rig::cruising(1_000_000, 60_000);
        assert_eq!(outputs(&mut rig).0, 75_000);
        let mut rig = Rig::cruising(1_000_000, 60_004);
        assert_eq!(outputs(&mut rig).0, 75_004); // a quarter were 15 001
    }

    #[test]
    fn pacing_and_window_follow_the_gain() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.phase = phases::RECOVERY;
        rig.c4.alpha = 960;
        // pacing 937 500; 40 ms: 37 500; 10 ms: 9 375
        assert_eq!(outputs(&mut rig), (46_875, 937_500));
    }

    #[test]
    fn a_test_has_room_for_at_least_one_packet_more() {
        let mut rig = Rig::cruising(100_000, 40_000);
        for phase in [Phase::Probing, Phase::Pushing] {
            rig.c4.phase = phase;
            rig.c4.alpha = 1_088;
            // pacing 106 250; window 4 250 + 10 ms 1 062; extra = 40 ms * 6 250 = 250, so 950 more
            assert_eq!(outputs(&mut rig), (6_262, 106_250));
        }
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.phase = Phase::Probing;
        rig.c4.alpha = 1_088;
        // extra = 40 ms * 62 500 = 2 500, more than a packet: 42 500 + 10 625
        assert_eq!(outputs(&mut rig), (53_125, 1_062_500));
    }

    #[test]
    fn initial_paces_at_least_at_131_072_once_a_packet_was_seen() {
        let mut rig = Rig::initial(50_000, 40_000);
        // gain 2: 100 000 B/s; the window stays at least the initial one
        assert_eq!(outputs(&mut rig), (15_360, 100_000));
        rig.set_initial(20_000, 1, 0);
        assert_eq!(outputs(&mut rig), (20_000, 131_072));
    }

    #[test]
    fn initial_window_of_the_phase_follows_the_nominal_one() {
        let mut rig = Rig::initial(1_000_000, 40_000);
        // 40 ms * 2 000 000
        assert_eq!(outputs(&mut rig), (80_000, 2_000_000));
        assert!(matches!(rig.c4.phase, Phase::Initial { window: 80_000, .. }));
    }

    #[test]
    fn initial_averages_with_the_peak_rate_and_covers_half_of_its_window() {
        let mut rig = Rig::initial(1_000_000, 40_000);
        rig.smoothed(60_000);
        rig.c4.delivery.peak = 4_000_001;
        assert_eq!(outputs(&mut rig), (80_000, 2_000_000)); // no packet seen yet
        rig.set_initial(15_360, 1, 0);
        // (2 000 000 + 4 000 001)/2; 60 ms * 4 000 001 = 240 000, half of it
        assert_eq!(outputs(&mut rig), (120_000, 3_000_000));
        assert!(matches!(rig.c4.phase, Phase::Initial { window: 120_000, .. }));
        rig.c4.delivery.peak = 2_000_000; // not above the pacing rate: else 200 ms of it, halved, were 200 000
        rig.smoothed(200_000);
        rig.set_initial(15_360, 1, 0);
        assert_eq!(outputs(&mut rig), (80_000, 2_000_000));
    }

    #[test]
    fn resuming_sends_the_saved_window_at_the_saved_rate() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.phase = Phase::Resuming { window: 600_000, rate: 12_000_000 };
        assert_eq!(outputs(&mut rig), (600_000, 12_000_000));
    }

    #[test]
    fn quantum_is_4_1024ths_of_the_pacing_rate_between_two_packets_and_64_kib() {
        // 4 * 10^6/1024 = 3 906.25
        for (rate, quantum) in
            [(1_000_000, 3_906), (100_000, 2_400), (16_777_216, 65_536), (20_000_000, 65_536)]
        {
            let mut rig = Rig::cruising(rate, 40_000);
            outputs(&mut rig);
            assert_eq!(rig.c4.send_quantum(), quantum, "{rate}");
        }
    }

    #[test]
    fn window_is_never_below_two_datagrams_and_a_known_rate_always_paced() {
        let mut rig = Rig::cruising(1, 1_000);
        rig.c4.phase = phases::RECOVERY;
        rig.c4.alpha = 896;
        // 1 200 B in the smoothed RTT of 40 ms
        assert_eq!(outputs(&mut rig), (2_400, 30_000));
        rig.path.rtt = None;
        assert_eq!(outputs(&mut rig), (2_400, 1)); // 1 * 896/1024 = 0.9
        rig.c4.nominal_rate = 2;
        assert_eq!(outputs(&mut rig), (2_400, 1)); // 1.75
    }

    #[test]
    fn at_least_one_datagram_is_sent_per_smoothed_rtt() {
        let pacing = |rate, smoothed_nanos| {
            let mut rig = Rig::cruising(rate, 40_000);
            rig.path.rtt = rig
                .path
                .rtt
                .map(|rtt| cc_core::PathRtt { smoothed: Duration::from_nanos(smoothed_nanos), ..rtt });
            outputs(&mut rig).1
        };
        // 1 200 B in 30 ms are 40 000 B/s
        assert_eq!(pacing(39_999, 30_000_000), 40_000);
        assert_eq!(pacing(40_001, 30_000_000), 40_001);
        // In 30 001 us 39 998.7, rounded up; 30 001.999 us are as many whole ones
        assert_eq!(pacing(20_000, 30_001_000), 39_999);
        assert_eq!(pacing(20_000, 30_001_999), 39_999);
        // 1 200 B in 1 us
        assert_eq!(pacing(20_000, 999), 1_200_000_000);
        // Without a rate there is none to raise.
        assert_eq!(pacing(0, 30_000_000), 0);
    }

    #[test]
    fn the_floor_holds_in_every_phase_and_leaves_window_and_quantum_alone() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.smoothed(1_000); // 1 200 B in 1 ms
        assert_eq!((outputs(&mut rig), rig.c4.send_quantum()), ((50_000, 1_200_000), 3_906));
        rig.c4.phase = Phase::Resuming { window: 600_000, rate: 1_000_000 };
        assert_eq!((outputs(&mut rig), rig.c4.send_quantum()), ((600_000, 1_200_000), 3_906));
        let mut rig = Rig::initial(100_000, 40_000);
        rig.smoothed(1_000);
        rig.set_initial(15_360, 1, 0);
        assert_eq!((outputs(&mut rig), rig.c4.send_quantum()), ((15_360, 1_200_000), 2_400));
    }

    #[test]
    fn a_larger_datagram_raises_only_the_minimum() {
        let mut rig = Rig::cruising(100_000, 40_000);
        rig.c4.phase = Phase::Probing;
        rig.c4.alpha = 1_088;
        outputs(&mut rig);
        assert_eq!(rig.c4.cwnd(), 6_262);
        rig.path.max_datagram_size = 1_450;
        rig.c4.on_mtu_update(&rig.path, MtuChange::Discovered);
        assert_eq!((rig.c4.cwnd(), rig.c4.send_quantum()), (6_262, 2_900));
        rig.path.max_datagram_size = 9_000;
        rig.c4.on_mtu_update(&rig.path, MtuChange::Discovered);
        assert_eq!(rig.c4.cwnd(), 18_000);
        rig.path.max_datagram_size = 1_200;
        rig.c4.on_mtu_update(&rig.path, MtuChange::BlackHole);
        assert_eq!(rig.c4.cwnd(), 6_262);
    }

    #[test]
    fn the_datagram_size_is_clamped() {
        let mut c4 = C4::new(&Config { max_datagram_size: 0, initial_window: 0, ..Config::default() });
        assert_eq!(c4.cwnd(), 2);
        let path = PathState { max_datagram_size: u64::MAX, ..PathState::default() };
        c4.on_mtu_update(&path, MtuChange::Handshake);
        assert_eq!((c4.cwnd(), c4.send_quantum()), (131_054, 65_536));
        let path = PathState { max_datagram_size: 0, ..PathState::default() };
        c4.on_mtu_update(&path, MtuChange::BlackHole);
        assert_eq!(c4.send_quantum(), 2);
    }

    #[test]
    fn average_floors_and_does_not_overflow() {
        assert_eq!(average(3, 4), 3);
        assert_eq!(average(3, 5), 4);
        assert_eq!(average(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn ten_gigabit_over_two_seconds_is_exact() {
        // 1.25 * 10^9 B/s * (2 s + 15 ms)
        let mut rig = Rig::cruising(1_250_000_000, 2_000_000);
        assert_eq!(outputs(&mut rig), (2_518_750_000, 1_250_000_000));
    }

    #[test]
    fn rates_and_times_near_the_end_of_the_range_saturate() {
        let mut rig = Rig::cruising(u64::MAX, u32::MAX);
        assert_eq!(outputs(&mut rig), (u64::MAX, u64::MAX));
        assert!(rig.c4.nominal_max_rtt() > Duration::from_secs(1));
    }
}
