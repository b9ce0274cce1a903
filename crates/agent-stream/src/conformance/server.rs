//! A server on the loopback address that plays scripts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::strict;

/// A step of a connection, after its request.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Send(Vec<u8>),
    /// Sends the bytes again, with this pause, as often as this.
    Repeat(Vec<u8>, Duration, u32),
    /// Waits for a release.
    Gate,
    /// Resets the connection.
    Reset,
    /// Sends nothing more, until the client goes.
    Hang,
}

pub(super) fn send(text: impl Into<String>) -> Step {
    Step::Send(text.into().into_bytes())
}

/// The head of a stream of events that ends with its connection.
pub(super) fn head() -> Step {
    send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
}

/// A whole response without a stream. `more` is further headers, each with its line end.
pub(super) fn response(status: u16, more: &str, kind: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    vec![send(format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n{body}"
    ))]
}

/// A request, as it came.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) head: String,
    pub(super) body: Value,
}

/// A listener that plays one script for each connection. It refuses a request that breaks a rule of strict servers.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: String,
    pub(super) gate: Arc<Notify>,
    task: JoinHandle<Vec<Request>>,
}

impl Server {
    pub(super) async fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener =
            TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no port: {error}"));
        let gate = Arc::new(Notify::new());
        let opened = Arc::clone(&gate);
        let task = tokio::spawn(async move {
            let mut requests = Vec::new();
            for script in scripts {
                let Ok((mut stream, _)) = listener.accept().await else { break };
                let request = request(&mut stream).await;
                let script = match strict::check(&request.body) {
                    Ok(()) => script,
                    Err(why) => {
                        let body = serde_json::json!({ "error": { "message": why } });
                        response(400, "", "application/json", &body.to_string())
                    }
                };
                requests.push(request);
                play(stream, script, &opened).await;
            }
            requests
        });
        Server { address: format!("http://{address}"), gate, task }
    }

    /// All requests, after all scripts were played.
    pub(super) async fn requests(self) -> Vec<Request> {
        self.task.await.unwrap_or_else(|error| panic!("the server failed: {error}"))
    }
}

async fn request(stream: &mut TcpStream) -> Request {
    let mut got = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&got).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                |line: &str| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok();
            if body.len() >= head.lines().find_map(length).unwrap_or(0_usize) {
                let body = serde_json::from_str(body).unwrap_or_default();
                return Request { head: head.to_owned(), body };
            }
        }
        if stream.read_buf(&mut got).await.unwrap_or(0) == 0 {
            return Request { head: text, body: Value::Null };
        }
    }
}

async fn play(mut stream: TcpStream, script: Vec<Step>, gate: &Notify) {
    let _late = stream.set_nodelay(true);
    for step in script {
        match step {
            Step::Send(bytes) => {
                // The client may have gone.
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
                // The client reads this piece by itself.
                tokio::task::yield_now().await;
            }
            Step::Repeat(bytes, pause, times) => {
                for _ in 0..times {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(pause).await;
                }
            }
            Step::Gate => gate.notified().await,
            Step::Reset => {
                let _reset = stream.set_zero_linger();
                return;
            }
            Step::Hang => {
                let _gone = stream.read_u8().await;
                return;
            }
        }
    }
    let _closed = stream.shutdown().await;
}
