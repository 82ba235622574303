//! Whole events through the trait: what a frame is cut into, recovery, undo, marks, and changes of the path.

use super::{later, ms, path, probing, rate, starting};
use crate::shortterm::Bounds;
use crate::tests::cruising;
use crate::{Bbr, Config, State};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, EcnEvent, Instant, LossEvent, LostPacket, MtuChange,
    PacketSnapshot, PathChange, PathState, RateSample, ResumeHint, SendLimit, SentPacket, SpuriousLoss,
};
use std::vec::Vec;

pub(super) fn acked(number: u64, sent_at: Instant) -> AckedPacket {
    AckedPacket { number: Some(number), sent_at, bytes: 1_200, ..AckedPacket::default() }
}

fn lost(number: u64) -> LostPacket {
    let snapshot = PacketSnapshot { bytes_in_flight: 24_000, ..PacketSnapshot::default() };
    LostPacket {
        number: Some(number),
        bytes: 1_200,
        snapshot: Some(snapshot),
        starts_run: Some(true),
        sent_at: path().now.before(ms(40)),
        ..LostPacket::default()
    }
}

pub(super) fn ack(
    bbr: &mut Bbr,
    path: &PathState,
    packets: &[AckedPacket],
    last: bool,
    rate_sample: Option<RateSample>,
) {
    let event = AckEvent {
        packets,
        last,
        rate_sample,
        limited_by: SendLimit::Unknown,
        max_bytes_in_flight: 0,
        app_limited_at: None,
        newest_data_sent_at: None,
    };
    bbr.on_ack(path, &event);
}

pub(super) fn lose(bbr: &mut Bbr, path: &PathState, numbers: &[u64], persistent_congestion: bool) {
    let packets: Vec<LostPacket> = numbers.iter().map(|number| lost(*number)).collect();
    bbr.on_loss(path, &LossEvent { packets: &packets, last: true, persistent_congestion, cause: None });
}

fn spurious(bbr: &mut Bbr, number: u64) {
    let LostPacket { sent_at, bytes, .. } = lost(number);
    bbr.on_spurious_loss(&path(), &SpuriousLoss::Packet { number: Some(number), sent_at, bytes });
}

pub(super) fn mark(bbr: &mut Bbr, path: &PathState, largest: u64) {
    let ecn = EcnEvent {
        ce: Some(1),
        newly_acked: Some(1),
        largest_acked: Some(largest),
        largest_acked_sent_at: path.now.before(ms(40)),
        ..EcnEvent::default()
    };
    bbr.on_ecn(path, &ecn);
}

/// A raw sample without a reference: it gives no rate and ends no round.
pub(super) fn no_rate() -> Option<RateSample> {
    Some(RateSample::default())
}

/// 20 packets of 1200 B in flight before an event.
pub(super) fn busy() -> PathState {
    PathState { prior_bytes_in_flight: 24_000, bytes_in_flight: 20_000, ..path() }
}

#[test]
fn parts_of_a_frame_are_one_ack() {
    let mut whole = cruising(1_000_000, 40);
    let mut parts = whole.clone();
    let sent_at = path().now.before(ms(40));
    let packets: Vec<AckedPacket> = (90..94).map(|number| acked(number, sent_at)).collect();
    let snapshot = PacketSnapshot {
        delivered: 1_000_000,
        delivered_at: Some(sent_at),
        bytes_in_flight: 40_000,
        ..PacketSnapshot::default()
    };
    let raw = RateSample {
        sent_at,
        snapshot,
        delivered: 1_040_000,
        ack_interval: ms(40),
        newly_acked: 4_800,
        ..RateSample::default()
    };
    let path = PathState { delivered: 1_040_000, ..busy() };
    ack(&mut whole, &path, &packets, true, Some(raw));
    ack(&mut parts, &path, &packets[..1], false, Some(raw));
    ack(&mut parts, &path, &packets[1..], true, Some(raw));
    assert_eq!(whole, parts);
    assert_eq!(whole.round_count(), 2);
    // 40 000 B in 40 ms
    assert_eq!(whole.signals.bw_latest, rate(1_000_000));
}

