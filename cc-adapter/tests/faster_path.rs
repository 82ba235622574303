//! What an adapter tells a controller is enough to find out that a path has become faster.

use cc_adapter::{Ledger, SendTimes};
use cc_core::{AckedPacket, CongestionController, Duration, Instant, PacketSpace, SendLimit};
use std::collections::VecDeque;

const DATAGRAM: u64 = 1_200;
/// Without a queue.
const RTT: Duration = Duration::from_millis(40);
/// 10 Mbit/s for three seconds, then 40: 960 and 240 us a datagram.
const SLOW: Duration = Duration::from_micros(960);
const FAST: Duration = Duration::from_micros(240);
const FASTER_AT: Instant = Instant::from_millis(3_000);
const END: Instant = Instant::from_millis(18_000);

/// A sender that always has data, over a path that loses nothing, told in quinn's manner: how much of the fast path it uses in
/// the last second, in percent.
fn use_of_the_faster_path(controller: impl CongestionController) -> u64 {
    let mut ledger = Ledger::new(controller, Instant::ZERO, DATAGRAM);
    let mut times = SendTimes::new();
    // When each packet was sent, and when its ack comes.
    let mut under_way: VecDeque<(Instant, Instant)> = VecDeque::new();
    let (mut now, mut link_free) = (Instant::ZERO, Instant::ZERO);
    let mut late = 0;
    while now < END {
        while ledger.bytes_in_flight() + DATAGRAM <= ledger.window_for_rate() {
            let sent = ledger.on_sent(now, now, DATAGRAM, PacketSpace::Application);
            times.on_sent(now, DATAGRAM, &sent.snapshot, ledger.smoothed_rtt());
            let service = if now < FASTER_AT { SLOW } else { FAST };
            link_free = link_free.max(now).after(service);
            under_way.push_back((now, link_free.after(RTT)));
        }
        let Some((sent_at, acked_at)) = under_way.pop_front() else { panic!("a window of nothing") };
        now = acked_at;
        ledger.on_acks_begin(now, |_| SendLimit::Cwnd);
        let snapshot = times.on_acked(sent_at, DATAGRAM);
        let packet =
            AckedPacket { sent_at, bytes: DATAGRAM, packets: Some(1), snapshot, ..AckedPacket::default() };
        ledger.on_acked(now, &packet);
        ledger.on_acks_complete(now, ledger.bytes_in_flight() - DATAGRAM);
        ledger.commit();
        late += u64::from(now >= Instant::from_millis(17_000));
    }
    100 * late * FAST.as_micros() / 1_000_000
}

#[test]
fn c4_probes_for_more() {
    let used = use_of_the_faster_path(cc_c4::C4::new(&cc_c4::Config::default()));
    assert!(used >= 85, "{used} %");
}

#[test]
fn bbr_probes_for_more() {
    let used = use_of_the_faster_path(cc_bbr::Bbr::new(&cc_bbr::Config::default()));
    assert!(used >= 85, "{used} %");
}
