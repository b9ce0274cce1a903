//! From older versions to this one, by name, or not at all.

use runstate::kernel::Fingerprint;
use runstate::snapshot::{Migration, RestoreError, Snapshot, Stored};
use serde_json::json;

use super::super::door::{AnyDoor, DoorStatus, doors};
use super::{assert_text, with_new_checksum};

const OLD: Fingerprint = Fingerprint::from_hex("00000000000000a1");
const MIDDLE: Fingerprint = Fingerprint::from_hex("00000000000000a2");

/// A door as version 1 stored it: the status was called `Bolted`, the key a text.
fn version_1() -> Snapshot {
    with_new_checksum(&Snapshot::of(&doors(7)[2]).unwrap(), |json| {
        json["version"] = 1.into();
        json["fingerprint"] = OLD.to_string().into();
        json["status"] = "Bolted".into();
        json["record"] = json!({"key": "7"});
    })
}

const KEYS_ARE_NUMBERS: Migration = Migration::step("keys are numbers", 1, OLD, |mut stored| {
    let key = stored.record["key"].as_str().ok_or("the record has no key")?;
    stored.record["key"] = key.parse::<u32>().map_err(|e| format!("key {key:?}: {e}"))?.into();
    Ok(Stored { version: 2, ..stored })
});

const BOLTED_IS_LOCKED_UP: Migration = Migration::step("bolted is locked up", 2, MIDDLE, |mut stored| {
    if stored.status == "Bolted" {
        stored.status = "LOCKED_UP".to_owned();
    }
    Ok(Stored { version: 3, ..stored })
});

#[test]
fn migrations_follow_one_another_whatever_their_order() {
    for migrations in [[KEYS_ARE_NUMBERS, BOLTED_IS_LOCKED_UP], [BOLTED_IS_LOCKED_UP, KEYS_ARE_NUMBERS]] {
        let door: AnyDoor = version_1().restore_with(&migrations).unwrap();
        assert_eq!((door.status(), door.record().key), (DoorStatus::Locked, 7));
        assert_eq!(Snapshot::of(&door).unwrap(), Snapshot::of(&doors(7)[2]).unwrap());
    }
}

#[test]
fn a_current_snapshot_needs_no_migration() {
    let stored = Snapshot::of(&doors(7)[1]).unwrap();
    let door: AnyDoor = stored.restore_with(&[KEYS_ARE_NUMBERS, BOLTED_IS_LOCKED_UP]).unwrap();
    assert_eq!(door.status(), DoorStatus::Shut);
}

#[test]
fn a_gap_in_the_chain_is_refused_where_it_opens() {
    let error = version_1().restore_with::<AnyDoor>(&[KEYS_ARE_NUMBERS]).unwrap_err();
    assert_eq!(error, RestoreError::Version { lifecycle: "door", got: 2, expected: 3 });
    let error = version_1().restore_with::<AnyDoor>(&[BOLTED_IS_LOCKED_UP]).unwrap_err();
    assert_eq!(error, RestoreError::Version { lifecycle: "door", got: 1, expected: 3 });
}

#[test]
fn a_migration_that_fails_says_why() {
    let stored = with_new_checksum(&version_1(), |json| json["record"]["key"] = "seven".into());
    let error = stored.restore_with::<AnyDoor>(&[KEYS_ARE_NUMBERS, BOLTED_IS_LOCKED_UP]).unwrap_err();
    assert!(matches!(error, RestoreError::Migration { name: "keys are numbers", .. }));
    assert_text("migration_fails", error);
}

#[test]
fn a_migration_that_does_not_raise_the_version_is_stopped() {
    let idle = Migration::step("idle", 1, OLD, Ok);
    let error = version_1().restore_with::<AnyDoor>(&[idle]).unwrap_err();
    assert!(matches!(error, RestoreError::Migration { .. }));
    assert_text("migration_does_not_raise", error);
}

#[test]
fn a_migration_that_goes_too_far_is_refused() {
    let far = Migration::step("far", 1, OLD, |stored| Ok(Stored { version: 9, ..stored }));
    let error = version_1().restore_with::<AnyDoor>(&[far]).unwrap_err();
    assert_eq!(error, RestoreError::Version { lifecycle: "door", got: 9, expected: 3 });
}

#[test]
fn a_migration_does_not_run_on_another_graph_than_it_reads() {
    let stored = with_new_checksum(&version_1(), |json| json["fingerprint"] = MIDDLE.to_string().into());
    let error = stored.restore_with::<AnyDoor>(&[KEYS_ARE_NUMBERS, BOLTED_IS_LOCKED_UP]).unwrap_err();
    assert!(matches!(error, RestoreError::Fingerprint { .. }));
    assert_text("migration_from_another_graph", error);
}

