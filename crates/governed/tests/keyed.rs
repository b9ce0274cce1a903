//! Governed runs under a key.

use runstate::decision::digest;
use runstate::governed_run::GovernedRunStatus;
use runstate::snapshot::Keyring;
use runstate_governed::{AwaitedInput, verify_ledger};
use runstate_runtime::files::replace;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::crashes::crash_everywhere;
use super::judge::judge;
use super::world::{RUN, Reply, Script, Tool, World, folders};

/// Keys of these names, each with a secret of its own.
pub(super) fn keys(names: &str) -> Keyring {
    let line = |name: &str| format!("{name} {}\n", format!("{:02x}", name.as_bytes()[1]).repeat(32));
    names.split(' ').map(line).collect::<String>().parse().unwrap()
}

fn keyed(script: Script) -> World {
    World::new(Script { keys: Some(keys("k1")), ..script })
}

/// A world with a run that waits for a person.
async fn waiting() -> (World, runstate::governed_run::RunId) {
    let world = keyed(Script::default());
    let progressed = world.governor().start("PROJECT").await.unwrap();
    assert_eq!(progressed.status, GovernedRunStatus::AwaitingApproval);
    (world, progressed.run)
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_and_the_next_has_a_newer_key() {
    let mut world = keyed(Script { tools: vec![Tool::new("build", [Reply::Pass])], ..Script::default() });
    let (run, status) = world.live().await;
    assert_eq!(status, GovernedRunStatus::Completed);
    judge(&world, &run).await;
    world.keys = Some(keys("k2 k1"));
    let (second, status) = world.live().await;
    assert_eq!(status, GovernedRunStatus::Completed);
    judge(&world, &run).await;
    judge(&world, &second).await;
    let ledger = world.file(folders().ledger());
    assert!(ledger.contains("\"hash\":\"k1:") && ledger.contains("\"hash\":\"k2:"), "{ledger}");
    // A ledger under both needs both.
    let fault = verify_ledger(ledger.as_bytes(), Some(&keys("k2"))).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "line 1: its tag is of the key \"k1\", and the keyring has k2",
        "the key that is lacking is named"
    );
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_each_operation_leaves_a_run_that_is_resumed() {
    let tools = vec![Tool::new("deploy", [Reply::Pass])];
    let ends = crash_everywhere(Script { tools, keys: Some(keys("k1")), ..Script::default() }).await;
    assert!(ends.contains("COMPLETE"), "{ends:?}");
}

/// The content of a state that an attacker without the key writes.
fn forge(world: &World, change: impl FnOnce(&mut Value)) {
    let path = folders().state(&RUN.parse().unwrap());
    let mut state: Value = serde_json::from_str(&world.file(&path)).unwrap();
    change(&mut state);
    replace(&world.disk, &path, &serde_json::to_vec_pretty(&state).unwrap()).unwrap();
}

/// What each way to use the run says; all of them say the same, and none changes a file.
async fn refused(world: &World) -> String {
    let (governor, run) = (world.governor(), RUN.parse().unwrap());
    let approval = format!("{RUN}-A1").parse().unwrap();
    let before = world.disk.files();
    let said = [
        governor.status(&run).unwrap_err().to_string(),
        governor.resume(&run).await.unwrap_err().to_string(),
        governor.approve(&run, &approval, "ada", "").await.unwrap_err().to_string(),
        governor.reject(&run, &approval, "ada", "").await.unwrap_err().to_string(),
        governor.waits(&run).unwrap_err().to_string(),
    ];
    assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
    assert_eq!(world.disk.files(), before, "nothing is written");
    said[0].split_once("nothing was written: ").unwrap().1.to_owned()
}

const CHANGED: &str = "its tag does not fit: it was changed without the key, or moved here from elsewhere; restore it \
                       from a backup that was made with the key";

#[tokio::test(start_paused = true)]
async fn a_state_that_was_written_without_the_key_is_refused() {
    let (world, run) = waiting().await;
    let sound = world.file(folders().state(&run));
    let restore = || replace(&world.disk, &folders().state(&run), sound.as_bytes()).unwrap();

    forge(&world, |state| state["runstate"]["notes"]["plan"]["approved_by"] = json!("mallory"));
    assert_eq!(refused(&world).await, CHANGED);
    restore();
    // What others put into the file is under the tag as well.
    forge(&world, |state| state["further"] = json!(1));
    assert_eq!(refused(&world).await, CHANGED);
    restore();
    forge(&world, |state| drop(state["runstate"].as_object_mut().unwrap().remove("tag")));
    assert!(refused(&world).await.starts_with("it has no tag"));
    restore();
    // Without the field it would be another tool's file, whose approvals are adopted from their records.
    forge(&world, |state| drop(state.as_object_mut().unwrap().remove("runstate")));
    assert!(refused(&world).await.starts_with("it has no tag"));
    restore();
    forge(&world, |state| {
        let tag = state["runstate"]["tag"].as_str().unwrap().replace("k1:", "k7:");
        state["runstate"]["tag"] = json!(tag);
    });
    assert!(refused(&world).await.starts_with("its tag is of the key \"k7\", and the keyring has k1"));
    restore();

    // White space and the order of keys change nothing.
    forge(&world, |_| ());
    let approval = format!("{RUN}-A1").parse().unwrap();
    world.governor().approve(&run, &approval, "ada", "").await.unwrap();
    let end = world.governor().resume(&run).await.unwrap();
    assert_eq!(end.status, GovernedRunStatus::Completed);
    judge(&world, &run).await;
}

#[tokio::test(start_paused = true)]
async fn the_state_of_another_run_is_refused() {
    let (world, run) = waiting().await;
    let other = world.governor().start("PROJECT").await.unwrap().run;
    let theirs = world.file(folders().state(&other)).replace(other.as_str(), run.as_str());
    replace(&world.disk, &folders().state(&run), theirs.as_bytes()).unwrap();
    assert_eq!(refused(&world).await, CHANGED);
}

#[tokio::test(start_paused = true)]
async fn each_side_refuses_the_files_of_the_other() {
    let (mut world, run) = waiting().await;
    world.keys = None;
    let said = "it is stored under the key \"k1\", and no key was given; give it by `keyed`, or by --key-file or RUNSTATE_KEY of \
                the command";
    assert_eq!(refused(&world).await, said);
    // No run is begun beside a ledger that it could not be entered in.
    let error = world.governor().start("OTHER").await.unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "/runs/command-center/RUN_LEDGER.jsonl: its last line: {said}; move the ledger aside to begin a new one"
        )
    );
    assert_eq!(folders().list(&world.disk).unwrap(), [run]);

    let mut plain = World::new(Script::default());
    plain.governor().start("PROJECT").await.unwrap();
    plain.keys = Some(keys("k1"));
    assert!(refused(&plain).await.starts_with("it has no tag, and a keyed store takes nothing without"));
    let error = plain.governor().start("OTHER").await.unwrap_err().to_string();
    assert!(
        error.contains("its last line: it has no tag") && error.contains("move the ledger aside"),
        "{error}"
    );
    assert_eq!(folders().list(&plain.disk).unwrap().len(), 1);
}

