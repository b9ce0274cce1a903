// The chain, its accounts, and the contracts of the oracle.
import { createPublicClient, createTestClient, createWalletClient, http, parseAbi } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'

const transport = http(process.env.CHAIN_URL)
export const reader = createPublicClient({ chain: anvil, transport, pollingInterval: 50 })
export const miner = createTestClient({ chain: anvil, mode: 'anvil', transport })
// The accounts of anvil. Their words are public.
const account = index =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: index })
export const wallet = createWalletClient({ account: account(0), chain: anvil, transport })
export const trader = createWalletClient({ account: account(1), chain: anvil, transport })
export const recipient = account(2).address

export const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[])',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 least, address[] path, address to, uint256 deadline) returns (uint256[])',
])

// Mines a block, and waits for the receipt.
export const mined = async hash => {
  await miner.mine({ blocks: 1 })
  return reader.waitForTransactionReceipt({ hash })
}
