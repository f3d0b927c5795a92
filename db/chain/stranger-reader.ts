import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { type Hex, numberToHex, size } from 'viem'
import { steadyNow } from '../process/steady.ts'
import {
  ANSWER_BYTES,
  type BoundedAnswer,
  type BoundedCall,
  CALL_GAS,
  decodeReads,
  encodeReads,
  fitting,
  TOO_LONG,
} from './bounded-reader.ts'
import type { AskOptions } from './endpoint.ts'
import { RpcRefusedError, StateMissingError } from './errors.ts'
import type { Ask } from './failover.ts'
import { openFoundLimit } from './found-limit.ts'

/** As eth_call takes it: `latest`, a number, or a block by its hash. */
export type BlockParameter = Hex | 'latest' | { blockHash: string }

export interface StrangerReader {
  /** All of the calls at one block that stays what it is, each with so much gas. */
  read(calls: readonly BoundedCall[], at: BlockParameter, gas?: number): Promise<BoundedAnswer[]>
  /** As many of the first of them as one request answers, all of one block; undefined where no request answers several. */
  together(calls: readonly BoundedCall[], at: BlockParameter): Promise<BoundedAnswer[] | undefined>
  /** Resolves where the node has the state of that block. */
  stand(at: BlockParameter): Promise<void>
}

const MOST_CALLS = 400
/** Of calls that cannot be made together. */
const SIDE_BY_SIDE = 8
/** Bytes of a node's whole answer: more than the longest answer that is read, as hex and with words around it. */
const MOST_BYTES = 256 * 1024
const TIMEOUT = 10_000
/** Milliseconds for which what was found of a node and of a block is believed. */
const BELIEVED = 2_000
const FORGOTTEN = 600_000
/**
 * Times that a contract has to fail beside one that answers, and what lies between, milliseconds, more each time: a limit
 * of calls a second, said in words that nobody knows, befalls both or is over by the last.
 */
const FAILURES = 3
const PAUSE = 500
const LONGEST_PAUSE = 2_000
/** Times that it is asked at most, beside one that often does not answer either. */
const MOST_TRIES = 8
const bounded = { maxBytes: MOST_BYTES, timeoutMs: TIMEOUT, attempts: 2 }
/** Longer than a limit of calls a second lasts. */
const patient = { ...bounded, attempts: 3 }
/** The identity precompile: it answers what it is asked, everywhere. */
const IDENTITY = '0x0000000000000000000000000000000000000004'
const NOBODY = '0x0000000000000000000000000000000000000000'
const QUESTION: Hex = '0x7661756c746c6f67'

/**
 * Reads contracts that anybody may have chosen: each call with bounded gas and a bounded answer, and none at the cost of
 * another. What one contract does not answer, in whatever words of the node, is no answer once the node answers the like
 * of another one at the same block; it throws only where the node answers nobody, or has no state of that block.
 */
export function openStrangerReader(ask: Ask): StrangerReader {
  const width = openFoundLimit(MOST_CALLS)
  /** When the node did not run code that was sent with a call. */
  let unableAt = Number.NEGATIVE_INFINITY
  /** Contracts that were found to fail: once more is enough. */
  const failing = new LRUCache<string, true>({ max: 10_000, ttl: FORGOTTEN })

  const { call, control, once } = openControl(ask)

  async function alone(one: BoundedCall, at: BlockParameter, gas: number): Promise<BoundedAnswer> {
    let answer = await once(one, at, gas)
    const needed = failing.has(one.to) ? 1 : FAILURES
    for (let failed = 0, tries = 0; answer instanceof RpcRefusedError; tries++) {
      if (failed === needed) {
        failing.set(one.to, true)
        return { data: undefined, trouble: answer.message }
      }
      if (tries === MOST_TRIES) throw answer
      await control(at, answer)
      await sleep(Math.min(LONGEST_PAUSE, PAUSE * tries))
      // In one moment, the contract first: what refuses it for the moment's sake refuses the other, too.
      const beside = { ...bounded, attempts: 1 }
      const [again, other] = await Promise.all([
        once(one, at, gas, beside),
        works(() => call(IDENTITY, QUESTION, at, beside)),
      ])
      answer = again
      if (other) failed++
    }
    return answer
  }

  async function together(
    calls: readonly BoundedCall[],
    at: BlockParameter,
    gas = CALL_GAS,
  ): Promise<BoundedAnswer[] | undefined> {
    for (let most = width.now(); most > 0 && steadyNow() - unableAt > FORGOTTEN; ) {
      const some = fitting(calls, most)
      let failure: RpcRefusedError | undefined
      try {
        const answer = await ask('eth_call', [{ data: encodeReads(some, gas) }, at], bounded)
        const answers = isHex(answer) ? decodeReads(answer, some.length, gas) : undefined
        if (answers) {
          if (answers.length === some.length) width.answered(some.length)
          return answers
        }
      } catch (error) {
        if (!(error instanceof RpcRefusedError)) throw error
        failure = error
      }
      if (failure) await control(at, failure)
      if (!(await runsCode(ask))) unableAt = steadyNow()
      width.refused(some.length)
      most = Math.floor(some.length / 2)
    }
    return undefined
  }

  const readSome = async (
    calls: readonly BoundedCall[],
    at: BlockParameter,
    gas: number,
  ): Promise<BoundedAnswer[]> =>
    (calls.length > 1 ? await together(calls, at, gas) : undefined) ??
    Promise.all(calls.slice(0, SIDE_BY_SIDE).map(one => alone(one, at, gas)))

  return {
    together: (calls, at) => together(calls, at),
    async stand(at) {
      try {
        await call(IDENTITY, QUESTION, at)
      } catch (error) {
        if (!(error instanceof RpcRefusedError)) throw error
        await control(at, error)
      }
    },
    async read(calls, at, gas = CALL_GAS) {
      const chunks: (readonly BoundedCall[])[] = []
      for (let from = 0; from < calls.length; from += MOST_CALLS)
        chunks.push(calls.slice(from, from + MOST_CALLS))
      const answers = await Promise.all(
        chunks.map(async chunk => {
          const found: BoundedAnswer[] = []
          while (found.length < chunk.length)
            found.push(...(await readSome(chunk.slice(found.length), at, gas)))
          return found
        }),
      )
      return answers.flat()
    },
  }
}

