//! The configuration: gates, time limits, the chain of the ledger.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
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
    #[serde(default, deserialize_with = "names")]
    auto: BTreeSet<String>,
    #[serde(default, deserialize_with = "names")]
    required: BTreeSet<String>,
}

/// Reads a list of names. One name alone is a slip, and the message says how it is written.
fn names<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeSet<String>, D::Error> {
    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = BTreeSet<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of names of tools, as [build, test]")
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
            Err(E::custom(format!(
                "got the name {name:?} alone, expected a list of names of tools, as [{name}]"
            )))
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Err(E::custom("got nothing, expected a list of names of tools, as [build, test]"))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Self::Value, A::Error> {
            let mut all = BTreeSet::new();
            while let Some(name) = names.next_element()? {
                all.insert(name);
            }
            Ok(all)
        }
    }

    from.deserialize_any(Names)
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
