//! What each event does, and in which order the events of a frame must act.

use super::{Rig, phases};
use crate::loss_rate::LossRate;
use crate::{C4, Config, Phase};
use approx::assert_relative_eq;
use cc_core::{
    AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, Instant, LossEvent,
    LostPacket, PacketSnapshot, PacketSpace, PathChange, PathRtt, PathState, Rate, RateSample, ResumeHint,
    RttEvent, SamplingRule, Setup, SpuriousLoss,
};

fn acked(number: u64, bytes: u64) -> AckedPacket {
    AckedPacket { number: Some(number), bytes, ..AckedPacket::default() }
}

fn unnumbered(sent_us: u64, bytes: u64) -> LostPacket {
    LostPacket { sent_at: Instant::from_micros(sent_us), bytes, ..LostPacket::default() }
}

// --- ECN ---

#[test]
fn ecn_without_ce_only_sums_the_marks() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.ecn(0, 3);
    assert_eq!(rig.c4.ecn_alpha(), 0);
    rig.ecn(1, 0); // together 1 of 4
    assert_eq!(rig.c4.ecn_alpha(), 16);
}

#[test]
fn ecn_counts_of_the_handshake_are_ignored() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    for space in [PacketSpace::Initial, PacketSpace::Handshake] {
        rig.c4.on_ecn(&rig.path, &EcnEvent { space, ce: Some(9), ..EcnEvent::default() });
    }
    assert_eq!((rig.c4.ecn_alpha(), rig.c4.phase), (0, Phase::Cruising));
}

#[test]
fn ecn_threshold_is_exceeded_strictly() {
    let mut rig = Rig::cruising(20_000_000, 40_000); // s = 1024: threshold 96
    // 499 of 999: 511 (of 511.5); 511/16 = 31.9; (15 * 31 + 511)/16 = 61; (15 * 61 + 511)/16 = 89.1
    for _ in 0..3 {
        rig.ecn(499, 500);
    }
    assert_eq!((rig.c4.ecn_alpha(), rig.c4.phase), (89, Phase::Cruising));
    // 1 of 5: 204; (15 * 89 + 204)/16 = 96.2
    rig.ecn(1, 4);
    assert_eq!((rig.c4.ecn_alpha(), rig.c4.phase), (96, Phase::Cruising));
    // 1 of 9: 113; (15 * 96 + 113)/16 = 97.1
    rig.ecn(1, 8);
    assert_eq!((rig.c4.ecn_alpha(), rig.c4.phase), (97, Phase::Recovery { excess_ce: true }));
}

#[test]
fn ecn_state_not_ect_ignores_counts() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.on_ecn_state(&rig.path, EcnCodepoint::NotEct);
    rig.ecn(5, 0);
    assert_eq!(rig.c4.phase, Phase::Cruising);
    rig.c4.on_ecn_state(&rig.path, EcnCodepoint::Ect1);
    rig.ecn(5, 0);
    assert_eq!(rig.c4.phase, Phase::Recovery { excess_ce: true });
}

#[test]
fn a_new_path_keeps_the_codepoint_in_use_and_validates_again() {
    // One of 4 newly acked packets marked: on ECT(0) a fraction of 1, on ECT(1) 256/16 = 16.
    let alpha = |configured, states: &[EcnCodepoint]| {
        let mut rig = Rig::new();
        rig.c4 = C4::new(&Config { ecn: configured, ..Config::default() });
        for &state in states {
            rig.c4.on_ecn_state(&rig.path, state);
        }
        rig.c4.on_path_change(&rig.path, PathChange::New);
        let event = EcnEvent {
            ce: Some(1),
            newly_acked: Some(4),
            largest_acked_sent_at: rig.path.now,
            ..EcnEvent::default()
        };
        rig.c4.on_ecn(&rig.path, &event);
        rig.c4.ecn_alpha()
    };
    use EcnCodepoint::{Ect0, Ect1, NotEct};
    assert_eq!(alpha(Ect1, &[]), 16);
    assert_eq!(alpha(Ect1, &[Ect0]), 1_024);
    assert_eq!(alpha(Ect0, &[Ect1]), 16);
    assert_eq!(alpha(Ect1, &[NotEct]), 16);
    assert_eq!(alpha(Ect1, &[Ect0, NotEct]), 1_024);
    assert_eq!(alpha(NotEct, &[]), 0);
    assert_eq!(alpha(NotEct, &[NotEct, Ect1]), 16);
}

