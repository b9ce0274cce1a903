//! The journal of a chain: its transactions and blocks, one a line. Several processes may share it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// The end of the known entries, in bytes and in lines.
    known: (u64, usize),
}

impl Journal {
    /// Opens the file, or creates it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.create(true).read(true).write(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let opened = options.open(path);
        let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        Ok(Journal { file: opened.map_err(told)?, path: path.to_owned(), known: (0, 0) })
    }

    /// Reads the entries that other processes and earlier ones wrote.
    pub(super) fn read(&mut self) -> io::Result<Vec<Entry>> {
        self.file.lock_shared()?;
        let entries = self.read_locked();
        self.file.unlock()?;
        entries
    }

    /// Reads the new entries of others, and appends one behind them. After success no crash undoes it.
    pub(super) fn append(&mut self, entry: &Entry) -> io::Result<(Vec<Entry>, io::Result<()>)> {
        self.file.lock()?;
        let others = self.read_locked();
        let appended = match &others {
            Ok(_) => self.append_locked(entry),
            Err(_) => Ok(()),
        };
        self.file.unlock()?;
        Ok((others?, appended))
    }

    fn append_locked(&mut self, entry: &Entry) -> io::Result<()> {
        let line = format!("{}\n", serde_json::to_string(entry)?);
        // A line that a crash cut off is overwritten.
        self.file.set_len(self.known.0)?;
        self.file.seek(SeekFrom::Start(self.known.0))?;
        if let Err(error) = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data()) {
            // Without the cut the line is an entry of the next read.
            self.file.set_len(self.known.0).ok();
            return Err(error);
        }
        self.known = (self.known.0 + line.len() as u64, self.known.1 + 1);
        Ok(())
    }

    fn read_locked(&mut self) -> io::Result<Vec<Entry>> {
        self.file.seek(SeekFrom::Start(self.known.0))?;
        let mut reader = BufReader::new(&self.file);
        let (mut entries, mut line, (mut end, mut number)) = (Vec::new(), Vec::new(), self.known);
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            number += 1;
            let entry = serde_json::from_slice(&line).map_err(|error| {
                let path = self.path.display();
                io::Error::new(io::ErrorKind::InvalidData, format!("{path}, line {number}: {error}"))
            })?;
            entries.push(entry);
            end += line.len() as u64;
            line.clear();
        }
        self.known = (end, number);
        Ok(entries)
    }
}
