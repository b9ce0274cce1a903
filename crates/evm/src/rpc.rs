//! A client of JSON-RPC.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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

/// The codes for a call that cannot succeed: of geth, of other nodes, and of EIP-1474.
pub(crate) const REVERTS: [i64; 4] = [3, -32_000, -32_003, -32_015];

/// The longest text of a node in an error, in characters.
const MAX_TEXT: usize = 200;

/// The error of a request. Texts of the node are without the secrets of its URL.
#[derive(Debug, Clone)]
pub(crate) enum RpcError {
    /// The node cannot be reached.
    Unreachable(String),
    /// The node gave no answer in time.
    TimedOut(Duration),
    /// The answer cannot be used.
    Answer(String),
    /// The node answers with an error.
    Node { code: i64, message: String, data: Vec<u8> },
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
            RpcError::Node { code, message, .. } => {
                PortError::Refused { port: PORT, reason: format!("{message} (code {code})") }
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
        match self.read(&body, id) {
            Err(RpcError::Node { code, message, data }) => {
                Err(RpcError::Node { code, message: format!("{method}: {message}"), data })
            }
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

    fn read(&self, body: &[u8], id: u64) -> Result<Value, RpcError> {
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
            return Err(RpcError::Node { code, message: self.clean(message), data });
        }
        if members.get("id") != Some(&json!(id)) {
            return answer("the answer is one to another request: its id differs");
        }
        members.remove("result").map_or_else(|| answer("the answer has neither result nor error"), Ok)
    }

    /// A text of the node for an error: short, on one line, and without a secret of the URL.
    pub(crate) fn clean(&self, text: &str) -> String {
        let text = self.url.without_secrets(text);
        text.chars().take(MAX_TEXT).map(|c| if c.is_control() { ' ' } else { c }).collect()
    }
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
