//! A snapshot that was damaged never panics and never gives a machine that was not stored.

use proptest::prelude::*;
use runstate::kernel::ReadRecord;
use runstate::kernel::Restore;
use runstate::snapshot::{RestoreError, Snapshot};
use runstate::tool_call::AnyToolCall;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::door::{AnyDoor, doors};
use super::calls::calls;
use super::with_new_checksum;

/// Reads damaged bytes: they give an error or what was stored. Behind a new seal they give an error or just what the
/// bytes say.
fn check<M: Restore>(stored: &Snapshot, bytes: &[u8])
where
    M::Record: Serialize + ReadRecord,
{
    let Ok(mut read) = Snapshot::from_json(bytes) else { return };
    if let Ok(machine) = read.restore::<M>() {
        assert_eq!(Snapshot::of(&machine).unwrap(), *stored, "{}", String::from_utf8_lossy(bytes));
    }
    read.recompute_checksum();
    if let Ok(machine) = read.restore::<M>() {
        assert_eq!(Snapshot::of(&machine).unwrap(), read, "{}", String::from_utf8_lossy(bytes));
    }
}

fn all_bit_flips<M: Restore>(stored: &Snapshot) -> usize
where
    M::Record: Serialize + ReadRecord,
{
    let mut bytes = stored.to_json().into_bytes();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            check::<M>(stored, &bytes);
            bytes[at] ^= 1 << bit;
        }
    }
    bytes.len() * 8
}

#[test]
fn every_bit_of_a_stored_call_may_flip() {
    let flips: usize =
        calls().iter().map(|call| all_bit_flips::<AnyToolCall>(&Snapshot::of(call).unwrap())).sum();
    assert!(flips > 10_000, "{flips}");
}

#[test]
fn every_bit_of_a_stored_door_may_flip() {
    let flips: usize =
        doors(7).iter().map(|door| all_bit_flips::<AnyDoor>(&Snapshot::of(door).unwrap())).sum();
    assert!(flips > 5_000, "{flips}");
}

#[test]
fn every_prefix_of_a_snapshot_is_refused() {
    let json = Snapshot::of(&doors(7)[2]).unwrap().to_json();
    for length in 0..json.len() {
        assert!(Snapshot::from_json(&json.as_bytes()[..length]).is_err(), "{length}");
    }
}

/// Values of every kind to put in the place of a field.
fn foreign() -> [Value; 8] {
    [Value::Null, true.into(), 0.into(), (-1).into(), json!(0.5), "\u{0}".into(), json!([]), json!({"": {}})]
}

#[test]
fn every_field_of_a_stored_door_may_be_another() {
    for door in doors(7) {
        let stored = Snapshot::of(&door).unwrap();
        let json: Value = serde_json::from_str(&stored.to_json()).unwrap();
        for field in json.as_object().unwrap().keys() {
            for value in foreign() {
                let mut changed = json.clone();
                if std::mem::replace(&mut changed[field], value) == changed[field] {
                    continue;
                }
                let changed = changed.to_string();
                check::<AnyDoor>(&stored, changed.as_bytes());
                let restored = Snapshot::from_json(changed.as_bytes()).map(|read| read.restore::<AnyDoor>());
                assert!(
                    matches!(restored, Err(_) | Ok(Err(RestoreError::Digest { .. }))),
                    "{field} changed in spite of the seal: {changed}"
                );
            }
        }
    }
}

#[test]
fn every_field_of_a_call_may_change_under_a_new_checksum() {
    for call in calls() {
        let stored = Snapshot::of(&call).unwrap();
        for part in ["record", "state"] {
            let json: Value = serde_json::from_str(&stored.to_json()).unwrap();
            let fields: Vec<String> =
                json[part].as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
            for field in fields {
                for value in foreign() {
                    let changed = with_new_checksum(&stored, |json| json[part][&field] = value);
                    check::<AnyToolCall>(&changed, changed.to_json().as_bytes());
                }
                let changed = with_new_checksum(&stored, |json| {
                    json[part].as_object_mut().unwrap().remove(&field);
                });
                check::<AnyToolCall>(&changed, changed.to_json().as_bytes());
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_may_be_written_over_a_snapshot(
        which in 0..7usize,
        at in any::<proptest::sample::Index>(),
        length in 0..8usize,
        bytes in proptest::collection::vec(any::<u8>(), 0..8),
    ) {
        let stored = Snapshot::of(&calls()[which]).unwrap();
        let mut damaged = stored.to_json().into_bytes();
        let start = at.index(damaged.len());
        let end = (start + length).min(damaged.len());
        damaged.splice(start..end, bytes);
        check::<AnyToolCall>(&stored, &damaged);
    }

    #[test]
    fn a_piece_of_one_snapshot_may_be_written_over_another(
        (one, other) in (0..7usize, 0..7usize),
        (from, to, at) in any::<(proptest::sample::Index, proptest::sample::Index, proptest::sample::Index)>(),
    ) {
        let stored = Snapshot::of(&calls()[one]).unwrap();
        let piece = Snapshot::of(&calls()[other]).unwrap().to_json().into_bytes();
        let (from, to) = (from.index(piece.len()), to.index(piece.len()));
        let piece = &piece[from.min(to)..from.max(to)];
        let mut damaged = stored.to_json().into_bytes();
        let start = at.index(damaged.len());
        let end = (start + piece.len()).min(damaged.len());
        damaged.splice(start..end, piece.iter().copied());
        check::<AnyToolCall>(&stored, &damaged);
    }

    #[test]
    fn any_bytes_may_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(Snapshot::from_json(&bytes).is_err());
    }
}