/// Lines of a ledger that are chained anew, as anybody can.
fn chained_anew(lines: &[Value]) -> String {
    let mut previous = "0".repeat(64);
    let mut text = String::new();
    for line in lines {
        let mut line = line.as_object().unwrap().clone();
        line.retain(|name, _| name != "prev" && name != "hash");
        let body = Value::from(line).to_string();
        let body = format!("{},\"prev\":\"{previous}\"", body.strip_suffix('}').unwrap());
        previous = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
        text.push_str(&format!("{body},\"hash\":\"{previous}\"}}\n"));
    }
    text
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_written_anew_without_the_key_is_refused() {
    let (world, run) = waiting().await;
    let ledger = world.file(folders().ledger());
    let (keys, lines) = (keys("k1"), ledger.lines().map(|line| serde_json::from_str(line).unwrap()));
    let mut lines: Vec<Value> = lines.collect();
    verify_ledger(ledger.as_bytes(), Some(&keys)).unwrap();
    // A digest is no secret: without a key such a ledger is sound.
    (lines[1]["at_ms"], lines[1]["at"]) = (json!(1), json!("1970-01-01T00:00:00.001Z"));
    let anew = chained_anew(&lines);
    verify_ledger(anew.as_bytes(), None).unwrap();
    let fault = verify_ledger(anew.as_bytes(), Some(&keys)).unwrap_err();
    assert_eq!(fault.to_string(), "line 1: it has no tag, and a keyed store takes nothing without");

    let changed = "its tag does not fit: it was changed without the key, or moved here from elsewhere";
    let sound: Vec<&str> = ledger.lines().collect();
    for at in 0..sound.len() {
        let with = |change: &dyn Fn(&mut Vec<String>)| {
            let mut lines: Vec<String> = sound.iter().map(|line| (*line).to_owned()).collect();
            change(&mut lines);
            let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            verify_ledger(text.as_bytes(), Some(&keys)).map_err(|fault| fault.to_string())
        };
        let edited = with(&|lines| lines[at] = lines[at].replace("PROJECT\"", "PR0JECT\""));
        assert_eq!(edited.unwrap_err(), format!("line {}: {changed}", at + 1));
        let last = at + 1 == sound.len();
        let taken_out = with(&|lines| drop(lines.remove(at)));
        assert_eq!(taken_out.is_err(), !last, "the end may be missing");
        let doubled = with(&|lines| lines.insert(at, lines[at].clone())).unwrap_err();
        assert!(
            doubled.starts_with(&format!("line {}: it does not follow the line before", at + 2)),
            "{doubled}"
        );
        let others = with(&|lines| lines.insert(at, "{\"lifecycle\":\"other\"}".to_owned())).unwrap_err();
        assert!(others.starts_with(&format!("line {}: it has no tag", at + 1)), "{others}");
    }

    // A line that is put in between stops no run, and stays where it is.
    let mut put_in: Vec<&str> = sound.clone();
    put_in.insert(1, "{\"x\":1}");
    let put_in = put_in.join("\n") + "\n";
    replace(&world.disk, &folders().ledger(), put_in.as_bytes()).unwrap();
    assert!(world.governor().resume(&run).await.unwrap().repairs.is_empty());
    assert_eq!(world.file(folders().ledger()), put_in);

    // A ledger that was written anew tells of no run. It is set aside, and a new one is begun under the key.
    replace(&world.disk, &folders().ledger(), anew.as_bytes()).unwrap();
    let repairs = world.governor().resume(&run).await.unwrap().repairs;
    assert_eq!((repairs.ledger_lines, repairs.set_aside.len()), (sound.len(), 1));
    assert_eq!(world.file(&repairs.set_aside[0]), anew);
    let begun = verify_ledger(world.file(folders().ledger()).as_bytes(), Some(&keys)).unwrap();
    let before = begun.continues.unwrap();
    assert_eq!((before.file.as_str(), before.bytes), ("RUN_LEDGER.jsonl.damaged-1", anew.len() as u64));
    let approval = format!("{RUN}-A1").parse().unwrap();
    let Some(AwaitedInput::Approval(pending)) = world.governor().waits(&run).unwrap() else {
        panic!("it waits")
    };
    assert_eq!(pending.id, approval);
}

/// A line that an attacker adds for a run is not taken for the run's own, and one that is missing is written again.
#[tokio::test(start_paused = true)]
async fn lines_that_are_missing_at_the_end_are_written_again() {
    let (world, run) = waiting().await;
    let ledger = world.file(folders().ledger());
    let cut: String = ledger.lines().take(2).map(|line| format!("{line}\n")).collect();
    replace(&world.disk, &folders().ledger(), cut.as_bytes()).unwrap();
    let repairs = world.governor().resume(&run).await.unwrap().repairs;
    assert_eq!(repairs.ledger_lines, ledger.lines().count() - 2);
    verify_ledger(world.file(folders().ledger()).as_bytes(), world.keys.as_ref()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_state_is_digested_by_its_content() {
    let (world, run) = waiting().await;
    let mut state: Value = serde_json::from_str(&world.file(folders().state(&run))).unwrap();
    let tag = state["runstate"].as_object_mut().unwrap().remove("tag").unwrap();
    let version = state["state_history"].as_array().unwrap().len().to_string();
    let place = ["governed run", run.as_str(), &version];
    // The form is documented, so that another program can check it.
    assert_eq!(keys("k1").check(&place, digest(&state).as_bytes(), tag.as_str().unwrap()), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_changed_byte_of_any_file_is_refused() {
    let (world, run) = waiting().await;
    let path = folders().state(&run);
    let (state, ledger) = (world.file(&path), world.file(folders().ledger()));
    let changed = |text: &str, at: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
        bytes
    };
    for at in 0..state.len() {
        replace(&world.disk, &path, &changed(&state, at)).unwrap();
        let read = world.governor().status(&run);
        assert!(read.is_err(), "byte {at} of {}: {read:?}", state.len());
    }
    for at in 0..ledger.len() {
        let fault = verify_ledger(&*changed(&ledger, at), Some(&keys("k1")));
        assert!(fault.is_err(), "byte {at} of {}: {fault:?}", ledger.len());
    }
}

/// Paths of all values in it.
fn paths(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| paths(value, &format!("{at}/{name}"), into));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, value)| paths(value, &format!("{at}/{place}"), into));
        }
        _ => (),
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_field_of_a_state_is_refused() {
    let (world, run) = waiting().await;
    let path = folders().state(&run);
    let state: Value = serde_json::from_str(&world.file(&path)).unwrap();
    let mut fields = Vec::new();
    paths(&state, "", &mut fields);
    assert!(fields.len() > 40, "{fields:?}");
    for field in &fields {
        for to in [Value::Null, json!("x"), json!(-1), json!({}), json!([])] {
            let mut forged = state.clone();
            let place = forged.pointer_mut(field).unwrap();
            if *place == to {
                continue;
            }
            *place = to.clone();
            replace(&world.disk, &path, forged.to_string().as_bytes()).unwrap();
            let read = world.governor().status(&run);
            assert!(read.is_err(), "{field} to {to}: {read:?}");
        }
    }
}
