//! The actor of decisions that are given at this machine.

/// The name that was given; without one the name of the user of the operating system, as the system has it for this process.
pub(crate) fn actor(given: Option<&str>) -> String {
    given.map_or_else(user, str::to_owned)
}

/// A variable of the environment is no evidence: one user could be two with it.
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
