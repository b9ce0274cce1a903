//! The replies of [`decide`].

use runstate::decision::Decision;
use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate_agent::{Incoming, Reply, SchemaCheck, Unchecked};
use runstate_store::{RunStore, decide};
use serde_json::{Value, json};

use super::Bench;
use super::played::Played;
use super::puts::{Must, approval, claim, commit, create, mail, put, put_waiting, release};
use super::world::{NOW, one, questions, turn};

/// Creates a decision about a call of a run.
fn on(run: &str, call: &str, id: &str) -> Incoming {
    let mut incoming = Incoming::new(id, call, Resume);
    incoming.run_id = Some(run.to_owned());
    incoming
}

async fn reply(store: &dyn RunStore, incoming: &Incoming) -> Reply {
    let told = decide(store, incoming, NOW, &Unchecked).await;
    told.must(format_args!("decide {:?}", incoming.decision_id))
}

fn conflict(accepted: &Decision) -> Reply {
    Reply::Conflict(Box::new(accepted.clone()))
}

pub(super) async fn decider_gets_the_reply_to_the_decision(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 2).await;
    let mut first = on("r1", "c0", "d0");
    (first.reason, first.actor) = (Some("fine".to_owned()), Some("ann".to_owned()));
    assert_eq!(reply(&*store, &first).await, Reply::Accepted, "the first on c0");
    let kept = mail(&*store, "r1").await.decisions;
    assert_eq!(kept.len(), 1, "the pending signals: {kept:?}");
    let told = (&*kept[0].decision_id, &*kept[0].call, kept[0].action, kept[0].decided_at_ms);
    assert_eq!(told, ("d0", "c0", Resume, NOW), "id, call, action and time of the stored decision");
    let told = (kept[0].reason.as_deref(), kept[0].actor.as_deref());
    assert_eq!(told, (Some("fine"), Some("ann")), "reason and actor of the stored decision");

    assert_eq!(reply(&*store, &first).await, Reply::Duplicate, "the same again");
    let mut other = on("r1", "c0", "d1");
    other.action = Cancel;
    assert_eq!(reply(&*store, &other).await, conflict(&kept[0]), "another one on c0");
    let mut changed = first.clone();
    changed.action = Cancel;
    let told = reply(&*store, &changed).await;
    assert!(matches!(told, Reply::Invalid(_)), "the id of the first with other content: {told:?}");
    let elsewhere = on("r1", "c1", "d0");
    let told = reply(&*store, &elsewhere).await;
    assert!(matches!(told, Reply::Invalid(_)), "the id of the first for another call: {told:?}");
    let told = reply(&*store, &on("r1", "c1", "")).await;
    assert!(matches!(told, Reply::Invalid(_)), "an empty id: {told:?}");
    assert_eq!(reply(&*store, &on("r1", "c9", "d2")).await, Reply::Unknown, "a call that is not there");
    assert_eq!(reply(&*store, &on("r9", "c0", "d2")).await, Reply::Unknown, "a run that is not there");
    let told = reply(&*store, &Incoming::new("d2", "c1", Resume)).await;
    assert!(matches!(told, Reply::Invalid(_)), "a call of any run: {told:?}");
    let elsewhere = Incoming::new("d2", "", Resume).on("r9/c0/1");
    assert_eq!(reply(&*store, &elsewhere).await, Reply::Unknown, "a suspension of a run that is not there");
    let never = Incoming::new("d2", "", Resume).on("r1/c1/2");
    assert_eq!(reply(&*store, &never).await, Reply::Unknown, "a suspension that was never there");
    let twice = Incoming { run_id: None, call: String::new(), ..first.clone() }.on(&*kept[0].suspension_id);
    assert_eq!(reply(&*store, &twice).await, Reply::Duplicate, "the same again, by its suspension alone");
    let stale = on("r1", "c1", "d2").on("of another time");
    assert_eq!(reply(&*store, &stale).await, Reply::Stale, "a suspension that is not there");
    assert_eq!(mail(&*store, "r1").await.decisions, kept, "the pending signals after all that");
}

