//! Counts what the calls of the traces cost, on Cortex-M4F, and prints what objects take of RAM.
//!
//! `cost call ALGORITHM KIND NUMBER SUM MAX`: instructions of one kind of call. `ack` is all that an ACK frame without losses makes the stack
//! call: `on_ecn`, `on_rtt`, `on_ack`; `loss` is the calls of `on_loss` of a frame. `ram ALGORITHM CONTROLLER PATH`: bytes.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
mod arm {
    use cc_core::{CongestionController, Path, PathState};
    use cc_firmware::{Counter, Counts, Failure, RING, open_traces};
    use cc_replay::{Algorithm, Call, Observer, TraceEnd, replay};

    pub(crate) fn run() -> Result<(), Failure> {
        let counter = Counter::start().ok_or(Failure::Check("the counter was started before"))?;
        let costs = Algorithm::ALL.map(|_| Costs::default());
        let mut measure = Measure { counter, costs, trace: Costs::default(), frame: 0, losses: 0 };
        replay(open_traces()?, &mut measure)?;
        for (algorithm, costs) in Algorithm::ALL.into_iter().zip(measure.costs) {
            costs.sent.print("call", algorithm.name(), "sent");
            costs.ack.print("call", algorithm.name(), "ack");
            costs.loss.print("call", algorithm.name(), "loss");
        }
        print_ram::<cc_c4::C4>("c4");
        print_ram::<cc_bbr::Bbr>("bbr");
        print_ram::<cc_cubic::Cubic>("cubic");
        print_ram::<cc_quicdc::QuicDc>("quicdc");
        print_ram::<cc_quicdc::Westwood>("westwood");
        print_ram::<cc_reno::Reno>("reno");
        Ok(())
    }

    fn print_ram<C: CongestionController>(algorithm: &str) {
        let (controller, path) = (size_of::<C>(), size_of::<Path<C, RING>>());
        semihosting::println!("ram {algorithm} {controller} {path}");
    }

    /// Costs of one algorithm.
    #[derive(Clone, Copy, Default)]
    struct Costs {
        sent: Counts,
        ack: Counts,
        loss: Counts,
    }

    struct Measure {
        counter: Counter,
        costs: [Costs; Algorithm::ALL.len()],
        /// Costs of the trace that is under way.
        trace: Costs,
        /// Instructions of the ACK frame that is under way, and those of its losses.
        frame: u32,
        losses: u32,
    }

    impl Observer for Measure {
        fn call(&mut self, controller: &mut dyn CongestionController, path: &PathState, call: &Call<'_>) {
            let ((), instructions) = self.counter.count(|| call.apply(controller, path));
            match call {
                Call::PacketSent(_) => self.trace.sent.add(instructions),
                Call::Ecn(_) | Call::Rtt(_) => self.frame = self.frame.saturating_add(instructions),
                Call::Ack(ack) => {
                    self.frame = self.frame.saturating_add(instructions);
                    if ack.last {
                        self.trace.ack.add(core::mem::take(&mut self.frame));
                    }
                }
                Call::Loss(loss) => {
                    self.losses = self.losses.saturating_add(instructions);
                    if loss.last {
                        self.trace.loss.add(core::mem::take(&mut self.losses));
                    }
                }
                _ => {}
            }
        }

        fn on_trace(&mut self, trace: &TraceEnd<'_>) {
            let costs = core::mem::take(&mut self.trace);
            let algorithm = trace.header.algorithm;
            for (_, total) in Algorithm::ALL.into_iter().zip(&mut self.costs).filter(|(a, _)| *a == algorithm)
            {
                total.sent.merge(&costs.sent);
                total.ack.merge(&costs.ack);
                total.loss.merge(&costs.loss);
            }
            (self.frame, self.losses) = (0, 0);
        }
    }
}

#[cfg(target_arch = "arm")]
cc_firmware::program!(arm::run);

#[cfg(not(target_arch = "arm"))]
cc_firmware::program!(cc_firmware::not_here);
