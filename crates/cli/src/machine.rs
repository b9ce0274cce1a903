//! Who this process is, for people who look at what others have in hand, and for processes beside it.

/// The machine's name, the process's number and, on Linux, what tells it from another process of that number: of another boot or another
/// container, or one that had the number before.
pub(crate) fn holder() -> String {
    let (host, number) = (host(), std::process::id());
    match marks::of(number) {
        Some([space, start]) => format!("{host}/{number}.{space}.{start}"),
        None => format!("{host}/{number}"),
    }
}

/// Is the holder of that name a process of this machine that has ended? One of which this is not known has not.
pub(crate) fn has_ended(holder: &str) -> bool {
    let Some((name, process)) = holder.rsplit_once('/') else { return false };
    let mut parts = process.split('.');
    let (Some(Ok(number)), Some(space), Some(start), None) =
        (parts.next().map(str::parse::<u32>), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    name == host()
        && marks::space().as_deref() == Some(space)
        && marks::start(number).as_deref() != Some(start)
}

#[cfg(target_os = "linux")]
mod marks {
    use std::fs;

    use sha2::{Digest, Sha256};

    /// The marks of a process that is alive.
    pub(super) fn of(process: u32) -> Option<[String; 2]> {
        Some([space()?, start(process)?])
    }

    /// The mark of the boot of the machine and of the space of process numbers.
    pub(super) fn space() -> Option<String> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let space = fs::read_link("/proc/self/ns/pid").ok()?;
        Some(short(&format!("{}{}", boot.trim(), space.display())))
    }

    /// The mark of when the process of that number began; none where there is none.
    pub(super) fn start(process: u32) -> Option<String> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The second field is its name, in brackets, which may have brackets and blanks itself.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace();
        // A zombie has ended.
        let state = fields.next()?;
        let began = fields.nth(18)?;
        (state != "Z").then(|| short(began))
    }

    fn short(text: &str) -> String {
        Sha256::digest(text).iter().take(3).map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod marks {
    pub(super) fn of(_: u32) -> Option<[String; 2]> {
        None
    }

    pub(super) fn space() -> Option<String> {
        None
    }

    pub(super) fn start(_: u32) -> Option<String> {
        None
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
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let [space, start] = marks::of(child.id()).unwrap();
        let name = format!("{}/{}.{space}.{start}", host(), child.id());
        assert!(!has_ended(&name));
        child.kill().unwrap();
        while marks::start(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert!(has_ended(&name), "a zombie");
        child.wait().unwrap();
        assert!(has_ended(&name));
    }

    #[test]
    fn a_holder_that_is_not_known_here_has_not_ended() {
        let [space, start] = marks::of(std::process::id()).unwrap();
        let (host, number) = (host(), std::process::id());
        for name in [
            "ada".to_owned(),
            format!("{host}/{number}"),
            format!("{host}/99999999"),
            format!("elsewhere/99999999.{space}.{start}"),
            format!("{host}/99999999.000000.{start}"),
            format!("{host}/99999999.{space}.{start}.1"),
            format!("{host}/many.{space}.{start}"),
            format!("{host}/"),
            String::new(),
        ] {
            assert!(!has_ended(&name), "{name}");
        }
        // Another process had the number before.
        assert!(has_ended(&format!("{host}/{number}.{space}.000000")));
    }
}
