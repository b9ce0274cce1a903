//! Reads of one run.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use runstate_service::{Numbered, RunStep, Step, StepName};
use serde_json::Value;

use super::events::Broken;
use super::query::Parameters;
use crate::access::{Reader, has_version};
use crate::agents::{self, Found};
use crate::app::App;
use crate::body::{self, AnyRunBody, IncludeText, RowsBody, RunBody};
use crate::hub::PAGE;
use crate::kept::Answer;
use crate::problem::{Code, Problem, ProblemBody};

/// The entity tag of a version.
pub(crate) fn tag(version: u64) -> String {
    format!("\"v{version}\"")
}

/// The largest number of rows in an answer about a run.
const MAX_ROWS: usize = 5_000;

/// Reads all pages of rows, up to the largest number.
macro_rules! all_rows {
    ($($read:ident).+, $run:expr) => {{
        let mut all = Vec::new();
        loop {
            let rows = $($read).+($run, all.len() as u64, PAGE).await?;
            let count = rows.len();
            all.extend(rows);
            if count < PAGE {
                break all;
            }
            if all.len() >= MAX_ROWS {
                let detail = format!("include: the run has more than {MAX_ROWS} rows; read its steps and its timeline in pages");
                return Err(super::query::refused(detail));
            }
        }
    }};
}

/// Returns a run.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}",
    operation_id = "get_run",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The id"),
        ("include" = Option<Vec<IncludeText>>, Query, style = Form, explode, description = "`artifacts`, `timeline`, `steps`, `decisions`, also behind commas"),
    ),
    responses(
        (status = 200, body = AnyRunBody, description = "The run, with its version as entity tag"),
        (status = 304, description = "The version of `If-None-Match` is the newest"),
        (status = 400, body = ProblemBody, content_type = "application/problem+json", description = "`bad-query`"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json", description = "`not-found`"),
    ),
)]
pub(crate) async fn get(
    State(app): State<App>,
    id: Path<String>,
    _reader: Reader,
    headers: HeaderMap,
    mut parameters: Parameters,
) -> Result<Response, Problem> {
    let mut include = [false; 4];
    for part in parameters.all("include") {
        let place = ["artifacts", "timeline", "steps", "decisions"].iter().position(|known| *known == part);
        let Some(place) = place else {
            let detail =
                format!("include: got {part:?}, expected some of artifacts, timeline, steps, decisions");
            return Err(super::query::refused(detail));
        };
        include[place] = true;
    }
    parameters.finish("include")?;
    let has_parts = include.contains(&true);
    // Taken before the read: a change between the two is after the stamp.
    let stamp = if has_parts { None } else { app.service.stamp() };
    if let Some(kept) = stamp.and_then(|stamp| app.kept.get(stamp, &id)) {
        return Ok(answer(&headers, kept));
    }
    let run = match app.found(app.service.get(&id).await)? {
        Found::Service(run) => run,
        Found::Agent(agents) => {
            // First whether the run exists at all.
            let answer = agents::read::get(agents, &id, &headers).await?;
            return match has_parts {
                true => Err(super::query::refused(
                    "include: an agent run has no parts; read approvals and tool-calls",
                )),
                false => Ok(answer),
            };
        }
    };
    let tag = tag(run.version);
    if has_parts && has_version(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response());
    }
    let [artifacts, timeline, steps, decisions] = include;
    let artifacts = artifacts.then(|| run.artifacts.to_map());
    let mut body = RunBody::from(run);
    body.artifacts = artifacts;
    if timeline {
        let rows = all_rows!(app.service.timeline, &id);
        body.timeline = Some(rows.iter().map(body::entry).collect());
    }
    if steps || decisions {
        let rows = all_rows!(app.service.steps, &id);
        let is_decision = |row: &&Numbered<Step>| row.row.step == StepName::from(RunStep::HumanApproval);
        body.decisions = decisions.then(|| rows.iter().filter(is_decision).map(body::step).collect());
        body.steps = steps.then(|| rows.iter().map(body::step).collect());
    }
    let body = serde_json::to_vec(&body).map_err(|error| {
        Problem::new(Code::Internal, "the run cannot be written as JSON").caused_by(error)
    })?;
    let read = Answer { tag, body: body.into() };
    if let Some(stamp) = stamp {
        app.kept.put(stamp, &id, read.clone());
    }
    Ok(answer(&headers, read))
}

fn answer(headers: &HeaderMap, Answer { tag, body }: Answer) -> Response {
    if has_version(headers, &tag) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response();
    }
    let json = (CONTENT_TYPE, "application/json".to_owned());
    ([(ETAG, tag), json], body).into_response()
}

/// The place and the size of a page of rows.
pub(crate) fn page(mut parameters: Parameters) -> Result<(u64, usize), Problem> {
    let after = parameters.read("after", "the number of a row")?.unwrap_or(0);
    let limit = parameters.limit(1_000, 200)?;
    parameters.finish("after or limit")?;
    Ok((after, limit))
}

/// A page, read with one row more. The rows have their numbers.
pub(crate) fn rows_body(mut rows: Vec<(u64, Value)>, limit: usize) -> Json<RowsBody> {
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().map(|(seq, _)| *seq).filter(|_| more);
    Json(RowsBody { rows: rows.into_iter().map(|(_, row)| row).collect(), next })
}

