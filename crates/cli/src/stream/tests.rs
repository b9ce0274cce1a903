//! The schema has the library's names; damaged scenarios are refused.

use runstate_guardrails::drift::DriftKind;
use runstate_stream::ErrorKind;
use serde_json::Value;

/// The words of an enumeration in the schema.
fn words(name: &str) -> Vec<String> {
    let schema = super::schema();
    let defined = &schema["$defs"][name];
    let listed = defined["enum"].as_array().or(defined["oneOf"].as_array()).expect("an enumeration");
    let word = |value: &Value| value.as_str().or(value["const"].as_str()).expect("a word").to_owned();
    let mut words: Vec<String> = listed.iter().map(word).collect();
    words.sort_unstable();
    words
}

fn sorted(names: impl Iterator<Item = &'static str>) -> Vec<String> {
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_names_in_the_schema_are_the_librarys() {
    assert_eq!(words("KindName"), sorted(ErrorKind::ALL.iter().map(|kind| kind.name())));
    assert_eq!(words("DriftName"), sorted(DriftKind::ALL.iter().map(|kind| kind.name())));
}

/// No prefix of a stream scenario, and no changed byte of it, panics.
#[test]
fn a_damaged_stream_scenario_is_read_or_refused() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/streams");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".stream.yaml"));
    // The scenario with the most fields.
    let text =
        paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).max_by_key(String::len).unwrap();
    crate::input::each_damage(&text, |text| {
        drop(super::parse(&super::Text { name: "s".to_owned(), text }));
    });
}

/// A few bytes must not expand to gigabytes.
#[test]
fn repetitions_have_a_million_tokens_and_16_mib_and_no_more() {
    let read = |repeats: &[(u32, usize)]| {
        let step = |(times, bytes): &(u32, usize)| {
            format!("{{repeat: {{token: {}, times: {times}}}}}", "x".repeat(*bytes))
        };
        let attempts: Vec<String> =
            repeats.iter().map(|repeat| format!("{{script: [{}, complete]}}", step(repeat))).collect();
        let text = format!("name: s\nstreams: [{{attempts: [{}]}}]\n", attempts.join(", "));
        super::parse(&super::Text { name: "s.yaml".to_owned(), text })
            .map_err(|failure| failure.message().to_owned())
    };
    for good in [vec![(500_000, 1), (500_000, 1)], vec![(16_384, 512), (16_384, 512)]] {
        read(&good).unwrap();
    }
    for (more, got) in [
        (vec![(500_000, 1), (500_001, 1)], "got 1000001 tokens and 1000001 bytes up to here"),
        (vec![(16_384, 512), (16_384, 512), (1, 1)], "got 32769 tokens and 16777217 bytes up to here"),
    ] {
        let refused = read(&more).unwrap_err();
        let at = format!(
            "streams[0].attempts[{}].script[0].repeat: expected at most 1000000 tokens",
            more.len() - 1
        );
        assert!(refused.contains(&at) && refused.contains(got), "{refused}");
    }
}
