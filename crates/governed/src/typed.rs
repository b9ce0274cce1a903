//! Conversion between RUN_STATE.json and the typed run.

use runstate::approval::{AnyApproval, ApprovalId};
use runstate::governed_run::{AnyGovernedRun, GovernedRunStatus, Reviewers, RunRecord};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::document::{Document, Entry, Extension, VERSION};
use super::notes::{Notes, Purpose, Standing, restored};
use super::open::Run;
use super::timestamp::Timestamp;

/// The fields of a file that belong to other programs. They are preserved.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Foreign {
    further: Map<String, Value>,
    entries: Vec<Map<String, Value>>,
}

/// Creates the file of a run.
///
/// # Errors
/// The part of the run's state with an unexpected form.
pub(super) fn document<'n>(
    run: &impl Run,
    notes: &'n Notes,
    foreign: &Foreign,
) -> Result<Document<GovernedRunStatus, &'n Notes>, String> {
    match run.serialize_state(serde_json::value::Serializer) {
        Ok(Value::Object(state)) => written(run.record(), run.status(), state, notes, foreign),
        Ok(_) => Err(format!("the data of {} is no JSON object", run.status())),
        Err(error) => Err(format!("the data of {} is no JSON: {error}", run.status())),
    }
}

fn written<'n>(
    record: &RunRecord,
    status: GovernedRunStatus,
    mut state: Map<String, Value>,
    notes: &'n Notes,
    foreign: &Foreign,
) -> Result<Document<GovernedRunStatus, &'n Notes>, String> {
    let entered_at: u64 = taken(&mut state, "entered_at")?.ok_or("the state has no `entered_at`")?;
    let left = record.history().iter().map(|visit| {
        (visit.state, Timestamp::from_ms(visit.entered_at), Some(Timestamp::from_ms(visit.exited_at)))
    });
    let visits = left.chain([(status, Timestamp::from_ms(entered_at), None)]);
    let state_history = visits.enumerate().map(|(i, (state, entered_at, exited_at))| Entry {
        state,
        entered_at,
        exited_at,
        further: foreign.entries.get(i).cloned().unwrap_or_default(),
    });
    // States after the tools store the completed tools only. All other states with a plan store a progress.
    let mut progress: Map<String, Value> = taken(&mut state, "progress")?.unwrap_or_default();
    if let Some(tries) = progress.remove("tries") {
        state.insert("tries".to_owned(), tries);
    }
    let completed: Vec<String> = match taken(&mut state, "tools_completed")? {
        Some(completed) => completed,
        None => taken(&mut progress, "tools_completed")?.unwrap_or_default(),
    };
    let planned = taken(&mut progress, "tools_planned")?.unwrap_or_else(|| completed.clone());
    let pending = taken(&mut state, "approvals_pending")?.unwrap_or_default();
    let pending = match &notes.standing {
        Standing::Asked { approval, purpose: Purpose::Plan } => vec![approval.clone()],
        _ => pending,
    };
    let limits = *record.limits();
    Ok(Document {
        run_id: record.run_id().clone(),
        project_id: record.run_id().project().to_owned(),
        current_state: status,
        previous_state: record.previous_state(),
        state_history: state_history.collect(),
        tools_planned: planned,
        tools_completed: completed,
        tools_remaining: taken(&mut progress, "tools_remaining")?.unwrap_or_default(),
        current_tool: taken(&mut progress, "current_tool")?.flatten(),
        approvals_pending: pending,
        approvals_granted: record.approvals_granted().to_vec(),
        created_at: Timestamp::from_ms(record.created_at()),
        updated_at: Timestamp::from_ms(record.updated_at()),
        runstate: Some(Extension {
            version: VERSION,
            state,
            limits: (limits != Default::default()).then_some(limits),
            notes,
            tag: None,
        }),
        further: foreign.further.clone(),
    })
}

/// Removes a field, and returns it; `None` for a missing field.
fn taken<T: DeserializeOwned>(fields: &mut Map<String, Value>, name: &str) -> Result<Option<T>, String> {
    let value = fields.remove(name).map(serde_json::from_value).transpose();
    value.map_err(|error| format!("`{name}` of the state: {error}"))
}

pub(super) struct Read {
    /// The typed run; `None` for a finished run of another program, because nothing proves its end.
    pub(super) run: Option<AnyGovernedRun>,
    pub(super) notes: Notes,
    pub(super) foreign: Foreign,
}

