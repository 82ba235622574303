//! The table `[dualpi2]`.

use super::{GOOD, good, parse};
use crate::scenario::{DualPi2, Scheduler};

#[test]
fn the_aqm_has_the_parameters_of_the_rfc_and_those_of_the_file() {
    let aqm = |table: &str| {
        parse(&GOOD.replace("[transfer]", &format!("[dualpi2]\n{table}\n[transfer]")), "test")
            .unwrap()
            .dualpi2
    };
    assert_eq!(good().dualpi2, None);
    let default = DualPi2::default();
    assert_eq!(aqm(""), Some(default));
    assert_eq!((default.target_us, default.rtt_max_us, default.update_us), (15_000, 100_000, 15_000));
    assert_eq!((default.coupling, default.l4s_min_us, default.l4s_range_us), (2, 800, 400));
    // The smaller of target and a third of the largest RTT.
    assert_eq!(aqm("rtt_max_ms = 30").map(|aqm| aqm.update_us), Some(10_000));
    assert_eq!(aqm("target_ms = 5").map(|aqm| aqm.update_us), Some(5_000));
    assert_eq!(aqm("update_ms = 16").map(|aqm| aqm.update_us), Some(16_000));
    let shifted = aqm("scheduler = \"ts_fifo\"").map(|aqm| aqm.scheduler);
    assert_eq!(shifted, Some(Scheduler::ShiftedFifo { shift_us: 50_000 }));
    for (line, field, allowed) in [
        ("target_ms = 0", "dualpi2.target_ms", "0.1..=60000 ms"),
        ("rtt_max_ms = 0.5", "dualpi2.rtt_max_ms", "1..=60000 ms"),
        ("update_ms = 10_001", "dualpi2.update_ms", "0.1..=10000 ms"),
        ("coupling = 0", "dualpi2.coupling", "1..=16"),
        ("coupling = 2.5", "dualpi2.coupling", "1..=16"),
        ("l4s_min_ms = -1", "dualpi2.l4s_min_ms", "0..=60000 ms"),
        ("l4s_range_ms = 60_001", "dualpi2.l4s_range_ms", "0..=60000 ms"),
        ("l4s_min_packets = 1_000_001", "dualpi2.l4s_min_packets", "0..=1000000"),
        ("l4s_weight = 0", "dualpi2.l4s_weight", "1..=1000"),
        ("shift_ms = 1", "dualpi2.shift_ms", "scheduler = ts_fifo"),
        ("scheduler = \"ts_fifo\"\nl4s_weight = 1", "dualpi2.l4s_weight", "scheduler = wrr"),
        ("scheduler = \"ts_fifo\"\nshift_ms = 60_001", "dualpi2.shift_ms", "0..=60000 ms"),
        ("scheduler = \"fq\"", "dualpi2.scheduler", "wrr, ts_fifo"),
        ("weight = 1", "dualpi2", "target_ms"),
    ] {
        let text = GOOD.replace("[transfer]", &format!("[dualpi2]\n{line}\n[transfer]"));
        let error = parse(&text, "test").unwrap_err();
        assert!(error.field().starts_with(field), "{line}: {error}");
        assert!(error.to_string().contains(allowed), "{line}: {error}");
    }
}
