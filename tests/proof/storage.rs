//! Damaged snapshots: whatever is changed in one, it never panics and never gives a machine that was not stored.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use runstate::kernel::ReadRecord;
use runstate::kernel::{Machine, Restore, Stateful, Status};
use runstate::snapshot::Snapshot;
use runstate::testing::mixed_paths;
use serde::Serialize;
use serde_json::{Value, json};

use super::for_each_lifecycle;
use super::model::Documented;

/// Reads damaged bytes. As they are, they give an error or what was stored; behind a new seal, an error or just what they
/// say.
fn read<M: Restore>(stored: &Snapshot, bytes: &[u8]) -> Result<Read, String>
where
    M::Record: Serialize + ReadRecord,
{
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    let Ok(mut read) = Snapshot::from_json(bytes) else { return Ok(Read::Refused) };
    if let Ok(machine) = read.restore::<M>()
        && Snapshot::of(&machine).unwrap() != *stored
    {
        return Err(format!("a machine that was not stored, from {}", shown()));
    }
    read.recompute_checksum();
    let Ok(machine) = read.restore::<M>() else { return Ok(Read::Refused) };
    let again = Snapshot::of(&machine).unwrap();
    if again != read || machine.status().name() != read.status() {
        return Err(format!("{} from {}", again.to_json(), shown()));
    }
    Ok(Read::AsSealed)
}

#[derive(PartialEq)]
enum Read {
    Refused,
    AsSealed,
}

/// Every place in the tree, as the keys that lead to it.
fn places(tree: &Value) -> Vec<String> {
    let mut places = vec![String::new()];
    let mut next = 0;
    while let Some(place) = places.get(next).cloned() {
        let below: Vec<String> = match tree.pointer(&place).unwrap() {
            Value::Object(fields) => fields.keys().map(|key| format!("{place}/{key}")).collect(),
            Value::Array(items) => (0..items.len()).map(|i| format!("{place}/{i}")).collect(),
            _ => Vec::new(),
        };
        places.extend(below);
        next += 1;
    }
    places
}

/// The tree without this place.
fn without(tree: &Value, place: &str) -> Option<Value> {
    let (parent, key) = place.rsplit_once('/')?;
    let mut tree = tree.clone();
    match tree.pointer_mut(parent)? {
        Value::Object(fields) => drop(fields.remove(key)?),
        Value::Array(items) => drop(items.remove(key.parse().ok()?)),
        _ => return None,
    }
    Some(tree)
}

/// The tree with something else at this place: of another type, of the same type, and with more in it.
fn others(tree: &Value, place: &str) -> Vec<Value> {
    let was = tree.pointer(place).unwrap();
    let mut others =
        vec![Value::Null, true.into(), 0.into(), (-1).into(), json!(0.5), "".into(), json!([]), json!({})];
    match was {
        Value::Number(n) => {
            others.extend([json!(n.as_u64().unwrap_or(0) + 1), json!(u64::MAX), json!(n.as_f64())])
        }
        Value::String(text) => {
            others.extend([json!(format!("{text}x")), json!(text.to_lowercase()), json!([text])])
        }
        Value::Bool(is) => others.push(json!(!is)),
        Value::Array(items) => others.push(items.iter().chain([&Value::Null]).cloned().collect()),
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("more".into(), Value::Null);
            others.push(Value::Object(more));
        }
        Value::Null => others.extend([json!("x"), json!(1)]),
    }
    let changed = others.into_iter().filter(|other| other != was).map(|other| {
        let mut tree = tree.clone();
        *tree.pointer_mut(place).unwrap() = other;
        tree
    });
    changed.collect()
}

mod fields {
    use super::*;

    /// Every field of every state: removed, added, of another type, of another value.
    fn any_field<D: Documented>(_: D) {
        let (mut tried, mut taken_as_sealed) = (0, 0);
        for &status in <D::Machine as Stateful>::Status::ALL {
            let stored = Snapshot::of(&D::at(status)).unwrap();
            let tree: Value = serde_json::from_str(&stored.to_json()).unwrap();
            for place in places(&tree) {
                for changed in without(&tree, &place).into_iter().chain(others(&tree, &place)) {
                    let text = changed.to_string();
                    match read::<D::Machine>(&stored, text.as_bytes()) {
                        Ok(Read::AsSealed) => taken_as_sealed += 1,
                        Ok(Read::Refused) => {}
                        Err(error) => panic!("{}, changed at {place:?}: {error}", D::TABLE.name),
                    }
                    tried += 1;
                }
            }
        }
        // The test tells: most changes are no machine, some are, behind a new seal.
        assert!(taken_as_sealed > 0 && tried > 2 * taken_as_sealed, "{taken_as_sealed} of {tried}");
    }

    for_each_lifecycle!(any_field);
}

mod bytes {
    use super::*;

    /// Any bytes, written over any part of what a random walk leaves.
    fn any_byte<D: Documented>(subject: D) {
        let config = Config {
            cases: 96,
            rng_seed: RngSeed::Fixed(2),
            source_file: Some(file!()),
            ..Config::default()
        };
        let damage = (any::<Index>(), 0..4_usize, proptest::collection::vec(any::<u8>(), 0..4));
        let digit = (any::<Index>(), Just(1_usize), proptest::collection::vec(b'0'..=b'9', 1));
        let damages = proptest::collection::vec(prop_oneof![damage, digit], 1..3);
        let result = TestRunner::new(config).run(&(mixed_paths(subject, 20), damages), |(path, damages)| {
            let (mut machine, events) = path.into_parts();
            for event in events {
                machine = machine.apply(event).unwrap_or_else(|refused| refused.into_parts().0);
            }
            let stored = Snapshot::of(&machine).unwrap();
            let mut damaged = stored.to_json().into_bytes();
            for (at, length, bytes) in damages {
                let start = at.index(damaged.len());
                let end = (start + length).min(damaged.len());
                damaged.splice(start..end, bytes);
            }
            read::<D::Machine>(&stored, &damaged).map(drop).map_err(TestCaseError::fail)
        });
        if let Err(error) = result {
            panic!("{}: {error}", D::TABLE.name);
        }
    }

    for_each_lifecycle!(any_byte);
}
