//! Transactions after their approval: the handout, the submission, and the receipts.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use runstate::service_run::{
    AnyServiceRun, Confirm, Revert, ServiceRun, ServiceRunStatus, Submit, Submitted,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Caller, Operation, RunView, Service, ServiceError, invalid, refused, unusable};
use crate::artifact::TxRequest;
use crate::limit::within;
use crate::port::Receipt;
use crate::rows::{RunStep, StepPhase};
use crate::store::ServiceStoreError;
use crate::work::Work;

/// The largest number of digits of a hash.
const MAX_DIGITS: usize = 128;

/// The hashes in the form in which a run stores them: hexadecimal digits without their case.
fn read_hashes(tx_hashes: &[String]) -> Result<Vec<String>, ServiceError> {
    let read = |hash: &String| {
        let digits = hash.strip_prefix("0x").unwrap_or_default();
        if (1..=MAX_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(hash.to_ascii_lowercase());
        }
        let shown: String = hash.chars().take(80).collect();
        Err(invalid(
            "tx_hashes",
            format!("got {shown:?}, expected 0x and 1 to {MAX_DIGITS} hexadecimal digits"),
        ))
    };
    tx_hashes.iter().map(read).collect()
}

/// The hash of a transaction with its chain.
fn on_chain(chain_id: u64, hash: &str) -> String {
    format!("{chain_id}:{hash}")
}

/// The transactions of an approved run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Handout {
    /// The transactions, in the order in which they must be signed.
    pub tx_requests: Vec<Value>,
    /// Their digest, which the approval names.
    pub digest: String,
}

/// The program that sent transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SubmittedBy {
    /// A wallet behind the WalletConnect protocol.
    WalletConnect,
    /// The MetaMask wallet.
    MetaMask,
    /// A person.
    Manual,
}

/// A mined transaction that differs from the approved one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mismatch {
    /// The hash.
    pub hash: String,
    /// The first field that differs; `run` for a transaction that confirmed another run, and `time` for one that was mined
    /// before the approval.
    pub field: String,
}

/// The result of reading the receipts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Poll {
    /// Whether all transactions of the run were sent and mined.
    pub mined: bool,
    /// The receipts, in the order of the hashes. None: the transaction is not mined.
    pub receipts: Vec<Option<Receipt>>,
    /// The mined transactions that differ from the approved ones. A run with one is never confirmed.
    pub mismatches: Vec<Mismatch>,
    /// The status after the receipts.
    pub status: ServiceRunStatus,
}

/// The first field in which a mined transaction differs from the approved one.
fn difference(receipt: &Receipt, hash: &str, approved: &TxRequest, run: &Submitted) -> Option<&'static str> {
    let of_time = || receipt.is_before(run.approved_at_ms()).then_some("time");
    receipt.difference(hash, approved).or_else(of_time)
}

impl Service {
    /// Hands out the transactions of an approved run. The status stays, so the call may be repeated; each call is a
    /// step.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not APPROVED_READY, [`ServiceError::NothingToSign`] for one without
    /// transactions.
    pub async fn execute(&self, run: &str, caller: impl Into<Caller>) -> Result<Handout, ServiceError> {
        let caller = caller.into();
        let execute = |work: &mut Work| {
            let AnyServiceRun::ApprovedReady(approved) = &work.run else {
                return Err(refused(work, Operation::Execute));
            };
            let state = approved.state();
            if state.tx_requests().is_empty() {
                return Err(ServiceError::NothingToSign { run: work.id.clone() });
            }
            let handout =
                Handout { tx_requests: state.tx_requests().to_vec(), digest: state.digest().to_owned() };
            let data = json!({ "digest": handout.digest });
            work.act(RunStep::ExecutePrep, StepPhase::Done, &caller, "", data);
            Ok(handout)
        };
        self.change(run, &caller, execute, |handout, _| handout).await
    }

