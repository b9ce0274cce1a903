//! A chain behind a node.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use alloy_primitives::{Address, U256, hex};
use alloy_sol_types::SolCall;
use async_trait::async_trait;
use futures_util::future::try_join_all;
use runstate_service::{
    Allowance, Chain, Config, PolicyRules, PortError, Ports, Token, TokenBalance, Units, Wallet,
    WalletSnapshot,
};
use serde_json::{Value, json};

use crate::abi;
use crate::address::parse;
use crate::options::{EvmError, EvmOptions, Router};
use crate::rpc::{PORT, Rpc, RpcError};
use crate::value;

/// The number of tokens that are read at a time. Providers limit the requests of a client.
const TOKENS_AT_ONCE: usize = 4;

/// A chain behind a node of JSON-RPC. Clones share it.
///
/// ```
/// use std::collections::BTreeMap;
/// use runstate_evm::{EvmChain, EvmError, EvmOptions, Router};
/// use runstate_service::{Chain, Token};
///
/// let token = Token { address: "0x5FbDB2315678afecb367f032d93F642f64180aa3".into(), decimals: 6 };
/// let chain = Chain {
///     id: 31_337,
///     name: "anvil".into(),
///     native: "ETH".into(),
///     tokens: BTreeMap::from([("USDC".into(), token)]),
/// };
/// let mut options = EvmOptions::new("http://127.0.0.1:8545", chain);
/// options.router = Some(Router {
///     name: "uniswap-v2".into(),
///     address: "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512".into(),
/// });
/// let ports = EvmChain::new(options.clone())?.ports();
/// assert!(ports.decoder.is_some());
///
/// // A key must not cross the network in plain text, and no error has it.
/// options.url = "http://node.example/key-1234".into();
/// let error = EvmChain::new(options).unwrap_err();
/// assert!(matches!(error, EvmError::Url { .. }) && !error.to_string().contains("key-1234"));
/// # Ok::<(), EvmError>(())
/// ```
#[derive(Clone)]
pub struct EvmChain {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) rpc: Rpc,
    pub(crate) chain: Chain,
    pub(crate) router: Option<(Router, Address)>,
    pub(crate) confirmations: NonZeroU64,
    pub(crate) swap_deadline: Duration,
    /// Whether this process has compared the chain's id with that of the node.
    is_checked: AtomicBool,
}

/// A refusal of the chain's ports.
pub(crate) fn refused(reason: impl Into<String>) -> PortError {
    PortError::Refused { port: PORT, reason: reason.into() }
}

impl EvmChain {
    /// Makes the ports of a chain. No request is sent.
    ///
    /// # Errors
    /// [`EvmError`] for options that no chain can have.
    pub fn new(options: EvmOptions) -> Result<Self, EvmError> {
        let router = options.check()?;
        let inner = Inner {
            rpc: Rpc::new(&options)?,
            router: options.router.zip(router),
            chain: options.chain,
            confirmations: options.confirmations,
            swap_deadline: options.swap_deadline,
            is_checked: AtomicBool::new(false),
        };
        Ok(EvmChain { inner: Arc::new(inner) })
    }

    /// A configuration that knows this chain, and allows its tokens and its router.
    pub fn config(&self) -> Config {
        let Inner { chain, router, .. } = &*self.inner;
        let router = router.as_ref().map(|(router, _)| router);
        let targets = chain.tokens.values().map(|token| token.address.clone());
        let protocols = ["native", "token"].map(str::to_owned).into_iter();
        let policy = PolicyRules {
            targets: targets.chain(router.map(|router| router.address.clone())).collect(),
            protocols: protocols.chain(router.map(|router| router.name.clone())).collect(),
            ..PolicyRules::default()
        };
        Config { chains: vec![chain.clone()], policy, ..Config::default() }
    }

    /// The ports on this chain: without planner and judge.
    pub fn ports(&self) -> Ports {
        Ports {
            wallet: Arc::new(self.clone()),
            planner: None,
            compiler: Arc::new(self.clone()),
            decoder: Some(Arc::new(self.clone())),
            simulator: Arc::new(self.clone()),
            judge: None,
            receipts: Arc::new(self.clone()),
        }
    }

