//! Stands between the command and a server, and loses an answer.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// How many answers are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loses {
    /// One.
    Once,
    /// One, and nobody gets through after it.
    ForGood,
}

/// Forwards what is asked. Once the server has answered what has that text in it, the connection is cut instead.
pub(crate) struct Lossy {
    server: u16,
    marker: &'static [u8],
    loses: Loses,
    has_lost: AtomicBool,
}

impl Lossy {
    /// The port on which it stands before that of the server. It goes with the process of the test.
    pub(crate) fn before(server: u16, marker: &'static str, loses: Loses) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let lossy = Lossy { server, marker: marker.as_bytes(), loses, has_lost: AtomicBool::new(false) };
        let lossy = Arc::new(lossy);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if lossy.has_lost() && lossy.loses == Loses::ForGood {
                    continue;
                }
                Arc::clone(&lossy).forward(client);
            }
        });
        port
    }

    fn has_lost(&self) -> bool {
        self.has_lost.load(Ordering::SeqCst)
    }

    fn forward(self: Arc<Self>, client: TcpStream) {
        let server = TcpStream::connect(("127.0.0.1", self.server)).unwrap();
        let is_asked = Arc::new(AtomicBool::new(false));
        let (asks, asked) =
            ((client.try_clone().unwrap(), server.try_clone().unwrap()), Arc::clone(&is_asked));
        let marker = self.marker;
        // Noted before it is passed on, so that it is known when the answer comes.
        let mut seen = Vec::new();
        thread::spawn(move || {
            pass(asks.0, asks.1, |bytes| {
                seen.extend_from_slice(bytes);
                let has_marker = seen.windows(marker.len()).any(|part| part == marker);
                asked.fetch_or(has_marker, Ordering::SeqCst);
                true
            });
        });
        thread::spawn(move || {
            pass(server, client, |_| {
                !is_asked.load(Ordering::SeqCst) || self.has_lost.swap(true, Ordering::SeqCst)
            });
        });
    }
}

/// Passes on what comes, as long as it may; then nobody hears anything any more.
fn pass(mut from: TcpStream, mut to: TcpStream, mut may: impl FnMut(&[u8]) -> bool) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if !may(&bytes[..length]) || to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    for end in [&from, &to] {
        end.shutdown(Shutdown::Both).ok();
    }
}
