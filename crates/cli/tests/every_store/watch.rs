//! Events of a run, as another process follows them.

use std::fs;
use std::io::{BufRead, BufReader};

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

in_every_store! {
    a_watcher_sees_each_event_once_whatever_process_drives_the_run,
    events_that_are_missing_or_damaged_are_told,
    a_forged_event_keeps_no_watcher_waiting,
    a_run_that_cannot_be_read_has_its_events,
    a_watcher_is_told_that_the_run_waits_and_how_to_answer,
    questions_without_an_acceptable_answer_are_not_asked,
    a_watcher_is_told_that_no_process_drives_the_run,
}

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

/// Another program rewrites the events of the one run of the store: its rows, or in files its lines. What is counted of a file stays.
fn forge(place: &Place, sql: &str, lines: impl FnOnce(&mut Vec<Vec<u8>>)) {
    match place.kind {
        Kind::Sqlite => crate::stores::open(&place.session, "runs/runs.db").execute_batch(sql).unwrap(),
        Kind::Files => {
            let run = fs::read_dir(place.session.path("runs/store/runs")).unwrap().next().unwrap().unwrap();
            let path = run.path().join("events.jsonl");
            let mut file = fs::read(&path).unwrap();
            let length = file.len();
            let mut rows: Vec<_> =
                file.trim_ascii_end().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            lines(&mut rows);
            file = rows.join(&b'\n');
            assert!(file.len() < length);
            file.resize(length - 1, b' ');
            file.push(b'\n');
            fs::write(&path, file).unwrap();
        }
        #[cfg(unix)]
        Kind::Postgres => {
            crate::server::shared()
                .unwrap()
                .make_in(&place.url, &format!("SET search_path TO runstate; {sql}"));
        }
    }
}

/// The same of the specification of the run.
fn forge_spec(place: &Place) {
    match place.kind {
        Kind::Sqlite => {
            let store = crate::stores::open(&place.session, "runs/runs.db");
            store.execute("UPDATE specs SET json = '{'", []).unwrap();
        }
        Kind::Files => {
            let run = fs::read_dir(place.session.path("runs/store/runs")).unwrap().next().unwrap().unwrap();
            fs::write(run.path().join("spec.json"), "{").unwrap();
        }
        #[cfg(unix)]
        Kind::Postgres => {
            crate::server::shared().unwrap().make_in(&place.url, "UPDATE runstate.runs SET spec = '{'");
        }
    }
}

/// What another program has changed is told, and shown as no event.
fn events_that_are_missing_or_damaged_are_told(new: &dyn Fn() -> Place) {
    let place = new();
    place.session.write("s.yaml", "name: watched\nmessage: go\nmodel:\n  - text: done\n");
    place.does(&["run", "s.yaml"], 0);
    let not_text = match place.kind {
        Kind::Sqlite => "CAST(x'7bff0a7b' AS TEXT)",
        _ => "'{' || chr(10) || '{\"seq\":4,\"type\":\"forged\"}'",
    };
    let forged =
        format!("UPDATE events SET json = {not_text} WHERE seq = 3; DELETE FROM events WHERE seq = 5");
    forge(&place, &forged, |lines| {
        lines[2] = b"{\xff\r{".to_vec();
        lines.remove(4);
    });
    for format in ["text", "jsonl"] {
        let said = place.does(&["watch", "watched-1", "--format", format], 0);
        assert!(said.stderr.contains("warning: the event cannot be read"), "{}", said.shown());
        assert!(said.stderr.contains("warning: event 5 is not in the store"), "{}", said.shown());
        assert!(!said.stdout.contains("forged"), "{}", said.shown());
        assert!(said.stdout.contains("natural_end"), "{}", said.shown());
        assert_eq!(said.stderr.lines().count(), 2, "{}", said.shown());
    }
    // A number that is none, and one of another event.
    for last in ["18446744073709551616", "99"] {
        // In files the line is the row.
        if last == "99" && matches!(place.kind, Kind::Files) {
            continue;
        }
        let place = new();
        place.session.write("s.yaml", "name: watched\nmessage: go\nmodel:\n  - text: done\n");
        place.does(&["run", "s.yaml"], 0);
        let json = format!("{{\"seq\":3,\"last\":{last}}}");
        forge(&place, &format!("UPDATE events SET json = '{json}' WHERE seq = 3"), |lines| {
            lines[2] = json.clone().into_bytes();
        });
        let said = place.does(&["watch", "watched-1"], 0);
        assert!(said.stderr.contains("warning: the event cannot be read"), "{last}: {}", said.shown());
        assert_eq!(said.stderr.lines().count(), 1, "{last}: {}", said.shown());
    }
    let ends = "DELETE FROM events WHERE seq = 1 OR seq = (SELECT max(seq) FROM events)";
    forge(&place, ends, |lines| {
        lines.pop();
        lines.remove(0);
    });
    let said = place.does(&["watch", "watched-1"], 0);
    assert!(said.stderr.contains("warning: event 1 is not in the store"), "{}", said.shown());
    let told = "warning: the run is over, and the event of its end is not in the store";
    assert!(said.stderr.contains(told), "{}", said.shown());
    assert!(!said.stdout.contains("natural_end"), "{}", said.shown());
}

