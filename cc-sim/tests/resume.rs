//! Jobs that are stopped and resumed, and jobs in parts, with the real program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cc-sim");

/// A new folder for one test, with the scenarios `a.toml` and `b.toml`.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (name, kilobytes) in [("a", 300), ("b", 200)] {
        let text = format!(
            "name = \"{name}\"\nsummary = \"a small one\"\n[[link]]\nrate_mbps = 8\nlatency_ms = 10\nqueue_ms = 50\n\
             [transfer]\nsize_bytes = {kilobytes}_000\n"
        );
        std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
    folder
}

fn cc_sim(folder: &Path, args: &str) -> Output {
    Command::new(PROGRAM).args(args.split(' ')).current_dir(folder).output().unwrap()
}

/// stdout and stderr of a command that works.
#[track_caller]
fn printed(folder: &Path, args: &str) -> (String, String) {
    let output = cc_sim(folder, args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args}: {stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

/// The line on stderr of a command that is refused.
#[track_caller]
fn refused(folder: &Path, args: &str) -> String {
    let output = cc_sim(folder, args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args}: {stderr}");
    assert!(output.stdout.is_empty() && stderr.lines().count() == 1, "{args}: {stderr}");
    stderr
}

const JOB: &str = "compare ./a.toml ./b.toml --runs 3 --jobs 1 --format json";

#[test]
fn a_job_that_was_cut_off_anywhere_goes_on_with_what_it_has() {
    let folder = folder("cut_off");
    let (whole, _) = printed(&folder, JOB);
    let resume = format!("{JOB} --resume cells.jsonl");
    assert_eq!(printed(&folder, &resume).0, whole);
    let file = folder.join("cells.jsonl");
    let kept = std::fs::read(&file).unwrap();
    let lines: Vec<&[u8]> = kept.split_inclusive(|&byte| byte == b'\n').collect();
    // The job, and two scenarios with three algorithms.
    assert_eq!(lines.len(), 7);
    let job_and = |cells: usize| lines[..=cells].concat().len();
    for (length, cells) in [
        (0, 0),
        (1, 0),
        (job_and(0) - 1, 0),
        (job_and(0), 0),
        (job_and(0) + 1, 0),
        (job_and(3), 3),
        (job_and(4) - 1, 3),
        (job_and(5) + 20, 5),
        (job_and(6), 6),
    ] {
        std::fs::write(&file, &kept[..length]).unwrap();
        let (stdout, stderr) = printed(&folder, &resume);
        assert_eq!(stdout, whole, "cut off at {length}");
        assert!(stderr.starts_with(&format!("{} runs in ", 3 * (6 - cells))), "{length}: {stderr}");
        assert_eq!(std::fs::read(&file).unwrap(), kept, "cut off at {length}");
    }
    // Zeros are what a machine that crashed may leave of a line.
    std::fs::write(&file, [&kept[..job_and(2)], &[0; 100]].concat()).unwrap();
    assert_eq!(printed(&folder, &resume).0, whole);
}

#[test]
fn a_process_that_is_killed_leaves_the_cells_that_it_had_finished() {
    let folder = folder("killed");
    // Some hundred milliseconds a cell without optimisation.
    let job = "run network_events --cc c4,cubic --runs 2 --jobs 2 --format csv";
    let (whole, _) = printed(&folder, job);
    let resume = format!("{job} --resume cells.jsonl");
    let mut child = Command::new(PROGRAM)
        .args(resume.split(' '))
        .current_dir(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let file = folder.join("cells.jsonl");
    let cells = || {
        let kept = std::fs::read(&file).unwrap_or_default();
        kept.iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1)
    };
    while cells() < 3 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = cells();
    assert!(kept >= 3);
    let (stdout, stderr) = printed(&folder, &resume);
    assert_eq!(stdout, whole);
    assert!(stderr.starts_with(&format!("{} runs in ", 2 * (14 - kept))), "{kept}: {stderr}");
}

#[test]
fn a_file_of_another_job_is_refused_and_left_alone() {
    let folder = folder("another_job");
    printed(&folder, &format!("{JOB} --resume cells.jsonl"));
    let file = folder.join("cells.jsonl");
    let kept = std::fs::read(&file).unwrap();
    for (other, field) in [
        (JOB.replace("compare", "run"), "command: made with compare, not with run"),
        (JOB.replace("--runs 3", "--runs 4"), "runs: made with 3, not with 4"),
        (JOB.to_owned() + " --seed 2", "seed: made with 1, not with 2"),
        (JOB.to_owned() + " --cc c4,cubic", "cc: made with c4,bbr,cubic, not with c4,cubic"),
        (JOB.to_owned() + " --shard 1/2", "shards: made with 1, not with 2"),
        (JOB.replace(" ./b.toml", ""), "scenarios: made with a b, not with a"),
    ] {
        let line = refused(&folder, &format!("{other} --resume cells.jsonl"));
        assert!(line.contains(&format!("cells.jsonl: {field}")), "{line}");
        assert_eq!(std::fs::read(&file).unwrap(), kept);
    }
    // A scenario of the same name.
    let scenario = folder.join("b.toml");
    let text = std::fs::read_to_string(&scenario).unwrap();
    std::fs::write(&scenario, text.replace("rate_mbps = 8", "rate_mbps = 9")).unwrap();
    let line = refused(&folder, &format!("{JOB} --resume cells.jsonl"));
    assert!(line.contains("scenario b: made with other parameters"), "{line}");
    std::fs::write(&scenario, text).unwrap();
    // Another shard of the same number.
    printed(&folder, &format!("{JOB} --shard 1/2 --resume part.jsonl"));
    let line = refused(&folder, &format!("{JOB} --shard 2/2 --resume part.jsonl"));
    assert!(line.contains("shard: made with 1/2, not with 2/2"), "{line}");
    // Another version.
    let text = String::from_utf8(kept.clone()).unwrap();
    let ours = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&ours));
    std::fs::write(&file, text.replace(&ours, "\"version\":\"0.0.9\"")).unwrap();
    for args in [&format!("{JOB} --resume cells.jsonl"), "merge cells.jsonl"] {
        let line = refused(&folder, args);
        assert!(line.contains("version: made with 0.0.9, "), "{line}");
    }
}

