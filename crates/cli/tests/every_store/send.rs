//! Messages for threads, each from a process of its own.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::in_every_store;
use crate::place::Place;
use crate::session::{Said, assert_shown};

/// It makes a file, and asks before it removes one.
const TIDY: &str = "\
name: tidy
message: tidy up
approve: [delete_file]
model:
  - calls:
      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}
      - {id: rm, tool: delete_file, arguments: {path: b.txt}}
  - text: done
";

in_every_store! {
    each_message_to_a_thread_is_told,
    a_cancellation_behind_a_message_is_left_to_a_worker,
    one_of_simultaneous_messages_begins_a_run,
    a_message_under_a_key_needs_the_key,
    a_message_that_was_not_taken_survives_a_kill,
    a_thread_and_a_message_that_is_not_taken_are_shown,
    a_dry_run_of_prune_leaves_what_prune_leaves,
    messages_that_cannot_be_sent_are_refused,
}

fn each_message_to_a_thread_is_told(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", TIDY);
    let mut shown = String::new();
    for (args, code) in [
        (&["run", "--detach", "s.yaml"] as &[&str], 0),
        (&["send", "tidy-1", "sooner"], 1),
        (&["worker", "--once"], 0),
        (&["send", "tidy-1", "leave b.txt", "--id", "m1"], 1),
        (&["send", "tidy-1", "leave b.txt", "--id", "m1", "--supersede"], 0),
        (&["send", "tidy-1", "leave b.txt", "--id", "m1", "--supersede", "--json"], 0),
        (&["send", "tidy-1", "and more", "--id", "m2", "--supersede"], 1),
        (&["approvals"], 0),
        (&["approve", "tidy-1/rm/1"], 1),
        (&["resume", "tidy-1"], 2),
        (&["worker", "--once"], 0),
        (&["send", "tidy-1", "and more", "--id", "m2"], 0),
        (&["send", "tidy-1", "and more", "--id", "m2", "--json"], 0),
        (&["send", "tidy-1", "and more", "--id", "m2"], 0),
        (&["send", "tidy-2", "too soon", "--json", "--id", "m3"], 1),
        (&["worker", "--once"], 0),
        (&["deny", "tidy-2/rm/1", "--actor", "ada"], 0),
        (&["worker", "--once"], 0),
        (&["runs"], 0),
        (&["prune", "--older-than", "1ms"], 0),
    ] {
        if args[0] == "prune" {
            let text = place.session.read("runs/tidy-2/work/a.txt");
            assert_eq!(text, "one", "the second run works on a copy of the folder");
            for run in ["tidy-1", "tidy-2"] {
                place.conforms(run, &["--complete"]);
            }
        }
        shown.push_str(&place.does(args, code).untimed().shown());
        shown.push('\n');
    }
    assert_shown("send", &shown);
}

fn a_cancellation_behind_a_message_is_left_to_a_worker(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    place.does(&["send", "tidy-1", "IMPORTANT", "--supersede"], 0);
    let told = place.does(&["cancel", "tidy-1"], 0);
    assert!(
        told.stdout.contains("has a cancellation; a worker ends the run: runstate worker"),
        "{}",
        told.shown()
    );
    place.does(&["resume", "tidy-1"], 2);
    place.work();
    assert_eq!(place.field("tidy-1", "reason"), "cancelled");
}

