//! Conversations: threads of runs, and messages that come for them.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::load::{Loaded, Parts};
use super::{NewRun, RunData};
use crate::run::RunStatus;

/// The place of a run on a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadPlace {
    /// The id of the thread.
    pub thread: String,
    /// The run before it on the thread; none for the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A message of a user for a run that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct UserMessage {
    /// Its id. No run and no other message of the store has it.
    pub id: String,
    /// The text, which the model reads.
    pub text: String,
    /// When it was sent, in milliseconds since the beginning of 1970.
    pub at_ms: u64,
    /// The tag of a [keyed](super::Keyed) store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

impl UserMessage {
    /// A message with this id and text, sent at that time.
    pub fn new(id: impl Into<String>, text: impl Into<String>, at_ms: u64) -> Self {
        UserMessage { id: id.into(), text: text.into(), at_ms, tag: None }
    }
}

/// The answer of [`RunData::supersede`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Superseded {
    /// The message is durable. The run goes on with it, and its open questions are cancelled. A run that is cancelled before it has gone on
    /// ends without it.
    Accepted,
    /// The id was given before, to a message or to a run.
    Duplicate,
    /// The run is `Running`, or has a decision, a cancellation or a message that was not taken.
    Busy,
    /// The run is `Done`.
    Over,
}

/// The most runs of one thread that are read.
const MOST_RUNS: usize = 10_000;

/// Reads a run from its [parts](RunData::parts) and from those of the runs before it on its thread. [`RunData::load`] does this; it is for a
/// [`Wrapper`](super::Wrapper) that changes the parts.
///
/// # Errors
/// Those of the store. [`StoreError::Unusable`] when a part cannot be read, and when a run before it is not there or not `Done`.
///
/// # Cancel safety
/// Nothing is changed.
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
                // They may have been removed since, the run first.
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

/// The id of the thread of a run.
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

/// The answer of [`send`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sent {
    /// A new run begins with the message.
    Began {
        /// The run.
        run: String,
    },
    /// A run that waits goes on with the message, and its open questions are cancelled.
    Superseded {
        /// The run.
        run: String,
    },
    /// The id was given before, to a message or to a run. Nothing was changed.
    Duplicate,
    /// The last run of the thread is not over. Nothing was changed.
    Busy {
        /// The run.
        run: String,
        /// Its status. One that is `Waiting` takes the message where superseding is asked for, unless a decision, a cancellation or another
        /// message came before.
        status: RunStatus,
    },
}

/// Sends a message to a thread: a run that is over is followed by a new one, and a run that waits is superseded where that is
/// asked for. Of two messages with one id the first is accepted, in whatever process it is sent.
///
/// `begin` makes the new run; it is given the last run of the thread, and none for a thread that is new. Its place on the thread and the
/// id of its message are set here.
///
/// ```
/// use runstate::store::{MemoryStore, NewRun, Parts, Sent, StoreError, UserMessage, send};
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
/// Those of the store and of `begin`. [`StoreError::Taken`] with the id of the new run when that id was given.
///
/// # Cancel safety
/// Dropped, the message may have been accepted. Sent again it is [`Sent::Duplicate`] then.
pub async fn send<S: RunData + ?Sized, E: From<StoreError>>(
    store: &S,
    thread: &str,
    message: &UserMessage,
    supersede: bool,
    mut begin: impl FnMut(Option<Parts>, &UserMessage) -> Result<NewRun, E> + Send,
) -> Result<Sent, E> {
    let mut busy = None;
    // Where the thread has gone on since it was looked at, it is looked at again.
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
        // A message without a tag would be noted, and would stop the run that it is for.
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
            // A thread that cannot be read takes no message.
            store.load(&last).await?;
            let new = begin(Some(parts), message)?;
            return began(store, new.following(thread, Some(last)), message).await;
        }
        busy = Some((last.clone(), status));
        if !supersede || status != RunStatus::Waiting {
            break;
        }
        // A run that cannot be read takes no message.
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
    // Of two with one id that are sent together, the other one may have been accepted since.
    if store.is_given(&message.id).await? {
        return Ok(Sent::Duplicate);
    }
    let (run, status) =
        busy.ok_or_else(|| StoreError::unavailable(format!("the thread {thread:?} changes all the time")))?;
    Ok(Sent::Busy { run, status })
}

/// How often a thread is looked at.
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
        // Another message was faster. Its run is under way.
        Err(StoreError::Busy { run, status, .. }) => Ok(Sent::Busy { run, status }),
        Err(error) => Err(error.into()),
    }
}
