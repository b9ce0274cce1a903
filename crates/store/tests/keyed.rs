//! Runs in storage that others can write: what the suite says of stores holds under a key, and each row without its tag is refused.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use runstate::decision::{Decision, DecisionAction};
use runstate::snapshot::Keyring;
use runstate::turn::{CallRequest, Turn};
use runstate_agent::{Incoming, Reply, Unchecked, async_trait};
use runstate_runtime::clock::SetClock;
use runstate_store::{
    Approval, ApprovalFilter, ApprovalQuery, FileStore, Keyed, MemoryStore, NewRun, Parts, PendingSignals,
    Posted, RunData, RunLists, RunQuery, RunStore, StoreError, Superseded, ThreadPlace, Timer, UserMessage,
    Wrapper, decide, expire,
};
use runstate_store_conformance::{Bench, OneHandle, Played, check_all};
use serde_json::{Value, json};

use super::file::Folder;
use super::times::{at, clock, of};

fn keys() -> Keyring {
    format!("k1 {}", "ab".repeat(32)).parse().unwrap()
}

mod conformance {
    use super::*;

    runstate_store_conformance::store_conformance!(async {
        OneHandle::new(|clock| {
            Keyed::new(Arc::new(MemoryStore::with_clock(clock.clone())), keys()).with_clock(clock)
        })
    });
}

struct KeyedFolder(Folder);

#[async_trait]
impl Bench for KeyedFolder {
    async fn store(&self) -> Arc<dyn RunStore> {
        let store = FileStore::open(&*self.0).unwrap().with_clock(self.0.clock.clone());
        Arc::new(Keyed::new(Arc::new(store), keys()).with_clock(self.0.clock.clone()))
    }

    fn clock(&self) -> &SetClock {
        &self.0.clock
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_files_conforms_under_a_key() {
    assert_eq!(check_all(|| async { KeyedFolder(Folder::new()) }).await, []);
}

/// A change that somebody with access to the storage makes to what is read.
type Change<T> = Box<dyn Fn(&mut T) + Send + Sync>;

#[derive(Default)]
pub(super) struct Changes {
    pub(super) parts: Option<Change<Parts>>,
    pub(super) mail: Option<Change<PendingSignals>>,
    pub(super) approvals: Option<Change<Vec<Approval>>>,
    due: Option<Change<Vec<Timer>>>,
}

/// Storage that others write.
pub(super) struct Open {
    pub(super) store: MemoryStore,
    pub(super) changes: Mutex<Changes>,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Open")
    }
}

fn changed<T>(change: &Option<Change<T>>, mut it: T) -> T {
    if let Some(change) = change {
        change(&mut it);
    }
    it
}

#[async_trait]
impl Wrapper for Open {
    fn inner(&self) -> &dyn RunStore {
        &self.store
    }
    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        let parts = self.store.parts(run).await?;
        Ok(changed(&self.changes.lock().unwrap().parts, parts))
    }
    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        let mail = self.store.pending_signals(run).await?;
        Ok(changed(&self.changes.lock().unwrap().mail, mail))
    }
    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let approvals = self.store.approvals(query).await?;
        Ok(changed(&self.changes.lock().unwrap().approvals, approvals))
    }
    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        let due = self.store.due(limit).await?;
        Ok(changed(&self.changes.lock().unwrap().due, due))
    }
}

pub(super) struct World {
    pub(super) open: Arc<Open>,
    pub(super) store: Arc<dyn RunStore>,
}

/// Two runs of which each waits for a call `p`, with a decision on another call taken in the first one.
pub(super) async fn world() -> World {
    let open = Arc::new(Open { store: MemoryStore::with_clock(clock()), changes: Mutex::default() });
    let store: Arc<dyn RunStore> = Arc::new(Keyed::new(open.clone(), keys()).with_clock(clock()));
    for run in ["r1", "r2"] {
        park(&*store, run).await;
    }
    World { open, store }
}

