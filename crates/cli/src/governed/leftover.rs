//! The process group of a tool, noted on disk, so that a later process can end what an earlier one left running.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A process: its id, and when it was started, since ids are used again.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Noted {
    pid: u32,
    /// Clock ticks since the machine started, as the kernel counts them.
    started: Option<u64>,
    /// The same of the process that started it: while that lives, it sees to it itself.
    owner: u32,
    owner_started: Option<u64>,
}

const NAME: &str = "tool.json";

/// Notes a process that leads its group. What cannot be noted cannot be ended later, and is no reason not to work now.
pub(super) fn note(run: &Path, pid: u32) {
    let owner = std::process::id();
    let noted = Noted { pid, started: started(pid), owner, owner_started: started(owner) };
    if let Ok(text) = serde_json::to_string(&noted) {
        drop(fs::write(run.join(NAME), text));
    }
}

/// The process has ended.
pub(super) fn forget(run: &Path) {
    drop(fs::remove_file(run.join(NAME)));
}

/// Ends the group that was noted, if its leader is still the process that it was; says what was done.
pub(super) fn end(run: &Path) -> Option<String> {
    let noted: Noted = serde_json::from_str(&fs::read_to_string(run.join(NAME)).ok()?).ok()?;
    if noted.owner_started.is_none() || noted.owner_started == started(noted.owner) {
        return None;
    }
    forget(run);
    let is_the_same = noted.started.is_some() && noted.started == started(noted.pid);
    if is_the_same && super::process::end_group(noted.pid) {
        return Some(format!("ended process group {}, which an earlier process of the run left", noted.pid));
    }
    None
}

/// When a process was started: the 22nd field of its `stat`, counted behind the name, which may hold anything.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(19)?.parse().ok()
}
