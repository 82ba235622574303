//! The completion times and delays that others measured, to hold ours against.

use crate::scenario::{Scenario, builtin};
use serde::Deserialize;

/// Published completion times of one scenario with one algorithm, in microseconds; with audio and video, means of the average
/// delay of a run and percentiles of the largest.
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
    /// Standard deviation of its 100 runs; with audio and video, of their average delays.
    pub reference_sd_us: f64,
}

/// The figures of the files `data/network_events.csv`, `compete.csv`, `wifi.csv`, `ecn.csv` and
/// `media.csv`, which say where they are from.
#[derive(Clone, Debug)]
pub struct PublishedFigures(Vec<Published>);

impl PublishedFigures {
    /// Reads the figures that are part of the program.
    ///
    /// # Errors
    ///
    /// The file in the program is damaged.
    pub fn load() -> Result<Self, csv::Error> {
        let mut figures = read(include_str!("../../data/network_events.csv"))?;
        figures.extend(read(include_str!("../../data/compete.csv"))?);
        figures.extend(read(include_str!("../../data/wifi.csv"))?);
        figures.extend(read(include_str!("../../data/ecn.csv"))?);
        figures.extend(read(include_str!("../../data/media.csv"))?);
        Ok(Self(figures))
    }

    /// All of them, in the order of the files.
    #[must_use]
    pub fn all(&self) -> &[Published] {
        &self.0
    }

    /// The figures of the built-in scenario of this name.
    pub(super) fn named(&self, scenario: &str, algorithm: &str) -> Option<&Published> {
        self.0.iter().find(|row| row.scenario == scenario && row.algorithm == algorithm)
    }

