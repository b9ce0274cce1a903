//! Threads of stores that another program has written.

use runstate::run::RunStatus;
use runstate::turn::{CallRequest, Turn};
use runstate_agent::async_trait;
use runstate_store::{
    Claim, Loaded, MemoryStore, NewRun, Parts, RunData, RunQueue, RunStore, StoreError, ThreadPlace,
    UserMessage, Wrapper, send,
};
use runstate_store_conformance::Played;

/// Run 0 is the first of a thread; each other one comes behind the number before.
#[derive(Debug, Default)]
struct Chain {
    store: MemoryStore,
    /// The run behind which number 0 comes, if it does.
    before: Option<u64>,
    status: Option<RunStatus>,
}

#[async_trait]
impl Wrapper for Chain {
    fn inner(&self) -> &dyn RunStore {
        &self.store
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        let mut parts = self.store.parts("r").await?;
        let number: u64 = run.parse().unwrap();
        let after = number.checked_sub(1).or(self.before).map(|before| before.to_string());
        run.clone_into(&mut parts.info.id);
        parts.thread = Some(ThreadPlace { thread: "t".to_owned(), after });
        if number > 0 {
            parts.run = None;
            parts.messages.clear();
        }
        if let Some(status) = self.status.filter(|_| number == 1) {
            parts.info.status = status;
        }
        Ok(parts)
    }

    // Reads the parts above.
    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        runstate_store::load(self, run).await
    }
}

/// Puts a run into a store, with this script.
async fn put(store: &MemoryStore, script: &[Turn]) {
    store.create(&NewRun::new("r", serde_json::Value::Null, 0)).await.unwrap();
    let claim = Claim::of("r", "me", std::time::Duration::from_secs(60));
    let lease = store.claim(&claim).await.unwrap().unwrap();
    for commit in Played::new("r", script).await.commits() {
        store.commit(&lease, commit).await.unwrap();
    }
}

impl Chain {
    async fn new() -> Self {
        let chain = Chain::default();
        put(&chain.store, &[]).await;
        chain
    }

    async fn refused(&self, run: &str) -> String {
        RunData::load(self, run).await.unwrap_err().to_string()
    }
}

#[tokio::test]
async fn a_thread_has_10_000_runs_before_a_run_and_no_more() {
    let chain = Chain::new().await;
    let loaded = RunData::load(&chain, "10000").await.unwrap();
    assert!(
        loaded.before.is_some() && loaded.stored.is_none(),
        "the messages of run 0 are those of the thread"
    );
    let refused = chain.refused("10001").await;
    assert!(
        refused.contains("the thread of the run \"10001\" has more than 10000 runs before it"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_thread_that_is_a_circle_is_refused() {
    let chain = Chain { before: Some(2), ..Chain::new().await };
    assert!(chain.refused("2").await.contains("or is a circle"));
}

#[tokio::test]
async fn a_run_behind_one_that_is_not_over_is_refused() {
    let chain = Chain { status: Some(RunStatus::Waiting), ..Chain::new().await };
    let refused = chain.refused("2").await;
    assert!(refused.contains("goes on from the run \"1\", which is Waiting and not Done"), "{refused}");
}

/// A store with a waiting run and unreadable rows of it.
#[derive(Debug, Default)]
struct Unread(MemoryStore);

#[async_trait]
impl Wrapper for Unread {
    fn inner(&self) -> &dyn RunStore {
        &self.0
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        Err(StoreError::unusable(format_args!("the run {run:?} cannot be read"), "restore it"))
    }
}

#[tokio::test]
async fn a_run_that_cannot_be_read_takes_no_message() {
    let store = Unread::default();
    let calls = vec![CallRequest::new("c0", "ask", serde_json::json!({}))];
    put(&store.0, &[Turn { calls, ..Turn::default() }]).await;
    let message = UserMessage::new("m1", "go on", 1);
    let begin = |_, _: &UserMessage| panic!("the run waits");
    let sent = send::<_, StoreError>(&store, "r", &message, true, begin).await;
    assert!(sent.unwrap_err().to_string().contains("the run \"r\" cannot be read"));
    assert!(!store.0.is_given("m1").await.unwrap(), "the message may be sent again");
}