// --- RTT ---

#[test]
fn rtt_widens_the_era_and_lowers_the_running_minimum() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.rtt(30_000);
    rig.rtt(35_000);
    assert_eq!((rig.c4.era.min_rtt, rig.c4.era.max_rtt, rig.c4.rtt.running_min), (30_000, 35_000, 30_000));
}

#[test]
fn rtt_of_the_handshake_is_ignored_but_for_the_latest() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    let before = rig.c4.rtt;
    let event =
        RttEvent { space: PacketSpace::Handshake, latest: Duration::from_millis(5), ..RttEvent::default() };
    rig.c4.on_rtt(&rig.path, &event);
    assert_eq!(rig.c4.rtt, crate::rtt::RttModel { latest: 5_000, ..before });
    assert_eq!(rig.c4.era.min_rtt, u32::MAX);
}

#[test]
fn rtt_is_taken_also_where_rfc_9002_does_not_sample() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    let event = RttEvent { latest: Duration::from_millis(30), is_sample: false, ..RttEvent::default() };
    rig.c4.on_rtt(&rig.path, &event);
    assert_eq!(rig.c4.rtt.running_min, 30_000);
}

#[test]
fn delay_counts_only_while_the_acked_packets_had_a_gain_above_one() {
    let phase = |alpha_previous| {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.alpha_previous = alpha_previous;
        rig.rtt(90_000);
        rig.c4.phase
    };
    assert_eq!(phase(1_024), Phase::Cruising);
    assert_eq!(phase(1_025), phases::RECOVERY);
}

#[test]
fn delay_must_exceed_nominal_max_and_threshold() {
    let mut rig = Rig::cruising(1_000_000, 40_000); // threshold 2 929
    rig.c4.alpha_previous = 1_088;
    rig.rtt(42_929);
    assert_eq!(rig.c4.phase, Phase::Cruising);
    rig.rtt(42_930);
    // 1 * 1024/2 929 = 0: a signal without a reduction
    assert_eq!((rig.c4.phase, rig.c4.nominal_rate), (phases::RECOVERY, 1_000_000));
}

// --- Losses ---

#[test]
fn loss_threshold_is_exceeded_strictly_and_by_sensitivity() {
    // 0.0625 after the first loss: above 4.98 % at 1 MB/s, below 52 % at 40 kB/s
    let phase = |rate| {
        let mut rig = Rig::cruising(rate, 40_000);
        rig.lose(150);
        rig.c4.phase
    };
    assert_eq!(phase(1_000_000), phases::RECOVERY);
    assert_eq!(phase(40_000), Phase::Cruising);
}

#[test]
fn a_loss_rate_equal_to_the_threshold_is_no_congestion() {
    // s = 1024: 0.02 * 2^40 = 21 990 232 555.5. The number is not greater than the last: the average stays.
    let phase = |bits| {
        let mut rig = Rig::cruising(20_000_000, 40_000);
        rig.c4.loss_rate = LossRate::of_bits(bits, 150);
        rig.lose(150);
        rig.c4.phase
    };
    assert_eq!(phase(21_990_232_555), Phase::Cruising);
    assert_eq!(phase(21_990_232_556), phases::RECOVERY);
}

#[test]
fn losses_before_the_handshake_is_finished_or_of_other_spaces_are_ignored() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.path.handshake_ready = false;
    rig.lose(150);
    rig.path.handshake_ready = true;
    let packet = LostPacket { space: PacketSpace::Handshake, number: Some(151), ..LostPacket::default() };
    rig.lose_all(&[packet]);
    assert_eq!(rig.c4.phase, Phase::Cruising);
    assert_relative_eq!(rig.c4.loss_rate.average().to_f64(), 0.0);
}

#[test]
fn recovery_ignores_numbers_below_its_era() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.enter_recovery(&rig.path, false); // sequence 200
    rig.lose(199);
    assert_relative_eq!(rig.c4.loss_rate.average().to_f64(), 0.0);
    rig.lose(200);
    assert_relative_eq!(rig.c4.loss_rate.average().to_f64(), 0.0625);
    assert_eq!(rig.c4.alpha, 896);
}

