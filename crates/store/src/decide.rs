//! Decisions about calls of stored runs. Another process may drive the run.

use runstate::decision::{Decision, DecisionAction, Suspension};
use runstate_agent::for_stores::{asked_in, fits, well_formed};
use runstate_agent::{Incoming, Reply, SchemaCheck};

use super::error::StoreError;
use super::expire::expire;
use super::load::Loaded;
use super::query::{Approval, ApprovalFilter, ApprovalQuery, Timer};
use super::{PendingSignals, RunStore};

/// The result of posting a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Posted {
    /// The decision is accepted and durable. The driver of the run takes it.
    Accepted,
    /// This decision was accepted before.
    Duplicate,
    /// Another decision on the suspension was accepted before.
    Conflict,
    /// No call of the run waits on that suspension.
    NotWaiting,
}

/// Decides about a waiting call, from any process. The first decision wins. It is durable when the function returns.
/// The replies are those of [`Reply`], as at the handle of a run.
///
/// A decision answers one question. It should name the question by its suspension or its digest ([`Approval`]):
///
/// - A decision with the name of its call, or with the model's id for it, needs the run too. It is bound to the
///   question that waits at the last commit. It is refused if the call has asked before.
/// - A decision with a digest, without a run and a suspension, is looked up among the waiting questions of all runs.
///   After an answer to the question the reply is [`Reply::Unknown`]. With its run or its suspension, such a late
///   decision gets the reply of the decision table.
///
/// If the question has expired by the store's clock, the call is given up as in [`expire`], and the reply is
/// [`Reply::Expired`]. A decision without a time gets the time `now_ms`.
///
/// # Errors
/// The errors of the store. A reply other than [`Reply::Accepted`] is not an error: nothing was changed.
///
/// # Cancel safety
/// If the future is dropped, the decision may be accepted. A repetition with its run or its suspension then gets
/// [`Reply::Duplicate`].
pub async fn decide(
    store: &dyn RunStore,
    incoming: &Incoming,
    now_ms: u64,
    schemas: &dyn SchemaCheck,
) -> Result<Reply, StoreError> {
    if let Err(reply) = well_formed(incoming) {
        return Ok(reply);
    }
    let mut found = None;
    if let Some(id) = &incoming.suspension_id {
        let mut waiting = waiting(store, ApprovalFilter::Suspension(id.clone()), incoming, |_| true).await?;
        if waiting.len() > 1 {
            return Ok(Reply::Ambiguous(waiting.into_iter().map(|one| one.suspension.id).collect()));
        }
        found = waiting.pop();
        if let Some(approval) = &found
            && let Some(reply) = answered_at_once(store, approval, incoming, now_ms, schemas).await?
        {
            return Ok(reply);
        }
    } else if let (None, Some(digest)) = (&incoming.run_id, &incoming.digest) {
        let about = if incoming.call.is_empty() {
            ApprovalFilter::All
        } else {
            ApprovalFilter::Call(incoming.call.clone())
        };
        found = waiting(store, about, incoming, |approval| approval.digest == *digest).await?.pop();
        if found.is_none() {
            return Ok(Reply::Unknown);
        }
    }
    let of_suspension = || run_of_suspension(incoming.suspension_id.as_deref()?);
    let run = match (&incoming.run_id, found) {
        (Some(run), _) => run.clone(),
        (None, Some(approval)) => approval.run,
        // An answered question is in no list. Its run has the decision that answered it.
        (None, None) => match of_suspension() {
            Some(run) => run,
            None if incoming.suspension_id.is_some() => return Ok(Reply::Unknown),
            None => {
                let why = "it names its call alone; name the run, the suspension or the digest too";
                return Ok(Reply::Invalid(why.to_owned()));
            }
        },
    };
    let reply = judged(store, &run, incoming.clone(), now_ms, schemas).await?;
    // A call that another version of its lifecycle wrote is unknown here by name. Its question is listed.
    if reply == Reply::Unknown && incoming.suspension_id.is_none() && !incoming.call.is_empty() {
        let found = waiting(store, ApprovalFilter::Call(incoming.call.clone()), incoming, |_| true).await?;
        if !found.is_empty() {
            // The question may be newer than the first check.
            let reply = judged(store, &run, incoming.clone(), now_ms, schemas).await?;
            if reply != Reply::Unknown {
                return Ok(reply);
            }
            return Ok(Reply::Ambiguous(found.into_iter().map(|one| one.suspension.id).collect()));
        }
    }
    Ok(reply)
}

