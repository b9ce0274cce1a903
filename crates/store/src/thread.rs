//! Conversations: threads of runs, and messages to them.

use std::collections::HashSet;

use runstate::run::RunStatus;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::load::{Loaded, Parts};
use super::{NewRun, RunData};

/// The position of a run on a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadPlace {
    /// The id of the thread.
    pub thread: String,
    /// The previous run of the thread; none for the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A message of a user for a waiting run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct UserMessage {
    /// The id. It is unique among the runs and messages of the store.
    pub id: String,
    /// The text for the model.
    pub text: String,
    /// The time of sending, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The tag of a [keyed](super::Keyed) store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

impl UserMessage {
    /// Creates a message.
    pub fn new(id: impl Into<String>, text: impl Into<String>, at_ms: u64) -> Self {
        UserMessage { id: id.into(), text: text.into(), at_ms, tag: None }
    }
}

/// The result of [`RunData::supersede`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Superseded {
    /// The message is durable. The run continues with it, and its open questions are cancelled. If the run is
    /// cancelled before that, it ends with the message as the last one of its thread.
    Accepted,
    /// The id was used before, for a message or a run.
    Duplicate,
    /// The run is `Running`, or has a pending decision, cancellation or message.
    Busy,
    /// The run is `Done`.
    Over,
}

/// The limit of previous runs that are read for one thread.
const MOST_RUNS: usize = 10_000;

/// Loads a run from its [rows](RunData::parts) and those of the previous runs of its thread. [`RunData::load`] calls
/// this function. A [`Wrapper`](super::Wrapper) that changes rows calls it too.
///
/// # Errors
/// The errors of the store. [`StoreError::Unusable`] if a row cannot be read, a previous run is missing or not
/// `Done`, or the run has more than 10,000 previous runs, such as a circle of them.
///
/// # Cancel safety
/// The function changes nothing.
pub async fn load<S: RunData + ?Sized>(store: &S, run: &str) -> Result<Loaded, StoreError> {
    let last = store.parts(run).await?;
    let mut earlier: Vec<Parts> = Vec::new();
    let mut before = after(&last);
    let mut seen = HashSet::from([run.to_owned()]);
    while let Some(id) = before {
        if earlier.len() == MOST_RUNS || !seen.insert(id.clone()) {
            return Err(StoreError::unusable(
                format_args!(
                    "the thread of the run {run:?} has more than {MOST_RUNS} runs before it, or is a circle"
                ),
                "begin another thread",
            ));
        }
        let parts = match store.parts(&id).await {
            Err(StoreError::NoRun { .. }) => {
                // The run and the previous ones may have been removed meanwhile, this run first.
                store.parts(run).await?;
                return Err(not_there(run, &id));
            }
            parts => parts?,
        };
        let (thread, of) = (thread_of(&last), thread_of(&parts));
        if thread != of {
            return Err(StoreError::unusable(
                format_args!(
                    "the run {run:?} of the thread {thread:?} goes on from the run {id:?}, which is of the thread {of:?}"
                ),
                "restore the store from a backup",
            ));
        }
        if parts.info.status != RunStatus::Done {
            let status = parts.info.status;
            return Err(StoreError::unusable(
                format_args!(
                    "the thread of the run {run:?} goes on from the run {id:?}, which is {status} and not Done"
                ),
                "restore the store from a backup",
            ));
        }
        before = after(&parts);
        earlier.push(parts);
    }
    Loaded::on_thread(last, earlier)
}

/// Returns the id of the thread of a run.
fn thread_of(parts: &Parts) -> &str {
    parts.thread.as_ref().map_or(&parts.info.id, |place| &place.thread)
}

fn after(parts: &Parts) -> Option<String> {
    parts.thread.as_ref()?.after.clone()
}

fn not_there(run: &str, before: &str) -> StoreError {
    StoreError::unusable(
        format_args!("the thread of the run {run:?} goes on from the run {before:?}, which is not there"),
        "restore the store from a backup",
    )
}

/// The result of [`send`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sent {
    /// A new run begins with the message.
    Began {
        /// The run.
        run: String,
    },
    /// A waiting run continues with the message, and its open questions are cancelled.
    Superseded {
        /// The run.
        run: String,
    },
    /// The id was used before, for a message or a run. Nothing was changed.
    Duplicate,
    /// The last run of the thread is not over. Nothing was changed.
    Busy {
        /// The run.
        run: String,
        /// The status of the run. With `supersede`, a `Waiting` run accepts the message, unless it has a pending
        /// decision, cancellation or message.
        status: RunStatus,
    },
}

