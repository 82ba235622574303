//! Records of sweeps side by side: a table, and plots of throughput and latency against what was varied.

use crate::sweep::Run;
use cc_sim::stats::Summary;
use comfy_table::{CellAlignment, Table, presets};
use plotters::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};

/// A record that has been read.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Name of its folder.
    pub name: String,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// What a cell is known by in all records: controllers, rate, delay, loss, clients.
type Key = (String, Option<u64>, Option<u64>, Option<u32>, u32);

/// What is plotted.
#[derive(Clone, Copy)]
struct Figure {
    file: &'static str,
    title: &'static str,
    of: fn(&Run) -> Option<f64>,
}

const FIGURES: [Figure; 4] = [
    Figure {
        file: "throughput",
        title: "Throughput (Mbit/s)",
        of: |run| run.throughput_kbps.map(|kbps| kbps / 1e3),
    },
    Figure { file: "echo", title: "Echo p50 (ms)", of: |run| run.echo_p50_us.map(|us| us as f64 / 1e3) },
    Figure { file: "echo_p99", title: "Echo p99 (ms)", of: |run| run.echo_p99_us.map(|us| us as f64 / 1e3) },
    Figure {
        file: "frame_p99",
        title: "Frame delay p99 (ms)",
        of: |run| run.media_delay_p99_us.map(|us| us as f64 / 1e3),
    },
];

/// What it is plotted against.
#[derive(Clone, Copy)]
struct Axis {
    file: &'static str,
    title: &'static str,
    of: fn(&Key) -> Option<f64>,
}

const LOSS: Axis =
    Axis { file: "loss", title: "Loss each way (%)", of: |key| key.3.map(|ppm| f64::from(ppm) / 1e4) };
const DELAY: Axis =
    Axis { file: "delay", title: "Delay each way (ms)", of: |key| key.2.map(|us| us as f64 / 1e3) };
const CLIENTS: Axis = Axis { file: "clients", title: "Clients", of: |key| Some(key.4.into()) };
const RATE: Axis =
    Axis { file: "rate", title: "Rate (Mbit/s)", of: |key| key.1.map(|kbps| kbps as f64 / 1e3) };
const AXES: [Axis; 4] = [LOSS, DELAY, CLIENTS, RATE];

/// Reads the record in a folder.
///
/// # Errors
///
/// There is none, or it is not that of a sweep.
pub fn read(folder: &Path) -> Result<Sweep, Box<dyn Error + Send + Sync>> {
    let path = folder.join("runs.csv");
    let wrong = |error: csv::Error| format!("{}: {error}", path.display());
    let runs = csv::Reader::from_path(&path)
        .map_err(wrong)?
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    Ok(Sweep { name, runs })
}

