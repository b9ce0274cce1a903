//! Processes of a run that no call waits for: those that a tool left running, and those that a supervisor left that was killed.
//!
//! A supervisor is the reaper of all that its tool starts: a process without a parent becomes its child, in any session or group, and is
//! ended with the tool. The processes that a killed supervisor left are found by their environment. A process that emptied its environment is
//! not found then.

use std::ffi::OsString;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A variable in the environment of each process of a run: the folder of the run.
pub(super) const MARKER: &str = "RUNSTATE_RUN_FOLDER";

/// Its value: the folder by device, inode and path. Another folder of that path, in another mount namespace, is of another run.
pub(super) fn marker(run: &Path) -> OsString {
    #[cfg(unix)]
    let id = std::fs::metadata(run).map(|found| (found.dev(), found.ino())).unwrap_or_default();
    #[cfg(not(unix))]
    let id = (0, 0);
    let mut marker = OsString::from(format!("{}:{}:", id.0, id.1));
    marker.push(run);
    marker
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_child_subreaper, waitid,
        waitpid,
    };

    /// How often processes are looked for: each that is ended may leave its own children.
    const ROUNDS: usize = 200;
    const PAUSE: Duration = Duration::from_millis(2);
    /// The pauses that a supervisor has after the end of its command: ten seconds.
    const RESPITE: usize = 5_000;

    /// Processes that lose their parent become children of this one from now on. It is for a process that does nothing else.
    pub(in super::super) fn adopt() {
        // Where that is not allowed, a process that leaves its group is found by its environment alone.
        set_child_subreaper(Some(getpid())).ok();
    }

    /// Ends the children of this process and all that these leave. Says how many there were.
    pub(in super::super) fn end_children() -> usize {
        let own = getpid().as_raw_nonzero().get();
        let (mut counted, mut ended) = (BTreeSet::new(), 0);
        for _ in 0..ROUNDS {
            let any = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            if matches!(waitid(WaitId::All, any), Err(Errno::CHILD)) {
                break;
            }
            for child in processes().filter(|pid| parent(*pid) == Some(own)) {
                // One that ended by itself was not left running.
                let lives = !has_ended(child);
                kill_process(child, Signal::KILL).ok();
                let is_gone = matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(Some(_)));
                counted.extend(lives.then_some(child.as_raw_nonzero()));
                ended += usize::from(is_gone && counted.remove(&child.as_raw_nonzero()));
            }
            thread::sleep(PAUSE);
        }
        ended
    }

    /// Ends the processes that have the folder of a run in their environment, once the supervisor of a command that is no more has ended all
    /// that it knows of. The idle supervisor of a command that lives is let be. Says how many processes there were.
    pub(in super::super) fn end_of(run: &Path) -> usize {
        // The governor that makes a run has no folder yet.
        if run.as_os_str().is_empty() {
            return 0;
        }
        let entry = [super::MARKER.as_bytes(), b"=", super::marker(run).as_bytes()].concat();
        let is_of_run = |pid: &Pid| {
            let environ = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
            environ.is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|one| *one == *entry))
        };
        let mut ended = BTreeSet::new();
        let own = getpid();
        let of_run = || processes().filter(|pid| *pid != own && is_of_run(pid));
        for _ in 0..RESPITE {
            if !of_run().any(|pid| supervisor(pid) == Some(Lives::Alone)) {
                break;
            }
            thread::sleep(PAUSE);
        }
        for _ in 0..ROUNDS {
            let found: Vec<Pid> = of_run().filter(|pid| supervisor(*pid) != Some(Lives::OfCommand)).collect();
            let killed = found.into_iter().filter(|pid| kill_process(*pid, Signal::KILL).is_ok());
            let killed: Vec<_> = killed.map(|pid| pid.as_raw_nonzero()).collect();
            if killed.is_empty() {
                break;
            }
            ended.extend(killed);
            thread::sleep(PAUSE);
        }
        ended.len()
    }

    /// A supervisor, and whether the command that started it lives.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Lives {
        OfCommand,
        Alone,
    }

    fn supervisor(pid: Pid) -> Option<Lives> {
        let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
        let mut words = line.split(|byte| *byte == 0).skip(1);
        if words.next() != Some(super::super::supervisor::WORD.as_bytes()) || has_ended(pid) {
            return None;
        }
        // The command is the same program.
        let program = |pid: i32| fs::read_link(format!("/proc/{pid}/exe")).ok();
        let (own, of_parent) = (program(pid.as_raw_nonzero().get()), parent(pid).and_then(program));
        Some(if own.is_some() && own == of_parent { Lives::OfCommand } else { Lives::Alone })
    }

    fn processes() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
    }

    fn parent(pid: Pid) -> Option<i32> {
        field(pid, 1)?.parse().ok()
    }

    /// Did it end, and only its parent has not asked how?
    fn has_ended(pid: Pid) -> bool {
        field(pid, 0).is_none_or(|state| state == "Z")
    }

    /// A field of `stat`, counted from the one behind the name, which may hold anything.
    fn field(pid: Pid, number: usize) -> Option<String> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        let (_, behind) = stat.rsplit_once(')')?;
        behind.split_whitespace().nth(number).map(str::to_owned)
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, end_children, end_of};

/// A system without `/proc` and subreapers: a process that leaves its group is not found.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::path::Path;

    pub(in super::super) fn adopt() {}

    pub(in super::super) fn end_children() -> usize {
        0
    }

    pub(in super::super) fn end_of(_: &Path) -> usize {
        0
    }
}
#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{adopt, end_children, end_of};
