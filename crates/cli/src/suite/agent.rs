//! Scenarios of agent runs.

use std::path::Path;

use runstate_scenario::{Options, play as play_scenario, to_text};

use super::Shown;
use crate::failure::Failure;
use crate::spec::Spec;
use crate::tools::Tools;
use crate::{runs, scenario};

/// Plays a scenario under virtual time. File tools, if it calls any, work on a temporary copy.
pub(super) fn play(path: &Path) -> Result<Shown, Failure> {
    let file = scenario::read(&path.to_string_lossy())?;
    file.warn_of_unknown_tools(true);
    let scenario = &file.scenario;
    let mut options = Options::default();
    let folder =
        if Spec::has_folder(scenario) { Some(runs::throwaway(file.template().as_ref())?) } else { None };
    if let Some(folder) = &folder {
        let refuse = |error| Failure::io("open", folder.path(), &error);
        let tools = Tools::open(folder.path(), scenario.limits.max_file_bytes).map_err(refuse)?.each();
        options.tools =
            tools.into_iter().filter(|tool| !scenario.tools.contains_key(tool.spec().name())).collect();
    }
    let played = play_scenario(scenario, options)
        .map_err(|error| Failure::new(format!("{}: {error}", file.source.name)))?;
    Ok(Shown { text: to_text(&played), trace: played.trace, missed: played.missed })
}
