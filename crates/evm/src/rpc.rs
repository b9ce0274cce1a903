//! A client of JSON-RPC.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use alloy_sol_types::decode_revert_reason;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use hyper::{Request, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use runstate_service::PortError;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};

use crate::options::{EvmError, EvmOptions};
use crate::url::NodeUrl;
use crate::value;

/// The name of the port in errors.
pub(crate) const PORT: &str = "the chain";

/// The code of geth for a call that a contract reverts.
const REVERT: i64 = 3;

/// The code of geth for an error without one of its own. Many of them pass, such as `header not found`.
const GENERAL: i64 = -32_000;

/// The codes for a call that cannot succeed: of EIP-1474, of other nodes, and of `eth_simulateV1` for a transaction with too
/// little gas or for a wallet with too little of the native currency.
const FINAL: [i64; 4] = [-32_003, -32_015, -38_013, -38_014];

/// The begin of a message with the reason of a contract.
const REVERTED: &str = "execution reverted";

/// The longest text of a contract in an error, in characters.
const MAX_TEXT: usize = 200;

/// Phrases in messages of nodes. An error has the phrase from here, and not the message.
const PHRASES: [&str; 10] = [
    REVERTED,
    "insufficient funds",
    "out of gas",
    "intrinsic gas too low",
    "header not found",
    "missing trie node",
    "execution timeout",
    "execution aborted",
    "rate limit",
    "too many requests",
];

/// The error of a request.
#[derive(Debug, Clone)]
pub(crate) enum RpcError {
    /// The node cannot be reached.
    Unreachable(String),
    /// The node gave no answer in time.
    TimedOut(Duration),
    /// The answer cannot be used.
    Answer(String),
    /// The node answers with an error. No other error has its message: providers repeat parts of the URL in such texts.
    Node { method: &'static str, code: i64, message: String, data: Vec<u8> },
}

impl RpcError {
    /// Whether a contract reverted the call.
    pub(crate) fn is_revert(&self) -> bool {
        matches!(self, RpcError::Node { code, message, .. } if *code == REVERT || is_reverted(message))
    }

    /// The reason of a call that cannot succeed on the newest block. None for an error that may pass.
    pub(crate) fn reason(&self) -> Option<String> {
        let RpcError::Node { code, message, data, .. } = self else { return None };
        let has = |phrase: &str| message.to_ascii_lowercase().contains(phrase);
        let is_final = self.is_revert()
            || FINAL.contains(code)
            || *code == GENERAL && (has("revert") || has("insufficient funds"));
        is_final.then(|| reason(data, message))
    }
}

/// Whether a message has the reason of a contract.
fn is_reverted(message: &str) -> bool {
    message.get(..REVERTED.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(REVERTED))
}

/// The phrase of a node's message, in words of this program.
fn phrase(message: &str) -> Option<&'static str> {
    let message = message.to_ascii_lowercase();
    PHRASES.into_iter().find(|phrase| message.contains(phrase))
}

