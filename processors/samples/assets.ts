import { functions as token } from '../../abi/erc4626/Vault.ts'
import { encodeCall, smallUint } from '../../abi/words.ts'
import { ofProtocol, type StateRead } from '../protocol.ts'
import { answered, asSymbol, asText } from './answers.ts'

/** Name, symbol and decimals of a token. One that does not say its decimals is not described. */
export function describeAsset(asset: string): StateRead {
  return ofProtocol('erc-20', {
    key: `asset ${asset}`,
    isConstant: true,
    calls: [token.decimals, token.symbol, token.name].map(fn => ({ to: asset, data: encodeCall(fn) })),
    events: ([decimalsAnswer, symbol, name]) => {
      const decimals = answered(decimalsAnswer, hex => smallUint(hex, 2, 8))
      if (decimals === undefined) return []
      const data = { asset, name: asText(name), symbol: asSymbol(symbol), decimals }
      return [{ type: 'AssetDescribed', contract: asset, data }]
    },
  })
}
