//! Lists of runs.

use axum::Json;
use axum::extract::State;
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use jiff::Timestamp;
use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate_service::{ListQuery, ListSort, RunPosition};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::query::{Parameters, refused};
use crate::access::Reader;
use crate::agents;
use crate::app::App;
use crate::body::{ListBody, StatusText};
use crate::problem::{Code, Problem, ProblemBody};

/// A cursor: the place, and the digest of its query.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Cursor<T> {
    pub(crate) query: String,
    pub(crate) after: T,
}

const KNOWN: &str =
    "one of kind, status, final_status, q, agent, thread, since, until, sort, counts, limit, cursor";

/// Lists runs, the newest first.
#[utoipa::path(
    get,
    path = "/v1/runs",
    operation_id = "list_runs",
    tag = "runs",
    params(
        ("kind" = Option<String>, Query, pattern = "^(service|agent)$", description = "`service` or `agent`. Default: `service`"),
        ("status" = Option<Vec<StatusText>>, Query, description = "The statuses, also behind commas; one of `Running`, `Waiting` and `Done` for agent runs", style = Form, explode),
        ("final_status" = Option<String>, Query, pattern = "^(READY|NEEDS_INPUT|BLOCKED|FAILED|NOOP)$", description = "The final status"),
        ("q" = Option<String>, Query, description = "A part of the intent or of the id, in any case"),
        ("thread" = Option<String>, Query, description = "A thread of agent runs"),
        ("since" = Option<String>, Query, format = DateTime, description = "The earliest time of creation, RFC 3339"),
        ("until" = Option<String>, Query, format = DateTime, description = "The time of creation that is too late, RFC 3339"),
        ("sort" = Option<String>, Query, pattern = "^(newest|oldest|changed)$", description = "`newest`, `oldest` or `changed`"),
        ("counts" = Option<bool>, Query, description = "Whether the page has the numbers of runs on all pages. They cost a look at each run of the list. Default: false"),
        ("limit" = Option<u64>, Query, minimum = 1, maximum = 200, description = "The size of the page. Default: 50"),
        ("cursor" = Option<String>, Query, description = "`next` of the page before, with the same query"),
    ),
    responses(
        (status = 200, body = ListBody, description = "A page of runs"),
        (status = 400, body = ProblemBody, content_type = "application/problem+json", description = "`bad-query`, `bad-cursor`"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
        (status = 429, body = ProblemBody, content_type = "application/problem+json", description = "`too-many-requests`"),
    ),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _reader: Reader,
    mut parameters: Parameters,
) -> Result<Json<ListBody>, Problem> {
    match parameters.one("kind")?.as_deref() {
        None | Some("service") => {}
        Some("agent") => {
            let Some(agents) = &app.agents else {
                return Err(refused("kind: got \"agent\", and this server has no agent runs"));
            };
            return agents::list::list(agents, parameters).await.map(Json);
        }
        Some(kind) => return Err(refused(format!("kind: got {kind:?}, expected \"service\" or \"agent\""))),
    }
    let (query, digest) = read(parameters)?;
    let mut page = app.service.list(&query).await?;
    let next = page.next.take().map(|after| {
        let cursor = Cursor { query: digest, after };
        BASE64URL_NOPAD.encode(json!(cursor).to_string().as_bytes())
    });
    Ok(Json(ListBody::of_services(page, next)))
}

fn read(mut parameters: Parameters) -> Result<(ListQuery, String), Problem> {
    let mut query = ListQuery::first(0);
    for name in ["agent", "thread"] {
        if parameters.one(name)?.is_some() {
            return Err(refused(format!("{name}: service runs have none")));
        }
    }
    for status in parameters.all("status") {
        let status = status.parse::<ServiceRunStatus>();
        query.statuses.insert(status.map_err(|error| refused(format!("status: {error}")))?);
    }
    if let Some(status) = parameters.one("final_status")? {
        let expected = "READY, NEEDS_INPUT, BLOCKED, FAILED, NOOP";
        query.final_status = Some(known::<FinalStatus>("final_status", &status, expected)?);
    }
    query.text = parameters.one("q")?.filter(|text| !text.is_empty());
    query.since_ms = time("since", parameters.one("since")?)?;
    query.until_ms = time("until", parameters.one("until")?)?;
    if let Some(sort) = parameters.one("sort")? {
        query.sort = known::<ListSort>("sort", &sort, "newest, oldest, changed")?;
    }
    query.counts = parameters.read("counts", "true or false")?.unwrap_or(false);
    let cursor = parameters.one("cursor")?;
    query.limit = parameters.limit(200, 50)?;
    parameters.finish(KNOWN)?;
    let ListQuery { sort, statuses, final_status, text, since_ms, until_ms, .. } = &query;
    let digest = digest(&json!([sort, statuses, final_status, text, since_ms, until_ms]));
    if let Some(cursor) = cursor {
        let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok();
        let cursor: Option<Cursor<RunPosition>> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match cursor.filter(|cursor| cursor.query == digest) {
            Some(cursor) => query.after = Some(cursor.after),
            None => return Err(bad_cursor()),
        }
    }
    Ok((query, digest))
}

pub(crate) fn bad_cursor() -> Problem {
    Problem::new(Code::BadCursor, "the cursor is no `next` of this query; begin without a cursor")
}

pub(crate) fn known<T: DeserializeOwned>(name: &str, text: &str, expected: &str) -> Result<T, Problem> {
    serde_json::from_value(Value::from(text))
        .map_err(|_| refused(format!("{name}: got {text:?}, expected one of {expected}")))
}

pub(crate) fn time(name: &str, text: Option<String>) -> Result<Option<u64>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let time = text.parse::<Timestamp>().ok().and_then(|time| u64::try_from(time.as_millisecond()).ok());
    match time {
        Some(at_ms) => Ok(Some(at_ms)),
        None => Err(refused(format!("{name}: got {text:?}, expected a time such as 2026-01-31T12:00:00Z"))),
    }
}

/// A digest that binds a cursor to its query. It is no secret.
pub(crate) fn digest(query: &Value) -> String {
    let hash = Sha256::digest(query.to_string().as_bytes());
    HEXLOWER.encode(&hash[..8])
}

/// The OpenAPI document.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    tag = "server",
    responses(
        (status = 200, body = serde_json::Value, description = "This document"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
    ),
)]
pub(crate) async fn openapi(State(app): State<App>, _reader: Reader) -> axum::response::Response {
    use axum::response::IntoResponse;

    let body = app.openapi.clone();
    ([(axum::http::header::CONTENT_TYPE, "application/json")], body).into_response()
}
