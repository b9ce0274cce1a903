//! Ports on a chain in this process: balances, tokens, allowances, one pool, and blocks on command.
//!
//! The chain is deterministic: the same calls give the same balances, hashes and receipts. The call data of its
//! transactions is JSON in hexadecimal, so no real chain accepts one.

mod compile;
mod journal;
mod ledger;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::artifact::{
    Allowance, Candidate, DecodedCall, TokenBalance, TxRequest, TxResult, Units, WalletSnapshot,
};
use crate::config::{Chain, Config, PolicyRules, Token};
use crate::port::{CompileInput, Compiler, Decoder, PortError, Ports, Receipt, Receipts, Simulator, Wallet};
use journal::{Entry, Journal};
use ledger::{Ledger, SimCall};

/// A chain in this process. Clones share it.
///
/// ```
/// use runstate_service::sim::SimChain;
/// use runstate_service::{TxKind, TxRequest, Units};
///
/// let chain = SimChain::example();
/// let hash = chain.send(&TxRequest {
///     kind: TxKind::Transfer,
///     chain_id: chain.id(),
///     from: SimChain::WALLET.into(),
///     to: "0xbeef".into(),
///     value: Units(7),
///     data: "0x".into(),
/// });
/// assert!(chain.receipt_of(&hash).is_none(), "it is not mined");
/// chain.mine();
/// assert!(chain.receipt_of(&hash).unwrap().success);
/// assert_eq!(chain.native_balance("0xbeef"), Units(7));
/// ```
#[derive(Clone)]
pub struct SimChain {
    chain: Arc<Chain>,
    state: Arc<Mutex<State>>,
}

struct State {
    journal: Option<Journal>,
    ledger: Ledger,
    block: u64,
    sent: u64,
    pending: Vec<(String, TxRequest)>,
    receipts: BTreeMap<String, Receipt>,
    reachable: bool,
}

/// The name of the port in errors.
const PORT: &str = "the chain";

impl SimChain {
    /// The wallet of the [example](Self::example).
    pub const WALLET: &'static str = "0xa11ce";
    /// The contract of the pool.
    pub const ROUTER: &'static str = "0xd00d";

    /// Creates a chain with the tokens USDC and WETH, a wallet with 10 ETH and 1,000 USDC, and a pool of 1,000,000 USDC
    /// and 500 WETH.
    pub fn example() -> Self {
        let token = |address: &str, decimals| Token { address: address.into(), decimals };
        let tokens = [("USDC".into(), token("0xc0de01", 6)), ("WETH".into(), token("0xc0de02", 18))];
        let chain =
            Chain { id: 31_337, name: "sim".into(), native: "ETH".into(), tokens: BTreeMap::from(tokens) };
        let ether = 10_u128.pow(18);
        let mut ledger = Ledger::new(Self::ROUTER);
        ledger.mint_native(Self::WALLET, Units(10 * ether));
        ledger.mint("0xc0de01", Self::WALLET, Units(1_000_000_000));
        ledger.fund_pool(("0xc0de01", Units(1_000_000_000_000)), ("0xc0de02", Units(500 * ether)));
        let state = State {
            journal: None,
            ledger,
            block: 0,
            sent: 0,
            pending: Vec::new(),
            receipts: BTreeMap::new(),
            reachable: true,
        };
        SimChain { chain: Arc::new(chain), state: Arc::new(Mutex::new(state)) }
    }

    /// Opens the [example](Self::example) with a journal of its transactions and blocks, so that it survives the process.
    /// Several processes may share the journal, and so the chain.
    ///
    /// # Errors
    /// An error of the file, or a journal of another form. A last line that a crash cut off is dropped.
    pub fn journaled(path: &Path) -> io::Result<Self> {
        let chain = Self::example();
        chain.lock().journal = Some(Journal::open(path)?);
        drop(chain.newest()?);
        Ok(chain)
    }

    /// The id of the chain.
    pub fn id(&self) -> u64 {
        self.chain.id
    }

