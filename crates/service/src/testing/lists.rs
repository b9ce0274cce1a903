//! Lists of runs.

use std::collections::BTreeMap;

use runstate::service_run::{FinalStatus, ServiceRunStatus};

use super::ServiceBench;
use super::world::{NOW, change};
use crate::store::{ListQuery, ListSort, RunPage, ServiceStore};

const RUNNING: ServiceRunStatus = ServiceRunStatus::Running;

async fn create_at(store: &dyn ServiceStore, run: &str, status: ServiceRunStatus, at_ms: u64) {
    let mut new = change(run, status);
    new.at_ms = at_ms;
    new.intent = format!("Send {run}");
    store.create(run, &new).await.unwrap();
}

fn ids(page: &RunPage) -> Vec<&str> {
    page.runs.iter().map(|run| run.id.as_str()).collect()
}

pub(super) async fn newest_run_is_listed_first(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for (run, at) in [("b", 2), ("a", 2), ("old", 1), ("new", 3)] {
        create_at(&*store, run, RUNNING, NOW + at).await;
    }
    let page = store.list(&ListQuery::first(9)).await.unwrap();
    assert_eq!((ids(&page), &page.next), (vec!["new", "b", "a", "old"], &None));
    let run = &page.runs[0];
    assert_eq!((run.version, run.status, run.intent.as_str()), (1, RUNNING, "Send new"));
    assert_eq!((run.created_at_ms, run.updated_at_ms), (NOW + 3, NOW + 3));
}

pub(super) async fn pages_are_stable_while_runs_are_created(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for run in 0..5 {
        create_at(&*store, &format!("run_{run}"), RUNNING, NOW).await;
    }
    let mut query = ListQuery::first(2);
    let mut seen: Vec<String> = Vec::new();
    for new in 0.. {
        let page = store.list(&query).await.unwrap();
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        let Some(next) = page.next else { break };
        query.after = Some(next);
        create_at(&*store, &format!("new_{new}"), RUNNING, NOW + 1).await;
    }
    assert_eq!(seen, ["run_4", "run_3", "run_2", "run_1", "run_0"]);
}

pub(super) async fn lists_are_sorted(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for (run, at) in [("c", 1), ("a", 2), ("b", 2)] {
        create_at(&*store, run, RUNNING, NOW + at).await;
    }
    let mut changed = change("c", RUNNING);
    changed.at_ms = NOW + 9;
    store.compare_and_set("c", 1, &changed).await.unwrap();
    let rows = [
        (ListSort::Newest, ["b", "a", "c"]),
        (ListSort::Oldest, ["c", "a", "b"]),
        (ListSort::Changed, ["c", "b", "a"]),
    ];
    for (sort, expected) in rows {
        let mut query = ListQuery { sort, ..ListQuery::first(1) };
        let mut seen = Vec::new();
        loop {
            let page = store.list(&query).await.unwrap();
            seen.extend(ids(&page).into_iter().map(str::to_owned));
            let Some(next) = page.next else { break };
            query.after = Some(next);
        }
        assert_eq!(seen, expected, "{sort:?}");
    }
}

pub(super) async fn lists_are_filtered(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create_at(&*store, "usdc", RUNNING, NOW).await;
    create_at(&*store, "weth", ServiceRunStatus::Blocked, NOW + 5).await;
    create_at(&*store, "100%_", ServiceRunStatus::AwaitingApproval, NOW + 9).await;
    let all = || ListQuery::first(9);
    let text = |text: &str| ListQuery { text: Some(text.into()), ..all() };
    let rows = [
        (all(), vec!["100%_", "weth", "usdc"]),
        (text("SEND W"), vec!["weth"]),
        (text("%"), vec!["100%_"]),
        (text("_"), vec!["100%_"]),
        (text("nothing"), vec![]),
        (ListQuery { statuses: [RUNNING, ServiceRunStatus::Blocked].into(), ..all() }, vec!["weth", "usdc"]),
        (ListQuery { final_status: Some(FinalStatus::Blocked), ..all() }, vec!["weth"]),
        (ListQuery { since_ms: Some(NOW + 5), ..all() }, vec!["100%_", "weth"]),
        (ListQuery { until_ms: Some(NOW + 5), ..all() }, vec!["usdc"]),
        (ListQuery { since_ms: Some(NOW + 5), until_ms: Some(NOW + 9), ..all() }, vec!["weth"]),
    ];
    for (query, expected) in rows {
        assert_eq!(ids(&store.list(&query).await.unwrap()), expected, "{query:?}");
    }
}

