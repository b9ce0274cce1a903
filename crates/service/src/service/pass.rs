//! The beginnings of passes: start and resume.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use runstate::service_pass::{AnyServicePass, PassRecord, ServicePass};
use runstate::service_run::{AnyServiceRun, Resume, Start};
use serde_json::{Value, json};

use super::{
    Caller, Operation, RunView, Service, ServiceError, check_intent, conflict, invalid, not_an_address,
    refused,
};
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
    /// Data of the caller, such as the id of a form: at most 16 KiB of JSON. The step has it; the graph never reads it.
    pub metadata: BTreeMap<String, Value>,
}

/// The largest number of answers, over all resumes.
const MAX_ANSWERS: usize = 64;

/// The longest name of a slot, in characters.
const MAX_SLOT: usize = 64;

/// The longest answer and the longest metadata, in bytes of JSON.
const MAX_JSON: usize = 16 * 1024;

/// The size of all answers, in bytes of JSON.
const MAX_ALL: usize = 64 * 1024;

impl Service {
    /// Starts a run in the name of the caller: the first pass begins. [`drive`](Self::drive) executes it.
    ///
    /// The nodes without input and output execute at once. A run whose intent, wallet or chain is missing is PAUSED
    /// then.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not CREATED.
    pub async fn start(&self, run: &str, caller: impl Into<Caller>) -> Result<RunView, ServiceError> {
        let caller = caller.into();
        let start = |work: &mut Work| {
            work.run = match work.take_run() {
                AnyServiceRun::Created(run) => run.start(Start).into(),
                other => {
                    work.run = other;
                    return Err(refused(work, Operation::Start));
                }
            };
            let inputs = work.run.record().user_inputs().clone();
            self.begin_pass(work, &caller, "started", &inputs, Value::Null);
            Ok(())
        };
        self.change(run, &caller, start, |(), run| run).await
    }

    /// Resumes a PAUSED run in the name of the caller: another pass begins, with the answers of all resumes since the
    /// current intent.
    ///
    /// # Errors
    /// [`ServiceError::NoCheckpoint`] for a run that was never started, [`ServiceError::Conflict`] for another one that
    /// is not PAUSED. [`ServiceError::IntentWhileInputIsNeeded`] for another intent while answers are wanted.
    /// [`ServiceError::Invalid`] for a wallet that is no address, a chain that is neither a known name nor an id, an
    /// answer that is a number with a fraction or an exponent, which JSON does not keep exactly, more than 64 answers
    /// over all resumes, and values that are too long.
    pub async fn resume(
        &self,
        run: &str,
        answers: &Answers,
        caller: impl Into<Caller>,
    ) -> Result<RunView, ServiceError> {
        let caller = caller.into();
        let resume = |work: &mut Work| {
            if work.pass.is_none() {
                return Err(ServiceError::NoCheckpoint(conflict(work, Operation::Resume)));
            }
            work.run = match work.take_run() {
                AnyServiceRun::Paused(run) => {
                    let resume = self.resume_event(answers)?;
                    check_answers(answers, run.record().user_inputs())?;
                    match run.resume(resume) {
                        Ok(run) => run.into(),
                        Err(back) => {
                            work.run = back.machine.into();
                            let conflict = conflict(work, Operation::Resume);
                            let error = back.error;
                            return Err(ServiceError::IntentWhileInputIsNeeded { conflict, error });
                        }
                    }
                }
                other => {
                    work.run = other;
                    return Err(refused(work, Operation::Resume));
                }
            };
            work.requested_by = Some(caller.actor.clone());
            // Answers about an earlier intent say nothing about another one. The record keeps them.
            let mut inputs = match &answers.intent {
                Some(_) => BTreeMap::new(),
                None => work.artifacts.user_inputs.clone(),
            };
            inputs.extend(answers.answers.clone());
            let metadata = match answers.metadata.is_empty() {
                true => Value::Null,
                false => json!({ "metadata": answers.metadata }),
            };
            self.begin_pass(work, &caller, "resumed", &inputs, metadata);
            Ok(())
        };
        self.change(run, &caller, resume, |(), run| run).await
    }

    fn resume_event(&self, answers: &Answers) -> Result<Resume, ServiceError> {
        let Answers { answers, intent, metadata: _ } = answers;
        let mut resume = Resume::with_answers(answers.iter().map(|(slot, answer)| (slot, answer.clone())));
        if let Some(intent) = intent {
            resume = resume.new_intent(intent);
        }
        if let Some(wallet) = answers.get("wallet_address") {
            match text_of(wallet).filter(|wallet| is_address(wallet)) {
                Some(wallet) => resume = resume.for_wallet(wallet),
                None => {
                    return Err(invalid("wallet_address", not_an_address(wallet)));
                }
            }
        }
        if let Some(answer) = answers.get("chain_id") {
            let text = text_of(answer);
            let known = text.as_deref().and_then(|text| self.config().chain_of(text)).map(|chain| chain.id);
            let id = text.as_deref().and_then(|text| text.parse().ok());
            let id = id.filter(|id: &u64| *id > 0 && i64::try_from(*id).is_ok());
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
    fn begin_pass(
        &self,
        work: &mut Work,
        caller: &Caller,
        summary: &str,
        inputs: &BTreeMap<String, Value>,
        data: Value,
    ) {
        let pass = match &work.run {
            AnyServiceRun::Running(run) => run.state().pass(),
            other => unreachable!("a pass begins in RUNNING, not in {}", other.status()),
        };
        work.begin(pass);
        work.act(RunStep::RunStarted, StepPhase::Done, caller, summary, data);
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

/// Checks the number of the answers, with those of earlier resumes, and the form of each.
fn check_answers(answers: &Answers, earlier: &BTreeMap<String, Value>) -> Result<(), ServiceError> {
    let Answers { answers, intent, metadata } = answers;
    if let Some(intent) = intent {
        check_intent(intent)?;
    }
    let kept = earlier.iter().filter(|(slot, _)| !answers.contains_key(*slot));
    let (count, size) = kept.chain(answers).fold((0, 0), |(count, size), (slot, answer)| {
        (count + 1, size + slot.len() + answer.to_string().len())
    });
    if count > MAX_ANSWERS {
        return Err(invalid("answers", format!("got {count} answers, expected at most {MAX_ANSWERS}")));
    }
    if size > MAX_ALL {
        return Err(invalid(
            "answers",
            format!("got {size} bytes, expected at most {MAX_ALL} over all resumes"),
        ));
    }
    for (slot, answer) in answers {
        if !(1..=MAX_SLOT).contains(&slot.chars().count()) {
            let reason =
                format!("got a slot of {} characters, expected 1 to {MAX_SLOT}", slot.chars().count());
            return Err(invalid("answers", reason));
        }
        let size = answer.to_string().len();
        if size > MAX_JSON {
            let reason = format!("{slot}: got {size} bytes, expected at most {MAX_JSON}");
            return Err(invalid("answers", reason));
        }
        if answer.is_f64() {
            let reason =
                format!("{slot}: got the number {answer}, expected an integer, or the number as a string");
            return Err(invalid("answers", reason));
        }
    }
    let size = json!(metadata).to_string().len();
    if size > MAX_JSON {
        return Err(invalid("metadata", format!("got {size} bytes, expected at most {MAX_JSON}")));
    }
    Ok(())
}
