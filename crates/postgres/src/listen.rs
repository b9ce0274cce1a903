//! Notifications of other processes: a listening connection, which is restored after a loss.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::poll_fn;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_postgres::{AsyncMessage, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A listener. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    heard: Arc<Heard>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Heard {
    /// The count of notifications of input. Each waiting task has its own cursor.
    news: watch::Sender<u64>,
    /// The count of notifications of commits.
    commits: watch::Sender<u64>,
    /// Whether the listening connection works.
    is_connected: AtomicBool,
}

impl Heard {
    /// Counts a notification of input. Wakes all waiting tasks; a task that currently reads the store finds the new
    /// count.
    fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    fn connected(&self, is_connected: bool) {
        self.is_connected.store(is_connected, Ordering::Relaxed);
        // Input may have arrived without a listener, and a task with a long wait must now use the shorter limit.
        self.tell();
        self.tell_of_commits();
    }

    fn tell_of_commits(&self) {
        self.commits.send_modify(|count| *count += 1);
    }
}

impl Listener {
    /// Starts to listen on the channels of input and of commits.
    pub(crate) fn start(config: Config, tls: MakeRustlsConnect, channels: [String; 2]) -> Self {
        let heard = Arc::new(Heard::default());
        let task = tokio::spawn(listen_on(config, tls, channels, Arc::clone(&heard)));
        Listener { heard, task }
    }

    /// Waits until the count of input differs from `seen`, at most for `patience`, and without a connection at most
    /// for `poll`. Returns the count.
    pub(crate) async fn wait(&self, seen: u64, patience: Duration, poll: Duration) -> u64 {
        self.wait_for(&self.heard.news, seen, patience, poll).await
    }

    /// Returns the count of notifications of commits.
    pub(crate) fn commits(&self) -> u64 {
        *self.heard.commits.borrow()
    }

    /// Waits until the count of commits differs from `seen`, at most for `timeout`, and without a connection at most
    /// for `poll`.
    pub(crate) async fn wait_for_commit(&self, seen: u64, timeout: Duration, poll: Duration) {
        self.wait_for(&self.heard.commits, seen, timeout, poll).await;
    }

    async fn wait_for(
        &self,
        counts: &watch::Sender<u64>,
        seen: u64,
        patience: Duration,
        poll: Duration,
    ) -> u64 {
        let mut news = counts.subscribe();
        let is_connected = self.heard.is_connected.load(Ordering::Relaxed);
        let limit = if is_connected { patience } else { patience.min(poll) };
        // A timeout is not an error: there was no notification.
        drop(tokio::time::timeout(limit, news.wait_for(|count| *count != seen)).await);
        *counts.borrow()
    }
}

/// The shortest time between two notifications of commits.
const LEAST_PAUSE: Duration = Duration::from_millis(10);

/// The sender of notifications of commits, on a connection of its own. A notification within a commit would make
/// commits wait for the syncs of others. A lost notification does no harm: listeners also poll at the interval
/// `PostgresOptions::poll_every`.
#[derive(Debug)]
pub(crate) struct Teller {
    commits: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Teller {
    /// Starts to send on a channel.
    pub(crate) fn start(config: Config, tls: MakeRustlsConnect, channel: String) -> Self {
        let (commits, mut made) = watch::channel(());
        let task = tokio::spawn(async move {
            let mut pause = LEAST_PAUSE;
            loop {
                if tell_on(&config, &tls, &channel, &mut made).await {
                    pause = LEAST_PAUSE;
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        });
        Teller { commits, task }
    }

    /// Requests a notification of a commit.
    pub(crate) fn tell(&self) {
        self.commits.send_replace(());
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends notifications until the connection is lost. Returns whether there was one.
async fn tell_on(
    config: &Config,
    tls: &MakeRustlsConnect,
    channel: &str,
    made: &mut watch::Receiver<()>,
) -> bool {
    let Ok((client, connection)) = config.connect(tls.clone()).await else { return false };
    // Ends with this function in any case.
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    // A notification concerns current listeners only: it need not survive a crash of the server.
    let tell = format!("SELECT set_config('synchronous_commit', 'off', true), pg_notify('{channel}', '')");
    while made.changed().await.is_ok() {
        if !matches!(tokio::time::timeout(BEAT, client.batch_execute(&tell)).await, Ok(Ok(()))) {
            // The notification is sent on the next connection.
            made.mark_changed();
            return true;
        }
        tokio::time::sleep(LEAST_PAUSE).await;
    }
    true
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The interval at which a silent connection is checked, and the timeout of the check.
const BEAT: Duration = Duration::from_secs(15);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

async fn listen_on(config: Config, tls: MakeRustlsConnect, channels: [String; 2], heard: Arc<Heard>) {
    let mut pause = Duration::from_millis(100);
    loop {
        if listen_once(&config, &tls, &channels, &heard).await {
            pause = Duration::from_millis(100);
        }
        heard.connected(false);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Listens until the connection is lost. Returns whether there was one. The reason of a loss is not reported here,
/// since the store operations fail with it as well.
async fn listen_once(
    config: &Config,
    tls: &MakeRustlsConnect,
    channels: &[String; 2],
    heard: &Arc<Heard>,
) -> bool {
    let [news, commits] = channels;
    let listen = format!("LISTEN \"{news}\"; LISTEN \"{commits}\"");
    let Ok((client, mut connection)) = config.connect(tls.clone()).await else { return false };
    // Ends with this function in any case.
    let mut reader = JoinSet::new();
    let (told, commits) = (Arc::clone(heard), commits.clone());
    reader.spawn(async move {
        let mut messages = poll_fn(|context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            match message {
                AsyncMessage::Notification(sent) if sent.channel() == commits => told.tell_of_commits(),
                AsyncMessage::Notification(_) => told.tell(),
                _ => {}
            }
        }
    });
    if !matches!(tokio::time::timeout(BEAT, client.batch_execute(&listen)).await, Ok(Ok(()))) {
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
