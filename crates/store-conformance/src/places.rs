//! Ids in lists: they are ordered and distinguished by their bytes.

use runstate_store::{ApprovalFilter, NewRun, RunQuery};
use serde_json::json;

use super::Bench;
use super::puts::{ALL, Must, approvals, create, load, put_waiting};
use super::world::NOW;

const IDS: [&str; 10] = ["B", "a", "b", "A", "é", "z", "_", "-", "a b", "\u{1f980}"];

pub(super) async fn ids_are_ordered_by_their_bytes(bench: &dyn Bench) {
    let store = bench.store().await;
    for id in IDS {
        put_waiting(&*store, id, 1).await;
    }
    let mut expected = IDS.map(str::to_owned);
    expected.sort();
    let waits: Vec<_> =
        approvals(&*store, ApprovalFilter::All).await.into_iter().map(|one| one.run).collect();
    assert_eq!(waits, expected, "calls that wait, by the bytes of their runs' ids");
    let mut query = RunQuery::all(3);
    let mut listed = Vec::new();
    loop {
        let page = store.runs(&query).await.must("a page of runs");
        let Some(last) = page.last() else { break };
        query = query.after(last);
        listed.extend(page.into_iter().map(|info| info.id));
        assert!(listed.len() <= ALL, "pages have no end");
    }
    expected.reverse();
    assert_eq!(listed, expected, "runs of one time, by the bytes of their ids, the last first");
}

pub(super) async fn ids_that_differ_in_case_are_two(bench: &dyn Bench) {
    let store = bench.store().await;
    for (number, id) in
        ["run", "Run", "RUN", "run ", " run", "ru\u{301}n", "r\u{fa}n"].into_iter().enumerate()
    {
        let new = NewRun::new(id, json!(number), NOW);
        store.create(&new).await.must(format_args!("create {id:?}"));
    }
    create(&*store, "other").await;
    assert_eq!(load(&*store, "run").await.spec, json!(0), "the spec of run");
    assert_eq!(load(&*store, "Run").await.spec, json!(1), "the spec of Run");
    assert_eq!(load(&*store, "run ").await.spec, json!(3), "the spec of run and a space");
    assert_eq!(load(&*store, "r\u{fa}n").await.spec, json!(6), "the spec of a run with a composed letter");
}
