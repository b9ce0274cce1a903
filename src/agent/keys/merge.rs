//! One wish for each key, or a conflict.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::apply::Conflict;
use super::key::Scope;
use super::patches::{Patches, To};

/// What a key shall become, and who wants it.
struct Wish<'a> {
    to: &'a To,
    first: &'a str,
    /// Another call that wants the same.
    also: Option<&'a str>,
}

/// What the calls of a round together want of one scope. Without patches there is nothing to own.
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
                // Overruled by the same call, which alone wanted it.
                None => wish.to = to,
                Some(_) if wish.first != call => wish.also = Some(call),
                Some(_) => {}
            }
        }
    }
    Ok(wishes.into_iter().map(|(key, wish)| (key, wish.to)).collect())
}
