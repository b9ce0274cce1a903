//! Bodies, methods and paths that cannot be used.

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use serde_json::json;

use super::fixture::{Bench, block_on, request};

#[test]
fn all_members_that_cannot_be_used_are_told() {
    block_on(async {
        let bench = Bench::new();
        let body = json!({ "intent": "", "walletAddress": "0xzz", "chain_id": 0, "a/b": 1 });
        let refused = bench.post("/v1/runs", &body).await;
        assert_eq!(refused.problem(), (422, "invalid".into()));
        let errors = refused.json()["errors"].clone();
        assert_eq!(
            errors,
            json!([
                { "pointer": "/intent", "detail": "got 0 characters, expected a text of 1 to 5000 characters" },
                { "pointer": "/walletAddress", "detail": "got \"0xzz\", expected 0x and 1 to 62 hexadecimal digits" },
                { "pointer": "/chain_id", "detail": "got 0, expected an integer from 1 to 9223372036854775807" },
                { "pointer": "/a~1b", "detail": "this member is unknown" },
            ])
        );
        let rows = [
            (json!({}), "/intent", "it is missing"),
            (json!([]), "", "got an array, expected an object"),
            (json!({ "intent": 5 }), "/intent", "got a number, expected a text of 1 to 5000 characters"),
            (
                json!({ "intent": "a", "chainId": 1, "chain_id": 1 }),
                "/chainId",
                "it is another spelling of \"chain_id\", which the body has too",
            ),
            (
                json!({ "intent": "x".repeat(5_001) }),
                "/intent",
                "got 5001 characters, expected a text of 1 to 5000 characters",
            ),
        ];
        for (body, pointer, detail) in rows {
            let refused = bench.post("/v1/runs", &body).await;
            assert_eq!(refused.problem(), (422, "invalid".into()));
            assert_eq!(refused.json()["errors"], json!([{ "pointer": pointer, "detail": detail }]));
        }
        let run = bench.create("send 5 USDC").await;
        bench.post(&format!("{run}/start"), &json!({})).await;
        let rows = [
            ("resume", json!({ "answers": [] }), "/answers"),
            ("resume", json!({ "answers": { "amount": 0.5 } }), "/answers"),
            ("resume", json!({ "answers": { "wallet_address": "x" } }), "/answers/wallet_address"),
            ("approve", json!({ "notes": "n".repeat(2_001) }), "/notes"),
            ("approve", json!({ "actor": "eve" }), "/actor"),
            ("tx_submitted", json!({ "tx_hashes": ["0x1"], "submitted_by": "me" }), "/submitted_by"),
            ("tx_submitted", json!({ "tx_hashes": [1], "submitted_by": "manual" }), "/tx_hashes"),
            ("start", json!({ "wait": 5 }), "/wait"),
        ];
        for (action, body, pointer) in rows {
            let refused = bench.post(&format!("{run}/{action}"), &body).await;
            assert_eq!(refused.problem(), (422, "invalid".into()), "{action} {body}");
            assert_eq!(refused.json()["errors"][0]["pointer"], pointer);
        }
    });
}

