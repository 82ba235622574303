//! Sends a megabyte to a peer behind a bottleneck, with congestion control, and a timer of a millisecond.
//!
//! The peer is compiled into the firmware and is polled as a network device would be. The processor sleeps whenever
//! there is nothing to do; no packet is paced by waiting in a loop.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
mod arm {
    use cc_c4::{C4, Config};
    use cc_core::{Duration, Rate};
    use cc_embedding::{Link, Peer, Sender};
    use cc_firmware::{Clock, Failure};
    use semihosting::println;

    /// 10 Mbit/s, 20 ms there and back, a queue of one bandwidth-delay product.
    const LINK: Link =
        Link { rate: Rate::from_bytes_per_sec(1_250_000), delay: Duration::from_millis(10), queue: 25_000 };

    /// Bytes to transfer: 1.6 s at the rate of the link.
    const BYTES: u64 = 2_000_000;

    /// What the sender must reach at least, in percent of the link.
    const WANTED_PERCENT: u64 = 80;

    /// Packets in flight: link and queue hold 42 of 1200 bytes.
    const PACKETS: usize = 64;

    pub(crate) fn run() -> Result<(), Failure> {
        let clock = Clock::start().ok_or(Failure::Check("the clock was started before"))?;
        let start = clock.now();
        let config = Config { now: start, ..Config::default() };
        let mut sender: Sender<C4, PACKETS> = Sender::new(C4::new(&config), start, BYTES);
        let mut device: Peer<PACKETS> = Peer::new(LINK);
        let (mut packets, mut sleeps) = (0_u64, 0_u64);

        while !sender.is_done() {
            let now = clock.now();
            while let Some(ack) = device.poll(now) {
                sender.on_ack(now, &ack);
            }
            sender.on_time(now);
            while let Some(packet) = sender.poll_transmit(now) {
                device.send(now, &packet);
                packets = packets.saturating_add(1);
            }
            // A real device would wake the processor by an interrupt.
            let wake = sender.poll_at().into_iter().chain(device.poll_at()).min();
            clock.sleep_until(wake.unwrap_or(now));
            sleeps = sleeps.saturating_add(1);
            if now > start.after(Duration::from_secs(60)) {
                return Err(Failure::Check("the transfer is finished after a minute"));
            }
        }

        let took = clock.now().since(start);
        report(&sender, &device, took, packets, sleeps);
        check(&device, took)
    }

    fn report<const N: usize>(
        sender: &Sender<C4, N>,
        device: &Peer<N>,
        took: Duration,
        packets: u64,
        sleeps: u64,
    ) {
        println!(
            "embedding: c4: {} bytes in {} ms ({} % of the link), {packets} packets sent, {} dropped, {sleeps} sleeps, RTT {} us at least, {} us smoothed",
            device.received(),
            took.as_millis(),
            percent(device.received(), took),
            device.dropped(),
            sender.path().rtt().min().as_micros(),
            sender.path().rtt().smoothed().as_micros(),
        );
    }

    fn check<const N: usize>(device: &Peer<N>, took: Duration) -> Result<(), Failure> {
        if device.received() != BYTES {
            return Err(Failure::Check("each byte arrives once"));
        }
        if took < LINK.rate.time_to_send(BYTES) {
            return Err(Failure::Check("the link is not faster than its rate"));
        }
        if percent(device.received(), took) < WANTED_PERCENT {
            return Err(Failure::Check("the sender uses the link"));
        }
        Ok(())
    }

    /// How much of the link was used, in percent.
    fn percent(bytes: u64, took: Duration) -> u64 {
        bytes.saturating_mul(100).checked_div(LINK.rate.bytes_in(took)).unwrap_or(0)
    }

    #[cortex_m_rt::exception]
    fn SysTick() {
        cc_firmware::on_timer_interrupt();
    }
}

#[cfg(target_arch = "arm")]
cc_firmware::program!(arm::run);

#[cfg(not(target_arch = "arm"))]
cc_firmware::program!(cc_firmware::not_here);
