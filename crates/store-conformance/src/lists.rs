//! Lists and their pages.

use runstate::run::RunStatus;
use runstate_store::{Approval, ApprovalFilter, ApprovalQuery, NewRun, RunInfo, RunQuery, RunStore};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{
    ALL, Must, approvals, claim, commit, create, load, put, put_done, put_waiting, release, runs, yes,
};
use super::world::{NOW, questions, turn};

async fn paged(store: &dyn RunStore, mut query: RunQuery) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let page: Vec<RunInfo> = store.runs(&query).await.must("a page of runs");
        assert!(page.len() <= query.limit, "a page of {} has {}", query.limit, page.len());
        let Some(last) = page.last() else { return ids };
        query = query.after(last);
        ids.extend(page.into_iter().map(|info| info.id));
        assert!(ids.len() <= ALL, "pages have no end");
    }
}

pub(super) async fn runs_are_listed_newest_first_in_pages(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut places = Vec::new();
    for number in 0u64..40 {
        // Four runs share each time, so that some pages end between them.
        let (at, id) = (NOW + number * 7 % 10, format!("r{number:02}"));
        store.create(&NewRun::new(&*id, json!(number), at)).await.must("create");
        places.push((at, id));
    }
    places.sort();
    let expected: Vec<_> = places.into_iter().rev().map(|(_, id)| id).collect();
    for limit in [1, 3, 7, 40, 1_000] {
        let got = paged(&*store, RunQuery::all(limit)).await;
        assert_eq!(got, expected, "all runs in pages of {limit}, by creation and id, the newest first");
    }
    assert_eq!(store.runs(&RunQuery::all(0)).await.must("no runs"), [], "at most none");
    // A run that is created during the reading does not shift later pages.
    let page = store.runs(&RunQuery::all(10)).await.must("the first page");
    store.create(&NewRun::new("newest", json!(0), NOW + 99)).await.must("create");
    let next = RunQuery::all(10).after(page.last().must("ten runs"));
    let next: Vec<_> =
        store.runs(&next).await.must("the second page").into_iter().map(|info| info.id).collect();
    assert_eq!(next, expected[10..20], "the second page, when a run came meanwhile");
}

pub(super) async fn runs_are_listed_by_status(bench: &dyn Bench) {
    let store = bench.store().await;
    for number in 0..8 {
        create(&*store, &format!("new{number}")).await;
        put_waiting(&*store, &format!("waits{number}"), 1).await;
        put_done(&*store, &format!("over{number}")).await;
    }
    let of = [(RunStatus::Running, "new"), (RunStatus::Waiting, "waits"), (RunStatus::Done, "over")];
    for (status, name) in of {
        let expected: Vec<_> = (0..8).rev().map(|number| format!("{name}{number}")).collect();
        for limit in [3, 8, 100] {
            let got = paged(&*store, RunQuery::status(status, limit)).await;
            assert_eq!(got, expected, "runs that are {status:?} in pages of {limit}");
        }
    }
    assert_eq!(paged(&*store, RunQuery::all(5)).await.len(), 24, "all runs");
}

pub(super) async fn runs_are_listed_by_their_last_change(bench: &dyn Bench) {
    let store = bench.store().await;
    for number in 0..6 {
        let played = Played::at(NOW + number * 100, &format!("r{number}"), &[questions(1)]).await;
        let lease = put(&*store, &played).await;
        release(&*store, &lease).await;
    }
    put_done(&*store, "over").await;
    let changed = load(&*store, "r2").await.info.changed_at_ms;
    for (before, expected) in [(changed, &["r1", "r0"][..]), (changed + 1, &["r2", "r1", "r0"]), (NOW, &[])] {
        let mut query = RunQuery::status(RunStatus::Waiting, 2);
        query.changed_before_ms = Some(before);
        let got = paged(&*store, query).await;
        assert_eq!(got, expected, "runs that wait and changed last before {before}");
    }
    let mut query = RunQuery::all(2);
    query.changed_before_ms = Some(NOW + 1_000_000);
    assert_eq!(paged(&*store, query).await.len(), 7, "runs of any status");
}

pub(super) async fn runs_are_listed_by_their_holder(bench: &dyn Bench) {
    let store = bench.store().await;
    for number in 0..3 {
        put_waiting(&*store, &format!("free{number}"), 1).await;
        create(&*store, &format!("new{number}")).await;
        let played = Played::at(NOW, &format!("held{number}"), &[questions(1)]).await;
        put(&*store, &played).await;
    }
    for mut query in [RunQuery::status(RunStatus::Waiting, 2), RunQuery::all(2)] {
        query.held = true;
        let got = paged(&*store, query).await;
        assert_eq!(got, ["held2", "held1", "held0"], "held runs");
    }
}

async fn all_approvals(store: &dyn RunStore, mut query: ApprovalQuery) -> Vec<Approval> {
    let mut all: Vec<Approval> = Vec::new();
    loop {
        let page = store.approvals(&query).await.must("a page of approvals");
        assert!(page.len() <= query.limit, "a page of {} has {}", query.limit, page.len());
        let Some(last) = page.last() else { return all };
        query = query.after(last);
        all.extend(page);
        assert!(all.len() <= ALL, "pages have no end");
    }
}

fn names(approvals: &[Approval]) -> Vec<(&str, &str)> {
    approvals.iter().map(|approval| (&*approval.run, &*approval.call)).collect()
}

