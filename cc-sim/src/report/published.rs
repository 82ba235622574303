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
    use crate::scenario::{Group, builtin};

    #[test]
    fn there_are_figures_for_every_built_in_scenario_and_three_algorithms() {
        let figures = PublishedFigures::load().unwrap();
        assert_eq!(figures.all().len(), 7 * 3);
        for name in Group::NetworkEvents.scenarios() {
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
    fn every_cell_has_the_figures_of_the_draft_s_tables_and_of_the_reference_runs() {
        // Mean and p90 of the draft, mean and p90 of 100 runs of the reference.
        let expected = [
            ("alone", "c4", 4_642_195.0, 4_835_141.0, 4_534_473.5, 4_839_050.4),
            ("alone", "cubic", 4_492_758.0, 4_528_876.0, 4_468_707.1, 4_516_401.4),
            ("alone", "bbr", 4_687_549.0, 4_701_306.0, 4_689_945.4, 4_702_293.3),
            ("alone_200", "c4", 1_161_980.0, 1_186_067.0, 1_134_791.3, 1_187_176.3),
            ("alone_200", "cubic", 1_147_122.0, 1_156_831.0, 1_146_653.6, 1_149_422.6),
            ("alone_200", "bbr", 1_221_731.0, 1_222_109.0, 1_221_466.6, 1_221_950.6),
            ("low_and_up", "c4", 7_762_235.0, 7_764_215.0, 7_568_964.8, 7_570_218.1),
            ("low_and_up", "cubic", 8_067_973.0, 8_085_544.0, 8_041_757.6, 8_071_889.9),
            ("low_and_up", "bbr", 7_506_642.0, 7_512_100.0, 7_507_194.9, 7_512_135.1),
            ("drop_and_back", "c4", 7_697_371.0, 7_698_289.0, 7_555_059.0, 7_588_414.0),
            ("drop_and_back", "cubic", 7_629_153.0, 7_632_407.0, 7_628_717.1, 7_632_412.6),
            ("drop_and_back", "bbr", 7_627_033.0, 7_631_546.0, 7_627_656.0, 7_631_716.3),
            ("blackhole", "c4", 5_628_028.0, 5_628_156.0, 5_591_967.4, 5_592_061.0),
            ("blackhole", "cubic", 5_695_731.0, 5_699_325.0, 5_695_605.0, 5_699_325.1),
            ("blackhole", "bbr", 5_811_312.0, 5_815_444.0, 5_811_081.7, 5_815_443.1),
            ("short_long", "c4", 17_537_092.0, 17_538_424.0, 17_536_988.9, 17_538_435.0),
            ("short_long", "cubic", 21_386_022.0, 21_547_041.0, 21_363_849.3, 21_375_423.6),
            ("short_long", "bbr", 42_152_692.0, 43_393_686.0, 42_352_170.7, 43_393_690.1),
            ("satellite", "c4", 6_807_111.0, 6_807_137.0, 6_807_135.4, 6_807_184.0),
            ("satellite", "cubic", 6_704_244.0, 6_704_247.0, 6_704_245.2, 6_704_247.0),
            ("satellite", "bbr", 7_452_075.0, 7_432_491.0, 7_447_993.0, 7_432_428.1),
        ];
        let figures = PublishedFigures::load().unwrap();
        let all: Vec<_> = figures
            .all()
            .iter()
            .map(|row| {
                let (scenario, algorithm) = (row.scenario.as_str(), row.algorithm.as_str());
                let (draft, reference) = (row.draft_mean_us, row.reference_mean_us);
                (scenario, algorithm, draft, row.draft_p90_us, reference, row.reference_p90_us)
            })
            .collect();
        assert_eq!(all, expected);
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
