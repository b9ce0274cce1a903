//! A RUN_STATE.json of whoever wrote it, looked at.

use super::document::{Document, MOST_BYTES};
use super::faults::faults;
use super::outcome::RunStatus;

/// What a RUN_STATE.json says, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateReport {
    /// Where the run is.
    pub status: RunStatus,
    /// How many states it was in.
    pub entries: usize,
    /// Everything that is wrong, such as an entry of the history that no legal transition leads to; empty for a sound
    /// file.
    pub faults: Vec<String>,
}

/// Looks at a RUN_STATE.json: its types, its history held against the documented graph, its tools (B8), its approvals
/// (B13), its times. With `now` (milliseconds since 1970), times in the future are faults as well. A tag of the file is not
/// checked: that needs the key, and a [`Governor`](super::Governor) with it.
///
/// ```
/// use runstate::governed::check_state;
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
///     ["state_history, entry 1 (COMPLETE): no legal transition: INIT --> COMPLETE; from INIT a run can go to PLANNING, \
///       HALTED_UNSAFE"]
/// );
/// assert!(check_state(b"[]", None).is_err());
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Why it cannot be looked at: it is larger than 16 MiB, no JSON, or lacks a field of the schema.
pub fn check_state(file: &[u8], now: Option<u64>) -> Result<StateReport, String> {
    if file.len() as u64 > MOST_BYTES {
        return Err(format!("it has {} bytes, more than the {MOST_BYTES} that are read of it", file.len()));
    }
    let document = Document::read(file)?;
    let mut faults = faults(&document, now);
    if faults.is_empty() {
        faults.extend(super::typed::fault(&document));
    }
    Ok(StateReport { status: RunStatus::of(&document), entries: document.state_history.len(), faults })
}
