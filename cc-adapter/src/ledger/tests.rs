//! Hand-made call sequences and what the controller must be told.

mod window;

use super::Ledger;
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, Duration, EcnEvent, Instant, LossCause,
    LossEvent, LostPacket, MtuChange, PacketSnapshot, PacketSpace, PathChange, PathRtt, PathState, Rate,
    RateSample, RttEvent, SendLimit, SentPacket, Snapshot, SpuriousLoss,
};

/// Everything a [`Spy`] was told, with the state that came with it.
#[derive(Clone, PartialEq, Debug)]
enum Told {
    Sent(SentPacket),
    Acked { packets: Vec<AckedPacket>, sample: Option<RateSample>, limited_by: SendLimit, max_flight: u64 },
    Lost { packets: Vec<LostPacket>, persistent: bool, cause: Option<LossCause> },
    Ecn(EcnEvent),
    Rtt(RttEvent),
    AppLimited,
    IdleRestart(Duration),
    Spurious(SpuriousLoss),
    Discarded(u64, DiscardReason),
    Mtu(MtuChange),
    Path(PathChange),
}

/// A controller of fixed outputs that writes down what it is told.
#[derive(Clone, Debug)]
struct Spy {
    told: Vec<(PathState, Told)>,
    cwnd: u64,
    rate: Option<Rate>,
    quantum: u64,
    beyond: bool,
    holds_back: bool,
    samples: bool,
    panics: bool,
    newest_data: Option<Instant>,
}

impl Default for Spy {
    fn default() -> Self {
        Self {
            told: Vec::new(),
            cwnd: 12_000,
            rate: None,
            quantum: 2_400,
            beyond: false,
            holds_back: false,
            samples: true,
            panics: false,
            newest_data: None,
        }
    }
}

impl CongestionController for Spy {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.told.push((*path, Told::Sent(*packet)));
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        assert!(ack.last && !self.panics);
        self.newest_data = ack.newest_data_sent_at;
        self.told.push((
            *path,
            Told::Acked {
                packets: ack.packets.to_vec(),
                sample: ack.rate_sample,
                limited_by: ack.limited_by,
                max_flight: ack.max_bytes_in_flight,
            },
        ));
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        let told = Told::Lost {
            packets: loss.packets.to_vec(),
            persistent: loss.persistent_congestion,
            cause: loss.cause,
        };
        self.told.push((*path, told));
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.told.push((*path, Told::Ecn(*ecn)));
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
    fn cwnd(&self) -> u64 {
        self.cwnd
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.told.push((*path, Told::Rtt(*rtt)));
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.told.push((*path, Told::AppLimited));
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.told.push((*path, Told::IdleRestart(idle)));
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.told.push((*path, Told::Spurious(*spurious)));
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.told.push((*path, Told::Discarded(bytes, reason)));
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.told.push((*path, Told::Mtu(change)));
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.told.push((*path, Told::Path(change)));
    }
    fn send_quantum(&self) -> u64 {
        self.quantum
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.beyond
    }
    fn uses_rate_samples(&self) -> bool {
        self.samples
    }
    fn marks_app_limited(&self) -> bool {
        self.holds_back
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn ledger() -> Ledger<Spy> {
    Ledger::new(Spy::default(), at(1_000), 1_200)
}

fn send(ledger: &mut Ledger<Spy>, millis: u64, bytes: u64) -> PacketSnapshot {
    ledger.on_sent(at(millis), at(millis), bytes, PacketSpace::Application).snapshot.unwrap_or_default()
}

fn packet(millis: u64, bytes: u64) -> AckedPacket {
    AckedPacket { sent_at: at(millis), bytes, packets: Some(1), ..AckedPacket::default() }
}

/// One packet is acked in a frame of its own, and the flight is what the stack says.
fn ack(ledger: &mut Ledger<Spy>, millis: u64, packet: &AckedPacket, left: u64) {
    ledger.on_acks_begin(at(millis), |_| SendLimit::Unknown);
    ledger.on_acked(at(millis), packet);
    ledger.on_acks_complete(at(millis), left);
    ledger.commit();
}

/// What was told since the last time.
fn told(ledger: &mut Ledger<Spy>) -> Vec<(PathState, Told)> {
    std::mem::take(&mut ledger.controller.told)
}

#[test]
fn the_newest_packet_acked_counts_as_data() {
    let mut ledger = ledger();
    let (first, second) = (packet(1_010, 1_200), packet(1_020, 1_200));
    send(&mut ledger, 1_010, 1_200);
    send(&mut ledger, 1_020, 1_200);
    ack(&mut ledger, 1_060, &second, 1_200);
    assert_eq!(ledger.controller().newest_data, Some(at(1_020)));
    // An older one does not take it back.
    ack(&mut ledger, 1_061, &first, 0);
    assert_eq!(ledger.controller().newest_data, Some(at(1_020)));
    // A send time in the future (a stack's clock that went back) is taken as now.
    ack(&mut ledger, 1_070, &packet(9_000, 1_200), 0);
    assert_eq!(ledger.controller().newest_data, Some(at(1_070)));
    // What is sent after that gives RTT samples again.
    told(&mut ledger);
    send(&mut ledger, 1_080, 1_200);
    ack(&mut ledger, 1_100, &packet(1_080, 1_200), 0);
    let is_sample = told(&mut ledger).iter().find_map(|(_, told)| match told {
        Told::Rtt(rtt) => Some((rtt.is_sample, rtt.latest)),
        _ => None,
    });
    assert_eq!(is_sample, Some((true, ms(20))));
}

#[test]
fn the_parts_of_a_frame_are_delivered_in_the_order_of_the_contract() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 3_600);
    send(&mut ledger, 1_050, 1_200);
    told(&mut ledger);

