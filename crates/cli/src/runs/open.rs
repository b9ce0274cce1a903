//! The folder of a stored run: derived from the folder of all runs and the run's id, and opened without following a link.

use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::owner::{Owner, Token, mark_of, owner};
use crate::failure::Failure;

/// The name of the tools' folder, in the folder of their run.
pub(crate) const WORK: &str = "work";

const ELSEWHERE: &str = "drive the run on the machine that created it, with the --state-dir of its creation";

/// The folder of a run's tools. No store names it.
pub(crate) fn work_of(state_dir: &Path, run: &str) -> PathBuf {
    let place = state_dir.canonicalize().or_else(|_| std::path::absolute(state_dir));
    place.unwrap_or_else(|_| state_dir.to_owned()).join(run).join(WORK)
}

/// Opens the folder of a run's tools.
///
/// # Errors
/// An id that is no folder name; a run without a token; a folder that is missing, that is a link, or that has another token.
pub(crate) fn open(state_dir: &Path, run: &str, token: Option<&Token>) -> Result<Dir, Failure> {
    let work = work_of(state_dir, run);
    let shown = work.display();
    if !is_a_name(run) {
        return Err(Failure::new(format!(
            "the id {run:?} is not that of a run with a folder, such as tidy-folder-1"
        ))
        .with_help(ELSEWHERE));
    }
    let Some(token) = token else {
        return Err(Failure::new(format!(
            "the run of the folder {shown} is unknown: expected a token with the run, got none"
        ))
        .with_help("its store was changed, or an older version created it; cancel the run with `runstate cancel`, and run the scenario again"));
    };
    let refused = |error: io::Error| {
        Failure::io("open the run's folder", &work, &error)
            .with_help(format!("{ELSEWHERE}, or restore the folder"))
    };
    let all = Dir::open_ambient_dir(state_dir, ambient_authority()).map_err(refused)?;
    let folder = below(&all, run).map_err(refused)?;
    let opened = below(&folder, WORK).map_err(refused)?;
    let mark = mark_of(work.parent().unwrap_or(&work));
    match owner(&folder, token).map_err(|error| Failure::io("read", &mark, &error))? {
        Owner::This => Ok(opened),
        Owner::Another => Err(Failure::new(format!(
            "the folder {shown} belongs to another run of this name: expected the token of the run in {}, got another token",
            mark.display()
        ))
        .with_help(ELSEWHERE)),
        Owner::Unknown => Err(Failure::new(format!(
            "the run of the folder {shown} is unknown: expected its token in {}, got no such file",
            mark.display()
        ))
        .with_help(format!("{ELSEWHERE}, or restore that file with the folder"))),
    }
}

/// Opens a folder in another one. A link is not followed.
pub(super) fn below(folder: &Dir, name: &str) -> io::Result<Dir> {
    folder.open_dir_nofollow(name).map_err(|error| match folder.symlink_metadata(name) {
        Ok(about) if about.is_symlink() => {
            io::Error::other("expected a file, got a link: links are not followed")
        }
        _ => error,
    })
}

/// Is it the id of a run with a folder of this program: a name, not a path, that ends with a number? `numbers` and `removed`
/// are none.
pub(super) fn is_a_name(run: &str) -> bool {
    let mut parts = Path::new(run).components();
    let is_one = matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == run);
    let number = run.rsplit_once('-').map(|(_, number)| number);
    is_one && number.is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}