    /// Notes the hashes of sent transactions, in the order of the transactions. The first ones may come alone; a later
    /// call appends.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is neither APPROVED_READY nor SUBMITTED. [`ServiceError::Invalid`] for
    /// no hash, one of another form or a repeated one, and for more hashes than transactions.
    pub async fn tx_submitted(
        &self,
        run: &str,
        tx_hashes: &[String],
        by: SubmittedBy,
        caller: impl Into<Caller>,
    ) -> Result<RunView, ServiceError> {
        let caller = caller.into();
        let actor = caller.actor.as_str();
        let submit = |work: &mut Work| {
            let at_ms = work.now_ms();
            work.run = match work.take_run() {
                AnyServiceRun::ApprovedReady(run) => {
                    match run.submit(Submit::new(read_hashes(tx_hashes)?, actor, at_ms)) {
                        Ok(run) => run.into(),
                        Err(back) => return Err(invalid("tx_hashes", back.error.to_string())),
                    }
                }
                AnyServiceRun::Submitted(mut run) => {
                    let appended = run.append_hashes(read_hashes(tx_hashes)?);
                    appended.map_err(|error| invalid("tx_hashes", error.to_string()))?;
                    run.into()
                }
                other => {
                    work.run = other;
                    return Err(refused(work, Operation::TxSubmitted));
                }
            };
            let tx_hashes = read_hashes(tx_hashes)?;
            let data = json!({ "tx_hashes": tx_hashes, "submitted_by": by });
            work.act(RunStep::TxSubmitted, StepPhase::Done, &caller, "", data);
            Ok(())
        };
        self.change(run, &caller, submit, |(), run| run).await
    }

    /// Replaces the hash of a transaction that is not mined as approved, such as one that a wallet sent again with a
    /// higher fee, or a wrong one. Each replacement is a step.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not SUBMITTED. [`ServiceError::Invalid`] for a hash that the run does
    /// not have, for a new one of another form, and for a transaction that is mined as approved. [`ServiceError::Port`]
    /// if the chain cannot be reached.
    pub async fn replace_tx(
        &self,
        run: &str,
        old: &str,
        new: &str,
        by: SubmittedBy,
        caller: impl Into<Caller>,
    ) -> Result<RunView, ServiceError> {
        let caller = caller.into();
        caller.check()?;
        let mut is_free = false;
        loop {
            let mut row = self.store.load(run).await?;
            self.check_key(&caller).await?;
            let mut work = Work::of(&mut row, &self.clock).map_err(unusable(run))?;
            let mut submitted = match work.take_run() {
                AnyServiceRun::Submitted(submitted) => submitted,
                other => {
                    work.run = other;
                    return Err(refused(&work, Operation::TxSubmitted));
                }
            };
            let new = read_hashes(&[new.to_owned()])?;
            if !is_free && self.is_mined_as_approved(&work.id, &submitted, old).await? {
                // It may have confirmed another run: then it is free to be replaced here.
                let poll = self.poll_tx(run, caller.actor.as_str()).await?;
                is_free = poll.mismatches.iter().any(|mismatch| mismatch.hash.eq_ignore_ascii_case(old));
                if !is_free {
                    let reason = format!("{old} is mined as approved; expected a hash that is not");
                    return Err(invalid("replaces", reason));
                }
                continue;
            }
            let replaced = submitted.replace_hash(old, new[0].clone());
            replaced.map_err(|error| invalid("tx_hashes", error.to_string()))?;
            work.run = submitted.into();
            let data = json!({ "tx_hashes": new, "replaces": old, "submitted_by": by });
            work.act(RunStep::TxSubmitted, StepPhase::Done, &caller, "", data);
            if let Some(view) = self.store_change(row, work, &caller, |view| view).await? {
                return Ok(view);
            }
        }
    }

    /// Returns whether the transaction with that hash is mined as approved.
    async fn is_mined_as_approved(
        &self,
        id: &str,
        run: &ServiceRun<Submitted>,
        old: &str,
    ) -> Result<bool, ServiceError> {
        let place = run.state().tx_hashes().iter().position(|hash| hash.eq_ignore_ascii_case(old));
        let Some(request) = place.and_then(|place| run.state().tx_requests().get(place)) else {
            return Ok(false);
        };
        let approved: TxRequest =
            serde_json::from_value(request.clone()).map_err(|error| unusable(id)(error.into()))?;
        let call = self.graph.ports.receipts.receipt(old, &approved);
        let receipt = within("the chain", self.config().port_limit, call).await?;
        Ok(receipt.is_some_and(|receipt| difference(&receipt, old, &approved, run.state()).is_none()))
    }

