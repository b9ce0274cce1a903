//! A run's state and its trace on disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use runstate::agent::{CommitError, Delta, RunState, StateCommitter, StoredRun, async_trait};
use runstate::checkpoint::Due;
use runstate::clock::{Clock, TokioClock};
use runstate::trace::Recorder;
use serde::{Deserialize, Serialize};

use super::progress::Progress;
use crate::failure::Failure;
use crate::input::{self, TEXT_LIMIT};
use crate::runs::{RunFolder, replace};

/// What `state.json` holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateFile {
    /// When the run was created, in milliseconds since the beginning of 1970; the trace counts from there.
    pub(crate) created_unix_ms: u64,
    /// The run's time when this was written: that of a run whose delays are played may be ahead of the day's.
    #[serde(default)]
    pub(crate) now_ms: u64,
    /// How much of `trace.jsonl` belongs to this state. What a crash left behind that is cut off.
    pub(crate) trace_bytes: u64,
    /// The number of the next event of the trace.
    pub(crate) next_seq: u64,
    /// The run, sealed.
    pub(crate) state: StoredRun,
}

impl StateFile {
    /// Reads the state of a run.
    ///
    /// # Errors
    /// A file that cannot be read or is no state, with the place.
    pub(crate) fn read(folder: &RunFolder) -> Result<Self, Failure> {
        let path = folder.state();
        let source = input::read_text(&path.to_string_lossy(), TEXT_LIMIT)?;
        input::json(&source)
    }
}

/// Commits a run: its new events to the trace, then its state, which says how long the trace is.
///
/// So the state is the authority: a crash between the two leaves a trace that is too long, and is cut to the state's
/// length when the run is resumed.
#[derive(Debug)]
pub(super) struct Checkpoints<'a> {
    folder: &'a RunFolder,
    recorder: &'a Recorder,
    progress: &'a Progress,
    trace: File,
    trace_bytes: u64,
    clock: TokioClock,
    created_unix_ms: u64,
}

impl<'a> Checkpoints<'a> {
    /// Of a run whose trace has that length.
    ///
    /// # Errors
    /// A trace that cannot be opened, or is shorter than its state says.
    pub(super) fn open(
        folder: &'a RunFolder,
        recorder: &'a Recorder,
        progress: &'a Progress,
        clock: TokioClock,
        created_unix_ms: u64,
        trace_bytes: u64,
    ) -> Result<Self, Failure> {
        let path = folder.trace();
        let refuse = |error: io::Error| Failure::io("open", &path, &error);
        let mut trace = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(refuse)?;
        cut(&mut trace, &path, trace_bytes)?;
        Ok(Checkpoints { folder, recorder, progress, trace, trace_bytes, clock, created_unix_ms })
    }

    /// Writes the state and the events before it.
    ///
    /// # Errors
    /// Those of the operating system. The events that were not written are kept, and are written the next time.
    pub(super) fn write(&mut self, state: &RunState) -> Result<(), CommitError> {
        let events = self.recorder.events();
        let mut lines = Vec::new();
        for event in &events {
            lines.extend_from_slice(event.to_json().as_bytes());
            lines.push(b'\n');
        }
        let file = StateFile {
            created_unix_ms: self.created_unix_ms,
            now_ms: self.clock.now_ms(),
            trace_bytes: self.trace_bytes + lines.len() as u64,
            next_seq: self.recorder.next_seq(),
            state: StoredRun::of(state).map_err(|error| CommitError::new(error.to_string()))?,
        };
        let content = serde_json::to_string_pretty(&file).map_err(CommitError::new)?;
        self.append(&lines).map_err(CommitError::new)?;
        replace(&self.folder.state(), format!("{content}\n").as_bytes()).map_err(CommitError::new)?;
        self.trace_bytes = file.trace_bytes;
        drop(self.recorder.take());
        self.progress.moved(&events, state);
        Ok(())
    }

    /// Appends behind what was committed, also when an earlier try left a part.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.trace.set_len(self.trace_bytes)?;
        self.trace.seek(SeekFrom::Start(self.trace_bytes))?;
        self.trace.write_all(lines)?;
        self.trace.sync_data()
    }
}

#[async_trait]
impl StateCommitter for Checkpoints<'_> {
    async fn commit(&mut self, _: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        self.write(delta.state())
    }
}

/// Cuts what was never committed, if what was is there.
fn cut(trace: &mut File, path: &Path, committed: u64) -> Result<(), Failure> {
    let refuse = |error: io::Error| Failure::io("read", path, &error);
    let length = trace.metadata().map_err(refuse)?.len();
    let mut last = [b'\n'];
    if committed > 0 && committed <= length {
        trace.seek(SeekFrom::Start(committed - 1)).map_err(refuse)?;
        trace.read_exact(&mut last).map_err(refuse)?;
    }
    if committed > length || last != [b'\n'] {
        return Err(Failure::new(format!(
            "{} does not belong to the state beside it: expected {committed} bytes that end with a line, got {length}",
            path.display()
        ))
        .with_help("restore both files from one backup"));
    }
    trace.set_len(committed).map_err(refuse)
}
