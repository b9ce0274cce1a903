//! A run on the ports, from the request to the receipt.

use std::sync::{Arc, Mutex};

use runstate::service_run::ServiceRunStatus;
use runstate_runtime::clock::SetClock;
use runstate_service::{MemoryServiceStore, NewServiceRun, Service, SubmittedBy};
use serde_json::{Value, json};

use super::node::{CHAIN, Node, OTHER, Reply, WALLET, block_on};

#[test]
fn run_is_confirmed_by_its_transaction_and_by_no_other() {
    block_on(async {
        let sent = Arc::new(Mutex::new(Value::Null));
        let mined = Arc::clone(&sent);
        let node = Node::start(move |method, params| {
            let tx = mined.lock().unwrap().clone();
            if tx.is_null() {
                return None;
            }
            let block = format!("0x{}", "01".repeat(32));
            Some(Reply::Result(match method {
                "eth_getTransactionReceipt" => json!({
                    "transactionHash": params[0], "blockHash": block, "status": "0x1",
                }),
                "eth_getTransactionByHash" => json!({
                    "hash": params[0], "blockHash": block, "blockNumber": "0x5", "from": tx["from"], "to": tx["to"], "value": "0x0",
                    "input": tx["data"], "chainId": "0x7a69",
                }),
                "eth_getBlockByHash" => json!({ "hash": params[0], "timestamp": tx["time"] }),
                _ => return None,
            }))
        })
        .await;
        let chain = node.chain();
        let store = Arc::new(MemoryServiceStore::default());
        let clock = Arc::new(SetClock::at(1_769_860_800_000));
        let service = Service::new(store, chain.ports(), chain.config(), clock, "test");
        let new = NewServiceRun {
            id: "run".into(),
            intent: format!("send 5 USDC to {OTHER}"),
            wallet: Some(WALLET.into()),
            chain_id: Some(CHAIN),
        };
        service.create(new, "ada").await.unwrap();
        service.start("run", "ada").await.unwrap();
        let run = service.drive("run").await.unwrap();
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval, "{:?}", run.artifacts);
        assert_eq!(run.artifacts.decision.unwrap().risk_score, 0);
        service.approve("run", run.digest.as_deref(), "", "bob").await.unwrap();
        let approved = service.execute("run", "ada").await.unwrap().tx_requests[0].clone();
        let hash = format!("0x{}", "ab".repeat(32));
        service.tx_submitted("run", &[hash], SubmittedBy::Manual, "ada").await.unwrap();
        let status = async || service.poll_tx("run", "ada").await.unwrap().status;
        assert_eq!(status().await, ServiceRunStatus::Submitted, "it is not mined");
        // The seconds of an hour before the approval, and of the approval.
        let (before, then) = (json!("0x697de0b0"), json!("0x697deec0"));
        for (member, other, field) in [("data", json!("0x"), "data"), ("time", before, "time")] {
            let mut tx = approved.clone();
            tx["time"] = then.clone();
            tx[member] = other;
            *sent.lock().unwrap() = tx;
            let poll = service.poll_tx("run", "ada").await.unwrap();
            assert_eq!((poll.status, &*poll.mismatches[0].field), (ServiceRunStatus::Submitted, field));
        }
        let mut tx = approved;
        tx["time"] = then;
        *sent.lock().unwrap() = tx;
        assert_eq!(status().await, ServiceRunStatus::Confirmed);
    });
}
