import { SimpleMerkleTree } from '@openzeppelin/merkle-tree'
import fc from 'fast-check'
import { type Address, type Hex, keccak256, toHex } from 'viem'
import { entryPoint07Address, getUserOperationHash } from 'viem/account-abstraction'
import { describe, expect, it } from 'vitest'
import { readQuote, wordOf } from '../../../read-api/intents/biconomy/check.ts'
import { superTransactionHashOf, userOpHashOf } from '../../../read-api/intents/biconomy/supertransaction.ts'
import { quoteShape } from '../../../read-api/intents/biconomy/wire.ts'
import type { Journey } from '../../../read-api/intents/provider.ts'
import { bind, type GivenQuote, type Ground, type QuoteRequest, quoteOf } from './biconomy-double.ts'
import { mutationsOf } from './mutations.ts'

const NOW = 1_800_000_000
const USER = `0x${'a1'.repeat(20)}` as Address
const TOKEN = `0x${'01'.repeat(20)}` as Address
const OUT = `0x${'02'.repeat(20)}` as Address
const VAULT = `0x${'03'.repeat(20)}` as Address
const ACCOUNT = `0x${'ac'.repeat(20)}` as Address
const NONCE = 5n

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
const arrived = { type: 'runtimeErc20Balance', tokenAddress: OUT, constraints: { gte: '950000' } } as const
const request: QuoteRequest = {
  mode: 'eoa',
  ownerAddress: USER,
  fundingTokens: [{ tokenAddress: TOKEN, chainId: 1, amount: '1000000' }],
  feeToken: { address: TOKEN, chainId: 1 },
  cleanUps: [],
  composeFlows: [
    {
      type: '/instructions/intent-simple',
      data: {
        srcToken: TOKEN,
        dstToken: OUT,
        srcChainId: 1,
        dstChainId: 8453,
        amount: '1000000',
        slippage: 0.01,
      },
    },
    {
      type: '/instructions/build',
      data: {
        to: OUT,
        chainId: 8453,
        functionSignature: 'function approve(address spender, uint256 amount)',
        args: [VAULT, arrived],
      },
    },
    {
      type: '/instructions/build',
      data: {
        to: VAULT,
        chainId: 8453,
        functionSignature: 'function deposit(uint256 assets, address receiver)',
        args: [arrived, USER],
      },
    },
  ],
}
const ground = (version: '1.0' | '1.1'): Ground => ({
  account: () => ACCOUNT,
  permit: async () => domain,
  fee: 20_000n,
  version,
  now: () => NOW,
})
const domain = { name: 'A token', version: '1', nonce: NONCE }
const good = (version: '1.0' | '1.1' = '1.0') => quoteOf(request, ground(version), domain)
const separator = good().payloadToSign[0]?.metadata.domainSeparator ?? '0x'
const grounds = {
  separator,
  nonce: NONCE,
  accounts: { from: [ACCOUNT], to: [ACCOUNT] },
  now: NOW,
  lastCalls: (holder: Address) => [
    {
      to: OUT,
      selector: '0x095ea7b3' as Hex,
      args: [wordOf(VAULT), { token: OUT, holder, least: 950_000n }],
    },
    {
      to: VAULT,
      selector: '0x6e553f65' as Hex,
      args: [{ token: OUT, holder, least: 950_000n }, wordOf(USER)],
    },
  ],
}
const read = (quote: unknown) => readQuote(quoteShape.parse(quote), journey, grounds)
const isTaken = (quote: GivenQuote) => {
  try {
    return read(quote).spent > 0n
  } catch {
    return false
  }
}
const bent = (how: (quote: GivenQuote) => void, rebind = true, version: '1.0' | '1.1' = '1.0') => {
  const quote = structuredClone(good(version))
  how(quote)
  return () => read(rebind ? bind(quote) : quote)
}

/**
 * What may change without anything else being spent, run or delivered: what the service says of itself, of costs in USD and of gas that
 * is within the hashed user operations, and what it found out on the way.
 */
const FREE =
  /^(quote\.(node|commitment)|quote\.paymentInfo\.(initCode|nonce|shortEncoding|tokenValue|tokenWeiAmount)|quote\.userOps\.(\d+\.(maxGasLimit|maxFeePerGas)|[01]\.isCleanUpUserOp)|instructions|returnedData)\b/
