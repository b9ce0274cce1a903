//! A server.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::connection::Connection;
use crate::error::{McpError, one_line};
use crate::held::Held;
use crate::list;
use crate::options::ServerOptions;
use crate::secrets::Secrets;
use crate::tool::McpTool;

/// A server. It is connected at the first use, and again at the next use after its connection has ended. Clones share the
/// connection; the last one ends it.
#[derive(Clone)]
pub struct Server(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) options: ServerOptions,
    pub(crate) secrets: Secrets,
    pub(crate) held: Arc<Held>,
    connection: Mutex<Option<Arc<Connection>>>,
}

impl Server {
    /// Creates a server. Nothing is started or connected to yet.
    ///
    /// # Errors
    /// [`McpError::Option`] if an option cannot be used.
    pub fn new(options: ServerOptions) -> Result<Self, McpError> {
        options.check()?;
        let secrets = options.secrets();
        Ok(Server(Arc::new(Inner { options, secrets, held: Arc::default(), connection: Mutex::default() })))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0.options.name
    }

    /// Lists the tools of the server, or those of [`ServerOptions::tools`]. The server is started or connected to if it is
    /// not. An agent reads the list once: it is built anew to see a changed list.
    ///
    /// # Errors
    /// [`McpError::Connect`] if the server cannot be used. [`McpError::Tools`] if it does not list its tools, if a tool of the
    /// options is missing, or if a name is too long, has characters that a model cannot call, or belongs to two tools.
    ///
    /// # Cancel safety
    /// If the future is dropped, the server is not connected, or is connected without a list.
    pub async fn tools(&self) -> Result<Vec<McpTool>, McpError> {
        let options = &self.0.options;
        let wrong = |reason: String| McpError::Tools {
            server: options.name.clone(),
            reason: self.0.secrets.withheld(&reason).into_owned(),
        };
        let connection = self.0.connection().await?;
        let listed = connection.tools(options.timeout).await.map_err(wrong)?;
        if let Some(missing) =
            options.tools.iter().flatten().find(|name| listed.iter().all(|of| of.name != **name))
        {
            let names: Vec<String> = listed.iter().map(|of| one_line(&of.name)).collect();
            return Err(wrong(format!("it has no tool {missing:?}; it has {}", names.join(", "))));
        }
        let is_used = |name: &str| options.tools.as_ref().is_none_or(|used| used.iter().any(|of| of == name));
        let (mut names, mut tools) = (BTreeSet::new(), Vec::new());
        for tool in listed.iter().filter(|tool| is_used(&tool.name)) {
            let hint = "; name the tools to be used in `tools`";
            let name = list::name(&options.name, &tool.name).map_err(|why| wrong(why + hint))?;
            if !names.insert(name.clone()) {
                return Err(wrong(format!("two of its tools have the name {name:?} for a model{hint}")));
            }
            tools.push(McpTool::new(self.clone(), name, tool));
        }
        Ok(tools)
    }
}

impl Inner {
    /// The connection, which is opened if there is none that lives.
    ///
    /// # Errors
    /// [`McpError::Connect`].
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|open| !open.is_closed()) {
            return Ok(Arc::clone(open));
        }
        // The processes of the earlier connection end before the next ones begin.
        *connection = None;
        let opened = Arc::new(Connection::open(&self.options).await?);
        *connection = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.0.options).finish()
    }
}
