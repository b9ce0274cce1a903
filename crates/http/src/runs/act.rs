//! The operations on runs.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{ETAG, HeaderName, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use runstate::service_run::ServiceRunStatus;
use runstate_service::{Caller, Handout, Poll, RunView, SubmittedBy};
use serde_json::json;

use super::read::tag;
use crate::access::{Call, OfApprover, OfOperator, Remover};
use crate::agents::OfRun;
use crate::app::{App, Drained};
use crate::body::{
    ApproveBody, CreateBody, HandoutBody, NoBody, PollBody, RejectBody, ResumeBody, RunBody, SubmittedBody,
};
use crate::layers::Permit;
use crate::problem::{Code, MemberError, Problem, ProblemBody};

/// Marks the stored answer of an earlier request.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

fn replayed(mut response: Response, is_replayed: bool) -> Response {
    if is_replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

fn run_answer(status: StatusCode, (run, is_replayed): (RunView, bool)) -> Response {
    let tag = tag(run.version);
    replayed((status, [(ETAG, tag)], Json(RunBody::from(run))).into_response(), is_replayed)
}

/// An id of 128 random bits.
fn new_id() -> Result<String, Problem> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|_| Problem::new(Code::Internal, "the system gives no random bytes"))?;
    Ok(format!("run_{}", HEXLOWER.encode(&bytes)))
}

/// Waits for the outcome of a pass. A run that is RUNNING at the end of the time is answered as it is.
async fn outcome(
    app: &App,
    run: RunView,
    caller: &Caller,
    (wait, permit): (Option<Duration>, Option<Permit>),
) -> Result<Response, Problem> {
    // A request that waits has a place among the streams, and none among the requests.
    let place = wait.and_then(|_| app.stream(&caller.actor).ok());
    let (Some(wait), Some(_place)) = (wait, place) else {
        return Ok(run_answer(status_of(&run), (run, false)));
    };
    if let Some(permit) = permit {
        permit.release();
    }
    let id = run.run_id.clone();
    let (mut drain, mut watch) = (app.drain.clone(), app.hub.watch(&id));
    let is_over = async {
        loop {
            let run = app.service.get(&id).await?;
            if run.status != ServiceRunStatus::Running {
                return Ok::<_, Problem>(run);
            }
            watch.next().await;
        }
    };
    let drains = async {
        if drain.wait_for(|drained| *drained > Drained::No).await.is_err() {
            std::future::pending().await
        }
    };
    let run = tokio::select! {
        run = tokio::time::timeout(wait, is_over) => run.ok().transpose()?,
        () = drains => None,
    };
    let run = match run {
        Some(run) => run,
        None => app.service.get(&id).await?,
    };
    Ok(run_answer(status_of(&run), (run, false)))
}

/// The status of an answer about a pass.
fn status_of(run: &RunView) -> StatusCode {
    match run.status {
        ServiceRunStatus::Running => StatusCode::ACCEPTED,
        _ => StatusCode::OK,
    }
}

/// An endpoint that writes, with the refusals that all of them have.
macro_rules! endpoint {
    (
        $(#[doc = $doc:literal])+
        $name:ident($id:literal, $path:literal $(with $param:literal)?, $body:ty),
        responses($(($status:literal, $answer:ty, $about:literal)),+),
        refusals($($refusal:literal = $code:literal),*),
        |$app:ident, $run:ident: $run_type:ty, $call:ident: Call<$needs:ty>| $work:block
    ) => {
        $(#[doc = $doc])+
        #[utoipa::path(
            post,
            path = $path,
            operation_id = $id,
            tag = "operations",
            params(
                $(
                    ($param = String, Path, description = "The id"),
                    ("If-Match" = Option<String>, Header, min_length = 1, pattern = "^([*]|\"v[0-9]+\")$", description = "The entity tag that the run must have"),
                )?
                ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "A repeated request with the same key has the same answer, for 24 hours"),
            ),
            request_body = $body,
            responses(
                $((status = $status, body = $answer, description = $about),)+
                $((status = $refusal, body = ProblemBody, content_type = "application/problem+json", description = $code),)*
                (status = 400, body = ProblemBody, content_type = "application/problem+json", description = "`bad-json`, `bad-header`"),
                (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
                (status = 403, body = ProblemBody, content_type = "application/problem+json", description = "`forbidden`, `cross-site`, `not-distinct`"),
                (status = 413, body = ProblemBody, content_type = "application/problem+json", description = "`too-large`"),
                (status = 415, body = ProblemBody, content_type = "application/problem+json", description = "`not-json`"),
                (status = 422, body = ProblemBody, content_type = "application/problem+json", description = "`invalid`, `key-reused`"),
                (status = 429, body = ProblemBody, content_type = "application/problem+json", description = "`too-many-requests`"),
                (status = 503, body = ProblemBody, content_type = "application/problem+json", description = "`unavailable`, `busy`"),
            ),
        )]
        pub(crate) async fn $name(
            State($app): State<App>,
            $run: $run_type,
            $call: Call<$needs, $body>,
        ) -> Result<Response, Problem> {
            let (app, run) = ($app.clone(), $run.run());
            let answer: Result<Response, Problem> = async move { $work }.await;
            match answer {
                Err(problem) => Err(app.explained(run.as_deref(), problem).await),
                answer => answer,
            }
        }
    };
}

