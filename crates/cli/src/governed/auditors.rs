//! Commands that look at a run: each must exit with 0.

use std::path::PathBuf;

use async_trait::async_trait;
use runstate::governed::{Auditor, PartError, RunView, Verifier};
use runstate::governed_run::Opinion;

use super::command_tool::{cannot_start, evidence, failure};
use super::plan::Command;
use super::process::{self, Told};

/// Passes when all of its commands do.
pub(super) struct CommandVerifier {
    commands: Vec<Command>,
    work: PathBuf,
    run: PathBuf,
}

impl CommandVerifier {
    pub(super) fn new(commands: Vec<Command>, work: PathBuf, run: PathBuf) -> Self {
        CommandVerifier { commands, work, run }
    }
}

#[async_trait]
impl Verifier for CommandVerifier {
    async fn verify(&self, _: &RunView<'_>) -> Result<Vec<String>, PartError> {
        let mut shown = Vec::new();
        for command in &self.commands {
            let ended = process::run(command, &self.work, &self.run, Told::default())
                .await
                .map_err(|error| PartError::new(cannot_start(command, &error)))?;
            if let Some(why) = failure(command, &ended)? {
                return Err(PartError::new(why));
            }
            shown.extend(evidence(command, &ended));
        }
        Ok(shown)
    }
}

/// Passes when its command does.
pub(super) struct CommandAuditor {
    reviewer: String,
    command: Command,
    work: PathBuf,
    run: PathBuf,
}

impl CommandAuditor {
    pub(super) fn new(reviewer: String, command: Command, work: PathBuf, run: PathBuf) -> Self {
        CommandAuditor { reviewer, command, work, run }
    }
}

#[async_trait]
impl Auditor for CommandAuditor {
    fn name(&self) -> &str {
        &self.reviewer
    }

    async fn audit(&self, _: &RunView<'_>) -> Result<(Opinion, String), PartError> {
        let ended = process::run(&self.command, &self.work, &self.run, Told::default())
            .await
            .map_err(|error| PartError::new(cannot_start(&self.command, &error)))?;
        Ok(match failure(&self.command, &ended)? {
            None => (Opinion::Pass, evidence(&self.command, &ended).join("; ")),
            Some(why) => (Opinion::Fail, why),
        })
    }
}
