import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockRef } from '../../db/events/event-store.ts'
import { log } from '../../db/process/log.ts'
import type { DeadLetter } from '../handling/block.ts'
import { crossChecks } from '../metrics.ts'
import type { StateCall } from '../protocol.ts'
import type { ChainRpc } from './rpc.ts'

/** One contract in so many is asked again at a block. */
const ONE_IN = 100
/** Calls of one contract at one block that are compared. */
const CALLS = 20
/** Comparisons that wait, and those that are under way; what is beyond is left out, and counted. */
const WAITING = 200
const UNDER_WAY = 2
/** Milliseconds after which it is asked: another node may have a block of the head later. */
const PATIENCE = 10_000

type Asked = Pick<ChainRpc, 'calls'>

export interface CrossCheckOptions {
  /** Name of the network. */
  chain: string
  /** The preferred endpoint alone, and those beside it: where it fails, they are who answered. */
  first: Asked
  second: Asked
  onDifference: (letters: DeadLetter[]) => Promise<void>
  patienceMs?: number
}

interface Drawn {
  call: StateCall
  /** With which it was asked: some answer otherwise with more. */
  gas: number | undefined
  answer: string | undefined
}

/**
 * What one endpoint says of a contract is believed for good. Of one in a hundred answers, drawn by block and contract so that
 * it is the same ones in every run, another endpoint is asked the same at the same block; where it says something else, and does
 * so again, that is a dead letter. Nothing waits for it, and nothing stops for it.
 */
export class CrossCheck {
  private readonly options: CrossCheckOptions
  private readonly timers = new Set<NodeJS.Timeout>()
  private readonly ready: { drawn: readonly Drawn[]; block: BlockRef }[] = []
  private underWay = 0
  private isOver = false

  constructor(options: CrossCheckOptions) {
    this.options = options
  }

  /** The same, with a part of what is sampled held against what the second says. */
  wrap(rpc: ChainRpc): ChainRpc {
    return {
      ...rpc,
      calls: async (calls, block, onTrouble, gas, onUsed) => {
        const troubled = new Set<string>()
        const note: typeof onTrouble = (contract, trouble) => {
          troubled.add(contract)
          onTrouble?.(contract, trouble)
        }
        const answers = await rpc.calls(calls, block, note, gas, onUsed)
        for (const drawn of draw(calls, answers, block, troubled, gas)) this.add(drawn, block)
        return answers
      },
    }
  }

  stop(): void {
    this.isOver = true
    for (const timer of this.timers) clearTimeout(timer)
  }

  private count(result: string): void {
    crossChecks.inc({ chain: this.options.chain, result })
  }

  private add(drawn: readonly Drawn[], block: BlockRef): void {
    if (this.isOver) return
    if (this.timers.size + this.ready.length >= WAITING) {
      this.count('left out')
      return
    }
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      this.ready.push({ drawn, block })
      this.next()
    }, this.options.patienceMs ?? PATIENCE)
    this.timers.add(timer)
  }

  private next(): void {
    if (this.isOver || this.underWay >= UNDER_WAY) return
    const one = this.ready.shift()
    if (!one) return
    this.underWay++
    this.compare(one.drawn, one.block)
      .then(
        result => this.count(result),
        (error: Error) => {
          // It has no state of that block, or does not answer: that says nothing of the first.
          this.count('unanswered')
          log.debug({ chain: this.options.chain, error: error.message }, 'no second endpoint to compare with')
        },
      )
      .finally(() => {
        this.underWay--
        this.next()
      })
  }

  private async compare(drawn: readonly Drawn[], block: BlockRef): Promise<'equal' | 'different'> {
    const { first, second } = this.options
    for (const asked of [second, first]) {
      const differing = await this.differing(asked, drawn, block)
      if (differing.length === 0) continue
      // A node that mines answers with the next block's state for a moment: the difference has to last, or to be of the first.
      const again = await this.differing(asked, differing, block)
      if (again.length === 0) continue
      const now = asked === second ? await this.differing(first, again, block).catch(() => []) : []
      await this.tell(
        again.map(({ call: { to, data }, answer, other }) => ({
          stage: 'cross_check',
          block,
          contract: to,
          reason:
            `Two endpoints differ in what ${data.slice(0, 10)} of this contract answers: ${shown(answer)} was stored, another ` +
            `endpoint says ${shown(other)}${now.some(one => one.call.data === data) ? ', and so does the first one by now' : ''}.`,
        })),
      )
      return 'different'
    }
    return 'equal'
  }

  /** A difference that could not be stored at once is not lost: it is stored later. */
  private async tell(letters: DeadLetter[]): Promise<void> {
    while (true) {
      try {
        return await this.options.onDifference(letters)
      } catch (error) {
        if (this.isOver) throw error
        log.warn(
          { chain: this.options.chain, error: (error as Error).message },
          'what two endpoints differ in could not be stored, trying again',
        )
        await sleep(this.options.patienceMs ?? PATIENCE, undefined, { ref: false })
      }
    }
  }

  private async differing(
    asked: Asked,
    drawn: readonly Drawn[],
    block: BlockRef,
  ): Promise<(Drawn & { other: string | undefined })[]> {
    const troubled = new Set<string>()
    const calls = drawn.map(({ call }) => call)
    const answers = await asked.calls(calls, block, contract => troubled.add(contract), drawn[0]?.gas)
    return drawn.flatMap((one, i) => {
      const other = answers[i]
      return troubled.has(one.call.to) || other === one.answer ? [] : [{ ...one, other }]
    })
  }
}

/** Contracts that are drawn at this block, each with what it was asked. */
function draw(
  calls: readonly StateCall[],
  answers: readonly (string | undefined)[],
  block: BlockRef,
  troubled: ReadonlySet<string>,
  gas: number | undefined,
): Drawn[][] {
  const byContract = new Map<string, Drawn[] | undefined>()
  for (const [i, call] of calls.entries()) {
    if (!byContract.has(call.to)) byContract.set(call.to, isDrawn(block.hash, call.to) ? [] : undefined)
    const drawn = byContract.get(call.to)
    if (drawn && drawn.length < CALLS && !troubled.has(call.to)) drawn.push({ call, gas, answer: answers[i] })
  }
  return [...byContract.values()].filter(drawn => drawn !== undefined).filter(drawn => drawn.length > 0)
}

/** FNV-1a, 32 bits (draft-eastlake-fnv): even enough, and the same everywhere. */
function isDrawn(hash: string, contract: string): boolean {
  let sum = 0x811c9dc5
  for (const text of [hash, contract])
    for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  return (sum >>> 0) % ONE_IN === 0
}

const shown = (answer: string | undefined) =>
  answer === undefined ? 'a revert' : answer.length > 80 ? `${answer.slice(0, 80)}…` : answer
