//! Subjects whatever the type of their controller.

use crate::invariants;
use crate::run::{Options, Report, run};
use crate::script::Script;
use crate::subject::{Family, Subject};
use cc_core::{CongestionController, Duration};

/// A [`Subject`] whatever the type of its controller, so that different ones fit into one list.
pub trait Candidate {
    /// Name in the table.
    fn name(&self) -> &'static str;
    /// Its family.
    fn family(&self) -> Family;
    /// All its tags.
    fn tags(&self) -> Vec<&'static str>;
    /// See [`run`].
    fn run(&self, script: &Script, options: &Options) -> Report;
    /// See [`invariants::time_shift`].
    ///
    /// # Errors
    ///
    /// The first step that differs.
    fn time_shift(&self, script: &Script, shift: Duration) -> Result<(), String>;
    /// See [`invariants::replay`].
    ///
    /// # Errors
    ///
    /// The first step that differs.
    fn replay(&self, script: &Script) -> Result<(), String>;
    /// See [`invariants::on_path`].
    ///
    /// # Errors
    ///
    /// The first step that differs.
    fn on_path(&self, script: &Script) -> Result<(), String>;
    /// See [`invariants::byte_scale`].
    ///
    /// # Errors
    ///
    /// The first step that differs.
    fn byte_scale(&self, script: &Script, k: u64) -> Result<(), String>;
}

impl<C: CongestionController + Clone> Candidate for Subject<C> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn family(&self) -> Family {
        self.family
    }

    fn tags(&self) -> Vec<&'static str> {
        self.all_tags()
    }

    fn run(&self, script: &Script, options: &Options) -> Report {
        run(script, self, options)
    }

    fn time_shift(&self, script: &Script, shift: Duration) -> Result<(), String> {
        invariants::time_shift(script, self, shift)
    }

    fn replay(&self, script: &Script) -> Result<(), String> {
        invariants::replay(script, self)
    }

    fn on_path(&self, script: &Script) -> Result<(), String> {
        invariants::on_path(script, self)
    }

    fn byte_scale(&self, script: &Script, k: u64) -> Result<(), String> {
        invariants::byte_scale(script, self, k)
    }
}
