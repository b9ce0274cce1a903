//! https, on loopback: a certificate that is trusted, and those that are not.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use runstate_openai::{Chat, ConfigError, OpenAi};
use runstate_stream::{ErrorKind, Opening, Session, SourceError};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::server::{answer, ask, finish, text, tokens};

/// A server with a certificate for that name, which gives the same answer to each of so many connections.
struct Https {
    base: String,
    certificate: String,
    connections: Arc<AtomicU32>,
    task: JoinHandle<()>,
}

impl Https {
    async fn start(name: &str, connections: u32) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("https://{}/v1", listener.local_addr().unwrap());
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let seen = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            for _ in 0..connections {
                let (stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                // A client that does not trust the server goes away in the middle.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut request = [0; 4096];
                assert!(stream.read(&mut request).await.unwrap() > 0);
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                let said = format!("{head}{}{}", text("it is safe"), finish("stop"));
                stream.write_all(said.as_bytes()).await.unwrap();
                let _closed = stream.shutdown().await;
            }
        });
        Https { base, certificate: cert.pem(), connections: seen, task }
    }
}

impl Drop for Https {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn chain(error: &SourceError) -> Vec<String> {
    let mut next: Option<&dyn Error> = Some(error);
    std::iter::from_fn(|| {
        let error = next?;
        next = error.source();
        Some(error.to_string())
    })
    .collect()
}

#[tokio::test]
async fn a_server_that_is_trusted_answers() {
    let server = Https::start("127.0.0.1", 1).await;
    let client = OpenAi::new(&server.base).unwrap().trusting(server.certificate.as_bytes()).unwrap();
    assert_eq!(answer(ask(&client).await), tokens(&["it is safe"]));
}

#[tokio::test]
async fn untrusted_certificate_is_refused() {
    let server = Https::start("127.0.0.1", 1).await;
    let (events, error) = ask(&OpenAi::new(&server.base).unwrap()).await;
    let error = error.unwrap();
    assert_eq!((events, error.kind()), (vec![], ErrorKind::Fatal), "another attempt cannot do better");
    let said = error.to_string();
    assert!(said.starts_with(&format!("the certificate of {}", server.base)), "{said}");
    assert!(said.contains("is not trusted: UnknownIssuer"), "{said}");
    assert!(said.ends_with("give the certificate of its issuer to `OpenAi::trusting`"), "{said}");
    assert!(chain(&error).len() > 1, "{:?}", chain(&error));
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let server = Https::start("models.test", 1).await;
    let client = OpenAi::new(&server.base).unwrap().trusting(server.certificate.as_bytes()).unwrap();
    let error = ask(&client).await.1.unwrap();
    assert_eq!(error.kind(), ErrorKind::Fatal);
    assert!(error.to_string().contains("not valid for name"), "{error}");
}

#[tokio::test]
async fn session_does_not_retry_an_untrusted_server() {
    let server = Https::start("127.0.0.1", 3).await;
    let client = OpenAi::new(&server.base).unwrap();
    let open = move |_: Opening| {
        let client = client.clone();
        async move { client.stream(&Chat::new("m").user("hello")).await }
    };
    let error = Session::builder("stream_1", open).build().run().await.unwrap_err();
    assert_eq!((error.state.attempts, server.connections.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(error.failure.kind, ErrorKind::Fatal);
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_a_failure_of_the_network() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = OpenAi::new(&format!("https://{}/v1", listener.local_addr().unwrap())).unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        // It would wait for the end of a request that it can read.
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    assert_eq!(ask(&client).await.1.unwrap().kind(), ErrorKind::Network);
    server.await.unwrap();
}

#[test]
fn invalid_certificate_is_refused() {
    let client = OpenAi::new("https://127.0.0.1:1/v1").unwrap();
    let not_one = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (pem, said) in
        [("", "there is none in it"), ("hello", "there is none in it"), (not_one, "BadEncoding")]
    {
        let error = client.clone().trusting(pem.as_bytes()).unwrap_err();
        assert!(matches!(error, ConfigError::Certificates { .. }));
        assert!(error.to_string().contains(said), "{error}");
    }
}
