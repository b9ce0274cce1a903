//! The layers around all endpoints: the path in problems, the number of requests, and headers of each answer.

use std::any::Any;

use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
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

/// The outermost layer: problems get the path, and each answer its headers.
pub(crate) async fn finish(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = next.run(request).await;
    if response.status() == StatusCode::METHOD_NOT_ALLOWED && response.extensions().get::<Problem>().is_none()
    {
        let allow = response.headers().get(ALLOW).cloned();
        let allowed = allow.as_ref().and_then(|allow| allow.to_str().ok()).unwrap_or("none");
        let detail = format!("the path allows {allowed}");
        response = Problem::new(Code::MethodNotAllowed, detail).allowing(allow).into_response();
    }
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
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
    let permit = app.requests.try_acquire();
    if permit.is_err() && !is_health {
        let detail = format!("the server has {} requests at once", limits.at_once);
        return Problem::new(Code::Busy, detail).retry_after(1).into_response();
    }
    next.run(request).await
}

/// The answer to a request whose handler panicked. The text of the panic stays inside.
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
