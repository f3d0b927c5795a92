import type { Address } from 'viem'
import type { z } from 'zod'
import { log } from '../../../db/process/log.ts'
import { RefusedError } from '../../http/errors.ts'
import { hold, Mismatch, ProviderFault, UntrustedQuoteError } from '../errors.ts'
import { createOutside, type OutsideOptions } from '../outside.ts'
import { PERMIT2, readMandate } from '../permit2.ts'
import type { Call, Fee, IntentProvider, IntentStatus, Journey, Kept, Offer } from '../provider.ts'
import { API_VERSION, quotesShape, type Route, statusShape, submittedShape } from './wire.ts'

const NAME = 'rhinestone'

/**
 * The settlement layers that a quote may use, and the contracts of each that take what is permitted.
 * @see arbiters.ts of rhinestonewtf/sdk, production; those of the other layers are not published
 */
export const SPENDERS: Readonly<Record<string, readonly Address[]>> = {
  ACROSS: ['0x28a4d41776968c1201a807ec51ffb405362b8882', '0xa162fabb9a0eef2736485a587aaab3d015e14224'],
  ECO: ['0x2e7627ccfae4edb336eeb5a70f08415b0f1a2b8c', '0xa212a6accc8db0e4cdf4394d0a851c70fc27a8f0'],
}

/** Of what a first quote delivers, in thousandths: the second has a deposit to pay for besides. */
const DEPOSITED = 995n