pub(super) async fn a_decision_is_found_by_call_or_suspension(bench: &dyn Bench) {
    let store = bench.store().await;
    // The model uses the id again in its next step.
    let script = [
        turn([("same".to_owned(), "ask", json!(1)), ("a".to_owned(), "say", json!(1))]),
        one("same", "ask", json!(2)),
    ];
    let lease = put(&*store, &Played::hasty("r1", &script).await).await;
    release(&*store, &lease).await;
    put_waiting(&*store, "r2", 3).await;
    let second = super::puts::approvals(&*store, runstate_store::ApprovalFilter::Run("r1".to_owned())).await;
    assert_eq!(second.len(), 2, "calls of r1 that wait");
    assert_ne!(second[0].call, second[1].call, "names are those of one call each");
    let by_digest = on("r1", &second[1].call, "d0").for_question(&*second[1].digest);
    assert_eq!(reply(&*store, &by_digest).await, Reply::Accepted, "by run, call and digest");
    let of_another = Incoming::new("d1", "whatever", Resume).on(&*second[0].suspension.id);
    assert_eq!(reply(&*store, &of_another).await, Reply::Unknown, "by the suspension, of another call");
    let by_suspension = Incoming::new("d1", "", Resume).on(&*second[0].suspension.id);
    assert_eq!(reply(&*store, &by_suspension).await, Reply::Accepted, "by the suspension alone");
    assert_eq!(reply(&*store, &on("r2", "c2", "d2")).await, Reply::Accepted, "by the run and the call");
    let digest = approval(&*store, "r2", "c1").await.digest;
    let by_digest = Incoming::new("d3", "", Resume).for_question(digest);
    assert_eq!(reply(&*store, &by_digest).await, Reply::Accepted, "by the digest alone");
    let of_none = Incoming::new("d4", "", Resume).for_question("sha256:0");
    assert_eq!(reply(&*store, &of_none).await, Reply::Unknown, "by the digest of no question");
    let of_r1: Vec<_> = mail(&*store, "r1").await.decisions.into_iter().map(|one| one.call).collect();
    assert_eq!(of_r1, [&*second[1].call, &*second[0].call], "calls of r1 that were decided");
    assert_eq!(mail(&*store, "r2").await.decisions[0].call, "c2", "the call of r2 that was decided");
}

pub(super) async fn a_name_that_two_calls_have_is_refused(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 1).await;
    put_waiting(&*store, "r2", 1).await;
    let told = reply(&*store, &Incoming::new("d0", "c0", Resume)).await;
    assert!(matches!(told, Reply::Invalid(_)), "c0, which two runs have: {told:?}");
    for run in ["r1", "r2"] {
        assert_eq!(mail(&*store, run).await.decisions, [], "the pending signals of {run:?}");
    }
    assert_eq!(reply(&*store, &on("r1", "c0", "d0")).await, Reply::Accepted, "c0 of r1");
    // A repeated decision without its run does not answer the call of the other run.
    let told = reply(&*store, &Incoming::new("d1", "c0", Resume)).await;
    assert!(matches!(told, Reply::Invalid(_)), "c0, once only that of r2 waits: {told:?}");
    assert_eq!(mail(&*store, "r2").await.decisions, [], "the pending signals of r2");
}

pub(super) async fn an_id_that_the_model_gave_again_names_no_question(bench: &dyn Bench) {
    let store = bench.store().await;
    // So that runs before and after r1 in the list have calls with this id.
    for run in ["q", "s"] {
        let lease = put(&*store, &Played::new(run, &[one("same", "ask", json!(0))]).await).await;
        release(&*store, &lease).await;
    }
    let mut played = Played::new("r1", &[one("same", "ask", json!(1)), one("same", "ask", json!(2))]).await;
    let lease = put(&*store, &played).await;
    assert_eq!(reply(&*store, &on("r1", "same", "d0")).await, Reply::Accepted, "the first");
    let taken = mail(&*store, "r1").await.decisions;
    for new in played.resume(&taken).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    let waits = super::puts::approvals(&*store, runstate_store::ApprovalFilter::Run("r1".to_owned())).await;
    assert_eq!(waits.len(), 1, "calls of r1 that wait");
    assert_ne!(waits[0].call, "same", "the name of the second, since the first has the id for its name");
    // The command that approved the first call runs again. Its user has not seen the second question.
    assert_eq!(reply(&*store, &on("r1", "same", "d0")).await, Reply::Duplicate, "the first decision again");
    let ambiguous = Reply::Ambiguous(vec![waits[0].suspension.id.clone()]);
    assert_eq!(reply(&*store, &on("r1", "same", "d1")).await, ambiguous, "the id alone");
    assert_eq!(
        reply(&*store, &on("r1", &waits[0].call, "d1")).await,
        ambiguous,
        "the name of the second alone"
    );
    assert_eq!(mail(&*store, "r1").await.decisions, [], "the pending signals");
    let named = on("r1", "same", "d1").on(&*waits[0].suspension.id);
    assert_eq!(reply(&*store, &named).await, Reply::Accepted, "the second, by its id and suspension");
    let kept = mail(&*store, "r1").await.decisions;
    assert_eq!((kept.len(), &kept[0].call), (1, &waits[0].call), "the call that was decided");
    assert_eq!(reply(&*store, &named).await, Reply::Duplicate, "the second decision again");
    assert_eq!(reply(&*store, &on("r1", "same", "d2")).await, Reply::Ambiguous(vec![]), "none waits");
    release(&*store, &lease).await;
}