async fn park(store: &dyn RunStore, run: &str) {
    let calls = ["p", "q"].map(|id| CallRequest::new(id, "ask", json!({"of": run, "amount": 10.5})));
    let played =
        Played::new(run, &[Turn { text: "let me ask".into(), calls: calls.into(), ..Turn::default() }]).await;
    store.create(&NewRun::new(run, json!({"does": "ask"}), 0).titled("asks")).await.unwrap();
    let lease = store.claim(&of(run, "w", 0, 10)).await.unwrap().unwrap();
    for commit in played.commits() {
        let mut commit = commit.clone();
        commit.at_ms = 0;
        for waits in commit.calls.iter_mut().filter_map(|call| call.waits.as_mut()) {
            waits.suspension.expires_at_ms = Some(100_070);
        }
        store.commit(&lease, &commit).await.unwrap();
    }
}

impl World {
    pub(super) async fn refuses(&self, what: &str, change: impl Fn(&mut Parts) + Send + Sync + 'static) {
        self.store.load("r1").await.unwrap_or_else(|error| panic!("before {what}: {error}"));
        self.open.changes.lock().unwrap().parts = Some(Box::new(change));
        let loaded = self.store.load("r1").await;
        let Err(StoreError::Unusable { what: said, help }) = loaded else {
            panic!("{what} was read: {loaded:?}")
        };
        assert!(said.starts_with("the run \"r1\": "), "{said}");
        assert!(help.contains("nothing was changed"), "{help}");
        self.open.changes.lock().unwrap().parts = None;
    }
}

/// Each place of a run in which a text is stored.
pub(super) fn texts(parts: &mut Parts) -> Vec<&mut String> {
    let (snapshot, core) = parts.run.as_mut().unwrap();
    let mut texts = vec![snapshot, core];
    texts.extend(parts.calls.iter_mut().map(|(_, _, json)| json));
    texts.extend(parts.messages.iter_mut());
    texts.extend(parts.values.iter_mut().map(|(_, _, json)| json));
    texts
}

/// A run behind another one, and the message of a run that waits.
#[tokio::test]
async fn a_changed_place_or_message_is_refused() {
    let open = Arc::new(Open { store: MemoryStore::with_clock(clock()), changes: Mutex::default() });
    let store: Arc<dyn RunStore> = Arc::new(Keyed::new(open.clone(), keys()).with_clock(clock()));
    store.create(&NewRun::new("r1", json!(null), 0).following("t", None)).await.unwrap();
    let world = World { open, store };
    type Changed = fn(&mut ThreadPlace);
    let changes: [(&str, Changed); 3] = [
        ("another thread", |place| place.thread = "u".to_owned()),
        ("another run before it", |place| place.after = Some("r0".to_owned())),
        ("parts that are moved", |place| (place.thread, place.after) = (String::new(), Some("t".to_owned()))),
    ];
    for (what, change) in changes {
        world.refuses(what, move |parts| parts.thread.as_mut().into_iter().for_each(change)).await;
    }
    world.refuses("no place", |parts| parts.thread = None).await;

    let world = self::world().await;
    let message = UserMessage::new("m1", "more", 0);
    assert_eq!(world.store.supersede("r2", &message).await.unwrap(), Superseded::Accepted);
    assert_eq!(world.store.pending_signals("r2").await.unwrap().message.unwrap(), message);
    type Said = fn(&mut UserMessage);
    let changes: [(&str, Said); 4] = [
        ("another text", |message| message.text.push('!')),
        ("another id", |message| message.id.push('!')),
        ("another time", |message| message.at_ms += 1),
        ("no tag", |message| message.tag = None),
    ];
    for (what, change) in changes {
        let changed = move |mail: &mut PendingSignals| mail.message.as_mut().into_iter().for_each(change);
        world.open.changes.lock().unwrap().mail = Some(Box::new(changed));
        let refused = world.store.pending_signals("r2").await.unwrap_err().to_string();
        assert!(refused.contains("the message of the user"), "{what}: {refused}");
    }
}

