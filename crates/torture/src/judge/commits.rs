//! Every acknowledged commit exists, and one commit alone has each number.

use std::collections::{BTreeMap, HashMap};

use super::Violation;
use super::book::LedgerIndex;
use super::run::Seen;
use crate::ledger::{Made, digest, digest_of};

pub(super) fn judge(seen: &Seen, book: &LedgerIndex<'_>, wrong: &mut Vec<Violation>) {
    let mut say = |what: String| wrong.push(Violation::new("acknowledged", &*seen.id, what));
    let rows: HashMap<u64, u64> = seen.rows.iter().map(|(seq, json)| (*seq, digest(json))).collect();
    let events = seen.events.iter().map(|row| (row.seq, digest(&row.json)));
    let events: HashMap<u64, u64> = events.collect();
    let mut won: HashMap<u64, u64> = HashMap::new();
    let mut made: Vec<_> = book.commits(&seen.id).to_vec();
    made.sort_by_key(|made| made.version);
    let mut fence = 0;
    let mut last = Last::default();
    for made in made {
        let version = made.version;
        if version > seen.loaded.info.version {
            say(format!("commit {version} was acknowledged, and it is at {}", seen.loaded.info.version));
            continue;
        }
        if let Some(other) = won.insert(version, made.fence) {
            say(format!("commit {version} was acknowledged under fence {other} and under {}", made.fence));
        }
        if made.fence < fence {
            say(format!("commit {version} was made under fence {} after one of {fence}", made.fence));
        }
        fence = made.fence;
        last.note(made);
        for (seq, digest) in &made.messages {
            let at = usize::try_from(*seq).unwrap_or(usize::MAX).saturating_sub(1);
            if seen.messages.get(at).map(digest_of) != Some(*digest) {
                say(format!("commit {version} stored message {seq}, and it is not there as it was"));
            }
        }
        for (seq, digest) in &made.trace {
            if rows.get(seq) != Some(digest) {
                say(format!("commit {version} stored event {seq}, and it is not there as it was"));
            }
        }
        for (seq, digest) in &made.events {
            if events.get(seq) != Some(digest) {
                say(format!("commit {version} stored the run event {seq}, and it is not there as it was"));
            }
        }
        for id in &made.decisions {
            if !seen.taken.iter().any(|decision| decision.decision_id == *id) {
                say(format!("commit {version} took the decision {id}, and it is not there"));
            }
        }
    }
    // A kill may have kept the acknowledgement of a later commit from the ledger, which may have changed them again.
    let is_known = |from: u64| (from..=seen.loaded.info.version).all(|version| won.contains_key(&version));
    for (name, (version, digest)) in last.calls {
        let there = seen.calls.get(name).map(|call| digest_of(&call["snapshot"]));
        if is_known(version) && there != Some(digest) {
            say(format!("commit {version} stored the call {name}, and it is not there as it was"));
        }
    }
    for ((scope, key), (version, digest)) in last.values {
        let there = seen.values.get(scope).and_then(|values| values.get(key)).map(digest_of);
        if is_known(version) && there != digest {
            say(format!(
                "commit {version} stored the value {key} of the {scope}, and it is not there as it was"
            ));
        }
    }
}

/// The last replacement of each row, with its commit.
#[derive(Default)]
struct Last<'e> {
    calls: BTreeMap<&'e str, (u64, u64)>,
    values: BTreeMap<(&'e str, &'e str), (u64, Option<u64>)>,
}

impl<'e> Last<'e> {
    fn note(&mut self, made: &'e Made) {
        for (name, digest) in &made.calls {
            self.calls.insert(name, (made.version, *digest));
        }
        for (scope, key, digest) in &made.values {
            self.values.insert((scope, key), (made.version, *digest));
        }
    }
}
