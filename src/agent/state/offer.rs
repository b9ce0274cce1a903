//! The tools that a step offered the model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::tool::ToolSpec;

/// The tools that the last step offered the model, by their names, where a plugin chose some; else all that the agent has.
///
/// It is kept with the step: its calls may be gated long after, by another process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::agent) struct Offer(Option<Vec<String>>);

impl Offer {
    /// Keeps what another step offers. Most often that is what the one before did, and costs nothing.
    pub(in crate::agent) fn keep(&mut self, chosen: Option<&[Arc<ToolSpec>]>) {
        let same = match (&self.0, chosen) {
            (None, None) => true,
            (Some(kept), Some(chosen)) => kept.iter().eq(chosen.iter().map(|tool| tool.name())),
            (None, Some(_)) | (Some(_), None) => false,
        };
        if !same {
            self.0 = chosen.map(|tools| tools.iter().map(|tool| tool.name().to_owned()).collect());
        }
    }

    pub(in crate::agent) fn is_all(&self) -> bool {
        self.0.is_none()
    }

    pub(in crate::agent) fn has(&self, tool: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.iter().any(|name| name == tool))
    }
}
