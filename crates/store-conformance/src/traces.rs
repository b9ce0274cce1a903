//! The trace of a run.

use runstate_store::TraceRow;
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{Must, claim, commit, create, put, trace};
use super::world::{one, questions};

pub(super) async fn a_trace_is_read_in_pages(bench: &dyn Bench) {
    let store = bench.store().await;
    let script: Vec<_> = (0..12).map(|step| one("a", "say", json!(step))).collect();
    let played = Played::new("r1", &script).await;
    put(&*store, &played).await;
    let expected = played.trace();
    assert!(expected.len() > 50, "the suite's run has {} events", expected.len());
    assert_eq!(trace(&*store, "r1").await, expected, "the trace, whole");
    for limit in [1, 7, expected.len() - 1, expected.len()] {
        let mut got: Vec<TraceRow> = Vec::new();
        loop {
            let after = got.last().map_or(0, |row| row.seq);
            let page = store.trace("r1", after, limit).await.must("a page of the trace");
            assert!(page.len() <= limit, "a page of {limit} has {}", page.len());
            if page.is_empty() {
                break;
            }
            got.extend(page);
            assert!(got.len() <= expected.len(), "pages of {limit} have no end");
        }
        assert_eq!(got, expected, "the trace in pages of {limit}");
    }
    let none = [store.trace("r1", 0, 0).await, store.trace("r1", u64::MAX, 10).await];
    for (what, page) in ["no events", "events after the last"].into_iter().zip(none) {
        assert_eq!(page.must(what), [], "{what}");
    }
    let last = expected.len() as u64;
    let page = store.trace("r1", last - 1, usize::MAX).await.must("the last event");
    assert_eq!(page, expected[expected.len() - 1..], "the last event");
}

pub(super) async fn a_trace_conforms(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = Played::new("r1", &[one("a", "say", json!(1)), questions(2)]).await;
    let lease = put(&*store, &played).await;
    for call in ["c0", "c1"] {
        let decision = super::puts::yes(&*store, "r1", call, &format!("d-{call}")).await;
        for new in played.resume(&[decision]).await {
            commit(&*store, &lease, &played.commit(new + 1)).await;
        }
    }
    super::drives::conforms(&*store, "r1").await;
}

pub(super) async fn events_that_are_given_again_are_there_once(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[one("a", "say", json!(1))]).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    // Numbers increase, and may have gaps.
    let row = |seq: u64| TraceRow { seq, json: format!("{{\"seq\":{seq}}}") };
    let mut first = played.commit(1);
    first.trace = vec![row(3), row(10)];
    commit(&*store, &lease, &first).await;
    let mut again = played.commit(1);
    again.again = true;
    again.trace = vec![row(3), row(10), row(11)];
    commit(&*store, &lease, &again).await;
    let mut second = played.commit(2);
    second.trace = vec![row(200)];
    commit(&*store, &lease, &second).await;
    assert_eq!(trace(&*store, "r1").await, [row(3), row(10), row(11), row(200)], "each event once, in order");
    let page = store.trace("r1", 3, 2).await.must("a page");
    assert_eq!(page, [row(10), row(11)], "two events after number 3");
    let page = store.trace("r1", 11, 9).await.must("a page");
    assert_eq!(page, [row(200)], "the events after number 11");
    assert_eq!(super::puts::load(&*store, "r1").await.traced, 200, "the last event's number");
}
