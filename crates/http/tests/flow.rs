//! The whole flow, with keys, versions and lists.

use std::sync::Arc;

use axum::http::StatusCode;
use runstate_http::{Options, Role, Tokens};
use runstate_runtime::clock::TokioClock;
use serde_json::{Value, json};

use super::counting::Counting;
use super::fixture::{Bench, T, block_on, request};

#[test]
fn request_becomes_a_confirmed_run() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.create("send 5 USDC").await;
        let paused = bench.post(&format!("{run}/start"), &json!({})).await;
        assert_eq!((paused.status, &paused.json()["status"]), (StatusCode::OK, &json!("PAUSED")));
        assert_eq!(paused.json()["needs_input"]["missing"][0]["slot"], "recipient");
        assert_eq!(paused.json()["allowed"], json!(["resume"]));

        let ready =
            bench.post(&format!("{run}/resume"), &json!({ "answers": { "recipient": "0xbeef" } })).await;
        assert_eq!(ready.json()["status"], "AWAITING_APPROVAL");
        let all = bench.get(&format!("{run}?include=artifacts,timeline,steps,decisions")).await.json();
        assert_eq!(all["artifacts"]["tx_requests"][0]["kind"], "transfer");
        assert_eq!(all["decisions"], json!([]));
        assert_eq!(all["timeline"].as_array().unwrap().len(), 18);

        let digest = ready.json()["digest"].clone();
        let body = json!({ "digest": digest, "notes": "fine", "reviewer": "carol" });
        let approved = bench.post(&format!("{run}/approve"), &body).await;
        assert_eq!(approved.json()["status"], "APPROVED_READY");
        assert_eq!(approved.json()["decided_by"]["actor"], "local", "the body names no actor");
        let decisions = bench.get(&format!("{run}?include=decisions")).await.json()["decisions"].clone();
        assert_eq!(decisions[0]["data"]["on_behalf_of"], "carol");

        let handout = bench.post(&format!("{run}/execute"), &json!({})).await.json();
        assert_eq!((&handout["tx_request"], &handout["digest"]), (&handout["tx_requests"][0], &digest));
        let hash = bench.chain.send(&serde_json::from_value(handout["tx_request"].clone()).unwrap());
        let body = json!({ "txHash": hash, "submittedBy": "metamask" });
        let submitted = bench.post(&format!("{run}/tx_submitted"), &body).await;
        assert_eq!(submitted.json()["status"], "SUBMITTED");
        let poll = bench.post(&format!("{run}/poll_tx"), &json!({})).await.json();
        assert_eq!((&poll["mined"], &poll["status"]), (&json!(false), &json!("SUBMITTED")));
        bench.chain.mine();
        let poll = bench.post(&format!("{run}/poll_tx"), &json!({})).await.json();
        assert_eq!((&poll["mined"], &poll["status"]), (&json!(true), &json!("CONFIRMED")));
        assert_eq!(poll["receipt"]["hash"], json!(hash));

        let trace = bench.get(&format!("{run}/trace.jsonl")).await;
        let events: Vec<_> =
            trace.text.lines().map(|line| runstate::trace::Event::from_json(line).unwrap()).collect();
        let report = runstate::trace::check(&events, &runstate::rulebook());
        assert_eq!(report.verdict, runstate::trace::Verdict::Conforms);
        let other = bench.send(request("DELETE", &run, &[("if-match", "\"v1\"")], "")).await;
        assert_eq!(other.problem(), (412, "other-version".into()));
        let removed = bench.send(request("DELETE", &run, &[], "")).await;
        assert_eq!(removed.status, StatusCode::NO_CONTENT);
        assert_eq!(bench.get(&run).await.problem(), (404, "not-found".into()));
    });
}