/// Reads the run of a valid file. Data missing in another program's file is filled in conservatively: a current tool
/// is in doubt, and `reviewers` audit a run without reviewers.
pub(super) fn read(document: &Document, reviewers: &Reviewers) -> Result<Read, String> {
    let further = document.further.clone();
    let entries = document.state_history.iter().map(|entry| entry.further.clone()).collect();
    let foreign = Foreign { further, entries };
    let is_ours = document.runstate.is_some();
    let status = document.current_state;
    let (state, limits, notes) = match &document.runstate {
        Some(ours) => (ours.state.clone(), ours.limits.unwrap_or_default(), ours.notes.clone()),
        None => (Map::new(), Default::default(), foreign_notes(document)),
    };
    noted(document, &notes)?;
    if is_ours {
        planned(document, &notes)?;
        granted(document, &notes)?;
        under_way(document, &notes)?;
    }
    if status.is_terminal() && !is_ours {
        return Ok(Read { run: None, notes, foreign });
    }
    let (left, present) = document.state_history.split_at(document.state_history.len().saturating_sub(1));
    let history = left.iter().map(|entry| {
        let exited = entry
            .exited_at
            .ok_or_else(|| format!("{} was never left, yet another state follows", entry.state))?;
        Ok(json!({"state": entry.state, "entered_at": entry.entered_at.ms(), "exited_at": exited.ms()}))
    });
    let history = history.collect::<Result<Vec<Value>, String>>()?;
    let mut record = json!({
        "run_id": document.run_id, "created_at": document.created_at.ms(), "updated_at": document.updated_at.ms(),
        "state_history": history, "approvals_granted": document.approvals_granted,
    });
    if limits != Default::default() {
        record["limits"] = json!(limits);
    }
    let entered_at = present.first().ok_or("state_history is empty; a run begins in INIT")?.entered_at.ms();
    let state = state_of(document, state, entered_at, reviewers);
    let run = AnyGovernedRun::from_run_state(status, record, state).map_err(|error| error.to_string())?;
    Ok(Read { run: Some(run), notes, foreign })
}

/// Checks the notes of a file for consistency with each other and with the run.
fn noted(document: &Document, notes: &Notes) -> Result<(), String> {
    for snapshot in &notes.approvals {
        let approval: AnyApproval =
            snapshot.restore().map_err(|error| format!("an approval in `runstate` is not sound: {error}"))?;
        let record = approval.record();
        if record.run_id() != &document.run_id {
            return Err(format!("approval {} in `runstate` is of run {}", record.id(), record.run_id()));
        }
    }
    let used = match &notes.standing {
        Standing::Granted { approval, .. } | Standing::Calling { approval: Some(approval) } => approval,
        Standing::Calling { approval: None }
        | Standing::Idle
        | Standing::Failed { .. }
        | Standing::Asked { .. }
        | Standing::RollingBack { .. } => return Ok(()),
    };
    match notes.approval(used) {
        Some(AnyApproval::Approved(_)) => Ok(()),
        _ => Err(format!("`runstate` says that approval {used} is to be used, and it is not APPROVED")),
    }
}

/// Checks the question about a plan. It exists in PLANNING only, and its plan must be recorded.
fn planned(document: &Document, notes: &Notes) -> Result<(), String> {
    let is_planning = document.current_state == GovernedRunStatus::Planning;
    let asked = match &notes.standing {
        Standing::Asked { approval, purpose: Purpose::Plan } => Some(approval),
        _ => None,
    };
    if is_planning && document.approvals_pending.first() != asked {
        let name = |id: Option<&ApprovalId>| id.map_or("none".to_owned(), ToString::to_string);
        return Err(format!(
            "approvals_pending has {}, `runstate` says that the plan waits for {}",
            name(document.approvals_pending.first()),
            name(asked)
        ));
    }
    match asked {
        Some(_) if !is_planning => {
            Err(format!("`runstate` says that a plan waits for an approval, in {}", document.current_state))
        }
        Some(asked) if !matches!(notes.approval(asked), Some(AnyApproval::AwaitingHuman(_))) => {
            Err(format!("`runstate` says that the plan waits for {asked}, and it is not AWAITING_HUMAN"))
        }
        Some(asked) if notes.plan.is_none() => {
            Err(format!("`runstate` says that the plan waits for {asked}, and there is no plan"))
        }
        _ => Ok(()),
    }
}

/// Checks the granted approvals against their records. Each has a record with that status, except the ones granted in
/// another program's file.
fn granted(document: &Document, notes: &Notes) -> Result<(), String> {
    let records: Vec<AnyApproval> = notes.approvals.iter().filter_map(restored).collect();
    let says_so =
        |approval: &AnyApproval| matches!(approval, AnyApproval::Approved(_) | AnyApproval::Executed(_));
    let of = |id: &ApprovalId| records.iter().find(|approval| approval.record().id() == id);
    for id in document.approvals_granted.iter().filter(|id| !notes.adopted.contains(*id)) {
        match of(id) {
            Some(approval) if says_so(approval) => {}
            Some(approval) => {
                let is = approval.status();
                return Err(format!("approvals_granted has {id}, and its record in `runstate` is {is}"));
            }
            None => return Err(format!("approvals_granted has {id}, and `runstate` has no record of it")),
        }
    }
    let is_listed = |approval: &&AnyApproval| document.approvals_granted.contains(approval.record().id());
    match records.iter().filter(|approval| says_so(approval)).find(|approval| !is_listed(approval)) {
        Some(approval) => {
            let (id, is) = (approval.record().id(), approval.status());
            Err(format!("the record of {id} in `runstate` is {is}, and approvals_granted does not have it"))
        }
        None => Ok(()),
    }
}

