//! The pipes of a program, each with a thread of its own: a program that stops reading or writing holds that thread alone.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};

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

/// Keeps the last bytes of an output.
pub(crate) fn keep_last(mut output: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    loop {
        let read = match output.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => return,
            Ok(read) => read,
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&buffer[..read]);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }
}