pub(super) async fn approvals_are_listed_in_pages(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut expected = Vec::new();
    for run in ["r3", "r1", "r2", "r10"] {
        put_waiting(&*store, run, 12).await;
        expected.extend((0..12).map(|call| (run.to_owned(), format!("c{call}"))));
    }
    put_done(&*store, "over").await;
    create(&*store, "new").await;
    expected.sort();
    let expected: Vec<_> = expected.iter().map(|(run, call)| (&**run, &**call)).collect();
    for limit in [1, 5, 12, 48, 1_000] {
        let all = all_approvals(&*store, ApprovalQuery::new(ApprovalFilter::All, limit)).await;
        assert_eq!(names(&all), expected, "all calls that wait in pages of {limit}, by run and call");
        let of_run =
            all_approvals(&*store, ApprovalQuery::new(ApprovalFilter::Run("r1".to_owned()), limit)).await;
        assert_eq!(names(&of_run), expected[..12], "those of r1 in pages of {limit}");
        let of_call =
            all_approvals(&*store, ApprovalQuery::new(ApprovalFilter::Call("c7".to_owned()), limit)).await;
        let four = ["r1", "r10", "r2", "r3"].map(|run| (run, "c7"));
        assert_eq!(names(&of_call), four, "those of the name c7 in pages of {limit}");
    }
    let none = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 0)).await.must("no approvals");
    assert_eq!(none, [], "at most none");
}

pub(super) async fn approvals_are_listed_by_run_call_and_suspension(bench: &dyn Bench) {
    let store = bench.store().await;
    // The model uses the id again in its next step.
    let call = |id: &str, tool| (id.to_owned(), tool, json!({ "of": id }));
    let script = [turn([call("a", "ask"), call("x", "say")]), turn([call("a", "ask"), call("b", "ask")])];
    let lease = put(&*store, &Played::hasty("r1", &script).await).await;
    release(&*store, &lease).await;
    put_waiting(&*store, "r2", 1).await;
    let all = approvals(&*store, ApprovalFilter::All).await;
    assert_eq!(all.len(), 4, "calls that wait: {:?}", names(&all));
    let by_id = approvals(&*store, ApprovalFilter::Call("a".to_owned())).await;
    assert_eq!(by_id, all[..2], "both calls that the model called a, by name and by id");
    let by_name = approvals(&*store, ApprovalFilter::Call(all[1].call.clone())).await;
    assert_eq!(by_name, all[1..2], "the second of them, by its name");
    assert_ne!(all[1].call, "a", "its name is not that of the first");
    for one in &all {
        let by_suspension = approvals(&*store, ApprovalFilter::Suspension(one.suspension.id.clone())).await;
        assert_eq!(names(&by_suspension), names(std::slice::from_ref(one)), "by {:?}", one.suspension.id);
    }
    for about in [
        ApprovalFilter::Run("r".into()),
        ApprovalFilter::Call("A".into()),
        ApprovalFilter::Call("%".into()),
        ApprovalFilter::Suspension("".into()),
    ] {
        let what = format!("{about:?}");
        assert_eq!(approvals(&*store, about).await, [], "{what}");
    }
}

pub(super) async fn approval_has_the_call_and_the_question(bench: &dyn Bench) {
    let store = bench.store().await;
    let arguments = json!({ "path": "a/b", "n": 0.1, "schema": { "type": "string" }, "expires": NOW + 5 });
    let script = [turn([("c0".to_owned(), "ask", arguments.clone())])];
    let played = Played::new("r1", &script).await;
    put(&*store, &played).await;
    let [one] = &approvals(&*store, ApprovalFilter::All).await[..] else { panic!("one call waits") };
    assert_eq!((&*one.run, &*one.call, &*one.tool), ("r1", "c0", "ask"), "run, call and tool");
    assert_eq!(one.arguments, arguments, "the arguments of the call");
    let state = played.state();
    let pending = state.pending();
    assert_eq!(one.suspension, *pending[0].suspension, "the suspension of the call");
    assert_eq!(
        one.digest,
        one.suspension.digest("r1", "c0", "ask", &arguments),
        "the digest of the question"
    );
    assert_ne!(one.digest, runstate::decision::digest(&arguments), "a digest of the arguments alone is none");
}

pub(super) async fn a_decided_call_waits_no_more(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_waiting(&*store, "r1", 3).await;
    let decision = yes(&*store, "r1", "c1", "d1").await;
    let about = ApprovalFilter::Suspension(decision.suspension_id.clone());
    store.post(&decision).await.must("post d1");
    for about in [ApprovalFilter::All, ApprovalFilter::Run("r1".into())] {
        let waits = approvals(&*store, about).await;
        assert_eq!(names(&waits), [("r1", "c0"), ("r1", "c2")], "undecided calls");
    }
    assert_eq!(approvals(&*store, ApprovalFilter::Call("c1".into())).await, [], "the call that was decided");
    assert_eq!(approvals(&*store, about).await, [], "its suspension");
    assert_eq!(runs(&*store).await[0].waiting, 3, "the listed info after the last commit");
    let lease = claim(&*store, "r1").await;
    for new in played.resume(&[decision]).await {
        commit(&*store, &lease, &played.commit(new + 1)).await;
    }
    assert_eq!(runs(&*store).await[0].waiting, 2, "once the decision was taken");
    let waits = approvals(&*store, ApprovalFilter::All).await;
    assert_eq!(names(&waits), [("r1", "c0"), ("r1", "c2")], "undecided calls, once it was taken");
}

pub(super) async fn lists_of_nothing_are_empty(bench: &dyn Bench) {
    let store = bench.store().await;
    assert_eq!(runs(&*store).await, [], "runs");
    assert_eq!(approvals(&*store, ApprovalFilter::All).await, [], "calls that wait");
    bench.clock().set(u64::MAX / 4);
    assert_eq!(store.due(ALL).await.must("due"), [], "suspensions that expire");
}
