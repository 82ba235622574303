use super::super::super::{PublishedFigures, Row};
use super::{Reversal, Standing, meets_reference};
use crate::scenario::builtin;

/// A row of a built-in scenario whose mean is `ratio` times the reference's, and p90 `ratio` times the draft's.
fn row(scenario: &str, algorithm: &'static str, ratio: f64) -> Row {
    let figures = PublishedFigures::load().unwrap();
    let figures = figures.named(scenario, algorithm).unwrap();
    let mean_us = ratio * figures.reference_mean_us;
    Row {
        scenario: scenario.to_owned(),
        algorithm,
        runs: 100,
        seed: 1,
        mean_us,
        p90_us: ratio * figures.draft_p90_us,
        median_us: mean_us,
        min_us: 0,
        max_us: 0,
        sd_us: 0.0,
        mean_ci95_us: Some(0.0),
        draft_mean_us: Some(figures.draft_mean_us),
        draft_p90_us: Some(figures.draft_p90_us),
        ratio_draft_mean: Some(mean_us / figures.draft_mean_us),
        ratio_draft_p90: Some(ratio),
        reference_mean_us: Some(figures.reference_mean_us),
        reference_p90_us: Some(figures.reference_p90_us),
        ratio_reference_mean: Some(ratio),
        ratio_reference_p90: Some(1.0),
        limit_us: None,
        ratio_limit: None,
        packets_sent: 0.0,
        packets_lost: 0.0,
        spurious_losses: 0.0,
        packets_dropped: 0.0,
    }
}

#[test]
fn the_limit_of_c4_follows_the_scatter_of_the_reference_and_the_other_flow() {
    // Standard deviation over the mean, largest ratio that is met, smallest that is not.
    let cases: [(&str, f64, f64, f64); 7] = [
        ("blackhole", 0.0000, 1.03, 1.031),
        ("blackhole", 0.0100, 0.97, 0.969),
        // 0.1984 * 0.05 is 1 %: 5 % it is.
        ("vs_c4", 0.0500, 1.05, 1.051),
        // 0.1984 * 0.4 = 0.0794.
        ("media_wb", 0.4000, 1.079, 1.080),
        ("media_wb", 0.4000, 0.921, 0.920),
        ("vs_bbr", 0.0000, 1.10, 1.101),
        ("wifi_bad_cubic", 0.2600, 1.10, 1.101),
    ];
    for (name, scatter, met, missed) in cases {
        let scenario = builtin(name).unwrap();
        // What a binary fraction makes of 1.03 is not to decide.
        assert!(meets_reference(&scenario, scatter, met + 1e-9 * (1.0 - met).signum()), "{name} {met}");
        assert!(!meets_reference(&scenario, scatter, missed), "{name} {missed}");
    }
    // Faster than the reference beside another algorithm is no miss.
    assert!(meets_reference(&builtin("vs_bbr").unwrap(), 0.0, 0.5));
}

#[test]
fn rows_that_miss_are_named_and_rows_without_figures_do_not_count() {
    let mut other = row("alone", "c4", 2.0);
    (other.ratio_draft_mean, other.ratio_reference_mean) = (None, None);
    (other.draft_mean_us, other.draft_p90_us, other.ratio_draft_p90) = (None, None, None);
    // blackhole: 5.592 of 5.628 s in the draft, so 1.04 is 1.033 of the draft. after_c4: 6.547 of 5.240, so 1.0 is 1.249.
    let rows = [
        row("blackhole", "c4", 1.04),
        row("blackhole", "bbr", 1.11),
        row("blackhole", "cubic", 1.09),
        row("after_c4", "c4", 1.0),
        other,
        row("media10", "c4", 1.06),
    ];
    let standing = Standing::of(&rows).unwrap();
    let names = |tally: &super::Tally| {
        let missed: Vec<_> = tally.missed.iter().map(|miss| miss.scenario.clone()).collect();
        (tally.met, missed.join(" "))
    };
    assert_eq!(names(&standing.c4_reference), (1, "blackhole media10".to_owned()));
    // media10: 45.370 of 45.204 ms, so 1.064 of the draft.
    assert_eq!(names(&standing.c4_draft), (1, "media10".to_owned()));
    assert_eq!(names(&standing.others_reference), (1, "blackhole".to_owned()));
    assert_eq!(names(&standing.media_average), (0, "media10".to_owned()));
    assert_eq!(names(&standing.media_p90), (0, "media10".to_owned()));
    let text = standing.text();
    assert!(text.contains("1 of 3; not: blackhole c4 1.040, media10 c4 1.060\n"), "{text}");
    assert_eq!(Standing::of(&rows[4..5]).unwrap().text(), "");
}

#[test]
fn a_pair_is_reversed_if_it_differs_by_a_percent_the_other_way_round() {
    // In the draft: C4 5.628 s, BBR 5.811, CUBIC 5.696. C4 at 1.03 takes 5.760 s, CUBIC 5.696, BBR 5.811: C4 and CUBIC have changed places;
    // C4 and BBR are within 1 % here.
    let rows = [row("blackhole", "c4", 1.03), row("blackhole", "bbr", 1.0), row("blackhole", "cubic", 1.0)];
    let standing = Standing::of(&rows).unwrap();
    let reversal = |faster, slower| Reversal { scenario: "blackhole".to_owned(), faster, slower };
    assert_eq!((standing.pairs_in_order, standing.reversed), (2, vec![reversal("cubic", "c4")]));
    // C4 at 1.001 and CUBIC at 1: still C4 first, by 1.7 %.
    let rows = [row("blackhole", "c4", 1.001), row("blackhole", "cubic", 1.0)];
    assert_eq!(Standing::of(&rows).unwrap().pairs_in_order, 1);
}
