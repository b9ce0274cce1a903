//! `runstate watch RUN`

use std::collections::HashSet;
use std::pin::pin;
use std::time::Duration;

use clap::ValueEnum;
use runstate::decision::DecisionAction;
use runstate::run::RunStatus;
use runstate_agent::event::{AgentEvent, CallOutcome, EventKind};
use runstate_store::{Approval, ApprovalFilter, EventRow, Feed, RunInfo, RunQuery, RunStore, StoreError};
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, exact, printable};
use crate::store::{Opened, StoreArgs, quoted, waiting_in};

/// Follow the events of a run
///
/// Prints each stored event once and in order, from the first event or after --after, until the run is over. The worker of
/// the run may be killed and replaced meanwhile. An event is shown when it is durable. The pieces of an answer are one event.
/// While calls of the run wait for decisions, this command prints them on standard error, with the commands that answer, and
/// continues to watch.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate watch tidy-folder-1
  runstate watch tidy-folder-1 --format jsonl --after 12

Exit codes:
  0  the run ended naturally, or the reader closed the output
  1  the run ended in another way
  2  the run does not exist, or the store is unusable
  3  with --no-wait: the run waits for a decision
  4  with --no-wait: the run is not over, and waits for no decision")]
pub(crate) struct Args {
    /// The run's id
    run: String,
    /// Skip the events up to this number. Default: 0
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    after: u64,
    /// Output format. Default: text
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Print the stored events, and end
    #[arg(long)]
    no_wait: bool,
    #[command(flatten)]
    place: StoreArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each event: its number, its kind, the call, and a short text
    Text,
    /// The events as stored, one object a line
    Jsonl,
}

/// The pause between two tries at an unreachable store.
const AGAIN: Duration = Duration::from_secs(1);
/// The number of events of one query.
const PAGE: usize = 10_000;
/// The time without an event after which waiting calls are reported. It doubles with each look, up to `MOST_QUIET`.
const QUIET: Duration = Duration::from_millis(500);
const MOST_QUIET: Duration = Duration::from_secs(4);
/// The number of rows in which the row of a run is found: of runs that were created at one time.
const OF_ONE_TIME: usize = 8;

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.place.open_to_read()?;
    let stands = || opened.ask(stands(&*opened.store, &args.run));
    let mut shown = Shown { format: args.format, last: args.after, is_begun: false, end: None };
    if args.no_wait || matches!(stands()?, Stands::Over(_)) {
        loop {
            let page = opened.ask(opened.store.events(&args.run, shown.last, PAGE))?;
            page.iter().for_each(|row| shown.show(row, out));
            // The reader has closed the output.
            if !out.flush() {
                return Ok(Exit::Good);
            }
            if page.len() < PAGE {
                break;
            }
        }
        let stands = stands()?;
        // The run may have ended after the last page.
        if matches!(stands, Stands::Over(_)) && shown.end.is_none() {
            let rest = opened.ask(opened.store.events(&args.run, shown.last, PAGE))?;
            rest.iter().for_each(|row| shown.show(row, out));
        }
        let mut questions = Questions::of(&opened, &args.run);
        let undecided = match &stands {
            Stands::GoesOn(info) => {
                questions.tell_notes(info);
                opened.ask(questions.undecided(info))?
            }
            Stands::Over(_) | Stands::Unread => Vec::new(),
        };
        let is_waiting = !undecided.is_empty();
        questions.tell(&undecided, "");
        return Ok(shown.exit(stands, is_waiting));
    }
    let is_read = opened.ask(async {
        let feed = Feed::new(opened.store.clone());
        let mut events = feed.watch(&*args.run, args.after);
        let mut questions = Questions::of(&opened, &args.run);
        let mut is_away = false;
        loop {
            let event = {
                let (mut next, mut quiet) = (pin!(events.next()), QUIET);
                loop {
                    match tokio::time::timeout(quiet, next.as_mut()).await {
                        Ok(event) => break event,
                        // A run that is set aside, or whose worker has ended, has no further event.
                        Err(_) => questions.look().await,
                    }
                    quiet = (quiet * 2).min(MOST_QUIET);
                }
            };
            match event {
                Ok(Some(row)) => shown.show(&row, out),
                Ok(None) => return Ok(true),
                Err(error @ StoreError::Unavailable(_)) => {
                    if !std::mem::replace(&mut is_away, true) {
                        let why = opened.failure(&error);
                        complain(&printable(&format!(
                            "{}; the command tries again every second",
                            why.message()
                        )));
                    }
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
                Err(error) => return Err(error),
            }
            is_away = false;
            // A reader sees each event when it happens; a closed output ends the command.
            if !out.flush() {
                return Ok(false);
            }
        }
    })?;
    if !is_read {
        return Ok(Exit::Good);
    }
    Ok(shown.exit(stands()?, false))
}

