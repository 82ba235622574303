//! Scenarios by name, group or path, and lists of algorithms.

use super::Failure;
use cc_sim::Algorithm;
use cc_sim::scenario::{self, Group, Scenario};
use std::fs::File;
use std::io::{self, Read};

/// Largest scenario file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The algorithms of an option, if there are any.
pub(super) fn each_once<'a>(
    option: &str,
    algorithms: &'a [Algorithm],
) -> Result<Option<&'a [Algorithm]>, Failure> {
    if let Some(twice) = repeated(algorithms) {
        let name = twice.name();
        return Err(Failure::bad_input(format!("{option}: {name} given twice (allowed: each name once)")));
    }
    Ok((!algorithms.is_empty()).then_some(algorithms))
}

/// Scenarios by name, group or path; those of `default` if `names` is empty.
pub(super) fn load(names: &[String], default: Group) -> Result<Vec<Scenario>, Failure> {
    if names.is_empty() {
        return load_group(default);
    }
    let mut scenarios = Vec::new();
    for name in names {
        let groups = Group::named(name);
        if groups.is_empty() {
            scenarios.push(load_one(name)?);
        }
        for group in groups {
            scenarios.extend(load_group(group)?);
        }
    }
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    if let Some(twice) = repeated(&names) {
        return Err(Failure::bad_input(format!("SCENARIO: {twice} given twice (allowed: each name once)")));
    }
    Ok(scenarios)
}

pub(super) fn load_group(group: Group) -> Result<Vec<Scenario>, Failure> {
    group.scenarios().map(load_one).collect()
}

pub(super) fn load_one(name: &str) -> Result<Scenario, Failure> {
    let is_path = name.ends_with(".toml") || name.contains(std::path::is_separator);
    if !is_path {
        return scenario::builtin(name)
            .map_err(|e| Failure::bad_input(format!("{e}, or the path of a .toml file")));
    }
    let text =
        read(name).map_err(|e| Failure::bad_input(format!("{name}: scenario: cannot read the file: {e}")))?;
    scenario::parse(&text, name).map_err(Failure::bad_input)
}

fn read(path: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        return Err(io::Error::other(format!("too long (allowed: 0..={MAX_FILE} bytes)")));
    }
    Ok(text)
}

/// The first item that equals one before it.
fn repeated<T: PartialEq>(items: &[T]) -> Option<&T> {
    items
        .iter()
        .enumerate()
        .find(|(i, item)| items.iter().take(*i).any(|before| before == *item))
        .map(|(_, t)| t)
}