#[test]
fn a_sample_over_less_than_the_minimum_rtt_is_no_rate() {
    let bbr = cruising(1_000_000, 40);
    let sent_at = path().now.before(ms(39));
    let snapshot = PacketSnapshot { delivered_at: Some(sent_at), ..PacketSnapshot::default() };
    let raw =
        RateSample { sent_at, snapshot, delivered: 40_000, ack_interval: ms(39), ..RateSample::default() };
    let rs = bbr.rate_sample(&path(), 1_200, sent_at, false, Some(&raw));
    assert!(rs.delivery_rate.is_zero());
    assert_eq!((rs.delivered, rs.rtt), (40_000, Some(ms(39))));
    // The longer of both intervals counts: 40 000 B in 50 ms.
    let raw = RateSample { send_interval: ms(50), ..raw };
    assert_eq!(bbr.rate_sample(&path(), 1_200, sent_at, false, Some(&raw)).delivery_rate, rate(800_000));
}

#[test]
fn what_was_never_sent_is_not_believed() {
    let mut bbr = cruising(1_000_000, 40);
    let before = bbr.clone();
    // A number that was not given yet; more bytes than were in flight; a frame without packets.
    ack(&mut bbr, &busy(), &[acked(100, Instant::ZERO)], true, None);
    ack(&mut bbr, &path(), &[acked(1, Instant::ZERO)], true, None);
    ack(&mut bbr, &busy(), &[], true, None);
    lose(&mut bbr, &busy(), &[100, 5_000], false);
    assert_eq!(bbr, before);
    bbr.cwnd = 40_000;
    let absurd = AckedPacket { bytes: u64::MAX, ..acked(1, Instant::ZERO) };
    ack(&mut bbr, &busy(), &[absurd], true, None);
    assert_eq!(bbr.cwnd(), 64_000, "what was in flight");
    // Late: no more than was declared lost.
    let late = AckedPacket { was_lost: true, ..absurd };
    for (total, cwnd) in [(3_600, 67_600), (0, 67_600)] {
        ack(&mut bbr, &PathState { lost: total, ..busy() }, &[late], true, no_rate());
        assert_eq!(bbr.cwnd(), cwnd);
    }
}

#[test]
fn a_report_of_unknown_packets_collapses_no_window() {
    // After a recovery that is over: what it covers is still remembered.
    let mut bbr = cruising(1_000_000, 40);
    lose(&mut bbr, &busy(), &[10], false);
    bbr.end_recovery();
    let before = bbr.clone();
    lose(&mut bbr, &busy(), &[100, 9_999], true);
    assert_eq!(bbr, before);
    // One known packet in any part of the report is enough, and counts for that report only.
    let part = |numbers: &[u64], last: bool, bbr: &mut Bbr| {
        let packets: Vec<LostPacket> = numbers.iter().map(|number| lost(*number)).collect();
        let event = LossEvent { packets: &packets, last, persistent_congestion: true, cause: None };
        bbr.on_loss(&busy(), &event);
    };
    part(&[11], false, &mut bbr);
    assert_eq!(bbr.cwnd(), 80_000);
    part(&[9_999], true, &mut bbr);
    assert_eq!(bbr.cwnd(), 2_400);
    bbr.cwnd = 80_000;
    part(&[9_999], true, &mut bbr);
    assert_eq!(bbr.cwnd(), 80_000);
}

#[test]
fn a_clock_that_went_back_gives_no_rtt() {
    let mut bbr = Bbr::new(&Config::default());
    let now = path().now;
    ack(&mut bbr, &busy(), &[acked(1, now.after(ms(1)))], true, None);
    assert_eq!(bbr.min_rtt(), None);
    ack(&mut bbr, &busy(), &[acked(2, now)], true, None);
    assert_eq!(bbr.min_rtt().map(|rtt| rtt.as_nanos()), Some(1_000), "at least 1 us");
}