#[test]
fn repeated_key_has_one_effect_and_one_answer() {
    block_on(async {
        let bench = Bench::new();
        let key = [("idempotency-key", "k1")];
        let body = json!({ "intent": "send 5 USDC to 0xbeef" });
        let first = bench.post_with("/v1/runs", &key, &body).await;
        let again = bench.post_with("/v1/runs", &key, &body).await;
        assert_eq!((first.status, &first.text), (again.status, &again.text));
        assert_eq!(first.header("location"), again.header("location"));
        assert_eq!(
            (first.header("idempotency-replayed"), again.header("idempotency-replayed")),
            (None, Some("true"))
        );
        assert_eq!(bench.get("/v1/runs").await.json()["runs"].as_array().unwrap().len(), 1);
        let other = bench.post_with("/v1/runs", &key, &json!({ "intent": "another" })).await;
        assert_eq!(other.problem(), (422, "key-reused".into()));

        let run = bench.create("send 5 USDC to 0xbeef").await;
        let (start, approve) = (format!("{run}/start"), format!("{run}/approve"));
        let first = bench.post_with(&start, &[("idempotency-key", "k2")], &json!({})).await;
        let again = bench.post_with(&start, &[("idempotency-key", "k2")], &json!({})).await;
        assert_eq!(first.text, again.text, "a repeated start has the outcome");
        let first = bench.post_with(&approve, &[("idempotency-key", "k3")], &json!({})).await;
        bench.post(&format!("{run}/execute"), &json!({})).await;
        let again = bench.post_with(&approve, &[("idempotency-key", "k3")], &json!({})).await;
        assert_eq!((first.status, &first.text), (again.status, &again.text));
        // Without a key a second click is refused.
        assert_eq!(bench.post(&approve, &json!({})).await.problem(), (409, "wrong-status".into()));
        for key in ["", "a b", &"k".repeat(256)] {
            let bad = bench.post_with(&approve, &[("idempotency-key", key)], &json!({})).await;
            assert_eq!(bad.problem(), (400, "bad-header".into()), "{key:?}");
        }
    });
}

#[test]
fn versions_are_entity_tags() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.create("send 5 USDC to 0xbeef").await;
        let read = bench.get(&run).await;
        assert_eq!(read.header("etag"), Some("\"v1\""));
        let same = bench.send(request("GET", &run, &[("if-none-match", "\"v0\", W/\"v1\"")], "")).await;
        assert_eq!((same.status, same.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
        let start = format!("{run}/start");
        let refused = bench.post_with(&start, &[("if-match", "\"v2\"")], &json!({})).await;
        assert_eq!(refused.problem(), (412, "other-version".into()));
        for tag in ["v1", "\"x\"", "", "W/\"v1\"", "\"v+1\"", "\"v1\", \"v2\""] {
            let refused = bench.post_with(&start, &[("if-match", tag)], &json!({})).await;
            assert_eq!(refused.problem(), (400, "bad-header".into()), "{tag}");
        }
        let started = bench.post_with(&start, &[("if-match", "\"v1\"")], &json!({})).await;
        assert_eq!(started.status, StatusCode::OK);
        assert_ne!(bench.get(&run).await.header("etag"), Some("\"v1\""));
    });
}

#[test]
fn start_waits_as_long_as_the_client_prefers() {
    block_on(async {
        let bench = Bench::new();
        let started = |prefer: &'static str| {
            let bench = &bench;
            async move {
                let run = bench.create("send 5 USDC to 0xbeef").await;
                let headers = [("prefer", prefer)];
                let answer = bench.post_with(&format!("{run}/start"), &headers, &json!({})).await;
                (answer.status.as_u16(), answer.json()["status"].clone())
            }
        };
        assert_eq!(started("respond-async").await, (202, json!("RUNNING")));
        assert_eq!(started("wait=0").await, (202, json!("RUNNING")));
        assert_eq!(started("foo, wait=5").await, (200, json!("AWAITING_APPROVAL")));
        let bench = Bench::with(
            {
                let mut options = Options::local();
                options.drives = false;
                options
            },
            |_| {},
        );
        let run = bench.create("send 5 USDC to 0xbeef").await;
        assert_eq!(bench.post(&format!("{run}/start"), &json!({})).await.status, StatusCode::ACCEPTED);
    });
}

