import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a facilitator does with a settlement. */
export type Manner = 'settles' | 'fails' | 'hangs' | 'waits'

/**
 * Stands before a facilitator and forgets which payments it has settled: whatever is verified can be settled any number
 * of times. It can also fail, never answer, or wait until it is let go on.
 */
export async function startCareless(behind: string) {
  const state = {
    url: '',
    settle: 'settles' as Manner,
    verifies: true,
    seen: { verified: 0, settled: 0 },
    goOn: () => {},
    stop: async () => {},
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const answer = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    if (request.url !== '/settle') {
      if (request.url === '/verify') state.seen.verified++
      if (request.url === '/verify' && !state.verifies) return answer(500, '{}')
      const passed = await fetch(`${behind}${request.url}`, {
        method: request.method,
        headers: { 'content-type': 'application/json' },
        ...(request.method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
      })
      return answer(passed.status, await passed.text())
    }
    state.seen.settled++
    if (state.settle === 'hangs') return
    if (state.settle === 'fails') return answer(500, '{}')
    if (state.settle === 'waits') await new Promise<void>(resolve => (state.goOn = resolve))
    const { paymentRequirements, paymentPayload } = JSON.parse(Buffer.concat(chunks).toString())
    return answer(
      200,
      JSON.stringify({
        success: true,
        transaction: `0x${'ab'.repeat(32)}`,
        network: paymentRequirements.network,
        payer: paymentPayload.payload.authorization.from,
      }),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  state.stop = () =>
    new Promise(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return state
}
