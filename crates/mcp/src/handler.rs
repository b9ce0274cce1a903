//! The requests and notifications of a server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam,
    ProgressToken, RequestId, UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::{Notify, mpsc, oneshot};

/// The updates of one call that are not yet read. Further progress is dropped.
pub(crate) const PENDING_UPDATES: usize = 16;

/// A message of a server about a call that is open.
#[derive(Debug)]
pub(crate) enum Update {
    Progress(ProgressNotificationParam),
    /// A question. Its sender takes the answer; a dropped one cancels the question.
    Question(Box<ElicitRequestParams>, oneshot::Sender<ElicitResult>),
}

struct OpenCall {
    token: ProgressToken,
    updates: mpsc::Sender<Update>,
}

/// The open calls of a connection, and the news about its tools.
#[derive(Default)]
pub(crate) struct Hooks {
    calls: Mutex<BTreeMap<String, OpenCall>>,
    /// The set of open calls has changed.
    calls_changed: Notify,
    /// The server said that its tools have changed.
    tools_changed: AtomicBool,
}

/// A request id as a key: it has no order.
fn key(id: &RequestId) -> String {
    format!("{id:?}")
}

impl Hooks {
    pub(crate) fn opened(&self, id: &RequestId, token: ProgressToken) -> mpsc::Receiver<Update> {
        let (updates, receiver) = mpsc::channel(PENDING_UPDATES);
        self.calls().insert(key(id), OpenCall { token, updates });
        self.calls_changed.notify_waiters();
        receiver
    }

    pub(crate) fn closed(&self, id: &RequestId) {
        self.calls().remove(&key(id));
        self.calls_changed.notify_waiters();
    }

    /// Takes the news of changed tools.
    pub(crate) fn take_tools_changed(&self) -> bool {
        self.tools_changed.swap(false, Ordering::AcqRel)
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, OpenCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call that a question belongs to; none if it has ended. Over stdio no message names it: it is one of the calls that
    /// were open when the question came, and known when one of them alone is left.
    async fn caller(&self, origin: Option<&InboundStreamOrigin>) -> Option<mpsc::Sender<Update>> {
        let named = match origin {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(key(id)),
            Some(InboundStreamOrigin::Unassociated) | None => None,
        };
        let mut asking: Vec<String> = Vec::new();
        // A server may ask before the call that it answers is noted here.
        let noted = tokio::time::Instant::now() + NOTED;
        loop {
            let changed = self.calls_changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if asking.is_empty() {
                let calls = self.calls();
                asking.extend(
                    calls.keys().filter(|id| named.as_ref().is_none_or(|named| named == *id)).cloned(),
                );
            }
            let left: Vec<_> = {
                let calls = self.calls();
                asking.iter().filter_map(|id| calls.get(id)).map(|call| call.updates.clone()).collect()
            };
            match left.as_slice() {
                [caller] => return Some(caller.clone()),
                [] if !asking.is_empty() => return None,
                [] => tokio::time::timeout_at(noted, changed).await.ok()?,
                _ => changed.await,
            }
        }
    }
}

/// The time within which the call of a question is noted.
const NOTED: Duration = Duration::from_secs(5);

/// The client of a connection.
pub(crate) struct Handler(pub(crate) Arc<Hooks>);

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let form = FormElicitationCapability::new();
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(form).with_url(UrlElicitationCapability::new()));
        ClientConfig::new(capabilities, Implementation::new("runstate", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let origin = context.extensions.get::<InboundStreamOrigin>().cloned();
        let answered = async {
            let caller = self.0.caller(origin.as_ref()).await?;
            let (sender, answer) = oneshot::channel();
            caller.send(Update::Question(Box::new(request), sender)).await.ok()?;
            answer.await.ok()
        };
        tokio::select! {
            answer = answered => Ok(answer.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel))),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let calls = self.0.calls();
        if let Some(call) = calls.values().find(|call| call.token == progress.progress_token) {
            // A full queue has progress already, so the call counts as alive.
            call.updates.try_send(Update::Progress(progress)).ok();
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.tools_changed.store(true, Ordering::Release);
    }
}