#[test]
fn the_pacing_rate_is_computed_anew_with_the_first_rtt_only() {
    let mut bbr = Bbr::new(&Config::default());
    let sent_at = path().now.before(ms(100));
    ack(&mut bbr, &busy(), &[acked(1, sent_at)], true, None);
    // 2.77 * 12 000 B / 40 ms, the smoothed RTT of the path
    assert_eq!(bbr.pacing_rate(), Some(rate(831_000)));
    let path = later(&busy(), ms(500));
    ack(&mut bbr, &path, &[acked(2, sent_at)], true, None);
    assert_eq!(bbr.pacing_rate(), Some(rate(831_000)));
}

#[test]
fn recovery_begins_once_per_round_trip_and_restores_the_window() {
    let mut bbr = cruising(1_000_000, 40);
    lose(&mut bbr, &busy(), &[10], false);
    assert!(bbr.in_recovery());
    assert_eq!((bbr.prior_cwnd, bbr.congestion_events), (80_000, 1));
    bbr.cwnd = 50_000;
    // Sent before it began: the same period.
    lose(&mut bbr, &busy(), &[11], false);
    assert_eq!((bbr.prior_cwnd, bbr.congestion_events), (80_000, 1));
    ack(&mut bbr, &busy(), &[acked(99, Instant::ZERO)], true, no_rate());
    assert!(bbr.in_recovery());
    // Sent after: the period is over, and the window back.
    let next = PathState { next_number: 120, ..later(&busy(), ms(40)) };
    ack(&mut bbr, &next, &[acked(100, path().now)], true, no_rate());
    assert!(!bbr.in_recovery());
    // And what was acked.
    assert_eq!(bbr.cwnd(), 81_200);
    // An older packet begins no other, a newer one does.
    lose(&mut bbr, &next, &[50], false);
    assert!(!bbr.in_recovery());
    lose(&mut bbr, &next, &[101], false);
    assert!(bbr.in_recovery());
    assert_eq!(bbr.congestion_events, 2);
}

#[test]
fn any_part_of_a_frame_may_end_recovery() {
    let mut bbr = cruising(1_000_000, 40);
    lose(&mut bbr, &busy(), &[10], false);
    let next = PathState { next_number: 120, ..later(&busy(), ms(40)) };
    ack(&mut bbr, &next, &[acked(100, path().now)], false, no_rate());
    assert!(bbr.in_recovery(), "the frame is not complete");
    ack(&mut bbr, &next, &[], true, no_rate());
    assert!(!bbr.in_recovery());
}

#[test]
fn a_window_saved_in_recovery_or_probe_rtt_is_the_largest() {
    let save = |bbr: &mut Bbr, cwnd| {
        bbr.cwnd = cwnd;
        bbr.save_cwnd();
        bbr.prior_cwnd
    };
    let mut bbr = cruising(1_000_000, 40);
    assert_eq!(save(&mut bbr, 80_000), 80_000);
    assert_eq!(save(&mut bbr, 60_000), 60_000, "outside of both the present one");
    lose(&mut bbr, &busy(), &[10], false);
    assert_eq!(save(&mut bbr, 50_000), 60_000);
    assert_eq!(save(&mut bbr, 70_000), 70_000);
    bbr.end_recovery();
    bbr.state = State::ProbeRtt { done_at: None, round_done: false };
    assert_eq!(save(&mut bbr, 20_000), 70_000);
}

#[test]
fn persistent_congestion_leaves_two_datagrams_until_a_later_packet_is_acked() {
    let mut bbr = cruising(1_000_000, 40);
    lose(&mut bbr, &busy(), &[10, 20], true);
    assert_eq!(bbr.cwnd(), 2_400);
    ack(&mut bbr, &busy(), &[acked(30, Instant::ZERO)], true, no_rate());
    assert_eq!(bbr.cwnd(), 2_400);
    let next = PathState { next_number: 120, ..later(&busy(), ms(40)) };
    ack(&mut bbr, &next, &[acked(100, path().now.after(ms(1)))], true, no_rate());
    // One datagram more, or the four that a pipe needs.
    assert_eq!(bbr.cwnd(), 4_800);
    ack(&mut bbr, &next, &[acked(101, path().now.after(ms(1)))], true, no_rate());
    assert_eq!(bbr.cwnd(), 6_000);
}

