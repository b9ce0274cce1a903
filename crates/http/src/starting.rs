//! The time before the store is open.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::future::RouteFuture;
use axum::routing::get;
use hyper::body::Incoming;
use tower::Service;

use crate::health;
use crate::problem::{Code, Problem};

/// The service of a server that opens its store, such as one that migrates it: `/healthz` answers 200, and all other paths
/// 503 with `Retry-After`. From [`open`](Self::open) on the router answers, on the connections of before too: no connection
/// is closed. Clones share the router.
///
/// ```
/// use runstate_http::{Connections, Starting, serve};
/// use tokio::net::TcpListener;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let starting = Starting::new();
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let stop = async { tokio::time::sleep(std::time::Duration::from_millis(10)).await };
/// let serving = tokio::spawn(serve(listener, starting.clone(), stop, Connections::default()));
/// // The store is open.
/// starting.open(axum::Router::new());
/// serving.await?
/// # }
/// ```
#[derive(Clone)]
pub struct Starting {
    busy: Router,
    opened: Arc<OnceLock<Router>>,
}

impl Default for Starting {
    fn default() -> Self {
        Self::new()
    }
}

impl Starting {
    /// Creates the service.
    pub fn new() -> Self {
        let busy = |request: Request| async move {
            let path = request.uri().path().to_owned();
            let detail = "the server starts: it opens its store";
            Problem::new(Code::Unavailable, detail).retry_after(1).answer(&path)
        };
        let busy = Router::new().route("/healthz", get(health::healthz)).fallback(busy);
        Starting { busy, opened: Arc::default() }
    }

    /// Sets the router that answers from now on. A second call has no effect.
    pub fn open(&self, router: Router) {
        drop(self.opened.set(router));
    }
}

impl Service<Request<Incoming>> for Starting {
    type Response = Response;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> RouteFuture<Infallible> {
        self.opened.get().unwrap_or(&self.busy).clone().call(request)
    }
}

impl fmt::Debug for Starting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Starting").field("is_open", &self.opened.get().is_some()).finish_non_exhaustive()
    }
}
