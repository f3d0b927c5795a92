import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from 'viem'
import { encodeMessage, parseMessage } from '../../../abi/cctp-v2/message.ts'
import { attest, messagesOf, nonceOf } from '../../chain/cctp.ts'
import type { Node } from '../../chain/node.ts'

/** What is made of a burn's message: absent, the service has not seen its transaction. */
export interface Said {
  status: 'pending_confirmations' | 'complete'
  fee?: bigint
  expiration?: bigint
  /** What it was attested at; as it was asked for unless given. */
  finality?: number
  delayReason?: string
  forwardState?: string
  cctpVersion?: number | string
  /** Another message in its place. */
  instead?: Hex
}

export type Fault = '429' | '500' | 'slow' | 'malformed' | 'not json' | 'huge' | 'redirect'

/**
 * Circle's service on loopback, by its published description: it reads a burn's message from the node of the source, fills in
 * nonce, finality, fee and expiration, and has it attested.
 */
export interface LoopbackIris {
  url: string
  /** What it says of burns, by transaction. */
  said: Map<Hex, Said>
  /** Paths that it was asked, with their method. */
  asked: string[]
  fault: Fault | undefined
  fees: { fast?: number | string; standard?: number | string; forward?: number | string }
  stop(): Promise<void>
}

/** @param options what it says of burns that nobody said anything of */
export async function startIris(
  nodes: Record<number, Node>,
  { unsaid }: { unsaid?: Said } = {},
): Promise<LoopbackIris> {
  const iris: LoopbackIris = {
    url: '',
    said: new Map(),
    asked: [],
    fault: undefined,
    fees: { fast: 1.3, standard: 0, forward: '200000' },
    stop: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }

  async function messages(domain: number, transaction: Hex): Promise<object | undefined> {
    const said = iris.said.get(transaction) ?? unsaid
    const node = nodes[domain]
    if (!said || !node) return undefined
    const emitted = await messagesOf(node, transaction)
    return {
      messages: await Promise.all(
        emitted.map(async ({ logIndex, message }) => {
          const eventNonce = nonceOf(domain, transaction, logIndex)
          const common = { eventNonce, cctpVersion: said.cctpVersion ?? 2, decodedMessage: null }
          const { delayReason, forwardState } = said
          const more = { ...(delayReason ? { delayReason } : {}), ...(forwardState ? { forwardState } : {}) }
          const parsed = parseMessage(message)
          if (!parsed || said.status !== 'complete')
            return { ...common, ...more, message: null, attestation: 'PENDING', status: said.status }
          const whole =
            said.instead ??
            encodeMessage({
              ...parsed,
              nonce: eventNonce,
              finalityThresholdExecuted: said.finality ?? parsed.minFinalityThreshold,
              body: {
                ...parsed.body,
                feeExecuted: said.fee ?? 0n,
                expirationBlock: said.expiration ?? 0n,
              },
            })
          return { ...common, ...more, message: whole, attestation: await attest(whole), status: 'complete' }
        }),
      ),
    }
  }

  async function answer(method: string, url: URL): Promise<object | undefined> {
    const [, fees] = /^\/v2\/burn\/USDC\/fees\/(\d+\/\d+)$/.exec(url.pathname) ?? []
    if (fees) {
      const { fast, standard, forward } = iris.fees
      const forwardFee =
        url.searchParams.get('forward') === 'true' && forward !== undefined
          ? { forwardFee: { low: forward, med: forward, high: forward } }
          : {}
      return [
        ...(fast === undefined ? [] : [{ finalityThreshold: 1000, minimumFee: fast, ...forwardFee }]),
        ...(standard === undefined ? [] : [{ finalityThreshold: 2000, minimumFee: standard, ...forwardFee }]),
      ]
    }
    const [, domain] = /^\/v2\/messages\/(\d+)$/.exec(url.pathname) ?? []
    if (domain) return messages(Number(domain), url.searchParams.get('transactionHash') as Hex)
    const [, nonce] = /^\/v2\/reattest\/(0x[0-9a-f]{64})$/.exec(url.pathname) ?? []
    if (nonce && method === 'POST') {
      for (const [transaction, said] of iris.said)
        if (said.expiration) iris.said.set(transaction, { ...said, expiration: said.expiration + 1_000_000n })
      return { message: 'Re-attestation requested', nonce }
    }
    return undefined
  }

  const server = createServer((request, response) => {
    const { method = 'GET' } = request
    const url = new URL(request.url ?? '/', 'http://localhost')
    iris.asked.push(`${method} ${url.pathname}${url.search}`)
    if (iris.fault) return misbehave(iris.fault, response)
    answer(method, url)
      .then(body => {
        response.statusCode = body ? 200 : 404
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(body ?? { code: 404, error: 'Message hash not found' }))
      })
      .catch((error: Error) => {
        response.statusCode = 500
        response.end(error.message)
      })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  iris.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return iris
}

function misbehave(fault: Fault, response: ServerResponse): void {
  // Never answers: whoever asks has to give up.
  if (fault === 'slow') return
  const bodies: Record<Exclude<Fault, 'slow'>, [number, string]> = {
    '429': [429, '{}'],
    '500': [500, 'oops'],
    malformed: [200, '{"messages":[{"message":7}]}'],
    'not json': [200, '<html>'],
    huge: [200, `{"messages":[],"more":"${'x'.repeat(3 * 1024 * 1024)}"}`],
    redirect: [302, ''],
  }
  const [status, body] = bodies[fault]
  response.statusCode = status
  if (fault === 'redirect') response.setHeader('location', 'http://127.0.0.1:1/')
  response.end(body)
}
