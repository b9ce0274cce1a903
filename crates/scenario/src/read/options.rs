//! The accepted YAML.

use serde_saphyr::Options;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

/// The maximum nesting of the values of a scenario.
pub(super) const DEEPEST: usize = 64;

/// The maximum of anchors, and of aliases.
pub(super) const MOST_ANCHORS: usize = 100;
/// The maximum of values.
pub(super) const MOST_NODES: usize = 200_000;

/// The maximum of events that aliases expand to: a value is one, a list or a mapping two.
pub(super) const MOST_REPLAYED: usize = 10_000;

/// Strict options: booleans are `true` and `false`, keys are unique, nothing is merged, aliases are few and small.
pub(super) fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_documents: 1,
            max_aliases: MOST_ANCHORS,
            // With so few aliases the ratio to anchors does not matter.
            enforce_alias_anchor_ratio: false,
            max_anchors: MOST_ANCHORS,
            max_nodes: MOST_NODES,
            max_events: 400_000,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MOST_REPLAYED,
            max_replay_stack_depth: 8,
        },
        strict_booleans: true,
        reject_unsupported_tags: true,
        reject_tagged_field_names: true,
        with_snippet: false,
    }
}
