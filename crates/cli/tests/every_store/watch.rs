//! Events of a run, as another process follows them.

use serde_json::Value;

use super::in_every_store;
use crate::place::{Ended, Kind, Place};

const SCENARIO: &str = "\
name: watched
message: tidy up
approve: [delete_file]
model:
  - text: let me see
    calls:
      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}
      - {id: rm, tool: delete_file, arguments: {path: a.txt}}
  - text: done
outside:
  - {when: {after_commit: 2}, do: crash}
";

in_every_store! { a_watcher_sees_each_event_once_whatever_process_drives_the_run }

fn watching(place: &Place, args: &[&str]) -> Ended {
    let watcher =
        place.command(&[&["watch", "watched-1"], args].concat()).stderr(place.session.kept()).spawn();
    Ended(Some(watcher.unwrap()))
}

fn a_watcher_sees_each_event_once_whatever_process_drives_the_run(new: &dyn Fn() -> Place) {
    let place = new();
    place.session.write("s.yaml", SCENARIO);
    let said = place.say(&["run", "s.yaml"]);
    assert!(said.stderr.contains("it crashed, as its scenario says"), "{}", said.shown());
    let watchers =
        [watching(&place, &["--format", "jsonl"]), watching(&place, &["--format", "jsonl", "--after", "2"])];
    let parked = place.say(&["resume", "watched-1"]);
    assert_eq!(parked.code, Some(3), "{}", parked.shown());
    let waits = place.say(&["watch", "watched-1", "--no-wait"]);
    assert_eq!(waits.code, Some(3), "{}", waits.shown());
    assert!(waits.stdout.contains("run finished"), "{}", waits.shown());
    let ended = place.say(&["resume", "watched-1", "--approve", "rm"]);
    assert_eq!(ended.code, Some(0), "{}", ended.shown());

    let all = place.say(&["watch", "watched-1", "--format", "jsonl"]);
    assert_eq!(all.code, Some(0), "{}", all.shown());
    let events: Vec<Value> = all.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut next = 1;
    for event in &events {
        assert_eq!(event["seq"], next, "{}", all.shown());
        next = event["last"].as_u64().unwrap_or(next) + 1;
    }
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["status"]), (&"run_finished".into(), &"Done".into()), "{}", all.shown());
    for (watcher, unseen) in watchers.into_iter().zip([0, 2]) {
        let output = watcher.output();
        assert_eq!(output.status.code(), Some(0));
        let seen = String::from_utf8(output.stdout).unwrap();
        let expected: Vec<&str> = all.stdout.lines().skip(unseen).collect();
        assert_eq!(seen.lines().collect::<Vec<_>>(), expected, "without the first {unseen}");
    }
    let shown = place.say(&["watch", "watched-1"]);
    if place.url.starts_with("sqlite") {
        let user = whoami::username().unwrap_or_default();
        let shown = shown.replaced(&format!("approved by {user}"), "approved by [user]");
        crate::session::assert_shown("watched", &shown.shown());
    }
    let none = place.say(&["watch", "nothing-1"]);
    assert_eq!(none.code, Some(2), "{}", none.shown());
}

/// What another program has changed is told, and shown as no event.
#[test]
fn events_that_are_missing_or_damaged_are_told() {
    let place = Kind::Sqlite.place().unwrap();
    place.session.write("s.yaml", "name: watched\nmessage: go\nmodel:\n  - text: done\n");
    place.does(&["run", "s.yaml"], 0);
    let store = crate::stores::open(&place.session, "runs/runs.db");
    let forged = "UPDATE events SET json = '{\"seq\":3,' || char(10) || '{\"seq\":4,\"type\":\"forged\"}' WHERE seq = 3";
    store.execute_batch(&format!("{forged}; DELETE FROM events WHERE seq = 5")).unwrap();
    drop(store);
    for format in ["text", "jsonl"] {
        let said = place.does(&["watch", "watched-1", "--format", format], 0);
        assert!(said.stderr.contains("warning: the event cannot be read"), "{}", said.shown());
        assert!(said.stderr.contains("warning: event 5 is not in the store"), "{}", said.shown());
        assert!(!said.stdout.contains("forged"), "{}", said.shown());
        assert!(said.stdout.contains("natural_end"), "{}", said.shown());
    }
}
