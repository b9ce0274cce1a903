//! Any field of anything that is stored under a key, changed by a writer without the key.

use runstate::decision::{Decision, DecisionAction};
use runstate_agent::{Incoming, Unchecked};
use runstate_store::{ApprovalFilter, ApprovalQuery, Parts, RunData, RunLists, decide};
use serde_json::{Value, json};

use super::keyed::{World, approval, texts, world};

/// The paths of all values in it.
fn paths(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in inner {
        found.extend(paths(value).into_iter().map(|path| format!("/{name}{path}")));
    }
    found
}

/// Each field of it, with each of five other values.
fn changes(value: &Value) -> Vec<(String, Value)> {
    let others = [Value::Null, json!("x"), json!(7), json!({}), json!([])];
    let mut changed = Vec::new();
    for path in paths(value) {
        for other in &others {
            let mut forged = value.clone();
            let place = forged.pointer_mut(&path).unwrap();
            if place != other {
                place.clone_from(other);
                changed.push((format!("{path} to {other}"), forged));
            }
        }
    }
    changed
}

/// A place of a run that has one JSON value.
type Place = fn(&mut Parts, usize, Value);

async fn refuses_each(world: &World, of: &str, row: usize, value: &Value, place: Place) {
    let changes = changes(value);
    assert!(!changes.is_empty());
    for (what, forged) in changes {
        world.refuses(&format!("{of} {row}: {what}"), move |parts| place(parts, row, forged.clone())).await;
    }
}

#[tokio::test]
async fn a_changed_field_of_any_row_is_refused() {
    let world = world().await;
    let mut parts = world.open.store.parts("r1").await.unwrap();
    refuses_each(&world, "spec", 0, &parts.spec, |parts, _, forged| parts.spec = forged).await;
    let rows: Vec<Value> = texts(&mut parts).iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    for (row, value) in rows.iter().enumerate() {
        refuses_each(&world, "row", row, value, |parts, row, forged| *texts(parts)[row] = forged.to_string())
            .await;
    }
}

#[tokio::test]
async fn a_changed_field_of_a_cancellation_is_refused() {
    let world = world().await;
    world.store.cancel("r1", "a reason").await.unwrap();
    let stored = world.open.store.parts("r1").await.unwrap().info.cancel.unwrap();
    let stored = serde_json::from_str(&stored).unwrap();
    refuses_each(&world, "cancellation", 0, &stored, |parts, _, forged| {
        parts.info.cancel = Some(forged.to_string());
    })
    .await;
}

#[tokio::test]
async fn a_changed_field_of_a_decision_is_refused() {
    let world = world().await;
    let open = approval(&*world.store, "r1").await;
    let incoming =
        Incoming::new("d1", &*open.call, DecisionAction::Resume).on(&*open.suspension.id).by("ada");
    let incoming = Incoming { run_id: Some("r1".to_owned()), ..incoming };
    decide(&*world.store, &incoming, 5, &Unchecked).await.unwrap();
    let stored = world.open.store.pending_signals("r1").await.unwrap().decisions.remove(0);
    let forged: Vec<(String, Decision)> = changes(&serde_json::to_value(&stored).unwrap())
        .into_iter()
        .filter_map(|(what, forged)| Some((what, serde_json::from_value(forged).ok()?)))
        .filter(|(_, forged)| *forged != stored)
        .collect();
    assert!(forged.len() > 10, "{forged:?}");
    for (what, forged) in forged {
        world.open.changes.lock().unwrap().mail =
            Some(Box::new(move |mail| mail.decisions = vec![forged.clone()]));
        let read = world.store.pending_signals("r1").await;
        assert!(read.is_err(), "{what}: {read:?}");
    }
}

#[tokio::test]
async fn a_changed_field_of_a_question_is_refused() {
    let world = world().await;
    let query = ApprovalQuery::new(ApprovalFilter::Run("r1".to_owned()), 10);
    let open = world.open.store.approvals(&query).await.unwrap().remove(0);
    let refuses = async |what: &str, change: Box<dyn Fn(&mut runstate_store::Approval) + Send + Sync>| {
        world.open.changes.lock().unwrap().approvals =
            Some(Box::new(move |all| all.iter_mut().for_each(&change)));
        let read = world.store.approvals(&query).await;
        assert!(read.is_err(), "{what}: {read:?}");
    };
    for (what, forged) in changes(&open.arguments) {
        refuses(&what, Box::new(move |open| open.arguments = forged.clone())).await;
    }
    let suspension = serde_json::to_value(&open.suspension).unwrap();
    for (what, forged) in changes(&suspension) {
        let Ok(forged) = serde_json::from_value::<runstate::decision::Suspension>(forged) else { continue };
        if forged != open.suspension {
            refuses(&what, Box::new(move |open| open.suspension = forged.clone())).await;
        }
    }
}
