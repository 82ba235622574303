use super::{Event, Pick, ReceiveTime, Received, Script, Selection, Statement, Tags};
use cc_core::Duration;

fn error(text: &str) -> String {
    Script::parse(text).map(|_| ()).expect_err("the script is wrong").to_string()
}

const SAMPLE: &str = "title: a title
source: repo#1
applies: loss-based undo|resume !hystart; because
set mss 1400
set iw default
set resume 600000 100
sent(0, 1..10)
sent(+1 us, 11, 40 B, ack-only)
fill(2, leave 3, in one)
ack(100, 1..3, 5) + lost 4 + ce 1 + delay 25 + pc
ack(150, 7, next 2) + delay 1 + received after 1 h + received 7..8, last 1 at 20 us + received none before 5 + forced
lost(200, all, timer) + forced
let before = cwnd * 7 / (10 + 3) - 2 mss
loop 3 {
    [loss-based] ack(+10, first 1)
    loop 2 {
        run(1000, rate 1000, rtt 10, queue 5, per-ack 1, forward 4)
    }
}
discard(300, last 2, zero-rtt)
expect cwnd == before within 1
expect pacing none
expect phase recovery | slow_start
expect not startup
";

#[test]
fn what_is_written_reads_as_the_same_script() {
    let script = Script::parse(SAMPLE).expect("the sample is right");
    let printed = script.to_string();
    let again = Script::parse(&printed).expect("printed scripts are right");
    assert_eq!(printed, again.to_string());
    assert_eq!(script.body.len(), again.body.len());
    assert_eq!(script.settings, again.settings);
    assert!(printed.contains("ack(100, 1..3, 5) + lost 4 + ce 1 + delay 25 + pc\n"), "{printed}");
    let received = "ack(150, 7, next 2) + delay 1 + received all after 3600000 + received 7..8, last 1 at 20 us + \
                    received none before 5 + forced\n";
    assert!(printed.contains(received), "{printed}");
    assert!(printed.contains("per-ack 1, forward 4)\n"), "{printed}");
    assert!(printed.contains("let before = cwnd * 7 / (10 + 3) - 2 * mss\n"), "{printed}");
}

#[test]
fn times_are_milliseconds_unless_they_have_a_unit() {
    let script = Script::parse("time(1.5)\ntime(2 us)\ntime(3 d)\n").expect("right");
    let times: Vec<_> = script
        .body
        .iter()
        .map(|line| match &line.statement {
            Statement::Event(super::When::At(at), Event::Time) => at.as_nanos(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(times, [1_500_000, 2_000, 3 * 86_400 * 1_000_000_000]);
}

#[test]
fn receive_times_name_packets_and_a_time() {
    let script = Script::parse("ack(1, 4) + received 2..3 at 5 + received before 1 ns").expect("right");
    let [line] = script.body.as_slice() else { panic!("{script}") };
    let Statement::Event(_, Event::Frame(frame)) = &line.statement else { panic!("{script}") };
    let at = |pick, time| Received { packets: Selection(vec![pick]), time };
    assert_eq!(
        frame.received,
        [
            at(Pick::Range(2, 3), ReceiveTime::At(Duration::from_millis(5))),
            at(Pick::All, ReceiveTime::Before(Duration::from_nanos(1))),
        ]
    );
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    assert_eq!(error("sent(0, 1..10)\n\nack(100 1)"), "line 3: expected `,`, found `1`");
    assert_eq!(error("ack(100, 3..1)"), "line 1: expected a range that ascends");
    assert_eq!(error("loop 3 {\ntime(1)\n"), "line 2: expected `}` for the loop of line 1");
    assert_eq!(error("}"), "line 1: expected a statement, found `}` without a loop");
    assert_eq!(error("expect cwnd"), "line 1: expected a comparison such as `<=`, found the end of the line");
    assert_eq!(error("time(1)\nset mss 1"), "line 2: expected `set` before the first statement");
    assert_eq!(
        error("mtu(1, 1400, larger)"),
        "line 1: expected handshake or discovered or black-hole, found `larger`"
    );
    assert_eq!(
        error("time(1)\nack(1, 2) + received 3 50"),
        "line 2: expected at, after or before, found `50`"
    );
    assert_eq!(
        error("ack(1, 2) + received all since 5"),
        "line 1: expected at, after or before, found `since`"
    );
    assert_eq!(
        error("ack(1, 2) + received at"),
        "line 1: expected a receive time, found the end of the line"
    );
    assert_eq!(
        error("ack(1, 2) + received soon"),
        "line 1: expected a packet number, all, none, first, last, older or next, found `soon`"
    );
    assert_eq!(error("time(ü)"), "line 1: expected a word, a number or a sign, found `ü`");
    assert!(error("jump(1)").starts_with("line 1: expected sent, fill, ack"), "{}", error("jump(1)"));
    assert!(error("applies: loss-based\n").contains("REASON"));
    assert_eq!(error("[cubic time(1)"), "line 1: expected `]` after the tags");
}

#[test]
fn long_lines_and_deep_loops_are_refused() {
    let long = format!("expect cwnd == {}1", "1 + ".repeat(5_000));
    assert!(error(&long).contains("at most 200 words"));
    assert!(error(&"loop 2 {\n".repeat(100)).contains("at most 8 loops"));
    assert!(error(&format!("time({})", "9".repeat(30))).contains("at most 20 digits"));
}

#[test]
fn a_header_that_says_little_is_printed_as_it_was_read() {
    // A second source without a word gave a blank, and a reason without tags was left out.
    let read = |text: &str| Script::parse(text).expect("a script");
    let script = read("source: a\nsource:\napplies: all; a reason\n");
    assert_eq!((script.source.as_str(), script.reason.as_str()), ("a", "a reason"));
    let again = read(&script.to_string());
    assert_eq!((again.source, again.reason), (script.source, script.reason));
}

#[test]
fn tags_choose_subjects() {
    let tags = Tags::parse("loss-based undo|resume !hystart").expect("tags");
    assert!(tags.hold(&["loss-based", "undo"]));
    assert!(tags.hold(&["resume", "loss-based"]));
    assert!(!tags.hold(&["loss-based"]));
    assert!(!tags.hold(&["loss-based", "undo", "hystart"]));
    assert_eq!(tags.to_string(), "loss-based undo|resume !hystart");
    assert_eq!(Tags::parse("a,b"), None);
    assert!(Tags::parse("all").expect("all").hold(&[]));
}
