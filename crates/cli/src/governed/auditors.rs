//! Commands that check a run: each must exit with 0.

use async_trait::async_trait;
use runstate::governed_run::Opinion;
use runstate_governed::{Auditor, PartError, RunView, Verifier};

use super::command_tool::{cannot_start, evidence, failure};
use super::plan::Command;
use super::process::{self, Place, Told};

/// The evidence of a command, or the reason of its refusal.
async fn looked(
    command: &Command,
    place: &Place,
    what: &str,
) -> Result<Result<Vec<String>, String>, PartError> {
    let looking = async {
        let ended = process::run(command, place, Told::default())
            .await
            .map_err(|error| PartError::new(cannot_start(command, &error)))?;
        Ok(match failure(command, &ended)? {
            None => Ok(evidence(command, &ended)),
            Some(why) => Err(why),
        })
    };
    place
        .progress
        .during(what, looking, |looked| if matches!(looked, Ok(Ok(_))) { "passed" } else { "failed" })
        .await
}

/// Passes if all of its commands do.
pub(super) struct CommandVerifier {
    pub(super) commands: Vec<Command>,
    pub(super) place: Place,
}

#[async_trait]
impl Verifier for CommandVerifier {
    async fn verify(&self, _: &RunView<'_>) -> Result<Vec<String>, PartError> {
        let mut shown = Vec::new();
        for command in &self.commands {
            shown.extend(looked(command, &self.place, "verify").await?.map_err(PartError::new)?);
        }
        Ok(shown)
    }
}

/// Passes if its command does.
pub(super) struct CommandAuditor {
    pub(super) reviewer: String,
    pub(super) command: Command,
    pub(super) place: Place,
}

#[async_trait]
impl Auditor for CommandAuditor {
    fn name(&self) -> &str {
        &self.reviewer
    }

    async fn audit(&self, _: &RunView<'_>) -> Result<(Opinion, String), PartError> {
        let what = format!("audit by {}", self.reviewer);
        Ok(match looked(&self.command, &self.place, &what).await? {
            Ok(shown) => (Opinion::Pass, shown.join("; ")),
            Err(why) => (Opinion::Fail, why),
        })
    }
}
