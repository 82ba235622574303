//! What the kit must know of a controller under test.

use cc_core::{CongestionController, Setup};
use std::fmt;
use std::sync::Arc;

/// What a controller's decisions rest on; decides which invariants apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Losses and CE marks reduce a window that acks grow (Reno, CUBIC).
    LossBased,
    /// The window follows a measured rate or delay (BBR, C4).
    RateBased,
}

/// A controller under test, and what it promises.
#[derive(Clone)]
pub struct Subject<C> {
    /// Name in the table and in tags.
    pub name: &'static str,
    /// Its family; a tag too (`loss-based`, `rate-based`).
    pub family: Family,
    /// More tags that scripts may ask for:
    ///
    /// - `cubic`: the window function is RFC 9438's.
    /// - `undo`: restores the window after spurious losses (RFC 9438 section 4.9.2).
    /// - `resume`: jumps to a saved window (RFC 9959).
    /// - `hystart`: slow start may end without a loss (RFC 9406).
    /// - `classic-ecn`: answers one CE mark per round trip like a loss (RFC 9002 section 7.1).
    /// - `persistent`: persistent congestion collapses the window (RFC 9002 section 7.6).
    /// - `delay`: a queue ends slow start, and the window grows by one datagram a round trip after it.
    /// - `reno`: congestion avoidance adds one datagram a round trip (RFC 9002 section 7.3.3).
    pub tags: &'static [&'static str],
    /// Part of the window that is kept on a loss, in percent.
    pub beta_loss: u64,
    /// Part of the window that is kept on a CE mark, in percent.
    pub beta_ce: u64,
    /// Largest window that it ever gives, in bytes.
    pub max_window: u64,
    make: Arc<dyn Fn(&Setup) -> C + Send + Sync>,
}

impl<C: CongestionController + Clone> Subject<C> {
    /// A loss-based controller: half of the window on loss and on CE, no tags, no largest window.
    pub fn loss_based(name: &'static str, make: impl Fn(&Setup) -> C + Send + Sync + 'static) -> Self {
        Self {
            name,
            family: Family::LossBased,
            tags: &[],
            beta_loss: 50,
            beta_ce: 50,
            max_window: u64::MAX,
            make: Arc::new(make),
        }
    }

    /// A rate-based controller; the percentages are not used.
    pub fn rate_based(name: &'static str, make: impl Fn(&Setup) -> C + Send + Sync + 'static) -> Self {
        Self { family: Family::RateBased, ..Self::loss_based(name, make) }
    }

    /// The same with more tags.
    #[must_use]
    pub const fn tagged(mut self, tags: &'static [&'static str]) -> Self {
        self.tags = tags;
        self
    }

    /// The same with other reduction factors, in percent.
    #[must_use]
    pub const fn with_betas(mut self, loss: u64, ce: u64) -> Self {
        self.beta_loss = loss;
        self.beta_ce = ce;
        self
    }

    /// The same with a largest window in bytes.
    #[must_use]
    pub const fn with_max_window(mut self, bytes: u64) -> Self {
        self.max_window = bytes;
        self
    }

    /// The same with something around each controller.
    pub fn wrapped<D>(&self, wrap: impl Fn(C, &Setup) -> D + Send + Sync + 'static) -> Subject<D> {
        let make = Arc::clone(&self.make);
        Subject {
            name: self.name,
            family: self.family,
            tags: self.tags,
            beta_loss: self.beta_loss,
            beta_ce: self.beta_ce,
            max_window: self.max_window,
            make: Arc::new(move |setup| wrap(make(setup), setup)),
        }
    }

    /// A new controller.
    #[must_use]
    pub fn make(&self, setup: &Setup) -> C {
        (self.make)(setup)
    }

    /// All tags: name, family, and the others.
    #[must_use]
    pub fn all_tags(&self) -> Vec<&'static str> {
        let family = match self.family {
            Family::LossBased => "loss-based",
            Family::RateBased => "rate-based",
        };
        [self.name, family].into_iter().chain(self.tags.iter().copied()).collect()
    }
}

impl<C> fmt::Debug for Subject<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Subject")
            .field("name", &self.name)
            .field("family", &self.family)
            .field("tags", &self.tags)
            .finish_non_exhaustive()
    }
}
