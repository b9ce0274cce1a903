//! Reads of one agent run.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::ETAG;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use runstate_store::{ApprovalFilter, ApprovalQuery};
use serde_json::Value;

use super::body::{AgentRunBody, ApprovalsBody, tool_call};
use super::{Agents, Found};
use crate::access::{Reader, has_version};
use crate::app::App;
use crate::body::RowsBody;
use crate::problem::{Problem, ProblemBody};
use crate::runs::list::digest;
use crate::runs::query::Parameters;
use crate::runs::read::{line, page, rows_body};

/// An agent run.
pub(crate) async fn get(agents: &Agents, run: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let parts = agents.store().parts(run).await?;
    let version = parts.info.version;
    let body = AgentRunBody::new(parts.info, parts.thread.map(|place| place.thread));
    // A cancellation, a lease and a problem are no commits.
    let tag = format!("\"v{version}-{}\"", digest(&body.without_time_left()));
    if has_version(headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response());
    }
    Ok(([(ETAG, tag)], Json(body)).into_response())
}

/// A page of the trace.
pub(crate) async fn trace(
    agents: &Agents,
    run: &str,
    (after, limit): (u64, usize),
) -> Result<Json<RowsBody>, Problem> {
    let rows = agents.store().trace(run, after, limit + 1).await?;
    Ok(rows_body(rows.iter().map(|row| (row.seq, line(&row.json))).collect(), limit))
}

/// A page of lines of the trace, and the number of its last event.
pub(crate) async fn lines(
    agents: &Agents,
    run: &str,
    after: u64,
    limit: usize,
) -> Result<(Vec<String>, u64), Problem> {
    let rows = agents.store().trace(run, after, limit).await?;
    let last = rows.last().map_or(after, |row| row.seq);
    Ok((rows.into_iter().map(|row| row.json).collect(), last))
}

/// Lists the calls of an agent run that wait for decisions. A service run has none.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/approvals",
    operation_id = "list_approvals",
    tag = "rows",
    params(
        ("id" = String, Path, description = "The id"),
        ("after" = Option<String>, Query, description = "The last known call"),
        ("limit" = Option<u64>, Query, minimum = 1, maximum = 1000, description = "The size of the page. Default: 200"),
    ),
    responses(
        (status = 200, body = ApprovalsBody, description = "A page of calls"),
        (status = 400, body = ProblemBody, content_type = "application/problem+json", description = "`bad-query`"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json", description = "`not-found`"),
        (status = 500, body = ProblemBody, content_type = "application/problem+json", description = "`internal`"),
    ),
)]
pub(crate) async fn approvals(
    State(app): State<App>,
    id: Path<String>,
    _reader: Reader,
    mut parameters: Parameters,
) -> Result<Json<ApprovalsBody>, Problem> {
    let after = parameters.one("after")?;
    let limit = parameters.limit(1_000, 200)?;
    parameters.finish("after or limit")?;
    let Found::Agent(agents) = app.found(app.service.get(&id).await)? else {
        return Ok(Json(ApprovalsBody { approvals: Vec::new(), next: None }));
    };
    // An unknown run and a run without waiting calls are different answers.
    agents.store().pending_signals(&id).await?;
    let mut query = ApprovalQuery::new(ApprovalFilter::Run(id.0.clone()), limit + 1);
    query.after = after.map(|call| (id.0.clone(), call));
    let mut approvals = agents.store().approvals(&query).await?;
    if approvals.iter().any(|one| one.key().is_some()) {
        // Fails for a run that is stored under a key: its listed question cannot be trusted.
        agents.store().load(&id).await?;
    }
    let more = approvals.len() > limit;
    approvals.truncate(limit);
    let next = approvals.last().filter(|_| more).map(|last| last.call.clone());
    Ok(Json(ApprovalsBody { approvals: approvals.into_iter().map(Into::into).collect(), next }))
}

/// Lists the tool calls of an agent run. A service run has none.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/tool-calls",
    operation_id = "list_tool_calls",
    tag = "rows",
    params(
        ("id" = String, Path, description = "The id"),
        ("after" = Option<u64>, Query, description = "The number of the last known row"),
        ("limit" = Option<u64>, Query, minimum = 1, maximum = 1000, description = "The size of the page. Default: 200"),
    ),
    responses(
        (status = 200, body = RowsBody, description = "A page of rows"),
        (status = 400, body = ProblemBody, content_type = "application/problem+json", description = "`bad-query`"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json", description = "`not-found`"),
        (status = 500, body = ProblemBody, content_type = "application/problem+json", description = "`internal`"),
    ),
)]
pub(crate) async fn tool_calls(
    State(app): State<App>,
    id: Path<String>,
    _reader: Reader,
    parameters: Parameters,
) -> Result<Json<RowsBody>, Problem> {
    let (after, limit) = page(parameters)?;
    let Found::Agent(agents) = app.found(app.service.get(&id).await)? else {
        return Ok(rows_body(Vec::new(), limit));
    };
    let Some(stored) = agents.store().load(&id).await?.stored else {
        return Ok(rows_body(Vec::new(), limit));
    };
    let state = stored.restore().map_err(|error| {
        Problem::new(crate::problem::Code::Internal, "the stored agent run cannot be used by this server")
            .caused_by(error)
    })?;
    let skipped = usize::try_from(after).unwrap_or(usize::MAX);
    let calls = state.calls().zip(1_usize..).skip(skipped).take(limit + 1);
    let row = |((name, call), seq)| (seq as u64, tool_call(seq, name, call));
    let rows: Vec<(u64, Value)> = calls.map(row).collect();
    Ok(rows_body(rows, limit))
}
