//! Files that are not as they should be: they are told, with what to do, and left as they are.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex};

use runstate_runtime::files::{Disk, Open, SimDisk};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, FileStore, NewRun, Release, RunData, RunLists, RunQuery, RunQueue,
    StoreError,
};
use serde_json::json;

use super::super::times::{any, at, of, span};
use super::on;
use super::story::{Known, Story};

async fn lived() -> (Story, SimDisk) {
    let (story, disk) = (Story::new().await, SimDisk::new());
    story.live(&on(&disk), &mut Known::default(), false).await.unwrap();
    (story, disk)
}

fn put(disk: &SimDisk, path: &Path, content: &[u8]) {
    disk.open(path, Open::Write).unwrap().write(content).unwrap();
}

fn run_file(disk: &SimDisk, name: &str) -> std::path::PathBuf {
    on(disk).folder_of("r1").join(name)
}

/// Does everything with a run that is damaged, by its name. Gives what was said.
async fn do_everything(story: &Story, store: &FileStore) -> Vec<(&'static str, Result<(), StoreError>)> {
    let claim = of("r1", "w", 1 << 51, 1 << 52);
    let lease = runstate_store::Lease::new("r1", 2);
    let decision = story.commits.iter().flat_map(|commit| &commit.decisions).next().unwrap();
    let mut next = story.commits.last().unwrap().clone();
    next.version += 1;
    vec![
        ("load", store.load("r1").await.map(drop)),
        ("trace", store.trace("r1", 0, 10).await.map(drop)),
        ("mail", store.pending_signals("r1").await.map(drop)),
        ("post", store.post(decision).await.map(drop)),
        ("approvals", {
            let query = ApprovalQuery::new(ApprovalFilter::Run("r1".to_owned()), 10);
            store.approvals(&query).await.map(drop)
        }),
        ("create", store.create(&NewRun::new("r1", json!(0), 0)).await.map(drop)),
        ("commit", store.commit(&lease, &next).await.map(drop)),
        ("renew", store.renew(&lease, span(1 << 53)).await.map(drop)),
        ("release", store.release(&lease, &Release::clean()).await.map(drop)),
        ("cancel", store.cancel("r1", "why").await.map(drop)),
        ("claim", store.claim(&claim).await.map(drop)),
        ("remove", store.remove("r1").await.map(drop)),
    ]
}

#[tokio::test]
async fn a_damaged_state_is_told_and_left_alone() {
    let (story, before) = lived().await;
    let state = run_file(&before, "state.json");
    let whole = before.read(&state, u64::MAX).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let damages = [
        (Vec::new(), "EOF"),
        (b"{".to_vec(), "EOF"),
        (b"not JSON at all".to_vec(), "line 1"),
        (b"[1]".to_vec(), "line 1"),
        (vec![0; 300], "line 1"),
        (whole[..whole.len() / 2].to_vec(), "EOF"),
        (text.replacen("\"version\"", "\"vers\u{ef}on\"", 1).into_bytes(), "unknown field"),
        (
            text.replacen("\"format\": 1", "\"format\": 2", 1).into_bytes(),
            "format 2, and this program knows format 1",
        ),
        (text.replacen("\"id\": \"r1\"", "\"id\": \"r2\"", 1).into_bytes(), "the run \"r2\""),
        (b"\xff\xfe".to_vec(), "line 1"),
    ];
    for (damage, said) in damages {
        let disk = before.fork();
        put(&disk, &state, &damage);
        let files = disk.files();
        for (what, told) in do_everything(&story, &on(&disk)).await {
            match told {
                Err(StoreError::Unusable { what: got, help }) => {
                    assert!(got.contains("state.json") && got.contains(said), "{what}: {got}");
                    assert!(
                        help.contains("backup") || help.contains("version of the program"),
                        "{what}: {help}"
                    );
                }
                other => panic!("{what} with {said:?}: {other:?}"),
            }
        }
        // What is asked of all runs is told of it apart.
        let store = on(&disk);
        let told = store.corrupt_entries().await.unwrap();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].what.contains("state.json") && told[0].what.contains(said), "{told:?}");
        assert_eq!(store.runs(&RunQuery::all(10)).await.unwrap(), []);
        assert_eq!(store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 10)).await.unwrap(), []);
        at(u64::MAX);
        assert_eq!(store.due(10).await.unwrap(), []);
        assert_eq!(store.claim(&any("w", 1 << 51, 1 << 52)).await.unwrap(), None);
        assert_eq!(disk.files(), files, "{said}: nothing was changed");
    }
}

