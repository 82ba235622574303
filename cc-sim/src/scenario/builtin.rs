//! The scenarios that are part of the program.

use super::{Scenario, ScenarioError, parse};

/// One of the scenarios that are part of the program.
///
/// # Errors
///
/// There is none of that name; the error lists those that there are.
pub fn builtin(name: &str) -> Result<Scenario, ScenarioError> {
    match BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
        Some((_, text)) => parse(text, &format!("built-in scenario {name}")),
        None => {
            let problem = format!("unknown (allowed: {})", builtin_names().collect::<Vec<_>>().join(", "));
            Err(ScenarioError::new(&format!("`{name}`"), "scenario", &problem))
        }
    }
}

/// Names of the scenarios that are part of the program, in the order of the draft's table.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The network events of draft-huitema-ccwg-c4-test; each file says where its runs differ from the text.
const BUILTIN: [(&str, &str); 7] = [
    ("alone", include_str!("../../scenarios/alone.toml")),
    ("alone_200", include_str!("../../scenarios/alone_200.toml")),
    ("low_and_up", include_str!("../../scenarios/low_and_up.toml")),
    ("drop_and_back", include_str!("../../scenarios/drop_and_back.toml")),
    ("blackhole", include_str!("../../scenarios/blackhole.toml")),
    ("short_long", include_str!("../../scenarios/short_long.toml")),
    ("satellite", include_str!("../../scenarios/satellite.toml")),
];
