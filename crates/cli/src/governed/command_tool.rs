//! A command as a tool: its output is evidence, its exit code the verdict, and the changes of the folder are recorded.

use std::path::Path;
use std::{fs, io};

use async_trait::async_trait;
use runstate::approval::Risk;
use runstate_governed::{Action, Call, GovernedTool, PartError, RunView, ToolOutput, ToolStatus};

use super::below::remove_tree;
use super::plan::{Command, OutputForm, ToolSpec};
use super::process::{self, End, Ended, Place, Told};
use super::snapshot::Snapshot;
use crate::failure::Failure;
use crate::input;

/// The maximum size of an approved action in the environment, in bytes: a system takes a variable of at most 128 KiB.
const LONGEST_GRANTED: usize = 64 << 10;
const NOT_IN_ENVIRONMENT: &str = "[see `granted` in the standard input]";

/// The file in the folder of the run for the structured output of a tool, and its maximum size: a run stores no more.
const OUTPUT: &str = "output.json";
const MOST_OUTPUT: u64 = 16 << 20;

pub(super) struct CommandTool {
    pub(super) spec: ToolSpec,
    pub(super) place: Place,
    pub(super) snapshot: Snapshot,
}

#[async_trait]
impl GovernedTool for CommandTool {
    fn name(&self) -> &str {
        &self.spec.name
    }

    /// The complete command: a person approves exactly the executed text.
    fn action(&self, _: &RunView<'_>) -> Action {
        let risk = self.spec.risk.unwrap_or(Risk::High);
        let mut words = self.spec.command().in_words(&self.place.work.path);
        if self.spec.read_only {
            words.push_str(", again after a crash without another question, since it is read_only");
        }
        Action::new(words, risk)
    }

    fn is_read_only(&self) -> bool {
        self.spec.read_only
    }

    async fn call(&self, call: &Call<'_>) -> Result<ToolOutput, PartError> {
        let failed = |failure: Failure| PartError::new(failure.to_string());
        let unstarted = |failure: Failure| PartError::new(format!("it was not started: {failure}"));
        self.snapshot.look(call.run.baseline).map_err(unstarted)?;
        // A signal that arrived meanwhile is handled before a program runs.
        tokio::task::yield_now().await;
        let (number, all) = (call.run.completed + 1, call.run.planned.len());
        let what = format!("{} ({number} of {all}, try {})", self.spec.name, call.number);
        let output = self.place.progress.during(&what, self.ended(call), outcome).await?;
        let changes = self.snapshot.changes(call.run.baseline).map_err(failed)?;
        Ok(changes.into_iter().fold(output, |output, change| output.with_change(change.kind, change.what)))
    }
}

fn outcome(output: &Result<ToolOutput, PartError>) -> &'static str {
    match output.as_ref().map(|output| output.status) {
        Ok(ToolStatus::Pass) => "passed",
        Ok(ToolStatus::Fail) => "failed",
        Ok(ToolStatus::NeedsApproval) => "asks for an approval",
        Ok(ToolStatus::Halted) => "halts",
        Err(_) => "crashed",
    }
}

impl CommandTool {
    async fn ended(&self, call: &Call<'_>) -> Result<ToolOutput, PartError> {
        let command = self.spec.command();
        let file = self.place.run.join(OUTPUT);
        // A file of an earlier call, or of a process that wrote it meanwhile, would be taken for the output of this call.
        if let Err(error) = remove(&file) {
            let why = format!("{} has an earlier output, which cannot be removed: {error}", file.display());
            return Ok(ToolOutput::fail(why));
        }
        let ended = match process::run(&command, &self.place, self.told(call)).await {
            Ok(ended) => ended,
            Err(error) => return Ok(ToolOutput::fail(cannot_start(&command, &error))),
        };
        if self.spec.output == OutputForm::Text || ended.end == End::Unknown {
            return judged(&command, &ended);
        }
        let opened = input::opened(fs::OpenOptions::new().read(true), &file, input::Links::Refused);
        let output = match opened.and_then(|file| input::contents(file, MOST_OUTPUT)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => structured(&ended),
            Err(error) => Err(format!("its output in {} cannot be read: {error}", file.display())),
            Ok(bytes) => String::from_utf8(bytes)
                .map_err(|error| format!("its output in {} is no UTF-8: {error}", file.display()))
                .and_then(|text| parsed(&text, &file.display().to_string())),
        };
        // The next call removes the rest, or fails.
        drop(remove(&file));
        match output {
            // Its own status counts, except a pass with a failing exit code.
            Ok(output) if succeeded(&ended) || output.status != ToolStatus::Pass => Ok(output),
            Err(fault) if succeeded(&ended) => Ok(ToolOutput::fail(fault)),
            _ => judged(&command, &ended),
        }
    }

