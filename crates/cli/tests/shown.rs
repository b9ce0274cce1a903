//! What is shown of runs, and what is not.

use crate::session::Session;
use crate::stores;

const PLACE: [&str; 2] = ["--state-dir", "runs"];

/// A run that waits, whose arguments and question have characters that cannot be seen.
fn parked() -> Session {
    let session = Session::new();
    let scenario = "\
name: pay
message: go
plugins:
  - ask: {tool: pay, ticket: {message: \"may it\\u202E be\\u200B paid?\"}}
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay, arguments: {to: \"exe\\u202Etxt\\u200B\\u009B31m\"}}]
  - text: done
";
    session.write("s.yaml", scenario);
    let said = session.run(&["run", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(3), "{}", said.shown());
    session
}

fn say(session: &Session, args: &[&str], code: i32) -> String {
    let said = session.run(&[args, &PLACE].concat());
    assert_eq!(said.code, Some(code), "{}", said.shown());
    said.shown()
}

#[test]
fn characters_that_cannot_be_seen_are_shown() {
    let session = parked();
    for args in [&["approvals"] as &[&str], &["show", "pay-1"], &["approve", "pay-1/p/1"]] {
        let shown = say(&session, args, 0);
        let raw = |c: char| matches!(c, '\u{202e}' | '\u{200b}' | '\u{9b}');
        assert!(!shown.contains(raw), "{shown:?}");
        assert!(shown.contains(r#"{"to":"exe\u{202e}txt\u{200b}\u{9b}31m"}"#), "{shown}");
        if args[0] != "show" {
            assert!(shown.contains(r"may it\u{202e} be\u{200b} paid?"), "{shown}");
        }
    }
}

#[test]
fn a_password_is_not_shown_wherever_the_url_is_wrong() {
    let session = Session::new();
    for url in [
        "postgres://ada:se/cret@127.0.0.1:1/db",
        "postgress://ada:secret@127.0.0.1:1/db",
        "postgres://ada:cret?secret@127.0.0.1:1/db",
        "postgres//ada:secret@127.0.0.1:1/db",
    ] {
        let given = session.run(&["runs", "--store", url]);
        let mut command = session.command(&["runs"]);
        let from_env = command.env("RUNSTATE_STORE", url).output().unwrap();
        let said = session.said(&["runs"], &from_env).stderr;
        assert_eq!((given.code, from_env.status.code()), (Some(2), Some(2)), "{}", given.shown());
        for said in [given.stdout, given.stderr, said] {
            assert!(!said.contains("cret"), "{said}");
        }
    }
}

#[test]
fn a_digest_that_is_none_binds_nothing_and_is_refused() {
    let session = parked();
    for digest in [
        "",
        "s",
        "sha256:",
        "sha256:0123456789abcdef0123456789abcde",
        "sha256:0123456789ABCDEFG123456789ABCDEF",
        "md5:0123456789abcdef0123456789abcdef",
    ] {
        let refused = say(&session, &["approve", "p", "--run", "pay-1", "--digest", digest], 2);
        assert!(refused.contains("expected sha256: and 32 to 64 digits"), "{refused}");
    }
    let store = stores::open(&session, "runs/runs.db");
    assert_eq!(stores::number(&store, "SELECT count(*) FROM decisions"), 0);
    say(
        &session,
        &["approve", "p", "--run", "pay-1", "--digest", "sha256:0123456789abcdef0123456789abcdef"],
        1,
    );
}

#[test]
fn a_run_is_shown_where_a_folder_has_its_name() {
    let session = parked();
    let shown = session.run(&["show", "pay-1", "--state-dir", "runs"]).shown();
    // The tools of a run work in a folder that is called as it is.
    let mut inside = session.command(&["show", "pay-1", "--state-dir", "."]);
    let said = inside.current_dir(session.path("runs")).output().unwrap();
    let said = session.said(&["show", "pay-1"], &said);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(shown.contains("may it") && said.stdout.contains("may it"), "{shown}");
}

#[test]
fn a_store_that_is_damaged_is_not_a_run_that_is_not_there() {
    let session = Session::new();
    session.write("damaged.db", "remember the milk\n".repeat(1_000));
    let said = session.run(&["show", "pay-1", "--store", "sqlite:damaged.db"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("is no SQLite database"), "{}", said.shown());
    assert!(!said.stderr.contains("there is no"), "{}", said.shown());
    let said = session.run(&["show", "pay-1", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("there is no file \"pay-1\"; there is no store"), "{}", said.shown());
}

#[test]
fn commands_that_read_leave_an_empty_file_as_it_is() {
    let session = Session::new();
    session.write("empty.db", "");
    for args in [&["runs"] as &[&str], &["approvals"], &["expire"], &["show", "pay-1"]] {
        let said = session.run(&[args, &["--store", "sqlite:empty.db"]].concat());
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(
            said.stderr.contains("there is no store sqlite:empty.db: the file is empty"),
            "{}",
            said.shown()
        );
        assert_eq!(session.read("empty.db"), "", "{args:?}");
    }
}

#[test]
fn approvals_of_a_missing_run_are_refused() {
    let session = parked();
    let refused = say(&session, &["approvals", "--run", "nope"], 2);
    assert!(refused.contains(r#"there is no run "nope""#), "{refused}");
    say(&session, &["approvals", "--run", "pay-1"], 0);
}

#[test]
fn a_run_that_is_over_has_no_problem_that_is_tried_again() {
    let session = parked();
    say(&session, &["deny", "pay-1/p/1"], 0);
    say(&session, &["resume", "pay-1"], 0);
    let store = stores::open(&session, "runs/runs.db");
    store.execute_batch("UPDATE runs SET problem = 'no room', not_before_ms = 99999999999999").unwrap();
    for args in [&["runs"] as &[&str], &["show", "pay-1"]] {
        let shown = say(&session, args, 0);
        assert!(shown.contains("ended: natural_end") && !shown.contains("no room"), "{shown}");
    }
    store.execute_batch("UPDATE runs SET status = 'Waiting'").unwrap();
    assert!(say(&session, &["runs"], 0).contains("problem: no room, tried again in"));
}

#[test]
fn a_home_that_no_shell_has_put_in_is_no_folder() {
    let session = Session::new();
    session.write("s.yaml", "name: s\nmessage: go\nmodel:\n  - text: done\n");
    let said = session.run(&["run", "s.yaml", "--store", "sqlite:~/x.db", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("write $HOME in place of"), "{}", said.shown());
    assert!(!session.path("~").exists());
}

#[test]
fn a_worker_names_a_few_of_the_calls_that_wait() {
    let session = Session::new();
    let calls: Vec<String> = (0..40).map(|n| format!("{{id: s{n}, tool: pay}}")).collect();
    let scenario = format!(
        "name: many\nmessage: go\napprove: [pay]\ntools: {{pay: {{}}}}\nmodel:\n  - calls: [{}]\n  - text: done\n",
        calls.join(", ")
    );
    session.write("s.yaml", scenario);
    say(&session, &["run", "--detach", "s.yaml"], 0);
    let said = say(&session, &["worker", "--once"], 0);
    assert!(said.contains("waits for s0, s1, s2, s3, s4 and 35 more"), "{said}");
}

#[test]
fn a_folder_with_a_line_feed_is_shown_with_it() {
    let session = Session::new();
    session.write("s.yaml", "name: pay\nmessage: go\nmodel: [{text: done}]\n");
    let place = ["--state-dir", "ru\nns"];
    let said = session.run(&[&["run", "s.yaml"], &place as &[&str]].concat());
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let said = session.run(&[&["show", "pay-1"], &place as &[&str]].concat());
    assert!(said.stdout.contains("folder   [tmp]/ru\\u{a}ns/pay-1/work\n"), "{}", said.shown());
}
