// A node before the chain that does not have `eth_simulateV1`.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const server = createServer(async (request, response) => {
  const { id, method, ...rest } = JSON.parse(await text(request))
  response.setHeader('content-type', 'application/json')
  if (method === 'eth_simulateV1') {
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }))
    return
  }
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ id, method, ...rest })
  const answer = await fetch(process.env.CHAIN_URL, { method: 'POST', headers, body })
  response.end(await answer.text())
})
server.listen(0, '127.0.0.1', () => console.log(`Listening on 127.0.0.1:${server.address().port}`))
