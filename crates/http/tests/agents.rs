//! Agent runs, for reading.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use http_body_util::BodyExt;
use runstate::trace::{Event, Verdict, check};
use runstate::turn::{CallRequest, Turn};
use runstate_http::{Leaving, Options, Role, Tokens};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Claim, MemoryStore, NewRun, Release, RunData, RunLists, RunQueue,
    RunStore, ThreadPlace,
};
use runstate_store_conformance::Played;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::fixture::{Bench, block_on, request};
use super::streams::Events;

fn asks(calls: &[&str]) -> Turn {
    let call = |id: &&str| CallRequest::new(*id, "ask", json!({ "to": "bob" }));
    Turn { calls: calls.iter().map(call).collect(), ..Turn::default() }
}

/// Stores the commits of a driven run from one of them on.
async fn store_from(store: &MemoryStore, run: &str, played: &Played, from: usize) {
    let claim = Claim::of(run, "me", Duration::from_secs(60));
    let lease = store.claim(&claim).await.unwrap().unwrap();
    for commit in played.commits().skip(from) {
        store.commit(&lease, commit).await.unwrap();
    }
    store.release(&lease, &Release::clean()).await.unwrap();
}

async fn create(store: &MemoryStore, run: &str, at_ms: u64) {
    store.create(&NewRun::new(run, Value::Null, at_ms).titled(format!("title of {run}"))).await.unwrap();
}

/// A server with three agent runs: `new` without a commit, `waits` with two calls, and `done`.
async fn bench() -> (Bench, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::default());
    create(&store, "new", 1_000).await;
    create(&store, "waits", 2_000).await;
    store_from(&store, "waits", &Played::new("waits", &[asks(&["a", "b"])]).await, 0).await;
    create(&store, "done", 3_000).await;
    store_from(&store, "done", &Played::new("done", &[]).await, 0).await;
    let mut options = Options::local();
    options.agents = Some(store.clone() as Arc<dyn RunStore>);
    (Bench::with(options, |_| {}), store)
}

