//! The router, and the loop that accepts connections.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::{Extension, Router};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use runstate_runtime::clock::Clock;
use runstate_service::Service as Runs;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower::{Layer, Service};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;

use crate::app::{App, Drained};
use crate::hub::Hub;
use crate::options::Options;
use crate::peer::{PeerClosed, PeerStream};
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{layers, openapi, redact, sim};

/// The limits of connections.
///
/// ```
/// let limits = runstate_http::Connections::default();
/// assert_eq!((limits.concurrency, limits.head), (4_096, 24 * 1024));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Connections {
    /// The number of connections. Further ones wait. Default: 4,096.
    pub concurrency: usize,
    /// The time for the head of a request, and for the handshake of TLS. Default: 10 s.
    pub head_time: Duration,
    /// The largest head of a request, in bytes: the address and the headers. Default: 24 KiB.
    pub head: usize,
    /// The longest time in which a client takes nothing of an answer that waits for it. Then its connection is closed.
    /// Default: 30 s.
    pub write_time: Duration,
    /// The time for the requests in progress at the stop. Default: 30 s.
    pub grace: Duration,
    /// The certificate, for connections with TLS. Default: none, for a loopback address or behind a proxy.
    #[cfg(feature = "tls")]
    pub tls: Option<Tls>,
}

impl Default for Connections {
    fn default() -> Self {
        let (head_time, grace) = (Duration::from_secs(10), Duration::from_secs(30));
        let write_time = Duration::from_secs(30);
        Connections {
            concurrency: 4_096,
            head_time,
            head: 24 * 1024,
            write_time,
            grace,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

/// A router with its background work.
pub struct Server {
    /// The endpoints. Their paths begin with `/v1`, so another router merges this one and does not nest it.
    pub router: Router,
    /// The drain of its event streams.
    pub drain: Drain,
    hub: Arc<Hub>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl Server {
    /// Reads the changes of the store for event streams and for requests that wait, until the future is dropped.
    /// Without it a stream has the events before its beginning alone.
    ///
    /// # Cancel safety
    /// If the future is dropped, no state is lost.
    pub fn pump(&self) -> impl Future<Output = ()> + Send + 'static {
        let hub = Arc::clone(&self.hub);
        async move { hub.pump().await }
    }
}

/// The drain of a server.
#[derive(Debug, Clone)]
pub struct Drain(Arc<watch::Sender<Drained>>);

impl Drain {
    /// Begins the drain: the server is not ready, opens no event stream, and waits for no outcome.
    pub fn begin(&self) {
        self.0.send_if_modified(|drained| {
            std::mem::replace(drained, (*drained).max(Drained::Begun)) == Drained::No
        });
    }

    /// Breaks the event streams. Their clients connect again, to another instance.
    pub fn break_streams(&self) {
        self.0.send_replace(Drained::Streams);
    }
}

/// Makes the router of a service. `clock` decides whether a token is expired.
pub fn server(service: Runs, options: Options, clock: Arc<dyn Clock>) -> Server {
    let (router, document) = openapi::endpoints().split_for_parts();
    let document = openapi::finished(&document).to_string();
    let cors = (!options.origins.is_empty()).then(|| layers::cors(&options.origins));
    let (sender, drain) = watch::channel(Drained::No);
    let app = App::new(service, options, clock, drain, document);
    let hub = Arc::clone(&app.hub);
    let router = if app.options.sim.is_some() { router.merge(sim::endpoints()) } else { router };
    let router = router
        .fallback(layers::no_endpoint)
        .layer(from_fn_with_state(app.clone(), redact::bodies))
        .layer(CatchPanicLayer::custom(layers::panicked))
        .layer(from_fn_with_state(app.clone(), layers::admit))
        .with_state(app.clone());
    let router = match cors {
        Some(cors) => router.layer(cors),
        None => router,
    };
    // Outermost: a layer of the program around the router sees no secret either.
    let secret = SetSensitiveRequestHeadersLayer::new([AUTHORIZATION, COOKIE, layers::IDEMPOTENCY_KEY]);
    let router = router.layer(from_fn_with_state(app, layers::finish)).layer(secret);
    Server { router, drain: Drain(Arc::new(sender)), hub }
}

/// Accepts connections until `stop` ends, and answers their requests by a service, such as a [`Router`]. Then it takes no new connection, and waits for the requests in progress, within
/// their time.
///
/// # Errors
/// None today: an error of one connection ends that connection.
///
/// # Cancel safety
/// If the future is dropped, all connections are closed at once.
pub async fn serve<S>(
    listener: TcpListener,
    service: S,
    stop: impl Future<Output = ()>,
    limits: Connections,
) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let mut stop = pin!(stop);
    let room = Arc::new(Semaphore::new(limits.concurrency));
    let (ending, ended) = watch::channel(false);
    let mut connections = JoinSet::new();
    loop {
        let accepted = async {
            // A semaphore that nothing closes.
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = accepted => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            // The peer went away, or the process has no more files: both pass.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // A small answer must not wait for the next one.
        drop(stream.set_nodelay(true));
        let connection =
            Connection { service: service.clone(), limits: limits.clone(), ended: ended.clone() };
        connections.spawn(async move {
            let _permit = permit;
            connection.secure(stream).await;
        });
    }
    drop(listener);
    ending.send_replace(true);
    let rest = async { while connections.join_next().await.is_some() {} };
    drop(tokio::time::timeout(limits.grace, rest).await);
    Ok(())
}

/// A connection that is accepted.
struct Connection<S> {
    service: S,
    limits: Connections,
    ended: watch::Receiver<bool>,
}

impl<S> Connection<S>
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    /// Serves a connection, behind the handshake of TLS if the server has a certificate. A failed handshake ends the
    /// connection, and its peer knows why.
    async fn secure(self, stream: TcpStream) {
        let (stream, closed) = PeerStream::new(stream);
        // A client that reads no answer would keep its connection for ever.
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.limits.write_time));
        let stream = Box::pin(stream);
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.limits.tls {
            let handshake = tokio::time::timeout(self.limits.head_time, tls.acceptor().accept(stream));
            if let Ok(Ok(stream)) = handshake.await {
                self.serve(stream, closed).await;
            }
            return;
        }
        self.serve(stream, closed).await;
    }

    async fn serve(mut self, stream: impl AsyncRead + AsyncWrite + Unpin, closed: PeerClosed) {
        let Connections { head_time, head, .. } = self.limits;
        let mut http = http1::Builder::new();
        // A client that closes its side of the connection after a request has made the request.
        http.half_close(true);
        http.timer(TokioTimer::new()).header_read_timeout(head_time).max_buf_size(head).max_headers(100);
        let service = TowerToHyperService::new(Extension(closed).layer(self.service));
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            // The peer knows about an error of its connection.
            result = connection.as_mut() => drop(result),
            () = async { drop(self.ended.wait_for(|ends| *ends).await) } => {
                connection.as_mut().graceful_shutdown();
                drop(connection.await);
            }
        }
    }
}
