//! Event streams.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use runstate::service_run::ServiceRunStatus;
use runstate_http::{Options, Role, Tokens};
use runstate_runtime::clock::TokioClock;
use runstate_service::ServiceStore;
use runstate_service::testing::example_change;
use serde_json::json;
use tower::ServiceExt;

use super::counting::Counting;
use super::fixture::{Bench, T, block_on, request};

/// A stream that is read event by event.
pub(crate) struct Events {
    body: Body,
    text: String,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: String,
}

impl Events {
    pub(crate) async fn open(bench: &Bench, run: &str, last: Option<&str>) -> Self {
        let headers: Vec<(&str, &str)> = last.map(|last| ("last-event-id", last)).into_iter().collect();
        let answer =
            bench.router.clone().oneshot(request("GET", &format!("{run}/events"), &headers, "")).await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Events { body: answer.into_body(), text: String::new() }
    }

    /// The next event, or how the stream ends. Comments and the pause are left out.
    pub(crate) async fn next(&mut self) -> Option<Result<Event, String>> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let mut read = Event::default();
                for line in event.lines() {
                    match line.split_once(": ") {
                        Some(("id", id)) => read.id = id.to_owned(),
                        Some(("event", name)) => read.name = name.to_owned(),
                        Some(("data", data)) => read.data = data.to_owned(),
                        _ => {}
                    }
                }
                if read == Event::default() {
                    continue;
                }
                return Some(Ok(read));
            }
            match self.body.frame().await? {
                Ok(frame) => self.text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap()),
                Err(error) => return Some(Err(error.to_string())),
            }
        }
    }

    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event.unwrap());
        }
        all
    }
}

#[test]
fn stream_follows_a_run_to_its_end() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.create("send 5 USDC to 0xbeef").await;
        let (mut early, mut second) =
            (Events::open(&bench, &run, None).await, Events::open(&bench, &run, None).await);
        bench.post(&format!("{run}/start"), &json!({})).await;
        let mut late = Events::open(&bench, &run, None).await;
        bench.post(&format!("{run}/reject"), &json!({ "reason": "no" })).await;
        let all = early.rest().await;
        assert_eq!(second.rest().await, all);
        assert_eq!(late.rest().await, all);
        let last = all.last().unwrap();
        assert_eq!((last.name.as_str(), last.data.as_str()), ("end", r#"{"status":"REJECTED"}"#));
        for (place, event) in all.iter().enumerate() {
            assert!(event.id.starts_with(&format!("{}@", place + 1)), "{event:?}");
        }
        let names: std::collections::BTreeSet<&str> = all.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["artifact", "end", "status", "step", "timeline"]);

        // From the middle, and from the end.
        let middle = &all[all.len() / 2];
        let rest = Events::open(&bench, &run, Some(&middle.id)).await.rest().await;
        assert_eq!(rest, all[all.len() / 2 + 1..]);
        let headers = [("last-event-id", last.id.as_str())];
        let seen = bench.send(request("GET", &format!("{run}/events"), &headers, "")).await;
        assert_eq!((seen.status, seen.text.as_str()), (StatusCode::NO_CONTENT, ""));
        for bad in ["x", "-1", "@5", "999999@1"] {
            let refused =
                bench.send(request("GET", &format!("{run}/events"), &[("last-event-id", bad)], "")).await;
            assert_eq!(refused.problem(), (400, "bad-header".into()), "{bad}");
        }
    });
}

#[test]
fn server_reads_no_history_and_misses_no_event() {
    block_on(async {
        let store = Arc::new(Counting::new(TokioClock::starting_at(T)));
        let past = Bench::over(store.clone(), Options::local(), |_| {});
        for _ in 0..200 {
            past.create("send 5 USDC to 0xbeef").await;
        }
        let run = past.create("send 5 USDC to 0xbeef").await;
        // The pump and the worker end.
        drop(past);
        tokio::task::yield_now().await;
        let before = store.changed();
        let bench = Bench::over(store.clone(), Options::local(), |_| {});
        // The run changes behind the first read of the watcher. The pump, a task, has not begun then.
        let mut early = Events::open(&bench, &run, None).await;
        assert_eq!(early.next().await.unwrap().unwrap().name, "step");
        assert_eq!(early.next().await.unwrap().unwrap().name, "status");
        let version = store.load(&run[9..]).await.unwrap().version;
        let change = example_change(&run[9..], ServiceRunStatus::Blocked, "send 5 USDC to 0xbeef");
        store.compare_and_set(&run[9..], version, &change).await.unwrap();
        assert_eq!(early.rest().await.last().unwrap().name, "end");
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(store.changed() - before, 0, "the readers of changes begin behind it");

        let run = bench.create("send 5 USDC to 0xbeef").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        // The pump, and the worker: the new run is the one that changed.
        assert_eq!(store.changed() - before, 2, "{run}");
    });
}

