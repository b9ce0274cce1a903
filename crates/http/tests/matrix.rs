//! Each operation in each status of a run.

use axum::http::StatusCode;
use runstate::service_run::ServiceRunStatus;
use runstate_http::Options;
use runstate_service::Operation;
use serde_json::{Value, json};

use super::fixture::{Answer, Bench, block_on, request};

const OPERATIONS: [Operation; 8] = [
    Operation::Start,
    Operation::Resume,
    Operation::Approve,
    Operation::Reject,
    Operation::Execute,
    Operation::TxSubmitted,
    Operation::PollTx,
    Operation::Delete,
];

/// A server with a run in that status, and the path of the run.
async fn at(status: ServiceRunStatus) -> (Bench, String) {
    let mut options = Options::local();
    options.drives = status != ServiceRunStatus::Running;
    let bench = Bench::with(options, |config| {
        if status == ServiceRunStatus::Blocked {
            config.policy.targets.clear();
        }
    });
    let incomplete = status == ServiceRunStatus::Paused;
    let run = bench.create(if incomplete { "send 5 USDC" } else { "send 5 USDC to 0xbeef" }).await;
    if status == ServiceRunStatus::Created {
        return (bench, run);
    }
    bench.chain.set_reachable(status != ServiceRunStatus::Failed);
    bench.post(&format!("{run}/start"), &json!({})).await;
    bench.chain.set_reachable(true);
    match status {
        ServiceRunStatus::ApprovedReady => drop(bench.post(&format!("{run}/approve"), &json!({})).await),
        ServiceRunStatus::Rejected => drop(bench.post(&format!("{run}/reject"), &json!({})).await),
        ServiceRunStatus::Submitted | ServiceRunStatus::Confirmed | ServiceRunStatus::Reverted => {
            let all = bench.get(&format!("{run}?include=artifacts")).await.json();
            let mut hashes = bench.approve_and_send(&run).await;
            if status == ServiceRunStatus::Reverted {
                // The same transfer again, until the wallet has too little.
                let tx = serde_json::from_value(all["artifacts"]["tx_requests"][0].clone()).unwrap();
                (0..300).for_each(|_| hashes = vec![bench.chain.send(&tx)]);
            }
            let body = json!({ "tx_hashes": hashes, "submitted_by": "manual" });
            bench.post(&format!("{run}/tx_submitted"), &body).await;
            if status != ServiceRunStatus::Submitted {
                bench.chain.mine();
                bench.post(&format!("{run}/poll_tx"), &json!({})).await;
            }
        }
        _ => {}
    }
    assert_eq!(bench.get(&run).await.json()["status"], status.name());
    (bench, run)
}

async fn take(bench: &Bench, run: &str, operation: Operation) -> Answer {
    let body = match operation {
        Operation::TxSubmitted => json!({ "tx_hashes": ["0x1"], "submitted_by": "manual" }),
        Operation::Delete => return bench.send(request("DELETE", run, &[], "")).await,
        _ => json!({}),
    };
    bench.post(&format!("{run}/{operation}"), &body).await
}

#[test]
fn each_status_answers_each_operation_as_documented() {
    for &status in ServiceRunStatus::ALL {
        for operation in OPERATIONS {
            block_on(async {
                let (bench, run) = at(status).await;
                let before = bench.get(&format!("{run}?include=artifacts,timeline,steps")).await.text;
                let answer = take(&bench, &run, operation).await;
                let is_allowed = Operation::allowed(status).contains(&operation);
                let of_content = (status, operation) == (ServiceRunStatus::Submitted, Operation::TxSubmitted);
                if is_allowed && !of_content {
                    assert!(answer.status.is_success(), "{operation} in {status}: {answer:?}");
                    return;
                }
                let code = match (status, operation) {
                    (ServiceRunStatus::Created, Operation::Resume) => (409, "no-checkpoint"),
                    // One transaction has one hash.
                    _ if of_content => (422, "invalid"),
                    _ => (409, "wrong-status"),
                };
                assert_eq!(answer.problem(), (code.0, code.1.to_owned()), "{operation} in {status}");
                if code.0 == 409 {
                    let run = &answer.json()["run"];
                    assert_eq!(run["status"], status.name());
                    assert_eq!(run["allowed"], json!(Operation::allowed(status)));
                }
                let after = bench.get(&format!("{run}?include=artifacts,timeline,steps")).await.text;
                assert_eq!(after, before, "{operation} in {status}");
            });
        }
    }
}

#[test]
fn refusals_of_content_come_behind_those_of_the_status() {
    block_on(async {
        let no_hash = json!({ "submitted_by": "manual" });
        let (bench, run) = at(ServiceRunStatus::AwaitingApproval).await;
        let answer = bench.post(&format!("{run}/tx_submitted"), &no_hash).await;
        assert_eq!(answer.problem(), (409, "wrong-status".into()));
        let stale = bench.post(&format!("{run}/approve"), &json!({ "digest": "sha256:0" })).await;
        assert_eq!(stale.problem(), (409, "stale-digest".into()));
        let (bench, run) = at(ServiceRunStatus::ApprovedReady).await;
        let answer = bench.post(&format!("{run}/tx_submitted"), &no_hash).await;
        assert_eq!(answer.problem(), (400, "no-hash".into()));
        let (bench, run) = at(ServiceRunStatus::Paused).await;
        let answer = bench.post(&format!("{run}/resume"), &json!({ "intent": "send 1 ETH" })).await;
        assert_eq!(answer.problem(), (409, "input-needed".into()));
        let (bench, run) = at(ServiceRunStatus::Submitted).await;
        bench.chain.set_reachable(false);
        let answer = bench.post(&format!("{run}/poll_tx"), &json!({})).await;
        assert_eq!(answer.problem(), (502, "chain-unreachable".into()));
        let (bench, run) = at(ServiceRunStatus::Created).await;
        let answer =
            bench.post(&format!("{run}/resume"), &json!({ "answers": { "chain_id": "moon" } })).await;
        assert_eq!(answer.problem(), (409, "no-checkpoint".into()));
        let answer = bench.post("/v1/runs/none/resume", &json!({ "answers": { "chain_id": "moon" } })).await;
        assert_eq!(answer.problem(), (404, "not-found".into()));
    });
}

#[test]
fn another_transaction_than_the_approved_one_never_confirms() {
    block_on(async {
        let (bench, run) = at(ServiceRunStatus::ApprovedReady).await;
        let handout = bench.post(&format!("{run}/execute"), &json!({})).await.json();
        let mut tx: runstate_service::TxRequest =
            serde_json::from_value(handout["tx_request"].clone()).unwrap();
        tx.to = "0xc0de02".into();
        let hash = bench.chain.send(&tx);
        let body = json!({ "tx_hashes": hash, "submitted_by": "manual" });
        bench.post(&format!("{run}/tx_submitted"), &body).await;
        bench.chain.mine();
        for _ in 0..2 {
            let poll = bench.post(&format!("{run}/poll_tx"), &json!({})).await;
            assert_eq!((poll.status, &poll.json()["status"]), (StatusCode::OK, &Value::from("SUBMITTED")));
            assert_eq!(poll.json()["mismatches"], json!([{ "hash": hash, "field": "to" }]));
        }
    });
}
