//! A machine's stored form, and the way back from it.

use std::fmt::Debug;

use runstate::kernel::ReadRecord;
use runstate::kernel::{Persist, Restore};
use runstate::snapshot::Snapshot;
use serde::Serialize;
use serde_json::Value;

/// The whole stored form.
pub(crate) fn form<P: Persist<Record: Serialize>>(machine: &P) -> Snapshot {
    Snapshot::of(machine).unwrap()
}

/// The stored data of the state.
pub(crate) fn state<P: Persist<Record: Serialize>>(machine: &P) -> Value {
    form(machine).state().clone()
}

/// Stores the machine and brings it back: nothing of it may change.
pub(crate) fn brought_back<M>(machine: M) -> M
where
    M: Restore + Debug,
    M::Record: Serialize + ReadRecord,
{
    let stored = form(&machine).to_json();
    let back: M = Snapshot::from_json(stored.as_bytes()).unwrap().restore().unwrap();
    assert_eq!(format!("{back:?}"), format!("{machine:?}"), "the machine is the same");
    assert_eq!(form(&back).to_json(), stored, "and is stored the same");
    back
}

/// As [`brought_back`], where there is no more to ask of the machine.
pub(crate) fn survives<M>(machine: M)
where
    M: Restore + Debug,
    M::Record: Serialize + ReadRecord,
{
    drop(brought_back(machine));
}

/// Takes each machine through storage, and holds the stored forms against `snapshots/`: a change of one breaks runs that
/// are at rest somewhere, so it must be seen in a review.
pub(crate) fn assert_forms<M>(name: &str, machines: impl IntoIterator<Item = M>)
where
    M: Restore + Debug,
    M::Record: Serialize + ReadRecord,
{
    let forms: Vec<Value> = machines
        .into_iter()
        .map(|machine| serde_json::from_str(&form(&brought_back(machine)).to_json()).unwrap())
        .collect();
    let text: Vec<String> = forms.iter().map(|form| serde_json::to_string_pretty(form).unwrap()).collect();
    super::snapshots()
        .bind(|| insta::assert_snapshot!(format!("lifecycle__{name}__stored"), text.join("\n")));
}
