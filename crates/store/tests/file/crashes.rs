//! A crash at every operation of the disk: the store opens, what was acknowledged is there, and the run can be gone on with.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use runstate_runtime::files::{Crash, SimDisk, Survives};
use runstate_store::{FileStore, NewRun, RunData, RunLists, StoreError};

use super::on;
use super::story::{Known, Story};
use crate::times::clock;

/// The store on that disk, by the clock of the test.
fn opened(disk: &SimDisk) -> Result<FileStore, StoreError> {
    FileStore::on(Arc::new(disk.clone()), Path::new("/store")).map(|store| store.with_clock(clock()))
}

/// The survivals to try at the operation of that number: three of eight, in turn. With `STORE_SEEDS` in the environment it is all
/// of them at each, and as many with a coin; with 4 that is all eight, which takes some 40 seconds of computing.
fn survivals(number: usize) -> Vec<Survives> {
    let seeds = std::env::var("STORE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let all: Vec<Survives> = Survives::cases(seeds.unwrap_or(4)).collect();
    match seeds {
        Some(_) => all,
        None => [number, number * 3 + 1, number * 5 + 2].map(|turn| all[turn % all.len()]).into(),
    }
}

#[derive(Default)]
struct Told {
    repairs: usize,
    made_untold: usize,
    lost_untold: usize,
}

#[tokio::test]
async fn wherever_a_crash_comes_what_was_acknowledged_is_there() {
    let story = Story::long().await;
    let whole = SimDisk::new();
    story.live(&on(&whole), &mut Known::default(), false).await.unwrap();
    let operations = whole.operations();
    assert!(operations > 140, "{operations}");
    let mut told = Told::default();
    for number in 0..operations {
        for (place, survives) in survivals(number).into_iter().enumerate() {
            let crash = if place % 2 == 0 { Crash::Before(number) } else { Crash::After(number) };
            crash_at(&story, crash, survives, &mut told).await;
        }
    }
    // Each kind of thing that can come of a crash was seen.
    assert!(told.repairs > 5, "logs were cut {} times", told.repairs);
    assert!(
        told.made_untold > 5 && told.lost_untold > 5,
        "{} made, {} lost",
        told.made_untold,
        told.lost_untold
    );
}

async fn crash_at(story: &Story, crash: Crash, survives: Survives, told: &mut Told) {
    let what = format!("{crash:?}, {survives:?}");
    let disk = SimDisk::new();
    disk.crash_at(crash);
    let mut known = Known::default();
    if let Ok(store) = opened(&disk) {
        let cut_off = story.live(&store, &mut known, false).await;
        assert!(
            matches!(cut_off, Err(StoreError::Failed(_) | StoreError::Unavailable(_))),
            "{what}: {cut_off:?}"
        );
    }
    assert!(disk.is_crashed(), "{what}");
    disk.restart(survives);

    let store = on(&disk);
    println!("{what}: {known:?}");
    story.judge(&store, &known).await;
    if let Ok(loaded) = store.load("r1").await {
        let made = loaded.info.version > known.version;
        told.made_untold += usize::from(made);
        told.lost_untold += usize::from(!made);
    }
    story.live(&store, &mut known, true).await.unwrap();
    story.judge(&store, &known).await;
    assert_eq!(known.version, story.commits.len() as u64, "{what}: the run came to its end");
    told.repairs += store.repairs().len();
    assert_logs_are_whole(&disk, story);

    assert!(store.remove("r1").await.unwrap());
    assert!(disk.files().iter().all(|(path, _)| !path.contains("/runs/")), "{what}: {:?}", disk.files());
}

/// What a person reads is what the store reads: whole lines, and no events but those of the run.
fn assert_logs_are_whole(disk: &SimDisk, story: &Story) {
    for (path, content) in disk.files().iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        assert!(content.is_empty() || content.ends_with(b"\n"), "{path}");
        if path.ends_with("trace.jsonl") {
            let lines = std::str::from_utf8(content).unwrap().lines();
            assert!(lines.eq(story.trace.iter().map(|row| &*row.json)), "{path}");
        }
    }
}

