import type { Database } from '@subsquid/util-internal-processor-tools'
import type pg from 'pg'
import { networks } from '../db/networks.ts'
import { runChain } from '../processors/chain-processor.ts'
import { loadProtocols } from '../processors/load-protocols.ts'
import { type Node, startNode } from '../test/chain/node.ts'
import { runBare } from './bare-processor.ts'
import { type Bench, perSecond, type Result, type Stage, timed } from './bench.ts'
import { fillWithDeposits } from './deposits.ts'
import { indexWithPonder, installPonder, PONDER_VERSION } from './ponder.ts'
import { wanderOverTerms } from './terms.ts'

/** By events of a block: enough for several seconds, of which the first is the processor's own start. */
const EVENTS: Record<number, number> = { 10: 50_000, 100: 400_000 }
const BUDGET: Record<number, number> = { 10: 26_000, 100: 50_000 }
const ROUNDS = 5

export const bench: Bench = {
  about:
    'A local anvil over JSON-RPC → decoded → event store with its cursor in the same transaction: 50,000 events of one ' +
    'OpenZeppelin vault in blocks of 10, 400,000 in blocks of 100. Beside it, in the same run on the same node: evm-processor with a bare insert of the same logs, ' +
    'without cursor, order or hot blocks (either in a process that has done it before, five times in turn: the round whose ratio is in the middle); and Ponder with one insert for each event (from its first line of output to the last ' +
    'row). With samples, the state of the vault is read by a multicall after every block as well. Last, users who wander over fixed-term ' +
    'markets of Pendle’s own contracts: trades, splits, transfers of principal tokens, and the state of each market after every block.',
  async run(stage) {
    const results: Result[] = []
    const ponder = await installPonder(stage)
    for (const perBlock of [10, 100]) results.push(...(await measure(stage, perBlock, ponder)))
    results.push(await measureTerms(stage))
    return results
  },
}

