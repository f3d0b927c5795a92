import { randomUUID } from 'node:crypto'

/** Bytes: V8 keeps texts up to twice as long among its young objects; longer ones get memory of their own each. */
const PIECE = 65_536

const BEGINNING = '"result":[{'
const BETWEEN = '},{'
const END = '}]'

/**
 * What JSON.parse gives of an answer of JSON-RPC, or of a batch of them. A long list of objects in it is read in pieces, as a text
 * of megabytes costs far more time to make than to parse.
 *
 * @throws SyntaxError
 */
export function parseAnswer(bytes: Buffer, piece = PIECE): unknown {
  return (
    (bytes.length > 2 * piece ? parseInPieces(bytes, piece) : undefined) ?? JSON.parse(bytes.toString('utf8'))
  )
}

/**
 * Undefined where it has to be read whole. Where a list is cut is a guess, which cannot be wrong unnoticed: what stands before a cut
 * within a text, or deeper than the list, is no list.
 */
function parseInPieces(bytes: Buffer, piece: number): unknown {
  // Stands in for each list; nobody can have written it.
  const leftOut: string = randomUUID()
  const around: string[] = []
  const lists: unknown[][] = []
  let at = 0
  try {
    while (bytes.length - at > piece) {
      const found = bytes.indexOf(BEGINNING, at, 'latin1')
      if (found < 0) break
      const begin = found + BEGINNING.length - 1
      const { list, end } = parseList(bytes, begin, piece)
      lists.push(list)
      // With its brackets.
      around.push(bytes.toString('utf8', at, begin - 1), `["${leftOut}"]`)
      at = end + 1
    }
    if (lists.length === 0) return undefined
    around.push(bytes.toString('utf8', at))
    const whole: unknown = JSON.parse(around.join(''))
    const cut = (Array.isArray(whole) ? whole : [whole]).filter(one => one?.result?.[0] === leftOut)
    if (cut.length !== lists.length) return undefined
    for (const [i, answer] of cut.entries()) answer.result = lists[i]
    return whole
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The objects of a list of which the first begins at `begin`, and where its bracket closes. */
function parseList(bytes: Buffer, begin: number, piece: number): { list: unknown[]; end: number } {
  const list: unknown[] = []
  const close = bytes.indexOf(END, begin, 'latin1')
  if (close < 0) throw new SyntaxError('a list without an end')
  let from = begin
  for (;;) {
    const cut = bytes.subarray(from + piece, close).indexOf(BETWEEN, 0, 'latin1')
    const isLast = cut < 0
    const to = (isLast ? close : from + piece + cut) + 1
    for (const one of JSON.parse(`[${bytes.toString('utf8', from, to)}]`)) list.push(one)
    if (isLast) return { list, end: to }
    from = to + 1
  }
}