#[test]
fn lists_are_pages_of_one_query() {
    block_on(async {
        let bench = Bench::new();
        for n in 0..5 {
            bench.create(&format!("send {n} USDC to 0xbeef")).await;
        }
        let (mut seen, mut path) = (Vec::new(), "/v1/runs?limit=2&q=USDC".to_owned());
        loop {
            // Counts cost a look at each run: a page has them if the query asks for them.
            let page = bench.get(&path).await.json();
            assert_eq!((page.get("counts"), &page["unreadable"]), (None, &json!([])));
            let counted = bench.get(&format!("{path}&counts=true")).await.json();
            assert_eq!((&counted["counts"], &counted["next"]), (&json!({ "CREATED": 5 }), &page["next"]));
            seen.extend(page["runs"].as_array().unwrap().iter().map(|run| run["intent"].clone()));
            // A run that is created meanwhile shifts nothing.
            bench.post("/v1/runs", &json!({ "intent": "swap" })).await;
            let Value::String(next) = &page["next"] else { break };
            path = format!("/v1/runs?limit=2&q=USDC&cursor={next}");
        }
        seen.sort_by_key(Value::to_string);
        let all: Vec<Value> = (0..5).map(|n| json!(format!("send {n} USDC to 0xbeef"))).collect();
        assert_eq!(seen, all);
        let other = path.replace("USDC", "swap");
        assert_eq!(bench.get(&other).await.problem(), (400, "bad-cursor".into()));
        assert_eq!(bench.get("/v1/runs?cursor=x").await.problem(), (400, "bad-cursor".into()));
        let bad = [
            "limit=0",
            "limit=201",
            "limit=x",
            "status=DONE",
            "final_status=DONE",
            "since=today",
            "sort=best",
            "kind=agent",
            "counts=yes",
            "page=2",
            "q=a&q=b",
            "agent=a",
        ];
        for query in bad {
            assert_eq!(
                bench.get(&format!("/v1/runs?{query}")).await.problem(),
                (400, "bad-query".into()),
                "{query}"
            );
        }
        let rows = ["status=CREATED,PAUSED", "status=CREATED&status=PAUSED", "since=2026-01-31T12:00:00Z"];
        for query in rows {
            let page = bench.get(&format!("/v1/runs?q=USDC&{query}")).await.json();
            assert_eq!(page["runs"].as_array().unwrap().len(), 5, "{query}");
        }
        assert_eq!(bench.get("/v1/runs?until=2026-01-31T12:00:00Z").await.json()["runs"], json!([]));
    });
}

#[test]
fn rows_are_paged() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.create("send 5 USDC to 0xbeef").await;
        bench.post(&format!("{run}/start"), &json!({})).await;
        for kind in ["steps", "timeline", "trace"] {
            let whole = bench.get(&format!("{run}/{kind}?limit=1000")).await.json();
            let (mut rows, mut after) = (Vec::new(), 0);
            loop {
                let page = bench.get(&format!("{run}/{kind}?limit=3&after={after}")).await.json();
                rows.extend(page["rows"].as_array().unwrap().clone());
                let Some(next) = page["next"].as_u64() else { break };
                after = next;
            }
            assert_eq!(json!(rows), whole["rows"], "{kind}");
            assert!(rows.len() > 3 && whole["next"].is_null(), "{kind}");
            assert_eq!(
                bench.get(&format!("/v1/runs/none/{kind}")).await.problem(),
                (404, "not-found".into())
            );
        }
        let plan = bench.get(&format!("{run}/artifacts/tx_plan")).await.json();
        assert_eq!(plan["actions"][0]["asset"], "USDC");
        assert_eq!(bench.get(&format!("{run}/artifacts/x")).await.problem(), (404, "not-found".into()));
    });
}

