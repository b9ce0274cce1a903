//! Runs with all that there is of them, as stores have them, and a reader of all of it.

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::arbitrary::Unstructured;
use runstate_agent::Input;
use runstate::decision::{Decision, DecisionAction};
use runstate::snapshot::Snapshot;
use runstate_store::{
    ApprovalFilter, ApprovalQuery, ChangeCursor, Claim, Commit, Loaded, NewRun, Release, RunQuery, RunStore, Sent, StoreError,
    UserMessage, send,
};
use runstate_store_conformance::Played;
use runstate::trace::Recorder;
use runstate::turn::{CallRequest, Turn};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// Drives the stores.
pub static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

/// The operations on a run of a store.
pub enum Step {
    Commit(Commit),
    Supersede(UserMessage),
    Remove,
}

/// A run of a store, from its creation on.
pub struct Run {
    pub new: NewRun,
    pub steps: Vec<Step>,
}

/// A thread of two runs, of which the first was superseded once and the second waits. A run with a message that it has not taken, one that is
/// over, and one that was removed.
pub static RUNS: LazyLock<Vec<Run>> = LazyLock::new(|| {
    RUNTIME.block_on(async {
        let asks = |calls: &[CallRequest]| [Turn { calls: calls.to_vec(), ..Turn::default() }];
        let ask = CallRequest::new("c1", "ask", json!({"expires": 9}));
        let commits = |played: &Played| played.commits().cloned().map(Step::Commit).collect::<Vec<_>>();

        let note = CallRequest::new("c0", "note", json!({"thread": 1, "run": 2}));
        let mut first = Played::new("r0", &asks(&[note, ask.clone()])).await;
        let mut steps = commits(&first);
        steps.push(Step::Supersede(UserMessage::new("m1", "go on", 1)));
        let new = first.send(Input::message("go on")).await;
        let mut taken: Vec<Commit> = first.commits().skip(new.start).cloned().collect();
        taken[0].takes = Some("m1".to_owned());
        steps.extend(taken.into_iter().map(Step::Commit));
        let r0 = Run { new: new_run("r0").following("t", None).beginning_with("m0"), steps };

        let say = CallRequest::new("c0", "say", json!({"a": 1}));
        let second = Played::following("r1", first, &asks(&[say, ask.clone()])).await;
        let r1 = new_run("r1").following("t", Some("r0".to_owned())).beginning_with("m2");
        let r1 = Run { new: r1, steps: commits(&second) };

        let mut steps = commits(&Played::new("w", &asks(&[ask])).await);
        steps.push(Step::Supersede(UserMessage::new("m3", "go on", 2)));
        let w = Run { new: new_run("w"), steps };
        let done = Run { new: new_run("done"), steps: commits(&Played::new("done", &[]).await) };
        let gone = new_run("gone").following("u", None).beginning_with("m4");
        vec![r0, r1, w, done, Run { new: gone, steps: vec![Step::Remove] }]
    })
});

fn new_run(id: &str) -> NewRun {
    NewRun::new(id, json!({"kind": "scenario", "scenario": "name: a", "token": "x"}), 1)
}

/// All commits, in the order in which stores get them.
pub fn count_of_commits() -> usize {
    RUNS.iter().flat_map(|run| &run.steps).filter(|step| matches!(step, Step::Commit(_))).count()
}

/// Puts the runs into a store. Each commit is changed first; without one, nothing more is put there.
pub async fn fill(
    store: &dyn RunStore,
    mut change: impl FnMut(usize, &Commit) -> Option<Commit>,
) -> Result<(), StoreError> {
    let mut number = 0;
    for Run { new, steps } in RUNS.iter() {
        store.create(new).await?;
        let mut lease = None;
        for step in steps {
            match step {
                Step::Commit(commit) => {
                    if lease.is_none() {
                        lease = store.claim(&Claim::of(&*new.id, "w", Duration::ZERO)).await?;
                    }
                    let (Some(lease), Some(commit)) = (&lease, change(number, commit)) else { return Ok(()) };
                    number += 1;
                    store.commit(lease, &commit).await?;
                }
                Step::Supersede(message) => drop(store.supersede(&new.id, message).await?),
                Step::Remove => drop(store.remove(&new.id).await?),
            }
        }
    }
    Ok(())
}

