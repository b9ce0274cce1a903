//! The configuration: gates, time limits, the chain of the ledger.

use std::collections::BTreeSet;
use std::fmt;

use runstate::governed_run::TimeLimits;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// The gates: tools that may run without an approval, and tools that may not.
///
/// A tool in neither list, or in both, needs an approval.
///
/// ```
/// use runstate_governed::Gates;
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

/// Reads a list of names. A single name is an error, and the message shows the correct form.
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
    /// Creates gates: `auto` are the tools without an approval, `required` the tools with one.
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

    /// Returns whether `tool` needs an approval.
    pub fn requires(&self, tool: &str) -> bool {
        !self.auto.contains(tool) || self.required.contains(tool)
    }
}

/// The configuration of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The tools that need an approval. Default: all.
    pub gates: Gates,
    /// The time limits of the states. Default: [`TimeLimits::default`]. New runs use them; an existing run keeps its
    /// own.
    pub limits: TimeLimits,
    /// The time limit of a rollback in milliseconds. Default: 600,000 (10 minutes). A rollback that takes longer is
    /// incomplete.
    pub rollback_ms: u64,
    /// The digest that runs are bound to. It covers the decisions from before the run, such as commands, folders,
    /// gates and auditors. A new run stores it in RUN_STATE.json. A run with another digest, or without one, is then
    /// neither driven nor approved nor rejected ([`GovernedError::OtherPlan`](super::GovernedError::OtherPlan)). It
    /// can be escalated, and it expires, without a rollback. Default: `None`; bound runs are then not driven either.
    pub bound_to: Option<String>,
    /// Whether the lines of the ledger are chained by digests. Default: `true`. With keys
    /// ([`Governor::keyed`](super::Governor::keyed)), they are always chained.
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
