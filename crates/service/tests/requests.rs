//! Requests with keys and versions, and the limits of their content.

use std::collections::BTreeMap;

use runstate::service_run::ServiceRunStatus;
use runstate_service::{
    Answers, Caller, KeyedAnswer, Poll, Request, RunView, ServiceError, ServiceStore, ServiceStoreError,
    SubmittedBy,
};
use serde_json::{Value, json};

use super::fixture::{Bench, block_on};

fn with_key(actor: &str, key: &str) -> Caller {
    let request = Request { key: key.into(), digest: format!("sha256:{key}") };
    Caller { request: Some(request), ..Caller::from(actor) }
}

async fn answer(bench: &Bench, actor: &str, key: &str) -> KeyedAnswer {
    bench.service.answer(actor, key).await.unwrap().unwrap()
}

fn taken(error: ServiceError) {
    assert!(matches!(error, ServiceError::Store(ServiceStoreError::KeyTaken { .. })), "{error}");
}

#[test]
fn repeated_request_has_one_effect_and_one_answer() {
    block_on(async {
        let bench = Bench::new();
        let new = || bench.new_run("run_1", "send 5 USDC to 0xbeef");
        let created = bench.service.create(new(), with_key("ada", "create")).await.unwrap();
        let mut other = new();
        other.id = "run_2".into();
        taken(bench.service.create(other, with_key("ada", "create")).await.unwrap_err());
        let stored = answer(&bench, "ada", "create").await;
        assert_eq!(stored.digest, "sha256:create");
        assert_eq!(serde_json::from_value::<RunView>(stored.answer).unwrap(), created);

        bench.service.start("run_1", with_key("ada", "start")).await.unwrap();
        taken(bench.service.start("run_1", with_key("ada", "start")).await.unwrap_err());
        bench.service.drive("run_1").await.unwrap();

        let approved = bench.service.approve("run_1", None, "", with_key("bob", "approve")).await.unwrap();
        let before = bench.store.load("run_1").await.unwrap();
        // The key is checked before the status: the second click is no conflict.
        taken(bench.service.approve("run_1", None, "", with_key("bob", "approve")).await.unwrap_err());
        assert_eq!(bench.store.load("run_1").await.unwrap(), before);
        let stored: RunView = serde_json::from_value(answer(&bench, "bob", "approve").await.answer).unwrap();
        assert_eq!((stored.status, stored.version), (ServiceRunStatus::ApprovedReady, approved.version));

        // Another actor's key is another key.
        let handout = bench.service.execute("run_1", with_key("ada", "approve")).await.unwrap();
        assert_eq!(answer(&bench, "ada", "approve").await.answer, json!(handout));
        let send = |tx: &Value| bench.chain.send(&serde_json::from_value(tx.clone()).unwrap());
        let hashes: Vec<String> = handout.tx_requests.iter().map(send).collect();
        let manual = SubmittedBy::Manual;
        bench.service.tx_submitted("run_1", &hashes, manual, with_key("ada", "sent")).await.unwrap();
        taken(
            bench.service.tx_submitted("run_1", &hashes, manual, with_key("ada", "sent")).await.unwrap_err(),
        );
        bench.chain.mine();
        let poll = bench.service.poll_tx("run_1", with_key("ada", "poll")).await.unwrap();
        taken(bench.service.poll_tx("run_1", with_key("ada", "poll")).await.unwrap_err());
        let stored: Poll = serde_json::from_value(answer(&bench, "ada", "poll").await.answer).unwrap();
        assert_eq!(stored, poll);
    });
}

#[test]
fn refused_request_leaves_its_key_free() {
    block_on(async {
        let bench = Bench::new();
        bench.create("send 5 USDC to 0xbeef").await;
        bench.service.approve("run_1", None, "", with_key("bob", "k")).await.unwrap_err();
        assert_eq!(bench.service.answer("bob", "k").await.unwrap(), None);
        bench.service.start("run_1", with_key("bob", "k")).await.unwrap();
    });
}