/// Gives each machine in a document the checksum of what it says now.
pub fn recompute_checksum(document: &mut Value) {
    if document.get("fingerprint").is_some()
        && let Ok(mut snapshot) = serde_json::from_value::<Snapshot>(document.clone())
    {
        snapshot.recompute_checksum();
        // One that is nested too deep to be read stays as it was.
        if let Ok(with_new_checksum) = serde_json::from_str(&snapshot.to_json()) {
            *document = with_new_checksum;
        }
        return;
    }
    match document {
        Value::Array(items) => items.iter_mut().for_each(recompute_checksum),
        Value::Object(fields) => fields.values_mut().for_each(recompute_checksum),
        _ => {}
    }
}

/// The same of a text, if it is JSON.
pub fn changed(text: &str, from: &mut Unstructured<'_>) -> Option<String> {
    let mut document = serde_json::from_str(text).ok()?;
    super::change(&mut document, from).ok()?;
    recompute_checksum(&mut document);
    Some(document.to_string())
}

fn restore(loaded: &Loaded) {
    for stored in [&loaded.stored, &loaded.before].into_iter().flatten() {
        if let Ok(state) = stored.restore() {
            drop(state.into_thread());
        }
    }
    drop(loaded.begin(&[], &[], &Recorder::new("watched")));
}

/// Sends a message to a thread. The run of the thread that has it then is one that can be loaded, or is the damaged one itself.
async fn say(store: &dyn RunStore, thread: &str, id: &str, supersede: bool) {
    let begin = |_, message: &UserMessage| Ok::<_, StoreError>(new_run(&format!("run-of-{}", message.id)));
    let message = UserMessage::new(id, "more", 3);
    let Ok(sent) = send(store, thread, &message, supersede, begin).await else { return };
    match sent {
        Sent::Began { run } => {
            assert_eq!(store.is_given(&run).await.ok(), Some(true), "a run that began");
            let loaded = store.load(&run).await.expect("a run behind one that can be read");
            restore(&loaded);
        }
        Sent::Superseded { run } => {
            let mail = store.pending_signals(&run).await.expect("the mail of a run that took a message");
            assert_eq!(mail.message.map(|message| message.id).as_deref(), Some(id), "the message in it");
        }
        _ => return,
    }
    let again = send(store, thread, &message, supersede, begin).await.expect("the same again");
    assert!(matches!(again, Sent::Duplicate), "{again:?}");
}

/// Reads and does what a store can be asked for: all that there is is drawn once in a while.
pub async fn read(store: &dyn RunStore, from: &mut Unstructured<'_>) {
    let mut is_drawn = || from.ratio(1, 3).unwrap_or(true);
    for run in ["r0", "r1", "w", "done", "gone"] {
        if !is_drawn() {
            continue;
        }
        if let Ok(loaded) = store.load(run).await {
            restore(&loaded);
        }
        drop(store.pending_signals(run).await);
        drop(store.trace(run, 0, 99).await);
        drop(store.events(run, 0, 99).await);
    }
    drop(store.runs(&RunQuery::all(9)).await);
    drop(store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 9)).await);
    drop(store.changes(&ChangeCursor::default(), Duration::ZERO).await);
    drop(store.due(9).await);
    drop(store.corrupt_entries().await);
    for thread in ["t", "r0", "r1", "w", "done", "u", "gone", "new"] {
        if is_drawn() {
            drop(store.last_of_thread(thread).await);
        }
    }
    for id in ["m0", "m1", "m2", "m3", "m4", "gone", "m5"] {
        if is_drawn() {
            drop(store.is_given(id).await);
        }
    }
    if is_drawn() {
        let decision = Decision::new("d1", "r1/s1/1", DecisionAction::Resume);
        drop(store.post(&Decision { run_id: "r1".to_owned(), call: "s1c1".to_owned(), ..decision }).await);
    }
    for (thread, id) in [("t", "m5"), ("done", "m6"), ("w", "m7"), ("u", "m8"), ("new", "m9"), ("t", "m1"), ("new", "m2")] {
        if is_drawn() {
            say(store, thread, id, is_drawn()).await;
        }
    }
    drop(store.supersede("r1", &UserMessage::new("m10", "again", 4)).await);
    drop(store.cancel("r1", "enough").await);
    for _ in 0..2 {
        if let Ok(Some(lease)) = store.claim(&Claim::any("w", Duration::MAX)).await {
            drop(store.renew(&lease, Duration::MAX).await);
            drop(store.release(&lease, &Release::clean()).await);
        }
    }
    for run in ["r0", "run-of-m6", "r1", "r0", "done", "w", "run-of-m5"] {
        drop(store.remove(run).await);
    }
    drop(store.last_of_thread("t").await);
    drop(store.is_given("m1").await);
}
