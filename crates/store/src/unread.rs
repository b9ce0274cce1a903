//! Rows that lists omit.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::error::StoreError;
use super::query::CorruptEntry;

/// The limit of remembered rows.
const MOST_TOLD: usize = 100;

/// The rows that the lists of a store could not read, by run and call. A row is removed once a list reads it.
/// [`RunLists::corrupt_entries`](super::RunLists::corrupt_entries) reports the rows. At most 100 are remembered.
///
/// ```
/// use runstate_store::{StoreError, Unread};
///
/// let unread = Unread::default();
/// let bad = StoreError::unusable("runs.status of the run \"r1\": it is NULL", "restore the file from a backup");
/// assert_eq!(unread.note::<()>("r1", None, Err(bad)).unwrap(), None, "a list goes on without it");
/// assert_eq!(unread.all().len(), 1);
/// assert_eq!(unread.note("r1", None, Ok(7)).unwrap(), Some(7));
/// assert_eq!(unread.all(), [], "it can be read again");
/// ```
#[derive(Debug, Default)]
pub struct Unread(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    rows: BTreeMap<(String, Option<String>), CorruptEntry>,
    /// The remedy for the rows beyond the limit.
    more: Option<String>,
}

impl Told {
    /// Rows beyond the limit are found again by the next list.
    fn forget_more(&mut self) {
        if self.rows.is_empty() {
            self.more = None;
        }
    }
}

impl Unread {
    /// Remembers the problem of the row of a run, or of one of its calls. A successful read removes the entry.
    ///
    /// # Errors
    /// Errors that do not concern the row: all but [`StoreError::Unusable`].
    pub fn note<T>(
        &self,
        run: &str,
        call: Option<&str>,
        read: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let key = (run.to_owned(), call.map(str::to_owned));
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(read) => {
                told.rows.remove(&key);
                told.forget_more();
                Ok(Some(read))
            }
            Err(StoreError::Unusable { what, help }) => {
                if told.rows.len() < MOST_TOLD || told.rows.contains_key(&key) {
                    told.rows.insert(key, CorruptEntry::new(what, help).of_run(run));
                } else {
                    told.more = Some(help);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Forgets the rows of a removed run.
    pub fn forget(&self, run: &str) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.rows.retain(|(of, _), _| of != run);
        told.forget_more();
    }

    /// Returns the corrupt entries, by run and call.
    pub fn all(&self) -> Vec<CorruptEntry> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let more = told.more.as_ref().map(|help| CorruptEntry::new("more rows cannot be read", help));
        told.rows.values().cloned().chain(more).collect()
    }
}
