import { UnavailableError } from '../process/errors.ts'

/** Why there is no answer. */
export interface NoAnswer {
  /** Of HTTP, where it was not 200. */
  status?: number | undefined
  /** There was none in the time given. */
  isLate?: boolean
  /** There was no connection, or it broke. */
  isGone?: boolean
  /** It had more bytes than are read of one. */
  isTooLong?: boolean
}

interface Refusal extends NoAnswer {
  method: string
  /** Host of the endpoint: its path may be a key. */
  host: string
  /** In the node's own words. */
  said: string
  /** Of JSON-RPC. */
  code?: number | undefined
  data?: unknown
}

/** A node answered a request with an error, or not at all. */
export class RpcRefusedError extends UnavailableError {
  readonly host: string
  readonly said: string
  readonly status: number | undefined
  readonly rpcCode: number | undefined
  readonly data: unknown
  readonly isLate: boolean
  readonly isGone: boolean
  readonly isTooLong: boolean
  constructor(
    { method, host, said, status, code, data, isLate = false, isGone = false, isTooLong = false }: Refusal,
    options?: ErrorOptions,
  ) {
    const words = said.slice(0, 300)
    const by = [...(status === undefined ? [] : [`HTTP ${status}`]), ...(code === undefined ? [] : [code])]
    super(`${method} failed at ${host}: ${by.length > 0 ? `${by.join(', ')}, ` : ''}${words}`, options)
    this.host = host
    this.said = words
    this.status = status
    this.rpcCode = code
    this.data = data
    this.isLate = isLate
    this.isGone = isGone
    this.isTooLong = isTooLong
  }

  /** The node itself said so of this very request; otherwise it was out of reach, silent, or something before it answered. */
  get isAnswered(): boolean {
    return this.rpcCode !== undefined
  }

  /** It is about what was asked, or may be: something less, or something else, may be answered. Otherwise it is about who asked when. */
  get isAboutQuestion(): boolean {
    return this.isAnswered || this.isTooLong || (this.status !== undefined && TOO_MUCH.has(this.status))
  }

  /** A fixed meaning, or words that every client has for it: not worth asking again. What is not known here is asked again. */
  get isPlain(): boolean {
    return this.isRevert || (this.isAnswered && PLAIN_CODES.has(this.rpcCode ?? 0))
  }

  /** The contract itself refuses. */
  get isRevert(): boolean {
    return this.isAnswered && (this.rpcCode === REVERTED || /revert/i.test(this.said))
  }
}

/** HTTP: bad request, content too large, URI too long, unprocessable content. */
const TOO_MUCH = new Set([400, 413, 414, 422])

/** Execution reverted. */
const REVERTED = 3
/** No such method, invalid parameters. */
const PLAIN_CODES = new Set([-32601, -32602])

/** First words of a StateMissingError; the dead letters of such blocks are found by them. */
export const NO_STATE = 'The node has no state of'

/** The node answers, and does not have the state of that block: it keeps no archive, or the block was replaced. */
export class StateMissingError extends UnavailableError {
  /** The first block whose state the node has, as far as it was looked for. */
  keptFrom: number | undefined
  constructor(at: string, cause?: RpcRefusedError) {
    super(`${NO_STATE} ${at}${cause ? `: ${cause.message}` : ''}`, { cause })
  }
}

/** The node answers, and cannot tell: it has no state of that block, or does not know what is asked. */
export const isUnknownToNode = (error: unknown): boolean =>
  error instanceof StateMissingError || (error instanceof RpcRefusedError && error.isAnswered)
