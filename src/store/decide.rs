//! Decisions on calls of runs that some other process may drive.

use super::error::StoreError;
use super::keyed::{key_of, wants_key};
use super::lapse::lapse;
use super::query::{About, Approval, ApprovalQuery, Timer};
use super::{Mail, RunStore};
use crate::agent::{Incoming, Reply, SchemaCheck};
use crate::decision::Decision;

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

/// Decides about a call that waits, in whatever process: the first decision wins, and is durable when this returns. A
/// decision is for the arguments that the call had when it was shown, and for no others.
///
/// The call is looked for by the suspension if that is named, else by its name or the model's id for it; in the run that is
/// named, or in all. A model may give an id again: then the id means the call that waits, and where several do it means none of
/// them. Where its time is over the call is given up, as by [`lapse`], and the decision comes too late.
///
/// # Errors
/// Those of the store. A reply other than [`Reply::Accepted`] is no error: nothing was changed.
///
/// # Cancel safety
/// Dropped, it may have been accepted. Given again it is [`Reply::Duplicate`] then.
pub async fn decide(
    store: &dyn RunStore,
    incoming: &Incoming,
    now_ms: u64,
    schemas: &dyn SchemaCheck,
) -> Result<Reply, StoreError> {
    let mut found = waiting(store, incoming).await?;
    let approval = match (found.pop(), &*found) {
        (Some(approval), []) => approval,
        (Some(other), [first, ..]) => return Ok(Reply::Invalid(several(first, &other))),
        (None, _) => return settled(store, incoming).await,
    };
    if let Some(key) = key_of(&approval.arguments) {
        return Err(wants_key(&approval.run, key));
    }
    match judge(&approval, incoming, now_ms, schemas) {
        Ok(()) => {}
        Err(Reply::Expired) => return expired(store, &approval, now_ms).await,
        Err(reply) => return Ok(reply),
    }
    let decision = decision(approval, incoming, now_ms);
    Ok(match store.post(&decision).await? {
        Posted::Accepted => Reply::Accepted,
        Posted::Duplicate => Reply::Duplicate,
        Posted::Conflict => Reply::Conflict,
        Posted::NotWaiting => Reply::Stale,
    })
}

/// Nobody need wait for a suspension to lapse: it does when somebody comes too late for it.
async fn expired(store: &dyn RunStore, approval: &Approval, now_ms: u64) -> Result<Reply, StoreError> {
    let Some(timer) = Timer::of(approval) else { return Ok(Reply::Expired) };
    Ok(match lapse(store, &timer, now_ms).await? {
        Posted::Accepted | Posted::Duplicate => Reply::Expired,
        // Somebody whose clock is behind was faster.
        Posted::Conflict => Reply::Conflict,
        Posted::NotWaiting => Reply::Stale,
    })
}

fn several(first: &Approval, other: &Approval) -> String {
    let (first, other) = (&first.suspension.id, &other.suspension.id);
    format!("more than one call waits that may be meant; name the suspension, such as {first:?} or {other:?}")
}

/// The calls that a decision may mean: of those that are too many two or more, since that is enough to refuse it.
async fn waiting(store: &dyn RunStore, incoming: &Incoming) -> Result<Vec<Approval>, StoreError> {
    let Incoming { run_id, suspension_id, call, .. } = incoming;
    let about = match suspension_id {
        Some(id) => About::Suspension(id.clone()),
        None => About::Call(call.clone()),
    };
    let is_meant = |approval: &Approval| run_id.as_ref().is_none_or(|run| *run == approval.run);
    let mut query = ApprovalQuery::new(about, PAGE);
    // They come by run and call, so that those of other runs need not be read. A call without an id has no name either, and
    // nothing is before it.
    query.behind = run_id.as_ref().filter(|_| !call.is_empty()).map(|run| (run.clone(), String::new()));
    let begins_with_run = query.behind.is_some();
    let mut found = Vec::new();
    loop {
        let page = store.approvals(&query).await?;
        let Some(last) = page.last() else { return Ok(found) };
        query = query.behind(last);
        let is_last = page.len() < PAGE || (begins_with_run && !is_meant(last));
        found.extend(page.into_iter().filter(is_meant));
        if is_last || found.len() > 1 {
            return Ok(found);
        }
    }
}

const PAGE: usize = 100;

/// Nothing of that name waits. It may have been decided a moment ago, by the very same decision.
async fn settled(store: &dyn RunStore, incoming: &Incoming) -> Result<Reply, StoreError> {
    let Some(run) = &incoming.run_id else { return Ok(Reply::Unknown) };
    // Before the run: what is taken between the two is in both, and not in neither.
    let Mail { decisions: posted, .. } = match store.mail(run).await {
        Err(StoreError::NoRun { .. }) => return Ok(Reply::Unknown),
        mail => mail?,
    };
    let stored = store.load(run).await?.stored;
    let taken = stored.iter().flat_map(|stored| stored.decisions().values());
    let known = posted.iter().chain(taken);
    if known.clone().any(|decision| decision.decision_id == incoming.decision_id) {
        return Ok(Reply::Duplicate);
    }
    let is_on = |decision: &Decision| match &incoming.suspension_id {
        Some(id) => decision.suspension_id == *id,
        None => stored.as_ref().is_some_and(|stored| stored.is_named(&decision.call, &incoming.call)),
    };
    // Of the calls of one id, the last that was decided.
    let last = known.filter(|decision| is_on(decision)).max_by_key(|decision| decision.decided_at_ms);
    Ok(match last {
        Some(decision) => crate::agent::after(decision),
        None if incoming.suspension_id.is_some() => Reply::Stale,
        None => Reply::Unknown,
    })
}

fn judge(
    approval: &Approval,
    incoming: &Incoming,
    now_ms: u64,
    schemas: &dyn SchemaCheck,
) -> Result<(), Reply> {
    if incoming.args_digest.as_ref().is_some_and(|digest| *digest != approval.args_digest) {
        return Err(Reply::Stale);
    }
    if approval.suspension.is_expired(now_ms) {
        return Err(Reply::Expired);
    }
    crate::agent::fits(&approval.suspension, incoming, schemas)
}

fn decision(approval: Approval, incoming: &Incoming, now_ms: u64) -> Decision {
    Decision {
        decision_id: incoming.decision_id.clone(),
        run_id: approval.run,
        call: approval.call,
        suspension_id: approval.suspension.id,
        action: incoming.action,
        result: incoming.result.clone(),
        reason: incoming.reason.clone(),
        actor: incoming.actor.clone(),
        args_digest: Some(approval.args_digest),
        decided_at_ms: incoming.decided_at_ms.unwrap_or(now_ms),
        tag: None,
    }
}
