//! Runs in files under a key.

use std::fs;

use runstate::decision::DecisionAction::Resume;
use runstate::snapshot::Keyring;
use runstate::termination::TerminationReason;
use runstate_agent::{FileCommitter, Incoming, Input, RunFile, read_run};

use super::files::{Folder, drive, waiting_in};
use super::parts::{World, history};

/// Keys of these names, each with a secret of its own.
pub fn keys(names: &str) -> Keyring {
    let line = |name: &str| format!("{name} {}\n", format!("{:02x}", name.as_bytes()[1]).repeat(32));
    names.split(' ').map(line).collect::<String>().parse().unwrap()
}

fn keyed(folder: &Folder, names: &str) -> RunFile {
    RunFile::from(folder.run()).keyed(keys(names))
}

#[tokio::test]
async fn a_run_goes_on_from_its_file_under_a_newer_key() {
    let folder = Folder::new();
    let (mut world, before) = waiting_in(keyed(&folder, "k1")).await;
    let (mut file, stored) = FileCommitter::open(keyed(&folder, "k2 k1")).unwrap();
    let mut state = stored.restore().unwrap();
    state.watch(&world.recorder);
    assert_eq!(history(&state), history(&before));
    world.inbox.put(Incoming::new("d1", "a", Resume));
    let outcome = drive(&mut world, &mut state, &mut file, Input::Resume).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    drop(file);
    assert_eq!(read_run(keyed(&folder, "k2 k1")).unwrap().status(), "Done");
    let text = fs::read_to_string(folder.run()).unwrap();
    assert!(text.starts_with("k1:") && text.contains("\nk2:"), "each key has lines");

    // A keyring without one of them names the one that it lacks.
    let lacking = read_run(keyed(&folder, "k2")).unwrap_err().to_string();
    assert!(lacking.contains("line 1: its tag is of the key \"k1\", and the keyring has k2"), "{lacking}");
    let lacking = read_run(folder.run()).unwrap_err().to_string();
    assert!(lacking.contains("line 1: it is stored under the key \"k1\""), "{lacking}");
}

