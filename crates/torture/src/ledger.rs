//! The external record: a file to which every process appends, and which survives each kill.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use runstate::decision::DecisionAction;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Entry {
    /// A tool is about to have its effect.
    Began(Execution),
    /// The tool had its effect.
    Ended(Execution),
    /// A store acknowledged a commit.
    Committed(Made),
    /// A store refused a commit.
    Refused {
        /// The run.
        run: String,
        /// The commit's number.
        version: u64,
        /// The fencing token of its lease.
        fence: u64,
        /// The reason: `fenced`, or the error of the store.
        why: String,
        /// The driver.
        by: String,
    },
    /// A driver gave a run back.
    GaveBack {
        /// The run.
        run: String,
        /// The reason.
        why: String,
        /// The driver.
        by: String,
    },
    /// A store acknowledged a new run.
    Created {
        /// The run.
        run: String,
    },
    /// A message is about to be sent to the waiting run, or to its thread.
    Messaging {
        /// The id of the message, which is also its text.
        message: String,
    },
    /// A store acknowledged a message for a run that waits.
    Messaged {
        /// The run.
        run: String,
        /// The id of the message.
        message: String,
    },
    /// A store acknowledged the cancellation of a run.
    Cancelled {
        /// The run.
        run: String,
        /// Its version at that time, and the highest number if it is unknown: a commit of a higher version was made later,
        /// whenever its entry is written.
        version: u64,
    },
    /// A decision is about to be sent.
    Sent(Sent),
    /// The reply to a decision.
    Replied {
        /// The decision.
        sent: Sent,
        /// The reply, in words.
        reply: String,
    },
}

/// An execution of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// The run.
    pub run: String,
    /// The call, as it is named in traces.
    pub call: String,
    /// The idempotency key.
    pub key: String,
    /// The driver.
    pub by: String,
}

/// An acknowledged commit, with the digests of the rows it added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The run.
    pub run: String,
    /// Its number.
    pub version: u64,
    /// The fencing token of its lease.
    pub fence: u64,
    /// The messages, by number.
    pub messages: Vec<(u64, u64)>,
    /// The events of the trace, by number.
    pub trace: Vec<(u64, u64)>,
    /// The events of the run, by the number of the first that each row stands for.
    pub events: Vec<(u64, u64)>,
    /// The machines of new or moved calls, by the call's name.
    pub calls: Vec<(String, u64)>,
    /// The changed values, by scope and key; `None` for a removed one.
    pub values: Vec<(String, String, Option<u64>)>,
    /// The decisions it took.
    pub decisions: Vec<String>,
    /// The driver.
    pub by: String,
}

/// A pending decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Its id.
    pub decision: String,
    /// The run.
    pub run: String,
    /// The call.
    pub call: String,
    /// The suspension.
    pub suspension: String,
    /// Resume or cancel.
    pub action: DecisionAction,
    /// The actor.
    pub actor: Option<String>,
    /// Does it approve a question that requires another actor than the earlier decisions on the call?
    pub wants_another: bool,
    /// The digest of its other content: the result, the actor, and the arguments.
    pub said: u64,
}

/// The digest of a decision's content beside its action.
pub fn digest_of_decision(result: &Value, actor: Option<&str>, digest: Option<&str>) -> u64 {
    digest_of(&json!([result, actor, digest]))
}

/// The digest of a row of JSON. Equal values have equal digests, in any form of writing.
pub fn digest(json: &str) -> u64 {
    match serde_json::from_str::<Value>(json) {
        Ok(value) => digest_of(&value),
        // Not JSON: in all likelihood no other row has this digest.
        Err(_) => digest_of(&Value::from(json)),
    }
}

/// The digest of a value.
pub fn digest_of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}

/// The ledger, open for appending.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<Mutex<File>>);

impl Ledger {
    /// Opens the file, and makes it if there is none.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn open(path: &Path) -> io::Result<Ledger> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Ledger(Arc::new(Mutex::new(file))))
    }

    /// Appends a line. It survives a kill, but not a power cut.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn note(&self, entry: &impl Serialize) -> io::Result<()> {
        // A line that a kill interrupted has no end: the next one begins with a line end.
        let line = format!("\n{}\n", serde_json::to_string(entry)?);
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One write: lines of several processes do not mix.
        file.write_all(line.as_bytes())
    }

    /// As `note`, with a sync to the disk.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub async fn note_durably(&self, entry: Entry) -> io::Result<()> {
        let ledger = self.clone();
        // Outside of the threads that renew leases.
        let noted = tokio::task::spawn_blocking(move || {
            ledger.note(&entry)?;
            ledger.0.lock().unwrap_or_else(PoisonError::into_inner).sync_data()
        });
        noted.await.map_err(io::Error::other)?
    }
}

/// The content of a ledger.
#[derive(Debug, Clone)]
pub struct Entries<E = Entry> {
    /// In the order of writing.
    pub all: Vec<E>,
    /// Lines that a kill interrupted.
    pub torn: usize,
}

/// Reads a ledger.
///
/// # Errors
/// Errors of the operating system.
pub fn read<E: DeserializeOwned>(path: &Path) -> io::Result<Entries<E>> {
    Ok(Entries::of(&std::fs::read(path)?))
}

impl<E: DeserializeOwned> Entries<E> {
    /// Reads the lines of a ledger.
    fn of(bytes: &[u8]) -> Self {
        let mut entries = Entries { all: Vec::new(), torn: 0 };
        for line in String::from_utf8_lossy(bytes).lines().filter(|line| !line.is_empty()) {
            match serde_json::from_str(line) {
                Ok(entry) => entries.all.push(entry),
                Err(_) => entries.torn += 1,
            }
        }
        entries
    }
}

/// Reads the last entries of a ledger, of at most that many bytes.
///
/// # Errors
/// Errors of the operating system.
pub fn read_end<E: DeserializeOwned>(path: &Path, bytes: u64) -> io::Result<Entries<E>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    Ok(Entries::of(&end))
}