/** Within what may be; keys that are not read. */
const HARMLESS = [/^fee\.amount (more)$/, /^(?!payloadToSign)\S*\.another added$/]

describe.each(['1.0', '1.1'] as const)('a quote of Biconomy, composed as of %s', version => {
  it('is taken as it is asked for', () => {
    const quote = good(version)
    const offer = read(quote)
    expect(offer).toMatchObject({
      reference: quote.quote.hash,
      spent: 1_020_000n,
      received: 950_000n,
      expiresAt: NOW + 30,
      fees: [{ type: 'gas', amount: 20_000n }],
    })
    expect(offer.payload.message).toMatchObject({
      value: '1020000',
      deadline: String(BigInt(quote.quote.hash)),
    })
  })

  const all = mutationsOf(good(version))
  const isFree = (where: string) => FREE.test(where) || HARMLESS.some(one => one.test(where))
  it('has its fields in the table', () => {
    expect(all.filter(({ where }) => !isFree(where)).length).toBeGreaterThan(150)
  })

  it('is refused with any one of them changed', () => {
    const taken = all.filter(({ where, changed }) => !isFree(where) && isTaken(changed))
    expect(taken.map(({ where }) => where)).toEqual([])
  })

  it('spends no more, and nothing else, with anything else changed', () => {
    const expected = read(good(version)).payload
    for (const { where, changed } of all.filter(one => isFree(one.where)))
      expect([where, read(changed).payload]).toEqual([where, expected])
  })
})

describe('a quote of Biconomy that is bound to its hash, and not what was asked for', () => {
  it.each<[string, string, (quote: GivenQuote) => void]>([
    ['an account of somebody else', 'account', quote => put(quote, 'sender', `0x${'66'.repeat(20)}`)],
    ['another chain', 'chain 10', quote => rehash(quote, 1, { chainId: 10 })],
    [
      'an operation that is good for longer than an hour',
      'hour',
      quote => rehash(quote, 1, { upper: NOW + 3_601 }),
    ],
    ['an operation that is over', 'hour', quote => rehash(quote, 1, { upper: NOW })],
    ['no deposit', 'end with', quote => endWith(quote, composed => composed.slice(0, -1))],
    ['a deposit for somebody else', 'end with', quote => replace(quote, USER, `0x${'66'.repeat(20)}`)],
    ['a deposit into another vault', 'end with', quote => replace(quote, VAULT, `0x${'66'.repeat(20)}`)],
    [
      'a smaller least amount',
      'end with',
      quote => replace(quote, toHex(950_000, { size: 32 }), toHex(949_999, { size: 32 })),
    ],
    [
      'a call after the deposit',
      'end with',
      quote => endWith(quote, composed => [...composed, ...composed.slice(-1)]),
    ],
    ['other data', 'another form', quote => rehash(quote, 2, { callData: '0x12345678' })],
  ])('is refused: %s', (_, words, how) => {
    expect(bent(how, true)).toThrow(words)
  })

  it('is refused with a hash that is signed and not of its operations', () => {
    const other = `0x${'77'.repeat(32)}` as const
    const bound = bent(quote => {
      quote.quote.hash = other
      const message = quote.payloadToSign[0]?.signablePayload.message
      if (message) message.deadline = String(BigInt(other))
    }, false)
    expect(bound).toThrow('not that of its user operations')
  })

  it('takes a tighter bound', () => {
    expect(
      bent(quote => replace(quote, toHex(950_000, { size: 32 }), toHex(960_000, { size: 32 }))),
    ).not.toThrow()
  })

  it('takes a permit of its own time within the hour, and no other', () => {
    const timed = (deadline: bigint) =>
      bent(quote => {
        const message = quote.payloadToSign[0]?.signablePayload.message
        if (message) message.deadline = String(deadline)
      }, false)
    expect(timed(BigInt(NOW + 3_600))).not.toThrow()
    expect(timed(BigInt(NOW + 3_601))).toThrow('longer than an hour')
    expect(timed(2n ** 256n - 1n)).toThrow('longer than an hour')
    expect(timed(BigInt(NOW))).toThrow('expired')
  })
})