/// The table in Markdown: a row for each cell that one of them has.
#[must_use]
pub fn markdown(sweeps: &[Sweep]) -> String {
    let mut header: Vec<String> =
        ["CC", "Rate (Mbit/s)", "Delay (ms)", "Loss (%)", "Clients"].map(str::to_owned).to_vec();
    let has =
        |figure: &Figure| sweeps.iter().flat_map(|sweep| &sweep.runs).any(|run| (figure.of)(run).is_some());
    let figures: Vec<Figure> = FIGURES.into_iter().filter(has).collect();
    for sweep in sweeps {
        header.extend(figures.iter().map(|figure| format!("{}, {}", sweep.name, figure.title)));
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let keys: BTreeSet<Key> = sweeps.iter().flat_map(|sweep| &sweep.runs).map(key).collect();
    for cell in keys {
        let mut row = vec![cell.0.clone()];
        row.extend(
            [RATE, DELAY, LOSS, CLIENTS]
                .map(|axis| (axis.of)(&cell).map_or_else(|| "-".to_owned(), |value| value.to_string())),
        );
        for sweep in sweeps {
            row.extend(figures.iter().map(|&figure| {
                summary(sweep.runs.iter().filter(|&run| key(run) == cell), figure).map_or_else(
                    || "-".to_owned(),
                    |(mean, sd, count)| match count {
                        1 => format!("{mean:.2}"),
                        _ => format!("{mean:.2} ± {sd:.2}"),
                    },
                )
            }));
        }
        table.add_row(row);
    }
    format!("{table}\n")
}

/// Draws every figure against everything that was varied, a file for each pair, with a line for each record and each set of
/// what else there is; the bars are standard deviations. The files.
///
/// # Errors
///
/// A file cannot be written.
pub fn plots(sweeps: &[Sweep], folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error + Send + Sync>> {
    std::fs::create_dir_all(folder)?;
    let keys: BTreeSet<Key> = sweeps.iter().flat_map(|sweep| &sweep.runs).map(key).collect();
    let mut files = Vec::new();
    for axis in AXES {
        let places: BTreeSet<u64> = keys.iter().filter_map(|key| Some((axis.of)(key)?.to_bits())).collect();
        if places.len() < 2 {
            continue;
        }
        for figure in FIGURES {
            let lines = lines(sweeps, axis, figure, &keys);
            // Records may have a figure at one place only.
            let at: BTreeSet<u64> = lines.values().flatten().map(|point| point.0.to_bits()).collect();
            if at.len() > 1 {
                let path = folder.join(format!("{}_{}.svg", figure.file, axis.file));
                std::fs::write(&path, draw(axis, figure, &lines)?)?;
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Points of a line: place, mean and standard deviation.
type Line = Vec<(f64, f64, f64)>;

fn lines(sweeps: &[Sweep], axis: Axis, figure: Figure, keys: &BTreeSet<Key>) -> BTreeMap<String, Line> {
    let varied = |of: fn(&Key) -> Option<f64>| {
        keys.iter().map(|key| of(key).map(f64::to_bits)).collect::<BTreeSet<_>>().len() > 1
    };
    let mut lines: BTreeMap<String, Line> = BTreeMap::new();
    for sweep in sweeps {
        for cell in keys {
            let runs = sweep.runs.iter().filter(|&run| key(run) == *cell);
            let Some((mean, sd, _)) = summary(runs, figure) else { continue };
            let Some(place) = (axis.of)(cell) else { continue };
            let mut name = cell.0.clone();
            for other in AXES.iter().filter(|other| other.file != axis.file && varied(other.of)) {
                let value = (other.of)(cell).map_or_else(|| "unknown".to_owned(), |value| value.to_string());
                name += &format!(", {} {value}", other.file);
            }
            if sweeps.len() > 1 {
                name += &format!(", {}", sweep.name);
            }
            lines.entry(name).or_default().push((place, mean, sd));
        }
    }
    for line in lines.values_mut() {
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    lines
}

fn draw(
    axis: Axis,
    figure: Figure,
    lines: &BTreeMap<String, Line>,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    let points = || lines.values().flatten();
    let left = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let right = points().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
    let top = points().map(|point| point.1 + point.2).fold(0.0, f64::max).max(1e-3) * 1.05;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (900, 540)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(left..right, 0.0..top)?;
        chart.configure_mesh().x_desc(axis.title).y_desc(figure.title).light_line_style(WHITE).draw()?;
        for (index, (name, line)) in lines.iter().enumerate() {
            let style = Palette99::pick(index).stroke_width(2);
            chart
                .draw_series(LineSeries::new(line.iter().map(|&(x, mean, _)| (x, mean)), style))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
            chart.draw_series(line.iter().map(|&(x, mean, sd)| {
                ErrorBar::new_vertical(x, (mean - sd).max(0.0), mean, mean + sd, style.filled(), 6)
            }))?;
        }
        chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
        root.present()?;
    }
    Ok(text)
}

fn key(run: &Run) -> Key {
    (run.cc.clone(), run.rate_kbps, run.delay_us, run.loss_ppm, run.clients)
}

/// Mean and standard deviation of a figure, and of how many runs.
fn summary<'a>(runs: impl Iterator<Item = &'a Run>, figure: Figure) -> Option<(f64, f64, u64)> {
    // In thousandths, which the summary takes whole.
    let values: Vec<u64> = runs.filter_map(figure.of).map(|value| (value * 1e3).round() as u64).collect();
    Summary::of(&values).map(|Summary { mean, sd, count, .. }| (mean / 1e3, sd / 1e3, count))
}

#[cfg(test)]
mod tests {
    use super::{Sweep, markdown, plots};
    use crate::sweep::Run;

    fn run(loss_ppm: u32, delay_us: u64, clients: u32, kbps: f64) -> Run {
        Run {
            cc: "c4".to_owned(),
            loss_ppm: Some(loss_ppm),
            delay_us: Some(delay_us),
            rate_kbps: Some(20_000),
            clients,
            throughput_kbps: Some(kbps),
            ..Run::default()
        }
    }

    fn sweep(name: &str, factor: f64) -> Sweep {
        let runs = [run(0, 0, 1, 18_000.0), run(0, 0, 1, 19_000.0), run(10_000, 0, 1, 9_000.0)];
        let runs =
            runs.map(|run| Run { throughput_kbps: run.throughput_kbps.map(|kbps| kbps * factor), ..run });
        Sweep { name: name.to_owned(), runs: runs.to_vec() }
    }

    /// Names of the plots, and the text of each.
    fn drawn(test: &str, sweeps: &[Sweep]) -> Vec<(String, String)> {
        let folder = std::env::temp_dir().join(format!("cc-bench-{test}-{}", std::process::id()));
        let files = plots(sweeps, &folder).unwrap();
        let name = |file: &std::path::PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
        let drawn = files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        drawn
    }

    #[test]
    fn a_row_has_the_figures_of_every_record() {
        let text = markdown(&[sweep("one", 1.0), sweep("two", 0.5)]);
        let row = |line: usize| -> Vec<String> {
            let line = text.lines().nth(line).unwrap();
            line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        // Deviation of 18 and 19: 1 / sqrt(2). What no run has is no column.
        assert_eq!(row(2), ["c4", "20", "0", "0", "1", "18.50 ± 0.71", "9.25 ± 0.35"]);
        assert_eq!(row(3), ["c4", "20", "0", "1", "1", "9.00", "4.50"]);
    }

    #[test]
    fn what_varies_is_drawn_and_nothing_else() {
        let drawn = drawn("one", &[sweep("one", 1.0), sweep("two", 0.5)]);
        let names: Vec<&str> = drawn.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["throughput_loss.svg"]);
        for part in ["c4, one", "c4, two", "Loss each way (%)", "Throughput (Mbit/s)"] {
            assert!(drawn[0].1.contains(part), "{part}");
        }
    }

    #[test]
    fn throughput_and_latency_are_drawn_against_loss_delay_and_clients() {
        let runs = [run(0, 0, 1, 1.0), run(10_000, 0, 1, 2.0), run(0, 5_000, 1, 3.0), run(0, 0, 8, 4.0)];
        let runs = runs.map(|run| Run { echo_p50_us: Some(1_000), ..run }).to_vec();
        let drawn = drawn("all", &[Sweep { name: "one".to_owned(), runs }]);
        let names: Vec<&str> = drawn.iter().map(|(name, _)| name.as_str()).collect();
        let (throughput, echo) =
            (["throughput_loss.svg", "throughput_delay.svg", "throughput_clients.svg"], "echo_");
        for name in throughput {
            assert!(
                names.contains(&name) && names.contains(&name.replace("throughput_", echo).as_str()),
                "{names:?}"
            );
        }
        assert_eq!(names.len(), 6, "{names:?}");
        // A line for each set of what else varies.
        let loss = &drawn.iter().find(|(name, _)| name == "throughput_loss.svg").unwrap().1;
        for line in ["c4, delay 0, clients 1", "c4, delay 5, clients 1", "c4, delay 0, clients 8"] {
            assert!(loss.contains(line), "{line}");
        }
    }
}
