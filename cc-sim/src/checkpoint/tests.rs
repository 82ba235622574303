use super::Shard;
use super::file::Found;
use crate::Algorithm;
use crate::Outcome;
use crate::checkpoint::{Job, JobCommand};
use crate::scenario::builtin;
use proptest::prelude::*;

/// The first line of a file for one scenario with two algorithms.
fn header() -> Vec<u8> {
    let scenarios = [builtin("alone").unwrap()];
    let algorithms = [Algorithm::C4, Algorithm::Cubic];
    let job = Job::new(JobCommand::Compare, &scenarios, &algorithms, (1, u64::MAX), Shard::WHOLE);
    let mut line = serde_json::to_vec(&job).unwrap();
    line.push(b'\n');
    line
}

#[test]
fn each_cell_belongs_to_one_shard_and_shards_differ_by_one_cell_at_most() {
    for of in [1, 2, 7, 108, 200] {
        let mut sizes = vec![0_usize; of as usize];
        for cell in 0..108 {
            let owners: Vec<u32> = (1..=of).filter(|&number| Shard { number, of }.has(cell)).collect();
            assert_eq!(owners.len(), 1, "cell {cell} of {of}");
            sizes[owners[0] as usize - 1] += 1;
        }
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
    }
}

#[test]
fn a_job_is_read_as_it_was_written() {
    let header = header();
    let found = Found::<Outcome>::read("test", &header[..], |_| Ok(())).unwrap();
    assert_eq!((found.job.seed, found.job.runs, found.cells.len()), (u64::MAX, 1, 2));
    assert_eq!(found.scenarios, [builtin("alone").unwrap()]);
    assert_eq!(found.whole, header.len() as u64);
}

proptest! {
    #[test]
    fn damage_is_an_error_or_costs_cells_but_no_panic(
        place in 0_usize..600,
        bytes in proptest::collection::vec(any::<u8>(), 0..8),
        tail in ".{0,40}",
    ) {
        let mut file = header();
        let at = place.min(file.len());
        file.splice(at..(at + bytes.len()).min(file.len()), bytes);
        file.extend(tail.bytes());
        if let Ok(found) = Found::<Outcome>::read("test", &file[..], |_| Ok(())) {
            prop_assert!(found.whole <= file.len() as u64);
        }
    }
}
