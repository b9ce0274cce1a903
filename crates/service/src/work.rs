//! A run in memory, between two commits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use runstate::service_pass::{AnyServicePass, ServicePassStatus};
use runstate::service_run::{AnyServiceRun, MIGRATIONS, ServiceRunRecord, tx_digest};
use runstate::snapshot::{RestoreError, Snapshot, SnapshotError};
use runstate::trace::Recorder;
use runstate_runtime::clock::Clock;
use serde_json::Value;

use crate::artifact::Artifacts;
use crate::rows::{RunStep, Step, StepName, StepPhase, TimelineEntry, TimelineStatus};
use crate::service::Caller;
use crate::store::{Change, StoredRun};

/// The error for a stored run that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableRun {
    /// The machine of the run or of the pass cannot be restored.
    #[error("the stored machine cannot be restored: {0}")]
    Machine(#[from] RestoreError),
    /// The artifacts have another form.
    #[error("the stored artifacts cannot be read: {0}")]
    Artifacts(#[from] serde_json::Error),
    /// The run is RUNNING and has no pass.
    #[error("the run is RUNNING and has no pass")]
    NoPass,
    /// The row and the machine of the run contradict each other.
    #[error("the row has the {field} {row}, the machine has {machine}")]
    Row {
        /// The field.
        field: &'static str,
        /// The value of the row.
        row: String,
        /// The value of the machine.
        machine: String,
    },
    /// The machine cannot be stored.
    #[error("the machine cannot be stored: {0}")]
    Snapshot(#[from] SnapshotError),
}

/// A run with the rows that it has gained since its last commit.
pub(crate) struct Work {
    pub(crate) id: String,
    pub(crate) version: u64,
    pub(crate) run: AnyServiceRun,
    pub(crate) pass: Option<AnyServicePass>,
    pub(crate) artifacts: Artifacts,
    /// The actor that creates or resumes the run by this change.
    pub(crate) requested_by: Option<String>,
    /// The actors that created or resumed the run before.
    pub(crate) requesters: BTreeSet<String>,
    /// The hashes of the transactions that confirm the run, each with its chain.
    pub(crate) hashes: Vec<String>,
    /// The number of lost leases, with the present one.
    pub(crate) lost: u32,
    stored: BTreeMap<String, Value>,
    current_step: Option<StepName>,
    /// The numbers of the pass and of the attempt, for the rows.
    place: (u32, u32),
    steps: Vec<Step>,
    timeline: Vec<TimelineEntry>,
    recorder: Recorder,
    clock: Arc<dyn Clock>,
}

/// Makes the recorder of a run after `lines` trace lines.
pub(crate) fn recorder(run: &str, lines: u64, clock: &Arc<dyn Clock>) -> Recorder {
    let clock = Arc::clone(clock);
    Recorder::builder(run).first_seq(lines + 1).clock(move || clock.now_ms()).build()
}

/// The name of a pass in traces.
pub(crate) fn pass_name(pass: u32) -> String {
    format!("pass_{pass}")
}

impl Work {
    /// The work on a new run.
    pub(crate) fn new(id: String, run: AnyServiceRun, recorder: Recorder, clock: &Arc<dyn Clock>) -> Self {
        Work {
            id,
            version: 0,
            run,
            pass: None,
            artifacts: Artifacts::default(),
            requested_by: None,
            requesters: BTreeSet::new(),
            hashes: Vec::new(),
            lost: 0,
            stored: BTreeMap::new(),
            current_step: None,
            place: (0, 0),
            steps: Vec::new(),
            timeline: Vec::new(),
            recorder,
            clock: Arc::clone(clock),
        }
    }

    /// The work on a stored run. It takes the artifacts of the row, which are the largest part.
    pub(crate) fn of(stored: &mut StoredRun, clock: &Arc<dyn Clock>) -> Result<Self, UnusableRun> {
        let recorder = recorder(&stored.id, stored.trace_lines, clock);
        let mut run: AnyServiceRun = stored.machine.restore_with(MIGRATIONS)?;
        run.observe(recorder.observer("run"));
        let mut pass: Option<AnyServicePass> = stored.pass.as_ref().map(Snapshot::restore).transpose()?;
        if let Some(pass) = &mut pass {
            let name = pass_name(pass.record().pass());
            pass.observe(recorder.observer(&name));
        }
        agree("status", &stored.status, &run.status())?;
        agree("id", &stored.id, &run.record().run_id())?;
        agree("intent", &stored.intent, &run.record().intent())?;
        match (&run, &pass) {
            (AnyServiceRun::Running(_), None) => return Err(UnusableRun::NoPass),
            (AnyServiceRun::Running(run), Some(pass)) => {
                agree("pass", &pass.record().pass(), &run.state().pass())?;
            }
            _ => {}
        }
        let artifacts = Artifacts::from_map(&stored.artifacts)?;
        check_transactions(&run, &artifacts)?;
        Ok(Work {
            artifacts,
            stored: std::mem::take(&mut stored.artifacts),
            lost: stored.lost,
            version: stored.version,
            requesters: stored.requested_by.clone(),
            current_step: stored.current_step,
            place: pass.as_ref().map_or((0, 0), place_of),
            run,
            pass,
            ..Work::new(stored.id.clone(), nothing(), recorder, clock)
        })
    }

    /// Takes the run for a transition; the caller puts it back.
    pub(crate) fn take_run(&mut self) -> AnyServiceRun {
        std::mem::replace(&mut self.run, nothing())
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Sets the numbers of the pass and of the attempt, for the rows of a pass that begins.
    pub(crate) fn begin(&mut self, pass: u32) {
        self.place = (pass, 1);
    }

    /// Moves the pass to its next node, and notes that the node begins.
    pub(crate) fn enter(&mut self, pass: AnyServicePass) {
        let node = pass.status();
        self.place = place_of(&pass);
        self.pass = Some(pass);
        self.step(node.into(), StepPhase::Started, None, "", Value::Null);
        self.current_step = Some(node.into());
    }

    /// Notes the result of a node, with the attempt in which it executed.
    pub(crate) fn ended(&mut self, node: ServicePassStatus, status: TimelineStatus, summary: &str) {
        let phase = if status == TimelineStatus::Failed { StepPhase::Failed } else { StepPhase::Done };
        self.step(node.into(), phase, None, summary, Value::Null);
        let (pass, attempt) = self.place;
        self.timeline.push(TimelineEntry {
            step: node,
            status,
            title: title(node).to_owned(),
            summary: summary.to_owned(),
            attempt,
            pass,
            at_ms: self.now_ms(),
        });
    }

    /// Notes a step with its actor.
    pub(crate) fn step(
        &mut self,
        step: StepName,
        phase: StepPhase,
        actor: Option<&str>,
        summary: &str,
        data: Value,
    ) {
        let (pass, attempt) = self.place;
        let actor = actor.map(str::to_owned);
        let at_ms = self.now_ms();
        self.steps.push(Step { at_ms, pass, attempt, step, phase, actor, summary: summary.to_owned(), data });
    }

    /// Notes a step that a caller takes.
    pub(crate) fn act(
        &mut self,
        step: RunStep,
        phase: StepPhase,
        caller: &Caller,
        summary: &str,
        mut data: Value,
    ) {
        if let Some(person) = &caller.on_behalf_of {
            match &mut data {
                Value::Object(data) => drop(data.insert("on_behalf_of".to_owned(), person.as_str().into())),
                _ => data = serde_json::json!({ "on_behalf_of": person }),
            }
        }
        self.step(step.into(), phase, Some(&caller.actor), summary, data);
    }

    /// The change since the last commit.
    pub(crate) fn change(&mut self) -> Result<Change, UnusableRun> {
        let artifacts = self.artifacts.to_map();
        let gone = self.stored.keys().filter(|name| !artifacts.contains_key(*name));
        let mut changed: BTreeMap<String, Option<Value>> = gone.map(|name| (name.clone(), None)).collect();
        for (name, value) in &artifacts {
            if self.stored.get(name) != Some(value) {
                changed.insert(name.clone(), Some(value.clone()));
            }
        }
        self.stored = artifacts;
        Ok(Change {
            at_ms: self.now_ms(),
            status: self.run.status(),
            final_status: self.run.final_status(),
            current_step: self.current_step,
            intent: self.run.record().intent().to_owned(),
            machine: Snapshot::of(&self.run)?,
            pass: self.pass.as_ref().map(Snapshot::of).transpose()?,
            artifacts: changed,
            steps: std::mem::take(&mut self.steps),
            timeline: std::mem::take(&mut self.timeline),
            trace: self.recorder.take().iter().map(|event| event.to_json()).collect(),
            requested_by: self.requested_by.take(),
            hashes: std::mem::take(&mut self.hashes),
            answer: None,
        })
    }
}

/// Checks that a person sees and approves the transactions that are handed out.
fn check_transactions(run: &AnyServiceRun, artifacts: &Artifacts) -> Result<(), UnusableRun> {
    let Some((transactions, digest)) = transactions(run) else { return Ok(()) };
    agree("digest", &digest, &tx_digest(transactions))?;
    let shown: Vec<Value> =
        artifacts.tx_requests.iter().flatten().map(serde_json::to_value).collect::<Result<_, _>>()?;
    agree("digest of its artifact tx_requests", &tx_digest(&shown), &digest)
}

/// The transactions of a run, and their digest.
fn transactions(run: &AnyServiceRun) -> Option<(&[Value], &str)> {
    match run {
        AnyServiceRun::AwaitingApproval(run) => Some((run.state().tx_requests(), run.state().digest())),
        AnyServiceRun::ApprovedReady(run) => Some((run.state().tx_requests(), run.state().digest())),
        AnyServiceRun::Submitted(run) => Some((run.state().tx_requests(), run.state().digest())),
        AnyServiceRun::Confirmed(run) => Some((run.state().tx_requests(), run.state().digest())),
        AnyServiceRun::Reverted(run) => Some((run.state().tx_requests(), run.state().digest())),
        AnyServiceRun::Rejected(run) => Some((run.state().tx_requests(), run.state().digest())),
        AnyServiceRun::Created(_)
        | AnyServiceRun::Running(_)
        | AnyServiceRun::Paused(_)
        | AnyServiceRun::Blocked(_)
        | AnyServiceRun::Failed(_) => None,
    }
}

/// Compares a value of the row with that of the machine.
fn agree(field: &'static str, row: &dyn fmt::Display, machine: &dyn fmt::Display) -> Result<(), UnusableRun> {
    let (row, machine) = (row.to_string(), machine.to_string());
    if row == machine { Ok(()) } else { Err(UnusableRun::Row { field, row, machine }) }
}

fn place_of(pass: &AnyServicePass) -> (u32, u32) {
    (pass.record().pass(), pass.record().attempt())
}

fn title(node: ServicePassStatus) -> &'static str {
    match node {
        ServicePassStatus::InputNormalize => "Request read",
        ServicePassStatus::Precheck => "Request checked",
        ServicePassStatus::WalletSnapshot => "Wallet read",
        ServicePassStatus::PlanTx => "Actions planned",
        ServicePassStatus::BuildTxs => "Transactions built",
        ServicePassStatus::SimulateTxs => "Transactions simulated",
        ServicePassStatus::PolicyEval => "Rules applied",
        ServicePassStatus::SecurityEval => "Security result",
        ServicePassStatus::JudgeAgent => "Judged",
        ServicePassStatus::RepairRouter => "Repair considered",
        ServicePassStatus::RepairPlanTx => "Actions planned again",
        ServicePassStatus::Clarify => "Questions completed",
        ServicePassStatus::Finalize => "Result",
    }
}

/// A run in the place of one that takes a transition. It has no observer and is stored nowhere.
fn nothing() -> AnyServiceRun {
    AnyServiceRun::new(ServiceRunRecord::new("", ""))
}
