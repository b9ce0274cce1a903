//! The trace of a stored run, as lines.

use std::io::{self, BufReader, Read};

use runstate::trace::JsonlReader;
use runstate_store::StoreError;

use super::Opened;

/// The number of events of one query.
const PAGE: usize = 1_000;

/// The trace of a run, read from its store page by page: only one page is in memory.
#[derive(Debug)]
pub(crate) struct StoredTrace<'s> {
    opened: &'s Opened,
    run: &'s str,
    after: u64,
    page: Vec<u8>,
    read: usize,
    is_last: bool,
}

impl<'s> StoredTrace<'s> {
    /// The trace of that run.
    pub(crate) fn of(opened: &'s Opened, run: &'s str) -> Self {
        StoredTrace { opened, run, after: 0, page: Vec::new(), read: 0, is_last: false }
    }

    /// A reader of its events.
    pub(crate) fn reader(self) -> JsonlReader<BufReader<Self>> {
        JsonlReader::new(BufReader::new(self))
    }

    fn next_page(&mut self) -> Result<(), StoreError> {
        let store = &self.opened.store;
        let rows = super::ask::beside(self.opened.handle(), store.trace(self.run, self.after, PAGE))?;
        self.is_last = rows.len() < PAGE;
        self.page.clear();
        self.read = 0;
        for row in rows {
            self.after = row.seq;
            self.page.extend_from_slice(row.json.as_bytes());
            self.page.push(b'\n');
        }
        Ok(())
    }
}

impl Read for StoredTrace<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.read == self.page.len() && !self.is_last {
            self.next_page().map_err(io::Error::other)?;
        }
        let left = &self.page[self.read..];
        let length = left.len().min(into.len());
        into[..length].copy_from_slice(&left[..length]);
        self.read += length;
        Ok(length)
    }
}