#[test]
fn only_the_first_loss_of_a_flight_reduces() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    let lost: std::vec::Vec<_> = (150..160)
        .map(|number| LostPacket { number: Some(number), bytes: 1_200, ..LostPacket::default() })
        .collect();
    rig.lose_all(&lost);
    assert_eq!((rig.c4.nominal_rate, rig.c4.alpha), (757_813, 960));
}

#[test]
fn without_numbers_recovery_ignores_packets_sent_no_later_than_it_began() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.enter_recovery(&rig.path, false); // at 1 s
    rig.lose_all(&[unnumbered(1_000_000, 1_200)]);
    assert_relative_eq!(rig.c4.loss_rate.average().to_f64(), 0.0);
    rig.lose_all(&[unnumbered(1_000_001, 1_200)]);
    assert_relative_eq!(rig.c4.loss_rate.average().to_f64(), 0.0625);
}

#[test]
fn an_entry_without_a_number_stands_for_its_full_datagrams() {
    let average = |bytes| {
        let mut rig = Rig::cruising(40_000, 40_000); // threshold 0.52: no signal
        rig.lose_all(&[unnumbered(10, bytes)]);
        rig.c4.loss_rate.average().to_f64()
    };
    assert_relative_eq!(average(0), 0.0625);
    assert_relative_eq!(average(2_399), 0.0625);
    // two in a row: 0.0625 * 15/16 + (1 - that)/16
    assert_relative_eq!(average(2_400), 0.117_431_640_625, epsilon = 1e-10);
}

#[test]
fn a_sum_counts_as_at_most_32_packets() {
    let average = |packets: u64| {
        let mut rig = Rig::cruising(40_000, 40_000);
        rig.lose_all(&[unnumbered(10, packets * 1_200)]);
        rig.c4.loss_rate.average()
    };
    assert!(average(31) < average(32));
    assert_eq!(average(33), average(32));
}

#[test]
fn without_numbers_acked_packets_take_the_numbers_between_losses() {
    // Losses of numbers 1 and 1 + distance.
    let average = |between: AckedPacket| {
        let mut rig = Rig::cruising(40_000, 40_000);
        rig.lose_all(&[unnumbered(10, 1_200)]);
        rig.ack_packets(&[between], true, None);
        rig.lose_all(&[unnumbered(20, 1_200)]);
        rig.c4.loss_rate.average().to_f64()
    };
    let bytes = |bytes| AckedPacket { bytes, ..AckedPacket::default() };
    // Distance 3: x = 0.0625 * (15/16)^3 = 0.0514984; + (1 - x)/16. Two full datagrams, or two by the stack's count.
    assert_relative_eq!(average(bytes(2_400)), 0.110_779_762_27, epsilon = 1e-10);
    assert_relative_eq!(
        average(AckedPacket { packets: Some(2), ..bytes(1_200) }),
        0.110_779_762_27,
        epsilon = 1e-10
    );
    // Distance 2: x = 0.0625 * (15/16)^2 = 0.0549316; + (1 - x)/16. Less than a datagram is one packet.
    assert_relative_eq!(average(bytes(0)), 0.113_998_413_085_937_5, epsilon = 1e-10);
    // Distance 1: x = 0.0625 * 15/16 = 0.0585938; + (1 - x)/16. A late ack was counted when it was lost.
    assert_relative_eq!(
        average(AckedPacket { was_lost: true, ..bytes(1_200) }),
        0.117_431_640_625,
        epsilon = 1e-10
    );
}

#[test]
fn persistent_congestion_spurious_loss_idle_and_discards_change_nothing() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    let before = rig.c4.clone();
    let loss = LossEvent { packets: &[], last: true, persistent_congestion: true, cause: None };
    rig.c4.on_loss(&rig.path, &loss);
    rig.c4.on_spurious_loss(&rig.path, &SpuriousLoss::All);
    rig.c4.on_idle_restart(&rig.path, cc_core::Duration::from_secs(1));
    rig.c4.on_app_limited(&rig.path);
    rig.c4.on_discarded(&rig.path, 5_000, DiscardReason::MtuProbeLost);
    rig.c4.on_path_change(&rig.path, PathChange::Rebinding);
    assert_eq!(rig.c4, before);
}

// --- ACK ---

#[test]
fn a_higher_rate_sample_is_adopted_and_moves_the_threshold() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.ack_rate(200_000, 100_000);
    // s = 963 + 10^6 * 61/9 000 000 = 969; 55 * 196/1024 = 10; 40 000 * 74/1024 = 2 890.6
    assert_eq!((rig.c4.nominal_rate, rig.c4.rtt.delay_threshold), (2_000_000, 2_890));
    assert_eq!(rig.c4.recent_maximum_rate, 2_000_000);
    assert!(rig.c4.growth.push_was_not_limited);
}

