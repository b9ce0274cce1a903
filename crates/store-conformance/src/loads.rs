//! Loads: a loaded run equals the committed one.

use runstate::turn::Extra;
use runstate_agent::keys::Scope;
use runstate_agent::{Message, StoredRun};
use runstate_store::{ApprovalFilter, ValueRow};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{Must, approvals, assert_stored, claim, commit, create, load, put, release, restored, yes};
use super::world::{agent, one, questions, turn};

pub(super) async fn a_run_comes_back_after_each_commit(bench: &dyn Bench) {
    let store = bench.store().await;
    let round = [
        ("a".to_owned(), "say", json!({ "say": "something" })),
        ("n".to_owned(), "note", json!({ "run": [1, 2], "thread": { "of": "thread" } })),
        ("b".to_owned(), "unknown", json!({})),
    ];
    let mut played = Played::new("r1", &[turn(round), questions(2), one("a", "say", json!(null))]).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let mut made = 0;
    for call in ["c0", "c1", ""] {
        let rest: Vec<_> = played.commits().zip(played.stored()).skip(made).collect();
        made += rest.len();
        for (one, expected) in rest {
            commit(&*store, &lease, one).await;
            let loaded = load(&*store, "r1").await;
            assert_eq!(loaded.stored.as_ref(), Some(&expected), "the run after commit {}", one.version);
            let (got, expected) = (restored(loaded.stored.as_ref()), restored(Some(&expected)));
            assert_eq!(got, expected, "the run after commit {}, brought back as types", one.version);
            let trace: usize = played.commits().take(made).map(|commit| commit.trace.len()).sum();
            assert!(loaded.traced <= trace as u64, "the last event is none of a later commit");
        }
        if !call.is_empty() {
            let decision = yes(&*store, "r1", call, &format!("d-{call}")).await;
            played.resume(&[decision]).await;
        }
    }
    let loaded = load(&*store, "r1").await;
    assert_stored(&*store, played.state(), "in the end").await;
    assert_eq!(loaded.traced, played.trace().last().map_or(0, |row| row.seq), "the last event");
    assert_eq!(loaded.stored.must("the run").status(), "Done", "the suite's run, in the end");
}

pub(super) async fn messages_come_back_in_order(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut script: Vec<_> = (0..30).map(|step| one(&format!("s{step}"), "say", json!(step))).collect();
    // The provider's own data, of an answer and of a call.
    let signed = json!({ "signature": "AbC=", "parts": [1, null, { "\u{202e}": 0.5 }] });
    script[3].extra = Extra::from_iter([("thinking", signed.clone())]);
    script[3].calls[0].extra = Extra::from_iter([("of a call", signed.clone())]);
    let played = Played::new("r1", &script).await;
    put(&*store, &played).await;
    let loaded = load(&*store, "r1").await;
    let messages: usize = played.commits().map(|commit| commit.messages.len()).sum();
    assert_eq!(loaded.messages, messages as u64, "how many messages there are");
    let state = loaded.stored.must("the run").restore();
    let state = state.unwrap_or_else(|error| panic!("restore: {error}"));
    let got: Vec<_> = state.history().iter().map(|message| format!("{message:?}")).collect();
    let expected: Vec<_> = played.state().history().iter().map(|message| format!("{message:?}")).collect();
    assert_eq!(got, expected, "the messages, past the ninth and the twenty-ninth");
    let turns: Vec<_> = state.history().iter().filter_map(Message::answer).collect();
    assert_eq!(turns[3].extra.fields()["thinking"], signed, "the provider's own data of an answer");
    assert_eq!(turns[3].calls[0].extra.fields()["of a call"], signed, "the provider's own data of a call");
}

pub(super) async fn calls_take_the_place_of_their_rows(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = Played::new("r1", &[questions(3)]).await;
    let lease = put(&*store, &played).await;
    let about = || ApprovalFilter::Run("r1".to_owned());
    assert_eq!(approvals(&*store, about()).await.len(), 3, "calls that wait");
    for (place, call) in ["c1", "c0", "c2"].into_iter().enumerate() {
        let decision = yes(&*store, "r1", call, &format!("d-{call}")).await;
        for new in played.resume(&[decision]).await {
            commit(&*store, &lease, &played.commit(new + 1)).await;
        }
        let loaded = load(&*store, "r1").await;
        let expected = played.stored().last();
        assert_eq!(loaded.stored, expected, "the run after the decision on {call}");
        let suspended = loaded.stored.map(|stored| stored.suspended().len());
        assert_eq!(suspended, Some(2 - place), "calls that wait, in the run");
        assert_eq!(approvals(&*store, about()).await.len(), 2 - place, "calls that wait, in the list");
    }
}

