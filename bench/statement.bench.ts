import type { BlockEvents } from '../db/events/event-store.ts'
import type { DomainEvent } from '../db/events/vocabulary.ts'
import { DAY, HOUR } from '../db/units.ts'
import { loadProjections } from '../jobs/projection.ts'
import { catchUpAll } from '../jobs/work.ts'
import { appendBlocks, recordFacts } from '../test/read-api/append.ts'
import { startApi } from './api.ts'
import { type Bench, peakMemory, percentiles, type Result, type Stage, timed } from './bench.ts'

const YEARS = Number(process.env['BENCH_YEARS'] ?? 3)
const VAULTS = 50
const ASSETS = 5
const TIMES = 10
const BEGINS = 1_640_995_200
const HOURS = YEARS * 365 * 24
const ENDS = BEGINS + HOURS * HOUR
const HOURS_PER_TRANSACTION = 2_000
const UNIT = 10n ** 6n
const ZERO = `0x${'0'.repeat(40)}`

const address = (kind: string, n: number) => `0x${kind}${n.toString(16).padStart(40 - kind.length, '0')}`
const WALLET = address('b', 1)
const feedOf = (asset: number) => address('f', asset)

export const bench: Bench = {
  about:
    `Statements of account of a wallet of ${VAULTS} vaults over ${YEARS} years: each vault sampled and each of ${ASSETS} price feeds ` +
    `answering every hour, a deposit or redemption somewhere every sixth hour. ${TIMES} times each, one after the other, none from a cache.`,
  async run(stage) {
    const { pool, url } = await stage.postgres()
    const clickhouse = await stage.clickhouse()
    const nextHour = openGenerator()
    for (let hour = 0; hour < HOURS; hour += HOURS_PER_TRANSACTION) {
      const count = Math.min(HOURS_PER_TRANSACTION, HOURS - hour)
      await appendBlocks(pool, 1, 'mainnet', Array.from({ length: count }, nextHour))
    }
    const facts = Array.from({ length: ASSETS }, (_, n) => ({
      subject: `asset:1:${address('c', n)}`,
      kind: 'feed',
      value: { feed: feedOf(n), decimals: 8 },
    }))
    await recordFacts(pool, facts, BEGINS)
    const projections = await loadProjections()
    const { ms } = await timed(() => catchUpAll({ pool, clickhouse: clickhouse.client, projections }))
    stage.say(`projected in ${(ms / 1000).toFixed(0)} s`)
    const { api, port, key } = await startApi(stage, { pool, url, clickhouse })
    const results: Result[] = []
    for (const [what, days, accept] of [
      ['a month', 30, 'application/json'],
      ['a year', 365, 'application/json'],
      [`${YEARS} years`, YEARS * 365 - 1, 'application/json'],
      [`${YEARS} years as CSV`, YEARS * 365 - 1, 'text/csv'],
    ] as const)
      results.push(await measure(stage, what, { days, accept, port, key }))
    const most = await peakMemory(api.child.pid)
    if (most !== undefined)
      results.push({ what: 'memory of the API at its peak', ours: `${most.toFixed(0)} MiB` })
    return results
  },
}

async function measure(
  stage: Stage,
  what: string,
  { days, accept, port, key }: { days: number; accept: string; port: number; key: string },
): Promise<Result> {
  const sample: number[] = []
  for (let n = 0; n < TIMES; n++) {
    // Each ends a second before the one before it, so that none is at hand.
    const to = ENDS - 2 * HOUR - n
    const path = `/beta/portfolio/statement?wallets=${WALLET}&fromTimestamp=${to - days * DAY}&toTimestamp=${to}`
    const { ms } = await timed(async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { 'x-api-key': key, accept },
      })
      const body = await response.text()
      if (!response.ok) throw new TypeError(`${path}: ${response.status} ${body}`)
      if (accept === 'application/json' && JSON.parse(body).total.usd.closing === '')
        throw new RangeError('a statement without prices')
    })
    sample.push(ms)
  }
  const { p50, p99 } = percentiles(sample)
  stage.say(`${what}: ${p50.toFixed(0)} ms`)
  return { what: `statement of ${what}`, ours: `p50 ${p50.toFixed(0)} ms, at most ${p99.toFixed(0)} ms` }
}

/** Blocks of one hour each: feeds, samples, and now and then what the wallet does. */
function openGenerator(): () => BlockEvents {
  const vaults = Array.from({ length: VAULTS }, (_, n) => ({
    address: address('a', n + 1),
    asset: n % ASSETS,
    assets: 0n,
    shares: 0n,
  }))
  let number = 0
  return () => {
    number++
    const timestamp = BEGINS + number * HOUR
    const events: DomainEvent[] = []
    let log = 0
    const add = (type: DomainEvent['type'], contract: string, data: unknown) =>
      events.push({
        type,
        contract,
        transactionHash: `0x${number.toString(16).padStart(64, '0')}`,
        logIndex: log++,
        data,
      } as DomainEvent)
    if (number === 1) for (const [n, of] of vaults.entries()) add('VaultDiscovered', of.address, discovery(n))
    for (let n = 0; n < ASSETS; n++) {
      const answer = 100_000_000n * BigInt(n * 500 + 1) + BigInt((number * 7_919) % 1_000_003)
      const data = { source: 'chainlink', feed: feedOf(n), answer, decimals: 8, reportedAt: timestamp }
      add('PriceReported', address('d', n), data)
    }
    const acting = vaults[number % VAULTS]
    if (acting && number % 6 === 0) {
      const { address: vault, shares, assets } = acting
      if (number % 18 === 0 && shares > 1n) {
        const [gone, paid] = [shares / 2n, assets / 2n]
        add('ShareTransferred', vault, { from: WALLET, to: ZERO, shares: gone })
        add('Redeemed', vault, {
          sender: WALLET,
          receiver: WALLET,
          owner: WALLET,
          assets: paid,
          shares: gone,
          ledger: 'transfer',
        })
        acting.shares -= gone
        acting.assets -= paid
      } else {
        const paid = BigInt(number) * UNIT
        const made = shares === 0n ? paid : (paid * shares) / assets
        add('ShareTransferred', vault, { from: ZERO, to: WALLET, shares: made })
        add('Deposited', vault, {
          sender: WALLET,
          owner: WALLET,
          assets: paid,
          shares: made,
          ledger: 'transfer',
        })
        acting.shares += made
        acting.assets += paid
      }
    }
    for (const of of vaults) {
      of.assets += of.assets / 200_000n
      const sharePrice = of.shares === 0n ? UNIT : (of.assets * UNIT) / of.shares
      events.push({
        type: 'StateSampled',
        contract: of.address,
        data: {
          vault: of.address,
          reason: 'hourly',
          totalAssets: of.assets,
          totalSupply: of.shares,
          sharePrice,
          decimals: 6,
          assetDecimals: 6,
        },
      } as DomainEvent)
    }
    return { block: { number, hash: `0x${number.toString(16).padStart(64, '0')}`, timestamp }, events }
  }
}

const discovery = (n: number) => ({
  vault: address('a', n + 1),
  protocol: 'erc-4626',
  name: `Bench vault ${n + 1}`,
  symbol: `bv${n + 1}`,
  decimals: 6,
  asset: address('c', n % ASSETS),
  assetName: `Bench token ${n % ASSETS}`,
  assetSymbol: `BT${n % ASSETS}`,
  assetDecimals: 6,
  deployedBlock: 1,
  deployedAt: BEGINS,
})
