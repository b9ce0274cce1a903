//! What a run is created with: all that whoever drives it has to know.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use runstate::agent::Tool;
use runstate::store::Loaded;
use runstate_scenario::{FILE_TOOLS, Scenario};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::runs::{Owner, Token, mark_of, owner};
use crate::tools::Tools;

/// What a run is created with. It stands in the store as JSON, for as long as the run does: fields are added, never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Spec {
    /// A scenario.
    Scenario {
        /// Its text, as it was when the run was created: whatever becomes of the file, the run goes on.
        scenario: String,
        /// The folder that its tools work in, on the machine where the run was created.
        folder: PathBuf,
        /// What says that a folder in that place is this run's. A run that was created before there were tokens has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Token>,
    },
}

impl Spec {
    /// As a store keeps it.
    ///
    /// # Errors
    /// A folder whose name is no text.
    pub(crate) fn to_json(&self) -> Result<Value, Failure> {
        serde_json::to_value(self)
            .map_err(|error| Failure::new(format!("the run cannot be written down: {error}")))
    }

    /// That of a stored run.
    ///
    /// # Errors
    /// A run that another program made.
    pub(crate) fn of(run: &Loaded) -> Result<Spec, Failure> {
        Spec::deserialize(&run.spec).map_err(|error| {
            Failure::new(format!("this program cannot drive the run {:?}: {error}", run.info.id))
                .with_help("drive it with the program that created it")
        })
    }

    /// Its scenario.
    ///
    /// # Errors
    /// A text that is no scenario any more, with its place.
    pub(crate) fn scenario(&self) -> Result<Scenario, Failure> {
        let Spec::Scenario { scenario, .. } = self;
        Scenario::parse(scenario).map_err(|refused| {
            Failure::new(format!("the run's scenario cannot be read: {refused}"))
                .with_help("drive it with the version of this program that created it")
        })
    }

    /// The folder that its tools work in.
    pub(crate) fn folder(&self) -> &Path {
        let Spec::Scenario { folder, .. } = self;
        folder
    }

    /// What says that the folder is this run's.
    pub(crate) fn token(&self) -> Option<&Token> {
        let Spec::Scenario { token, .. } = self;
        token.as_ref()
    }

    /// The tools on its folder. A run without them can be driven on any machine.
    ///
    /// # Errors
    /// A run that has file tools and whose folder is not here, also where another run's is in its place.
    pub(crate) fn tools(&self, scenario: &Scenario) -> Result<Vec<Arc<dyn Tool>>, Failure> {
        match self.opened(scenario) {
            Ok(tools) => Ok(tools.each()),
            Err(_) if !has_files(scenario) => Ok(Vec::new()),
            Err(failure) => Err(failure),
        }
    }

    fn opened(&self, scenario: &Scenario) -> Result<Tools, Failure> {
        let folder = self.folder();
        let tools = Tools::open(folder, scenario.limits.max_file_bytes).map_err(|error| {
            Failure::io("open the run's folder", folder, &error)
                .with_help("drive the run on the machine where it was created, or put the folder back")
        })?;
        self.refuse_others()?;
        Ok(tools)
    }

    /// Refuses a folder that is not this run's.
    fn refuse_others(&self) -> Result<(), Failure> {
        let (folder, mark) = (self.folder(), mark_of(self.folder()));
        let owner = owner(folder, self.token()).map_err(|error| Failure::io("read", &mark, &error))?;
        let (folder, mark) = (folder.display(), mark.display());
        match owner {
            Owner::This => Ok(()),
            Owner::Another => Err(Failure::new(format!(
                "the folder {folder} is that of another run of this name: {mark} has another token than the run"
            ))
            .with_help("drive the run on the machine where it was created")),
            Owner::Unknown => Err(Failure::new(format!(
                "it is not known whose the folder {folder} is: expected its token in {mark}, got no such file"
            ))
            .with_help("drive the run on the machine where it was created, or put that file back with the folder")),
        }
    }
}

fn has_files(scenario: &Scenario) -> bool {
    scenario.folder.is_some() || scenario.calls().any(|call| FILE_TOOLS.contains(&call.tool.as_str()))
}
