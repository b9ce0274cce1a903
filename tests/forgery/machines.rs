//! Machines in a state that they did not reach.

use runstate::kernel::{
    Graph, Machine, Observer, Persist, Proof, Refusal, Refused, Rehydration, Restore, Stateful, Witness,
    build,
};
use runstate::run::{Run, RunRecord};
use runstate::run_flow::{AnyRunFlow, FlowRecord};
use runstate::snapshot::{Bundle, BundleLog, Graphs, RestoreError, Snapshot, SnapshotError};
use runstate::tool_call::{AnyToolCall, CallRecord, ToolCallEvent, ToolCallStatus};
use runstate_agent::{RunState, StoredRun};
use runstate_store::{Claim, Loaded, MemoryStore, NewRun, RunData, RunQueue};
use runstate_store_conformance::Played;
use serde::{Deserializer, Serializer};

use super::{thief, twin};
use crate::kernel::door::{AnyDoor, Close, Door, House};

fn new_call() -> CallRecord {
    CallRecord::new("pay_1", "pay", Default::default())
}

/// A machine by hand that names the graph of tool calls and says of itself what it likes.
#[derive(Debug)]
struct Liar(CallRecord);

impl Stateful for Liar {
    type Record = CallRecord;
    type Status = ToolCallStatus;
    const GRAPH: &'static Graph = AnyToolCall::GRAPH;
    const PROOF: Proof<Self> = Proof::new(&OWN);

    fn status(&self) -> ToolCallStatus {
        ToolCallStatus::Succeeded
    }
    fn record(&self) -> &CallRecord {
        &self.0
    }
}

impl Persist for Liar {
    fn serialize_state<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl Machine for Liar {
    type Event = ToolCallEvent;

    fn create(record: CallRecord) -> Self {
        Liar(record)
    }
    fn apply(self, _: ToolCallEvent) -> Result<Self, Refused<Self>> {
        Ok(self)
    }
    fn check<'a>(&'a self, _: &'a ToolCallEvent) -> Result<(), Refusal<'a, Self>> {
        Ok(())
    }
    fn observe(&mut self, _: Observer) {}
}

impl Restore for Liar {
    /// The permit is for this type: `AnyToolCall::rehydrate` does not take it.
    fn rehydrate<'de, D: Deserializer<'de>>(
        _: Rehydration<Self>,
        _: ToolCallStatus,
        record: CallRecord,
        _: D,
    ) -> Result<Self, D::Error> {
        Ok(Liar(record))
    }
}

const UNPROVEN: &str = "Liar is no machine of runstate/tool_call: only a type that the `lifecycle!` of runstate/tool_call \
                        generated is stored under that identity";

#[test]
fn snapshot_of_a_handmade_machine_with_a_foreign_graph_fails() {
    let error = Snapshot::of(&Liar(new_call())).unwrap_err();
    assert!(matches!(error, SnapshotError::Unproven { .. }));
    assert!(error.to_string().ends_with(UNPROVEN), "{error}");

    let call: AnyToolCall = Snapshot::of(&AnyToolCall::new(new_call())).unwrap().restore().unwrap();
    assert_eq!(call.status(), ToolCallStatus::New);
}

#[test]
fn handmade_machine_is_not_added_to_a_bundle() {
    let graphs = [AnyToolCall::GRAPH];
    let lie = Bundle::write(&graphs, true, &(), |machines| machines.add("pay_1", &Liar(new_call())));
    assert!(lie.unwrap_err().to_string().ends_with(UNPROVEN));
    let mut log = BundleLog::default();
    assert!(log.append(&graphs, true, &(), |machines| machines.add("pay_1", &Liar(new_call()))).is_err());
    assert!(log.is_empty());

    let call = AnyToolCall::new(new_call());
    assert!(Bundle::write(&graphs, true, &(), |machines| machines.add("pay_1", &call)).is_ok());
}

#[test]
fn snapshot_does_not_restore_into_a_handmade_machine() {
    let stored = Snapshot::of(&AnyToolCall::new(new_call())).unwrap();
    for stored in [&stored, &Snapshot::from_json(stored.to_json().as_bytes()).unwrap()] {
        let error = stored.restore::<Liar>().unwrap_err();
        assert!(matches!(error, RestoreError::OtherLifecycle { .. }), "{error}");
        assert!(stored.restore::<AnyToolCall>().is_ok());
    }
}

/// A lifecycle of one's own keeps the record of a documented one, to take it out in an `Enter`.
#[test]
fn record_of_a_documented_lifecycle_restores_only_into_it() {
    let run = Run::new(RunRecord::new("r1"));
    let thief = thief::AnyThief::new(FlowRecord::new(&run, 0));
    let text = Snapshot::of(&thief).unwrap().to_json();
    let error = Snapshot::from_json(text.as_bytes()).unwrap().restore::<thief::AnyThief>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the record is not that of a machine in Idle: it is read for machines of runstate/run_flow alone"
    );
    let flow = AnyRunFlow::new(FlowRecord::new(&run, 0));
    assert!(Snapshot::of(&flow).unwrap().restore::<AnyRunFlow>().is_ok());
}

