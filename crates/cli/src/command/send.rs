//! `runstate send THREAD MESSAGE`

use std::collections::HashSet;

use runstate::run::RunStatus;
use runstate_store::{Parts, Sent, StoreError, UserMessage, send};
use serde_json::json;

use super::hand::by_whom;
use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, Text};
use crate::migrations;
use crate::output::{Output, printable};
use crate::run;
use crate::runs::{RunFolder, Token};
use crate::spec::Spec;
use crate::store::{Missing, Opened, StoreArgs, beside, quoted};

/// Send a message to a thread of runs
///
/// `runstate run` begins a thread with the id of its run. If the last run of the thread is over, the message begins a new
/// run: it has the scenario of the last run, the messages of the thread, and a copy of the last run's folder. If the last run
/// waits, --supersede cancels its questions, and the run continues with the message.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate send tidy-folder-1 'now tidy the other notes'
  runstate send tidy-folder-1 'leave the drafts alone' --supersede --id monday-1

Exit codes:
  0  the message is accepted, now or by a message of the same id before
  1  the message is not accepted: the last run of the thread is not over
  2  the thread does not exist; the store or another argument is unusable")]
pub(crate) struct Args {
    /// The thread: the id of the run that began it, or of any run on it
    thread: String,
    /// The message. `-` reads standard input
    message: String,
    /// The id of the message. Of two messages of a thread with one id, the first is accepted. Default: a random id
    #[arg(long)]
    id: Option<String>,
    /// Cancel the waiting questions of the last run
    #[arg(long)]
    supersede: bool,
    /// One JSON object: reply (began, superseded, duplicate, busy), accepted, thread, run, message, status
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
    /// The agent that this process drives the new run with: its name and the text of its file.
    #[arg(skip)]
    driven: Option<(String, String)>,
}

/// The maximum size of a message id, in bytes.
const MOST_OF_AN_ID: usize = 1024;

/// The maximum size of a message, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The number of tries with further run numbers, if others have taken one.
const TRIES: usize = 8;

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let text = args.text()?;
    let id = match &args.id {
        Some(id) if id.is_empty() || id.len() > MOST_OF_AN_ID => {
            let bytes = id.len();
            return Err(Failure::new(format!("--id: expected 1 to {MOST_OF_AN_ID} bytes, got {bytes}")));
        }
        Some(id) => id.clone(),
        None => String::from(Token::fresh()?),
    };
    let opened = args.place.open(Missing::Refuse)?;
    let thread = args.thread(&opened)?;
    // An id of a store is shared by all threads and runs.
    let message = UserMessage::new(format!("{thread}/{id}"), text, unix_ms());
    args.check(&opened, &thread)?;
    let sent = args.send(&opened, &thread, &message)?;
    let earlier = if sent == Sent::Duplicate { args.run_of(&opened, &thread, &message.id)? } else { None };
    let (reply, run) = match &sent {
        Sent::Began { run } => ("began", Some(run)),
        Sent::Superseded { run } => ("superseded", Some(run)),
        Sent::Busy { run, .. } => ("busy", Some(run)),
        _ => ("duplicate", earlier.as_ref()),
    };
    let is_accepted = reply != "busy";
    let status = match &sent {
        Sent::Busy { status, .. } => Some(status),
        _ => None,
    };
    if args.json {
        out.json(&json!({
            "reply": reply, "accepted": is_accepted, "thread": thread, "run": run, "message": id, "status": status,
        }));
    } else {
        out.line(&printable(&args.told(&opened, &thread, &sent, earlier.as_deref(), &id)));
    }
    Ok(if is_accepted { Exit::Good } else { Exit::Bad })
}

impl Args {
    #[cfg(feature = "agents")]
    fn of(place: StoreArgs, thread: &str, message: &str) -> Self {
        let (thread, message) = (thread.to_owned(), message.to_owned());
        Args { thread, message, id: None, supersede: false, json: false, place, driven: None }
    }

