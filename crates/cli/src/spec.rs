//! The specification of a run: everything that its driver needs.

use std::path::Path;
use std::sync::Arc;

use runstate_agent::Tool;
use runstate_scenario::{FILE_TOOLS, Scenario};
use runstate_store::{Loaded, UserMessage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::runs::{self, Token};
use crate::tools::Tools;

/// The specification of a run. The store keeps it as JSON for the life of the run: fields are added, never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Spec {
    /// A scenario.
    Scenario {
        /// Its text when the run was created: the run does not depend on the file.
        scenario: String,
        /// The proof that the folder in the place of this run is its own. The place itself is no part of a run: a writer of
        /// the store must not choose the tools' folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Token>,
        /// The first message of the run, instead of the scenario's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The id of that message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
    },
    /// An agent.
    Agent {
        /// Its name, which the ids of its runs begin with.
        name: String,
        /// The text of its file when the run was created. A process executes it only if it has a file of that text: the
        /// store never chooses the executed text.
        agent: String,
        /// The proof that the folder in the place of this run is its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Token>,
        /// The first message of the run.
        message: String,
        /// The id of that message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
    },
}

impl Spec {
    /// The stored form.
    ///
    /// # Errors
    /// A folder with a name that is no text.
    pub(crate) fn to_json(&self) -> Result<Value, Failure> {
        serde_json::to_value(self).map_err(|error| Failure::new(format!("the run cannot be stored: {error}")))
    }

    /// The specification of a stored run.
    ///
    /// # Errors
    /// Another program made the run.
    pub(crate) fn of(run: &Loaded) -> Result<Spec, Failure> {
        Spec::read(&run.spec, &run.info.id)
    }

    /// Reads the stored specification of the run of that id.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn read(spec: &Value, run: &str) -> Result<Spec, Failure> {
        let refused = |why: String| {
            Failure::new(format!("this program cannot drive the run {run:?}: {why}"))
                .with_help("drive it with the program that created it")
        };
        let read = Spec::deserialize(spec).map_err(|error| refused(error.to_string()))?;
        // The name becomes that of a folder. A scenario checks its own.
        match &read {
            Spec::Agent { name, .. } if !is_name(name) => {
                Err(refused(format!("{name:?} is no name of an agent")))
            }
            _ => Ok(read),
        }
    }

    /// Its scenario.
    ///
    /// # Errors
    /// The text is no valid scenario any more, with its place; or the run is of an agent.
    pub(crate) fn scenario(&self) -> Result<Scenario, Failure> {
        let (scenario, message) = match self {
            Spec::Scenario { scenario, message, .. } => (scenario, message),
            Spec::Agent { name, .. } => {
                return Err(Failure::new(format!("the run is of the agent {name:?}, and of no scenario")).with_help(
                    "drive it with `runstate worker --agents DIR`, or with `runstate chat FILE --thread RUN`",
                ));
            }
        };
        let mut read = Scenario::parse(scenario).map_err(|refused| {
            Failure::new(format!("the run's scenario cannot be read: {refused}"))
                .with_help("drive it with the version of this program that created it")
        })?;
        if let Some(message) = message {
            read.message.clone_from(message);
        }
        Ok(read)
    }

    /// The specification of the next run on the thread: the same scenario with another message, in the folder of that token.
    pub(crate) fn followed(&self, message: &UserMessage, token: &Token) -> Spec {
        let (text, message_id, token) = (message.text.clone(), Some(message.id.clone()), Some(token.clone()));
        match self {
            Spec::Scenario { scenario, .. } => {
                Spec::Scenario { scenario: scenario.clone(), token, message: Some(text), message_id }
            }
            Spec::Agent { name, agent, .. } => {
                Spec::Agent { name: name.clone(), agent: agent.clone(), token, message: text, message_id }
            }
        }
    }

    /// The id of the first message of the run; `None` for the first run of a thread.
    pub(crate) fn message_id(&self) -> Option<&str> {
        match self {
            Spec::Scenario { message_id, .. } | Spec::Agent { message_id, .. } => message_id.as_deref(),
        }
    }

    /// The name that the ids of its runs begin with.
    ///
    /// # Errors
    /// As [`scenario`](Self::scenario), for a run of a scenario.
    pub(crate) fn name(&self) -> Result<String, Failure> {
        match self {
            Spec::Scenario { .. } => Ok(self.scenario()?.name),
            Spec::Agent { name, .. } => Ok(name.clone()),
        }
    }

    /// Does the run work in a copy of a folder? An agent works in the folders of its file.
    ///
    /// # Errors
    /// As [`scenario`](Self::scenario), for a run of a scenario.
    pub(crate) fn copies_a_folder(&self) -> Result<bool, Failure> {
        match self {
            Spec::Scenario { .. } => Ok(has_files(&self.scenario()?)),
            Spec::Agent { .. } => Ok(false),
        }
    }

    /// Do runs of the scenario work in a folder?
    pub(crate) fn has_folder(scenario: &Scenario) -> bool {
        has_files(scenario)
    }

    /// The token that the run shares with its folder. A run without one works in no folder.
    pub(crate) fn token(&self) -> Option<&Token> {
        match self {
            Spec::Scenario { token, .. } | Spec::Agent { token, .. } => token.as_ref(),
        }
    }

    /// The tools on the folder of the run of that id. A run without file tools can be driven on any machine.
    ///
    /// # Errors
    /// The run has file tools and its folder is missing, or another run's folder is in its place.
    pub(crate) fn tools(
        &self,
        scenario: &Scenario,
        state_dir: Option<&Path>,
        run: &str,
    ) -> Result<Vec<Arc<dyn Tool>>, Failure> {
        if !has_files(scenario) {
            return Ok(Vec::new());
        }
        let folder = runs::open(&runs::state_dir(state_dir)?, run, self.token())?;
        let tools = Tools::in_folder(folder, scenario.limits.max_file_bytes).each();
        Ok(tools.into_iter().filter(|tool| !scenario.tools.contains_key(tool.spec().name())).collect())
    }
}

