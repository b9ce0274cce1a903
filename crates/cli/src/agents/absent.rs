//! Agent files, in a program without them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use runstate::decision::Suspension;
use runstate_agent::{Agent, ToolSpec};
use runstate_scenario::Scenario;

use crate::failure::Failure;
use crate::runs::Token;

/// The agent files that this process may execute.
#[derive(Debug)]
pub(crate) enum AgentFiles {
    /// None.
    None,
    /// The files of a folder.
    Folder(PathBuf),
}

/// An agent file. A program without the feature has none.
#[derive(Debug)]
pub(crate) enum FromFile {}

impl AgentFiles {
    /// # Errors
    /// Always: the failure names the feature.
    pub(crate) fn find(&self, name: &str, _: &str) -> Result<FromFile, Failure> {
        let folder = match self {
            AgentFiles::None => String::new(),
            AgentFiles::Folder(folder) => format!(" of {}", folder.display()),
        };
        Err(absent(&format!("the agent {name:?}{folder}")))
    }
}

impl FromFile {
    /// # Errors
    /// None: there is no file.
    pub(crate) fn to_scenario(
        &self,
        _: &str,
        _: &BTreeMap<String, Option<Suspension>>,
    ) -> Result<(Scenario, Vec<ToolSpec>), Failure> {
        match *self {}
    }

    /// # Errors
    /// None: there is no file.
    pub(crate) async fn agent(&self, _: bool, _: Option<&Token>) -> Result<Agent, Failure> {
        match *self {}
    }
}

/// # Errors
/// Always: the failure names the feature.
pub(crate) fn of_run(run: &str, _: &str) -> Result<FromFile, Failure> {
    Err(absent(&format!("the agent of the run {run}")))
}

/// Ends the processes of commands. There are none.
pub(crate) fn end_commands() {}

/// The failure of a program without the feature.
pub(crate) fn absent(what: &str) -> Failure {
    Failure::new(format!("{what}: this program was built without agents")).with_help(
        "build it with the feature: `cargo install runstate-cli --features agents`, or in this repository \
         `cargo run -p runstate-cli --features agents --`",
    )
}
