//! The agent files that this process may execute.

use std::fs;
use std::path::PathBuf;

use super::file::{FromFile, read};
use crate::failure::Failure;

/// The agent files that this process may execute. The store of a run never chooses the executed text: a run has the text of
/// its agent file, and is driven if a file here has that text.
#[derive(Debug)]
pub(crate) enum AgentFiles {
    /// None.
    None,
    /// One file.
    One(Box<FromFile>),
    /// The files of a folder.
    Folder(PathBuf),
}

impl AgentFiles {
    /// The file with that text, for an agent of that name.
    ///
    /// # Errors
    /// No file has the text, or the folder cannot be read.
    pub(crate) fn find(&self, name: &str, text: &str) -> Result<FromFile, Failure> {
        match self {
            AgentFiles::None => Err(Failure::new(format!("the run is of the agent {name:?}"))
                .with_help("drive it with `runstate worker --agents DIR`, where DIR has the agent file")),
            AgentFiles::One(file) if file.text() == text && file.name() == name => Ok((**file).clone()),
            AgentFiles::One(file) => {
                let why = "is not the agent file of the run: its text has changed since the run began";
                Err(Failure::new(format!("{} {why}", file.path)).with_help(
                    "restore the text, or end the run with `runstate cancel`; the next run has the new text",
                ))
            }
            AgentFiles::Folder(folder) => {
                let entries = fs::read_dir(folder)
                    .map_err(|error| Failure::io("read the folder of agent files", folder, &error))?;
                let mut differs = None;
                for entry in entries {
                    let path = entry
                        .map_err(|error| Failure::io("read the folder of agent files", folder, &error))?
                        .path();
                    let is_yaml =
                        path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
                    let Some(shown) = path.to_str().filter(|_| is_yaml) else { continue };
                    // Another file of the folder may be unreadable, and that of the run usable.
                    let Ok(file) = read(shown) else { continue };
                    if file.text() == text && file.name() == name {
                        return Ok(file);
                    }
                    if file.name() == name {
                        differs = Some(file.path);
                    }
                }
                let folder = folder.display();
                Err(Failure::new(match differs {
                    Some(file) => format!(
                        "{file} is not the agent file of the run: its text has changed since the run began"
                    ),
                    None => format!("no file of {folder} is the agent file {name:?} of the run"),
                }))
            }
        }
    }
}
