//! Runs in files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::{
    FileCommitter, FileError, Input, Outcome, RunFile, RunHandles, RunState, read_run, run_loop,
};

use super::keyed_files::keys;
use super::parts::{World, history, statuses};
use super::polls::dropped_after;

/// A folder that is gone with the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("runstate-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    pub fn run(&self) -> PathBuf {
        self.0.join("r1.jsonl")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

pub async fn drive(
    world: &mut World,
    state: &mut RunState,
    file: &mut FileCommitter,
    input: Input,
) -> Outcome {
    let agent = world.agent();
    let io = RunHandles::new().inbox(&mut world.inbox).committer(file).watch(&world.recorder);
    run_loop(&agent, state, input, io).await.unwrap()
}

/// A run that waits, in the file of the folder.
async fn waiting(folder: &Folder) -> (World, RunState) {
    waiting_in(folder.run().into()).await
}

/// A run that waits, in that file.
pub async fn waiting_in(at: RunFile) -> (World, RunState) {
    let mut world = World::new(&[&[("a", "write"), ("b", "note")]]);
    let mut state = world.state();
    let mut file = FileCommitter::create(at).unwrap();
    let outcome = drive(&mut world, &mut state, &mut file, Input::message("tidy up")).await;
    assert_eq!(outcome.waiting, ["a"]);
    (world, state)
}

#[tokio::test]
async fn a_run_goes_on_from_its_file() {
    let folder = Folder::new();
    let (mut world, before) = waiting(&folder).await;
    let lines = fs::read(folder.run()).unwrap().iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines as u64, before.commits(), "a line a commit");
    let (mut file, stored) = FileCommitter::open(folder.run()).unwrap();
    assert_eq!((stored.status(), stored.version()), ("Waiting", before.commits()));
    assert_eq!(stored.suspended().keys().collect::<Vec<_>>(), ["a"]);
    let mut state = stored.restore().unwrap();
    state.watch(&world.recorder);
    assert_eq!((history(&state), statuses(&state)), (history(&before), statuses(&before)));

    world.inbox.put(runstate_agent::Incoming::new("d1", "a", Resume));
    let outcome = drive(&mut world, &mut state, &mut file, Input::Resume).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!((world.executions("a"), world.executions("b")), (1, 1));
    drop(file);
    let restored = read_run(folder.run()).unwrap().restore().unwrap();
    assert_eq!(restored.run().status(), RunStatus::Done);
    assert_eq!((history(&restored), statuses(&restored)), (history(&state), statuses(&state)));
    world.assert_conforms();
}

#[tokio::test]
async fn a_file_that_is_there_is_not_taken_for_a_new_run() {
    let folder = Folder::new();
    fs::write(folder.run(), "precious").unwrap();
    let error = FileCommitter::create(folder.run()).unwrap_err();
    assert!(matches!(error, FileError::Io { .. }) && error.to_string().contains("r1.jsonl: "), "{error}");
    assert_eq!(fs::read_to_string(folder.run()).unwrap(), "precious");
}

#[tokio::test]
async fn a_file_that_cannot_be_opened_says_which() {
    let folder = Folder::new();
    for error in [
        FileCommitter::open(folder.run()).unwrap_err(),
        read_run(folder.run()).unwrap_err(),
        FileCommitter::create(folder.0.join("no such folder/r1.jsonl")).unwrap_err(),
        // A folder is no file.
        FileCommitter::open(&folder.0).unwrap_err(),
    ] {
        assert!(matches!(error, FileError::Io { .. }), "{error}");
        assert!(error.to_string().starts_with(&folder.0.display().to_string()), "{error}");
    }
    fs::write(folder.run(), "").unwrap();
    let error = read_run(folder.run()).unwrap_err().to_string();
    assert!(error.ends_with("r1.jsonl, line 1: nothing was committed"), "{error}");
}

