//! The beginnings of passes: start and resume.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use runstate::service_pass::{AnyServicePass, PassRecord, ServicePass};
use runstate::service_run::{AnyServiceRun, Resume, Start};
use serde_json::Value;

use super::{Operation, RunView, Service, ServiceError, check_intent, conflict, invalid, named, refused};
use crate::config::is_address;
use crate::rows::{RunStep, StepPhase};
use crate::slots::text_of;
use crate::work::{Work, pass_name};

/// The content of a resume.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The answers, by slot. The slots `wallet_address` and `chain_id` also replace wallet and chain of the run.
    pub answers: BTreeMap<String, Value>,
    /// Another intent, for a run with the final status NOOP.
    pub intent: Option<String>,
}

impl Service {
    /// Starts a run in the name of `actor`: the first pass begins. [`drive`](Self::drive) executes it.
    ///
    /// The nodes without input and output execute at once. A run whose intent, wallet or chain is missing is PAUSED
    /// then.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not CREATED.
    pub async fn start(&self, run: &str, actor: &str) -> Result<RunView, ServiceError> {
        named(actor)?;
        self.change(run, |work| {
            work.run = match work.take_run() {
                AnyServiceRun::Created(run) => run.start(Start).into(),
                other => {
                    work.run = other;
                    return Err(refused(work, Operation::Start));
                }
            };
            let inputs = work.run.record().user_inputs().clone();
            self.begin_pass(work, actor, "started", &inputs);
            Ok(())
        })
        .await?;
        self.get(run).await
    }

    /// Resumes a PAUSED run in the name of `actor`: another pass begins, with the answers of all resumes since the
    /// current intent.
    ///
    /// # Errors
    /// [`ServiceError::NoCheckpoint`] for a run that was never started, [`ServiceError::Conflict`] for another one that
    /// is not PAUSED. [`ServiceError::IntentWhileInputIsNeeded`] for another intent while answers are wanted.
    /// [`ServiceError::Invalid`] for a wallet that is no address, a chain that is neither a known name nor an id, and an
    /// intent of another length.
    pub async fn resume(&self, run: &str, answers: &Answers, actor: &str) -> Result<RunView, ServiceError> {
        named(actor)?;
        if let Some(intent) = &answers.intent {
            check_intent(intent)?;
        }
        let resume = self.resume_event(answers)?;
        self.change(run, |work| {
            if work.pass.is_none() {
                return Err(ServiceError::NoCheckpoint(conflict(work, Operation::Resume)));
            }
            work.run = match work.take_run() {
                AnyServiceRun::Paused(run) => match run.resume(resume.clone()) {
                    Ok(run) => run.into(),
                    Err(back) => {
                        work.run = back.machine.into();
                        let conflict = conflict(work, Operation::Resume);
                        return Err(ServiceError::IntentWhileInputIsNeeded { conflict, error: back.error });
                    }
                },
                other => {
                    work.run = other;
                    return Err(refused(work, Operation::Resume));
                }
            };
            work.requested_by = Some(actor.to_owned());
            // Answers about an earlier intent say nothing about another one. The record keeps them.
            let mut inputs = match &answers.intent {
                Some(_) => BTreeMap::new(),
                None => work.artifacts.user_inputs.clone(),
            };
            inputs.extend(answers.answers.clone());
            self.begin_pass(work, actor, "resumed", &inputs);
            Ok(())
        })
        .await?;
        self.get(run).await
    }

    fn resume_event(&self, answers: &Answers) -> Result<Resume, ServiceError> {
        let Answers { answers, intent } = answers;
        let mut resume = Resume::with_answers(answers.iter().map(|(slot, answer)| (slot, answer.clone())));
        if let Some(intent) = intent {
            resume = resume.new_intent(intent);
        }
        if let Some(wallet) = answers.get("wallet_address") {
            match text_of(wallet).filter(|wallet| is_address(wallet)) {
                Some(wallet) => resume = resume.for_wallet(wallet),
                None => {
                    return Err(invalid("wallet_address", "expected 0x and 1 to 62 hexadecimal digits"));
                }
            }
        }
        if let Some(answer) = answers.get("chain_id") {
            let text = text_of(answer);
            let known = text.as_deref().and_then(|text| self.config().chain_of(text)).map(|chain| chain.id);
            let id = text.as_deref().and_then(|text| text.parse().ok()).filter(|id| *id > 0);
            // An unknown id is asked for again, with the known chains. Another answer would leave the run on its old chain.
            let Some(id) = known.or(id) else {
                let names: Vec<&str> = self.config().chains.iter().map(|chain| &*chain.name).collect();
                let reason =
                    format!("got {answer}, expected the id of a chain, or one of {}", names.join(", "));
                return Err(invalid("chain_id", reason));
            };
            resume = resume.on_chain(id);
        }
        Ok(resume)
    }

    /// Begins the pass of a run that became RUNNING, and executes its first nodes.
    fn begin_pass(&self, work: &mut Work, actor: &str, summary: &str, inputs: &BTreeMap<String, Value>) {
        let pass = match &work.run {
            AnyServiceRun::Running(run) => run.state().pass(),
            other => unreachable!("a pass begins in RUNNING, not in {}", other.status()),
        };
        work.step(RunStep::RunStarted.into(), StepPhase::Done, Some(actor), summary, Value::Null);
        work.artifacts.begin_pass(inputs);
        let mut record = PassRecord::new(&work.id)
            .numbered(NonZeroU32::new(pass).unwrap_or(NonZeroU32::MIN))
            .with_max_attempts(self.config().max_attempts)
            .observed(work.recorder().observer(&pass_name(pass)));
        if self.graph.ports.planner.is_none() {
            record = record.without_model();
        }
        work.enter(AnyServicePass::from(ServicePass::new(record)));
        self.graph.settle(work);
    }
}