#[test]
fn all_losses_of_an_episode_must_turn_out_spurious() {
    let mut bbr = probing(1_000_000, 40);
    bbr.cwnd = 80_000;
    // 3600 B of 24 000 in flight
    lose(&mut bbr, &busy(), &[10, 11, 12], false);
    assert!(matches!(bbr.state, State::ProbeBwDown(_)));
    assert!(bbr.inflight_longterm().is_some());
    bbr.cwnd = 30_000;
    bbr.bounds.bw_shortterm = rate(5);
    bbr.bounds.inflight_shortterm = 5;
    spurious(&mut bbr, 10);
    spurious(&mut bbr, 11);
    assert!(bbr.in_recovery());
    spurious(&mut bbr, 12);
    assert!(!bbr.in_recovery());
    assert_eq!(bbr.state, State::ProbeBwRefill);
    assert_eq!((bbr.inflight_longterm(), bbr.bw_shortterm(), bbr.inflight_shortterm()), (None, None, None));
    assert_eq!(bbr.cwnd(), 80_000);
    // Once more is nothing.
    let before = bbr.clone();
    spurious(&mut bbr, 12);
    bbr.on_spurious_loss(&path(), &SpuriousLoss::All);
    assert_eq!(bbr, before);
}

#[test]
fn an_undo_restores_finite_bounds() {
    // In CRUISE: no refill forgets the short term.
    let mut bbr = cruising(1_000_000, 40);
    bbr.bounds =
        Bounds { bw_shortterm: rate(900_000), inflight_shortterm: 60_000, inflight_longterm: 70_000 };
    lose(&mut bbr, &busy(), &[10], false);
    bbr.lower_bounds(rate(0), 0);
    bbr.bounds.inflight_longterm = 50_000;
    assert_eq!((bbr.bw_shortterm(), bbr.inflight_shortterm()), (Some(rate(630_000)), Some(42_000)));
    spurious(&mut bbr, 10);
    assert!(matches!(bbr.state, State::ProbeBwCruise(_)));
    assert_eq!((bbr.bw_shortterm(), bbr.inflight_shortterm()), (Some(rate(900_000)), Some(60_000)));
    assert_eq!(bbr.inflight_longterm(), Some(70_000));
    // What follows from them holds at once: 0.85 * 70 000 is less than 60 000.
    assert_eq!((bbr.bw(), bbr.cwnd()), (rate(900_000), 59_500));
}

#[test]
fn losses_of_more_than_4_gib_are_not_undone_one_by_one() {
    let mut bbr = probing(1_000_000, 40);
    let packets = [LostPacket { bytes: 5 << 30, ..lost(10) }];
    bbr.on_loss(
        &busy(),
        &LossEvent { packets: &packets, last: true, persistent_congestion: false, cause: None },
    );
    let LostPacket { number, sent_at, bytes, .. } = packets[0];
    bbr.on_spurious_loss(&path(), &SpuriousLoss::Packet { number, sent_at, bytes });
    assert!(bbr.in_recovery());
    bbr.on_spurious_loss(&path(), &SpuriousLoss::All);
    assert!(!bbr.in_recovery());
}

#[test]
fn an_undo_leads_back_to_startup() {
    let mut bbr = starting(1_000_000, 40);
    bbr.cwnd = 80_000;
    lose(&mut bbr, &busy(), &[10], false);
    bbr.leave_startup();
    assert!(bbr.full_bw_reached());
    bbr.on_spurious_loss(&path(), &SpuriousLoss::All);
    assert_eq!(bbr.state, State::Startup);
    assert!(!bbr.full_bw_reached() && !bbr.full_bw_now());
    assert_eq!(bbr.inflight_longterm(), None);
}

