//! The chain in this process: its journal.

use runstate_service::sim::SimChain;
use runstate_service::{TxKind, TxRequest, Units};

fn transfer(chain: &SimChain, value: u128) -> TxRequest {
    TxRequest {
        kind: TxKind::Transfer,
        chain_id: chain.id(),
        from: SimChain::WALLET.into(),
        to: "0xbeef".into(),
        value: Units(value),
        data: "0x".into(),
    }
}

#[test]
fn journaled_chain_survives_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.jsonl");
    let chain = SimChain::journaled(&path).unwrap();
    let mined = chain.send(&transfer(&chain, 7));
    chain.mine();
    let pending = chain.send(&transfer(&chain, 5));
    // Another process has the same chain.
    let other = SimChain::journaled(&path).unwrap();
    assert!(other.receipt_of(&mined).unwrap().success);
    let of_other = other.send(&transfer(&chain, 1));
    assert!(chain.receipt_of(&of_other).is_none());
    drop((chain, other));

    // A crash cuts a line off.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"sent\":{{\"ki")).unwrap();
    let chain = SimChain::journaled(&path).unwrap();
    assert!(chain.receipt_of(&mined).unwrap().success);
    assert!(chain.receipt_of(&pending).is_none());
    assert_eq!(chain.native_balance("0xbeef"), Units(7));
    let other = SimChain::journaled(&path).unwrap();
    assert_eq!(chain.mine(), 2);
    assert_eq!(other.native_balance("0xbeef"), Units(13));
    assert!(other.receipt_of(&of_other).unwrap().success);
    let third = chain.send(&transfer(&chain, 5));
    assert_ne!(third, pending, "the numbers go on");
    drop((chain, other));

    std::fs::write(&path, "noise\n").unwrap();
    let said = SimChain::journaled(&path).unwrap_err().to_string();
    assert!(said.contains("line 1: expected"), "{said}");
}