    // quinn's order: acks, the flight left (4800 - 2400), losses, ECN.
    let ecn = EcnEvent { largest_acked_sent_at: at(1_050), ..EcnEvent::default() };
    let lost = LostPacket { sent_at: at(1_000), bytes: 1_200, ..LostPacket::default() };
    ledger.on_acks_begin(at(1_150), |_| SendLimit::Cwnd);
    ledger.on_acked(at(1_150), &packet(1_000, 1_200));
    ledger.on_acked(at(1_150), &packet(1_050, 1_200));
    ledger.on_acks_complete(at(1_150), 2_400);
    ledger.on_lost(at(1_150), &lost, Some(LossCause::Timer));
    ledger.on_ecn(at(1_150), &ecn);
    assert!(ledger.controller().told.is_empty(), "delivered before the frame was over");
    ledger.commit();

    let told = told(&mut ledger);
    // 1150 - 1050: the newest acked.
    let rtt = RttEvent { latest: ms(100), is_sample: true, is_first: true, ..RttEvent::default() };
    let events: Vec<&Told> = told.iter().map(|(_, event)| event).collect();
    assert_eq!(events[..2], [&Told::Ecn(ecn), &Told::Rtt(rtt)]);
    assert_eq!(
        events[2],
        &Told::Lost { packets: vec![lost], persistent: false, cause: Some(LossCause::Ack) }
    );
    let Told::Acked { packets, limited_by, max_flight, .. } = events[3] else { panic!("{:?}", events[3]) };
    assert_eq!(packets, &[packet(1_000, 1_200), packet(1_050, 1_200)]);
    assert_eq!((*limited_by, *max_flight), (SendLimit::Cwnd, 4_800));
    assert_eq!(events.len(), 4);
    for (index, (state, _)) in told.iter().enumerate() {
        // 4800 before; 2400 acked and 1200 lost of it.
        assert_eq!((state.prior_bytes_in_flight, state.bytes_in_flight), (4_800, 1_200));
        // The lost total is the one before the losses until they have been told.
        assert_eq!((state.delivered, state.lost), (2_400, if index < 3 { 0 } else { 1_200 }));
        assert_eq!((state.now, state.next_number, state.oldest_outstanding), (at(1_150), 2, None));
    }
    // Nothing twice.
    ledger.commit();
    assert!(ledger.controller().told.is_empty());
}

#[test]
fn a_frame_ends_with_whatever_does_not_belong_to_it() {
    let frame = |ledger: &mut Ledger<Spy>| {
        send(ledger, 1_000, 1_200);
        told(ledger);
        ledger.on_acks_begin(at(1_100), |_| SendLimit::Unknown);
        ledger.on_acked(at(1_100), &packet(1_000, 1_200));
        ledger.on_acks_complete(at(1_100), 0);
    };
    type End = fn(&mut Ledger<Spy>);
    let ends: [(&str, End); 7] = [
        ("a send", |ledger| {
            send(ledger, 1_100, 1_200);
        }),
        ("acks of the next frame at the same time", |ledger| {
            ledger.on_acked(at(1_100), &packet(1_000, 1_200));
        }),
        ("acks at a later time", |ledger| ledger.on_acked(at(1_101), &packet(1_000, 1_200))),
        ("a frame without acks of ours", |ledger| ledger.on_acks_complete(at(1_100), 0)),
        ("a loss by timer", |ledger| ledger.on_lost(at(1_200), &LostPacket::default(), None)),
        ("a spurious loss", |ledger| ledger.on_spurious_loss(&SpuriousLoss::All)),
        ("a new port", |ledger| ledger.on_rebinding(at(1_100))),
    ];
    for (name, end) in ends {
        let mut ledger = ledger();
        frame(&mut ledger);
        end(&mut ledger);
        let told = told(&mut ledger);
        assert!(matches!(told[0].1, Told::Rtt(_)), "{name}: {told:?}");
        assert!(matches!(told[1].1, Told::Acked { .. }), "{name}: {told:?}");
    }
}

