import { type Address, type Hex, recoverTypedDataAddress } from 'viem'
import { z } from 'zod'
import { type Answer, type Call, startLoopback } from './loopback.ts'

/**
 * Rhinestone's orchestrator on loopback. Requests are held to its description: orchestrator/blanc.json of
 * rhinestonewtf/openapi, version 2026-04.blanc, with every field that it takes of a wallet's quote.
 */
const caip2 = z.string().regex(/^(eip155|solana|tron|hypercore):[-_a-zA-Z0-9]{1,32}$/)
const hex = z.string().regex(/^0x[a-fA-F0-9]*$/)
const uint256 = z.string().regex(/^\d+$/)
const execution = z.strictObject({ to: z.string(), value: uint256, data: hex })
const quoteRequest = z.strictObject({
  destinationChainId: caip2,
  tokenRequests: z.array(z.strictObject({ tokenAddress: z.string(), amount: uint256.optional() })),
  account: z.strictObject({
    address: z.string(),
    accountType: z.enum(['smartAccount', 'GENERIC', 'EOA', 'ERC7579']).optional(),
  }),
  destinationExecutions: z.array(execution).optional(),
  accountAccessList: z
    .strictObject({ chainTokenAmounts: z.record(caip2, z.record(z.string(), uint256)).optional() })
    .optional(),
  options: z
    .strictObject({
      settlementLayers: z
        .strictObject({
          include: z.array(z.enum(['ACROSS', 'ECO', 'RELAY', 'OFT', 'NEAR', 'RHINO', 'CCTP'])),
        })
        .optional(),
      selectionStrategy: z.enum(['cheapest', 'fastest', 'best']).optional(),
    })
    .optional(),
})
const submitRequest = z.strictObject({
  intentId: z.string().regex(/^\d+$/),
  signatures: z.strictObject({ origin: z.array(hex), destination: hex }),
})
export type QuoteRequest = z.output<typeof quoteRequest>

export const ACROSS = '0x28a4D41776968c1201A807ec51fFB405362B8882' as Address
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const ZERO = `0x${'00'.repeat(32)}` as Hex

const field = (text: string) => {
  const [type = '', name = ''] = text.split(' ')
  return { name, type }
}
const struct = (text: string) => text.split(',').map(field)
/** As the contracts have them. */
export const types = {
  PermitBatchWitnessTransferFrom: struct(
    'TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,Mandate mandate',
  ),
  TokenPermissions: struct('address token,uint256 amount'),
  Mandate: struct('Target target,uint128 minGas,Op originOps,Op destOps,bytes32 q'),
  Target: struct('address recipient,Token[] tokenOut,uint256 targetChain,uint256 fillExpiry'),
  Token: struct('address token,uint256 amount'),
  Op: struct('bytes32 vt,Ops[] ops'),
  Ops: struct('address to,uint256 value,bytes data'),
}

/** What of an amount arrives, after its costs, in thousandths; what tokens are worth is the test's to say. */
export interface Market {
  out(request: QuoteRequest, spent: bigint): bigint
  /** Unix seconds. */
  now(): number
}

