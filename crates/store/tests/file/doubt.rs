//! A state that is in place, and whose name could not be made durable: nobody is told that nothing was stored.

use std::io::ErrorKind;

use runstate::decision::{Decision, DecisionAction};
use runstate_runtime::files::{Disk, SimDisk, Survives};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, FileStore, Lease, NewRun, Posted, Release, RunData, RunLists, RunQueue,
    StoreError, Superseded, UserMessage,
};
use serde_json::json;

use super::super::times::{any, of, span};
use super::on;
use super::others::{fill, parked};

/// What is done to a store that was [filled](fill), each operation in its turn.
const ALL: [&str; 11] = [
    "create",
    "begin",
    "claim",
    "claim any",
    "renew",
    "commit",
    "post",
    "supersede",
    "cancel",
    "release",
    "remove",
];

/// The run that it is done to.
fn run_of(what: &str) -> &'static str {
    match what {
        "create" | "begin" => "another",
        "claim any" => "new",
        "renew" | "commit" | "release" => "held",
        _ => "r1",
    }
}

async fn filled() -> (SimDisk, Lease) {
    let disk = SimDisk::new();
    let store = on(&disk);
    fill(&store).await;
    store.create(&NewRun::new("held", json!(0), 5)).await.unwrap();
    let lease = store.claim(&of("held", "w", 0, 1_000)).await.unwrap().unwrap();
    (disk, lease)
}

async fn does(store: &FileStore, what: &str, lease: &Lease) -> Result<(), StoreError> {
    let run = run_of(what);
    match what {
        "create" => store.create(&NewRun::new(run, json!(0), 9)).await,
        "begin" => {
            let new = NewRun::new(run, json!(0), 9).following("t", None);
            store.create(&new.beginning_with("m")).await
        }
        "supersede" => store.supersede(run, &UserMessage::new("m", "more", 9)).await.map(drop),
        "claim" => store.claim(&of(run, "me", 20, 30)).await.map(drop),
        "claim any" => store.claim(&any("me", 20, 30)).await.map(drop),
        "renew" => store.renew(lease, span(2_000)).await,
        "commit" => store.commit(lease, &parked(run).await[0]).await,
        "post" => {
            let waits =
                store.approvals(&ApprovalQuery::new(ApprovalFilter::Run(run.to_owned()), 1)).await?.remove(0);
            let mut decision = Decision::new("d", waits.suspension.id, DecisionAction::Resume);
            (decision.run_id, decision.call) = (waits.run, waits.call);
            store.post(&decision).await.map(drop)
        }
        "cancel" => store.cancel(run, "why").await.map(drop),
        "release" => store.release(lease, &Release::retry_after(span(5_000), "why")).await,
        "remove" => store.remove(run).await.map(drop),
        other => panic!("{other}"),
    }
}

/// A copy of a disk, and a store on it.
fn forked(disk: &SimDisk) -> (SimDisk, FileStore) {
    let disk = disk.fork();
    let store = on(&disk);
    (disk, store)
}

/// How many operations of the disk it takes.
async fn operations(before: &SimDisk, what: &str, lease: &Lease) -> usize {
    let (disk, store) = forked(before);
    let begun = disk.operations();
    does(&store, what, lease).await.unwrap();
    disk.operations() - begun
}

#[tokio::test]
async fn failed_operation_leaves_the_run_as_it_was() {
    let (before, lease) = filled().await;
    for what in ALL {
        let mut in_doubt = 0;
        for number in 0..operations(&before, what, &lease).await {
            let (disk, store) = forked(&before);
            let folder = store.folder_of(run_of(what));
            let state = || disk.read(&folder.join("state.json"), u64::MAX).ok();
            let was = state();
            disk.fail_at(disk.operations() + number, ErrorKind::StorageFull);
            let done = does(&store, what, &lease).await;
            let place = format!("{what}, {number}: {done:?}");
            match done {
                Ok(()) => assert_ne!(state(), was, "{place}"),
                Err(StoreError::Failed(error)) => {
                    assert_eq!(state(), was, "{place}");
                    assert!(error.to_string().contains("nothing was stored: make room"), "{place}");
                }
                Err(StoreError::Unavailable(error)) => {
                    assert_ne!(state(), was, "{place}");
                    in_doubt += 1;
                    let said = error.to_string();
                    assert!(said.starts_with(&format!("{}: ", folder.display())), "{place}");
                    assert!(said.contains("is in place, and a crash may undo it: make room"), "{place}");
                }
                Err(_) => panic!("{place}"),
            }
        }
        assert_eq!(in_doubt, 1, "{what}: one sync, and no other");
    }
}

