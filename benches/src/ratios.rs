//! Prints what was measured as ratios within one run: `cargo bench && cargo run --release --bin ratios`.

use std::fs;
use std::path::PathBuf;

/// What, by whom, measured by what, and the bar.
const RATIOS: &[(&str, &str, &str, &str)] = &[
    ("typed move", "move/typed", "move/by hand", "the same instructions (see `counted`)"),
    ("`apply`", "apply/AnyParcel", "apply/by hand", "<= 2"),
    (
        "`apply`, recorded into a preallocated buffer",
        "apply/AnyParcel, into a buffer",
        "apply/by hand",
        "<= 8",
    ),
    ("`apply`, an observer that is off", "apply/AnyParcel, an observer that is off", "apply/by hand", ""),
    ("`apply`, an observer that counts", "apply/AnyParcel, an observer that counts", "apply/by hand", ""),
    ("`apply`, into a shared `Recorder`", "apply/AnyParcel, into a recorder", "apply/by hand", ""),
    ("`AnyToolCall::apply`", "apply, a tool call/AnyToolCall", "apply, a tool call/by hand", "<= 2"),
    (
        "`AnyToolCall::apply`, into a shared `Recorder`",
        "apply, a tool call/AnyToolCall, into a recorder",
        "apply, a tool call/by hand",
        "<= 8",
    ),
    (
        "`StatusTally`, 10 calls",
        "status after one transition/StatusTally/10",
        "status after one transition/derive_run_status/10",
        "",
    ),
    (
        "`StatusTally`, 1,000 calls",
        "status after one transition/StatusTally/1000",
        "status after one transition/derive_run_status/1000",
        "",
    ),
    (
        "`StatusTally`, 100,000 calls",
        "status after one transition/StatusTally/100000",
        "status after one transition/derive_run_status/100000",
        "",
    ),
    ("check in memory", "check in memory/check", "check in memory/naive", "<= 6"),
    ("check from JSON lines", "check from lines/check_jsonl", "check from lines/serde_json alone", "<= 2"),
];

fn main() {
    println!("| what | median | measured by | ratio | bar |\n|---|---|---|---|---|");
    for (what, ours, theirs, bar) in RATIOS {
        match (median(ours), median(theirs)) {
            (Some(a), Some(b)) => {
                println!("| {what} | {} | {} | {:.2} | {bar} |", time(a), time(b), a / b);
            }
            _ => println!("| {what} | not measured | | | {bar} |"),
        }
    }
}

/// The median of a benchmark's last run, in nanoseconds an iteration.
fn median(name: &str) -> Option<f64> {
    let mut path = PathBuf::from("target/criterion");
    for part in name.splitn(3, '/') {
        path.push(part.replace(['/', '"', '*', '<', '>', ':', '|', '\\', '?'], "_"));
    }
    path.extend(["new", "estimates.json"]);
    let estimates: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.2} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}