fn ids(list: &Value) -> Vec<&str> {
    list["runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap()).collect()
}

#[test]
fn agent_runs_are_listed_apart_from_service_runs() {
    block_on(async {
        let (bench, _) = bench().await;
        let service = bench.create("send 5 USDC").await;
        let all = bench.get("/v1/runs?kind=agent").await.json();
        assert_eq!(ids(&all), ["done", "waits", "new"]);
        let of_kind: Vec<&Value> = all["runs"].as_array().unwrap().iter().map(|run| &run["kind"]).collect();
        assert_eq!(of_kind, ["agent"; 3]);
        assert_eq!((all.get("counts"), &all["next"]), (None, &Value::Null));
        assert_eq!(all["runs"][1]["waiting"], 2);
        assert_eq!(all["runs"][2]["created_at"], "1970-01-01T00:00:01.000Z");

        let services = bench.get("/v1/runs").await.json();
        assert_eq!(ids(&services), [service.rsplit('/').next().unwrap()]);
        let waiting = bench.get("/v1/runs?kind=agent&status=Waiting").await.json();
        assert_eq!(ids(&waiting), ["waits"]);
        let at = |second: u32| format!("1970-01-01T00:00:0{second}Z");
        let between = bench.get(&format!("/v1/runs?kind=agent&since={}&until={}", at(2), at(3))).await.json();
        assert_eq!(ids(&between), ["waits"]);
    });
}

#[test]
fn pages_of_agent_runs_have_each_run_once() {
    block_on(async {
        let (bench, store) = bench().await;
        let first = bench.get("/v1/runs?kind=agent&limit=2").await.json();
        assert_eq!(ids(&first), ["done", "waits"]);
        create(&store, "later", 4_000).await;
        let cursor = first["next"].as_str().unwrap();
        let second = bench.get(&format!("/v1/runs?kind=agent&limit=2&cursor={cursor}")).await.json();
        assert_eq!((ids(&second), &second["next"]), (vec!["new"], &Value::Null));

        for other in ["kind=agent&status=Done", "kind=service", "kind=agent&thread=new"] {
            let refused = bench.get(&format!("/v1/runs?{other}&cursor={cursor}")).await;
            assert_eq!(refused.problem(), (400, "bad-cursor".into()), "{other}");
        }
    });
}

#[test]
fn runs_of_a_thread_are_listed_from_the_last_one() {
    block_on(async {
        let (bench, store) = bench().await;
        let first = Played::new("t1", &[]).await;
        create(&store, "t1", 5_000).await;
        store_from(&store, "t1", &first, 0).await;
        let mut next = NewRun::new("t2", Value::Null, 6_000);
        next.thread = Some(ThreadPlace { thread: "t1".to_owned(), after: Some("t1".to_owned()) });
        store.create(&next).await.unwrap();
        let all = bench.get("/v1/runs?kind=agent&thread=t1").await.json();
        assert_eq!(ids(&all), ["t2", "t1"]);
        let page = bench.get("/v1/runs?kind=agent&thread=t1&limit=1").await.json();
        let cursor = page["next"].as_str().unwrap();
        let rest = bench.get(&format!("/v1/runs?kind=agent&thread=t1&limit=1&cursor={cursor}")).await.json();
        assert_eq!((ids(&page), ids(&rest), &rest["next"]), (vec!["t2"], vec!["t1"], &Value::Null));
        let none = bench.get("/v1/runs?kind=agent&thread=unknown").await.json();
        assert_eq!(ids(&none), [""; 0]);
        assert_eq!(bench.get("/v1/runs/t2").await.json()["thread"], "t1");
    });
}

#[test]
fn filters_that_agent_runs_lack_are_refused() {
    block_on(async {
        let (bench, _) = bench().await;
        for (query, named) in [
            ("final_status=READY", "final_status"),
            ("q=x", "\"q\""),
            ("sort=oldest", "\"sort\""),
            ("agent=x", "\"agent\""),
            ("counts=true", "\"counts\""),
            ("status=RUNNING", "Running, Waiting, Done"),
            ("thread=new&status=Done", "thread"),
        ] {
            let refused = bench.get(&format!("/v1/runs?kind=agent&{query}")).await;
            assert_eq!(refused.problem(), (400, "bad-query".into()), "{query}");
            assert!(refused.json()["detail"].as_str().unwrap().contains(named), "{refused:?}");
        }
    });
}

#[test]
fn server_without_agent_runs_says_so() {
    block_on(async {
        let bench = Bench::new();
        let refused = bench.get("/v1/runs?kind=agent").await;
        assert_eq!(refused.problem(), (400, "bad-query".into()));
        assert_eq!(bench.get("/v1/runs/done").await.problem(), (404, "not-found".into()));
        assert_eq!(bench.get("/v1/runs/done/approvals").await.problem(), (404, "not-found".into()));
    });
}

#[test]
fn agent_run_has_its_entity_tag() {
    block_on(async {
        let (bench, store) = bench().await;
        let run = bench.get("/v1/runs/waits").await;
        assert_eq!((run.status, &run.json()["status"]), (StatusCode::OK, &json!("Waiting")));
        let tag = run.header("etag").unwrap();
        let known = bench.send(request("GET", "/v1/runs/waits", &[("if-none-match", tag)], "")).await;
        assert_eq!(known.status, StatusCode::NOT_MODIFIED);
        // A cancellation is no commit, and changes the answer.
        assert!(store.cancel("waits", "no more").await.unwrap());
        let changed = bench.send(request("GET", "/v1/runs/waits", &[("if-none-match", tag)], "")).await;
        assert_eq!((changed.status, &changed.json()["cancel"]), (StatusCode::OK, &json!("no more")));
        // A run that does not exist is no agent run.
        let absent = bench.get("/v1/runs/absent?include=steps").await;
        assert_eq!(absent.problem(), (404, "not-found".into()));
        let parts = bench.get("/v1/runs/waits?include=steps").await;
        assert_eq!(parts.problem(), (400, "bad-query".into()));
        assert_eq!(bench.get("/v1/runs/none").await.problem(), (404, "not-found".into()));
    });
}

#[test]
fn waiting_calls_are_listed_with_their_digests() {
    block_on(async {
        let (bench, store) = bench().await;
        let page = bench.get("/v1/runs/waits/approvals?limit=1").await.json();
        let waiting = &page["approvals"][0];
        assert_eq!((&waiting["tool"], &waiting["arguments"]), (&json!("ask"), &json!({ "to": "bob" })));
        assert_eq!((&waiting["in_doubt"], &waiting["left_ms"]), (&json!(false), &Value::Null));
        let known = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 9)).await;
        assert_eq!(waiting["digest"], known.unwrap()[0].digest);
        let next = page["next"].as_str().unwrap();
        let rest = bench.get(&format!("/v1/runs/waits/approvals?after={next}")).await.json();
        assert_eq!((rest["approvals"].as_array().unwrap().len(), &rest["next"]), (1, &Value::Null));
        assert_ne!(rest["approvals"][0]["call"], waiting["call"]);
        assert_eq!(bench.get("/v1/runs/done/approvals").await.json()["approvals"], json!([]));
        assert_eq!(bench.get("/v1/runs/none/approvals").await.problem(), (404, "not-found".into()));
    });
}

