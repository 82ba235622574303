//! Transfers in virtual time.

use crate::{Link, Packet, Peer, Sender};
use cc_core::{CongestionController, Duration, Instant, Rate, Setup};

const LINK: Link =
    Link { rate: Rate::from_bytes_per_sec(1_250_000), delay: Duration::from_millis(10), queue: 25_000 };

/// Transfers `bytes`; the time that it took, and packets dropped.
fn transfer<C: CongestionController>(controller: C, bytes: u64, link: Link) -> (Duration, u64) {
    let mut sender: Sender<C, 64> = Sender::new(controller, Instant::ZERO, bytes);
    let mut peer: Peer<64> = Peer::new(link);
    let end = crate::transfer(&mut sender, &mut peer, Instant::from_secs(60));
    assert_eq!(peer.received(), bytes, "each byte arrives once");
    (end.unwrap().since(Instant::ZERO), peer.dropped())
}

#[test]
fn every_algorithm_fills_the_link() {
    // 4 MB at 1.25 MB/s take 3.2 s; 80 % of the link is 4 s.
    let setup = Setup::default();
    let check = |name: &str, (time, dropped): (Duration, u64)| {
        assert!(time < Duration::from_secs(4), "{name}: {time:?}, {dropped} packets dropped");
        assert!(time > Duration::from_millis(3_200), "{name}: {time:?}");
    };
    check("c4", transfer(cc_c4::C4::new(&setup.into()), 4_000_000, LINK));
    check("bbr", transfer(cc_bbr::Bbr::new(&setup.into()), 4_000_000, LINK));
    check("cubic", transfer(cc_cubic::Cubic::new(&setup.into()), 4_000_000, LINK));
    check("quicdc", transfer(cc_quicdc::QuicDc::new(&setup.into()), 4_000_000, LINK));
    check("westwood", transfer(cc_quicdc::Westwood::new(&setup.into()), 4_000_000, LINK));
    check("reno", transfer(cc_reno::Reno::new(&setup.into()), 4_000_000, LINK));
}

#[test]
fn a_transfer_whose_last_packets_are_lost_ends_by_probes() {
    // The queue holds two packets; ten leave at once.
    let link = Link { queue: 2_400, ..LINK };
    let reno = cc_reno::Reno::new(&cc_reno::Config::default());
    let (time, dropped) = transfer(reno, 12_000, link);
    assert!(dropped > 0);
    assert!(time < Duration::from_secs(10), "{time:?}");
}

#[test]
fn a_packet_arrives_after_its_turn_and_the_delay_and_two_are_acked_at_once() {
    let mut peer: Peer<4> = Peer::new(LINK);
    for number in 0..2 {
        peer.send(Instant::ZERO, &Packet { number, bytes: 1_250, carries_data: true });
    }
    // 1250 B at 1.25 MB/s are 1 ms each; 10 ms there, 10 ms back.
    assert_eq!(peer.poll(Instant::from_micros(21_999)), None);
    let ack = peer.poll(Instant::from_millis(22)).unwrap();
    assert_eq!((ack.numbers.as_slice(), ack.delay), ([0, 1].as_slice(), Duration::ZERO));
    assert_eq!(peer.received(), 2_500);
}

#[test]
fn a_single_packet_is_acked_after_25_ms() {
    let mut peer: Peer<4> = Peer::new(LINK);
    peer.send(Instant::ZERO, &Packet { number: 7, bytes: 1_250, carries_data: false });
    // 1 ms + 10 ms + 25 ms + 10 ms.
    assert_eq!(peer.poll(Instant::from_micros(45_999)), None);
    let ack = peer.poll(Instant::from_millis(46)).unwrap();
    assert_eq!((ack.numbers.as_slice(), ack.delay), ([7].as_slice(), Duration::from_millis(25)));
    assert_eq!(peer.received(), 0);
}

#[test]
fn what_does_not_fit_into_the_queue_is_dropped() {
    let mut peer: Peer<64> = Peer::new(LINK);
    for number in 0..21 {
        peer.send(Instant::ZERO, &Packet { number, bytes: 1_250, carries_data: true });
    }
    // 25 000 B / 1250 B = 20.
    assert_eq!(peer.dropped(), 1);
}