#[tokio::test]
async fn a_last_line_that_was_cut_off_is_removed_and_the_run_goes_on() {
    let folder = Folder::new();
    let (_, before) = waiting(&folder).await;
    let whole = fs::read(folder.run()).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in (last..whole.len()).step_by(11).chain([last, last + 1, whole.len() - 1]) {
        fs::write(folder.run(), &whole[..cut]).unwrap();
        assert_eq!(
            read_run(folder.run()).unwrap().version(),
            before.commits() - 1,
            "to read changes nothing"
        );
        assert_eq!(fs::read(folder.run()).unwrap(), whole[..cut]);
        let (file, stored) = FileCommitter::open(folder.run()).unwrap();
        assert_eq!((stored.version(), file.cut_off()), (before.commits() - 1, cut - last));
        drop(file);
        assert_eq!(fs::read(folder.run()).unwrap(), whole[..last], "cut at {cut}");
    }
    // And a run that was cut so goes on.
    let (mut file, stored) = FileCommitter::open(folder.run()).unwrap();
    let (mut world, mut state) = (World::new(&[&[("a", "write"), ("b", "note")]]), stored.restore().unwrap());
    assert_eq!(drive(&mut world, &mut state, &mut file, Input::Resume).await.waiting, ["a"]);
    drop(file);
    assert_eq!(read_run(folder.run()).unwrap().status(), "Waiting");
}

#[tokio::test]
async fn damaged_complete_last_line_is_refused_and_not_removed() {
    let folder = Folder::new();
    waiting(&folder).await;
    let whole = fs::read(folder.run()).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // In its digest, behind it, anywhere in its content, and at its very end.
    for at in
        (last..whole.len()).step_by(13).chain([last, last + 64, last + 65, whole.len() - 2, whole.len() - 1])
    {
        let mut bytes = whole.clone();
        bytes[at] ^= 0b0000_0100;
        fs::write(folder.run(), &bytes).unwrap();
        for error in [FileCommitter::open(folder.run()).unwrap_err(), read_run(folder.run()).unwrap_err()] {
            let error = error.to_string();
            assert!(
                error.contains("r1.jsonl, line ") && error.contains("a commit that was made"),
                "{at}: {error}"
            );
        }
        assert_eq!(fs::read(folder.run()).unwrap(), bytes, "nothing is removed");
    }
    // What a person removes by hand is gone, and the run goes on from the commit before.
    fs::write(folder.run(), &whole[..last]).unwrap();
    let (file, _) = FileCommitter::open(folder.run()).unwrap();
    assert_eq!(file.cut_off(), 0);
}

#[tokio::test]
async fn damaged_line_is_refused_by_number_and_nothing_is_removed() {
    let folder = Folder::new();
    waiting(&folder).await;
    let whole = fs::read_to_string(folder.run()).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let join = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let own = || lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    for damaged in 0..lines.len() - 1 {
        let number = damaged + 1;
        let mut flipped = own();
        flipped[damaged] = flipped[damaged].replacen("version", "verzion", 1);
        let mut short = own();
        short[damaged].truncate(20);
        let mut gone = own();
        gone.remove(damaged);
        let mut twice = own();
        let line = twice[damaged].clone();
        twice.insert(damaged, line);
        for (lines, at, said) in [
            (flipped, number, "does not fit its content"),
            (short, number, "this is no bundle: it has no checksum"),
            // The first line tells the graphs of all.
            (gone, number, if damaged == 0 { "that bundle is missing" } else { "where commit" }),
            (twice, number + 1, "where commit"),
        ] {
            let bytes = join(&lines);
            fs::write(folder.run(), &bytes).unwrap();
            for error in [FileCommitter::open(folder.run()).unwrap_err(), read_run(folder.run()).unwrap_err()]
            {
                let error = error.to_string();
                assert!(error.contains(&format!("r1.jsonl, line {at}: ")) && error.contains(said), "{error}");
            }
            assert_eq!(fs::read_to_string(folder.run()).unwrap(), bytes, "nothing is removed");
        }
    }
}

#[tokio::test]
async fn a_loop_that_is_dropped_in_a_commit_goes_on_with_its_file() {
    // A disk is slow, and the loop is dropped while it writes: the line is written all the same.
    for (polls, key) in (1..40).flat_map(|polls| [(polls, None), (polls, Some(keys("k1")))]) {
        let folder = Folder::new();
        let at = RunFile::from(folder.run());
        let at = key.map_or(at.clone(), |key| at.keyed(key));
        let mut world = World::new(&[&[("a", "note"), ("b", "read")]]);
        let mut state = world.state();
        let mut file = FileCommitter::create(at.clone()).unwrap();
        let dropped = {
            let agent = world.agent();
            let io = RunHandles::new().committer(&mut file);
            dropped_after(run_loop(&agent, &mut state, Input::message("tidy up"), io), polls).await
        };
        let mut in_doubt = false;
        if dropped.is_none() {
            let outcome = drive(&mut world, &mut state, &mut file, Input::Resume).await;
            in_doubt = outcome.reason == TerminationReason::Suspended;
            assert!(
                in_doubt || outcome.reason == TerminationReason::NaturalEnd,
                "{polls}: {}",
                outcome.reason
            );
        }
        drop(file);
        let restored = read_run(at).map(|stored| stored.restore().unwrap());
        let restored = restored.unwrap_or_else(|error| panic!("dropped after {polls} polls: {error}"));
        assert_eq!((history(&restored), statuses(&restored)), (history(&state), statuses(&state)));
        // Where the commit of its start was cut off, it did not execute, and nobody knows.
        let least = usize::from(!in_doubt);
        assert!((least..=1).contains(&world.executions("a")), "{polls}");
    }
}

