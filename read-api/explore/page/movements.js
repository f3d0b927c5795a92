// What messages of the feed tell of a vault: what forks took back and what is told twice is left out.

export const ZERO = `0x${'0'.repeat(40)}`

/**
 * @typedef {{ id: string, kind: string, position: number, type: string, blockNumber: string, timestamp: number,
 *   transactionHash: string, logIndex: number, data: any }} Message
 */

/** Deposits, redemptions and transfers, newest first. @param {readonly Message[]} messages in any order @returns {Message[]} */
export function movementsOf(messages) {
  const gone = messages.filter(({ kind }) => kind === 'retraction').map(({ data }) => data)
  const stands = (/** @type {Message} */ { kind, position }) =>
    kind === 'event' &&
    !gone.some(({ fromPosition, toPosition }) => position >= fromPosition && position <= toPosition)
  // History that was fetched late stands behind what came before it: positions are no order of time.
  return withoutTwins(messages.filter(stands)).sort(
    (one, other) => other.timestamp - one.timestamp || other.position - one.position,
  )
}

/** Shares that a deposit makes and a redemption burns are told by the token too: one transfer for each flow. @param {Message[]} messages */
function withoutTwins(messages) {
  /** @type {Map<string, number>} */
  const twins = new Map()
  for (const message of messages) {
    if (message.type === 'ShareTransferred') continue
    const { owner } = message.data
    const key = message.type === 'Deposited' ? keyOf(message, ZERO, owner) : keyOf(message, owner, ZERO)
    twins.set(key, (twins.get(key) ?? 0) + 1)
  }
  return messages.filter(message => {
    if (message.type !== 'ShareTransferred') return true
    const key = keyOf(message, message.data.from, message.data.to)
    const left = twins.get(key) ?? 0
    if (left > 0) twins.set(key, left - 1)
    return left === 0
  })
}

/** @param {Message} message @param {string} from @param {string} to */
const keyOf = ({ transactionHash, data }, from, to) => [transactionHash, from, to, data.shares].join()
