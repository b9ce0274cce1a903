//! Lists of agent runs.

use data_encoding::BASE64URL_NOPAD;
use runstate::run::RunStatus;
use runstate_store::{RunQuery, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Agents;
use super::body::AgentRunBody;
use crate::body::ListBody;
use crate::problem::Problem;
use crate::runs::list::{Cursor, bad_cursor, digest, known, time};
use crate::runs::query::{Parameters, refused};

/// The place behind a run.
#[derive(Debug, Serialize, Deserialize)]
enum After {
    /// The time of creation, and the id.
    Run(u64, String),
    /// The next run of a thread.
    Previous(String),
}

const KNOWN: &str = "one of kind, status, thread, since, until, limit, cursor for agent runs";

/// The runs of a query, the newest first.
pub(crate) async fn list(agents: &Agents, mut parameters: Parameters) -> Result<ListBody, Problem> {
    let status = parameters.one("status")?;
    let status =
        status.map(|text| known::<RunStatus>("status", &text, "Running, Waiting, Done")).transpose()?;
    let thread = parameters.one("thread")?;
    let since_ms = time("since", parameters.one("since")?)?;
    let until_ms = time("until", parameters.one("until")?)?;
    let cursor = parameters.one("cursor")?;
    let limit = parameters.limit(200, 50)?;
    parameters.finish(KNOWN)?;
    if thread.is_some() && (status.is_some() || since_ms.is_some() || until_ms.is_some()) {
        return Err(refused(
            "thread: got another filter too, expected none; the runs of a thread have their own order",
        ));
    }
    let digest = digest(&json!(["agent", status, thread, since_ms, until_ms]));
    let after = cursor.map(|cursor| read(&cursor, &digest)).transpose()?;
    let (runs, after) = match (thread, after) {
        (Some(thread), after) => of_thread(agents, &thread, after, limit).await?,
        (None, after) => {
            let mut query = RunQuery::all(limit + 1);
            query.status = status;
            query.after = match after {
                Some(After::Run(at_ms, id)) => Some((at_ms, id)),
                Some(After::Previous(_)) => return Err(bad_cursor()),
                // An empty id precedes all others of its time.
                None => until_ms.map(|until_ms| (until_ms, String::new())),
            };
            let mut runs = agents.store().runs(&query).await?;
            runs.retain(|run| since_ms.is_none_or(|since_ms| run.created_at_ms >= since_ms));
            let more = runs.len() > limit;
            runs.truncate(limit);
            let last = runs.last().map(|last| After::Run(last.created_at_ms, last.id.clone()));
            let runs = runs.into_iter().map(|run| AgentRunBody::new(run, None)).collect();
            (runs, last.filter(|_| more))
        }
    };
    let next = after.map(|after| {
        let cursor = json!(Cursor { query: digest, after });
        BASE64URL_NOPAD.encode(cursor.to_string().as_bytes())
    });
    Ok(ListBody::of_agents(runs, next))
}

fn read(cursor: &str, digest: &str) -> Result<After, Problem> {
    let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).map_err(|_| bad_cursor())?;
    let cursor: Cursor<After> = serde_json::from_slice(&bytes).map_err(|_| bad_cursor())?;
    if cursor.query == digest { Ok(cursor.after) } else { Err(bad_cursor()) }
}

/// A page of the runs of a thread, from the last one back.
async fn of_thread(
    agents: &Agents,
    thread: &str,
    after: Option<After>,
    limit: usize,
) -> Result<(Vec<AgentRunBody>, Option<After>), Problem> {
    let mut next = match after {
        Some(After::Previous(run)) => Some(run),
        Some(After::Run(..)) => return Err(bad_cursor()),
        None => agents.store().last_of_thread(thread).await?,
    };
    let mut runs = Vec::new();
    while let Some(run) = next {
        if runs.len() == limit {
            return Ok((runs, Some(After::Previous(run))));
        }
        let parts = match agents.store().parts(&run).await {
            // A run that was removed, and those before it.
            Err(StoreError::NoRun { .. }) => break,
            parts => parts?,
        };
        next = parts.thread.and_then(|place| place.after);
        runs.push(AgentRunBody::new(parts.info, Some(thread.to_owned())));
    }
    Ok((runs, None))
}
