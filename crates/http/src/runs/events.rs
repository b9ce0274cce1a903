//! The event stream of a run.

use std::collections::VecDeque;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use runstate_service::{EventRow, Numbered, ServiceEvent};
use serde_json::{Value, json};
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::access::Reader;
use crate::agents::{self, Found};
use crate::app::{App, Drained, StreamPermit};
use crate::body::timed;
use crate::hub::{News, PAGE, Watch};
use crate::peer::PeerClosed;
use crate::problem::{Code, Problem, ProblemBody};

/// The pause before a client connects again.
pub(crate) const RETRY: Duration = Duration::from_secs(1);

/// The pause between two comments that keep a stream open.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// An event of a stream, for the document.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "the document has it")]
pub(crate) struct StreamEvent {
    /// The number of the event and its time.
    #[schema(pattern = "^[0-9]+@[0-9]+$")]
    id: String,
    /// The name.
    #[schema(pattern = "^[a-z_]+$")]
    event: String,
    /// The event, as JSON.
    data: String,
}

/// Streams the events of a run: `status`, `step`, `timeline`, `artifact` and `end`; of an agent run those of its driver.
///
/// The stream begins behind the event of `Last-Event-ID`, and ends after `end`, or after `run_finished` of an agent run
/// that is `Done`. A stream that ends before was broken:
/// connect again with the last id.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/events",
    operation_id = "watch_run",
    tag = "rows",
    params(
        ("id" = String, Path, description = "The id"),
        ("Last-Event-ID" = Option<String>, Header, pattern = "^[0-9]{1,18}(@[0-9]+)?$", description = "The id of the last known event"),
    ),
    responses(
        (status = 200, body = StreamEvent, content_type = "text/event-stream", description = "The events"),
        (status = 204, description = "The run is over, and all events are known"),
        (status = 400, body = ProblemBody, content_type = "application/problem+json", description = "`bad-header`"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "`unauthenticated`"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json", description = "`not-found`"),
        (status = 429, body = ProblemBody, content_type = "application/problem+json", description = "`too-many-streams`"),
    ),
)]
pub(crate) async fn events(
    State(app): State<App>,
    id: Path<String>,
    reader: Reader,
    closed: PeerClosed,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (after, at_ms) = last_id(&headers)?;
    if *app.drain.borrow() > Drained::No {
        return Err(Problem::new(Code::Busy, "the server ends").retry_after(1));
    }
    let permit = app.stream(&reader.principal.name)?;
    // Subscribed before the first read: an event between the two is never missed.
    let watch = app.hub.watch(&id);
    let run = match app.found(app.service.get(&id).await)? {
        Found::Service(run) => run,
        Found::Agent(agents) => {
            let reader = (reader.token, permit, closed);
            return agents::events::events(&app, agents, &id, (after, at_ms), reader).await;
        }
    };
    let is_known = after == 0
        || app
            .service
            .events(&id, after - 1, 1)
            .await?
            .first()
            .is_some_and(|row| row.seq == after && at_ms.is_none_or(|at_ms| at_ms == row.row.at_ms));
    if !is_known {
        let detail = format!("Last-Event-ID: the run has no event {after}; connect without the header");
        return Err(Problem::new(Code::BadHeader, detail));
    }
    if run.status.is_terminal() && app.service.events(&id, after, 1).await?.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let follower = Follower {
        drain: app.drain.clone(),
        app,
        run: id.0,
        watch,
        after,
        rows: VecDeque::new(),
        caught_up: false,
        is_over: false,
        token: reader.token,
        closed,
        _permit: permit,
    };
    let retry = stream::iter([Ok::<_, Broken>(Event::default().retry(RETRY))]);
    let events = futures_util::StreamExt::chain(retry, follower.events());
    Ok(Sse::new(events).keep_alive(keep_alive()).into_response())
}

/// A comment that keeps a stream open.
pub(crate) fn keep_alive() -> KeepAlive {
    KeepAlive::new().interval(KEEP_ALIVE).text("keep-alive")
}

/// The number and the time of the last known event.
fn last_id(headers: &HeaderMap) -> Result<(u64, Option<u64>), Problem> {
    let Some(id) = headers.get("last-event-id") else { return Ok((0, None)) };
    let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse::<u64>().ok(),
        false => None,
    };
    let read = id.to_str().ok().and_then(|id| match id.split_once('@') {
        Some((seq, at_ms)) => Some((number(seq)?, Some(number(at_ms)?))),
        None => Some((number(id)?, None)),
    });
    let expected = "Last-Event-ID: expected the id of an event of this run, such as 7@1769860800000";
    read.ok_or_else(|| Problem::new(Code::BadHeader, expected))
}

