//! The author of a request: hosts, origins, tokens, roles and rates.

use axum::http::StatusCode;
use runstate_http::{Options, Role, Tokens};
use serde_json::json;

use super::fixture::{Answer, Bench, T, block_on, request};

const OPERATOR: Role = Role::Operator;
const APPROVER: Role = Role::Approver;
const VIEWER: Role = Role::Viewer;

struct Guarded {
    bench: Bench,
    path: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl Guarded {
    fn new(distinct: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        let mut options = Options::with_tokens(Tokens::open(&path).unwrap());
        options.limits.requests = (0, 0);
        options.limits.decisions = 0;
        let bench = Bench::with(options, |config| config.distinct_actors = distinct);
        Guarded { bench, path, _folder: folder }
    }

    fn token(&self, name: &str, roles: &[Role]) -> String {
        Tokens::open(&self.path).unwrap().create(name, roles.iter().copied(), T, None).unwrap()
    }

    async fn send(&self, token: &str, method: &str, path: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        self.bench.send(request(method, path, &[("authorization", &bearer)], body)).await
    }
}

#[test]
fn each_role_does_its_own_work_alone() {
    block_on(async {
        let guarded = Guarded::new(false);
        let operator = guarded.token("op", &[OPERATOR]);
        let approver = guarded.token("ap", &[APPROVER]);
        let viewer = guarded.token("vi", &[VIEWER]);
        let body = json!({ "intent": "send 5 USDC to 0xbeef", "walletAddress": "0xa11ce", "chainId": 31337 });
        for token in [&approver, &viewer] {
            let refused = guarded.send(token, "POST", "/v1/runs", &body.to_string()).await;
            assert_eq!(refused.problem(), (403, "forbidden".into()));
        }
        let created = guarded.send(&operator, "POST", "/v1/runs", &body.to_string()).await;
        let run = created.header("location").unwrap().to_owned();
        assert_eq!(created.json()["requested_by"], json!(["op"]));
        let of_operator = ["start", "resume", "execute", "tx_submitted", "poll_tx"];
        let of_approver = ["approve", "reject"];
        for action in of_operator {
            for token in [&approver, &viewer] {
                let refused = guarded.send(token, "POST", &format!("{run}/{action}"), "{}").await;
                assert_eq!(refused.problem(), (403, "forbidden".into()), "{action}");
            }
        }
        for action in of_approver {
            for token in [&operator, &viewer] {
                let refused = guarded.send(token, "POST", &format!("{run}/{action}"), "{}").await;
                assert_eq!(refused.problem(), (403, "forbidden".into()), "{action}");
            }
        }
        for token in [&approver, &viewer] {
            assert_eq!(guarded.send(token, "DELETE", &run, "").await.problem(), (403, "forbidden".into()));
        }
        for token in [&operator, &approver, &viewer] {
            assert_eq!(guarded.send(token, "GET", &run, "").await.status, StatusCode::OK);
        }
        guarded.send(&operator, "POST", &format!("{run}/start"), "{}").await;
        let approved = guarded.send(&approver, "POST", &format!("{run}/approve"), "{}").await;
        assert_eq!(approved.json()["decided_by"]["actor"], "ap");
        assert_eq!(
            guarded.send(&operator, "POST", &format!("{run}/execute"), "{}").await.status,
            StatusCode::OK
        );
    });
}

#[test]
fn requester_does_not_approve_where_actors_are_distinct() {
    block_on(async {
        let guarded = Guarded::new(true);
        let both = guarded.token("both", &[OPERATOR, APPROVER]);
        let other = guarded.token("other", &[APPROVER]);
        let body = json!({ "intent": "send 5 USDC to 0xbeef", "walletAddress": "0xa11ce", "chainId": 31337 });
        let created = guarded.send(&both, "POST", "/v1/runs", &body.to_string()).await;
        let run = created.header("location").unwrap().to_owned();
        guarded.send(&both, "POST", &format!("{run}/start"), "{}").await;
        let approve = format!("{run}/approve");
        let refused = guarded.send(&both, "POST", &approve, r#"{"reviewer": "other"}"#).await;
        assert_eq!(refused.problem(), (403, "not-distinct".into()));
        assert_eq!(guarded.send(&other, "POST", &approve, "{}").await.status, StatusCode::OK);
    });
}

#[test]
fn unknown_expired_and_revoked_tokens_are_refused() {
    block_on(async {
        let guarded = Guarded::new(false);
        let tokens = Tokens::open(&guarded.path).unwrap();
        let expired = tokens.create("old", [VIEWER], T, Some(T)).unwrap();
        let revoked = tokens.create("gone", [VIEWER], T, None).unwrap();
        let valid = tokens.create("valid", [VIEWER], T, None).unwrap();
        tokens.revoke("gone").unwrap();
        let list = "/v1/runs";
        assert_eq!(guarded.send(&valid, "GET", list, "").await.status, StatusCode::OK);
        for token in [&expired, &revoked, "", "rs_", &valid[..valid.len() - 1], &valid.to_uppercase()] {
            let refused = guarded.send(token, "GET", list, "").await;
            assert_eq!(refused.problem(), (401, "unauthenticated".into()), "{token:?}");
            assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        }
        let basic = [("authorization", "Basic YTpi")];
        for headers in [&[][..], &basic] {
            let refused = guarded.bench.send(request("GET", list, headers, "")).await;
            assert_eq!(refused.problem(), (401, "unauthenticated".into()));
        }
        // A token in the address is no token.
        let refused = guarded.bench.get(&format!("/v1/runs?access_token={valid}")).await;
        assert_eq!(refused.problem(), (401, "unauthenticated".into()));
        assert_eq!(guarded.bench.get("/healthz").await.status, StatusCode::OK);
        assert_eq!(guarded.bench.get("/readyz").await.status, StatusCode::OK);
    });
}

#[cfg(unix)]
#[test]
fn tokens_file_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let guarded = block_on(async { Guarded::new(false) });
    guarded.token("ada", &[VIEWER]);
    let mode = std::fs::metadata(&guarded.path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    std::fs::set_permissions(&guarded.path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let said = Tokens::open(&guarded.path).unwrap_err().to_string();
    assert!(said.ends_with("got mode 0644, expected 0600; run `chmod 600` on it"), "{said}");
}

#[test]
fn damaged_tokens_file_admits_nothing() {
    block_on(async {
        let guarded = Guarded::new(false);
        let token = guarded.token("ada", &[VIEWER]);
        let text = std::fs::read_to_string(&guarded.path).unwrap();
        std::fs::write(&guarded.path, &text[..text.len() / 2]).unwrap();
        assert_eq!(guarded.send(&token, "GET", "/v1/runs", "").await.problem(), (503, "unavailable".into()));
        assert_eq!(guarded.bench.get("/readyz").await.problem(), (503, "unavailable".into()));
        assert!(Tokens::open(&guarded.path).unwrap_err().to_string().contains("expected a list of tokens"));
    });
}

#[test]
fn names_of_tokens_are_unique_and_plain() {
    let guarded = block_on(async { Guarded::new(false) });
    let tokens = Tokens::open(&guarded.path).unwrap();
    tokens.create("ada", [VIEWER], T, None).unwrap();
    let said = tokens.create("ada", [OPERATOR], T, None).unwrap_err().to_string();
    assert_eq!(said, "\"ada\" has a token already; revoke it first");
    for name in ["", "a b", "a/b", &"n".repeat(65)] {
        assert!(tokens.create(name, [VIEWER], T, None).is_err(), "{name:?}");
    }
    assert_eq!(tokens.revoke("eve").unwrap_err().to_string(), "no token has the name \"eve\"");
    assert_eq!(tokens.list().unwrap().len(), 1);
}

#[test]
fn server_without_tokens_has_loopback_hosts() {
    block_on(async {
        let bench = Bench::new();
        for host in ["localhost", "LOCALHOST:7700", "127.0.0.1:7700", "127.9.9.9", "[::1]:7700", "[::1]"] {
            let answer = bench.send(request("GET", "/v1/runs", &[("host", host)], "")).await;
            assert_eq!(answer.status, StatusCode::OK, "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "10.0.0.1", "", "::1x"]
        {
            let refused = bench.send(request("GET", "/v1/runs", &[("host", host)], "")).await;
            assert_eq!(refused.problem(), (421, "wrong-host".into()), "{host}");
        }
    });
}

#[test]
fn writes_of_other_sites_are_refused() {
    block_on(async {
        let mut options = Options::local();
        options.origins = vec!["https://app.example.org".into()];
        let bench = Bench::with(options, |_| {});
        let body = json!({ "intent": "send" });
        let fine: [&[(&str, &str)]; 5] = [
            &[],
            &[("origin", "https://app.example.org"), ("sec-fetch-site", "cross-site")],
            &[("origin", "http://127.0.0.1:7700"), ("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none")],
            &[("origin", "http://127.0.0.1:7700")],
        ];
        for headers in fine {
            let created = bench.post_with("/v1/runs", headers, &body).await;
            assert_eq!(created.status, StatusCode::CREATED, "{headers:?}");
        }
        let bad: [&[(&str, &str)]; 7] = [
            &[("origin", "https://evil.example")],
            &[("origin", "null")],
            &[("origin", "https://app.example.org.evil.example")],
            &[("origin", "http://127.0.0.1:7701")],
            &[("origin", "127.0.0.1:7700")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
        ];
        for headers in bad {
            let refused = bench.post_with("/v1/runs", headers, &body).await;
            assert_eq!(refused.problem(), (403, "cross-site".into()), "{headers:?}");
        }
        let headers = [("origin", "https://evil.example")];
        let refused = bench.send(request("DELETE", "/v1/runs/x", &headers, "")).await;
        assert_eq!(refused.problem(), (403, "cross-site".into()));

        let preflight = |origin: &'static str| {
            request(
                "OPTIONS",
                "/v1/runs",
                &[("origin", origin), ("access-control-request-method", "POST")],
                "",
            )
        };
        let allowed = bench.send(preflight("https://app.example.org")).await;
        assert_eq!(allowed.header("access-control-allow-origin"), Some("https://app.example.org"));
        let refused = bench.send(preflight("https://evil.example")).await;
        assert_eq!(refused.header("access-control-allow-origin"), None);
        let plain = Bench::new().get("/v1/runs").await;
        assert_eq!((plain.header("vary"), plain.header("access-control-expose-headers")), (None, None));
    });
}

#[test]
fn rates_are_of_a_principal() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(folder.path().join("tokens.json")).unwrap();
        let [one, other] = ["one", "other"].map(|name| tokens.create(name, [APPROVER], T, None).unwrap());
        let mut options = Options::with_tokens(tokens);
        options.limits.requests = (1, 3);
        options.limits.decisions = 1;
        let bench = Bench::with(options, |_| {});
        let send = |token: &str, method: &str, path: &str, body: &str| {
            let bearer = format!("Bearer {token}");
            bench.send(request(method, path, &[("authorization", &bearer)], body))
        };
        let decided = send(&one, "POST", "/v1/runs/x/approve", "{}").await;
        assert_eq!(decided.problem(), (404, "not-found".into()));
        let limited = send(&one, "POST", "/v1/runs/x/approve", "{}").await;
        assert_eq!(limited.problem(), (429, "too-many-requests".into()));
        assert!(limited.header("retry-after").is_some());
        assert_eq!(send(&one, "GET", "/v1/runs", "").await.status, StatusCode::OK);
        assert_eq!(send(&one, "GET", "/v1/runs", "").await.problem(), (429, "too-many-requests".into()));
        assert_eq!(send(&other, "GET", "/v1/runs", "").await.status, StatusCode::OK);
    });
}
