import { setTimeout as sleep } from 'node:timers/promises'
import type { BoundedAnswer } from '../../db/chain/bounded-reader.ts'
import { StateMissingError } from '../../db/chain/errors.ts'
import type { BlockRef } from '../../db/events/event-store.ts'
import type { ContractReader, StateCall } from '../protocol.ts'

/** Calls of one request: what one contract makes of it keeps few others waiting. */
const TOGETHER = 64

interface Waiting {
  call: StateCall
  tell(contract: string, trouble: string): void
  resolve(answer: string | undefined): void
  reject(error: unknown): void
}

export interface ContractReadersOptions {
  /** @throws StateMissingError */
  answers(calls: readonly StateCall[], block: BlockRef): Promise<BoundedAnswer[]>
  head(): Promise<BlockRef>
  deployment(contract: string, upTo: number): ReturnType<ContractReader['deployment']>
}

/**
 * Readers of contracts at a block. What is asked of the same block at the same time goes together, whoever asks it, and what
 * several ask is asked once: contracts that come up in one block are many, and their assets few.
 */
export function openContractReaders({ answers, head, deployment }: ContractReadersOptions) {
  const gathering = new Map<string, Map<string, Waiting[]>>()

  const ask = (block: BlockRef, waiting: Waiting) => {
    let calls = gathering.get(block.hash)
    if (!calls) {
      calls = new Map()
      gathering.set(block.hash, calls)
      void flush(block)
    }
    const key = `${waiting.call.to} ${waiting.call.data}`
    const same = calls.get(key) ?? []
    calls.set(key, same)
    same.push(waiting)
  }

  async function flush(block: BlockRef): Promise<void> {
    await sleep(0)
    const asked = [...(gathering.get(block.hash)?.values() ?? [])]
    gathering.delete(block.hash)
    for (let i = 0; i < asked.length; i += TOGETHER) void settle(asked.slice(i, i + TOGETHER), block)
  }

  async function settle(asked: readonly Waiting[][], block: BlockRef): Promise<void> {
    try {
      const found = await answers(
        asked.flatMap(([first]) => first?.call ?? []),
        block,
      )
      for (const [i, all] of asked.entries()) {
        const { data, trouble } = found[i] ?? {}
        for (const { call, tell, resolve } of all) {
          if (trouble) tell(call.to, trouble)
          resolve(data)
        }
      }
    } catch (error) {
      for (const { reject } of asked.flat()) reject(error)
    }
  }

  return (block: BlockRef): ContractReader => {
    const troubles = new Map<string, string>()
    const tell: Waiting['tell'] = (contract, trouble) => {
      if (!troubles.has(contract)) troubles.set(contract, trouble)
    }
    let newest: Promise<BlockRef> | undefined
    const callAt = (call: StateCall, of: BlockRef) =>
      new Promise<string | undefined>((resolve, reject) => ask(of, { call, tell, resolve, reject }))
    return {
      blockNumber: block.number,
      troubles,
      async call(to, data) {
        if (newest) return callAt({ to, data }, await newest)
        try {
          return await callAt({ to, data }, block)
        } catch (error) {
          if (!(error instanceof StateMissingError)) throw error
          newest ??= head()
          return callAt({ to, data }, await newest)
        }
      },
      deployment: contract => deployment(contract, block.number),
    }
  }
}