#[test]
fn a_lower_rate_sample_is_only_remembered() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.ack_rate(30_000, 40_000);
    assert_eq!((rig.c4.nominal_rate, rig.c4.recent_maximum_rate), (1_000_000, 750_000));
    assert!(!rig.c4.growth.push_was_not_limited);
}

#[test]
fn a_rate_sample_equal_to_the_nominal_rate_says_nothing() {
    // 40 000 B in 40 ms are 1 MB/s, and just what a minimum RTT holds.
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.ack_rate(40_000, 40_000);
    assert_eq!((rig.c4.nominal_rate, rig.c4.growth.push_was_not_limited), (1_000_000, false));
}

#[test]
fn recovery_after_congestion_adopts_no_rate() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.enter_recovery(&rig.path, false);
    rig.c4.growth.congestion_notified = true;
    rig.ack_rate(30_000, 20_000);
    assert_eq!((rig.c4.nominal_rate, rig.c4.recent_maximum_rate), (1_000_000, 1_500_000));
    rig.c4.growth.congestion_notified = false;
    rig.ack_rate(30_000, 20_000);
    assert_eq!(rig.c4.nominal_rate, 1_500_000);
}

#[test]
fn more_delivered_than_a_minimum_rtt_holds_shows_that_the_network_was_the_limit() {
    // running_min 40 ms * 10^6 B/s = 40 000 B
    for (delivered, not_limited) in [(40_000, false), (40_001, true)] {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.ack_rate(delivered, 100_000);
        assert_eq!(rig.c4.growth.push_was_not_limited, not_limited, "{delivered}");
        assert_eq!(rig.c4.nominal_rate, 1_000_000);
    }
}

#[test]
fn the_last_estimate_is_used_where_an_ack_gives_no_new_one() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.delivery.estimate = 1_100_000;
    let not_accepted = RateSample { delivered: 1, ..RateSample::default() };
    rig.ack_with(1_200, Some(not_accepted));
    assert_eq!(rig.c4.nominal_rate, 1_100_000);
}

#[test]
fn without_delivered_bytes_no_rate_is_taken_but_the_step_runs() {
    let mut rig = Rig::initial(1_000_000, 40_000);
    rig.c4.delivery.estimate = 1_100_000;
    rig.ack_with(1_200, Some(RateSample::default()));
    rig.ack_with(1_200, None);
    assert_eq!(rig.c4.nominal_rate, 1_000_000);
    assert!(matches!(rig.c4.phase, Phase::Initial { packets_seen: 2, .. }));
}

#[test]
fn the_step_needs_an_rtt_sample_of_its_own_or_of_the_path() {
    let after_ack = |path_has_rtt, own_sample| {
        let mut rig = Rig::initial(0, 0);
        rig.path.rtt = rig.path.rtt.filter(|_| path_has_rtt);
        rig.c4.rtt.latest = own_sample;
        rig.ack_rate(40_000, 40_000);
        (matches!(rig.c4.phase, Phase::Initial { packets_seen: 1, .. }), rig.c4.nominal_rate)
    };
    assert_eq!(after_ack(false, 0), (false, 0));
    assert_eq!(after_ack(true, 0), (true, 1_000_000));
    assert_eq!(after_ack(false, 1), (true, 1_000_000));
}

#[test]
fn parts_of_a_frame_are_summed_and_the_last_runs_the_step_once() {
    let mut rig = Rig::initial(0, 0);
    rig.ack_packets(&[acked(10, 1_200), acked(11, 1_200)], false, None);
    assert!(matches!(rig.c4.phase, Phase::Initial { window: 15_360, packets_seen: 0, .. }));
    rig.ack_packets(&[acked(12, 600)], true, None);
    assert!(matches!(rig.c4.phase, Phase::Initial { window: 18_360, packets_seen: 1, .. }));
    // The sum starts again.
    rig.ack_packets(&[acked(13, 100)], true, None);
    assert!(matches!(rig.c4.phase, Phase::Initial { window: 18_460, packets_seen: 2, .. }));
}