/// Returns the run of a suspension from its id; none for an id that the runtime did not generate.
///
/// ```
/// use runstate_store::run_of_suspension;
///
/// assert_eq!(run_of_suspension("pay-1/call_1/2:word").as_deref(), Some("pay-1"));
/// assert_eq!(run_of_suspension("orders%2F7/call_1/1").as_deref(), Some("orders/7"));
/// assert_eq!(run_of_suspension("call_1"), None);
/// ```
pub fn run_of_suspension(suspension_id: &str) -> Option<String> {
    asked_in(suspension_id)
}

/// Replies from the only question that the decision can match, if that is enough. This is the most frequent case. It
/// reads no run.
async fn answered_at_once(
    store: &dyn RunStore,
    approval: &Approval,
    incoming: &Incoming,
    now_ms: u64,
    schemas: &dyn SchemaCheck,
) -> Result<Option<Reply>, StoreError> {
    // Arguments under a tag belong to a keyed run, or were made up by a model. Only the run shows which.
    if approval.key().is_some() {
        return Ok(None);
    }
    let Approval { run, call, digest, suspension, .. } = approval;
    let is_named = incoming.suspension_id.is_some() && (incoming.call.is_empty() || incoming.call == *call);
    let is_for_it = incoming.digest.as_ref().is_none_or(|wanted| wanted == digest);
    if !(is_named && is_for_it) {
        return Ok(None);
    }
    let (posted, reply) = if approval.is_expired() {
        // A repeated decision id has priority over the expiry.
        if is_known(store, run, &incoming.decision_id).await? {
            return Ok(None);
        }
        (expire(store, &Timer::of(approval), now_ms).await?, Reply::Expired)
    } else if !suspension.distinct_actors && fits(suspension, incoming, schemas).is_ok() {
        let decision = decision(run, call, suspension, digest, incoming, now_ms);
        (store.post(&decision).await?, Reply::Accepted)
    } else {
        return Ok(None);
    };
    Ok((posted == Posted::Accepted).then_some(reply))
}

/// Returns whether the run has a decision with that id, pending or taken.
async fn is_known(store: &dyn RunStore, run: &str, id: &str) -> Result<bool, StoreError> {
    // Read before the run: a decision that is taken between the two reads is then in both, not in neither.
    let posted = store.pending_signals(run).await?.decisions;
    let taken = store.parts(run).await?.decisions;
    Ok(posted.iter().chain(&taken).any(|decision| decision.decision_id == *id))
}

