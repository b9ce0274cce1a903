//! Redaction of bodies, events and trace lines.

use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::app::App;
use crate::options::Leaving;
use crate::problem::{Code, Problem};

/// The endpoint whose answer a wallet signs.
const SIGNED: &str = "/v1/runs/{id}/execute";

impl App {
    /// Redacts an event, or a line of a trace. A text that is no JSON is withheld from a server with a redactor.
    pub(crate) fn redacted(&self, endpoint: &str, event: Option<&str>, json: String) -> String {
        let Some(redact) = &self.options.redact else { return json };
        let Ok(mut value) = serde_json::from_str(&json) else { return Value::Null.to_string() };
        redact(Leaving { endpoint, event }, &mut value);
        value.to_string()
    }
}

/// The layer of bodies. Streams redact each of their parts.
pub(crate) async fn bodies(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(redact) = app.options.redact.clone() else { return next.run(request).await };
    let endpoint = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let response = next.run(request).await;
    let content = response.headers().get(CONTENT_TYPE).map(|content| content.as_bytes());
    let endpoint = match endpoint {
        Some(endpoint) if endpoint != SIGNED && content == Some(b"application/json") => endpoint,
        _ => return response,
    };
    let (mut parts, body) = response.into_parts();
    let read = to_bytes(body, usize::MAX).await.ok().and_then(|body| serde_json::from_slice(&body).ok());
    let Some(mut value): Option<Value> = read else {
        return Problem::new(Code::Internal, "the answer cannot be redacted").into_response();
    };
    redact(Leaving { endpoint: &endpoint, event: None }, &mut value);
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(value.to_string()))
}
