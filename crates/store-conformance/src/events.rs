//! The events of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use runstate_agent::ExecutionMode;
use runstate_agent::event::{AgentEvent, EventKind};
use runstate_store::{ChangeCursor, Changes, EventRow};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{Must, claim, commit, create, events, put, yes};
use super::world::{one, questions};

/// Returns the event of a row, and checks its numbers.
fn read(row: &EventRow) -> AgentEvent {
    let event: AgentEvent =
        runstate::json::from_str(&row.json).ok().must(format_args!("an event in {}", row.json));
    assert_eq!((event.seq, event.last()), (row.seq, row.last), "the numbers of {}", row.json);
    event
}

pub(super) async fn events_have_no_gap(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = [one("a", "say", json!(1)), questions(2)];
    let mut played = Played::by(ExecutionMode::Sequential, true, "r1", &script).await;
    let lease = put(&*store, &played).await;
    let mut finished = 1;
    let mut decided = 0;
    loop {
        let rows = events(&*store, "r1").await;
        let got: Vec<AgentEvent> = rows.iter().map(read).collect();
        let mut next = 1;
        for event in &got {
            assert_eq!(event.seq, next, "the number after {}", next - 1);
            next = event.last() + 1;
        }
        let is = |test: fn(&EventKind) -> bool| got.iter().filter(|event| test(&event.kind)).count();
        let commits = is(|kind| matches!(kind, EventKind::Checkpoint { .. }));
        assert_eq!(commits, played.commits().len(), "each commit has its own checkpoint");
        assert_eq!(
            is(|kind| matches!(kind, EventKind::RunFinished { .. })),
            finished,
            "activations that ended"
        );
        let last = got.last().map(|event| &event.kind);
        assert!(matches!(last, Some(EventKind::RunFinished { .. })), "the last event is {last:?}");
        if decided == 2 {
            break;
        }
        let decision = yes(&*store, "r1", &format!("c{decided}"), &format!("d{decided}")).await;
        for new in played.resume(&[decision]).await {
            commit(&*store, &lease, &played.commit(new + 1)).await;
        }
        (decided, finished) = (decided + 1, finished + 1);
    }
}

pub(super) async fn events_are_read_in_pages(bench: &dyn Bench) {
    let store = bench.store().await;
    let script: Vec<_> = (0..6).map(|step| one("a", "say", json!(step))).collect();
    let played = Played::by(ExecutionMode::Sequential, true, "r1", &script).await;
    put(&*store, &played).await;
    let expected = played.events();
    let pieces = expected.iter().find(|row| row.last > row.seq).must("an answer of several pieces");
    assert_eq!(events(&*store, "r1").await, expected, "the events, all");
    for limit in [1, 7, expected.len()] {
        let mut got: Vec<EventRow> = Vec::new();
        loop {
            let after = got.last().map_or(0, |row| row.last);
            let page = store.events("r1", after, limit).await.must("a page of events");
            assert!(page.len() <= limit, "a page of {limit} has {}", page.len());
            if page.is_empty() {
                break;
            }
            got.extend(page);
            assert!(got.len() <= expected.len(), "pages of {limit} have no end");
        }
        assert_eq!(got, expected, "the events in pages of {limit}");
    }
    // A receiver that has seen some pieces of an answer gets the whole row.
    let page = store.events("r1", pieces.seq, 1).await.must("the pieces of an answer");
    assert_eq!(page, std::slice::from_ref(pieces), "the events after the first piece of an answer");
    let none = [store.events("r1", 0, 0).await, store.events("r1", u64::MAX, 10).await];
    for (what, page) in ["no events", "events after the last"].into_iter().zip(none) {
        assert_eq!(page.must(what), [], "{what}");
    }
}

pub(super) async fn events_of_a_repeated_commit_replace_the_first(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[one("a", "say", json!(1))]).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let row = |seq: u64, last: u64| {
        let kind = match seq == last {
            true => EventKind::StepStarted { step: 1 },
            false => EventKind::AnswerPieces { step: 1, last, text: "hi".to_owned() },
        };
        EventRow::of(&AgentEvent::new(seq, 0, "r1", "t1", 1, kind)).must("an event")
    };
    let mut first = played.commit(1);
    first.events = vec![row(1, 1), row(2, 2)];
    commit(&*store, &lease, &first).await;
    let mut second = played.commit(2);
    second.events = vec![row(3, 5), row(6, 6), row(7, 7)];
    commit(&*store, &lease, &second).await;
    // The process lost the acknowledgement, and continued before it repeated the commit.
    second.again = true;
    second.events = vec![row(3, 5), row(6, 9)];
    commit(&*store, &lease, &second).await;
    assert_eq!(events(&*store, "r1").await, [row(1, 1), row(2, 2), row(3, 5), row(6, 9)], "the events");
    // A commit that was never made is accepted as a repetition.
    let mut third = played.commit(3);
    third.again = true;
    third.events = vec![row(10, 10)];
    commit(&*store, &lease, &third).await;
    let page = store.events("r1", 6, 9).await.must("a page");
    assert_eq!(page, [row(6, 9), row(10, 10)], "the events after number 6");
}

