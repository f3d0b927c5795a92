import type pg from 'pg'
import { appendEvents, type BlockEvents, lockStreamHead, registerStream } from '../db/events/event-store.ts'
import type { DomainEvent } from '../db/events/vocabulary.ts'
import { inTransaction } from '../db/postgres.ts'
import { listStreams } from '../jobs/checkpoints.ts'
import { loadProjections } from '../jobs/projection.ts'
import { replay } from '../jobs/replay.ts'
import { catchUpAll } from '../jobs/work.ts'
import { seededRandom } from '../test/chain/random.ts'
import { type Bench, perSecond, timed } from './bench.ts'

const EVENTS = Number(process.env['BENCH_BORROW_EVENTS'] ?? 1_000_000)
const CHAIN = 1
const BEGINS = 1_735_689_600
const MARKETS = 200
const ACCOUNTS = 20_000
const BLOCKS_PER_TRANSACTION = 20_000
const RAY = 10n ** 27n

const address = (kind: string, n: number) => `0x${kind}${n.toString(16).padStart(40 - kind.length, '0')}`
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const MORPHO = address('b1', 0)
const POOL = address('9a', 0)

export const bench: Bench = {
  about:
    `A generated store of ${EVENTS.toLocaleString('en')} borrow events (${MARKETS} markets of Morpho Blue, 20 reserves of Aave v3, ` +
    `${ACCOUNTS.toLocaleString('en')} accounts): append, the projections of all of it as it comes, and their replay.`,
  async run(stage) {
    const { pool } = await stage.postgres()
    const clickhouse = await stage.clickhouse()
    const filled = await timed(() => fill(pool))
    const events = filled.result
    stage.say(`filled ${events.toLocaleString('en')} events`)
    await pool.query('VACUUM ANALYZE event_log')
    const projections = await loadProjections()
    const live = await timed(() => catchUpAll({ pool, clickhouse: clickhouse.client, projections }))
    stage.say(`mirrored and projected in ${(live.ms / 1000).toFixed(1)} s`)
    const streams = await listStreams(pool)
    const progress = { start: () => ({ update() {}, finish() {} }), close() {} }
    const again = await timed(() => replay({ pool, clickhouse, projections, streams, progress }))
    return [
      { what: 'append into the store alone', ours: perSecond(events, filled.ms) },
      { what: 'mirror and all projections, live batches', ours: perSecond(events, live.ms) },
      {
        what: `replay of all ${projections.length} projections`,
        ours: perSecond(events, again.ms),
        budget: '100,000/s',
        holds: events / again.ms >= 100,
      },
    ]
  },
}

/** Three events a block: what an act in a market logs. Nobody repays more than was borrowed. */
async function fill(pool: pg.Pool): Promise<number> {
  await registerStream(pool, CHAIN, 'mainnet', 'evm')
  const random = seededRandom(5)
  const owed = new Map<string, bigint>()
  let last = { number: 0, hash: hash(0), timestamp: BEGINS }
  const first: BlockEvents = { block: last, events: listings() }
  const next = (): BlockEvents => {
    const number = last.number + 1
    last = { number, hash: hash(number), timestamp: BEGINS + number * 12 }
    const log = { transactionHash: hash(number * 8) }
    const protocol = number % 2 === 0 ? 'morpho-blue' : 'aave-v3'
    const acts = number % 2 === 0 ? morphoAct(random, owed) : aaveAct(random, last.number)
    return {
      block: last,
      events: acts.map((event, logIndex) => ({ ...event, protocol, ...log, logIndex }) as DomainEvent),
    }
  }
  let stored = 0
  for (let batch: BlockEvents[] = [first]; stored < EVENTS; batch = []) {
    while (batch.length < BLOCKS_PER_TRANSACTION) batch.push(next())
    stored = await inTransaction(pool, async tx => {
      const head = await appendEvents(tx, CHAIN, await lockStreamHead(tx, CHAIN), batch)
      await tx.query(
        'UPDATE stream SET head = $2, head_height = $3, final_height = $3, head_time = $4 WHERE id = $1',
        [CHAIN, head, last.number, last.timestamp],
      )
      return head
    })
  }
  return stored
}

