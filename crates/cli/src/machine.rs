//! Who this process is, for people who look at what others have in hand.

/// The machine's name and the process's number.
pub(crate) fn holder() -> String {
    format!("{}/{}", host(), std::process::id())
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "this machine".to_owned())
}
