//! A trace as JSON lines: one event per line.

use std::io::{self, BufRead, Read, Write};
use std::str::Utf8Error;

use super::event::Event;
use super::line;
use super::read_error::{Problem, ReadError};

/// The maximum length of a line: 16 MiB.
pub const LONGEST_LINE: usize = 16 << 20;

/// A writer of traces, one event per line.
///
/// It has no buffer. Pass a [`BufWriter`](io::BufWriter) for speed.
///
/// # Example
/// ```
/// use runstate::trace::{JsonlReader, JsonlWriter};
///
/// let text = concat!(
///     r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"run","instance":"r1","event":"create","from":null,"to":"Running"}"#,
///     "\n"
/// );
/// let mut reader = JsonlReader::new(text.as_bytes());
/// let mut writer = JsonlWriter::new(Vec::new());
/// while let Some(event) = reader.read()? {
///     writer.write(&event)?;
/// }
/// assert_eq!(writer.into_inner(), text.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JsonlWriter<W> {
    out: W,
}

impl<W: Write> JsonlWriter<W> {
    /// Makes a writer to `out`.
    pub fn new(out: W) -> Self {
        JsonlWriter { out }
    }

    /// Writes one line.
    ///
    /// # Errors
    /// The errors of the destination. A part of the line may be written then.
    pub fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, event)?;
        self.out.write_all(b"\n")
    }

    /// Flushes the destination.
    ///
    /// # Errors
    /// The errors of the destination.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Returns the destination.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// A reader of traces, line by line, with one line in memory.
///
/// It skips lines of white space. It accepts a byte order mark, a carriage return before the line break and a missing
/// line break at the end of the input. It rejects lines beyond [`LONGEST_LINE`]. After an error it stops.
///
/// # Example
/// ```
/// use runstate::trace::{JsonlReader, Problem};
///
/// let error = JsonlReader::new(&br#"{"seq":1,"at_"#[..]).read().unwrap_err();
/// assert!(matches!(error.problem(), Problem::Cut));
///
/// let error = JsonlReader::new(&b""[..]).read().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 1, column 1: expected a trace, one JSON object a line, got no events at all",
/// );
/// ```
#[derive(Debug)]
pub struct JsonlReader<R> {
    input: R,
    buffer: Vec<u8>,
    line: u64,
    events: u64,
    done: bool,
}

impl<R: BufRead> JsonlReader<R> {
    /// Makes a reader of `input`.
    pub fn new(input: R) -> Self {
        JsonlReader { input, buffer: Vec::new(), line: 0, events: 0, done: false }
    }

    /// The number of the last line, from 1; 0 before the first.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Reads the next event; none at the end of the input. The event borrows from the reader until the next call.
    ///
    /// # Errors
    /// When a line is no event, when the whole input has no event, and the errors of the input.
    pub fn read(&mut self) -> Result<Option<Event<'_>>, ReadError> {
        self.read_numbered().map(|read| read.map(|(_, event)| event))
    }

    /// Reads the next event with the number of its line, from 1.
    ///
    /// # Errors
    /// The errors of [`read`](JsonlReader::read).
    pub fn read_numbered(&mut self) -> Result<Option<(u64, Event<'_>)>, ReadError> {
        if self.done {
            return Ok(None);
        }
        // Set until a valid event resets it, so that an error ends the reading.
        self.done = true;
        loop {
            self.buffer.clear();
            let most = LONGEST_LINE as u64 + 1;
            self.line += 1;
            let read = self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer);
            match read {
                Err(error) => return Err(ReadError::at(self.line, Problem::Io(error))),
                Ok(0) if self.events == 0 => return Err(ReadError::at(self.line, Problem::Empty)),
                Ok(0) => return Ok(None),
                Ok(_) => {}
            }
            if self.buffer.len() > LONGEST_LINE && self.buffer.last() != Some(&b'\n') {
                return Err(ReadError::at(self.line, Problem::TooLong { limit: LONGEST_LINE }));
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let event = one(&self.buffer, self.line)?;
        self.events += 1;
        self.done = false;
        Ok(Some((self.line, event)))
    }
}

fn one(bytes: &[u8], number: u64) -> Result<Event<'_>, ReadError> {
    let bytes = if number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
    let whole = bytes.ends_with(b"\n");
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let text = str::from_utf8(bytes).map_err(|error| not_text(bytes, number, whole, &error))?;
    line::parse(text).map_err(|mut found| {
        if !whole && matches!(found.problem, Problem::Unfinished) {
            found.problem = Problem::Cut;
        }
        ReadError::within(number, text, found)
    })
}

fn not_text(bytes: &[u8], number: u64, whole: bool, error: &Utf8Error) -> ReadError {
    let byte = error.valid_up_to();
    // A last line that ends inside a character is cut, not binary.
    let cut = !whole && error.error_len().is_none() && bytes.starts_with(b"{");
    let problem = if cut { Problem::Cut } else { Problem::NotText { byte: bytes[byte] } };
    ReadError::within(number, &String::from_utf8_lossy(bytes), line::Found { byte, problem })
}

/// The remaining events of the trace, with owned data.
impl<R: BufRead> Iterator for JsonlReader<R> {
    type Item = Result<Event<'static>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().map(|event| event.map(Event::into_owned)).transpose()
    }
}
