//! Handing the methods of a controller on to another one.

/// Hands the methods of [`CongestionController`](cc_core::CongestionController) on to a field that is a controller: all of them, those
/// with default bodies too, but for those that are named as the implementation's own.
///
/// It stands inside the `impl`. A wrapper that writes the methods down by hand takes the default body of each that it forgets, and
/// the inner controller never hears of the event. Here a method that is not named is handed on; one that is named and is also
/// handed on, or the other way round, is an error of the compiler; a name that is no method is one too. What is left, a name
/// without a body, is found by `clippy::missing_trait_methods`, a lint that is off by default: turn it on for the `impl`.
///
/// ```
/// use cc_core::{AckEvent, CongestionController, PathState};
///
/// /// Counts the bytes acked.
/// #[derive(Clone, Debug)]
/// struct Counting<C> {
///     inner: C,
///     acked: u64,
/// }
///
/// #[deny(clippy::missing_trait_methods)]
/// impl<C: CongestionController> CongestionController for Counting<C> {
///     fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
///         self.acked += ack.packets.iter().map(|packet| packet.bytes).sum::<u64>();
///         self.inner.on_ack(path, ack);
///     }
///     cc_testkit::delegate_controller! { inner except on_ack }
/// }
///
/// let counting = Counting { inner: cc_reno::Reno::new(&Default::default()), acked: 0 };
/// assert_eq!(counting.send_quantum(), 3_000); // NewReno's, not the default body's 12000
/// ```
///
/// ```compile_fail
/// # use cc_core::CongestionController;
/// # #[derive(Clone, Debug)]
/// # struct Fixed<C>(C);
/// # #[derive(Clone, Debug)]
/// # struct Wrapper<C> { inner: C }
/// impl<C: CongestionController> CongestionController for Wrapper<C> {
///     cc_testkit::delegate_controller! { inner except on_pakcet_sent }
/// }
/// ```
#[macro_export]
macro_rules! delegate_controller {
    ($inner:ident) => {
        $crate::delegate_controller! { $inner except }
    };
    ($inner:ident except $($own:ident),* $(,)?) => {
        $($crate::__delegate_unless! { @known $own })*
        $crate::__delegate_unless! { on_packet_sent [$($own)*]
            fn on_packet_sent(&mut self, path: &$crate::__core::PathState, packet: &$crate::__core::SentPacket) {
                $crate::__core::CongestionController::on_packet_sent(&mut self.$inner, path, packet);
            }
        }
        $crate::__delegate_unless! { on_ack [$($own)*]
            fn on_ack(&mut self, path: &$crate::__core::PathState, ack: &$crate::__core::AckEvent<'_>) {
                $crate::__core::CongestionController::on_ack(&mut self.$inner, path, ack);
            }
        }
        $crate::__delegate_unless! { on_loss [$($own)*]
            fn on_loss(&mut self, path: &$crate::__core::PathState, loss: &$crate::__core::LossEvent<'_>) {
                $crate::__core::CongestionController::on_loss(&mut self.$inner, path, loss);
            }
        }
        $crate::__delegate_unless! { on_ecn [$($own)*]
            fn on_ecn(&mut self, path: &$crate::__core::PathState, ecn: &$crate::__core::EcnEvent) {
                $crate::__core::CongestionController::on_ecn(&mut self.$inner, path, ecn);
            }
        }
        $crate::__delegate_unless! { pacing_rate [$($own)*]
            fn pacing_rate(&self) -> ::core::option::Option<$crate::__core::Rate> {
                $crate::__core::CongestionController::pacing_rate(&self.$inner)
            }
        }
        $crate::__delegate_unless! { cwnd [$($own)*]
            fn cwnd(&self) -> u64 {
                $crate::__core::CongestionController::cwnd(&self.$inner)
            }
        }
        $crate::__delegate_unless! { on_rtt [$($own)*]
            fn on_rtt(&mut self, path: &$crate::__core::PathState, rtt: &$crate::__core::RttEvent) {
                $crate::__core::CongestionController::on_rtt(&mut self.$inner, path, rtt);
            }
        }
        $crate::__delegate_unless! { on_app_limited [$($own)*]
            fn on_app_limited(&mut self, path: &$crate::__core::PathState) {
                $crate::__core::CongestionController::on_app_limited(&mut self.$inner, path);
            }
        }
        $crate::__delegate_unless! { on_idle_restart [$($own)*]
            fn on_idle_restart(&mut self, path: &$crate::__core::PathState, idle: $crate::__core::Duration) {
                $crate::__core::CongestionController::on_idle_restart(&mut self.$inner, path, idle);
            }
        }
        $crate::__delegate_unless! { on_spurious_loss [$($own)*]
            fn on_spurious_loss(&mut self, path: &$crate::__core::PathState, spurious: &$crate::__core::SpuriousLoss) {
                $crate::__core::CongestionController::on_spurious_loss(&mut self.$inner, path, spurious);
            }
        }
        $crate::__delegate_unless! { on_discarded [$($own)*]
            fn on_discarded(
                &mut self,
                path: &$crate::__core::PathState,
                bytes: u64,
                reason: $crate::__core::DiscardReason,
            ) {
                $crate::__core::CongestionController::on_discarded(&mut self.$inner, path, bytes, reason);
            }
        }
        $crate::__delegate_unless! { on_mtu_update [$($own)*]
            fn on_mtu_update(&mut self, path: &$crate::__core::PathState, change: $crate::__core::MtuChange) {
                $crate::__core::CongestionController::on_mtu_update(&mut self.$inner, path, change);
            }
        }
        $crate::__delegate_unless! { on_path_change [$($own)*]
            fn on_path_change(&mut self, path: &$crate::__core::PathState, change: $crate::__core::PathChange) {
                $crate::__core::CongestionController::on_path_change(&mut self.$inner, path, change);
            }
        }
        $crate::__delegate_unless! { on_resume_hint [$($own)*]
            fn on_resume_hint(&mut self, path: &$crate::__core::PathState, hint: &$crate::__core::ResumeHint) {
                $crate::__core::CongestionController::on_resume_hint(&mut self.$inner, path, hint);
            }
        }
        $crate::__delegate_unless! { on_ack_policy [$($own)*]
            fn on_ack_policy(&mut self, path: &$crate::__core::PathState, policy: &$crate::__core::AckPolicy) {
                $crate::__core::CongestionController::on_ack_policy(&mut self.$inner, path, policy);
            }
        }
        $crate::__delegate_unless! { on_ecn_state [$($own)*]
            fn on_ecn_state(&mut self, path: &$crate::__core::PathState, codepoint: $crate::__core::EcnCodepoint) {
                $crate::__core::CongestionController::on_ecn_state(&mut self.$inner, path, codepoint);
            }
        }
        $crate::__delegate_unless! { send_quantum [$($own)*]
            fn send_quantum(&self) -> u64 {
                $crate::__core::CongestionController::send_quantum(&self.$inner)
            }
        }
        $crate::__delegate_unless! { may_send_beyond_cwnd [$($own)*]
            fn may_send_beyond_cwnd(&self) -> bool {
                $crate::__core::CongestionController::may_send_beyond_cwnd(&self.$inner)
            }
        }
        $crate::__delegate_unless! { wanted_ecn [$($own)*]
            fn wanted_ecn(&self) -> $crate::__core::EcnCodepoint {
                $crate::__core::CongestionController::wanted_ecn(&self.$inner)
            }
        }
        $crate::__delegate_unless! { wanted_ack_policy [$($own)*]
            fn wanted_ack_policy(&self) -> ::core::option::Option<$crate::__core::AckPolicy> {
                $crate::__core::CongestionController::wanted_ack_policy(&self.$inner)
            }
        }
        $crate::__delegate_unless! { sampling_rule [$($own)*]
            fn sampling_rule(&self) -> $crate::__core::SamplingRule {
                $crate::__core::CongestionController::sampling_rule(&self.$inner)
            }
        }
        $crate::__delegate_unless! { uses_rate_samples [$($own)*]
            fn uses_rate_samples(&self) -> bool {
                $crate::__core::CongestionController::uses_rate_samples(&self.$inner)
            }
        }
        $crate::__delegate_unless! { marks_app_limited [$($own)*]
            fn marks_app_limited(&self) -> bool {
                $crate::__core::CongestionController::marks_app_limited(&self.$inner)
            }
        }
        $crate::__delegate_unless! { snapshot [$($own)*]
            fn snapshot(&self) -> $crate::__core::Snapshot {
                $crate::__core::CongestionController::snapshot(&self.$inner)
            }
        }
    };
}

