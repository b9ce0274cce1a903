//! From an older schema version to this one, step by step.

use serde_json::Value;

use super::RestoreError;
use crate::kernel::Graph;

/// What a migration reads and writes: a snapshot without its seal.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The schema version; a migration must raise it.
    pub version: u32,
    /// The fingerprint of the graph, in 16 hexadecimal digits; a migration sets that of the graph it leads to.
    pub fingerprint: String,
    /// The name of the state.
    pub status: String,
    /// What all states share.
    pub record: Value,
    /// The data of the state.
    pub state: Value,
}

/// A named step from one stored form to a later one.
///
/// ```
/// use runstate::snapshot::Migration;
///
/// let renamed = Migration {
///     name: "2026-11 tool names are lower case",
///     from_version: 1,
///     from_fingerprint: "00000000deadbeef",
///     run: |mut stored| {
///         let tool = stored.record["tool"].as_str().ok_or("the record has no tool")?.to_lowercase();
///         stored.record["tool"] = tool.into();
///         stored.version = 2;
///         Ok(stored)
///     },
/// };
/// assert_eq!(renamed.from_version, 1);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// What it does, for messages.
    pub name: &'static str,
    /// The schema version that it reads.
    pub from_version: u32,
    /// The fingerprint of the graph that it reads, in 16 hexadecimal digits.
    pub from_fingerprint: &'static str,
    /// The step.
    ///
    /// # Errors
    /// What is wrong with the stored form.
    pub run: fn(Stored) -> Result<Stored, String>,
}

/// Takes steps until the stored form has the graph's version.
pub(super) fn migrate(
    mut stored: Stored,
    graph: &'static Graph,
    migrations: &[Migration],
) -> Result<Stored, RestoreError> {
    while stored.version != graph.version {
        let step = migrations.iter().find(|m| m.from_version == stored.version);
        let Some(step) = step.filter(|_| stored.version < graph.version) else {
            return Err(RestoreError::Version {
                lifecycle: graph.name,
                got: stored.version,
                expected: graph.version,
            });
        };
        if stored.fingerprint != step.from_fingerprint {
            return Err(RestoreError::Fingerprint {
                lifecycle: graph.name,
                got: stored.fingerprint,
                expected: step.from_fingerprint.to_owned(),
            });
        }
        let before = stored.version;
        stored =
            (step.run)(stored).map_err(|message| RestoreError::Migration { name: step.name, message })?;
        if stored.version <= before {
            return Err(RestoreError::Migration {
                name: step.name,
                message: format!(
                    "it left the version at {}, where it must raise it above {before}",
                    stored.version
                ),
            });
        }
    }
    Ok(stored)
}