/// The reason of a revert: the text of the contract, or a phrase. It is short and on one line.
pub(crate) fn reason(data: &[u8], message: &str) -> String {
    let decoded = if data.is_empty() { None } else { decode_revert_reason(data) };
    let of_contract = decoded.or_else(|| is_reverted(message).then(|| message.to_owned()));
    let text = of_contract.unwrap_or_else(|| phrase(message).unwrap_or("without a reason").to_owned());
    text.chars().take(MAX_TEXT).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl From<RpcError> for PortError {
    fn from(error: RpcError) -> Self {
        match error {
            RpcError::Unreachable(reason) => PortError::Unreachable { port: PORT, reason },
            RpcError::TimedOut(limit) => PortError::TimedOut {
                port: PORT,
                limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            },
            RpcError::Answer(reason) => PortError::Refused { port: PORT, reason },
            RpcError::Node { method, code, message, .. } => {
                let phrase = phrase(&message).map(|phrase| format!(", {phrase}")).unwrap_or_default();
                let reason = format!("{method}: got the error {code}{phrase}");
                PortError::Refused { port: PORT, reason }
            }
        }
    }
}

pub(crate) struct Rpc {
    /// It follows no redirect: an answer from another address would be one of another node.
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    url: NodeUrl,
    request_limit: Duration,
    answer_limit: usize,
    next_id: AtomicU64,
}

impl Rpc {
    pub(crate) fn new(options: &EvmOptions) -> Result<Self, EvmError> {
        let url = NodeUrl::read(&options.url, options.plain_http)?;
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| EvmError::Client { reason: error.to_string() })?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let (request_limit, answer_limit) = (options.request_limit, options.answer_limit);
        Ok(Rpc { client, url, request_limit, answer_limit, next_id: AtomicU64::new(1) })
    }

    /// Sends one request. Returns the member `result` of the answer, which may be null.
    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Result<Value, RpcError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let exchange = tokio::time::timeout(self.request_limit, self.exchange(request.to_string()));
        let (status, body) = exchange.await.map_err(|_| RpcError::TimedOut(self.request_limit))??;
        let code = status.as_u16();
        // Some nodes have an error of JSON-RPC under another status than 200.
        match read(&body, id, method) {
            Err(error @ RpcError::Node { .. }) => Err(error),
            _ if status.is_redirection() => Err(RpcError::Answer(format!(
                "{method}: got the status {code}, which is a redirect; expected the URL of the node itself"
            ))),
            _ if !status.is_success() => {
                Err(RpcError::Unreachable(format!("{method}: got the status {code}, expected 200")))
            }
            Err(RpcError::Answer(reason)) => Err(RpcError::Answer(format!("{method}: {reason}"))),
            read => read,
        }
    }

    async fn exchange(&self, request: String) -> Result<(StatusCode, Bytes), RpcError> {
        let mut parts = Request::post(self.url.endpoint.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json");
        if let Some(basic) = &self.url.basic {
            parts = parts.header(AUTHORIZATION, basic);
        }
        let unusable = |_| RpcError::Unreachable("the request cannot be made".to_owned());
        let request = parts.body(Full::from(request)).map_err(unusable)?;
        let response = self.client.request(request).await.map_err(|error| {
            failed(&error, if error.is_connect() { "no connection" } else { "the connection ended" })
        })?;
        let status = response.status();
        let body = Limited::new(response.into_body(), self.answer_limit).collect().await;
        match body {
            Ok(body) => Ok((status, body.to_bytes())),
            Err(error) if error.is::<LengthLimitError>() => {
                let limit = self.answer_limit;
                Err(RpcError::Answer(format!("the answer is longer than {limit} bytes")))
            }
            Err(error) => Err(failed(&*error, "the connection ended")),
        }
    }
}

fn read(body: &[u8], id: u64, method: &'static str) -> Result<Value, RpcError> {
    let answer = |reason: &str| Err(RpcError::Answer(reason.to_owned()));
    let Ok(Value::Object(mut members)) = serde_json::from_slice(body) else {
        return answer("the answer is no JSON object; expected one of JSON-RPC 2.0");
    };
    if members.get("jsonrpc") != Some(&json!("2.0")) {
        return answer("the answer is not of JSON-RPC 2.0");
    }
    // The id of an error may be null, if the node could not read the request.
    if let Some(error) = members.get("error").filter(|error| !error.is_null()) {
        let code = error.get("code").and_then(Value::as_i64);
        let message = error.get("message").and_then(Value::as_str);
        let (Some(code), Some(message)) = (code, message) else {
            return answer("the error of the answer has no code and message");
        };
        let data = value::bytes(error.get("data"), "data").unwrap_or_default();
        return Err(RpcError::Node { method, code, message: message.to_owned(), data });
    }
    if members.get("id") != Some(&json!(id)) {
        return answer("the answer is one to another request: its id differs");
    }
    members.remove("result").map_or_else(|| answer("the answer has neither result nor error"), Ok)
}

/// The reason of a failed exchange. Texts of the client may have the URL, so none of them is used.
fn failed(error: &(dyn Error + 'static), otherwise: &str) -> RpcError {
    let (mut next, mut reason) = (Some(error), otherwise.to_owned());
    while let Some(error) = next {
        match error.downcast_ref() {
            Some(rustls::Error::InvalidCertificate(_)) => {
                return RpcError::Unreachable("its certificate is not trusted".to_owned());
            }
            Some(_) => return RpcError::Unreachable("it does not speak TLS".to_owned()),
            None => {}
        }
        let inner = error.downcast_ref::<io::Error>().map(|error| {
            reason = error.kind().to_string();
            // The source of such an error is that of its inner error, and not the inner error.
            error.get_ref().map(|inner| inner as &(dyn Error + 'static))
        });
        next = inner.flatten().or_else(|| error.source());
    }
    RpcError::Unreachable(reason)
}