/// The arguments of a call are kept as text, so that a state is read with a number that no value can have.
#[tokio::test]
async fn arguments_that_cannot_be_kept_hide_no_other_run() {
    let disk = SimDisk::new();
    let store = on(&disk);
    super::others::fill(&store).await;
    let state = store.folder_of("r2").join("state.json");
    let text = String::from_utf8(disk.read(&state, u64::MAX).unwrap()).unwrap();
    let spoilt = text.replacen(r#""arguments":{"path":"a"}"#, r#""arguments":{"path":1e999}"#, 1);
    let spoilt = spoilt.replacen(r#""arguments": {"path":"a"}"#, r#""arguments": {"path":1e999}"#, 1);
    assert_ne!(spoilt, text);
    put(&disk, &state, spoilt.as_bytes());
    let store = on(&disk);
    let runs = store.runs(&RunQuery::all(10)).await.unwrap();
    assert!(runs.len() >= 2 && runs.iter().all(|run| run.id != "r2"), "{runs:?}");
    let open = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 10)).await.unwrap();
    assert_eq!(open.iter().map(|open| &*open.run).collect::<Vec<_>>(), ["r1", "r1", "r3", "r3"]);
    at(u64::MAX);
    assert!(store.due(10).await.unwrap().iter().all(|timer| timer.run != "r2"));
    let told = store.corrupt_entries().await.unwrap();
    assert!(told.len() == 1 && told[0].what.contains("number out of range"), "{told:?}");
    let query = ApprovalQuery::new(ApprovalFilter::Run("r2".to_owned()), 10);
    let refused = store.approvals(&query).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unusable { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_damaged_log_is_told_and_left_alone() {
    let (story, before) = lived().await;
    for name in ["messages.jsonl", "calls.jsonl", "decisions.jsonl", "trace.jsonl", "spec.json"] {
        let path = run_file(&before, name);
        let whole = before.read(&path, u64::MAX).unwrap();
        let mut garbled = whole.clone();
        let middle = whole.len() / 2;
        garbled[middle..middle + 4].copy_from_slice(b"\xff{\"\n");
        for (damage, said) in
            [(garbled, name), (whole[..whole.len() - 1].to_vec(), "the last commit left"), (Vec::new(), name)]
        {
            if name == "spec.json" && said != name {
                continue;
            }
            let disk = before.fork();
            put(&disk, &path, &damage);
            let files = disk.files();
            let store = on(&disk);
            let read = match name {
                "trace.jsonl" => store.trace("r1", 0, 10_000).await.map(drop),
                _ => store.load("r1").await.map(drop),
            };
            let Err(StoreError::Unusable { what, help }) = read else { panic!("{name}: {read:?}") };
            assert!(what.contains(name) && what.contains(said), "{what}");
            assert!(help.contains("restore"), "{help}");
            if said == "the last commit left" {
                // A log that lacks what was acknowledged is not written on.
                let mut next = story.commits.iter().rfind(|commit| !commit.trace.is_empty()).unwrap().clone();
                next.version = story.commits.len() as u64 + 1;
                next.calls = story.commits.iter().flat_map(|commit| commit.calls.clone()).collect();
                next.messages = story.commits[0].messages.clone();
                next.decisions = story.commits.iter().flat_map(|commit| commit.decisions.clone()).collect();
                let lease = runstate_store::Lease::new("r1", 2);
                let refused = store.commit(&lease, &next).await;
                assert!(matches!(refused, Err(StoreError::Unusable { .. })), "{name}: {refused:?}");
                assert_eq!(disk.read(&path, u64::MAX).unwrap(), damage, "{name}");
            } else {
                assert_eq!(disk.files(), files, "{name}: nothing was changed");
            }
        }
    }
}

/// What a crash left behind the last commit counts for nothing, and the next commit takes it away and says so.
#[tokio::test]
async fn a_torn_last_line_is_cut_and_reported() {
    let (story, disk) = (Story::new().await, SimDisk::new());
    let store = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    let (last, first) = story.commits.split_last().unwrap();
    for commit in first {
        store.commit(&lease, commit).await.unwrap();
    }
    for (name, torn) in [("messages.jsonl", &b"{\"seq\":99,\"ro"[..]), ("trace.jsonl", b"{\"seq\":7}\n{")] {
        disk.open(&run_file(&disk, name), Open::Append).unwrap().write(torn).unwrap();
    }
    let loaded = store.load("r1").await.unwrap();
    assert_eq!(loaded.stored.as_ref(), story.stored.iter().rev().nth(1));
    assert_eq!(store.repairs(), [""; 0]);
    let mut last = last.clone();
    last.messages = vec![story.commits[0].messages[0].clone()];
    last.messages[0].seq = loaded.messages + 1;
    store.commit(&lease, &last).await.unwrap();
    let repairs = store.repairs();
    assert_eq!(repairs.len(), 2, "{repairs:?}");
    assert!(repairs[0].ends_with("messages.jsonl: 13 bytes that no commit had were cut off"), "{repairs:?}");
    assert!(repairs[1].ends_with("trace.jsonl: 11 bytes that no commit had were cut off"), "{repairs:?}");
    assert_eq!(store.repairs(), [""; 0], "told once");
    assert_eq!(store.trace("r1", 0, 10_000).await.unwrap(), story.trace);
}

#[test]
fn foreign_folder_or_newer_store_is_left_alone() {
    let cases: [(&str, &[u8], &str, &str); 6] = [
        ("/store/notes.txt", b"mine", "it is not empty", "empty or not there"),
        ("/store/store.json", b"{}", "missing field", "name another folder"),
        ("/store/store.json", b"", "EOF", "name another folder"),
        ("/store/store.json", b"{\"store\":\"a shop\",\"format\":1}", "a shop", "name another folder"),
        (
            "/store/store.json",
            b"{\"store\":\"runstate file store\",\"format\":2}",
            "format 2",
            "use the version of the program that made it",
        ),
        ("/store/store.json", b"\xff", "line 1", "name another folder"),
    ];
    for (path, content, said, help) in cases {
        let disk = SimDisk::new();
        disk.create_folder(Path::new("/store")).unwrap();
        put(&disk, Path::new(path), content);
        let opened = FileStore::on(Arc::new(disk.clone()), "/store");
        let Err(StoreError::Unusable { what, help: got }) = opened else { panic!("{said}: {opened:?}") };
        assert!(what.contains(said) && got.contains(help), "{what}; {got}");
        assert_eq!(disk.read(Path::new(path), 1_000).unwrap(), content);
        assert!(disk.files().len() <= 2, "{:?}", disk.files());
    }
    // A file where a folder should be.
    let disk = SimDisk::new();
    put(&disk, Path::new("/store"), b"mine");
    let opened = FileStore::on(Arc::new(disk.clone()), "/store");
    assert!(matches!(opened, Err(StoreError::Failed(_))), "{opened:?}");
    assert_eq!(disk.files(), [("/store".to_owned(), b"mine".to_vec())]);
}

/// Lines that are in the state, on their way into the logs, are part of the run: they are there after the handle is gone, and
/// are moved into the logs, at the latest when the run is given back.
#[tokio::test]
async fn lines_on_their_way_into_the_logs_count() {
    let (story, disk) = (Story::long().await, SimDisk::new());
    let store = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    let trace_in_the_log = || {
        let log = disk.read(&run_file(&disk, "trace.jsonl"), u64::MAX).unwrap();
        std::str::from_utf8(&log).unwrap().lines().count()
    };
    let (mut behind, mut moved) = (0, 0);
    for (commit, stored) in story.commits.iter().zip(&story.stored) {
        let before = trace_in_the_log();
        store.commit(&lease, commit).await.unwrap();
        let there = on(&disk);
        assert_eq!(there.load("r1").await.unwrap().stored.as_ref(), Some(stored));
        let trace = there.trace("r1", 0, 10_000).await.unwrap();
        assert_eq!(
            trace.last(),
            story.commits[..usize::try_from(commit.version).unwrap()]
                .iter()
                .rev()
                .find_map(|commit| commit.trace.last())
        );
        let rests = commit.run.status != runstate::run::RunStatus::Running;
        assert!(!rests || trace_in_the_log() == trace.len(), "at rest all is in the logs");
        behind += usize::from(trace_in_the_log() < trace.len());
        moved += usize::from(!rests && trace_in_the_log() > before);
    }
    assert!(
        behind > 2 && moved > 0,
        "{behind} commits left lines in the state, {moved} moved them on the way"
    );
}

#[tokio::test]
async fn a_run_that_is_given_back_has_all_its_lines_in_the_logs() {
    let (story, disk) = (Story::new().await, SimDisk::new());
    let store = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    store.commit(&lease, &story.commits[0]).await.unwrap();
    let log = run_file(&disk, "trace.jsonl");
    assert_eq!(disk.read(&log, u64::MAX).unwrap(), b"");
    // What a crash left there goes away with that.
    disk.open(&log, Open::Append).unwrap().write(b"{\"seq\"").unwrap();
    store.release(&lease, &Release::clean()).await.unwrap();
    let lines = disk.read(&log, u64::MAX).unwrap();
    let expected: String = story.commits[0].trace.iter().map(|row| format!("{}\n", row.json)).collect();
    assert_eq!(std::str::from_utf8(&lines).unwrap(), expected);
    assert!(store.repairs()[0].ends_with("trace.jsonl: 6 bytes that no commit had were cut off"));
}

/// Who is to be told is told when it is done, also where what comes behind it fails.
#[tokio::test]
async fn a_repair_is_told_when_it_is_made() {
    let (story, before) = (Story::new().await, SimDisk::new());
    let store = on(&before);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    store.commit(&lease, &story.commits[0]).await.unwrap();
    let log = run_file(&before, "trace.jsonl");
    before.open(&log, Open::Append).unwrap().write(b"torn").unwrap();
    let whole = before.fork();
    on(&whole).release(&lease, &Release::clean()).await.unwrap();
    let (mut cut, mut failed) = (0, 0);
    for number in before.operations()..=whole.operations() {
        let (disk, told) = (before.fork(), Arc::<Mutex<Vec<String>>>::default());
        let tell = Arc::clone(&told);
        let store = on(&disk).on_repair(move |repair| tell.lock().unwrap().push(repair.to_owned()));
        disk.fail_at(number + disk.operations() - before.operations(), ErrorKind::StorageFull);
        let is_done = store.release(&lease, &Release::clean()).await.is_ok();
        let told = told.lock().unwrap().clone();
        if disk.read(&log, u64::MAX).unwrap().starts_with(b"torn") {
            assert_eq!(told, [""; 0], "{number}");
        } else {
            assert_eq!(told.len(), 1, "{number}: {told:?}");
            assert!(told[0].ends_with("trace.jsonl: 4 bytes that no commit had were cut off"), "{told:?}");
            cut += 1;
            failed += usize::from(!is_done);
        }
        assert_eq!(store.repairs(), [""; 0]);
    }
    assert!(cut > failed && failed > 1, "{failed} of {cut} failed");
}

/// One whose log cannot be read or written is given back as well: its worker says why it is put off, and nobody claims it again
/// and again.
#[tokio::test]
async fn a_run_with_a_log_that_the_system_refuses_can_be_given_back() {
    let (story, disk) = (Story::new().await, SimDisk::new());
    let store = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    store.commit(&lease, &story.commits[0]).await.unwrap();
    let log = run_file(&disk, "messages.jsonl");
    disk.remove(&log).unwrap();
    disk.create_folder(&log).unwrap();
    store.release(&lease, &Release::retry_after(span(7), "it cannot be read")).await.unwrap();
    let info = store.runs(&RunQuery::all(1)).await.unwrap().remove(0);
    assert_eq!(
        (info.problem.as_deref(), info.not_before, info.holder),
        (Some("it cannot be read"), Some(span(7)), None)
    );
    disk.remove_folder(&log).unwrap();
    assert_eq!(store.load("r1").await.unwrap().stored.as_ref(), Some(&story.stored[0]));
    let lease = store.claim(&of("r1", "w", 7, 10)).await.unwrap().unwrap();
    store.release(&lease, &Release::clean()).await.unwrap();
    assert_eq!(store.load("r1").await.unwrap().stored.as_ref(), Some(&story.stored[0]));

    // What is the matter with the whole disk is told: nothing can be noted there.
    let lease = store.claim(&of("r1", "w", 10, 20)).await.unwrap().unwrap();
    store.commit(&lease, &story.commits[1]).await.unwrap();
    disk.fail_at(disk.operations(), ErrorKind::StorageFull);
    let refused = store.release(&lease, &Release::clean()).await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
}

/// One whose log is damaged is given back all the same, so that lists can say what is wrong with it; nothing is lost of it.
#[tokio::test]
async fn a_run_with_a_damaged_log_can_be_given_back() {
    let (story, disk) = (Story::long().await, SimDisk::new());
    let store = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    let log = run_file(&disk, "trace.jsonl");
    let length = || disk.read(&log, u64::MAX).unwrap().len();
    let mut commits = story.commits.iter();
    while length() == 0 {
        store.commit(&lease, commits.next().unwrap()).await.unwrap();
    }
    store.commit(&lease, commits.next().unwrap()).await.unwrap();
    let whole = disk.read(&log, u64::MAX).unwrap();
    put(&disk, &log, &whole[..whole.len() - 5]);
    store.release(&lease, &Release::retry_after(span(7), "it is damaged")).await.unwrap();
    let info = store.runs(&RunQuery::all(1)).await.unwrap().remove(0);
    assert_eq!(
        (info.problem.as_deref(), info.not_before, info.holder),
        (Some("it is damaged"), Some(span(7)), None)
    );
    put(&disk, &log, &whole);
    let made = usize::try_from(info.version).unwrap();
    assert_eq!(store.load("r1").await.unwrap().stored.as_ref(), Some(&story.stored[made - 1]));
    let trace = store.trace("r1", 0, 10_000).await.unwrap();
    assert!(trace.iter().eq(story.commits[..made].iter().flat_map(|commit| &commit.trace)));
}

/// A line that another program wrote takes no event away that a commit has stored, and stands in the place of one.
#[tokio::test]
async fn a_forged_line_hides_no_event_before_it() {
    let (_, before) = lived().await;
    let whole = on(&before).events("r1", 0, usize::MAX).await.unwrap();
    let path = run_file(&before, "events.jsonl");
    let text = String::from_utf8(before.read(&path, u64::MAX).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 9 && lines.len() == whole.len());
    for at in [1, 5, lines.len() - 1] {
        for forged in [r#"{"seq":1,"last":1}"#, r#"{"seq":1}"#] {
            let disk = before.fork();
            let mut forged_lines = lines.clone();
            let forged = format!("{forged:width$}", width = lines[at].len());
            forged_lines[at] = &forged;
            put(&disk, &path, (forged_lines.join("\n") + "\n").as_bytes());
            let mut expected = whole.clone();
            expected[at].json = forged.clone();
            // It stands for one event, also where that was for several.
            expected[at].last = expected[at].seq;
            let found = on(&disk).events("r1", 0, usize::MAX).await.unwrap();
            assert_eq!(found, expected, "line {at}: {forged}");
        }
    }
}

/// The events of a second try take the place of those of the first, whatever another program writes behind them.
#[tokio::test]
async fn events_of_a_second_try_stay_replaced() {
    let played = runstate_store_conformance::Played::new("r1", &[]).await;
    let disk = SimDisk::new();
    let store = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 1, 1 << 51)).await.unwrap().unwrap();
    let mut expected = Vec::new();
    for commit in played.commits() {
        store.commit(&lease, commit).await.unwrap();
        let mut again = commit.clone();
        again.again = true;
        for event in &mut again.events {
            event.json = event.json.replace("\"at_ms\":", "\"at_ms\":1");
        }
        store.commit(&lease, &again).await.unwrap();
        expected.extend(again.events);
        assert_eq!(store.events("r1", 0, usize::MAX).await.unwrap(), expected);
    }
    assert!(played.commits().count() > 1);
}
