//! What YAML is taken.

use serde_saphyr::Options;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

/// How deep the values of a scenario may nest.
pub(super) const DEEPEST: usize = 64;

/// The most anchors, and the most aliases.
pub(super) const MOST_ANCHORS: usize = 100;
/// The most values.
pub(super) const MOST_NODES: usize = 200_000;

/// The most events that aliases stand for: a value is one, a list or a mapping two.
pub(super) const MOST_REPLAYED: usize = 10_000;

/// No surprises: booleans are `true` and `false`, keys are unique, nothing is merged, aliases are few and small.
pub(super) fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_documents: 1,
            max_aliases: MOST_ANCHORS,
            // So few aliases need no relation to the number of anchors.
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