#[test]
fn what_is_no_file_of_cells_is_refused_and_left_alone() {
    let folder = folder("no_file_of_cells");
    printed(&folder, &format!("{JOB} --resume cells.jsonl"));
    let kept = std::fs::read_to_string(folder.join("cells.jsonl")).unwrap();
    let lines: Vec<&str> = kept.lines().collect();
    let with = |line: &str| format!("{}\n{line}\n{}\n", lines[0], lines[1]);
    let file = folder.join("other.jsonl");
    for (text, named) in [
        ("scenario,runs\nalone,3\n".to_owned(), "line 1: no file of finished cells"),
        ("something without an end".to_owned(), "line 1: no file of finished cells"),
        ("{}\n".to_owned(), "line 1: no file of finished cells"),
        (with("{"), "line 2: no finished cell"),
        (with(&lines[1].replace("\"c4\"", "\"c5\"")), "unknown algorithm c5"),
        (with(&lines[2].replace("\"a\"", "\"c\"")), "line 2: c with"),
        (with(lines[1]), "line 3: a with c4 is there twice"),
        (with(lines[0]), "line 2: no finished cell"),
        (kept.replace("\"runs\":3", "\"runs\":2"), "runs: made with 2, not with 3"),
        (kept.replace("\"number\":1", "\"number\":2"), "shard: 2/1 (allowed: k/n, n 1..=65536, k 1..=n)"),
    ] {
        std::fs::write(&file, &text).unwrap();
        let line = refused(&folder, &format!("{JOB} --resume other.jsonl"));
        assert!(line.contains("other.jsonl: ") && line.contains(named), "{line}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    std::fs::write(&file, kept.replace("\"runs\":3", "\"runs\":2")).unwrap();
    let line = refused(&folder, "merge other.jsonl");
    assert!(line.contains("other.jsonl: line 2: a with c4 has 3 runs, not 2"), "{line}");
    let line = refused(&folder, &format!("{JOB} --resume ."));
    assert!(line.contains(".: --resume: cannot open the file"), "{line}");
    let line = refused(&folder, "merge missing.jsonl");
    assert!(line.contains("missing.jsonl: FILE: cannot open the file"), "{line}");
}

