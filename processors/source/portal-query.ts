import type { Subscription } from '../handling/decode.ts'
import { COMMON } from './log-queries.ts'

type Subscriptions = readonly Partial<Subscription>[]

/** Logs of contracts and topics; of any contract, of any topic, where it names none. */
export interface Selection {
  address?: string[]
  topic0?: string[]
  /** With the transactions of these logs. */
  transaction?: true
}

/** Of one query: subsquid/sqd-portal, spec/15-parameters.md, P-QUERY-MAX-ITEMS and P-QUERY-SIZE-LIMIT. */
export const MOST_SELECTIONS = 100
export const MOST_BYTES = 256 * 1024
/** Left for what stands in a query besides its selections. */
const REST_BYTES = 2 * 1024
const ADDRESS_BYTES = '"0x",'.length + 40
/** Bytes of answers in the time that one more query takes: half a second at 1 MB/s, the public Portal's pace of both. */
const BYTES_OF_A_QUERY = 500_000
/** Bytes of a log in an answer, about. */
const BYTES_OF_A_LOG = 700

/** Logs in a block with one of these topics, of whatever contract. */
export type Density = (topics: readonly string[]) => Promise<number>

/**
 * The queries that ask a Portal for what is subscribed to in so many blocks: by lists of addresses, as long as these fit in one query.
 * Where they do not, a kind of contracts is asked for by its topics alone if the logs of strangers that come with them weigh
 * less than the queries that its addresses fill.
 */
export async function queriesOf(
  subscriptions: Subscriptions,
  blocks: number,
  density: Density,
): Promise<Selection[][]> {
  const selections = selectionsOf(subscriptions)
  let queries = packed(selections)
  if (queries.length <= 1) return queries
  const lists = selections
    .filter(({ address, topic0 }) => address && topic0 && !topic0.includes(COMMON))
    .sort((a, b) => (b.address?.length ?? 0) - (a.address?.length ?? 0))
  for (const list of lists) {
    const { address: _, ...byTopics } = list
    const others = selections.map(one => (one === list ? byTopics : one))
    const fewer = packed(others)
    const saved = queries.length - fewer.length
    if (saved <= 0) continue
    const strangers = (await density(list.topic0 ?? [])) * blocks * BYTES_OF_A_LOG
    if (strangers >= saved * BYTES_OF_A_QUERY) continue
    selections.splice(selections.indexOf(list), 1, byTopics)
    queries = fewer
  }
  return queries
}

/** One for each subscription, without the topics that are asked for wherever they are. */
function selectionsOf(subscriptions: Subscriptions): Selection[] {
  const anywhere = subscriptions.filter(({ address }) => !address)
  const isAll = anywhere.some(({ topic0, transaction }) => !topic0 && transaction)
  const covered = new Map<string, boolean>()
  for (const { topic0 = [], transaction = false } of anywhere)
    for (const topic of topic0) covered.set(topic, covered.get(topic) || transaction)
  return subscriptions.flatMap(({ address, topic0, transaction }): Selection[] => {
    if (address && isAll) return []
    // Without its transactions it is not what is wanted with them.
    const isCovered = (topic: string) => covered.has(topic) && (covered.get(topic) || !transaction)
    const topics = address ? topic0?.filter(topic => !isCovered(topic)) : topic0
    if (address?.length === 0 || topics?.length === 0) return []
    return [
      {
        ...(address && { address: [...new Set(address)] }),
        ...(topics && { topic0: [...new Set(topics)] }),
        ...(transaction && { transaction: true }),
      },
    ]
  })
}

/** As few queries as hold these selections, in their order; lists of addresses are divided where they do not fit. */
export function packed(selections: readonly Selection[]): Selection[][] {
  const queries: Selection[][] = []
  let bytes = Number.POSITIVE_INFINITY
  const limit = MOST_BYTES - REST_BYTES
  for (const selection of selections) {
    const { address, ...others } = selection
    const own = JSON.stringify({ ...others, address: [] }).length + 1
    let from = 0
    do {
      const count = (address?.length ?? 0) - from
      let query = queries.at(-1)
      const room = Math.floor((limit - bytes - own) / ADDRESS_BYTES)
      const isFull = !query || query.length === MOST_SELECTIONS || bytes + own > limit
      // A list is not divided for the sake of a little room.
      if (isFull || (address && room < Math.min(count, 100))) {
        query = []
        queries.push(query)
        bytes = 0
      }
      const fits = address && Math.min(count, Math.floor((limit - bytes - own) / ADDRESS_BYTES))
      query?.push(
        fits === undefined ? others : { ...others, address: address?.slice(from, from + fits) ?? [] },
      )
      bytes += own + (fits ?? 0) * ADDRESS_BYTES
      from += fits ?? 0
    } while (address && from < address.length)
  }
  return queries.length > 0 ? queries : [[]]
}