/// The waiting calls of a run, and its state without an event. Each is reported once.
struct Questions<'a> {
    opened: &'a Opened,
    run: &'a str,
    told: HashSet<String>,
    created_at_ms: Option<u64>,
    /// The number of looks in a row at which no process drove the run.
    idle: u32,
}

impl<'a> Questions<'a> {
    fn of(opened: &'a Opened, run: &'a str) -> Self {
        Questions { opened, run, told: HashSet::new(), created_at_ms: None, idle: 0 }
    }

    /// Looks at the run while no event comes, and reports its questions and the state in which it stays.
    async fn look(&mut self) {
        // A store that cannot be read is reported by the next event.
        let Ok(Some(info)) = self.row().await else { return };
        let Ok(undecided) = self.undecided(&info).await else { return };
        self.tell_notes(&info);
        self.tell(&undecided, "; this command continues to watch");
        let is_held = info.holder.as_ref().is_some_and(|holder| !holder.left.is_zero());
        let is_ready = info.status == RunStatus::Running || info.cancel.is_some();
        let is_idle = is_ready && !is_held && info.not_before.is_none() && !info.is_set_aside();
        self.idle = if is_idle { self.idle + 1 } else { 0 };
        // A worker may have given the run back for a moment.
        if self.idle == 2 {
            let again = self.opened.again();
            complain(&printable(&format!(
                "{}: no process drives the run; drive it with: runstate worker{again}{}",
                self.run,
                again.note()
            )));
        }
    }

    /// The row of the run in lists: a look does not read all of a run again. None for a run that is over or unreadable.
    async fn row(&mut self) -> Result<Option<RunInfo>, StoreError> {
        let store = &*self.opened.store;
        if let Some(created_at_ms) = self.created_at_ms {
            let mut query = RunQuery::all(OF_ONE_TIME);
            query.after = Some((created_at_ms.saturating_add(1), String::new()));
            let found = store.runs(&query).await?.into_iter().find(|info| info.id == self.run);
            if found.is_some() {
                return Ok(found);
            }
        }
        let Stands::GoesOn(info) = stands(store, self.run).await? else { return Ok(None) };
        self.created_at_ms = Some(info.created_at_ms);
        Ok(Some(*info))
    }

    /// The calls that a decision can still answer: not the expired ones, and none once a cancellation is requested.
    async fn undecided(&self, info: &RunInfo) -> Result<Vec<Approval>, StoreError> {
        if info.cancel.is_some() {
            return Ok(Vec::new());
        }
        let mut all = waiting_in(&*self.opened.store, ApprovalFilter::Run(self.run.to_owned())).await?;
        all.retain(|one| !one.is_expired());
        Ok(all)
    }

    /// Reports why no worker continues the run, and a requested cancellation.
    fn tell_notes(&mut self, info: &RunInfo) {
        let reasons = [info.problem.as_ref(), info.cancel.as_ref()];
        let key = reasons.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("; ");
        if !key.is_empty() && self.told.insert(key) {
            for note in super::runs::notes(info) {
                complain(&printable(&format!("{}: {note}", self.run)));
            }
        }
        // Its last process wrote no problem.
        if info.is_set_aside() && info.problem.is_none() && self.told.insert("is set aside".to_owned()) {
            let (run, again) = (quoted(self.run), self.opened.again());
            complain(&printable(&format!(
                "{}: the run is set aside after {} lost claims; `runstate resume {run} --detach{again}`{} gives it back",
                self.run,
                info.lost,
                again.note()
            )));
        }
    }

