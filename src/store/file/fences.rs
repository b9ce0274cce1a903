//! `removed.json`: what has to be known of runs that are gone.

use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

use super::super::error::StoreError;
use super::Inner;
use super::problem::failed;
use super::work::Wanted;
use crate::files::replace;

/// What has to be known of runs that are gone.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Removed {
    /// What runs begin with: above each lease on those that are gone, so that none of those is a lease on another run of its
    /// id.
    first_fence: u64,
}

impl Inner {
    /// What a run begins with.
    pub(super) fn first_fence(&self) -> Result<u64, StoreError> {
        let path = self.layout.removed();
        let json = match self.disk.read(&path, 10_000) {
            Ok(json) => json,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(failed(&path)(error)),
        };
        let removed: Removed = crate::json::from_slice(&json).map_err(|error| {
            let help = "nothing was changed: restore it from a backup, or write a number into it that is higher than \
                        that of any lease";
            StoreError::unusable(format_args!("{}: {error}", path.display()), help)
        })?;
        Ok(removed.first_fence)
    }

    /// Notes the fence of a run that is about to be removed, durably. Its lock is held: the run's own state is there until
    /// this is noted, and none of its id is created before.
    pub(super) fn note_removed(&self, fence: u64, wanted: &Wanted) -> Result<(), StoreError> {
        if fence < self.first_fence()? {
            return Ok(());
        }
        // Two that remove runs do not take each other's number back.
        let _lock = self.lock(&self.layout.lock(), wanted)?;
        if fence < self.first_fence()? {
            return Ok(());
        }
        let path = self.layout.removed();
        let mut json =
            serde_json::to_vec_pretty(&Removed { first_fence: fence + 1 }).map_err(StoreError::failed)?;
        json.push(b'\n');
        replace(&*self.disk, &path, &json).map_err(failed(&path))
    }
}
