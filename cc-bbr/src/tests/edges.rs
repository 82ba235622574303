//! What lies just beside a rule: events that must not trigger it, and what is only shown.

use super::events::{ack, acked, busy, lose, mark, no_rate};
use super::{cruising, later, ms, path, probing, rate, starting};
use crate::resume::Resume;
use crate::sample::Sample;
use crate::{Bbr, Config};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, LossEvent, LostPacket, PathChange, PathState,
    ResumeHint, SendLimit, SendMark, SentPacket,
};

#[test]
fn a_snapshot_shows_phase_outputs_and_model() {
    let new = Bbr::new(&Config::default()).snapshot();
    assert_eq!((new.phase, new.startup, new.cwnd), ("startup", true, 12_000));
    assert_eq!((new.bandwidth, new.model_rtt, new.congestion_events), (None, None, 0));
    let mut bbr = cruising(1_000_000, 40);
    let shown = bbr.snapshot();
    assert_eq!((shown.phase, shown.startup, shown.cwnd), ("probe_bw_cruise", false, 80_000));
    // 1 % below the bandwidth.
    assert_eq!((shown.pacing_rate, shown.bandwidth), (Some(rate(990_000)), Some(rate(1_000_000))));
    assert_eq!((shown.model_rtt, shown.congestion_events), (Some(ms(40)), 0));
    lose(&mut bbr, &busy(), &[50], false);
    assert_eq!(bbr.snapshot().congestion_events, 1);
}

#[test]
fn only_a_packet_that_ends_an_idle_time_restarts() {
    // Section 5.4: nothing in flight before it, and the application was the limit.
    for (prior_bytes_in_flight, app_limited, restarts) in
        [(0, true, true), (0, false, false), (1_200, true, false), (1_200, false, false)]
    {
        let mut bbr = cruising(1_000_000, 40);
        let path = PathState { prior_bytes_in_flight, app_limited, ..path() };
        let packet = SentPacket { number: 99, bytes: 1_200, in_flight: true, ..SentPacket::default() };
        bbr.on_packet_sent(&path, &packet);
        assert_eq!(bbr.idle_restart(), restarts, "{prior_bytes_in_flight} {app_limited}");
    }
}

#[test]
fn an_ack_that_delivers_nothing_does_not_end_an_idle_restart() {
    // Section 5.3.4.3: rs.delivered > 0.
    for (delivered, newly_acked, ends) in [(0, 0, false), (1, 0, true), (0, 1, true)] {
        let mut bbr = cruising(1_000_000, 40);
        bbr.idle_restart = true;
        bbr.check_probe_rtt(&path(), &Sample { delivered, newly_acked, ..Sample::default() }, false);
        assert_eq!(!bbr.idle_restart, ends, "{delivered} {newly_acked}");
    }
}

#[test]
fn a_gap_of_just_two_quanta_is_no_idle_time() {
    // 990 000 B/s: a quantum is 2400 B, two take 4.848... ms.
    let bbr = cruising(1_000_000, 40);
    let gap = rate(990_000).time_to_send(4_800);
    assert!(!bbr.was_idle(&path(), gap));
    assert!(bbr.was_idle(&path(), gap.plus(Duration::from_nanos(1))));
}

#[test]
fn the_window_counts_as_used_if_the_stack_says_so_or_the_flight_fills_it() {
    // The window is 80 000: 78 800 and a datagram more still fit.
    for (flight, limited_by, limited) in
        [(78_801, SendLimit::Unknown, true), (78_800, SendLimit::Unknown, false), (0, SendLimit::Cwnd, true)]
    {
        let mut bbr = cruising(1_000_000, 40);
        let event = AckEvent {
            packets: &[],
            last: true,
            rate_sample: None,
            limited_by,
            max_bytes_in_flight: flight,
            app_limited_at: None,
            newest_data_sent_at: None,
        };
        bbr.update_cwnd_limited(&path(), &event, &Sample::default());
        assert_eq!(bbr.is_cwnd_limited(), limited, "{flight}");
    }
}

