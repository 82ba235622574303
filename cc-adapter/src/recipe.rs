//! How a controller is made for each connection.

use cc_core::{Duration, Instant, ResumeHint, Setup};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The increment of SplitMix64 (Steele, Lea, Flood 2014), an odd number close to 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Makes controllers: a function of a [`Setup`], and the setup. Copies share the sequence of seeds.
pub struct Recipe<C> {
    make: Arc<dyn Fn(&Setup) -> C + Send + Sync>,
    setup: Setup,
    seeds: Arc<Seeds>,
}

/// Seeds, each different from the others.
#[derive(Debug)]
struct Seeds {
    first: u64,
    given: AtomicU64,
}

impl<C> Recipe<C> {
    /// A recipe with a setup that suits the stack. The seeds are random.
    pub fn new(setup: Setup, make: impl Fn(&Setup) -> C + Send + Sync + 'static) -> Self {
        // The hasher's keys are random, which is all that is wanted of it.
        let first = RandomState::new().hash_one(0_u8);
        Self { make: Arc::new(make), setup, seeds: Arc::new(Seeds::starting(first)) }
    }

    /// What the controllers are made from, but for time, datagram size and seed.
    pub const fn setup_mut(&mut self) -> &mut Setup {
        &mut self.setup
    }

    /// Makes the seeds the same in each run: they follow from `first`.
    pub fn set_seed(&mut self, first: u64) {
        self.seeds = Arc::new(Seeds::starting(first));
    }

    /// Sets the initial window in bytes.
    pub const fn set_initial_window(&mut self, bytes: u64) {
        self.setup.initial_window = Some(bytes);
    }

    /// Sets the RTT that is assumed before the first sample.
    pub const fn set_initial_rtt(&mut self, rtt: Duration) {
        self.setup.initial_rtt = Some(rtt);
    }

    /// Sets what is known of the path from an earlier connection.
    pub const fn set_resume(&mut self, hint: ResumeHint) {
        self.setup.resume = Some(hint);
    }

    /// A controller for a connection that starts at `now` with datagrams of `max_datagram_size` bytes.
    #[must_use]
    pub fn make(&self, now: Instant, max_datagram_size: u64) -> C {
        (self.make)(&Setup { now, max_datagram_size, seed: self.seeds.next(), ..self.setup })
    }
}

impl Seeds {
    const fn starting(first: u64) -> Self {
        Self { first, given: AtomicU64::new(0) }
    }

    /// SplitMix64: a bijection of a counter, so that 2^64 seeds are different.
    fn next(&self) -> u64 {
        let index = self.given.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let z = self.first.wrapping_add(index.wrapping_mul(GOLDEN));
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl<C> Clone for Recipe<C> {
    fn clone(&self) -> Self {
        Self { make: Arc::clone(&self.make), setup: self.setup, seeds: Arc::clone(&self.seeds) }
    }
}

impl<C> fmt::Debug for Recipe<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Recipe")
            .field("setup", &self.setup)
            .field("seeds", &self.seeds)
            .finish_non_exhaustive()
    }
}

