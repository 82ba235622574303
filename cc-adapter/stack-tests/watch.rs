//! Controllers that are watched by the kit, and that note what their stack tells them.

use super::Failure;
use crate::stack::Config;
use cc_core::{AckEvent, CongestionController, EcnEvent, LossEvent, PathState};
use cc_testkit::{Record, Subject, Watched};
use std::sync::{Arc, Mutex, PoisonError};

/// Notes what its controller is told.
#[derive(Clone, Debug)]
pub(crate) struct Spy<C> {
    inner: C,
    /// Phase and window before the frame that is being told, if it has a mark.
    before: Option<(&'static str, u64)>,
    notes: Arc<Mutex<Notes>>,
}

/// What the controllers of one configuration were told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// Controllers made.
    pub(crate) made: usize,
    /// ACK frames told.
    pub(crate) acks: u64,
    /// Bytes told to be lost.
    pub(crate) lost_bytes: u64,
    /// Frames with CE marks.
    pub(crate) marks: Vec<Mark>,
}

/// The window before and after a frame with a CE mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) phase: &'static str,
    pub(crate) before: u64,
    pub(crate) after: u64,
}

impl<C> Spy<C> {
    fn note(&self, note: impl FnOnce(&mut Notes)) {
        note(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl<C: CongestionController> CongestionController for Spy<C> {
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        if ecn.marks() > 0 {
            self.before = Some((self.inner.snapshot().phase, self.inner.cwnd()));
        }
        self.inner.on_ecn(path, ecn);
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.inner.on_loss(path, loss);
        let bytes: u64 = loss.packets.iter().map(|packet| packet.bytes).sum();
        self.note(|notes| notes.lost_bytes += bytes);
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.inner.on_ack(path, ack);
        let after = self.inner.cwnd();
        let mark = self.before.take().map(|(phase, before)| Mark { phase, before, after });
        self.note(|notes| {
            notes.acks += 1;
            notes.marks.extend(mark);
        });
    }
    cc_testkit::delegate_controller! { inner except on_ecn, on_loss, on_ack }
}

/// What is known of the controllers of one configuration.
#[derive(Debug)]
pub(crate) struct Seen {
    record: Record,
    notes: Arc<Mutex<Notes>>,
}

impl Seen {
    pub(crate) fn notes(&self) -> Notes {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fails if an invariant of the kit was violated.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.record.violation() {
            Some(violation) => Err(violation.to_string().into()),
            None => Ok(()),
        }
    }
}

/// A configuration of controllers that are watched and take notes, and what is seen of them.
pub(crate) fn watched<C: CongestionController + Clone>(
    subject: Subject<C>,
) -> (Config<Watched<Spy<C>>>, Seen) {
    let (record, notes) = (Record::default(), Arc::new(Mutex::new(Notes::default())));
    let seen = Seen { record: record.clone(), notes: Arc::clone(&notes) };
    let config = Config::new(move |setup| {
        let spy = Spy { inner: subject.make(setup), before: None, notes: Arc::clone(&notes) };
        spy.note(|notes| notes.made += 1);
        Watched::new(spy, &subject).recording_in(&record)
    });
    (config, seen)
}