#[tokio::test]
async fn a_changed_byte_of_any_row_is_refused() {
    let world = world().await;
    let mut parts = world.open.store.parts("r1").await.unwrap();
    let lengths: Vec<usize> = texts(&mut parts).iter().map(|text| text.len()).collect();
    assert!(lengths.len() >= 6, "machine, state, two calls and messages: {lengths:?}");
    for (row, length) in lengths.into_iter().enumerate() {
        for at in 0..length {
            world
                .refuses(&format!("byte {at} of row {row}"), move |parts| {
                    let text = &mut *texts(parts)[row];
                    let mut bytes = std::mem::take(text).into_bytes();
                    bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
                    *text = String::from_utf8_lossy(&bytes).into_owned();
                })
                .await;
        }
    }
}

#[tokio::test]
async fn a_row_of_another_place_is_refused() {
    let world = world().await;
    world.refuses("the row of another run", |parts| "r2".clone_into(&mut parts.info.id)).await;
    let mut other = world.open.store.parts("r2").await.unwrap();
    let others: Vec<String> = texts(&mut other).into_iter().map(|text| text.clone()).collect();
    for (row, text) in others.into_iter().enumerate() {
        let text = Mutex::new(text);
        world
            .refuses(&format!("row {row} of another run"), move |parts| {
                texts(parts)[row].clone_from(&text.lock().unwrap());
            })
            .await;
    }
    world
        .refuses("two calls, exchanged", |parts| {
            let (a, b) = (parts.calls[0].2.clone(), parts.calls[1].2.clone());
            (parts.calls[0].2, parts.calls[1].2) = (b, a);
        })
        .await;
    world.refuses("two messages, exchanged", |parts| parts.messages.swap(0, 1)).await;
    world.refuses("a message, taken away before others", |parts| drop(parts.messages.remove(0))).await;
    world.refuses("a call under another name", |parts| parts.calls[0].0.push('x')).await;
    world.refuses("a call that was executed more often", |parts| parts.calls[0].1 += 1).await;
    world.refuses("another version", |parts| parts.info.version += 1).await;
    world.refuses("an earlier version", |parts| parts.info.version -= 1).await;
    world.refuses("another title", |parts| parts.info.title.push('!')).await;
    world
        .refuses("the specification of another run", |parts| parts.spec["of"] = json!({"does": "pay"}))
        .await;
}

#[tokio::test]
async fn a_row_without_its_tag_is_refused() {
    let world = world().await;
    let mut parts = world.open.store.parts("r1").await.unwrap();
    let rows = texts(&mut parts).len();
    for row in 0..rows {
        world
            .refuses(&format!("row {row} without a tag"), move |parts| {
                let text = &mut *texts(parts)[row];
                let tagged: Value = serde_json::from_str(text).unwrap();
                *text = tagged["of"].to_string();
            })
            .await;
    }
    world.refuses("a bare spec", |parts| parts.spec = parts.spec["of"].take()).await;
    world.refuses("a bare cancellation", |parts| parts.info.cancel = Some("stop".to_owned())).await;
    world
        .refuses("a decision that was slipped in", |parts| {
            parts.decisions.push(Decision::new("d1", "s1", DecisionAction::Resume));
        })
        .await;
}

pub(super) async fn approval(store: &dyn RunStore, run: &str) -> Approval {
    let mut page =
        store.approvals(&ApprovalQuery::new(ApprovalFilter::Run(run.to_owned()), 10)).await.unwrap();
    page.remove(0)
}

