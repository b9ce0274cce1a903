//! The accepted paths of tools.

use std::path::{Component, Path};

/// The maximum length of a path, in bytes.
const LONGEST: usize = 4095;

/// A path below the folder, as a tool may name it: relative, without `..`.
///
/// This check uses the text alone, and its errors can be explained to the model. Opening the path ensures that no symlink
/// leads out.
///
/// # Errors
/// The error of the path.
pub(super) fn below(path: &str) -> Result<&Path, String> {
    let advice = "expected a path relative to the working folder, without `..`";
    if path.is_empty() {
        return Err(format!("the path is empty: {advice}"));
    }
    if path.len() > LONGEST {
        return Err(format!("the path has {} bytes: expected at most {LONGEST}", path.len()));
    }
    if path.contains('\0') {
        return Err(format!("the path {path:?} has a zero byte: {advice}"));
    }
    for part in Path::new(path).components() {
        match part {
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err(format!("the path {path:?} has a `..`: {advice}")),
            Component::RootDir | Component::Prefix(_) => {
                return Err(format!("the path {path:?} is absolute: {advice}"));
            }
        }
    }
    Ok(Path::new(path))
}
