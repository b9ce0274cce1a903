//! The files of a suite.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::Subject;
use crate::failure::Failure;
use crate::input::unreadable;
use crate::output::{complain, printable};
use crate::secrets::masked_path;

/// The maximum depth of searched folders.
const DEEPEST: usize = 16;

/// The scenarios at a path: the file itself, or the files in the folder and its folders, by name.
///
/// # Errors
/// The path cannot be read, or the file is no scenario.
pub(crate) fn find(path: &Path) -> Result<Vec<Subject>, Failure> {
    let about = fs::metadata(path).map_err(|error| unreadable(&path.to_string_lossy(), &error))?;
    if !about.is_dir() {
        return Subject::of(path).map(|subject| vec![subject]).ok_or_else(|| {
            Failure::new(format!("{} is no scenario: expected .yaml, .yml or .json", path.display()))
        });
    }
    let (files, left) = files(path)?;
    if let Some(folder) = left.first() {
        complain(&printable(&format!(
            "warning: {} folder(s) more than {DEEPEST} levels below {} are not searched, such as {}: give them as separate arguments",
            left.len(),
            masked_path(&path.to_string_lossy()),
            masked_path(&folder.to_string_lossy()),
        )));
    }
    let mut found: Vec<Subject> = files.iter().filter_map(|path| Subject::of(path)).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The expected results without a scenario.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn stale(folder: &Path, subjects: &[Subject]) -> Result<Vec<PathBuf>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let expected: BTreeSet<PathBuf> = subjects.iter().map(Subject::expected).collect();
    let (mut stale, _) = files(folder)?;
    stale.retain(|path| path.extension().is_some_and(|end| end == "trace") && !expected.contains(path));
    stale.sort();
    Ok(stale)
}

/// The files in a folder and its folders, and the folders that are too deep. A symlink is not followed.
fn files(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let (mut found, mut left) = (Vec::new(), Vec::new());
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let refuse = |error| unreadable(&folder.to_string_lossy(), &error);
        for entry in fs::read_dir(&folder).map_err(refuse)? {
            let entry = entry.map_err(refuse)?;
            let about = entry.file_type().map_err(refuse)?;
            if about.is_file() {
                found.push(entry.path());
            } else if about.is_dir() && depth < DEEPEST {
                open.push((entry.path(), depth + 1));
            } else if about.is_dir() {
                left.push(entry.path());
            }
        }
    }
    Ok((found, left))
}
