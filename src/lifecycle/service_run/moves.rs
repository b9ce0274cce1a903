//! The guards and entries of a service run's transitions.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use super::*;
use crate::kernel::{Enter, Guard};

type Checked = Result<(), ServiceRunError>;

fn named(actor: &str) -> Checked {
    if actor.trim().is_empty() { Err(ServiceRunError::NoActor) } else { Ok(()) }
}

/// Checks the hashes of sent transactions: each names one transaction, and there are no more of them.
pub(super) fn check_hashes<'h>(hashes: impl IntoIterator<Item = &'h String>, transactions: usize) -> Checked {
    let mut seen = BTreeSet::new();
    for hash in hashes {
        if hash.trim().is_empty() {
            return Err(ServiceRunError::BlankHash);
        }
        // The digits of a hexadecimal hash have no case.
        let is_hex = hash.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
        if !seen.insert(if is_hex { hash.to_ascii_lowercase() } else { hash.clone() }) {
            return Err(ServiceRunError::RepeatedHash { hash: hash.clone() });
        }
    }
    match seen.len() {
        0 => Err(ServiceRunError::NoHash),
        got if got > transactions => Err(ServiceRunError::TooManyHashes { got, transactions }),
        _ => Ok(()),
    }
}

impl Guard<Paused, Resume> for Running {
    type Error = ServiceRunError;

    fn check(from: &Paused, event: &Resume, _: &ServiceRunRecord) -> Checked {
        match (&from.reason, &event.intent) {
            (PauseReason::NeedsInput { questions }, Some(_)) => {
                Err(ServiceRunError::IntentWhileInputIsNeeded { questions: questions.clone() })
            }
            (PauseReason::NeedsInput { .. }, None) | (PauseReason::Noop { .. }, _) => Ok(()),
        }
    }
}

impl Guard<AwaitingApproval, Approve> for ApprovedReady {
    type Error = ServiceRunError;

    fn check(from: &AwaitingApproval, event: &Approve, _: &ServiceRunRecord) -> Checked {
        named(&event.by)?;
        if event.digest != from.digest {
            let (got, expected) = (event.digest.clone(), from.digest.clone());
            return Err(ServiceRunError::OtherTransactions { got, expected });
        }
        Ok(())
    }
}

impl Guard<AwaitingApproval, Reject> for Rejected {
    type Error = ServiceRunError;

    fn check(_: &AwaitingApproval, event: &Reject, _: &ServiceRunRecord) -> Checked {
        named(&event.by)
    }
}

impl Guard<ApprovedReady, Submit> for Submitted {
    type Error = ServiceRunError;

    fn check(from: &ApprovedReady, event: &Submit, _: &ServiceRunRecord) -> Checked {
        named(&event.by)?;
        check_hashes(&event.tx_hashes, from.tx_requests.len())
    }
}

impl Guard<Submitted, Confirm> for Confirmed {
    type Error = ServiceRunError;

    fn check(from: &Submitted, _: &Confirm, _: &ServiceRunRecord) -> Checked {
        let (got, expected) = (from.tx_hashes.len(), from.tx_requests.len());
        if got < expected {
            return Err(ServiceRunError::NotAllSent { got, expected });
        }
        Ok(())
    }
}

impl Enter<Created, Start> for Running {
    fn enter(_: Created, _: Start, _: &mut ServiceRunRecord) -> Self {
        Running { pass: NonZeroU32::MIN }
    }
}

impl Enter<Paused, Resume> for Running {
    fn enter(from: Paused, event: Resume, record: &mut ServiceRunRecord) -> Self {
        record.merge(event);
        Running { pass: from.pass.saturating_add(1) }
    }
}

impl Enter<Running, Pause> for Paused {
    fn enter(from: Running, event: Pause, _: &mut ServiceRunRecord) -> Self {
        Paused { pass: from.pass, reason: event.reason }
    }
}

impl Enter<Running, Ready> for AwaitingApproval {
    fn enter(_: Running, event: Ready, _: &mut ServiceRunRecord) -> Self {
        AwaitingApproval { digest: tx_digest(&event.tx_requests), tx_requests: event.tx_requests }
    }
}

impl Enter<Running, Block> for Blocked {
    fn enter(_: Running, event: Block, _: &mut ServiceRunRecord) -> Self {
        Blocked { reason: event.reason }
    }
}

impl Enter<Running, Fail> for Failed {
    fn enter(_: Running, event: Fail, _: &mut ServiceRunRecord) -> Self {
        Failed { error: event.error }
    }
}

impl Enter<AwaitingApproval, Approve> for ApprovedReady {
    fn enter(from: AwaitingApproval, event: Approve, _: &mut ServiceRunRecord) -> Self {
        let AwaitingApproval { tx_requests, digest } = from;
        ApprovedReady { tx_requests, digest, approved_by: event.by, approved_at_ms: event.at_ms }
    }
}

impl Enter<AwaitingApproval, Reject> for Rejected {
    fn enter(from: AwaitingApproval, event: Reject, _: &mut ServiceRunRecord) -> Self {
        let AwaitingApproval { tx_requests, digest } = from;
        let Reject { by, reason, at_ms } = event;
        Rejected { tx_requests, digest, rejected_by: by, rejected_at_ms: at_ms, reason }
    }
}

impl Enter<ApprovedReady, Submit> for Submitted {
    fn enter(from: ApprovedReady, event: Submit, _: &mut ServiceRunRecord) -> Self {
        let ApprovedReady { tx_requests, digest, approved_by, approved_at_ms } = from;
        let Submit { tx_hashes, by, at_ms } = event;
        Submitted {
            tx_requests,
            digest,
            approved_by,
            approved_at_ms,
            submitted_by: by,
            submitted_at_ms: at_ms,
            tx_hashes,
        }
    }
}

impl Enter<Submitted, Confirm> for Confirmed {
    fn enter(from: Submitted, event: Confirm, _: &mut ServiceRunRecord) -> Self {
        let Submitted {
            tx_requests,
            digest,
            approved_by,
            approved_at_ms,
            submitted_by,
            submitted_at_ms,
            tx_hashes,
        } = from;
        Confirmed {
            tx_requests,
            digest,
            approved_by,
            approved_at_ms,
            submitted_by,
            submitted_at_ms,
            tx_hashes,
            confirmed_at_ms: event.at_ms,
        }
    }
}

impl Enter<Submitted, Revert> for Reverted {
    fn enter(from: Submitted, event: Revert, _: &mut ServiceRunRecord) -> Self {
        let Submitted {
            tx_requests,
            digest,
            approved_by,
            approved_at_ms,
            submitted_by,
            submitted_at_ms,
            tx_hashes,
        } = from;
        Reverted {
            tx_requests,
            digest,
            approved_by,
            approved_at_ms,
            submitted_by,
            submitted_at_ms,
            tx_hashes,
            reverted_at_ms: event.at_ms,
            reason: event.reason,
        }
    }
}
