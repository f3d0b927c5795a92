import { afterAll, expect, it } from 'vitest'
import { loadProjections, tablesOf } from '../../jobs/projection.ts'
import { planRange } from '../../jobs/ranges.ts'
import { applyRange } from '../../jobs/runner.ts'
import { seededRandom } from '../chain/random.ts'
import { SOLANA } from '../db/clickhouse/fill.ts'
import { Engine } from './engine.ts'
import { sqlTime } from './naive.ts'
import { type Positioned, store } from './streams.ts'
import { svmHistory } from './svm-acts.ts'

/** Read models of a chain of Solana's kind, against plain loops over its events. */

const projections = (await loadProjections()).filter(({ streams }) => streams === 'svm')
const log = svmHistory(3, 1400)
const engines: Engine[] = []
afterAll(async () => {
  for (const engine of engines) await engine.drop()
})

async function applied(size: () => number, times = 1): Promise<Engine> {
  const engine = await Engine.create()
  engines.push(engine)
  await store(engine, SOLANA, log)
  const target = { position: log.length, block_number: 0, block_time: 0 }
  for (let from = 0; from < log.length; ) {
    const range = await planRange(engine.client, SOLANA, from, Math.min(log.length, from + size()), target)
    for (const projection of projections)
      for (let time = 0; time < times; time++)
        await applyRange(engine.client, { ...projection, version: projection.version + time }, SOLANA, range)
    from = range.to
  }
  return engine
}

async function sums(engine: Engine): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const table of projections.flatMap(tablesOf))
    found[table] = await engine.rows(
      `SELECT count() AS rows, toString(sum(cityHash64(toString(tuple(*))))) AS sum FROM ${table} FINAL`,
    )
  return found
}

interface Held {
  mint: string
  owner: string
  /** Of the tokens, or of the farm in which they are staked. */
  at: string
  amount: bigint
}

/** Token accounts after the events up to `position`. */
function naiveAccounts(position: number): Held[] {
  const accounts = new Map<string, Held>()
  for (const { event, position: at } of log) {
    const isAccount = event.type === 'SvmShareAccountChanged' || event.type === 'SvmShareAccountSampled'
    if (at > position || !isAccount) continue
    const { tokenAccount, owner, amount } = event.data
    const previousOwner = 'previousOwner' in event.data ? event.data.previousOwner : undefined
    const mint = event.contract
    if (previousOwner && previousOwner !== owner) accounts.delete(`${mint} ${tokenAccount} ${previousOwner}`)
    accounts.set(`${mint} ${tokenAccount} ${owner}`, { owner, mint, at: tokenAccount, amount })
  }
  return [...accounts.values()]
}

/** Stakes after the events up to `position`: changes of what was read last. */
function naiveStakes(position: number): Held[] {
  const stakes = new Map<string, Held>()
  for (const { event, position: at } of log) {
    if (at > position || (event.type !== 'SvmStakeChanged' && event.type !== 'SvmStakeSampled')) continue
    const { owner, stakeAccount, farm } = event.data
    const before = stakes.get(`${event.contract} ${owner} ${stakeAccount}`)?.amount ?? 0n
    const amount = event.type === 'SvmStakeSampled' ? event.data.amount : before + event.data.change
    stakes.set(`${event.contract} ${owner} ${stakeAccount}`, {
      mint: event.contract,
      owner,
      at: farm,
      amount,
    })
  }
  return [...stakes.values()]
}

/** What each owner has of each mint, where there is any. */
function sumsOf(held: readonly Held[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const { mint, owner, amount } of held)
    if (amount > 0n) sums.set(`${mint} ${owner}`, (sums.get(`${mint} ${owner}`) ?? 0n) + amount)
  return sums
}

/** With what is staked in farms that vaults name, without what lies in their token accounts. */
function naivePositions(): Map<string, bigint> {
  const named = log.flatMap(({ event }) => (event.type === 'SvmFarmNamed' ? [event] : []))
  const farms = new Set(named.map(({ contract, data }) => `${contract} ${data.farm}`))
  const inFarms = new Set(named.map(({ contract, data }) => `${contract} ${data.farmVault}`))
  return sumsOf([
    ...naiveAccounts(log.length).filter(({ mint, at }) => !inFarms.has(`${mint} ${at}`)),
    ...naiveStakes(log.length).filter(({ mint, at }) => farms.has(`${mint} ${at}`)),
  ])
}

const YEAR = 31_536_000
const WINDOWS = [3600, 86_400, 604_800, 2_592_000]

interface Hour {
  vault: string
  hour: number
  at: number
  position: number
  price: number | null
}

