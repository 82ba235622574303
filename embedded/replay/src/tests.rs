//! Both directions of the format, what the hash sees, and files that are damaged.

use crate::words::{AckHead, Discarded, LossHead, Words};
use crate::{
    Algorithm, Call, Error, ErrorKind, Hash, Header, MAGIC, MAX_PACKETS, Name, Observer, Reader, Record,
    Source, TraceEnd, TraceSetup, TraceWriter, end_of_file, hash_outputs, replay,
};
use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent,
    Instant, LossCause, LossEvent, LostPacket, MtuChange, PacketSnapshot, PacketSpace, PathChange, PathRtt,
    PathState, PeerInstant, Rate, RateSample, ResumeHint, RttEvent, SamplingRule, SendLimit, SentPacket,
    Snapshot, SpuriousLoss,
};
use proptest::prelude::*;
use std::format;
use std::string::String;
use std::vec::Vec;

/// Every kind of call, with different numbers in all fields.
fn every_call() -> Vec<(PathState, Call<'static>)> {
    const SNAPSHOT: PacketSnapshot = PacketSnapshot {
        delivered: 1,
        delivered_at: Some(Instant::from_nanos(2)),
        first_sent_at: Instant::from_nanos(3),
        lost: 4,
        bytes_in_flight: 5,
        app_limited: true,
    };
    static ACKED: [AckedPacket; 2] = [
        AckedPacket {
            number: Some(6),
            space: PacketSpace::Handshake,
            sent_at: Instant::from_nanos(7),
            bytes: 8,
            packets: Some(9),
            received_at: Some(PeerInstant::from_nanos(10)),
            snapshot: Some(SNAPSHOT),
            was_lost: true,
        },
        AckedPacket {
            number: None,
            space: PacketSpace::Application,
            sent_at: Instant::from_nanos(u64::MAX),
            bytes: u64::MAX,
            packets: None,
            received_at: None,
            snapshot: None,
            was_lost: false,
        },
    ];
    static LOST: [LostPacket; 2] = [
        LostPacket {
            number: Some(11),
            space: PacketSpace::Initial,
            sent_at: Instant::from_nanos(12),
            bytes: 13,
            snapshot: Some(SNAPSHOT),
            starts_run: Some(false),
        },
        LostPacket {
            number: None,
            space: PacketSpace::Application,
            sent_at: Instant::ZERO,
            bytes: 14,
            snapshot: None,
            starts_run: None,
        },
    ];
    let path = PathState {
        now: Instant::from_nanos(15),
        bytes_in_flight: 16,
        prior_bytes_in_flight: 17,
        delivered: 18,
        lost: 19,
        next_number: 20,
        oldest_outstanding: Some(21),
        rtt: Some(PathRtt {
            latest: Duration::from_nanos(22),
            smoothed: Duration::from_nanos(23),
            min: Duration::from_nanos(24),
            var: Duration::from_nanos(25),
        }),
        max_datagram_size: 26,
        app_limited: true,
        handshake_ready: false,
    };
    let ack = AckEvent {
        packets: &ACKED,
        last: true,
        rate_sample: Some(RateSample {
            number: Some(27),
            sent_at: Instant::from_nanos(28),
            snapshot: SNAPSHOT,
            delivered: 29,
            send_interval: Duration::from_nanos(30),
            ack_interval: Duration::from_nanos(31),
            lost_since_sent: 32,
            newly_acked: 33,
            newly_lost: 34,
            late_acked: 35,
            app_limited: false,
            moved_reference: true,
        }),
        limited_by: SendLimit::Pacer,
        max_bytes_in_flight: 36,
        app_limited_at: Some(Instant::from_nanos(37)),
        newest_data_sent_at: None,
    };
    let loss =
        LossEvent { packets: &LOST, last: false, persistent_congestion: true, cause: Some(LossCause::Timer) };
    let ecn = EcnEvent {
        space: PacketSpace::Application,
        ce: Some(38),
        ect0: None,
        ect1: Some(39),
        newly_acked: Some(40),
        largest_acked: Some(41),
        largest_acked_sent_at: Instant::from_nanos(42),
    };
    let rtt = RttEvent {
        space: PacketSpace::Application,
        latest: Duration::from_nanos(43),
        ack_delay: Some(Duration::from_nanos(44)),
        is_sample: true,
        is_first: false,
    };
    let sent = SentPacket {
        number: 45,
        space: PacketSpace::Application,
        bytes: 46,
        in_flight: true,
        sent_at: Instant::from_nanos(47),
        carries_data: true,
    };
    let spurious = SpuriousLoss::Packet { number: Some(48), sent_at: Instant::from_nanos(49), bytes: 50 };
    let calls = [
        Call::MtuUpdate(MtuChange::BlackHole),
        Call::PacketSent(sent),
        Call::Ecn(ecn),
        Call::Rtt(rtt),
        Call::Loss(loss),
        Call::SpuriousLoss(spurious),
        Call::SpuriousLoss(SpuriousLoss::All),
        Call::Ack(ack),
        Call::Ack(AckEvent {
            rate_sample: None,
            packets: &[],
            newest_data_sent_at: Some(Instant::MAX),
            ..ack
        }),
        Call::AppLimited,
        Call::IdleRestart(Duration::from_nanos(51)),
        Call::Discarded(52, DiscardReason::ZeroRttRejected),
        Call::PathChange(PathChange::New),
        Call::ResumeHint(ResumeHint { cwnd: 53, rtt: Duration::from_nanos(54) }),
        Call::AckPolicy(AckPolicy { packets: 55, max_ack_delay: Duration::from_nanos(56) }),
        Call::EcnState(EcnCodepoint::Ect1),
    ];
    calls.into_iter().map(|call| (path, call)).chain([(PathState::default(), Call::AppLimited)]).collect()
}

