//! Several processes on one store: this test program, started again.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use runstate::decision::DecisionAction;
use runstate::turn::{CallRequest, Turn};
use runstate_agent::{Incoming, Reply, Unchecked};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Lease, NewRun, Release, RunData, RunLists, RunQueue, RunStore, StoreError,
    decide,
};
use runstate_store_conformance::Played;
use serde_json::json;

use super::super::times::{any, of};
use super::folder::Folder;
use super::patient;

const FOLDER: &str = "RUNSTATE_TEST_STORE";
const PART: &str = "RUNSTATE_TEST_PART";

/// Starts this program again, for one part.
fn start(folder: &Folder, part: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "file::processes::a_part_of_another_process", "--nocapture", "--test-threads=1"]);
    child.env(FOLDER, &**folder).env(PART, part).stdout(Stdio::piped());
    child.spawn().unwrap()
}

/// What each of so many processes said, in lines that begin with `said: `.
fn said(children: Vec<Child>) -> Vec<Vec<String>> {
    let said = children.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        text.lines().filter_map(|line| line.split_once("said: ")).map(|(_, said)| said.to_owned()).collect()
    });
    said.collect()
}

/// Does nothing but in a process that another test has started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_another_process() {
    let (Some(folder), Ok(part)) = (std::env::var_os(FOLDER), std::env::var(PART)) else { return };
    let store = patient(Path::new(&folder));
    match part.split_once(' ').unwrap_or((&part, "")) {
        ("claim", _) => {
            while let Some(lease) = store.claim(&any("child", 0, 1 << 40)).await.unwrap() {
                println!("said: {}", lease.run);
            }
        }
        ("decide", who) => {
            let waits = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 1_000)).await.unwrap();
            for waits in waits {
                let action = if who.len() % 2 == 0 { DecisionAction::Resume } else { DecisionAction::Cancel };
                let incoming = Incoming::new(format!("{who} on {}", waits.suspension.id), "", action);
                let told = decide(&store, &incoming.on(&*waits.suspension.id), 0, &Unchecked).await.unwrap();
                if told == Reply::Accepted {
                    println!("said: {}", waits.suspension.id);
                }
            }
        }
        ("overtake", _) => {
            let lease = store.claim(&of("r1", "child", 10, 1 << 40)).await.unwrap().unwrap();
            let played = played().await;
            store.commit(&lease, &played.commits().nth(1).unwrap().clone()).await.unwrap();
            println!("said: {}", lease.fence);
        }
        ("create", _) => {
            for number in 0..20 {
                match store.create(&NewRun::new(format!("r{number}"), json!(0), 0)).await {
                    Ok(()) => println!("said: r{number}"),
                    Err(StoreError::Taken { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        other => panic!("{other:?}"),
    }
}

async fn played() -> Played {
    let calls = (0..10).map(|number| CallRequest::new(format!("c{number}"), "ask", json!({}))).collect();
    Played::new("r1", &[Turn { text: String::new(), calls, ..Turn::default() }]).await
}

#[test]
fn each_run_is_created_and_claimed_by_only_one_process() {
    let folder = Folder::new();
    let mut expected: Vec<_> = (0..20).map(|number| format!("r{number}")).collect();
    expected.sort();
    for part in ["create", "claim"] {
        let mut done = said((0..3).map(|_| start(&folder, part)).collect()).concat();
        done.sort();
        assert_eq!(done, expected, "{part}");
    }
}

#[tokio::test]
async fn concurrent_processes_get_one_decision_per_call_accepted() {
    let folder = Folder::new();
    let store = patient(&folder);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    for commit in played().await.commits() {
        store.commit(&lease, commit).await.unwrap();
    }
    store.release(&lease, &Release::clean()).await.unwrap();
    let mut accepted =
        said(["a", "bb", "c", "dd"].map(|who| start(&folder, &format!("decide {who}"))).into()).concat();
    accepted.sort();
    let mut kept: Vec<_> = store
        .pending_signals("r1")
        .await
        .unwrap()
        .decisions
        .into_iter()
        .map(|decision| decision.suspension_id)
        .collect();
    kept.sort();
    assert_eq!(accepted.len(), 10, "{accepted:?}");
    assert_eq!(accepted, kept, "one for each, and those that were told so are those that are kept");
}

#[tokio::test]
async fn paused_process_is_fenced_by_another_process() {
    let folder = Folder::new();
    let store: Arc<dyn RunStore> = Arc::new(patient(&folder));
    let played = played().await;
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "parent", 0, 10)).await.unwrap().unwrap();
    let mut commits = played.commits();
    store.commit(&lease, commits.next().unwrap()).await.unwrap();
    assert_eq!(said(vec![start(&folder, "overtake")]), [["2"]]);
    let fenced = store.commit(&lease, commits.next().unwrap()).await;
    assert!(matches!(fenced, Err(StoreError::Fenced { fence: 1, current: 2, .. })), "{fenced:?}");
    assert_eq!(store.load("r1").await.unwrap().info.version, 2);
    assert_eq!(lease, Lease::new("r1", 1));
}