    /// Reports the calls, and the commands that answer.
    fn tell(&mut self, undecided: &[Approval], then: &str) {
        let new: Vec<&Approval> =
            undecided.iter().filter(|one| self.told.insert(one.suspension.id.clone())).collect();
        if new.is_empty() {
            return;
        }
        let (again, note) = (self.opened.again(), self.opened.again().note());
        let calls = if new.len() == 1 { "1 decision" } else { &*format!("{} decisions", new.len()) };
        complain(&printable(&format!("{} waits for {calls}{then}", self.run)));
        for one in new {
            let id = quoted(&one.suspension.id);
            let arguments = short(&exact(&one.arguments.to_string()));
            complain(&printable(&format!(
                "  {}: {} {arguments}: {}",
                one.call, one.tool, one.suspension.message
            )));
            complain(&printable(&format!("    answer: runstate approve {id}{again}{note} (or deny)")));
        }
        complain(&printable(&format!(
            "  all questions: runstate approvals --run {}{again}{note}",
            quoted(self.run)
        )));
    }
}

/// The status of a run, by its own row.
enum Stands {
    /// The reason for its end.
    Over(Option<String>),
    GoesOn(Box<RunInfo>),
    /// A part of it is unreadable; its events are readable.
    Unread,
}

async fn stands(store: &dyn RunStore, run: &str) -> Result<Stands, StoreError> {
    match store.parts(run).await {
        Ok(parts) if parts.info.status == RunStatus::Done => Ok(Stands::Over(parts.info.reason)),
        Ok(parts) => Ok(Stands::GoesOn(Box::new(parts.info))),
        Err(StoreError::Unusable { .. } | StoreError::TooLarge { .. }) => Ok(Stands::Unread),
        Err(error) => Err(error),
    }
}

struct Shown {
    format: Format,
    last: u64,
    /// Was an event shown?
    is_begun: bool,
    end: Option<String>,
}

impl Shown {
    /// The exit code. The run decides, not its events.
    fn exit(self, stands: Stands, is_waiting: bool) -> Exit {
        let end = match stands {
            Stands::Over(reason) => {
                if self.end.is_none() && (self.is_begun || self.last == 0) {
                    complain(
                        "warning: the run is over, and the event of its end is not in the store: another program has removed it, or an \
                         earlier version of this program drove the run",
                    );
                }
                Some(reason.unwrap_or_default())
            }
            Stands::GoesOn(_) => {
                if self.end.is_some() {
                    complain(
                        "warning: the run is not over, and an event says that it is: another program has written it",
                    );
                }
                None
            }
            Stands::Unread => self.end,
        };
        match end.as_deref() {
            Some("natural_end") => Exit::Good,
            Some(_) => Exit::Bad,
            None if is_waiting => Exit::Waiting,
            None => Exit::Unfinished,
        }
    }

    fn show(&mut self, row: &EventRow, out: &mut Output) {
        if row.seq > self.last.saturating_add(1) {
            let missing = if row.seq - self.last == 2 {
                format!("event {} is", self.last + 1)
            } else {
                format!("events {} to {} are", self.last + 1, row.seq - 1)
            };
            let or =
                if self.last == 0 { ", or an earlier version of this program began the run" } else { "" };
            complain(&format!("warning: {missing} not in the store: another program has changed it{or}"));
        }
        (self.last, self.is_begun) = (row.last, true);
        let object: Option<serde_json::Map<String, Value>> = runstate::json::from_str(&row.json).ok();
        // The numbers inside an event equal the numbers of its row.
        let is_of_row = |object: &serde_json::Map<String, Value>| {
            let number = |name: &str| object.get(name).map(Value::as_u64);
            number("seq") == Some(Some(row.seq)) && number("last").is_none_or(|last| last == Some(row.last))
        };
        let Some(object) = object.filter(is_of_row) else {
            let what = "warning: the event cannot be read, another program has changed it";
            complain(&format!("{what}: {}", printable(&short(&row.json))));
            return;
        };
        let event: Option<AgentEvent> = serde_json::from_value(Value::Object(object)).ok();
        if let Some(AgentEvent { kind: EventKind::RunFinished { reason, status, .. }, .. }) = &event
            && *status == RunStatus::Done
        {
            self.end = Some(reason.to_string());
        }
        match self.format {
            // On one line, in any stored form.
            Format::Jsonl => out.json_line(&row.json.replace(['\n', '\r'], " ")),
            Format::Text => {
                let numbers = if row.last == row.seq {
                    row.seq.to_string()
                } else {
                    format!("{}-{}", row.seq, row.last)
                };
                let (what, call, word) = match &event {
                    Some(event) => words(&event.kind),
                    None => ("event", "", format!("of a later version of this program: {}", row.json)),
                };
                let line = format!("{numbers:>7}  {what:<18} {call:<12} {}", short(&word));
                out.line(&printable(line.trim_end()));
            }
        }
    }
}