#[test]
fn change_of_another_version_is_refused() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.run("send 5 USDC to 0xbeef").await;
        let of = |version| Caller { version: Some(version), ..Caller::from("bob") };
        let error = bench.service.approve("run_1", None, "", of(run.version - 1)).await.unwrap_err();
        let expected =
            ServiceStoreError::Version { run: "run_1".into(), got: run.version - 1, current: run.version };
        assert_eq!(error.to_string(), expected.to_string());
        let approved = bench.service.approve("run_1", None, "", of(run.version)).await.unwrap();
        assert_eq!(approved.version, run.version + 1);
        // A status that refuses the operation is told first.
        let error = bench.service.approve("run_1", None, "", of(1)).await.unwrap_err();
        assert!(matches!(error, ServiceError::Conflict(_)), "{error}");
    });
}

#[test]
fn decisions_and_resumes_keep_what_their_caller_says() {
    block_on(async {
        let bench = Bench::new();
        bench.run("send 5 USDC").await;
        let answers = Answers {
            answers: [("recipient".to_owned(), json!("0xbeef"))].into(),
            metadata: [("form".to_owned(), json!(7))].into(),
            ..Answers::default()
        };
        bench.service.resume("run_1", &answers, "ada").await.unwrap();
        let run = bench.service.drive("run_1").await.unwrap();
        let caller = Caller { on_behalf_of: Some("carol".into()), ..Caller::from("bob") };
        bench.service.approve("run_1", None, "fine", &caller).await.unwrap();
        let steps = bench.service.steps("run_1", 0, usize::MAX).await.unwrap();
        let find = |name: &str| steps.iter().rev().find(|step| step.row.step.to_string() == name).unwrap();
        let resumed = &find("RUN_STARTED").row;
        assert_eq!((resumed.pass, &resumed.data), (2, &json!({ "metadata": { "form": 7 } })));
        let decided = &find("HUMAN_APPROVAL").row;
        let data = json!({ "decision": "approved", "digest": run.digest, "on_behalf_of": "carol" });
        assert_eq!((decided.actor.as_deref(), &decided.data), (Some("bob"), &data));
    });
}

#[test]
fn content_has_limits() {
    block_on(async {
        let bench = Bench::new();
        bench.run("send 5 USDC").await;
        let long = "x".repeat(17 * 1024);
        let many: BTreeMap<String, Value> = (0..65).map(|n| (format!("slot_{n}"), json!(n))).collect();
        let one = |slot: &str, answer: Value| BTreeMap::from([(slot.to_owned(), answer)]);
        let answers = [
            (many, "got 65 answers, expected at most 64"),
            (one(&"s".repeat(65), json!(1)), "got a slot of 65 characters, expected 1 to 64"),
            (one("", json!(1)), "got a slot of 0 characters, expected 1 to 64"),
            (one("recipient", json!(long)), "recipient: got 17410 bytes, expected at most 16384"),
            (
                one("amount", json!(0.1)),
                "amount: got the number 0.1, expected an integer, or the number as a string",
            ),
        ];
        let before = bench.store.load("run_1").await.unwrap();
        for (answers, expected) in answers {
            let answers = Answers { answers, ..Answers::default() };
            let error = bench.service.resume("run_1", &answers, "ada").await.unwrap_err();
            assert_eq!(error.to_string(), format!("answers: {expected}"));
        }
        let metadata = one("a", json!(long));
        let error = bench.service.resume("run_1", &Answers { metadata, ..Answers::default() }, "ada").await;
        assert!(error.unwrap_err().to_string().starts_with("metadata: got 17416 bytes"));
        let long_name = "a".repeat(201);
        for name in ["", " ", "a\nb", long_name.as_str()] {
            let error = bench.service.resume("run_1", &Answers::default(), name).await.unwrap_err();
            assert!(matches!(error, ServiceError::Invalid { field: "actor", .. }), "{name:?}: {error}");
        }
        let long_key = "k".repeat(256);
        for key in ["", "a b", "\u{e9}", long_key.as_str()] {
            let error = bench.service.resume("run_1", &Answers::default(), with_key("ada", key)).await;
            let error = error.unwrap_err();
            assert!(matches!(error, ServiceError::Invalid { field: "key", .. }), "{key:?}: {error}");
        }
        for id in ["", "a b", "a/b", "\u{e9}", &"i".repeat(129)] {
            let error = bench.service.create(bench.new_run(id, "send"), "ada").await.unwrap_err();
            assert!(matches!(error, ServiceError::Invalid { field: "id", .. }), "{id:?}: {error}");
        }
        assert_eq!(bench.store.load("run_1").await.unwrap(), before);
    });
}
