//! What the tests of every lifecycle ask of it.

use std::fmt::Debug;

use runstate::kernel::ReadRecord;
use runstate::kernel::{Event, Restore, Stateful, Status};
use runstate::snapshot::{RestoreError, Snapshot};
use serde::Serialize;
use serde_json::Value;

/// Snapshots of this area go to `snapshots/` at the top, as `lifecycle__*`.
pub(super) fn snapshots() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// Holds `text` against the stored snapshot `lifecycle__<name>`.
pub(super) fn assert_stored(name: &str, text: &str) {
    snapshots().bind(|| insta::assert_snapshot!(format!("lifecycle__{name}"), text));
}

/// Every state, written down, read back and written again; gives what was written, a line of JSON each for the record and
/// the state's data.
pub(super) fn round_trips<M>(at: impl Fn(M::Status) -> M) -> String
where
    M: Restore,
    M::Record: Serialize + ReadRecord,
{
    let mut text = String::new();
    for &status in M::Status::ALL {
        let snapshot = Snapshot::of(&at(status)).unwrap();
        let read = Snapshot::from_json(snapshot.to_json().as_bytes()).unwrap();
        let again: M = read.restore().unwrap();
        assert_eq!(again.status(), status);
        assert_eq!(Snapshot::of(&again).unwrap(), snapshot, "{status} does not survive storage");
        text.push_str(&format!("{status}\n  record {}\n  state  {}\n", snapshot.record(), snapshot.state()));
    }
    text
}

/// What is said when a snapshot of `machine` is changed by hand and sealed anew.
pub(super) fn doctored<M>(machine: &M, edit: impl FnOnce(&mut Value)) -> String
where
    M: Restore,
    M::Record: Serialize + ReadRecord,
{
    let mut json: Value = serde_json::from_str(&Snapshot::of(machine).unwrap().to_json()).unwrap();
    edit(&mut json);
    let mut snapshot = Snapshot::from_json(json.to_string().as_bytes()).unwrap();
    assert!(matches!(snapshot.verify(), Err(RestoreError::Digest { .. })), "the edit changed nothing");
    snapshot.recompute_checksum();
    match snapshot.restore::<M>() {
        Ok(machine) => panic!("the doctored snapshot gave a machine in {}", machine.status()),
        Err(error @ RestoreError::Shape { .. }) => error.to_string(),
        Err(error) => panic!("refused for another reason: {error}"),
    }
}

/// Every state with one payload of every event: an edge of the graph is taken, whatever its guard; anything else is refused
/// and leaves the machine as it was.
pub(super) fn takes_its_edges<M>(at: impl Fn(M::Status) -> M, events: impl Fn() -> Vec<M::Event>)
where
    M: Restore,
    M::Record: Serialize,
{
    let names: Vec<_> = events().iter().map(Event::name).collect();
    assert_eq!(names, <M::Event as Event>::NAMES, "one payload of every event, in order");
    for &status in M::Status::ALL {
        for event in events() {
            let before = Snapshot::of(&at(status)).unwrap();
            let edge = M::GRAPH.edge(status.name(), event.name());
            match at(status).apply(event) {
                Ok(after) => assert_eq!(Some(after.status().name()), edge.map(|e| e.to), "from {status}"),
                Err(refused) => {
                    assert!(edge.is_none(), "{refused}");
                    assert_eq!(
                        Snapshot::of(refused.machine()).unwrap(),
                        before,
                        "a refusal changed something"
                    );
                }
            }
        }
    }
}

/// The tables of states and of edges in a lifecycle's document say what its graph says, in the same order.
pub(super) fn tables_agree<S: Status>(document: &str) {
    // Both tables have a type or a method in their second column, and no other table has.
    let rows: Vec<Vec<&str>> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'))
        .map(|row| row.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|row| row.get(1).is_some_and(|cell| cell.starts_with('`')))
        .collect();
    let states: Vec<_> =
        rows.iter().filter(|row| !row[0].contains(' ')).map(|row| (row[0], row[1])).collect();
    let types: Vec<_> = S::ALL.iter().map(|status| format!("`{status:?}`")).collect();
    let expected: Vec<_> =
        S::ALL.iter().zip(&types).map(|(status, name)| (status.name(), &name[..])).collect();
    assert_eq!(states, expected, "the table of states");

    let edges: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let (from, to) = row[0].split_once(" to ")?;
            Some((from, row[1].trim_matches('`'), to))
        })
        .collect();
    let expected: Vec<_> = S::graph().edges.iter().map(|e| (e.from, e.event, e.to)).collect();
    assert_eq!(edges, expected, "the table of edges");
}

/// `at` gives a machine in each status that it is asked for.
pub(super) fn assert_states_are_reached<M: Restore + Stateful>(all: &[M::Status], at: fn(M::Status) -> M) {
    for status in all {
        assert_eq!(at(*status).status(), *status);
    }
}

/// `ready` and `event` give, for each edge of the graph, a machine and a payload that take it.
pub(super) fn assert_every_edge_is_taken<M: Restore + Debug>(
    all: &[M::Status],
    ready: fn(M::Status, &str) -> M,
    event: fn(&M, &str) -> M::Event,
) {
    let mut taken = 0;
    for status in all {
        for edge in M::GRAPH.ways_out(status.name()) {
            let machine = ready(*status, edge.event);
            let payload = event(&machine, edge.event);
            let machine = machine.apply(payload).unwrap_or_else(|refused| panic!("{edge}: {refused}"));
            assert_eq!(machine.status().name(), edge.to, "{edge}");
            taken += 1;
        }
    }
    assert_eq!(taken, M::GRAPH.edges.len());
}
