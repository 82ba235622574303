//! Counts what a sender around a `Path` costs, on Cortex-M4F, in virtual time.
//!
//! `cost path ALGORITHM KIND NUMBER SUM MAX`: `sent` is a packet that was allowed to leave (window, pacer, bookkeeping, controller);
//! `ack` an ACK frame about up to two packets that declared nothing lost; `loss` one that did.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
mod arm {
    use cc_core::{CongestionController, Duration, Instant, Rate, Setup};
    use cc_embedding::{Link, Peer, Sender};
    use cc_firmware::{Counter, Counts, Failure, RING};

    /// 10 Mbit/s, 20 ms there and back, a queue of one bandwidth-delay product.
    const LINK: Link =
        Link { rate: Rate::from_bytes_per_sec(1_250_000), delay: Duration::from_millis(10), queue: 25_000 };

    /// Bytes to transfer: long enough for the loss-based algorithms to lose packets a few times.
    const BYTES: u64 = 10_000_000;

    pub(crate) fn run() -> Result<(), Failure> {
        let counter = Counter::start().ok_or(Failure::Check("the counter was started before"))?;
        let setup = Setup::default();
        measure(&counter, "c4", cc_c4::C4::new(&setup.into()))?;
        measure(&counter, "bbr", cc_bbr::Bbr::new(&setup.into()))?;
        measure(&counter, "cubic", cc_cubic::Cubic::new(&setup.into()))?;
        measure(&counter, "quicdc", cc_quicdc::QuicDc::new(&setup.into()))?;
        measure(&counter, "westwood", cc_quicdc::Westwood::new(&setup.into()))?;
        measure(&counter, "reno", cc_reno::Reno::new(&setup.into()))
    }

    #[inline(never)]
    fn measure<C: CongestionController>(
        counter: &Counter,
        algorithm: &str,
        controller: C,
    ) -> Result<(), Failure> {
        let mut sender: Sender<C, RING> = Sender::new(controller, Instant::ZERO, BYTES);
        let mut peer: Peer<RING> = Peer::new(LINK);
        let (mut sent, mut acks, mut losses) = (Counts::default(), Counts::default(), Counts::default());
        let mut now = Instant::ZERO;
        while !sender.is_done() {
            while let Some(ack) = peer.poll(now) {
                let lost = sender.path().lost_bytes();
                let ((), instructions) = counter.count(|| sender.on_ack(now, &ack));
                let counts = if sender.path().lost_bytes() > lost { &mut losses } else { &mut acks };
                counts.add(instructions);
            }
            sender.on_time(now);
            loop {
                let (packet, instructions) = counter.count(|| sender.poll_transmit(now));
                let Some(packet) = packet else { break };
                sent.add(instructions);
                peer.send(now, &packet);
            }
            let next = sender.poll_at().into_iter().chain(peer.poll_at()).min();
            now = next.unwrap_or(now).max(now);
            if now > Instant::from_secs(100) {
                return Err(Failure::Check("the transfer is finished after 100 s"));
            }
        }
        sent.print("path", algorithm, "sent");
        acks.print("path", algorithm, "ack");
        losses.print("path", algorithm, "loss");
        Ok(())
    }
}

#[cfg(target_arch = "arm")]
cc_firmware::program!(arm::run);

#[cfg(not(target_arch = "arm"))]
cc_firmware::program!(cc_firmware::not_here);