    /// A configuration that knows this chain, and allows its tokens and its pool.
    pub fn config(&self) -> Config {
        let targets = self.chain.tokens.values().map(|token| token.address.clone());
        let policy = PolicyRules {
            targets: targets.chain([Self::ROUTER.to_owned()]).collect(),
            protocols: ["native", "token", "sim-pool"].map(str::to_owned).into(),
            ..PolicyRules::default()
        };
        Config { chains: vec![Chain::clone(&self.chain)], policy, ..Config::default() }
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

    /// Sends a signed transaction, which is executed in the next block. Returns its hash.
    ///
    /// # Panics
    /// If the journal cannot be written. [`try_send`](Self::try_send) returns the error.
    pub fn send(&self, tx: &TxRequest) -> String {
        self.try_send(tx)
            .unwrap_or_else(|error| panic!("the journal of the chain cannot be written: {error}"))
    }

    /// Sends a signed transaction, as [`send`](Self::send).
    ///
    /// # Errors
    /// The journal cannot be written. The transaction counts if its line was written in spite of the error.
    pub fn try_send(&self, tx: &TxRequest) -> io::Result<String> {
        let mut state = self.lock();
        let sent = state.note(&self.chain, Entry::Sent(tx.clone()))?;
        Ok(sent.unwrap_or_default())
    }

    /// Mines a block with the sent transactions, in their order. A transaction that fails has a receipt without success
    /// and no effect. Returns the number of the block.
    ///
    /// # Panics
    /// If the journal cannot be written. [`try_mine`](Self::try_mine) returns the error.
    pub fn mine(&self) -> u64 {
        self.try_mine().unwrap_or_else(|error| panic!("the journal of the chain cannot be written: {error}"))
    }

    /// Mines a block, as [`mine`](Self::mine).
    ///
    /// # Errors
    /// The journal cannot be written. The block counts if its line was written in spite of the error.
    pub fn try_mine(&self) -> io::Result<u64> {
        let mut state = self.lock();
        state.note(&self.chain, Entry::Mined)?;
        Ok(state.block)
    }

    /// Sets whether the ports reach the chain. Default: true.
    pub fn set_reachable(&self, reachable: bool) {
        self.lock().reachable = reachable;
    }

    /// The receipt of a mined transaction.
    pub fn receipt_of(&self, hash: &str) -> Option<Receipt> {
        self.known().receipts.get(hash).cloned()
    }

    /// The balance of the native currency.
    pub fn native_balance(&self, owner: &str) -> Units {
        self.known().ledger.native(owner)
    }

    /// The balance of a token, by its symbol. Zero for an unknown token.
    pub fn balance(&self, symbol: &str, owner: &str) -> Units {
        let token = self.chain.token(symbol).map(|(_, token)| token.address.as_str());
        token.map_or(Units(0), |token| self.known().ledger.balance(token, owner))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Only a bug panics under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state with the entries that other processes wrote.
    fn newest(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        let entries = state.journal.as_mut().map(Journal::read).transpose()?;
        for entry in entries.into_iter().flatten() {
            state.apply(&self.chain, entry);
        }
        Ok(state)
    }

    /// The state with the entries of other processes, as far as the journal can be read.
    fn known(&self) -> MutexGuard<'_, State> {
        self.newest().unwrap_or_else(|_| self.lock())
    }

    fn reached(&self, chain_id: u64) -> Result<MutexGuard<'_, State>, PortError> {
        let reason = || "its journal cannot be read".to_owned();
        let unreachable = |_| PortError::Unreachable { port: PORT, reason: reason() };
        let state = self.newest().map_err(unreachable)?;
        if !state.reachable {
            return Err(PortError::Unreachable { port: PORT, reason: "it is switched off".into() });
        }
        if chain_id != self.chain.id {
            return Err(PortError::Refused { port: PORT, reason: format!("it is not chain {chain_id}") });
        }
        Ok(state)
    }
}

