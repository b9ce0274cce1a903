//! Migrations from an older graph or schema version to the current one, step by step.

use serde_json::Value;

use super::RestoreError;
use crate::kernel::{Fingerprint, Graph};

/// The input and the output of a migration: a snapshot without its checksum.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The schema version. A hand-written migration must raise it.
    pub version: u32,
    /// The fingerprint of the graph, in 16 hexadecimal digits. After each step the restore sets it to the fingerprint
    /// of the step's target graph.
    pub fingerprint: String,
    /// The name of the state.
    pub status: String,
    /// The record.
    pub record: Value,
    /// The data of the state.
    pub state: Value,
}

/// A named step from one stored form to a later one.
///
/// Two kinds of change need no migration: a new label or doc comment, and a new name where `identity` stays the same.
/// `docs/migrations.md` explains step by step how to change a lifecycle with snapshots in production.
///
/// ````
/// use runstate::kernel::Fingerprint;
/// use runstate::snapshot::Migration;
///
/// // Fingerprints are computed, never typed: here from the diagrams of earlier versions.
/// const FIRST: Fingerprint = Fingerprint::of_diagram("
/// ```mermaid
/// stateDiagram-v2
///     [*] --> Open
///     Open --> Paid : pay
///     Paid --> [*]
/// ```
/// ");
///
/// // A transition was added: earlier snapshots keep their meaning.
/// const GREW: Migration = Migration::only_grew(FIRST);
///
/// // The form of the record changed, so the version was raised.
/// const RENAMED: Migration = Migration::step("2026-11 tool names are lower case", 1, FIRST, |mut stored| {
///     let tool = stored.record["tool"].as_str().ok_or("the record has no tool")?.to_lowercase();
///     stored.record["tool"] = tool.into();
///     stored.version = 2;
///     Ok(stored)
/// });
/// assert_eq!((GREW.name(), RENAMED.name()), ("only grew", "2026-11 tool names are lower case"));
/// ````
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    name: &'static str,
    from: Fingerprint,
    to: Option<Fingerprint>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// States or transitions were added; the version is unchanged.
    Grew,
    /// The form changed; the version rises.
    Step { from_version: u32, run: fn(Stored) -> Result<Stored, String> },
}

impl Migration {
    /// Declares that a graph only grew: states or transitions were added, none was removed, and none changed its
    /// meaning. Snapshots with the fingerprint `from` are valid without a change, under the same version.
    ///
    /// If a state was removed after all, the restore of a snapshot in that state fails ([`RestoreError::Status`]).
    pub const fn only_grew(from: Fingerprint) -> Self {
        Migration { name: "only grew", from, to: None, kind: Kind::Grew }
    }

    /// Makes a hand-written step from snapshots of `from_version` and the fingerprint `from`. `run` must raise
    /// [`Stored::version`]. It may change the record, the state, and the name of the state.
    pub const fn step(
        name: &'static str,
        from_version: u32,
        from: Fingerprint,
        run: fn(Stored) -> Result<Stored, String>,
    ) -> Self {
        Migration { name, from, to: None, kind: Kind::Step { from_version, run } }
    }

    /// Sets the target graph, where further migrations start.
    ///
    /// Default: the current graph. For a step to a version below the current one, the default is the graph from which
    /// the only step of that version starts.
    #[must_use]
    pub const fn to(mut self, to: Fingerprint) -> Self {
        self.to = Some(to);
        self
    }

    /// The name, for messages.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The fingerprint of the source graph.
    pub const fn from(&self) -> Fingerprint {
        self.from
    }

    fn starts_at(&self, stored: &Stored, from: Fingerprint) -> bool {
        self.from == from
            && match self.kind {
                Kind::Grew => true,
                Kind::Step { from_version, .. } => from_version == stored.version,
            }
    }

    fn run(&self, stored: Stored) -> Result<Stored, RestoreError> {
        let Kind::Step { run, .. } = self.kind else { return Ok(stored) };
        let before = stored.version;
        let failed = |message| RestoreError::Migration { name: self.name, message };
        let stored = run(stored).map_err(failed)?;
        if stored.version <= before {
            let got = stored.version;
            return Err(failed(format!(
                "it left the version at {got}, where it must raise it above {before}"
            )));
        }
        Ok(stored)
    }
}

/// Runs migrations until the stored form has the version and the fingerprint of the graph.
pub(super) fn migrate(
    mut stored: Stored,
    graph: &'static Graph,
    migrations: &[Migration],
) -> Result<Stored, RestoreError> {
    let current = graph.fingerprint();
    // Each migration runs at most once, so that two migrations in a cycle come to an end.
    let mut left: Vec<&Migration> = migrations.iter().collect();
    loop {
        let at: Option<Fingerprint> = stored.fingerprint.parse().ok();
        if stored.version == graph.version && at == Some(current) {
            return Ok(stored);
        }
        let step = at.filter(|_| stored.version <= graph.version).and_then(|at| {
            left.iter().position(|migration| migration.starts_at(&stored, at)).map(|i| left.remove(i))
        });
        let Some(step) = step else {
            return Err(stuck(stored, graph, migrations));
        };
        stored = step.run(stored)?;
        let to = step.to.or_else(|| next(&stored, graph, migrations)).unwrap_or(current);
        stored.fingerprint = to.to_string();
    }
}

/// The fingerprint from which the only step for this older version starts.
fn next(stored: &Stored, graph: &Graph, migrations: &[Migration]) -> Option<Fingerprint> {
    let mut steps = migrations.iter().filter(|migration| {
        matches!(migration.kind, Kind::Step { from_version, .. } if from_version == stored.version)
    });
    let step = steps.next().filter(|_| stored.version < graph.version)?;
    steps.next().is_none().then_some(step.from)
}

/// The error where no migration starts at the stored form.
fn stuck(stored: Stored, graph: &'static Graph, migrations: &[Migration]) -> RestoreError {
    let (lifecycle, version) = (graph.name, stored.version);
    let of_this_version =
        |m: &&Migration| matches!(m.kind, Kind::Step { from_version, .. } if from_version == version);
    match migrations.iter().find(of_this_version) {
        _ if version == graph.version => RestoreError::Fingerprint {
            lifecycle,
            got: stored.fingerprint,
            expected: graph.fingerprint().to_string(),
        },
        Some(step) if version < graph.version => {
            RestoreError::Fingerprint { lifecycle, got: stored.fingerprint, expected: step.from.to_string() }
        }
        _ => RestoreError::Version { lifecycle, got: version, expected: graph.version },
    }
}