#[test]
fn client_that_goes_away_cancels_nothing() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.create("send 5 USDC to 0xbeef").await;
        let (start, body) = (format!("{run}/start"), json!({}));
        let gone = tokio::time::timeout(std::time::Duration::ZERO, bench.post(&start, &body)).await;
        assert!(gone.is_err(), "the client went before the outcome");
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        assert_eq!(bench.get(&run).await.json()["status"], "AWAITING_APPROVAL");
    });
}

#[test]
fn chain_in_the_process_takes_and_mines_transactions() {
    block_on(async {
        let chain = runstate_service::sim::SimChain::example();
        let mut options = Options::local();
        options.sim = Some(chain.clone());
        let bench = Bench::with(options, |_| {});
        let tx = json!({
            "kind": "transfer", "chain_id": chain.id(), "from": "0xa11ce", "to": "0xbeef", "value": "7", "data": "0x",
        });
        let sent = bench.post("/sim/transactions", &tx).await.json();
        assert_eq!(bench.post("/sim/blocks", &json!({})).await.json(), json!({ "block": 1 }));
        assert!(chain.receipt_of(sent["hash"].as_str().unwrap()).unwrap().success);
        assert_eq!(
            bench.post("/sim/transactions", &json!({ "to": 1 })).await.problem(),
            (422, "invalid".into())
        );
        let keyed = bench.post_with("/sim/blocks", &[("idempotency-key", "k")], &json!({})).await;
        assert_eq!(keyed.problem(), (400, "bad-header".into()));
        let plain = Bench::new();
        assert_eq!(plain.post("/sim/blocks", &json!({})).await.problem(), (404, "not-found".into()));
    });
}

#[test]
fn unchanged_run_is_loaded_once() {
    block_on(async {
        let clock = TokioClock::starting_at(T);
        let store = Arc::new(Counting::new(clock));
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(folder.path().join("tokens.json")).unwrap();
        let [token, viewer] = [("ada", Role::Operator), ("bob", Role::Viewer)]
            .map(|(name, role)| format!("Bearer {}", tokens.create(name, [role], T, None).unwrap()));
        let bench = Bench::over(store.clone(), Options::with_tokens(tokens), |_| {});
        let send = async |method: &str, path: &str, token: &str, headers: &[(&str, &str)], body: &str| {
            let headers = [&[("authorization", token)], headers].concat();
            bench.send(request(method, path, &headers, body)).await
        };
        let run = send("POST", "/v1/runs", &token, &[], r#"{"intent": "send 5 USDC"}"#).await;
        let run = run.header("location").unwrap().to_owned();
        let before = store.loads();
        let first = send("GET", &run, &token, &[], "").await;
        let second = send("GET", &run, &viewer, &[], "").await;
        assert_eq!((store.loads() - before, &second.text), (1, &first.text));
        assert_eq!(second.headers, first.headers);
        let known = [("if-none-match", first.header("etag").unwrap())];
        assert_eq!(send("GET", &run, &token, &known, "").await.status, StatusCode::NOT_MODIFIED);
        assert_eq!(store.loads() - before, 1);
        // Parts are read anew, and no answer is kept for other tokens.
        assert!(send("GET", &format!("{run}?include=steps"), &token, &[], "").await.text.contains("steps"));
        assert_eq!(store.loads() - before, 2);
        assert_eq!(send("GET", &run, "Bearer rs_0", &[], "").await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(send("GET", &run, &token, &[("accept", "text/html")], "").await.problem().0, 406);

        send("POST", &format!("{run}/start"), &token, &[], "").await;
        let changed = send("GET", &run, &token, &[], "").await;
        assert_eq!(changed.json()["status"], "PAUSED");
        assert_ne!(changed.header("etag"), first.header("etag"));
        // A change of another run ends the answer too, and it is the same.
        send("POST", "/v1/runs", &token, &[], r#"{"intent": "swap"}"#).await;
        let loads = store.loads();
        assert_eq!(send("GET", &run, &token, &[], "").await.text, changed.text);
        assert_eq!(store.loads() - loads, 1);
    });
}