impl State {
    /// Appends an entry to the journal, and applies it behind those of other processes. Returns the hash of a sent
    /// transaction.
    fn note(&mut self, chain: &Chain, entry: Entry) -> io::Result<Option<String>> {
        if let Some(journal) = &mut self.journal {
            let (others, appended) = journal.append(&entry)?;
            // They count, though the own entry may have failed.
            others.into_iter().for_each(|entry| drop(self.apply(chain, entry)));
            appended?;
        }
        Ok(self.apply(chain, entry))
    }

    fn apply(&mut self, chain: &Chain, entry: Entry) -> Option<String> {
        match entry {
            Entry::Sent(tx) => Some(self.send(&tx)),
            Entry::Mined => {
                self.mine(chain);
                None
            }
        }
    }

    fn send(&mut self, tx: &TxRequest) -> String {
        self.sent += 1;
        let text = json!({ "number": self.sent, "tx": tx }).to_string();
        let digits =
            Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let hash = format!("0x{digits}");
        self.pending.push((hash.clone(), tx.clone()));
        hash
    }

    fn mine(&mut self, chain: &Chain) {
        self.block += 1;
        let block = self.block;
        for (hash, tx) in std::mem::take(&mut self.pending) {
            let success = tx.chain_id == chain.id && self.ledger.execute(&tx).is_ok();
            let TxRequest { chain_id, from, to, value, data, .. } = tx;
            let key = hash.clone();
            // The blocks of this chain have no time: it is the same after each replay of its journal.
            let (delegates, mined_at_ms) = (false, None);
            let receipt =
                Receipt { hash, success, block, chain_id, from, to, value, data, delegates, mined_at_ms };
            self.receipts.insert(key, receipt);
        }
    }
}

#[async_trait]
impl Wallet for SimChain {
    async fn snapshot(&self, chain: &Chain, wallet: &str) -> Result<WalletSnapshot, PortError> {
        let state = self.reached(chain.id)?;
        let (mut tokens, mut allowances) = (BTreeMap::new(), Vec::new());
        for (symbol, Token { address, decimals }) in &chain.tokens {
            let balance = state.ledger.balance(address, wallet);
            let token = TokenBalance { address: address.clone(), decimals: *decimals, balance };
            tokens.insert(symbol.clone(), token);
            let amount = state.ledger.allowance(address, wallet, Self::ROUTER);
            if amount > Units(0) {
                allowances.push(Allowance { token: address.clone(), spender: Self::ROUTER.into(), amount });
            }
        }
        Ok(WalletSnapshot { native: state.ledger.native(wallet), tokens, allowances })
    }
}

#[async_trait]
impl Compiler for SimChain {
    async fn compile(&self, input: &CompileInput<'_>) -> Result<Vec<Candidate>, PortError> {
        let state = self.reached(input.chain.id)?;
        compile::compile(&state.ledger, input)
            .map_err(|reason| PortError::Refused { port: "the compiler", reason })
    }
}

impl Decoder for SimChain {
    fn decode(&self, tx: &TxRequest) -> Option<DecodedCall> {
        SimCall::read(&tx.data).map(DecodedCall::from)
    }
}

#[async_trait]
impl Simulator for SimChain {
    async fn simulate(&self, chain: &Chain, txs: &[TxRequest]) -> Result<Vec<TxResult>, PortError> {
        let mut ledger = self.reached(chain.id)?.ledger.clone();
        let result = |tx| match ledger.execute(tx) {
            Ok(out) => TxResult::ok().with_out(out),
            Err(reason) => TxResult::reverted(reason),
        };
        Ok(txs.iter().map(result).collect())
    }
}

#[async_trait]
impl Receipts for SimChain {
    async fn receipt(&self, hash: &str, approved: &TxRequest) -> Result<Option<Receipt>, PortError> {
        Ok(self.reached(approved.chain_id)?.receipts.get(hash).cloned())
    }
}

impl fmt::Debug for SimChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimChain").field("id", &self.chain.id).field("block", &self.lock().block).finish()
    }
}