/** Rhinestone's orchestrator: a wallet permits through Permit2, and is delivered to on the destination. */
export function rhinestone(options: {
  baseUrl: string
  key: string
  timeoutMs?: number | undefined
  now?: () => number
}): IntentProvider {
  const { baseUrl, key, timeoutMs, now = Date.now } = options
  const outside: OutsideOptions = {
    name: NAME,
    baseUrl,
    headers: { 'x-api-key': key, 'x-api-version': API_VERSION },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
  const { ask, find: lookUp } = createOutside(outside)

  const routesOf = async (journey: Journey, calls: readonly Call[], signal: AbortSignal) => {
    const { value, raw } = await ask({
      path: '/quotes',
      body: requestOf(journey, calls),
      answer: quotesShape,
      signal,
    })
    const { routes } = value
    if (routes.length === 0) throw new RefusedError(`${NAME} has no route for this.`)
    const given = (raw as { routes: unknown[] }).routes
    return routes.map((route, n) => ({ route, raw: given[n] }))
  }

  const find = async ({ reference }: Kept) => {
    const known = await lookUp({ path: `/intents/${reference}`, answer: statusShape })
    return known && reference
  }

  return {
    name: NAME,
    ids: /^\d{1,78}$/,
    find,

    async quote(journey, signal) {
      if (journey.from.exit) {
        throw new RefusedError(
          `${NAME} takes no vault's shares from a wallet, which it could not redeem: provider biconomy does.`,
        )
      }
      const { entry } = journey.to
      const at = () => Math.floor(now() / 1000)
      if (!entry) return firstThatFits(await routesOf(journey, [], signal), journey, [], at())
      // How much is deposited stands in what is signed, and how much arrives is known from a quote alone.
      const [first] = await routesOf(journey, [], signal)
      const arriving = first?.route.cost.output.reduce((sum, { amount }) => sum + amount, 0n) ?? 0n
      const deposited = (arriving * DEPOSITED) / 1_000n
      if (deposited < (journey.least * DEPOSITED) / 1_000n)
        throw untrusted(`it delivers ${arriving} of ${journey.to.token.symbol}, less than ${journey.least}`)
      const calls = await entry.calls(deposited)
      const routes = await routesOf(journey, calls, signal)
      const terms = { ...journey, least: deposited }
      return { ...firstThatFits(routes, terms, calls, at()), received: deposited }
    },

    async execute(kept, signature) {
      try {
        const { value } = await ask({
          path: '/intents',
          // The wallet is the recipient: its one signature is good for both ends.
          body: {
            intentId: kept.reference,
            signatures: { origin: [signature], destination: signature },
          },
          answer: submittedShape,
        })
        return value.intentId
      } catch (error) {
        // 404 and 409: the quote has expired, or the service has been given it already.
        const isOver = error instanceof ProviderFault && (error.status === 404 || error.status === 409)
        const known = isOver ? await find(kept) : undefined
        if (known) return known
        throw error
      }
    },

    async status(id, signal) {
      const known = await lookUp({ path: `/intents/${id}`, answer: statusShape, signal })
      return known && statusOf(known.value)
    },
  }
}

function requestOf({ user, from, to }: Journey, calls: readonly Call[]) {
  const source = `eip155:${from.chainId}`
  return {
    destinationChainId: `eip155:${to.chainId}`,
    // Without an amount all that the input buys is delivered.
    tokenRequests: [{ tokenAddress: to.token.address }],
    account: { address: user, accountType: 'EOA' },
    ...(calls.length > 0
      ? { destinationExecutions: calls.map(({ to: target, data }) => ({ to: target, value: '0', data })) }
      : {}),
    // What the wallet holds elsewhere is neither spent nor counted as delivered.
    accountAccessList: { chainTokenAmounts: { [source]: { [from.token.address]: String(from.amount) } } },
    options: {
      settlementLayers: { include: Object.keys(SPENDERS) },
      selectionStrategy: 'cheapest',
    },
  }
}

const untrusted = (what: string) => new UntrustedQuoteError(NAME, what)

/** They come ranked. */
function firstThatFits(
  routes: readonly { route: Route; raw: unknown }[],
  journey: Journey,
  calls: readonly Call[],
  now: number,
): Offer {
  let complaint: Mismatch | undefined
  for (const { route, raw } of routes) {
    try {
      return { ...readRoute(route, journey, calls, now), answer: raw }
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      complaint ??= error
      log.warn({ provider: NAME, why: error.message }, 'a quote was refused')
    }
  }
  throw untrusted(complaint?.message ?? 'it has no route')
}

/** @throws Mismatch */
export function readRoute(
  route: Route,
  journey: Journey,
  calls: readonly Call[],
  now: number,
): Omit<Offer, 'answer'> {
  const { from, to } = journey
  const spenders = SPENDERS[route.settlementLayer]
  hold(spenders !== undefined, 'its settlement layer is none of those asked for')
  hold(route.expiresAt > now, 'it has expired')
  const [origin, ...more] = route.signData.origin
  hold(origin !== undefined && more.length === 0, 'it wants several signatures, or none')
  const { spent, received, deadline, payload } = readMandate(origin, { ...journey, spenders, calls, now })
  hold(amountOf(route.cost.input, from) === spent, 'what it says that it costs is not what it wants signed')
  // It may expect more to arrive than it binds itself to.
  hold(
    (amountOf(route.cost.output, to) ?? -1n) >= received,
    'what it says that it delivers is not what it wants signed',
  )
  holdRequirements(route, journey)
  return {
    payload,
    reference: route.intentId,
    expiresAt: Math.min(route.expiresAt, deadline),
    fees: feesOf(route, journey),
    spent,
    received,
    spender: PERMIT2,
  }
}

/** Of the one token; undefined where there are others. */
function amountOf(
  legs: Route['cost']['input'],
  { chainId, token }: Journey['from'] | Journey['to'],
): bigint | undefined {
  const [only, ...more] = legs
  const isIt =
    more.length === 0 &&
    only?.chainId === `eip155:${chainId}` &&
    only.tokenAddress.toLowerCase() === token.address
  return isIt ? only.amount : undefined
}

/** Nothing is approved on its word; but what it wants approved tells what it means to do. */
function holdRequirements({ tokenRequirements = {} }: Route, { from }: Journey): void {
  for (const [chain, tokens] of Object.entries(tokenRequirements)) {
    hold(
      chain === `eip155:${from.chainId}` || chain === String(from.chainId),
      'it wants something approved on another chain',
    )
    for (const [token, wanted] of Object.entries(tokens)) {
      hold(token.toLowerCase() === from.token.address, 'it wants another token approved')
      hold(wanted.type === 'approval', 'it wants coins wrapped')
      hold(wanted.spender === PERMIT2, 'it wants somebody else approved than Permit2')
      hold(wanted.amount <= from.amount, 'it wants more approved than the amount')
    }
  }
}

/** In USD on their side; what others pay for is left out. */
function feesOf({ cost }: Route, { from, price }: Journey): Fee[] {
  const { gas, bridge, swap, app, protocol, sponsorSurcharge } = cost.fees.breakdown
  const types: [Fee['type'], Route['cost']['fees']['breakdown']['gas'][]][] = [
    ['gas', [gas]],
    ['bridge', [bridge]],
    ['swap', [swap]],
    ['protocol', [app, protocol, sponsorSurcharge]],
  ]
  return types.flatMap(([type, parts]) => {
    const usd = parts.reduce((sum, part) => sum + (part.sponsored ? 0 : part.usd), 0)
    const amount = BigInt(Math.ceil((usd / price) * 10 ** from.token.decimals))
    return amount > 0n ? [{ type, amount }] : []
  })
}

function statusOf({ status, operations }: z.output<typeof statusShape>): IntentStatus {
  const hashOf = (types: readonly string[]) =>
    operations
      .flatMap(({ items }) => items)
      .find(({ type, txHash }) => types.includes(type) && txHash !== undefined)?.txHash
  const source = hashOf(['CLAIM'])
  const destination = hashOf(['FILL']) ?? hashOf(['BRIDGE_FILL'])
  return {
    status:
      status === 'COMPLETED' ? 'success' : status === 'FAILED' || status === 'EXPIRED' ? 'failed' : 'pending',
    ...(source === undefined ? {} : { sourceTransactionHash: source }),
    ...(destination === undefined ? {} : { destinationTransactionHash: destination }),
  }
}
