//! Texts from users and models: any text is returned unchanged.

use runstate_store::{ApprovalFilter, NewRun, Release};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    LONG, Must, approvals, assert_stored, at_rest, claim, commit, create, load, mail, of, put, put_waiting,
    release, restored, span, trace, yes,
};
use super::world::{NOW, one, turn};

const ODD: [&str; 16] = [
    "",
    " ",
    ".",
    "..",
    "../up",
    "a/b",
    "/a",
    "a\\b",
    "CON",
    "it's \"quoted\"; DROP TABLE runs; --",
    "100 % _ * ? [x]",
    "two\nlines\r\n\tand more",
    "\u{1f980} e\u{301} \u{202e}x \u{feff}",
    "%00",
    "null",
    "a:b|c<d>e",
];

fn long() -> String {
    "long-".repeat(100)
}

pub(super) async fn odd_ids_are_kept_apart(bench: &dyn Bench) {
    let store = bench.store().await;
    let long = long();
    let longer = format!("{long}!");
    let ids: Vec<&str> = ODD.into_iter().chain([&*long, &*longer]).collect();
    for id in &ids {
        let mut played = put_waiting(&*store, id, 2).await;
        let decision = yes(&*store, id, "c1", id).await;
        store.post(&decision).await.must(format_args!("post {id:?} on a call of {id:?}"));
        let lease = claim(&*store, id).await;
        for new in played.resume(&[decision]).await {
            commit(&*store, &lease, &played.commit(new + 1)).await;
        }
        release(&*store, &lease).await;
        assert_stored(&*store, played.state(), id).await;
        assert_eq!(trace(&*store, id).await, played.trace(), "the trace of {id:?}");
    }
    for id in &ids {
        let waits = approvals(&*store, ApprovalFilter::Run((*id).to_owned())).await;
        let waits: Vec<_> = waits.iter().map(|one| (&*one.run, &*one.call)).collect();
        assert_eq!(waits, [(*id, "c0")], "calls of {id:?} that wait");
        assert_eq!(load(&*store, id).await.info.title, format!("title of {id}"), "the title of {id:?}");
    }
    for (removed, id) in ids.iter().enumerate() {
        assert!(store.remove(id).await.must(format_args!("remove {id:?}")), "{id:?} was there");
        let left = super::puts::runs(&*store).await.len();
        assert_eq!(left, ids.len() - removed - 1, "runs that are left, once {id:?} was removed");
    }
}

pub(super) async fn odd_texts_come_back_as_they_were(bench: &dyn Bench) {
    let store = bench.store().await;
    for (number, text) in ODD.into_iter().enumerate() {
        let run = format!("r{number}");
        let new = NewRun::new(&*run, json!({ text: text }), NOW).titled(text);
        store.create(&new).await.must(format_args!("create with {text:?}"));
        let lease = store.claim(&of(bench, &*run, text, NOW, LONG)).await.must("claim").must("claim");
        store.cancel(&run, text).await.must(format_args!("cancel because of {text:?}"));
        let loaded = load(&*store, &run).await;
        assert_eq!(loaded.info.title, text, "the title");
        assert_eq!(loaded.spec, json!({ text: text }), "the spec");
        assert_eq!(loaded.info.holder.map(|holder| holder.name).as_deref(), Some(text), "the holder");
        assert_eq!(
            mail(&*store, &run).await.cancel.as_deref(),
            Some(text),
            "the reason of the wish to cancel"
        );
        store.release(&lease, &Release::retry_after(span(bench, NOW), text)).await.must("release");
        assert_eq!(load(&*store, &run).await.info.problem.as_deref(), Some(text), "the problem");
    }
    let calls = ODD.into_iter().filter(|id| !id.is_empty());
    let calls = calls.map(|id| (id.to_owned(), "ask", json!({ id: id })));
    let played = Played::new("asked", &[turn(calls)]).await;
    put(&*store, &played).await;
    assert_stored(&*store, played.state(), "with calls of odd names").await;
    for waits in approvals(&*store, ApprovalFilter::Run("asked".to_owned())).await {
        let found = approvals(&*store, ApprovalFilter::Call(waits.call.clone())).await;
        assert!(found.contains(&waits), "the call {:?}, looked for by its name", waits.call);
        let found = approvals(&*store, ApprovalFilter::Suspension(waits.suspension.id.clone())).await;
        assert_eq!(found, [waits], "a call, looked for by its suspension");
    }
}