#[test]
fn in_memory_snapshot_restores_only_into_its_own_lifecycle() {
    let paid = twin::AnyDoor::new(twin::House::new(7)).apply(twin::Close.into()).unwrap();
    let locked = paid.apply(twin::Lock.into()).unwrap();
    let taken = Snapshot::of(&locked).unwrap();
    assert_eq!((taken.lifecycle(), taken.status()), ("runstate/door", "LOCKED_UP"));
    let error = taken.restore::<AnyDoor>().unwrap_err();
    assert!(matches!(error, RestoreError::OtherLifecycle { .. }), "{error}");

    let door: AnyDoor = Door::new(House::new(7)).close(Close).into();
    let door: AnyDoor = Snapshot::of(&door).unwrap().restore().unwrap();
    assert_eq!(door.status().name(), "Shut");
}

#[test]
fn bundle_refuses_a_lifecycle_with_the_same_name() {
    let door = twin::AnyDoor::new(twin::House::new(7));
    let error =
        Bundle::write(&[AnyDoor::GRAPH], true, &(), |machines| machines.add("door", &door)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the machine \"door\" cannot be bundled: its graph is not one of the bundle's"
    );

    let mut log = BundleLog::default();
    log.append(&[twin::AnyDoor::GRAPH], true, &(), |machines| machines.add("door", &door)).unwrap();
    assert!(
        log.append(&[AnyDoor::GRAPH], true, &(), |_| Ok(())).is_err(),
        "a log has the graphs it began with"
    );
    let bundle = log.read().next().unwrap().unwrap();
    let error = bundle.machine("door").unwrap().restore::<AnyDoor>().unwrap_err();
    assert!(matches!(error, RestoreError::OtherLifecycle { .. }), "{error}");
    assert!(bundle.machine("door").unwrap().restore::<twin::AnyDoor>().is_ok());
}

/// A graph by hand, under the identity of a documented lifecycle or under the name that version 0.1.0 stored.
#[derive(Debug)]
struct Impostor<const BARE: bool>(twin::House);

const fn impostor(identity: &'static [&'static str]) -> Graph {
    let names = build::Names { name: "mine", package: None, identity };
    build::graph(&OWN, &names, "", 1, AnyToolCall::GRAPH.states, AnyToolCall::GRAPH.events, &[])
}

static OWN: Witness = Witness::at("here");

static FULL: Graph = impostor(&["runstate/tool_call"]);
static BARE: Graph = impostor(&["tool_call"]);

impl<const IS_BARE: bool> Stateful for Impostor<IS_BARE> {
    type Record = twin::House;
    type Status = ToolCallStatus;
    const GRAPH: &'static Graph = if IS_BARE { &BARE } else { &FULL };
    const PROOF: Proof<Self> = Proof::new(&OWN);

    fn status(&self) -> ToolCallStatus {
        ToolCallStatus::Succeeded
    }
    fn record(&self) -> &twin::House {
        &self.0
    }
}

impl<const IS_BARE: bool> Persist for Impostor<IS_BARE> {
    fn serialize_state<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

#[test]
fn documented_identity_is_stored_only_for_its_own_lifecycle() {
    let full = Snapshot::of(&Impostor::<false>(twin::House::new(1))).unwrap_err();
    let bare = Snapshot::of(&Impostor::<true>(twin::House::new(1))).unwrap_err();
    for error in [full, bare] {
        assert!(matches!(error, SnapshotError::Unproven { .. }), "{error}");
    }
    let machine = Impostor::<true>(twin::House::new(1));
    assert!(Bundle::write(&[&BARE], true, &(), |machines| machines.add("x", &machine)).is_err());
}

/// A machine of a graph of its own, in a bundle that lists another graph of the same witness in its place.
#[derive(Debug)]
struct Sheep(twin::House);

static SHEEP: Graph = impostor(&["evil/x"]);

impl Stateful for Sheep {
    type Record = twin::House;
    type Status = ToolCallStatus;
    const GRAPH: &'static Graph = &SHEEP;
    const PROOF: Proof<Self> = Proof::new(&OWN);