/// The path of a run.
type RunPath = Path<String>;

/// The path of all runs.
type NoPath = ();

endpoint! {
    /// Creates a run.
    create("create_run", "/v1/runs", CreateBody),
    responses((201, RunBody, "The new run, with its address in `Location`")),
    refusals(409 = "`in-progress`"),
    |app, _run: NoPath, call: Call<OfOperator>| {
        let new = call.body.into_run(new_id()?);
        let (service, caller) = (app.service.clone(), call.caller.clone());
        let (run, is_replayed) =
            app.once(&call.caller, async move { service.create(new, caller).await }).await?;
        let location = format!("/v1/runs/{}", run.run_id);
        let headers = [(LOCATION, location), (ETAG, tag(run.version))];
        let response = (StatusCode::CREATED, headers, Json(RunBody::from(run))).into_response();
        Ok(replayed(response, is_replayed))
    }
}

endpoint! {
    /// Starts a run: plans, builds, simulates and judges its transactions.
    ///
    /// The answer comes with the outcome, or after the time of `Prefer: wait=N`. A run that FAILED is an outcome too.
    start("start_run", "/v1/runs/{id}/start" with "id", NoBody),
    responses((200, RunBody, "The outcome"), (202, RunBody, "The run, which is RUNNING")),
    refusals(404 = "`not-found`", 409 = "`wrong-status`, `in-progress`", 412 = "`other-version`"),
    |app, run: RunPath, call: Call<OfOperator>| {
        let (service, caller, id) = (app.service.clone(), call.caller.clone(), run.0);
        let begin = async move { service.start(&id, caller).await };
        let (run, is_replayed): (RunView, bool) = app.once(&call.caller, begin).await?;
        Ok(replayed(outcome(&app, run, &call.caller, (call.wait, call.permit)).await?, is_replayed))
    }
}

endpoint! {
    /// Resumes a PAUSED run with answers, or a NOOP run with another intent.
    resume("resume_run", "/v1/runs/{id}/resume" with "id", ResumeBody),
    responses((200, RunBody, "The outcome"), (202, RunBody, "The run, which is RUNNING")),
    refusals(
        404 = "`not-found`",
        409 = "`wrong-status`, `no-checkpoint`, `input-needed`, `in-progress`",
        412 = "`other-version`"
    ),
    |app, run: RunPath, call: Call<OfOperator>| {
        let (service, caller, id) = (app.service.clone(), call.caller.clone(), run.0);
        let answers = call.body.into_answers();
        let begin = async move { service.resume(&id, &answers, caller).await };
        let begun = app.once(&call.caller, begin).await;
        let slots = ["/wallet_address", "/chain_id"];
        let (run, is_replayed): (RunView, bool) = begun.map_err(|problem| problem.below("/answers", &slots))?;
        Ok(replayed(outcome(&app, run, &call.caller, (call.wait, call.permit)).await?, is_replayed))
    }
}

endpoint! {
    /// Approves the transactions of a run.
    approve("approve_run", "/v1/runs/{id}/approve" with "id", ApproveBody),
    responses((200, RunBody, "The approved run")),
    refusals(
        404 = "`not-found`",
        409 = "`wrong-status`, `stale-digest`, `in-progress`",
        412 = "`other-version`"
    ),
    |app, run: RunPath, call: Call<OfApprover>| {
        let ApproveBody { digest, notes, reviewer } = call.body;
        let mut caller = call.caller.clone();
        caller.on_behalf_of = reviewer;
        let (service, id, notes) = (app.service.clone(), run.0, notes.unwrap_or_default());
        let decide = async move { service.approve(&id, digest.as_deref(), &notes, caller).await };
        Ok(run_answer(StatusCode::OK, app.once(&call.caller, decide).await?))
    }
}

endpoint! {
    /// Rejects the transactions of a run.
    reject("reject_run", "/v1/runs/{id}/reject" with "id", RejectBody),
    responses((200, RunBody, "The rejected run")),
    refusals(404 = "`not-found`", 409 = "`wrong-status`, `in-progress`", 412 = "`other-version`"),
    |app, run: RunPath, call: Call<OfApprover>| {
        let RejectBody { reason, reviewer } = call.body;
        let mut caller = call.caller.clone();
        caller.on_behalf_of = reviewer;
        let (service, id, reason) = (app.service.clone(), run.0, reason.unwrap_or_default());
        let decide = async move { service.reject(&id, &reason, caller).await };
        Ok(run_answer(StatusCode::OK, app.once(&call.caller, decide).await?))
    }
}