#[test]
fn an_undo_in_probe_rtt_keeps_its_small_window() {
    let mut bbr = probing(1_000_000, 40);
    lose(&mut bbr, &busy(), &[10], false);
    bbr.state = State::ProbeRtt { done_at: None, round_done: false };
    bbr.cwnd = 20_000;
    bbr.on_spurious_loss(&path(), &SpuriousLoss::All);
    assert!(bbr.state.is_probe_rtt());
    assert_eq!((bbr.cwnd(), bbr.prior_cwnd), (20_000, 80_000));
}

#[test]
fn an_undo_does_not_lower_a_bound() {
    let mut bbr = probing(1_000_000, 40);
    bbr.bounds.inflight_longterm = 30_000;
    lose(&mut bbr, &busy(), &[10], false);
    bbr.bounds.inflight_longterm = 50_000;
    bbr.on_spurious_loss(&path(), &SpuriousLoss::All);
    assert_eq!(bbr.inflight_longterm(), Some(50_000));
}

#[test]
fn marks_lower_the_short_term_bounds_once_per_round_trip() {
    let mut bbr = cruising(1_000_000, 40);
    mark(&mut bbr, &busy(), 50);
    // 0.7 of the bandwidth and of the window
    assert_eq!((bbr.bw_shortterm(), bbr.inflight_shortterm()), (Some(rate(700_000)), Some(56_000)));
    mark(&mut bbr, &busy(), 99);
    assert_eq!(bbr.bw_shortterm(), Some(rate(700_000)));
    mark(&mut bbr, &later(&PathState { next_number: 120, ..busy() }, ms(80)), 110);
    assert_eq!((bbr.bw_shortterm(), bbr.inflight_shortterm()), (Some(rate(490_000)), Some(39_200)));
    assert_eq!(bbr.congestion_events, 2);
    // With the next ACK they are in force.
    ack(&mut bbr, &busy(), &[acked(99, path().now.before(ms(40)))], true, None);
    assert_eq!(bbr.cwnd(), 39_200);
}

#[test]
fn a_mark_ends_a_probe_and_startup() {
    let mut bbr = probing(1_000_000, 40);
    let path = PathState { prior_bytes_in_flight: 50_000, ..path() };
    mark(&mut bbr, &path, 50);
    assert!(matches!(bbr.state, State::ProbeBwDown(_)));
    // 0.7 of the flight, which is more than 0.7 of the target
    assert_eq!(bbr.inflight_longterm(), Some(35_000));
    assert_eq!(bbr.bw_shortterm(), None);

    let mut bbr = starting(1_000_000, 40);
    mark(&mut bbr, &path, 50);
    assert!(matches!(bbr.state, State::Drain { .. }));
    // The BDP is more than 0.7 * 50 000.
    assert_eq!(bbr.inflight_longterm(), Some(40_000));
}

#[test]
fn a_mark_ends_a_limited_probe_and_bounds_the_flight() {
    let limited = PathState { prior_bytes_in_flight: 20_000, app_limited: true, ..path() };
    let mut refill = probing(1_000_000, 40);
    refill.start_probe_bw_refill(&path());
    for mut bbr in [probing(1_000_000, 40), refill] {
        bbr.cwnd = 80_000;
        let pacing = bbr.pacing_rate();
        mark(&mut bbr, &limited, 50);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
        // Beta of the target, 0.7 * 40 000, is more than that of the flight.
        assert_eq!(bbr.inflight_longterm(), Some(28_000));
        // DOWN goes on with more than the BDP in flight.
        let queued = PathState { bytes_in_flight: 45_000, ..limited };
        ack(&mut bbr, &queued, &[acked(99, path().now.before(ms(40)))], true, no_rate());
        assert_eq!(bbr.cwnd(), 28_000);
        assert!(bbr.pacing_rate() < pacing, "{:?} of {pacing:?}", bbr.pacing_rate());
    }
    // A bound that is lower already stays.
    let mut bbr = probing(1_000_000, 40);
    bbr.bounds.inflight_longterm = 15_000;
    mark(&mut bbr, &limited, 50);
    assert_eq!(bbr.inflight_longterm(), Some(15_000));
}

