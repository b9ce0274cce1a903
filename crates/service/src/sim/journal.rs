//! The journal of a chain: its transactions and blocks, one a line.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::artifact::TxRequest;

/// An entry of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Entry {
    /// A transaction was sent.
    Sent(TxRequest),
    /// A block was mined.
    Mined,
}

#[derive(Debug)]
pub(super) struct Journal(File);

impl Journal {
    /// Opens the file, or creates it, and reads its entries.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Vec<Entry>)> {
        let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file =
            File::options().create(true).read(true).write(true).truncate(false).open(path).map_err(told)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let held = "another process has this chain; end it, or name another file";
                return Err(told(io::Error::new(io::ErrorKind::WouldBlock, held)));
            }
            Err(TryLockError::Error(error)) => return Err(told(error)),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(told)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut entries = Vec::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let entry = serde_json::from_str(line).map_err(|error| {
                told(io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {error}", number + 1)))
            })?;
            entries.push(entry);
        }
        file.set_len(whole as u64).map_err(told)?;
        file.seek(SeekFrom::End(0)).map_err(told)?;
        Ok((Journal(file), entries))
    }

    /// Appends an entry. After the return no crash undoes it.
    pub(super) fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let line = format!("{}\n", serde_json::to_string(entry)?);
        self.0.write_all(line.as_bytes())?;
        self.0.sync_data()
    }
}
