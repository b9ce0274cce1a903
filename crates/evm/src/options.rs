//! The options of a chain behind a node.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use alloy_primitives::Address;
use runstate_service::Chain;

use crate::address::{AddressError, parse};

/// The largest number of decimals of a token: an amount of one token must fit 128 bits.
const MAX_DECIMALS: u8 = 38;

/// A router of exchanges, in the style of Uniswap V2: it has `getAmountsOut` and `swapExactTokensForTokens`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Router {
    /// The name, which is the protocol in the allowlist of the policy.
    pub name: String,
    /// The address.
    pub address: String,
}

/// The options of an [`EvmChain`](crate::EvmChain).
#[derive(Clone)]
#[non_exhaustive]
pub struct EvmOptions {
    /// The URL of the node, with http or https. It may have a key: no error and no debug output has it.
    pub url: String,
    /// The chain with its tokens.
    pub chain: Chain,
    /// The router of exchanges. Default: none, and an exchange is refused.
    pub router: Option<Router>,
    /// Whether the URL may be http to another machine. Default: false.
    pub plain_http: bool,
    /// The time limit of one request to the node. Default: 10 s.
    pub request_limit: Duration,
    /// The largest answer of the node, in bytes. Default: 1 MiB.
    pub answer_limit: usize,
    /// The number of blocks from that of a transaction to the newest one, both included, from which its receipt counts.
    /// Default: 1, which is the block of the transaction alone.
    pub confirmations: NonZeroU64,
    /// The time after the newest block until which an exchange is valid on the chain. Default: 24 h.
    pub swap_deadline: Duration,
}

impl EvmOptions {
    /// The default options of a chain behind a node.
    pub fn new(url: impl Into<String>, chain: Chain) -> Self {
        EvmOptions {
            url: url.into(),
            chain,
            router: None,
            plain_http: false,
            request_limit: Duration::from_secs(10),
            answer_limit: 1024 * 1024,
            confirmations: NonZeroU64::MIN,
            swap_deadline: Duration::from_secs(24 * 60 * 60),
        }
    }

    /// Checks the chain and the router, and reads the router's address.
    pub(crate) fn check(&self) -> Result<Option<Address>, EvmError> {
        let Chain { id, name, native, tokens } = &self.chain;
        if *id == 0 {
            return Err(EvmError::ChainId);
        }
        for (name, text) in [("the name of the chain", name), ("the symbol of the native currency", native)] {
            not_empty(name, text)?;
        }
        let mut known: Vec<(&str, Address)> = Vec::new();
        for (symbol, token) in tokens {
            not_empty("the symbol of a token", symbol)?;
            let is_taken = known.iter().any(|(other, _)| other.eq_ignore_ascii_case(symbol));
            if is_taken || symbol.eq_ignore_ascii_case(native) {
                return Err(EvmError::Twice { kind: "symbol", got: symbol.clone() });
            }
            let address = address(&format!("the token {symbol}"), &token.address)?;
            if known.iter().any(|(_, other)| *other == address) {
                return Err(EvmError::Twice { kind: "address", got: token.address.clone() });
            }
            if token.decimals > MAX_DECIMALS {
                return Err(EvmError::Decimals { symbol: symbol.clone(), got: token.decimals });
            }
            known.push((symbol, address));
        }
        let Some(router) = &self.router else { return Ok(None) };
        not_empty("the name of the router", &router.name)?;
        let read = address("the router", &router.address)?;
        if known.iter().any(|(_, token)| *token == read) {
            return Err(EvmError::Twice { kind: "address", got: router.address.clone() });
        }
        Ok(Some(read))
    }
}

fn not_empty(name: &'static str, text: &str) -> Result<(), EvmError> {
    if text.trim().is_empty() { Err(EvmError::Empty { name }) } else { Ok(()) }
}

fn address(owner: &str, text: &str) -> Result<Address, EvmError> {
    parse(text).map_err(|error| EvmError::Address { owner: owner.to_owned(), error })
}

impl fmt::Debug for EvmOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvmOptions")
            .field("chain", &self.chain)
            .field("router", &self.router)
            .finish_non_exhaustive()
    }
}

/// The error for options that no chain can have. No text has the URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvmError {
    /// The URL cannot be used.
    #[error("the URL of the node cannot be used: {reason}")]
    Url {
        /// The reason.
        reason: String,
    },
    /// The id of the chain is zero.
    #[error("the id of the chain is 0, expected at least 1")]
    ChainId,
    /// A name or a symbol is empty.
    #[error("{name} is empty")]
    Empty {
        /// The name.
        name: &'static str,
    },
    /// An address cannot be used.
    #[error("the address of {owner}: {error}")]
    Address {
        /// The owner of the address.
        owner: String,
        /// The error.
        error: AddressError,
    },
    /// Two tokens, a token and the native currency, or a token and the router have the same symbol or address.
    #[error(
        "the {kind} {got:?} is there twice; each token, the native currency and the router need one of their own"
    )]
    Twice {
        /// The kind of the value.
        kind: &'static str,
        /// The value.
        got: String,
    },
    /// A token has more decimals than an amount may have.
    #[error("the token {symbol} has {got} decimals, expected at most {MAX_DECIMALS}")]
    Decimals {
        /// The symbol.
        symbol: String,
        /// The number.
        got: u8,
    },
    /// The client of HTTP cannot be made.
    #[error("a client of HTTP cannot be made: {reason}")]
    Client {
        /// The reason.
        reason: String,
    },
}
