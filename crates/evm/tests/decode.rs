//! The reading of call data.

use alloy_primitives::{U256, hex};
use runstate_service::{DecodedCall, Decoder, TxRequest, Units};

use super::node::{
    Node, OTHER, ROUTER, USDC, WALLET, WETH, address, approveCall, balanceOfCall, block_on, encoded,
    swapExactTokensForTokensCall, transferCall, tx,
};

fn swap(path: &[&str], to: &str) -> swapExactTokensForTokensCall {
    swapExactTokensForTokensCall {
        amountIn: U256::from(5),
        amountOutMin: U256::from(3),
        path: path.iter().map(|token| address(token)).collect(),
        to: address(to),
        deadline: U256::MAX,
    }
}

/// The reading of each transaction.
fn read(txs: &[TxRequest]) -> Vec<Option<DecodedCall>> {
    let mut calls = Vec::new();
    block_on(async {
        let chain = Node::honest().await.chain();
        calls.extend(txs.iter().map(|tx| chain.decode(tx)));
    });
    calls
}

#[test]
fn call_data_of_each_known_function_is_read() {
    let checksum = |text: &str| address(text).to_string();
    let transfer = transferCall { to: address(OTHER), amount: U256::from(7) };
    let approve = approveCall { spender: address(ROUTER), amount: U256::from(8) };
    let calls = read(&[
        tx(USDC, encoded(&transfer)),
        tx(USDC, encoded(&approve)),
        tx(ROUTER, encoded(&swap(&[USDC, WETH], WALLET))),
    ]);
    let expected = [format!("{:?}", Units(7)), format!("{:?}", Units(8)), format!("{:?}", Units(3))];
    for ((call, amount), address) in calls.iter().zip(expected).zip([OTHER, ROUTER, WETH]) {
        let shown = format!("{call:?}");
        assert!(shown.contains(&amount) && shown.contains(&checksum(address)), "{shown}");
    }
    assert!(matches!(calls[2], Some(DecodedCall::Swap { amount_in: Units(5), min_out: Units(3), .. })));
}

#[test]
fn other_call_data_is_not_read() {
    let transfer = encoded(&transferCall { to: address(OTHER), amount: U256::from(7) });
    let swapped = encoded(&swap(&[USDC, WETH], WALLET));
    let huge = U256::from(u128::MAX) + U256::from(1);
    let with = |place: usize, text: &str, data: &str| {
        let mut data = data.to_owned();
        data.replace_range(place..place + text.len(), text);
        data
    };
    let rows = [
        String::new(),
        "0x".into(),
        "0xa9059cbb".into(),
        "0xzz".into(),
        transfer.trim_start_matches("0x").into(),
        format!("0x{transfer}"),
        format!("{transfer}00"),
        format!("{transfer}{}", "0".repeat(64)),
        format!("{swapped}00"),
        transfer[..transfer.len() - 2].into(),
        transfer[..transfer.len() - 1].into(),
        // Dirty padding before the address: a token would ignore or refuse it.
        with(10, "01", &transfer),
        encoded(&transferCall { to: address(OTHER), amount: huge }),
        encoded(&approveCall { spender: address(ROUTER), amount: U256::MAX }),
        encoded(&balanceOfCall { owner: address(WALLET) }),
        encoded(&swap(&[USDC, WETH], OTHER)),
        encoded(&swap(&[USDC], WALLET)),
        encoded(&swap(&[], WALLET)),
        encoded(&swap(&[USDC, OTHER, WETH], WALLET)),
        // The path begins at another place than where the function has it.
        with(10 + 2 * 64, &format!("{:064x}", 0xc0), &swapped),
        // A path of 2^256 - 1 tokens.
        with(10 + 5 * 64, &"f".repeat(64), &swapped),
        hex::encode_prefixed([0xff; 300]),
    ];
    let txs: Vec<_> = rows.iter().map(|data| tx(ROUTER, data.clone())).collect();
    for (data, call) in rows.iter().zip(read(&txs)) {
        assert_eq!(call, None, "{data}");
    }
}

#[test]
fn each_byte_of_call_data_counts() {
    let data = encoded(&swap(&[USDC, WETH], WALLET));
    let whole = &read(&[tx(ROUTER, data.clone())])[0];
    let mut txs = Vec::new();
    // The deadline, the fifth word, is no part of the meaning.
    for place in (1..data.len() / 2).filter(|place| !(5 + 4 * 32..5 + 5 * 32).contains(place)) {
        let mut bytes = hex::decode(&data).unwrap();
        bytes[place - 1] ^= 1;
        txs.push(tx(ROUTER, hex::encode_prefixed(bytes)));
    }
    for (place, call) in read(&txs).iter().enumerate() {
        assert_ne!(call, whole, "the changed byte {place}");
    }
}
