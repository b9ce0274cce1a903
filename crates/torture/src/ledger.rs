//! What happened outside of all stores: a file to which every process appends, and which no kill can take back.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use runstate::decision::DecisionAction;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Entry {
    /// A tool is about to have its effect.
    Began(Execution),
    /// It had it.
    Ended(Execution),
    /// A store acknowledged a commit.
    Committed(Made),
    /// A store refused a commit.
    Refused {
        /// The run.
        run: String,
        /// The commit's number.
        version: u64,
        /// The lease it was made under.
        fence: u64,
        /// Why: `fenced`, or what the store said.
        why: String,
        /// The driver.
        by: String,
    },
    /// A driver gave a run back.
    GaveBack {
        /// The run.
        run: String,
        /// Why.
        why: String,
        /// The driver.
        by: String,
    },
    /// A store acknowledged a new run.
    Created {
        /// The run.
        run: String,
    },
    /// A message is about to be sent to the run that waits, or to its thread.
    Messaging {
        /// The id of the message; its text is the same.
        message: String,
    },
    /// A store acknowledged a message for a run that waits.
    Messaged {
        /// The run.
        run: String,
        /// The id of the message.
        message: String,
    },
    /// A store acknowledged the wish to cancel a run.
    Cancelled {
        /// The run.
        run: String,
        /// Its version behind that, and the highest if nobody knows: a commit of a higher one was made later, whenever that is
        /// noted.
        version: u64,
    },
    /// A decision is about to be sent.
    Sent(Sent),
    /// What was said to it.
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

/// A commit that was acknowledged, with the digests of the rows it added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The run.
    pub run: String,
    /// Its number.
    pub version: u64,
    /// The lease it was made under.
    pub fence: u64,
    /// The messages, by number.
    pub messages: Vec<(u64, u64)>,
    /// The events of the trace, by number.
    pub trace: Vec<(u64, u64)>,
    /// The events of the run, by the number of the first that each stands for.
    pub events: Vec<(u64, u64)>,
    /// The machines of calls that are new or moved, by the call's name.
    pub calls: Vec<(String, u64)>,
    /// The values that changed, by scope and key; none where one was removed.
    pub values: Vec<(String, String, Option<u64>)>,
    /// The decisions it took.
    pub decisions: Vec<String>,
    /// The driver.
    pub by: String,
}

/// A decision on its way.
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
    /// Go on, or give the call up.
    pub action: DecisionAction,
    /// Who gives it.
    pub actor: Option<String>,
    /// Does it approve where another actor than those of the earlier decisions on the call is asked for?
    pub wants_another: bool,
    /// The digest of what else it says: the result, who decided, and about which arguments.
    pub said: u64,
}

/// The digest of what a decision says beside its action.
pub fn digest_of_decision(result: &Value, actor: Option<&str>, digest: Option<&str>) -> u64 {
    digest_of(&json!([result, actor, digest]))
}

/// The digest of a row of JSON. However a store writes it, the same value has the same.
pub fn digest(json: &str) -> u64 {
    match serde_json::from_str::<Value>(json) {
        Ok(value) => digest_of(&value),
        // Not JSON: it is no other row's digest, in all likelihood.
        Err(_) => digest_of(&Value::from(json)),
    }
}

/// The digest of a value.
pub fn digest_of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}

/// The ledger, open for more.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<Mutex<File>>);

impl Ledger {
    /// Opens the file, and makes it if there is none.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open(path: &Path) -> io::Result<Ledger> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Ledger(Arc::new(Mutex::new(file))))
    }

    /// Appends a line. A kill takes nothing back of what was written: only a power cut would.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn note(&self, entry: &Entry) -> io::Result<()> {
        // A line that a kill cut off has no end: the next one begins with it.
        let line = format!("\n{}\n", serde_json::to_string(entry)?);
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One write: lines of several processes do not mix.
        file.write_all(line.as_bytes())
    }

    /// The same, and it is on the disk.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn note_durably(&self, entry: Entry) -> io::Result<()> {
        let ledger = self.clone();
        // Off the threads that renew leases.
        let noted = tokio::task::spawn_blocking(move || {
            ledger.note(&entry)?;
            ledger.0.lock().unwrap_or_else(PoisonError::into_inner).sync_data()
        });
        noted.await.map_err(io::Error::other)?
    }
}

/// What a ledger holds.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    /// In the order in which they were written.
    pub all: Vec<Entry>,
    /// Lines that a kill cut off.
    pub torn: usize,
}

/// Reads a ledger.
///
/// # Errors
/// Those of the operating system.
pub fn read(path: &Path) -> io::Result<Entries> {
    let mut entries = Entries::default();
    let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match serde_json::from_str(line) {
            Ok(entry) => entries.all.push(entry),
            Err(_) => entries.torn += 1,
        }
    }
    Ok(entries)
}
