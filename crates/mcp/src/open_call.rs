//! A call that the server has not answered.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, InputRequiredResult, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::connection::{Connection, told};
use crate::handler::Update;

/// A call that the server executes. Its drop asks the server to stop it.
pub(crate) struct OpenCall {
    pub(crate) connection: Arc<Connection>,
    handle: Option<RequestHandle<RoleClient>>,
    updates: mpsc::Receiver<Update>,
    runtime: Handle,
}

/// The next message about a call.
pub(crate) enum Next {
    Update(Update),
    Complete(Box<CallToolResult>),
    /// The server needs input, and keeps nothing open meanwhile.
    InputRequired(Box<InputRequiredResult>),
    Failed(String),
}

impl OpenCall {
    /// # Errors
    /// The connection has ended.
    pub(crate) async fn start(
        connection: Arc<Connection>,
        params: CallToolRequestParams,
    ) -> Result<Self, String> {
        let request = CallToolRequest::new(params);
        let options = PeerRequestOptions::no_options();
        let request = ClientRequest::CallToolRequest(request);
        let sent = connection.peer.send_cancellable_request(request, options).await;
        let handle = sent.map_err(|error| told(&error))?;
        let updates = connection.hooks.opened(&handle.id, handle.progress_token.clone());
        Ok(OpenCall { connection, handle: Some(handle), updates, runtime: Handle::current() })
    }

    /// The next message about the call.
    ///
    /// # Cancel safety
    /// No message is lost if the future is dropped.
    pub(crate) async fn next(&mut self) -> Next {
        let Some(handle) = &mut self.handle else { return std::future::pending().await };
        let answer = tokio::select! {
            biased;
            Some(update) = self.updates.recv() => return Next::Update(update),
            answer = &mut handle.rx => answer,
        };
        self.end();
        match answer {
            Ok(Ok(ServerResult::CallToolResult(result))) => Next::Complete(Box::new(result)),
            Ok(Ok(ServerResult::InputRequiredResult(required))) => Next::InputRequired(Box::new(required)),
            // A result without content is a result without a type of its own.
            Ok(Ok(ServerResult::EmptyResult(_))) => Next::Complete(Box::default()),
            Ok(Ok(_)) => Next::Failed("got a result of another form".to_owned()),
            Ok(Err(error)) => Next::Failed(told(&error)),
            Err(_) => Next::Failed("it ended during the call, which may have had an effect".to_owned()),
        }
    }

    fn end(&mut self) -> Option<RequestHandle<RoleClient>> {
        let handle = self.handle.take()?;
        self.connection.hooks.closed(&handle.id);
        Some(handle)
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if let Some(handle) = self.end() {
            let reason = "the call was cancelled".to_owned();
            // A connection that has ended needs no message.
            self.runtime.spawn(async move { handle.cancel(Some(reason)).await.ok() });
        }
    }
}