#[test]
fn a_migration_must_lead_to_this_graph() {
    let astray = Migration::step("astray", 1, OLD, |stored| Ok(Stored { version: 3, ..stored }))
        .to(Fingerprint::from_hex("00000000000000a3"));
    let error = version_1().restore_with::<AnyDoor>(&[astray]).unwrap_err();
    assert!(matches!(error, RestoreError::Fingerprint { .. }));
    assert_text("migration_to_another_graph", error);
}

#[test]
fn a_migrated_snapshot_is_checked_like_any_other() {
    let unfinished = Migration::step("unfinished", 1, OLD, |stored| Ok(Stored { version: 3, ..stored }));
    let error = version_1().restore_with::<AnyDoor>(&[unfinished]).unwrap_err();
    assert!(matches!(error, RestoreError::Status(_)));
}

#[test]
fn snapshot_with_a_wrong_checksum_is_not_migrated() {
    let json = version_1().to_json().replace("\"key\":\"7\"", "\"key\":\"8\"");
    let broken = Snapshot::from_json(json.as_bytes()).unwrap();
    let error = broken.restore_with::<AnyDoor>(&[KEYS_ARE_NUMBERS, BOLTED_IS_LOCKED_UP]).unwrap_err();
    assert!(matches!(error, RestoreError::Digest { .. }));
}

/// The door before it could be taken out, and before it could be locked.
const NO_WAY_OUT: Fingerprint = Fingerprint::of_diagram(
    "```mermaid\nstateDiagram-v2\n[*] --> Open\nOpen --> Shut : close\nShut --> Open : push\nShut --> LOCKED_UP : lock\n\
     LOCKED_UP --> Shut : unlock\n```\n",
);
const NO_LOCK: Fingerprint = Fingerprint::of_diagram(
    "```mermaid\nstateDiagram-v2\n[*] --> Open\nOpen --> Shut : close\nShut --> Open : push\n```\n",
);

fn under(fingerprint: Fingerprint) -> Snapshot {
    with_new_checksum(&Snapshot::of(&doors(7)[1]).unwrap(), |json| {
        json["fingerprint"] = fingerprint.to_string().into()
    })
}

#[test]
fn a_graph_that_only_grew_strands_no_snapshot() {
    let grew = [Migration::only_grew(NO_WAY_OUT), Migration::only_grew(NO_LOCK)];
    for earlier in [NO_WAY_OUT, NO_LOCK] {
        let error = under(earlier).restore::<AnyDoor>().unwrap_err();
        assert!(matches!(error, RestoreError::Fingerprint { .. }), "{error}");
        let door: AnyDoor = under(earlier).restore_with(&grew).unwrap();
        assert_eq!((door.status(), door.record().key), (DoorStatus::Shut, 7));
    }
    // Another graph than those that were registered is none of them.
    assert!(under(NO_LOCK).restore_with::<AnyDoor>(&grew[..1]).is_err());
}

#[test]
fn grown_graph_may_grow_again_and_then_change_its_form() {
    const TO_VERSION_3: Migration =
        Migration::step("keys are numbers", 2, NO_WAY_OUT, |stored| Ok(Stored { version: 3, ..stored }));
    let migrations = [Migration::only_grew(NO_LOCK).to(NO_WAY_OUT), TO_VERSION_3];
    let stored = with_new_checksum(&under(NO_LOCK), |json| json["version"] = 2.into());
    let door: AnyDoor = stored.restore_with(&migrations).unwrap();
    assert_eq!(door.status(), DoorStatus::Shut);
}

#[test]
fn a_state_that_was_taken_away_all_the_same_is_refused() {
    let stored = with_new_checksum(&under(NO_LOCK), |json| json["status"] = "Ajar".into());
    let error = stored.restore_with::<AnyDoor>(&[Migration::only_grew(NO_LOCK)]).unwrap_err();
    assert!(matches!(error, RestoreError::Status(_)), "{error}");
}

/// As version 0.1.0 stored it: the name alone, and in the fingerprint as well.
#[test]
fn a_snapshot_of_the_first_version_is_read() {
    let stored = with_new_checksum(&Snapshot::of(&doors(7)[1]).unwrap(), |json| {
        json["lifecycle"] = "door".into();
        json["fingerprint"] = "1d75c1d240685062".into();
    });
    let door: AnyDoor = stored.restore().unwrap();
    assert_eq!(Snapshot::of(&door).unwrap().lifecycle(), "runstate/door");
}