    fn text(&self) -> Result<String, Failure> {
        let text = match &*self.message {
            "-" => input::read_text("-", MOST_BYTES)?,
            message => Text { name: "MESSAGE".to_owned(), text: message.to_owned() },
        };
        let bytes = text.text.len() as u64;
        if text.text.trim().is_empty() {
            return Err(Failure::new(format!("{}: expected a message, got an empty text", text.name)));
        }
        if bytes > MOST_BYTES {
            let why = format!("{}: expected at most {MOST_BYTES} bytes, got {bytes}", text.name);
            return Err(
                Failure::new(why).with_help("write the text to a file, and name the file in the message")
            );
        }
        Ok(text.text)
    }

    /// The id of the thread.
    fn thread(&self, opened: &Opened) -> Result<String, Failure> {
        let named = &self.thread;
        if opened.ask(opened.store.last_of_thread(named))?.is_some() {
            return Ok(named.clone());
        }
        match beside(opened.handle(), opened.store.parts(named)) {
            Ok(run) => Ok(run.thread.map_or_else(|| named.clone(), |place| place.thread)),
            Err(StoreError::NoRun { .. }) => Err(self.no_thread(opened)),
            Err(error) => Err(opened.failure(&error)),
        }
    }

    /// Refuses a last run that cannot be restored as types: a message for it would be accepted, and never answered.
    fn check(&self, opened: &Opened, thread: &str) -> Result<(), Failure> {
        let Some(last) = opened.ask(opened.store.last_of_thread(thread))? else { return Ok(()) };
        let loaded = match beside(opened.handle(), opened.store.load(&last)) {
            Ok(loaded) => loaded,
            Err(StoreError::NoRun { .. }) => return Ok(()),
            Err(error) => return Err(opened.failure(&error)),
        };
        let Some(stored) = &loaded.stored else { return Ok(()) };
        match stored.restore_with(migrations::OF_RUNS, migrations::OF_CALLS) {
            Ok(_) => Ok(()),
            Err(why) => {
                Err(Failure::new(format!("{last}, the last run of the thread, cannot be restored: {why}"))
                    .with_help("restore the store from a backup, or begin another thread"))
            }
        }
    }

    /// The run that a message of the thread began or belongs to; `None` if a run took it while running.
    fn run_of(&self, opened: &Opened, thread: &str, message: &str) -> Result<Option<String>, Failure> {
        let mut last = opened.ask(opened.store.last_of_thread(thread))?;
        let mut seen = HashSet::new();
        while let Some(run) = last.filter(|run| seen.insert(run.clone())) {
            let Ok(parts) = beside(opened.handle(), opened.store.parts(&run)) else { break };
            let mail = beside(opened.handle(), opened.store.pending_signals(&run)).unwrap_or_default();
            let spec = Spec::read(&parts.spec, &run).ok();
            if mail.message.is_some_and(|pending| pending.id == message)
                || spec.as_ref().and_then(Spec::message_id) == Some(message)
            {
                return Ok(Some(run));
            }
            last = parts.thread.and_then(|place| place.after);
        }
        Ok(None)
    }

    fn send(&self, opened: &Opened, thread: &str, message: &UserMessage) -> Result<Sent, Failure> {
        let mut taken = None;
        for _ in 0..TRIES {
            let mut made: Option<RunFolder> = None;
            let begin = |last: Option<Parts>, message: &UserMessage| {
                let last = last.ok_or_else(|| Refused::Command(self.no_thread(opened)))?;
                let state_dir = self.place.state_dir().map_err(Refused::Command)?;
                let (folder, new) =
                    run::follow(opened, &state_dir, &last, message, (taken, self.driven.as_ref()))
                        .map_err(Refused::Command)?;
                made = Some(folder);
                Ok::<_, Refused>(new)
            };
            let sent = beside(opened.handle(), send(&*opened.store, thread, message, self.supersede, begin));
            let is_kept =
                matches!(&sent, Ok(Sent::Began { .. }) | Err(Refused::Store(StoreError::Unavailable(_))));
            if let Some(folder) = made.as_mut().filter(|_| is_kept) {
                folder.keep();
            }
            match (sent, made) {
                (Ok(sent), _) => return Ok(sent),
                (Err(Refused::Store(StoreError::Taken { .. })), Some(folder)) => {
                    taken = Some(folder.number())
                }
                (Err(Refused::Store(error @ StoreError::Unavailable(_))), _) => {
                    return Err(opened.of_change(&error).with_help(self.ask_again(opened, message)));
                }
                (Err(Refused::Store(error)), _) => return Err(opened.of_change(&error)),
                (Err(Refused::Command(failure)), _) => return Err(failure),
            }
        }
        Err(Failure::new(format!("other machines took {TRIES} run numbers in a row"))
            .with_help("send it again"))
    }