#[tokio::test]
async fn a_decision_without_its_tag_is_refused() {
    let world = world().await;
    let question = approval(&*world.store, "r1").await;
    let mut forged = Decision::new("d1", &question.suspension.id, DecisionAction::Resume);
    forged.run_id = "r1".to_owned();
    forged.call.clone_from(&question.call);
    assert_eq!(world.open.store.post(&forged).await.unwrap(), Posted::Accepted);
    let refused = world.store.pending_signals("r1").await.unwrap_err().to_string();
    assert!(refused.starts_with("the run \"r1\": the decision \"d1\": it has no tag"), "{refused}");

    let honest = approval(&*world.store, "r2").await;
    let mut decision = Decision::new("d1", &honest.suspension.id, DecisionAction::Resume);
    (decision.run_id, decision.call) = ("r2".to_owned(), honest.call.clone());
    assert_eq!(world.store.post(&decision).await.unwrap(), Posted::Accepted);
    assert_eq!(world.store.pending_signals("r2").await.unwrap().decisions, [decision]);
    // What is decided, by what person, why, on what and with what result: nothing of it can be changed.
    let changes: [fn(&mut Decision); 7] = [
        |decision| decision.action = DecisionAction::Cancel,
        |decision| decision.actor = Some("the boss".to_owned()),
        |decision| decision.result = json!({"amount": 1_000_000}),
        |decision| decision.suspension_id.push('x'),
        |decision| decision.call = "q".to_owned(),
        |decision| decision.digest = None::<String>.or(Some("sha256:0".to_owned())),
        |decision| decision.decided_at_ms += 1,
    ];
    for change in changes {
        world.open.changes.lock().unwrap().mail =
            Some(Box::new(move |mail| mail.decisions.iter_mut().for_each(change)));
        let refused = world.store.pending_signals("r2").await.unwrap_err().to_string();
        assert!(refused.contains("its tag does not fit"), "{refused}");
    }
}

#[tokio::test]
async fn a_cancellation_without_its_tag_is_refused() {
    let world = world().await;
    assert!(world.open.store.cancel("r1", "stop").await.unwrap());
    let refused = world.store.pending_signals("r1").await.unwrap_err().to_string();
    assert!(refused.starts_with("the run \"r1\": the pending cancellation: it has no tag"), "{refused}");
    let listed = world.store.runs(&RunQuery::all(10)).await.unwrap();
    let shown = listed.iter().find(|info| info.id == "r1").unwrap().cancel.clone().unwrap();
    assert!(shown.contains("it has no tag"), "{shown}");

    assert!(world.store.cancel("r2", "a \"good\" reason").await.unwrap());
    assert_eq!(world.store.pending_signals("r2").await.unwrap().cancel.as_deref(), Some("a \"good\" reason"));
    let listed = world.store.runs(&RunQuery::all(10)).await.unwrap();
    let shown = listed.iter().find(|info| info.id == "r2").unwrap().cancel.clone();
    assert_eq!(shown.as_deref(), Some("a \"good\" reason"));
}

#[tokio::test]
async fn a_changed_question_is_not_shown() {
    let world = world().await;
    let shown = approval(&*world.store, "r1").await;
    assert_eq!(shown.arguments, json!({"of": "r1", "amount": 10.5}));
    let changes: [fn(&mut Approval); 6] = [
        |question| question.arguments["of"]["amount"] = json!(1_000_000),
        |question| question.arguments = question.arguments["of"].take(),
        |question| question.suspension.message = "harmless?".to_owned(),
        |question| question.suspension.expires_at_ms = None,
        |question| question.tool = "harmless".to_owned(),
        |question| question.run = "r2".to_owned(),
    ];
    for change in changes {
        world.open.changes.lock().unwrap().approvals =
            Some(Box::new(move |all| all.iter_mut().for_each(change)));
        let query = ApprovalQuery::new(ApprovalFilter::Run("r1".to_owned()), 10);
        let refused = world.store.approvals(&query).await.unwrap_err();
        assert!(matches!(refused, StoreError::Unusable { .. }), "{refused}");
    }
}

#[tokio::test]
async fn a_changed_question_hides_no_other_one() {
    let world = world().await;
    world.open.changes.lock().unwrap().approvals = Some(Box::new(|all| {
        let of_r1 = all.iter_mut().filter(|open| (&*open.run, &*open.call) == ("r1", "p"));
        of_r1.for_each(|open| open.arguments["of"]["amount"] = json!(1_000_000));
    }));
    let listed = world.store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 10)).await.unwrap();
    assert_eq!(listed.len(), 4);
    for open in listed {
        let is_changed = (&*open.run, &*open.call) == ("r1", "p");
        assert_eq!(open.arguments == Value::Null, is_changed, "{open:?}");
        assert_eq!(open.suspension.message.starts_with("this question cannot be shown: "), is_changed);
        let incoming =
            Incoming::new(format!("d-{}-{}", open.run, open.call), &*open.call, DecisionAction::Resume)
                .on(&*open.suspension.id);
        let incoming = Incoming { run_id: Some(open.run.clone()), ..incoming };
        let reply = decide(&*world.store, &incoming, 5, &Unchecked).await;
        assert_eq!(reply.is_err(), is_changed, "{reply:?}");
    }
}

