//! Stands between a store and a server: counts answers, loses some, cuts connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What it does with what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Forwards,
    /// What is asked goes to the server, and the connection is cut once its answer is there.
    LosesAnswers,
    /// All connections are cut, and new ones as well.
    Cuts,
}

#[derive(Debug)]
pub struct Proxy {
    pub port: u16,
    does: watch::Sender<Does>,
    /// How often a server said that it is ready for the next question, on the first connection: once for each round trip.
    rounds: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub async fn before(server: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (does, seen) = watch::channel(Does::Forwards);
        let rounds = Arc::new(AtomicU64::new(0));
        let mut counted = Arc::clone(&rounds);
        let task = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(forward(client, server, seen.clone(), std::mem::take(&mut counted)));
            }
        });
        Proxy { port, does, rounds, task }
    }

    pub fn does(&self, does: Does) {
        self.does.send_replace(does);
    }

    pub fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::SeqCst)
    }

    /// The same place, by way of this.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(mut client: TcpStream, server: u16, does: watch::Receiver<Does>, rounds: Arc<AtomicU64>) {
    if *does.borrow() == Does::Cuts {
        return;
    }
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut frames = Frames::default();
    loop {
        tokio::select! {
            read = client.read(&mut asked) => match read {
                Ok(length @ 1..) if server.write_all(&asked[..length]).await.is_ok() => {}
                _ => return,
            },
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                rounds.fetch_add(frames.ready(&answered[..length]), Ordering::SeqCst);
                if *does.borrow() != Does::Forwards || client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            },
            () = until_cut(does.clone()) => return,
        }
    }
}

async fn until_cut(mut does: watch::Receiver<Does>) {
    // It ends as well when the proxy is gone.
    drop(does.wait_for(|does| *does == Does::Cuts).await);
}

/// The messages of a server: a byte that says what it is, and a length that counts itself.
#[derive(Default)]
struct Frames {
    head: Vec<u8>,
    skip: usize,
}

impl Frames {
    /// How many of these messages, or ends of messages, are `ReadyForQuery`.
    fn ready(&mut self, mut bytes: &[u8]) -> u64 {
        let mut ready = 0;
        while !bytes.is_empty() {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
            let Some((first, rest)) = bytes.split_first() else { break };
            if self.skip > 0 {
                continue;
            }
            self.head.push(*first);
            bytes = rest;
            if let [what, length @ ..] = &*self.head
                && let Ok(length) = <[u8; 4]>::try_from(length)
            {
                ready += u64::from(*what == b'Z');
                self.skip = u32::from_be_bytes(length) as usize - 4;
                self.head.clear();
            }
        }
        ready
    }
}
