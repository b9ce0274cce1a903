//! Key files and `RUNSTATE_KEY`: what is wrong with them is told, and no secret is.

use crate::session::Session;
use crate::stores;

const SECRET: &str = "abababababababababababababababababababababababababababababababab";

#[test]
fn invalid_keyring_is_refused_with_its_line() {
    let session = Session::new();
    for (text, why) in [
        (String::new(), "line 1: there is no key"),
        ("# nothing\n".to_owned(), "line 1: there is no key"),
        (SECRET.to_owned(), "line 1: expected the name of a key, a space and its secret"),
        (format!("k1 {}", &SECRET[2..]), "line 1: the secret is not 64 hexadecimal digits or more"),
        (format!("k1 {SECRET}x"), "line 1: the secret is not 64 hexadecimal digits or more"),
        (format!("# one\nk1 {SECRET}\nk1 {SECRET}"), "line 3: a key of that name stands above"),
        (format!("k1 {}", "0".repeat(64)), "line 1: the secret is nothing but zeros"),
        (format!("k:1 {SECRET}"), "line 1: the name of a key has letters, digits"),
    ] {
        session.write("keys", &text);
        let by_file = session.run(&["runs", "--key-file", "keys", "--state-dir", "runs"]);
        let by_env =
            session.command(&["runs", "--state-dir", "runs"]).env("RUNSTATE_KEY", &text).output().unwrap();
        let by_env = session.said(&["runs"], &by_env);
        for (said, of) in [(by_file, "keys: "), (by_env, "RUNSTATE_KEY: ")] {
            assert_eq!(said.code, Some(2), "{}", said.shown());
            assert!(said.stderr.contains(&format!("{of}{why}")), "{}", said.shown());
            assert!(!said.shown().contains("abab"), "a secret is shown: {}", said.shown());
        }
    }
    let missing = session.run(&["runs", "--key-file", "nowhere", "--state-dir", "runs"]);
    assert!(missing.stderr.contains("nowhere"), "{}", missing.shown());
    assert_eq!(missing.code, Some(2));
}

/// A person with the file of the store and without the key.
#[test]
fn a_row_that_is_changed_in_the_file_is_refused() {
    let session = Session::new();
    session.write("keys", format!("k1 {SECRET}")).write(
        "pay.yaml",
        "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 10}}]\n  - text: paid\n",
    );
    let say = |args: &[&str]| session.run(&[args, &["--key-file", "keys", "--state-dir", "runs"]].concat());
    assert_eq!(say(&["run", "pay.yaml"]).code, Some(3));
    let db = stores::open(&session, "runs/runs.db");
    let change = |sql: &str| db.execute_batch(sql).unwrap();

    change("UPDATE calls SET arguments = replace(arguments, '10', '99')");
    let shown = say(&["approvals"]);
    assert!(shown.stdout.contains("this question cannot be shown"), "{}", shown.shown());
    assert!(shown.stdout.contains("the question of \"p\": its tag does not fit"), "{}", shown.shown());
    assert!(!shown.stdout.contains("99"), "{}", shown.shown());
    assert_eq!(say(&["approve", "pay-1/p/1"]).code, Some(2));
    change("UPDATE calls SET arguments = replace(arguments, '99', '10')");

    change("UPDATE runs SET core = replace(core, '\"steps\":1', '\"steps\":0')");
    let resumed = say(&["show", "pay-1"]);
    assert!(
        resumed.stderr.contains("its tag does not fit") || resumed.stdout.contains("its tag does not fit"),
        "{}",
        resumed.shown()
    );
    change("UPDATE runs SET core = replace(core, '\"steps\":0', '\"steps\":1')");

    // A decision, written as the store itself writes one, but for its tag.
    change(
        "INSERT INTO decisions (run, suspension, decision, call, action, decided_at_ms, taken, json) \
         SELECT run, suspension, 'd1', name, 'resume', 0, 0, \
                json_object('decision_id', 'd1', 'run_id', run, 'call', name, 'suspension_id', suspension, 'action', 'resume', 'decided_at_ms', 0) \
         FROM calls; UPDATE runs SET mail = 1;",
    );
    let resumed = say(&["resume", "pay-1"]);
    assert!(resumed.stderr.contains("the decision \"d1\": it has no tag"), "{}", resumed.shown());
    change("DELETE FROM decisions; UPDATE runs SET mail = 0;");

    assert_eq!(say(&["approve", "pay-1/p/1"]).code, Some(0));
    assert_eq!(say(&["resume", "pay-1"]).code, Some(0));
}

