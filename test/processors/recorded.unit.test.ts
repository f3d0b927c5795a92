import { toEventSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import type { DomainEvent, EventType } from '../../db/events/vocabulary.ts'
import { vocabulary } from '../../db/events/vocabulary.ts'
import { networkOfChain, networks } from '../../db/networks.ts'
import { type ContractView, createDecoder } from '../../processors/handling/decode.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import type { RawLog } from '../../processors/protocol.ts'
import { describeRecorded, recordedBlockLogs, recordedReceipts, WHOLE_BLOCKS } from '../recordings.ts'

const protocols = await loadProtocols()
const nothing: ContractView = { isWatched: () => false, isInspected: () => false }

/** Kinds of contracts whose logs look like those of another kind. */
const ALIKE = [
  'aave-v3-variable-debt',
  'aave-v3-atoken-vault',
  'chainlink-aggregator',
  'compound-v3-comet',
  'morpho-urd',
  'pendle-v2-pt',
]

/** Everything is taken for ours, of every kind whose logs are told apart by their topics. */
const everything: ContractView = {
  isWatched: kind => !ALIKE.includes(kind),
  isInspected: () => false,
}

/** The contracts that the protocols name for the network, and the vaults named. */
function known(network: string, vaults: Iterable<string> = []): ContractView {
  const fixed = new Set(
    createDecoder(protocols, network)
      .sources({ 'erc-4626-vault': [...vaults] })
      .map(({ kind, contract }) => kind + contract),
  )
  return { isWatched: (kind, contract) => fixed.has(kind + contract), isInspected: () => false }
}

function countTypes(events: readonly DomainEvent[]): Partial<Record<EventType, number>> {
  const counts: Partial<Record<EventType, number>> = {}
  for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

/** The independent count: published signatures by viem, number of topics, bytes of data. None of our tables. */
const SHAPES: [EventType, string, topics: number, bytes: number][] = [
  ['Deposited', 'Deposit(address,address,uint256,uint256)', 3, 64],
  ['Redeemed', 'Withdraw(address,address,address,uint256,uint256)', 4, 64],
  ['Deposited', 'Staked(address,address,uint256,uint256)', 3, 64],
  ['Deposited', 'Staked(address,address,uint256)', 3, 32],
  ['Redeemed', 'Redeem(address,address,uint256,uint256)', 3, 64],
  ['Redeemed', 'Redeem(address,address,uint256)', 3, 32],
  ['ShareTransferred', 'Transfer(address,address,uint256)', 3, 32],
  ['OwnerChanged', 'OwnershipTransferred(address,address)', 3, 0],
  ['Supplied', 'Supply(bytes32,address,address,uint256,uint256)', 4, 64],
  ['Supplied', 'Supply(address,address,address,uint256,uint16)', 4, 64],
  ['Withdrawn', 'Withdraw(bytes32,address,address,address,uint256,uint256)', 4, 96],
  ['Withdrawn', 'Withdraw(address,address,address,uint256)', 4, 32],
  ['Borrowed', 'Borrow(bytes32,address,address,address,uint256,uint256)', 4, 96],
  ['Borrowed', 'Borrow(address,address,address,uint256,uint8,uint256,uint16)', 4, 128],
  ['Repaid', 'Repay(bytes32,address,address,uint256,uint256)', 4, 64],
  ['Repaid', 'Repay(address,address,address,uint256,bool)', 4, 64],
  ['CollateralSupplied', 'SupplyCollateral(bytes32,address,address,uint256)', 4, 32],
  ['CollateralWithdrawn', 'WithdrawCollateral(bytes32,address,address,address,uint256)', 4, 64],
  ['Liquidated', 'LiquidationCall(address,address,address,uint256,uint256,address,bool)', 4, 128],
  ['InterestAccrued', 'AccrueInterest(bytes32,uint256,uint256,uint256)', 2, 96],
  ['RateAtTargetChanged', 'BorrowRateUpdate(bytes32,uint256,uint256)', 2, 64],
  ['RateUpdated', 'ReserveDataUpdated(address,uint256,uint256,uint256,uint256,uint256)', 2, 160],
  ['CollateralEnabled', 'ReserveUsedAsCollateralEnabled(address,address)', 3, 0],
  ['CollateralDisabled', 'ReserveUsedAsCollateralDisabled(address,address)', 3, 0],
  ['ScaledMinted', 'Mint(address,address,uint256,uint256,uint256)', 3, 96],
  ['ScaledBurned', 'Burn(address,address,uint256,uint256,uint256)', 3, 96],
  ['RewardClaimed', 'Claimed(address,address,uint256)', 3, 32],
  ['RewardClaimed', 'RewardsClaimed(address,address,address,address,uint256)', 4, 64],
  ['RewardClaimed', 'RewardClaimed(address,address,address,uint256)', 4, 32],
  ['RewardAdded', 'RewardAdded(uint256)', 1, 32],
  [
    'RewardStreamConfigured',
    'AssetConfigUpdated(address,address,uint256,uint256,uint256,uint256,uint256)',
    3,
    160,
  ],
  ['ImpliedRateUpdated', 'UpdateImpliedRate(uint256,uint256)', 2, 32],
  ['PrincipalSwapped', 'Swap(address,address,int256,int256,uint256,uint256)', 3, 128],
  ['PoolLiquidityAdded', 'Mint(address,uint256,uint256,uint256)', 2, 96],
  // Burns of Aave's tokens have the same shape.
  ['PoolLiquidityRemoved', 'Burn(address,address,uint256,uint256,uint256)', 3, 96],
  ['AmmDeposited', 'Deposit(address,address,uint256,uint256,uint256)', 3, 96],
  ['AmmWithdrawn', 'Withdraw(address,address,uint256,uint256,uint256)', 3, 96],
  ['AmmRebalanced', 'Rebalance(int24,uint256,uint256,uint256,uint256,uint256)', 1, 192],
  ['AmmFeesCollected', 'CollectFees(address,uint256,uint256)', 2, 64],
  ['AmmShareTransferred', 'Transfer(address,address,uint256)', 3, 32],
  ['ScaledTransferred', 'BalanceTransfer(address,address,uint256,uint256)', 3, 64],
]

function countShapes(logs: readonly RawLog[]): Partial<Record<EventType, number>> {
  const shapes = SHAPES.map(([type, signature, topics, bytes]) => ({
    type,
    topic0: toEventSelector(signature),
    topics,
    bytes,
  }))
  const counts: Partial<Record<EventType, number>> = {}
  for (const log of logs) {
    for (const shape of shapes) {
      const fits = log.topics[0] === shape.topic0 && log.topics.length === shape.topics
      if (fits && (log.data.length - 2) / 2 === shape.bytes)
        counts[shape.type] = (counts[shape.type] ?? 0) + 1
    }
  }
  return counts
}

describe('605 recorded receipts', () => {
  const receipts = recordedReceipts()
  const all = receipts.flatMap(r => r.logs)

  test('are what they are said to be', () => {
    expect([receipts.length, all.length]).toEqual([605, 7838])
    expect(all.filter(log => log.topics.length === 0).length).toBe(14)
    expect(Math.max(...receipts.map(r => r.logs.length))).toBe(1050)
  })

  test('go through the decoders without a crash, and as many events come out as topics and shapes say', () => {
    const decoder = createDecoder(protocols, 'mainnet')
    const decoded = receipts.map(r => decoder.decodeBlock(r.logs, everything))
    const events = decoded.flatMap(d => d.events)
    expect(countTypes(events)).toEqual(countShapes(all))
    expect(countTypes(events)).toMatchObject({
      Deposited: 21,
      Redeemed: 13,
      InterestAccrued: 9,
      Supplied: 19,
    })
    for (const { type, data } of events) expect(vocabulary[type].parse(data)).toEqual(data)
  })

  test('an NFT transfer on a contract of ours is a dead letter with its reason, and takes no other log with it', () => {
    const decoder = createDecoder(protocols, 'mainnet')
    const rejected = receipts.flatMap(r => decoder.decodeBlock(r.logs, everything).rejected)
    const transfer = toEventSelector('Transfer(address,address,uint256)')
    const misfits = all.filter(
      l => l.topics[0] === transfer && (l.topics.length !== 3 || l.data.length !== 66),
    )
    expect(misfits.length).toBeGreaterThan(0)
    expect(rejected.map(r => r.log)).toEqual(misfits)
    for (const { reason } of rejected) expect(reason).toMatch(/^shape: 4 topics and 0 bytes are no Transfer/)
  })

  test('where nothing is known, only vaults speak: their whole transaction is read, everything else left alone', () => {
    const vaults = new Set<string>()
    for (const receipt of receipts) {
      const { events, rejected, candidates } = createDecoder(protocols, 'mainnet').decodeBlock(
        receipt.logs,
        nothing,
      )
      expect(rejected).toEqual([])
      const speaking = new Set(
        events.filter(e => e.type === 'Deposited' || e.type === 'Redeemed').map(e => e.contract),
      )
      expect(new Set(candidates.map(c => c.contract))).toEqual(speaking)
      for (const event of events) expect(speaking).toContain(event.contract)
      for (const vault of speaking) vaults.add(vault)
    }
    expect(vaults.size).toBeGreaterThan(5)
  })

  // The share ledger of a vault is its Transfers, except where (sDAI) a deposit or redemption comes without one.
  test('31 ERC-4626 events: 30 with their mint or burn, one of sDAI without', () => {
    const [deposit, withdraw, transfer] = [
      'Deposit(address,address,uint256,uint256)',
      'Withdraw(address,address,address,uint256,uint256)',
      'Transfer(address,address,uint256)',
    ].map(s => toEventSelector(s))
    const zero = `0x${'0'.repeat(64)}`
    const expected: string[] = []
    for (const { logs, transactionHash } of receipts) {
      const used = new Set<RawLog>()
      for (const log of logs) {
        const isDeposit = log.topics[0] === deposit && log.topics.length === 3
        const isWithdraw = log.topics[0] === withdraw && log.topics.length === 4
        if ((!isDeposit && !isWithdraw) || log.data.length !== 130) continue
        const owner = log.topics[isDeposit ? 2 : 3]
        const match = logs.find(
          t =>
            !used.has(t) &&
            t.address === log.address &&
            t.topics[0] === transfer &&
            t.data === `0x${log.data.slice(66)}` &&
            (isDeposit
              ? t.topics[1] === zero && t.topics[2] === owner
              : t.topics[1] === owner && t.topics[2] === zero),
        )
        if (match) used.add(match)
        expected.push(`${transactionHash} ${log.logIndex} ${match ? 'transfer' : 'self'}`)
      }
    }
    const actual = receipts.flatMap(r =>
      createDecoder(protocols, 'mainnet')
        .decodeBlock(r.logs, nothing)
        .events.flatMap(e =>
          e.type === 'Deposited' || e.type === 'Redeemed'
            ? [`${e.transactionHash} ${e.logIndex} ${e.data.ledger}`]
            : [],
        ),
    )
    expect(actual).toEqual(expected)
    expect(expected.length).toBe(31)
    expect(expected.filter(e => e.endsWith('self')).length).toBe(1)
  })

  test('on the contracts that the registry names, every log of a watched topic is read', () => {
    const counts: Partial<Record<EventType, number>> = {}
    for (const { chainId, logs } of receipts) {
      const network = networkOfChain(chainId)
      if (!network) continue
      const { events, rejected } = createDecoder(protocols, network.name).decodeBlock(
        logs,
        known(network.name),
      )
      expect(rejected).toEqual([])
      for (const [type, n] of Object.entries(countTypes(events)))
        counts[type as EventType] = (counts[type as EventType] ?? 0) + n
    }
    // Aave v2 and forks of v3 have the same topics: they are not ours.
    expect(counts).toMatchObject({
      Supplied: 20,
      Withdrawn: 12,
      Borrowed: 7,
      Repaid: 4,
      InterestAccrued: 9,
      RateUpdated: 25,
    })
  })

  // Where the interest that fell due is more than what is withdrawn, the aToken reports a mint: none of these, but the walk
  // over the contracts has such. The later versions of the pool round otherwise than the first: a unit more.
  test('a Withdraw of Aave v3 is the burn of its aToken with its balance increase', () => {
    const differences = new Map<bigint, number>()
    for (const { chainId, logs } of receipts) {
      const network = networkOfChain(chainId)
      if (!network) continue
      const { events } = createDecoder(protocols, network.name).decodeBlock(logs, known(network.name))
      for (const withdrawal of events) {
        if (withdrawal.type !== 'Withdrawn' || withdrawal.data.market.length !== 42) continue
        if (withdrawal.data.market === withdrawal.contract) continue
        const burn = events.findLast(
          e => e.type === 'ScaledBurned' && Number(e.logIndex) < Number(withdrawal.logIndex),
        )
        if (burn?.type !== 'ScaledBurned') continue
        const difference = burn.data.value + burn.data.balanceIncrease - withdrawal.data.assets
        differences.set(difference, (differences.get(difference) ?? 0) + 1)
      }
    }
    expect([...differences.keys()].sort()).toEqual([0n, 1n])
    expect(differences.get(1n)).toBe(1)
  })

  test('the rate that Morpho’s model logs is the one that the accrual of the same market names', () => {
    const decoder = createDecoder(protocols, 'mainnet')
    let compared = 0
    for (const { logs } of receipts) {
      const { events } = decoder.decodeBlock(logs, everything)
      for (const rate of events) {
        if (rate.type !== 'RateAtTargetChanged') continue
        // The model is asked first, the accrual logged after it.
        const accrual = events.find(
          e =>
            e.type === 'InterestAccrued' &&
            e.data.market === rate.data.market &&
            Number(e.logIndex) > Number(rate.logIndex),
        )
        if (accrual?.type !== 'InterestAccrued') throw new Error('a rate without its accrual')
        expect(accrual.data.previousBorrowRateWad).toBe(rate.data.averageRateWad)
        compared++
      }
    }
    expect(compared).toBe(9)
  })

  // Its Supply also repays and its Withdraw also borrows: what is said apart adds up to what the log says.
  test('a Supply or Withdraw of Compound v3 is told whole', () => {
    const [supply, withdraw] = ['Supply(address,address,uint256)', 'Withdraw(address,address,uint256)'].map(
      s => toEventSelector(s),
    )
    const types: Partial<Record<EventType, number>> = {}
    let told = 0
    for (const { chainId, logs } of receipts) {
      const network = networkOfChain(chainId)
      if (!network) continue
      const decoder = createDecoder(protocols, network.name)
      const comets = new Set(
        decoder.sources().flatMap(({ kind, contract }) => (kind === 'compound-v3-comet' ? [contract] : [])),
      )
      const { events } = decoder.decodeBlock(logs, known(network.name))
      for (const { address, topics, data, logIndex } of logs) {
        if (!comets.has(address) || (topics[0] !== supply && topics[0] !== withdraw)) continue
        const parts = events.filter(event => event.logIndex === logIndex)
        for (const { type } of parts) types[type] = (types[type] ?? 0) + 1
        const sum = parts.reduce((total, e) => total + (('assets' in e.data && e.data.assets) || 0n), 0n)
        expect(sum).toBe(BigInt(data))
        told++
      }
    }
    expect([told, types]).toEqual([7, { Supplied: 3, Withdrawn: 3, Borrowed: 1 }])
  })

  // Aave v3 rounds: what the aToken minted, less interest, may be one unit under what was supplied.
  test("an aToken's Mint less its balance increase is the amount supplied, or one unit less", () => {
    const differences = new Map<bigint, number>()
    for (const { chainId, logs } of receipts) {
      const network = networkOfChain(chainId)
      if (!network) continue
      const { events } = createDecoder(protocols, network.name).decodeBlock(logs, known(network.name))
      for (const supply of events) {
        if (supply.type !== 'Supplied' || supply.data.market.length !== 42) continue
        const minted = events.flatMap(e =>
          e.type === 'ScaledMinted' && e.data.side === 'supply' && e.data.onBehalf === supply.data.onBehalf
            ? [e.data.value - e.data.balanceIncrease - supply.data.assets]
            : [],
        )
        const closest = minted.sort((a, b) => Number((a < 0n ? -a : a) - (b < 0n ? -b : b)))[0]
        if (closest !== undefined) differences.set(closest, (differences.get(closest) ?? 0) + 1)
      }
    }
    expect([...differences.keys()].sort()).toEqual([-1n, 0n])
    expect(differences.get(-1n)).toBe(1)
  })
})

describeRecorded('complete blocks', () => {
  test.each(WHOLE_BLOCKS)('%s %i decodes without a crash, as many events as shapes', (chain, number) => {
    const logs = recordedBlockLogs(chain, number)
    const { events } = createDecoder(protocols, 'mainnet').decodeBlock(logs, everything)
    expect(countTypes(events)).toEqual(countShapes(logs))
    expect(events.map(e => e.logIndex)).toEqual(
      events.map(e => e.logIndex).sort((a, b) => Number(a) - Number(b)),
    )
  })

  test('Ethereum 18000000 holds one Borrow of Aave v3', () => {
    const { events } = createDecoder(protocols, 'mainnet').decodeBlock(
      recordedBlockLogs('ethereum', 18000000),
      known('mainnet'),
    )
    const borrowed = events.filter(e => e.type === 'Borrowed')
    expect(borrowed.length).toBe(1)
    expect(borrowed[0]?.contract).toBe('0x87870bca3f3fd6335c3f4ce8392d69350b4fa4e2')
  })

  // topic0 of ERC-4626's Deposit is also that of an exchange of 2017.
  test("Ethereum 4369999: EtherDelta's Deposit is counted and left alone, and a dead letter only on a vault", () => {
    const logs = recordedBlockLogs('ethereum', 4369999)
    const deposit = toEventSelector('Deposit(address,address,uint256,uint256)')
    const strangers = logs.filter(l => l.topics[0] === deposit)
    expect(strangers.map(l => [l.topics.length, (l.data.length - 2) / 2])).toEqual([
      [1, 128],
      [1, 128],
    ])
    const decoder = createDecoder(protocols, 'mainnet')
    const left = decoder.decodeBlock(logs, nothing)
    expect(left).toMatchObject({ events: [], rejected: [], candidates: [], strangers: 2 })
    const [exchange] = strangers
    if (!exchange) throw new Error('no Deposit')
    const { rejected, strangers: count } = decoder.decodeBlock(
      [exchange],
      known('mainnet', [exchange.address]),
    )
    expect(count).toBe(0)
    expect(rejected).toEqual([
      { log: exchange, reason: expect.stringMatching(/^shape: 1 topics and 128 bytes/) },
    ])
  })
})

test('every network can be decoded for', () => {
  for (const { name } of Object.values(networks)) {
    const decoder = createDecoder(protocols, name)
    const subscriptions = decoder.subscriptions(() => [])
    expect(subscriptions.filter(s => s.address === undefined).length).toBe(1)
    for (const { address, topic0 } of subscriptions) {
      expect(topic0.length).toBeGreaterThan(0)
      expect(address === undefined || address.length > 0).toBe(true)
    }
  }
})
