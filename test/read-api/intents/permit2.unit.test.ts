import { type Address, concatHex, type Hex, hashStruct, hashTypedData, keccak256, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Call, Journey } from '../../../read-api/intents/provider.ts'
import { readRoute } from '../../../read-api/intents/rhinestone/provider.ts'
import { routeShape } from '../../../read-api/intents/rhinestone/wire.ts'
import { digestOf } from '../../../read-api/intents/typed-data.ts'
import { mutationsOf } from './mutations.ts'
import { type GivenRoute, type QuoteRequest, routeOf, types } from './rhinestone-double.ts'

const NOW = 1_800_000_000
const USER = `0x${'a1'.repeat(20)}` as Address
const TOKEN = `0x${'01'.repeat(20)}` as Address
const OUT = `0x${'02'.repeat(20)}` as Address
const VAULT = `0x${'03'.repeat(20)}` as Address

const journey: Journey = {
  user: USER,
  from: {
    network: 'mainnet',
    chainId: 1,
    token: { address: TOKEN, symbol: 'A', decimals: 6 },
    amount: 1_000_000n,
  },
  to: { network: 'base', chainId: 8453, token: { address: OUT, symbol: 'B', decimals: 6 } },
  price: 1,
  least: 950_000n,
}
const calls: Call[] = [
  { to: OUT, data: `0x095ea7b3${'00'.repeat(64)}` },
  { to: VAULT, data: `0x6e553f65${'11'.repeat(64)}` },
]
const request: QuoteRequest = {
  destinationChainId: 'eip155:8453',
  tokenRequests: [{ tokenAddress: OUT }],
  account: { address: USER, accountType: 'EOA' },
  destinationExecutions: calls.map(({ to, data }) => ({ to, value: '0', data })),
  accountAccessList: { chainTokenAmounts: { 'eip155:1': { [TOKEN]: '1000000' } } },
}
const good = (): GivenRoute =>
  routeOf(request, { out: (_, spent) => (spent * 97n) / 100n, now: () => NOW }, '7000001')
const read = (route: GivenRoute) => readRoute(routeShape.parse(route), journey, calls, NOW)

const offerOf = (route: GivenRoute) => {
  try {
    return read(route)
  } catch {
    return undefined
  }
}

/**
 * What may change without anything else being spent, run or delivered: what it names itself by, what it says of speed, prices and who
 * gets which fee, which signature of Permit2's it is, and what its contracts read the same operations with.
 */
const FREE =
  /^(intentId|estimatedFillTime|cost\.fees|cost\.(input|output)\.0\.(symbol|decimals|price)|signData\.destination|signData\.origin\.0\.message\.(nonce|mandate\.(minGas|q|(originOps|destOps)\.vt)))\b/
/** Less is spent, or a word longer or shorter within what may be. */
const HARMLESS = [
  'cost.output.0.amount more',
  'cost.output.0.amount endless',
  'expiresAt more',
  'expiresAt far more',
  'signData.origin.0.message.deadline more',
  'signData.origin.0.message.mandate.target.fillExpiry more',
  'tokenRequirements.eip155:1.0x0101010101010101010101010101010101010101.amount none',
]
/** Keys that are not read; what is signed is made anew without them. */
const UNREAD = /^(?!signData\.origin\.0)\S*\.another added$/

