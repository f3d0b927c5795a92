import type { Request, Response } from 'express'
import type { ApiKey } from '../../db/keys/keys.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { ApiDeps, Endpoint, Stream } from './endpoint.ts'
import type { EntityTags } from './entity-tags.ts'
import type { Payment, Payments } from './payments.ts'
import type { ReadyAnswers } from './ready-answers.ts'
import type { Format } from './tables.ts'

export interface ServeOptions {
  deadlineMs: number
  tags: EntityTags
  payments?: Payments
  ready: ReadyAnswers
}

/** Vaults or markets for which nobody vouches, and that an answer leaves out. */
export interface LeftOut {
  count: number
  /** Nothing else is in the answer. */
  isEmpty: boolean
  what: string
}

/** What becomes of a request. `unchanged`: what the caller has already still holds. */
export type Outcome =
  | { kind: 'unchanged'; tag: string }
  | { kind: 'made'; text: string; credits: number }
  | { kind: 'stream'; stream: Stream; credits: number }

/** A request on its way to its answer: every step adds what it finds out. */
export class Exchange {
  key?: ApiKey
  payment?: Payment
  catalogue?: Catalogue
  leftOut?: LeftOut
  /** What the caller takes; the answer is made as JSON first, whatever it is. */
  format: Format = 'json'
  /** Chains that the answer stands on. */
  readonly touched = new Set<number>()
  /** Blocks that chains themselves were read at. */
  readonly read = new Map<number, bigint>()
  readonly endpoint: Endpoint
  readonly deps: ApiDeps
  readonly options: ServeOptions
  readonly request: Request
  readonly response: Response
  /** In words, with its method and path. */
  readonly what: string

  constructor(
    { endpoint, route }: { endpoint: Endpoint; route: string },
    { deps, options }: { deps: ApiDeps; options: ServeOptions },
    { request, response }: { request: Request; response: Response },
  ) {
    this.endpoint = endpoint
    this.deps = deps
    this.options = options
    this.request = request
    this.response = response
    this.what = `${endpoint.summary} (${endpoint.method.toUpperCase()} ${route})`
  }

  get isHead(): boolean {
    return this.request.method === 'HEAD'
  }

  /** Whether its answer has a tag, and is kept while it holds. */
  get isConditional(): boolean {
    return this.endpoint.cache !== 'none' && (this.request.method === 'GET' || this.isHead)
  }

  /** What a tag is of: of each format another. */
  get representation(): string {
    return this.format === 'json' ? this.request.originalUrl : `${this.format} ${this.request.originalUrl}`
  }

  get ifNoneMatch(): string | undefined {
    return this.request.get('if-none-match')
  }
}
