//! The state that all handlers share.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use runstate_runtime::clock::Clock;
use runstate_service::{Caller, Service, ServiceError, ServiceStoreError};
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, watch};

use crate::agents::Agents;
use crate::hub::Hub;
use crate::kept::Kept;
use crate::options::{Access, Limits, Options};
use crate::problem::{Code, Problem};

/// The progress of a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Drained {
    /// The server takes requests.
    No,
    /// The server is not ready, and opens no stream.
    Begun,
    /// Event streams break.
    Streams,
}

/// The state of a server.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) service: Service,
    pub(crate) options: Options,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) kept: Kept,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) rates: Rates,
    pub(crate) drain: watch::Receiver<Drained>,
    pub(crate) openapi: String,
    pub(crate) agents: Option<Agents>,
    streams: Mutex<BTreeMap<String, usize>>,
    in_progress: Mutex<BTreeSet<(String, String)>>,
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each section leaves the content whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rates of principals.
pub(crate) struct Rates {
    requests: Option<DefaultKeyedRateLimiter<String>>,
    decisions: Option<DefaultKeyedRateLimiter<String>>,
}

impl Rates {
    fn new(limits: &Limits) -> Self {
        let limiter = |each_second: u32, concurrency: u32| {
            let (rate, burst) = (NonZeroU32::new(each_second)?, NonZeroU32::new(concurrency)?);
            Some(RateLimiter::hashmap(Quota::per_second(rate).allow_burst(burst)))
        };
        let (rate, burst) = limits.requests;
        Rates {
            requests: limiter(rate, burst.max(rate)),
            decisions: limiter(limits.decisions, limits.decisions),
        }
    }

    /// Counts a request of a principal.
    pub(crate) fn count(&self, principal: &str, is_decision: bool) -> Result<(), Problem> {
        let limiters = [self.requests.as_ref(), self.decisions.as_ref().filter(|_| is_decision)];
        for limiter in limiters.into_iter().flatten() {
            if let Err(not_until) = limiter.check_key(&principal.to_owned()) {
                let wait = not_until.wait_time_from(DefaultClock::default().now());
                let what = if is_decision { "decisions or requests" } else { "requests" };
                let detail = format!("{principal} sends too many {what} in a second");
                return Err(Problem::new(Code::TooManyRequests, detail).retry_after(wait.as_secs() + 1));
            }
        }
        Ok(())
    }
}

/// A stream of a principal. Its drop makes room for another one.
pub(crate) struct StreamPermit {
    app: App,
    principal: String,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut streams = lock(&self.app.streams);
        match streams.get_mut(&self.principal) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(streams.remove(&self.principal)),
        }
    }
}

/// The key of a request in progress.
struct Progress {
    app: App,
    key: (String, String),
}

impl Drop for Progress {
    fn drop(&mut self) {
        lock(&self.app.in_progress).remove(&self.key);
    }
}

impl App {
    pub(crate) fn new(
        service: Service,
        options: Options,
        clock: Arc<dyn Clock>,
        drain: watch::Receiver<Drained>,
        openapi: String,
    ) -> Self {
        App(Arc::new(Inner {
            hub: Arc::new(Hub::new(service.clone(), options.report.clone())),
            kept: Kept::default(),
            requests: Arc::new(Semaphore::new(options.limits.concurrency)),
            rates: Rates::new(&options.limits),
            streams: Mutex::default(),
            in_progress: Mutex::default(),
            agents: options.agents.clone().map(Agents::new),
            service,
            options,
            clock,
            drain,
            openapi,
        }))
    }

    /// Returns whether a token is valid still.
    pub(crate) fn is_valid(&self, token: &str) -> bool {
        match &self.options.access {
            Access::Local => true,
            Access::Tokens(tokens) => matches!(tokens.find(token, self.clock.now_ms()), Ok(Some(_))),
        }
    }

    /// Takes the place of an event stream.
    pub(crate) fn stream(&self, principal: &str) -> Result<StreamPermit, Problem> {
        let Limits { streams: of_all, streams_each: of_one, .. } = self.options.limits;
        let mut streams = lock(&self.streams);
        let (all, own) = (streams.values().sum::<usize>(), streams.get(principal).copied().unwrap_or(0));
        let detail = if own >= of_one {
            format!("{principal} has {own} event streams, at most {of_one} are permitted; close one")
        } else if all >= of_all {
            format!("the server has {all} event streams, at most {of_all} are permitted")
        } else {
            streams.insert(principal.to_owned(), own + 1);
            return Ok(StreamPermit { app: self.clone(), principal: principal.to_owned() });
        };
        Err(Problem::new(Code::TooManyStreams, detail).retry_after(5))
    }

    /// Executes an operation once for its key. Returns its result, and whether it is the stored one of an earlier
    /// request. A client that goes away cancels nothing.
    pub(crate) async fn once<T, F>(&self, caller: &Caller, operation: F) -> Result<(T, bool), Problem>
    where
        T: DeserializeOwned + Send + 'static,
        F: Future<Output = Result<T, ServiceError>> + Send + 'static,
    {
        let progress = match &caller.request {
            Some(request) => {
                let key = (caller.actor.clone(), request.key.clone());
                if !lock(&self.in_progress).insert(key.clone()) {
                    let detail = format!("a request with the key {:?} is in progress", request.key);
                    return Err(Problem::new(Code::InProgress, detail).retry_after(1));
                }
                Some(Progress { app: self.clone(), key })
            }
            None => None,
        };
        let task = tokio::spawn(async move {
            let _progress = progress;
            operation.await
        });
        let limit = self.options.limits.operation_time;
        let result = match tokio::time::timeout(limit, task).await {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => {
                return Err(Problem::new(Code::Internal, "the operation failed").caused_by(error));
            }
            Err(_) => {
                let detail = format!("the operation took more than {} s, and goes on", limit.as_secs());
                return Err(Problem::new(Code::Unavailable, detail).retry_after(1));
            }
        };
        match (result, &caller.request) {
            (Err(ServiceError::Store(ServiceStoreError::KeyTaken { .. })), Some(request)) => {
                let stored = self.service.answer(&caller.actor, &request.key).await?;
                let Some(stored) = stored else {
                    let detail = format!("the answer under the key {:?} ended just now", request.key);
                    return Err(Problem::new(Code::InProgress, detail).retry_after(1));
                };
                if stored.digest != request.digest {
                    let detail = format!(
                        "the key {:?} belongs to another request; expected a new key for this content",
                        request.key
                    );
                    return Err(Problem::new(Code::KeyReused, detail));
                }
                let answer = serde_json::from_value(stored.answer);
                let answer = answer.map_err(|error| {
                    Problem::new(Code::Internal, "the stored answer cannot be used").caused_by(error)
                })?;
                Ok((answer, true))
            }
            (result, _) => Ok((result?, false)),
        }
    }
}