function naiveHours(): (Hour & { apys: (number | null)[] })[] {
  const hours: Hour[] = []
  for (const { event, block, position } of log as Positioned[]) {
    if (event.type !== 'SvmVaultSampled') continue
    const hour = block.timestamp - (block.timestamp % 3600)
    if (hours.some(row => row.vault === event.contract && row.hour === hour)) continue
    const { priceAssets, priceShares } = event.data
    const price = priceAssets && priceShares ? Number(priceAssets) / Number(priceShares) : null
    hours.push({ vault: event.contract, hour, at: block.timestamp, position, price })
  }
  return hours.map(row => ({
    ...row,
    apys: WINDOWS.map(window => {
      const leeway = Math.max(1800, window / 20)
      const from = hours
        .filter(({ vault, position, price }) => vault === row.vault && position < row.position && price)
        .map(other => ({ ...other, away: Math.abs(row.at - window - other.at) }))
        .filter(({ away }) => away <= leeway)
        .sort((a, b) => a.away - b.away || a.at - b.at)[0]
      if (!row.price || !from?.price) return null
      const apy = (row.price / from.price) ** (YEAR / (row.at - from.at)) - 1
      return Number.isFinite(apy) ? apy : null
    }),
  }))
}

it('gives what plain loops give', async () => {
  const engine = await applied(() => 150)
  for (const position of [log.length, Math.floor(log.length / 3)]) {
    const rows = await engine.rows<{ mint: string; holder: string; shares: string }>(
      `SELECT mint, holder, toString(sum(amount)) AS shares FROM (
         SELECT mint, holder, token_account, argMax(amount, position) AS amount FROM svm_balance
         WHERE chain_id = ${SOLANA} AND position <= ${position} GROUP BY mint, holder, token_account)
       GROUP BY mint, holder HAVING sum(amount) > 0`,
    )
    const found = new Map(rows.map(({ mint, holder, shares }) => [`${mint} ${holder}`, BigInt(shares)]))
    expect(found).toEqual(sumsOf(naiveAccounts(position)))
    expect(found.size).toBeGreaterThan(5)
  }
  const stakes = await engine.rows<{ mint: string; holder: string; farm: string; amount: string }>(
    `SELECT mint, holder, argMax(farm, position) AS farm, toString(argMax(amount, position)) AS amount FROM svm_stake
     GROUP BY mint, holder, stake_account`,
  )
  const inOrder = (held: Held[]) => held.map(each => Object.values(each).join(' ')).sort()
  expect(
    inOrder(
      stakes.map(({ mint, holder, farm, amount }) => ({
        mint,
        owner: holder,
        at: farm,
        amount: BigInt(amount),
      })),
    ),
  ).toEqual(inOrder(naiveStakes(log.length)))
  expect(stakes.some(({ amount }) => BigInt(amount) < 0n)).toBe(true)
  const shown = await engine.rows<{ mint: string; holder: string; shares: string; staked: string }>(
    `SELECT share_mint AS mint, holder, toString(shares_raw) AS shares, toString(staked_raw) AS staked
     FROM svm_positions INNER JOIN svm_vaults USING (chain_id, vault)`,
  )
  expect(new Map(shown.map(({ mint, holder, shares }) => [`${mint} ${holder}`, BigInt(shares)]))).toEqual(
    naivePositions(),
  )
  expect(shown.filter(({ shares, staked }) => staked !== '0' && staked !== shares).length).toBeGreaterThan(0)

  const hours = await engine.rows<Record<string, unknown>>(
    `SELECT vault, toString(hour) AS hour, position, share_price AS price, [apy_1h, apy_1d, apy_7d, apy_30d] AS apys
     FROM svm_vault_hourly FINAL ORDER BY position`,
  )
  const expected = naiveHours()
  expect(hours.map(({ vault, hour, position }) => [vault, hour, position])).toEqual(
    expected.map(({ vault, hour, position }) => [vault, sqlTime(hour), position]),
  )
  let known = 0
  expected.forEach(({ price, apys }, i) => {
    const row = hours[i] as { price: number | null; apys: (number | null)[] }
    for (const [is, said] of [[row.price, price], ...row.apys.map((apy, n) => [apy, apys[n] ?? null])]) {
      if (said === null) expect(is, `row ${i}`).toBeNull()
      else expect(Math.abs(Number(is) - Number(said))).toBeLessThan(1e-9 * (1 + Math.abs(Number(said))))
      if (said !== null) known++
    }
  })
  expect(known).toBeGreaterThan(expected.length)

  const flows = await engine.rows('SELECT * FROM svm_flow FINAL ORDER BY position')
  const acts = log.filter(({ event }) => ['SvmDeposited', 'SvmWithdrawn'].includes(event.type))
  expect(
    flows.map(row => [row.position, row.kind, String(row.assets), row.sender, row.instruction_index]),
  ).toEqual(
    acts.map(({ position, event: { data } }) => [
      position,
      'sender' in data ? 'deposit' : 'withdrawal',
      'assets' in data && data.assets !== undefined ? String(data.assets) : 'null',
      'sender' in data ? data.sender : 'receiver' in data && data.receiver,
      'path' in data && Number(data.path.split('.')[0]),
    ]),
  )
})

it('does not depend on how its history is cut, nor on what is applied twice', async () => {
  const whole = await sums(await applied(() => 1_000_000))
  const { next } = seededRandom(9)
  expect(await sums(await applied(() => 1 + Math.floor(next() * 500), 2))).toEqual(whole)
})