/// A number behind which no event can come, and an end that is none.
fn a_forged_event_keeps_no_watcher_waiting(new: &dyn Fn() -> Place) {
    let place = new();
    place.session.write("s.yaml", SCENARIO);
    place.say(&["run", "s.yaml"]);
    let greatest = "UPDATE events SET last = 9223372036854775807 WHERE seq = (SELECT max(seq) FROM events)";
    forge(&place, greatest, |lines| {
        let last = lines.last_mut().unwrap();
        let seq = serde_json::from_slice::<Value>(last).unwrap()["seq"].clone();
        *last = format!("{{\"seq\":{seq},\"last\":{}}}", u64::MAX).into_bytes();
    });
    let stored = place.does(&["watch", "watched-1", "--no-wait"], 4).stdout.lines().count();
    let mut watcher = watching(&place, &[]);
    // It has read all of them. The pipe stays open: a reader that goes away ends it, too.
    let mut shown = BufReader::new(watcher.0.as_mut().unwrap().stdout.take().unwrap());
    for _ in 0..stored {
        assert!(shown.read_line(&mut String::new()).unwrap() > 0, "{stored}");
    }
    place.does(&["resume", "watched-1"], 3);
    place.does(&["resume", "watched-1", "--approve", "rm"], 0);
    assert_eq!(watcher.ends(), Some(0));

    let place = new();
    place.session.write("s.yaml", SCENARIO);
    place.say(&["run", "s.yaml"]);
    let json = r#"{"seq":SEQ,"at_ms":0,"run":"watched-1","thread":"watched-1","activation":1,"type":"run_finished","reason":"natural_end","status":"Done","waiting":[],"usage":{"input_tokens":0,"output_tokens":0},"used":{"input_tokens":0,"output_tokens":0}}"#;
    let end = format!("UPDATE events SET json = replace('{json}', 'SEQ', cast(seq AS text)) WHERE seq = 4");
    forge(&place, &end, |lines| {
        let long: usize = lines.drain(3..).map(|line| line.len()).sum();
        assert!(long > json.len());
        lines.push(json.replace("SEQ", "4").into_bytes());
    });
    let told = "warning: the run is not over, and an event says that it is";
    for more in [&[][..], &["--no-wait"]] {
        let said = place.does(&[&["watch", "watched-1"], more].concat(), 4);
        assert!(said.stderr.contains(told), "{}", said.shown());
    }
}

/// Its events have the last word then. Without an end among them the damage is told.
fn a_run_that_cannot_be_read_has_its_events(new: &dyn Fn() -> Place) {
    let place = new();
    place.session.write("s.yaml", "name: watched\nmessage: go\nmodel:\n  - text: done\n");
    place.does(&["run", "s.yaml"], 0);
    forge_spec(&place);
    let said = place.does(&["watch", "watched-1"], 0);
    assert!(said.stdout.contains("natural_end"), "{}", said.shown());
    assert_eq!(said.stderr, "", "{}", said.shown());
    forge(&place, "DELETE FROM events WHERE seq > 3", |lines| lines.truncate(3));
    let said = place.does(&["watch", "watched-1", "--no-wait"], 4);
    assert!(!said.stdout.contains("natural_end"), "{}", said.shown());
    let said = place.does(&["watch", "watched-1", "--after", "99"], 2);
    assert!(said.stderr.contains("spec"), "{}", said.shown());
}

