//! The process that blocks the others.

use std::path::Path;

/// Returns the process that currently writes to the file, with its name; none where the system does not report it.
#[cfg(target_os = "linux")]
pub(crate) fn writer(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    /// SQLite locks this byte of the `-shm` file for the duration of a write transaction.
    const WRITES: u64 = 120;

    let mut beside = path.as_os_str().to_owned();
    beside.push("-shm");
    let about = std::fs::metadata(beside).ok()?;
    let (major, minor) = (
        about.dev() >> 8 & 0xfff | about.dev() >> 32 & !0xfff,
        about.dev() & 0xff | about.dev() >> 12 & !0xff,
    );
    let file = format!("{major:02x}:{minor:02x}:{}", about.ino());
    // 1: POSIX  ADVISORY  WRITE 4711 fe:00:12345 120 120
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let process = locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "POSIX", _, "WRITE", process, of, from, to] = *words else { return None };
        let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().unwrap_or(u64::MAX));
        (of == file && (from..=to).contains(&WRITES)).then_some(process)
    })?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    Some(format!("the process {process} ({})", name.trim_end()))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn writer(_: &Path) -> Option<String> {
    None
}
