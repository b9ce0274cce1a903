//! A node of JSON-RPC whose answers a test chooses, and an honest one below it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use alloy_primitives::{Address, U256, hex};
use alloy_sol_types::{SolCall, sol};
use runstate_evm::{EvmChain, EvmOptions, Router};
use runstate_service::{Chain, Token, TxKind, TxRequest, Units};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

sol! {
    function decimals() external view returns (uint8);
    function balanceOf(address owner) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function approve(address spender, uint256 amount) external returns (bool);
    function getAmountsOut(uint256 amountIn, address[] path) external view returns (uint256[] amounts);
    function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)
        external returns (uint256[] amounts);
}

pub(crate) const CHAIN: u64 = 31_337;
pub(crate) const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
pub(crate) const OTHER: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
pub(crate) const USDC: &str = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
pub(crate) const WETH: &str = "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512";
pub(crate) const ROUTER: &str = "0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0";

/// The answer to a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Result(Value),
    Error(Value),
    /// This body, with the status 200.
    Body(Vec<u8>),
    /// These bytes in the place of an answer of HTTP.
    Raw(String),
    /// No answer.
    Hang,
}

pub(crate) fn reverted(code: i64, message: &str) -> Reply {
    Reply::Error(json!({ "code": code, "message": message }))
}

/// The body of an answer without a result.
pub(crate) fn body(text: &str) -> Reply {
    Reply::Body(text.as_bytes().to_vec())
}

/// A node. It ends with the runtime of its test.
pub(crate) struct Node {
    pub(crate) url: String,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Node {
    /// Starts a node that answers by `reply`, and as the honest one where that has no reply.
    pub(crate) async fn start(reply: impl Fn(&str, &Value) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url =
            format!("http://user:hidden-word@{}/hidden-path?key=hidden-key", listener.local_addr().unwrap());
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (noted, reply) = (Arc::clone(&calls), Arc::new(reply));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (noted, reply) = (Arc::clone(&noted), Arc::clone(&reply));
                tokio::spawn(async move { answer(stream, &*reply, &noted).await });
            }
        });
        Node { url, calls }
    }

    pub(crate) async fn honest() -> Self {
        Self::start(|_, _| None).await
    }

    /// The ports on the node.
    pub(crate) fn chain(&self) -> EvmChain {
        EvmChain::new(self.options()).unwrap()
    }

    pub(crate) fn options(&self) -> EvmOptions {
        let mut options = EvmOptions::new(&self.url, chain());
        options.router = Some(Router { name: "pool".into(), address: ROUTER.into() });
        options
    }

    /// The number of requests with that method.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.calls.lock().unwrap().iter().filter(|call| *call == method).count()
    }
}

pub(crate) fn chain() -> Chain {
    let token = |address: &str, decimals| Token { address: address.into(), decimals };
    let tokens = BTreeMap::from([("USDC".into(), token(USDC, 6)), ("WETH".into(), token(WETH, 18))]);
    Chain { id: CHAIN, name: "anvil".into(), native: "ETH".into(), tokens }
}

pub(crate) fn tx(to: &str, data: String) -> TxRequest {
    let kind = TxKind::Transfer;
    TxRequest { kind, chain_id: CHAIN, from: WALLET.into(), to: to.into(), value: Units(0), data }
}

pub(crate) fn encoded(call: &impl SolCall) -> String {
    hex::encode_prefixed(call.abi_encode())
}

pub(crate) fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// A word of 32 bytes.
pub(crate) fn word(number: u128) -> Value {
    json!(format!("0x{number:064x}"))
}

pub(crate) fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

async fn answer(
    mut stream: TcpStream,
    reply: &(dyn Fn(&str, &Value) -> Option<Reply> + Send + Sync),
    noted: &Mutex<Vec<String>>,
) {
    let Some((head, request)) = request(&mut stream).await else { return };
    assert!(head.to_ascii_lowercase().contains("authorization: basic "), "the user of the URL is sent");
    let method = request["method"].as_str().unwrap();
    noted.lock().unwrap().push(method.to_owned());
    let reply = reply(method, &request["params"]).unwrap_or_else(|| honest(method, &request["params"]));
    let id = &request["id"];
    let body = match reply {
        Reply::Result(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string().into(),
        Reply::Error(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into(),
        Reply::Body(body) => body,
        Reply::Raw(text) => return drop(stream.write_all(text.as_bytes()).await),
        Reply::Hang => {
            let _gone = stream.read_u8().await;
            return;
        }
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // A client that has read enough goes.
    drop(stream.write_all(&[head.as_bytes(), &body].concat()).await);
}

async fn request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut got = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&got);
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(request) = serde_json::from_str(body)
        {
            return Some((head.to_owned(), request));
        }
        if stream.read_buf(&mut got).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}

/// The amount that the pool of the honest node gives for any amount.
pub(crate) const QUOTE: u128 = 50_000;

/// The result of a call that the honest node executes.
pub(crate) fn executed(data: &[u8]) -> Vec<u8> {
    let amounts = || vec![U256::from(1), U256::from(QUOTE)];
    match data.first_chunk().copied().unwrap_or_default() {
        decimalsCall::SELECTOR => decimalsCall::abi_encode_returns(&6),
        balanceOfCall::SELECTOR => balanceOfCall::abi_encode_returns(&U256::from(1_000_000_000)),
        allowanceCall::SELECTOR => allowanceCall::abi_encode_returns(&U256::ZERO),
        getAmountsOutCall::SELECTOR => getAmountsOutCall::abi_encode_returns(&amounts()),
        swapExactTokensForTokensCall::SELECTOR => {
            swapExactTokensForTokensCall::abi_encode_returns(&amounts())
        }
        _ => transferCall::abi_encode_returns(&true),
    }
}

pub(crate) fn call_data(tx: &Value) -> Vec<u8> {
    let data = tx.get("data").or_else(|| tx.get("input")).and_then(Value::as_str);
    hex::decode(data.unwrap_or("0x")).unwrap()
}

fn honest(method: &str, params: &Value) -> Reply {
    Reply::Result(match method {
        "eth_chainId" => json!("0x7a69"),
        "eth_getBalance" => json!("0x8ac7230489e80000"),
        "eth_getBlockByNumber" => json!({ "timestamp": "0x64" }),
        "eth_blockNumber" => json!("0x5"),
        "eth_call" if params[0]["to"].as_str().is_some_and(|to| to.eq_ignore_ascii_case(WETH)) => {
            match call_data(&params[0]).first_chunk() {
                Some(&decimalsCall::SELECTOR) => word(18),
                _ => json!(hex::encode_prefixed(executed(&call_data(&params[0])))),
            }
        }
        "eth_call" => json!(hex::encode_prefixed(executed(&call_data(&params[0])))),
        "eth_simulateV1" => {
            let calls = params[0]["blockStateCalls"][0]["calls"].as_array().unwrap();
            let call = |tx: &Value| json!({ "status": "0x1", "returnData": hex::encode_prefixed(executed(&call_data(tx))) });
            json!([{ "calls": calls.iter().map(call).collect::<Vec<_>>() }])
        }
        "eth_getTransactionReceipt" | "eth_getTransactionByHash" => Value::Null,
        other => return reverted(-32_601, &format!("there is no {other}")),
    })
}