#[test]
fn hostile_bodies_are_refused() {
    block_on(async {
        let bench = Bench::new();
        let send = |headers: &'static [(&str, &str)], body: Vec<u8>| {
            let mut request = request("POST", "/v1/runs", headers, "x");
            *request.body_mut() = Body::from(body);
            bench.send(request)
        };
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        for body in [&b"{"[..], b"\xff\xfe", b"{\"intent\": \"\xff\"}", b"{} {}", b"nul", deep.as_bytes()] {
            assert_eq!(send(&[], body.to_vec()).await.problem(), (400, "bad-json".into()));
        }
        assert_eq!(send(&[], vec![b' '; 1024 * 1024 + 1]).await.problem(), (413, "too-large".into()));
        assert_eq!(
            send(&[("content-length", "99999999")], b"{}".to_vec()).await.problem(),
            (413, "too-large".into())
        );
        for headers in [
            &[("content-type", "text/plain")][..],
            &[("content-type", "application/x-www-form-urlencoded")],
            &[("content-type", "application/json, text/plain")],
            &[("content-type", "")],
        ] {
            assert_eq!(
                send(headers, b"{}".to_vec()).await.problem(),
                (415, "not-json".into()),
                "{headers:?}"
            );
        }
        let fine =
            send(&[("content-type", "Application/JSON; charset=utf-8")], br#"{"intent":"a"}"#.to_vec()).await;
        assert_eq!(fine.status, StatusCode::CREATED);
        let run = bench.create("send 5 USDC").await;
        let large = format!("{{\"notes\": \"{}\"}}", "n".repeat(70 * 1024));
        let refused = bench.send(request("POST", &format!("{run}/approve"), &[], &large)).await;
        assert_eq!(refused.problem(), (413, "too-large".into()));
        // A decision needs a content type, so that no simple request of a page makes one.
        let refused = bench.send(request("POST", &format!("{run}/approve"), &[], "")).await;
        assert_eq!(refused.problem(), (415, "not-json".into()));
        // An action without members needs no body.
        assert_eq!(
            bench.send(request("POST", &format!("{run}/start"), &[], "")).await.status,
            StatusCode::OK
        );
    });
}

#[test]
fn body_that_comes_too_slowly_is_refused() {
    block_on(async {
        let bench = Bench::new();
        let mut request = request("POST", "/v1/runs", &[], "x");
        *request.body_mut() =
            Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        assert_eq!(bench.send(request).await.problem(), (408, "timeout".into()));
    });
}

#[test]
fn unknown_paths_and_methods_are_problems() {
    block_on(async {
        let bench = Bench::new();
        for path in ["/", "/v1", "/v1/runs/", "/v1/runs/x/y", "/v1/runs/x/approve/", "/v2/runs"] {
            assert_eq!(bench.get(path).await.problem(), (404, "not-found".into()), "{path}");
        }
        let refused = bench.send(request("PUT", "/v1/runs", &[("host", "evil.example")], "{}")).await;
        assert_eq!(refused.problem(), (405, "method-not-allowed".into()), "the method comes first");
        assert_eq!(refused.header("allow"), Some("GET,HEAD,POST"));
        assert_eq!(refused.json()["instance"], "/v1/runs");
        let refused = bench.get("/v1/runs/x/approve").await;
        assert_eq!(
            (refused.problem(), refused.header("allow")),
            ((405, "method-not-allowed".into()), Some("POST"))
        );
        for id in ["none", "..%2f..%2fetc", "%00", "a%20b", &"x".repeat(500)] {
            assert_eq!(
                bench.get(&format!("/v1/runs/{id}")).await.problem(),
                (404, "not-found".into()),
                "{id}"
            );
        }
        for path in ["/v1/runs/%ff", "/v1/runs/%ff/start"] {
            let method = if path.ends_with("start") { "POST" } else { "GET" };
            let refused = bench.send(request(method, path, &[], "")).await;
            assert_eq!(refused.problem(), (400, "bad-query".into()), "{path}");
        }
        let long = format!("/v1/runs?q={}", "x".repeat(9_000));
        assert_eq!(bench.get(&long).await.problem(), (414, "uri-too-long".into()));
        let accept = [("accept", "text/html, application/json;q=0")];
        let refused = bench.send(request("GET", "/v1/runs", &accept, "")).await;
        assert_eq!(refused.problem(), (406, "not-acceptable".into()));
    });
}

#[test]
fn each_answer_has_the_headers_of_a_careful_server() {
    block_on(async {
        let bench = Bench::new();
        for path in ["/v1/runs", "/none", "/healthz", "/openapi.json"] {
            let answer = bench.get(path).await;
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
            assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
            assert!(answer.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
        }
    });
}

#[test]
fn more_requests_than_the_server_takes_are_refused() {
    block_on(async {
        let mut options = runstate_http::Options::local();
        options.limits.concurrency = 0;
        let bench = Bench::with(options, |_| {});
        let refused = bench.get("/v1/runs").await;
        assert_eq!((refused.problem(), refused.header("retry-after")), ((503, "busy".into()), Some("1")));
        assert_eq!(bench.get("/readyz").await.status, StatusCode::OK);
    });
}
