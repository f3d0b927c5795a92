import { type AbiEvent, encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { type ContractView, createDecoder } from '../../processors/handling/decode.ts'
import { eventOf } from '../../processors/handling/decoder.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { defineProtocol, type LogDecoder, type RawLog } from '../../processors/protocol.ts'

const protocols = await loadProtocols()
const address = (c: string) => `0x${c.repeat(40)}` as const
const [VAULT, OTHER, ALICE, ZERO] = [address('e'), address('d'), address('a'), address('0')]
const AAVE_POOL = '0x87870bca3f3fd6335c3f4ce8392d69350b4fa4e2'
const abi = parseAbi([
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event NewVault(address indexed vault_address, address indexed asset)',
  'event Withdraw(address indexed reserve, address indexed user, address indexed to, uint256 amount)',
  'event Mint(address indexed caller, address indexed onBehalfOf, uint256 value, uint256 balanceIncrease, uint256 index)',
  'event ReserveInitialized(address indexed asset, address indexed aToken, address stableDebtToken, address variableDebtToken, address interestRateStrategyAddress)',
])

let nextIndex = 0
function logOf(
  contract: string,
  eventName: string,
  values: unknown[],
  of: readonly AbiEvent[] = abi,
): RawLog {
  const event = of.find(e => e.name === eventName)
  if (!event) throw new Error(eventName)
  const split = (indexed: boolean) =>
    event.inputs.flatMap((p, i) =>
      ('indexed' in p && p.indexed === true) === indexed ? [[p, values[i]] as const] : [],
    )
  const plain = split(false)
  return {
    address: contract,
    topics: encodeEventTopics({ abi: [event], args: split(true).map(([, v]) => v) as never }) as string[],
    data: encodeAbiParameters(
      plain.map(([p]) => p),
      plain.map(([, v]) => v) as never,
    ),
    logIndex: nextIndex++,
    transactionHash: `0x${'1'.repeat(64)}`,
  }
}
const watching = (watched: Record<string, string[]>, inspected: string[] = []): ContractView => ({
  isWatched: (kind, contract) => watched[kind]?.includes(contract) ?? false,
  isInspected: contract => inspected.includes(contract),
})
const decoder = createDecoder(protocols, 'mainnet')

describe('a vault seen for the first time', () => {
  const mint = logOf(VAULT, 'Transfer', [ZERO, ALICE, 5n])
  const deposit = logOf(VAULT, 'Deposit', [ALICE, ALICE, 10n, 5n])
  const unrelated = logOf(OTHER, 'Transfer', [ZERO, ALICE, 5n])

  test('is a candidate, and its mint before the Deposit is read', () => {
    const { events, candidates, rejected } = decoder.decodeBlock([mint, deposit, unrelated], watching({}))
    expect(events.map(e => [e.type, e.contract, e.logIndex])).toEqual([
      ['ShareTransferred', VAULT, mint.logIndex],
      ['Deposited', VAULT, deposit.logIndex],
    ])
    expect(events[1]?.data).toMatchObject({ ledger: 'transfer' })
    expect(candidates).toEqual([
      { contract: VAULT, protocol: 'erc-4626', hint: expect.objectContaining({ type: 'Deposited' }) },
    ])
    expect(rejected).toEqual([])
  })

  test('gives the same events once it is known, and is no candidate any more', () => {
    const first = decoder.decodeBlock([mint, deposit], watching({})).events
    const known = decoder.decodeBlock([mint, deposit], watching({ 'erc-4626-vault': [VAULT] }, [VAULT]))
    expect(known.events).toEqual(first)
    expect(known.candidates).toEqual([])
  })

  test('is left alone for ever once it was found to be none', () => {
    expect(decoder.decodeBlock([mint, deposit], watching({}, [VAULT]))).toEqual({
      events: [],
      rejected: [],
      strangers: 0,
      candidates: [],
    })
  })
})

describe('contracts that a log of the same block brings', () => {
  test("a factory's vault: its logs before and after, and the factory as the hint", () => {
    const FACTORY = address('9')
    const before = logOf(VAULT, 'Transfer', [ZERO, ALICE, 1n])
    const created = logOf(FACTORY, 'NewVault', [VAULT, OTHER])
    const deposit = logOf(VAULT, 'Deposit', [ALICE, ALICE, 10n, 5n])
    const { events, candidates } = decoder.decodeBlock(
      [before, created, deposit],
      watching({ 'yearn-v3-factory': [FACTORY] }),
    )
    expect(events.map(e => e.type)).toEqual(['ShareTransferred', 'VaultCreated', 'Deposited'])
    expect(candidates).toEqual([
      { contract: VAULT, protocol: 'erc-4626', hint: expect.objectContaining({ type: 'VaultCreated' }) },
    ])
  })

  test("the tokens of a reserve that Aave's configurator lists", () => {
    const CONFIGURATOR = address('8')
    const [aToken, debt] = [address('5'), address('6')]
    const listed = logOf(CONFIGURATOR, 'ReserveInitialized', [OTHER, aToken, ZERO, debt, ZERO])
    const supplied = logOf(aToken, 'Mint', [ALICE, ALICE, 5n, 0n, 10n ** 27n])
    const borrowed = logOf(debt, 'Mint', [ALICE, ALICE, 5n, 0n, 10n ** 27n])
    const { events } = decoder.decodeBlock(
      [listed, supplied, borrowed],
      watching({ 'aave-v3-configurator': [CONFIGURATOR] }),
    )
    expect(events.map(e => [e.type, 'side' in e.data ? e.data.side : undefined])).toEqual([
      ['ReserveListed', undefined],
      ['ScaledMinted', 'supply'],
      ['ScaledMinted', 'variableDebt'],
    ])
  })
})

// Interest of 25 has accrued, 10 are withdrawn: the balance grows by 15, so the aToken mints.
test('Aave: a withdrawal below its accrued interest comes with a Mint, not a Burn', () => {
  const aToken = address('5')
  const withdraw = logOf(AAVE_POOL, 'Withdraw', [OTHER, ALICE, ALICE, 10n])
  const mint = logOf(aToken, 'Mint', [ALICE, ALICE, 15n, 25n, 10n ** 27n])
  const view = watching({ 'aave-v3-pool': [AAVE_POOL], 'aave-v3-atoken': [aToken] })
  const { events } = decoder.decodeBlock([mint, withdraw], view)
  expect(events.map(e => e.type)).toEqual(['ScaledMinted', 'Withdrawn'])
  expect(events[0]?.data).toMatchObject({ side: 'supply', value: 15n, balanceIncrease: 25n })
  expect(events[1]?.data).toMatchObject({ onBehalf: ALICE, assets: 10n })
})

describe('what cannot be read', () => {
  const good = logOf(VAULT, 'Transfer', [ZERO, ALICE, 5n])
  const dirty: RawLog = {
    ...good,
    logIndex: 900,
    topics: [good.topics[0] ?? '', `0x${'f'.repeat(64)}`, good.topics[2] ?? ''],
  }
  const short: RawLog = { ...good, logIndex: 901, data: '0x' }

  test('on a contract of ours is rejected with its reason, and costs no other log', () => {
    const view = watching({ 'erc-4626-vault': [VAULT] }, [VAULT])
    const { events, rejected } = decoder.decodeBlock([dirty, good, short], view)
    expect(events.map(e => e.logIndex)).toEqual([good.logIndex])
    expect(rejected).toEqual([
      { log: dirty, reason: expect.stringMatching(/^malformed: address expected/) },
      { log: short, reason: expect.stringMatching(/^shape: 3 topics and 0 bytes/) },
    ])
  })

  test('a decoder that throws anything at all loses only its own log', () => {
    const decoders: LogDecoder[] = [
      {
        signature: 'Boom()',
        topic0: '0x01',
        topicCount: 1,
        dataLength: 0,
        gives: ['Paused'],
        decode: log => {
          if (log.logIndex === 1) throw new TypeError('boom')
          return [eventOf(log, 'Paused', {})]
        },
      },
    ]
    const broken = defineProtocol({ name: 'broken', sources: [{ kind: 'k', at: 'discovered', decoders }] })
    const logs = [0, 1, 2].map(logIndex => ({
      address: VAULT,
      topics: ['0x01'],
      data: '0x',
      logIndex,
      transactionHash: '0x',
    }))
    const { events, rejected } = createDecoder([broken], 'mainnet').decodeBlock(
      logs,
      watching({ k: [VAULT] }),
    )
    expect(events.map(e => e.logIndex)).toEqual([0, 2])
    expect(rejected).toEqual([{ log: logs[1], reason: 'decoder failed: boom' }])
  })

  test('logs without topics and of unknown topics are passed over', () => {
    const logs = [
      { ...good, topics: [] },
      { ...good, topics: [`0x${'7'.repeat(64)}`] },
    ]
    const result = decoder.decodeBlock(logs, watching({ 'erc-4626-vault': [VAULT] }))
    expect(result).toEqual({ events: [], rejected: [], strangers: 0, candidates: [] })
  })
})

test('what to ask a chain for: vault events anywhere, the rest by address', () => {
  const sources = decoder.sources({ 'erc-4626-vault': [VAULT] })
  const subscriptions = decoder.subscriptions(kind =>
    sources.flatMap(source => (source.kind === kind ? [source.contract] : [])).filter(Boolean),
  )
  const [anywhere, ...more] = subscriptions.filter(s => s.address === undefined)
  expect(more).toEqual([])
  // Deposit, Withdraw, and Lagoon's Deposit of another name.
  expect(anywhere?.topic0.length).toBe(3)
  expect(subscriptions.filter(s => s.address?.includes(VAULT)).length).toBe(1)
  expect(subscriptions.some(s => s.address?.includes(AAVE_POOL))).toBe(true)
  expect(subscriptions.some(s => s.address?.includes('0xbbbbbbbbbb9cc5e90e3b3af64bdaf62c37eeffcb'))).toBe(
    true,
  )
})

describe('Euler: debts that move', () => {
  const [BOB, CAROL] = [address('b'), address('c')]
  const events = parseAbi([
    'event Borrow(address indexed account, uint256 assets)',
    'event Repay(address indexed account, uint256 assets)',
    'event PullDebt(address indexed from, address indexed to, uint256 assets)',
    'event Liquidate(address indexed liquidator, address indexed violator, address collateral, uint256 repayAssets, uint256 yieldBalance)',
    'event DebtSocialized(address indexed account, uint256 assets)',
    'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
  ])
  type Name = (typeof events)[number]['name']
  const log = (name: Name, ...values: unknown[]) => logOf(VAULT, name, values, events)
  const view = watching({ 'euler-evk-vault': [VAULT], 'erc-4626-vault': [VAULT] }, [VAULT])
  const typesOf = (logs: RawLog[]) => {
    const { events: decoded, rejected } = decoder.decodeBlock(logs, view)
    expect(rejected).toEqual([])
    return decoded.map(event => event.type)
  }

  test('are neither repaid nor borrowed by those who give and take them', () => {
    expect(
      typesOf([log('Repay', ALICE, 70n), log('Borrow', BOB, 70n), log('PullDebt', ALICE, BOB, 70n)]),
    ).toEqual(['DebtTransferred'])
    // A unit more and less where the debts have fractions.
    expect(
      typesOf([log('Repay', ALICE, 71n), log('Borrow', BOB, 69n), log('PullDebt', ALICE, BOB, 70n)]),
    ).toEqual(['DebtTransferred'])
    expect(typesOf([log('Repay', ALICE, 1n), log('PullDebt', ALICE, BOB, 1n)])).toEqual(['DebtTransferred'])
  })

  test('in a liquidation, with what is written off, which nobody withdraws', () => {
    const liquidation = (rest: RawLog[]) => [
      log('Repay', ALICE, 70n),
      log('Borrow', BOB, 70n),
      ...rest,
      log('Liquidate', BOB, ALICE, OTHER, 70n, 5n),
    ]
    const written = () => [
      log('Repay', ALICE, 30n),
      log('Withdraw', BOB, ZERO, ZERO, 30n, 0n),
      log('DebtSocialized', ALICE, 30n),
    ]
    expect(typesOf(liquidation([]))).toEqual(['Liquidated'])
    expect(typesOf(liquidation(written()))).toEqual(['DebtSocialized', 'Liquidated'])
  })

  test('leave what was repaid and borrowed before in the same transaction', () => {
    const earlier = () => [log('Borrow', BOB, 70n), log('Repay', CAROL, 70n), log('Repay', ALICE, 70n)]
    expect(
      typesOf([
        ...earlier(),
        log('Repay', ALICE, 70n),
        log('Borrow', BOB, 70n),
        log('Liquidate', BOB, ALICE, OTHER, 70n, 5n),
      ]),
    ).toEqual(['Borrowed', 'Repaid', 'Repaid', 'Liquidated'])
    // What is worth nothing is taken for nothing: no debt moves, and what Alice repaid before stays.
    expect(typesOf([...earlier(), log('Liquidate', BOB, ALICE, OTHER, 0n, 5n)])).toEqual([
      'Borrowed',
      'Repaid',
      'Repaid',
      'Liquidated',
    ])
  })
})

test('amounts that no token has are no event but a rejected log', () => {
  const known = watching({ 'erc-4626-vault': [VAULT], 'erc-4626': [VAULT] }, [VAULT])
  const largest = 2n ** 192n - 1n
  const [whole, huge, owed] = [
    logOf(VAULT, 'Transfer', [OTHER, ALICE, largest]),
    logOf(VAULT, 'Transfer', [OTHER, ALICE, 2n ** 256n - 1n]),
    logOf(VAULT, 'Deposit', [ALICE, ALICE, 2n ** 255n, 5n]),
  ]
  const { events, rejected } = decoder.decodeBlock([whole, huge, owed], known)
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ['ShareTransferred', { from: OTHER, to: ALICE, shares: largest }],
  ])
  expect(rejected.map(({ log, reason }) => [log.logIndex, reason])).toEqual([
    [huge.logIndex, expect.stringContaining('more than any token has')],
    [owed.logIndex, expect.stringContaining('more than any token has')],
  ])
})