/// Sends a message to a thread. If the last run is over, a new run follows it. If it waits and `supersede` is set, it
/// continues with the message. Of two messages with one id the first is accepted, from any process.
///
/// `begin` creates the new run. Its argument is the last run of the thread, or none for a new thread. `send` sets the
/// position on the thread and the id of the message.
///
/// ```
/// use runstate_store::{MemoryStore, NewRun, Parts, Sent, StoreError, UserMessage, send};
/// # use runstate::run::RunStatus;
///
/// fn begin(_: Option<Parts>, message: &UserMessage) -> Result<NewRun, StoreError> {
///     Ok(NewRun::new(format!("run-of-{}", message.id), message.text.clone().into(), message.at_ms))
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = MemoryStore::default();
/// let hello = UserMessage::new("m1", "hello", 0);
/// let began = Sent::Began { run: "run-of-m1".to_owned() };
/// assert_eq!(send(&store, "chat", &hello, false, begin).await?, began);
/// assert_eq!(send(&store, "chat", &hello, false, begin).await?, Sent::Duplicate);
///
/// // The first run is not over.
/// let more = UserMessage::new("m2", "more", 1);
/// let refused = send(&store, "chat", &more, true, begin).await?;
/// assert_eq!(refused, Sent::Busy { run: "run-of-m1".to_owned(), status: RunStatus::Running });
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of the store and of `begin`. [`StoreError::Taken`] with the id of the new run if that id was used
/// before.
///
/// # Cancel safety
/// If the future is dropped, the message may be accepted. A repetition then returns [`Sent::Duplicate`].
pub async fn send<S: RunData + ?Sized, E: From<StoreError>>(
    store: &S,
    thread: &str,
    message: &UserMessage,
    supersede: bool,
    mut begin: impl FnMut(Option<Parts>, &UserMessage) -> Result<NewRun, E> + Send,
) -> Result<Sent, E> {
    let mut busy = None;
    // If the thread has changed since the read, it is read again.
    for _ in 0..TRIES {
        if store.is_given(&message.id).await? {
            return Ok(Sent::Duplicate);
        }
        let Some(last) = store.last_of_thread(thread).await? else {
            return began(store, begin(None, message)?.following(thread, None), message).await;
        };
        let parts = match store.parts(&last).await {
            Err(StoreError::NoRun { .. }) => continue,
            parts => parts?,
        };
        // A message without a tag would be stored, and would block the run.
        parts.untagged()?;
        if thread_of(&parts) != thread {
            return Err(E::from(StoreError::unusable(
                format_args!(
                    "the last run of the thread {thread:?} is {last:?}, which is of the thread {:?}",
                    thread_of(&parts)
                ),
                "restore the store from a backup",
            )));
        }
        let status = parts.info.status;
        if status == RunStatus::Done {
            // A thread that cannot be read accepts no message.
            store.load(&last).await?;
            let new = begin(Some(parts), message)?;
            return began(store, new.following(thread, Some(last)), message).await;
        }
        busy = Some((last.clone(), status));
        if !supersede || status != RunStatus::Waiting {
            break;
        }
        // A run that cannot be read accepts no message.
        match store.load(&last).await {
            Err(StoreError::NoRun { .. }) => continue,
            loaded => drop(loaded?),
        }
        match store.supersede(&last, message).await {
            Ok(Superseded::Accepted) => return Ok(Sent::Superseded { run: last }),
            Ok(Superseded::Duplicate) => return Ok(Sent::Duplicate),
            Ok(Superseded::Busy) => break,
            Ok(Superseded::Over) | Err(StoreError::NoRun { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Of two concurrent messages with one id, the other one may have been accepted meanwhile.
    if store.is_given(&message.id).await? {
        return Ok(Sent::Duplicate);
    }
    let (run, status) =
        busy.ok_or_else(|| StoreError::unavailable(format!("the thread {thread:?} changes all the time")))?;
    Ok(Sent::Busy { run, status })
}

/// The number of attempts at a changing thread.
const TRIES: usize = 3;

async fn began<S: RunData + ?Sized, E: From<StoreError>>(
    store: &S,
    new: NewRun,
    message: &UserMessage,
) -> Result<Sent, E> {
    let new = new.beginning_with(&*message.id);
    match store.create(&new).await {
        Ok(()) => Ok(Sent::Began { run: new.id }),
        Err(StoreError::Taken { run }) if run == message.id => Ok(Sent::Duplicate),
        // Another message was faster. Its run has begun.
        Err(StoreError::Busy { run, status, .. }) => Ok(Sent::Busy { run, status }),
        Err(error) => Err(error.into()),
    }
}