#[test]
fn losses_without_acks_come_from_the_timer() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 3_600);
    told(&mut ledger);
    let lost = LostPacket { sent_at: at(1_000), bytes: 2_400, ..LostPacket::default() };
    ledger.on_lost(at(1_300), &lost, Some(LossCause::Timer));
    ledger.on_persistent_congestion(at(1_300));
    ledger.commit();
    let told = told(&mut ledger);
    assert_eq!(told.len(), 1);
    let (state, event) = &told[0];
    assert_eq!(event, &Told::Lost { packets: vec![lost], persistent: true, cause: Some(LossCause::Timer) });
    assert_eq!((state.prior_bytes_in_flight, state.bytes_in_flight), (3_600, 1_200));
    assert_eq!((state.lost, state.delivered, state.rtt), (0, 0, None));
}

#[test]
fn packets_that_left_together_are_one_entry_and_others_are_not() {
    let mut ledger = ledger();
    let snapshot = |bytes_in_flight| Some(PacketSnapshot { bytes_in_flight, ..PacketSnapshot::default() });
    let with = |millis, flight| AckedPacket { snapshot: snapshot(flight), ..packet(millis, 1_200) };
    ledger.on_acked(at(1_100), &with(1_000, 1_200));
    ledger.on_acked(at(1_100), &with(1_000, 2_400));
    ledger.on_acked(at(1_100), &with(1_001, 3_600));
    // Numbers keep packets apart.
    let numbered = |number| AckedPacket { number: Some(number), ..with(1_001, 4_800) };
    ledger.on_acked(at(1_100), &numbered(5));
    ledger.on_acked(at(1_100), &numbered(6));
    ledger.commit();
    let told = told(&mut ledger);
    let Told::Acked { packets, .. } = &told[1].1 else { panic!("{told:?}") };
    let together = AckedPacket { bytes: 2_400, packets: Some(2), ..with(1_000, 2_400) };
    assert_eq!(packets, &[together, with(1_001, 3_600), numbered(5), numbered(6)]);
}

#[test]
fn only_a_packet_sent_later_than_any_acked_before_gives_an_rtt_sample() {
    let mut ledger = ledger();
    for millis in [1_000, 1_020, 1_040] {
        send(&mut ledger, millis, 2_400);
    }
    told(&mut ledger);
    // now, sent, raw RTT, sample?
    let frames = [
        (1_120, 1_020, 100, true),
        // Overtaken, and of the same time.
        (1_121, 1_000, 121, false),
        (1_122, 1_020, 102, false),
        (1_220, 1_040, 180, true),
    ];
    for (index, (now, sent, raw, is_sample)) in frames.into_iter().enumerate() {
        ack(&mut ledger, now, &packet(sent, 1_200), 9_999);
        let (state, event) = told(&mut ledger).remove(0);
        let rtt = RttEvent { latest: ms(raw), is_sample, is_first: index == 0, ..RttEvent::default() };
        assert_eq!(event, Told::Rtt(rtt));
        let rtt = state.rtt.unwrap();
        if index < 3 {
            assert_eq!((rtt.smoothed, rtt.latest), (ms(100), ms(100)));
        } else {
            // rttvar = (3 * 50 + |100 - 180|) / 4 = 57.5; smoothed = (7 * 100 + 180) / 8 = 110.
            assert_eq!((rtt.smoothed, rtt.latest, rtt.min), (ms(110), ms(180), ms(100)));
            assert_eq!(rtt.var, Duration::from_micros(57_500));
        }
    }
}

