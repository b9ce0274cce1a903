//! Validation of a RUN_STATE.json of any program.

use runstate::governed_run::{GovernedRunStatus, RunId};

use super::approval_note::ApprovalNote;
use super::document::{AnyName, Document, MOST_BYTES};
use super::faults::faults;
use super::log_report::LoggedStep;
use super::notes::{ToolReport, restored};
use super::outcome::RunStatus;
use super::timestamp::Timestamp;

/// The content of a RUN_STATE.json, and its faults.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateReport {
    /// The id of the run.
    pub run: RunId,
    /// The status of the run; `None` if the file names an unknown state.
    pub status: Option<RunStatus>,
    /// The current state in the file. An unknown name is in quotation marks and cut to 60 characters.
    pub state: String,
    /// The states in the history, the current one included, in that form.
    pub history: Vec<String>,
    /// The times of entry into these states.
    pub entered_at: Vec<Timestamp>,
    /// The approvals of the run with their decisions, in the order of their requests. Empty for a file of another program.
    pub approvals: Vec<ApprovalNote>,
    /// The calls of tools in the file, in their order. The older calls of a long run are in RUN_REPORTS.jsonl.
    pub tools: Vec<ToolReport>,
    /// The faults of the file, such as an entry of the history that no legal transition leads to. Empty for a valid
    /// file.
    pub faults: Vec<String>,
}

/// Validates a RUN_STATE.json: its types, its history against the documented graph, its tools, its approvals, its
/// times. The planned tools must be the completed ones followed by the remaining ones, and at most one approval may
/// be pending. With `now` (milliseconds since 1970), times in the future are faults as well. A tag is not verified,
/// because that needs a [`Governor`](super::Governor) with the key.
///
/// ```
/// use runstate_governed::check_state;
///
/// let file = br#"{
///   "run_id": "RUN-A-20260131-120000", "project_id": "A",
///   "current_state": "COMPLETE", "previous_state": "INIT",
///   "state_history": [
///     {"state": "INIT", "entered_at": "2026-01-31T12:00:00Z", "exited_at": "2026-01-31T12:00:01Z"},
///     {"state": "COMPLETE", "entered_at": "2026-01-31T12:00:01Z", "exited_at": null}
///   ],
///   "tools_planned": [], "tools_completed": [], "tools_remaining": [], "current_tool": null,
///   "approvals_pending": [], "approvals_granted": [],
///   "created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:00:01Z"
/// }"#;
/// let report = check_state(file, None)?;
/// assert_eq!(
///     report.faults,
///     ["state_history, entry 2 (COMPLETE): no legal transition: INIT --> COMPLETE; from INIT a run can go to PLANNING, \
///       HALTED_UNSAFE"]
/// );
/// assert!(check_state(b"[]", None).is_err());
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// The reason why the file cannot be validated: it is larger than 16 MiB, not JSON, or lacks a field of the schema.
pub fn check_state(file: &[u8], now: Option<u64>) -> Result<StateReport, String> {
    if file.len() as u64 > MOST_BYTES {
        return Err(format!("it has {} bytes, more than the {MOST_BYTES} that are read of it", file.len()));
    }
    // Unknown state names are ordinary faults, so the rest of the file is validated as well.
    let named: Document<AnyName> = Document::read(file)?;
    let mut faults = faults(&named, now);
    let document: Option<Document> = Document::read(file).ok();
    if let (true, Some(document)) = (faults.is_empty(), &document) {
        faults.extend(super::typed::fault(document));
    }
    let history = named.state_history.iter().map(|entry| entry.state.to_string()).collect();
    let entered_at = named.state_history.iter().map(|entry| entry.entered_at).collect();
    let notes = named.runstate.as_ref().map(|ours| &ours.notes);
    let approvals = notes.into_iter().flat_map(|notes| &notes.approvals).filter_map(restored);
    let approvals = approvals.map(|approval| ApprovalNote::of(&approval)).collect();
    let tools = notes.map(|notes| notes.tools.to_vec()).unwrap_or_default();
    let (state, status) = (named.current_state.to_string(), document.as_ref().map(RunStatus::of));
    Ok(StateReport { run: named.run_id, status, state, history, entered_at, approvals, tools, faults })
}

impl StateReport {
    /// Compares the history with the transitions of this run in a log, as [`check_log`](super::check_log) returns
    /// them. Returns the first difference, if there is one.
    ///
    /// ```
    /// use runstate_governed::{check_log, check_state};
    ///
    /// let state = br#"{
    ///   "run_id": "RUN-A-20260131-120000", "project_id": "A", "current_state": "PLANNING", "previous_state": "INIT",
    ///   "state_history": [
    ///     {"state": "INIT", "entered_at": "2026-01-31T12:00:00Z", "exited_at": "2026-01-31T12:00:01Z"},
    ///     {"state": "PLANNING", "entered_at": "2026-01-31T12:00:01Z", "exited_at": null}
    ///   ],
    ///   "tools_planned": [], "tools_completed": [], "tools_remaining": [], "current_tool": null,
    ///   "approvals_pending": [], "approvals_granted": [],
    ///   "created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:00:01Z"
    /// }"#;
    /// let log = br#"{"run_id": "RUN-A-20260131-120000", "previous_state": "INIT", "current_state": "HALTED_UNSAFE"}
    /// "#;
    /// let (state, mut steps) = (check_state(state, None)?, Vec::new());
    /// check_log(&log[..], None, |step| steps.push(step.clone())).map_err(|error| error.to_string())?;
    /// assert_eq!(
    ///     state.against_log(&steps).unwrap(),
    ///     "entry 2 of state_history is PLANNING, line 1 of the log enters HALTED_UNSAFE"
    /// );
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn against_log(&self, steps: &[LoggedStep]) -> Option<String> {
        let of_this = |step: &&LoggedStep| step.run.as_deref().is_none_or(|run| run == self.run.as_str());
        let mut logged = steps.iter().filter(of_this);
        let mut line = 0;
        // An entry with an unknown state is a separate fault, and not a transition of a log.
        let is_known = |(_, state): &(usize, &String)| state.parse::<GovernedRunStatus>().is_ok();
        for (at, state) in (1..).zip(&self.history).filter(is_known) {
            match logged.next() {
                Some(step) if step.to.name() == state => line = step.line,
                Some(step) => {
                    return Some(format!(
                        "entry {at} of state_history is {state}, line {} of the log enters {}",
                        step.line, step.to
                    ));
                }
                None if line == 0 => return Some("the log has no transition of it".to_owned()),
                None => {
                    return Some(format!(
                        "entry {at} of state_history is {state}, the log has no transition after line {line}"
                    ));
                }
            }
        }
        let more = logged.next()?;
        let last = self.history.last().map_or("nothing", String::as_str);
        Some(format!("state_history ends with {last}, line {} of the log enters {}", more.line, more.to))
    }
}