    /// Compares the chain's id with that of the node.
    ///
    /// # Errors
    /// [`PortError::OtherChain`] for a node of another chain. Another variant for a node that cannot be reached, or that
    /// answers with an error or in another form: the same node may answer later.
    pub async fn check(&self) -> Result<(), PortError> {
        let answer = self.inner.rpc.call("eth_chainId", json!([])).await?;
        let got = value::quantity(Some(&answer), "the id of the chain").map_err(refused)?;
        let expected = self.inner.chain.id;
        if got != U256::from(expected) {
            return Err(PortError::OtherChain { port: PORT, got: got.to_string(), expected });
        }
        self.inner.is_checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Compares the ids of the chain for a later port of a pass. The wallet, the first port, has compared them with the
    /// node; a process that continues a pass of another one has not.
    pub(crate) async fn checked(&self, id: u64) -> Result<(), PortError> {
        self.is_of(id)?;
        if self.inner.is_checked.load(Ordering::Relaxed) { Ok(()) } else { self.check().await }
    }

    /// Refuses another chain than this one.
    pub(crate) fn is_of(&self, id: u64) -> Result<(), PortError> {
        let own = self.inner.chain.id;
        if id == own { Ok(()) } else { Err(refused(format!("got the chain {id}, expected {own}"))) }
    }

    /// Calls a function of a contract, without a transaction.
    pub(crate) async fn view<C: SolCall>(&self, to: Address, call: &C) -> Result<C::Return, RpcError> {
        let tx = json!({ "to": to.to_string(), "data": hex::encode_prefixed(call.abi_encode()) });
        let answer = self.inner.rpc.call("eth_call", json!([tx, "latest"])).await?;
        let function = C::SIGNATURE;
        let data = value::bytes(Some(&answer), function).map_err(RpcError::Answer)?;
        C::abi_decode_returns_validate(&data).map_err(|_| {
            let length = data.len();
            let got = format!("{to} answers {function} with {length} bytes of another form");
            RpcError::Answer(format!("{got}; expected the address of a contract that has it"))
        })
    }

    /// Reads one token of a wallet.
    async fn token(
        &self,
        symbol: &str,
        token: &Token,
        owner: Address,
    ) -> Result<(TokenBalance, Option<Allowance>), PortError> {
        let named = |error: RpcError| match PortError::from(error) {
            PortError::Refused { reason, .. } => refused(format!("the token {symbol}: {reason}")),
            other => other,
        };
        let address =
            parse(&token.address).map_err(|error| refused(format!("the token {symbol}: {error}")))?;
        let balance = self.view(address, &abi::Token::balanceOfCall { owner }).await.map_err(named)?;
        // A wrong number of decimals in the configuration would move a multiple of each amount. The function is optional, so
        // a revert is no error.
        match self.view(address, &abi::Token::decimalsCall {}).await {
            Ok(got) if got != token.decimals => {
                let expected = token.decimals;
                return Err(refused(format!(
                    "the token {symbol} has {got} decimals, configured are {expected}"
                )));
            }
            Ok(_) => {}
            Err(error) if error.is_revert() => {}
            Err(error) => return Err(named(error)),
        }
        let allowance = match &self.inner.router {
            None => None,
            Some((router, spender)) => {
                let call = abi::Token::allowanceCall { owner, spender: *spender };
                let amount = abi::at_most_units(self.view(address, &call).await.map_err(named)?);
                let (token, spender) = (token.address.clone(), router.address.clone());
                (amount > Units(0)).then_some(Allowance { token, spender, amount })
            }
        };
        let (address, decimals) = (token.address.clone(), token.decimals);
        Ok((TokenBalance { address, decimals, balance: abi::at_most_units(balance) }, allowance))
    }
}

#[async_trait]
impl Wallet for EvmChain {
    async fn snapshot(&self, chain: &Chain, wallet: &str) -> Result<WalletSnapshot, PortError> {
        self.is_of(chain.id)?;
        self.check().await?;
        let owner = parse(wallet).map_err(|error| refused(format!("the wallet: {error}")))?;
        let answer = self.inner.rpc.call("eth_getBalance", json!([owner.to_string(), "latest"])).await?;
        let native = abi::at_most_units(value::quantity(Some(&answer), "the balance").map_err(refused)?);
        let mut snapshot = WalletSnapshot { native, ..WalletSnapshot::default() };
        let tokens: Vec<_> = chain.tokens.iter().collect();
        for some in tokens.chunks(TOKENS_AT_ONCE) {
            let calls: Vec<_> = some.iter().map(|(symbol, token)| self.token(symbol, token, owner)).collect();
            for ((symbol, _), (balance, allowance)) in some.iter().zip(try_join_all(calls).await?) {
                snapshot.tokens.insert((*symbol).clone(), balance);
                snapshot.allowances.extend(allowance);
            }
        }
        Ok(snapshot)
    }
}

impl fmt::Debug for EvmChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvmChain").field("id", &self.inner.chain.id).finish_non_exhaustive()
    }
}

/// The member of an answer.
pub(crate) fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|value| !value.is_null())
}
