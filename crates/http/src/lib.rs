//! Service runs over HTTP, for any axum program.
//!
//! [`server`] makes a router and its background work: endpoints to create, start, resume, approve, reject, execute and
//! poll service runs, lists, rows, an event stream, and an OpenAPI document. [`serve`] accepts connections with limits
//! and a drain.
//!
//! Refusals are problem documents of RFC 9457 ([`Code`]). A request with an `Idempotency-Key` may be repeated: it has one
//! effect and one answer. The author of a request is the name of its [token](Tokens), never a member of the body.
//!
//! ```
//! use std::sync::Arc;
//! use axum::body::Body;
//! use axum::http::{Request, StatusCode};
//! use runstate_http::{Options, server};
//! use runstate_runtime::clock::unix_clock;
//! use runstate_service::sim::SimChain;
//! use runstate_service::{MemoryServiceStore, Service};
//! use tower::ServiceExt;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let chain = SimChain::example();
//! let store = Arc::new(MemoryServiceStore::default());
//! let clock = Arc::new(unix_clock());
//! let service = Service::new(store, chain.ports(), chain.config(), clock.clone(), "example");
//! let server = server(service, Options::local(), clock);
//!
//! let request = |host: &str| {
//!     let request = Request::post("/v1/runs").header("host", host).header("content-type", "application/json");
//!     request.body(Body::from(r#"{"intent": "send 5 USDC to 0xbeef"}"#))
//! };
//! let created = server.router.clone().oneshot(request("localhost")?).await?;
//! assert_eq!(created.status(), StatusCode::CREATED);
//!
//! // A web page that reaches the server by a name of its own is refused.
//! let refused = server.router.clone().oneshot(request("evil.example")?).await?;
//! assert_eq!(refused.status(), StatusCode::MISDIRECTED_REQUEST);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod agents;
mod app;
mod body;
mod health;
mod hub;
mod kept;
mod layers;
mod members;
mod openapi;
mod options;
mod peer;
mod problem;
mod redact;
mod runs;
mod server;
mod sim;
mod starting;
#[cfg(feature = "tls")]
mod tls;
mod tokens;

pub use openapi::openapi;
pub use options::{Access, Leaving, Limits, Options, Redact, Report};
pub use problem::{Code, MemberError, Problem, ProblemBody, RunState};
pub use server::{Connections, Drain, Server, serve, server};
pub use starting::Starting;
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};
pub use tokens::{Principal, Role, TokenEntry, Tokens, TokensError};

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
