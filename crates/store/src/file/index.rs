//! An index of the states of all runs. With it, a list reads only the states that changed.
//!
//! The files are the only truth. Each list checks the change token of each state first. A state without a token, or
//! with a new one, is read. So the next list shows a change by another process or by an editor.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

use runstate_runtime::files::{ChangeToken, Disk};

use super::super::error::StoreError;
use super::super::query::CorruptEntry;
use super::layout::{Layout, Place};
use super::listed::Listed;
use super::problem::{damaged, failed};
use super::state::State;

/// The states of all runs at the last check.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The change token of the folder of runs.
    names: Option<ChangeToken>,
    /// Each run by the name of its folder.
    folders: BTreeMap<String, Folder>,
}

#[derive(Debug)]
struct Folder {
    state: PathBuf,
    /// The change token of the state before it was read; none if the state has to be read again.
    change_token: Option<ChangeToken>,
    found: Found,
}

#[derive(Debug)]
enum Found {
    Run(Box<Listed>),
    Damaged(CorruptEntry),
    /// A folder without a state.
    Nothing,
}

impl Index {
    /// Updates the index. Each run is consistent; a run that is created or removed meanwhile may be included or not.
    pub(super) fn refresh(&mut self, disk: &dyn Disk, layout: &Layout, boot: &str) -> Result<(), StoreError> {
        self.refresh_names(disk, layout)?;
        for (name, folder) in &mut self.folders {
            folder.refresh(disk, layout, name, boot)?;
        }
        Ok(())
    }

    fn refresh_names(&mut self, disk: &dyn Disk, layout: &Layout) -> Result<(), StoreError> {
        let runs = layout.runs();
        let change_token = disk.change_token(&runs).map_err(failed(&runs))?;
        if change_token.is_some() && change_token == self.names {
            return Ok(());
        }
        let names = disk.list(&runs).map_err(failed(&runs))?;
        let mut before = std::mem::take(&mut self.folders);
        let folder = |name: String| {
            let known = before.remove(&name);
            let folder = known.unwrap_or_else(|| Folder::new(layout.folder(&name)));
            (name, folder)
        };
        self.folders = names.into_iter().map(folder).collect();
        self.names = change_token;
        Ok(())
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &Listed> {
        self.folders.values().filter_map(|folder| match &folder.found {
            Found::Run(run) => Some(&**run),
            Found::Damaged(_) | Found::Nothing => None,
        })
    }

    pub(super) fn corrupt_entries(&self) -> impl Iterator<Item = &CorruptEntry> {
        self.folders.values().filter_map(|folder| match &folder.found {
            Found::Damaged(damage) => Some(damage),
            Found::Run(_) | Found::Nothing => None,
        })
    }

    /// Returns the names of the folders without a state.
    pub(super) fn without_state(&self) -> impl Iterator<Item = &str> {
        let without = self.folders.iter().filter(|(_, folder)| matches!(folder.found, Found::Nothing));
        without.map(|(name, _)| &**name)
    }
}

impl Folder {
    fn new(place: Place) -> Self {
        Folder { state: place.state(), change_token: None, found: Found::Nothing }
    }

    fn refresh(
        &mut self,
        disk: &dyn Disk,
        layout: &Layout,
        name: &str,
        boot: &str,
    ) -> Result<(), StoreError> {
        // Taken before the state is read: a replacement in between changes the token for the next check.
        let change_token = match disk.change_token(&self.state) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                (self.change_token, self.found) = (None, Found::Nothing);
                return Ok(());
            }
            // The read reports the error.
            Err(_) => None,
            Ok(change_token) => change_token,
        };
        if change_token.is_some() && change_token == self.change_token {
            return Ok(());
        }
        self.change_token = None;
        self.found = match read(disk, layout, name, boot) {
            Ok(Some(run)) => Found::Run(Box::new(run)),
            Ok(None) => Found::Nothing,
            Err(error) => Found::Damaged(error.into_run_scoped()?),
        };
        self.change_token = change_token;
        Ok(())
    }
}

/// Reads the state in the folder of that name, and returns the part for lists.
fn read(disk: &dyn Disk, layout: &Layout, name: &str, boot: &str) -> Result<Option<Listed>, StoreError> {
    let place = layout.folder(name);
    let Some(state) = State::read(disk, &place, boot)? else { return Ok(None) };
    if layout.run(&state.id).folder != place.folder {
        let what = format!("it is that of the run {:?}, in another folder than its own", state.id);
        return Err(damaged(&place.state(), what));
    }
    Listed::of(&state, &place).map(Some)
}
