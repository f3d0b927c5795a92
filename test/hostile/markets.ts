import { type Address, encodeFunctionData } from 'viem'
import { morphoAbi } from '../chain/abis.ts'
import type { Call } from '../chain/node.ts'
import type { Stage } from './stage.ts'

/** Anybody may open a market of any two tokens, with an oracle of his own: of this token against itself, and of USDC against it. */
export function morphoCallsOf({ world, actor }: Stage): (token: Address) => Call[] {
  const { address, markets } = world.morpho
  const known = markets[0]?.params
  return token => {
    if (!known) return []
    const { irm, lltv } = known
    return [token, world.assets.USDC.token.address].map(loanToken => ({
      from: actor,
      to: address,
      data: encodeFunctionData({
        abi: morphoAbi,
        functionName: 'createMarket',
        args: [{ loanToken, collateralToken: token, oracle: token, irm, lltv }],
      }),
      mayFail: true,
      label: 'a market of a stranger',
    }))
  }
}
