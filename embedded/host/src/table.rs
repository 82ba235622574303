//! The table of size and cost: what the linker made and what the firmware counted.

use object::{Object, ObjectSection, SectionKind};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The rows.
const ALGORITHMS: [&str; 6] = ["c4", "bbr", "cubic", "quicdc", "westwood", "reno"];

/// What C4 may cost, with all of cc-core that it calls: bytes of flash, and instructions for an ACK, on average.
const C4_FLASH: u64 = 8_192;
const C4_ACK: u64 = 2_000;

/// Holds C4 to what it may cost.
pub(crate) fn hold(programs: &Path, costs: &[PathBuf]) -> Result<String, Box<dyn Error>> {
    let flash = flash(&programs.join("bare_c4"))?.saturating_sub(flash(&programs.join("bare_nothing"))?);
    let (ack, _) = mean_and_max(&read_all(costs)?, "call", "c4", "ack")?.ok_or("C4 saw no ACK")?;
    if flash == 0 || flash > C4_FLASH || ack > C4_ACK {
        let bounds = format!("1 to {C4_FLASH} bytes and at most {C4_ACK} instructions");
        return Err(format!(
            "C4 takes {flash} bytes of flash and {ack} instructions for an ACK: {bounds} are allowed"
        )
        .into());
    }
    Ok(format!("C4: {flash} bytes of flash of {C4_FLASH}, {ack} instructions for an ACK of {C4_ACK}\n"))
}

/// The table, in Markdown: flash and RAM in bytes, instructions per call as "mean (largest)".
pub(crate) fn table(programs: &Path, costs: &[PathBuf]) -> Result<String, Box<dyn Error>> {
    let costs = read_all(costs)?;
    let flash = |program: String| flash(&programs.join(program));
    let (nothing, none) = (flash("bare_nothing".into())?, flash("none".into())?);

    let mut table = String::from(HEADER);
    let core = flash("path_nothing".into())?.saturating_sub(none);
    writeln!(table, "| core alone | | {core} | | | | | | | | |")?;
    for algorithm in ALGORITHMS {
        let controller = flash(format!("bare_{algorithm}"))?.saturating_sub(nothing);
        let path = flash(format!("path_{algorithm}"))?.saturating_sub(none);
        let [ram_controller, ram_path] = ram(&costs, algorithm)?;
        write!(table, "| {algorithm} | {controller} | {path} | {ram_controller} | {ram_path} |")?;
        for kind in ["sent", "ack", "loss"] {
            let (call, path) =
                (cost(&costs, "call", algorithm, kind)?, cost(&costs, "path", algorithm, kind)?);
            write!(table, " {call} | {path} |")?;
        }
        table.push('\n');
    }
    Ok(table)
}

const HEADER: &str = "\
| | flash: controller and its part of core | flash: all with a path | RAM: controller | RAM: path of 64 packets \
| packet sent: controller | packet sent: path | ACK: controller | ACK: path | loss: controller | loss: path |
|---|---|---|---|---|---|---|---|---|---|---|
";

fn read_all(files: &[PathBuf]) -> Result<String, String> {
    let read =
        |file: &PathBuf| fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()));
    files.iter().map(read).collect()
}

/// Bytes of a program that lie in flash: code, constants, and initial values.
fn flash(program: &Path) -> Result<u64, Box<dyn Error>> {
    let data = fs::read(program).map_err(|error| format!("{}: {error}", program.display()))?;
    let file = object::File::parse(data.as_slice())?;
    let lies_in_flash = |kind| {
        use SectionKind::{Data, ReadOnlyData, ReadOnlyString, Text};
        matches!(kind, Text | ReadOnlyData | ReadOnlyString | Data)
    };
    let sections = file.sections().filter(|section| lies_in_flash(section.kind()));
    Ok(sections.map(|section| section.size()).sum())
}

/// Bytes of a controller and of a path around it, from the line `ram ALGORITHM CONTROLLER PATH`.
fn ram<'a>(costs: &'a str, algorithm: &str) -> Result<[&'a str; 2], String> {
    match line(costs, &["ram", algorithm])?.as_slice() {
        [controller, path] => Ok([controller, path]),
        _ => Err(format!("ram {algorithm}: two numbers are wanted")),
    }
}

/// Mean and largest number of instructions, as in the table.
fn cost(costs: &str, what: &str, algorithm: &str, kind: &str) -> Result<String, Box<dyn Error>> {
    let numbers = mean_and_max(costs, what, algorithm, kind)?;
    Ok(numbers.map_or_else(|| "none".into(), |(mean, max)| format!("{mean} ({max})")))
}

/// The same as numbers, from the line `cost WHAT ALGORITHM KIND NUMBER SUM MAX`; `None` if there was no such call.
fn mean_and_max(
    costs: &str,
    what: &str,
    algorithm: &str,
    kind: &str,
) -> Result<Option<(u64, u64)>, Box<dyn Error>> {
    let numbers = line(costs, &["cost", what, algorithm, kind])?;
    let numbers = numbers.iter().map(|number| number.parse()).collect::<Result<Vec<u64>, _>>()?;
    match numbers.as_slice() {
        [0, ..] => Ok(None),
        [number, sum, max] => Ok(Some(((sum + number / 2) / number, *max))),
        _ => Err(format!("cost {what} {algorithm} {kind}: three numbers are wanted").into()),
    }
}

/// What follows the words at the beginning of the line that has them.
fn line<'a>(costs: &'a str, words: &[&str]) -> Result<Vec<&'a str>, String> {
    let rest = |line: &'a str| {
        let mut found = line.split_whitespace();
        words.iter().all(|word| found.next() == Some(word)).then(|| found.collect())
    };
    costs.lines().find_map(rest).ok_or_else(|| format!("no line \"{} ...\"", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::{cost, line, mean_and_max, ram};

    const COSTS: &str = "cost call c4 sent 3 10 5\ncost path c4 sent 0 0 0\nram c4 456 4128\n";

    #[test]
    fn means_are_rounded_and_the_largest_stands_beside() {
        // 10 / 3 = 3.33.
        assert_eq!(cost(COSTS, "call", "c4", "sent").unwrap(), "3 (5)");
        assert_eq!(cost(COSTS, "path", "c4", "sent").unwrap(), "none");
        assert_eq!(mean_and_max(COSTS, "call", "c4", "sent").unwrap(), Some((3, 5)));
        assert_eq!(ram(COSTS, "c4"), Ok(["456", "4128"]));
    }

    #[test]
    fn what_was_not_measured_is_an_error() {
        assert_eq!(line(COSTS, &["cost", "call", "bbr"]), Err("no line \"cost call bbr ...\"".into()));
        assert!(cost("cost call c4 sent 3 x 5", "call", "c4", "sent").is_err());
        assert!(cost("cost call c4 sent 3", "call", "c4", "sent").is_err());
    }
}