/// The waiting calls are told once, and the watcher continues.
fn a_watcher_is_told_that_the_run_waits_and_how_to_answer(new: &dyn Fn() -> Place) {
    let place = new();
    let scenario = SCENARIO.split("outside:").next().unwrap();
    place.session.write("s.yaml", scenario);
    place.does(&["run", "s.yaml"], 3);
    let log = place.session.path("watch.log");
    let file = fs::File::create(&log).unwrap();
    // Its last event is skipped too: the run waits all the same.
    for (more, code) in [(&["--no-wait"] as &[&str], 3), (&["--no-wait", "--after", "99"], 3)] {
        let said = place.does(&[&["watch", "watched-1"], more].concat(), code);
        assert!(
            said.stderr.starts_with("watched-1 waits for 1 decision\n  rm: delete_file "),
            "{}",
            said.shown()
        );
        let answer = "\n    answer: runstate approve watched-1/rm/1 ";
        assert!(said.stderr.contains(answer), "{}", said.shown());
    }
    let mut watcher = Ended(Some(place.command(&["watch", "watched-1"]).stderr(file).spawn().unwrap()));
    let told = || fs::read_to_string(&log).unwrap();
    crate::stores::wait_until("the waiting call is told", || told().contains("all questions: "));
    assert!(
        told().starts_with("watched-1 waits for 1 decision; this command continues to watch\n"),
        "{}",
        told()
    );
    place.does(&["approve", "watched-1/rm/1"], 0);
    assert!(watcher.0.as_mut().unwrap().try_wait().unwrap().is_none());
    place.does(&["resume", "watched-1"], 0);
    assert_eq!(watcher.ends(), Some(0));
    assert_eq!(told().matches("answer: ").count(), 1, "{}", told());
}

/// A run that is to be cancelled takes no decision, and neither does an expired question: a worker ends both.
fn questions_without_an_acceptable_answer_are_not_asked(new: &dyn Fn() -> Place) {
    let place = new();
    let scenario = SCENARIO.split("outside:").next().unwrap();
    place.session.write("s.yaml", scenario);
    place.does(&["run", "s.yaml"], 3);
    place.does(&["cancel", "watched-1", "--reason", "not today"], 0);
    let said = place.does(&["watch", "watched-1", "--no-wait"], 4);
    assert_eq!(said.stderr, "watched-1: cancellation: not today\n", "{}", said.shown());

    let expiring = "plugins:\n  - ask: {tool: delete_file, ticket: {expires_after_ms: 3000}}\n";
    place.detached(&scenario.replace("approve: [delete_file]\n", expiring));
    place.work();
    place.does(&["watch", "watched-2", "--no-wait"], 3);
    let has_expired =
        || place.say(&["approvals", "--json"]).stdout.replace(' ', "").contains("\"has_lapsed\":true");
    crate::stores::wait_until("the question has expired", has_expired);
    let said = place.does(&["watch", "watched-2", "--no-wait"], 4);
    assert_eq!(said.stderr, "", "{}", said.shown());

    // The number names another run.
    let said = place.does(&["watch", "watched-3", "--no-wait"], 2);
    assert!(!said.stderr.contains("did you mean"), "{}", said.shown());
    let said = place.does(&["watch", "wathced-2", "--no-wait"], 2);
    assert!(said.stderr.contains("did you mean \"watched-2\"?"), "{}", said.shown());
}

/// No event comes for either: the watcher looks again.
fn a_watcher_is_told_that_no_process_drives_the_run(new: &dyn Fn() -> Place) {
    let place = new();
    place.detached(SCENARIO);
    let mut watcher =
        place.command(&["watch", "watched-1"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(watcher.stderr.take().unwrap()).lines();
    let _watcher = Ended(Some(watcher));
    let line = told.next().unwrap().unwrap();
    let expected = "watched-1: no process drives the run; drive it with: runstate worker";
    assert!(line.starts_with(expected), "{line}");
    // A worker cannot drive it without its folder.
    fs::remove_dir_all(place.session.path("runs/watched-1")).unwrap();
    place.does(&["worker", "--once"], 1);
    let line = told.next().unwrap().unwrap();
    assert!(line.starts_with("watched-1: problem: "), "{line}");
}