#[test]
fn quiet_stream_is_kept_open_and_says_when_to_come_back() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.create("send 5 USDC").await;
        let answer =
            bench.router.clone().oneshot(request("GET", &format!("{run}/events"), &[], "")).await.unwrap();
        let (mut body, mut text) = (answer.into_body(), String::new());
        let read = async {
            while let Some(frame) = body.frame().await {
                text.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
            }
        };
        assert!(tokio::time::timeout(Duration::from_secs(31), read).await.is_err(), "the run is not over");
        assert!(text.starts_with("retry: 1000\n\n"), "{text}");
        assert_eq!(text.matches(": keep-alive\n\n").count(), 2, "{text}");
    });
}

#[test]
fn drained_stream_breaks_and_does_not_end() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.create("send 5 USDC").await;
        let mut events = Events::open(&bench, &run, None).await;
        assert_eq!(events.next().await.unwrap().unwrap().name, "step");
        assert_eq!(events.next().await.unwrap().unwrap().name, "status");
        bench.drain.begin();
        let waits = tokio::time::timeout(Duration::from_secs(5), events.next()).await;
        assert!(waits.is_err(), "a client that came back now would meet the same server");
        assert_eq!(bench.get(&format!("{run}/events")).await.problem(), (503, "busy".into()));
        bench.drain.break_streams();
        assert_eq!(events.next().await, Some(Err("the stream is broken".to_owned())));
        assert_eq!(bench.get("/readyz").await.problem(), (503, "busy".into()));
    });
}

#[test]
fn streams_are_counted_until_their_client_goes() {
    block_on(async {
        let mut options = Options::local();
        options.limits.streams_each = 2;
        let bench = Bench::with(options, |_| {});
        let run = bench.create("send 5 USDC").await;
        let open = [Events::open(&bench, &run, None).await, Events::open(&bench, &run, None).await];
        let refused = bench.get(&format!("{run}/events")).await;
        assert_eq!(refused.problem(), (429, "too-many-streams".into()));
        drop(open);
        Events::open(&bench, &run, None).await;
        assert_eq!(bench.get("/v1/runs/none/events").await.problem(), (404, "not-found".into()));
    });
}

#[test]
fn watcher_that_falls_behind_misses_nothing() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.create("send 5 USDC").await;
        bench.post(&format!("{run}/start"), &json!({})).await;
        let mut slow = Events::open(&bench, &run, None).await;
        slow.next().await.unwrap().unwrap();
        // Each resume with no answer asks again. The watcher reads nothing meanwhile.
        for _ in 0..100 {
            bench.post(&format!("{run}/resume"), &json!({})).await;
        }
        bench.post(&format!("{run}/resume"), &json!({ "answers": { "recipient": "0xbeef" } })).await;
        bench.post(&format!("{run}/reject"), &json!({})).await;
        let all = slow.rest().await;
        for (place, event) in all.iter().enumerate() {
            assert!(event.id.starts_with(&format!("{}@", place + 2)), "{event:?}");
        }
        assert_eq!(all.last().unwrap().name, "end");
    });
}

#[test]
fn stream_of_a_revoked_token_breaks() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        let tokens = Tokens::open(&path).unwrap();
        let token = tokens.create("ada", [Role::Operator], T, None).unwrap();
        let bench = Bench::with(Options::with_tokens(tokens), |_| {});
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        let created = bench.post_with("/v1/runs", &headers, &json!({ "intent": "send" })).await;
        let events = format!("{}/events", created.header("location").unwrap());
        let answer = bench.router.clone().oneshot(request("GET", &events, &headers, "")).await.unwrap();
        let mut events = Events { body: answer.into_body(), text: String::new() };
        events.next().await.unwrap().unwrap();
        events.next().await.unwrap().unwrap();
        assert!(tokio::time::timeout(Duration::from_secs(40), events.next()).await.is_err());
        Tokens::open(&path).unwrap().revoke("ada").unwrap();
        assert_eq!(events.next().await, Some(Err("the stream is broken".to_owned())));
    });
}