/// Returns whether a text is the name of an agent: 1 to 64 lower-case letters, digits and hyphens.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=64).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with('-')
}

/// Has a run of that scenario file tools? A scripted tool of such a name replaces the file tool.
fn has_files(scenario: &Scenario) -> bool {
    let is_live = |tool: &str| FILE_TOOLS.contains(&tool) && !scenario.tools.contains_key(tool);
    scenario.folder.is_some() || scenario.calls().any(|call| is_live(&call.tool))
}

#[cfg(test)]
mod tests {
    use runstate_store::{NewRun, RunInfo};
    use serde_json::json;

    use super::*;

    /// Values that another program may have written.
    #[test]
    fn a_specification_of_any_shape_is_read_or_refused() {
        let token = "0123456789abcdef0123456789abcdef";
        let good = json!({"kind": "scenario", "scenario": "name: a\nmessage: go\nmodel: [{text: done}]\n", "token": token});
        let of = |spec: Value| {
            let info = RunInfo::created(&NewRun::new("a-1", Value::Null, 0));
            let parts = runstate_store::Parts {
                info,
                spec,
                thread: None,
                traced: 0,
                run: None,
                calls: vec![],
                decisions: vec![],
                messages: vec![],
                values: vec![],
            };
            Spec::of(&Loaded::from_parts(parts).unwrap())
        };
        assert!(of(good.clone()).unwrap().scenario().is_ok());
        let odd = [
            Value::Null,
            json!(1),
            json!([]),
            json!({}),
            json!("../.."),
            json!("F".repeat(32)),
            json!("\u{1b}"),
            json!("x".repeat(100_000)),
        ];
        for field in ["kind", "scenario", "token"] {
            for value in &odd {
                let mut spec = good.clone();
                spec[field] = value.clone();
                let read = of(spec);
                if field == "token" && !value.is_null() {
                    assert!(read.is_err(), "{value}");
                } else if let Ok(spec) = read {
                    drop(spec.scenario());
                }
            }
        }
        odd.into_iter().for_each(|spec| assert!(of(spec).is_err()));
        let agent = |name: &str| {
            of(json!({"kind": "agent", "name": name, "agent": "", "message": "go", "token": token}))
        };
        assert_eq!(agent("notes").unwrap().name().unwrap(), "notes");
        // A name becomes that of a folder.
        for name in ["../../../etc/x", "/etc/x", "..", ".", "", "a/b", "a\\b", "A", "-a", &"x".repeat(65)] {
            assert!(agent(name).is_err(), "{name}");
        }
        // No damaged scenario causes a panic, and the rest is a scenario, or is refused.
        crate::input::each_damage(good["scenario"].as_str().unwrap(), |scenario| {
            let mut spec = good.clone();
            spec["scenario"] = scenario.into();
            drop(of(spec).unwrap().scenario());
        });
    }
}
