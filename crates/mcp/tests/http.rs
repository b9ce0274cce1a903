//! Servers over streamable HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use runstate::decision::DecisionAction::Resume;
use runstate_mcp::{Server, ServerOptions};
use serde_json::{Value, json};

use super::agent::{World, results};
use super::server::Mcp;

/// The behaviour of a server.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Its answers are JSON.
    Json,
    /// Its answers are events.
    Events,
    /// It has a session, which it loses after the first call.
    Forgets,
    /// It has a session, and refuses calls with 400 for another reason.
    Refuses,
    /// It refuses each request.
    Status(u16),
    /// It sends an event that never ends.
    Endless,
}

struct Http {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Http {
    fn new(folder: &Path, kind: Kind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let (noted, folder): (_, PathBuf) = (Arc::clone(&heads), folder.to_owned());
        let server = Arc::new(Mutex::new(Mcp::new(&folder)));
        let calls = Arc::new(Mutex::new(0));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (noted, server, calls) = (Arc::clone(&noted), Arc::clone(&server), Arc::clone(&calls));
                thread::spawn(move || answer(stream, kind, &noted, &server, &calls));
            }
        });
        Http { address, heads }
    }

    fn options(&self) -> ServerOptions {
        ServerOptions::http("t", format!("http://{}/mcp", self.address))
    }
}

fn answer(
    stream: TcpStream,
    kind: Kind,
    heads: &Mutex<Vec<String>>,
    server: &Mutex<Mcp>,
    calls: &Mutex<u32>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    heads.lock().unwrap().push(head.clone());
    let stream = reader.get_mut();
    let mut reply = |status: u16, more: &str, body: &str| {
        let size = body.len();
        write!(
            stream,
            "HTTP/1.1 {status} X\r\ncontent-length: {size}\r\nconnection: close\r\n{more}\r\n{body}"
        )
        .ok()
    };
    if let Kind::Status(status) = kind {
        return reply(status, "location: /other\r\n", "the key is sk-12345678");
    }
    if !head.starts_with("POST") {
        return reply(405, "", "");
    }
    let message: Value = serde_json::from_slice(&body).ok()?;
    let is_call = message["method"] == "tools/call";
    if kind == Kind::Forgets && message["method"] != "initialize" && message["method"] != "server/discover" {
        let calls = *calls.lock().unwrap();
        if !head.to_lowercase().contains(&format!("mcp-session-id: s{calls}")) {
            return reply(400, "content-type: application/json\r\n", "{\"error\": \"no session\"}");
        }
    }
    if kind == Kind::Refuses && is_call {
        return reply(400, "content-type: application/json\r\n", "{\"error\": \"no such account\"}");
    }
    let mut answers = Vec::new();
    server.lock().unwrap().take(&message, &mut |answer| answers.push(answer), &mut || None);
    if answers.is_empty() {
        return reply(202, "", "");
    }
    let session = match kind {
        Kind::Refuses => "mcp-session-id: s\r\n".to_owned(),
        Kind::Forgets => format!("mcp-session-id: s{}\r\n", calls.lock().unwrap()),
        _ => String::new(),
    };
    if kind == Kind::Forgets && is_call {
        *calls.lock().unwrap() += 1;
    }
    if kind == Kind::Endless && is_call {
        let part = format!("data: {}\n", "x".repeat(1 << 20));
        stream
            .write_all(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            .ok()?;
        while stream.write_all(part.as_bytes()).is_ok() {}
        return None;
    }
    if kind == Kind::Events {
        let events: String =
            answers.iter().map(|answer| format!("event: message\ndata: {answer}\n\n")).collect();
        return reply(200, "content-type: text/event-stream\r\n", &events);
    }
    reply(200, &format!("content-type: application/json\r\n{session}"), &answers.pop()?.to_string())
}

#[tokio::test]
async fn answers_are_json_or_events() {
    for kind in [Kind::Json, Kind::Events] {
        let folder = tempfile::tempdir().unwrap();
        let http = Http::new(folder.path(), kind);
        let mut world =
            World::new(http.options().header("x-key", "sk-12345678"), &[("read", "my sk-12345678")]);
        let state = world.start().await;
        assert_eq!(results(&state), [Ok(json!("my [key]"))], "a key that the server repeats is withheld");
        let heads = http.heads.lock().unwrap();
        assert!(heads.iter().all(|head| head.contains("x-key: sk-12345678")), "{heads:?}");
    }
}

#[tokio::test]
async fn progress_arrives_with_events() {
    let folder = tempfile::tempdir().unwrap();
    let http = Http::new(folder.path(), Kind::Events);
    let mut world = World::new(http.options(), &[("slow", "")]);
    let state = world.start().await;
    assert_eq!(results(&state), [Ok(json!("done"))]);
}

#[tokio::test]
async fn session_that_the_server_forgets_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let http = Http::new(folder.path(), Kind::Forgets);
    let mut world = World::new(http.options(), &[("write", "a"), ("write", "b")]);
    let state = world.start().await;
    assert_eq!(results(&state), [Ok(json!("written")), Ok(json!("written"))]);
    assert_eq!(std::fs::read_to_string(folder.path().join("written")).unwrap(), "a\nb\n");
}

#[tokio::test]
async fn refused_call_is_sent_once_with_the_reason_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let http = Http::new(folder.path(), Kind::Refuses);
    let mut world = World::new(http.options(), &[("write", "a")]);
    let beginnings = || {
        let heads = http.heads.lock().unwrap();
        heads.iter().filter(|head| !head.to_lowercase().contains("mcp-session-id")).count()
    };
    world.server.tools().await.unwrap();
    let before = beginnings();
    let state = world.start().await;
    let error = results(&state).remove(0).unwrap_err();
    assert!(error.contains("got the status 400: {\"error\":\"no such account\"}"), "{error}");
    assert_eq!(beginnings(), before, "no session is made anew");
}

#[tokio::test]
async fn event_that_never_ends_fails_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let http = Http::new(folder.path(), Kind::Endless);
    let options = http.options().timeout(Duration::from_secs(20));
    let mut world = World::new(options, &[("write", "")]);
    let state = world.start().await;
    let error = results(&state).remove(0).unwrap_err();
    assert!(!error.contains("did not answer"), "{error}");
}

#[tokio::test]
async fn refusals_and_redirects_are_told_without_the_key() {
    for (status, why) in
        [(401, "got the status 401"), (302, "which is a redirect"), (500, "got the status 500")]
    {
        let folder = tempfile::tempdir().unwrap();
        let http = Http::new(folder.path(), Kind::Status(status));
        let server = Server::new(http.options().header("authorization", "Bearer sk-12345678")).unwrap();
        let error = server.tools().await.unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains("sk-12345678"), "{error}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::new(ServerOptions::http("t", format!("http://{closed}/"))).unwrap();
    let error = server.tools().await.unwrap_err().to_string();
    assert!(error.contains("cannot be reached"), "{error}");
}

#[tokio::test]
async fn run_that_waits_goes_on_with_another_connection() {
    let folder = tempfile::tempdir().unwrap();
    let http = Http::new(folder.path(), Kind::Json);
    let mut world = World::new(http.options(), &[("write", "a")]).asking();
    world.start().await;
    world.server = Server::new(http.options()).unwrap();
    let state = world.decide(Resume, Value::Null).await;
    assert_eq!(results(&state), [Ok(json!("written"))]);
}
