//! Hashes of sent transactions: their form, their run, and their replacement.

use runstate::service_run::ServiceRunStatus;
use runstate_service::{ServiceError, SubmittedBy, TxRequest};

use super::fixture::{Bench, T, block_on};

const BY: SubmittedBy = SubmittedBy::Manual;

#[test]
fn transaction_of_another_run_confirms_nothing() {
    block_on(async {
        let bench = Bench::new();
        bench.run("send 5 USDC to 0xbeef").await;
        let hashes = bench.approve_and_send().await;
        bench.service.tx_submitted("run_1", &hashes, BY, "ada").await.unwrap();
        bench.service.create(bench.new_run("run_2", "send 5 USDC to 0xbeef"), "ada").await.unwrap();
        bench.service.start("run_2", "ada").await.unwrap();
        bench.service.drive("run_2").await.unwrap();
        bench.service.approve("run_2", None, "", "bob").await.unwrap();
        // A typo, or the hash of another payment: it keeps the first run from nothing.
        bench.service.tx_submitted("run_2", &hashes, BY, "ada").await.unwrap();
        bench.chain.mine();
        assert_eq!(bench.service.poll_tx("run_1", "ada").await.unwrap().status, ServiceRunStatus::Confirmed);
        for _ in 0..2 {
            let poll = bench.service.poll_tx("run_2", "ada").await.unwrap();
            assert_eq!((poll.status, &*poll.mismatches[0].field), (ServiceRunStatus::Submitted, "run"));
        }
        let handout = bench.service.get("run_2").await.unwrap().artifacts.tx_requests.unwrap().remove(0);
        let own = bench.chain.send(&handout);
        bench.service.replace_tx("run_2", &hashes[0], &own, BY, "ada").await.unwrap();
        bench.chain.mine();
        assert_eq!(bench.service.poll_tx("run_2", "ada").await.unwrap().status, ServiceRunStatus::Confirmed);
    });
}

#[test]
fn transaction_before_the_approval_confirms_nothing() {
    block_on(async {
        const MINUTE: u64 = 60_000;
        for (mined_at, status) in [
            (T - 11 * MINUTE, ServiceRunStatus::Submitted),
            (T - 9 * MINUTE, ServiceRunStatus::Confirmed),
            (T + MINUTE, ServiceRunStatus::Confirmed),
        ] {
            let receipt = format!(
                "{{hash: '0x1', success: true, block: 1, chain_id: 31337, from: '0xa11ce', to: '0xbeef', value: '7', \
                 data: '0x', mined_at_ms: {mined_at}}}"
            );
            let bench = Bench::scripted(&format!("receipts: [{{answer: [{receipt}]}}]"));
            bench.run("send 0.000000000000000007 ETH to 0xbeef").await;
            bench.approve_and_send().await;
            bench.service.tx_submitted("run_1", &["0x1".to_owned()], BY, "ada").await.unwrap();
            let poll = bench.service.poll_tx("run_1", "ada").await.unwrap();
            assert_eq!(poll.status, status, "{poll:?}");
            if status == ServiceRunStatus::Submitted {
                assert_eq!(poll.mismatches[0].field, "time");
                // It is no payment of this run, so its hash may be replaced.
                bench.service.replace_tx("run_1", "0x1", "0x2", BY, "ada").await.unwrap();
            }
        }
    });
}

#[test]
fn hash_of_another_form_is_refused_and_digits_have_no_case() {
    block_on(async {
        let bench = Bench::new();
        bench.run("send 5 USDC to 0xbeef").await;
        let hashes = bench.approve_and_send().await;
        for bad in [
            "hello world",
            "0x",
            " 0x12 ",
            "0x12\u{0}",
            "\u{202e}0x12",
            "12",
            &format!("0x{}", "1".repeat(129)),
        ] {
            let error = bench.service.tx_submitted("run_1", &[bad.to_owned()], BY, "ada").await.unwrap_err();
            assert!(matches!(error, ServiceError::Invalid { field: "tx_hashes", .. }), "{bad:?}: {error}");
        }
        let upper = [format!("0x{}", hashes[0][2..].to_ascii_uppercase())];
        let run = bench.service.tx_submitted("run_1", &upper, BY, "ada").await.unwrap();
        assert_eq!(run.tx_hashes, hashes);
        bench.chain.mine();
        assert_eq!(bench.service.poll_tx("run_1", "ada").await.unwrap().status, ServiceRunStatus::Confirmed);
    });
}

#[test]
fn hash_is_replaced_until_its_transaction_is_mined() {
    block_on(async {
        let bench = Bench::new();
        bench.run("send 5 USDC to 0xbeef").await;
        bench.service.approve("run_1", None, "", "bob").await.unwrap();
        let handout = bench.service.execute("run_1", "ada").await.unwrap();
        let tx: TxRequest = serde_json::from_value(handout.tx_requests[0].clone()).unwrap();
        let wrong = bench.chain.send(&TxRequest { to: "0xc0de02".into(), ..tx.clone() });
        bench.service.tx_submitted("run_1", &["0x1".to_owned()], BY, "ada").await.unwrap();
        // A hash that names nothing, then one of another transaction, then the right one.
        bench.service.replace_tx("run_1", "0x1", &wrong, BY, "ada").await.unwrap();
        bench.chain.mine();
        assert_eq!(bench.service.poll_tx("run_1", "ada").await.unwrap().mismatches.len(), 1);
        let right = bench.chain.send(&tx);
        let error = bench.service.replace_tx("run_1", "0x1", &right, BY, "ada").await.unwrap_err();
        assert_eq!(error.to_string(), "tx_hashes: the run has no hash \"0x1\" to replace");
        let run = bench.service.replace_tx("run_1", &wrong, &right, BY, "ada").await.unwrap();
        assert_eq!(run.tx_hashes, std::slice::from_ref(&right));
        bench.chain.mine();
        let error = bench.service.replace_tx("run_1", &right, "0x2", BY, "ada").await.unwrap_err();
        assert!(error.to_string().ends_with("is mined as approved; expected a hash that is not"), "{error}");
        assert_eq!(bench.service.get("run_1").await.unwrap().status, ServiceRunStatus::Confirmed);
        let error = bench.service.replace_tx("run_1", &right, "0x2", BY, "ada").await.unwrap_err();
        assert!(matches!(error, ServiceError::Conflict(_)), "{error}");
    });
}

#[test]
fn summary_says_what_the_actions_do() {
    block_on(async {
        let bench = Bench::new();
        bench.run("send 5 USDC").await;
        bench.answer("amount", "7").await;
        let run = bench.answer("recipient", "0xbad").await;
        let plan = run.artifacts.tx_plan.unwrap();
        assert_eq!(plan.summary, "send 7 USDC to 0xbad");
        let message = run.artifacts.assistant_message.unwrap();
        assert_eq!(message, "One transaction is ready: send 7 USDC to 0xbad. Please review and approve it.");
    });
}