macro_rules! rows {
    ($name:ident, $id:literal, $path:literal, $of:ident, $shown:expr, $about:literal, |$app:ident, $agents:ident, $run:ident, $page:ident| $of_agent:expr) => {
        #[doc = $about]
        #[utoipa::path(
            get,
            path = $path,
            operation_id = $id,
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
            ),
        )]
        pub(crate) async fn $name(
            State(app): State<App>,
            id: Path<String>,
            _reader: Reader,
            parameters: Parameters,
        ) -> Result<Json<RowsBody>, Problem> {
            let (after, limit) = page(parameters)?;
            let rows = match app.found(app.service.$of(&id, after, limit + 1).await)? {
                Found::Service(rows) => rows,
                Found::Agent($agents) => {
                    let ($app, $run, $page) = (&app, &id, (after, limit));
                    return $of_agent;
                }
            };
            // The numbers of rows have no gap.
            Ok(rows_body((after + 1..).zip(rows.iter().map($shown)).collect(), limit))
        }
    };
}

rows!(
    steps,
    "list_steps",
    "/v1/runs/{id}/steps",
    steps,
    body::step,
    "Lists the steps of a service run.",
    |app, agents, run, _page| Err(app.without(agents, run, "steps").await)
);
rows!(
    timeline,
    "list_timeline",
    "/v1/runs/{id}/timeline",
    timeline,
    body::entry,
    "Lists the timeline of a service run: its executed nodes.",
    |app, agents, run, _page| Err(app.without(agents, run, "timeline").await)
);

/// A trace line as JSON.
pub(crate) fn line(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_| line.into())
}

rows!(
    trace,
    "list_trace",
    "/v1/runs/{id}/trace",
    trace,
    |text: &String| line(text),
    "Lists the trace of a run: the recorded transitions of a service run and of its passes, or of an agent run and of its calls.",
    |_app, agents, run, page| agents::read::trace(agents, run, page).await
);

/// Returns an artifact of a run.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/artifacts/{name}",
    operation_id = "get_artifact",
    tag = "rows",
    params(
        ("id" = String, Path, description = "The id"),
        ("name" = String, Path, description = "The name, such as `tx_plan`"),
    ),
    responses(
        (status = 200, body = serde_json::Value, description = "The artifact"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json", description = "`not-found`"),
    ),
)]
pub(crate) async fn artifact(
    State(app): State<App>,
    path: Path<(String, String)>,
    _reader: Reader,
) -> Result<Json<Value>, Problem> {
    let Path((id, name)) = path;
    let mut artifacts = match app.found(app.service.get(&id).await)? {
        Found::Service(run) => run.artifacts.to_map(),
        Found::Agent(agents) => return Err(app.without(agents, &id, "artifacts").await),
    };
    match artifacts.remove(&name) {
        Some(artifact) => Ok(Json(artifact)),
        None => {
            let known: Vec<String> = artifacts.into_keys().collect();
            let detail = format!("run {id:?} has no artifact {name:?}; it has {}", known.join(", "));
            Err(Problem::new(Code::NotFound, detail))
        }
    }
}

/// Returns the whole trace of a run as lines of JSON, which `runstate check` reads.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/trace.jsonl",
    operation_id = "get_trace",
    tag = "rows",
    params(("id" = String, Path, description = "The id")),
    responses(
        (status = 200, body = String, content_type = "application/jsonl", description = "The trace"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json", description = "`not-found`"),
    ),
)]
pub(crate) async fn trace_lines(
    State(app): State<App>,
    id: Path<String>,
    reader: Reader,
) -> Result<Response, Problem> {
    // The first page tells whether the run exists; the others follow as the client reads.
    let first = trace_page(&app, &id, 0).await?;
    let pages = stream::unfold(Some(first), move |page| {
        let (app, id, token) = (app.clone(), id.0.clone(), reader.token.clone());
        async move {
            let (lines, after) = page?;
            if token.is_some_and(|token| !app.is_valid(&token)) {
                return Some((Err(Broken), None));
            }
            let is_last = lines.len() < PAGE;
            let redacted = |line| app.redacted("/v1/runs/{id}/trace.jsonl", None, line) + "\n";
            let text: String = lines.into_iter().map(redacted).collect();
            let next = match is_last {
                false => trace_page(&app, &id, after).await.map(Some),
                true => Ok(None),
            };
            match next {
                Ok(next) => Some((Ok(text), next)),
                Err(_) => Some((Err(Broken), None)),
            }
        }
    });
    Ok(([(CONTENT_TYPE, "application/jsonl")], Body::from_stream(pages)).into_response())
}

/// A page of lines of the trace, and the number of its last event.
async fn trace_page(app: &App, id: &str, after: u64) -> Result<(Vec<String>, u64), Problem> {
    match app.found(app.service.trace(id, after, PAGE).await)? {
        Found::Service(lines) => {
            let last = after + lines.len() as u64;
            Ok((lines, last))
        }
        Found::Agent(agents) => agents::read::lines(agents, id, after, PAGE).await,
    }
}
