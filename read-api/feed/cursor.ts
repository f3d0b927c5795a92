import { createHash } from 'node:crypto'
import type { StoredEvent } from '../../db/events/event-store.ts'
import { InvalidRequestError, RefusedError, RequestError } from '../http/errors.ts'
import { type Chain, idOfChain, nameOfChain } from './chains.ts'

/** How far somebody has read a chain: the newest event that was looked at. */
export interface Place {
  position: number
  /** Tells the event there from another one that a restored store has there; empty where it is not known. */
  mark: string
}

/** By chain. */
export type Cursor = Map<number, Place>

/** What stands for the beginning of every chain. */
export const START = 'start'

export function placeOf(event: StoredEvent): Place {
  const { position, block_hash, log_index, type, contract } = event
  const digest = createHash('sha256').update(`${block_hash} ${log_index} ${type} ${contract}`)
  return { position, mark: digest.digest('base64url').slice(0, 6) }
}

/** One text for all chains: what Last-Event-ID sends back. @example '1.4711~kJ3_xQ,8453.12~8aZrPw' */
export function formatCursor(cursor: ReadonlyMap<number, Place>): string {
  if (cursor.size === 0) return START
  let text = ''
  for (const [chainId, { position, mark }] of cursor)
    text += `${text && ','}${chainId}.${position}${mark && `~${mark}`}`
  return text
}

export const positionsOf = (cursor: ReadonlyMap<number, Place>): Map<number, number> =>
  new Map([...cursor].map(([chainId, { position }]) => [chainId, position]))

const PART = /^([\w-]{1,40})[.](\d{1,15})(?:~([\w-]{6}))?$/

interface Reading {
  chains: ReadonlyMap<number, Chain>
  follows: (chainId: number) => boolean
  feed: { placesAt(positions: ReadonlyMap<number, number>): Promise<Cursor> }
}

/**
 * Reads a cursor; chains may be named as well. A chain that is followed and not named in it is read from its beginning:
 * ids name every chain that had an event by then.
 *
 * @throws InvalidRequestError, RefusedError, OtherEventError
 */
export async function readCursor(text: string, reading: Reading): Promise<Cursor> {
  const asked: Cursor = new Map()
  if (text === START) return asked
  for (const part of text.split(',')) {
    const [chainId, place] = readPart(part, reading)
    asked.set(chainId, place)
  }
  const stored = await reading.feed.placesAt(positionsOf(asked))
  for (const [chainId, { position, mark }] of asked)
    if (mark && stored.get(chainId)?.mark !== mark) throw new OtherEventError(chainId, position)
  return stored
}

function readPart(part: string, { chains, follows }: Reading): [chainId: number, place: Place] {
  const [, name = '', digits, mark = ''] = PART.exec(part.trim()) ?? []
  const chainId = idOfChain(name)
  if (chainId === undefined || digits === undefined)
    throw new InvalidRequestError(
      `"${part.slice(0, 60)}" is no position: send the id of a message as it came (1.4711~kJ3_xQ, or several with commas where several chains are followed), or ${START} for everything.`,
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
  return [chainId, { position: Number(digits), mark }]
}

/** The store was restored from an older copy, and what came after that was given the same positions; or it is another one. */
class OtherEventError extends RequestError {
  readonly code = 'OTHER_EVENT'
  readonly status = 409
  constructor(chainId: number, position: number) {
    super(
      `What is stored of ${nameOfChain(chainId)} at position ${position} is not the event that this position is of: the events were restored from an older copy since, or the position comes from another installation. What you have of the newest events may not stand. Begin anew with ${START}, or at a position from before the copy.`,
    )
  }
}