endpoint! {
    /// Hands out the transactions of an approved run. The status stays; each call is a step.
    execute("execute_run", "/v1/runs/{id}/execute" with "id", NoBody),
    responses((200, HandoutBody, "The transactions, in order")),
    refusals(404 = "`not-found`", 409 = "`wrong-status`, `in-progress`", 412 = "`other-version`"),
    |app, run: RunPath, call: Call<OfOperator>| {
        let (service, caller, id) = (app.service.clone(), call.caller.clone(), run.0);
        let hand_out = async move { service.execute(&id, caller).await };
        let (handout, is_replayed): (Handout, bool) = app.once(&call.caller, hand_out).await?;
        let tx_request = handout.tx_requests.first().cloned().unwrap_or_default();
        let Handout { tx_requests, digest, .. } = handout;
        let body = HandoutBody { tx_requests, tx_request, digest };
        Ok(replayed(Json(body).into_response(), is_replayed))
    }
}

endpoint! {
    /// Notes the hashes of sent transactions.
    tx_submitted("submit_run", "/v1/runs/{id}/tx_submitted" with "id", SubmittedBody),
    responses((200, RunBody, "The submitted run")),
    refusals(404 = "`not-found`", 409 = "`wrong-status`, `in-progress`", 412 = "`other-version`"),
    |app, run: RunPath, call: Call<OfOperator>| {
        let (service, caller, id) = (app.service.clone(), call.caller.clone(), run.0);
        let SubmittedBody { tx_hashes, submitted_by, replaces } = call.body;
        let hashes = tx_hashes.unwrap_or_default();
        let has_none = hashes.is_empty();
        let by = submitted_by.unwrap_or(SubmittedBy::Manual);
        if let Some(old) = replaces {
            let [new] = <[String; 1]>::try_from(hashes).map_err(|hashes| {
                let detail = format!("got {} hashes, expected the one that replaces another", hashes.len());
                Problem::of_members(vec![MemberError { pointer: "/tx_hashes".to_owned(), detail }])
            })?;
            let replace = async move { service.replace_tx(&id, &old, &new, by, caller).await };
            return Ok(run_answer(StatusCode::OK, app.once(&call.caller, replace).await?));
        }
        let submit = async move { service.tx_submitted(&id, &hashes, by, caller).await };
        match app.once(&call.caller, submit).await {
            // The status is told first.
            Err(problem) if has_none && problem.code() == Code::Invalid => {
                Err(Problem::new(Code::NoHash, "tx_hashes: got no hash, expected one or more"))
            }
            answer => Ok(run_answer(StatusCode::OK, answer?)),
        }
    }
}

endpoint! {
    /// Reads the receipts of the sent transactions.
    poll_tx("poll_run", "/v1/runs/{id}/poll_tx" with "id", NoBody),
    responses((200, PollBody, "The receipts, and the status")),
    refusals(
        404 = "`not-found`",
        409 = "`wrong-status`, `in-progress`",
        412 = "`other-version`",
        502 = "`chain-unreachable`"
    ),
    |app, run: RunPath, call: Call<OfOperator>| {
        let (service, caller, id) = (app.service.clone(), call.caller.clone(), run.0);
        let poll = async move { service.poll_tx(&id, caller).await };
        let (poll, is_replayed): (Poll, bool) = app.once(&call.caller, poll).await?;
        let receipts: Vec<_> = poll.receipts.iter().map(|receipt| receipt.as_ref().map(|it| json!(it))).collect();
        let body = PollBody {
            mined: poll.mined,
            receipt: receipts.last().cloned().flatten(),
            receipts,
            mismatches: poll.mismatches.iter().map(|it| json!(it)).collect(),
            status: poll.status,
        };
        Ok(replayed(Json(body).into_response(), is_replayed))
    }
}

/// Removes a run that is over.
#[utoipa::path(
    delete,
    path = "/v1/runs/{id}",
    operation_id = "delete_run",
    tag = "operations",
    params(
        ("id" = String, Path, description = "The id"),
        ("If-Match" = Option<String>, Header, min_length = 1, pattern = "^([*]|\"v[0-9]+\")$", description = "The entity tag that the run must have"),
    ),
    responses(
        (status = 204, description = "The run is removed"),
        (status = 400, body = ProblemBody, content_type = "application/problem+json", description = "`bad-header`"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
        (status = 403, body = ProblemBody, content_type = "application/problem+json", description = "`forbidden`, `cross-site`"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json", description = "`not-found`"),
        (status = 409, body = ProblemBody, content_type = "application/problem+json", description = "`wrong-status`, `held`"),
        (status = 412, body = ProblemBody, content_type = "application/problem+json", description = "`other-version`"),
    ),
)]
pub(crate) async fn delete(
    State(app): State<App>,
    id: Path<String>,
    remover: Remover,
) -> Result<StatusCode, Problem> {
    match app.service.delete(&id, remover.version).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(error) => Err(app.explained(Some(&id), error.into()).await),
    }
}
