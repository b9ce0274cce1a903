//! Real connections on the loopback address.

use std::time::Duration;

use runstate_http::{Connections, Options, Starting, serve};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::fixture::{Bench, block_on_machine};

struct Listening {
    bench: Bench,
    address: std::net::SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Listening {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(limit: impl FnOnce(&mut Connections)) -> Self {
        Self::over(Bench::new(), limit).await
    }

    async fn over(bench: Bench, limit: impl FnOnce(&mut Connections)) -> Self {
        let mut limits = Connections::default();
        limits.head_time = Duration::from_millis(300);
        limit(&mut limits);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (router, drain) = (bench.router.clone(), bench.drain.clone());
        let stop_and_drain = async move {
            drop(stopped.await);
            drain.begin();
            drain.break_streams();
        };
        let serving = tokio::spawn(serve(listener, router, stop_and_drain, limits));
        Listening { bench, address, stop: Some(stop), serving }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn stop(&mut self) -> Duration {
        let began = Instant::now();
        drop(self.stop.take());
        (&mut self.serving).await.unwrap().unwrap();
        began.elapsed()
    }
}

async fn read_all(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A reset is an end too.
    drop(stream.read_to_end(&mut text).await);
    String::from_utf8_lossy(&text).into_owned()
}

/// Reads until the text is there.
async fn read_until(stream: &mut TcpStream, part: &str) -> String {
    let (mut text, mut buffer) = (String::new(), [0_u8; 4096]);
    while !text.contains(part) {
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "the stream ended: {text}");
        text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    text
}

#[test]
fn half_a_head_is_closed_after_its_time() {
    block_on_machine(async {
        let listening = Listening::new().await;
        let mut stream = listening.connect().await;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: local").await.unwrap();
        let closed = tokio::time::timeout(Duration::from_secs(20), read_all(&mut stream)).await;
        assert!(closed.is_ok(), "the connection is open after twenty seconds");
    });
}

#[test]
fn drain_ends_at_once_though_a_stream_is_watched() {
    block_on_machine(async {
        let mut listening = Listening::new().await;
        let run = listening.bench.create("send 5 USDC").await;
        let mut watcher = listening.connect().await;
        let request = format!("GET {run}/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
        watcher.write_all(request.as_bytes()).await.unwrap();
        read_until(&mut watcher, "event: status").await;
        let mut idle = listening.connect().await;
        idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        read_until(&mut idle, "200 OK").await;
        let took = listening.stop().await;
        assert!(took < Duration::from_secs(10), "{took:?}");
        // The last chunk, of no bytes, would end the answer cleanly.
        assert!(!read_all(&mut watcher).await.ends_with("0\r\n\r\n"));
        assert!(TcpStream::connect(listening.address).await.is_err());
    });
}

#[test]
fn request_in_progress_ends_before_the_server() {
    block_on_machine(async {
        let mut listening = Listening::new().await;
        let mut slow = listening.connect().await;
        let body = json!({ "intent": "send 5 USDC" }).to_string();
        let head = format!(
            "POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        slow.write_all(head.as_bytes()).await.unwrap();
        slow.write_all(&body.as_bytes()[..5]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        let (took, answer) = tokio::join!(listening.stop(), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            slow.write_all(&body.as_bytes()[5..]).await.unwrap();
            read_all(&mut slow).await
        });
        assert!(answer.starts_with("HTTP/1.1 201 Created"), "{answer}");
        assert!(took < Duration::from_secs(10), "{took:?}");
    });
}

#[test]
fn client_that_reads_no_answer_is_closed() {
    block_on_machine(async {
        let listening = Listening::with(|limits| limits.write_time = Duration::from_millis(300)).await;
        let mut stream = listening.connect().await;
        let request = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(64);
        // Requests until the buffers of both sides are full. The server reads no more, and then closes.
        let closed = tokio::time::timeout(Duration::from_secs(60), async {
            while stream.write_all(&request).await.is_ok() {}
        });
        assert!(closed.await.is_ok(), "the connection is open after a minute");
    });
}

#[test]
fn oversized_heads_and_noise_are_refused() {
    block_on_machine(async {
        let listening = Listening::new().await;
        let many = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "a".repeat(40_000));
        for request in [many.as_bytes(), b"\x16\x03\x01\x02\x00", b"HELLO\r\n\r\n", &[b'a'; 30_000]] {
            let mut stream = listening.connect().await;
            drop(stream.write_all(request).await);
            let answer = read_all(&mut stream).await;
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
        }
        let mut stream = listening.connect().await;
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        assert!(read_all(&mut stream).await.starts_with("HTTP/1.1 200"));
    });
}

/// Longer than any step of a test, and shorter than the pause between the comments of a stream.
const SOON: Duration = Duration::from_secs(12);

#[test]
fn client_that_closes_its_side_leaves_with_its_answer() {
    block_on_machine(async {
        let one = |limits: &mut Connections| {
            (limits.concurrency, limits.head_time) = (1, Duration::from_secs(600));
        };
        let listening = Listening::with(one).await;
        let get = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned();
        let body = r#"{"intent": "send 5 USDC"}"#;
        let post = format!(
            "POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        for (request, expected) in [(&get, "200 OK"), (&post, "201 Created"), (&get, "200 OK")] {
            // There is one place: the next client waits until the one before has left.
            let answered = tokio::time::timeout(SOON, async {
                let mut stream = listening.connect().await;
                stream.write_all(request.as_bytes()).await.unwrap();
                stream.shutdown().await.unwrap();
                let answer = read_until(&mut stream, "\r\n\r\n").await;
                (answer, stream)
            });
            let (answer, _stream) = answered.await.expect("the place is free");
            assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{answer}");
        }
    });
}

#[test]
fn watcher_that_goes_away_frees_its_stream() {
    block_on_machine(async {
        let mut options = Options::local();
        options.limits.streams_each = 1;
        let listening = Listening::over(Bench::with(options, |_| {}), |_| {}).await;
        let run = listening.bench.create("send 5 USDC").await;
        let request = format!("GET {run}/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
        for is_half in [false, true, false] {
            let watching = tokio::time::timeout(SOON, async {
                loop {
                    let mut watcher = listening.connect().await;
                    watcher.write_all(request.as_bytes()).await.unwrap();
                    if read_until(&mut watcher, "\r\n").await.starts_with("HTTP/1.1 200") {
                        return watcher;
                    }
                    // The stream of the watcher before is still there.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            });
            let mut watcher = watching.await.expect("the stream is free");
            if is_half {
                watcher.shutdown().await.unwrap();
                let text =
                    tokio::time::timeout(SOON, read_all(&mut watcher)).await.expect("the stream breaks");
                assert!(!text.ends_with("0\r\n\r\n"), "it does not end: {text}");
            }
        }

        // A client that closes its side behind its request has all events of a run that is over.
        let over = listening.bench.create("send 5 USDC to 0xbeef").await;
        listening.bench.post(&format!("{over}/start"), &json!({})).await;
        listening.bench.post(&format!("{over}/reject"), &json!({})).await;
        let whole = tokio::time::timeout(SOON, async {
            loop {
                let mut watcher = listening.connect().await;
                let request = format!("GET {over}/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
                watcher.write_all(request.as_bytes()).await.unwrap();
                watcher.shutdown().await.unwrap();
                let text = read_all(&mut watcher).await;
                if text.starts_with("HTTP/1.1 200") {
                    return text;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let text = whole.await.expect("the stream ends");
        assert!(text.contains("event: end") && text.ends_with("0\r\n\r\n"), "{text}");
    });
}

#[test]
fn starting_server_answers_and_closes_no_connection() {
    block_on_machine(async {
        let bench = Bench::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let starting = Starting::new();
        let serving =
            tokio::spawn(serve(listener, starting.clone(), std::future::pending(), Connections::default()));
        let connect = async || TcpStream::connect(address).await.unwrap();
        let list = b"GET /v1/runs HTTP/1.1\r\nhost: localhost\r\n\r\n";
        let mut answered = connect().await;
        answered.write_all(list).await.unwrap();
        let refusal = read_until(&mut answered, "\"code\"").await;
        for part in ["HTTP/1.1 503", "retry-after: 1", "application/problem+json", "the server starts"] {
            assert!(refusal.contains(part), "{refusal}");
        }
        let (mut silent, mut half) = (connect().await, connect().await);
        half.write_all(&list[..20]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;

        starting.open(bench.router.clone());
        half.write_all(&list[20..]).await.unwrap();
        silent.write_all(list).await.unwrap();
        answered.write_all(list).await.unwrap();
        for stream in [&mut half, &mut silent, &mut answered] {
            let answer = tokio::time::timeout(SOON, read_until(stream, "\"runs\"")).await.expect("an answer");
            assert!(answer.contains("HTTP/1.1 200"), "{answer}");
        }
        serving.abort();
    });
}

/// The certificate of `localhost`, as files; and a client that trusts it.
fn certificate(folder: &std::path::Path) -> (runstate_http::Tls, tokio_rustls::TlsConnector) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let client = client.unwrap().with_root_certificates(roots).with_no_client_auth();
    let tls = runstate_http::Tls::from_pem_files(&cert, &key).unwrap();
    (tls, tokio_rustls::TlsConnector::from(std::sync::Arc::new(client)))
}

#[test]
fn connection_with_tls_serves_and_drains() {
    block_on_machine(async {
        let folder = tempfile::tempdir().unwrap();
        let (tls, client) = certificate(folder.path());
        let mut listening = Listening::with(|limits| limits.tls = Some(tls)).await;
        let stream = client.connect("localhost".try_into().unwrap(), listening.connect().await).await;
        let mut stream = stream.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let (mut text, mut buffer) = (String::new(), [0_u8; 1024]);
        while !text.contains("\r\n\r\n") {
            let count = stream.read(&mut buffer).await.unwrap();
            text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        }
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert!(listening.stop().await < Duration::from_secs(10), "an idle connection ends");
    });
}

#[test]
fn peer_without_a_handshake_is_closed_after_its_time() {
    block_on_machine(async {
        let folder = tempfile::tempdir().unwrap();
        let (tls, _) = certificate(folder.path());
        let listening = Listening::with(|limits| limits.tls = Some(tls)).await;
        let mut silent = listening.connect().await;
        let closed = tokio::time::timeout(Duration::from_secs(20), read_all(&mut silent)).await;
        assert_eq!(closed.unwrap(), "");
        let mut plain = listening.connect().await;
        plain.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(20), read_all(&mut plain)).await.unwrap();
        assert!(!answer.contains("HTTP/1.1 200"), "{answer}");
    });
}