#[test]
fn the_flight_is_what_the_stack_says_at_the_end_of_the_acks() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 6_000);
    // ACK-only packets, announced like others: 6120 in the books.
    send(&mut ledger, 1_010, 40);
    send(&mut ledger, 1_020, 80);
    told(&mut ledger);
    // 1200 of 6000 are acked: 4800 left, and an MTU probe of 1400 that was not announced.
    ack(&mut ledger, 1_100, &packet(1_000, 1_200), 4_800);
    let events = told(&mut ledger);
    let Told::Acked { max_flight, .. } = events[1].1 else { panic!("{events:?}") };
    assert_eq!((events[1].0.prior_bytes_in_flight, events[1].0.bytes_in_flight), (6_000, 4_800));
    // 6120 less the 120 that were never in flight.
    assert_eq!(max_flight, 6_000);
    // The probe was in flight, and is acked: 4800 + 1400 before, 4800 after.
    ack(&mut ledger, 1_110, &packet(1_005, 1_400), 4_800);
    let events = told(&mut ledger);
    let Told::Acked { max_flight, .. } = events[1].1 else { panic!("{events:?}") };
    assert_eq!((events[1].0.prior_bytes_in_flight, events[1].0.bytes_in_flight), (6_200, 4_800));
    assert_eq!(max_flight, 6_200);
    // A stack that says nothing: the books alone, never below zero.
    ledger.on_acked(at(1_200), &packet(1_000, 9_000));
    ledger.commit();
    assert_eq!(ledger.bytes_in_flight(), 0);
}

#[test]
fn a_rate_sample_spans_from_the_state_at_the_send() {
    let mut ledger = ledger();
    let first = send(&mut ledger, 1_000, 2_400);
    ack(&mut ledger, 1_100, &AckedPacket { snapshot: Some(first), ..packet(1_000, 2_400) }, 0);
    // Sent 20 ms after the first ack, with 2400 delivered; the flight had been empty, so that the clock starts at this send.
    let second = send(&mut ledger, 1_120, 12_000);
    let third = send(&mut ledger, 1_130, 12_000);
    assert_eq!((second.delivered, third.delivered, third.bytes_in_flight), (2_400, 2_400, 24_000));
    told(&mut ledger);
    ledger.on_acked(at(1_230), &AckedPacket { snapshot: Some(second), ..packet(1_120, 12_000) });
    ledger.on_acked(at(1_230), &AckedPacket { snapshot: Some(third), ..packet(1_130, 12_000) });
    ledger.on_lost(at(1_230), &LostPacket { sent_at: at(1_120), bytes: 600, ..LostPacket::default() }, None);
    ledger.commit();
    let told = told(&mut ledger);
    let Told::Acked { sample: Some(sample), .. } = told[2].1 else { panic!("{told:?}") };
    // 24 000 bytes between 1120 (its reference) and 1230; sent over 10 ms.
    assert_eq!((sample.delivered, sample.delivered_since_sent()), (26_400, 24_000));
    assert_eq!((sample.ack_interval, sample.send_interval), (ms(110), ms(10)));
    assert_eq!((sample.newly_acked, sample.newly_lost, sample.lost_since_sent), (24_000, 600, 600));
    assert!(!sample.app_limited && sample.moved_reference);
    // A packet that nothing is remembered of gives no interval, but counts.
    ack(&mut ledger, 1_300, &packet(1_200, 1_200), 0);
    let events = std::mem::take(&mut ledger.controller.told);
    let Told::Acked { sample: Some(sample), .. } = events[1].1 else { panic!("{events:?}") };
    assert_eq!((sample.delivered, sample.interval()), (27_600, Duration::ZERO));
}

#[test]
fn without_data_before_the_frame_the_controller_is_told_first_and_samples_are_marked() {
    let mut ledger = ledger();
    let first = send(&mut ledger, 1_000, 2_400);
    told(&mut ledger);
    ledger.on_acks_begin(at(1_100), |_| SendLimit::NoData);
    ledger.on_acked(at(1_100), &AckedPacket { snapshot: Some(first), ..packet(1_000, 1_200) });
    ledger.on_acks_complete(at(1_100), 1_200);
    ledger.commit();
    let told_first = told(&mut ledger);
    let (state, event) = &told_first[0];
    assert_eq!(event, &Told::AppLimited);
    // As it was before the acks; the bubble ends when more than 0 + 2400 is delivered.
    assert_eq!((state.bytes_in_flight, state.delivered, state.app_limited), (2_400, 0, true));
    assert!(send(&mut ledger, 1_110, 1_200).app_limited);

    // A full window is the limit, whatever the stack says of data.
    let mut ledger = self::ledger();
    send(&mut ledger, 1_000, 12_000);
    told(&mut ledger);
    ledger.on_acks_begin(at(1_100), |_| SendLimit::NoData);
    ledger.on_acked(at(1_100), &packet(1_000, 1_200));
    ledger.on_acks_complete(at(1_100), 10_800);
    ledger.commit();
    assert!(matches!(told(&mut ledger)[0].1, Told::Rtt(_)));
}