#[tokio::test]
async fn a_timer_that_was_set_forward_is_refused() {
    let world = world().await;
    at(100_070);
    let due = world.store.due(10).await.unwrap();
    assert_eq!(due.len(), 4);
    at(5);
    let refused = expire(&*world.store, &due[0], 5).await.unwrap_err().to_string();
    assert!(
        refused.contains("the question of \"p\" of the run \"r1\" is open for 100.065s more by its tag"),
        "{refused}"
    );
    assert_eq!(world.store.pending_signals("r1").await.unwrap().decisions, [], "nothing is given up");
    // A question that the list hides is not given up either.
    world.open.changes.lock().unwrap().approvals = Some(Box::new(Vec::clear));
    assert_eq!(expire(&*world.store, &due[0], 5).await.unwrap(), Posted::NotWaiting);
    assert_eq!(world.store.pending_signals("r1").await.unwrap().decisions, []);
    world.open.changes.lock().unwrap().approvals = None;
    at(100_070);
    assert_eq!(expire(&*world.store, &due[1], 100_070).await.unwrap(), Posted::Accepted);
}

/// The clocks of the storage and of the process with the key differ by more than the tolerated minute.
#[tokio::test]
async fn question_takes_decisions_until_it_can_expire_by_both_clocks() {
    let world = world().await;
    let here = SetClock::at(0);
    let store = Keyed::new(world.open.clone(), keys()).with_clock(here.clone());
    let approve = |run: &str, open: &Approval| {
        let id = format!("d-{run}-{}", open.call);
        let incoming = Incoming::new(id, &*open.call, DecisionAction::Resume).on(&*open.suspension.id);
        Incoming { run_id: Some(run.to_owned()), ..incoming }
    };
    // Expired by the storage at 100,070, and by the tag with the clock here not before 40,070.
    at(100_070);
    here.set(40_000);
    let open = approval(&store, "r1").await;
    assert_eq!(open.left, Some(Duration::from_millis(70)));
    assert!(expire(&store, &Timer::of(&open), 40_000).await.is_err(), "it cannot expire");
    assert_eq!(decide(&store, &approve("r1", &open), 40_000, &Unchecked).await.unwrap(), Reply::Accepted);

    here.set(40_070);
    let open = approval(&store, "r2").await;
    assert!(open.is_expired());
    assert_eq!(decide(&store, &approve("r2", &open), 40_070, &Unchecked).await.unwrap(), Reply::Expired);

    // Open by the storage: a clock that is ahead expires nothing.
    let world = self::world().await;
    let store = Keyed::new(world.open.clone(), keys()).with_clock(SetClock::at(900_000));
    at(5);
    let open = approval(&store, "r1").await;
    assert!(!open.is_expired());
    assert!(expire(&store, &Timer::of(&open), 900_000).await.is_err(), "it cannot expire");
    assert_eq!(decide(&store, &approve("r1", &open), 900_000, &Unchecked).await.unwrap(), Reply::Accepted);
}

#[tokio::test]
async fn without_the_key_a_run_is_neither_read_nor_decided() {
    let world = world().await;
    let bare: &dyn RunStore = &world.open.store;
    let refused = bare.load("r1").await.unwrap_err().to_string();
    assert_eq!(
        refused,
        "the run \"r1\" is stored under the key \"k1\"; open the store with that key: `runstate_store::Keyed`, or --key-file and \
         RUNSTATE_KEY of the command"
    );
    let incoming = Incoming::new("d1", "p", DecisionAction::Resume);
    let incoming = Incoming { run_id: Some("r1".to_owned()), ..incoming };
    let refused = decide(bare, &incoming, 1, &Unchecked).await.unwrap_err().to_string();
    assert!(refused.starts_with("the run \"r1\" is stored under the key \"k1\""), "{refused}");
    assert_eq!(bare.pending_signals("r1").await.unwrap(), PendingSignals::default(), "nothing was posted");
}

