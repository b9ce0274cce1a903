//! Requests over HTTP.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use http_body_util::{BodyExt, BodyStream, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use sse_stream::Sse;

use crate::connection::MAX_MESSAGE;
use serde_json::Value;

use crate::error::one_line;
use crate::sse::events;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The longest body of an error that is read, in bytes.
const MAX_ERROR: usize = 4 << 10;

/// A request that failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct HttpError(String);

type Failed = StreamableHttpError<HttpError>;

/// A client of one server. It follows no redirect: another address would get the headers.
#[derive(Clone)]
pub(crate) struct HttpClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    headers: HeaderMap,
}

impl HttpClient {
    /// # Errors
    /// A header cannot be used, or TLS cannot be configured.
    pub(crate) fn new(headers: &[(String, String)]) -> Result<Self, String> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS cannot be configured: {error}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let unusable = || format!("the header {name} cannot be used");
            let mut value = HeaderValue::try_from(value).map_err(|_| unusable())?;
            value.set_sensitive(true);
            map.append(HeaderName::try_from(name).map_err(|_| unusable())?, value);
        }
        Ok(HttpClient { client: Client::builder(TokioExecutor::new()).build(connector), headers: map })
    }

    async fn send(
        &self,
        method: Method,
        uri: &str,
        of_protocol: HashMap<HeaderName, HeaderValue>,
        own: &[(HeaderName, &str)],
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, Failed> {
        let failed = |what: &str| StreamableHttpError::Client(HttpError(what.to_owned()));
        let mut request = Request::builder().method(method).uri(uri);
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.clone());
            headers.extend(of_protocol);
            for (name, value) in own {
                let value = HeaderValue::try_from(*value)
                    .map_err(|_| failed("a value of the server is no header"))?;
                headers.insert(name.clone(), value);
            }
        }
        let request = request.body(Full::from(body)).map_err(|_| failed("the request cannot be made"))?;
        let sent = self.client.request(request).await;
        let response = sent.map_err(|error| StreamableHttpError::Client(HttpError(reason(&error))))?;
        let status = response.status();
        if status.is_redirection() {
            let what =
                format!("got the status {}, which is a redirect; use the address behind it", status.as_u16());
            return Err(StreamableHttpError::Client(HttpError(what)));
        }
        Ok(response)
    }
}

/// The innermost reason of a failed exchange.
fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    one_line(&inner.to_string())
}

/// # Errors
/// The body has more than `most` bytes, or ends early.
async fn whole(body: Incoming, most: usize) -> Result<Bytes, Failed> {
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(StreamableHttpError::ResponseBodyTooLarge { max_size: most })
        }
        Err(error) => Err(StreamableHttpError::Client(HttpError(reason(&*error)))),
    }
}

fn is_kind(response: &Response<Incoming>, kind: &str) -> bool {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case(kind))
}

/// The error of a server to its first request, with the id of that request. A server of an earlier protocol refuses it in
/// many forms, and is initialised by a handshake then.
fn first_refusal(
    message: &ClientJsonRpcMessage,
    status: StatusCode,
    body: &[u8],
) -> Option<ServerJsonRpcMessage> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let is_first = matches!(request.request, ClientRequest::DiscoverRequest(_));
    let is_auth = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if !is_first || !status.is_client_error() || is_auth {
        return None;
    }
    let error = match serde_json::from_slice(body) {
        Ok(ServerJsonRpcMessage::Error(error)) => error.error,
        _ => ErrorData::invalid_request(format!("got the status {}", status.as_u16()), None),
    };
    Some(ServerJsonRpcMessage::error(error, Some(request.id.clone())))
}

/// Whether an error is about a session. Some servers answer a session that they do not know with 400.
fn is_of_session(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).to_lowercase().contains("session")
}

fn refused(status: StatusCode, body: &[u8]) -> Failed {
    // JSON is written anew: an escape in it would hide a secret.
    let text = serde_json::from_slice(body).map(|body: Value| body.to_string());
    let text = one_line(&text.unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned()));
    let text = if text.is_empty() { text } else { format!(": {text}") };
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!(
        "got the status {}{text}",
        status.as_u16()
    )))
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, auth, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = serde_json::to_vec(&message)?;
        let kinds = format!("{JSON}, {EVENTS}");
        let mut own = vec![(CONTENT_TYPE, JSON), (ACCEPT, &*kinds)];
        own.extend(session.as_deref().map(|session| (SESSION, session)));
        let response = self.send(Method::POST, &uri, headers, &own, body).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let new_session =
            response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        if !status.is_success() {
            let is_json = is_kind(&response, JSON);
            let body = whole(response.into_body(), MAX_ERROR).await.unwrap_or_default();
            if status == StatusCode::BAD_REQUEST && session.is_some() && is_of_session(&body) {
                return Err(StreamableHttpError::SessionExpired);
            }
            if let Some(refusal) = first_refusal(&message, status, &body).filter(|_| session.is_none()) {
                return Ok(StreamableHttpPostResponse::Json(refusal, None));
            }
            let is_auth = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
            if is_json
                && !is_auth
                && let Ok(error @ JsonRpcMessage::Error(_)) = serde_json::from_slice(&body)
            {
                return Ok(StreamableHttpPostResponse::Json(error, new_session));
            }
            return Err(refused(status, &body));
        }
        if is_kind(&response, EVENTS) {
            let stream = events(data(response.into_body()), limits.max_sse_event_size);
            return Ok(StreamableHttpPostResponse::Sse(stream, new_session));
        }
        if !matches!(message, ClientJsonRpcMessage::Request(_)) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is_kind(&response, JSON) {
            let kind = response
                .headers()
                .get(CONTENT_TYPE)
                .map(|kind| one_line(&String::from_utf8_lossy(kind.as_bytes())));
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        let body = whole(response.into_body(), limits.max_json_response_size).await?;
        Ok(StreamableHttpPostResponse::Json(serde_json::from_slice(&body)?, new_session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let response = self.send(Method::DELETE, &uri, headers, &[(SESSION, &session)], Vec::new()).await?;
        match response.status() {
            // A server may refuse that a client ends its session.
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(refused(status, &[])),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        self.get_stream_with_max_sse_event_size(uri, session, last_event, auth, headers, MAX_MESSAGE).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        most: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let mut own = vec![(ACCEPT, EVENTS)];
        own.extend(session.as_deref().map(|session| (SESSION, session)));
        own.extend(last_event.as_deref().map(|event| (LAST_EVENT, event)));
        let response = self.send(Method::GET, &uri, headers, &own, Vec::new()).await?;
        let status = response.status();
        if status == StatusCode::METHOD_NOT_ALLOWED || status.is_success() && !is_kind(&response, EVENTS) {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !status.is_success() {
            return Err(refused(status, &[]));
        }
        Ok(events(data(response.into_body()), most))
    }
}

/// The bytes of a body.
fn data(body: Incoming) -> impl futures_util::Stream<Item = Result<Bytes, hyper::Error>> + Send + 'static {
    use futures_util::TryStreamExt;

    BodyStream::new(body).try_filter_map(|frame| std::future::ready(Ok(frame.into_data().ok())))
}
