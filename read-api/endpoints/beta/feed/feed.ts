import { type Cursor, formatCursor, readCursor, START } from '../../../feed/cursor.ts'
import type { Mode } from '../../../feed/feed.ts'
import { type Filter, filterOf, filterParameters } from '../../../feed/filter.ts'
import type { Message } from '../../../feed/message.ts'
import { LOOKED_AT, OpenStreams, PER_CREDIT, Session } from '../../../feed/session.ts'
import type { EndpointContext } from '../../../http/endpoint.ts'
import { defineEndpoint, ReadyJson } from '../../../http/endpoint.ts'
import { CreditsExhaustedError, MissingKeyError } from '../../../http/errors.ts'
import { integer } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'

const Position = z.string().openapi({
  description:
    'How far each chain has been read: its id, a position, and what tells the event there from others: 1.4711~kJ3_xQ, or several with commas. Send it back as `after`, or as Last-Event-ID; where the store has another event there, as after it was restored from an older copy, that is answered with 409.',
})

const FeedMessage = z
  .strictObject({
    id: z.string().openapi({ description: 'Names the event for good: chain id and position, 1.4711.' }),
    kind: z.enum(['event', 'retraction']),
    network: z.string(),
    chainId: z.int(),
    position: z.int().openapi({
      description: 'Place among the events of its chain. Dense: a filter leaves gaps, nothing else does.',
    }),
    type: z.string(),
    protocol: z.string().optional(),
    blockNumber: z.string().openapi({ description: 'Of Solana the slot.' }),
    blockHash: z.string(),
    timestamp: z
      .int()
      .optional()
      .openapi({ description: 'Unix seconds of the block. Absent on retractions.' }),
    transactionHash: z.string().optional().openapi({ description: 'Absent on what was read as state.' }),
    logIndex: z.int().optional(),
    contract: z.string().optional(),
    data: z.record(z.string(), z.unknown()).openapi({
      description:
        'What the event says; amounts are decimal strings in base units. Of a retraction: fromPosition and toPosition, the positions of the block that do not stand any more.',
    }),
  })
  .openapi('FeedMessage')

const open = new OpenStreams()

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/feed',
  summary: 'Events as they are stored, in order, and what forks take back',
  description:
    'Each chain has an order of its own, without a gap; between chains there is none. As JSON a page and where to go on; with Accept: text/event-stream the events as they come, without end. Without `after` it begins now. Retractions are sent whatever is filtered, but for `networks`: whoever has nothing at the positions they name has nothing to take back. What an operator takes back below finality and stores anew comes again in finalized mode, at new positions. A key may have as many streams open at one time as it may make requests a minute.',
  payable: false,
  query: z.object({
    ...filterParameters,
    after: z
      .string({ error: 'must be given once' })
      .min(1, { error: `must be a position, or ${START}` })
      .max(1_024, { error: 'must have 1024 characters at most' })
      .optional()
      .openapi({
        maxLength: 1_024,
        description: `Where to go on: the \`after\` of a page or the line \`id:\` of a stream, as it came (the id inside a message names its own chain alone), or ${START} for everything that is stored. A chain that it does not name is read from its beginning.`,
        example: '1.4711',
      }),
    perPage: integer({ min: 1, max: 1_000 })
      .optional()
      .transform(value => value ?? 100)
      .openapi({
        type: 'integer',
        minimum: 1,
        maximum: 1_000,
        default: 100,
        description: 'Messages of a page of JSON at most.',
      }),
  }),
  response: z.strictObject({
    after: Position,
    isCaughtUp: z.boolean().openapi({ description: 'Nothing more is stored at the moment.' }),
    messages: z.array(FeedMessage),
  }),
  example: { query: { after: START, perPage: '5' } },
  cost: ({ items }) => Math.max(1, Math.ceil(items / PER_CREDIT)),
  costInWords: `Costs 1 credit for each ${PER_CREDIT} messages, and 1 at least; a stream takes them as it goes, and one for each ${LOOKED_AT.toLocaleString('en')} events that it looked at.`,
  cache: 'none',
  async handler({ query }, { deps }) {
    const { filter, mode, cursor, chains } = await begin(query, query.after, deps)
    const { messages, isCaughtUp } = await collect({ deps, filter, mode, cursor, chains }, query.perPage)
    return new ReadyJson(
      `{"after":${JSON.stringify(formatCursor(cursor))},"isCaughtUp":${isCaughtUp},"messages":[${messages.map(({ json }) => json).join(',')}]}`,
      messages.length,
    )
  },
  stream: {
    description:
      'Server-sent events. `event` and `retraction` have a FeedMessage as data and how far all chains are read as id, which a client sends back as Last-Event-ID when it comes again (it counts before `after`). `position` says how far that is while nothing passes the filters. `failure` is the last word: its data are statusCode and message. A comment every 15 seconds says that the connection stands. Who reads too slowly is cut off after a minute, and misses nothing.',
    async open({ query }, { deps, key }, request) {
      if (!key) throw new MissingKeyError('A stream needs an API key: send yours in the header x-api-key.')
      const free = open.take(key)
      // Before anything is waited for: who leaves meanwhile leaves their place as well.
      request.res?.once('close', free)
      const last = request.get('last-event-id')?.trim().slice(0, 1_024) || undefined
      const options = await begin(query, last ?? query.after, deps)
      const given = request.get('x-api-key')?.trim() ?? ''
      return response =>
        new Session({
          ...options,
          feed: deps.feed,
          response,
          isAllowed: async () => (await deps.verifyKey(given)) !== undefined,
          async pay() {
            const { isAccepted, remaining } = await deps.credits.charge(key, 1)
            if (!isAccepted) throw new CreditsExhaustedError(1, remaining)
          },
        }).run()
    },
  },
})

