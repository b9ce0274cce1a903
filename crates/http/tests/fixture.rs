//! A server on the chain in this process.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use runstate_http::{Drain, Options, server};
use runstate_runtime::clock::TokioClock;
use runstate_service::sim::SimChain;
use runstate_service::{Config, MemoryServiceStore, Service, ServiceStore};
use serde_json::Value;
use tokio::task::JoinHandle;
use tower::ServiceExt;

/// 31 January 2026, 12:00:00 UTC.
pub(crate) const T: u64 = 1_769_860_800_000;

/// Runs a test on a clock that advances only while everything waits.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

/// Runs a test on the clock of the machine, for sockets.
pub(crate) fn block_on_machine<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(future)
}

pub(crate) struct Bench {
    pub(crate) chain: SimChain,
    pub(crate) router: Router,
    pub(crate) drain: Drain,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// An answer with its body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {:?}", self.text))
    }

    /// The status with the code of the problem.
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let body = self.json();
        assert_eq!(body["status"], self.status.as_u16());
        assert_eq!(body["type"], format!("urn:runstate:problem:{}", body["code"].as_str().unwrap()));
        (self.status.as_u16(), body["code"].as_str().unwrap().to_owned())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Options::local(), |_| {})
    }

    pub(crate) fn with(options: Options, configure: impl FnOnce(&mut Config)) -> Self {
        let store = MemoryServiceStore::with_clock(TokioClock::starting_at(T));
        Self::over(Arc::new(store), options, configure)
    }

    /// A server on a store.
    pub(crate) fn over(
        store: Arc<dyn ServiceStore>,
        options: Options,
        configure: impl FnOnce(&mut Config),
    ) -> Self {
        let clock = TokioClock::starting_at(T);
        let chain = SimChain::example();
        let mut config = chain.config();
        configure(&mut config);
        let drives = options.drives;
        let service = Service::new(store, chain.ports(), config, Arc::new(clock), "test");
        let server = server(service.clone(), options, Arc::new(clock));
        let mut tasks = vec![tokio::spawn(server.pump())];
        if drives {
            let worker = service.clone();
            tasks.push(tokio::spawn(async move {
                let failed = |run: Option<&str>, error: &_| panic!("{run:?}: {error}");
                worker.work(NonZeroUsize::MIN, std::future::pending(), failed).await;
            }));
        }
        Bench { chain, router: server.router, drain: server.drain, tasks }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path, &[], "")).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(request("POST", path, &[], &body.to_string())).await
    }

    pub(crate) async fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        self.send(request("POST", path, headers, &body.to_string())).await
    }

    /// Creates a run; returns its path.
    pub(crate) async fn create(&self, intent: &str) -> String {
        let body = serde_json::json!({
            "intent": intent, "walletAddress": SimChain::WALLET, "chainId": self.chain.id(),
        });
        let created = self.post("/v1/runs", &body).await;
        assert_eq!(created.status, StatusCode::CREATED, "{created:?}");
        created.header("location").unwrap().to_owned()
    }

    /// Approves a run that waits for it, and sends its transactions; returns their hashes.
    pub(crate) async fn approve_and_send(&self, run: &str) -> Vec<String> {
        let approved = self.post(&format!("{run}/approve"), &serde_json::json!({})).await;
        assert_eq!(approved.status, StatusCode::OK, "{approved:?}");
        let handout = self.post(&format!("{run}/execute"), &serde_json::json!({})).await.json();
        let send = |tx: &Value| self.chain.send(&serde_json::from_value(tx.clone()).unwrap());
        handout["tx_requests"].as_array().unwrap().iter().map(send).collect()
    }
}

/// A request of the user of this machine.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "127.0.0.1:7700");
    }
    if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_owned())).unwrap()
}