    fn status(&self) -> ToolCallStatus {
        ToolCallStatus::Succeeded
    }
    fn record(&self) -> &twin::House {
        &self.0
    }
}

impl Persist for Sheep {
    fn serialize_state<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

#[test]
fn bundle_rejects_a_foreign_graph_under_a_documented_identity() {
    static OTHER: Graph = impostor(&["evil/y"]);
    let sheep = || Sheep(twin::House::new(1));
    for listed in [&FULL, &BARE] {
        let refused =
            Bundle::write(&[listed], true, &(), |machines| machines.add("x", &sheep())).unwrap_err();
        assert!(matches!(refused, SnapshotError::Unproven { .. }), "{refused}");
        let mut log = BundleLog::default();
        assert!(log.append(&[listed], true, &(), |machines| machines.add("x", &sheep())).is_err());
        assert!(log.is_empty());
    }
    // Nor under that of another graph by the same hand.
    assert!(Bundle::write(&[&OTHER], true, &(), |machines| machines.add("x", &sheep())).is_err());
    assert!(Bundle::write(&[&SHEEP], true, &(), |machines| machines.add("x", &sheep())).is_ok());
}

/// The digest that a decision names is public, and is no checksum of anything.
#[test]
fn a_digest_of_arguments_is_no_checksum_of_a_run() {
    let stored = StoredRun::of(&RunState::new("r1")).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&stored.to_json()).unwrap();
    json.as_object_mut().unwrap().remove("digest");
    json["version"] = 99.into();
    let digest = runstate::decision::digest(&json);
    json["digest"] = digest.into();
    let forged = StoredRun::from_json(json.to_string().as_bytes()).unwrap();
    let error = forged.restore().unwrap_err().to_string();
    assert!(error.contains("changed after its checksum was computed"), "{error}");
    assert!(stored.restore().is_ok());
}

/// Every text of 64 hexadecimal digits in a text.
fn digests(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 64)
}

#[test]
fn a_refusal_tells_no_checksum_of_the_content() {
    let stored = Snapshot::of(&AnyToolCall::new(new_call())).unwrap().to_json();
    let forged = stored.replace("\"pay_1\"", "\"pay_2\"");
    let refused = Snapshot::from_json(forged.as_bytes()).unwrap();
    let refusals = [refused.verify().unwrap_err(), refused.restore::<AnyToolCall>().unwrap_err()];
    let own: Vec<&str> = digests(&stored).collect();
    for error in refusals {
        assert!(digests(&format!("{error} {error:?}")).all(|digest| own.contains(&digest)), "{error}");
    }
    // What a run of one's own has, it may have: the true content comes back.
    assert!(Snapshot::from_json(stored.as_bytes()).unwrap().restore::<AnyToolCall>().is_ok());

    let run = StoredRun::of(&RunState::new("r1")).unwrap().to_json();
    let forged = StoredRun::from_json(run.replace("\"version\": 0", "\"version\": 7").as_bytes()).unwrap();
    let error = forged.restore().unwrap_err();
    let own: Vec<&str> = digests(&run).collect();
    assert!(digests(&format!("{error} {error:?}")).all(|digest| own.contains(&digest)), "{error}");
    assert!(StoredRun::from_json(run.as_bytes()).unwrap().restore().is_ok());

    let call = AnyToolCall::new(new_call());
    let graphs = [AnyToolCall::GRAPH];
    let bundle = Bundle::write(&graphs, true, &(), |machines| machines.add("pay_1", &call)).unwrap();
    let text = String::from_utf8(bundle).unwrap();
    let forged = text.replace("\"New\"", "\"Succeeded\"");
    let error = Bundle::read(forged.as_bytes(), &mut Graphs::default()).unwrap_err().to_string();
    assert_eq!(digests(&error).collect::<Vec<_>>(), [&text[..64]], "{error}");
    assert!(Bundle::read(text.as_bytes(), &mut Graphs::default()).is_ok());
}

/// A foreign store gives the parts of a run as it likes.
#[tokio::test]
async fn the_parts_of_a_store_get_no_checksum_as_a_whole() {
    let store = MemoryStore::default();
    let played = Played::new("r1", &[]).await;
    store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    let lease =
        store.claim(&Claim::of("r1", "w", std::time::Duration::from_secs(10))).await.unwrap().unwrap();
    for commit in played.commits() {
        store.commit(&lease, commit).await.unwrap();
    }
    let mut parts = store.parts("r1").await.unwrap();
    parts.messages.push(parts.messages[0].clone());
    let forged = Loaded::from_parts(parts).unwrap().stored.unwrap();
    let error = StoredRun::from_json(forged.to_json().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("invalid type: null, expected a string"), "{error}");

    let own = played.stored().last().unwrap().to_json();
    assert!(StoredRun::from_json(own.as_bytes()).unwrap().restore().is_ok());
}