/// Checks the question or the tool of a run against its plan and its deadline.
fn under_way(document: &Document, notes: &Notes) -> Result<(), String> {
    let (is_begun, next) = (document.current_tool.is_some(), document.tools_remaining.first());
    let (used, needs_a_tool) = match &notes.standing {
        Standing::Asked { approval, purpose } | Standing::Granted { approval, purpose } => {
            (Some((approval, *purpose)), matches!(purpose, Purpose::GoOn | Purpose::Keep))
        }
        Standing::Calling { approval } => (approval.as_ref().map(|approval| (approval, Purpose::GoOn)), true),
        Standing::Failed { .. } => (None, true),
        Standing::Idle | Standing::RollingBack { .. } => (None, false),
    };
    if needs_a_tool && !is_begun {
        return Err("`runstate` says that a tool is under way, and current_tool is null".to_owned());
    }
    let Some((id, purpose)) = used else { return Ok(()) };
    let Some(approval) = notes.approval(id) else { return Ok(()) };
    let tool = approval.record().request().tool();
    if purpose != Purpose::Plan && next.is_none_or(|next| next != tool) {
        let next = next.map_or("null".to_owned(), |next| format!("{next:?}"));
        return Err(format!("approval {id} is about {tool:?}, the first of tools_remaining is {next}"));
    }
    let entered_at = document.state_history.last().map(|entry| entry.entered_at.ms());
    let limits = document.runstate.as_ref().and_then(|ours| ours.limits).unwrap_or_default();
    let deadline = entered_at.and_then(|at| limits.deadline(document.current_state, at));
    let (AnyApproval::AwaitingHuman(asked), Some(until)) = (&approval, deadline) else { return Ok(()) };
    let answer_by = asked.state().deadline();
    if answer_by == until {
        return Ok(());
    }
    let (answer_by, until) = (Timestamp::from_ms(answer_by), Timestamp::from_ms(until));
    Err(format!("approval {id} is to be answered by {answer_by}, the run waits until {until}"))
}

/// The reason why the file is not a valid run, for a reader that drives no runs.
pub(super) fn fault(document: &Document) -> Option<String> {
    let reviewers = Reviewers::new(["reviewer"]).ok()?;
    read(document, &reviewers).err()
}

fn state_of(
    document: &Document,
    mut state: Map<String, Value>,
    entered_at: u64,
    reviewers: &Reviewers,
) -> Value {
    use GovernedRunStatus as S;
    state.insert("entered_at".to_owned(), entered_at.into());
    match document.current_state {
        S::Init | S::Planning => {}
        S::Executing | S::AwaitingApproval | S::RolledBack | S::HaltedUnsafe => {
            let tries = u64::from(document.current_tool.is_some());
            let progress = json!({
                "tools_planned": document.tools_planned, "tools_completed": document.tools_completed,
                "tools_remaining": document.tools_remaining, "current_tool": document.current_tool,
                "tries": state.remove("tries").unwrap_or(tries.into()),
            });
            state.insert("progress".to_owned(), progress);
        }
        S::Verifying | S::Auditing | S::Completed => {
            state.insert("tools_completed".to_owned(), json!(document.tools_completed));
        }
    }
    match document.current_state {
        S::AwaitingApproval => {
            state.insert("approvals_pending".to_owned(), json!(document.approvals_pending));
        }
        S::Auditing => {
            state.entry("reviewers").or_insert_with(|| json!(reviewers));
        }
        S::Init
        | S::Planning
        | S::Executing
        | S::Verifying
        | S::Completed
        | S::RolledBack
        | S::HaltedUnsafe => {}
    }
    Value::Object(state)
}

fn foreign_notes(document: &Document) -> Notes {
    let asked = |purpose| match document.approvals_pending.first() {
        Some(approval) => Standing::Asked { approval: approval.clone(), purpose },
        None => Standing::Idle,
    };
    let standing = match (&document.current_tool, document.current_state) {
        (_, GovernedRunStatus::Planning) => asked(Purpose::Plan),
        (_, GovernedRunStatus::AwaitingApproval) => asked(Purpose::Begin),
        (Some(_), GovernedRunStatus::Executing) => Standing::Calling { approval: None },
        (None, GovernedRunStatus::Executing)
        | (
            _,
            GovernedRunStatus::Init
            | GovernedRunStatus::Verifying
            | GovernedRunStatus::Auditing
            | GovernedRunStatus::Completed
            | GovernedRunStatus::RolledBack
            | GovernedRunStatus::HaltedUnsafe,
        ) => Standing::Idle,
    };
    Notes { standing, adopted: document.approvals_granted.clone(), ..Notes::default() }
}
