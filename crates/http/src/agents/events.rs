//! The event stream of an agent run.

use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use runstate::run::RunStatus;
use runstate_store::{EventRow, RunEvents};
use serde::Deserialize;
use tokio::sync::watch;

use super::Agents;
use crate::app::{App, Drained, StreamPermit};
use crate::peer::PeerClosed;
use crate::problem::{Code, Problem};
use crate::runs::events::{Broken, ENDPOINT, KEEP_ALIVE, RETRY, drained, keep_alive};

struct Follower {
    app: App,
    drain: watch::Receiver<Drained>,
    events: RunEvents,
    is_over: bool,
    token: Option<String>,
    closed: PeerClosed,
    _permit: StreamPermit,
}

/// Streams the events of an agent run behind the event of that number.
pub(crate) async fn events(
    app: &App,
    agents: &Agents,
    run: &str,
    (after, at_ms): (u64, Option<u64>),
    (token, permit, closed): (Option<String>, StreamPermit, PeerClosed),
) -> Result<Response, Problem> {
    let info = agents.store().parts(run).await?.info;
    let known = match after {
        0 => true,
        _ => agents.store().events(run, after - 1, 1).await?.first().is_some_and(|row| {
            row.last == after && at_ms.is_none_or(|at_ms| Typed::of(row).is_some_and(|it| it.at_ms == at_ms))
        }),
    };
    if !known {
        let detail = format!("Last-Event-ID: the run has no event {after}; connect without the header");
        return Err(Problem::new(Code::BadHeader, detail));
    }
    let is_over = info.status == RunStatus::Done;
    if is_over && agents.store().events(run, after, 1).await?.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let follower = Follower {
        drain: app.drain.clone(),
        app: app.clone(),
        events: agents.feed().watch(run, after),
        is_over: false,
        token,
        closed,
        _permit: permit,
    };
    let retry = stream::iter([Ok::<_, Broken>(Event::default().retry(RETRY))]);
    let events = futures_util::StreamExt::chain(retry, follower.events());
    Ok(Sse::new(events).keep_alive(keep_alive()).into_response())
}

impl Follower {
    fn events(self) -> impl Stream<Item = Result<Event, Broken>> {
        stream::unfold(Some(self), |follower| async move {
            let mut follower = follower?;
            match follower.next().await {
                Ok(Some(row)) => {
                    let (event, is_end) = event(&follower.app, &row);
                    follower.is_over = is_end;
                    Some((Ok(event), Some(follower)))
                }
                Ok(None) if follower.is_over => None,
                Ok(None) => Some((Err(Broken), None)),
                Err(broken) => Some((Err(broken), None)),
            }
        })
    }

    /// The next row. None behind the last one of a run that is over.
    async fn next(&mut self) -> Result<Option<std::sync::Arc<EventRow>>, Broken> {
        loop {
            tokio::select! {
                // A client that closed its side gets the events that are there.
                biased;
                // A run that is removed meanwhile, or a store that cannot be reached: the client connects again.
                row = self.events.next() => {
                    self.check_token()?;
                    return row.map_err(|_| Broken);
                }
                () = drained(&mut self.drain) => return Err(Broken),
                () = self.closed.wait() => return Err(Broken),
                () = tokio::time::sleep(KEEP_ALIVE) => self.check_token()?,
            }
        }
    }

    /// A token may be revoked meanwhile.
    fn check_token(&self) -> Result<(), Broken> {
        match &self.token {
            Some(token) if !self.app.is_valid(token) => Err(Broken),
            _ => Ok(()),
        }
    }
}

/// The parts of an event that its id and its name have.
#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: String,
    at_ms: u64,
    /// The status of the run, in the event of the end of an activation.
    status: Option<RunStatus>,
}

impl Typed {
    fn of(row: &EventRow) -> Option<Typed> {
        serde_json::from_str(&row.json).ok()
    }
}

/// An event as its readers see it, and whether it is the last one. Its name is the type, and its id has the number of the
/// last event in the row with the time.
fn event(app: &App, row: &EventRow) -> (Event, bool) {
    let (name, at_ms, is_end) = match Typed::of(row) {
        // A name with a line end is no name of an event.
        Some(Typed { kind, at_ms, .. })
            if !kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') =>
        {
            ("other".to_owned(), at_ms, false)
        }
        Some(Typed { kind, at_ms, status }) => {
            let is_end = kind == "run_finished" && status == Some(RunStatus::Done);
            (kind, at_ms, is_end)
        }
        None => ("other".to_owned(), 0, false),
    };
    let data = app.redacted(ENDPOINT, Some(&name), row.json.clone());
    (Event::default().id(format!("{}@{at_ms}", row.last)).event(name).data(data), is_end)
}