fn one_of_simultaneous_messages_begins_a_run(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached("name: chat\nmessage: hello\nmodel: [{text: done}]\n");
    place.work();
    let args = ["send", "chat-1", "hello again", "--id", "m1", "--json"];
    let start = || {
        place
            .command(&args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let sending: Vec<_> = (0..4).map(|_| start()).collect();
    let said: Vec<Said> =
        sending.into_iter().map(|one| place.session.said(&args, &one.wait_with_output().unwrap())).collect();
    let replies: Vec<String> = said
        .iter()
        .map(|said| {
            serde_json::from_str::<Value>(&said.stdout).unwrap()["reply"].as_str().unwrap().to_owned()
        })
        .collect();
    let began = replies.iter().filter(|reply| *reply == "began").count();
    assert!(
        began == 1 && replies.iter().all(|reply| ["began", "duplicate"].contains(&&**reply)),
        "{replies:?}"
    );
    place.work();
    let listed = place.does(&["runs", "--json"], 0);
    let runs: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "{}", listed.shown());
}

fn a_message_under_a_key_needs_the_key(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("keys", format!("k1 {}", "ab".repeat(32)));
    let keyed = |args: &[&str], code| place.does(&[args, &["--key-file", "keys"]].concat(), code);
    place.session.write("s.yaml", TIDY);
    keyed(&["run", "--detach", "s.yaml"], 0);
    keyed(&["worker", "--once"], 0);
    let refused = place.does(&["send", "tidy-1", "leave it", "--supersede"], 2);
    assert!(refused.stderr.contains("is stored under the key \"k1\""), "{}", refused.shown());
    keyed(&["send", "tidy-1", "leave it", "--supersede"], 0);
    keyed(&["worker", "--once"], 0);
    let refused = place.does(&["send", "tidy-1", "go on"], 2);
    assert!(refused.stderr.contains("is stored under the key \"k1\""), "{}", refused.shown());
    keyed(&["send", "tidy-1", "go on"], 0);
    keyed(&["worker", "--once"], 0);
    let stands = keyed(&["show", "tidy-2", "--format", "json"], 0);
    assert!(stands.stdout.contains("\"Waiting\""), "{}", stands.shown());
}

fn a_message_that_was_not_taken_survives_a_kill(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    place.does(&["send", "tidy-1", "leave it", "--supersede", "--id", "m1"], 0);
    // As a worker looks for work, and as it takes the run: it may have done either by the time of the kill.
    for line in ["drives the runs of", "continues"] {
        let mut worker = place.command(&["worker", "--once", "--lease", "1s"]).spawn().unwrap();
        let mut said = BufReader::new(worker.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(said.any(|said| said.contains(line)) || line == "continues", "a worker says: {line}");
        worker.kill().unwrap();
        worker.wait().unwrap();
    }
    crate::stores::wait_until("the run is over", || {
        place.say(&["worker", "--once", "--lease", "1s"]);
        place.field("tidy-1", "status") == "Done"
    });
    let sent = place.does(&["send", "tidy-1", "leave it", "--supersede", "--id", "m1", "--json"], 0);
    assert!(sent.stdout.contains("\"duplicate\""), "{}", sent.shown());
    place.conforms("tidy-1", &[]);
}

fn a_thread_and_a_message_that_is_not_taken_are_shown(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    let shows = |run: &str, lines: &[&str]| {
        let shown = place.does(&["show", run], 0);
        lines.iter().for_each(|line| assert!(shown.stdout.contains(line), "{line}: {}", shown.shown()));
    };
    place.does(&["send", "tidy-1", "leave\nb.txt", "--supersede", "--id", "m1"], 0);
    shows("tidy-1", &["message  leave\\u{a}b.txt (not taken yet)\n"]);
    let stands = place.stands("tidy-1").unwrap();
    assert_eq!((&stands["thread"], &stands["after"]), (&"tidy-1".into(), &Value::Null));
    assert_eq!(
        (&stands["message"]["message"], &stands["message_id"]),
        (&"tidy-1/m1".into(), &"tidy-1/m1".into())
    );
    let listed = place.does(&["runs"], 0);
    assert!(listed.stdout.contains("a message"), "{}", listed.shown());
    place.work();
    assert_eq!(place.stands("tidy-1").unwrap()["message"], Value::Null);
    place.does(&["send", "tidy-1", "and more"], 0);
    shows("tidy-2", &["thread   tidy-1, after tidy-1\n"]);
    let stands = place.stands("tidy-2").unwrap();
    assert_eq!((&stands["thread"], &stands["after"]), (&"tidy-1".into(), &"tidy-1".into()));
}

fn a_dry_run_of_prune_leaves_what_prune_leaves(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached("name: chat\nmessage: hello\nmodel: [{text: done}]\n");
    place.work();
    for _ in 0..2 {
        place.does(&["send", "chat-1", "more"], 0);
        place.work();
    }
    place.does(&["send", "chat-1", "more"], 0);
    // The first three are over, and the fourth begins with their messages.
    let prune = |more: &[&str]| {
        let said = place.does(&[&["prune", "--older-than", "1ms", "--json"], more].concat(), 0);
        let json: Value = serde_json::from_str(&said.stdout).unwrap();
        let runs = |list: &str| -> Vec<String> {
            json[list].as_array().unwrap().iter().map(|run| run["run"].to_string()).collect()
        };
        (runs("runs"), runs("left"), json["left"].clone())
    };
    let dry = prune(&["--dry-run"]);
    assert_eq!((dry.0.len(), dry.1.len()), (0, 3), "{dry:?}");
    assert_eq!(prune(&[]), dry);
    place.work();
    let dry = prune(&["--dry-run"]);
    assert_eq!((dry.0.len(), dry.1.len()), (4, 0), "{dry:?}");
    assert_eq!(prune(&[]), dry);
}

fn messages_that_cannot_be_sent_are_refused(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached("name: chat\nmessage: hello\nmodel: [{text: done}]\n");
    place.work();
    let mut shown = String::new();
    for args in [
        &["send", "chat-2", "hello"] as &[&str],
        &["send", "chat-1", " \n"],
        &["send", "chat-1", "hello", "--id", ""],
    ] {
        shown.push_str(&place.does(args, 2).shown());
        shown.push('\n');
    }
    // The most bytes of a message, and one more.
    for (bytes, code) in [((1 << 20) + 1, 2), (1 << 20, 0)] {
        place.session.write("message", "x".repeat(bytes));
        let from = std::fs::File::open(place.session.path("message")).unwrap();
        let said = place.command(&["send", "chat-1", "-", "--id", "m1"]).stdin(from).output().unwrap();
        let said = place.session.said(&["send", "chat-1", "-"], &said).replaced(&place.url, "[store]");
        assert_eq!(said.code, Some(code), "{bytes}: {}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    // The most bytes of an id, and one more.
    place.work();
    for (bytes, code) in [(1_025, 2), (1_024, 0)] {
        let said = place.say(&["send", "chat-1", "hello", "--id", &"i".repeat(bytes)]);
        assert_eq!(said.code, Some(code), "{bytes}: {}", said.shown());
    }
    assert_shown("send_refused", &shown);
}
