//! Lists of agent runs.

use data_encoding::BASE64URL_NOPAD;
use runstate::run::RunStatus;
use runstate_service::UnreadableRun;
use runstate_store::{RunQuery, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Agents;
use super::body::AgentRunBody;
use crate::body::{ListBody, UnreadableRow};
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
    let (runs, unreadable, after) = match (thread, after) {
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
            // An entry without a run is no row: its text may have a path.
            let entries = agents.store().corrupt_entries().await?.into_iter();
            let rows = entries.filter_map(|entry| Some(UnreadableRun::new(entry.run?, entry.what).into()));
            (runs, rows.collect(), last.filter(|_| more))
        }
    };
    let next = after.map(|after| {
        let cursor = json!(Cursor { query: digest, after });
        BASE64URL_NOPAD.encode(cursor.to_string().as_bytes())
    });
    Ok(ListBody::of_agents(runs, unreadable, next))
}

fn read(cursor: &str, digest: &str) -> Result<After, Problem> {
    let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).map_err(|_| bad_cursor())?;
    let cursor: Cursor<After> = serde_json::from_slice(&bytes).map_err(|_| bad_cursor())?;
    if cursor.query == digest { Ok(cursor.after) } else { Err(bad_cursor()) }
}

/// A page of runs, the runs that cannot be read, and the place of the next page.
type Page = (Vec<AgentRunBody>, Vec<UnreadableRow>, Option<After>);

/// A page of the runs of a thread, from the last one back. Each run names the one before it, so the page ends with a run
/// that cannot be read.
async fn of_thread(
    agents: &Agents,
    thread: &str,
    after: Option<After>,
    limit: usize,
) -> Result<Page, Problem> {
    let mut next = match after {
        Some(After::Previous(run)) => Some(run),
        Some(After::Run(..)) => return Err(bad_cursor()),
        None => agents.store().last_of_thread(thread).await?,
    };
    let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
    while let Some(run) = next {
        if runs.len() == limit {
            return Ok((runs, unreadable, Some(After::Previous(run))));
        }
        let parts = match agents.store().parts(&run).await {
            // A run that was removed, and those before it.
            Err(StoreError::NoRun { .. }) => break,
            Err(StoreError::Unusable { .. }) => {
                // The text may have a path.
                let detail = "the run cannot be read, and so the runs of the thread before it are not listed";
                unreadable.push(UnreadableRow { run_id: run, detail: detail.to_owned() });
                break;
            }
            parts => parts?,
        };
        next = parts.thread.and_then(|place| place.after);
        runs.push(AgentRunBody::new(parts.info, Some(thread.to_owned())));
    }
    Ok((runs, unreadable, None))
}
