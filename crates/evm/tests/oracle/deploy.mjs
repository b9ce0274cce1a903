// Compiles and deploys two tokens and a router, and prints the graph of a server for them.
import { readFileSync } from 'node:fs'
import { strict as assert } from 'node:assert'
import solc from 'solc'
import { abi, mined, trader, wallet } from './common.mjs'

const compiled = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: 'Solidity',
      sources: { 'Tokens.sol': { content: readFileSync('Tokens.sol', 'utf8') } },
      settings: { outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
    }),
  ),
)
assert.deepEqual((compiled.errors ?? []).map(error => error.formattedMessage), [])
const deploy = async (name, args) => {
  const contract = compiled.contracts['Tokens.sol'][name]
  const bytecode = `0x${contract.evm.bytecode.object}`
  const hash = await wallet.deployContract({ abi: contract.abi, bytecode, args })
  return (await mined(hash)).contractAddress
}
const usdc = await deploy('Token', ['USDC', 6, 10_000_000n * 10n ** 6n])
const weth = await deploy('Token', ['WETH', 18, 10_000n * 10n ** 18n])
const router = await deploy('Router', [usdc, weth])
const give = async (token, to, amount) =>
  mined(await wallet.writeContract({ address: token, abi, functionName: 'transfer', args: [to, amount] }))
await give(usdc, router, 1_000_000n * 10n ** 6n)
await give(weth, router, 500n * 10n ** 18n)
// The trader moves the price.
await give(usdc, trader.account.address, 1_000_000n * 10n ** 6n)

console.log(`chain:
  rpc:
    # anvil ignores the query, which stands for a key.
    url: ${process.env.CHAIN_URL}/?key=a-key-of-the-node
    id: 31337
    name: anvil
    native: ETH
    tokens:
      - {symbol: USDC, address: "${usdc}", decimals: 6}
      - {symbol: WETH, address: "${weth.toLowerCase()}", decimals: 18}
    router: {name: uniswap-v2, address: "${router}"}`)