#[test]
fn what_a_mark_lowered_no_undo_raises() {
    let mut bbr = probing(1_000_000, 40);
    lose(&mut bbr, &busy(), &[10], false);
    mark(&mut bbr, &busy(), 50);
    let bounds = bbr.bounds;
    assert_eq!(bounds.bw_shortterm, rate(700_000));
    bbr.on_spurious_loss(&path(), &SpuriousLoss::All);
    assert_eq!(bbr.bounds, bounds);
    assert!(matches!(bbr.state, State::ProbeBwDown(_)));
}

#[test]
fn counts_without_marks_or_after_failed_validation_are_nothing() {
    let mut bbr = cruising(1_000_000, 40);
    let before = bbr.clone();
    bbr.on_ecn(&busy(), &EcnEvent { ce: Some(0), ..EcnEvent::default() });
    bbr.on_ecn(&busy(), &EcnEvent { ce: Some(7), newly_acked: Some(0), ..EcnEvent::default() });
    assert_eq!(bbr, before);
    bbr.on_ecn_state(&busy(), cc_core::EcnCodepoint::NotEct);
    mark(&mut bbr, &busy(), 50);
    assert_eq!(bbr.bw_shortterm(), None);
    bbr.on_ecn_state(&busy(), cc_core::EcnCodepoint::Ect0);
    mark(&mut bbr, &busy(), 50);
    assert!(bbr.bw_shortterm().is_some());
}

#[test]
fn a_new_path_starts_again_and_hears_nothing_of_the_old_one() {
    let mut bbr = cruising(1_000_000, 40);
    let now = later(&path(), ms(100));
    bbr.on_path_change(&now, PathChange::New);
    assert_eq!((bbr.state, bbr.cwnd()), (State::Startup, 12_000));
    assert_eq!((bbr.max_bw(), bbr.min_rtt()), (rate(0), None));
    assert_eq!(bbr.pacing_rate(), Some(rate(33_240_000)));
    let fresh = bbr.clone();
    let later = PathState { prior_bytes_in_flight: 24_000, ..later(&now, ms(20)) };
    ack(&mut bbr, &later, &[acked(50, path().now)], true, None);
    lose(&mut bbr, &later, &[51], false);
    mark(&mut bbr, &later, 50);
    assert_eq!(bbr, fresh);
    // Its own packets count from where the totals are.
    let sent_at = now.now.after(ms(1));
    ack(&mut bbr, &PathState { next_number: 110, ..later }, &[acked(100, sent_at)], true, None);
    assert_eq!(bbr.min_rtt(), Some(ms(19)));
    assert_eq!(bbr.cwnd(), 13_200, "little was delivered on it");
    // A rebinding changes nothing.
    let before = bbr.clone();
    bbr.on_path_change(&later, PathChange::Rebinding);
    assert_eq!(bbr, before);
}

#[test]
fn a_clock_that_went_back_on_a_new_path_makes_nothing_of_it_foreign() {
    for numbers in [true, false] {
        let mut bbr = cruising(1_000_000, 40);
        bbr.on_path_change(&later(&path(), ms(9_000)), PathChange::New);
        // A second earlier than the path began.
        let start = later(&path(), ms(8_000));
        let next = PathState {
            next_number: if numbers { 110 } else { 0 },
            prior_bytes_in_flight: 24_000,
            bytes_in_flight: 22_800,
            ..later(&start, ms(50))
        };
        let number = numbers.then_some(100);
        bbr.on_packet_sent(&PathState { now: start.now, ..next }, &SentPacket::default());
        ack(&mut bbr, &next, &[AckedPacket { number, ..acked(100, start.now) }], true, None);
        assert_eq!(bbr.min_rtt(), Some(ms(50)), "{numbers}");
        assert_eq!(bbr.cwnd(), 13_200);
        let number = numbers.then_some(101);
        let packets = [LostPacket { number, sent_at: start.now, ..lost(101) }];
        let loss = LossEvent { packets: &packets, last: true, persistent_congestion: false, cause: None };
        bbr.on_loss(&next, &loss);
        assert!(bbr.in_recovery());
    }
    // Numbers tell packets of the old path even then.
    let mut bbr = cruising(1_000_000, 40);
    bbr.on_path_change(&later(&path(), ms(9_000)), PathChange::New);
    let back = PathState { prior_bytes_in_flight: 24_000, ..later(&path(), ms(8_000)) };
    let fresh = {
        let mut fresh = bbr.clone();
        fresh.take_path(&back);
        fresh
    };
    ack(&mut bbr, &back, &[acked(99, back.now)], true, None);
    lose(&mut bbr, &back, &[98], true);
    mark(&mut bbr, &back, 99);
    assert_eq!(bbr, fresh);
}

