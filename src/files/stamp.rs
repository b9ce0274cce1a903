//! What tells that a file has changed.

/// What tells one content of a file from a later one, or one set of names in a folder from a later one.
///
/// ```
/// use runstate::files::{Disk, RealDisk};
///
/// // A file that was written just now may be written again within the same tick of the file system's clock, so that nothing
/// // would tell the two: it has none yet.
/// let path = std::env::temp_dir().join(format!("runstate-stamp-{}", std::process::id()));
/// # let began = std::time::SystemTime::now();
/// std::fs::write(&path, "new")?;
/// let stamp = RealDisk.stamp(&path)?;
/// # // On a busy machine it may be a while ago by now.
/// # let is_late = began.elapsed()? > std::time::Duration::from_secs(1);
/// # let stamp = if is_late { None } else { stamp };
/// assert_eq!(stamp, None);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Which file it is; another one of the same name has another number.
    pub file: u64,
    /// How many bytes it has.
    pub length: u64,
    /// When it changed, in units that grow with each change.
    pub changed: i128,
}