    /// Reads the receipts of the sent transactions. A run is CONFIRMED when all its transactions are mined with success
    /// and each one is the approved one; no transaction confirms two runs. It is REVERTED when a mined one states no success. Otherwise it stays SUBMITTED.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not SUBMITTED. [`ServiceError::Port`] if the chain cannot be
    /// reached; the run stays as it is.
    pub async fn poll_tx(&self, run: &str, caller: impl Into<Caller>) -> Result<Poll, ServiceError> {
        let caller = caller.into();
        caller.check()?;
        // The transactions that confirmed another run.
        let mut taken = BTreeSet::new();
        loop {
            let mut row = self.store.load(run).await?;
            self.check_key(&caller).await?;
            let mut work = Work::of(&mut row, &self.clock).map_err(unusable(run))?;
            let submitted = match work.take_run() {
                AnyServiceRun::Submitted(submitted) => submitted,
                other => {
                    work.run = other;
                    return Err(refused(&work, Operation::PollTx));
                }
            };
            let poll = self.poll(&mut work, submitted, &caller, &taken).await?;
            match self.store_change(row, work, &caller, |_| poll).await {
                Ok(Some(poll)) => return Ok(poll),
                // Further hashes came meanwhile: their receipts count too.
                Ok(None) => {}
                Err(ServiceError::Store(ServiceStoreError::HashTaken { hash }))
                    if taken.insert(hash.clone()) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn poll(
        &self,
        work: &mut Work,
        run: ServiceRun<Submitted>,
        caller: &Caller,
        taken: &BTreeSet<String>,
    ) -> Result<Poll, ServiceError> {
        let approved: Vec<TxRequest> = run
            .state()
            .tx_requests()
            .iter()
            .map(|request| serde_json::from_value(request.clone()))
            .collect::<Result<_, _>>()
            .map_err(|error| unusable(&work.id)(error.into()))?;
        let sent = || run.state().tx_hashes().iter().zip(&approved);
        let calls = sent().map(|(hash, approved)| self.graph.ports.receipts.receipt(hash, approved));
        let receipts = within("the chain", self.config().port_limit, try_join_all(calls)).await?;
        let (mut mismatches, mut reverted) = (Vec::new(), None);
        for ((hash, approved), receipt) in sent().zip(&receipts) {
            if let Some(receipt) = receipt {
                let of_another = taken.contains(&on_chain(approved.chain_id, hash)).then_some("run");
                match difference(receipt, hash, approved, run.state()).or(of_another) {
                    Some(field) => mismatches.push(Mismatch { hash: hash.clone(), field: field.to_owned() }),
                    None if !receipt.success => reverted = reverted.or(Some(hash.clone())),
                    None => {}
                }
            }
        }
        let mined = receipts.len() == approved.len() && receipts.iter().all(Option::is_some);
        let at_ms = work.now_ms();
        let (phase, summary) = match mismatches.first() {
            Some(Mismatch { hash, field }) => (
                StepPhase::Failed,
                match &**field {
                    "run" => format!("{hash} confirmed another run"),
                    "time" => format!("{hash} was mined before the approval"),
                    field => format!("{hash} has another {field} than the approved transaction"),
                },
            ),
            None => (StepPhase::Done, String::new()),
        };
        let count = receipts.iter().flatten().count();
        let data = json!({ "mined": count, "transactions": approved.len() });
        work.act(RunStep::TxPoll, phase, caller, &summary, data);
        work.run = if let Some(hash) = reverted {
            let reason = format!("{hash} was reverted");
            work.step(RunStep::TxReverted.into(), StepPhase::Done, None, &reason, Value::Null);
            run.revert(Revert::new(reason, at_ms)).into()
        } else if mined && mismatches.is_empty() {
            work.step(RunStep::TxConfirmed.into(), StepPhase::Done, None, "", Value::Null);
            work.hashes = sent().map(|(hash, approved)| on_chain(approved.chain_id, hash)).collect();
            match run.confirm(Confirm::new(at_ms)) {
                Ok(run) => run.into(),
                Err(back) => unreachable!("all transactions were sent: {}", back.error),
            }
        } else {
            run.into()
        };
        Ok(Poll { mined, receipts, mismatches, status: work.run.status() })
    }
}