pub(super) async fn values_are_set_and_removed(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = [
        one("a", "note", json!({ "run": 1, "thread": "x" })),
        one("b", "note", json!({ "run": { "deep": [true, null] } })),
        one("c", "note", json!({ "run": null })),
        one("d", "note", json!({ "run": "back", "thread": null })),
        one("e", "note", json!({ "run": null, "thread": null })),
    ];
    let played = Played::new("r1", &script).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let changed: usize = played.commits().map(|commit| commit.values.len()).sum();
    assert!(changed >= 7, "the suite's run changes values {changed} times");
    for (one, expected) in played.commits().zip(played.stored()) {
        commit(&*store, &lease, one).await;
        assert_eq!(load(&*store, "r1").await.stored, Some(expected), "after commit {}", one.version);
    }
}

pub(super) async fn values_of_run_and_thread_are_apart(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[]).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let value = |scope, json: Option<&str>| ValueRow::new(scope, "same", json.map(str::to_owned));
    let mut first = played.commit(1);
    first.values = vec![value(Scope::Run, Some("\"of run\"")), value(Scope::Thread, Some("\"of thread\""))];
    commit(&*store, &lease, &first).await;
    let values = json_of(&load(&*store, "r1").await.stored.must("the run"));
    assert!(values.contains("of run") && values.contains("of thread"), "two values of one key: {values}");
    let mut second = played.commit(2);
    second.values = vec![value(Scope::Run, None)];
    commit(&*store, &lease, &second).await;
    let values = json_of(&load(&*store, "r1").await.stored.must("the run"));
    assert!(
        !values.contains("of run") && values.contains("of thread"),
        "that of the run was removed: {values}"
    );
}

fn json_of(stored: &StoredRun) -> String {
    let value = serde_json::to_value(stored).unwrap_or_default();
    value["values"].to_string()
}

pub(super) async fn a_run_on_a_thread_has_what_the_thread_had(bench: &dyn Bench) {
    let store = bench.store().await;
    let first = Played::new("r1", &[one("a", "note", json!({ "run": 1, "thread": "kept" }))]).await;
    let lease = put(&*store, &first).await;
    release(&*store, &lease).await;
    let thread = first.into_thread();
    let before = thread.history().len();
    let script = agent(&[one("b", "note", json!({ "thread": null }))]);
    let second = Played::on_thread("r2", thread, script).await;
    create(&*store, "r2").await;
    let lease = claim(&*store, "r2").await;
    for (one, expected) in second.commits().zip(second.stored()) {
        commit(&*store, &lease, one).await;
        let loaded = load(&*store, "r2").await;
        assert!(loaded.messages > before as u64, "the thread's messages and the run's own");
        assert_eq!(loaded.stored, Some(expected), "r2 after commit {}", one.version);
        let restored = load(&*store, "r2").await.stored.must("r2").restore();
        restored.unwrap_or_else(|error| panic!("restore r2 after commit {}: {error}", one.version));
    }
}

pub(super) async fn decisions_come_back_once_they_are_taken(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = Played::new("r1", &[questions(2)]).await;
    let lease = put(&*store, &played).await;
    let mut decision = yes(&*store, "r1", "c0", "d0").await;
    decision.result = json!({ "answer": [1, "two", null] });
    (decision.reason, decision.actor) = (Some("it is fine".to_owned()), Some("ann".to_owned()));
    store.post(&decision).await.must("post d0");
    let stored = load(&*store, "r1").await.stored.must("the run");
    assert_eq!(stored.decisions().len(), 0, "an untaken decision is no part of the run");
    for new in played.resume(std::slice::from_ref(&decision)).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    let stored = load(&*store, "r1").await.stored.must("the run");
    let taken: Vec<_> = stored.decisions().values().collect();
    assert_eq!(taken, [&decision], "the decisions that were taken");
}

pub(super) async fn runs_have_nothing_of_each_other(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = |of: &str| {
        [one("a", "note", json!({ "run": of, "thread": of })), one("a", "say", json!(of)), questions(2)]
    };
    let mut played = Vec::new();
    for run in ["r1", "r10", "r2", "R1"] {
        played.push(Played::new(run, &script(run)).await);
        create(&*store, run).await;
    }
    let mut leases = Vec::new();
    for played in &played {
        leases.push(claim(&*store, played.state().id()).await);
    }
    // Commit by commit, in turns over the runs.
    for version in 1..=played[0].commits().len() {
        for (played, lease) in played.iter().zip(&leases) {
            commit(&*store, lease, &played.commit(version)).await;
        }
    }
    for played in &played {
        let run = played.state().id();
        assert_stored(&*store, played.state(), "of four").await;
        assert_eq!(super::puts::trace(&*store, run).await, played.trace(), "the trace of {run:?}");
    }
}
