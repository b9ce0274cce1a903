//! The name of this process, for readers of leases and for other processes of the machine.

/// The machine's name, the process's number and, on Linux, two marks that distinguish the process from others with that
/// number: of another boot or container, or earlier ones.
pub(crate) fn holder() -> String {
    let (host, number) = (host(), std::process::id());
    match marks::own() {
        Some([space, start]) => format!("{host}/{number}.{space}.{start}"),
        None => format!("{host}/{number}"),
    }
}

/// Has the process of that holder provably ended, on this machine?
pub(crate) fn has_ended(holder: &str) -> bool {
    let Some((name, process)) = holder.rsplit_once('/') else { return false };
    let mut parts = process.split('.');
    let (Some(Ok(number)), Some(space), Some(start), None) =
        (parts.next().map(str::parse::<u32>), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    name == host() && marks::own().is_some_and(|[own, _]| own == space) && marks::has_ended(number, start)
}

#[cfg(target_os = "linux")]
mod marks {
    use std::fs;

    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    use sha2::{Digest, Sha256};

    /// The marks of this process: of the boot of the machine and the namespaces of process ids and times, and of its start.
    /// `None` if `/proc` shows another namespace.
    pub(super) fn own() -> Option<[String; 2]> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let number = stat.split(' ').next()?;
        if number != std::process::id().to_string() {
            return None;
        }
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let of = |space: &str| fs::read_link(format!("/proc/self/ns/{space}"));
        // A kernel without time namespaces has one time.
        let (numbers, times) = (of("pid").ok()?, of("time").unwrap_or_default());
        let space = short(&format!("{} {} {}", boot.trim(), numbers.display(), times.display()));
        Some([space, start(&stat)?.1])
    }

    /// Has the process of that number and that start ended? Only proof counts: an unreadable state proves nothing.
    pub(super) fn has_ended(number: u32, expected: &str) -> bool {
        let Some(pid) = i32::try_from(number).ok().and_then(Pid::from_raw) else { return false };
        if test_kill_process(pid) == Err(Errno::SRCH) {
            return true;
        }
        let stat = fs::read_to_string(format!("/proc/{number}/stat"));
        let state = stat.ok().and_then(|stat| start(&stat));
        // A zombie has ended.
        state.is_some_and(|(state, start)| state == "Z" || start != expected)
    }

    /// The state of a process and the mark of its start.
    pub(super) fn start(stat: &str) -> Option<(String, String)> {
        // The second field is its name, in brackets, which may itself contain brackets and blanks.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace();
        let state = fields.next()?;
        Some((state.to_owned(), short(fields.nth(18)?)))
    }

    fn short(text: &str) -> String {
        Sha256::digest(text).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod marks {
    pub(super) fn own() -> Option<[String; 2]> {
        None
    }

    pub(super) fn has_ended(_: u32, _: &str) -> bool {
        false
    }
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "this machine".to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::{has_ended, holder, host, marks};

    #[test]
    fn a_holder_has_ended_once_its_process_has() {
        assert!(!has_ended(&holder()), "{}", holder());
        let [space, _] = marks::own().unwrap();
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let start = marks::start(&stat).unwrap().1;
        let name = format!("{}/{}.{space}.{start}", host(), child.id());
        assert!(!has_ended(&name));
        child.kill().unwrap();
        while !has_ended(&name) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(has_ended(&name));
    }

    #[test]
    fn a_holder_that_is_not_known_here_has_not_ended() {
        let [space, start] = marks::own().unwrap();
        let (host, number) = (host(), std::process::id());
        for name in [
            "ada".to_owned(),
            format!("{host}/{number}"),
            format!("{host}/99999999"),
            format!("elsewhere/99999999.{space}.{start}"),
            format!("{host}/99999999.000000000000.{start}"),
            format!("{host}/99999999.{space}.{start}.1"),
            format!("{host}/0.{space}.{start}"),
            format!("{host}/4294967295.{space}.{start}"),
            format!("{host}/many.{space}.{start}"),
            format!("{host}/"),
            String::new(),
        ] {
            assert!(!has_ended(&name), "{name}");
        }
        // Another process had the number before.
        assert!(has_ended(&format!("{host}/{number}.{space}.000000000000")));
        assert!(has_ended(&format!("{host}/99999999.{space}.{start}")), "no process has that number");
    }
}