#[test]
fn tool_calls_have_status_and_result() {
    block_on(async {
        let (bench, store) = bench().await;
        let calls = ["say", "ask"].map(|tool| CallRequest::new(tool, tool, json!({ "to": "bob" })));
        let turn = Turn { calls: calls.to_vec(), ..Turn::default() };
        create(&store, "mixed", 4_000).await;
        store_from(&store, "mixed", &Played::new("mixed", &[turn]).await, 0).await;

        let page = bench.get("/v1/runs/mixed/tool-calls?limit=1").await.json();
        let rest = bench.get("/v1/runs/mixed/tool-calls?after=1").await.json();
        assert_eq!((&page["next"], &rest["next"]), (&json!(1), &Value::Null));
        let (ended, open) = (&page["rows"][0], &rest["rows"][0]);
        assert_eq!(
            (&ended["id"], &ended["status"], &ended["seq"]),
            (&json!("say"), &json!("Succeeded"), &json!(1))
        );
        assert_eq!(
            (&open["id"], &open["status"], &open["seq"]),
            (&json!("ask"), &json!("Suspended"), &json!(2))
        );
        assert!(
            ended["output"] == json!({ "to": "bob" }) && open.get("suspension").is_some(),
            "{page} {rest}"
        );
        assert_eq!(bench.get("/v1/runs/new/tool-calls").await.json()["rows"], json!([]));
        let service = bench.create("send 5 USDC").await;
        assert_eq!(bench.get(&format!("{service}/tool-calls")).await.json()["rows"], json!([]));
        assert_eq!(bench.get(&format!("{service}/approvals")).await.json()["approvals"], json!([]));
    });
}

#[test]
fn trace_of_an_agent_run_conforms() {
    block_on(async {
        let (bench, _) = bench().await;
        let trace = bench.get("/v1/runs/done/trace.jsonl").await;
        let events: Vec<_> = trace.text.lines().map(|line| Event::from_json(line).unwrap()).collect();
        assert_eq!(check(&events, &runstate::rulebook()).verdict, Verdict::Conforms);
        let page = bench.get("/v1/runs/done/trace?limit=3").await.json();
        let rest = bench.get("/v1/runs/done/trace?after=3").await.json();
        let rows = [&page, &rest].map(|page| page["rows"].as_array().unwrap().len());
        assert_eq!(
            (rows[0] + rows[1], &page["next"], &rest["next"]),
            (events.len(), &json!(3), &Value::Null)
        );
    });
}

#[test]
fn events_of_an_agent_run_go_on_behind_a_known_one() {
    block_on(async {
        let (bench, _) = bench().await;
        let all = Events::open(&bench, "/v1/runs/done", None).await.rest().await;
        let last = all.last().unwrap();
        assert_eq!(last.name, "run_finished");
        assert_eq!(serde_json::from_str::<Value>(&last.data).unwrap()["run"], "done");
        let rest = Events::open(&bench, "/v1/runs/done", Some(&all[1].id)).await.rest().await;
        assert_eq!(rest, all[2..]);

        let known = request("GET", "/v1/runs/done/events", &[("last-event-id", &last.id)], "");
        assert_eq!(bench.send(known).await.status, StatusCode::NO_CONTENT);
        let (seq, _) = last.id.split_once('@').unwrap();
        for unknown in ["999@5", &format!("{seq}@1")] {
            let unknown = request("GET", "/v1/runs/done/events", &[("last-event-id", unknown)], "");
            assert_eq!(bench.send(unknown).await.problem(), (400, "bad-header".into()));
        }
        assert_eq!(bench.get("/v1/runs/none/events").await.problem(), (404, "not-found".into()));
    });
}

