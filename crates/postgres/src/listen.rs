//! News of other processes: a connection that listens, and is made anew when it is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::poll_fn;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_postgres::{AsyncMessage, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Who listens, until this is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    heard: Arc<Heard>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Heard {
    /// How often there were news. Each who waits knows how many it has heard of.
    news: watch::Sender<u64>,
    /// Do notifications come?
    is_connected: AtomicBool,
}

impl Heard {
    /// All who wait are woken, and who looks at the store meanwhile finds it counted.
    fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    fn connected(&self, is_connected: bool) {
        self.is_connected.store(is_connected, Ordering::Relaxed);
        // What came in while nobody listened is looked for, and who waits for long looks again sooner.
        self.tell();
    }
}

impl Listener {
    /// Begins to listen on a channel.
    pub(crate) fn start(config: Config, tls: MakeRustlsConnect, channel: &str) -> Self {
        let heard = Arc::new(Heard::default());
        let listen = format!("LISTEN \"{channel}\"");
        let task = tokio::spawn(listen_on(config, tls, listen, Arc::clone(&heard)));
        Listener { heard, task }
    }

    /// Waits until there are more news than were `seen`, for `patience` at most, and where none are told for `poll` at most.
    /// Says how many there are.
    pub(crate) async fn wait(&self, seen: u64, patience: Duration, poll: Duration) -> u64 {
        let mut news = self.heard.news.subscribe();
        let is_connected = self.heard.is_connected.load(Ordering::Relaxed);
        let limit = if is_connected { patience } else { patience.min(poll) };
        // Longer than that is no error: nothing came.
        drop(tokio::time::timeout(limit, news.wait_for(|count| *count != seen)).await);
        *self.heard.news.borrow()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A connection that is silent is asked this often whether it is there, and has this long to say so.
const BEAT: Duration = Duration::from_secs(15);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

async fn listen_on(config: Config, tls: MakeRustlsConnect, listen: String, heard: Arc<Heard>) {
    let mut pause = Duration::from_millis(100);
    loop {
        if listen_once(&config, &tls, &listen, &heard).await {
            pause = Duration::from_millis(100);
        }
        heard.connected(false);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Listens until the connection is lost, and says whether there was one. Why it was lost is told by the operations that need
/// the server; they fail as well.
async fn listen_once(config: &Config, tls: &MakeRustlsConnect, listen: &str, heard: &Arc<Heard>) -> bool {
    let Ok((client, mut connection)) = config.connect(tls.clone()).await else { return false };
    // Ends with this function, however that ends.
    let mut reader = JoinSet::new();
    let told = Arc::clone(heard);
    reader.spawn(async move {
        let mut messages = poll_fn(|context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            if matches!(message, AsyncMessage::Notification(_)) {
                told.tell();
            }
        }
    });
    if !matches!(tokio::time::timeout(BEAT, client.batch_execute(listen)).await, Ok(Ok(()))) {
        return false;
    }
    heard.connected(true);
    loop {
        tokio::select! {
            _ = reader.join_next() => return true,
            () = tokio::time::sleep(BEAT) => {}
        }
        if !matches!(tokio::time::timeout(BEAT, client.batch_execute("")).await, Ok(Ok(()))) {
            return true;
        }
    }
}
