//! The configuration of the graph: chains, allowlists and limits.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A token of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The address.
    pub address: String,
    /// The number of decimals.
    pub decimals: u8,
}

/// A chain with its tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The id.
    pub id: u64,
    /// The name, which an answer may have in the place of the id.
    pub name: String,
    /// The symbol of the native currency, which has 18 decimals.
    pub native: String,
    /// The tokens, by symbol.
    pub tokens: BTreeMap<String, Token>,
}

/// The number of decimals of a native currency.
pub const NATIVE_DECIMALS: u8 = 18;

impl Chain {
    /// The decimals of an asset, by its symbol in any case. None for an unknown asset.
    pub fn decimals(&self, symbol: &str) -> Option<u8> {
        if symbol.eq_ignore_ascii_case(&self.native) {
            return Some(NATIVE_DECIMALS);
        }
        self.token(symbol).map(|(_, token)| token.decimals)
    }

    /// A token with its symbol as the configuration has it, by a symbol in any case.
    pub fn token(&self, symbol: &str) -> Option<(&str, &Token)> {
        let found = self.tokens.iter().find(|(known, _)| known.eq_ignore_ascii_case(symbol));
        found.map(|(known, token)| (known.as_str(), token))
    }

    /// The symbols of all assets, the native one first.
    pub fn symbols(&self) -> Vec<String> {
        [&self.native].into_iter().chain(self.tokens.keys()).cloned().collect()
    }
}

/// The limits of the policy. An empty allowlist allows nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyRules {
    /// The addresses of contracts that may be called.
    pub targets: BTreeSet<String>,
    /// The names of protocols that may be used.
    pub protocols: BTreeSet<String>,
    /// The slippage above which a person is warned, in hundredths of a percent. Default: 100.
    pub warn_slippage_bps: u32,
    /// The largest slippage, and the most by which a quote may be below the simulated amount, in hundredths of a percent.
    /// Default: 300.
    pub max_slippage_bps: u32,
    /// Whether an allowance that an earlier transaction of the plan grants counts as given. Default: false, which
    /// warns.
    pub accept_assumed_allowances: bool,
}

impl Default for PolicyRules {
    fn default() -> Self {
        PolicyRules {
            targets: BTreeSet::new(),
            protocols: BTreeSet::new(),
            warn_slippage_bps: 100,
            max_slippage_bps: 300,
            accept_assumed_allowances: false,
        }
    }
}

/// The configuration of the graph.
///
/// ```
/// use runstate_service::Config;
///
/// let config = Config::default();
/// assert_eq!(config.max_attempts.get(), 2);
/// assert!(config.policy.targets.is_empty(), "nothing is allowed");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The chains.
    pub chains: Vec<Chain>,
    /// The limits of the policy.
    pub policy: PolicyRules,
    /// The number of attempts of a pass. Default: 2, which is one repair.
    pub max_attempts: NonZeroU32,
    /// The time limit of each port. Default: 30 s.
    pub port_limit: Duration,
    /// The slippage of a swap without one in its plan, in hundredths of a percent. Default: 50.
    pub slippage_bps: u32,
    /// Whether an actor that created or resumed a run may not approve it. Default: false.
    pub distinct_actors: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            chains: Vec::new(),
            policy: PolicyRules::default(),
            max_attempts: NonZeroU32::MIN.saturating_add(1),
            port_limit: Duration::from_secs(30),
            slippage_bps: 50,
            distinct_actors: false,
        }
    }
}

impl Config {
    /// The chain with that id.
    pub fn chain(&self, id: u64) -> Option<&Chain> {
        self.chains.iter().find(|chain| chain.id == id)
    }

    /// The chain that a text names: by its id, or by its name in any case.
    pub fn chain_of(&self, text: &str) -> Option<&Chain> {
        let text = text.trim();
        let named = |chain: &&Chain| chain.name.eq_ignore_ascii_case(text) || chain.id.to_string() == text;
        self.chains.iter().find(named)
    }
}

/// Returns whether a text has the form of an address: `0x` and 1 to 62 hexadecimal digits.
pub fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    (1..=62).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