type Ops = GivenQuote['quote']['userOps']
const LAST = 2

function rehash(
  quote: GivenQuote,
  n: number,
  { chainId, upper, callData }: { chainId?: number; upper?: number; callData?: Hex },
): void {
  const op = quote.quote.userOps[n] as Ops[number]
  if (chainId !== undefined) op.chainId = chainId
  if (upper !== undefined) op.upperBoundTimestamp = upper
  if (callData !== undefined) op.userOp.callData = callData
  const parsed = quoteShape.parse(quote).quote.userOps[n]
  if (!parsed) throw new Error('no such operation')
  op.userOpHash = viemHash(parsed)
  const bounds = [
    op.userOpHash,
    toHex(op.lowerBoundTimestamp, { size: 32 }),
    toHex(op.upperBoundTimestamp, { size: 32 }),
  ]
  op.meeUserOpHash = keccak256(keccak256(`0x${bounds.map(part => part.slice(2)).join('')}`))
}

function put(quote: GivenQuote, _: 'sender', account: Address): void {
  quote.quote.paymentInfo.sender = account
  const [payload] = quote.payloadToSign
  if (payload) payload.signablePayload.message.spender = payload.metadata.spender = account
}

/** In the data of the last operation on the destination. */
function replace(quote: GivenQuote, what: string, by: string): void {
  const { callData } = (quote.quote.userOps[LAST] as Ops[number]).userOp
  const changed = callData.replaceAll(what.slice(2).toLowerCase(), by.slice(2).toLowerCase()) as Hex
  expect(changed).not.toBe(callData)
  rehash(quote, LAST, { callData: changed })
}

function endWith(
  quote: GivenQuote,
  how: (flows: QuoteRequest['composeFlows']) => QuoteRequest['composeFlows'],
): void {
  const other = quoteOf({ ...request, composeFlows: how(request.composeFlows) }, ground('1.0'), domain)
  quote.quote.userOps[LAST] = other.quote.userOps[LAST] as Ops[number]
}

const viemHash = (op: Parameters<typeof userOpHashOf>[0]): Hex => {
  const { userOp, chainId } = op
  return getUserOperationHash({
    chainId,
    entryPointAddress: entryPoint07Address,
    entryPointVersion: '0.7',
    userOperation: { ...userOp, signature: '0x' } as never,
  })
}

describe('a supertransaction', () => {
  const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
  const bytes = fc.uint8Array({ maxLength: 70 }).map(value => toHex(value))
  const addr = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(value => toHex(value))

  it('hashes user operations as the entry point does', () => {
    fc.assert(
      fc.property(
        fc.record({
          sender: addr,
          nonce: uint(256),
          callData: bytes,
          callGasLimit: uint(128),
          verificationGasLimit: uint(128),
          preVerificationGas: uint(256),
          maxFeePerGas: uint(128),
          maxPriorityFeePerGas: uint(128),
        }),
        fc.integer({ min: 1, max: 2 ** 31 }),
        fc.option(fc.tuple(addr, bytes), { nil: undefined }),
        (userOp, chainId, factory) => {
          const expected = getUserOperationHash({
            chainId,
            entryPointAddress: entryPoint07Address,
            entryPointVersion: '0.7',
            userOperation: {
              ...userOp,
              ...(factory ? { factory: factory[0], factoryData: factory[1] } : {}),
              signature: '0x',
            },
          })
          const initCode: Hex | undefined = factory ? `${factory[0]}${factory[1].slice(2)}` : undefined
          expect(userOpHashOf({ userOp: { ...userOp, ...(initCode ? { initCode } : {}) }, chainId })).toBe(
            expected,
          )
        },
      ),
    )
  })

  it('has the root that the published tree has', () => {
    const leaf = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(value => toHex(value))
    fc.assert(
      fc.property(fc.array(leaf, { minLength: 1, maxLength: 40 }), leaves => {
        expect(superTransactionHashOf(leaves)).toBe(SimpleMerkleTree.of(leaves, { sortLeaves: true }).root)
      }),
    )
  })
})
