use std::io::{self, ErrorKind};
use std::path::Path;

use runstate_runtime::files::{Crash, Disk, Open, SimDisk, Survives, append, move_to, replace};

/// Runs `work` once for each place where a crash can come, and each survival, and gives what is there afterwards.
fn crashed(
    before: &SimDisk,
    work: impl Fn(&SimDisk) -> io::Result<()>,
    mut judge: impl FnMut(&SimDisk, Option<Crash>, Survives),
) -> usize {
    let whole = before.fork();
    let first = whole.operations();
    work(&whole).unwrap();
    let last = whole.operations();
    let places = (first..last).flat_map(|number| [Crash::Before(number), Crash::After(number)]);
    for place in places.map(Some).chain([None]) {
        for survives in Survives::cases(8) {
            let disk = before.fork();
            if let Some(place) = place {
                disk.crash_at(place);
            }
            assert_eq!(work(&disk).is_err(), place.is_some(), "{place:?}");
            assert_eq!(disk.is_crashed(), place.is_some());
            disk.restart(survives);
            judge(&disk, place, survives);
        }
    }
    last - first
}

const STATE: &str = "/state.json";

fn with_state() -> SimDisk {
    let disk = SimDisk::new();
    replace(&disk, Path::new(STATE), b"the old state").unwrap();
    disk
}

fn state(disk: &SimDisk) -> Vec<u8> {
    disk.read(Path::new(STATE), 100).unwrap()
}

#[test]
fn a_replaced_file_is_old_or_new_wherever_the_crash_comes() {
    let (mut old, mut new) = (0, 0);
    let places = crashed(
        &with_state(),
        |disk| replace(disk, Path::new(STATE), b"new"),
        |disk, place, survives| {
            match state(disk).as_slice() {
                b"the old state" => old += 1,
                b"new" => new += 1,
                other => panic!("{place:?}, {survives:?}: {:?}", String::from_utf8_lossy(other)),
            }
            assert!(place.is_some() || state(disk) == b"new", "it returned, so it is durable");
        },
    );
    assert_eq!(places, 5, "made, written, synced, renamed, folder synced");
    assert!(old > 20 && new > 20, "{old} old, {new} new");
}

/// What the simulation is for: the usual mistakes do not survive it.
#[test]
fn a_replacement_that_saves_a_sync_is_found_out() {
    let careless = |content_synced: bool, folder_synced: bool| {
        let mut lost = 0;
        let work = move |disk: &SimDisk| {
            let beside = Path::new("/state.json.new");
            let mut file = disk.open(beside, Open::Write)?;
            file.write(b"new")?;
            if content_synced {
                file.sync()?;
            }
            disk.rename(beside, Path::new(STATE))?;
            if folder_synced { disk.sync_folder(Path::new("/")) } else { Ok(()) }
        };
        crashed(&with_state(), work, |disk, place, _| {
            let whole = matches!(state(disk).as_slice(), b"the old state" | b"new");
            lost += usize::from(!whole || place.is_none() && state(disk) != b"new");
        });
        lost
    };
    assert_eq!(careless(true, true), 0);
    assert!(careless(false, true) > 0, "an empty or torn file under the name");
    assert!(careless(true, false) > 0, "the old file, although the new one was promised");
}

#[test]
fn a_file_that_moves_is_never_in_neither_place() {
    let disk = SimDisk::new();
    for folder in ["/PENDING", "/APPROVED"] {
        disk.create_folder(Path::new(folder)).unwrap();
    }
    let (from, to) = (Path::new("/PENDING/a"), Path::new("/APPROVED/a"));
    replace(&disk, from, b"pending").unwrap();
    let mut both = 0;
    crashed(
        &disk,
        |disk| move_to(disk, from, to, b"approved"),
        |disk, place, survives| {
            let (old, new) = (disk.read(from, 100).ok(), disk.read(to, 100).ok());
            assert!(old.is_none() || old.as_deref() == Some(b"pending"), "{place:?}, {survives:?}");
            assert!(new.is_none() || new.as_deref() == Some(b"approved"), "{place:?}, {survives:?}");
            assert!(old.is_some() || new.is_some(), "{place:?}, {survives:?}: the file is gone");
            both += usize::from(old.is_some() && new.is_some());
            assert!(place.is_some() || old.is_none() && new.is_some(), "it returned, so it is durable");
        },
    );
    assert!(both > 0, "the moment between is among the cases");
}

