//! Calls that wait for decisions.

use runstate::store::{About, Approval, ApprovalQuery, Damage, StoreError, lapse};

use super::damage::tell;
use super::{Opened, beside};
use crate::clock::unix_ms;
use crate::failure::Failure;

/// How many are asked for together.
const PAGE: usize = 100;

/// What a call asks that may have executed when its run was interrupted.
const IN_DOUBT: &str = "in_doubt";

/// Is it in doubt whether the call has executed?
pub(crate) fn is_in_doubt(approval: &Approval) -> bool {
    approval.suspension.action == IN_DOUBT
}

/// How many calls of the run are in doubt.
///
/// # Errors
/// Those of the store.
pub(crate) fn in_doubt(opened: &Opened, run: &str) -> Result<usize, Failure> {
    let all = waiting(opened, About::Run(run.to_owned()))?;
    Ok(all.iter().filter(|approval| is_in_doubt(approval)).count())
}

/// All calls that wait, of those that are meant.
///
/// # Errors
/// Those of the store.
pub(crate) fn waiting(opened: &Opened, about: About) -> Result<Vec<Approval>, Failure> {
    let mut query = ApprovalQuery::new(about, PAGE);
    let mut all = Vec::new();
    loop {
        let page = opened.ask(opened.store.approvals(&query))?;
        let is_last = page.len() < PAGE;
        if let Some(last) = page.last() {
            query = query.behind(last);
        }
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

/// Gives up calls that nobody decided in time: no process need have waited for that. Runs that cannot be read are told, and keep
/// theirs.
///
/// # Errors
/// Those of the store.
pub(crate) fn give_up_lapsed(opened: &Opened) -> Result<(), Failure> {
    let now_ms = unix_ms();
    loop {
        let due = opened.ask(opened.store.due(now_ms, PAGE))?;
        let mut damaged = 0;
        for timer in &due {
            match beside(opened.handle(), lapse(&*opened.store, timer, now_ms)) {
                Err(StoreError::Unusable { what, help }) => {
                    tell(&Damage::new(what, help));
                    damaged += 1;
                }
                lapsed => drop(lapsed.map_err(|error| opened.failure(&error))?),
            }
        }
        if due.len() < PAGE || damaged == due.len() {
            return Ok(());
        }
    }
}