#[tokio::test]
async fn a_writer_that_was_overtaken_is_refused() {
    let folder = Folder::new();
    let (mut old_world, mut old) = waiting(&folder).await;
    let (mut old_file, _) = FileCommitter::open(folder.run()).unwrap();
    let (mut file, stored) = FileCommitter::open(folder.run()).unwrap();
    let mut world = World::new(&[&[("a", "write"), ("b", "note")]]);
    let mut state = stored.restore().unwrap();
    world.inbox.put(runstate_agent::Incoming::new("d1", "a", Resume));
    drive(&mut world, &mut state, &mut file, Input::Resume).await;

    // The run went on elsewhere; who does not know is not let in.
    old_world.inbox.put(runstate_agent::Incoming::new("d2", "a", Resume));
    let agent = old_world.agent();
    let io = RunHandles::new().inbox(&mut old_world.inbox).committer(&mut old_file);
    let error = run_loop(&agent, &mut old, Input::Resume, io).await.unwrap_err().to_string();
    assert!(error.contains("another writer"), "{error}");
    assert_eq!(old_world.executions("a"), 0, "its decision was not made durable");
    assert_eq!(read_run(folder.run()).unwrap().restore().unwrap().run().status(), RunStatus::Done);
}

/// A commit that would make the file larger is refused, and a file that is larger is not read.
#[tokio::test]
async fn a_file_of_a_run_has_a_limit() {
    let folder = Folder::new();
    drop(waiting(&folder).await);
    let bytes = fs::metadata(folder.run()).unwrap().len();
    let of = |most: u64| RunFile::from(folder.run()).most_bytes(most);
    assert_eq!(read_run(of(bytes)).unwrap().status(), "Waiting");
    for refused in [read_run(of(bytes - 1)).unwrap_err(), FileCommitter::open(of(bytes - 1)).unwrap_err()] {
        let told = format!("it has {bytes} bytes, and a file of a run has at most {}", bytes - 1);
        assert!(refused.to_string().ends_with(&told), "{refused}");
    }
    // A hole, of which nothing is read.
    let hole = folder.0.join("hole.jsonl");
    fs::File::create(&hole).unwrap().set_len((1 << 30) + 1).unwrap();
    let refused = read_run(&hole).unwrap_err();
    assert!(refused.to_string().ends_with("a file of a run has at most 1073741824"), "{refused}");
    let smaller = Folder::new();
    let mut world = World::new(&[&[("a", "write"), ("b", "note")]]);
    let (mut state, agent) = (world.state(), world.agent());
    let mut file = FileCommitter::create(RunFile::from(smaller.run()).most_bytes(bytes / 2)).unwrap();
    let io = RunHandles::new().inbox(&mut world.inbox).committer(&mut file).watch(&world.recorder);
    let failed = run_loop(&agent, &mut state, Input::message("tidy up"), io).await.unwrap_err();
    assert!(failed.to_string().contains("a file of a run has at most"), "{failed}");
    drop(file);
    assert!(
        read_run(RunFile::from(smaller.run()).most_bytes(bytes / 2)).is_ok(),
        "what was committed can be read"
    );
}

/// A pipe in the place of the file holds no program.
#[cfg(unix)]
#[test]
fn a_pipe_is_no_file_of_a_run() {
    let folder = Folder::new();
    assert!(std::process::Command::new("mkfifo").arg(folder.run()).status().unwrap().success());
    assert!(read_run(folder.run()).unwrap_err().to_string().contains("it is no file"));
    FileCommitter::open(folder.run()).unwrap_err();
}
