//! Bounded streams of server-sent events.

use std::io;

use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use sse_stream::{Error, Sse, SseStream};

/// The size of the event that is being read.
struct Limit {
    most: usize,
    event: usize,
    line: usize,
}

impl Limit {
    fn admits(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            match byte {
                // An empty line ends an event. The line of a CRLF is empty only if the one before it was.
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => self.line += 1,
            }
            self.event += 1;
            if self.event > self.most {
                return false;
            }
        }
        true
    }
}

/// The events of a body. An event of more than `most` bytes ends the stream with an error.
pub(crate) fn events<E>(
    body: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    most: usize,
) -> BoxStream<'static, Result<Sse, Error>>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let mut limit = Limit { most, event: 0, line: 0 };
    let mut failed = false;
    let bounded = body.map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        failed = failed || !limit.admits(&chunk);
        if failed { Err(io::Error::other("an event is too long")) } else { Ok(chunk) }
    });
    SseStream::from_bytes_stream(bounded).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(most: usize, chunks: &[&str]) -> bool {
        let mut limit = Limit { most, event: 0, line: 0 };
        chunks.iter().all(|chunk| limit.admits(chunk.as_bytes()))
    }

    #[test]
    fn each_event_has_the_limit() {
        for end in ["\n\n", "\r\n\r\n"] {
            let event = format!("data: 1234{end}");
            assert!(admitted(20, &[&event, &event, &event]));
            assert!(!admitted(8, &[&event]));
        }
        assert!(!admitted(20, &["data: 1\ndata: 2\n", "data: 3\ndata: 4\n"]));
    }
}
