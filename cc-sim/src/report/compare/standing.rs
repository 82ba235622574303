//! How the cells stand to the limits that this project has set itself against the draft and the simulator behind it, and which
//! miss them.

use super::super::{PublishedFigures, RenderError, Row};
use crate::Algorithm;
use crate::scenario::{Scenario, builtin};
use serde::Serialize;
use std::fmt::Write;

/// C4's mean may be this part of the reference's above or below it.
const STEADY: f64 = 0.03;
/// The same where the reference's runs scatter, if its 95 % interval is not wider.
const SCATTERED: f64 = 0.05;
/// Runs scatter if their standard deviation is above this part of the mean.
const SCATTER: f64 = 0.01;
/// Student's t for 95 % and the 100 runs of the reference, over the root of 100: half the interval of the mean, in standard
/// deviations.
const CI95_OF_SD: f64 = 0.1984;
/// Largest ratio to the reference where the controllers are not the reference's own: CUBIC and BBR, and C4 beside them.
const OTHERS: f64 = 1.10;
/// Largest ratio of C4's mean to the draft's.
const DRAFT: f64 = 1.05;
/// Where the reference itself is slower than when it made the draft's tables.
const MOVED: [&str; 2] = ["after_c4", "vs_cubic_lg"];
/// Audio and video: the average may be this part of the draft's above or below it, the 90th percentile of the largest at most
/// this ratio to it.
const MEDIA_AVERAGE: f64 = 0.05;
const MEDIA_P90: f64 = 1.05;
/// Two means are in an order if they differ by this part.
const APART: f64 = 0.01;

/// Cells that meet a limit, and those that do not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Tally {
    pub(super) met: usize,
    pub(super) missed: Vec<Miss>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Miss {
    pub(super) scenario: String,
    pub(super) algorithm: &'static str,
    /// Ours over that of others.
    pub(super) ratio: f64,
}

/// Two algorithms that differ the other way round than in the draft's table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Reversal {
    pub(super) scenario: String,
    /// The faster one here.
    pub(super) faster: &'static str,
    /// The faster one in the draft.
    pub(super) slower: &'static str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Standing {
    /// C4's mean over the reference's.
    pub(super) c4_reference: Tally,
    /// C4's mean over the draft's.
    pub(super) c4_draft: Tally,
    /// Means of CUBIC and BBR over the reference's.
    pub(super) others_reference: Tally,
    /// Average delays of audio and video over the draft's.
    pub(super) media_average: Tally,
    /// 90th percentiles of the largest over the draft's.
    pub(super) media_p90: Tally,
    /// Pairs of algorithms in the draft's order, or too close to have one.
    pub(super) pairs_in_order: usize,
    pub(super) reversed: Vec<Reversal>,
}

impl Standing {
    /// Those of the cells for which there are figures.
    ///
    /// # Errors
    ///
    /// The figures in the program are damaged.
    pub(super) fn of(rows: &[Row]) -> Result<Self, RenderError> {
        let figures = PublishedFigures::load()?;
        let mut standing = Self::default();
        for row in rows {
            standing.add(row, &figures);
        }
        for scenario in rows.chunk_by(|a, b| a.scenario == b.scenario) {
            standing.add_order(scenario);
        }
        Ok(standing)
    }

    fn add(&mut self, row: &Row, figures: &PublishedFigures) {
        let (Some(to_draft), Some(to_draft_p90), Some(to_reference)) =
            (row.ratio_draft_mean, row.ratio_draft_p90, row.ratio_reference_mean)
        else {
            return;
        };
        // A row with figures is one of a built-in scenario.
        let (Ok(scenario), Some(published)) =
            (builtin(&row.scenario), figures.named(&row.scenario, row.algorithm))
        else {
            return;
        };
        if row.algorithm == Algorithm::C4.name() {
            let scatter = published.reference_sd_us / published.reference_mean_us;
            let meets = meets_reference(&scenario, scatter, to_reference);
            self.c4_reference.add(meets, row, to_reference);
            if !MOVED.contains(&row.scenario.as_str()) {
                self.c4_draft.add(to_draft <= DRAFT, row, to_draft);
            }
        } else if [Algorithm::Cubic.name(), Algorithm::Bbr.name()].contains(&row.algorithm) {
            self.others_reference.add(to_reference <= OTHERS, row, to_reference);
        }
        if scenario.media.is_some() {
            self.media_average.add((to_draft - 1.0).abs() <= MEDIA_AVERAGE, row, to_draft);
            self.media_p90.add(to_draft_p90 <= MEDIA_P90, row, to_draft_p90);
        }
    }