/// All characters that JSON must escape, including NUL.
const ESCAPED: &str =
    "\u{0}\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{1f}\"\\/\u{7f}\u{80}\u{2028}\u{2029}\u{fffd}\u{ffff}\u{10ffff}";

pub(super) async fn json_may_hold_any_character(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = [
        one("a", "note", json!({ "run": ESCAPED, "thread": { ESCAPED: [ESCAPED] } })),
        one("b", "say", json!(ESCAPED)),
        one("c0", "ask", json!({ ESCAPED: ESCAPED })),
    ];
    let mut played = Played::new("r1", &script).await;
    let new = NewRun::new("r1", json!({ ESCAPED: ESCAPED }), NOW);
    store.create(&new).await.must("create with any character in its spec");
    let lease = claim(&*store, "r1").await;
    for one in played.commits() {
        commit(&*store, &lease, one).await;
    }
    let loaded = load(&*store, "r1").await;
    assert_eq!(loaded.spec, json!({ ESCAPED: ESCAPED }), "the spec");
    assert_stored(&*store, played.state(), "with any character").await;
    let [waits] = &approvals(&*store, ApprovalFilter::All).await[..] else { panic!("one call waits") };
    assert_eq!(waits.arguments, json!({ ESCAPED: ESCAPED }), "the arguments of the call");
    let mut decision = yes(&*store, "r1", "c0", "d0").await;
    decision.result = json!({ ESCAPED: ESCAPED });
    decision.reason = Some(ESCAPED.to_owned());
    store.post(&decision).await.must("post with any character in its result and its reason");
    assert_eq!(mail(&*store, "r1").await.decisions, std::slice::from_ref(&decision), "the decision");
    for new in played.resume(&[decision]).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    assert_stored(&*store, played.state(), "in the end").await;
}

pub(super) async fn names_from_a_model_may_hold_any_character(bench: &dyn Bench) {
    let store = bench.store().await;
    // A model may choose such an id, and a run must not end because of it.
    let calls = [("a\u{0}b", "ask"), ("\u{0}", "ask"), ("a", "ask"), (ESCAPED, "ask")];
    let calls = calls.map(|(id, tool)| (id.to_owned(), tool, json!({ "of": id })));
    let mut played = Played::new("r1", &[turn(calls)]).await;
    let lease = put(&*store, &played).await;
    assert_stored(&*store, played.state(), "with names of any character").await;
    let waits = approvals(&*store, ApprovalFilter::All).await;
    assert_eq!(waits.len(), 4, "calls that wait");
    for (number, waits) in waits.into_iter().enumerate() {
        let found = approvals(&*store, ApprovalFilter::Call(waits.call.clone())).await;
        let found: Vec<_> = found.into_iter().map(|one| one.call).collect();
        assert_eq!(found, [&*waits.call], "the call, looked for by its name");
        let decision = yes(&*store, "r1", &waits.call, &format!("d{number}")).await;
        let posted = store.post(&decision).await.must(format_args!("post on {:?}", waits.call));
        assert_eq!(posted, runstate_store::Posted::Accepted, "a decision on {:?}", waits.call);
        for new in played.resume(&[decision]).await {
            commit(&*store, &lease, &played.commit(new + 1)).await;
        }
    }
    assert_stored(&*store, played.state(), "in the end").await;
    assert_eq!(trace(&*store, "r1").await, played.trace(), "the trace");
}

pub(super) async fn long_values_come_back_whole(bench: &dyn Bench) {
    let store = bench.store().await;
    let long = "0123456789abcde\u{e9}".repeat(1 << 16);
    assert!(long.len() > 1 << 20, "more than a megabyte");
    let script = [
        one("a", "say", json!(long)),
        one("b", "note", json!({ "run": long, "thread": [long] })),
        one("c0", "ask", json!({ "long": long })),
    ];
    let played = Played::new("r1", &script).await;
    create(&*store, "other").await;
    let new = NewRun::new("r1", json!(long), NOW).titled(&*long);
    store.create(&new).await.must("create with a long spec and title");
    let lease = claim(&*store, "r1").await;
    for one in played.commits() {
        commit(&*store, &lease, one).await;
    }
    let loaded = load(&*store, "r1").await;
    assert!(restored(loaded.stored.as_ref()) == at_rest(played.state()), "the run with long values");
    assert!(loaded.spec == json!(long) && loaded.info.title == long, "the long spec and title");
    let mut decision = yes(&*store, "r1", "c0", "d0").await;
    decision.result = json!(long);
    store.post(&decision).await.must("post a long decision");
    assert!(mail(&*store, "r1").await.decisions == [decision], "the long decision");
}
