import { InvalidRequestError, RefusedError } from '../http/errors.ts'
import { type Chain, idOfChain, nameOfChain } from './chains.ts'

/** How far somebody has read each chain: by its id, the position of the newest event that was looked at. */
export type Cursor = Map<number, number>

/** What stands for the beginning of every chain. */
export const START = 'start'

/** One text for all chains: what Last-Event-ID sends back. @example '1.4711,8453.12' */
export function formatCursor(cursor: ReadonlyMap<number, number>): string {
  if (cursor.size === 0) return START
  let text = ''
  for (const [chainId, position] of cursor) text += `${text && ','}${chainId}.${position}`
  return text
}

const PART = /^([\w-]{1,40})[.](\d{1,15})$/

/**
 * Reads a cursor; chains may be named as well. A chain that is followed and not named in it is read from its beginning:
 * ids name every chain that had an event by then.
 *
 * @throws InvalidRequestError, RefusedError
 */
export function parseCursor(
  text: string,
  chains: ReadonlyMap<number, Chain>,
  follows: (chainId: number) => boolean,
): Cursor {
  const cursor: Cursor = new Map()
  if (text === START) return cursor
  for (const part of text.split(',')) {
    const [, name = '', digits] = PART.exec(part.trim()) ?? []
    const chainId = idOfChain(name)
    if (chainId === undefined || digits === undefined)
      throw new InvalidRequestError(
        `"${part.slice(0, 60)}" is no position: send the id of a message as it came (1.4711, or 1.4711,8453.12 where several chains are followed), or ${START} for everything.`,
      )
    const head = chains.get(chainId)?.head
    if (!follows(chainId))
      throw new RefusedError(
        `The position names ${nameOfChain(chainId)}, which "networks" leaves out: name it there, or take it out of the position.`,
      )
    if (head === undefined || Number(digits) > head)
      throw new RefusedError(
        `The position ${part.trim()} is ahead of what is stored of ${nameOfChain(chainId)} (${head ?? 'nothing'}): it comes from another installation. Begin with ${START}, or leave it out to begin now.`,
      )
    cursor.set(chainId, Number(digits))
  }
  return cursor
}
