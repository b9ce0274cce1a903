//! Scenarios beside their expected results.

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

/// The result of playing a file.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The text, which must be equal in each play.
    pub(crate) text: String,
    /// The transitions, which are checked against the diagrams.
    pub(crate) trace: Vec<Event<'static>>,
    /// The steps of the file that never happened.
    pub(crate) missed: Vec<String>,
}

/// Plays a file.
type Player = fn(&Path) -> Result<Shown, Failure>;

/// The players, by the endings of file names. The first match wins.
const PLAYERS: &[(&str, Player)] = &[
    (".stream.yaml", stream::play),
    (".stream.json", stream::play),
    (".yaml", agent::play),
    (".yml", agent::play),
    (".json", agent::play),
];

/// A file and its player.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) path: PathBuf,
    /// Its path without the ending.
    pub(crate) name: String,
    player: Player,
}

impl Subject {
    /// The file, if it is playable.
    fn of(path: &Path) -> Option<Subject> {
        let shown = path.display().to_string();
        // `A.YAML` is a scenario, too.
        let lower = shown.to_ascii_lowercase();
        let (end, player) = PLAYERS.iter().find(|(end, _)| lower.ends_with(end))?;
        let name = &shown[..shown.len() - end.len()];
        Some(Subject { path: path.to_owned(), name: name.to_owned(), player: *player })
    }

    /// The file of a scenario of an agent run, which need not exist.
    ///
    /// # Errors
    /// The name is not one of such a scenario for `runstate test`.
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

    /// The path of its expected result.
    pub(crate) fn expected(&self) -> PathBuf {
        PathBuf::from(format!("{}.trace", self.name))
    }

    /// Plays it.
    ///
    /// # Errors
    /// The file is unusable, with the place.
    pub(crate) fn play(&self) -> Result<Shown, Failure> {
        (self.player)(&self.path)
    }
}
