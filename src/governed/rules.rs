//! The configuration: gates, time limits, the chain of the ledger.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::governed_run::TimeLimits;

/// Which tools may run without a person's approval (B12).
///
/// A tool that is in neither list, or in both, needs one.
///
/// ```
/// use runstate::governed::Gates;
///
/// let gates = Gates::new(["build", "test", "publish"], ["publish"]);
/// assert!(!gates.requires("build"));
/// assert!(gates.requires("publish") && gates.requires("deploy"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gates {
    #[serde(default)]
    auto: BTreeSet<String>,
    #[serde(default)]
    required: BTreeSet<String>,
}

impl Gates {
    /// Gates that open by themselves, and gates that do not.
    pub fn new<A: Into<String>, R: Into<String>>(
        auto: impl IntoIterator<Item = A>,
        required: impl IntoIterator<Item = R>,
    ) -> Self {
        Gates {
            auto: auto.into_iter().map(Into::into).collect(),
            required: required.into_iter().map(Into::into).collect(),
        }
    }

    /// The names of tools in either list.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.auto.iter().chain(&self.required).map(String::as_str)
    }

    /// Must a person approve before `tool` runs?
    pub fn requires(&self, tool: &str) -> bool {
        !self.auto.contains(tool) || self.required.contains(tool)
    }
}

/// The configuration of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Which tools need an approval.
    pub gates: Gates,
    /// How long a run may stay in its states: document 001's table, unless told. New runs take them; a run keeps its own.
    pub limits: TimeLimits,
    /// How long a rollback may take, in milliseconds: 10 minutes unless told. One that takes longer is incomplete.
    pub rollback_ms: u64,
    /// The digest that runs are bound to: of all that was decided about them before they began, such as commands, folders, gates and
    /// auditors. A new run keeps it in RUN_STATE.json. Where it is given, a run that is bound to another one, or to none, is neither
    /// driven nor approved nor rejected ([`GovernedError::OtherPlan`](super::GovernedError::OtherPlan)); it can be escalated, and it
    /// expires, without a rollback. None, unless told: a run that is bound is then not driven either.
    pub bound_to: Option<String>,
    /// Are the lines of the ledger chained by their digests? Yes, unless told; under keys
    /// ([`Governor::keyed`](super::Governor::keyed)) always.
    pub chained: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            gates: Gates::default(),
            limits: TimeLimits::default(),
            rollback_ms: 600_000,
            bound_to: None,
            chained: true,
        }
    }
}