export function routeOf(request: QuoteRequest, market: Market, intentId: string) {
  const [[chain, tokens] = ['', {}]] = Object.entries(request.accountAccessList?.chainTokenAmounts ?? {})
  const [[token, amount] = ['', '0']] = Object.entries(tokens)
  const tokenOut = request.tokenRequests[0]?.tokenAddress ?? ''
  const output = String(market.out(request, BigInt(amount)))
  const now = market.now()
  const typed = {
    domain: { name: 'Permit2', chainId: Number(chain.slice(7)), verifyingContract: PERMIT2 },
    types,
    primaryType: 'PermitBatchWitnessTransferFrom',
    message: {
      permitted: [{ token, amount }],
      spender: ACROSS,
      nonce: String(BigInt(intentId) * 1_000_003n),
      deadline: String(now + 600),
      mandate: {
        target: {
          recipient: request.account.address,
          tokenOut: [{ token: tokenOut, amount: output }],
          targetChain: request.destinationChainId.slice(7),
          fillExpiry: String(now + 120),
        },
        minGas: '100000',
        originOps: { vt: ZERO, ops: [] as { to: string; value: string; data: string }[] },
        destOps: { vt: ZERO, ops: request.destinationExecutions ?? [] },
        q: `0x${'9a'.repeat(32)}`,
      },
    },
  }
  const leg = (chainId: string, tokenAddress: string, of: string) => ({
    chainId,
    tokenAddress,
    symbol: null,
    decimals: null,
    price: null,
    amount: of,
  })
  const share = (usd: number) => ({ usd, sponsored: false })
  return {
    intentId,
    expiresAt: now + 60,
    estimatedFillTime: { seconds: 3 },
    settlementLayer: 'ACROSS',
    signData: { origin: [typed], destination: typed },
    cost: {
      input: [leg(chain, token, amount)],
      output: [leg(request.destinationChainId, tokenOut, output)],
      fees: {
        total: { usd: 0.03 },
        breakdown: {
          gas: share(0.02),
          bridge: share(0.01),
          swap: share(0),
          app: share(0),
          protocol: share(0),
          sponsorSurcharge: share(0),
        },
      },
    },
    tokenRequirements: { [chain]: { [token]: { type: 'approval', amount, spender: PERMIT2 } } },
  }
}
export type GivenRoute = ReturnType<typeof routeOf>

export async function startRhinestone(market: Market) {
  const quoted = new Map<string, GivenRoute>()
  const submitted = new Map<
    string,
    { signatures: z.output<typeof submitRequest>['signatures']; status: string }
  >()
  let bend: (route: GivenRoute) => unknown = route => route
  let ids = 0

  const respond = async ({ method, path, headers, body }: Call): Promise<Answer> => {
    if (headers['x-api-version'] !== '2026-04.blanc') throw new Error('no version')
    if (headers['x-api-key'] !== 'rhinestone-key')
      return { status: 401, body: { code: 'UNAUTHORIZED', message: '', traceId: '' } }
    if (method === 'POST' && path === '/quotes') {
      ids++
      const route = routeOf(quoteRequest.parse(body), market, String(7_000_000 + ids))
      const bent = bend(route) as GivenRoute
      quoted.set(route.intentId, bent)
      return { status: 200, body: { routes: [bent] } }
    }
    if (method === 'POST' && path === '/intents') {
      const { intentId, signatures } = submitRequest.parse(body)
      const route = quoted.get(intentId)
      if (!route || submitted.has(intentId) || route.expiresAt < market.now())
        return { status: 404, body: { code: 'NOT_FOUND', message: '', traceId: '' } }
      const signer = await recoverTypedDataAddress({
        ...route.signData.origin[0],
        signature: signatures.origin[0],
      } as never)
      if (signer.toLowerCase() !== route.signData.origin[0]?.message.mandate.target.recipient.toLowerCase())
        return { status: 422, body: { code: 'UNPROCESSABLE_CONTENT', message: '', traceId: '' } }
      submitted.set(intentId, { signatures, status: 'PENDING' })
      return { status: 201, body: { intentId } }
    }
    const id = /^\/intents\/(\d+)$/.exec(path)?.[1]
    const intent = id === undefined ? undefined : submitted.get(id)
    if (method !== 'GET' || !intent)
      return { status: 404, body: { code: 'NOT_FOUND', message: '', traceId: '' } }
    const item = (type: string, n: number) =>
      intent.status === 'COMPLETED'
        ? { type, status: 'COMPLETED', txHash: `0x${String(n).repeat(64)}`, timestamp: 1 }
        : { type, status: 'PENDING' }
    return {
      status: 200,
      body: {
        status: intent.status,
        accountAddress: '0x',
        operations: [
          { chain: 1, items: [item('CLAIM', 1)] },
          { chain: 8453, items: [item('FILL', 2)] },
        ],
      },
    }
  }

  const loopback = await startLoopback(respond)
  return {
    ...loopback,
    quoted,
    submitted,
    /** Calls that give it an intent. */
    executions: () =>
      loopback.calls.filter(({ method, path }) => method === 'POST' && path === '/intents').length,
    bend(how: (route: GivenRoute) => unknown) {
      bend = how
    },
    straighten() {
      bend = route => route
    },
  }
}