describe('a route of Rhinestone', () => {
  it('is taken as it is asked for, and what is signed is what it says', () => {
    const route = good()
    expect(read(route)).toMatchObject({
      reference: '7000001',
      spent: 1_000_000n,
      received: 970_000n,
      expiresAt: NOW + 60,
      fees: [
        { type: 'gas', amount: 20_000n },
        { type: 'bridge', amount: 10_000n },
      ],
    })
    expect(digestOf(read(route).payload)).toBe(hashTypedData(route.signData.origin[0] as never))
  })

  const all = mutationsOf(good())
  const covered = all.filter(
    ({ where }) => !FREE.test(where) && !HARMLESS.includes(where) && !UNREAD.test(where),
  )
  it('has its signed fields all in the table', () => {
    const signed = covered.filter(({ where }) => where.startsWith('signData.origin.0.')).length
    expect([covered.length, signed]).toMatchInlineSnapshot(`
      [
        155,
        135,
      ]
    `)
  })

  it('is refused with any one of them changed', () => {
    const taken = covered.filter(({ changed }) => offerOf(changed) !== undefined).map(({ where }) => where)
    expect(taken).toEqual([])
  })

  it('spends no more, from nobody else and for nobody else, with anything else changed', () => {
    const signed = (payload: unknown) => {
      const { message } = payload as GivenRoute['signData']['origin'][number]
      const { target, originOps, destOps } = message.mandate
      return [
        message.permitted,
        message.spender,
        target.recipient,
        target.tokenOut,
        originOps.ops,
        destOps.ops,
      ]
    }
    const expected = signed(read(good()).payload)
    for (const { changed, where } of all.filter(one => !covered.includes(one))) {
      const offer = offerOf(changed)
      if (offer) expect([where, offer.spent, signed(offer.payload)]).toEqual([where, 1_000_000n, expected])
    }
  })

  it('is refused for what lasts too long, is over, or falls short', () => {
    const bent = (bend: (route: GivenRoute) => void) => {
      const route = structuredClone(good())
      bend(route)
      return () => read(route)
    }
    const message = (route: GivenRoute) =>
      route.signData.origin[0]?.message as never as Record<string, string>
    expect(bent(route => (message(route)['deadline'] = String(NOW + 3_600)))).not.toThrow()
    expect(bent(route => (message(route)['deadline'] = String(NOW + 3_601)))).toThrow('longer than an hour')
    expect(bent(route => (message(route)['deadline'] = String(NOW)))).toThrow('expired')
    expect(bent(route => (route.expiresAt = NOW))).toThrow('expired')
    expect(bent(route => (route.settlementLayer = 'RELAY'))).toThrow('settlement layer')
    // A contract of another layer than the one named.
    expect(bent(route => (route.settlementLayer = 'ECO'))).toThrow('spender')
    // More than was asked for, and everything that it says agrees.
    const more = {
      ...request,
      accountAccessList: { chainTokenAmounts: { 'eip155:1': { [TOKEN]: '1000001' } } },
    }
    const dear = routeOf(more, { out: () => 970_000n, now: () => NOW }, '1')
    expect(() => read({ ...dear, tokenRequirements: {} as never })).toThrow('more than the amount')
    const short = routeOf(request, { out: () => 949_999n, now: () => NOW }, '1')
    expect(() => read(short)).toThrow('less than 950000')
  })
})

describe('the types that are signed', () => {
  /** @see the type hashes in permit2.test.ts of rhinestonewtf/sdk */
  it.each([
    ['TokenPermissions', '0x618358ac3db8dc274f0cd8829da7e234bd48cd73c4a740aede1adec9846d06a1'],
    ['Token', '0x55550a068ac7a6c7ce02eac46ebe7c7b964dd10d7800455df1c5bc5a6685a42c'],
    ['Target', '0xf72802bb5695954ab337feb3d113d61f4206cfaef3987552df2b2b47477db74b'],
    ['Ops', '0x09b0a32e9842b65559835c235891737e06927d59e48a6f0e0512e136a513a9e4'],
    ['Op', '0xdbc520cb50a8aaf3fa06ea43dc3d59d248e52ae638476e3268a1e6e36bffe196'],
    ['Mandate', '0xc988b4da10503879cf4b893fed09620229f5ade301ef5e4af6124b22823627dc'],
  ])('%s has the published hash', (primaryType, hash) => {
    const { payload } = read(good())
    const encoded = encodeType(primaryType, payload.types)
    expect(keccak256(toHex(encoded))).toBe(hash)
    expect(payload.types).toEqual(types)
  })

  it('hashes a mandate of numbers in text as one of numbers', () => {
    const { message } = read(good()).payload
    const { mandate } = message as { mandate: Record<string, unknown> }
    const exact = { ...mandate, minGas: 100_000n }
    const hash = (data: unknown): Hex => hashStruct({ data: data as never, primaryType: 'Mandate', types })
    expect(hash(mandate)).toBe(hash(exact))
    expect(concatHex([hash(exact)])).toHaveLength(66)
  })
})

/** EIP-712: the type, and those it refers to by their names. */
function encodeType(primary: string, all: Record<string, { name: string; type: string }[]>): string {
  const seen = new Set<string>()
  const visit = (name: string) => {
    if (seen.has(name) || !all[name]) return
    seen.add(name)
    for (const { type } of all[name]) visit(type.replace('[]', ''))
  }
  visit(primary)
  return [primary, ...[...seen].filter(name => name !== primary).sort()]
    .map(name => `${name}(${(all[name] ?? []).map(({ name: of, type }) => `${type} ${of}`).join(',')})`)
    .join('')
}
