import type { ClickHouseClient } from '@clickhouse/client'
import type { Request, Response } from 'express'
import type pg from 'pg'
import type { Faces } from '../../db/faces.ts'
import type { CreditMeter } from '../../db/keys/credits.ts'
import type { ApiKey } from '../../db/keys/keys.ts'
import type { RateMeter } from '../../db/keys/rates.ts'
import type { Catalogue, CatalogueSource, Shown } from '../catalogue/catalogue.ts'
import type { Feed } from '../feed/feed.ts'
import type { Intents } from '../intents/providers.ts'
import type { OnChain } from '../on-chain.ts'
import type { SolanaNode } from '../svm/node.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { z } from './zod.ts'

export type Tier = 'v2' | 'beta' | 'alpha'

/** What a process of the API is made of. Everything an endpoint may use, and nothing it finds for itself. */
export interface ApiDeps {
  pool: pg.Pool
  clickhouse: ClickHouseClient
  rates: RateMeter
  catalogue: CatalogueSource
  verifyKey: (key: string) => Promise<ApiKey | undefined>
  credits: CreditMeter
  /** What is read from chains at the moment of the request; a network without an RPC endpoint answers 503. */
  onChain: OnChain
  /** Wallets and vaults on Solana as they are now; where no node is named it answers 503. */
  solana: SolanaNode
  /** Outside services that move positions between chains; one that is not configured answers 503. */
  intents: Intents
  /** Events as they are stored, for all who follow them. */
  feed: Feed
  /** Subscriptions to it, and how a message is sent to one. */
  webhooks: Webhooks
  /** Vaults that nobody vouches for are shown where a request does not say. */
  showUnlisted?: boolean
}

export interface EndpointContext {
  deps: ApiDeps
  /** The catalogue as of one moment; queries of this request are pinned to the same moment. */
  catalogue: Catalogue
  /** The vaults of it that the answer may be made of. */
  shown: Shown
  key: ApiKey | undefined
  /** Aborted when the deadline has passed or the caller has gone. */
  signal: AbortSignal
  /** Names a chain that the answer stands on, for x-as-of-block. */
  touch(...chainIds: number[]): void
  /**
   * Says how many vaults or markets the answer leaves out because nobody vouches for them (x-unlisted-left-out). `isEmpty`: nothing
   * else is in it; then its `warnings` say so as well.
   */
  leaveOut(count: number, isEmpty: boolean, what?: 'vault' | 'market'): void
  /** Names a block that the answer was read at on chain itself: x-as-of-block says it in place of the catalogue's. */
  readAt(chainId: number, block: bigint): void
}

/** A body that is JSON already, made of parts that were serialised before. `items`: how many, for the cost. */
export class ReadyJson {
  readonly text: string
  readonly items: number
  constructor(text: string, items: number) {
    this.text = text
    this.items = items
  }
}

/** What goes on after the answer's head, until either side ends it. Called when its first credits are taken. */
export type Stream = (response: Response) => Promise<void>

type ObjectSchema = z.ZodObject
type Out<S> = S extends z.ZodType ? z.output<S> : undefined

/** `none`: never kept; `moment`: true until a projection moves; `static`: true until the next release. */
export type CachePolicy = 'none' | 'moment' | 'static'

export interface EndpointDefinition<
  P extends ObjectSchema | undefined = ObjectSchema | undefined,
  Q extends ObjectSchema | undefined = ObjectSchema | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
  R extends z.ZodType = z.ZodType,
> {
  /** One tier, or all in which the same endpoint is served. */
  tier: Tier | readonly Tier[]
  method: 'get' | 'post' | 'delete'
  /** Below the tier, parameters in braces: /detailed-vaults/{network}/{vaultId} */
  path: string
  summary: string
  description?: string
  /** Health is for everybody; all else wants a key. */
  access?: 'key' | 'open'
  /** False: only with a key, also where others may pay for a request instead (x402). */
  payable?: false
  params?: P
  query?: Q
  body?: B
  response: R
  /** The field of the response whose items are the rows of a table: who accepts CSV or Parquet gets them so. */
  table?: string
  example: Example
  /** Settings without which the example is answered with 503, which names them. */
  needs?: readonly string[]
  /** Credits of an answer: fixed, or reckoned from the answer. A failed request costs nothing. */
  cost: number | ((answer: Answer<B, R>) => number)
  /** The same in words, where it is not so much and so much for each item of a page. */
  costInWords?: string
  cache: CachePolicy
  /** The faces that its answers stand on besides the core: they are as of the earliest. */
  face?: Faces
  /** Its answers have figures of other chains, too, than that of their path. */
  standsOnAll?: boolean
  handler(
    input: { params: Out<P>; query: Out<Q>; body: Out<B> },
    context: EndpointContext,
  ): Promise<z.input<R> | ReadyJson> | z.input<R> | ReadyJson
  /** The same as events of a server (text/event-stream), for those whose Accept asks for it. */
  stream?: {
    description: string
    open(
      input: { params: Out<P>; query: Out<Q>; body: Out<B> },
      context: EndpointContext,
      request: Request,
    ): Promise<Stream>
  }
}

export interface Answer<B, R extends z.ZodType> {
  /** Absent where the body was ready-made JSON. */
  body: z.input<R> | undefined
  items: number
  request: Out<B>
}

/** A request that works on the demo and in tests; `{vault}` and the like are replaced by real ones. */
export interface Example {
  params?: Record<string, string>
  query?: Record<string, string | string[]>
  body?: unknown
}

export type Endpoint = EndpointDefinition

export function defineEndpoint<
  P extends ObjectSchema | undefined = undefined,
  Q extends ObjectSchema | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  R extends z.ZodType = z.ZodType,
>(definition: EndpointDefinition<P, Q, B, R>): Endpoint {
  return definition as unknown as Endpoint
}

export function tiersOf(endpoint: Endpoint): readonly Tier[] {
  return typeof endpoint.tier === 'string' ? [endpoint.tier] : endpoint.tier
}

/** Payable in advance is what can be priced in advance: a fixed cost, by the body, or so much per item of a page. */
export function isPayable({ access, payable, cost, body, query }: Endpoint): boolean {
  return (
    access !== 'open' &&
    payable !== false &&
    (typeof cost === 'number' || body !== undefined || query?.shape['perPage'] !== undefined)
  )
}
