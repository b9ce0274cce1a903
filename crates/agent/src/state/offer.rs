//! The tools offered to the model in a step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::tool::ToolSpec;

/// The names of the tools that the last step offered, if a plugin selected them. Otherwise all tools of the agent
/// were offered.
///
/// The offer is stored with the step, because another process may gate its calls much later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Offer(Option<Vec<String>>);

impl Offer {
    /// Records the offer of the next step. An unchanged offer, the most frequent case, costs nothing.
    pub(crate) fn keep(&mut self, chosen: Option<&[Arc<ToolSpec>]>) {
        let same = match (&self.0, chosen) {
            (None, None) => true,
            (Some(kept), Some(chosen)) => kept.iter().eq(chosen.iter().map(|tool| tool.name())),
            (None, Some(_)) | (Some(_), None) => false,
        };
        if !same {
            self.0 = chosen.map(|tools| tools.iter().map(|tool| tool.name().to_owned()).collect());
        }
    }

    pub(crate) fn is_all(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.iter().any(|name| name == tool))
    }
}