#[test]
fn the_limit_is_asked_once_at_the_beginning_of_a_frame() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 2_400);
    ledger.on_acks_begin(at(1_100), |_| SendLimit::Cwnd);
    ledger.on_acked(at(1_100), &packet(1_000, 1_200));
    ledger.on_acks_begin(at(1_100), |_| panic!("asked again in the same frame"));
    ledger.on_acks_complete(at(1_100), 1_200);
    let mut asked = false;
    ledger.on_acks_begin(at(1_100), |_| {
        asked = true;
        SendLimit::Unknown
    });
    assert!(asked, "the next frame");
}

#[test]
fn a_controller_without_use_for_rate_samples_gets_the_same_state_without_them() {
    let states = [true, false].map(|samples| {
        let mut ledger = Ledger::new(Spy { samples, ..Spy::default() }, at(1_000), 1_200);
        send(&mut ledger, 1_000, 6_000);
        let sent = ledger.on_sent(at(1_010), at(1_010), 6_000, PacketSpace::Application);
        assert_eq!(sent.snapshot.is_some(), samples);
        ledger.on_app_limited(at(1_020));
        ledger.on_acks_begin(at(1_100), |_| SendLimit::NoData);
        ledger.on_acked(at(1_100), &packet(1_000, 2_400));
        ledger.on_acks_complete(at(1_100), 9_600);
        ledger.on_lost(at(1_100), &LostPacket { bytes: 3_600, ..LostPacket::default() }, None);
        ledger.commit();
        // It had been declared lost.
        ledger.on_acked(at(1_110), &AckedPacket { was_lost: true, ..packet(1_000, 1_200) });
        ledger.on_acked(at(1_110), &packet(1_010, 6_000));
        ledger.commit();
        let mut told = told(&mut ledger);
        for (_, told) in &mut told {
            if let Told::Acked { sample, .. } = told {
                assert_eq!(sample.take().is_some(), samples);
            }
        }
        // 2400 + 1200 + 6000, of which 3600 were lost.
        let state = told.last().unwrap().0;
        assert_eq!((state.delivered, state.lost), (9_600, 3_600));
        told
    });
    assert_eq!(states[0], states[1]);
}

#[test]
fn a_frame_at_which_a_controller_panicked_is_not_told_again() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 6_000);
    ledger.on_acked(at(1_100), &packet(1_000, 1_200));
    ledger.controller.panics = true;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ledger.commit()));
    assert!(panicked.is_err());
    ledger.controller.panics = false;
    ledger.commit();
    ledger.on_acked(at(1_200), &packet(1_000, 2_400));
    ledger.commit();
    let acked: Vec<_> = told(&mut ledger)
        .into_iter()
        .filter_map(|(_, told)| match told {
            Told::Acked { packets, .. } => Some(packets.iter().map(|packet| packet.bytes).sum::<u64>()),
            _ => None,
        })
        .collect();
    assert_eq!(acked, [2_400]);
}

#[test]
fn a_send_into_an_empty_flight_is_a_restart_after_the_first_ack() {
    let mut ledger = ledger();
    // Not before anything was acked.
    send(&mut ledger, 1_500, 1_200);
    assert!(matches!(told(&mut ledger)[0].1, Told::Sent(_)));
    ack(&mut ledger, 1_600, &packet(1_500, 1_200), 0);
    // More acks of an empty flight do not move the moment at which it became empty.
    ack(&mut ledger, 1_700, &packet(1_500, 1_200), 0);
    told(&mut ledger);
    send(&mut ledger, 4_600, 1_200);
    let events = told(&mut ledger);
    assert_eq!(events[0].1, Told::IdleRestart(ms(3_000)));
    assert_eq!(events[0].0.bytes_in_flight, 0);
    assert!(matches!(events[1].1, Told::Sent(SentPacket { number: 1, bytes: 1_200, in_flight: true, .. })));
    send(&mut ledger, 4_700, 1_200);
    assert_eq!(told(&mut ledger).len(), 1);
}

