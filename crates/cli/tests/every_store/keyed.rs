//! Runs under a key: with the key all goes on as ever, without it nothing is read, decided or cancelled.

use super::in_every_store;
use crate::place::Place;
use crate::session::Said;

in_every_store! {
    a_run_under_a_key_goes_on_with_it,
    without_the_key_a_run_is_refused_and_stays_as_it_is,
    a_run_without_a_key_is_refused_where_there_is_one,
    a_key_is_replaced,
}

const PAY: &str = "\
name: pay
message: go
approve: [pay]
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay, arguments: {amount: 10}}]
  - text: It is paid.
";

fn key(name: &str, byte: &str) -> String {
    format!("{name} {}", byte.repeat(32))
}

/// What the command says with these keys.
#[track_caller]
fn with(place: &Place, keys: &[String], args: &[&str], code: i32) -> Said {
    place.session.write("keys", keys.join("\n"));
    place.does(&[args, &["--key-file", "keys"]].concat(), code)
}

/// A run that waits for an approval, under the key `k1`.
fn parked(place: &Place) -> [String; 1] {
    let keys = [key("k1", "ab")];
    place.session.write("pay.yaml", PAY);
    with(place, &keys, &["run", "--detach", "pay.yaml"], 0);
    with(place, &keys, &["worker", "--once"], 0);
    keys
}

fn a_run_under_a_key_goes_on_with_it(place: &dyn Fn() -> Place) {
    let place = place();
    let keys = parked(&place);
    let asked = with(&place, &keys, &["approvals", "--json"], 0);
    assert!(asked.stdout.contains("\"amount\": 10") && !asked.stdout.contains("tag"), "{}", asked.shown());
    with(&place, &keys, &["approve", "pay-1/p/1"], 0);
    // By the variable as well as by the file.
    let worked = place.command(&["worker", "--once"]).env("RUNSTATE_KEY", &keys[0]).output().unwrap();
    assert_eq!(place.session.said(&["worker"], &worked).code, Some(0));
    let shown = with(&place, &keys, &["show", "pay-1"], 0);
    assert!(
        shown.stdout.contains("Done (natural_end)") || shown.stdout.contains("natural_end"),
        "{}",
        shown.shown()
    );
}

fn without_the_key_a_run_is_refused_and_stays_as_it_is(place: &dyn Fn() -> Place) {
    let place = place();
    let keys = parked(&place);
    for args in [
        &["approve", "pay-1/p/1"] as &[&str],
        &["deny", "pay-1/p/1"],
        &["cancel", "pay-1"],
        &["resume", "pay-1"],
    ] {
        let refused = place.does(args, 2);
        assert!(
            refused.stderr.contains("the run \"pay-1\" is stored under the key \"k1\""),
            "{}",
            refused.shown()
        );
        assert!(refused.stderr.contains("--key-file"), "{}", refused.shown());
    }
    // Another key of that name is no better.
    let refused = with(&place, &[key("k1", "ee")], &["approve", "pay-1/p/1"], 2);
    assert!(refused.stderr.contains("its tag does not fit"), "{}", refused.shown());
    let refused = with(&place, &[key("k2", "ab")], &["resume", "pay-1"], 2);
    assert!(
        refused.stderr.contains("its tag is of the key \"k1\", and the keyring has k2"),
        "{}",
        refused.shown()
    );
    // Nothing of that was noted.
    with(&place, &keys, &["approve", "pay-1/p/1"], 0);
    with(&place, &keys, &["resume", "pay-1"], 0);
}

fn a_run_without_a_key_is_refused_where_there_is_one(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("pay.yaml", PAY);
    place.does(&["run", "--detach", "pay.yaml"], 0);
    let keys = [key("k1", "ab")];
    let refused = with(&place, &keys, &["resume", "pay-1"], 2);
    assert!(refused.stderr.contains("its specification: it has no tag"), "{}", refused.shown());
    // A decision that is slipped in stops the run, and approves nothing.
    place.does(&["worker", "--once"], 0);
    with(&place, &keys, &["approve", "pay-1/p/1"], 2);
    place.does(&["approve", "pay-1/p/1"], 0);
    place.does(&["resume", "pay-1"], 0);
}

fn a_key_is_replaced(place: &dyn Fn() -> Place) {
    let place = place();
    let [old] = parked(&place);
    let keys = [key("2026-12", "cd"), old];
    with(&place, &keys, &["approve", "pay-1/p/1"], 0);
    with(&place, &keys, &["worker", "--once"], 0);
    with(&place, &keys, &["show", "pay-1"], 0);
    // What was written since is under the new key; the question was not.
    let refused = with(&place, &keys[..1], &["show", "pay-1"], 2);
    assert!(refused.stderr.contains("its tag is of the key \"k1\""), "{}", refused.shown());
}
