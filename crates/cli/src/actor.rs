//! The actor of decisions made on this machine.

/// The given name. Default: the name of the operating-system user of this process.
pub(crate) fn actor(given: Option<&str>) -> String {
    given.map_or_else(user, str::to_owned)
}

/// Reads no environment variable: with one, a user could be two actors.
fn user() -> String {
    whoami::username().unwrap_or_else(|_| numbered())
}

#[cfg(unix)]
fn numbered() -> String {
    format!("user {}", rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn numbered() -> String {
    "a user without a name".to_owned()
}
