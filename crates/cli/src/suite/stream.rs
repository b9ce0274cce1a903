//! Scenarios of stream sessions.

use std::path::Path;

use super::Shown;
use crate::failure::Failure;
use crate::stream;

/// Plays a scenario under virtual time.
pub(super) fn play(path: &Path) -> Result<Shown, Failure> {
    let played = stream::play(&path.to_string_lossy())?;
    Ok(Shown { text: played.text(), trace: played.into_trace(), missed: Vec::new() })
}
