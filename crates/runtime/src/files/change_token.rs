//! Change tokens of files.

/// A change token: it distinguishes the content of a file, or the names in a folder, from every later state.
///
/// ```
/// use runstate_runtime::files::{Disk, RealDisk};
///
/// // A new file may be written again within one tick of the file system's clock. A token could not distinguish
/// // the two states, so the file has no token yet.
/// let path = std::env::temp_dir().join(format!("runstate-change_token-{}", std::process::id()));
/// # let began = std::time::SystemTime::now();
/// std::fs::write(&path, "new")?;
/// let change_token = RealDisk.change_token(&path)?;
/// # // On a busy machine, the file may be older by now.
/// # let is_late = began.elapsed()? > std::time::Duration::from_secs(1);
/// # let change_token = if is_late { None } else { change_token };
/// assert_eq!(change_token, None);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeToken {
    /// The number of the file. Another file of the same name has another number.
    pub file: u64,
    /// The length in bytes.
    pub length: u64,
    /// The time of the last change, in units that increase with each change.
    pub changed: i128,
}
