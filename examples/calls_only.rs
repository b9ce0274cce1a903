//! `ToolCall` and `Run` alone, inside a foreign loop: here a queue of messages, one per line, as another program may
//! already have it. Each message is one event of one call. Between two messages no machine is in memory: every
//! machine is in a file, under a checksum, and the next message for it restores it.
//!
//! The types refuse illegal steps: a late message changes nothing and gets an error. The calls determine whether the
//! run executes, waits or may continue; the program never sets that status itself.
//!
//! ```sh
//! cargo run --example calls_only
//! ```
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use runstate::decision::{Decision, DecisionAction, Suspension};
use runstate::derive::derive_run_status;
use runstate::kernel::ReadRecord;
use runstate::kernel::{Persist, Restore};
use runstate::run::{AnyRun, Finish, Resume as ResumeRun, Run, RunRecord, RunStatus, Wait};
use runstate::snapshot::Snapshot;
use runstate::termination::TerminationReason;
use runstate::tool_call::{
    AnyToolCall, CallRecord, Cancel, Fail, Resume, Start, Succeed, Suspend, ToolCall, ToolCallEvent,
    ToolCallStatus,
};
use serde::Serialize;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The messages of the queue: the call, the event, and a word of data.
const QUEUE: &str = "\
a asked read_file
b asked delete_file
a started
b asks may-I?
c asked delete_file
c asks may-I?
a returned 3-lines
b returned gone
b approved
b started
b returned gone
c declined
a declined
end";

fn main() -> Result<()> {
    let place = env::temp_dir().join(format!("runstate-calls-only-{}", std::process::id()));
    fs::create_dir_all(&place)?;
    let files = Files(place);
    files.put("__run", &Run::new(RunRecord::new("r1")))?;
    for message in QUEUE.lines() {
        let said = handle(&files, message)?;
        let run: AnyRun = files.get("__run")?;
        println!("{message:<19}  run {:<8}  {said}", run.status().to_string());
    }
    fs::remove_dir_all(&files.0)?;
    Ok(())
}

/// Handles one message: reads the files, applies the event, writes the files.
fn handle(files: &Files, message: &str) -> Result<String> {
    let mut words = message.split_whitespace();
    let (Some(id), what, word) = (words.next(), words.next(), words.next().unwrap_or_default()) else {
        return Err("an empty message".into());
    };
    let name = format!("__tool_call_states.{id}");
    let said = match what {
        None => return end(files),
        Some("asked") => {
            files.put(&name, &ToolCall::new(CallRecord::new(id, word, word.into())))?;
            "New".to_owned()
        }
        Some(what) => {
            let call: AnyToolCall = files.get(&name)?;
            let event = event(&call, what, word).ok_or_else(|| format!("{what} is no message"))?;
            match call.apply(event) {
                Ok(call) => {
                    files.put(&name, &call)?;
                    call.status().to_string()
                }
                // The call is unchanged, and so is its file.
                Err(refused) => refused.to_string(),
            }
        }
    };
    follow(files, id)?;
    Ok(said)
}

/// The event of a message.
fn event(call: &AnyToolCall, what: &str, word: &str) -> Option<ToolCallEvent> {
    Some(match what {
        "started" => Start.into(),
        "asks" => {
            Suspend::new(Suspension::new(format!("sus-{}", call.record().id()), "approve", word)).into()
        }
        "approved" => Resume::new(decision(call.record().id(), DecisionAction::Resume)).into(),
        "declined" => Cancel::new("declined").into(),
        "returned" => Succeed::new(word).into(),
        "failed" => Fail::new(word).into(),
        _ => return None,
    })
}

/// The answer to the question of a call.
fn decision(id: &str, action: DecisionAction) -> Decision {
    Decision::new(format!("dec-{id}"), format!("sus-{id}"), action)
}

/// Updates the run to match its calls. A crash between the two files is repaired by the next message, because the
/// calls determine the run.
fn follow(files: &Files, id: &str) -> Result<()> {
    let calls = files.calls()?;
    let derived = derive_run_status(calls.iter().map(|(_, status)| *status));
    let run: AnyRun = match (files.get("__run")?, derived) {
        (AnyRun::Running(run), RunStatus::Waiting) => {
            let waiting = calls.into_iter().filter(|(_, status)| *status == ToolCallStatus::Suspended);
            run.wait(Wait::new(waiting.map(|(id, _)| id)))?.into()
        }
        (AnyRun::Waiting(run), derived @ (RunStatus::Running | RunStatus::Done)) => {
            let executes = derived == RunStatus::Running;
            let action = if executes { DecisionAction::Resume } else { DecisionAction::Cancel };
            run.resume(ResumeRun::decided(id, &decision(id, action))).into()
        }
        // `Done` means that the round is complete. It does not mean that the run is over.
        (run, _) => run,
    };
    files.put("__run", &run)
}

/// Ends the run, because the program has no more work.
fn end(files: &Files) -> Result<String> {
    let AnyRun::Running(run) = files.get("__run")? else { return Err("the run waits".into()) };
    let run = run.finish(Finish::new(TerminationReason::NaturalEnd))?;
    let said = format!("the run is over: {}", run.reason());
    files.put("__run", &run)?;
    Ok(said)
}

/// A folder with a file for each machine.
struct Files(PathBuf);

impl Files {
    /// Writes to a temporary file and renames it, so that a crash leaves either the old or the new file.
    fn put<P: Persist<Record: Serialize>>(&self, name: &str, machine: &P) -> Result<()> {
        let path = self.path(name);
        let beside = path.with_extension("new");
        fs::write(&beside, Snapshot::of(machine)?.to_json())?;
        Ok(fs::rename(beside, path)?)
    }

    /// Restores a machine, or returns the problem of the file: corrupt, of another lifecycle, of another graph.
    fn get<M: Restore<Record: Serialize + ReadRecord>>(&self, name: &str) -> Result<M> {
        let text = fs::read(self.path(name)).map_err(|error| format!("{name}: {error}"))?;
        Ok(Snapshot::from_json(&text)?.restore()?)
    }

    fn calls(&self) -> Result<Vec<(String, ToolCallStatus)>> {
        let mut calls = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let id = name.strip_prefix("__tool_call_states.").and_then(|name| name.strip_suffix(".json"));
            if let Some(id) = id {
                let call: AnyToolCall = self.get(&format!("__tool_call_states.{id}"))?;
                calls.push((id.to_owned(), call.status()));
            }
        }
        calls.sort();
        Ok(calls)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }
}
