//! Redaction of bodies, events and trace lines.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use runstate_http::{Leaving, Options};
use serde_json::{Value, json};

use super::fixture::{Bench, block_on};
use super::streams::Events;

/// An endpoint, and the name of an event.
type Place = (String, Option<String>);

/// Replaces each occurrence of the recipient, wherever it stands.
fn withhold(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace("0xbeef", "[withheld]"),
        Value::Array(values) => values.iter_mut().for_each(withhold),
        Value::Object(members) => members.values_mut().for_each(withhold),
        _ => {}
    }
}

#[test]
fn redactor_sees_all_that_leaves() {
    block_on(async {
        let seen: Arc<Mutex<Vec<Place>>> = Arc::default();
        let noted = Arc::clone(&seen);
        let mut options = Options::local();
        options.redact = Some(Arc::new(move |leaving: Leaving<'_>, value: &mut Value| {
            let place = (leaving.endpoint.to_owned(), leaving.event.map(str::to_owned));
            noted.lock().unwrap().push(place);
            withhold(value);
        }));
        let bench = Bench::with(options, |_| {});
        let run = bench.create("send 5 USDC to 0xbeef").await;
        let started = bench.post(&format!("{run}/start"), &json!({})).await;
        assert_eq!(started.json()["intent"], "send 5 USDC to [withheld]");
        let all = bench.get(&format!("{run}?include=artifacts,timeline,steps,decisions")).await;
        assert_eq!(all.header("content-type"), Some("application/json"));
        for text in [
            &started.text,
            &all.text,
            &bench.get("/v1/runs").await.text,
            &bench.get(&format!("{run}/artifacts/tx_plan")).await.text,
            &bench.get(&format!("{run}/steps")).await.text,
            &bench.get(&format!("{run}/trace")).await.text,
            &bench.get(&format!("{run}/trace.jsonl")).await.text,
        ] {
            assert!(!text.contains("0xbeef"), "{text}");
        }
        bench.post(&format!("{run}/approve"), &json!({})).await;
        let handout = bench.post(&format!("{run}/execute"), &json!({})).await;
        assert!(!handout.text.contains("[withheld]"), "a wallet signs what was approved: {}", handout.text);
        let mut events = Events::open(&bench, &run, None).await;
        let first = events.next().await.unwrap().unwrap();
        let seen = seen.lock().unwrap();
        assert!(seen.contains(&("/v1/runs/{id}/events".to_owned(), Some(first.name))), "{seen:?}");
    });
}

#[test]
fn redactor_that_panics_withholds_the_answer() {
    block_on(async {
        let mut options = Options::local();
        options.redact = Some(Arc::new(|_: Leaving<'_>, _: &mut Value| panic!("0xsecret")));
        let bench = Bench::with(options, |_| {});
        let answer = bench.get("/v1/runs").await;
        assert_eq!(answer.problem(), (500, "internal".into()));
        assert!(!answer.text.contains("0xsecret"), "{answer:?}");
        assert_eq!(bench.get("/healthz").await.status, StatusCode::OK);
    });
}