#[test]
fn a_round_without_samples_gives_what_was_delivered_lost_and_both_together() {
    let mut bbr = cruising(1_000_000, 40);
    bbr.start_round(&PathState { lost: 1_200, ..path() });
    let end = PathState { delivered: 1_040_000, lost: 3_600, ..later(&path(), ms(40)) };
    let rs = bbr.round.sample(&end, &Sample::default());
    assert_eq!((rs.delivered, rs.lost, rs.tx_in_flight), (40_000, 2_400, 42_400));
}

#[test]
fn a_loss_without_a_snapshot_bounds_no_flight_that_the_application_kept_small() {
    // Section 5.5.10.2. 24 000 in flight: three packets are more than 2 %.
    for (app_limited, is_bounded) in [(true, false), (false, true)] {
        let mut bbr = probing(1_000_000, 40);
        let path = PathState { app_limited, ..busy() };
        let packet =
            LostPacket { number: Some(50), bytes: 3_600, sent_at: path.now, ..LostPacket::default() };
        bbr.on_loss(
            &path,
            &LossEvent { packets: &[packet], last: true, persistent_congestion: false, cause: None },
        );
        assert_eq!(bbr.inflight_longterm().is_some(), is_bounded);
    }
}

#[test]
fn a_new_path_begins_its_own_round_of_losses() {
    let mut bbr = cruising(1_000_000, 40);
    bbr.on_path_change(&path(), PathChange::New);
    for (prior_delivered, starts) in [(999_999, false), (1_000_000, true)] {
        let mut rs = Sample { prior_delivered: Some(prior_delivered), ..Sample::default() };
        bbr.update_latest_delivery_signals(&path(), &mut rs);
        assert_eq!(rs.loss_round_start, starts, "{prior_delivered}");
    }
}

#[test]
fn a_saved_window_is_not_used_after_a_mark() {
    let resume = Some(ResumeHint { cwnd: 400_000, rtt: ms(40) });
    let mut bbr = Bbr::new(&Config { resume, ..Config::default() });
    mark(&mut bbr, &busy(), 3);
    ack(&mut bbr, &busy(), &[acked(1, path().now.before(ms(40)))], true, None);
    assert!(bbr.cwnd() < 20_000, "{}", bbr.cwnd());
}

#[test]
fn a_retreat_lasts_until_a_packet_sent_after_it_is_acked() {
    // RFC 9959, "Safe Retreat Phase": the window stays, though the model allows 80 000 B.
    let mut bbr = cruising(1_000_000, 40);
    bbr.cwnd = 10_000;
    bbr.resume = Resume::Retreat { until: SendMark::new(&path()), window: 10_000 };
    let before = AckedPacket { bytes: 12_000, ..acked(99, path().now.before(ms(40))) };
    ack(&mut bbr, &busy(), &[before], true, no_rate());
    assert_eq!(bbr.cwnd(), 10_000);
    let path = PathState { next_number: 110, ..later(&busy(), ms(40)) };
    let after = AckedPacket { bytes: 12_000, ..acked(100, super::path().now) };
    ack(&mut bbr, &path, &[after], true, no_rate());
    assert_eq!(bbr.cwnd(), 22_000);
}

#[test]
fn a_window_grows_below_the_limit_only_and_by_acks_only() {
    // Section 5.6.4.6, before the pipe is full, with more than an initial window delivered.
    let delivered = PathState { delivered: 12_000, ..path() };
    let limit = starting(1_000_000, 40).max_inflight();
    for (cwnd, grown) in [(limit - 1, limit + 1_199), (limit, limit)] {
        let mut bbr = starting(1_000_000, 40);
        bbr.cwnd = cwnd;
        bbr.update_control_parameters(&delivered, 1_200);
        assert_eq!(bbr.cwnd(), grown);
    }
    // 4 packets are the least with an ack, and two the floor.
    for (newly_acked, cwnd) in [(0, 2_400), (1, 4_800)] {
        let mut bbr = starting(1_000_000, 40);
        bbr.cwnd = 2_400;
        bbr.update_control_parameters(&delivered, newly_acked);
        assert_eq!(bbr.cwnd(), cwnd);
    }
}
