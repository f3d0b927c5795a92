import { functions as Token } from '../../../abi/aave-v3/AToken.ts'
import {
  isDirectedRevision,
  owedAt,
  scaledOfOwed,
  scaledOfSupplied,
  suppliedAt,
} from '../../../abi/aave-v3/math.ts'
import { functions as Pool } from '../../../abi/aave-v3/Pool.ts'
import { encodeCall } from '../../../abi/words.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { RAY } from '../../../db/units.ts'
import type { StateRead } from '../../protocol.ts'
import { answered, asAddress, asWord } from '../../samples/answers.ts'

/**
 * Scaled amounts of Aave's tokens. Before v3.5 a log alone gives them. Since then a mint or burn is logged as the
 * difference of two balances, each rounded in favour of the pool (TokenMath.sol and ScaledBalanceTokenBase.sol of
 * aave-dao/aave-v3-origin), which gives the scaled amount with the scaled balance on one side of it: with the one at the
 * end of the block that of every log in the block follows, from the last to the first.
 */

export const revisionFact = (token: string) => `PoolRevisionSampled ${token}`

/** How the token's pool rounds, which changes with the code of both: from a log of the block on, where that is an upgrade. */
export function readRevision(token: string, sinceLog?: number): StateRead {
  return {
    key: `aave revision ${token}`,
    calls: [{ to: token, data: encodeCall(Token.POOL) }],
    follow: ([answer]) => {
      const pool = answered(answer, asAddress)
      return pool ? [{ to: pool, data: encodeCall(Pool.POOL_REVISION) }] : []
    },
    events: ([poolAnswer, revisionAnswer]) => {
      const [pool, revision] = [answered(poolAnswer, asAddress), answered(revisionAnswer, asWord)]
      if (!pool || revision === undefined || revision > Number.MAX_SAFE_INTEGER) return []
      const data = { pool, revision: Number(revision), ...(sinceLog === undefined ? {} : { sinceLog }) }
      return [{ type: 'PoolRevisionSampled', contract: token, data }]
    },
  }
}

/** The log from which on the token rounds in favour of the pool; undefined while it does not. */
const directedSince = (learned: DomainEvent | undefined) =>
  learned?.type === 'PoolRevisionSampled' && isDirectedRevision(learned.data.revision)
    ? (learned.data.sinceLog ?? 0)
    : undefined

/** Whose scaled balance a mint or burn changed: what accrued alone changes none. */
export function scaledAccount(event: DomainEvent): string | undefined {
  const change = changeOf(event)
  return change && 'worth' in change && change.worth !== 0n ? change.account : undefined
}

/** What the mints and burns of an account in a block were in scaled units. */
export function readScaled(token: string, account: string): StateRead {
  const fact = revisionFact(token)
  return {
    key: `scaled ${token} ${account}`,
    calls: [{ to: token, data: encodeCall(Token.scaledBalanceOf, account) }],
    isWanted: known => directedSince(known(fact)) !== undefined,
    events: () => [],
    amend: (events, [answer], known, knownBefore) => {
      const scaled = answered(answer, asWord)
      if (scaled === undefined) return [...events]
      // In the block in which a pool became v3.5 the logs before the token's upgrade are of the older code.
      const isOlder = directedSince(knownBefore(fact)) === undefined
      const first = isOlder ? (directedSince(known(fact)) ?? 0) : 0
      const own = events.filter(({ contract, logIndex = -1 }) => contract === token && logIndex >= first)
      const changes = changesUpTo(scaled, own, account)
      return events.map(event => {
        const change = event.contract === token ? changes.get(event.logIndex ?? -1) : undefined
        return change === undefined || scaledAccount(event) !== account ? event : withChange(event, change)
      })
    },
  }
}

/** Scaled changes of an account by log, given its scaled balance after the last of them. */
function changesUpTo(
  after: bigint,
  events: readonly DomainEvent[],
  account: string,
): ReadonlyMap<number, bigint> {
  const changes = new Map<number, bigint>()
  let scaled = after
  for (const event of events.toSorted((a, b) => (b.logIndex ?? 0) - (a.logIndex ?? 0))) {
    const { logIndex = -1 } = event
    const change = changes.has(logIndex) ? undefined : changeOf(event)
    if (!change) continue
    if ('moved' in change) {
      const gained =
        (change.to === account ? change.moved : 0n) - (change.from === account ? change.moved : 0n)
      changes.set(logIndex, gained)
      scaled -= gained
      continue
    }
    const { worth, index, isDebt } = change
    if (change.account !== account || worth === 0n || index < RAY) continue
    const worthAt = isDebt ? owedAt : suppliedAt
    const worthBefore = worthAt(scaled, index, true) - worth
    const before = (isDebt ? scaledOfOwed : scaledOfSupplied)(worthBefore, index)
    // Another contract than it is taken for: what its logs alone give stands.
    if (before < 0n || worthAt(before, index, true) !== worthBefore) break
    changes.set(logIndex, scaled - before)
    scaled = before
  }
  return changes
}

type Change =
  | { account: string; worth: bigint; index: bigint; isDebt: boolean }
  | { from: string; to: string; moved: bigint }

/** What a log of a scaled token says, as the token's event or as that of the vault which it is. */
function changeOf(event: DomainEvent): Change | undefined {
  switch (event.type) {
    case 'ScaledMinted':
    case 'ScaledBurned': {
      const { side, value, balanceIncrease, indexRay: index } = event.data
      if (side === 'stableDebt') return undefined
      const isDebt = side === 'variableDebt'
      return event.type === 'ScaledMinted'
        ? { account: event.data.onBehalf, worth: value - balanceIncrease, index, isDebt }
        : { account: event.data.from, worth: -value - balanceIncrease, index, isDebt }
    }
    case 'ScaledTransferred':
      return { from: event.data.from, to: event.data.to, moved: event.data.scaledValue }
    case 'Deposited':
    case 'Redeemed': {
      const { owner: account, assets, indexRay: index } = event.data
      if (index === undefined) return undefined
      return { account, worth: event.type === 'Deposited' ? assets : -assets, index, isDebt: false }
    }
    case 'ShareTransferred': {
      const { from, to, shares, assets, indexRay: index } = event.data
      if (index === undefined) return undefined
      return assets === undefined
        ? { from, to, moved: shares }
        : { account: to, worth: assets, index, isDebt: false }
    }
    default:
      return undefined
  }
}

function withChange(event: DomainEvent, change: bigint): DomainEvent {
  const isOfToken = event.type === 'ScaledMinted' || event.type === 'ScaledBurned'
  const told = isOfToken ? { scaledChange: change } : { shares: change < 0n ? -change : change }
  return { ...event, data: { ...event.data, ...told } } as DomainEvent
}