#[test]
fn the_handshake_sets_the_initial_window_and_later_changes_do_not() {
    let mut bbr = Bbr::new(&Config { max_datagram_size: 9_000, ..Config::default() });
    // RFC 9002 section 7.2: max(14 720, 2 * 9000); 10 * 1450
    assert_eq!(bbr.cwnd(), 18_000);
    let fresh = PathState { delivered: 0, ..path() };
    bbr.on_mtu_update(&PathState { max_datagram_size: 1_450, ..fresh }, MtuChange::Handshake);
    assert_eq!(bbr.cwnd(), 14_500);
    bbr.on_mtu_update(&PathState { max_datagram_size: 1_200, ..fresh }, MtuChange::BlackHole);
    assert_eq!(bbr.cwnd(), 14_500);
    bbr.on_mtu_update(&PathState { max_datagram_size: 9_000, ..fresh }, MtuChange::Discovered);
    assert_eq!(bbr.cwnd(), 18_000, "two datagrams");
}

#[test]
fn a_saved_window_is_used_once_and_in_an_undisturbed_startup_only() {
    let hint = ResumeHint { cwnd: 400_000, rtt: ms(40) };
    let first = || (busy(), [acked(1, path().now.before(ms(40)))]);
    let with_hint = || Bbr::new(&Config { resume: Some(hint), ..Config::default() });

    let (path, packets) = first();
    let mut bbr = with_hint();
    ack(&mut bbr, &path, &packets, true, None);
    assert_eq!(bbr.cwnd(), 200_000);
    // Half of the saved window in a round trip: 200 000 B / 40 ms.
    assert_eq!(bbr.pacing_rate(), Some(rate(5_000_000)));
    // Sent before the jump: no growth.
    ack(&mut bbr, &path, &[acked(2, path.now.before(ms(40)))], true, None);
    assert_eq!(bbr.cwnd(), 200_000);
    // A loss: half of what was in flight at the jump (20 000 B) and acked since (1200 B).
    lose(&mut bbr, &path, &[3], false);
    assert_eq!(bbr.cwnd(), 10_600);
    assert!(matches!(bbr.state, State::Drain { .. }));
    let before = bbr.clone();
    bbr.on_resume_hint(&path, &hint);
    assert_eq!(bbr, before);

    // After a loss, and for another RTT.
    let mut bbr = with_hint();
    lose(&mut bbr, &path, &[3], false);
    ack(&mut bbr, &path, &packets, true, None);
    assert!(bbr.cwnd() < 20_000);
    // A difference of 9 of 31, 14 of 54: more than a quarter.
    for rtt in [31, 54] {
        let mut bbr = with_hint();
        ack(&mut bbr, &path, &[acked(1, path.now.before(ms(rtt)))], true, None);
        assert!(bbr.cwnd() < 20_000, "{rtt}");
    }
    // Known late.
    let mut bbr = Bbr::new(&Config::default());
    ack(&mut bbr, &path, &packets, true, None);
    bbr.on_resume_hint(&path, &hint);
    assert_eq!(bbr.cwnd(), 200_000);
}