/// The name of an event, its call, and a short text.
fn words(kind: &EventKind) -> (&'static str, &str, String) {
    match kind {
        EventKind::RunStarted { steps: 0 } => ("run started", "", String::new()),
        EventKind::RunStarted { steps } => ("run started", "", format!("after step {steps}")),
        EventKind::RunFinished { reason, status, waiting, .. } => {
            let calls: Vec<_> = waiting.iter().map(|one| &*one.call).collect();
            let waits = if calls.is_empty() { String::new() } else { format!(", for {}", calls.join(", ")) };
            ("run finished", "", format!("{reason}: {status}{waits}"))
        }
        EventKind::StepStarted { step } => ("step started", "", step.to_string()),
        EventKind::StepFinished { step } => ("step finished", "", step.to_string()),
        EventKind::InferenceStarted { step } => ("model asked", "", format!("step {step}")),
        EventKind::InferenceFinished { usage, .. } => {
            ("model answered", "", format!("{} tokens", usage.total()))
        }
        EventKind::TextDelta { text, .. } | EventKind::AnswerPieces { text, .. } => {
            ("answer", "", text.clone())
        }
        EventKind::ToolCallStart { call, tool, .. } => ("call began", call, tool.clone()),
        EventKind::ToolCallArguments { call, delta } => ("arguments", call, delta.clone()),
        EventKind::ToolCallReady { call, tool, arguments, unreadable } => {
            let why = unreadable.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            ("call ready", call, format!("{tool} {arguments}{why}"))
        }
        EventKind::ToolCallSuspended { interrupt } => {
            let asked = &interrupt.suspension;
            ("call asks", &interrupt.call, format!("{}: {}", asked.action, asked.message))
        }
        EventKind::ToolCallResumed { call, action, actor, .. } => {
            let by = actor.as_ref().map(|actor| format!(" by {actor}")).unwrap_or_default();
            let action = match action {
                DecisionAction::Resume => "approved",
                DecisionAction::Cancel => "denied",
            };
            ("decision", call, format!("{action}{by}"))
        }
        EventKind::ToolCallProgress { call, progress } => ("progress", call, progress.to_string()),
        EventKind::ToolCallsProgress { progress, .. } => {
            let calls: Vec<_> =
                progress.iter().map(|one| format!("{}: {}", one.call, one.progress)).collect();
            ("progress", "", calls.join(", "))
        }
        EventKind::ToolCallDone { call, outcome } => match outcome {
            CallOutcome::Succeeded { output, .. } => ("call succeeded", call, output.to_string()),
            CallOutcome::Failed { error } => ("call failed", call, error.clone()),
            CallOutcome::Cancelled { reason, .. } => ("call cancelled", call, reason.clone()),
        },
        EventKind::StateSnapshot { changed } => {
            let keys: Vec<_> = changed.iter().map(|key| &*key.key).collect();
            ("state changed", "", keys.join(", "))
        }
        EventKind::StateConflict { conflict } => ("state conflict", "", conflict.to_string()),
        EventKind::Checkpoint { trigger, commit, .. } => ("checkpoint", "", format!("{commit}, {trigger}")),
        EventKind::Error { message } => ("error", "", message.clone()),
        _ => ("event", "", String::new()),
    }
}

/// The beginning of a text, on one line.
fn short(text: &str) -> String {
    const MOST: usize = 120;
    let mut short: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = short.char_indices().nth(MOST) {
        short.truncate(end);
        short.push('…');
    }
    short
}