fn header(algorithm: Algorithm) -> Header {
    let setup = TraceSetup {
        max_datagram_size: 1_252,
        initial_window: 15_360,
        paces: true,
        fast_convergence: false,
        seed: u64::MAX,
    };
    Header { algorithm, scenario: Name::try_from("alone").unwrap(), main: Algorithm::Reno, flow: 3, setup }
}

/// A file with one trace of every algorithm.
fn file() -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    for algorithm in Algorithm::ALL {
        let mut writer = TraceWriter::new(Vec::new(), &header(algorithm));
        for (path, call) in every_call() {
            writer.call(&path, &call);
        }
        file.extend(writer.finish());
    }
    end_of_file(&mut file, Algorithm::ALL.len() as u64);
    file
}

/// Gives bytes one by one.
struct Drip<'a>(&'a [u8]);

impl Source for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        self.0.read(&mut buffer[..1])
    }
}

#[test]
fn what_was_written_comes_back() {
    let file = file();
    let mut reader = Reader::new(Drip(&file)).unwrap();
    for algorithm in Algorithm::ALL {
        let Record::Trace(read) = reader.read_record().unwrap() else { panic!("a header") };
        assert_eq!(read, header(algorithm));
        for (path, call) in every_call() {
            let Record::Call(read_path, read_call) = reader.read_record().unwrap() else { panic!("a call") };
            assert_eq!(read_path, path);
            // Events have no `PartialEq`.
            assert_eq!(format!("{read_call:?}"), format!("{call:?}"));
        }
        assert!(matches!(reader.read_record().unwrap(), Record::EndOfTrace));
    }
    assert!(matches!(reader.read_record().unwrap(), Record::EndOfFile));
}

