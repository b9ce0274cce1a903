//! Processes of a run without a call: left running by a tool, or by a killed supervisor.
//!
//! A supervisor reaps all processes that its tool starts: a process without a parent becomes its child, in any session or
//! group, and is ended with the tool. Processes of a killed supervisor are found by their environment. A process that
//! emptied its environment is not found then.

use std::ffi::OsString;
use std::path::Path;

/// A variable in the environment of each process of a run: the folder of the run.
pub(super) const MARKER: &str = "RUNSTATE_RUN_FOLDER";

/// Its value: the folder by device, inode and path. A folder of an equal path in another mount namespace belongs to another
/// run.
pub(super) fn marker(run: &Path) -> OsString {
    let mut marker = OsString::from(super::work::id(run).unwrap_or_default() + ":");
    marker.push(run);
    marker
}

/// The found processes: the number of ended ones, and of ones that could not be ended.
#[derive(Debug, Default)]
pub(super) struct Swept {
    pub(super) ended: usize,
    pub(super) left: usize,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    use super::Swept;
    use rustix::io::Errno;
    use rustix::process::{
        DumpableBehavior, Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process,
        set_child_subreaper, set_dumpable_behavior, wait, waitid,
    };

    /// The maximum of searches: an ended process may leave children.
    const ROUNDS: usize = 200;
    const PAUSE: Duration = Duration::from_millis(2);
    /// The number of pauses for a supervisor after the end of its command: at least ten seconds.
    const RESPITE: usize = 5_000;

    /// Closes the memory, the environment and the descriptors of this process to the other processes of a normal user.
    pub(in super::super) fn close() {
        set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    }

    /// From now on, processes that lose their parent become children of this one. For a process without other work, which is
    /// closed, too.
    pub(in super::super) fn adopt() {
        close();
        // Without permission, a process that leaves its group is found by its environment alone.
        set_child_subreaper(Some(getpid())).ok();
    }

    /// Ends the processes that `found` names until there are none, and counts them.
    fn end(found: impl Fn() -> Option<Vec<Pid>>) -> Swept {
        let (mut ended, mut left) = (BTreeSet::new(), Vec::new());
        for _ in 0..ROUNDS {
            let Some(these) = found() else {
                left.clear();
                break;
            };
            left = these;
            let killed =
                left.iter().filter(|pid| !has_ended(**pid) && kill_process(**pid, Signal::KILL).is_ok());
            ended.extend(killed.map(|pid| pid.as_raw_nonzero()));
            thread::sleep(PAUSE);
        }
        left.retain(|pid| !has_ended(*pid));
        ended.retain(|pid| left.iter().all(|other| other.as_raw_nonzero() != *pid));
        Swept { ended: ended.len(), left: left.len() }
    }

    /// Ends the children of this process and all their descendants.
    pub(in super::super) fn end_children() -> Swept {
        let own = getpid().as_raw_nonzero().get();
        end(|| {
            // An ended process leaves its children before its parent can reap it.
            while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
            match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT) {
                Err(Errno::CHILD) => None,
                _ => Some(processes().filter(|pid| parent(*pid) == Some(own)).collect()),
            }
        })
    }

    /// Ends the processes with the folder of a run in their environment, after the supervisor of a dead command has ended
    /// all its known processes.
    pub(in super::super) fn end_of(run: &Path) -> Swept {
        // The governor that makes a run has no folder yet.
        if run.as_os_str().is_empty() {
            return Swept::default();
        }
        let marker = super::marker(run);
        let entry = [super::MARKER.as_bytes(), b"=", marker.as_bytes()].concat();
        let has = |pid: Pid, file: &str, part: &[u8]| {
            let parts = fs::read(format!("/proc/{}/{file}", pid.as_raw_nonzero()));
            parts.is_ok_and(|parts| parts.split(|byte| *byte == 0).any(|one| one == part))
        };
        let is_supervisor = |pid: &Pid| {
            let is_one = has(*pid, "cmdline", super::super::supervisor::WORD.as_bytes());
            is_one && has(*pid, "cmdline", marker.as_bytes()) && !has_ended(*pid)
        };
        let own = getpid();
        for _ in 0..RESPITE {
            if !processes().any(|pid| is_supervisor(&pid)) {
                break;
            }
            thread::sleep(PAUSE);
        }
        let is_of_run = |pid: &Pid| *pid != own && (has(*pid, "environ", &entry) || is_supervisor(pid));
        end(|| last_look(|| processes().filter(is_of_run).collect()))
    }

    /// The found processes; `None` if two searches in a row find none. One search is not enough: during `exec` a process has
    /// no environment for a moment.
    fn last_look(look: impl Fn() -> Vec<Pid>) -> Option<Vec<Pid>> {
        let found = look();
        if found.is_empty() {
            thread::sleep(PAUSE);
            return Some(look()).filter(|found| !found.is_empty());
        }
        Some(found)
    }

    fn processes() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
    }

    fn parent(pid: Pid) -> Option<i32> {
        field(pid, 1)?.parse().ok()
    }

    /// Is it a zombie?
    fn has_ended(pid: Pid) -> bool {
        field(pid, 0).is_none_or(|state| state == "Z")
    }

    /// A field of `stat`, counted from the field after the name, which may contain any characters.
    fn field(pid: Pid, number: usize) -> Option<String> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        let (_, behind) = stat.rsplit_once(')')?;
        behind.split_whitespace().nth(number).map(str::to_owned)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::cell::RefCell;

        #[test]
        fn stray_search_ends_after_two_empty_looks() {
            let found = vec![getpid()];
            for (looks, expected) in [
                (vec![found.clone()], Some(&found)),
                (vec![vec![], found.clone()], Some(&found)),
                (vec![vec![], vec![], found.clone()], None),
            ] {
                let looks = RefCell::new(looks.into_iter());
                assert_eq!(last_look(|| looks.borrow_mut().next().unwrap()).as_ref(), expected);
            }
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, close, end_children, end_of};

/// A system without `/proc` and subreapers: a process that leaves its group is not found.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{Path, Swept};

    pub(in super::super) fn close() {}

    pub(in super::super) fn adopt() {}

    pub(in super::super) fn end_children() -> Swept {
        Swept::default()
    }

    pub(in super::super) fn end_of(_: &Path) -> Swept {
        Swept::default()
    }
}
#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{adopt, close, end_children, end_of};