/** Calls of one contract, and beside each that fails the like of another one: whose failure it is. */
function openControl(ask: Ask) {
  let takesGas = true
  const controls = new Map<string, { at: number; verdict: Promise<void> }>()

  const call = (
    to: string,
    data: string,
    at: BlockParameter,
    options: AskOptions = bounded,
    gas = CALL_GAS,
  ) =>
    ask(
      'eth_call',
      [{ to, data, ...(takesGas ? { gas: numberToHex(gas) } : {}) }, at],
      options,
    ) as Promise<Hex>

  /** Resolves where the node answers the like at that block: then a failure is the contract's own. */
  const control = (at: BlockParameter, failure: RpcRefusedError): Promise<void> => {
    const key = JSON.stringify(at)
    const known = controls.get(key)
    if (known && steadyNow() - known.at < BELIEVED) return known.verdict
    const verdict = judge(at, failure)
    controls.set(key, { at: steadyNow(), verdict })
    verdict.catch(() => {})
    for (const [other, { at: since }] of controls) if (steadyNow() - since > BELIEVED) controls.delete(other)
    return verdict
  }

  async function judge(at: BlockParameter, failure: RpcRefusedError): Promise<void> {
    if (await works(() => call(IDENTITY, QUESTION, at, patient))) return
    if (takesGas && (await works(() => ask('eth_call', [{ to: IDENTITY, data: QUESTION }, at], patient)))) {
      // A node that lets nobody say how much gas a call may use: it has a limit of its own.
      takesGas = false
      return
    }
    await ask('eth_blockNumber', [])
    if (at !== 'latest' && (await works(() => call(IDENTITY, QUESTION, 'latest', patient)))) {
      // Calls are answered: those at that block, too, or it is the block.
      if (await works(() => call(IDENTITY, QUESTION, at, patient))) return
    } else if (await works(() => ask('eth_getBalance', [NOBODY, at]))) throw failure
    throw new StateMissingError(nameOf(at), failure)
  }

  /** What a contract says, or with which words the node met the call. */
  async function once(
    { to, data }: BoundedCall,
    at: BlockParameter,
    gas: number,
    options?: AskOptions,
  ): Promise<BoundedAnswer | RpcRefusedError> {
    try {
      const answer = await call(to, data, at, options, gas)
      if (!isHex(answer)) return { data: undefined, trouble: 'the node answered something else than hex' }
      if (answer === '0x') return { data: undefined }
      return size(answer) > ANSWER_BYTES ? { data: undefined, trouble: TOO_LONG } : { data: answer }
    } catch (error) {
      if (!(error instanceof RpcRefusedError)) throw error
      return error.isRevert ? { data: undefined } : error
    }
  }

  return { call, control, once }
}

/** Whether the node runs code that is sent with a call. */
async function runsCode(ask: Ask): Promise<boolean> {
  const asked = [{ to: IDENTITY, data: QUESTION }]
  try {
    const answer = await ask('eth_call', [{ data: encodeReads(asked) }, 'latest'], bounded)
    return isHex(answer) && decodeReads(answer, 1)?.[0]?.data === QUESTION
  } catch (error) {
    if (!(error instanceof RpcRefusedError) || error.isGone) throw error
    return false
  }
}

const nameOf = (at: BlockParameter) => `block ${typeof at === 'string' ? at : at.blockHash}`

async function works(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask()
    return true
  } catch (error) {
    if (error instanceof RpcRefusedError) return false
    throw error
  }
}

const isHex = (answer: unknown): answer is Hex =>
  typeof answer === 'string' && /^0x([0-9a-f]{2})*$/i.test(answer)