#[test]
fn packets_acked_after_being_lost_add_to_the_acked_bytes() {
    let mut rig = Rig::initial(0, 0);
    rig.ack_packets(&[AckedPacket { was_lost: true, ..acked(10, 1_200) }], true, None);
    assert!(matches!(rig.c4.phase, Phase::Initial { window: 16_560, .. }));
}

#[test]
fn a_frame_that_acks_nothing_new_changes_nothing() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.path.oldest_outstanding = Some(rig.c4.era.sequence() + 1);
    let before = rig.c4.clone();
    let sample = RateSample { delivered: 99, moved_reference: true, ..RateSample::default() };
    rig.ack_packets(&[], true, Some(sample));
    assert_eq!(rig.c4, before);
}

#[test]
fn handshake_frames_give_rates_but_no_step() {
    let mut rig = Rig::initial(0, 0);
    let before = rig.c4.phase;
    let sample = RateSample {
        snapshot: PacketSnapshot { delivered_at: Some(Instant::ZERO), ..PacketSnapshot::default() },
        delivered: 30_000,
        ack_interval: Duration::from_millis(40),
        moved_reference: true,
        ..RateSample::default()
    };
    let packet = AckedPacket { space: PacketSpace::Handshake, ..acked(3, 1_200) };
    rig.ack_packets(&[packet], true, Some(sample));
    assert_eq!((rig.c4.phase, rig.c4.nominal_rate), (before, 0));
    assert_eq!(rig.c4.delivery_rate(), Rate::from_bytes_per_sec(750_000));
}

// --- Order of one frame ---

#[test]
fn a_loss_that_leads_to_recovery_keeps_the_rate_of_the_same_ack_out() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.lose(150);
    rig.ack_rate(200_000, 100_000);
    assert_eq!((rig.c4.phase, rig.c4.nominal_rate), (phases::RECOVERY, 757_813));
}

#[test]
fn a_delay_in_probing_precedes_the_losses_of_the_same_ack() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.enter_probing(&rig.path);
    rig.rtt(90_000);
    rig.lose(150); // below the era of Recovery
    assert_eq!((rig.c4.phase, rig.c4.alpha, rig.c4.nominal_rate), (phases::RECOVERY, 960, 1_000_000));
}

// --- End of an era ---

#[test]
fn end_of_an_era_takes_the_latest_sample_into_its_extremes() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.rtt.latest = 48_000;
    rig.end_era(); // no RTT event in the era
    // (7 * 40 000 + 48 000)/8; the maximum rises at once
    assert_eq!((rig.c4.rtt.running_min, rig.c4.rtt.nominal_max), (41_000, 48_000));
}

#[test]
fn end_of_an_era_takes_the_paths_latest_sample_if_there_was_no_rtt_event() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.rtt.latest = 0;
    rig.path.rtt = rig.path.rtt.map(|rtt| PathRtt { latest: Duration::from_millis(48), ..rtt });
    rig.end_era();
    assert_eq!(rig.c4.rtt.nominal_max, 48_000);
}

#[test]
fn with_nothing_outstanding_the_highest_number_of_all_frames_ends_the_era() {
    let mut rig = Rig::cruising(1_000_000, 40_000); // the era began with number 200
    rig.path.oldest_outstanding = None;
    rig.ack_packets(&[acked(199, 1_200)], true, None);
    assert_eq!(rig.c4.cruise_eras_left, 2);
    rig.ack_packets(&[acked(200, 1_200), acked(150, 1_200)], true, None);
    assert_eq!(rig.c4.cruise_eras_left, 1);
}

#[test]
fn without_numbers_the_newest_packet_of_a_frame_ends_the_era() {
    let mut rig = Rig::cruising(1_000_000, 40_000); // the era began at 1 s
    rig.path.oldest_outstanding = None;
    let sent = |micros| AckedPacket { sent_at: Instant::from_micros(micros), ..AckedPacket::default() };
    rig.ack_packets(&[sent(1_000_000)], true, None);
    assert_eq!(rig.c4.cruise_eras_left, 2);
    rig.ack_packets(&[sent(1_000_001), sent(500_000)], true, None);
    assert_eq!(rig.c4.cruise_eras_left, 1);
}

#[test]
fn only_an_era_at_a_gain_of_at_most_one_moves_the_model() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.alpha_previous = 1_025;
    rig.c4.rtt.latest = 48_000;
    rig.end_era();
    assert_eq!((rig.c4.rtt.running_min, rig.c4.rtt.nominal_max), (40_000, 40_000));
}

