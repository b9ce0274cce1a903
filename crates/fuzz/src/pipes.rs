//! The pipes of a program, each with a thread of its own: a program that stops reading or writing holds that thread alone.

use std::collections::VecDeque;
#[cfg(unix)]
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum length of a line, in bytes.
pub(crate) const LINE: usize = 1024 * 1024;
/// The part of standard error that is kept, in bytes.
const KEPT: usize = 64 * 1024;

/// The output of a program.
#[derive(Debug)]
pub(crate) enum Line {
    Text(String),
    NoUtf8,
    TooLong,
}

/// Writes lines until the program is gone or no more come. The end of the channel closes the input.
pub(crate) fn write_lines(mut input: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Reads lines until the end of the output, or until the reader is gone. A program that writes without being asked is stopped
/// by the full pipe.
pub(crate) fn read_lines(output: impl Read, to: &SyncSender<Line>) {
    let mut output = BufReader::new(output);
    loop {
        let mut bytes = Vec::new();
        let read =
            (&mut output).take(u64::try_from(LINE).unwrap_or(u64::MAX) + 1).read_until(b'\n', &mut bytes);
        let line = match read {
            Ok(0) | Err(_) => return,
            Ok(_) if bytes.len() > LINE && bytes.last() != Some(&b'\n') => Line::TooLong,
            Ok(_) => match String::from_utf8(bytes) {
                Ok(text) => Line::Text(text.trim_end_matches(['\n', '\r']).to_owned()),
                Err(_) => Line::NoUtf8,
            },
        };
        let is_end = matches!(line, Line::TooLong);
        if to.send(line).is_err() || is_end {
            return;
        }
    }
}

/// The standard error of a program. A thread reads it, so that the program never waits for a reader.
#[derive(Debug)]
pub(crate) struct Errors {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Disconnected when the output ends.
    end: Receiver<()>,
    #[cfg(unix)]
    output: Arc<File>,
}

impl Errors {
    /// Starts the thread.
    ///
    /// # Errors
    /// The output cannot be set to be read without waiting.
    pub(crate) fn of(output: ChildStderr) -> io::Result<Self> {
        let kept: Arc<Mutex<VecDeque<u8>>> = Arc::default();
        let (ended, end) = sync_channel::<()>(0);
        let to = Arc::clone(&kept);
        #[cfg(unix)]
        let (output, reader) = {
            rustix::io::ioctl_fionbio(&output, true)?;
            let output = Arc::new(File::from(OwnedFd::from(output)));
            (Arc::clone(&output), output)
        };
        #[cfg(not(unix))]
        let reader = output;
        thread::spawn(move || {
            #[cfg(unix)]
            keep_last(&reader, &to);
            #[cfg(not(unix))]
            keep_last(reader, &to);
            drop(ended);
        });
        Ok(Errors {
            kept,
            end,
            #[cfg(unix)]
            output,
        })
    }

    /// Waits for the end of the output, at most for this time.
    pub(crate) fn wait(&self, limit: Duration) {
        self.end.recv_timeout(limit).ok();
    }

    /// The last bytes that the program has written. On Unix all that it wrote before its last reply is among them: what the
    /// thread has not read yet is read here.
    pub(crate) fn last(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(unix)]
        read_present(&self.output, &mut kept);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }
}

/// Keeps the last bytes of an output until its end.
#[cfg(unix)]
fn keep_last(output: &File, kept: &Mutex<VecDeque<u8>>) {
    use rustix::event::{PollFd, PollFlags, poll};
    loop {
        // After an interrupted wait nothing is read.
        poll(&mut [PollFd::new(output, PollFlags::IN)], None).ok();
        if read_present(output, &mut kept.lock().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
    }
}

/// Reads the bytes of an output that are there. Returns whether it has ended.
#[cfg(unix)]
fn read_present(mut output: &File, kept: &mut VecDeque<u8>) -> bool {
    /// The greatest pipe, in bytes: a program that never stops writing holds its reader no longer.
    const PIPE: usize = 1024 * 1024;
    let (mut buffer, mut left) = ([0; 4096], PIPE);
    while left > 0 {
        match output.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Ok(0) | Err(_) => return true,
            Ok(read) => {
                keep(kept, &buffer[..read]);
                left = left.saturating_sub(read);
            }
        }
    }
    false
}

/// Keeps the last bytes of an output until its end.
#[cfg(not(unix))]
fn keep_last(mut output: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    loop {
        match output.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return,
            Ok(read) => keep(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), &buffer[..read]),
        }
    }
}

fn keep(kept: &mut VecDeque<u8>, bytes: &[u8]) {
    kept.extend(bytes);
    let over = kept.len().saturating_sub(KEPT);
    kept.drain(..over);
}
