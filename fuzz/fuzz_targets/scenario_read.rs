//! No text makes the reader of scenarios panic: neither bytes, nor a scenario of the repository in which some values are others.

#![no_main]

mod hostile;

use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use runstate::clock::UnixClock;
use runstate_scenario::Scenario;
use serde_json::Value;

static SCENARIOS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect(folder).map(|entry| entry.expect(folder).path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let texts = paths.iter().map(|path| std::fs::read_to_string(path).expect("a scenario"));
    texts.filter_map(|text| runstate_scenario::from_yaml(&text).ok()).collect()
});

fn read(text: &str) {
    match Scenario::parse(text) {
        Ok(scenario) => drop(runstate_scenario::agent(&scenario, &[], runstate::clock::unix_clock() as UnixClock)),
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
    let Ok(scenario) = from.choose(&SCENARIOS[..]) else { return };
    let mut scenario = scenario.clone();
    if hostile::change(&mut scenario, &mut from).is_ok() {
        read(&scenario.to_string());
    }
});
