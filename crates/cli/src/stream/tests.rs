//! The schema's names are the library's.

use runstate::stream::ErrorKind;
use runstate::stream::drift::DriftKind;
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
