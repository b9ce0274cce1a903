//! Ports whose replies a YAML file lists: each one answers, fails, or is late.
//!
//! A list has a reply for each call of the port, in order. The last reply repeats. A port without a list is that of the
//! ports below, such as those of a [`SimChain`](crate::sim::SimChain).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use crate::artifact::{Candidate, TxRequest, TxResult, WalletSnapshot};
use crate::config::Chain;
use crate::port::{
    CompileInput, Compiler, Judge, JudgeInput, Planner, PlannerInput, PortError, Ports, Receipt, Receipts,
    Simulator, Wallet,
};

/// The replies of ports.
///
/// ```
/// use runstate_service::script::Script;
/// use runstate_service::sim::SimChain;
///
/// let script = Script::from_yaml("
/// wallet:
///   - unreachable: the node is down
/// judge:
///   - delay_ms: 200
///     answer: {verdict: PASS}
/// ")?;
/// let ports = script.ports_over(SimChain::example().ports());
/// assert!(ports.judge.is_some() && ports.planner.is_none());
///
/// let error = Script::from_yaml("wallet: [{delay_ms: 5}]").unwrap_err();
/// assert_eq!(error.to_string(), "wallet, reply 1: expected one of answer, refuse, unreachable");
/// # Ok::<(), runstate_service::script::ScriptError>(())
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    wallet: Option<Vec<Reply<WalletSnapshot>>>,
    planner: Option<Vec<Reply<Value>>>,
    compiler: Option<Vec<Reply<Vec<Candidate>>>>,
    simulator: Option<Vec<Reply<Vec<TxResult>>>>,
    judge: Option<Vec<Reply<Value>>>,
    receipts: Option<Vec<Reply<Vec<Receipt>>>>,
}

/// The error for a text that is no script.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The text has another form.
    #[error("{0}")]
    Form(String),
    /// A list without a reply.
    #[error("{port} has no reply; expected one or more, or no list")]
    NoReply {
        /// The port.
        port: &'static str,
    },
    /// A reply with no content, or with several.
    #[error("{port}, reply {number}: expected one of answer, refuse, unreachable")]
    Content {
        /// The port.
        port: &'static str,
        /// The number of the reply, from 1.
        number: usize,
    },
}

/// One reply: late or not, with exactly one content.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply<T> {
    #[serde(default)]
    delay_ms: u64,
    answer: Option<T>,
    refuse: Option<String>,
    unreachable: Option<String>,
}

impl<T> Reply<T> {
    fn contents(&self) -> usize {
        [self.answer.is_some(), self.refuse.is_some(), self.unreachable.is_some()]
            .into_iter()
            .filter(|is_there| *is_there)
            .count()
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// [`ScriptError`] with the place in the text, or with the port and the number of the reply.
    pub fn from_yaml(text: &str) -> Result<Self, ScriptError> {
        // Strict: a key that is there twice, or a merged one, is an error.
        let options = serde_saphyr::options! {
            duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
            merge_keys: serde_saphyr::options::MergeKeyPolicy::Error,
            strict_booleans: true,
            with_snippet: false,
        };
        let script: Script = serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| ScriptError::Form(error.to_string()))?;
        check("wallet", script.wallet.as_deref())?;
        check("planner", script.planner.as_deref())?;
        check("compiler", script.compiler.as_deref())?;
        check("simulator", script.simulator.as_deref())?;
        check("judge", script.judge.as_deref())?;
        check("receipts", script.receipts.as_deref())?;
        Ok(script)
    }

    /// The ports with these replies. A port without a list is that of `below`.
    pub fn ports_over(self, below: Ports) -> Ports {
        let mut ports = below;
        if let Some(replies) = self.wallet {
            ports.wallet = Arc::new(Port::new("the wallet", replies));
        }
        if let Some(replies) = self.planner {
            ports.planner = Some(Arc::new(Port::new("the planner", replies)));
        }
        if let Some(replies) = self.compiler {
            ports.compiler = Arc::new(Port::new("the compiler", replies));
        }
        if let Some(replies) = self.simulator {
            ports.simulator = Arc::new(Port::new("the simulator", replies));
        }
        if let Some(replies) = self.judge {
            ports.judge = Some(Arc::new(Port::new("the judge", replies)));
        }
        if let Some(replies) = self.receipts {
            ports.receipts = Arc::new(Port::new("the chain", replies));
        }
        ports
    }
}

fn check<T>(port: &'static str, replies: Option<&[Reply<T>]>) -> Result<(), ScriptError> {
    let Some(replies) = replies else { return Ok(()) };
    if replies.is_empty() {
        return Err(ScriptError::NoReply { port });
    }
    match replies.iter().position(|reply| reply.contents() != 1) {
        Some(place) => Err(ScriptError::Content { port, number: place + 1 }),
        None => Ok(()),
    }
}

/// A port with its replies, and the number of its calls.
struct Port<T> {
    name: &'static str,
    replies: Vec<Reply<T>>,
    calls: AtomicUsize,
}

impl<T: Clone> Port<T> {
    fn new(name: &'static str, replies: Vec<Reply<T>>) -> Self {
        Port { name, replies, calls: AtomicUsize::new(0) }
    }

    async fn reply(&self) -> Result<T, PortError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed).min(self.replies.len() - 1);
        let reply = self.replies[call].clone();
        if reply.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
        }
        let port = self.name;
        match (reply.answer, reply.refuse, reply.unreachable) {
            (Some(answer), ..) => Ok(answer),
            (None, Some(reason), _) => Err(PortError::Refused { port, reason }),
            (None, None, reason) => Err(PortError::Unreachable { port, reason: reason.unwrap_or_default() }),
        }
    }
}

impl<T> fmt::Debug for Port<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Port({}, {} replies)", self.name, self.replies.len())
    }
}

#[async_trait]
impl Wallet for Port<WalletSnapshot> {
    async fn snapshot(&self, _: &Chain, _: &str) -> Result<WalletSnapshot, PortError> {
        self.reply().await
    }
}

#[async_trait]
impl Planner for Port<Value> {
    async fn plan(&self, _: &PlannerInput) -> Result<Value, PortError> {
        self.reply().await
    }
}

#[async_trait]
impl Compiler for Port<Vec<Candidate>> {
    async fn compile(&self, _: &CompileInput<'_>) -> Result<Vec<Candidate>, PortError> {
        self.reply().await
    }
}

#[async_trait]
impl Simulator for Port<Vec<TxResult>> {
    async fn simulate(&self, _: &Chain, _: &[TxRequest]) -> Result<Vec<TxResult>, PortError> {
        self.reply().await
    }
}

#[async_trait]
impl Judge for Port<Value> {
    async fn judge(&self, _: &JudgeInput<'_>) -> Result<Value, PortError> {
        self.reply().await
    }
}

#[async_trait]
impl Receipts for Port<Vec<Receipt>> {
    /// The receipt with that hash, of those that the reply lists.
    async fn receipt(&self, hash: &str, _: &TxRequest) -> Result<Option<Receipt>, PortError> {
        Ok(self.reply().await?.into_iter().find(|receipt| receipt.hash == hash))
    }
}
