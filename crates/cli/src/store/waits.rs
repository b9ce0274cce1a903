//! Waiting calls.

use runstate::decision::IN_DOUBT;
use runstate_store::{Approval, ApprovalFilter, ApprovalQuery, RunStore, StoreError, expire_run};

use serde_json::{Value, json};

use super::{Opened, beside};
use crate::clock::unix_ms;
use crate::failure::Failure;
use crate::output::{complain, printable};

/// The number of entries of one query.
const PAGE: usize = 100;

/// Is it unknown whether the call has executed?
pub(crate) fn is_in_doubt(approval: &Approval) -> bool {
    approval.suspension.action == IN_DOUBT
}

/// A waiting call, for programs: its digest permits an approval of exactly these arguments.
pub(crate) fn waiting_to_json(approval: &Approval) -> Value {
    let Approval { run, call, tool, arguments, digest, suspension, left, .. } = approval;
    json!({
        "run": run,
        "call": call,
        "tool": tool,
        "arguments": arguments,
        "digest": digest,
        "suspension": suspension,
        "in_doubt": is_in_doubt(approval),
        "left_ms": left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
        "has_lapsed": approval.is_expired(),
    })
}

/// All waiting calls of a filter.
///
/// # Errors
/// Errors of the store.
pub(crate) fn waiting(opened: &Opened, about: ApprovalFilter) -> Result<Vec<Approval>, Failure> {
    opened.ask(waiting_in(&*opened.store, about))
}

/// As [`waiting`], for a task that is in a runtime already.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn waiting_in(
    store: &dyn RunStore,
    about: ApprovalFilter,
) -> Result<Vec<Approval>, StoreError> {
    pages(store, ApprovalQuery::new(about, PAGE), |_| true).await
}

/// The meaning of a word on the command line. A model chooses the ids of its calls, and never the id of a suspension: so a
/// word with a slash, as in each suspension, is always a suspension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named<'a> {
    /// A question.
    Suspension(&'a str),
    /// A call, by its name in traces or the model's id for it.
    Call(&'a str),
}

impl<'a> Named<'a> {
    pub(crate) fn of(word: &'a str) -> Self {
        if word.contains('/') { Named::Suspension(word) } else { Named::Call(word) }
    }
}

/// The waiting calls of that name; in that run, or in all.
///
/// # Errors
/// Errors of the store.
pub(crate) fn waiting_of(
    opened: &Opened,
    named: &Named<'_>,
    run: Option<&str>,
) -> Result<Vec<Approval>, Failure> {
    let (about, has_name) = match *named {
        Named::Suspension(id) => (ApprovalFilter::Suspension(id.to_owned()), true),
        Named::Call(call) => (ApprovalFilter::Call(call.to_owned()), !call.is_empty()),
    };
    let mut query = ApprovalQuery::new(about, PAGE);
    // They are ordered by run and call, so that other runs need not be read. A call without an id has no name either, and
    // precedes all others.
    query.after = run.filter(|_| has_name).map(|run| (run.to_owned(), String::new()));
    let begins_with_run = query.after.is_some();
    let is_in_run = |approval: &Approval| run.is_none_or(|run| run == approval.run);
    let goes_on = |last: &Approval| !begins_with_run || is_in_run(last);
    let mut found = opened.ask(pages(&*opened.store, query, goes_on))?;
    found.retain(is_in_run);
    Ok(found)
}

/// A list, page by page, until its end.
async fn pages(
    store: &dyn RunStore,
    mut query: ApprovalQuery,
    goes_on: impl Fn(&Approval) -> bool + Send,
) -> Result<Vec<Approval>, StoreError> {
    let mut all = Vec::new();
    loop {
        let page = store.approvals(&query).await?;
        let is_last = page.len() < PAGE || !page.last().is_some_and(&goes_on);
        if let Some(last) = page.last() {
            query = query.after(last);
        }
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

/// Gives up the expired calls of a run before it is driven. A store that cannot be written is reported on standard error.
pub(crate) fn give_up_lapsed_of(opened: &Opened, run: &str) {
    match beside(opened.handle(), expire_run(&*opened.store, run, unix_ms())) {
        // An unreadable run reports its own error.
        Ok(()) | Err(StoreError::Unusable { .. }) => {}
        Err(error) => warn(opened, &error),
    }
}

fn warn(opened: &Opened, error: &StoreError) {
    let why = opened.failure(error);
    complain(&printable(&format!("warning: calls with an expired question still wait: {}", why.message())));
}