#[tokio::test]
async fn crash_during_removal_leaves_the_run_whole_or_removed() {
    let story = Story::long().await;
    let before = SimDisk::new();
    let mut known = Known::default();
    story.live(&on(&before), &mut known, false).await.unwrap();
    let whole = before.fork();
    on(&whole).remove("r1").await.unwrap();
    let (mut there, mut gone, mut cleared) = (0, 0, 0);
    for number in before.operations()..=whole.operations() {
        for survives in Survives::cases(3) {
            let what = format!("{number}, {survives:?}");
            let disk = before.fork();
            disk.crash_at(Crash::Before(number));
            let store = opened(&disk);
            let removed = match &store {
                Ok(store) => store.remove("r1").await.is_ok(),
                Err(_) => false,
            };
            disk.restart(survives);
            let store = on(&disk);
            known.is_removed = store.load("r1").await.is_err();
            if known.is_removed {
                gone += 1
            } else {
                there += 1
            }
            assert!(!removed || known.is_removed, "what was said to be gone is gone: {what}");
            story.judge(&store, &known).await;
            cleared += usize::from(known.is_removed && !of_runs(&disk).is_empty());
            assert_eq!(store.corrupt_entries().await.unwrap(), [], "{what}");
            assert!(!known.is_removed || of_runs(&disk).is_empty(), "{what}: {:?}", of_runs(&disk));
            store.remove("r1").await.unwrap();
            assert_eq!(of_runs(&disk), [""; 0], "{what}");
            // Its id is given, whenever the crash came.
            let again = on(&disk).create(&NewRun::new("r1", serde_json::Value::Null, 5)).await;
            assert!(matches!(again, Err(StoreError::Taken { .. })), "{what}: {again:?}");
        }
    }
    assert!(there > 3 && gone > 3 && cleared > 3, "{there} there, {gone} gone, {cleared} of them in part");
}

/// The paths of all files of runs.
fn of_runs(disk: &SimDisk) -> Vec<String> {
    disk.files().into_iter().map(|(path, _)| path).filter(|path| path.contains("/runs/")).collect()
}

/// Who removed it was killed, or could not make that durable: what finishes the removal takes no row before that is.
#[tokio::test]
async fn a_removal_that_was_not_durable_is_finished_whole() {
    let story = Story::long().await;
    let lived = SimDisk::new();
    let mut known = Known::default();
    story.live(&on(&lived), &mut known, false).await.unwrap();
    // The sync that comes right behind the renaming of the state fails.
    let mut number = 0;
    let begun = loop {
        let disk = lived.fork();
        let store = on(&disk);
        disk.fail_at(disk.operations() + number, ErrorKind::Other);
        let removed = store.remove("r1").await;
        if let Err(StoreError::Unavailable(_)) = removed {
            break disk;
        }
        assert!(removed.is_err(), "{number}");
        number += 1;
    };
    assert_eq!(of_runs(&begun).len(), 7);
    assert!(of_runs(&begun).iter().any(|path| path.ends_with("state.json.removed")), "{:?}", of_runs(&begun));
    let whole = begun.fork();
    assert_eq!(on(&whole).corrupt_entries().await.unwrap(), []);
    assert_eq!(of_runs(&whole), [""; 0]);
    let (mut there, mut gone) = (0, 0);
    for number in begun.operations()..=whole.operations() {
        for survives in Survives::cases(9) {
            let disk = begun.fork();
            disk.crash_at(Crash::Before(number));
            if let Ok(store) = opened(&disk) {
                store.corrupt_entries().await.ok();
            }
            disk.restart(survives);
            let store = on(&disk);
            assert_eq!(store.corrupt_entries().await.unwrap(), [], "{number}, {survives:?}");
            known.is_removed = store.load("r1").await.is_err();
            if known.is_removed {
                gone += 1
            } else {
                there += 1
            }
            story.judge(&store, &known).await;
        }
    }
    assert!(there > 3 && gone > 3, "{there} there, {gone} gone");
}

/// A full disk is no crash: the error says so, and what was asked for is done once there is room.
#[tokio::test]
async fn a_disk_that_is_full_is_told_and_loses_nothing() {
    let story = Story::long().await;
    let whole = SimDisk::new();
    story.live(&on(&whole), &mut Known::default(), false).await.unwrap();
    let kinds = [
        (ErrorKind::StorageFull, "make room"),
        (ErrorKind::PermissionDenied, "let this process write there"),
    ];
    for number in 0..whole.operations() {
        let (kind, help) = kinds[number % 2];
        let disk = SimDisk::new();
        disk.fail_at(number, kind);
        let mut known = Known::default();
        let Ok(store) = opened(&disk) else {
            story.live(&on(&disk), &mut known, false).await.unwrap();
            continue;
        };
        let refused = story.live(&store, &mut known, false).await;
        let Err(StoreError::Failed(error) | StoreError::Unavailable(error)) = refused else {
            panic!("{number}: {refused:?}")
        };
        assert!(error.to_string().contains(help), "{number}: {error}");
        story.judge(&store, &known).await;
        // The same handle goes on.
        story.live(&store, &mut known, true).await.unwrap();
        story.judge(&store, &known).await;
        assert_logs_are_whole(&disk, &story);
    }
}