/// Replies from the complete state of the run.
async fn judged(
    store: &dyn RunStore,
    run: &str,
    mut incoming: Incoming,
    now_ms: u64,
    schemas: &dyn SchemaCheck,
) -> Result<Reply, StoreError> {
    // A second pass finds the decision that overtook the first pass. An answered question does not open again.
    for _ in 0..3 {
        // Read before the run: a decision that is taken between the two reads is then in both, not in neither.
        let PendingSignals { decisions: posted, .. } = match store.pending_signals(run).await {
            Err(StoreError::NoRun { .. }) => return Ok(Reply::Unknown),
            mail => mail?,
        };
        // A question belongs to the run itself, so the previous runs of its thread are not read.
        let stored = match store.parts(run).await {
            Err(StoreError::NoRun { .. }) => return Ok(Reply::Unknown),
            parts => Loaded::on_thread(parts?, Vec::new())?.stored,
        };
        let Some(stored) = stored else { return Ok(Reply::Unknown) };
        let board = stored.board(run, &posted);
        let asked = match board.bind(&incoming) {
            Ok(asked) => asked,
            Err(reply) => return Ok(reply),
        };
        incoming.suspension_id = Some(asked.suspension.id.clone());
        let is_expired = is_expired(store, run, &asked.suspension).await?;
        let posted = match board
            .judge(&asked, &incoming, is_expired)
            .and_then(|()| fits(&asked.suspension, &incoming, schemas))
        {
            Ok(()) => {
                let of = decision(run, &asked.call, &asked.suspension, &asked.digest, &incoming, now_ms);
                match store.post(&of).await? {
                    Posted::Accepted => return Ok(Reply::Accepted),
                    refused => refused,
                }
            }
            Err(Reply::Expired) => {
                let (call, id) = (asked.call.to_string(), asked.suspension.id.clone());
                expire(store, &Timer::new(run.to_owned(), call, id), now_ms).await?
            }
            Err(reply) => return Ok(reply),
        };
        if posted == Posted::Accepted {
            return Ok(Reply::Expired);
        }
    }
    Ok(Reply::Stale)
}

/// Returns whether a question of that run has expired. False for a closed question: the caller reports its outcome
/// instead.
async fn is_expired(store: &dyn RunStore, run: &str, suspension: &Suspension) -> Result<bool, StoreError> {
    if suspension.expires_at_ms.is_none() {
        return Ok(false);
    }
    let about = Incoming { run_id: Some(run.to_owned()), ..Incoming::new("", "", DecisionAction::Cancel) };
    let open =
        waiting(store, ApprovalFilter::Suspension(suspension.id.clone()), &about, Approval::is_expired)
            .await?;
    Ok(!open.is_empty())
}

/// Returns the first two waiting calls that match a decision. Two are enough to refuse it as ambiguous.
async fn waiting(
    store: &dyn RunStore,
    about: ApprovalFilter,
    incoming: &Incoming,
    is_meant: impl Fn(&Approval) -> bool + Send,
) -> Result<Vec<Approval>, StoreError> {
    let Incoming { run_id, call, .. } = incoming;
    let is_behind = |approval: &Approval| run_id.as_ref().is_some_and(|run| *run < approval.run);
    let mut query = ApprovalQuery::new(about, PAGE);
    // The list is ordered by run and call, so the rows of earlier runs need not be read. A call without an id has no
    // name either, so no place before it exists.
    query.after = run_id.as_ref().filter(|_| !call.is_empty()).map(|run| (run.clone(), String::new()));
    let mut found = Vec::new();
    loop {
        let page = store.approvals(&query).await?;
        let Some(last) = page.last() else { return Ok(found) };
        query = query.after(last);
        let is_last = page.len() < PAGE || is_behind(last);
        let in_run = page.into_iter().filter(|one| run_id.as_ref().is_none_or(|run| *run == one.run));
        found.extend(in_run.filter(&is_meant).take(2 - found.len()));
        if is_last || found.len() == 2 {
            return Ok(found);
        }
    }
}

const PAGE: usize = 100;

fn decision(
    run: &str,
    call: &str,
    suspension: &Suspension,
    digest: &str,
    incoming: &Incoming,
    now_ms: u64,
) -> Decision {
    Decision {
        decision_id: incoming.decision_id.clone(),
        run_id: run.to_owned(),
        call: call.to_owned(),
        suspension_id: suspension.id.clone(),
        action: incoming.action,
        result: incoming.result.clone(),
        reason: incoming.reason.clone(),
        actor: incoming.actor.clone(),
        digest: Some(digest.to_owned()),
        decided_at_ms: incoming.decided_at_ms.unwrap_or(now_ms),
        tag: None,
    }
}
