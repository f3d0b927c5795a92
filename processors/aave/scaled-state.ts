import { functions as Token } from '../../abi/aave-v3/AToken.ts'
import { functions as Pool } from '../../abi/aave-v3/Pool.ts'
import { encodeCall } from '../../abi/words.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { StateRead } from '../protocol.ts'
import { answered, asAddress, asWord } from '../samples/answers.ts'

/** PoolInstance.sol of aave-dao/aave-v3-origin: the first revision whose scaled amounts round in favour of the pool. */
const DIRECTED_ROUNDING = 9n

/**
 * The scaled balance of an account and the token's total, of a pool of v3.5 or later: its TokenMath.sol rounds what is
 * minted and burned up or down, and its logs are of balances rounded before and after, of which the scaled amount follows
 * only with the scaled balance before. Nothing of an older pool, whose logs say enough.
 */
export function readScaled(token: string, account: string): StateRead {
  return {
    key: `scaled ${token} ${account}`,
    calls: [
      { to: token, data: encodeCall(Token.scaledBalanceOf, account) },
      { to: token, data: encodeCall(Token.scaledTotalSupply) },
      { to: token, data: encodeCall(Token.POOL) },
    ],
    follow: ([, , pool]) => {
      const to = answered(pool, asAddress)
      return to ? [{ to, data: encodeCall(Pool.POOL_REVISION) }] : []
    },
    events: ([balance, supply, , revision]) => {
      const [scaled, total] = [answered(balance, asWord), answered(supply, asWord)]
      const isDirected = (answered(revision, asWord) ?? 0n) >= DIRECTED_ROUNDING
      if (!isDirected || scaled === undefined || total === undefined) return []
      return [{ type: 'ScaledBalanceSampled', contract: token, data: { account, scaled, total } }]
    },
  }
}

/** Accounts whose scaled balance an event changed. */
export function scaledAccounts(event: DomainEvent): string[] {
  switch (event.type) {
    case 'ScaledMinted':
      return event.data.side === 'stableDebt' ? [] : [event.data.onBehalf]
    case 'ScaledBurned':
      return event.data.side === 'stableDebt' ? [] : [event.data.from]
    case 'ScaledTransferred':
      return [event.data.from, event.data.to]
    default:
      return []
  }
}
