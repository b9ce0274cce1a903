//! The chain of a graph that is behind a node of JSON-RPC.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use runstate_evm::{EvmChain, EvmOptions, Router, check_address};
use runstate_service::{Chain, PolicyRules, PortError, Token};
use serde::Deserialize;

use super::graph::{refused, text_of};
use super::time;
use crate::failure::Failure;
use crate::output::{complain, printable};

/// The member `rpc` of a chain. It has no debug output: a URL may have a key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RpcFile {
    /// The URL of the node.
    url: Option<String>,
    /// The variable of the environment with the URL.
    url_env: Option<String>,
    /// The file with the URL, by its path from the graph.
    url_file: Option<PathBuf>,
    /// Whether the URL may be http to another machine.
    #[serde(default)]
    plain_http: bool,
    /// The id of the chain.
    id: u64,
    /// The name of the chain.
    name: String,
    /// The symbol of the native currency.
    native: String,
    #[serde(default)]
    tokens: Vec<TokenFile>,
    router: Option<RouterFile>,
    /// The number of blocks from which a receipt counts.
    confirmations: Option<NonZeroU64>,
    /// The time for which an exchange is valid, such as `24h`.
    swap_deadline: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    symbol: String,
    address: String,
    decimals: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RouterFile {
    name: String,
    address: String,
}

/// The place in the graph.
const PLACE: &str = "chain.rpc";

/// Makes the chain. No request is sent.
pub(super) fn open(read: RpcFile, graph: Option<&Path>) -> Result<EvmChain, Failure> {
    let url = url(&read, graph)?;
    let mut tokens = BTreeMap::new();
    for TokenFile { symbol, address, decimals } in read.tokens {
        if tokens.insert(symbol.clone(), Token { address, decimals }).is_some() {
            return Err(refused(
                PLACE,
                format_args!("the token {symbol:?} is there twice; remove one of them"),
            ));
        }
    }
    let chain = Chain { id: read.id, name: read.name, native: read.native, tokens };
    let mut options = EvmOptions::new(url, chain);
    options.plain_http = read.plain_http;
    options.router = read.router.map(|RouterFile { name, address }| Router { name, address });
    options.confirmations = read.confirmations.unwrap_or(options.confirmations);
    if let Some(text) = &read.swap_deadline {
        options.swap_deadline = time(text).map_err(|error| refused("chain.rpc.swap_deadline", error))?;
    }
    EvmChain::new(options).map_err(|error| refused(PLACE, error))
}

/// The URL of the node, from the one place that the graph names.
fn url(read: &RpcFile, graph: Option<&Path>) -> Result<String, Failure> {
    match (&read.url, &read.url_env, &read.url_file) {
        (Some(url), None, None) => Ok(url.clone()),
        (None, Some(name), None) if !is_name(name) => {
            // The value may be the URL itself, with its key: no error has it.
            let reason = "got a text that is no name of a variable; expected a letter or `_`, then letters, digits or `_`";
            Err(refused("chain.rpc.url_env", reason)
                .with_help("set a variable to the URL, and write the name of the variable"))
        }
        (None, Some(name), None) => std::env::var(name).map_err(|_| {
            let reason = format_args!("the environment has no text in {name}");
            refused("chain.rpc.url_env", reason).with_help(format!("set {name} to the URL of the node"))
        }),
        (None, None, Some(file)) if file.to_string_lossy().contains("://") => {
            let reason = "got a URL, expected the path of a file that has it";
            Err(refused("chain.rpc.url_file", reason)
                .with_help("write the URL into a file, and name its path"))
        }
        (None, None, Some(file)) => {
            let path = graph.map_or_else(|| file.clone(), |graph| graph.with_file_name("").join(file));
            Ok(text_of(&path)?.trim().to_owned())
        }
        (url, env, file) => {
            let got = [url.is_some(), env.is_some(), file.is_some()].into_iter().filter(|is_there| *is_there);
            let got = got.count();
            Err(refused(PLACE, format_args!("got {got} of url, url_env and url_file, expected one")))
        }
    }
}

/// Whether a text is the name of a variable of the environment.
fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    text.bytes().all(is_of_name)
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
}

/// Refuses a contract that no transaction of such a chain can call.
pub(super) fn check_targets(policy: &PolicyRules) -> Result<(), Failure> {
    let mut targets = policy.targets.iter();
    targets.try_for_each(|target| check_address(target).map_err(|error| refused("policy.targets", error)))
}

/// Refuses a node of another chain. A node that cannot be reached, or that answers with an error, may answer later, so it is
/// a warning alone.
pub(super) async fn check(chain: &EvmChain) -> Result<(), Failure> {
    match chain.check().await {
        Ok(()) => Ok(()),
        Err(error @ PortError::OtherChain { .. }) => Err(refused(PLACE, printable(&error.to_string()))),
        Err(error) => {
            complain(&printable(&format!("{error}; runs fail until its node answers")));
            Ok(())
        }
    }
}