interface Reading {
  deps: EndpointContext['deps']
  filter: Filter
  mode: Mode
  cursor: Cursor
  chains: Awaited<ReturnType<EndpointContext['deps']['feed']['look']>>
}

async function begin(
  query: Parameters<typeof filterOf>[0] & { mode: Mode },
  after: string | undefined,
  { feed }: EndpointContext['deps'],
) {
  const filter = filterOf(query)
  const chains = await feed.look()
  const followed = [...chains.keys()].filter(filter.follows)
  const cursor = after
    ? await readCursor(after, { feed, chains, follows: filter.follows })
    : await feed.placesAt(new Map(followed.map(id => [id, feed.reach(id, query.mode, chains)])))
  return { filter, mode: query.mode, cursor, chains }
}

/** Messages of the next page; the cursor goes with them. Each chain in turn has its share: a busy one does not keep others waiting. */
async function collect(
  { deps: { feed }, filter, mode, cursor, chains }: Reading,
  most: number,
): Promise<{ messages: Message[]; isCaughtUp: boolean }> {
  const messages: Message[] = []
  const reachOf = (chainId: number) => feed.reach(chainId, mode, chains)
  const isBehind = (chainId: number) => (cursor.get(chainId)?.position ?? 0) < reachOf(chainId)
  let behind = [...chains.keys()].filter(chainId => filter.follows(chainId) && isBehind(chainId))
  for (let lookedAt = 0; behind.length > 0 && lookedAt < LOOKED_AT && messages.length < most; ) {
    const share = Math.ceil((most - messages.length) / behind.length)
    for (const chainId of behind) {
      const after = cursor.get(chainId)?.position ?? 0
      const page = await feed.read(chainId, after, reachOf(chainId), mode)
      const passing = page.messages.filter(filter.takes)
      const taken = passing.slice(0, Math.min(share, most - messages.length))
      messages.push(...taken)
      // What comes after the share is read again.
      const reached = taken.length < passing.length ? taken.at(-1)?.place : page.last
      if (reached) cursor.set(chainId, reached)
      lookedAt += page.last.position - after
    }
    behind = behind.filter(isBehind)
  }
  return { messages, isCaughtUp: behind.length === 0 }
}