#[test]
fn lines_that_were_synced_stay_and_the_last_may_be_torn() {
    let disk = SimDisk::new();
    let path = Path::new("/log");
    append(disk.open(path, Open::Append).unwrap().as_mut(), b"one\n").unwrap();
    disk.sync_folder(Path::new("/")).unwrap();
    let mut torn = 0;
    crashed(
        &disk,
        |disk| append(disk.open(path, Open::Append)?.as_mut(), b"two, a longer one\n"),
        |disk, _, _| {
            let content = disk.read(path, 100).unwrap();
            assert!(content.starts_with(b"one\n") && b"one\ntwo, a longer one\n".starts_with(&content));
            torn += usize::from(!content.ends_with(b"\n"));
        },
    );
    assert!(torn > 0);
}

#[test]
fn a_later_rename_may_survive_without_an_earlier_one() {
    let disk = SimDisk::new();
    let root = Path::new("/");
    for name in ["/a.new", "/b.new"] {
        append(disk.open(Path::new(name), Open::New).unwrap().as_mut(), b"content").unwrap();
    }
    disk.sync_folder(root).unwrap();
    disk.rename(Path::new("/a.new"), Path::new("/a")).unwrap();
    disk.rename(Path::new("/b.new"), Path::new("/b")).unwrap();
    let seen: std::collections::BTreeSet<Vec<String>> = (0..64)
        .map(|seed| {
            let disk = disk.fork();
            disk.restart(Survives::Some(seed));
            disk.list(root).unwrap()
        })
        .collect();
    let all: Vec<Vec<&str>> =
        vec![vec!["a", "b"], vec!["a", "b.new"], vec!["a.new", "b"], vec!["a.new", "b.new"]];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn a_crash_closes_files_and_releases_locks() {
    let disk = SimDisk::new();
    let path = Path::new("/lock");
    let mut held = disk.open(path, Open::Append).unwrap();
    held.lock().unwrap();
    let next = disk.operations();
    disk.crash_at(Crash::Before(next));
    assert!(disk.sync_folder(Path::new("/")).is_err());
    assert!(disk.list(Path::new("/")).is_err(), "nothing works until the machine starts again");
    disk.restart(Survives::Everything);
    assert!(held.write(b"late").is_err() && held.len().is_err(), "it was opened before");
    let mut taken = disk.open(path, Open::Append).unwrap();
    taken.try_lock().unwrap();
    drop(held);
    let mut third = disk.open(path, Open::Append).unwrap();
    assert_eq!(
        third.try_lock().unwrap_err().kind(),
        ErrorKind::WouldBlock,
        "the old holder releases nothing"
    );
}

#[test]
fn a_lock_is_waited_for() {
    let disk = SimDisk::new();
    let path = Path::new("/lock");
    let mut held = disk.open(path, Open::Append).unwrap();
    held.lock().unwrap();
    let waiting = {
        let disk = disk.clone();
        std::thread::spawn(move || {
            let mut file = disk.open(path, Open::Append).unwrap();
            file.lock().unwrap();
            file.write(b"second").unwrap();
        })
    };
    held.write(b"first,").unwrap();
    drop(held);
    waiting.join().unwrap();
    assert_eq!(disk.read(path, 100).unwrap(), b"first,second");
}

#[test]
fn an_operation_that_fails_changes_nothing_and_the_next_goes_on() {
    let disk = with_state();
    // Full when the new content is written.
    disk.fail_at(disk.operations() + 1, ErrorKind::StorageFull);
    let error = replace(&disk, Path::new(STATE), b"new").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(disk.files(), [(STATE.to_owned(), b"the old state".to_vec())], "nothing is left beside");
    replace(&disk, Path::new(STATE), b"new").unwrap();
    assert_eq!(state(&disk), b"new");
}