/// `NAME [OWN...] ITEM`: the item, unless its name is one of those in brackets. `@known NAME`: nothing, if that is a method.
#[doc(hidden)]
#[macro_export]
macro_rules! __delegate_unless {
    (@known on_packet_sent) => {};
    (@known on_ack) => {};
    (@known on_loss) => {};
    (@known on_ecn) => {};
    (@known pacing_rate) => {};
    (@known cwnd) => {};
    (@known on_rtt) => {};
    (@known on_app_limited) => {};
    (@known on_idle_restart) => {};
    (@known on_spurious_loss) => {};
    (@known on_discarded) => {};
    (@known on_mtu_update) => {};
    (@known on_path_change) => {};
    (@known on_resume_hint) => {};
    (@known on_ack_policy) => {};
    (@known on_ecn_state) => {};
    (@known send_quantum) => {};
    (@known may_send_beyond_cwnd) => {};
    (@known wanted_ecn) => {};
    (@known wanted_ack_policy) => {};
    (@known sampling_rule) => {};
    (@known uses_rate_samples) => {};
    (@known marks_app_limited) => {};
    (@known snapshot) => {};
    (@known $other:ident) => {
        ::core::compile_error!(::core::concat!("`", ::core::stringify!($other), "` is no method of a controller"));
    };
    ($name:ident [] $($item:tt)*) => { $($item)* };
    (on_packet_sent [on_packet_sent $($own:ident)*] $($item:tt)*) => {};
    (on_ack [on_ack $($own:ident)*] $($item:tt)*) => {};
    (on_loss [on_loss $($own:ident)*] $($item:tt)*) => {};
    (on_ecn [on_ecn $($own:ident)*] $($item:tt)*) => {};
    (pacing_rate [pacing_rate $($own:ident)*] $($item:tt)*) => {};
    (cwnd [cwnd $($own:ident)*] $($item:tt)*) => {};
    (on_rtt [on_rtt $($own:ident)*] $($item:tt)*) => {};
    (on_app_limited [on_app_limited $($own:ident)*] $($item:tt)*) => {};
    (on_idle_restart [on_idle_restart $($own:ident)*] $($item:tt)*) => {};
    (on_spurious_loss [on_spurious_loss $($own:ident)*] $($item:tt)*) => {};
    (on_discarded [on_discarded $($own:ident)*] $($item:tt)*) => {};
    (on_mtu_update [on_mtu_update $($own:ident)*] $($item:tt)*) => {};
    (on_path_change [on_path_change $($own:ident)*] $($item:tt)*) => {};
    (on_resume_hint [on_resume_hint $($own:ident)*] $($item:tt)*) => {};
    (on_ack_policy [on_ack_policy $($own:ident)*] $($item:tt)*) => {};
    (on_ecn_state [on_ecn_state $($own:ident)*] $($item:tt)*) => {};
    (send_quantum [send_quantum $($own:ident)*] $($item:tt)*) => {};
    (may_send_beyond_cwnd [may_send_beyond_cwnd $($own:ident)*] $($item:tt)*) => {};
    (wanted_ecn [wanted_ecn $($own:ident)*] $($item:tt)*) => {};
    (wanted_ack_policy [wanted_ack_policy $($own:ident)*] $($item:tt)*) => {};
    (sampling_rule [sampling_rule $($own:ident)*] $($item:tt)*) => {};
    (marks_app_limited [marks_app_limited $($own:ident)*] $($item:tt)*) => {};
    (snapshot [snapshot $($own:ident)*] $($item:tt)*) => {};
    ($name:ident [$other:ident $($own:ident)*] $($item:tt)*) => {
        $crate::__delegate_unless! { $name [$($own)*] $($item)* }
    };
}

#[cfg(test)]
mod tests;