#[tokio::test]
async fn run_file_line_not_written_by_the_key_holder_is_refused() {
    let folder = Folder::new();
    waiting_in(keyed(&folder, "k1")).await;
    let text = fs::read_to_string(folder.run()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let other = Folder::new();
    waiting_in(keyed(&other, "k1")).await;
    waiting_in(RunFile::from(other.0.join("plain.jsonl"))).await;
    let plain = fs::read_to_string(other.0.join("plain.jsonl")).unwrap();
    assert!(lines.len() > 3 && plain.lines().count() == lines.len());

    let with = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        change(&mut lines);
        fs::write(folder.run(), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let refused = read_run(keyed(&folder, "k1")).unwrap_err().to_string();
        let opened = FileCommitter::open(keyed(&folder, "k1")).unwrap_err().to_string();
        assert_eq!(opened, refused, "reading and opening agree");
        refused.split_once("r1.jsonl, ").unwrap().1.to_owned()
    };
    let untagged = "it has no tag, and a keyed store takes nothing without";
    let changed = "its tag does not fit: it was changed without the key, or moved here from elsewhere";
    // A line whose plain checksum is right.
    assert_eq!(
        with(&|lines| lines[1] = plain.lines().nth(1).unwrap().to_owned()),
        format!("line 2: {untagged}")
    );
    assert_eq!(
        with(&|lines| *lines = plain.lines().map(str::to_owned).collect()),
        format!("line 1: {untagged}")
    );
    // A tag of the line, before other content with a right checksum.
    let graft = |lines: &mut Vec<String>| {
        let tag = lines[1].split_once(' ').unwrap().0.to_owned();
        lines[1] = format!("{tag} {}", plain.lines().nth(2).unwrap());
    };
    assert_eq!(with(&graft), format!("line 2: {changed}"));
    assert_eq!(with(&|lines| lines.swap(1, 2)), format!("line 2: {changed}"));
    assert_eq!(with(&|lines| drop(lines.remove(1))), format!("line 2: {changed}"));
    assert_eq!(with(&|lines| lines.insert(2, lines[1].clone())), format!("line 3: {changed}"));
    assert_eq!(with(&|lines| drop(lines.remove(0))), format!("line 1: {changed}"));
    assert_eq!(with(&|lines| lines[2] = lines[2].replacen("k1:", "k9:", 1)), {
        "line 3: its tag is of the key \"k9\", and the keyring has k1"
    });

    // The lines as they were are still the run.
    fs::write(folder.run(), &text).unwrap();
    assert_eq!(read_run(keyed(&folder, "k1")).unwrap().status(), "Waiting");
}

#[tokio::test]
async fn a_line_of_another_run_is_refused_in_its_place() {
    let (one, two) = (Folder::new(), Folder::new());
    waiting_in(keyed(&one, "k1")).await;
    // Another run of the same keys, with other calls.
    let mut world = World::new(&[&[("a", "write"), ("c", "note")]]);
    let mut file = FileCommitter::create(keyed(&two, "k1")).unwrap();
    let mut state = world.state();
    drive(&mut world, &mut state, &mut file, Input::message("tidy up")).await;
    drop(file);
    let lines = |folder: &Folder| -> Vec<String> {
        fs::read_to_string(folder.run()).unwrap().lines().map(str::to_owned).collect()
    };
    let (mut ours, theirs) = (lines(&one), lines(&two));
    let at = ours.iter().zip(&theirs).position(|(a, b)| a != b).unwrap() + 1;
    ours[at] = theirs[at].clone();
    fs::write(one.run(), ours.join("\n") + "\n").unwrap();
    let refused = read_run(keyed(&one, "k1")).unwrap_err().to_string();
    assert!(refused.contains(&format!("line {}: its tag does not fit", at + 1)), "{refused}");
}

#[tokio::test]
async fn a_last_line_that_was_cut_off_is_removed_under_a_key_too() {
    let folder = Folder::new();
    let (_, before) = waiting_in(keyed(&folder, "k1")).await;
    let whole = fs::read(folder.run()).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in (last..whole.len()).step_by(11) {
        fs::write(folder.run(), &whole[..cut]).unwrap();
        let (file, stored) = FileCommitter::open(keyed(&folder, "k1")).unwrap();
        assert_eq!((stored.version(), file.cut_off()), (before.commits() - 1, cut - last), "cut at {cut}");
    }
    // Only the end of its line is damaged: the commit was made.
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() = b'?';
    fs::write(folder.run(), &damaged).unwrap();
    let refused = read_run(keyed(&folder, "k1")).unwrap_err().to_string();
    assert!(refused.contains("its end is damaged, and all before that is whole"), "{refused}");
}

#[tokio::test]
async fn a_changed_byte_of_any_line_is_refused() {
    for is_keyed in [false, true] {
        let folder = Folder::new();
        let file = || if is_keyed { keyed(&folder, "k1") } else { folder.run().into() };
        waiting_in(file()).await;
        let whole = fs::read(folder.run()).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
            fs::write(folder.run(), &bytes).unwrap();
            let refused = read_run(file()).map(|run| run.status().to_owned());
            assert!(refused.is_err(), "byte {at} of {}: {refused:?}", whole.len());
        }
    }
}

#[tokio::test]
async fn the_file_of_another_run_is_refused() {
    let folder = Folder::new();
    waiting_in(keyed(&folder, "k1")).await;
    let id = read_run(keyed(&folder, "k1")).unwrap().id().unwrap().to_owned();
    assert_eq!(read_run(keyed(&folder, "k1").of(&*id)).unwrap().id(), Some(&*id));
    let refused = read_run(keyed(&folder, "k1").of("r2")).unwrap_err().to_string();
    assert!(refused.ends_with(&format!("line 1: expected the run \"r2\", got {id:?}")), "{refused}");
    let refused = FileCommitter::open(keyed(&folder, "k1").of("r2")).unwrap_err().to_string();
    assert!(refused.contains("expected the run"), "{refused}");
}