    /// The input of a call: its run, tool and number, and the approved action.
    fn told(&self, call: &Call<'_>) -> Told {
        let granted = call.granted.map(|request| request.action().to_owned());
        let input = serde_json::json!({
            "run": call.run.run_id, "tool": self.spec.name, "try": call.number,
            "granted": call.granted.map(|request| serde_json::json!({"action": request.action(), "risk": request.risk()})),
        });
        let mut env = vec![
            ("RUNSTATE_RUN", call.run.run_id.to_string()),
            ("RUNSTATE_TOOL", self.spec.name.clone()),
            ("RUNSTATE_TRY", call.number.to_string()),
        ];
        // An empty variable says that no person was asked, whatever the environment of this process has. Text that an
        // environment cannot hold is in the input alone.
        let granted = granted.map(|action| {
            let fits = action.len() <= LONGEST_GRANTED && !action.contains('\0');
            if fits { action } else { NOT_IN_ENVIRONMENT.to_owned() }
        });
        env.push(("RUNSTATE_GRANTED", granted.unwrap_or_default()));
        if self.spec.output == OutputForm::Json {
            env.push(("RUNSTATE_OUTPUT", self.place.run.join(OUTPUT).display().to_string()));
        }
        Told { env, input: Some(input.to_string()), is_read_whole: self.spec.output == OutputForm::Json }
    }
}

/// Removes a file, or a folder that a tool put in its place.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) => remove_tree(path),
        removed => removed,
    }
}

fn succeeded(ended: &Ended) -> bool {
    matches!(ended.end, End::Exited(status) if status.success())
}

/// The structured output of a program.
fn structured(ended: &Ended) -> Result<ToolOutput, String> {
    if ended.is_cut {
        let most = process::KEPT_WHOLE;
        return Err(format!(
            "its output has more than {most} bytes: the file of RUNSTATE_OUTPUT can have {MOST_OUTPUT}"
        ));
    }
    parsed(&ended.stdout, "standard output")
}

fn parsed(text: &str, place: &str) -> Result<ToolOutput, String> {
    runstate::json::from_str(text)
        .map_err(|error| format!("its output in {place} is not the JSON of a tool's output: {error}"))
}

/// The output that represents an exit code.
fn judged(command: &Command, ended: &Ended) -> Result<ToolOutput, PartError> {
    Ok(match failure(command, ended)? {
        None => ToolOutput::pass(evidence(command, ended)),
        Some(error) => {
            let mut output = ToolOutput::fail(error);
            output.evidence = evidence(command, ended);
            output
        }
    })
}

pub(super) fn evidence(command: &Command, ended: &Ended) -> Vec<String> {
    let code = match ended.end {
        End::Exited(status) => status.code(),
        End::TimedOut | End::Unknown => None,
    };
    let code = code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
    let outputs = [("standard output", &ended.stdout), ("standard error", &ended.stderr)];
    let outputs = outputs.into_iter().filter(|(_, text)| !text.trim().is_empty());
    let first = format!("{}: {code}", shown(&command.run));
    let strays = [
        (ended.strays, "ended {} processes that the tool left running"),
        (ended.left, "could not end {} processes that the tool left running"),
    ];
    let strays = strays.into_iter().filter(|(count, _)| *count > 0);
    let strays = strays.map(|(count, text)| text.replace("{}", &count.to_string()));
    let outputs = outputs.map(|(name, text)| format!("{name}: {}", last(text)));
    std::iter::once(first).chain(strays).chain(outputs).collect()
}

/// Why a command failed; `None` if it did not.
pub(super) fn failure(command: &Command, ended: &Ended) -> Result<Option<String>, PartError> {
    let status = match ended.end {
        End::Exited(status) => status,
        End::TimedOut => {
            return Ok(Some(format!("it took longer than {} s and was ended", command.time_limit_seconds)));
        }
        End::Unknown => {
            let run = shown(&command.run);
            return Err(PartError::new(format!(
                "the supervisor of {run} was ended, or another process answered for it: its effects are not known"
            )));
        }
    };
    match status.code() {
        Some(0) => Ok(None),
        Some(code) => {
            let said = last(if ended.stderr.trim().is_empty() { &ended.stdout } else { &ended.stderr });
            Ok(Some(format!("exit code {code}: {said}")))
        }
        None => Err(PartError::new(format!("{} was ended by a signal ({status})", shown(&command.run)))),
    }
}

pub(super) fn cannot_start(command: &Command, error: &io::Error) -> String {
    format!("cannot start {}: {error}", shown(&command.run))
}

fn last(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// A command as typed in a shell; special words are quoted, so that no two commands look alike.
pub(super) fn shown(run: &[String]) -> String {
    let plain = |word: &String| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c))
    };
    let words: Vec<String> =
        run.iter().map(|word| if plain(word) { word.clone() } else { format!("{word:?}") }).collect();
    words.join(" ")
}
