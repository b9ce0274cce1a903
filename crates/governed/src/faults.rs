//! The faults of a readable RUN_STATE.json. It is checked against the documented graph, and not against the code that
//! writes such files.

use runstate::approval::ApprovalId;
use runstate::governed_run::GovernedRunStatus;
use runstate::kernel::Status;

use super::document::{Document, Entry, Named};
use super::timestamp::Timestamp;

/// The permitted clock difference between machines in milliseconds.
pub(super) const SKEW_MS: u64 = 60_000;

/// All faults; empty for a valid file. With `now`, times in the future are faults as well.
pub(super) fn faults<S: Named>(document: &Document<S>, now: Option<u64>) -> Vec<String> {
    let mut faults = Vec::new();
    history(document, &mut faults);
    tools(document, &mut faults);
    approvals(document, &mut faults);
    let Document { run_id, project_id, current_state, created_at, updated_at, .. } = document;
    // An id is in capitals; the project's name need not be.
    if !project_id.eq_ignore_ascii_case(run_id.project()) {
        faults
            .push(format!("project_id is {project_id:?}, the project of {run_id} is {:?}", run_id.project()));
    }
    if current_state.known().is_none() {
        faults.push(format!("current_state is {current_state}: {NO_STATE}"));
    }
    let latest = document.state_history.iter().flat_map(|entry| [Some(entry.entered_at), entry.exited_at]);
    if let Some(latest) = latest.flatten().max()
        && *updated_at < latest
    {
        faults.push(format!("updated_at is {updated_at}, the last change was at {latest}"));
    }
    if let Some(now) = now {
        let latest = document.state_history.iter().map(|entry| entry.entered_at).max();
        let latest = latest.max(Some(*updated_at)).max(Some(*created_at)).map_or(0, Timestamp::ms);
        if latest > now.saturating_add(SKEW_MS) {
            let (latest, now) = (Timestamp::from_ms(latest), Timestamp::from_ms(now));
            faults.push(format!("it contains {latest}, which is in the future: it is {now} now"));
        }
    }
    faults
}

/// The fault of an unknown state name.
const NO_STATE: &str = "there is no such state of a governed run";

fn history<S: Named>(document: &Document<S>, faults: &mut Vec<String>) {
    let entries = &document.state_history;
    let Some(last) = entries.last() else {
        faults.push("state_history is empty; a run begins in INIT".to_owned());
        return;
    };
    let mut before: Option<&Entry<S>> = None;
    for (i, entry) in entries.iter().enumerate() {
        let mut wrong =
            |why: String| faults.push(format!("state_history, entry {} ({}): {why}", i + 1, entry.state));
        let state = entry.state.known();
        if state.is_none() {
            wrong(NO_STATE.to_owned());
        }
        match before {
            None if state.is_some_and(|state| state != GovernedRunStatus::Init) => {
                wrong("a run begins in INIT".to_owned());
            }
            None => {
                let (entered, created) = (entry.entered_at, document.created_at);
                if entered != created {
                    wrong(format!("entered at {entered}, but created_at is {created}"));
                }
            }
            Some(before) => {
                if let (Some(from), Some(to)) = (before.state.known(), state)
                    && let Err(why) = step(from, to)
                {
                    wrong(why);
                }
                if let Some(exited) = before.exited_at.filter(|exited| *exited != entry.entered_at) {
                    wrong(format!("entered at {}, {} was left at {exited}", entry.entered_at, before.state));
                }
            }
        }
        match entry.exited_at {
            Some(exited) if exited < entry.entered_at => {
                wrong(format!("left at {exited}, before it was entered at {}", entry.entered_at));
            }
            None if i + 1 < entries.len() => wrong("it was never left, yet another state follows".to_owned()),
            Some(exited) if i + 1 == entries.len() => {
                wrong(format!("left at {exited}, yet it is the last"));
            }
            _ => {}
        }
        before = Some(entry);
    }
    if last.state != document.current_state {
        faults.push(format!(
            "current_state is {}, the last entry of state_history is {}",
            document.current_state, last.state
        ));
    }
    let previous = entries.len().checked_sub(2).map(|at| &entries[at].state);
    if document.previous_state.as_ref() != previous {
        let name = |state: Option<&S>| state.map_or("null".to_owned(), ToString::to_string);
        faults.push(format!(
            "previous_state is {}, by state_history it is {}",
            name(document.previous_state.as_ref()),
            name(previous)
        ));
    }
}

