//! The ports of an EVM chain for service runs, over JSON-RPC.
//!
//! An [`EvmChain`] is the [`Wallet`](runstate_service::Wallet), the [`Compiler`](runstate_service::Compiler), the
//! [`Decoder`](runstate_service::Decoder), the [`Simulator`](runstate_service::Simulator) and the
//! [`Receipts`](runstate_service::Receipts) of one chain. It reads, and sends no transaction: a wallet signs and sends those
//! that a person approved.
//!
//! | port | requests to the node |
//! |---|---|
//! | wallet | `eth_chainId`, `eth_getBalance`, and `eth_call` of `balanceOf`, `decimals` and `allowance` |
//! | compiler | for an exchange `eth_getBlockByNumber`, and `eth_call` of the router's `getAmountsOut` |
//! | decoder | none: it reads call data of `transfer`, `approve` and `swapExactTokensForTokens`, and no other |
//! | simulator | `eth_simulateV1`; `eth_call` and `eth_getBlockByNumber` where the node does not have it |
//! | receipts | `eth_chainId`, `eth_getTransactionByHash`, `eth_getTransactionReceipt`, `eth_getBlockByHash`, `eth_blockNumber` |
//!
//! The node is foreign. Each request has a time limit, each answer a size limit. Redirects are refused, and so is an answer of
//! another form, to another request or of another chain. No error has the URL of the node, or a
//! text of the node: providers repeat parts of the URL in their texts. An error has the code of the node, and a phrase from a
//! fixed list where the text has it. The reason of a revert is a text of the contract.

mod abi;
mod address;
mod chain;
mod compile;
mod options;
mod receipts;
mod rpc;
mod simulate;
mod url;
mod value;

pub use address::{AddressError, check_address};
pub use chain::EvmChain;
pub use options::{EvmError, EvmOptions, Router};

/// The examples of the README, compiled as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
