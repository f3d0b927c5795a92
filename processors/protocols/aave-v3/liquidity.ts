import { functions as Pool } from '../../../abi/aave-v3/Pool.ts'
import { functions as token } from '../../../abi/erc4626/Vault.ts'
import { address, encodeCall } from '../../../abi/words.ts'
import type { StateRead } from '../../protocol.ts'
import { answered, asWord } from '../../samples/answers.ts'

/** Place of aTokenAddress in the answer of getReserveData, in words (DataTypes.sol: the same in all of v3). */
const A_TOKEN = 8

/** What a reserve can pay out: no sum of logs, for deficits, interest of the treasury and donations are in it too. */
export function readLiquidity(pool: string, asset: string): StateRead {
  return {
    key: `aave liquidity ${pool} ${asset}`,
    calls: [
      { to: pool, data: encodeCall(Pool.getVirtualUnderlyingBalance, asset) },
      { to: pool, data: encodeCall(Pool.getReserveData, asset) },
    ],
    follow: ([virtual, reserve]) => {
      if (answered(virtual, asWord) !== undefined) return []
      const aToken = answered(reserve, hex => address(hex, 2 + 64 * A_TOKEN))
      return aToken ? [{ to: asset, data: encodeCall(token.balanceOf, aToken) }] : []
    },
    events: ([virtual, , held]) => {
      const available = answered(virtual, asWord) ?? answered(held, asWord)
      if (available === undefined) return []
      return [{ type: 'ReserveLiquiditySampled', contract: pool, data: { market: asset, available } }]
    },
  }
}