/// The event that leads from one state to the other, if there is a transition.
pub(super) fn event(from: GovernedRunStatus, to: GovernedRunStatus) -> Option<&'static str> {
    let mut edges = GovernedRunStatus::graph().edges.iter();
    edges.find(|edge| edge.from == from.name() && edge.to == to.name()).map(|edge| edge.event)
}

/// Checks that a transition leads from one state to the other.
pub(super) fn step(from: GovernedRunStatus, to: GovernedRunStatus) -> Result<(), String> {
    let graph = GovernedRunStatus::graph();
    if event(from, to).is_some() {
        return Ok(());
    }
    let ways: Vec<&str> = graph.ways_out(from.name()).map(|edge| edge.to).collect();
    Err(match ways.as_slice() {
        [] => format!("no legal transition: {from} --> {to}; {from} is terminal"),
        ways => {
            format!("no legal transition: {from} --> {to}; from {from} a run can go to {}", ways.join(", "))
        }
    })
}

/// Checks the tools: the planned tools are the completed and then the remaining ones, and the current tool is the
/// first remaining one or null.
fn tools<S: Named>(document: &Document<S>, faults: &mut Vec<String>) {
    use GovernedRunStatus as Is;
    let Document { tools_planned, tools_completed, tools_remaining, current_tool, current_state, .. } =
        document;
    let is_in = |states: &[Is]| current_state.known().is_some_and(|state| states.contains(&state));
    if !tools_planned.iter().eq(tools_completed.iter().chain(tools_remaining)) {
        faults.push(format!(
            "tools_planned must be tools_completed and then tools_remaining: {tools_planned:?} is not \
             {tools_completed:?} and {tools_remaining:?}"
        ));
    }
    if let Some(current) = current_tool {
        if tools_remaining.first() != Some(current) {
            faults.push(format!(
                "current_tool must be null or the first of tools_remaining: {current:?} is not, among \
                 {tools_remaining:?}"
            ));
        }
        if is_in(&[Is::Init, Is::Planning]) {
            faults.push(format!("current_tool is {current:?}, but in {current_state} no tool was begun"));
        }
    }
    if is_in(&[Is::Verifying, Is::Auditing, Is::Completed]) && !tools_remaining.is_empty() {
        faults.push(format!("in {current_state} no tool may remain, got {tools_remaining:?}"));
    }
    if is_in(&[Is::Init, Is::Planning]) && !tools_planned.is_empty() {
        faults.push(format!("in {current_state} there is no plan yet, got {tools_planned:?}"));
    }
}

/// Checks the approvals: at most one is pending, since tools run one at a time, and each approved action has a
/// granted approval.
fn approvals<S: Named>(document: &Document<S>, faults: &mut Vec<String>) {
    let Document { approvals_pending, approvals_granted, current_state, state_history, .. } = document;
    let state = current_state.known();
    let waits = state == Some(GovernedRunStatus::AwaitingApproval);
    let may_wait = waits || state == Some(GovernedRunStatus::Planning);
    match approvals_pending.len() {
        0 if waits => faults.push("AWAITING_APPROVAL has one pending approval, got none".to_owned()),
        0 => {}
        1 if may_wait => {}
        n if waits => faults.push(format!(
            "AWAITING_APPROVAL has one pending approval, since tools run one at a time; got {n}"
        )),
        n if may_wait => {
            faults.push(format!("PLANNING waits for one approval at most, that of the plan; got {n}"));
        }
        // The permitted approvals of an unknown state are unknown.
        _ if state.is_none() => {}
        _ => {
            let ids: Vec<&str> = approvals_pending.iter().map(ApprovalId::as_str).collect();
            let ids = ids.join(", ");
            faults.push(format!("approvals_pending has {ids}, but {current_state} waits for none"));
        }
    }
    for (i, id) in approvals_granted.iter().enumerate() {
        if approvals_granted[..i].contains(id) {
            faults.push(format!("approval {id} is granted twice"));
        }
        if approvals_pending.contains(id) {
            faults.push(format!("approval {id} is both pending and granted"));
        }
    }
    let pairs = state_history.windows(2);
    let approved = pairs.filter(|pair| {
        pair[0].state.known() == Some(GovernedRunStatus::AwaitingApproval)
            && pair[1].state.known() == Some(GovernedRunStatus::Executing)
    });
    let approved = approved.count();
    if approved > approvals_granted.len() {
        faults.push(format!(
            "by its history the run was approved {approved} times, approvals_granted has {}",
            approvals_granted.len()
        ));
    }
}
