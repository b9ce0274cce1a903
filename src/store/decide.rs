//! Decisions on calls of runs that some other process may drive.

use super::error::StoreError;
use super::expire::expire;
use super::load::Loaded;
use super::query::{Approval, ApprovalFilter, ApprovalQuery, Timer};
use super::{PendingSignals, RunStore};
use crate::agent::{Incoming, Reply, SchemaCheck, asked_in, fits, well_formed};
use crate::decision::{Decision, DecisionAction, Suspension};

/// What became of a decision that was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Posted {
    /// It is the answer, and durable. Whoever drives the run takes it.
    Accepted,
    /// The same decision was accepted before.
    Duplicate,
    /// Another one on the suspension was accepted before.
    Conflict,
    /// No call of the run waits on that suspension.
    NotWaiting,
}

/// Decides about a call that waits, in whatever process: the first decision wins, and is durable when this returns. The
/// replies are those of [`Reply`], the same as at the handle of a run.
///
/// A decision is for one question. It should name it, by its suspension or its digest ([`Approval`]). One that names its call
/// instead, by its name or the model's id for it, must name the run: it is bound to the question that waits as of the last
/// commit, and refused where the call asked before. One that names a digest and no run and no suspension is looked for among the questions
/// that wait, in all runs: once the question is answered, it is [`Reply::Unknown`]. With its run or its suspension it is answered by the table.
///
/// Where the time of a question is over, by the store's clock, the call is given up, as by [`lapse`], and the decision comes too late. A
/// decision that does not say when it was made was made at `now_ms`.
///
/// # Errors
/// Those of the store. A reply other than [`Reply::Accepted`] is no error: nothing was changed.
///
/// # Cancel safety
/// Dropped, it may have been accepted. Given again with its run or its suspension it is [`Reply::Duplicate`] then.
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
        // A question that was answered is in no list: its run says by whom.
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
    // A call that another version of its lifecycle wrote is not known by its name here. Its question is.
    if reply == Reply::Unknown && incoming.suspension_id.is_none() && !incoming.call.is_empty() {
        let found = waiting(store, ApprovalFilter::Call(incoming.call.clone()), incoming, |_| true).await?;
        if !found.is_empty() {
            // The question may have been asked since.
            let reply = judged(store, &run, incoming.clone(), now_ms, schemas).await?;
            if reply != Reply::Unknown {
                return Ok(reply);
            }
            return Ok(Reply::Ambiguous(found.into_iter().map(|one| one.suspension.id).collect()));
        }
    }
    Ok(reply)
}

/// The run that asked under the id of a suspension; none for an id that the runtime did not give.
///
/// ```
/// use runstate::store::run_of_suspension;
///
/// assert_eq!(run_of_suspension("pay-1/call_1/2:word").as_deref(), Some("pay-1"));
/// assert_eq!(run_of_suspension("orders%2F7/call_1/1").as_deref(), Some("orders/7"));
/// assert_eq!(run_of_suspension("call_1"), None);
/// ```
pub fn run_of_suspension(suspension_id: &str) -> Option<String> {
    asked_in(suspension_id)
}

/// The reply by the only question that a decision can be on, if that is enough: the case of most decisions, for which no run is
/// read.
async fn answered_at_once(
    store: &dyn RunStore,
    approval: &Approval,
    incoming: &Incoming,
    now_ms: u64,
    schemas: &dyn SchemaCheck,
) -> Result<Option<Reply>, StoreError> {
    // Arguments under a tag are those of a keyed run, or what a model made up. The run tells which.
    if approval.key().is_some() {
        return Ok(None);
    }
    let Approval { run, call, digest, suspension, .. } = approval;
    let is_named = incoming.suspension_id.is_some() && (incoming.call.is_empty() || incoming.call == *call);
    let is_for_it = incoming.digest.as_ref().is_none_or(|wanted| wanted == digest);
    if !(is_named && is_for_it) {
        return Ok(None);
    }
    let (posted, reply) = if approval.is_lapsed() {
        // An id that was given before is told first.
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

/// Has the run a decision of that id, taken or not?
async fn is_known(store: &dyn RunStore, run: &str, id: &str) -> Result<bool, StoreError> {
    // Before the run: what is taken between the two is in both, and not in neither.
    let posted = store.pending_signals(run).await?.decisions;
    let taken = store.parts(run).await?.decisions;
    Ok(posted.iter().chain(&taken).any(|decision| decision.decision_id == *id))
}

/// The reply by all that is known of the run.
async fn judged(
    store: &dyn RunStore,
    run: &str,
    mut incoming: Incoming,
    now_ms: u64,
    schemas: &dyn SchemaCheck,
) -> Result<Reply, StoreError> {
    // A second look tells by whom the first one was overtaken. A question that was answered does not come back.
    for _ in 0..3 {
        // Before the run: what is taken between the two is in both, and not in neither.
        let PendingSignals { decisions: posted, .. } = match store.pending_signals(run).await {
            Err(StoreError::NoRun { .. }) => return Ok(Reply::Unknown),
            mail => mail?,
        };
        // A question is one of the run's own: the runs before it on its thread are not read.
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
        let is_lapsed = is_lapsed(store, run, &asked.suspension).await?;
        let posted = match board
            .judge(&asked, &incoming, is_lapsed)
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

/// Is it too late to decide on a question of that run? False for a question that is closed: its outcome is reported instead.
async fn is_lapsed(store: &dyn RunStore, run: &str, suspension: &Suspension) -> Result<bool, StoreError> {
    if suspension.expires_at_ms.is_none() {
        return Ok(false);
    }
    let about = Incoming { run_id: Some(run.to_owned()), ..Incoming::new("", "", DecisionAction::Cancel) };
    let open = waiting(store, ApprovalFilter::Suspension(suspension.id.clone()), &about, Approval::is_lapsed)
        .await?;
    Ok(!open.is_empty())
}

/// The first two calls that wait and that a decision may mean: of more, two are enough to refuse it.
async fn waiting(
    store: &dyn RunStore,
    about: ApprovalFilter,
    incoming: &Incoming,
    is_meant: impl Fn(&Approval) -> bool + Send,
) -> Result<Vec<Approval>, StoreError> {
    let Incoming { run_id, call, .. } = incoming;
    let is_behind = |approval: &Approval| run_id.as_ref().is_some_and(|run| *run < approval.run);
    let mut query = ApprovalQuery::new(about, PAGE);
    // They come by run and call, so that those of other runs need not be read. A call without an id has no name either, and
    // nothing is before it.
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
