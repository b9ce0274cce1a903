//! The user of the server: it refuses to run as root.

use std::io;
use std::path::Path;
use std::process::Command;

/// A user without rights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl User {
    /// The user of the server if this process is root: `postgres`, or else `nobody`. `None` without root.
    ///
    /// # Errors
    /// Neither user exists.
    pub(crate) fn unprivileged() -> io::Result<Option<User>> {
        if id(&["-u"])? != Some(0) {
            return Ok(None);
        }
        for name in ["postgres", "nobody"] {
            if let (Some(uid), Some(gid)) = (id(&["-u", name])?, id(&["-g", name])?) {
                return Ok(Some(User { uid, gid }));
            }
        }
        Err(io::Error::other("there is neither the user postgres nor nobody to run it as"))
    }
}

/// A program that runs as that user, or as this one.
pub(crate) fn as_user(user: Option<User>, program: &Path) -> Command {
    let Some(User { uid, gid }) = user else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args(["--clear-groups", &format!("--reuid={uid}"), &format!("--regid={gid}")]).arg(program);
    command
}

fn id(arguments: &[&str]) -> io::Result<Option<u32>> {
    let said = Command::new("id").args(arguments).output()?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().parse().ok().filter(|_| said.status.success()))
}