#[tokio::test]
async fn replaced_key_is_removed_once_no_entry_is_tagged_with_it() {
    let world = world().await;
    let (old, new) = (format!("k1 {}", "ab".repeat(32)), format!("k2 {}", "cd".repeat(32)));
    let under = |lines: &[&String]| {
        let lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
        Keyed::new(world.open.clone(), lines.join("\n").parse().unwrap())
    };
    let both: &dyn RunStore = &under(&[&new, &old]);
    assert_eq!(both.load("r1").await.unwrap(), world.store.load("r1").await.unwrap());
    park(both, "r3").await;
    let newest: &dyn RunStore = &under(&[&new]);
    assert!(newest.load("r3").await.is_ok());
    let refused = newest.load("r1").await.unwrap_err().to_string();
    assert!(refused.contains("its tag is of the key \"k1\", and the keyring has k2"), "{refused}");
    // A key of the same name and another secret is another key.
    let forged: &dyn RunStore = &under(&[&format!("k1 {}", "ee".repeat(32))]);
    assert!(forged.load("r1").await.unwrap_err().to_string().contains("its tag does not fit"));
}

/// As the docs say: what was once tagged stays tagged.
#[tokio::test]
async fn an_older_version_that_is_put_back_is_not_noticed() {
    let open = Arc::new(Open { store: MemoryStore::with_clock(clock()), changes: Mutex::default() });
    let store: &dyn RunStore = &Keyed::new(open.clone(), keys());
    let played = Played::new("r1", &[]).await;
    store.create(&NewRun::new("r1", Value::Null, 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    let mut commits = played.commits();
    store.commit(&lease, commits.next().unwrap()).await.unwrap();
    let before = open.store.parts("r1").await.unwrap();
    store.commit(&lease, commits.next().unwrap()).await.unwrap();
    assert_eq!(store.load("r1").await.unwrap().info.version, 2);
    open.changes.lock().unwrap().parts = Some(Box::new(move |parts| parts.clone_from(&before)));
    assert_eq!(store.load("r1").await.unwrap().info.version, 1);
}

#[tokio::test]
async fn a_question_that_another_name_finds_is_refused() {
    let world = world().await;
    let query = |about| ApprovalQuery::new(about, 10);
    let all = world.open.store.approvals(&query(ApprovalFilter::All)).await.unwrap();
    for about in [ApprovalFilter::Suspension("r1/p/1".to_owned()), ApprovalFilter::Run("r1".to_owned())] {
        let others: Vec<Approval> = all.iter().filter(|one| one.run == "r2").cloned().collect();
        assert_eq!(others.len(), 2);
        world.open.changes.lock().unwrap().approvals = Some(Box::new(move |found| found.clone_from(&others)));
        let refused = world.store.approvals(&query(about)).await.unwrap_err().to_string();
        assert!(refused.contains("the id of the call"), "{refused}");
    }
    let approve = Incoming::new("d1", "", DecisionAction::Resume).on("r1/p/1");
    assert!(decide(&*world.store, &approve, 1, &Unchecked).await.is_err());
    world.open.changes.lock().unwrap().approvals = None;
    assert_eq!(
        world.store.pending_signals("r2").await.unwrap(),
        PendingSignals::default(),
        "nothing is signed for another question"
    );
}

#[tokio::test]
async fn cancellation_by_another_key_is_refused_without_change() {
    let world = world().await;
    let other: Keyring = format!("k2 {}", "cd".repeat(32)).parse().unwrap();
    let stranger = Keyed::new(world.open.clone(), other);
    let refused = RunData::cancel(&stranger, "r1", "stop").await.unwrap_err().to_string();
    assert!(refused.contains("its tag is of the key \"k1\", and the keyring has k2"), "{refused}");
    assert_eq!(world.store.load("r1").await.unwrap().info.cancel, None);
}
