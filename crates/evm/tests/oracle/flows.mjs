// Runs over HTTP: viem reads, signs and sends the transactions of `execute`.
import { readFileSync } from 'node:fs'
import { strict as assert } from 'node:assert'
import { decodeFunctionData, getAddress, isAddressEqual, parseEther } from 'viem'
import { abi, miner, mined, reader, recipient, trader, wallet } from './common.mjs'

const base = process.env.SERVER_URL
// Whether the node of the server simulates no sequences.
const isOld = process.env.OLD === '1'
// The warnings about an exchange with its allowance.
const swapWarnings = isOld ? ['minimum_out', 'simulation'] : ['simulation']
const graph = readFileSync(process.env.GRAPH, 'utf8')
const [usdc, weth, router] = [...graph.matchAll(/address: "(0x[0-9a-fA-F]{40})"/g)].map(match => getAddress(match[1]))

const request = async (method, path, body) => {
  const answer = await fetch(base + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json() }
}
const ok = async (method, path, body) => {
  const answer = await request(method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
const balance = (token, owner) => reader.readContract({ address: token, abi, functionName: 'balanceOf', args: [owner] })

// Plans a run. Returns its path and its artifacts.
const plan = async intent => {
  const body = { intent, walletAddress: wallet.account.address, chainId: 31337 }
  const path = `/v1/runs/${(await ok('POST', '/v1/runs', body)).run_id}`
  await ok('POST', `${path}/start`, {})
  const run = await ok('GET', `${path}?include=artifacts`)
  return { path, run, artifacts: run.artifacts }
}
// Plans and approves a run, and compares the transactions of `execute` with the plan.
const approved = async (intent, warnings) => {
  const { path, run, artifacts } = await plan(intent)
  assert.equal(run.status, 'AWAITING_APPROVAL', JSON.stringify(run))
  assert.deepEqual(artifacts.decision.reasons.map(reason => reason.split(':')[0]), warnings, JSON.stringify(artifacts))
  await ok('POST', `${path}/approve`, { digest: run.digest })
  const { tx_requests: txs } = await ok('POST', `${path}/execute`)
  assert.deepEqual(txs, artifacts.tx_plan.candidates.map(candidate => candidate.tx))
  for (const tx of txs) {
    assert.equal(tx.chain_id, 31337)
    assert.ok(isAddressEqual(tx.from, wallet.account.address))
  }
  return { path, artifacts, txs, calls: artifacts.tx_plan.candidates.map(candidate => candidate.call) }
}
// Signs and sends a transaction. With its gas, since a node refuses to estimate that of one that reverts.
const send = (tx, edit = {}) =>
  wallet.sendTransaction({ to: tx.to, value: BigInt(tx.value), data: tx.data, gas: 300_000n, ...edit })
const submit = (path, txHash, more = {}) => ok('POST', `${path}/tx_submitted`, { txHash, submittedBy: 'manual', ...more })
const poll = async path => (await ok('POST', `${path}/poll_tx`)).status
const done = name => console.log(`ok: ${name}${isOld ? ', on an old node' : ''}`)

{
  const name = 'a native transfer is confirmed'
  const { path, txs, calls } = await approved(`send 0.5 ETH to ${recipient}`, [])
  assert.equal(txs.length, 1)
  assert.deepEqual([txs[0].data, BigInt(txs[0].value)], ['0x', parseEther('0.5')])
  assert.ok(isAddressEqual(txs[0].to, recipient) && calls[0].call === 'transfer_native')
  const before = await reader.getBalance({ address: recipient })
  const hash = await send(txs[0])
  await submit(path, hash)
  assert.equal(await poll(path), 'SUBMITTED', 'it is pending')
  await mined(hash)
  assert.equal(await poll(path), 'CONFIRMED')
  assert.equal((await reader.getBalance({ address: recipient })) - before, parseEther('0.5'))
  done(name)
}

{
  const name = 'a token transfer is confirmed, also after a replacement by a higher fee'
  const { path, txs, calls } = await approved(`send 12.5 USDC to ${recipient.toLowerCase()}`, [])
  const { functionName, args } = decodeFunctionData({ abi, data: txs[0].data })
  assert.deepEqual([functionName, args], ['transfer', [recipient, 12_500_000n]])
  assert.ok(isAddressEqual(txs[0].to, usdc) && isAddressEqual(calls[0].recipient, recipient))
  assert.deepEqual([calls[0].amount, txs[0].value], ['12500000', '0'])
  const before = await balance(usdc, recipient)
  const nonce = await reader.getTransactionCount({ address: wallet.account.address })
  const slow = await send(txs[0], { nonce, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n })
  await submit(path, slow)
  const fast = await send(txs[0], { nonce, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 10n })
  await mined(fast)
  assert.equal(await poll(path), 'SUBMITTED', 'the first hash is replaced')
  await submit(path, fast, { replaces: slow })
  assert.equal(await poll(path), 'CONFIRMED')
  assert.equal((await balance(usdc, recipient)) - before, 12_500_000n)
  done(name)
}

// Compares an allowance and a swap with the plan, by viem.
const isSwap = async ({ txs, calls }, amount) => {
  assert.deepEqual(txs.map(tx => tx.kind), ['approve', 'swap'])
  const [approve, swap] = txs.map(tx => decodeFunctionData({ abi, data: tx.data }))
  assert.deepEqual([approve.functionName, approve.args], ['approve', [router, amount]])
  assert.deepEqual([getAddress(txs[0].to), getAddress(txs[1].to)], [usdc, router])
  const [amountIn, least, path, to, deadline] = swap.args
  assert.equal(swap.functionName, 'swapExactTokensForTokens')
  assert.deepEqual([amountIn, path, to], [amount, [usdc, weth], wallet.account.address])
  const args = [amount, [usdc, weth]]
  const quoted = (await reader.readContract({ address: router, abi, functionName: 'getAmountsOut', args }))[1]
  assert.deepEqual([calls[1].quoted_out, calls[1].min_out], [`${quoted}`, `${least}`])
  assert.equal(least, (quoted * 9_950n) / 10_000n, 'half a percent less')
  const now = (await reader.getBlock()).timestamp
  assert.equal(deadline, now + 86_400n)
  return { least, quoted }
}

{
  const name = 'an allowance and a swap are confirmed'
  const run = await approved('swap 100 USDC for WETH', swapWarnings)
  const { quoted } = await isSwap(run, 100_000_000n)
  const [, simulated] = run.artifacts.simulation.results
  assert.equal(simulated.out, isOld ? undefined : `${quoted}`, 'the simulator knows the result')
  assert.equal(simulated.assumed ?? false, isOld, 'an old node cannot apply the allowance')
  const before = await balance(weth, wallet.account.address)
  const hashes = [await send(run.txs[0]), await send(run.txs[1])]
  await submit(run.path, hashes[0])
  await mined(hashes[1])
  assert.equal(await poll(run.path), 'SUBMITTED', 'the second hash is missing')
  await submit(run.path, hashes[1])
  assert.equal(await poll(run.path), 'CONFIRMED')
  assert.equal((await balance(weth, wallet.account.address)) - before, quoted)
  const steps = (await ok('GET', `${run.path}?include=steps`)).steps
  assert.equal(steps.filter(step => step.step === 'TX_CONFIRMED').length, 1)
  done(name)
}

{
  const name = 'a swap is reverted if its price moved after the approval'
  const run = await approved('swap 200 USDC for WETH', swapWarnings)
  await isSwap(run, 200_000_000n)
  const before = await balance(weth, wallet.account.address)
  const amount = 100_000n * 10n ** 6n
  const allows = { address: usdc, abi, functionName: 'approve', args: [router, amount] }
  await mined(await trader.writeContract(allows))
  const args = [amount, 0n, [usdc, weth], trader.account.address, 2n ** 255n]
  const moves = { address: router, abi, functionName: 'swapExactTokensForTokens', args }
  const moved = await mined(await trader.writeContract(moves))
  assert.equal(moved.status, 'success')
  const hashes = [await send(run.txs[0]), await send(run.txs[1])]
  for (const hash of hashes) await submit(run.path, hash)
  const receipt = await mined(hashes[1])
  assert.equal(receipt.status, 'reverted')
  assert.equal(await poll(run.path), 'REVERTED')
  assert.equal(await balance(weth, wallet.account.address), before)
  // The allowance is still there: the next run needs no other.
  const again = await approved('swap 200 USDC for WETH', [])
  assert.deepEqual(again.txs.map(tx => tx.kind), ['swap'])
  const hash = await send(again.txs[0])
  await submit(again.path, hash)
  await mined(hash)
  assert.equal(await poll(again.path), 'CONFIRMED')
  done(name)
}

{
  const name = 'another transaction than the approved one never confirms'
  const { path, txs } = await approved(`send 1 USDC to ${recipient}`, [])
  const [tx] = txs
  const more = await approved(`send 2 USDC to ${recipient}`, [])
  const rows = [
    ['data', () => send(more.txs[0])],
    ['data', () => send({ ...tx, data: `${tx.data}00` })],
    ['to', () => send({ ...tx, to: weth })],
    ['to', () => wallet.sendTransaction({ value: 0n, data: '0x6000600055', gas: 300_000n })],
    ['from', () => trader.sendTransaction({ to: tx.to, data: tx.data, gas: 300_000n })],
  ]
  let known
  for (const [field, sends] of rows) {
    const hash = await sends()
    await submit(path, hash, known && { replaces: known })
    known = hash
    await mined(hash)
    const { status, mismatches } = await ok('POST', `${path}/poll_tx`)
    assert.equal(status, 'SUBMITTED')
    assert.deepEqual(mismatches, [{ hash, field }])
  }
  const unknown = `0x${'12'.repeat(32)}`
  await submit(path, unknown, { replaces: known })
  assert.equal(await poll(path), 'SUBMITTED')
  const hash = await send(tx)
  await submit(path, hash, { replaces: unknown })
  await mined(hash)
  assert.equal(await poll(path), 'CONFIRMED', 'the approved one does')
  // No transaction confirms two runs.
  await submit(more.path, hash)
  assert.equal(await poll(more.path), 'SUBMITTED')
  done(name)
}

{
  const name = 'a transaction that a reorganisation removes does not confirm'
  const { path, txs } = await approved(`send 3 USDC to ${recipient}`, [])
  const before = await miner.snapshot()
  const hash = await send(txs[0])
  await submit(path, hash)
  await mined(hash)
  await miner.revert({ id: before })
  assert.equal(await poll(path), 'SUBMITTED')
  done(name)
}

{
  const name = 'a run that cannot succeed is refused before its approval'
  const poor = await plan(`send 999999999 USDC to ${recipient}`)
  assert.equal(poor.run.status, 'PAUSED')
  const typo = await plan(`send 1 USDC to ${recipient.replace(/[a-f]/, letter => letter.toUpperCase())}`)
  assert.deepEqual([typo.run.status, typo.artifacts.needs_input.missing[0].slot], ['PAUSED', 'recipient'])
  await ok('POST', `${typo.path}/resume`, { answers: { recipient } })
  assert.equal((await ok('GET', typo.path)).status, 'AWAITING_APPROVAL')
  const body = { intent: `send 0.1 ETH to ${recipient}`, walletAddress: '0xa11ce', chainId: 1 }
  const other = `/v1/runs/${(await ok('POST', '/v1/runs', body)).run_id}`
  await ok('POST', `${other}/start`, {})
  const { missing } = (await ok('GET', `${other}?include=artifacts`)).artifacts.needs_input
  assert.deepEqual(missing.map(({ slot }) => slot), ['wallet_address', 'chain_id'])
  done(name)
}
