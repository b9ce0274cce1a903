//! No text makes the reader of scenarios panic: neither bytes, nor a scenario of the repository in which some values are others, nor
//! the YAML of one in which some lines are. `cargo +nightly fuzz run scenario_read corpus/scenario_read seeds/scenario_read` begins with
//! scenarios as people write them.

#![no_main]

mod hostile;

use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use runstate_runtime::clock::UnixClock;
use runstate_scenario::Scenario;
use serde_json::Value;

static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect(folder).map(|entry| entry.expect(folder).path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a scenario")).collect()
});

static SCENARIOS: LazyLock<Vec<Value>> =
    LazyLock::new(|| TEXTS.iter().filter_map(|text| runstate_scenario::from_yaml(text).ok()).collect());

/// What YAML has and JSON has not.
const YAML: [&str; 24] = [
    "&a ", "*a", "<<: *a", "? ", "- ", "---", "...", "%YAML 1.2", "!!binary ", "!!str ", "!t ", "|", ">-", "|9", "~", "{", "}", "[", "]",
    "\t", "\u{feff}", "'", "\"", ": ",
];

/// A text in which some lines are twice, gone, further in, in another's place, or have a piece of YAML in them.
fn change_lines(text: &str, from: &mut Unstructured<'_>) -> Result<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..from.int_in_range(1..=4)? {
        let Some(last) = lines.len().checked_sub(1) else { break };
        let (at, other) = (from.int_in_range(0..=last)?, from.int_in_range(0..=last)?);
        match from.int_in_range(0..=6)? {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            3 => lines[at].insert_str(0, &" ".repeat(from.int_in_range(1..=9)?)),
            4 => lines[at] = lines[at].trim_start().to_owned(),
            5 => lines[at].push_str(&hostile::value(from)?.to_string()),
            _ => {
                let piece = from.choose(&YAML)?;
                let ends: Vec<usize> = lines[at].char_indices().map(|(end, _)| end).chain([lines[at].len()]).collect();
                let place = *from.choose(&ends)?;
                lines[at].insert_str(place, piece);
            }
        }
    }
    Ok(lines.join("\n"))
}

fn read(text: &str) {
    match Scenario::parse(text) {
        Ok(scenario) => drop(runstate_scenario::agent(&scenario, &[], runstate_runtime::clock::unix_clock() as UnixClock)),
        Err(refused) => {
            let told = refused.to_string();
            assert!(!told.contains("BudgetBreach") && !told.contains("Anchors {"), "{told}");
            if let Some(span) = refused.span() {
                assert!(span.start <= text.len(), "{refused}");
            }
        }
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        read(text);
    }
    let mut from = Unstructured::new(data);
    if let Ok(changed) = from.choose(&TEXTS[..]).and_then(|text| change_lines(text, &mut from)) {
        read(&changed);
    }
    let mut from = Unstructured::new(data);
    let Ok(scenario) = from.choose(&SCENARIOS[..]) else { return };
    let mut scenario = scenario.clone();
    if hostile::change(&mut scenario, &mut from).is_ok() {
        read(&scenario.to_string());
    }
});