const reserves = Array.from({ length: 20 }, (_, n) => ({
  asset: address('c', n),
  aToken: address('d', n),
  debtToken: address('e', n),
}))

function listings(): DomainEvent[] {
  const created = Array.from({ length: MARKETS }, (_, n) => ({
    type: 'MarketCreated' as const,
    protocol: 'morpho-blue',
    contract: MORPHO,
    data: {
      market: hash(n + 1),
      loanAsset: address('c', n % 20),
      collateralAsset: address('c', (n + 1) % 20),
      oracle: address('f', n),
      irm: address('f', MARKETS),
      lltvWad: 86n * 10n ** 16n,
    },
  }))
  const listed = reserves.flatMap(({ asset, aToken, debtToken }): DomainEvent[] => [
    {
      type: 'ReserveTokenInitialized',
      protocol: 'aave-v3',
      contract: aToken,
      data: { market: asset, pool: POOL, decimals: 18, symbol: 'a' },
    },
    {
      type: 'ReserveListed',
      protocol: 'aave-v3',
      contract: address('9b', 0),
      data: { market: asset, asset, aToken, variableDebtToken: debtToken },
    },
  ])
  return [...created, ...listed]
}

type Act = Pick<DomainEvent, 'type' | 'contract' | 'data'>
type Random = ReturnType<typeof seededRandom>

function morphoAct(random: Random, owed: Map<string, bigint>): Act[] {
  const market = hash(1 + Math.floor(MARKETS ** random.next()) - 1)
  const account = address('a', random.below(ACCOUNTS))
  const key = `${market} ${account}`
  const assets = BigInt(1 + random.below(1e9)) * 10n ** 9n
  const debt = owed.get(key) ?? 0n
  const moved = { market, sender: account, onBehalf: account }
  const act: Act =
    debt > 0n
      ? {
          type: 'Repaid',
          contract: MORPHO,
          data: { ...moved, assets: debt / 2n, shares: (debt / 2n) * 1_000_000n },
        }
      : {
          type: 'Borrowed',
          contract: MORPHO,
          data: { ...moved, receiver: account, assets, shares: assets * 1_000_000n },
        }
  owed.set(key, debt > 0n ? debt - debt / 2n : assets)
  return [
    {
      type: 'InterestAccrued',
      contract: MORPHO,
      data: { market, interest: 1_000n, feeShares: 0n, previousBorrowRateWad: 10n ** 9n },
    },
    debt > 0n
      ? { type: 'CollateralSupplied', contract: MORPHO, data: { ...moved, assets } }
      : {
          type: 'Supplied',
          contract: MORPHO,
          data: { ...moved, assets: assets * 2n, shares: assets * 2_000_000n },
        },
    act,
  ]
}

function aaveAct(random: Random, number: number): Act[] {
  const { asset, aToken, debtToken } = random.pick(reserves) ??
    reserves[0] ?? { asset: '', aToken: '', debtToken: '' }
  const account = address('a', random.below(ACCOUNTS))
  const assets = BigInt(1 + random.below(1e9)) * 10n ** 9n
  const index = RAY + BigInt(number) * 10n ** 19n
  const isDebt = random.chance(0.4)
  const minted = { caller: account, onBehalf: account, value: assets, balanceIncrease: 0n, indexRay: index }
  return [
    {
      type: 'RateUpdated',
      contract: POOL,
      data: {
        market: asset,
        liquidityRateRay: RAY / 50n,
        variableBorrowRateRay: RAY / 25n,
        liquidityIndexRay: index,
        variableBorrowIndexRay: index,
      },
    },
    {
      type: 'ScaledMinted',
      contract: isDebt ? debtToken : aToken,
      data: { side: isDebt ? 'variableDebt' : 'supply', ...minted },
    },
    {
      type: isDebt ? 'Borrowed' : 'Supplied',
      contract: POOL,
      data: { market: asset, sender: account, onBehalf: account, assets },
    },
  ]
}
