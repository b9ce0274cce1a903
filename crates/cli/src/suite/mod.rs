//! Scenarios beside what is expected of them.

mod agent;
mod compare;
mod find;
mod stream;

use std::path::{Path, PathBuf};

use runstate::trace::Event;

use crate::failure::Failure;
use crate::output::printable;
use crate::secrets::masked_path;

pub(crate) use compare::{Case, Verdict, compare};
pub(crate) use find::{find, stale};

/// What was played of a file.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The text that is expected to be the same each time.
    pub(crate) text: String,
    /// The transitions, which are held against the diagrams.
    pub(crate) trace: Vec<Event<'static>>,
    /// What the file says that never came about.
    pub(crate) missed: Vec<String>,
}

/// Plays what a file says.
type Player = fn(&Path) -> Result<Shown, Failure>;

/// Who plays which files, by how their names end. The first that fits does.
const PLAYERS: &[(&str, Player)] = &[
    (".stream.yaml", stream::play),
    (".stream.json", stream::play),
    (".yaml", agent::play),
    (".yml", agent::play),
    (".json", agent::play),
];

/// A file and who plays it.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) path: PathBuf,
    /// Its path without the end that says what it is.
    pub(crate) name: String,
    player: Player,
}

impl Subject {
    /// The file, if it is one that can be played.
    fn of(path: &Path) -> Option<Subject> {
        let shown = path.display().to_string();
        // `A.YAML` is a scenario, too.
        let lower = shown.to_ascii_lowercase();
        let (end, player) = PLAYERS.iter().find(|(end, _)| lower.ends_with(end))?;
        let name = &shown[..shown.len() - end.len()];
        Some(Subject { path: path.to_owned(), name: name.to_owned(), player: *player })
    }

    /// The file of a scenario of an agent run, which need not be there.
    ///
    /// # Errors
    /// A name that `runstate test` does not take for that of such a scenario.
    pub(crate) fn scenario(path: &Path) -> Result<Subject, Failure> {
        let is_one = |subject: &Subject| {
            let file = subject.path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            !file.ends_with(".stream.yaml") && !file.ends_with(".stream.json")
        };
        Subject::of(path).filter(is_one).ok_or_else(|| {
            let path = printable(&masked_path(&path.to_string_lossy()));
            Failure::new(format!("{path}: expected a name that ends in .yaml, .yml or .json")).with_help(
                "a scenario of a model stream ends in .stream.yaml; an export is one of an agent run",
            )
        })
    }

    /// Where what is expected of it stands.
    pub(crate) fn expected(&self) -> PathBuf {
        PathBuf::from(format!("{}.trace", self.name))
    }

    /// Plays it.
    ///
    /// # Errors
    /// A file that cannot be used, with the place.
    pub(crate) fn play(&self) -> Result<Shown, Failure> {
        (self.player)(&self.path)
    }
}