#[test]
fn end_of_an_era_in_initial_leaves_the_model_alone() {
    let mut rig = Rig::initial(1_000_000, 40_000);
    rig.c4.alpha_previous = 960;
    rig.c4.rtt.latest = 48_000;
    rig.end_era();
    assert_eq!((rig.c4.rtt.running_min, rig.c4.rtt.nominal_max), (40_000, 40_000));
}

// --- Jitter restart ---

/// Cruising at 0.9 MB/s on a path of 20 ms with jitter up to `max`, at the end of an era.
fn jittery(rate: u64, running_min: u32, max: u32) -> Rig {
    let mut rig = Rig::cruising(rate, 40_000);
    rig.c4.rtt.running_min = running_min;
    rig.c4.era.widen(running_min);
    rig.c4.rtt.latest = max;
    rig.end_era();
    rig
}

#[test]
fn high_jitter_leads_back_to_initial_instead_of_the_phases_own_step() {
    let rig = jittery(900_000, 20_000, 60_000);
    assert!(matches!(rig.c4.phase, Phase::Initial { .. }));
    assert_eq!(rig.c4.cruise_eras_left, 2, "Cruising's own step did not run");
    assert_eq!((rig.c4.alpha, rig.c4.rtt.nominal_max), (2_048, 60_000));
}

#[test]
fn jitter_restart_needs_a_long_slow_path_with_much_jitter() {
    let restarts = |rate, min, max| matches!(jittery(rate, min, max).c4.phase, Phase::Initial { .. });
    assert!(restarts(999_999, 20_000, 50_001)); // 100 000 < 100 002
    assert!(!restarts(1_000_000, 20_000, 50_001));
    assert!(!restarts(999_999, 15_000, 50_000));
    assert!(restarts(999_999, 15_000, 50_001));
    assert!(!restarts(999_999, 20_000, 50_000)); // 100 000 < 100 000
    assert!(!restarts(999_999, 24_000, 60_000)); // 120 000 < 120 000
    assert!(restarts(999_999, 23_999, 60_000));
}

#[test]
fn jitter_restart_happens_once() {
    let mut rig = jittery(900_000, 20_000, 60_000);
    rig.c4.alpha = 1_024;
    rig.c4.enter_cruising(&rig.path);
    rig.c4.rtt.latest = 90_000;
    rig.end_era();
    assert_eq!(rig.c4.phase, Phase::Cruising);
}

// --- Paths, outputs for the stack ---

#[test]
fn a_new_path_starts_afresh_and_takes_nothing_of_packets_of_the_old_one() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.lose(150);
    rig.c4.on_path_change(&rig.path, PathChange::New); // at 1 s
    let fresh = rig.c4.clone();
    assert_eq!((rig.c4.cwnd(), rig.c4.pacing_rate(), rig.c4.nominal_rate), (15_360, None, 0));
    assert!(matches!(rig.c4.phase, Phase::Initial { .. }));
    assert_eq!((rig.c4.era.sequence(), rig.c4.congestion_events), (200, 1));
    rig.path.now = Instant::from_micros(1_030_000);
    rig.rtt(31_000);
    rig.ecn(5, 0);
    rig.lose_all(&[unnumbered(999_999, 1_200)]);
    rig.ack_rate(50_000, 10_000);
    assert_eq!(rig.c4, fresh);
    rig.rtt(30_000);
    assert_eq!(rig.c4.rtt.nominal_max, 30_000);
}

#[test]
fn a_sample_that_reaches_back_to_the_old_path_gives_no_rate() {
    // The path changed at 1 s.
    let estimate = |sent_us, delivered_us| {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.on_path_change(&rig.path, PathChange::New);
        rig.path.now = Instant::from_micros(1_050_000);
        let snapshot = PacketSnapshot {
            delivered_at: Some(Instant::from_micros(delivered_us)),
            ..PacketSnapshot::default()
        };
        let sample = RateSample {
            sent_at: Instant::from_micros(sent_us),
            snapshot,
            delivered: 30_000,
            ack_interval: Duration::from_millis(40),
            moved_reference: true,
            ..RateSample::default()
        };
        let packet = AckedPacket { sent_at: rig.path.now, ..acked(201, 1_200) };
        rig.ack_packets(&[packet], true, Some(sample));
        rig.c4.delivery.estimate
    };
    assert_eq!(estimate(1_000_000, 1_000_000), 750_000);
    assert_eq!(estimate(999_999, 1_000_000), 0);
    assert_eq!(estimate(1_000_000, 999_999), 0);
}

