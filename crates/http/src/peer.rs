//! The peer of a connection, and whether it closed its side.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// A connection that notes the end of its peer's side during an answer.
///
/// A request is answered though its client closed its side behind it. hyper then reads nothing until the answer is
/// complete, so an event stream would outlive its reader until the next comment.
pub(crate) struct PeerStream {
    stream: TcpStream,
    closed: watch::Sender<bool>,
}

impl PeerStream {
    pub(crate) fn new(stream: TcpStream) -> (Self, PeerClosed) {
        let (closed, seen) = watch::channel(false);
        (PeerStream { stream, closed }, PeerClosed(Some(seen)))
    }

    /// Looks for the end without taking a byte. A later end wakes the task of the connection.
    fn look(&self, cx: &mut Context<'_>) {
        if *self.closed.borrow() {
            return;
        }
        let mut byte = [0];
        match self.stream.poll_peek(cx, &mut ReadBuf::new(&mut byte)) {
            Poll::Ready(Ok(0) | Err(_)) => drop(self.closed.send_replace(true)),
            Poll::Ready(Ok(_)) | Poll::Pending => {}
        }
    }
}

impl AsyncRead for PeerStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for PeerStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper flushes each time that it is polled.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        self.look(cx);
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The end of the peer's side, for a handler. Without [`serve`](crate::serve) it never comes.
#[derive(Debug, Clone)]
pub(crate) struct PeerClosed(Option<watch::Receiver<bool>>);

impl PeerClosed {
    /// Ends when the peer closed its side.
    pub(crate) async fn wait(&mut self) {
        let is_closed = match &mut self.0 {
            Some(closed) => closed.wait_for(|is_closed| *is_closed).await.is_ok(),
            None => false,
        };
        if !is_closed {
            std::future::pending().await
        }
    }
}

impl<S: Sync> FromRequestParts<S> for PeerClosed {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or(PeerClosed(None)))
    }
}