#[test]
fn any_number_of_shards_gives_what_one_run_gives() {
    let folder = folder("shards");
    let whole: Vec<String> = ["table", "csv", "json"]
        .iter()
        .map(|format| printed(&folder, &JOB.replace("json", format)).0)
        .collect();
    for of in [1, 2, 5, 9] {
        let mut files: Vec<String> = Vec::new();
        for number in 1..=of {
            let file = format!("part-{number}-{of}.jsonl");
            let (stdout, _) = printed(&folder, &format!("{JOB} --shard {number}/{of} --resume {file}"));
            assert_eq!(stdout, "");
            files.insert(0, file);
        }
        for (format, whole) in ["table", "csv", "json"].iter().zip(&whole) {
            let (stdout, _) = printed(&folder, &format!("merge {} --format {format}", files.join(" ")));
            assert_eq!(stdout, *whole, "{of} shards");
        }
    }
    let line = refused(&folder, "merge part-1-2.jsonl");
    assert!(line.contains("a with bbr: not finished, in shard 2/2 (3 of 6 cells are missing)"), "{line}");
    let line = refused(&folder, "merge part-1-2.jsonl part-2-2.jsonl part-1-2.jsonl");
    assert!(line.contains("part-1-2.jsonl: a with c4: there twice"), "{line}");
    let line = refused(&folder, "merge part-1-2.jsonl part-2-5.jsonl");
    assert!(line.contains("part-2-5.jsonl: shards: made with 5, not with 2 as in part-1-2.jsonl"), "{line}");
    printed(&folder, &format!("{JOB} --seed 2 --shard 2/2 --resume seed.jsonl"));
    let line = refused(&folder, "merge part-1-2.jsonl seed.jsonl");
    assert!(line.contains("seed.jsonl: seed: made with 2, not with 1"), "{line}");
}