pub(super) async fn shared_id_of_two_waiting_calls_is_ambiguous(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = [
        turn([("same".to_owned(), "ask", json!(1)), ("a".to_owned(), "say", json!(1))]),
        one("same", "ask", json!(2)),
    ];
    let lease = put(&*store, &Played::hasty("r1", &script).await).await;
    release(&*store, &lease).await;
    let waits = super::puts::approvals(&*store, runstate_store::ApprovalFilter::Run("r1".to_owned())).await;
    let candidates: Vec<_> = waits.iter().map(|one| one.suspension.id.clone()).collect();
    let told = reply(&*store, &on("r1", "same", "d0")).await;
    assert_eq!(told, Reply::Ambiguous(candidates), "\"same\", of which two wait");
    assert_eq!(mail(&*store, "r1").await.decisions, [], "the pending signals");
    for (one, id) in waits.iter().zip(["d0", "d1"]) {
        let named = on("r1", &one.call, id).on(&*one.suspension.id);
        assert_eq!(reply(&*store, &named).await, Reply::Accepted, "{:?}, by its suspension", one.call);
    }
}

pub(super) async fn a_decision_is_for_the_question_that_was_shown(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 2).await;
    let shown = approval(&*store, "r1", "c0").await.digest;
    let others = on("r1", "c1", "d0").for_question(&*shown);
    assert_eq!(reply(&*store, &others).await, Reply::Stale, "the digest of c0, for c1");
    assert_eq!(mail(&*store, "r1").await.decisions, [], "the pending signals");
    let exact = on("r1", "c0", "d0").for_question(&*shown);
    assert_eq!(reply(&*store, &exact).await, Reply::Accepted, "the digest of c0, for c0");
    let kept = mail(&*store, "r1").await.decisions;
    assert_eq!(kept[0].digest.as_ref(), Some(&shown), "the digest is stored");
    let without = on("r1", "c1", "d1");
    assert_eq!(reply(&*store, &without).await, Reply::Accepted, "without a digest");
    let kept = mail(&*store, "r1").await.decisions;
    assert!(kept[1].digest.is_some(), "the digest is stored, also where none was given");
}

