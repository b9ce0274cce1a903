//! A server that says exactly what a test wants it to say.

use std::time::Duration;

use futures_util::StreamExt;
use runstate_openai::{Chat, OpenAi};
use runstate_stream::{SourceError, StreamEvent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What is done on one connection, once the request has come.
#[derive(Clone)]
pub enum Act {
    /// These bytes go out, and out at once.
    Send(Vec<u8>),
    Pause(Duration),
    /// The connection is reset, with nothing more to be read.
    Cut,
    /// Nothing more is said, and the connection stays.
    Hang,
}

pub fn send(text: impl Into<String>) -> Act {
    Act::Send(text.into().into_bytes())
}

/// The head of a stream of events, whose end is the end of the connection.
pub fn events_head() -> Act {
    send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
}

/// One event with this chunk of an answer.
pub fn chunk(choice: &str) -> String {
    format!("data: {{\"id\":\"a1\",\"choices\":[{choice}]}}\n\n")
}

pub fn text(text: &str) -> String {
    chunk(&format!("{{\"index\":0,\"delta\":{{\"content\":{}}}}}", serde_json::to_string(text).unwrap()))
}

pub fn finish(reason: &str) -> String {
    chunk(&format!("{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}"))
}

/// A listener that serves one script for each connection, and keeps the requests.
pub struct Server {
    pub base: String,
    task: JoinHandle<Vec<String>>,
}

impl Server {
    pub async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            let mut requests = vec![];
            let mut open = vec![];
            for script in scripts {
                let (mut stream, _) = listener.accept().await.unwrap();
                requests.push(request(&mut stream).await);
                open.push(tokio::spawn(act(stream, script)));
            }
            for connection in open {
                connection.await.unwrap();
            }
            requests
        });
        Server { base, task }
    }

    pub fn client(&self) -> OpenAi {
        OpenAi::new(&self.base).unwrap()
    }

    /// All requests, after all scripts were played.
    pub async fn requests(self) -> Vec<String> {
        self.task.await.unwrap()
    }
}

async fn request(stream: &mut TcpStream) -> String {
    stream.set_nodelay(true).unwrap();
    let mut got = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&got).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0usize) {
                return text;
            }
        }
        if stream.read_buf(&mut got).await.unwrap_or(0) == 0 {
            return text;
        }
    }
}

async fn act(mut stream: TcpStream, script: Vec<Act>) {
    for act in script {
        match act {
            Act::Send(bytes) => {
                // Whoever is asked may have gone.
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
                // So that the client sees this piece by itself.
                tokio::task::yield_now().await;
            }
            Act::Pause(time) => tokio::time::sleep(time).await,
            Act::Cut => {
                stream.set_zero_linger().unwrap();
                return;
            }
            Act::Hang => {
                // Until the client goes.
                let _gone = stream.read_u8().await;
                return;
            }
        }
    }
    let _closed = stream.shutdown().await;
}

/// What came of one request: the events, and the failure that ended them.
pub async fn ask(client: &OpenAi) -> (Vec<StreamEvent>, Option<SourceError>) {
    answer_to(client, Chat::new("m").user("hello")).await
}

pub async fn answer_to(client: &OpenAi, chat: Chat) -> (Vec<StreamEvent>, Option<SourceError>) {
    let mut events = vec![];
    let mut stream = match client.stream(&chat).await {
        Ok(stream) => stream,
        Err(error) => return (events, Some(error)),
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "a failure is the last");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// The same of a server that plays this one script.
pub async fn of(script: Vec<Act>) -> (Vec<StreamEvent>, Option<SourceError>) {
    let server = Server::start(vec![script]).await;
    ask(&server.client()).await
}

/// The answer's events alone, where all is well: neither progress nor signs of life nor why and that it ended.
pub fn answer(outcome: (Vec<StreamEvent>, Option<SourceError>)) -> Vec<StreamEvent> {
    let (mut events, failure) = outcome;
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(events.pop(), Some(StreamEvent::Complete));
    events.retain(|event| {
        !matches!(event, StreamEvent::Progress(_) | StreamEvent::Finish(_) | StreamEvent::Alive)
    });
    events
}

pub fn tokens(texts: &[&str]) -> Vec<StreamEvent> {
    texts.iter().map(|text| StreamEvent::token(*text)).collect()
}
