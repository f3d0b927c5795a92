import { writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Address } from 'viem'
import type { Fact } from '../../db/registry/fact.ts'
import type { Node } from '../chain/node.ts'
import type { Scenario } from '../chain/scenario.ts'
import { scenarioContracts } from '../pipeline.ts'
import { liveWith, type StrangeChain } from './chain.ts'
import { type Answer, type Installation, install } from './installation.ts'
import { questionsAbout, questionsOf } from './questions.ts'
import type { Stranger } from './strangers.ts'

export interface StoredEvent {
  type: string
  contract: string | null
  block: number
  log: number | null
  tx: string | null
  data: string
}

/** What an installation makes of a chain. */
export interface Run {
  events: StoredEvent[]
  /** Of everything that anybody may ask, by question. */
  answers: Map<string, Answer>
  /** Of what was asked about strangers. */
  aboutStrangers: Map<string, Answer>
  memory: Record<string, number>
  /** Seconds that history took, and milliseconds from a block to its being stored, in the middle and at worst. */
  seconds: number
  delays: { p50: number; worst: number }
  strangers: readonly Address[]
  deadLetters: number
  words: string
}

/** Requests under way at once, of those that make a node run what strangers wrote. */
const SIDE_BY_SIDE = 12

/** Milliseconds for which the chain waits for a block's being stored. */
const PATIENCE = 60_000

const PROTOCOL = { subject: 'protocol:demo', kind: 'profile', value: { displayName: 'Demo Finance' } }

/** The honest vaults and markets are listed, their assets have feeds. */
function factsOf({ vaults, feeds, morpho }: Pick<Scenario, 'vaults' | 'feeds' | 'morpho'>): Fact[] {
  return [
    PROTOCOL,
    ...feeds.map(({ asset, proxy, decimals }) => ({
      subject: `asset:1:${asset.address}`,
      kind: 'feed',
      value: { feed: proxy, decimals },
    })),
    ...morpho.markets.map(({ id }) => ({ subject: `market:1:${id}`, kind: 'listed', value: {} })),
    ...vaults.map(({ address, symbol }) => ({
      subject: `vault:1:${address}`,
      kind: 'listed',
      value: {
        protocol: 'demo',
        description: symbol,
        lendUrl: '',
        protocolVaultUrl: '',
      },
    })),
  ]
}

/** Lives a chain through with these strangers while an installation reads it: its history first, then at the head. */
export async function runWith(
  strangers: readonly Stranger[],
  servers: { databaseUrl: string; clickhouseUrl: string },
): Promise<Run> {
  let installation: Installation | undefined
  let chain: StrangeChain | undefined
  let node: Node | undefined
  let seconds = 0
  const watch = new AbortController()
  let watching: Promise<number[]> = Promise.resolve([])
  try {
    chain = await liveWith(strangers, async (of, scenario) => {
      node = of
      const began = Date.now()
      installation = await install(servers, {
        rpcUrl: of.rpcUrl,
        contracts: scenarioContracts(scenario),
        facts: factsOf(scenario),
        at: scenario.start,
      })
      await installation.settled(await of.head())
      seconds = (Date.now() - began) / 1000
      watching = watchDelays(of, installation, watch.signal)
      return block => untilStored(installation, block)
    })
    const { scenario } = chain
    if (!installation) throw new TypeError('history never ended')
    await installation.settled(await chain.node.head())
    watch.abort()
    const delays = (await watching).sort((a, b) => a - b)
    await untilServed(installation, (await chain.node.head()).number)

    const answers = new Map<string, Answer>()
    for (const question of questionsOf(scenario)) answers.set(question, await installation.ask(question))
    const aboutStrangers = new Map<string, Answer>()
    const asked = questionsAbout(chain.contracts, scenario.users[0] ?? '0x')
    const { ask } = installation
    for (let at = 0; at < asked.length; at += SIDE_BY_SIDE) {
      const some = asked.slice(at, at + SIDE_BY_SIDE)
      const found = await Promise.all(some.map(ask))
      for (const [i, question] of some.entries()) if (found[i]) aboutStrangers.set(question, found[i])
    }
    const { rows } = await installation.pool.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM dead_letter',
    )
    return {
      events: await storedEvents(installation),
      answers,
      aboutStrangers,
      memory: installation.memory(),
      seconds,
      delays: { p50: delays[delays.length >> 1] ?? Number.NaN, worst: delays.at(-1) ?? Number.NaN },
      strangers: chain.contracts,
      deadLetters: rows[0]?.n ?? 0,
      words: installation.words(),
    }
  } finally {
    watch.abort()
    const words = process.env['HOSTILE_WORDS']
    if (words && installation) writeFileSync(words, installation.words())
    await watching.catch(() => {})
    await installation?.close()
    await (chain?.node ?? node)?.stop()
  }
}

/** For as long as a processor needs at most that is alive; one that is not is told of when the chain has been lived through. */
async function untilStored(installation: Installation | undefined, block: number): Promise<void> {
  const until = Date.now() + PATIENCE
  while (installation && Date.now() < until && (await installation.height()) < block) await pause(10)
}

/** Milliseconds from each head of the node to the store's having it, as far as looking every 20 ms tells. */
async function watchDelays(node: Node, installation: Installation, signal: AbortSignal): Promise<number[]> {
  const delays: number[] = []
  let seen = (await node.head()).number
  let waiting: { number: number; at: number }[] = []
  while (!signal.aborted) {
    const { number } = await node.head()
    for (let n = seen + 1; n <= number; n++) waiting.push({ number: n, at: Date.now() })
    seen = Math.max(seen, number)
    const stored = waiting.length > 0 ? await installation.height() : -1
    for (const { number: of, at } of waiting) if (of <= stored) delays.push(Date.now() - at)
    waiting = waiting.filter(({ number: of }) => of > stored)
    await pause(20)
  }
  return delays
}

async function untilServed(installation: Installation, block: number): Promise<void> {
  for (let tries = 0; tries < 900; tries++) {
    const { served } = await installation.ask('/v2/vaults').catch(() => ({ served: -1 }))
    if (served >= block) return
    await pause(200)
  }
  throw new TypeError(`the API never served block ${block}`)
}

async function storedEvents({ pool }: Installation): Promise<StoredEvent[]> {
  const { rows } = await pool.query<StoredEvent>(
    `SELECT type, '0x' || encode(contract, 'hex') AS contract, block_number::int AS block, log_index::int AS log,
       '0x' || encode(tx_hash, 'hex') AS tx, data::text AS data
     FROM stored_events(1, 0, 9007199254740991) ORDER BY block_number, log_index, type, contract, data::text`,
  )
  return rows
}