    /// A repeated message is accepted once.
    fn ask_again(&self, opened: &Opened, message: &UserMessage) -> String {
        let (thread, again) = (quoted(&self.thread), opened.again());
        let id = message.id.rsplit('/').next().unwrap_or_default();
        let id = quoted(self.id.as_deref().unwrap_or(id));
        format!(
            "when the store can be reached, send the message again: runstate send {thread} MESSAGE --id {id}{again}{}; a message with that id is accepted once",
            again.note()
        )
    }

    fn no_thread(&self, opened: &Opened) -> Failure {
        // A thread has the id of its first run.
        opened.absent(
            &format!("there is no thread {:?} in {}: no run has that id", self.thread, opened.url()),
            &self.thread,
        )
    }

    fn told(&self, opened: &Opened, thread: &str, sent: &Sent, earlier: Option<&str>, id: &str) -> String {
        match sent {
            Sent::Began { run } => format!("{run} begins with the message {id:?}, {}", by_whom(opened, run)),
            Sent::Superseded { run } => {
                let again = opened.again();
                format!(
                    "{run} continues with the message {id:?}, driven by a worker: runstate worker{again}{}",
                    again.note()
                )
            }
            Sent::Busy { run, status: RunStatus::Waiting } if !self.supersede => {
                let again = opened.again();
                format!(
                    "not accepted: {run} waits for decisions; decide (runstate approvals --run {}{again}), or cancel its questions with \
                     --supersede{}",
                    quoted(run),
                    again.note()
                )
            }
            Sent::Busy { run, status: RunStatus::Waiting } => {
                format!(
                    "not accepted: {run} has a decision, a cancellation or another message, which a worker takes first; send the message when the run is over"
                )
            }
            Sent::Busy { run, status: RunStatus::Done } => {
                format!(
                    "not accepted: another message was accepted first, after {run}; send the message again"
                )
            }
            Sent::Busy { run, status } => {
                format!(
                    "not accepted: {run}, the last run of the thread {thread}, is {status}; send the message when the run is over"
                )
            }
            _ => {
                let by = earlier.map(|run| format!(" by {run}")).unwrap_or_default();
                format!(
                    "the thread {thread:?} has a message {id:?} from before{by}; this command changed nothing"
                )
            }
        }
    }
}

/// The last run of a thread, which any run on it names.
///
/// # Errors
/// The thread does not exist.
#[cfg(feature = "agents")]
pub(super) fn last_of_thread(place: &StoreArgs, opened: &Opened, named: &str) -> Result<String, Failure> {
    let args = Args::of(place.clone(), named, "");
    let thread = args.thread(opened)?;
    Ok(opened.ask(opened.store.last_of_thread(&thread))?.unwrap_or(thread))
}

/// Sends a message with a random id to a thread. This process drives the run that begins, with that agent file.
///
/// # Errors
/// The thread does not exist, or the store refuses.
#[cfg(feature = "agents")]
pub(super) fn begin(
    place: &StoreArgs,
    opened: &Opened,
    named: &str,
    message: &str,
    file: &crate::agents::FromFile,
) -> Result<Sent, Failure> {
    let driven = Some((file.name().to_owned(), file.text().to_owned()));
    let args = Args { driven, ..Args::of(place.clone(), named, message) };
    let thread = args.thread(opened)?;
    let id = format!("{thread}/{}", String::from(Token::fresh()?));
    args.check(opened, &thread)?;
    args.send(opened, &thread, &UserMessage::new(id, message, unix_ms()))
}

/// Why a message was not sent.
enum Refused {
    Store(StoreError),
    Command(Failure),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Refused::Store(error)
    }
}
