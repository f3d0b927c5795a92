import { type Address, encodeAbiParameters, encodeEventTopics, encodeFunctionResult, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { networkByName } from '../../db/networks.ts'
import table from '../../db/registry/contracts/ichi.json' with { type: 'json' }
import facts from '../../db/registry/facts/amm-factories.json' with { type: 'json' }
import { createDecoder } from '../../processors/handling/decode.ts'
import ichi from '../../processors/protocols/ichi/index.ts'
import { readDescription, readState } from '../../processors/protocols/ichi/state.ts'

const address = (digit: string) => `0x${digit.repeat(40)}` as Address
const [VAULT, POOL, TOKEN0, TOKEN1] = ['a', 'b', 'c', 'd'].map(address) as [
  Address,
  Address,
  Address,
  Address,
]

test('factories of which something is said are followed, and are of the network that says it', () => {
  const followed: Record<string, readonly string[]> = table.networks
  expect(facts.contracts).toHaveLength(7)
  for (const { network, address: factory, ammFactory } of facts.contracts) {
    networkByName(network)
    expect(followed[network], factory).toContain(factory.toLowerCase())
    expect(ammFactory.guard).not.toBe(factory)
  }
  // Legacy: nobody published a guard of them.
  expect(Object.values(followed).flat()).toHaveLength(10)
})

/** As the notes of the verified contracts have them; computed by others than the decoders. */
test('logs are known by the topics of the verified contracts', () => {
  const topics = ichi.sources.flatMap(({ decoders }) => decoders.map(({ topic0 }) => topic0))
  expect(topics).toEqual([
    '0xde147f43b6837f282eee187234c866cf001806167325f3ea883e36bed0c16a20',
    '0x4e2ca0515ed1aef1395f66b5303bb5d6f1bf9d61a353fa53f73f8ac9973fa9f6',
    '0xebff2602b3f468259e1e99f613fed6691f3a6526effe6ef3e768ba7ae7a36c4f',
    '0xbc4c20ad04f161d631d9ce94d27659391196415aa3c42f6a71c62e905ece782d',
    '0xec8208dd791fa8ffdc0d7427f3ba9c0ed06f1bce9a86254e6940c10cc1802fef',
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  ])
})

test('a factory of one network makes nothing on another', () => {
  const log = {
    address: table.networks.katana[0] ?? '',
    topics: encodeEventTopics({
      abi: parseAbi([
        'event ICHIVaultCreated(address indexed sender, address ichiVault, address tokenA, bool allowTokenA, address tokenB, bool allowTokenB, uint24 fee, uint256 count)',
      ]),
      args: { sender: POOL },
    }) as string[],
    data: encodeAbiParameters(
      ['address', 'address', 'bool', 'address', 'bool', 'uint24', 'uint256'].map(type => ({ type })),
      [VAULT, TOKEN1, true, TOKEN0, false, 3000, 7n],
    ),
    logIndex: 3,
    transactionHash: `0x${'1'.repeat(64)}`,
  }
  const on = (network: 'katana' | 'base') => {
    const decoder = createDecoder([ichi], network)
    return decoder.sources({}).some(({ contract }) => contract === log.address)
  }
  expect([on('katana'), on('base')]).toEqual([true, false])
  const events = ichi.sources[0]?.decoders[0]?.decode(log) as DomainEvent[]
  expect(events).toMatchObject([
    { type: 'AmmVaultCreated', protocol: 'ichi', data: { vault: VAULT, creator: POOL } },
  ])
})

const views = parseAbi([
  'function word() view returns (uint256)',
  'function text() view returns (string)',
  'function two() view returns (uint256, uint256)',
  'function tick() view returns (int24)',
  'function position() view returns (uint128, uint256, uint256)',
  'function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint8, bool)',
  'function observe() view returns (int56[], uint160[])',
])
const word = (value: bigint) => encodeFunctionResult({ abi: views, functionName: 'word', result: value })
const text = (value: string) => encodeFunctionResult({ abi: views, functionName: 'text', result: value })
const tick = (value: number) => encodeFunctionResult({ abi: views, functionName: 'tick', result: value })
const sums = (...of: bigint[]) =>
  encodeFunctionResult({ abi: views, functionName: 'observe', result: [of, of.map(() => 1n)] })
const slot0 = (price: bigint) =>
  encodeFunctionResult({ abi: views, functionName: 'slot0', result: [price, -5, 0, 1, 1, 0, true] })
const position = (liquidity: bigint) =>
  encodeFunctionResult({ abi: views, functionName: 'position', result: [liquidity, 1n, 2n] })

describe('what a vault says of itself', () => {
  const answers = [
    text('ICHI Vault Liquidity\u202e'),
    text('IV'),
    word(18n),
    ...[POOL, TOKEN0, TOKEN1].map(of => word(BigInt(of))),
    word(1n),
    word(0n),
  ]
  test('is kept, without characters that nobody sees', () => {
    expect(readDescription(VAULT).events(answers)).toMatchObject([
      { data: { name: 'ICHI Vault Liquidity', pool: POOL, takesToken0: true, takesToken1: false } },
    ])
  })
  test.each([2, 3, 4, 5, 6, 7])('says nothing where answer %i of it is missing', missing => {
    expect(readDescription(VAULT).events(answers.map((of, i) => (i === missing ? undefined : of)))).toEqual(
      [],
    )
  })
})

describe('the state of a vault', () => {
  const totals = encodeFunctionResult({ abi: views, functionName: 'two', result: [7n, 9n] })
  const told = [
    totals,
    word(1_000n),
    word(3_600n),
    slot0(2n ** 96n),
    undefined,
    position(5n),
    tick(-60),
    tick(60),
    position(6n),
    tick(60),
    tick(120),
  ]
  const read = readState(VAULT, POOL)
  const dataOf = (answers: (string | undefined)[]) => read.events(answers)[0]?.data
  const without = (n: number) => told.map((of, i) => (i === n ? undefined : of))

  test('has the mean of ticks rounded down, as the contracts round it', () => {
    expect(read.follow?.(told)).toHaveLength(1)
    expect(dataOf([...told, sums(-3_601n, 0n)])).toMatchObject({ meanTick: 1 })
    expect(dataOf([...told, sums(3_601n, 0n)])).toMatchObject({ meanTick: -2 })
    expect(dataOf([...told, sums(3_600n, 0n)])).toMatchObject({ meanTick: -1 })
  })
  test('has none where the oracle does not reach back, or says what is no tick', () => {
    for (const observed of [undefined, sums(0n), sums(0n, 3_600n * 900_000n), sums(0n, 0n, 0n)])
      expect(dataOf([...told, observed])).not.toHaveProperty('meanTick')
  })
  test("takes the price of a pool of Algebra's kind where the other is not answered", () => {
    const algebra = without(3).map((of, i) => (i === 4 ? slot0(5n) : of))
    expect(dataOf(algebra)).toMatchObject({ sqrtPriceX96: 5n })
  })
  test.each([0, 1, 3])('is not known where answer %i of it is missing', missing => {
    expect(read.events(without(missing))).toEqual([])
  })
  test('is not known while the pool has no price', () => {
    expect(read.events(told.map((of, i) => (i === 3 ? slot0(0n) : of)))).toEqual([])
  })
  test('has all of the positions or nothing of them', () => {
    expect(dataOf(told)).toMatchObject({ baseLiquidity: 5n, baseLower: -60, limitUpper: 120 })
    for (const missing of [5, 6, 7, 8, 9, 10]) {
      const data = dataOf(without(missing))
      expect(data).toMatchObject({ total0: 7n, supply: 1_000n })
      expect(Object.keys(data ?? {}).filter(key => /base|limit/.test(key))).toEqual([])
    }
  })
})
