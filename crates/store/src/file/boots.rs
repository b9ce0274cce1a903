//! Boots of the machine that uses the store. They detect two machines with one folder.

use std::io::ErrorKind;

use runstate_runtime::files::replace;

use super::super::error::StoreError;
use super::Inner;
use super::lock::{Pauses, lock};
use super::problem::failed;
use super::work::Wanted;

/// The size limit of the file, in bytes.
const MOST: u64 = 256 * 1024;
/// The number of boots in the file. A machine that returns after more boots of another one is not detected.
const KEPT: usize = 100;

impl Inner {
    /// Registers the current boot. Runs before each operation that writes times of a clock which restarts with each
    /// boot. A clock that survives boots has no boot id.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if the store was used under this boot and then under another. A boot id does not
    /// return, so two machines use the store.
    pub(super) fn enter(&self, wanted: &Wanted) -> Result<(), StoreError> {
        let boot = self.clock.boot();
        let boots = self.boots()?;
        match boots.lines().next_back() {
            last if last == Some(boot) => return Ok(()),
            None if boot.is_empty() => return Ok(()),
            Some(last) if boot.is_empty() => {
                let root = self.layout.boots();
                return Err(StoreError::unusable(
                    format_args!(
                        "{} was used under the boot id {last:?}, and the boot id of this machine cannot be read",
                        root.parent().unwrap_or(&root).display()
                    ),
                    "nothing was changed; have /proc/sys/kernel/random/boot_id readable for this process, as it is for the others",
                ));
            }
            _ => {}
        }
        let _lock = lock(&*self.disk, &self.layout.lock(), Pauses::of(wanted.patience()), || wanted.check())?;
        let boots = self.boots()?;
        if boots.lines().next_back() == Some(boot) {
            return Ok(());
        }
        let path = self.layout.boots();
        if boots.lines().any(|known| known == boot) {
            let root = path.parent().unwrap_or(&path).display();
            return Err(StoreError::unusable(
                format_args!(
                    "{root} was used under another boot id than the one of this machine ({boot:?}), and under this one before: two machines \
                     have it, or two sandboxes of one"
                ),
                format!(
                    "nothing was changed; give each machine a store of its own, or keep the runs in PostgreSQL; for a folder that was copied away \
                     and back: remove {}, once no other process uses it",
                    path.display()
                ),
            ));
        }
        let known: Vec<&str> = boots.lines().collect();
        let kept = known.iter().skip((known.len() + 1).saturating_sub(KEPT)).chain([&boot]);
        let boots: String = kept.map(|boot| format!("{boot}\n")).collect();
        replace(&*self.disk, &path, boots.as_bytes()).map_err(failed(&path))?;
        self.disk.sync_folder(path.parent().unwrap_or(&path)).map_err(failed(&path))
    }

    /// Reads the boots: one a line, the last one at the end.
    fn boots(&self) -> Result<String, StoreError> {
        let path = self.layout.boots();
        match self.disk.read(&path, MOST) {
            Ok(boots) => Ok(String::from_utf8_lossy(&boots).into_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(failed(&path)(error)),
        }
    }
}
