//! The decision after a failed attempt: one rule for every failure.

use std::time::Duration;

use runstate::stream_session::{ErrorCode, Recovery, Retries};

use super::{Recourse, RetryPolicy};
use crate::ErrorKind;
use crate::event::GaveUp;

/// The facts about a failed attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    pub(crate) code: ErrorCode,
    pub(crate) kind: ErrorKind,
    /// Whether another attempt on this stream may succeed.
    pub(crate) recoverable: bool,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) spent: Retries,
    pub(crate) fallbacks_left: u32,
}

/// The next step, and the reason if a possible retry was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) recovery: Recovery,
    pub(crate) gave_up: Option<GaveUp>,
}

/// Decides the next step. Calls `may_retry` last, and only if all else allows a retry.
pub(crate) fn decide(policy: &RetryPolicy, question: Question, may_retry: impl FnOnce() -> bool) -> Decision {
    let Question { code, kind, fallbacks_left, .. } = question;
    let recourse = if code.is_recoverable() { policy.table.get(kind) } else { Recourse::Halt };
    let gave_up = match recourse {
        Recourse::Retry => match refused(policy, question).or_else(|| (!may_retry()).then_some(GaveUp::Veto))
        {
            None => return Decision { recovery: Recovery::Retry(kind.budget()), gave_up: None },
            refused => refused,
        },
        Recourse::FallBack | Recourse::Halt => None,
    };
    let recovery = match recourse {
        Recourse::Retry | Recourse::FallBack if fallbacks_left > 0 => Recovery::Fallback,
        Recourse::Retry | Recourse::FallBack | Recourse::Halt => Recovery::Halt,
    };
    Decision { recovery, gave_up }
}

fn refused(policy: &RetryPolicy, question: Question) -> Option<GaveUp> {
    use runstate::stream_session::RetryKind;
    let Question { kind, recoverable, retry_after, spent, .. } = question;
    if !recoverable {
        return Some(GaveUp::Unrecoverable);
    }
    if kind.budget() == RetryKind::Model && spent.model >= policy.model_retries {
        return Some(GaveUp::ModelBudget);
    }
    if spent.total >= policy.total_retries {
        return Some(GaveUp::TotalBudget);
    }
    if retry_after.is_some_and(|wait| wait > policy.longest_retry_after) {
        return Some(GaveUp::RetryAfter);
    }
    None
}