#[test]
fn events_of_an_agent_run_come_as_they_are_stored() {
    block_on(async {
        let (bench, store) = bench().await;
        let played = Played::new("new", &[]).await;
        let mut live = Events::open(&bench, "/v1/runs/new", None).await;
        let task = tokio::spawn(async move { live.rest().await });
        tokio::time::sleep(Duration::from_secs(40)).await;
        store_from(&store, "new", &played, 0).await;
        let live = task.await.unwrap();
        assert_eq!(live, Events::open(&bench, "/v1/runs/new", None).await.rest().await);

        // A run that waits has more to come: its stream stays open until it is broken.
        let mut waiting = Events::open(&bench, "/v1/runs/waits", None).await;
        let mut names = Vec::new();
        while let Ok(Some(event)) = tokio::time::timeout(Duration::from_secs(1), waiting.next()).await {
            names.push(event.unwrap().name);
        }
        assert_eq!(names.last().unwrap(), "run_finished");
        bench.drain.begin();
        bench.drain.break_streams();
        assert!(waiting.next().await.unwrap().is_err(), "a broken stream is no ended one");
    });
}

#[test]
fn revoked_token_breaks_a_stream_of_an_agent_run() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let tokens = || Tokens::open(folder.path().join("tokens.json")).unwrap();
        let token = tokens().create("ada", [Role::Viewer], 0, None).unwrap();
        let (_, store) = bench().await;
        let mut options = Options::with_tokens(tokens());
        options.agents = Some(store as Arc<dyn RunStore>);
        let bench = Bench::with(options, |_| {});
        let bearer = format!("Bearer {token}");
        let answer = request("GET", "/v1/runs/waits/events", &[("authorization", &bearer)], "");
        let answer = bench.router.clone().oneshot(answer).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let body = tokio::spawn(answer.into_body().collect());
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert!(!body.is_finished(), "the run waits");
        tokens().revoke("ada").unwrap();
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert!(body.await.unwrap().is_err(), "a broken stream is no ended one");
    });
}

#[test]
fn redactor_sees_agent_runs() {
    block_on(async {
        let (_, store) = bench().await;
        let mut options = Options::local();
        options.agents = Some(store as Arc<dyn RunStore>);
        options.redact = Some(Arc::new(|_: Leaving<'_>, value: &mut Value| {
            *value = serde_json::from_str(&value.to_string().replace("bob", "[withheld]")).unwrap();
        }));
        let bench = Bench::with(options, |_| {});
        for path in ["approvals", "tool-calls", "trace", "trace.jsonl"] {
            let text = bench.get(&format!("/v1/runs/waits/{path}")).await.text;
            assert!(!text.contains("bob"), "{path}: {text}");
        }
        let mut events = Events::open(&bench, "/v1/runs/waits", None).await;
        while let Ok(Some(event)) = tokio::time::timeout(Duration::from_secs(1), events.next()).await {
            assert!(!event.unwrap().data.contains("bob"));
        }
    });
}

#[test]
fn agent_runs_cannot_be_changed() {
    block_on(async {
        let (bench, store) = bench().await;
        for operation in ["start", "resume", "approve", "reject", "execute", "tx_submitted", "poll_tx"] {
            let body = if operation == "tx_submitted" {
                json!({ "tx_hashes": ["0x1"], "submitted_by": "manual" })
            } else {
                json!({})
            };
            let refused = bench.post(&format!("/v1/runs/waits/{operation}"), &body).await;
            assert_eq!(refused.problem(), (404, "not-found".into()), "{operation}");
            assert!(refused.json()["detail"].as_str().unwrap().contains("reads only"), "{refused:?}");
        }
        let refused = bench.send(request("DELETE", "/v1/runs/done", &[], "")).await;
        assert!(refused.json()["detail"].as_str().unwrap().contains("reads only"), "{refused:?}");
        assert_eq!(store.load("waits").await.unwrap().info.waiting, 2);
        for rows in ["steps", "timeline", "artifacts/tx_plan"] {
            let refused = bench.get(&format!("/v1/runs/waits/{rows}")).await;
            assert_eq!(refused.problem(), (404, "not-found".into()), "{rows}");
            assert!(refused.json()["detail"].as_str().unwrap().contains("tool-calls"), "{refused:?}");
        }
    });
}