async function measure(stage: Stage, perBlock: number, ponderFolder: string): Promise<Result[]> {
  const events = EVENTS[perBlock] ?? 0
  const node = await startNode()
  stage.afterwards(() => node.stop())
  stage.say(`blocks of ${perBlock} events: filling the chain`)
  const { vault, first, last } = await fillWithDeposits(node, events, perBlock)

  const chain = { node, vault, first, last, events }
  stage.say(`blocks of ${perBlock}: both for the first time`)
  await indexBare(stage, chain)
  await index(stage, chain, false)
  const rounds: { bare: number; ours: number; ratio: number }[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const bare = rateOf(await indexBare(stage, chain))
    const ours = rateOf(await index(stage, chain, false))
    rounds.push({ bare, ours, ratio: ours / bare })
    stage.say(`blocks of ${perBlock}, round ${round}: ${ours.toFixed(0)}/s, bare ${bare.toFixed(0)}/s`)
  }
  const middle = rounds.sort((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
  if (!middle) throw new TypeError('no round was measured')
  stage.say(`blocks of ${perBlock}: event store with samples`)
  const sampled = await index(stage, chain, true)
  stage.say(`blocks of ${perBlock}: Ponder`)
  const ponder = await indexWithPonder(stage, ponderFolder, node, { vault, first, last, logs: events })
  const wanted = BUDGET[perBlock] ?? 0
  return [
    {
      what: `blocks of ${perBlock}`,
      ours: perSecond(middle.ours, 1000),
      beside: `bare evm-processor ${perSecond(middle.bare, 1000)}`,
      ratio: middle.ratio,
      budget: `${wanted.toLocaleString('en')}/s, 1.2 times bare`,
      holds: middle.ours >= wanted && middle.ratio >= 1.2,
    },
    {
      what: `blocks of ${perBlock}, with samples`,
      ours: perSecond(sampled.events, sampled.ms),
      beside: `Ponder ${PONDER_VERSION} ${perSecond(events, ponder.ms)}`,
      ratio: sampled.events / sampled.ms / (events / ponder.ms),
    },
  ]
}

const rateOf = ({ events, ms }: { events: number; ms: number }) => (events / ms) * 1000

async function measureTerms(stage: Stage): Promise<Result> {
  stage.say('fixed-term markets: users wander over them')
  const { node, contracts, last } = await wanderOverTerms()
  stage.afterwards(() => node.stop())
  const runs = await Promise.all(
    [false, true].map(async samples => ({ samples, ...(await stage.postgres()) })),
  )
  const rates: string[] = []
  for (const { samples, pool } of runs) {
    const { ms } = await timed(async () =>
      runChain({
        network: networks.mainnet,
        protocols: await loadProtocols(),
        pool,
        rpcUrls: [node.rpcUrl],
        contracts: { ...contracts, 'chainlink-feed': [] },
        startBlock: 0,
        endBlock: last,
        samples,
      }),
    )
    const { rows } = await pool.query<{ events: number }>('SELECT count(*)::int AS events FROM event_log')
    rates.push(`${perSecond(rows[0]?.events ?? 0, ms)} (${rows[0]?.events} events)`)
  }
  const [without = '', withStates = ''] = rates
  return { what: 'fixed-term markets', ours: withStates, beside: `without states ${without}` }
}

/** A vault's events at blocks `first` to `last`. */
interface FilledChain {
  node: Node
  vault: string
  first: number
  last: number
  events: number
}

async function index(
  stage: Stage,
  { node, vault, first, last, events }: FilledChain,
  samples: boolean,
): Promise<{ events: number; ms: number }> {
  const { pool } = await stage.postgres()
  const protocols = await loadProtocols()
  const { ms } = await timed(() =>
    runChain({
      network: networks.mainnet,
      protocols,
      pool,
      rpcUrls: [node.rpcUrl],
      contracts: { 'chainlink-feed': [] },
      listedVaults: [vault],
      startBlock: first,
      endBlock: last,
      samples,
    }),
  )
  const { rows } = await pool.query<{ logs: number; events: number }>(
    `SELECT count(*) FILTER (WHERE type IN ('Deposited', 'ShareTransferred'))::int AS logs, count(*)::int AS events FROM event_log`,
  )
  const [row] = rows
  if (row?.logs !== events) throw new RangeError(`${row?.logs} events of logs stored, not ${events}`)
  return { events: row.events, ms }
}

/** What the library does with a handler that inserts and nothing else. */
async function indexBare(
  stage: Stage,
  { node, vault, first, last, events }: FilledChain,
): Promise<{ events: number; ms: number }> {
  const { pool } = await stage.postgres()
  await pool.query('CREATE TABLE bare (block int, log int, address text, topics text[], data text)')
  const database: Database<pg.Pool> = {
    async connect() {
      return { height: -1, hash: '0x' }
    },
    transact: async (_, handle) => handle(pool),
  }
  const { ms } = await timed(() =>
    runBare(
      { rpc: node.rpcUrl, from: first, to: last, address: vault, topics: TOPICS },
      database,
      async (to, blocks) => {
        const logs = blocks.flatMap(({ header, logs }) =>
          logs.map(({ logIndex, address, topics, data }) => ({
            block: header.height,
            logIndex,
            address,
            topics,
            data,
          })),
        )
        await to.query(
          `INSERT INTO bare SELECT block, log, address, string_to_array(topics, ','), data
           FROM unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::text[]) AS t(block, log, address, topics, data)`,
          [
            logs.map(({ block }) => block),
            logs.map(({ logIndex }) => logIndex),
            logs.map(({ address }) => address),
            logs.map(({ topics }) => topics.join()),
            logs.map(({ data }) => data),
          ],
        )
      },
    ),
  )
  const { rows } = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM bare')
  if (rows[0]?.count !== events) throw new RangeError(`${rows[0]?.count} logs inserted, not ${events}`)
  return { events, ms }
}

/** Deposit and Transfer, as ERC-4626 and ERC-20 name them. */
const TOPICS = [
  '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7',
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
] as const