/// The table of [`Reply`]: before each commit of the questions, while the run is leased, without a driver, and after
/// the decisions are taken.
pub(super) async fn each_row_of_the_table_is_the_reply(bench: &dyn Bench) {
    let store = bench.store().await;
    let asks = [
        ("a", json!({})),
        ("p", json!({ "distinct": true })),
        ("l", json!({ "expires": NOW + 10 })),
        ("t", json!({ "schema": { "type": "string" } })),
    ];
    let script = [turn(asks.map(|(id, arguments)| (id.to_owned(), "ask", arguments)))];
    let mut played = Played::new("r1", &script).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let rows = async |when: &str, now_ms: u64, rows: Vec<(Incoming, &str)>| {
        bench.clock().set(now_ms);
        for (incoming, expected) in rows {
            let told = decide(&*store, &incoming, now_ms, &Texts).await.must(when);
            assert_eq!(told.name(), expected, "{when}: {incoming:?}: {told}");
        }
    };

    // A question exists once it is committed.
    for one in played.commits() {
        if !played_asks(&*store).await {
            let when = format!("before commit {}", one.version);
            let early = on("r1", "a", "d0");
            rows(&when, NOW, vec![(early.clone(), "unknown"), (early.on("r1/a/1"), "unknown")]).await;
        }
        commit(&*store, &lease, one).await;
    }
    let (a, p) = (approval(&*store, "r1", "a").await, approval(&*store, "r1", "p").await);
    let shown = a.digest.clone();
    let named = |id: &str| Incoming::new(id, "", Resume);
    rows(
        "in hand",
        NOW,
        vec![
            (on("r1", "a", ""), "invalid"),
            (on("r1", "a", "d\n"), "invalid"),
            (on("r1", "a", "expiry:r1/a/1").by("ann"), "invalid"),
            (on("r1", "a", "d0").by(""), "invalid"),
            (on("r1", "a", "d0").by("runstate"), "invalid"),
            (on("r1", "", "d0"), "invalid"),
            (Incoming::new("d0", "a", Resume), "invalid"),
            (named("d0").on(""), "invalid"),
            (on("r1", "a", "d0").for_question(""), "invalid"),
            (on("r1", "z", "d0"), "unknown"),
            (on("r2", "a", "d0"), "unknown"),
            (named("d0").on("r1/z/1"), "unknown"),
            (named("d0").on("r1/a/2"), "unknown"),
            (on("r1", "a", "d0").on("r1/p/1"), "unknown"),
            (on("r1", "a", "d0").for_question("sha256:0"), "stale"),
            (on("r1", "a", "d0").on(&*a.suspension.id).for_question("sha256:0"), "stale"),
            (on("r1", "a", "d0").for_question(&*shown), "accepted"),
            (on("r1", "a", "d0").for_question(&*shown), "duplicate"),
            (named("d0").on(&*a.suspension.id), "duplicate"),
            (on("r1", "a", "d0").with_result(1), "invalid"),
            (on("r1", "p", "d0").by("ann"), "invalid"),
            (on("r1", "a", "d1"), "conflict"),
            (named("d1").on(&*a.suspension.id), "conflict"),
            (on("r1", "a", "d1").for_question(&*shown), "conflict"),
        ],
    )
    .await;
    release(&*store, &lease).await;
    rows(
        "without a driver",
        NOW,
        vec![
            (named("d2").on(&*p.suspension.id), "not_distinct"),
            (named("d2").on(&*p.suspension.id).by("ann"), "accepted"),
            (on("r1", "p", "d3").by("ben"), "conflict"),
            (on("r1", "t", "d4").with_result(7), "invalid"),
            (on("r1", "t", "d4").with_result("seven"), "accepted"),
            (on("r1", "a", "d0"), "duplicate"),
        ],
    )
    .await;
    rows("too late", NOW + 10, vec![(on("r1", "l", "d5"), "expired"), (on("r1", "a", "d1"), "conflict")])
        .await;
    rows("given up", NOW, vec![(on("r1", "l", "d5"), "expired")]).await;

    let lease = claim(&*store, "r1").await;
    let taken = mail(&*store, "r1").await.decisions;
    for new in played.resume(&taken).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
        rows(
            "once they are taken",
            NOW,
            vec![
                (on("r1", "a", "d0").for_question(&*shown), "duplicate"),
                (on("r1", "a", "d0").with_result(1), "invalid"),
                (on("r1", "a", "d1"), "conflict"),
                (named("d2").on(&*p.suspension.id).by("ann"), "duplicate"),
                (named("d9").on(&*p.suspension.id).by("ann"), "conflict"),
                (on("r1", "l", "d5"), "expired"),
                (named("d9").on("r1/a/2"), "unknown"),
                (on("r1", "z", "d9"), "unknown"),
            ],
        )
        .await;
    }
    release(&*store, &lease).await;
}

/// Returns whether the run has a waiting question.
async fn played_asks(store: &dyn RunStore) -> bool {
    store.load("r1").await.must("load").info.waiting > 0
}

