//! The layers around all endpoints: the path in problems, the number of requests, and headers of each answer.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::OwnedSemaphorePermit;
use tower_http::cors::{AllowHeaders, AllowMethods, AllowOrigin, CorsLayer, ExposeHeaders};

use crate::app::App;
use crate::problem::{Code, Problem};

/// Headers that each answer has.
const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// The key of a request that may be repeated.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The outermost layer: problems get the path, causes are reported, and each answer gets its headers.
pub(crate) async fn finish(State(app): State<App>, request: Request, next: Next) -> Response {
    let (path, method) = (request.uri().path().to_owned(), request.method().clone());
    let mut response = next.run(request).await;
    if response.status() == StatusCode::METHOD_NOT_ALLOWED && response.extensions().get::<Problem>().is_none()
    {
        let allow = response.headers().get(ALLOW).cloned();
        let detail = format!("got {method}; the header Allow has the methods of the path");
        response = Problem::new(Code::MethodNotAllowed, detail).allowing(allow).into_response();
    }
    // An extractor of axum refused, such as that of a path that is no UTF-8.
    let is_plain =
        response.headers().get(CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(b"text/plain"));
    if response.status() == StatusCode::BAD_REQUEST && is_plain {
        response =
            Problem::new(Code::BadQuery, "the address has other characters than UTF-8").into_response();
    }
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        if let (Some(cause), Some(report)) = (problem.cause(), &app.options.report) {
            report(&format!("{method} {path}: {cause}"));
        }
        let answer = problem.answer(&path);
        // Headers that inner layers added, such as those of CORS, stay.
        let headers = std::mem::take(response.headers_mut());
        response = answer;
        for (name, value) in &headers {
            if !response.headers().contains_key(name) && name != axum::http::header::CONTENT_LENGTH {
                response.headers_mut().append(name, value.clone());
            }
        }
    }
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Refuses addresses that are too long, and more requests than the server takes at once. A stream counts until it
/// begins.
pub(crate) async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    let limits = &app.options.limits;
    let length = request.uri().to_string().len();
    if length > limits.address {
        let detail = format!("got {length} bytes, expected at most {}", limits.address);
        return Problem::new(Code::UriTooLong, detail).into_response();
    }
    let is_health = matches!(request.uri().path(), "/healthz" | "/readyz");
    let permit = Arc::clone(&app.requests).try_acquire_owned().ok();
    if permit.is_none() && !is_health {
        let detail = format!("the server has {} requests at once", limits.concurrency);
        return Problem::new(Code::Busy, detail).retry_after(1).into_response();
    }
    let mut request = request;
    request.extensions_mut().insert(Permit(Arc::new(Mutex::new(permit))));
    let limit = limits.operation_time.saturating_add(limits.max_wait).saturating_add(limits.body_time);
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::new(Code::Unavailable, "the server gave no answer in time")
            .retry_after(1)
            .into_response(),
    }
}

/// The place of a request among those at once.
#[derive(Debug, Clone)]
pub(crate) struct Permit(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Permit {
    /// Makes room for another request, for one that only waits.
    pub(crate) fn release(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// The answer after a panic of the handler. The text of the panic stays inside.
pub(crate) fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    Problem::new(Code::Internal, "the server failed").into_response()
}

/// The answer for a path without an endpoint.
pub(crate) async fn no_endpoint(request: Request) -> Problem {
    let shown: String = request.uri().path().chars().take(200).collect();
    Problem::new(Code::NotFound, format!("there is nothing at {shown:?}"))
}

/// The answers to browsers of the allowed origins.
pub(crate) fn cors(origins: &[String]) -> CorsLayer {
    let origins: Vec<HeaderValue> = origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    let name = HeaderName::from_static;
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods(AllowMethods::list([Method::GET, Method::POST, Method::DELETE]))
        .allow_headers(AllowHeaders::list([
            name("authorization"),
            name("content-type"),
            name("idempotency-key"),
            name("if-match"),
            name("if-none-match"),
            name("last-event-id"),
            name("prefer"),
        ]))
        .expose_headers(ExposeHeaders::list([
            name("etag"),
            name("idempotency-replayed"),
            name("location"),
            name("retry-after"),
        ]))
}
