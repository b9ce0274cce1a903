//! The first difference between two traces.
use runstate::trace::{DiffError, Difference, Event, JsonlReader, first_difference};

use super::{journey, jsonl};

fn compare(old: &[Event<'_>], new: &[Event<'_>]) -> Option<Difference> {
    let (old, new) = (jsonl(old), jsonl(new));
    first_difference(JsonlReader::new(old.as_bytes()), JsonlReader::new(new.as_bytes())).unwrap()
}

#[test]
fn ids_times_numbers_and_further_fields_make_no_difference() {
    let mut other = journey();
    for event in &mut other {
        event.run = "another".into();
        event.seq += 100;
        event.at_ms += 12_345;
        event.instance = format!("id-{}", event.instance).into();
        event.extra.insert("cost", &1.5).unwrap();
    }
    assert_eq!(compare(&journey(), &other), None);
}

#[test]
fn the_first_difference_has_the_lines_of_both() {
    let old = journey();
    let mut new = journey();
    new.remove(4);
    insta::assert_snapshot!(compare(&old, &new).unwrap(), @r"
    - line 5: 5  parcel#1  Sent --> Returned : bounce
    + line 5: 5  parcel#2  Sent --> Returned : bounce
    ");
    let found = compare(&old, &old[..8]).unwrap();
    assert_eq!((found.old.unwrap().line, found.new), (9, None));
    insta::assert_snapshot!(compare(&old[..8], &old).unwrap(), @r"
    - the trace has ended
    + line 9: 9  parcel#1  Sent --> Delivered : deliver
    ");
}

#[test]
fn lines_are_those_of_the_files() {
    let old = jsonl(&journey());
    let new = old.replace('\n', "\n\n").replace("bounce", "reject");
    let found = first_difference(JsonlReader::new(old.as_bytes()), JsonlReader::new(new.as_bytes()));
    let found = found.unwrap().unwrap();
    assert_eq!((found.old.unwrap().line, found.new.unwrap().line), (5, 9));
}

#[test]
fn a_trace_that_cannot_be_read_is_named() {
    let good = jsonl(&journey());
    let bad = good.clone() + "rubbish";
    let old = first_difference(JsonlReader::new(bad.as_bytes()), JsonlReader::new(good.as_bytes()));
    assert!(matches!(old, Err(DiffError::Old(_))));
    let new = first_difference(JsonlReader::new(good.as_bytes()), JsonlReader::new(bad.as_bytes()));
    insta::assert_snapshot!(new.unwrap_err(), @"new trace: line 10, column 1: not JSON: expected value");
}