/// Who was told that it is not known asks again; that the run is there is not said before it is durable.
#[tokio::test]
async fn a_run_that_is_said_to_be_there_stays_there() {
    let (before, lease) = filled().await;
    let last = operations(&before, "create", &lease).await - 1;
    for fails in [true, false] {
        let (disk, store) = forked(&before);
        disk.fail_at(disk.operations() + last, ErrorKind::Other);
        let refused = does(&store, "create", &lease).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        if fails {
            disk.fail_at(disk.operations(), ErrorKind::Other);
        }
        match does(&store, "create", &lease).await {
            Err(StoreError::Unavailable(_)) => assert!(fails),
            Err(StoreError::Taken { .. }) => assert!(!fails),
            other => panic!("{other:?}"),
        }
        disk.restart(Survives::Nothing);
        assert_eq!(on(&disk).load("another").await.is_ok(), !fails);
    }
}

/// The same of a decision, of a message, and of a wish to cancel.
#[tokio::test]
async fn acknowledged_signal_survives_a_crash() {
    let (before, _) = filled().await;
    let waits =
        on(&before).approvals(&ApprovalQuery::new(ApprovalFilter::Run("r1".to_owned()), 1)).await.unwrap();
    let mut decision = Decision::new("d", &*waits[0].suspension.id, DecisionAction::Resume);
    (decision.run_id, decision.call) = (waits[0].run.clone(), waits[0].call.clone());
    for what in ["post", "cancel", "supersede"] {
        // Says whether it was there already.
        let asks = async |store: &FileStore| match what {
            "post" => store.post(&decision).await.map(|posted| posted == Posted::Duplicate),
            "supersede" => {
                let superseded = store.supersede("r1", &UserMessage::new("m", "more", 9)).await;
                superseded.map(|superseded| superseded == Superseded::Duplicate)
            }
            _ => store.cancel("r1", "why").await.map(|noted| !noted),
        };
        // The sync of the folder is the last that it does.
        let fails = async |disk: &SimDisk| {
            let (tried, store) = forked(disk);
            let begun = tried.operations();
            asks(&store).await.unwrap();
            disk.fail_at(disk.operations() + tried.operations() - begun - 1, ErrorKind::Other);
        };
        for fails_again in [true, false] {
            let (disk, store) = forked(&before);
            fails(&disk).await;
            let first = asks(&store).await;
            assert!(matches!(first, Err(StoreError::Unavailable(_))), "{what}: {first:?}");
            if fails_again {
                fails(&disk).await;
            }
            match asks(&store).await {
                Err(StoreError::Unavailable(_)) => assert!(fails_again, "{what}"),
                Ok(was_there) => assert!(was_there && !fails_again, "{what}"),
                other => panic!("{what}: {other:?}"),
            }
            disk.restart(Survives::Nothing);
            let mail = on(&disk).pending_signals("r1").await.unwrap();
            assert_eq!(
                mail.decisions.len()
                    + usize::from(mail.cancel.is_some())
                    + usize::from(mail.message.is_some())
                    == 1,
                !fails_again,
                "{what}"
            );
        }
    }
}

/// Where that is the matter with one folder, it is told of that run, and the others go on.
#[tokio::test]
async fn one_run_in_doubt_keeps_no_other() {
    let (before, lease) = filled().await;
    on(&before).create(&NewRun::new("next", json!(0), 6)).await.unwrap();
    let last = operations(&before, "claim any", &lease).await - 1;
    let (disk, store) = forked(&before);
    disk.fail_at(disk.operations() + last, ErrorKind::PermissionDenied);
    let claimed = store.claim(&any("me", 20, 30)).await.unwrap().unwrap();
    assert_eq!(claimed.run, "next");
    let told = store.corrupt_entries().await.unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].what.starts_with(&*store.folder_of("new").to_string_lossy()), "{told:?}");
    assert!(told[0].help.starts_with("the change is in place, and a crash may undo it"), "{told:?}");
}
