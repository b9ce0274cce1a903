//! The health of a server.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use runstate_service::{ServiceError, ServiceStoreError};

use crate::app::{App, Drained};
use crate::options::Access;
use crate::problem::{Code, Problem, ProblemBody};

/// The time that a store may take for the smallest read.
const STORE_TIME: Duration = Duration::from_secs(1);

/// The process lives.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "healthz",
    tag = "server",
    security(()),
    responses((status = 200, description = "The process lives")),
)]
pub(crate) async fn healthz() -> StatusCode {
    StatusCode::OK
}

/// The server takes requests: it does not drain, its tokens can be read, and its store answers within a second.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "readyz",
    tag = "server",
    security(()),
    responses(
        (status = 200, description = "The server takes requests"),
        (status = 503, body = ProblemBody, content_type = "application/problem+json", description = "`busy`, `unavailable`"),
    ),
)]
pub(crate) async fn readyz(State(app): State<App>) -> Result<StatusCode, Problem> {
    if *app.drain.borrow() > Drained::No {
        return Err(Problem::new(Code::Busy, "the server ends").retry_after(1));
    }
    if let Access::Tokens(tokens) = &app.options.access {
        tokens.list().map_err(|error| {
            Problem::new(Code::Unavailable, "the tokens cannot be read").retry_after(1).caused_by(error)
        })?;
    }
    // No run has this id: the read is the smallest one.
    match tokio::time::timeout(STORE_TIME, app.service.get("/readyz")).await {
        Ok(Ok(_) | Err(ServiceError::Store(ServiceStoreError::NoRun { .. }))) => Ok(StatusCode::OK),
        _ => Err(Problem::new(Code::Unavailable, "the store gives no answer within a second").retry_after(1)),
    }
}
