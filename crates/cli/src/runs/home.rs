//! The folder of all runs.

use std::env;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::output::exact;

/// Refuses a `--state-dir` that is not a folder.
///
/// # Errors
/// As described.
pub(crate) fn check_state_dir(given: &Path) -> Result<(), Failure> {
    let Ok(about) = given.metadata() else { return Ok(()) };
    if about.is_dir() {
        return Ok(());
    }
    let got = if about.is_file() { "a file" } else { "a device, a pipe or a socket" };
    Err(Failure::new(format!(
        "--state-dir: expected a folder, got {got}: {}",
        exact(&given.to_string_lossy())
    ))
    .with_help("name the folder of the runs; a missing folder is created"))
}

/// The folder of the runs: the given folder, or else the user's data folder.
///
/// That is `$XDG_DATA_HOME/runstate/runs`, with the variable's documented default of `~/.local/share`, and
/// `%LOCALAPPDATA%\runstate\runs` on Windows: never the current directory of the command, which may be a checkout.
///
/// # Errors
/// No folder was given and the user has none.
pub(crate) fn state_dir(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(given) = given {
        return Ok(given.to_path_buf());
    }
    let data = if cfg!(windows) {
        env::var_os("LOCALAPPDATA").map(PathBuf::from)
    } else {
        // The specification of the variable requires that a relative path is ignored.
        env::var_os("XDG_DATA_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| env::home_dir().map(|home| home.join(".local/share")))
    };
    data.filter(|path| path.is_absolute())
        .map(|data| data.join("runstate").join("runs"))
        .ok_or_else(|| Failure::new("the user has no data folder for runs").with_help("give --state-dir"))
}