#[test]
fn a_replay_makes_every_call_of_every_trace() {
    #[derive(Default)]
    struct Calls(Vec<(String, u64)>);
    impl Observer for Calls {
        fn on_trace(&mut self, trace: &TraceEnd<'_>) {
            self.0.push((trace.header.algorithm.name().into(), trace.calls));
        }
    }
    let mut calls = Calls::default();
    let totals = replay(file().as_slice(), &mut calls).unwrap();
    let expected = Algorithm::ALL.map(|algorithm| (algorithm.name().into(), every_call().len() as u64));
    assert_eq!(calls.0, expected);
    assert!(totals.iter().all(|total| total.traces == 1 && total.calls == every_call().len() as u64));
    // Different controllers say different things.
    let mut hashes: Vec<u64> = totals.iter().map(|total| total.hash.get()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    // QUIC-DC's modes do the same until there was a queue.
    assert!(hashes.len() >= Algorithm::ALL.len() - 2);
}

/// A controller of which one output differs.
#[derive(Clone, Debug, Default)]
struct Outputs {
    cwnd: u64,
    rate: Option<Rate>,
    quantum: u64,
    beyond: bool,
    ecn: EcnCodepoint,
    policy: Option<AckPolicy>,
    rule: SamplingRule,
    limited: bool,
    samples: bool,
    snapshot: Snapshot,
}

impl CongestionController for Outputs {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {}
    fn on_ack(&mut self, _: &PathState, _: &AckEvent<'_>) {}
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {}
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {}
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
    fn cwnd(&self) -> u64 {
        self.cwnd
    }
    fn send_quantum(&self) -> u64 {
        self.quantum
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.beyond
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        self.ecn
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        self.policy
    }
    fn sampling_rule(&self) -> SamplingRule {
        self.rule
    }
    fn marks_app_limited(&self) -> bool {
        self.limited
    }
    fn uses_rate_samples(&self) -> bool {
        self.samples
    }
    fn snapshot(&self) -> Snapshot {
        self.snapshot
    }
}

#[test]
fn any_output_that_changes_changes_the_hash() {
    let of = |change: fn(&mut Outputs)| {
        let mut outputs = Outputs::default();
        change(&mut outputs);
        let mut hash = Hash::new();
        hash_outputs(&mut hash, &outputs);
        hash.get()
    };
    let changes: [fn(&mut Outputs); 21] = [
        |_| {},
        |outputs| outputs.cwnd = 1,
        |outputs| outputs.rate = Some(Rate::ZERO),
        |outputs| outputs.rate = Some(Rate::from_bytes_per_sec(1)),
        |outputs| outputs.quantum = 1,
        |outputs| outputs.beyond = true,
        |outputs| outputs.ecn = EcnCodepoint::Ect0,
        |outputs| outputs.policy = Some(AckPolicy { packets: 0, max_ack_delay: Duration::ZERO }),
        |outputs| outputs.rule = SamplingRule::LastAcceptedSample { min_ack_interval: Duration::ZERO },
        |outputs| outputs.limited = true,
        |outputs| outputs.samples = true,
        |outputs| outputs.snapshot.phase = "startup",
        |outputs| outputs.snapshot.startup = true,
        |outputs| outputs.snapshot.cwnd = 1,
        |outputs| outputs.snapshot.pacing_rate = Some(Rate::ZERO),
        |outputs| outputs.snapshot.ssthresh = Some(0),
        |outputs| outputs.snapshot.bandwidth = Some(Rate::ZERO),
        |outputs| outputs.snapshot.model_rtt = Some(Duration::ZERO),
        |outputs| outputs.snapshot.queueing_delay = Some(Duration::ZERO),
        |outputs| outputs.snapshot.delay_source = Some(cc_core::DelaySource::ReceiveTimes),
        |outputs| outputs.snapshot.congestion_events = 1,
    ];
    let mut hashes: Vec<u64> = changes.into_iter().map(of).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), changes.len());
}

fn kind_of(file: &[u8]) -> Result<(), ErrorKind> {
    replay(file, &mut ()).map(|_| ()).map_err(|error| error.kind)
}

#[test]
fn a_file_that_ends_too_early_is_an_error_wherever_it_ends() {
    let file = file();
    assert_eq!(kind_of(&file), Ok(()));
    for length in 0..file.len() {
        let expected = if length < MAGIC.len() { ErrorKind::NoTraces } else { ErrorKind::Truncated };
        assert_eq!(kind_of(&file[..length]), Err(expected), "{length} bytes");
    }
}