    fn add_order(&mut self, rows: &[Row]) {
        let is_below = |a: f64, b: f64| a < b * (1.0 - APART);
        for (i, a) in rows.iter().enumerate() {
            for b in &rows[i + 1..] {
                let (Some(draft_a), Some(draft_b)) = (a.draft_mean_us, b.draft_mean_us) else { continue };
                let (faster, slower) = if is_below(draft_a, draft_b) && is_below(b.mean_us, a.mean_us) {
                    (b, a)
                } else if is_below(draft_b, draft_a) && is_below(a.mean_us, b.mean_us) {
                    (a, b)
                } else {
                    self.pairs_in_order += 1;
                    continue;
                };
                let (faster, slower) = (faster.algorithm, slower.algorithm);
                self.reversed.push(Reversal { scenario: a.scenario.clone(), faster, slower });
            }
        }
    }

    /// Lines of text; none without figures.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |what: &str, tally: &Tally| {
            if tally.count() > 0 {
                text += &format!("{what}: {}\n", tally.text());
            }
        };
        line(
            "C4 within 3 % of the reference; within 5 % or its 95 % interval where its runs scatter; at most 1.10 of it beside CUBIC \
             or BBR",
            &self.c4_reference,
        );
        line("C4 at most 1.05 of the draft's C4 (without after_c4 and vs_cubic_lg)", &self.c4_draft);
        line("CUBIC and BBR at most 1.10 of the reference", &self.others_reference);
        line("audio and video: average within 5 % of the draft's", &self.media_average);
        line("audio and video: p90 of the largest at most 1.05 of the draft's", &self.media_p90);
        let pairs = self.pairs_in_order + self.reversed.len();
        if pairs > 0 {
            text += &format!(
                "pairs of algorithms in the draft's order, or within 1 %: {} of {pairs}",
                self.pairs_in_order
            );
            for (i, Reversal { scenario, faster, slower }) in self.reversed.iter().enumerate() {
                text += if i == 0 { "; not: " } else { ", " };
                text += &format!("{scenario} ({faster} before {slower})");
            }
            text += "\n";
        }
        text
    }
}

/// Whether C4's ratio to the reference is within the limit of its scenario. `scatter`: standard deviation of the reference's
/// runs over their mean.
fn meets_reference(scenario: &Scenario, scatter: f64, ratio: f64) -> bool {
    let is_other = |algorithm: Algorithm| [Algorithm::Cubic, Algorithm::Bbr].contains(&algorithm);
    if scenario.flows.iter().any(|flow| is_other(flow.algorithm.with(Algorithm::C4))) {
        return ratio <= OTHERS;
    }
    let part = if scatter > SCATTER { SCATTERED.max(CI95_OF_SD * scatter) } else { STEADY };
    (ratio - 1.0).abs() <= part
}

impl Tally {
    fn add(&mut self, meets: bool, row: &Row, ratio: f64) {
        if meets {
            self.met += 1;
        } else {
            let (scenario, algorithm) = (row.scenario.clone(), row.algorithm);
            self.missed.push(Miss { scenario, algorithm, ratio });
        }
    }

    fn count(&self) -> usize {
        self.met + self.missed.len()
    }

    fn text(&self) -> String {
        let mut text = format!("{} of {}", self.met, self.count());
        for (i, Miss { scenario, algorithm, ratio }) in self.missed.iter().enumerate() {
            let before = if i == 0 { "; not: " } else { ", " };
            // Writing to a String does not fail.
            let _ = write!(text, "{before}{scenario} {algorithm} {ratio:.3}");
        }
        text
    }
}

#[cfg(test)]
mod tests;
