//! The merge of patches: one new value per key, or a conflict.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::apply::Conflict;
use super::key::Scope;
use super::patches::{Patches, To};

/// The requested change of a key, and the requesting calls.
struct Wish<'a> {
    to: &'a To,
    first: &'a str,
    /// Another call with the same request.
    also: Option<&'a str>,
}

/// The merged changes of a round in one scope. Without patches, nothing is allocated.
pub(super) fn merge<'p>(
    round: impl Iterator<Item = (&'p str, &'p Patches)>,
    scope: Scope,
) -> Result<BTreeMap<&'p Arc<str>, &'p To>, Conflict> {
    let mut wishes: BTreeMap<&Arc<str>, Wish<'_>> = BTreeMap::new();
    for (call, patches) in round {
        for (key, to) in patches.of(scope) {
            let wish = match wishes.entry(key) {
                Entry::Vacant(free) => {
                    free.insert(Wish { to, first: call, also: None });
                    continue;
                }
                Entry::Occupied(taken) => taken.into_mut(),
            };
            let other = if wish.first == call { wish.also } else { Some(wish.first) };
            match other {
                Some(other) if wish.to != to => {
                    return Err(Conflict {
                        key: key.to_string(),
                        scope,
                        first: other.to_owned(),
                        second: call.to_owned(),
                    });
                }
                // The same call overrides its own earlier change.
                None => wish.to = to,
                Some(_) if wish.first != call => wish.also = Some(call),
                Some(_) => {}
            }
        }
    }
    Ok(wishes.into_iter().map(|(key, wish)| (key, wish.to)).collect())
}