/// The index that finds a call by the model's id has no tag: the call that it finds is held against its machine.
#[test]
fn a_name_that_is_turned_to_another_call_approves_nothing() {
    let session = Session::new();
    session.write("keys", format!("k1 {SECRET}")).write(
        "pay.yaml",
        "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: a, tool: pay, arguments: {amount: 1}}, {id: b, tool: pay, arguments: {amount: 9000}}]\n  - text: paid\n",
    );
    let say = |args: &[&str]| session.run(&[args, &["--key-file", "keys", "--state-dir", "runs"]].concat());
    assert_eq!(say(&["run", "pay.yaml"]).code, Some(3));
    let db = stores::open(&session, "runs/runs.db");
    db.execute_batch(
        "UPDATE calls SET id = 'x', open = 0 WHERE name = 'a'; UPDATE calls SET id = 'a' WHERE name = 'b';",
    )
    .unwrap();
    let approved = say(&["approve", "a", "--run", "pay-1"]);
    assert_eq!(approved.code, Some(2), "{}", approved.shown());
    assert!(
        approved.stderr.contains("the id of the call \"b\": its tag does not fit"),
        "{}",
        approved.shown()
    );
    let decided: i64 = db.query_row("SELECT count(*) FROM decisions", [], |row| row.get(0)).unwrap();
    assert_eq!(decided, 0);
}

#[test]
fn a_run_that_a_forged_list_calls_over_is_not_pruned() {
    let session = Session::new();
    session.write("keys", format!("k1 {SECRET}")).write(
        "pay.yaml",
        "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n  - text: paid\n",
    );
    let say = |args: &[&str]| session.run(&[args, &["--key-file", "keys", "--state-dir", "runs"]].concat());
    assert_eq!(say(&["run", "pay.yaml"]).code, Some(3));
    let db = stores::open(&session, "runs/runs.db");
    db.execute_batch("UPDATE runs SET status = 'Done', changed_at_ms = 1").unwrap();
    let pruned = say(&["prune", "--older-than", "1d"]);
    assert!(pruned.stderr.contains("pay-1 stays"), "{}", pruned.shown());
    let left: i64 = db.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
}

#[test]
fn a_forged_time_stops_no_other_run() {
    let session = Session::new();
    session.write("keys", format!("k1 {SECRET}")).write(
        "pay.yaml",
        "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n  - text: paid\n",
    );
    let say = |args: &[&str]| session.run(&[args, &["--key-file", "keys", "--state-dir", "runs"]].concat());
    for _ in 0..2 {
        assert_eq!(say(&["run", "pay.yaml"]).code, Some(3));
    }
    let db = stores::open(&session, "runs/runs.db");
    db.execute_batch("UPDATE calls SET lapses_at_ms = 1 WHERE run = 'pay-1'").unwrap();
    assert_eq!(say(&["approve", "p", "--run", "pay-2"]).code, Some(0));
    let worked = say(&["worker", "--once"]);
    assert_eq!(worked.code, Some(1), "what is damaged is told: {}", worked.shown());
    assert!(
        worked.stderr.contains("the question of \"p\" of the run \"pay-1\" is open for ever by its tag, the clock here and the store"),
        "{}",
        worked.shown()
    );
    let status: String =
        db.query_row("SELECT status FROM runs WHERE id = 'pay-2'", [], |row| row.get(0)).unwrap();
    assert_eq!(status, "Done");
}

#[test]
fn a_key_file_in_the_folder_of_a_scenario_is_refused() {
    let session = Session::new();
    std::fs::create_dir(session.path("desk")).unwrap();
    session
        .write("desk/keys", format!("k1 {SECRET}"))
        .write("s.yaml", "name: s\nmessage: go\nfolder: desk\ntools: {}\nmodel:\n  - text: done\n");
    let args = ["run", "s.yaml", "--key-file", "desk/keys", "--state-dir", "runs"];
    let refused = session.run(&args);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    assert!(refused.stderr.contains("is in the working folder of tools"), "{}", refused.shown());
    std::fs::rename(session.path("desk/keys"), session.path("keys")).unwrap();
    let args = ["run", "s.yaml", "--key-file", "keys", "--state-dir", "runs"];
    let driven = session.run(&args);
    assert_eq!(driven.code, Some(0), "{}", driven.shown());
}