#[test]
fn asks_for_ect1_and_the_last_accepted_sample() {
    let c4 = C4::new(&Config::default());
    assert_eq!(c4.wanted_ecn(), EcnCodepoint::Ect1);
    assert_eq!(
        c4.sampling_rule(),
        SamplingRule::LastAcceptedSample { min_ack_interval: Duration::from_micros(1_000) }
    );
    assert!(!c4.may_send_beyond_cwnd() && !c4.marks_app_limited());
}

#[test]
fn snapshot_shows_the_model() {
    let new = C4::new(&Config::default()).snapshot();
    assert_eq!((new.phase, new.startup, new.bandwidth, new.model_rtt), ("initial", true, None, None));
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.lose(150);
    let log = rig.c4.snapshot();
    assert_eq!((log.phase, log.startup, log.congestion_events), ("recovery", false, 1));
    assert_eq!(log.bandwidth, Some(Rate::from_bytes_per_sec(757_813)));
    assert_eq!(log.model_rtt, Some(Duration::from_micros(30_313)));
    assert_eq!((log.cwnd, log.pacing_rate), (rig.c4.cwnd(), rig.c4.pacing_rate()));
}

#[test]
fn outputs_may_be_asked_before_any_event_and_after_an_ack_without_time() {
    let mut c4 = C4::new(&Config::default());
    assert_eq!((c4.cwnd(), c4.pacing_rate(), c4.send_quantum()), (15_360, None, 2_400));
    c4.on_rtt(&PathState::default(), &RttEvent { is_first: true, ..RttEvent::default() });
    assert_eq!((c4.cwnd(), c4.pacing_rate()), (15_360, None));
}

#[test]
fn a_setup_gives_time_sizes_codepoint_and_what_was_saved() {
    let resume = Some(ResumeHint { cwnd: 400_000, rtt: Duration::from_millis(40) });
    let setup = Setup {
        now: Instant::from_millis(7),
        max_datagram_size: 1_400,
        initial_window: Some(20_000),
        resume,
        ecn: EcnCodepoint::Ect0,
        ..Setup::default()
    };
    let config = Config::from(setup);
    assert_eq!((config.now, config.max_datagram_size, config.initial_window), (setup.now, 1_400, 20_000));
    assert_eq!((config.resume, config.ecn), (resume, EcnCodepoint::Ect0));
    // The reference's window, whatever the datagram size.
    let config = Config::from(Setup { max_datagram_size: 1_400, ..Setup::default() });
    assert_eq!(config.initial_window, 15_360);
}

#[test]
fn what_was_saved_belongs_to_the_first_path() {
    let resume = ResumeHint { cwnd: 400_000, rtt: Duration::from_millis(40) };
    for (new_path, cwnd, phase) in [(false, 400_000, "resuming"), (true, 15_360, "initial")] {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4 = C4::new(&Config { resume: Some(resume), ..Config::default() });
        if new_path {
            rig.c4.on_path_change(&rig.path, PathChange::New); // at 1 s
        }
        rig.path.now = Instant::from_micros(1_040_000);
        rig.rtt(40_000);
        assert_eq!(rig.c4.nominal_max_rtt(), Duration::from_millis(40), "a sample of this path");
        assert_eq!((rig.c4.cwnd(), rig.c4.snapshot().phase), (cwnd, phase));
    }
}

#[test]
fn a_path_after_the_first_congestion_is_no_startup_any_more() {
    // Logs count the start of the connection, not of each path.
    let mut rig = Rig::cruising(1_000_000, 40_000);
    for expected in [true, false] {
        rig.c4.on_path_change(&rig.path, PathChange::New);
        assert_eq!(rig.c4.snapshot().startup, expected);
        rig.c4 = Rig::cruising(1_000_000, 40_000).c4;
        rig.lose(150);
    }
}

#[test]
fn what_is_shown_for_logs_is_what_was_learnt() {
    let mut rig = Rig::cruising(1_000_000, 40_000);
    rig.c4.rtt.running_min = 39_000;
    rig.c4.probe_level = 3;
    assert_eq!(rig.c4.running_min_rtt(), Some(Duration::from_millis(39)));
    assert_eq!(rig.c4.probe_level(), 3);
}
