//! Answers of a node that is broken or hostile.

use std::sync::Arc;
use std::time::Duration;

use runstate_evm::{AddressError, EvmChain, EvmError, EvmOptions, Router};
use runstate_service::{PortError, Token};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::node::{self, Node, ROUTER, Reply, USDC, block_on, body, chain, reverted};

/// The error of one request to a node that answers so. No error has a secret of the URL.
async fn error_of(reply: Reply) -> PortError {
    let node = Node::start(move |_, _| Some(reply.clone())).await;
    let mut options = node.options();
    options.answer_limit = 4_096;
    options.request_limit = Duration::from_millis(500);
    let chain = EvmChain::new(options).unwrap();
    let error = chain.check().await.unwrap_err();
    for text in [format!("{error} {error:?}"), format!("{chain:?} {:?}", node.options())] {
        assert!(!text.contains("hidden") && !text.contains("127.0.0.1"), "{text}");
    }
    error
}

fn raw(status: &str, more: &str) -> Reply {
    Reply::Raw(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n{more}\r\n"))
}

#[test]
fn answers_of_another_form_are_refused() {
    block_on(async {
        let rows = [
            (body("<html>log in</html>"), "no JSON object"),
            (body(""), "no JSON object"),
            (Reply::Body(vec![0xff, 0xfe, 0]), "no JSON object"),
            (body("[]"), "no JSON object"),
            (body(&"[".repeat(4_000)), "no JSON object"),
            (body(r#"{"id":1,"result":"0x7a69"}"#), "not of JSON-RPC 2.0"),
            (body(r#"{"jsonrpc":"1.0","id":1,"result":"0x7a69"}"#), "not of JSON-RPC 2.0"),
            (body(r#"{"jsonrpc":"2.0","id":99,"result":"0x7a69"}"#), "its id differs"),
            (body(r#"{"jsonrpc":"2.0","id":"1","result":"0x7a69"}"#), "its id differs"),
            (body(r#"{"jsonrpc":"2.0","result":"0x7a69"}"#), "its id differs"),
            (body(r#"{"jsonrpc":"2.0","id":1}"#), "neither result nor error"),
            (body(r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#), "has no code and message"),
            (
                body(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1e99,"message":"no"}}"#),
                "has no code and message",
            ),
            (Reply::Result(json!(null)), "is null, expected 0x"),
            (Reply::Result(json!(31_337)), "is a number, expected 0x"),
            (Reply::Result(json!({ "id": "0x1" })), "is an object, expected 0x"),
            (Reply::Result(json!("hidden")), "is another text, expected 0x"),
            (Reply::Result(json!(format!("0x{}", "f".repeat(65)))), "is another text, expected 0x"),
            (Reply::Result(json!("f".repeat(5_000))), "longer than 4096 bytes"),
            (
                raw("302 Found", "location: http://127.0.0.1:1/hidden\r\n"),
                "got the status 302, which is a redirect",
            ),
            (reverted(-32_000, "bad key hidden-key"), "eth_chainId: got the error -32000"),
            (reverted(-32_005, "Rate Limit of hidden-key"), "eth_chainId: got the error -32005, rate limit"),
        ];
        for (reply, expected) in rows {
            let shown = format!("{reply:?}").chars().take(120).collect::<String>();
            let error = error_of(reply).await;
            assert!(matches!(error, PortError::Refused { .. }), "{shown}: {error:?}");
            assert!(error.to_string().contains(expected), "{shown}: {error}");
        }
    });
}

#[test]
fn error_has_no_text_of_the_node() {
    block_on(async {
        // A password in base64, a decoded part of a path, a short part, a host, and a query of one digit.
        for echo in ["dXNlcjpoaWRkZW4td29yZA==", "a key", "v3", "key.node.example", "1"] {
            let error = error_of(reverted(-32_000, echo)).await;
            assert_eq!(error.to_string(), "the chain refuses: eth_chainId: got the error -32000");
            assert!(!format!("{error:?}").contains(&format!("{echo:?}")), "{error:?}");
        }
    });
}

#[test]
fn node_that_cannot_be_reached_is_named_so() {
    block_on(async {
        let rows = [
            (raw("500 Internal Server Error", ""), "got the status 500"),
            (raw("401 Unauthorized", ""), "got the status 401"),
            (raw("429 Too Many Requests", ""), "got the status 429"),
            (Reply::Raw("noise\r\n\r\n".into()), "the connection ended"),
            (
                Reply::Raw("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{".into()),
                "the chain cannot be reached",
            ),
            (Reply::Raw(String::new()), "the chain cannot be reached"),
        ];
        for (reply, expected) in rows {
            let error = error_of(reply.clone()).await;
            assert!(matches!(error, PortError::Unreachable { .. }), "{reply:?}: {error:?}");
            assert!(error.to_string().contains(expected), "{reply:?}: {error}");
        }
        let late = error_of(Reply::Hang).await;
        assert_eq!(late.to_string(), "the chain gave no answer within 500 ms");
        let endless = Reply::Raw(
            "HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n".to_owned() + &"x".repeat(9_000),
        );
        assert!(error_of(endless).await.to_string().contains("longer than 4096 bytes"));
        let closed = EvmChain::new(EvmOptions::new("http://127.0.0.1:1/hidden-path", chain())).unwrap();
        let error = closed.check().await.unwrap_err();
        assert_eq!(error.to_string(), "the chain cannot be reached: connection refused");
    });
}

#[test]
fn certificate_of_no_authority_is_not_trusted() {
    block_on(async {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            TlsAcceptor::from(Arc::new(config)).accept(stream).await.is_ok()
        });
        let chain = EvmChain::new(EvmOptions::new(format!("https://localhost:{port}"), chain())).unwrap();
        let error = chain.check().await.unwrap_err();
        assert_eq!(error.to_string(), "the chain cannot be reached: its certificate is not trusted");
        assert!(!accepted.await.unwrap(), "no request was sent");

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
            let _gone = stream.read_to_end(&mut Vec::new()).await;
        });
        let error = EvmChain::new(EvmOptions::new(url, node::chain())).unwrap().check().await.unwrap_err();
        assert_eq!(error.to_string(), "the chain cannot be reached: it does not speak TLS");
    });
}

#[test]
fn error_under_another_status_is_read() {
    block_on(async {
        let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32_005, "message": "slower" } });
        let body = body.to_string();
        let length = body.len();
        let head = format!(
            "HTTP/1.1 429 Too Many Requests\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let error = error_of(Reply::Raw(head + &body)).await;
        assert_eq!(error.to_string(), "the chain refuses: eth_chainId: got the error -32005");
    });
}

#[test]
fn urls_that_cannot_be_used_are_refused_without_the_url() {
    let rows = [
        ("", "expected one like"),
        ("hidden-path", "expected one with http or https"),
        ("http://[hidden", "expected one like"),
        ("ws://127.0.0.1/hidden-path", "expected one with http or https"),
        ("file:///hidden-path", "expected one like"),
        ("http:///hidden-path", "expected one like"),
        ("http://user:hidden@/hidden-path", "expected one like"),
        ("http://node.example/hidden-path", "could read the key and change the answers; expected https"),
        ("http://127.0.0.1.node.example/hidden-path", "expected https"),
    ];
    for (url, expected) in rows {
        let error = EvmChain::new(EvmOptions::new(url, chain())).unwrap_err();
        assert!(matches!(error, EvmError::Url { .. }), "{url}: {error}");
        let text = format!("{error} {error:?}");
        assert!(text.contains(expected) && !text.contains("hidden"), "{url}: {text}");
    }
    for url in ["http://localhost:1", "http://[::1]:1", "http://127.0.0.2", "https://node.example/key"] {
        assert!(EvmChain::new(EvmOptions::new(url, chain())).is_ok(), "{url}");
    }
    let mut open = EvmOptions::new("http://node.example", chain());
    open.plain_http = true;
    assert!(EvmChain::new(open).is_ok());
}

#[test]
fn options_that_no_chain_can_have_are_refused() {
    let refused = |edit: fn(&mut EvmOptions)| {
        let mut options = EvmOptions::new("http://localhost:1", chain());
        options.router = Some(Router { name: "pool".into(), address: ROUTER.into() });
        edit(&mut options);
        EvmChain::new(options).unwrap_err()
    };
    let token = |address: &str, decimals| Token { address: address.into(), decimals };
    let with = |symbol: &str, token: Token| {
        let mut options = EvmOptions::new("http://localhost:1", chain());
        options.chain.tokens.insert(symbol.into(), token);
        EvmChain::new(options).unwrap_err()
    };
    assert_eq!(refused(|options| options.chain.id = 0), EvmError::ChainId);
    assert!(matches!(refused(|options| options.chain.name.clear()), EvmError::Empty { .. }));
    assert!(matches!(refused(|options| options.chain.native = " ".into()), EvmError::Empty { .. }));
    assert!(matches!(with("usdc", token(ROUTER, 6)), EvmError::Twice { kind: "symbol", .. }));
    assert!(matches!(with("eth", token(ROUTER, 6)), EvmError::Twice { kind: "symbol", .. }));
    assert!(matches!(with("DAI", token(USDC, 6)), EvmError::Twice { kind: "address", .. }));
    assert!(matches!(with("DAI", token(ROUTER, 39)), EvmError::Decimals { got: 39, .. }));
    let short = with("DAI", token("0xc0de", 6));
    assert!(matches!(&short, EvmError::Address { error: AddressError::Form { .. }, .. }));
    assert_eq!(
        short.to_string(),
        "the address of the token DAI: got \"0xc0de\", expected 0x and 40 hexadecimal digits"
    );
    let router = |address: &str| Some(Router { name: "pool".into(), address: address.into() });
    let is_token = refused(|options| options.router.as_mut().unwrap().address = USDC.into());
    assert!(matches!(is_token, EvmError::Twice { kind: "address", .. }), "{:?}", router(USDC));
    assert!(matches!(
        refused(|options| options.router.as_mut().unwrap().name.clear()),
        EvmError::Empty { .. }
    ));
}