/// The error that breaks a stream.
#[derive(Debug, thiserror::Error)]
#[error("the stream is broken")]
pub(crate) struct Broken;

struct Follower {
    app: App,
    run: String,
    watch: Watch,
    drain: watch::Receiver<Drained>,
    /// The number of the last event in `rows`, or of the last one that was sent.
    after: u64,
    rows: VecDeque<Numbered<EventRow>>,
    caught_up: bool,
    is_over: bool,
    /// The token, which may be revoked meanwhile.
    token: Option<String>,
    closed: PeerClosed,
    _permit: StreamPermit,
}

impl Follower {
    fn events(self) -> impl Stream<Item = Result<Event, Broken>> {
        stream::unfold(Some(self), |follower| async {
            let mut follower = follower?;
            if follower.is_over {
                return None;
            }
            match follower.next().await {
                Ok(row) => {
                    follower.is_over = matches!(row.row.event, ServiceEvent::End { .. });
                    Some((Ok(event(&follower.app, &row)), Some(follower)))
                }
                Err(broken) => Some((Err(broken), None)),
            }
        })
    }

    async fn next(&mut self) -> Result<Numbered<EventRow>, Broken> {
        loop {
            if *self.drain.borrow() == Drained::Streams {
                return Err(Broken);
            }
            if let Some(row) = self.rows.pop_front() {
                if self.token.as_ref().is_some_and(|token| !self.app.is_valid(token)) {
                    return Err(Broken);
                }
                return Ok(row);
            }
            if !self.caught_up {
                self.read().await?;
                continue;
            }
            let news = tokio::select! {
                biased;
                news = self.watch.next() => news,
                () = drained(&mut self.drain) => return Err(Broken),
                // The client has all events, and perhaps went away.
                () = self.closed.wait() => return Err(Broken),
                () = tokio::time::sleep(KEEP_ALIVE) => {
                    if self.token.as_ref().is_some_and(|token| !self.app.is_valid(token)) {
                        return Err(Broken);
                    }
                    continue;
                }
            };
            match news {
                News::Look => self.caught_up = false,
                News::Rows(rows) => {
                    let new = rows.iter().filter(|row| row.seq > self.after);
                    match new.clone().next() {
                        None => {}
                        Some(first) if first.seq == self.after + 1 => {
                            self.rows.extend(new.cloned());
                            self.after = self.rows.back().map_or(self.after, |row| row.seq);
                        }
                        Some(_) => self.caught_up = false,
                    }
                }
            }
        }
    }

    /// Reads a page of rows from the store.
    async fn read(&mut self) -> Result<(), Broken> {
        // A run that is removed meanwhile, or a store that cannot be reached: the client connects again.
        let rows = self.app.service.events(&self.run, self.after, PAGE).await.map_err(|_| Broken)?;
        self.after = rows.last().map_or(self.after, |row| row.seq);
        self.caught_up = rows.len() < PAGE;
        if self.caught_up {
            self.watch.has_read(self.after);
        }
        self.rows.extend(rows);
        Ok(())
    }
}

/// Ends when the server breaks its streams. Without a server a stream lives as long as its connection.
pub(crate) async fn drained(drain: &mut watch::Receiver<Drained>) {
    if drain.wait_for(|drained| *drained == Drained::Streams).await.is_err() {
        std::future::pending().await
    }
}

/// The endpoint of event streams.
pub(crate) const ENDPOINT: &str = "/v1/runs/{id}/events";

/// An event as its readers see it: the id is the number with the time.
fn event(app: &App, row: &Numbered<EventRow>) -> Event {
    let id = format!("{}@{}", row.seq, row.row.at_ms);
    let (name, data) = match &row.row.event {
        ServiceEvent::Status { status, final_status } => {
            ("status", json!({ "status": status, "final_status": final_status }))
        }
        ServiceEvent::Step { step } => ("step", timed(json!(step))),
        ServiceEvent::Timeline { entry } => ("timeline", timed(json!(entry))),
        ServiceEvent::Artifact { name, digest } => ("artifact", json!({ "name": name, "digest": digest })),
        ServiceEvent::End { status } => ("end", json!({ "status": status })),
        _ => ("other", Value::Null),
    };
    let data = app.redacted(ENDPOINT, Some(name), data.to_string());
    Event::default().id(id).event(name).data(data)
}