pub(super) async fn changes_name_committed_runs_once(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[one("a", "say", json!(1))]).await;
    let other = Played::new("r2", &[]).await;
    let none = Duration::ZERO;
    for run in ["r1", "r2", "r3"] {
        create(&*store, run).await;
    }
    let start = ChangeCursor::default();
    let changes = store.changes(&start, none).await.must("changes");
    assert_eq!(changes.runs, [], "runs without a commit");
    let (first, second) = (claim(&*store, "r1").await, claim(&*store, "r2").await);
    commit(&*store, &first, &played.commit(1)).await;
    commit(&*store, &second, &other.commit(1)).await;
    commit(&*store, &first, &played.commit(2)).await;
    let named = |changes: &Changes| changes.runs.iter().cloned().collect::<BTreeMap<_, _>>();
    let expected = |runs: &[(&str, u64)]| runs.iter().map(|(run, at)| ((*run).to_owned(), *at)).collect();
    let all = store.changes(&changes.cursor, none).await.must("changes");
    assert_eq!((all.runs.len(), named(&all)), (2, expected(&[("r1", 2), ("r2", 1)])), "both runs");
    assert_eq!(store.changes(&all.cursor, none).await.must("changes").runs, [], "runs after both");
    commit(&*store, &first, &played.commit(3)).await;
    // A cursor is valid at another handle and after a round trip through JSON.
    let json = serde_json::to_string(&all.cursor).ok().must("the cursor as JSON");
    let cursor: ChangeCursor = runstate::json::from_str(&json).ok().must("the cursor from JSON");
    let last = bench.store().await.changes(&cursor, none).await.must("changes");
    assert_eq!(named(&last), expected(&[("r1", 3)]), "the run that was committed since");
    let refused = store.commit(&first, &played.commit(1)).await;
    assert!(refused.is_err(), "a commit of an old number is refused");
    assert_eq!(store.changes(&last.cursor, none).await.must("changes").runs, [], "a refused commit");
    let all = store.changes(&start, none).await.must("changes");
    assert_eq!(named(&all), expected(&[("r1", 3), ("r2", 1)]), "both runs, from the start");
}

pub(super) async fn current_cursor_is_after_all_commits(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[one("a", "say", json!(1))]).await;
    let none = Duration::ZERO;
    for run in ["r1", "r2"] {
        create(&*store, run).await;
    }
    let (first, second) = (claim(&*store, "r1").await, claim(&*store, "r2").await);
    commit(&*store, &first, &played.commit(1)).await;
    commit(&*store, &second, &Played::new("r2", &[]).await.commit(1)).await;
    let cursor = bench.store().await.current_cursor().await.must("the cursor");
    assert_eq!(store.changes(&cursor, none).await.must("changes").runs, [], "no history");
    commit(&*store, &first, &played.commit(2)).await;
    let later = store.changes(&cursor, none).await.must("changes");
    assert_eq!(later.runs, [("r1".to_owned(), 2)], "the run that was committed since");
}

pub(super) async fn a_commit_wakes_each_reader_of_changes(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[]).await;
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let start = ChangeCursor::default();
    let hour = Duration::from_secs(3_600);
    let reads = async |reader: std::sync::Arc<dyn runstate_store::RunStore>| {
        let changes = tokio::time::timeout(Duration::from_secs(60), reader.changes(&start, hour)).await;
        changes.ok().must("changes within a minute").must("changes").runs
    };
    let (here, there) = (bench.store().await, bench.store().await);
    let made = async {
        // Both readers have read the store and wait.
        tokio::time::sleep(Duration::from_millis(50)).await;
        commit(&*store, &lease, &played.commit(1)).await;
    };
    let (one, other, ()) = tokio::join!(reads(here), reads(there), made);
    assert_eq!(
        [one, other],
        [[("r1".to_owned(), 1)], [("r1".to_owned(), 1)]],
        "the events of both receivers"
    );
}