/// Makes the `Config` of an adapter from a name of its stack, and a function for each algorithm.
///
/// It needs `$ecn`, the codepoint that the stack sets, and `$paces`, whether the stack honours a pacing rate.
#[macro_export]
#[doc(hidden)]
macro_rules! stack_config {
    ($stack:literal, ecn: $ecn:expr, paces: $paces:expr) => {
        #[doc = concat!("Makes a controller for each connection of ", $stack, ": a factory for its configuration.")]
        ///
        /// Every connection gets a seed of its own. Cloning is cheap; clones share the sequence of seeds.
        #[derive(Clone, Debug)]
        pub struct Config<C> {
            recipe: $crate::Recipe<C>,
        }

        impl<C: $crate::cc_core::CongestionController + Clone> Config<C> {
            /// A factory for a controller of any kind, or for one of ours with options of its own: see the example of the crate.
            pub fn new(make: impl Fn(&$crate::cc_core::Setup) -> C + Send + Sync + 'static) -> Self {
                let setup = $crate::cc_core::Setup { ecn: $ecn, paces: $paces, ..Default::default() };
                Self { recipe: $crate::Recipe::new(setup, make) }
            }

            /// The initial window in bytes, instead of the algorithm's own.
            #[must_use]
            pub fn initial_window(mut self, bytes: u64) -> Self {
                self.recipe.set_initial_window(bytes);
                self
            }

            /// The RTT to assume before the first sample, for algorithms that do (BBR).
            #[must_use]
            pub fn initial_rtt(mut self, rtt: std::time::Duration) -> Self {
                self.recipe.set_initial_rtt(rtt.into());
                self
            }

            /// Window and RTT of an earlier connection on the same path (RFC 9959), for algorithms that use them.
            #[must_use]
            pub fn resume(mut self, cwnd: u64, rtt: std::time::Duration) -> Self {
                self.recipe.set_resume($crate::cc_core::ResumeHint { cwnd, rtt: rtt.into() });
                self
            }

            /// Derives the seeds of the connections from `seed`, for runs that are to be repeated. By default they are random.
            #[must_use]
            pub fn seed(mut self, seed: u64) -> Self {
                self.recipe.set_seed(seed);
                self
            }
        }

        $crate::stack_config! { @algorithms
            c4 $crate::cc_c4::C4 = $crate::cc_c4::Config, "C4, Christian's Congestion Control Code";
            bbr $crate::cc_bbr::Bbr = $crate::cc_bbr::Config, "BBR, version 3";
            cubic $crate::cc_cubic::Cubic = $crate::cc_cubic::Config, "CUBIC with HyStart++";
            reno $crate::cc_reno::Reno = $crate::cc_reno::Config, "NewReno";
            quicdc $crate::cc_quicdc::QuicDc = $crate::cc_quicdc::Config, "QUIC-DC";
            westwood $crate::cc_quicdc::Westwood = $crate::cc_quicdc::Config, "Westwood+";
        }
    };
    (@algorithms $($name:ident $controller:ty = $config:ty, $title:literal;)+) => {
        $(
            #[doc = concat!($title, ", with the defaults of its crate.")]
            #[must_use]
            pub fn $name() -> Config<$controller> {
                Config::new(|setup| <$controller>::new(&<$config>::from(*setup)))
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    use super::Recipe;
    use cc_core::{Duration, EcnCodepoint, Instant, ResumeHint, Setup};
    use std::collections::HashSet;

    fn recipe() -> Recipe<Setup> {
        Recipe::new(Setup { ecn: EcnCodepoint::Ect0, ..Setup::default() }, |setup| *setup)
    }

    #[test]
    fn a_connection_gets_time_size_and_seed_of_its_own_and_the_rest_as_set() {
        let hint = ResumeHint { cwnd: 90_000, rtt: Duration::from_millis(30) };
        let mut recipe = recipe();
        recipe.set_initial_window(40_000);
        recipe.set_initial_rtt(Duration::from_millis(50));
        recipe.set_resume(hint);
        let made = recipe.make(Instant::from_secs(3), 1_452);
        let expected = Setup {
            now: Instant::from_secs(3),
            max_datagram_size: 1_452,
            initial_window: Some(40_000),
            initial_rtt: Some(Duration::from_millis(50)),
            resume: Some(hint),
            ecn: EcnCodepoint::Ect0,
            seed: made.seed,
            ..Setup::default()
        };
        assert_eq!(made, expected);
    }

    #[test]
    fn seeds_differ_between_connections_copies_and_recipes_and_repeat_when_set() {
        let seeds = |recipe: &Recipe<Setup>| [(); 50].map(|()| recipe.make(Instant::ZERO, 1_200).seed);
        let first = recipe();
        let copy = first.clone();
        let all: HashSet<u64> =
            [seeds(&first), seeds(&copy), seeds(&recipe())].into_iter().flatten().collect();
        assert_eq!(all.len(), 150);

        let (mut a, mut b) = (recipe(), recipe());
        a.set_seed(7);
        b.set_seed(7);
        assert_eq!(seeds(&a), seeds(&b));
        // The first output of SplitMix64 from state 0, as its authors' test vectors have it.
        a.set_seed(0);
        assert_eq!(a.make(Instant::ZERO, 1_200).seed, 0xe220_a839_7b1d_cdaf);
    }
}
