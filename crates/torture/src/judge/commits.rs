//! Every commit that was acknowledged is there, and one alone won each number.

use std::collections::HashMap;

use super::Violation;
use super::book::Book;
use super::run::Seen;
use crate::ledger::{digest, digest_of};

pub(super) fn judge(seen: &Seen, book: &Book<'_>, wrong: &mut Vec<Violation>) {
    let mut say = |what: String| wrong.push(Violation::new("acknowledged", &*seen.id, what));
    let rows: HashMap<u64, u64> = seen.rows.iter().map(|(seq, json)| (*seq, digest(json))).collect();
    let mut won: HashMap<u64, u64> = HashMap::new();
    let mut made: Vec<_> = book.commits(&seen.id).to_vec();
    made.sort_by_key(|made| made.version);
    let mut fence = 0;
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
            say(format!("commit {version} was made under fence {} behind one of {fence}", made.fence));
        }
        fence = made.fence;
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
        for id in &made.decisions {
            if !seen.taken.iter().any(|decision| decision.decision_id == *id) {
                say(format!("commit {version} took the decision {id}, and it is not there"));
            }
        }
    }
}
