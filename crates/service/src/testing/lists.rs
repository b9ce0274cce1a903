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
    let first = store.list(&ListQuery::first(2)).await.unwrap();
    let counts = BTreeMap::from([(RUNNING, 4), (ServiceRunStatus::Blocked, 1)]);
    assert_eq!(first.counts, counts);
    let second = store.list(&ListQuery { after: first.next, ..ListQuery::first(2) }).await.unwrap();
    assert_eq!(second.counts, counts);
}