#[test]
fn what_no_file_has_is_named_in_the_error() {
    let with = |tail: &[u8]| kind_of(&[MAGIC.as_slice(), tail].concat());
    assert_eq!(kind_of(b"CCTRACE2"), Err(ErrorKind::NoTraces));
    // Marks: 32 begins a trace, 33 ends the file, 0 ends a trace.
    assert_eq!(with(&[0]), Err(ErrorKind::UnexpectedMark(0)));
    assert_eq!(with(&[33, 0]), Ok(()));
    assert_eq!(with(&[33, 1]), Err(ErrorKind::WrongCount));
    // Algorithm 8; a name of 41 bytes; a name that is no text.
    assert_eq!(with(&[32, 8]), Err(ErrorKind::NoSuchValue));
    assert_eq!(with(&[&[32, 0, 41], [b'a'; 41].as_slice()].concat()), Err(ErrorKind::BadName));
    assert_eq!(with(&[32, 0, 1, 0xff]), Err(ErrorKind::BadName));
    // A number of more than 64 bits: ten digits of which the last is 2.
    let number = [&[32], [0xff; 9].as_slice(), &[2]].concat();
    assert_eq!(with(&number), Err(ErrorKind::NumberTooLarge));
    // A trace with nothing set, and then: a mark that no call has; a word that a path does not have; flag 16 of four.
    let trace = [32, 0, 0, 0, 0, 0];
    assert_eq!(with(&[&trace, [15, 0].as_slice()].concat()), Err(ErrorKind::UnexpectedMark(15)));
    assert_eq!(with(&[&trace, [6, 0x80, 0x40].as_slice()].concat()), Err(ErrorKind::NoSuchValue));
    assert_eq!(with(&[&trace, [6, 0x80, 0x20, 32].as_slice()].concat()), Err(ErrorKind::NoSuchValue));
    // More packets than a call may have.
    let packets = [0].repeat(MAX_PACKETS + 1);
    let acks = [&trace, [2, 0, 0, 9].as_slice(), &packets].concat();
    assert_eq!(with(&acks), Err(ErrorKind::TooManyPackets));
}

#[test]
fn an_error_says_where() {
    let error = Error { kind: ErrorKind::Truncated, at: 9 };
    assert_eq!(format!("{error}"), "traces: byte 9: Truncated");
}

/// Words that are a structure come back from it.
fn check<T: Words<N>, const N: usize>(words: &[u64]) -> bool {
    let words: [u64; N] = words[..N].try_into().unwrap();
    T::from_words(&words).is_none_or(|structure| structure.words() == words)
}

proptest! {
    #[test]
    fn words_are_read_as_what_gives_these_words_or_not_at_all(
        words in prop::collection::vec(prop_oneof![0..4_u64, any::<u64>()], 16),
    ) {
        prop_assert!(check::<PathState, 13>(&words));
        prop_assert!(check::<SentPacket, 5>(&words));
        prop_assert!(check::<PacketSnapshot, 6>(&words));
        prop_assert!(check::<AckedPacket, 13>(&words));
        prop_assert!(check::<LostPacket, 11>(&words));
        prop_assert!(check::<RateSample, 16>(&words));
        prop_assert!(check::<AckHead, 5>(&words));
        prop_assert!(check::<LossHead, 2>(&words));
        prop_assert!(check::<EcnEvent, 8>(&words));
        prop_assert!(check::<RttEvent, 4>(&words));
        prop_assert!(check::<SpuriousLoss, 4>(&words));
        prop_assert!(check::<Discarded, 2>(&words));
        prop_assert!(check::<AckPolicy, 2>(&words));
        prop_assert!(check::<TraceSetup, 4>(&words));
    }

    #[test]
    fn a_damaged_file_is_an_error_or_another_file_but_no_panic(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut file = file();
        for (place, byte) in places {
            let place = place.index(file.len());
            file[place] = byte;
        }
        let _ = kind_of(&file);
    }

    #[test]
    fn noise_is_no_panic(noise in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let _ = kind_of(&[MAGIC.as_slice(), &[32, 0, 0, 0, 0, 0], &noise].concat());
    }
}
