//! The completion times that others measured, to hold ours against.

use crate::scenario::{Scenario, builtin};
use serde::Deserialize;

/// Published completion times of one scenario with one algorithm, in microseconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Mean in the draft's table.
    pub draft_mean_us: f64,
    /// 90th percentile in the draft's table.
    pub draft_p90_us: f64,
    /// Mean of the reference simulator.
    pub reference_mean_us: f64,
    /// 90th percentile of the reference simulator.
    pub reference_p90_us: f64,
}

/// The figures of `data/network_events.csv`, which says where they are from.
#[derive(Clone, Debug)]
pub struct PublishedFigures(Vec<Published>);

impl PublishedFigures {
    /// Reads the figures that are part of the program.
    ///
    /// # Errors
    ///
    /// The file in the program is damaged.
    pub fn load() -> Result<Self, csv::Error> {
        read(include_str!("../../data/network_events.csv")).map(Self)
    }

    /// All of them, in the order of the file.
    #[must_use]
    pub fn all(&self) -> &[Published] {
        &self.0
    }

    /// The figures for `scenario`, if it is the one they were measured with: a file that has the name of a built-in
    /// scenario but other parameters has none.
    #[must_use]
    pub fn of(&self, scenario: &Scenario, algorithm: &str) -> Option<&Published> {
        if builtin(&scenario.name).as_ref() != Ok(scenario) {
            return None;
        }
        self.0.iter().find(|row| row.scenario == scenario.name && row.algorithm == algorithm)
    }
}

fn read(text: &str) -> Result<Vec<Published>, csv::Error> {
    csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes()).deserialize().collect()
}

#[cfg(test)]
mod tests {
    use super::{PublishedFigures, read};
    use crate::scenario::{builtin, builtin_names};

    #[test]
    fn there_are_figures_for_every_built_in_scenario_and_three_algorithms() {
        let figures = PublishedFigures::load().unwrap();
        assert_eq!(figures.all().len(), 7 * 3);
        for name in builtin_names() {
            let scenario = builtin(name).unwrap();
            for algorithm in ["c4", "cubic", "bbr"] {
                let row = figures.of(&scenario, algorithm).unwrap();
                // The reference reproduces the draft to 3 %.
                let ratio = row.reference_mean_us / row.draft_mean_us;
                assert!((0.97..1.03).contains(&ratio), "{name} {algorithm}: {ratio}");
            }
        }
    }

    #[test]
    fn a_cell_has_the_figures_of_the_draft_s_tables() {
        let figures = PublishedFigures::load().unwrap();
        let row = figures.of(&builtin("short_long").unwrap(), "cubic").unwrap();
        assert_eq!((row.draft_mean_us, row.draft_p90_us), (21_386_022.0, 21_547_041.0));
    }

    #[test]
    fn another_scenario_of_the_same_name_has_no_figures() {
        let figures = PublishedFigures::load().unwrap();
        let mut scenario = builtin("alone").unwrap();
        scenario.transfer.bytes += 1;
        assert_eq!(figures.of(&scenario, "c4"), None);
    }

    #[test]
    fn an_unknown_column_is_an_error() {
        assert!(read("scenario,algorithm,draft_mean_us\nalone,c4,1\n").is_err());
    }
}