pub(super) async fn counts_are_of_all_pages(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for run in 0..5 {
        let status = if run == 0 { ServiceRunStatus::Blocked } else { RUNNING };
        create_at(&*store, &format!("run_{run}"), status, NOW + run).await;
    }
    let counted = ListQuery { counts: true, ..ListQuery::first(2) };
    let first = store.list(&counted).await.unwrap();
    let counts = BTreeMap::from([("RUNNING".to_owned(), 4), ("BLOCKED".to_owned(), 1)]);
    assert_eq!(first.counts.as_ref(), Some(&counts));
    let behind = ListQuery { after: first.next, ..counted };
    assert_eq!(store.list(&behind).await.unwrap().counts, Some(counts));
    let plain = store.list(&ListQuery { counts: false, ..behind }).await.unwrap();
    assert_eq!((ids(&plain), &plain.counts), (vec!["run_2", "run_1"], &None));
}

pub(super) async fn unreadable_run_fails_no_list(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for run in 0..5 {
        create_at(&*store, &format!("run_{run}"), RUNNING, NOW + run).await;
    }
    for run in ["run_1", "run_3"] {
        if !bench.spoil_status(run, "EXECUTING").await {
            return;
        }
    }
    let mut query = ListQuery { counts: true, ..ListQuery::first(2) };
    for (run, unreadable) in [("run_4", "run_3"), ("run_2", "run_1")] {
        let page = store.list(&query).await.unwrap();
        assert_eq!(ids(&page), [run]);
        let [of_page] = &page.unreadable[..] else { panic!("{page:?}") };
        assert_eq!(of_page.id, unreadable);
        let place = format!("service_runs.status of the run {unreadable:?}: ");
        assert!(
            of_page.reason.starts_with(&place) && of_page.reason.contains("\"EXECUTING\""),
            "{of_page:?}"
        );
        let counts = BTreeMap::from([("RUNNING".to_owned(), 3), ("EXECUTING".to_owned(), 2)]);
        assert_eq!(page.counts, Some(counts));
        query.after = page.next;
    }
    let last = store.list(&query).await.unwrap();
    assert_eq!((ids(&last), last.unreadable.len(), &last.next), (vec!["run_0"], 0, &None));

    // A page of unreadable runs alone is followed by the next one.
    let first = ListQuery { limit: 1, until_ms: Some(NOW + 4), ..ListQuery::first(1) };
    let page = store.list(&first).await.unwrap();
    assert_eq!((ids(&page), page.unreadable[0].id.as_str()), (vec![], "run_3"));
    let second = store.list(&ListQuery { after: page.next, ..first }).await.unwrap();
    assert_eq!(ids(&second), ["run_2"]);
    let running = ListQuery { statuses: [RUNNING].into(), ..ListQuery::first(9) };
    let page = store.list(&running).await.unwrap();
    assert_eq!((ids(&page), page.unreadable.len()), (vec!["run_4", "run_2", "run_0"], 0));

    // A status that is no name has no key of its own.
    assert!(bench.spoil_status("run_1", "a\nstatus").await);
    let page = store.list(&ListQuery { counts: true, ..ListQuery::first(9) }).await.unwrap();
    let keys: Vec<_> = page.counts.unwrap().into_iter().collect();
    let expected = [("EXECUTING", 1), ("RUNNING", 3), ("unreadable", 1)];
    assert_eq!(keys, expected.map(|(status, count)| (status.to_owned(), count)));
}