/// Files like `a.toml` with something behind it: a second flow, an AQM and ECN, other traffic on the way back.
fn more_scenarios(folder: &Path) {
    let text = std::fs::read_to_string(folder.join("a.toml")).unwrap();
    for (name, more) in [
        ("two", "[[flow]]\nsize_bytes = 200_000\n"),
        ("aqm", "[dualpi2]\n[endpoint]\necn = \"wanted\"\n"),
        ("back", "[[cross]]\nrate_mbps = 1\ndirection = \"reverse\"\nstop_ms = 1_000\n"),
    ] {
        let text = text.replace("name = \"a\"", &format!("name = \"{name}\"")) + more;
        std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
}

#[test]
fn shares_queues_and_marks_are_kept_and_split_too() {
    let folder = folder("figures");
    more_scenarios(&folder);
    for (number, job, cells) in [
        (0, "share ./two.toml ./a.toml --cc c4,cubic --runs 2", 5),
        (1, "share ./two.toml --cc c4,cubic --against bbr,c4 --every-ms 100", 4),
        (2, "delay ./a.toml ./back.toml --cc cubic,c4 --runs 1", 14),
        (3, "ecn ./aqm.toml ./two.toml --cc c4,cubic --runs 2 --after-ms 100", 4),
    ] {
        let whole: Vec<String> =
            ["table", "csv", "json"].map(|f| printed(&folder, &format!("{job} --format {f}")).0).into();
        let file = format!("cells-{number}.jsonl");
        let resume = format!("{job} --format csv --resume {file}");
        assert_eq!(printed(&folder, &resume).0, whole[1], "{job}");
        // Cut off in the third cell; a second process finishes it, a third finds nothing to do.
        let kept = std::fs::read_to_string(folder.join(&file)).unwrap();
        let lines: Vec<&str> = kept.split_inclusive('\n').collect();
        assert_eq!(lines.len(), 1 + cells, "{job}");
        std::fs::write(folder.join(&file), lines[..3].concat() + &lines[3][..lines[3].len() / 2]).unwrap();
        for missing in [cells - 2, 0] {
            let (stdout, stderr) = printed(&folder, &resume);
            let runs = if job.contains("--runs 2") { 2 } else { 1 };
            assert_eq!(stdout, whole[1], "{job}");
            assert!(stderr.starts_with(&format!("{} runs in ", runs * missing)), "{job}: {stderr}");
        }
        let parts = [1, 2, 3].map(|part| {
            let file = format!("part-{number}-{part}.jsonl");
            let (stdout, _) = printed(&folder, &format!("{job} --shard {part}/3 --resume {file}"));
            assert_eq!(stdout, "");
            file
        });
        for (format, whole) in ["table", "csv", "json"].iter().zip(&whole) {
            let merged = printed(&folder, &format!("merge {} --format {format}", parts.join(" "))).0;
            assert_eq!(merged, *whole, "{job}");
        }
    }
    for (other, field) in [
        (
            "share ./two.toml ./a.toml --cc c4,cubic --runs 2 --against c4",
            "share, not with share --against c4",
        ),
        ("ecn ./two.toml ./a.toml --cc c4,cubic --runs 2", "share, not with ecn --after-ms 0"),
    ] {
        let line = refused(&folder, &format!("{other} --resume cells-0.jsonl"));
        assert!(line.contains(&format!("cells-0.jsonl: command: made with {field}")), "{line}");
    }
    let line = refused(&folder, "merge part-0-1.jsonl part-0-3.jsonl");
    assert!(line.contains("two with c4, against cubic: not finished, in shard 2/3"), "{line}");
    let line = refused(&folder, "merge part-2-1.jsonl part-2-2.jsonl");
    assert!(line.contains("a with c4") || line.contains("back with "), "{line}");
    let line = refused(&folder, "merge part-0-1.jsonl part-3-2.jsonl");
    assert!(line.contains("part-3-2.jsonl: command: made with ecn --after-ms 100, not with share"), "{line}");
}

#[test]
fn shards_out_of_range_are_named_with_their_range() {
    let folder = folder("shard_arguments");
    for (shard, allowed) in [
        ("1", "K/N"),
        ("0/4", "K: allowed: whole numbers 1..=4"),
        ("5/4", "K: allowed: whole numbers 1..=4"),
        ("-1/4", "K: allowed: whole numbers 1..=4"),
        ("1/0", "N: allowed: whole numbers 1..=65536"),
        ("1/65537", "N: allowed: whole numbers 1..=65536"),
        ("1/x", "N: allowed: whole numbers 1..=65536"),
    ] {
        let line = refused(&folder, &format!("{JOB} --resume cells.jsonl --shard {shard}"));
        assert!(line.contains("--shard") && line.contains(allowed), "{line}");
    }
    assert!(!folder.join("cells.jsonl").exists());
    let line = refused(&folder, &format!("{JOB} --shard 1/2"));
    assert!(line.contains("--resume"), "{line}");
    assert!(refused(&folder, "merge").contains("<FILE>"));
}

/// Runs the examples of the page as they are written, with fewer runs and one scenario where it is about a long job.
#[cfg(unix)]
#[test]
fn the_examples_of_the_page_work() {
    let folder = folder("page");
    let page = include_str!("../docs/sharding.md")
        .replace("--runs 1000", "--runs 2")
        .replace("--runs 100 ", "--runs 2 ");
    let page =
        page.replace("compare all", "compare ./a.toml ./b.toml").replace("network_events --", "./b.toml --");
    let blocks: Vec<&str> =
        page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 3);
    let path =
        format!("{}:{}", Path::new(PROGRAM).parent().unwrap().display(), std::env::var("PATH").unwrap());
    let sh = |script: &str, task: &str| {
        let output = Command::new("sh")
            .args(["-ec", script])
            .current_dir(&folder)
            .envs([("PATH", path.as_str()), ("SLURM_ARRAY_TASK_ID", task), ("SLURM_ARRAY_TASK_COUNT", "4")])
            .env("JOB_COMPLETION_INDEX", task)
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let (whole, _) = printed(&folder, "compare ./a.toml ./b.toml --runs 2");
    assert_eq!(sh(blocks[0], ""), whole);
    assert!(sh(blocks[1], "").contains("| b "));
    assert!(std::fs::read_to_string(folder.join("b.csv")).is_err());
    assert!(std::fs::read_to_string(folder.join("network_events.csv")).unwrap().starts_with("scenario,"));
    sh("rm part-*.jsonl", "");
    for task in ["1", "2", "3", "4"] {
        assert_eq!(sh(blocks[2], task), "");
    }
    assert_eq!(sh("cc-sim merge part-*.jsonl", ""), whole);
    // The command of the Kubernetes page, folded as YAML's `>-` folds it.
    let folded = page.split(">-\n").nth(1).unwrap().split("          resources").next().unwrap();
    let command = folded.split_whitespace().collect::<Vec<_>>().join(" ").replace("/results/", "pod-");
    for index in 0..36 {
        assert_eq!(sh(&command, &index.to_string()), "");
    }
    assert_eq!(sh("cc-sim merge pod-part-*.jsonl", ""), whole);
}