    /// The figures for `scenario`, if it is the one they were measured with: a file that has the name of a built-in
    /// scenario but other parameters has none.
    #[must_use]
    pub fn of(&self, scenario: &Scenario, algorithm: &str) -> Option<&Published> {
        if builtin(&scenario.name).as_ref() != Ok(scenario) {
            return None;
        }
        self.named(&scenario.name, algorithm)
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
    fn there_are_figures_for_every_scenario_of_the_draft_and_three_algorithms() {
        let figures = PublishedFigures::load().unwrap();
        assert_eq!(figures.all().len(), (7 + 11 + 6 + 4 + 8) * 3);
        // The reference reproduces the network events to 3 %; its C4 has changed since, which shows where flows compete.
        let bounds = [
            (Group::NetworkEvents, 0.97, 1.03),
            (Group::Compete, 0.80, 1.25),
            (Group::Wifi, 0.9, 1.05),
            (Group::EcnSimulated, 0.98, 1.07),
            (Group::Media, 0.95, 1.05),
        ];
        for (group, least, most) in bounds {
            for name in group.scenarios() {
                let scenario = builtin(name).unwrap();
                for algorithm in ["c4", "cubic", "bbr"] {
                    let row = figures.of(&scenario, algorithm).unwrap();
                    let ratio = row.reference_mean_us / row.draft_mean_us;
                    assert!((least..most).contains(&ratio), "{name} {algorithm}: {ratio}");
                }
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
            .take(expected.len())
            .map(|row| {
                let (scenario, algorithm) = (row.scenario.as_str(), row.algorithm.as_str());
                let (draft, reference) = (row.draft_mean_us, row.reference_mean_us);
                (scenario, algorithm, draft, row.draft_p90_us, reference, row.reference_p90_us)
            })
            .collect();
        assert_eq!(all, expected);
        // The same of the competitions, of Wi-Fi, of ECN and of media, in whole microseconds.
        let expected: [(&str, &str, u64, u64, u64, u64); 87] = [
            ("vs_bbr", "c4", 2_964_582, 2_983_881, 2_818_312, 2_822_489),
            ("vs_bbr", "cubic", 2_849_612, 2_872_270, 2_851_910, 2_872_252),
            ("vs_bbr", "bbr", 4_507_849, 4_592_446, 4_510_231, 4_594_910),
            ("vs_c4", "c4", 4_490_594, 4_864_821, 4_363_841, 4_558_853),
            ("vs_c4", "cubic", 6_902_341, 7_345_182, 7_904_278, 8_615_424),
            ("vs_c4", "bbr", 6_776_085, 6_841_410, 6_810_761, 6_847_737),
            ("vs_cubic", "c4", 3_484_869, 3_555_684, 3_463_850, 3_783_138),
            ("vs_cubic", "cubic", 5_300_570, 5_578_225, 5_288_318, 5_578_224),
            ("vs_cubic", "bbr", 6_988_975, 7_090_854, 6_972_381, 7_090_805),
            ("after_c4", "c4", 5_239_798, 6_102_901, 6_546_837, 6_733_299),
            ("after_c4", "cubic", 7_457_755, 7_952_653, 7_168_534, 7_433_232),
            ("after_c4", "bbr", 6_841_587, 7_010_851, 6_844_547, 6_986_467),
            ("before_c4", "c4", 2_699_206, 3_001_428, 2_653_807, 2_735_759),
            ("before_c4", "cubic", 3_097_226, 3_988_378, 3_159_174, 4_070_441),
            ("before_c4", "bbr", 4_136_358, 5_433_864, 4_207_281, 5_421_683),
            ("vs_c4_lg", "c4", 21_067_859, 21_141_447, 21_050_872, 21_187_286),
            ("vs_c4_lg", "cubic", 22_958_382, 24_186_774, 23_423_370, 25_236_583),
            ("vs_c4_lg", "bbr", 26_367_492, 31_989_078, 32_920_693, 39_518_462),
            ("vs_c4_lg2", "c4", 21_102_894, 21_174_182, 20_966_323, 21_035_577),
            ("vs_c4_lg2", "cubic", 21_798_180, 22_376_456, 21_827_057, 22_196_000),
            ("vs_c4_lg2", "bbr", 21_108_978, 21_186_594, 21_161_105, 21_361_552),
            ("vs_bbr_lg", "c4", 16_742_530, 16_936_214, 15_659_017, 15_937_721),
            ("vs_bbr_lg", "cubic", 15_582_257, 15_863_189, 15_582_127, 15_863_844),
            ("vs_bbr_lg", "bbr", 21_107_935, 21_146_009, 21_099_264, 21_135_947),
            ("vs_bbr_lg2", "c4", 20_600_335, 21_138_531, 16_681_274, 18_612_789),
            ("vs_bbr_lg2", "cubic", 21_367_106, 22_077_739, 21_430_885, 22_029_632),
            ("vs_bbr_lg2", "bbr", 18_756_082, 19_075_956, 18_700_819, 19_001_631),
            ("vs_cubic_lg", "c4", 17_578_391, 18_440_982, 17_923_344, 20_111_004),
            ("vs_cubic_lg", "cubic", 20_929_801, 21_279_706, 20_893_897, 21_228_183),
            ("vs_cubic_lg", "bbr", 21_478_179, 21_770_804, 21_442_237, 21_764_671),
            ("vs_cubic_lg2", "c4", 16_969_990, 17_548_782, 16_992_526, 17_406_940),
            ("vs_cubic_lg2", "cubic", 20_733_296, 20_959_969, 20_689_023, 20_917_165),
            ("vs_cubic_lg2", "bbr", 15_533_602, 15_772_770, 15_543_474, 15_817_211),
            ("wifi_bad", "c4", 4_144_883, 4_806_788, 4_090_316, 4_607_502),
            ("wifi_bad", "cubic", 4_117_296, 4_437_927, 4_014_047, 4_255_149),
            ("wifi_bad", "bbr", 5_518_835, 7_575_710, 5_503_267, 7_220_035),
            ("wifi_fade", "c4", 5_203_858, 5_480_744, 5_071_572, 5_354_066),
            ("wifi_fade", "cubic", 5_341_080, 5_542_744, 5_336_774, 5_515_160),
            ("wifi_fade", "bbr", 5_401_158, 5_585_208, 5_414_132, 5_612_788),
            ("wifi_suspension", "c4", 4_563_252, 4_573_648, 4_565_220, 4_574_177),
            ("wifi_suspension", "cubic", 4_601_001, 4_607_139, 4_600_481, 4_600_955),
            ("wifi_suspension", "bbr", 4_615_927, 4_616_912, 4_615_807, 4_616_275),
            ("wifi_bad_bbr", "c4", 7_581_238, 11_985_779, 7_469_978, 11_735_374),
            ("wifi_bad_bbr", "cubic", 7_604_761, 12_840_326, 7_166_573, 12_310_943),
            ("wifi_bad_bbr", "bbr", 7_267_102, 11_799_491, 7_247_987, 12_103_246),
            ("wifi_bad_c4", "c4", 9_347_050, 12_401_707, 8_581_983, 11_245_556),
            ("wifi_bad_c4", "cubic", 8_721_036, 13_067_528, 9_037_906, 12_507_326),
            ("wifi_bad_c4", "bbr", 9_527_486, 12_389_220, 9_482_833, 12_373_524),
            ("wifi_bad_cubic", "c4", 8_407_363, 11_723_366, 8_549_160, 11_950_455),
            ("wifi_bad_cubic", "cubic", 9_928_339, 13_952_338, 10_182_694, 13_900_711),
            ("wifi_bad_cubic", "bbr", 8_851_061, 12_141_374, 8_768_793, 12_062_026),
            ("ecn", "c4", 4_494_003, 4_494_072, 4_465_937, 4_466_991),
            ("ecn", "cubic", 4_460_200, 4_457_944, 4_458_142, 4_457_939),
            ("ecn", "bbr", 4_669_871, 4_670_724, 4_670_007, 4_670_734),
            ("ecn_c4", "c4", 11_422_019, 12_383_356, 12_203_039, 13_036_369),
            ("ecn_c4", "cubic", 14_190_287, 14_527_298, 14_038_295, 14_561_793),
            ("ecn_c4", "bbr", 17_079_150, 17_435_154, 17_326_018, 17_711_866),
            ("ecn_cubic", "c4", 8_235_549, 8_720_974, 8_423_582, 9_109_941),
            ("ecn_cubic", "cubic", 13_300_675, 13_952_925, 13_378_288, 13_961_141),
            ("ecn_cubic", "bbr", 9_963_937, 10_881_018, 9_876_486, 10_463_224),
            ("ecn_bbr", "c4", 13_083_701, 13_345_131, 13_104_449, 13_338_237),
            ("ecn_bbr", "cubic", 16_852_679, 17_523_171, 16_919_336, 17_546_082),
            ("ecn_bbr", "bbr", 13_239_913, 13_370_326, 13_230_574, 13_352_389),
            ("media100", "c4", 33_511, 43_453, 33_512, 43_453),
            ("media100", "cubic", 33_513, 43_453, 33_510, 43_453),
            ("media100", "bbr", 33_427, 43_453, 33_427, 43_453),
            ("media10", "c4", 45_204, 71_128, 45_370, 71_128),
            ("media10", "cubic", 47_758, 92_163, 47_719, 92_163),
            ("media10", "bbr", 44_997, 71_128, 44_992, 71_128),
            ("media_600fr", "c4", 33_624, 43_453, 33_625, 43_453),
            ("media_600fr", "cubic", 33_630, 43_453, 33_629, 43_453),
            ("media_600fr", "bbr", 33_545, 43_453, 33_545, 43_453),
            ("media_short_long", "c4", 101_036, 117_984, 100_797, 111_153),
            ("media_short_long", "cubic", 100_765, 110_426, 100_772, 110_868),
            ("media_short_long", "bbr", 133_981, 334_491, 133_834, 334_491),
            ("media_wb", "c4", 77_485, 269_770, 80_735, 256_055),
            ("media_wb", "cubic", 83_044, 260_222, 84_067, 274_608),
            ("media_wb", "bbr", 90_804, 297_718, 89_250, 294_554),
            ("media_wf", "c4", 82_971, 298_762, 81_770, 283_909),
            ("media_wf", "cubic", 83_811, 313_883, 82_190, 301_421),
            ("media_wf", "bbr", 86_612, 377_437, 88_844, 369_202),
            ("media_ws", "c4", 22_854, 197_821, 22_957, 197_821),
            ("media_ws", "cubic", 22_459, 197_821, 22_133, 197_821),
            ("media_ws", "bbr", 21_644, 195_521, 21_644, 195_521),
            ("media_ecn", "c4", 34_408, 49_700, 34_413, 47_975),
            ("media_ecn", "cubic", 34_716, 50_996, 34_716, 50_996),
            ("media_ecn", "bbr", 34_481, 50_996, 34_481, 50_996),
        ];
        for (row, expected) in figures.all()[21..].iter().zip(expected) {
            let (scenario, algorithm, figures) =
                (expected.0, expected.1, [expected.2, expected.3, expected.4, expected.5]);
            assert_eq!((row.scenario.as_str(), row.algorithm.as_str()), (scenario, algorithm));
            let ours = [row.draft_mean_us, row.draft_p90_us, row.reference_mean_us, row.reference_p90_us];
            for (ours, figure) in ours.into_iter().zip(figures) {
                assert!((ours - figure as f64).abs() <= 0.5, "{row:?}");
            }
        }
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