pub(super) async fn a_decision_that_came_too_late_is_expired(bench: &dyn Bench) {
    let store = bench.store().await;
    for run in ["r1", "r2"] {
        let script = [one("c0", "ask", json!({ "expires": NOW + 10 }))];
        let lease = put(&*store, &Played::new(run, &script).await).await;
        release(&*store, &lease).await;
    }
    bench.clock().set(NOW + 9);
    let told = decide(&*store, &on("r2", "c0", "d0"), NOW + 9, &Unchecked).await;
    assert_eq!(told.must("decide in time"), Reply::Accepted, "a millisecond before");
    bench.clock().set(NOW + 10);
    let told = decide(&*store, &on("r1", "c0", "d0"), NOW + 10, &Unchecked).await;
    assert_eq!(told.must("decide at the very end"), Reply::Expired, "at its very end");

    // The late decision itself gives the call up. No other task has to check the expiry.
    let lapsed = mail(&*store, "r1").await.decisions;
    let told: Vec<_> = lapsed.iter().map(|one| (&*one.call, one.action, one.decided_at_ms)).collect();
    assert_eq!(told, [("c0", Cancel, NOW + 10)], "the call is given up");
    let told = decide(&*store, &on("r1", "c0", "d1"), NOW + 9, &Unchecked).await;
    assert_eq!(told.must("decide again"), Reply::Expired, "a decision by a clock that is behind");
}

pub(super) async fn a_decision_in_the_name_of_the_runtime_is_refused(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 1).await;
    for forged in [on("r1", "c0", "d0").by("runstate"), on("r1", "c0", "expiry:r1/c0/1").by("ann")] {
        let told = reply(&*store, &forged).await;
        assert!(
            matches!(told, Reply::Invalid(_)),
            "{:?} by {:?}: {told:?}",
            forged.decision_id,
            forged.actor
        );
    }
    assert_eq!(mail(&*store, "r1").await.decisions, [], "the pending signals");
}

pub(super) async fn an_actor_that_cannot_be_told_apart_is_refused(bench: &dyn Bench) {
    let store = bench.store().await;
    put_waiting(&*store, "r1", 1).await;
    for actor in ["", " ", "ann ", "an\u{200b}n", "ann\n", "\u{2060}", "\u{3164}", "\u{202e}nna"] {
        let told = reply(&*store, &on("r1", "c0", "d0").by(actor)).await;
        assert!(matches!(told, Reply::Invalid(_)), "{actor:?}: {told:?}");
    }
    assert_eq!(reply(&*store, &on("r1", "c0", "d0").by("Änne 安")).await, Reply::Accepted, "letters");
}

/// A schema check that accepts only text.
pub(super) struct Texts;

impl SchemaCheck for Texts {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        assert_eq!(*schema, json!({ "type": "string" }), "the schema that the suspension has");
        if value.is_string() { Ok(()) } else { Err(format!("{value} is no text")) }
    }
}

pub(super) async fn a_result_that_does_not_fit_is_refused(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = [one("c0", "ask", json!({ "schema": { "type": "string" } }))];
    let lease = put(&*store, &Played::new("r1", &script).await).await;
    release(&*store, &lease).await;
    let wrong = on("r1", "c0", "d0").with_result(7);
    let told = decide(&*store, &wrong, NOW, &Texts).await.must("decide");
    assert!(matches!(told, Reply::Invalid(_)), "a number where a text is asked for: {told:?}");
    assert_eq!(mail(&*store, "r1").await.decisions, [], "the pending signals");
    let right = on("r1", "c0", "d0").with_result("seven");
    assert_eq!(decide(&*store, &right, NOW, &Texts).await.must("decide"), Reply::Accepted, "a text");
    assert_eq!(mail(&*store, "r1").await.decisions[0].result, json!("seven"), "the result that is kept");
}

pub(super) async fn taken_decision_still_gives_its_replies(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = Played::new("r1", &[questions(2)]).await;
    let lease = put(&*store, &played).await;
    let suspension = approval(&*store, "r1", "c0").await.suspension.id;
    assert_eq!(reply(&*store, &on("r1", "c0", "d0")).await, Reply::Accepted, "d0");
    let taken = mail(&*store, "r1").await.decisions;
    for new in played.resume(&taken).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    release(&*store, &lease).await;
    let lease = claim(&*store, "r1").await;
    assert_eq!(reply(&*store, &on("r1", "c0", "d0")).await, Reply::Duplicate, "d0 again");
    assert_eq!(reply(&*store, &on("r1", "c0", "d1")).await, conflict(&taken[0]), "another on c0");
    let named = on("r1", "c0", "d2").on(&*suspension);
    assert_eq!(reply(&*store, &named).await, conflict(&taken[0]), "another on the suspension of c0");
    release(&*store, &lease).await;
}