#[test]
fn a_new_port_starts_with_an_empty_flight_and_keeps_the_rest() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 6_000);
    ack(&mut ledger, 1_100, &packet(1_000, 1_200), 4_800);
    told(&mut ledger);
    ledger.on_rebinding(at(1_150));
    let events = told(&mut ledger);
    let (state, event) = &events[0];
    assert_eq!(event, &Told::Path(PathChange::Rebinding));
    assert_eq!((state.prior_bytes_in_flight, state.bytes_in_flight), (4_800, 0));
    assert_eq!((state.delivered, state.next_number), (1_200, 1));
    assert_eq!(state.rtt.map(|rtt| rtt.smoothed), Some(ms(100)));
}

#[test]
fn a_smaller_datagram_size_is_a_black_hole_and_a_larger_one_was_found() {
    let mut ledger = ledger();
    ledger.on_mtu_update(1_452);
    ledger.on_mtu_update(1_200);
    let events = told(&mut ledger);
    assert_eq!((events[0].0.max_datagram_size, &events[0].1), (1_452, &Told::Mtu(MtuChange::Discovered)));
    assert_eq!((events[1].0.max_datagram_size, &events[1].1), (1_200, &Told::Mtu(MtuChange::BlackHole)));
}

#[test]
fn the_rtt_of_a_stack_that_measures_is_believed() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 1_200);
    send(&mut ledger, 1_010, 1_200);
    told(&mut ledger);
    let rtt = PathRtt { latest: ms(100), smoothed: ms(90), min: ms(80), var: ms(7) };
    ledger.on_rtt(at(1_100), at(1_000), &rtt);
    ledger.on_acked(at(1_100), &packet(1_000, 1_200));
    ledger.commit();
    let (state, event) = told(&mut ledger).remove(0);
    let sample = RttEvent { latest: ms(100), is_sample: true, is_first: true, ..RttEvent::default() };
    assert_eq!((state.rtt, event), (Some(rtt), Told::Rtt(sample)));
    assert_eq!(ledger.smoothed_rtt(), ms(90));
    // An ACK that gives no sample still has a raw RTT.
    ledger.on_acked(at(1_130), &packet(1_010, 1_200));
    ledger.commit();
    let (state, event) = told(&mut ledger).remove(0);
    let raw = RttEvent { latest: ms(120), is_sample: false, is_first: false, ..RttEvent::default() };
    assert_eq!((state.rtt, event), (Some(rtt), Told::Rtt(raw)));
}

#[test]
fn what_is_discarded_leaves_the_flight_and_is_neither_acked_nor_lost() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 3_600);
    told(&mut ledger);
    ledger.on_discarded(1_200, DiscardReason::KeysDiscarded);
    let (state, event) = told(&mut ledger).remove(0);
    assert_eq!(event, Told::Discarded(1_200, DiscardReason::KeysDiscarded));
    assert_eq!((state.prior_bytes_in_flight, state.bytes_in_flight), (3_600, 2_400));
    assert_eq!((state.delivered, state.lost), (0, 0));
    ledger.on_discarded(u64::MAX, DiscardReason::KeysDiscarded);
    assert_eq!(ledger.bytes_in_flight(), 0);
}

#[test]
fn limits_that_are_known_at_the_send_mark_what_is_sent_from_then_on() {
    let mut ledger = ledger();
    assert!(!send(&mut ledger, 1_000, 1_200).app_limited);
    ledger.on_app_limited(at(1_000));
    assert_eq!(told(&mut ledger)[1].1, Told::AppLimited);
    assert!(send(&mut ledger, 1_010, 1_200).app_limited);
    // Held back by nobody's word: the controller is not told.
    let mut ledger = self::ledger();
    ledger.set_handshake_ready(false);
    ledger.hold_back();
    assert!(send(&mut ledger, 1_000, 1_200).app_limited);
    let events = told(&mut ledger);
    assert_eq!(events.len(), 1);
    assert!(!events[0].0.handshake_ready);
}

#[test]
fn a_controller_that_holds_back_marks_what_it_sends() {
    let mut ledger = ledger();
    assert!(!send(&mut ledger, 1_000, 1_200).app_limited);
    ledger.controller.holds_back = true;
    assert!(send(&mut ledger, 1_010, 1_200).app_limited);
    // And after a frame, with what is in flight then: more than 1200 + 1200 must be delivered for the mark to end.
    ledger.controller.holds_back = false;
    ack(&mut ledger, 1_100, &packet(1_000, 1_200), 1_200);
    assert!(send(&mut ledger, 1_110, 1_200).app_limited);
}
