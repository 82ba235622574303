//! What can be run.

use super::table::{new_table, seconds};
use super::{Format, RenderError, csv_text, json_text};
use crate::ideal::physical_limit;
use crate::{Algorithm, Scenario};
use serde::Serialize;

/// The scenarios of `groups` in `format`, with the names of the algorithms but in CSV.
///
/// # Errors
///
/// The writer of the format refuses a value.
pub fn render_list(groups: &[(&str, Vec<Scenario>)], format: Format) -> Result<String, RenderError> {
    #[derive(Serialize)]
    struct Line<'a> {
        group: &'a str,
        scenario: &'a str,
        summary: &'a str,
        limit_us: Option<u64>,
    }
    #[derive(Serialize)]
    struct List<'a> {
        scenarios: Vec<Line<'a>>,
        algorithms: Vec<&'static str>,
    }
    let lines: Vec<Line<'_>> = groups
        .iter()
        .flat_map(|(group, scenarios)| scenarios.iter().map(|scenario| (*group, scenario)))
        .map(|(group, scenario)| Line {
            group,
            scenario: &scenario.name,
            summary: &scenario.summary,
            limit_us: physical_limit(scenario).map(|limit| limit.completion_us),
        })
        .collect();
    let algorithms: Vec<&'static str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
    match format {
        Format::Csv => csv_text(&lines),
        Format::Json => json_text(&List { scenarios: lines, algorithms }),
        Format::Table => {
            let mut table = new_table(&["group", "scenario", "summary"], &["limit"]);
            for line in &lines {
                let limit = seconds(line.limit_us.map(|us| us as f64));
                table.add_row([
                    line.group.to_owned(),
                    line.scenario.to_owned(),
                    line.summary.to_owned(),
                    limit,
                ]);
            }
            let names = algorithms.join(", ");
            Ok(format!(
                "{table}\nlimit: seconds that a sender that knew the path would need. Algorithms: {names}.\n"
            ))
        }
    }
}
